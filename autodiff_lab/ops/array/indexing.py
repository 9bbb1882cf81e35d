"""Brackets: ``x[1:3, None, ..., -1]`` and its gradient.

An index is kept as plain data, one item an axis: ``["i", 3]``, ``["s", start, stop, step]``, ``["n"]`` for a new axis.
A list in brackets is not NumPy's fancy indexing: each of its entries indexes the next axis, as in TensorFlow.
"""

from __future__ import annotations

import math
import reprlib
from functools import lru_cache
from typing import Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.failure import kind_of
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.events.listener import trace_now, unheard, values_in_trace
from autodiff_lab.kernels.arrays import is_array, on_gpu, zeros

Items = tuple[tuple[Any, ...], ...]
_ALL: tuple[Any, ...] = ("s", None, None, None)
_NEW: tuple[Any, ...] = ("n",)


@lru_cache(maxsize=4096)
def _place(items: Items) -> tuple[int, tuple[Any, ...]]:
    """Return how many axes an index is for, and the index as NumPy takes it."""
    made: list[Any] = []
    rank = 0
    for item in items:
        if item[0] == "n":
            made.append(None)
            continue
        rank += 1
        made.append(item[1] if item[0] == "i" else slice(*item[1:]))
    return rank, tuple(made)


def _python_index(items: Items) -> tuple[Any, ...]:
    return _place(items)[1]


def _stacked(x: Any, items: Items) -> tuple[Any, ...]:
    """Return the index for an array that may have extra leading axes."""
    rank, index = _place(items)
    extra = x.ndim - rank
    return (slice(None),) * extra + index if extra else index


def _slice(x: Any, items: Items) -> Any:
    return x[_stacked(x, items)]


def _part(x: Any, items: Items) -> Any:
    """Return what a slice takes as a view, a single element as well."""
    return x[(*_stacked(x, items), Ellipsis)]


def _slice_rule(ops: Any, g: Any, out: Any, x: Any, items: Items) -> Any:
    rank, _ = _place(items)  # x has further leading axes where it was a stack of cotangents itself
    return ops.unslice(g, items=items, shape=tuple(x.shape)[len(x.shape) - rank:])


slice_items = general(
    "slice", _slice, _slice_rule, part=_part, warns=False, symbol="[ ]", latex="{0}[i]", locals_latex=("1",),
    sentence="takes part of {0}", keeps="nothing", registered="StridedSlice",
    doc="The kernel-level slice; brackets are its public form, see `lab.Tensor`.")


def _unslice(g: Any, items: Items, shape: tuple[int, ...]) -> Any:
    taken = sum(item[0] != "i" for item in items)
    lead = np.shape(g)[:np.ndim(g) - taken]
    whole = zeros(lead + shape, g)
    whole[(slice(None),) * len(lead) + _python_index(items)] = g
    return whole[()]


unslice = general(
    "unslice", _unslice, lambda ops, g, out, x, items, shape: ops.slice(g, items=items),
    warns=False, symbol="[ ]ᵀ", latex=r"\operatorname{{put}}({0})", locals_latex=("1",),
    sentence="puts {0} back into zeros", keeps="nothing",
    doc="Zeros with a part filled in; the rule of `slice` uses it.")


def _integer(value: Any) -> int:
    if isinstance(value, (bool, np.bool_)):
        raise InvalidArgumentError("brackets: a bool is not a valid index. Try lab.boolean_mask(x, mask).")
    return value.__index__()


def _short(value: Any) -> str:
    """Return an index in short: a tensor by its dtype and shape."""
    return kind_of(value._held) if isinstance(value, (Tensor, Variable)) else reprlib.repr(value)


def _bound(value: Any) -> int | None:
    try:
        return None if value is None else _integer(value)
    except (TypeError, AttributeError):
        raise InvalidArgumentError(
            f"brackets: the bounds of a slice must be integers or None, got {_short(value)}. Try int(...).") from None


