"""Saving under the name that Keras code uses: ``lab.keras.saving``."""

from autodiff_lab.training.saving import load_model, save_model
from autodiff_lab.training.utilities import custom_object_scope, get_custom_objects, register_keras_serializable

__all__ = ["custom_object_scope", "get_custom_objects", "load_model", "register_keras_serializable", "save_model"]
