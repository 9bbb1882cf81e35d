"""Embeddings: rows of a table picked by number, alone or combined by the rows of a sparse tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch, UnimplementedError
from autodiff_lab.ops.array.gathering import gather, laid_beside, scatter_nd, where
from autodiff_lab.ops.array.shaping import expand_dims, reshape
from autodiff_lab.ops.checks import floats, not_integers, one_of
from autodiff_lab.ops.docs import doc
from autodiff_lab.ops.math.arithmetic import maximum, sqrt, square
from autodiff_lab.ops.math.reductions import reduce_sum
from autodiff_lab.ops.structured import structured

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike


def _whole_table(params: Any, name: str) -> Tensor:
    """Return one table, alone or in a list; a list of several is refused."""
    parts: list[Any] = list(params) if isinstance(params, (list, tuple)) else []
    if len(parts) > 1 and all(hasattr(part, "_held") and part._held.ndim > 1 for part in parts):
        raise UnimplementedError(f"{name}: partitioned tables are not supported. Try lab.concat(params, 0).")
    table = convert(parts[0] if len(parts) == 1 and hasattr(parts[0], "_held") else params)
    if table._held.ndim < 1:
        raise ShapeMismatch(f"{name}: expected a table (n, *s), got a scalar.")
    return table


def _ids(ids: Any, name: str) -> Tensor:
    numbers = convert(ids)
    if numbers._held.dtype.kind not in "iu":
        raise not_integers(numbers.dtype, f"{name}: ids")
    return numbers


def _clipped(rows: Tensor, ids_rank: int, max_norm: Tensor) -> Tensor:
    """Scale rows longer than `max_norm` down to it."""
    axes = tuple(range(ids_rank, rows._held.ndim))
    squares = reduce_sum(square(rows), axis=axes, keepdims=True)
    long = squares > max_norm * max_norm
    return rows * where(long, max_norm / sqrt(where(long, squares, 1.0)), 1.0)


@structured(2)
def embedding_lookup(params: TensorLike, ids: TensorLike, max_norm: float | None = None,
                     name: str | None = None) -> Tensor:
    table, numbers = _whole_table(params, "embedding_lookup"), _ids(ids, "embedding_lookup")
    rows = gather(table, numbers)
    if max_norm is not None:
        rows = _clipped(floats(rows, "embedding_lookup"), numbers._held.ndim, convert(max_norm, rows))
    return named(rows, name)


def embedding_lookup_sparse(params: TensorLike, sp_ids: Any, sp_weights: Any | None = None,
                            combiner: str | None = None,
                            max_norm: float | None = None, name: str | None = None,
                            allow_fast_lookup: bool = False) -> Tensor:
    what = "embedding_lookup_sparse"
    how = one_of("mean" if combiner is None else combiner, ("sum", "mean", "sqrtn"), f"{what}: combiner")
    if hasattr(sp_ids, "ragged_rank"):
        rows = sp_ids.__lab_apply__(embedding_lookup_sparse, (params, sp_ids, sp_weights),
                                    {"combiner": combiner, "max_norm": max_norm})
        return named(rows, name)
    if not hasattr(sp_ids, "dense_shape"):
        raise InvalidArgumentError(f"{what}: sp_ids must be a SparseTensor, got {type(sp_ids).__name__}. Try "
                                   "embedding_lookup for a dense tensor.")
    numbers = _ids(sp_ids.values, what)
    segments = expand_dims(gather(sp_ids.indices, 0, axis=1), -1)
    count = int(np.asarray(sp_ids.dense_shape._array)[0])
    rows = floats(embedding_lookup(params, numbers, max_norm), what)
    segments = laid_beside(rows, segments._array)
    extra = (1,) * (rows._held.ndim - 1)
    if sp_weights is None:
        weights = laid_beside(rows, np.ones(numbers._held.shape, rows._held.dtype))
    else:
        weights = convert(sp_weights.values)
        if weights._held.shape != numbers._held.shape or weights._held.dtype != rows._held.dtype:
            raise ShapeMismatch(f"{what}: expected {rows.dtype.name} weights of shape {numbers._held.shape}, one for "
                                f"each id, got {weights.dtype.name} of shape {weights._held.shape}.")

    spread = reshape(weights, (*weights._held.shape, *extra))
    total = scatter_nd(segments, rows * spread, (count, *rows._held.shape[1:]))
    if how == "sum":
        return named(total, name)
    sizes = weights if how == "mean" else square(weights)
    size = reshape(scatter_nd(segments, sizes, (count,)), (count, *extra))
    empty = size == 0.0
    divisor = where(empty, 1.0, size)
    return named(total / (divisor if how == "mean" else sqrt(maximum(divisor, 0.0))), name)


embedding_lookup.__doc__ = doc(
    "Rows of a table by number; rows longer than `max_norm`, if it is given, are scaled down to it.",
    shapes="params (n, *s), ids (*b) -> (*b, *s)", dtypes="any table, integer ids",
    derivative="1 for the rows picked, added up where one is picked twice", raises=("argument", "convert"),
    example=">>> print(lab.nn.embedding_lookup([[1.0, 2.0], [3.0, 4.0]], [1]))\n"
            "Tensor([[3. 4.]], shape=(1, 2), dtype=float32)")
embedding_lookup_sparse.__doc__ = doc(
    "Rows of a table by number, combined over each row of a sparse or ragged tensor of numbers: 'sum', 'mean' (over "
    "the weights) or 'sqrtn' (over the root of their squares).",
    shapes="params (n, *s), sp_ids (b, k) sparse -> (b, *s)", dtypes="a floating table, integer ids",
    derivative="the weights, over the size they are divided by", raises=("argument", "shape", "convert"),
    example=">>> ids = lab.SparseTensor([[0, 0], [0, 1], [1, 0]], [0, 1, 1], [2, 2])\n"
            ">>> print(lab.nn.embedding_lookup_sparse([[1.0], [3.0]], ids, combiner='mean'))\n"
            "Tensor([[2.]\n [3.]], shape=(2, 1), dtype=float32)")
