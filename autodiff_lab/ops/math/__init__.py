"""Mathematics, elementwise and over axes."""

from autodiff_lab.ops.math import arithmetic, comparison, exponential, reductions, trigonometric

__all__ = ["arithmetic", "comparison", "exponential", "reductions", "trigonometric"]
