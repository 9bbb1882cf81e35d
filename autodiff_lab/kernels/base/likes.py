"""What a choice between two kernels knows of a call: dtypes, shapes and layouts of its arrays, and its parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

FEW_NUMBERS = 16
"""Arrays of so few numbers may be settings, whose values a measurement keeps."""


class Like(NamedTuple):
    """What a measurement needs to know of an array; values only of integers, which may be positions, and of settings.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.base.likes import Like
    >>> Like.in_rows(np.dtype("float32"), (2, 3)).strides
    (12, 4)
    """

    dtype: Any
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    values: Any = None

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @classmethod
    def of(cls, array: Any) -> Any:
        """Describe an array; whatever is none stays as it is."""
        if not hasattr(array, "strides"):
            return array
        known = array.dtype.kind not in "fc" or array.size <= FEW_NUMBERS
        return cls(array.dtype, array.shape, array.strides, array.copy() if known else None)

    @classmethod
    def in_rows(cls, dtype: Any, shape: tuple[int, ...]) -> Like:
        """Describe an array that is not there yet; its integers will be 0, and half of its truth values true."""
        made = np.empty(shape, dtype) if dtype.kind in "fcb" else np.zeros(shape, dtype)
        return cls(dtype, shape, made.strides, None if dtype.kind in "fcb" else made)


def signature(arrays: Sequence[Any], params: dict[str, Any]) -> Any:
    """Return what the choice of a kernel depends on: dtypes, sizes and strides of arrays, and parameters.

    Strides tell the shape of an array in rows, and are quicker to hash with a size than with a shape.
    """
    told: list[Any] = []
    try:
        for a in arrays:
            told += (a.dtype, a.size, a.strides)
    except AttributeError:  # None, or a list
        told.append(repr(arrays[1:]))
    told += params.values()
    return tuple(told)
