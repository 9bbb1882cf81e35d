"""Layers, losses, metrics, optimizers and what trains them, under the names that Keras code uses: ``lab.keras``."""

import sys
from typing import TYPE_CHECKING

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
from autodiff_lab.absent import answering as _answering
from autodiff_lab.engine.variable import Variable
from autodiff_lab.keras import backend, datasets, models, saving, utils
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
    "Input", "Model", "Sequential", "Variable", "activations", "backend", "callbacks", "constraints", "datasets",
    "initializers", "layers",
    "losses", "metrics", "models", "optimizers", "regularizers", "saving", "utils",
]

if not TYPE_CHECKING:  # a checker reports every name that is missing
    __getattr__ = _answering(__name__)
