"""Helpers under the name that Keras code uses: ``lab.keras.utils``."""

from typing import TYPE_CHECKING

from autodiff_lab.absent import answering as _answering
from autodiff_lab.training.utilities import PyDataset, clear_session, normalize, set_random_seed, to_categorical

Sequence = PyDataset

__all__ = ["PyDataset", "Sequence", "clear_session", "normalize", "set_random_seed", "to_categorical"]

if not TYPE_CHECKING:  # a checker reports every name that is missing
    __getattr__ = _answering(__name__)
