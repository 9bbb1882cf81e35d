"""Modules, layers, losses, metrics, optimizers, schedules and saved weights, against formulas in NumPy."""
