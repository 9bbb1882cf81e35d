"""Mathematics, elementwise and over axes."""

from autodiff_lab.ops.math import (
    arithmetic,
    comparison,
    complex_numbers,
    elementary,
    exponential,
    gamma,
    guarded,
    normal,
    reductions,
    special,
    trigonometric,
)

__all__ = [
    "arithmetic", "comparison", "complex_numbers", "elementary", "exponential", "gamma", "guarded",
    "normal", "reductions", "special", "trigonometric",
]
