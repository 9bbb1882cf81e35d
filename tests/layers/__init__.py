"""Modules, layers, losses, metrics, optimizers, schedules and saved weights, against NumPy written out."""
