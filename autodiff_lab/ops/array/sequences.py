"""Evenly spaced numbers: `range`, which counts, and `linspace`, whose ends are inputs like any other."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert, convert_to_tensor
from autodiff_lab.engine.devices import on_cpu, placed
from autodiff_lab.engine.dtypes import DIFFERENTIABLE, as_dtype
from autodiff_lab.engine.primitives import broadcast
from autodiff_lab.engine.shape import as_integer
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.events.listener import tell_made
from autodiff_lab.kernels.arrays import arange, on_gpu
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.creation import as_number
from autodiff_lab.ops.checks import dtypes_unequal, room
from autodiff_lab.ops.docs import doc

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, TensorLike

_MOST = 2**63 - 1
_SMALL = 1 << 24
"""Up to here every integer is a float32."""
_MASK = 2**64 - 1
_FEW = 1024
"""Numbers of a `linspace` up to which their weights are kept."""


def _number(value: Any, dtype: Any, what: str) -> Any:
    """Return an end or a step as a NumPy scalar."""
    if isinstance(value, (Tensor, Variable)):
        tensor = convert(value)
    else:
        with on_cpu():
            tensor = convert_to_tensor(value, dtype)
    array = as_number(tensor._array, "range")
    if array.ndim:
        raise ShapeMismatch(f"range: expected {what} of rank 0, got shape {array.shape}.")
    if array.dtype.kind not in "iufV":
        raise DtypeMismatch(f"range: {what} must be a real number, got {tensor.dtype.name}. Try lab.cast.")
    return array


def range(start: TensorLike, limit: TensorLike | None = None, delta: TensorLike = 1, dtype: DTypeLike | None = None,
          name: str | None = None) -> Tensor:
    if start.__class__ is int and delta.__class__ is int and (limit is None or limit.__class__ is int):
        made = _counting(*((0, start) if limit is None else (start, limit)), delta, dtype)  # type: ignore[arg-type]
        if made is not None:
            return named(tell_made(wrap(placed(made))), name)
    made = _counting_floats(start, limit, delta) if dtype is None else None
    if made is not None:
        return named(tell_made(wrap(placed(made))), name)
    given = {"start": 0, "limit": start} if limit is None else {"start": start, "limit": limit}
    values = [_number(value, dtype, what) for what, value in {**given, "delta": delta}.items()]
    if values[2] == 0:
        raise InvalidArgumentError("range: delta must not be 0.")
    floats = [v.dtype for v in values if v.dtype.kind in "fV"]  # an integer beside a float adopts its dtype
    natural = np.result_type(*(floats or [v.dtype for v in values]))
    wanted = as_dtype(dtype).dtype if dtype is not None else natural
    if wanted.kind not in "iufV":
        raise DtypeMismatch(f"range: dtype must be real, got {as_dtype(wanted).name}. Try lab.cast.")
    if natural.kind in "iu":
        made = _whole(values, wanted)
    else:
        made = _floating([v.astype(natural) for v in values]).astype(wanted)
    return named(tell_made(wrap(placed(made))), name)


def _counting(start: int, limit: int, delta: int, dtype: Any) -> Any:
    """Return small integers in steps, in a dtype that holds them exactly; None for what needs the long way."""
    wanted = as_dtype("int32" if dtype is None else dtype).dtype
    if not delta or wanted.char not in "ilqfd" or max(abs(start), abs(limit), abs(delta)) >= _SMALL:
        return None
    return np.arange(start, limit, delta).astype(wanted, copy=False)


def _counting_floats(start: Any, limit: Any, delta: Any) -> Any:
    """Return float32 numbers where Python numbers of a usual size give them; None for what needs the long way."""
    values = (0, start, delta) if limit is None else (start, limit, delta)
    for value in values:
        if value.__class__ not in (int, float) or not abs(value) < _SMALL:
            return None
    if not np.float32(delta) or float not in map(type, values):
        return None
    return _floating([np.float32(value) for value in values])


def _counted(count: int) -> int:
    if count > _MOST // 8:
        raise InvalidArgumentError(f"range: {count} numbers do not fit into any memory. Try a larger delta.")
    return room(count, "range")


def _whole(values: list[Any], wanted: Any) -> Any:
    """Integers: counted without bounds, and added modulo 2⁶⁴, which is right as all results fit."""
    start, limit, delta = map(int, values)
    count = _counted(max(0, -(-(limit - start) // delta)))
    if wanted.kind not in "iu":
        return (start + np.arange(count) * delta).astype(wanted)
    limits = np.iinfo(wanted)
    last = start + (count - 1) * delta
    if count and not (limits.min <= start <= limits.max and limits.min <= last <= limits.max):
        raise InvalidArgumentError(f"range: the numbers from {start} to {last} are out of range for {wanted.name}. "
                                   "Try dtype=lab.int64.")
    steps = np.arange(count, dtype=np.uint64) * np.uint64(delta & _MASK) + np.uint64(start & _MASK)
    return steps.view(np.int64 if wanted.kind == "i" else np.uint64).astype(wanted)


def _floating(values: list[Any]) -> Any:
    """Floating-point numbers, each of them start + i·delta in its dtype."""
    start, limit, delta = values
    steps = float((limit - start) / delta)
    if not math.isfinite(steps):
        raise InvalidArgumentError(f"range: the range from {start} to {limit} in steps of {delta} is infinite.")
    count = _counted(max(0, math.ceil(steps)))
    return start + np.arange(count).astype(start.dtype) * delta


@lru_cache(64)
def _few_weights(num: int) -> Any:
    weights = np.arange(num) / max(num - 1, 1)
    weights.setflags(write=False)
    return weights


def _weights(num: int, like: Any) -> Any:
    """Return the weight of the last end in each number."""
    if num <= _FEW and like.dtype.kind == "f" and not on_gpu(like):
        return _few_weights(num)
    wide = np.complex128 if like.dtype.kind == "c" else np.float64
    return arange(num, like, wide) / max(num - 1, 1)


def _spaced(first: Any, last: Any, num: int, axis: int) -> Any:
    weight = _weights(num, last if on_gpu(last) else first)
    low, high = first.astype(weight.dtype), last.astype(weight.dtype)
    if first.shape:
        line = low[..., None] + (high - low)[..., None] * weight
    else:  # either may be a number of the CPU beside one of a GPU
        line = low + (high - low) * weight
    if num > 1:
        line[..., -1] = high
    line = line.astype(first.dtype)
    return line if axis == -1 else np.moveaxis(line, -1, axis)


def _spaced_rule(last: bool) -> Any:
    def rule(ops: Any, g: Any, out: Any, first: Any, stop: Any, num: int, axis: int) -> Any:
        like = g if ops.raw else g._held
        weight = _weights(num, like).astype(like.dtype)
        weight = (weight if last else 1 - weight).reshape((num,) + (1,) * (-1 - axis))
        return ops.sum(g * weight, axes=(axis,), keepdims=False)

    return rule


spaced = general(
    "linspace", _spaced, _spaced_rule(last=False), _spaced_rule(last=True), warns=False, symbol="linspace",
    latex=r"\operatorname{{linspace}}({0}, {1})", locals_latex=(r"1 - \tfrac{{i}}{{n - 1}}", r"\tfrac{{i}}{{n - 1}}"),
    sentence="spaces numbers evenly from {0} to {1}", keeps="nothing", registered="LinSpace",
    doc="The kernel-level linspace along a negative axis; `lab.linspace` is the public function.")


def linspace(start: TensorLike, stop: TensorLike, num: TensorLike, name: str | None = None, axis: int = 0) -> Tensor:
    first = convert(start)
    if stop.__class__ is float and first._held.dtype.char in "fd":
        last = convert(stop, first)
    else:
        last = convert_to_tensor(stop, None if isinstance(stop, (Tensor, Variable)) else first.dtype)
    if first.dtype != last.dtype:
        raise dtypes_unequal("linspace", start=first, stop=last)
    count = as_integer(num, "linspace: num")
    if count < 0:
        raise InvalidArgumentError(f"linspace: num must not be negative, got {count}.")
    if first._held.dtype.kind in "iu":
        first, last = cast(first, "float64"), cast(last, "float64")
    if first._held.dtype not in DIFFERENTIABLE:
        raise DtypeMismatch(f"linspace: start and stop must be numbers, got {first.dtype.name}.")
    if first._held.shape != last._held.shape:
        try:
            common = np.broadcast_shapes(first._held.shape, last._held.shape)
        except ValueError:
            raise ShapeMismatch(f"linspace: shapes {first._held.shape} (start) and {last._held.shape} (stop) do not "
                                "broadcast.") from None
        first, last = broadcast(first, shape=common), broadcast(last, shape=common)
    rank = first._held.ndim + 1
    at = as_integer(axis, "linspace: axis")
    if not -rank <= at < rank:
        raise InvalidArgumentError(f"linspace: axis {at} is out of bounds for a new axis in shape {first._held.shape}.")
    return named(tell_made(spaced(first, last, num=count, axis=at - rank if at >= 0 else at)), name)


range.__doc__ = doc(
    "Numbers from start up to, and without, limit; int32 for Python ints, int64 where these are larger.",
    shapes="scalars -> (n,)", dtypes="any real number", derivative="none: the numbers decide how many there are",
    raises=("argument", "shape", "convert"),
    example=">>> print(lab.range(1, 6))\nTensor([1 2 3 4 5], shape=(5,), dtype=int32)")
linspace.__doc__ = doc(
    "Evenly spaced numbers along a new axis, both ends included; float64 for integers.",
    shapes="start (*s), stop (*s) -> s with num at axis", dtypes="any number, both the same",
    derivative="1 - i/(num - 1) for start, i/(num - 1) for stop", raises=("argument", "shape", "convert"),
    example=">>> print(lab.linspace(0.0, 1.0, 3))\nTensor([0.  0.5 1. ], shape=(3,), dtype=float32)")
