"""What neural networks are made of: activations, convolutions, pooling, losses."""

from autodiff_lab.ops.nn import activations, convolution, losses, pooling

__all__ = ["activations", "convolution", "losses", "pooling"]
