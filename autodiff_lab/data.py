"""Data sets: ``lab.data``."""

from autodiff_lab.structures.data import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Dataset
from autodiff_lab.structures.data_steps import Options

__all__ = ["AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "Options"]
