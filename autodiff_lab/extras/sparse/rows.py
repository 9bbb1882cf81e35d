"""Functions of the rows of sparse tensors: filling empty rows, indicators of ids, counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.devices import placed
from autodiff_lab.engine.shape import as_integer, flag
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.extras.sparse.functions import reorder, sparse
from autodiff_lab.extras.sparse.tensor import SparseTensor
from autodiff_lab.ops.array.gathering import laid_beside
from autodiff_lab.ops.array.joining import concat
from autodiff_lab.ops.array.shaping import reshape
from autodiff_lab.ops.checks import room

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike


def fill_empty_rows(
    sp_input: SparseTensor, default_value: TensorLike, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """Fill the first element of each empty row, and return the result and which rows were empty.

    Shapes: (n, *s), () -> (n, *s), (n).  Dtypes: any, the same for both.  Derivative: 1 for the values;
    for the default the sum over the rows that it fills.

    Raises
    ------
    ShapeMismatch
        If the input has no axes, or its rows have length 0.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> filled, empty = lab.sparse.fill_empty_rows(lab.SparseTensor([[0, 1]], [5], [2, 2]), -1)
    >>> print(lab.sparse.to_dense(filled)[1], empty)
    Tensor([-1  0], shape=(2,), dtype=int32) Tensor([False  True], shape=(2,), dtype=bool)
    """
    x = sparse(sp_input, "fill_empty_rows")
    if not x.ndim or (x._shape[0] and 0 in x._shape[1:]):
        raise ShapeMismatch(f"sparse.fill_empty_rows: expected rows with at least one element, got shape {x.shape}.")
    empty = np.bincount(x._indices[:, 0], minlength=x._shape[0]) == 0
    rows = np.flatnonzero(empty)
    fill = convert(default_value, x.values)
    if fill._held.size != 1:
        raise ShapeMismatch(f"sparse.fill_empty_rows: default_value must be a scalar, got shape {fill._held.shape}.")
    fill = reshape(fill, (1,))
    if fill.device != x.values.device and not isinstance(default_value, Tensor):
        fill = laid_beside(x.values, fill._array)
    if fill.dtype != x.dtype:
        raise DtypeMismatch(
            f"sparse.fill_empty_rows: default_value must have dtype {x.dtype.name}, got {fill.dtype.name}."
        )
    first = np.zeros((len(rows), x.ndim), np.int64)
    first[:, 0] = rows
    places = np.concatenate([x._indices, first])
    values = concat([x.values, *[fill] * len(rows)], axis=0)
    return named((reorder(SparseTensor(places, values, x._shape)), wrap(empty)), name)


def to_indicator(sp_input: SparseTensor, vocab_size: int, name: str | None = None) -> Tensor:
    """Convert ids to indicators: element (i, k) is true if row i contains the value k.

    Shapes: (*s, m) of ids below `vocab_size` -> (*s, vocab_size).  Dtypes: integers to bool.  Derivative: none.

    Raises
    ------
    InvalidArgumentError
        If a value is not an integer in [0, vocab_size).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> ids = lab.SparseTensor([[0, 0], [0, 1], [1, 0]], [2, 0, 1], [2, 2])
    >>> print(lab.sparse.to_indicator(ids, vocab_size=3))
    Tensor([[ True False  True]
     [False  True False]], shape=(2, 3), dtype=bool)
    """
    x = sparse(sp_input, "to_indicator")
    ids = _ids(x, "to_indicator", int(vocab_size))
    marks = np.zeros((*x._shape[:-1], int(vocab_size)), np.bool_)
    marks[(*x._indices[:, :-1].T, ids)] = True
    return named(wrap(marks), name)


def _ids(x: SparseTensor, what: str, limit: int | None) -> np.ndarray[Any, Any]:
    ids = x.values._array
    if ids.dtype.kind not in "iu" or (ids.size and (ids.min() < 0 or (limit is not None and ids.max() >= limit))):
        raise InvalidArgumentError(
            f"sparse.{what}: expected non-negative integers" + (f" below {limit}." if limit is not None else ".")
        )
    return ids


def bincount(
    values: TensorLike,
    weights: TensorLike | None = None,
    axis: int | None = 0,
    minlength: int | None = None,
    maxlength: int | None = None,
    binary_output: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """Count how often each integer occurs, as a sparse tensor: in all values or, with ``axis=-1``, in each row.

    Shapes: (n) -> (bins), (b, n) with axis=-1 -> (b, bins).  Dtypes: int32 to int32, other integers to int64, or
    that of the weights.
    Derivative: none.

    Raises
    ------
    InvalidArgumentError
        If a value is not a non-negative integer, or the axis is not 0, None or -1.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.sparse.to_dense(lab.sparse.bincount([[1, 1, 3], [0, 1, 1]], axis=-1)))
    Tensor([[0 2 0 1]
     [1 2 0 0]], shape=(2, 4), dtype=int32)
    """
    axis = None if axis is None else as_integer(axis, "sparse.bincount: axis")
    if axis not in (0, None, -1):
        raise InvalidArgumentError(f"sparse.bincount: expected axis 0, None or -1, got {axis}.")
    if isinstance(values, SparseTensor):
        x, rows = values, values._indices[:, 0]
    else:
        array = (
            np.atleast_2d(convert(values)._array) if axis == -1 else np.asarray(convert(values)._array).reshape(1, -1)
        )
        rows = np.repeat(np.arange(array.shape[0]), array.shape[1])
        x = SparseTensor(np.argwhere(np.ones(array.shape, np.bool_)), wrap(array.ravel()), array.shape)
    ids = _ids(x, "bincount", None)
    rows = rows if axis == -1 and x.ndim > 1 else np.zeros_like(rows)
    least = 0 if minlength is None else as_integer(minlength, "sparse.bincount: minlength", 0)
    bins = max((int(ids.max()) if ids.size else -1) + 1, least)
    bins = min(bins, as_integer(maxlength, "sparse.bincount: maxlength", 0)) if maxlength is not None else bins
    room(bins * max(len(rows), 1) * 8, "sparse.bincount: bins")
    counted = np.int32 if x.values._held.dtype == np.int32 else np.int64
    amounts = np.ones(len(ids), counted) if weights is None else _weights(weights, len(ids))
    counts = np.zeros((x._shape[0] if axis == -1 and x.ndim > 1 else 1, bins), amounts.dtype)
    seen = np.zeros(counts.shape, np.bool_)
    kept = ids < bins
    np.add.at(counts, (rows[kept], ids[kept]), amounts[kept])
    seen[rows[kept], ids[kept]] = True
    if flag(binary_output, "sparse.bincount: binary_output"):
        counts = seen.astype(counts.dtype)
    found = SparseTensor(np.argwhere(seen), wrap(placed(counts[seen])), counts.shape)
    found = found if axis == -1 and x.ndim > 1 else SparseTensor(found._indices[:, 1:], found.values, [bins])
    return named(found, name)


def _weights(weights: Any, count: int) -> np.ndarray[Any, Any]:
    given = weights.values if isinstance(weights, SparseTensor) else convert(weights)
    if given._held.size != count:
        raise ShapeMismatch(f"sparse.bincount: expected {count} weights, one for each value, got {given._held.size}.")
    return np.asarray(given._array).ravel()
