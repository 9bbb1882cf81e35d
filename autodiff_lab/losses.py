"""Losses: ``lab.losses``."""

from autodiff_lab.layers.distances import (
    CosineSimilarity,
    Hinge,
    KLDivergence,
    LogCosh,
    MeanAbsolutePercentageError,
    MeanSquaredLogarithmicError,
    Poisson,
    SquaredHinge,
)
from autodiff_lab.layers.losses import (
    BinaryCrossentropy,
    CategoricalCrossentropy,
    Huber,
    Loss,
    MeanAbsoluteError,
    MeanSquaredError,
    SparseCategoricalCrossentropy,
)

__all__ = [
    "BinaryCrossentropy",
    "CategoricalCrossentropy",
    "CosineSimilarity",
    "Hinge",
    "Huber",
    "KLDivergence",
    "LogCosh",
    "Loss",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "Poisson",
    "SparseCategoricalCrossentropy",
    "SquaredHinge",
]
