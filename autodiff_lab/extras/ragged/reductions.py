"""Reductions of ragged tensors over any axes, softmax, cumulative sums and counts.

Each value belongs to one cell of the result, given by its coordinates along the axes that are kept; the values of a
cell are reduced as a segment.  A row of the result is as long as the longest of the rows that are combined in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.shape import as_integer, as_integers, flag
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.extras.ragged.broadcasting import broadcast_to_rows, same_rows
from autodiff_lab.extras.ragged.making import count
from autodiff_lab.extras.ragged.partition import RowPartition, Whole
from autodiff_lab.extras.ragged.shaping import expand_dims, from_lengths_of
from autodiff_lab.extras.ragged.tensor import RaggedTensor
from autodiff_lab.extras.segments import reduce_segments
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.gathering import gather_axis, laid_beside
from autodiff_lab.ops.array.shaping import reshape
from autodiff_lab.ops.checks import room
from autodiff_lab.ops.math import reductions, statistics
from autodiff_lab.ops.math.arithmetic import divide, sqrt, square, subtract
from autodiff_lab.ops.math.counting import bincount
from autodiff_lab.ops.math.cumulative import cumsum as cumsum_dense
from autodiff_lab.ops.math.exponential import exp


def reduced(name: str, x: RaggedTensor, axis: Any = None, keepdims: bool = False) -> Any:
    """Reduce a ragged tensor over axes, with the public reduction of this name.

    Shapes: (n, None, *inner) over axis 0 -> (longest row, *inner), over axis 1 -> (n, *inner).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.ragged.constant([[1.0, 2.0, 3.0], [4.0, 6.0]])
    >>> print(lab.reduce_mean(x, axis=1), lab.reduce_sum(x, axis=0))
    Tensor([2. 5.], shape=(2,), dtype=float32) Tensor([5. 8. 3.], shape=(3,), dtype=float32)
    """
    axes = axes_of(x, axis, name)
    if axis is not None and not axes:
        return x
    keepdims = flag(keepdims, f"{name}: keepdims")
    if name in ("reduce_variance", "reduce_std"):
        spread = _variance(x, axes, keepdims)
        return sqrt(spread) if name == "reduce_std" else spread
    if axis is None and name != "reduce_mean":
        whole = getattr(reductions, name)(x.flat_values)
        return reshape(whole, (1,) * x.ndim) if keepdims else whole
    return _shaped(*_cells(x, name, axes), axes, keepdims)


def axes_of(x: RaggedTensor, axis: Any, name: str) -> tuple[int, ...]:
    """Return axes as non-negative integers, sorted and without repetitions; all of them for None."""
    if axis is None:
        return tuple(range(x.ndim))
    numbers = as_integers(axis, f"{name}: axis")
    if any(not -x.ndim <= a < x.ndim for a in numbers):
        raise InvalidArgumentError(f"{name}: axis {axis} is out of bounds for shape {x.shape}.")
    return tuple(sorted({a % x.ndim for a in numbers}))


class Cells:
    """The cell of the result that each value of a ragged tensor is reduced into.

    Attributes
    ----------
    target : numpy.ndarray
        The cell number of each row of the flat values.
    number : int
        The number of cells.
    kept : list of RowPartition
        The rows of the result, outermost first.
    rows : bool
        Whether the first axis or any ragged axis is kept.
    """

    def __init__(self, x: RaggedTensor, axes: tuple[int, ...]) -> None:
        parts = x.partitions
        self.kept: list[RowPartition] = []
        self.rows = 0 not in axes
        self.number = len(x) if self.rows else 1
        self.target: Whole = np.arange(len(x)) if self.rows else np.zeros(len(x), np.int64)
        untouched = self.rows
        for axis, partition in enumerate(parts, 1):
            outer = self.target
            if axis in axes:
                self.target = outer[partition.row_numbers]
                untouched = False
            elif untouched:
                self.kept.append(partition)
                self.target, self.number = np.arange(partition.values), partition.values
            else:
                self._merged(outer, partition)
                untouched = False

    def shaped(self, made: Any) -> Any:
        """Return the result, given one value for each cell."""
        if not self.rows:
            made = reshape(made, made._held.shape[1:])
        for partition in reversed(self.kept):
            made = RaggedTensor(made, partition)
        return made

    def _merged(self, outer: Whole, partition: RowPartition) -> None:
        """Combine the rows of each cell into one, element by element."""
        longest = np.zeros(self.number, np.int64)
        np.maximum.at(longest, outer, partition.lengths)
        rows = RowPartition.from_lengths(longest, narrow=partition.narrow)
        self.target = rows.splits[:-1][outer][partition.row_numbers] + partition.places
        self.number = rows.values
        if self.rows:
            self.kept.append(rows)
        self.rows = True


def _cells(x: RaggedTensor, name: str, axes: tuple[int, ...]) -> tuple[Tensor, Cells]:
    """Return the reduced value of each cell."""
    cells = Cells(x, axes)
    inner = tuple(a - x.ragged_rank for a in axes if a > x.ragged_rank)
    flat = x.flat_values
    if inner == axes or all(a > x.ragged_rank for a in axes):
        return _mean(flat, inner) if name == "reduce_mean" else getattr(reductions, name)(flat, axis=inner), cells
    if name == "reduce_mean":
        total = reduce_segments("reduce_sum", flat, cells.target, cells.number)
        total = reductions.reduce_sum(total, axis=inner) if inner else total
        width = int(np.prod([flat._held.shape[a] for a in inner]))
        amounts = np.bincount(cells.target, minlength=cells.number) * width
        amounts = amounts.reshape(-1, *(1,) * (total._held.ndim - 1)).astype(np.float64)
        kind = "float64" if total.dtype.is_integer else total.dtype
        return divide(cast(total, kind), cast(laid_beside(total, amounts), kind)), cells
    if inner:
        flat = getattr(reductions, name)(flat, axis=inner)
    return reduce_segments(name, flat, cells.target, cells.number), cells


def _mean(flat: Tensor, inner: tuple[int, ...]) -> Tensor:
    return reductions.reduce_mean(cast(flat, "float64") if flat.dtype.is_integer else flat, axis=inner)


def _shaped(made: Any, cells: Cells, axes: tuple[int, ...], keepdims: bool) -> Any:
    made = cells.shaped(made)
    if not keepdims:
        return made
    ahead = next((i for i, axis in enumerate((*axes, -1)) if axis != i))  # how many of the first axes are gone
    if ahead > 1 and cells.rows:  # the first axis that is left was ragged and is one row now
        made = RaggedTensor(made, from_lengths_of(np.array([count(made)])))
        axes = axes[1:]
    for axis in axes:
        made = expand_dims(made, axis if ahead <= 1 or axis >= ahead else 0)
    return made


def _variance(x: RaggedTensor, axes: tuple[int, ...], keepdims: bool) -> Any:
    if x.dtype.is_complex or x.dtype.is_integer:
        raise InvalidArgumentError(
            f"reduce_variance: expected a real floating dtype, got {x.dtype.name}. Try lab.cast."
        )
    inner = tuple(a - x.ragged_rank for a in axes if a > x.ragged_rank)
    if all(a > x.ragged_rank for a in axes):
        return x.with_flat_values(statistics.reduce_variance(x.flat_values, axis=inner, keepdims=keepdims))
    means, cells = _cells(x, "reduce_mean", axes)
    shape = tuple(1 if a in inner else n for a, n in enumerate(x.flat_values._held.shape))[1:]
    means = reshape(means, (cells.number, *shape))
    mean_of_each = gather_axis(means, laid_beside(means, cells.target), axis=-means._held.ndim)
    squares = x.with_flat_values(square(subtract(x.flat_values, mean_of_each)))
    return _shaped(*_cells(squares, "reduce_mean", axes), axes, keepdims)


def softmax(logits: RaggedTensor, axis: int | None = None) -> RaggedTensor:
    """Compute the softmax along an axis, which may be ragged.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.nn.softmax(lab.ragged.constant([[1.0, 1.0], [2.0]]))
    <RaggedTensor [[0.5, 0.5], [1.0]]>
    """
    at = -1 if axis is None else axis
    if not logits.dtype.is_floating:
        raise InvalidArgumentError(f"softmax: expected a floating dtype, got {logits.dtype.name}. Try lab.cast.")
    (number,) = axes_of(logits, at, "softmax")
    if number > logits.ragged_rank:
        from autodiff_lab.ops.nn.activations import softmax as softmax_dense

        return logits.with_flat_values(softmax_dense(logits.flat_values, axis=number - logits.ragged_rank))
    cells, flat = Cells(logits, (number,)), logits.flat_values
    back = laid_beside(flat, cells.target)
    from autodiff_lab.ops.array.casting import stop_gradient

    largest = reduce_segments("reduce_max", stop_gradient(flat), cells.target, cells.number)
    raised = exp(subtract(flat, gather_axis(largest, back, axis=-flat._held.ndim)))
    total = reduce_segments("reduce_sum", raised, cells.target, cells.number)
    return logits.with_flat_values(divide(raised, gather_axis(total, back, axis=-flat._held.ndim)))


def cumsum(x: RaggedTensor, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> RaggedTensor:
    """Compute cumulative sums along an axis, which may be ragged.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.cumsum(lab.ragged.constant([[1, 2], [3, 4, 5]]), axis=1)
    <RaggedTensor [[1, 3], [3, 7, 12]]>
    """
    (at,) = axes_of(x, axis, "cumsum")
    flat = x.flat_values
    if at > x.ragged_rank:
        return x.with_flat_values(cumsum_dense(flat, at - x.ragged_rank, exclusive, reverse))
    lines = Cells(x, (at,))  # the values of a cell follow each other along the axis
    order = np.argsort(lines.target, kind="stable")
    rows = from_lengths_of(np.bincount(lines.target, minlength=lines.number))
    sorted_values = gather_axis(flat, laid_beside(flat, order), axis=-flat._held.ndim)
    table = cumsum_dense(RaggedTensor(sorted_values, rows).to_tensor(), 1, exclusive, reverse)
    shape = table._held.shape
    whole = reshape(table, (shape[0] * shape[1], *shape[2:]))
    places = np.empty(len(order), np.int64)
    places[order] = rows.row_numbers * shape[1] + rows.places
    return x.with_flat_values(gather_axis(whole, laid_beside(whole, places), axis=-whole._held.ndim))


def segments_reduced(name: str, data: Any, segment_ids: Any, num_segments: Any = None) -> Any:
    """Reduce the rows of each segment of a ragged tensor, element by element.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.math.segment_sum(lab.ragged.constant([[1, 2], [3], [4, 5]]), [0, 0, 1])
    <RaggedTensor [[4, 2], [4, 5]]>
    """
    num_segments = None if num_segments is None else as_integer(num_segments, f"{name}: num_segments")
    ids: Any = segment_ids if isinstance(segment_ids, RaggedTensor) else convert(segment_ids)
    values: Any = data if isinstance(data, RaggedTensor) else convert(data)
    if isinstance(ids, RaggedTensor):
        cut = values if isinstance(values, RaggedTensor) else broadcast_to_rows(values, ids)
        if not cut.partitions[0].same(ids.partitions[0]):
            raise InvalidArgumentError(
                f"{name}: data of shape {cut.shape} and segment_ids of shape {ids.shape} have different rows."
            )
        return segments_reduced(name, cut.values, ids.values, num_segments)
    from autodiff_lab.ops.math import segments as dense

    if isinstance(values, Tensor):
        more = () if num_segments is None else (num_segments,)
        return getattr(dense, name)(values, ids, *more)
    numbers = np.asarray(ids._array)
    _check_segments(name, numbers, count(values), num_segments)
    least = int(numbers.max()) + 1 if numbers.size else 0
    total = room(least if num_segments is None else num_segments, name)
    order = np.argsort(numbers, kind="stable")
    order = order[numbers[order] >= 0]
    from autodiff_lab.extras.ragged.parts import picked

    rows = RowPartition.from_row_numbers(numbers[order].astype(np.int64), total)
    grouped = RaggedTensor(picked(values, order), rows)
    how = name.removeprefix("unsorted_").removeprefix("segment_")
    if how == "sqrt_n":
        sums = _shaped(*_cells(grouped, "reduce_sum", (1,)), (1,), False)
        cells = Cells(grouped, (1,))
        amounts = np.sqrt(np.bincount(cells.target, minlength=cells.number)).reshape(
            -1, *(1,) * (values.flat_values._held.ndim - 1)
        )
        return sums.with_flat_values(divide(sums.flat_values, cast(laid_beside(sums.flat_values, amounts), sums.dtype)))
    return reduced(f"reduce_{how}", grouped, 1)


def _check_segments(name: str, ids: Whole, rows: int, num_segments: Any) -> None:
    if ids.ndim != 1 or len(ids) != rows or (ids.size and ids.dtype.kind not in "iu"):
        raise InvalidArgumentError(
            f"{name}: expected a vector of {rows} integers, one for each row, got shape {ids.shape}."
        )
    if num_segments is None and ids.size and (ids[0] < 0 or (np.diff(ids) < 0).any()):
        raise InvalidArgumentError(
            f"{name}: segment_ids must be sorted and not negative. Try lab.math.unsorted_{name}."
        )
    if num_segments is not None and ids.size and int(ids.max()) >= num_segments:
        raise InvalidArgumentError(f"{name}: segment_ids must be below num_segments, {num_segments}.")


def counted(
    arr: RaggedTensor,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = "int32",
    axis: Any = None,
    binary_output: bool = False,
) -> Tensor:
    """Count how often each integer occurs, in all rows together or, with ``axis=-1``, in each row.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.math.bincount(lab.ragged.constant([[1, 1], [0]]), axis=-1))
    Tensor([[0 2]
     [1 0]], shape=(2, 2), dtype=int32)
    """
    if axis not in (None, 0, -1):
        raise InvalidArgumentError(f"bincount: expected axis None, 0 or -1, got {axis}.")
    if weights is not None and binary_output:
        raise InvalidArgumentError("bincount: weights and binary_output cannot be combined. Try one of them.")
    heavy = None if weights is None else weights_of(arr, weights)
    if axis != -1:
        return bincount(arr.flat_values, heavy, minlength, maxlength, dtype, None, None, binary_output)
    if arr.ndim != 2:
        raise ShapeMismatch(f"bincount: expected shape (n, None) for axis=-1, got {arr.shape}.")
    numbers = np.asarray(arr.flat_values._array, np.int64)
    if numbers.size and numbers.min() < 0:
        raise InvalidArgumentError(f"bincount: expected non-negative integers, got {int(numbers.min())}.")
    width = int(numbers.max()) + 1 if numbers.size else 0
    width = max(width, int(convert(minlength)._array)) if minlength is not None else width
    width = min(width, int(convert(maxlength)._array)) if maxlength is not None else width
    rows, size = arr.partitions[0].row_numbers, len(arr) * width
    places = np.where(numbers < width, rows * width + numbers, size)
    found = bincount(laid_beside(arr.flat_values, places), heavy, size + 1, size + 1, dtype, None, None, binary_output)
    return reshape(found[:-1], (len(arr), width))


def weights_of(arr: RaggedTensor, weights: Any) -> Tensor:
    """Return the flat weights of a ragged tensor of integers with the same rows."""
    if not isinstance(weights, RaggedTensor) or not same_rows(arr, weights):
        raise ShapeMismatch("bincount: weights must be a ragged tensor with the same rows as the integers.")
    return weights.flat_values
