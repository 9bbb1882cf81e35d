"""Sums, means, extremes and products over segments: elements that share a number are reduced to one.

`segment_*` take sorted numbers and have as many segments as the last one says; `unsorted_segment_*` take any, in any
shape, and leave out elements whose number is negative.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert, whole
from autodiff_lab.engine.devices import filled_beside
from autodiff_lab.engine.dtypes import public
from autodiff_lab.engine.shape import as_integer
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.events.listener import tell_made, tell_peek, trace_now, unheard, values_in_trace
from autodiff_lab.kernels.arrays import arange, beside, full, on_gpu, ranked
from autodiff_lab.kernels.base.choose import chosen
from autodiff_lab.kernels.base.halves import is_half
from autodiff_lab.kernels.checks import are_positions, require, told
from autodiff_lab.kernels.indexing import reference
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.creation import zeros_like
from autodiff_lab.ops.array.gathering import gather_axis, scatter_nd_sum, where
from autodiff_lab.ops.array.joining import concat
from autodiff_lab.ops.array.shaping import reshape
from autodiff_lab.ops.checks import not_integers, room
from autodiff_lab.ops.docs import doc
from autodiff_lab.ops.math.arithmetic import divide, maximum, sqrt
from autodiff_lab.ops.math.comparison import greater_equal, less, logical_and
from autodiff_lab.ops.math.elementary import truncatediv
from autodiff_lab.ops.math.reductions import reduce_all, reduce_prod
from autodiff_lab.ops.structured import called, structured

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike


def _sum_rule(ops: Any, g: Any, out: Any, x: Any, ids: Any, count: int) -> Any:
    return ops.gather(g, ids, axis=-len(x.shape))


def _extreme_rule(ops: Any, g: Any, out: Any, x: Any, ids: Any, count: int, empty: float) -> Any:
    """Give the contribution to the extreme element of a segment, in equal parts where several are equal."""
    axis = -len(x.shape)
    best = ops.gather(out, ids, axis=axis)
    chosen = ops.not_below(x, best) * ops.not_below(best, x)
    parts = ops.gather(ops.segment_sum(chosen, ids, count=count), ids, axis=axis)
    return ops.gate(ops.gather(g, ids, axis=axis), chosen / parts)


sum_segments = general(
    "segment_sum", chosen("segment_sum", reference.segment_sum), _sum_rule, None,
    warns=False, symbol="Σ by", latex=r"\sum_{{i \in s}} {0}_i", locals_latex=("1", ""),
    sentence="adds up the elements of {0} by segments", keeps="inputs", registered="SegmentSum",
    doc="The kernel-level sum; `lab.math.segment_sum` and `lab.math.unsorted_segment_sum` are the public functions.")
max_segments = general(
    "segment_max", chosen("segment_max", reference.segment_max), _extreme_rule, None,
    warns=False, symbol="max by", latex=r"\max_{{i \in s}} {0}_i", locals_latex=(r"[{0}_i = \max]", ""),
    sentence="takes the largest element of each segment of {0}", registered="SegmentMax",
    doc="The kernel-level maximum; `lab.math.segment_max` and `lab.math.unsorted_segment_max` are public.")
min_segments = general(
    "segment_min", chosen("segment_min", reference.segment_min), _extreme_rule, None,
    warns=False, symbol="min by", latex=r"\min_{{i \in s}} {0}_i", locals_latex=(r"[{0}_i = \min]", ""),
    sentence="takes the smallest element of each segment of {0}", registered="SegmentMin",
    doc="The kernel-level minimum; `lab.math.segment_min` and `lab.math.unsorted_segment_min` are public.")

Parts = tuple[Tensor, Any, int]


def _numbers(data: Any, segment_ids: Any, what: str) -> tuple[Tensor, Any]:
    x = convert(data)
    ids = beside(x._held, ranked(convert(segment_ids)._array))
    if x._held.dtype.kind in "bO":
        raise DtypeMismatch(f"{what}: expected numbers, got {x.dtype.name}. Try lab.cast(x, lab.int32).")
    if ids.size and ids.dtype.kind not in "iu":
        raise not_integers(public(ids.dtype), f"{what}: segment_ids")
    if x._held.shape[:ids.ndim] != ids.shape:
        raise ShapeMismatch(f"{what}: the shape {x._held.shape} of data must begin with that of segment_ids, "
                            f"{ids.shape}.")
    return x, ids.astype(np.int64, copy=False)


def _sorted(data: Any, segment_ids: Any, what: str) -> Parts:
    x, ids = _numbers(data, segment_ids, what)
    if ids.ndim != 1:
        raise ShapeMismatch(f"{what}: segment_ids must be a vector, got shape {ids.shape}. "
                            f"Try lab.math.unsorted_{what}.")
    require(not ids.size or ((ids[0] >= 0) & np.all(np.diff(ids) >= 0)), lambda: InvalidArgumentError(
        f"{what}: segment_ids must be sorted and not negative, got {told(ids)}. Try lab.math.unsorted_{what}."))
    return x, ids, room(int(ids[-1]) + 1 if ids.size else 0, what)


def _sorted_in_trace(data: Any, segment_ids: Any, what: str) -> Parts:
    """Do the same for numbers that may differ from call to call, as long as there are as many segments."""
    x, ids = convert(data), convert(segment_ids)
    held = values_in_trace(ids)
    if held.ndim != 1 or not held.size or held.dtype.kind not in "iu" or on_gpu(held) or on_gpu(x._held) or (
        x._held.dtype.kind in "bO" or x._held.shape[:1] != held.shape or held[0] < 0 or np.any(held[1:] < held[:-1])
    ):
        return _sorted(data, segment_ids, what)
    with unheard():
        ids = cast(ids, "int64")
        tell_peek(logical_and(ids[0] >= 0, reduce_all(ids[1:] >= ids[:-1])), "bool")
        return x, ids, room(whole(ids[-1] + 1, what), what)


def _unsorted(data: Any, segment_ids: Any, num_segments: Any, what: str) -> Parts:
    x, ids = _numbers(data, segment_ids, what)
    count = room(as_integer(num_segments, f"{what}: num_segments", 0), f"{what}: num_segments")
    sure = ids.__class__ is np.ndarray and are_positions(ids, count)
    require(sure or not ids.size or ids.max() < count, lambda: _too_large(ids, count, what))
    if ids.ndim != 1:
        x = reshape(x, (ids.size, *x._held.shape[ids.ndim:]))
        ids = ids.ravel()
    if not sure and ids.size and ids.min() < 0:
        kept, = np.nonzero(ids >= 0)
        x, ids = gather_axis(x, tell_made(wrap(kept)), axis=-x._held.ndim, dense=True), ids[kept]
    return x, ids, count


def _too_large(ids: Any, count: int, what: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"{what}: segment_ids must be below num_segments={count}, got {told(ids)}.")


def _add_in_trace(data: Any, segment_ids: Any, count: int, what: str) -> Tensor:
    """Add up segments whose numbers are not known yet.

    Negative ones fall into a last segment, which is cut off; those that are too large go beyond it, where the kernel
    refuses them.
    """
    x, ids = convert(data), convert(segment_ids)
    if x._held.shape[:ids._held.ndim] != ids._held.shape or ids._held.dtype.kind not in "iu":
        return sum_segments(x, _numbers(data, segment_ids, what)[1], count=count)  # refuses as it does without a trace
    rows, numbers = _rows_in_trace(x, ids, count, what)
    return scatter_nd_sum(rows, reshape(numbers, (-1, 1)), shape=(count + 1, *rows._held.shape[1:]))[:count]


def _rows_in_trace(x: Tensor, ids: Tensor, count: int, what: str) -> tuple[Tensor, Tensor]:
    """Return one row for each number, and the numbers, of which negative ones are `count` and large ones too large."""
    now = values_in_trace(ids)
    require(not now.size or now.max() < count, lambda: _too_large(now, count, what))
    with unheard():
        numbers = reshape(cast(ids, "int64"), (-1,))
        beyond = numbers + cast(greater_equal(numbers, count), "int64")
        numbers = where(less(numbers, 0), zeros_like(numbers) + count, beyond)
    return reshape(x, (ids._held.size, *x._held.shape[ids._held.ndim:])), numbers


def _best_in_trace(data: Any, segment_ids: Any, count: int, what: str, op: Any) -> Tensor:
    x, ids = convert(data), convert(segment_ids)
    known = x._held.shape[:ids._held.ndim] == ids._held.shape and ids._held.dtype.kind in "iu"
    if not known or x._held.dtype.kind in "bO" or on_gpu(x._held):  # a GPU would not refuse a number that is too large
        return _best(op, _unsorted(data, segment_ids, count, what), None)
    rows, numbers = _rows_in_trace(x, ids, count, what)
    return _best(op, (rows, numbers, count + 1), None)[:count]


def _lengths_in_trace(x: Tensor, ids: Tensor, count: int, root: bool) -> Tensor:
    with unheard():
        ones = tell_made(wrap(np.ones(ids._held.shape, np.float64)))
        lengths = maximum(sum_segments(ones, ids, count=count), 1.0)
        rest = (1,) * (x._held.ndim - 1)
        return reshape(cast(sqrt(lengths) if root else lengths, x.dtype), (count, *rest))


def _average_in_trace(data: Any, segment_ids: Any, count: int, what: str, root: bool = False) -> Tensor:
    x = convert(data)
    if x._held.dtype.kind in "iu" and root:
        raise _not_floating(x)
    if is_half(x._held.dtype):
        return cast(_average_in_trace(cast(x, "float32"), segment_ids, count, what, root), x.dtype)
    with unheard():
        ids = convert(segment_ids)
        ones = tell_made(wrap(beside(x._held, np.ones(ids._held.shape, x._held.dtype))))
        lengths = maximum(cast(_add_in_trace(ones, ids, count, what), "float64"), 1.0)
        rest = (1,) * (x._held.ndim - ids._held.ndim)
        divisor = reshape(cast(sqrt(lengths) if root else lengths, x.dtype), (count, *rest))
    return divide(_add_in_trace(x, segment_ids, count, what), divisor)


def _add(parts: Parts) -> Tensor:
    x, ids, count = parts
    return sum_segments(x, ids if isinstance(ids, Tensor) else tell_made(wrap(ids)), count=count)


def _average(parts: Parts, root: bool, whole: bool = False) -> Tensor:
    """Return sums over the numbers of elements, or over their roots; `whole` truncates those of integers towards 0."""
    x, ids, count = parts
    if is_half(x._held.dtype):
        return cast(_average((cast(x, "float32"), ids, count), root), x.dtype)
    if isinstance(ids, Tensor):
        return (truncatediv if whole and x._held.dtype.kind in "iu" else divide)(
            _add(parts), _lengths_in_trace(x, ids, count, root))
    lengths = np.maximum(np.bincount(ids, minlength=count), 1).astype(np.float64)
    lengths = (np.sqrt(lengths) if root else lengths).reshape((count,) + (1,) * (x._held.ndim - 1))
    divisor = tell_made(wrap(lengths.astype(x._held.dtype)))
    return (truncatediv if whole and x._held.dtype.kind in "iu" else divide)(_add(parts), divisor)


def _best(op: Any, parts: Parts, empty: float | None) -> Tensor:
    x, ids, count = parts
    limits = public(x._held.dtype)
    nothing = (limits.min if op is max_segments else limits.max) if empty is None else empty
    numbers = ids if isinstance(ids, Tensor) else tell_made(wrap(ids))
    return op(x, numbers, count=count, empty=x._held.dtype.type(nothing).item())


def _multiply(parts: Parts) -> Tensor:
    """Multiply each segment as a row that is padded with ones, so that zeros do no harm to gradients."""
    x, ids, count = parts
    lengths = np.bincount(ids, minlength=count)
    order = np.argsort(ids, kind="stable")
    places = arange(len(ids), ids) - (np.cumsum(lengths) - lengths)[ids[order]]
    positions = full((count, int(lengths.max()) if lengths.size else 0), len(ids), ids)
    positions[ids[order], places] = order
    one = tell_made(wrap(filled_beside(x, (1, *x._held.shape[1:]), 1, x._held.dtype)))
    rows = gather_axis(concat([x, one], 0), tell_made(wrap(positions)), axis=-x._held.ndim, dense=True)
    return reduce_prod(rows, axis=1)


def _not_floating(x: Tensor) -> DtypeMismatch:
    return DtypeMismatch(f"unsorted_segment_sqrt_n: expected floating-point data, got {x.dtype.name}. Try "
                         "lab.cast(data, lab.float32).")


def _root_mean(parts: Parts) -> Tensor:
    if parts[0]._held.dtype.kind in "iu":
        raise _not_floating(parts[0])
    return _average(parts, root=True)


class _OfSorted(Protocol):
    def __call__(self, data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor: ...


class _OfAny(Protocol):
    def __call__(self, data: TensorLike, segment_ids: TensorLike, num_segments: SupportsIndex,
                 name: str | None = None) -> Tensor: ...


def _documented(function: Any, words: str, derivative: str, result: str, shapes: str, more: str) -> Any:
    function.__doc__ = doc(
        words, shapes=shapes, dtypes="any number", derivative=derivative, raises=("shape", "argument", "convert"),
        example=f">>> print(lab.math.{function.__name__}([1.0, 2.0, 4.0], {more}))\n"
                f"Tensor({result}, shape=(2,), dtype=float32)")
    return structured(2)(function)


def _of_sorted(what: str, reduce: Callable[[Parts], Tensor], words: str, derivative: str, result: str) -> _OfSorted:
    """Make a public function over segments whose numbers ascend."""
    def function(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
        parts = _sorted if trace_now() is None or what == "segment_prod" else _sorted_in_trace
        return named(reduce(parts(data, segment_ids, what)), name)
    return _documented(called(what, function), words, derivative, result,
                       "data (n, *s), segment_ids (n) -> (last number + 1, *s)", "[0, 0, 1]")


def _of_any(what: str, reduce: Callable[[Parts], Tensor], words: str, derivative: str, result: str,
            in_trace: Callable[..., Tensor] | None = None) -> _OfAny:
    """Make a public function over segments in any order; `in_trace` does it where their numbers are not known yet."""
    def function(data: TensorLike, segment_ids: TensorLike, num_segments: SupportsIndex,
                 name: str | None = None) -> Tensor:
        if in_trace is not None and trace_now() is not None:
            return named(in_trace(data, segment_ids, whole(num_segments, f"{what}: num_segments"), what), name)
        return named(reduce(_unsorted(data, segment_ids, num_segments, what)), name)
    return _documented(called(what, function), words, derivative, result,
                       "data (*i, *s), segment_ids (*i) -> (num_segments, *s)", "[1, 1, 0], 2")


_ONE, _SHARED = "1 for every element", "1 for the extreme element, shared equally between ties"
_OTHERS = "the product of the others, right at 0 too"
_SUMS, _MEANS = (f"{kind} of the elements of each segment; 0 where a segment is empty." for kind in ("Sums", "Means"))
_PRODUCTS = "Products of the elements of each segment; 1 where a segment is empty."
segment_sum = _of_sorted("segment_sum", _add, _SUMS, _ONE, "[3. 4.]")
segment_mean = _of_sorted(
    "segment_mean", lambda parts: _average(parts, root=False, whole=True), _MEANS, "1/n", "[1.5 4. ]")
segment_max = _of_sorted(
    "segment_max", lambda parts: _best(max_segments, parts, 0),
    "The largest element of each segment; 0 where a segment is empty.", _SHARED, "[2. 4.]")
segment_min = _of_sorted(
    "segment_min", lambda parts: _best(min_segments, parts, 0),
    "The smallest element of each segment; 0 where a segment is empty.", _SHARED, "[1. 4.]")
segment_prod = _of_sorted("segment_prod", _multiply, _PRODUCTS, _OTHERS, "[2. 4.]")
unsorted_segment_sum = _of_any("unsorted_segment_sum", _add, _SUMS, _ONE, "[4. 3.]", _add_in_trace)
unsorted_segment_mean = _of_any(
    "unsorted_segment_mean", lambda parts: _average(parts, root=False), _MEANS, "1/n", "[4.  1.5]", _average_in_trace)
unsorted_segment_sqrt_n = _of_any(
    "unsorted_segment_sqrt_n", _root_mean,
    "Sums of the elements of each segment over the root of their number.", "1/√n", "[4. 2.12132...]",
    partial(_average_in_trace, root=True))
unsorted_segment_max = _of_any(
    "unsorted_segment_max", lambda parts: _best(max_segments, parts, None),
    "The largest element of each segment; the lowest number where a segment is empty.", _SHARED, "[4. 2.]",
    partial(_best_in_trace, op=max_segments))
unsorted_segment_min = _of_any(
    "unsorted_segment_min", lambda parts: _best(min_segments, parts, None),
    "The smallest element of each segment; the highest number where a segment is empty.", _SHARED, "[4. 1.]",
    partial(_best_in_trace, op=min_segments))
unsorted_segment_prod = _of_any("unsorted_segment_prod", _multiply, _PRODUCTS, _OTHERS, "[4. 2.]")
