"""Layers, losses, metrics and optimizers under the names that Keras code uses: ``lab.keras``."""

from autodiff_lab import activations, initializers, layers, losses, metrics, optimizers
from autodiff_lab.layers.model import Model
from autodiff_lab.layers.sequential import Sequential

__all__ = ["Model", "Sequential", "activations", "initializers", "layers", "losses", "metrics", "optimizers"]
