"""Joining and splitting along an axis."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import apply_op, general
from autodiff_lab.engine.convert import contains_tensor, convert, handed
from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.engine.shape import as_integer, as_integers, listed
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, NotOneTensor
from autodiff_lab.kernels.arrays import zeros
from autodiff_lab.kernels.base.columns import MANY_ROWS, write_part
from autodiff_lab.kernels.base.halves import in_float32
from autodiff_lab.ops.checks import axis_from_end
from autodiff_lab.ops.docs import document

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import IntsLike, TensorLike

Places = tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]
"""For each contribution, the op that took the part and the op's parameters."""


def _concat_rule(ops: Any, g: Any, out: Any, *xs: Any, axis: int, need: tuple[int, ...]) -> list[Any]:
    edges = [0, *accumulate([x.shape[axis] for x in xs])]
    return [ops.slice_axis(g, axis=axis, start=edges[i], stop=edges[i + 1]) for i in need]


MOST_JOINED = 12
"""Columns up to which arrays of a few columns are joined column by column."""


def _concat(*xs: Any, axis: int) -> Any:
    """Do what `np.concatenate` does, by columns where rows of a few elements are joined."""
    first, count = xs[0], len(xs)
    if axis != -1 or first.ndim < 2 or not 1 < first.shape[-1] <= MOST_JOINED // count:
        return np.concatenate(xs, axis=axis)
    shape, length = first.shape, first.shape[-1]
    alike = first.__class__ is np.ndarray and all(x.shape == shape and x.dtype == first.dtype for x in xs)
    if not alike or first.size < MANY_ROWS * length:
        return np.concatenate(xs, axis=axis)
    made = np.empty((*shape[:-1], count * length), first.dtype)
    for n, x in enumerate(xs):
        write_part(made[..., n * length : (n + 1) * length], x)
    return made


concat_along = general(
    "concat", _concat, _concat_rule, shared=True,
    warns=False, symbol="concat", latex=r"\operatorname{{concat}}({0}, {1})", locals_latex=(r"\operatorname{{part}}",),
    sentence="joins tensors along an axis", keeps="nothing", registered="ConcatV2",
    doc="The kernel-level concatenation along a negative axis; `lab.concat` is the public function.")


@lru_cache(4096)
def _range(axis: int, start: int, stop: int) -> tuple[Any, ...]:
    return (..., slice(start, stop), *(slice(None),) * (-axis - 1))


def _slice_axis(x: Any, axis: int, start: int, stop: int) -> Any:
    return x[_range(axis, start, stop)]


def _slice_axis_rule(ops: Any, g: Any, out: Any, x: Any, axis: int, start: int, stop: int) -> Any:
    return ops.pad_axis(g, axis=axis, before=start, after=x.shape[axis] - stop)


slice_axis = general(
    "slice_axis", _slice_axis, _slice_axis_rule, part=_slice_axis,
    warns=False,
    symbol="slice", latex=r"\operatorname{{slice}}({0})", locals_latex=("1",), sentence="takes a range of {0}",
    keeps="nothing", doc="A range along one negative axis; the rule of `concat` uses it.")


def _pad_axis(x: Any, axis: int, before: int, after: int) -> Any:
    shape = list(np.shape(x))
    length = shape[axis]
    shape[axis] += before + after
    whole = zeros(tuple(shape), x)  # np.pad takes 30 µs to say the same
    _slice_axis(whole, axis, before, before + length)[...] = x
    return whole


pad_axis = general(
    "pad_axis", _pad_axis,
    lambda ops, g, out, x, axis, before, after: ops.slice_axis(g, axis=axis, start=before, stop=before + x.shape[axis]),
    warns=False,
    symbol="pad", latex=r"\operatorname{{pad}}({0})", locals_latex=("1",), sentence="puts zeros around {0}",
    keeps="nothing", doc="Zeros before and after, along one negative axis; the rule of `slice_axis` uses it.")


def _stack_rule(ops: Any, g: Any, out: Any, *xs: Any, axis: int, need: tuple[int, ...]) -> list[Any]:
    return [ops.take(g, axis=axis, index=i) for i in need]


def _stack(*xs: Any, axis: int) -> Any:
    shape, kind = xs[0].shape, xs[0].__class__
    if kind is np.float32 or kind is np.float64:
        return np.array(xs, kind) if all(x.__class__ is kind for x in xs) else np.stack(xs, axis=axis)
    for x in xs:
        if x.__class__ is not np.ndarray or x.shape != shape:
            return np.stack(xs, axis=axis)
    at = (Ellipsis, None, *(slice(None),) * (-axis - 1))
    return np.concatenate([x[at] for x in xs], axis=axis)  # np.stack takes twice as long to say the same


