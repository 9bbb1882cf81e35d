"""Helpers under the name that Keras code uses: ``lab.keras.utils``."""

from typing import TYPE_CHECKING

from autodiff_lab.absent import answering as _answering
from autodiff_lab.training.utilities import (
    PyDataset,
    clear_session,
    custom_object_scope,
    get_custom_objects,
    normalize,
    register_keras_serializable,
    set_random_seed,
    to_categorical,
    unpack_x_y_sample_weight,
)

Sequence, CustomObjectScope = PyDataset, custom_object_scope

__all__ = [
    "CustomObjectScope", "PyDataset", "Sequence", "clear_session", "custom_object_scope", "get_custom_objects",
    "normalize", "register_keras_serializable", "set_random_seed", "to_categorical", "unpack_x_y_sample_weight",
]  # fmt: skip

if not TYPE_CHECKING:  # a checker reports every name that is missing
    __getattr__ = _answering(__name__)
