"""Optimizers: ``lab.optimizers``."""

from autodiff_lab.layers import schedules
from autodiff_lab.layers.optimizers import SGD, Adagrad, Adam, AdamW, Optimizer, RMSprop

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "schedules"]