stack_along = general(
    "stack", _stack, _stack_rule,
    shared=True, warns=False,
    symbol="stack", latex=r"\operatorname{{stack}}({0}, {1})", locals_latex=(r"\operatorname{{part}}",),
    sentence="stacks tensors along a new axis", keeps="nothing", registered="Pack",
    doc="The kernel-level stack along a negative axis; `lab.stack` is the public function.")


def _part_at(x: Any, axis: int, index: int) -> Any:
    return x[(Ellipsis, index, *(slice(None),) * (-axis - 1))]


def _take(x: Any, axis: int, index: int) -> Any:
    return _part_at(x, axis, index)[()]


def _take_rule(ops: Any, g: Any, out: Any, x: Any, axis: int, index: int) -> Any:
    shape = tuple(g.shape)
    at = len(shape) + axis + 1
    opened = ops.reshape(g, shape=(*shape[:at], 1, *shape[at:]))
    return ops.pad_axis(opened, axis=axis, before=index, after=x.shape[axis] - index - 1)


take = general(
    "take", _take, _take_rule, part=_part_at, warns=False, symbol="part", latex=r"{0}_i", locals_latex=("1",),
    sentence="takes one part of {0} along an axis", keeps="nothing",
    doc="The part at one index of a negative axis, which it drops; `lab.unstack` uses it.")


class _Index:
    """Stands for an array of a rank: what is taken from it is the index itself."""

    def __init__(self, ndim: int) -> None:
        self.ndim = ndim

    def __getitem__(self, index: Any) -> Any:
        return index


@lru_cache(256)
def _indices(places: Places, rank: int) -> tuple[list[Any], bool]:
    """Return where the parts lie in an array, and whether it is sure that no two of them meet.

    A program that reads a sequence step by step asks for the same places in every call.
    """
    whole = _Index(rank)
    found = [REGISTRY[op].part(whole, **dict(params)) for op, params in places]  # type: ignore[misc] - such ops have it
    columns = [] if len({len(index) for index in found}) > 1 else zip(*found, strict=True)
    apart = any(all(i.__class__ is int and i >= 0 for i in c) and len(set(c)) == len(c) for c in columns)
    return found, apart


@in_float32
def _accumulate_parts(*values: Any, places: Places, shape: tuple[int, ...], onto: bool) -> Any:
    parts = values[onto:]
    whole = values[0].copy() if onto else zeros(shape, parts[0])
    indices, apart = _indices(places, len(shape))
    for position, (part, index) in enumerate(zip(parts, indices, strict=True)):
        if onto or (position and not apart):
            view = whole[index]
            view += part
        else:
            whole[index] = part  # -0 stays -0
    return whole[()]


def _accumulate_parts_rule(
    ops: Any, g: Any, out: Any, *values: Any, places: Places, shape: tuple[int, ...], onto: bool, need: tuple[int, ...]
) -> list[Any]:
    found = []
    for i in need:
        op, params = ("", ()) if onto and i == 0 else places[i - onto]
        found.append(getattr(ops, op)(g, **dict(params)) if op else g)
    return found


accumulate_parts = general(
    "accumulate_parts", _accumulate_parts, _accumulate_parts_rule, shared=True, warns=False,
    symbol="Σ parts", latex=r"\operatorname{{accumulate}}({0}, {1})", locals_latex=(r"\operatorname{{part}}",),
    sentence="adds contributions to the parts of a tensor that they belong to", keeps="nothing",
    doc="Zeros, or a first tensor if `onto`, with each further tensor added to one part; a place is the name of an op "
        "that takes a part, with its parameters.  In a recorded pass it adds up the contributions that the "
        "rules of `slice`, `slice_axis` and `take`.")


def _tensors(values: Any, what: str) -> list[Tensor]:
    if values.__class__ is list or values.__class__ is tuple:
        dtype = values[0]._held.dtype if values and values[0].__class__ is Tensor else None
        if dtype is not None and all(v.__class__ is Tensor and v._held.dtype is dtype for v in values):  # most calls
            return values
    values = listed(values, f"{what}: values")
    if not values:
        raise InvalidArgumentError(f"{what}: expected at least one tensor, got an empty list.")
    values = [convert(v) if hasattr(v, "_held") or contains_tensor(v) else v for v in values]
    first = next((v for v in values if isinstance(v, Tensor)), None)  # whose dtype lists of numbers adopt
    tensors = [convert(v, first) for v in values]
    if len({t._held.dtype for t in tensors}) > 1:
        names = ", ".join(t.dtype.name for t in tensors)
        raise DtypeMismatch(f"{what}: expected one dtype, got {names}. Try lab.cast.")
    return tensors