def _plain_items(index: Any, shape: tuple[int, ...]) -> Items | None:  # noqa: C901 - spelled out: every slice feels it
    """Return what `as_items` does for Python's integers, slices of them, None and ..., most of what it gets."""
    parts = index if index.__class__ is tuple else (index,)
    rank = len(shape)
    items: list[Any] = []
    axis, skipped = 0, None
    for part in parts:
        if part is None:
            items.append(_NEW)
            continue
        if part is Ellipsis and skipped is None:
            skipped = rank - len(parts) + 1 + sum([other is None for other in parts])
            if skipped < 0:
                return None
            items.extend([_ALL] * skipped)
            axis += skipped
            continue
        if axis == rank:
            return None
        if part.__class__ is int:
            if not -shape[axis] <= part < shape[axis]:
                return None
            items.append(("i", part))
        elif part.__class__ is slice:
            start, stop, step = part.start, part.stop, part.step
            if step is not None or not (
                (start is None or start.__class__ is int) and (stop is None or stop.__class__ is int)
            ):
                return None
            items.append(_ALL if start is stop is None else ("s", start, stop, None))
        else:
            return None
        axis += 1
    if axis < rank:
        items.extend([_ALL] * (rank - axis))
    return tuple(items)


def as_items(index: Any, shape: tuple[int, ...]) -> Items:
    """Return an index as plain data, one item for every axis of `shape`."""
    plain = _plain_items(index, shape)
    if plain is not None:
        return plain
    parts = list(index) if isinstance(index, (tuple, list)) else [index]
    parts = [v for part in parts for v in (part if isinstance(part, list) else [part])]
    rank = len(shape)
    used = sum(part is not None and part is not Ellipsis for part in parts)
    if used > rank:
        raise InvalidArgumentError(
            f"Index out of range using input dim {rank}; input has only {rank} dims. "
            "A list in brackets is taken as one index for each axis; try lab.gather(x, [...]) to pick several "
            "elements.")
    if parts.count(Ellipsis) > 1 if not any(isinstance(p, (Tensor, Variable)) or is_array(p) for p in parts) else False:
        raise InvalidArgumentError("brackets: an index can contain only one ellipsis (...).")
    items: list[tuple[Any, ...]] = []
    axis = 0
    seen = False
    for part in parts:
        if part is None:
            items.append(("n",))
        elif part is Ellipsis:
            seen = True
            items.extend(("s", None, None, None) for _ in range(rank - used))
            axis += rank - used
        else:
            items.append(_item(part, axis, shape))
            axis += 1
    if not seen:
        items.extend(("s", None, None, None) for _ in range(rank - axis))
    return tuple(items)


def _item(part: Any, axis: int, shape: tuple[int, ...]) -> tuple[Any, ...]:
    if isinstance(part, slice):
        step = _bound(part.step)
        if step == 0:
            raise InvalidArgumentError("brackets: the step of a slice must not be 0. Try 1, or -1 to go backwards.")
        return ("s", _bound(part.start), _bound(part.stop), step)
    try:
        position = _integer(part)
    except (TypeError, AttributeError):
        raise InvalidArgumentError(
            f"brackets: an index must be made of integers, slices, ... and None, got {_short(part)}. Try lab.gather "
            "for an array of positions, lab.gather_nd for one for each axis, or lab.boolean_mask for a mask.") from None
    if not -shape[axis] <= position < shape[axis]:
        raise InvalidArgumentError(
            f"slice index {position} of dimension {axis} out of bounds for a tensor of shape {shape}.")
    return ("i", position)


def _is_mask(index: Any) -> bool:
    """Return whether the brackets hold one array of bools, which keeps the elements where it is true."""
    if index.__class__ is tuple or index.__class__ is int or index.__class__ is slice:
        return False
    array = index._held if isinstance(index, (Tensor, Variable)) else index
    return is_array(array) and array.dtype.kind == "b"


def _taken_in_trace(x: Tensor, index: Any) -> tuple[Tensor, Any]:
    """Take positions that are tensors by an op, so that they may differ from call to call.

    They are single integers; the bounds of slices are assumed.  Return what is left: the tensor without their axes, and
    the index without them.
    """
    parts = list(index) if isinstance(index, (tuple, list)) else [index]
    parts = [v for part in parts for v in (part if isinstance(part, list) else [part])]
    rank = x._held.ndim
    used = sum(part is not None and part is not Ellipsis for part in parts)  # arrays may be among them, so no `count`
    if used > rank or sum(part is Ellipsis for part in parts) > 1:
        return x, index
    kept, found, axis = [], [], 0
    for part in parts:
        if _is_position(part, axis, x._held.shape):
            found.append((axis, part))
        else:
            kept.append(part)
        axis += 0 if part is None else rank - used if part is Ellipsis else 1
    for axis, part in reversed(found):
        x = _position_taken(x, axis, part)
    return x, tuple(kept)


