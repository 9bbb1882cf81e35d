"""Models under the name that Keras code uses: ``lab.keras.models``."""

from autodiff_lab.layers.model import Model
from autodiff_lab.layers.sequential import Sequential
from autodiff_lab.training.configurations import clone_model, model_from_json
from autodiff_lab.training.saving import load_model, save_model

__all__ = ["Model", "Sequential", "clone_model", "load_model", "model_from_json", "save_model"]