def _check_axis(values: Any, axis: Any, what: str) -> None:
    """Raise an error for two tensors that are given as two arguments."""
    if isinstance(values, Tensor) and isinstance(axis, (Tensor, Variable)) and axis._held.ndim:
        raise InvalidArgumentError(f"{what}: the tensors go into one list. Try lab.{what}([x, y], axis).")


def concat(values: TensorLike, axis: IntsLike, name: str | None = None) -> Tensor:
    try:
        tensors = _tensors(values, "concat")
    except NotOneTensor as met:
        return named(handed(met, concat, (values,), axis=axis), name)
    _check_axis(values, axis, "concat")
    return concat_along(*tensors, axis=axis_from_end(axis, tensors[0]._held.ndim, "concat"), name=name)


def stack(values: TensorLike, axis: int = 0, name: str | None = None) -> Tensor:
    try:
        tensors = _tensors(values, "stack")
    except NotOneTensor as met:
        return named(handed(met, stack, (values,), axis=axis), name)
    _check_axis(values, axis, "stack")
    return stack_along(*tensors, axis=axis_from_end(axis, tensors[0]._held.ndim + 1, "stack"), name=name)


def unstack(value: TensorLike, num: int | None = None, axis: int = 0, name: str | None = None) -> list[Tensor]:
    x = convert(value)
    at = axis_from_end(axis, x._held.ndim, "unstack")
    if num is not None and as_integer(num, "unstack: num") != x._held.shape[at]:
        raise InvalidArgumentError(f"unstack: expected num={num} parts, but the axis has length {x._held.shape[at]}.")
    return named([take(x, axis=at, index=i) for i in range(x._held.shape[at])], name)


def _slices(x: Tensor, axis: int, edges: Iterable[int]) -> list[Tensor]:
    """Return the slices of a tensor between edges along a negative axis."""
    if x.__class__ is not Tensor:
        return [slice_axis(x, axis=axis, start=a, stop=b) for a, b in pairwise(edges)]
    op = slice_axis.op  # type: ignore[attr-defined]
    return [apply_op(op, (x,), {"axis": axis, "start": a, "stop": b}) for a, b in pairwise(edges)]


def split(value: TensorLike, num_or_size_splits: IntsLike, axis: int = 0, num: int | None = None,
          name: str | None = None) -> list[Tensor]:
    try:
        x = convert(value)
    except NotOneTensor as met:
        return named(handed(met, split, (value,), num_or_size_splits=num_or_size_splits, axis=axis, num=num), name)
    at = axis_from_end(axis, x._held.ndim, "split")
    length = x._held.shape[at]
    given: Any = num_or_size_splits
    one = given.__class__ is int
    sizes = [given] if one else list(as_integers(given, "split: num_or_size_splits"))
    if one or (len(sizes) == 1 and np.ndim(given) == 0):
        count = sizes[0]
        if count < 1 or length % count:
            raise InvalidArgumentError(f"split: cannot split {length} elements into {count} equal parts.")
        each = length // count
        return named(_slices(x, at, [each * k for k in range(count + 1)]), name)
    if -1 in sizes:
        sizes[sizes.index(-1)] = length - sum(n for n in sizes if n != -1)
    if num is not None and as_integer(num, "split: num") != len(sizes):
        raise InvalidArgumentError(f"split: expected num={num} sizes, got {len(sizes)}.")
    if sum(sizes) != length or min(sizes, default=0) < 0:
        raise InvalidArgumentError(f"split: sizes must add up to {length}, got {sizes}.")
    return named(_slices(x, at, accumulate([0, *sizes])), name)


document((
    (concat, "Tensors joined along an axis.", "each (*s), equal but for axis -> their lengths add up",
     ">>> print(lab.concat([[1, 2], [3]], axis=0))\nTensor([1 2 3], shape=(3,), dtype=int32)"),
    (stack, "Tensors stacked along a new axis.", "n times (*s) -> s with n at axis",
     ">>> print(lab.stack([1.0, 2.0]))\nTensor([1. 2.], shape=(2,), dtype=float32)"),
    (unstack, "The parts along an axis, as a list.", "x (*s) -> n tensors without axis",
     ">>> [int(part) for part in lab.unstack([1, 2])]\n[1, 2]"),
    (split, "Equal parts, or parts of given sizes, along an axis.", "x (*s) -> a list",
     ">>> print(lab.split([1, 2, 3, 4], 2)[1])\nTensor([3 4], shape=(2,), dtype=int32)"),
), columns="summary shapes example", dtypes="any, all the same",
   derivative="1 for every element, cut apart or joined again", raises=("shape", "argument", "dtypes", "convert"))
