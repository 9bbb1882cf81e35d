"""Layers, losses, metrics, optimizers and what trains them, under the names that Keras code uses: ``lab.keras``."""

import sys

from autodiff_lab import (
    activations,
    callbacks,
    constraints,
    initializers,
    layers,
    losses,
    metrics,
    optimizers,
    regularizers,
)
from autodiff_lab.keras import datasets, models, utils
from autodiff_lab.layers.inputs import Input
from autodiff_lab.layers.model import Model
from autodiff_lab.layers.sequential import Sequential

# `from autodiff_lab.keras.layers import Dense` finds the namespace itself, so no name is written a second time.
for _namespace in (
    activations, callbacks, constraints, initializers, layers, losses, metrics, optimizers, regularizers,
):  # fmt: skip
    sys.modules[f"{__name__}.{_namespace.__name__.rpartition('.')[2]}"] = _namespace
sys.modules[f"{__name__}.optimizers.schedules"] = optimizers.schedules

__all__ = [
    "Input", "Model", "Sequential", "activations", "callbacks", "constraints", "datasets", "initializers", "layers",
    "losses", "metrics", "models", "optimizers", "regularizers", "utils",
]
