"""Half floats, float16 and bfloat16, are added up in float32 and rounded once, at the end.

A sum of ones that is rounded after each of them stands still at 256 in bfloat16 and at 2,048 in float16.  Kernels that
add or multiply many elements use `in_float32`, or `as_float32` where a decorator would be felt, or `accumulator` where
only the dtype of a sum is needed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

SINGLE = np.dtype(np.float32)


def is_half(dtype: Any) -> bool:
    """Return whether a NumPy dtype is float16 or bfloat16."""
    return dtype.itemsize == 2 and dtype.kind in "fV"


def accumulator(dtype: Any) -> Any:
    """Return the dtype in which elements of a dtype are added up: float32 for half floats, else their own.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.base.halves import accumulator
    >>> accumulator(np.dtype("float16")), accumulator(np.dtype("int16"))
    (dtype('float32'), dtype('int16'))
    """
    return SINGLE if is_half(dtype) else dtype


def widened(x: Any) -> Any:
    """Return an array of half floats as float32; any other as it is."""
    return x.astype(SINGLE) if is_half(x.dtype) else x


def in_float32(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Give half floats as float32 to a kernel, and round its results to the dtype of the first array.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.base.halves import in_float32
    >>> float(in_float32(np.cumsum)(np.ones(3000, np.float16))[-1])
    3000.0
    """

    @functools.wraps(kernel)
    def run(*arrays: Any, **params: Any) -> Any:
        if is_half(arrays[0].dtype):
            return as_float32(kernel, *arrays, **params)
        return kernel(*arrays, **params)

    return run


def as_float32(kernel: Callable[..., Any], *arrays: Any, **params: Any) -> Any:
    """Call a kernel with half floats as float32; quick kernels call themselves so, as a decorator would be felt."""
    dtype = arrays[0].dtype
    made = kernel(*(widened(array) for array in arrays), **params)
    return tuple(m.astype(dtype) for m in made) if made.__class__ is tuple else made.astype(dtype)
