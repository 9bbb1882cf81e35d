"""Optimizers: ``lab.optimizers``."""

from typing import TYPE_CHECKING

from autodiff_lab.absent import answering as _answering
from autodiff_lab.layers import schedules
from autodiff_lab.layers.by_name import get_optimizer as get
from autodiff_lab.layers.optimizers import Optimizer
from autodiff_lab.layers.update_rules import SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, Nadam, RMSprop

__all__ = ["SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "Nadam", "Optimizer", "RMSprop", "get", "schedules"]

if not TYPE_CHECKING:  # a checker reports every name that is missing
    __getattr__ = _answering(__name__)
