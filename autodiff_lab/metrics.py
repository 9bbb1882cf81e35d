"""Metrics: ``lab.metrics``."""

from typing import TYPE_CHECKING

from autodiff_lab.absent import answering as _answering
from autodiff_lab.layers.by_name import get_metric as get
from autodiff_lab.layers.confusion import (
    AUC,
    MeanMetricWrapper,
    Precision,
    Recall,
    SparseTopKCategoricalAccuracy,
    TopKCategoricalAccuracy,
)
from autodiff_lab.layers.metrics import (
    Accuracy,
    BinaryAccuracy,
    CategoricalAccuracy,
    Mean,
    MeanAbsoluteError,
    MeanSquaredError,
    Metric,
    RootMeanSquaredError,
    SparseCategoricalAccuracy,
    Sum,
)

__all__ = [
    "AUC",
    "Accuracy",
    "BinaryAccuracy",
    "CategoricalAccuracy",
    "Mean",
    "MeanAbsoluteError",
    "MeanMetricWrapper",
    "MeanSquaredError",
    "Metric",
    "Precision",
    "Recall",
    "RootMeanSquaredError",
    "SparseCategoricalAccuracy",
    "SparseTopKCategoricalAccuracy",
    "Sum",
    "TopKCategoricalAccuracy",
    "get",
]

if not TYPE_CHECKING:  # a checker reports every name that is missing
    __getattr__ = _answering(__name__)
