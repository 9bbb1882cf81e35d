"""Layers, losses, metrics and optimizers under the names that Keras code uses: ``lab.keras``."""

import sys

from autodiff_lab import activations, initializers, layers, losses, metrics, optimizers
from autodiff_lab.keras import models
from autodiff_lab.layers.model import Model
from autodiff_lab.layers.sequential import Sequential

# `from autodiff_lab.keras.layers import Dense` finds the namespace itself, so no name is written a second time.
for _namespace in (activations, initializers, layers, losses, metrics, optimizers):
    sys.modules[f"{__name__}.{_namespace.__name__.rpartition('.')[2]}"] = _namespace
sys.modules[f"{__name__}.optimizers.schedules"] = optimizers.schedules

__all__ = ["Model", "Sequential", "activations", "initializers", "layers", "losses", "metrics", "models", "optimizers"]
