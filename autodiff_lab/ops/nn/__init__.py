"""What neural networks are made of: activations and losses."""

from autodiff_lab.ops.nn import activations, losses

__all__ = ["activations", "losses"]
