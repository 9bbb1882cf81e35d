"""Arrays whose axes lie in another order: copies in order, and operands that lie alike.

NumPy copies a transposed matrix in steps of a whole row of it, and adds it to another one in such steps.  Where rows
are a power of two long that takes thirty times as long as to add matrices that lie alike.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any

from numpy import ndarray

from autodiff_lab.kernels.base.choose import chosen
from autodiff_lab.kernels.layouts import reference

FEW = 16_384
"""Elements below which both matrices stay in the first-level cache, and NumPy is as quick."""
Order = tuple[int, ...]
_of_many = chosen("in_order", reference.in_order)


def in_order(array: Any) -> Any:
    """Copy an array so that its elements lie in the order of its axes.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.base.order import in_order
    >>> in_order(np.ones((2, 3)).T).strides
    (16, 8)
    """
    return _of_many(array) if _goes_across(array) else reference.in_order(array)


def aligned(x: Any, y: Any) -> tuple[Any, Any]:
    """Return two arrays of one shape so that what goes through one in order does so through the other.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.base.order import aligned
    >>> x, y = aligned(np.ones((200, 200)), np.ones((200, 200)).T)
    >>> x.strides == y.strides
    True
    """
    if x.flags.c_contiguous and _goes_across(y):
        return x, _of_many(y)
    if y.flags.c_contiguous and _goes_across(x):
        return _of_many(x), y
    return x, y


def reshaped(x: Any, shape: tuple[int, ...]) -> Any:
    """Return the elements in another shape: a view of the array where there is one.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.base.order import reshaped
    >>> reshaped(np.arange(6).reshape(2, 3).T, (6,)).tolist()
    [0, 3, 1, 4, 2, 5]
    """
    if not _goes_across(x):
        return x.reshape(shape)
    try:
        return x.reshape(shape, copy=False)
    except (TypeError, ValueError):  # NumPy 2.0 does not take `copy`
        return _of_many(x).reshape(shape)


@lru_cache(4096)
def order_in_memory(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[Order, Order] | None:
    """Return the order of the axes in which elements are contiguous, and the one that undoes it.

    None if there is none, or if that is the order of the axes.

    Examples
    --------
    >>> from autodiff_lab.kernels.base.order import order_in_memory
    >>> order_in_memory((2, 3, 5), (60, 4, 12))
    ((0, 2, 1), (0, 2, 1))
    """
    order = tuple(sorted(range(len(shape)), key=lambda axis: (-strides[axis], axis)))
    long = [axis for axis in order if shape[axis] != 1]  # the stride of an axis of length 1 does not matter
    if any(strides[axis] != shape[after] * strides[after] for axis, after in pairwise(long)):
        return None
    if long == sorted(long) or 0 in shape:
        return None
    return order, tuple(sorted(range(len(shape)), key=order.__getitem__))


def lie_alike(arrays: tuple[Any, ...]) -> bool:
    """Return whether all inputs lie as the first one does, or are or repeat a single number."""
    shape, strides = arrays[0].shape, arrays[0].strides
    for x in arrays:
        if x.__class__ is ndarray and (x.shape != shape or (x.strides != strides and any(x.strides))):
            return False
    return True


def _goes_across(x: Any) -> bool:
    """Return whether neighbours on the last axis lie further apart than those on another one, in a large array."""
    if x.size < FEW or x.ndim < 2 or x.strides[-1] <= x.itemsize or x.shape[-1] == 1:
        return False
    return any(n > 1 and 0 < step < x.strides[-1] for n, step in zip(x.shape, x.strides, strict=True))
