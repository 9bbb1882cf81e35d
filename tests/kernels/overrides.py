"""Helpers for kernel tests: access to an op's kernel and its override."""

from typing import Any

import numpy as np

from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.kernels.base.choose import use_kernels


def kernel(name: str) -> Any:
    """Give the kernel of an op, which chooses between NumPy and the override."""
    return REGISTRY[name].kernel


def compiled(name: str, *arrays: np.ndarray, **how: Any) -> Any:
    """Give what the override gives, `NotImplemented` where it declines."""
    with use_kernels("numba"):
        assert kernel(name).compile(arrays[0].dtype), kernel(name).failures
    return kernel(name).override()(*arrays, **how)
