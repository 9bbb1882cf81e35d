"""Activations by name: ``lab.activations``."""

from autodiff_lab.layers.activations import get, linear
from autodiff_lab.ops.math.trigonometric import tanh
from autodiff_lab.ops.nn.activations import log_softmax, relu, sigmoid, softmax, softplus

__all__ = ["get", "linear", "log_softmax", "relu", "sigmoid", "softmax", "softplus", "tanh"]
