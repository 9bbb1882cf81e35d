"""Helpers under the name that Keras code uses: ``lab.keras.utils``."""

from autodiff_lab.training.utilities import PyDataset, normalize, set_random_seed, to_categorical

Sequence = PyDataset

__all__ = ["PyDataset", "Sequence", "normalize", "set_random_seed", "to_categorical"]
