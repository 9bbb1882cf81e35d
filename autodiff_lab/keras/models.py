"""Models under the name that Keras code uses: ``lab.keras.models``."""

from autodiff_lab.layers.model import Model
from autodiff_lab.layers.sequential import Sequential

__all__ = ["Model", "Sequential"]