def _is_position(part: Any, axis: int, shape: tuple[int, ...]) -> bool:
    """Return whether part of an index is a tensor of one integer that lies inside; `_item` refuses what does not."""
    if not isinstance(part, (Tensor, Variable)) or part._held.ndim or part._held.dtype.kind not in "iu":
        return False
    return on_gpu(part._held) or -shape[axis] <= int(values_in_trace(part)) < shape[axis]


def _position_taken(x: Tensor, axis: int, part: Any) -> Tensor:
    """Take one position of an axis, which may be negative."""
    from autodiff_lab.ops.array.casting import cast
    from autodiff_lab.ops.array.gathering import gather_axis, where

    length = x._held.shape[axis]
    with unheard():
        at = cast(part, "int64")
        at = where(at < 0, at + length, at)
    return gather_axis(x, at, axis=axis - x._held.ndim, dense=True)


def getitem(x: Any, index: Any) -> Tensor:
    """Part of a tensor: integers, slices with steps, ``...`` and ``None`` as in NumPy, or a mask.

    Shapes: x (*s) -> what is left of s.  Dtypes: any.  Derivative: 1 for the elements taken, 0 for the others.

    Raises
    ------
    InvalidArgumentError
        If an index is out of range, is not an index, or the step of a slice is 0.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.constant([[1, 2], [3, 4]])[:, -1])
    Tensor([2 4], shape=(2,), dtype=int32)
    """
    tensor = x.read() if isinstance(x, Variable) else x  # part of a variable is a tensor too
    if _is_mask(index):
        from autodiff_lab.ops.array.selection import boolean_mask

        return boolean_mask(tensor, index)
    items = _plain_items(index, tensor._held.shape)
    if items is None:
        if trace_now() is not None:
            tensor, index = _taken_in_trace(tensor, index)
        items = as_items(index, tensor._held.shape)
    return slice_items(tensor, items=items)


class VariableSlice(Tensor):
    """Part of a variable: a tensor that also knows how to assign to its place."""

    __slots__ = ("_index", "_variable")

    def assign(self, value: Any) -> Variable:
        """Replace this part of the variable."""
        variable, place = self._variable, _place_of(self._index, self._variable)
        if trace_now() is not None and variable._held.__class__ is np.ndarray and variable._held.dtype.kind != "O":
            changed = _with_part(variable.read(), place, convert(value, variable.read()))
            if changed is not None:
                return variable.assign(changed)
        return variable.assign_slice(place, value)


def _with_part(x: Tensor, place: Any, value: Tensor) -> Tensor | None:
    """Return a tensor with another part, by an op, which may write rows into a variable; None if the part differs."""
    from autodiff_lab.ops.array.gathering import tensor_update
    from autodiff_lab.ops.array.shaping import broadcast_to, reshape

    shape = x._held.shape
    whole_rows = isinstance(place, tuple) and None not in place and all(p == slice(None) for p in place[1:])
    lead = shape[:1] if whole_rows else shape
    numbers = np.asarray(np.arange(math.prod(lead)).reshape(lead)[place[:1] if whole_rows else place])
    part = (*numbers.shape, *shape[len(lead):])
    try:
        fits = value._held.dtype == x._held.dtype and np.broadcast_shapes(value._held.shape, part) == part
    except ValueError:
        fits = False
    if not fits:
        return None
    rows = reshape(broadcast_to(value, part), (numbers.size, *shape[len(lead):]))
    flat = x if whole_rows else reshape(x, (-1,))
    return reshape(tensor_update(flat, rows, convert(numbers.reshape(-1, 1))), shape)


def _getitem_of_variable(variable: Variable, index: Any) -> Tensor:
    part = getitem(variable, index)
    view = VariableSlice()
    view._held, view._id, view._hollow = part._held, part._id, None
    view._index, view._variable = index, variable
    return view


def _place_of(index: Any, variable: Variable) -> Any:
    """Return an index as NumPy takes it."""
    if _is_mask(index):
        return index._array if isinstance(index, (Tensor, Variable)) else np.array(index)
    return _python_index(as_items(index, variable._held.shape))


Tensor.__getitem__ = getitem  # type: ignore[method-assign]
Variable.__getitem__ = _getitem_of_variable  # type: ignore[method-assign]
