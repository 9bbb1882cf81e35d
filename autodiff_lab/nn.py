"""What neural networks are made of: ``lab.nn``."""

from autodiff_lab.ops.math.trigonometric import tanh
from autodiff_lab.ops.nn.activations import log_softmax, relu, sigmoid, softmax, softplus
from autodiff_lab.ops.nn.convolution import conv1d, conv1d_transpose, conv2d, conv2d_transpose, conv3d, conv3d_transpose
from autodiff_lab.ops.nn.losses import (
    softmax_cross_entropy,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from autodiff_lab.ops.nn.pooling import (
    avg_pool,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)

__all__ = [
    "avg_pool",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "log_softmax",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "relu",
    "sigmoid",
    "softmax",
    "softmax_cross_entropy",
    "softmax_cross_entropy_with_logits",
    "softplus",
    "sparse_softmax_cross_entropy_with_logits",
    "tanh",
]
