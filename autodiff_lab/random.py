"""Random tensors: ``lab.random``."""

from autodiff_lab.ops.random import normal, set_seed, shuffle, uniform

__all__ = ["normal", "set_seed", "shuffle", "uniform"]
