"""Callbacks of `Model.fit`: ``lab.callbacks``."""

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
