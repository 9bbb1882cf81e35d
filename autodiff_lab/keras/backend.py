"""The few names of Keras's back end that programs use: ``lab.keras.backend``."""

from typing import TYPE_CHECKING

from autodiff_lab.absent import answering as _answering
from autodiff_lab.training.utilities import clear_session, epsilon, floatx, image_data_format

__all__ = ["clear_session", "epsilon", "floatx", "image_data_format"]

if not TYPE_CHECKING:  # a checker reports every name that is missing
    __getattr__ = _answering(__name__)
