"""Initializers: ``lab.initializers``."""

from autodiff_lab.layers.initializers import (
    Constant,
    Identity,
    Initializer,
    Ones,
    Orthogonal,
    RandomNormal,
    RandomUniform,
    TruncatedNormal,
    VarianceScaling,
    Zeros,
    deserialize,
    get,
    glorot_uniform,
    he_normal,
    serialize,
)

__all__ = [
    "Constant",
    "Identity",
    "Initializer",
    "Ones",
    "Orthogonal",
    "RandomNormal",
    "RandomUniform",
    "TruncatedNormal",
    "VarianceScaling",
    "Zeros",
    "deserialize",
    "get",
    "glorot_uniform",
    "he_normal",
    "serialize",
]
