"""Activations by name: ``lab.activations``."""

from autodiff_lab.layers.activations import exponential, get, linear, tanh
from autodiff_lab.ops.math.elementary import softsign
from autodiff_lab.ops.nn.activations import log_softmax, relu, sigmoid, softmax, softplus
from autodiff_lab.ops.nn.rectifiers import (
    elu,
    hard_shrink,
    hard_sigmoid,
    hard_silu,
    hard_tanh,
    leaky_relu,
    relu6,
    selu,
    soft_shrink,
    sparse_plus,
    squareplus,
    tanh_shrink,
)
from autodiff_lab.ops.nn.smooth_activations import gelu, log_sigmoid, mish, silu
from autodiff_lab.ops.nn.smooth_activations import silu as swish

__all__ = [
    "elu",
    "exponential",
    "gelu",
    "get",
    "hard_shrink",
    "hard_sigmoid",
    "hard_silu",
    "hard_tanh",
    "leaky_relu",
    "linear",
    "log_sigmoid",
    "log_softmax",
    "mish",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "soft_shrink",
    "softmax",
    "softplus",
    "softsign",
    "sparse_plus",
    "squareplus",
    "swish",
    "tanh",
    "tanh_shrink",
]
