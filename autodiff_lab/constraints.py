"""Constraints on weights: ``lab.constraints``."""

from autodiff_lab.layers.constraints import Constraint, MaxNorm, MinMaxNorm, NonNeg, UnitNorm, get

# The names in snake case are classes too, as in Keras.
max_norm, min_max_norm, non_neg, unit_norm = MaxNorm, MinMaxNorm, NonNeg, UnitNorm

__all__ = [
    "Constraint",
    "MaxNorm",
    "MinMaxNorm",
    "NonNeg",
    "UnitNorm",
    "get",
    "max_norm",
    "min_max_norm",
    "non_neg",
    "unit_norm",
]
