"""Arrays on the device of other arrays, so that kernels written for NumPy also run on a GPU.

NumPy's functions run where their operands are; those that take no array, such as `numpy.zeros`, cannot know where that
is.  Kernels call these functions instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def on_gpu(x: Any) -> bool:
    """Return whether an array lives on a GPU."""
    return hasattr(x, "memory")


def is_array(x: Any) -> bool:
    """Return whether a value has elements: values of rank 0 on the CPU are NumPy scalars."""
    return isinstance(x, np.ndarray) or on_gpu(x)


def ranked(x: Any) -> Any:
    """Return a NumPy scalar, or what is not an array yet, as an array; arrays as they are."""
    return x if hasattr(x, "memory") else np.asarray(x)


def _like(x: Any) -> Any:
    """Return the ``like=`` for NumPy, which does not accept scalars there."""
    return x if hasattr(x, "memory") else None


def contiguous(x: Any) -> Any:
    """Return an array whose elements lie in memory in the order of its axes: itself or a copy."""
    return np.ascontiguousarray(x, like=_like(x))


def beside(x: Any, host: Any) -> Any:
    """Copy an array that our own code made on the CPU to the device of x; the copy is reported as traffic."""
    return np.asarray(host, like=x) if hasattr(x, "memory") else host


def zeros(shape: tuple[int, ...], like: Any, dtype: Any = None) -> Any:
    """Return zeros on the device of another array, of its dtype unless another is given."""
    return np.zeros(shape, like.dtype if dtype is None else dtype, like=_like(like))


def empty(shape: tuple[int, ...], like: Any, dtype: Any = None) -> Any:
    """Return an uninitialized array."""
    return np.empty(shape, like.dtype if dtype is None else dtype, like=_like(like))


def full(shape: tuple[int, ...], value: Any, like: Any, dtype: Any = None) -> Any:
    """Return an array filled with one value."""
    return np.full(shape, value, like.dtype if dtype is None else dtype, like=_like(like))


_WORDS = {4: np.int32, 8: np.int64}


def word_of(x: Any) -> type[np.int32 | np.int64] | None:
    """Return the integer that is as wide as the real numbers of a NumPy array, or None.

    To keep their bits by a mask takes NumPy a third of the time of choosing elements, which it does one by one.
    """
    return _WORDS.get(x.dtype.itemsize) if x.__class__ is np.ndarray and x.ndim and x.dtype.kind in "fiu" else None


def bits_of(mask: Any, word: type[np.int32 | np.int64]) -> Any:
    """Return integers of which all bits are set where a mask is true, and none elsewhere."""
    bits = mask.astype(word)
    return np.negative(bits, bits)


def arange(count: int, like: Any, dtype: Any = np.int64) -> Any:
    """Return the integers below `count`."""
    return np.arange(count, dtype=dtype, like=_like(like))


def eye(rows: int, like: Any, dtype: Any = None) -> Any:
    """Return the unit matrix."""
    return np.eye(rows, dtype=like.dtype if dtype is None else dtype, like=_like(like))
