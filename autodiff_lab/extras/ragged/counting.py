"""How often numbers occur in the rows of a ragged tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.extras.ragged.broadcasting import same_rows
from autodiff_lab.extras.ragged.tensor import RaggedTensor
from autodiff_lab.ops.array.gathering import laid_beside
from autodiff_lab.ops.array.shaping import reshape
from autodiff_lab.ops.math.counting import bincount


def counted(
    arr: RaggedTensor,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = "int32",
    axis: Any = None,
    binary_output: bool = False,
) -> Tensor:
    """Return how often each number occurs, in all rows together or, with ``axis=-1``, in each.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.math.bincount(lab.ragged.constant([[1, 1], [0]]), axis=-1))
    Tensor([[0 2]
     [1 0]], shape=(2, 2), dtype=int32)
    """
    if axis not in (None, 0, -1):
        raise InvalidArgumentError(f"bincount: axis is None, 0 or -1, got {axis}.")
    if weights is not None and binary_output:
        raise InvalidArgumentError("bincount: give weights or binary_output, not both.")
    heavy = None if weights is None else weights_of(arr, weights)
    if axis != -1:
        return bincount(arr.flat_values, heavy, minlength, maxlength, dtype, None, None, binary_output)
    if arr.ndim != 2:
        raise ShapeMismatch(f"bincount: along the last axis a shape of (n, None) is needed, got {arr.shape}.")
    numbers = np.asarray(arr.flat_values._array, np.int64)
    if numbers.size and numbers.min() < 0:
        raise InvalidArgumentError(f"bincount: numbers must not be negative, got {int(numbers.min())}")
    width = int(numbers.max(initial=-1)) + 1
    width = max(width, int(convert(minlength)._array)) if minlength is not None else width
    width = min(width, int(convert(maxlength)._array)) if maxlength is not None else width
    rows, size = arr.partitions[0].row_numbers, len(arr) * width
    places = np.where(numbers < width, rows * width + numbers, size)
    found = bincount(laid_beside(arr.flat_values, places), heavy, size + 1, size + 1, dtype, None, None, binary_output)
    return reshape(found[:-1], (len(arr), width))


def weights_of(arr: RaggedTensor, weights: Any) -> Tensor:
    """Return the flat weights of a ragged tensor of numbers, cut alike."""
    if not isinstance(weights, RaggedTensor) or not same_rows(arr, weights):
        raise ShapeMismatch("bincount: weights must be a ragged tensor with the rows of the numbers.")
    return weights.flat_values
