"""Callbacks of `Model.fit`: ``lab.callbacks``."""

from typing import TYPE_CHECKING

from autodiff_lab.absent import answering as _answering
from autodiff_lab.training.callbacks import Callback, CallbackList, CSVLogger, History, LambdaCallback, TerminateOnNaN
from autodiff_lab.training.watching import EarlyStopping, LearningRateScheduler, ModelCheckpoint, ReduceLROnPlateau

__all__ = [
    "CSVLogger",
    "Callback",
    "CallbackList",
    "EarlyStopping",
    "History",
    "LambdaCallback",
    "LearningRateScheduler",
    "ModelCheckpoint",
    "ReduceLROnPlateau",
    "TerminateOnNaN",
]

if not TYPE_CHECKING:  # a checker reports every name that is missing
    __getattr__ = _answering(__name__)
