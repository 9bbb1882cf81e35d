"""Arrays whose axes lie in another order: copies in order, and operands that lie alike.

NumPy copies a transposed matrix in steps of a whole row of it, and adds it to another one in such steps.  Where rows
are a power of two long that takes thirty times as long as to add matrices that lie alike.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.kernels.base.choose import chosen
from autodiff_lab.kernels.layouts import reference

FEW = 16_384
"""Elements below which both matrices stay in the first-level cache, and NumPy is as quick."""
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


def _goes_across(x: Any) -> bool:
    """Return whether neighbours on the last axis lie apart, in a large array."""
    return x.size >= FEW and x.ndim > 1 and x.strides[-1] != x.itemsize and x.shape[-1] > 1
