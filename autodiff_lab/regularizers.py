"""Regularizers: ``lab.regularizers``."""

from autodiff_lab.layers.regularizers import L1, L1L2, L2, OrthogonalRegularizer, Regularizer, get

# The names in lower case are classes too, as in Keras.
l1, l2, l1_l2, orthogonal_regularizer = L1, L2, L1L2, OrthogonalRegularizer

__all__ = [
    "L1",
    "L2",
    "L1L2",
    "OrthogonalRegularizer",
    "Regularizer",
    "get",
    "l1",
    "l1_l2",
    "l2",
    "orthogonal_regularizer",
]
