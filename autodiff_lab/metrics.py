"""Metrics: ``lab.metrics``."""

from autodiff_lab.layers.metrics import Accuracy, BinaryAccuracy, CategoricalAccuracy, Mean, SparseCategoricalAccuracy

__all__ = ["Accuracy", "BinaryAccuracy", "CategoricalAccuracy", "Mean", "SparseCategoricalAccuracy"]
