"""Repeating, turning round and surrounding: tile, repeat, roll, reverse, pad."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert, handed
from autodiff_lab.engine.primitives import stack
from autodiff_lab.engine.shape import as_integers
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import InvalidArgumentError, NotOneTensor, ShapeMismatch
from autodiff_lab.events.listener import tell_made
from autodiff_lab.kernels.arrays import beside, full, ranked
from autodiff_lab.ops.array.gathering import gather_axis
from autodiff_lab.ops.array.selection import take_along
from autodiff_lab.ops.array.shaping import reshape
from autodiff_lab.ops.checks import axes_in_order, axis_from_end, one_of, room
from autodiff_lab.ops.docs import document

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import IntsLike, TensorLike


FEW_COLUMNS, SHORT_BLOCK = 8, 8
"""Repetitions of single numbers up to which each is a column to write, and elements from which on blocks are copied."""


@lru_cache(4096)
def _cut(shape: tuple[int, ...], multiples: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return a shape with an axis of its own for the repetitions of each axis that has some, and those axes."""
    whole, axes = [], []
    for many, length in zip(multiples, shape, strict=True):
        if many != 1:
            axes.append(len(whole))
            whole.append(many)
        whole.append(length)
    return tuple(whole), tuple([axis - len(whole) for axis in axes])


def _tile(x: Any, multiples: tuple[int, ...]) -> Any:
    """Do what `np.tile` does, which goes through memory once for each axis that is repeated."""
    shape, axes = _cut(x.shape, multiples)
    by_column = axes == (-2,) and shape[-1] == 1 and shape[-2] <= FEW_COLUMNS
    if x.__class__ is not np.ndarray or not (by_column or (len(axes) > 1 and shape[-1] >= SHORT_BLOCK)):
        return np.tile(x, multiples)[()]
    made = np.empty(shape, x.dtype)
    if by_column:
        for k in range(shape[-2]):
            made[..., k, :] = x
    else:
        made[...] = np.expand_dims(x, axes)
    return made.reshape([many * length for many, length in zip(multiples, x.shape, strict=True)])


def _tile_rule(ops: Any, g: Any, out: Any, x: Any, multiples: tuple[int, ...]) -> Any:
    """Cut the axes into their repetitions and add these up."""
    shape, axes = _cut(tuple(x.shape), multiples)
    return ops.sum(ops.reshape(g, shape=(*stack(g, out), *shape)), axes=axes, keepdims=False) if axes else g


tile_to = general(
    "tile", _tile, _tile_rule, warns=False, symbol="tile",
    latex=r"\operatorname{{tile}}({0})", locals_latex=(r"\textstyle\sum",), sentence="repeats {0} along its axes",
    keeps="nothing", registered="Tile", doc="The kernel-level tile; `lab.tile` is the public function.")


def _repeat(x: Any, count: int, axis: int) -> Any:
    """Do what `np.repeat` does, by columns where single numbers are repeated a few times."""
    if x.__class__ is not np.ndarray or axis != -1 or count > FEW_COLUMNS:
        return np.repeat(x, count, axis)
    made = np.empty((*x.shape, count), x.dtype)
    for k in range(count):
        made[..., k] = x
    return made.reshape((*x.shape[:-1], x.shape[-1] * count))


def _repeat_rule(ops: Any, g: Any, out: Any, x: Any, count: int, axis: int) -> Any:
    """Give the repetitions an axis of their own and add them up."""
    shape = tuple(x.shape)
    after = len(shape) + axis + 1
    apart = ops.reshape(g, shape=(*stack(g, out), *shape[:after], count, *shape[after:]))
    return ops.sum(apart, axes=(axis,), keepdims=False)


repeat_by = general(
    "repeat", _repeat, _repeat_rule, warns=False, symbol="repeat",
    latex=r"\operatorname{{repeat}}({0})", locals_latex=(r"\textstyle\sum",),
    sentence="repeats the elements of {0} along an axis", keeps="nothing",
    doc="The kernel-level repeat by one count along a negative axis; `lab.repeat` is the public function.")


