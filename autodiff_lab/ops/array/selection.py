"""Sorting, the largest elements, distinct ones, and what a mask keeps.

Positions are found by ops without a gradient; the values at them are then taken, and gradients go back to where they
were taken from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert, convert_to_tensor, whole
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.shape import as_integer, as_integers
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import DeviceMismatch, DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.events.listener import tell_made, trace_now, unheard, values_in_trace
from autodiff_lab.kernels.arrays import arange, beside, on_gpu, ranked, zeros
from autodiff_lab.kernels.base.choose import chosen
from autodiff_lab.kernels.base.halves import in_float32
from autodiff_lab.kernels.indexing.reference import starts_of
from autodiff_lab.kernels.ordering.reference import argsort_along, search_rows, top_positions
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.gathering import gather_axis, positions_of, scatter_axis
from autodiff_lab.ops.array.shaping import reshape
from autodiff_lab.ops.checks import axis_from_end, dtypes_unequal, one_of
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.structured import structured

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, IntsLike, ShapeLike, TensorLike


def _like(indices: Any, x: Any) -> Any:
    """Indices repeated for the leading axes that only x has, those of a stack."""
    indices = ranked(indices)
    if indices.ndim == x.ndim:
        return indices
    return np.broadcast_to(indices, x.shape[:x.ndim - indices.ndim] + indices.shape)


@in_float32
def _put_along(g: Any, indices: Any, axis: int, length: int) -> Any:
    if g.ndim == 1 and g.__class__ is np.ndarray:
        total = np.zeros(length, g.dtype)
        np.add.at(total, indices, g)
        return total
    lines, places = g, _like(indices, g)
    if axis != -1:
        lines, places = np.moveaxis(lines, axis, -1), np.moveaxis(places, axis, -1)
    total = zeros((*lines.shape[:-1], length), g)
    if on_gpu(g):  # one long row, for the kernel whose sums have a fixed order
        rows = arange(total.size // length if length else 0, g)[:, None]
        flat = (places.reshape(len(rows), -1) + rows * length).reshape(-1)
        add_up: Any = scatter_axis.op.kernel  # type: ignore[attr-defined]
        total = add_up(lines.reshape(-1), flat, axis=-1, length=total.size).reshape(total.shape)
        return np.moveaxis(total, -1, axis)
    flat = places + starts_of((*lines.shape[:-1], 1), length)
    np.add.at(total.reshape(-1), flat.reshape(-1), lines.reshape(-1))  # far quicker than by rows and places
    return total if axis == -1 else np.moveaxis(total, -1, axis)


def _take_along(x: Any, indices: Any, axis: int) -> Any:
    if x.ndim == 1 and x.__class__ is np.ndarray:
        return x.take(indices)
    indices = _like(indices, x)
    if axis != -1 or x.__class__ is not np.ndarray or not x.flags.c_contiguous or not x.size:
        return np.take_along_axis(x, indices, axis)
    starts = starts_of((*x.shape[:-1], 1), x.shape[-1])
    return x.reshape(-1).take(indices + starts)  # in two thirds of the time of `take_along_axis`


take_along = general(
    "take_along", _take_along,
    lambda ops, g, out, x, indices, axis: ops.put_along(g, indices, axis=axis, length=x.shape[axis]), None,
    warns=False,
    symbol="take", latex=r"{0}_{{{1}}}", locals_latex=("1", ""), sentence="takes elements of {0} in another order",
    keeps="inputs", doc="Elements by their positions along a negative axis, row by row; `lab.sort` uses it.")
put_along = general(
    "put_along", _put_along, lambda ops, g, out, x, indices, axis, length: ops.take_along(g, indices, axis=axis), None,
    warns=False, symbol="put", latex=r"\operatorname{{put}}({0})", locals_latex=("1", ""),
    sentence="adds {0} up at positions, row by row", keeps="inputs",
    doc="Sums into zeros by position along a negative axis, row by row; the rule of `take_along` uses it.")


order_along = general(
    "argsort", argsort_along, None, warns=False, symbol="argsort", latex=r"\operatorname{{argsort}} {0}",
    sentence="finds the order of the elements of {0}", doc="The kernel-level argsort; `lab.argsort` is public.")


best_positions = general(
    "top_positions", chosen("top_positions", top_positions), None, warns=False, symbol="top k",
    latex=r"\operatorname{{top}}_k {0}", sentence="finds the largest elements of {0}", registered="TopKV2",
    doc="Positions of the k largest elements of each row; `lab.math.top_k` uses it.")


def _distinct(x: Any) -> tuple[Any, Any, Any]:
    """Positions where distinct elements first stand, in that order; for each element its number; how often each is."""
    _, first, number, count = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    rank = np.argsort(first)
    return first[rank], np.argsort(rank)[number], count[rank]


unique_values = general(
    "unique", lambda x: x[_distinct(x)[0]], None, warns=False, symbol="unique", latex=r"\operatorname{{unique}} {0}",
    sentence="keeps each element of {0} once", registered="Unique",
    doc="The distinct elements; `lab.unique` is the public function.")
unique_numbers = general(
    "unique_numbers", lambda x: _distinct(x)[1].astype(np.int64), None, warns=False, symbol="which",
    latex=r"\operatorname{{which}} {0}", sentence="numbers the elements of {0} by their value",
    doc="For each element the number of its value; `lab.unique` uses it.")
unique_counts = general(
    "unique_counts", lambda x: _distinct(x)[2].astype(np.int64), None, warns=False, symbol="count",
    latex=r"\operatorname{{count}} {0}", sentence="counts how often each element of {0} occurs",
    doc="How often each distinct element occurs; `lab.unique_with_counts` uses it.")


def _steps(rows: Any, values: Any, side: str) -> float:
    return values.size * max(rows.shape[-1], 1).bit_length()


search = general(
    "searchsorted", chosen("search_rows", search_rows, work=_steps), None, warns=False, symbol="search",
    latex=r"\operatorname{{search}}({0}, {1})",
    sentence="finds where {1} belongs in {0}", doc="The kernel-level search; `lab.searchsorted` is public.")


class TopK(NamedTuple):
    """The largest elements of each row and their positions."""

    values: Tensor
    indices: Tensor


class Unique(NamedTuple):
    """The distinct elements, and for each element the number of its value."""

    y: Tensor
    idx: Tensor


class UniqueWithCounts(NamedTuple):
    """The distinct elements, for each element the number of its value, and how often each value occurs."""

    y: Tensor
    idx: Tensor
    count: Tensor  # pyright: ignore[reportIncompatibleMethodOverride]


def _falls(direction: str, what: str) -> bool:
    given = direction.upper() if isinstance(direction, str) else direction
    return one_of(given, ("ASCENDING", "DESCENDING"), f"{what}: direction") == "DESCENDING"


def argsort(values: TensorLike, axis: IntsLike = -1, direction: str = "ASCENDING", stable: bool = False,
            name: str | None = None) -> Tensor:
    x = convert(values)
    at = axis_from_end(axis, x._held.ndim, "argsort")
    return order_along(x, axis=at, descending=_falls(direction, "argsort"), name=name)


def sort(values: TensorLike, axis: IntsLike = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    x = convert(values)
    at = axis_from_end(axis, x._held.ndim, "sort")
    return take_along(x, order_along(x, axis=at, descending=_falls(direction, "sort")), axis=at, name=name)


def top_k(input: TensorLike, k: TensorLike = 1, sorted: bool = True, index_type: DTypeLike = "int32",
          name: str | None = None) -> TopK:
    x, count = convert(input), whole(k, "top_k: k")
    if not x._held.ndim or not 0 <= count <= x._held.shape[-1]:
        raise InvalidArgumentError(f"top_k: k={count} is out of range for the last axis of a tensor of shape "
                                   f"{x._held.shape}.")
    found = best_positions(x, k=count)
    return named(TopK(take_along(x, found, axis=-1), cast(found, index_type)), name)


def _vector(x: Any, what: str) -> Tensor:
    x = convert(x)
    if x._held.ndim != 1:
        raise ShapeMismatch(f"{what}: expected a vector, got shape {x._held.shape}. Try lab.reshape(x, [-1]).")
    return x


def unique(x: TensorLike, out_idx: DTypeLike = "int32", name: str | None = None) -> Unique:
    x = _vector(x, "unique")
    return named(Unique(unique_values(x), cast(unique_numbers(x), out_idx)), name)


def unique_with_counts(x: TensorLike, out_idx: DTypeLike = "int32", name: str | None = None) -> UniqueWithCounts:
    x = _vector(x, "unique_with_counts")
    counts = cast(unique_counts(x), out_idx)
    return named(UniqueWithCounts(unique_values(x), cast(unique_numbers(x), out_idx), counts), name)


def searchsorted(sorted_sequence: TensorLike, values: TensorLike, side: str = "left", out_type: DTypeLike = "int32",
                 name: str | None = None) -> Tensor:
    rows = convert(sorted_sequence)
    wanted = convert(values, rows)
    one_of(side, ("left", "right"), "searchsorted: side")
    if rows._held.dtype != wanted._held.dtype:
        raise dtypes_unequal("searchsorted", sorted_sequence=rows, values=wanted)
    if not rows._held.ndim or rows._held.shape[:-1] != wanted._held.shape[:-1][-(rows._held.ndim - 1) or None:]:
        raise ShapeMismatch(f"searchsorted: shapes {rows._held.shape} and {wanted._held.shape} must match except for "
                            "the last axis. Try lab.reshape(values, [-1]), and reshape the result.")
    return named(cast(search(rows, wanted, side=side), out_type), name)


@structured(2)
def boolean_mask(tensor: TensorLike, mask: TensorLike, axis: IntsLike | None = None, name: str | None = None) -> Tensor:
    x, chosen = convert(tensor), convert_to_tensor(mask)
    traced = trace_now() is not None and not on_gpu(chosen._held) and not on_gpu(x._held)
    kept = values_in_trace(chosen) if traced else chosen._array
    if isinstance(mask, Tensor) and kept.ndim and x.device != mask.device:
        raise DeviceMismatch(f"boolean_mask: the tensor is on {x.device} and the mask on {mask.device}; nothing is "
                             "copied implicitly. Try .gpu() or .cpu() on one of them.")
    shape, rank = x._held.shape, kept.ndim
    at = 0 if axis is None else as_integer(axis, "boolean_mask: axis")
    at = at + len(shape) if at < 0 else at
    if kept.dtype.kind != "b":
        raise DtypeMismatch(f"boolean_mask: mask must be bool, got {as_dtype(kept.dtype).name}. Try a comparison.")
    if rank == 0 or shape[at:at + rank] != kept.shape:
        raise ShapeMismatch(f"boolean_mask: mask must have shape {shape[at:at + rank]} for axis {at} of a tensor "
                            f"of shape {shape}, got {kept.shape}.")
    x = reshape(x, (*shape[:at], kept.size, *shape[at + rank:])) if rank > 1 else x
    if traced:
        with unheard():
            places = positions_of(reshape(chosen, (kept.size,)), int(np.count_nonzero(kept)))
    else:
        places = tell_made(wrap(beside(x._held, np.nonzero(kept.reshape(-1))[0])))
    return gather_axis(x, places, axis=at - x._held.ndim, dense=True, name=name)


def unravel_index(indices: TensorLike, dims: ShapeLike, name: str | None = None) -> Tensor:
    flat = convert(indices)
    lengths = as_integers(dims, "unravel_index: dims")
    try:
        found = np.unravel_index(flat._array, lengths)
    except (ValueError, TypeError) as error:
        raise InvalidArgumentError(f"unravel_index: {error}") from None
    return named(wrap(np.asarray(found, flat._held.dtype)), name)


_NONE, _BACK = "none: positions and counts are integers", "1 for each element, back to where it was taken from"
document((
    (argsort, "The order that would sort a tensor along an axis; int32, equal elements in the order they stand in.",
     "values (*s) -> (*s)", _NONE,
     ">>> print(lab.argsort([3.0, 1.0, 2.0]))\nTensor([1 2 0], shape=(3,), dtype=int32)"),
    (sort, "The elements along an axis in order, rising or, with 'DESCENDING', falling.", "values (*s) -> (*s)", _BACK,
     ">>> print(lab.sort([3.0, 1.0, 2.0]))\nTensor([1. 2. 3.], shape=(3,), dtype=float32)"),
    (top_k, "The k largest elements of each row, largest first, and their positions.", "input (*s, n) -> twice (*s, k)",
     _BACK, ">>> print(lab.math.top_k([1.0, 5.0, 3.0], 2).values)\nTensor([5. 3.], shape=(2,), dtype=float32)"),
    (unique, "The distinct elements of a vector in the order they first occur, and the number of each element's value.",
     "x (n) -> (m), (n)", _NONE, ">>> y, idx = lab.unique([7, 3, 7])\n>>> print(y, idx)\n"
     "Tensor([7 3], shape=(2,), dtype=int32) Tensor([0 1 0], shape=(3,), dtype=int32)"),
    (unique_with_counts, "As `unique`, and how often each distinct element occurs.", "x (n) -> (m), (n), (m)", _NONE,
     ">>> print(lab.unique_with_counts([7, 3, 7]).count)\nTensor([2 1], shape=(2,), dtype=int32)"),
    (searchsorted, "Where values belong in sorted rows: before equal ones, or after them with side='right'.",
     "sorted_sequence (*s, n), values (*s, m) -> (*s, m)", _NONE,
     ">>> print(lab.searchsorted([1.0, 3.0, 5.0], [3.0, 4.0]))\nTensor([1 2], shape=(2,), dtype=int32)"),
    (boolean_mask, "The elements, or rows, where a mask is true.", "tensor (*a, *m, *s), mask (*m) -> (*a, n, *s)",
     "1 for what is kept, 0 for the rest",
     ">>> print(lab.boolean_mask([1, 2, 3], [True, False, True]))\nTensor([1 3], shape=(2,), dtype=int32)"),
    (unravel_index, "Coordinates of positions in a flattened tensor, one row for each axis.",
     "indices (*s), dims (n) -> (n, *s)", _NONE,
     ">>> print(lab.unravel_index([5], [2, 3]))\nTensor([[1]\n [2]], shape=(2, 1), dtype=int32)"),
), dtypes="any", raises=("shape", "argument", "convert"))
