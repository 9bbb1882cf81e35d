"""What neural networks are made of: ``lab.nn``."""

from autodiff_lab.ops.math.trigonometric import tanh
from autodiff_lab.ops.nn.activations import log_softmax, relu, sigmoid, softmax, softplus
from autodiff_lab.ops.nn.losses import (
    softmax_cross_entropy,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)

__all__ = [
    "log_softmax", "relu", "sigmoid", "softmax", "softmax_cross_entropy", "softmax_cross_entropy_with_logits",
    "softplus", "sparse_softmax_cross_entropy_with_logits", "tanh",
]