SHORT_ROW, MANY_SHORT_ROWS = 16, 512
"""Elements of a row up to which, and rows from which on, columns are copied and not rows."""


def _roll(x: Any, shifts: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """Do what `np.roll` does, in a third of its time for a small array."""
    if x.__class__ is not np.ndarray or not x.size:
        return np.roll(x, shifts, axes)[()]
    if len(axes) != 1:
        places = _turned_along(x.shape, shifts, axes)
        if places.__class__ is not list:
            return _roll(x, *places) if places else x.copy()
        made = np.empty(x.shape, x.dtype)
        for there, here in places:
            made[there] = x[here]
        return made
    places = _turned(x.shape[axes[0]], axes[0], shifts[0])
    if places is None:
        return x.copy()
    later, start, earlier, end = places
    made = np.empty(x.shape, x.dtype)
    length, across = x.shape[axes[0]], prod(x.shape[axes[0]:])
    if across <= SHORT_ROW and x.size >= MANY_SHORT_ROWS * across and x.flags.c_contiguous:
        from_columns, to = x.reshape(-1, across), made.reshape(-1, across)
        by = shifts[0] % length * (across // length)
        for k in range(across):  # column by column: NumPy begins its loop again for each row
            to[:, (k + by) % across] = from_columns[:, k]
        return made
    made[later] = x[start]
    made[earlier] = x[end]
    return made


@lru_cache(4096)
def _turned(length: int, axis: int, by: int) -> tuple[Any, Any, Any, Any] | None:
    """Return where the first part of an axis goes, that part, where the last part goes, and that; None if all stay."""
    by %= length
    if not by:
        return None
    rest = (slice(None),) * (-1 - axis)
    cuts = slice(by, None), slice(None, length - by), slice(None, by), slice(length - by, None)
    later, start, earlier, end = [(..., cut, *rest) for cut in cuts]
    return later, start, earlier, end


@lru_cache(1024)
def _turned_along(shape: tuple[int, ...], shifts: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """Return where the parts of an array go that moves along several axes, and these parts.

    The shift and the axis as tuples if it moves along one only, and an empty tuple if it stays where it is.
    """
    moved = [(axis, by % shape[axis]) for axis, by in zip(axes, shifts, strict=True) if by % shape[axis]]
    if len(moved) < 2:
        return ((moved[0][1],), (moved[0][0],)) if moved else ()
    pairs = [((), ())]
    for axis in range(-len(shape), 0):
        by = dict(moved).get(axis, 0)
        cuts = [(slice(by, None), slice(None, shape[axis] - by)), (slice(None, by), slice(shape[axis] - by, None))]
        pairs = [((*there, a), (*here, b)) for there, here in pairs for a, b in cuts[: 2 if by else 1]]
    return pairs


roll_by = general(
    "roll", _roll,
    lambda ops, g, out, x, shifts, axes: ops.roll(g, shifts=tuple(-s for s in shifts), axes=axes),
    warns=False, symbol="roll", latex=r"\operatorname{{roll}}({0})", locals_latex=(r"\operatorname{{roll}}^{{-1}}",),
    sentence="moves the elements of {0} round", keeps="nothing", registered="Roll",
    doc="The kernel-level roll along negative axes; `lab.roll` is the public function.")
turn_round = general(
    "reverse", lambda x, axes: np.flip(x, axes)[()], lambda ops, g, out, x, axes: ops.reverse(g, axes=axes),
    warns=False, symbol="reverse", latex=r"\operatorname{{reverse}}({0})", locals_latex=(r"\operatorname{{reverse}}",),
    sentence="turns {0} round", keeps="nothing", registered="ReverseV2",
    doc="The kernel-level reverse along negative axes; `lab.reverse` is the public function.")


_WHOLE = slice(None)
_MANY, _FEW_SIDES = 4096, 4
"""Elements from which on, and sides up to which, the sides are filled one by one: the whole is not written twice."""


@lru_cache(4096)
def _surrounded(shape: tuple[int, ...], paddings: tuple[tuple[int, int], ...]) -> tuple[tuple[int, ...], Any, Any]:
    """Return the shape of an array with something around it, where the array itself lies, and where each side does.

    No sides where it is quicker to fill the whole.
    """
    widths = list(zip(shape, paddings, strict=True))
    lengths = tuple([n + before + after for n, (before, after) in widths])
    inside = tuple([slice(before, before + n) if before + after else _WHOLE for n, (before, after) in widths])
    sides = []
    for axis, (n, (before, after)) in enumerate(widths):
        if before:
            sides.append((*(_WHOLE,) * axis, slice(None, before)))
        if after:
            sides.append((*(_WHOLE,) * axis, slice(before + n, None)))
    return lengths, inside, sides if prod(lengths) >= _MANY and len(sides) <= _FEW_SIDES else ()


def _pad(x: Any, paddings: tuple[tuple[int, int], ...], value: Any) -> Any:
    x = ranked(x)
    lengths, inside, sides = _surrounded(x.shape, paddings)
    if x.__class__ is np.ndarray and x.dtype.kind == "f":
        whole = np.empty(lengths, x.dtype)
        if not sides:
            whole.fill(value)  # in a fifth of the time of `full`
        for side in sides:
            whole[side] = value
    else:
        whole = full(lengths, value, x)
    whole[inside] = x
    return whole if lengths else whole[()]


def _pad_rule(ops: Any, g: Any, out: Any, x: Any, paddings: tuple[tuple[int, int], ...], value: Any) -> Any:
    items = tuple(("s", before, before + n, None) for n, (before, _) in zip(x.shape, paddings, strict=True))
    return ops.slice(g, items=items)


pad_with = general(
    "pad", _pad, _pad_rule, warns=False, symbol="pad", latex=r"\operatorname{{pad}}({0})", locals_latex=("1",),
    sentence="surrounds {0} with a constant", keeps="nothing", registered="PadV2",
    doc="The kernel-level padding with a constant; `lab.pad` is the public function.")


def tile(input: TensorLike, multiples: IntsLike, name: str | None = None) -> Tensor:
    try:
        x = convert(input)
    except NotOneTensor as met:
        return named(handed(met, tile, (input,), multiples=multiples), name)
    times = as_integers(multiples, "tile: multiples")
    if len(times) != x._held.ndim:
        raise ShapeMismatch(f"tile: expected a multiple for each of the {x._held.ndim} axes, got {times}.")
    if min(times, default=0) < 0:
        raise InvalidArgumentError(f"tile: multiples must not be negative, got {times}.")
    return tile_to(x, multiples=times, name=name)


def repeat(input: TensorLike, repeats: TensorLike, axis: IntsLike | None = None, name: str | None = None) -> Tensor:
    x = convert(input)
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    at = axis_from_end(axis, x._held.ndim, "repeat")
    times = as_integers(repeats, "repeat: repeats")
    length = x._held.shape[at]
    if len(times) not in (1, length) or min(times, default=0) < 0:
        raise InvalidArgumentError(f"repeat: repeats must be a non-negative integer, or one for each of the {length} "
                                   f"elements of the axis, got {times}.")
    room(max(times, default=0) * length if len(times) == 1 else sum(times), "repeat")
    if length == 0 or len(times) == 1:
        return repeat_by(x, count=times[0] if length else 1, axis=at, name=name)
    places = np.repeat(np.arange(length), np.asarray(times, np.int64))
    return gather_axis(x, tell_made(wrap(beside(x._held, places))), axis=at, dense=True, name=name)


def roll(input: TensorLike, shift: TensorLike, axis: IntsLike, name: str | None = None) -> Tensor:
    x = convert(input)
    if shift.__class__ is axis.__class__ is int:  # most calls
        return roll_by(x, shifts=(shift,), axes=(axis_from_end(axis, x._held.ndim, "roll"),), name=name)
    shifts, numbers = as_integers(shift, "roll: shift"), as_integers(axis, "roll: axis")
    if len(shifts) != len(numbers):
        raise ShapeMismatch(f"roll: got {len(shifts)} shifts for {len(numbers)} axes.")
    totals: dict[int, int] = {}
    for by, a in zip(shifts, numbers, strict=True):  # an axis may be named twice
        at = axis_from_end(a, x._held.ndim, "roll")
        totals[at] = totals.get(at, 0) + by
    return roll_by(x, shifts=tuple(totals.values()), axes=tuple(totals), name=name)


def reverse(tensor: TensorLike, axis: IntsLike, name: str | None = None) -> Tensor:
    try:
        x = convert(tensor)
    except NotOneTensor as met:
        return named(handed(met, reverse, (tensor,), axis=axis), name)
    return turn_round(x, axes=axes_in_order(axis, x._held.ndim, "reverse"), name=name)


def reverse_sequence(input: TensorLike, seq_lengths: TensorLike, seq_axis: int = 1, batch_axis: int = 0,
                     name: str | None = None) -> Tensor:
    x = convert(input)
    shape, rank = x._held.shape, x._held.ndim
    along, batch = (axis_from_end(axis, rank, "reverse_sequence") for axis in (seq_axis, batch_axis))
    lengths = np.asarray(as_integers(seq_lengths, "reverse_sequence: seq_lengths"))
    if along == batch or lengths.shape != (shape[batch],):
        raise ShapeMismatch("reverse_sequence: expected two different axes and a length for each of the "
                            f"{shape[batch]} rows, got {len(lengths)} lengths.")
    if lengths.size and not 0 <= lengths.min() <= lengths.max() <= shape[along]:
        raise InvalidArgumentError(f"reverse_sequence: lengths must be in [0, {shape[along]}], got {lengths.tolist()}.")
    places = np.arange(shape[along])
    order = np.where(places < lengths[:, None], lengths[:, None] - 1 - places, places)  # rows, places
    order = order if batch < along else order.T
    kept = [n if i - rank in (along, batch) else 1 for i, n in enumerate(shape)]
    places = np.broadcast_to(beside(x._held, order.reshape(kept)), shape).copy()
    return take_along(x, tell_made(wrap(places)), axis=along, name=name)


_ROW = (list, tuple)


def _widths(paddings: Any, rank: int) -> tuple[tuple[int, int], ...] | None:
    """Return two widths for each axis that are written as such, and need not become a tensor; None if they are not."""
    if paddings.__class__ not in _ROW or len(paddings) != rank:
        return None
    found = []
    for row in paddings:
        if row.__class__ not in _ROW or len(row) != 2:
            return None
        before, after = row
        if before.__class__ is not int or after.__class__ is not int or before < 0 or after < 0:
            return None
        found.append((before, after))
    return tuple(found)


_FEW = 4096
"""Positions of a mirrored axis up to which they are kept: finding them takes longer than using them."""


@lru_cache(256)
def _mirrored(length: int, before: int, after: int, mode: str) -> Any:
    """Return the positions of elements with their images around them."""
    places = np.pad(np.arange(length), (before, after), mode=mode.lower())  # type: ignore[call-overload]
    places.setflags(write=False)
    return places


def pad(tensor: TensorLike, paddings: TensorLike, mode: str = "CONSTANT", constant_values: TensorLike = 0,
        name: str | None = None) -> Tensor:
    x = convert(tensor)
    widths = _widths(paddings, x._held.ndim)
    if widths is None:
        rows = np.asarray(convert(paddings)._array)
        if rows.shape != (x._held.ndim, 2) or (rows.size and (rows.dtype.kind not in "iu" or rows.min() < 0)):
            raise InvalidArgumentError("pad: paddings must be a pair of non-negative integers for each of the "
                                       f"{x._held.ndim} axes, got {rows.tolist()}.")
        widths = tuple([(int(before), int(after)) for before, after in rows])
    mode = mode.upper() if isinstance(mode, str) else mode
    if mode == "CONSTANT":
        if constant_values.__class__ is int and not constant_values and x._held.dtype.kind == "f":  # most calls
            return pad_with(x, paddings=widths, value=0.0, name=name)
        if isinstance(constant_values, (bool, int, float)) and not constant_values:
            value = np.asarray(b"" if x._held.dtype == object else 0, x._held.dtype)  # the zero of any dtype
        else:
            value = np.asarray(convert(constant_values, x)._array, x._held.dtype)
        return pad_with(x, paddings=widths, value=value.item(), name=name)
    one_of(mode, ("CONSTANT", "REFLECT", "SYMMETRIC"), "pad: mode")
    for axis, (before, after) in enumerate(widths):
        length = x._held.shape[axis]
        if max(before, after) > length - (mode == "REFLECT"):
            raise InvalidArgumentError(f"pad: axis {axis} of length {length} is too short for a mirrored padding of "
                                       f"{(before, after)}.")
        if before or after:
            mirrored = _mirrored if length + before + after <= _FEW else _mirrored.__wrapped__
            places = mirrored(length, before, after, mode)
            x = gather_axis(x, tell_made(wrap(beside(x._held, places))), axis=axis - x._held.ndim, dense=True)
    return named(x, name) if any(map(any, widths)) else x


_SUMS = "1 for every element; repetitions add up"
document((
    (tile, "A tensor repeated as a whole along its axes.", "input (*s), multiples (rank) -> s times multiples", _SUMS,
     ">>> print(lab.tile([1, 2], [2]))\nTensor([1 2 1 2], shape=(4,), dtype=int32)"),
    (repeat, "Every element repeated along an axis, or of the flattened tensor.", "input (*s), repeats () or (n)",
     _SUMS, ">>> print(lab.repeat([1, 2], 2))\nTensor([1 1 2 2], shape=(4,), dtype=int32)"),
    (roll, "Elements moved along axes; what leaves at one end returns at the other.", "input (*s) -> (*s)",
     "1, moved back", ">>> print(lab.roll([1, 2, 3], 1, 0))\nTensor([3 1 2], shape=(3,), dtype=int32)"),
    (reverse, "Elements in the opposite order along axes.", "tensor (*s) -> (*s)", "1, turned round again",
     ">>> print(lab.reverse([1, 2, 3], [0]))\nTensor([3 2 1], shape=(3,), dtype=int32)"),
    (reverse_sequence, "The first elements of each row, as many as seq_lengths says, in the opposite order.",
     "input (*s), seq_lengths (rows) -> (*s)", "1, turned round again",
     ">>> print(lab.reverse_sequence([[1, 2, 3]], [2]))\nTensor([[2 1 3]], shape=(1, 3), dtype=int32)"),
    (pad, "A tensor surrounded by a constant, or by its mirror image: 'REFLECT' without the edge, 'SYMMETRIC' with it.",
     "tensor (*s), paddings (rank, 2) -> s with before and after added",
     "1 for the elements themselves and for each of their images",
     ">>> print(lab.pad([1, 2, 3], [[1, 2]]), lab.pad([1, 2, 3], [[2, 0]], mode=\"REFLECT\"))\n"
     "Tensor([0 1 2 3 0 0], shape=(6,), dtype=int32) Tensor([3 2 1 2 3], shape=(5,), dtype=int32)"),
), dtypes="any", raises=("shape", "argument", "convert"))
