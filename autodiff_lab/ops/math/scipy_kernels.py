"""Kernels that are functions of SciPy, which is imported when the first of them runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from autodiff_lab.kernels.arrays import on_gpu
from autodiff_lab.kernels.base.elementwise import Chain, in_one_pass


def _function(name: str, arrays: tuple[Any, ...]) -> Callable[..., Any]:
    """Return the function of SciPy, or of CuPy where an array is on a GPU."""
    for array in arrays:
        if on_gpu(array):
            return array.memory.special_function(name)
    return _of_scipy(name)


@cache
def _of_scipy(name: str) -> Callable[..., Any]:
    from scipy import special as functions
    return getattr(functions, name)


def special(name: str) -> Callable[..., Any]:
    """Return a function of `scipy.special` as a kernel; half floats are computed in float32, which SciPy supports."""
    def kernel(*arrays: Any) -> Any:
        function = _function(name, arrays)
        dtype = arrays[-1].dtype
        if dtype.itemsize == 2 and dtype.kind in "fV":
            return function(*[x.astype(np.float32) for x in arrays]).astype(dtype)
        return function(*[x if x.dtype == dtype else x.astype(dtype) for x in arrays])
    return kernel


def looped(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel of one input as a loop of a function in `kernels.maths`, for orders that have no op."""
    return in_one_pass(name, kernel, lambda: Chain((f"found = {name}(v0)",), "found"), 1)
