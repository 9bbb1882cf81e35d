"""Making tensors: one value everywhere, ones at places, and what asks for a tensor's shape."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import alone, convert, convert_to_tensor, handed
from autodiff_lab.engine.devices import filled, filled_beside, placed
from autodiff_lab.engine.dtypes import as_dtype, float32
from autodiff_lab.engine.primitives import broadcast
from autodiff_lab.engine.shape import as_integer, as_integers
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, NotOneTensor, ShapeMismatch, UnimplementedError
from autodiff_lab.events.listener import sinks_now, tell_made, tell_peek, trace_now
from autodiff_lab.kernels.arrays import arange, on_gpu, ranked
from autodiff_lab.ops.checks import dtypes_unequal, not_integers, room
from autodiff_lab.ops.docs import doc, document
from autodiff_lab.ops.structured import elementwise

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, ShapeLike, TensorLike

_NONE = "none: the result depends on no values"


def as_shape(shape: Any, what: str = "shape") -> tuple[int, ...]:
    """Return a shape from an int, a sequence of ints or an integer tensor."""
    dims = as_integers(shape, f"{what}: lengths")
    if any(n < 0 for n in dims):
        raise InvalidArgumentError(f"{what}: lengths must not be negative, got {dims}.")
    room(math.prod(dims), what)
    return dims


def as_number(x: Any, name: str) -> Any:
    """Return a value that decides what is made, on the CPU."""
    return x.to_host(f"{name} reads its arguments")[()] if on_gpu(x) else x


def _no_layout(layout: Any, what: str) -> None:
    """Refuse to lay a tensor out over several devices, for which TensorFlow has the argument."""
    if layout is not None:
        raise UnimplementedError(f"{what}: tensors cannot be sharded over devices, got layout {layout!r}. Try "
                                 "layout=None.")


def zeros(shape: ShapeLike, dtype: DTypeLike = "float32", name: str | None = None, layout: object = None) -> Tensor:
    _no_layout(layout, "zeros")
    wanted = as_dtype(dtype).dtype
    return named(tell_made(wrap(filled(as_shape(shape), b"" if wanted.kind == "O" else 0, wanted))), name)


def ones(shape: ShapeLike, dtype: DTypeLike = "float32", name: str | None = None, layout: object = None) -> Tensor:
    _no_layout(layout, "ones")
    return named(tell_made(wrap(filled(as_shape(shape), 1, as_dtype(dtype).dtype))), name)


def fill(dims: ShapeLike, value: TensorLike, name: str | None = None, layout: object = None) -> Tensor:
    _no_layout(layout, "fill")
    value = convert(value)
    if value._held.ndim:
        raise ShapeMismatch(f"fill: value must be a scalar, got shape {value._held.shape}. Try lab.broadcast_to.")
    if sinks_now():  # the value may be tracked
        return named(tell_made(broadcast(value, shape=as_shape(dims))), name)
    if on_gpu(value._held):
        return named(tell_made(wrap(np.broadcast_to(value._array, as_shape(dims)).copy())), name)
    return named(tell_made(wrap(filled(as_shape(dims), value._array, value._held.dtype))), name)


@elementwise
def zeros_like(input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None,
               layout: object = None) -> Tensor:
    _no_layout(layout, "zeros_like")
    try:
        x = alone(convert(input))
    except NotOneTensor as met:
        return named(handed(met, zeros_like, (input,), dtype=dtype), name)
    wanted = _dtype_or(x, dtype)
    return named(tell_made(wrap(filled_beside(x, x._held.shape, b"" if wanted.kind == "O" else 0, wanted))), name)


@elementwise
def ones_like(input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None,
              layout: object = None) -> Tensor:
    _no_layout(layout, "ones_like")
    try:
        x = alone(convert(input))
    except NotOneTensor as met:
        return named(handed(met, ones_like, (input,), dtype=dtype), name)
    return named(tell_made(wrap(filled_beside(x, x._held.shape, 1, _dtype_or(x, dtype)))), name)


def eye(num_rows: TensorLike, num_columns: TensorLike | None = None, batch_shape: ShapeLike | None = None,
        dtype: DTypeLike = "float32",
        name: str | None = None) -> Tensor:
    rows, columns = as_shape([num_rows, num_rows if num_columns is None else num_columns])
    one = np.eye(rows, columns, dtype=as_dtype(dtype).dtype)
    if batch_shape is not None:
        one = np.tile(one, (*as_shape(batch_shape), 1, 1))
    return named(tell_made(wrap(placed(one))), name)


shape_of = general(
    "shape", lambda x, dtype: np.asarray(x.shape, as_dtype(dtype).dtype), None, symbol="shape",
    latex=r"\operatorname{{shape}}({0})", sentence="takes the lengths of the axes of {0}", registered="Shape",
    doc="The kernel-level shape; `lab.shape` is the public function.")


def shape(input: TensorLike, out_type: DTypeLike = "int32", name: str | None = None) -> Tensor:
    try:
        x = convert(input)
    except NotOneTensor as met:
        return named(handed(met, shape, (input,), out_type=out_type), name)
    wanted = as_dtype(out_type)
    if trace_now() is not None:  # the shapes in a program are fixed: where they depend on values its calls check them
        return named(tell_made(wrap(np.asarray(x._held.shape, wanted.dtype))), name)
    return named(tell_made(shape_of(x, dtype=wanted.name)), name)


def size(input: TensorLike, out_type: DTypeLike = "int32", name: str | None = None) -> Tensor:
    try:
        x = convert(input)
    except NotOneTensor as met:
        return named(handed(met, size, (input,), out_type=out_type), name)
    return named(tell_made(wrap(as_dtype(out_type).dtype.type(x._held.size))), name)


def rank(input: TensorLike, name: str | None = None) -> Tensor:
    try:
        x = convert(input)
    except NotOneTensor as met:
        return named(handed(met, rank, (input,)), name)
    return named(tell_made(wrap(np.int32(x._held.ndim))), name)


_MANY = 512
"""Elements from which on it is quicker to put the ones where they belong than to compare."""


def _one_hot(indices: Any, depth: int, on: Any, off: Any, axis: int, dtype: str) -> Any:
    wanted = as_dtype(dtype).dtype
    if indices.__class__ is np.ndarray and indices.size * depth >= _MANY:
        numbers = indices.ravel().astype(np.int64)
        places = np.arange(0, numbers.size * depth, depth) + numbers
        inside = (numbers >= 0) & (numbers < depth)
        values = np.full(numbers.size * depth, off, wanted)
        values[places if inside.all() else places[inside]] = on
        values = values.reshape(*indices.shape, depth)
    else:
        hit = ranked(indices)[..., None] == arange(depth, indices)
        plain = on == 1 and off == 0 and hit.__class__ is np.ndarray and wanted.kind in "fiub"
        values = hit.astype(wanted) if plain else np.where(hit, np.asarray(on, wanted), np.asarray(off, wanted))
    return values if axis == -1 else np.moveaxis(values, -1, axis)


hot = general(
    "one_hot", _one_hot, None, warns=False, symbol="one hot", latex=r"\operatorname{{onehot}}({0})",
    sentence="puts a one at each index of {0}", registered="OneHot",
    doc="The kernel-level one-hot encoding; `lab.one_hot` is the public function.")


def one_hot(indices: TensorLike, depth: int, on_value: TensorLike | None = None, off_value: TensorLike | None = None,
            axis: int = -1, dtype: DTypeLike | None = None,
            name: str | None = None) -> Tensor:
    try:
        x = convert(indices)
    except NotOneTensor as met:
        found = handed(met, one_hot, (indices,), depth=depth, on_value=on_value, off_value=off_value, axis=axis,
                      dtype=dtype)
        return named(found, name)
    if x._held.dtype.kind not in "iu":
        raise not_integers(x.dtype, "one_hot: indices")
    count = as_integer(depth, "one_hot: depth (the number of classes)")
    axis = as_integer(axis, "one_hot: axis")
    if not -1 <= axis <= x._held.ndim:
        raise InvalidArgumentError(f"one_hot: axis {axis} is out of bounds for a new axis in shape {x._held.shape}.")
    if count < 0:
        raise InvalidArgumentError(f"one_hot: depth (the number of classes) must not be negative, got {depth}.")
    on, off, kind = _on_and_off(on_value, off_value, dtype)
    return named(tell_made(hot(x, depth=count, on=on, off=off, axis=axis, dtype=kind)), name)


def _on_and_off(on_value: Any, off_value: Any, dtype: Any) -> tuple[Any, Any, str]:
    """Return the values of `one_hot` as plain ones, and the dtype that they and the `dtype` asked for agree on."""
    wanted = None if dtype is None else as_dtype(dtype)
    if on_value is off_value is None and (wanted is None or wanted.is_floating or wanted.is_integer):
        return 1, 0, (wanted or float32).name
    given = {"on_value": on_value, "off_value": off_value}
    found = {key: convert_to_tensor(value, None if isinstance(value, (Tensor, Variable)) else wanted)
             for key, value in given.items() if value is not None}
    for key, value in found.items():
        if value._held.ndim:
            raise ShapeMismatch(f"one_hot: {key} must be a scalar, got shape {value._held.shape}.")
        if wanted is not None and value.dtype != wanted:
            raise DtypeMismatch(f"one_hot: {key} must have dtype {wanted.name}, got {value.dtype.name}. Try "
                                "lab.cast.")
    if len({value.dtype for value in found.values()}) > 1:
        raise dtypes_unequal("one_hot", **found)
    kind = next(iter(found.values())).dtype if found else wanted or float32
    if len(found) < 2 and kind.name in ("bool", "string"):
        raise DtypeMismatch(f"one_hot: 1 and 0 have no meaning for dtype {kind.name}. Try on_value= and off_value=.")
    for value in found.values():
        tell_peek(value, "one_hot")
    on, off = (as_number(found[key]._array, "one_hot").item() if key in found else default
               for key, default in (("on_value", 1), ("off_value", 0)))
    return on, off, kind.name


def _dtype_or(x: Tensor, dtype: Any) -> Any:
    return x._held.dtype if dtype is None else as_dtype(dtype).dtype


document((
    (zeros, "Zeros; the shape may be a bare integer.", "shape s -> (*s)",
     ">>> print(lab.zeros(2))\nTensor([0. 0.], shape=(2,), dtype=float32)"),
    (ones, "Ones; the shape may be a bare integer.", "shape s -> (*s)",
     ">>> print(lab.ones((2,), dtype=lab.int8))\nTensor([1 1], shape=(2,), dtype=int8)"),
    (zeros_like, "Zeros of the shape and dtype of a tensor.", "x (*s) -> (*s)",
     ">>> print(lab.zeros_like([1, 2]))\nTensor([0 0], shape=(2,), dtype=int32)"),
    (ones_like, "Ones of the shape and dtype of a tensor.", "x (*s) -> (*s)",
     ">>> print(lab.ones_like([1.0, 2.0]))\nTensor([1. 1.], shape=(2,), dtype=float32)"),
    (eye, "The identity matrix.", "(num_rows, num_columns)",
     ">>> print(lab.eye(2))\nTensor([[1. 0.]\n [0. 1.]], shape=(2, 2), dtype=float32)"),
    (shape, "The lengths of the axes as a tensor.", "x (*s) -> (rank,)",
     ">>> print(lab.shape([[1, 2, 3]]))\nTensor([1 3], shape=(2,), dtype=int32)"),
    (size, "The number of elements as a tensor.", "x (*s) -> ()",
     ">>> print(lab.size([[1, 2, 3]]))\nTensor(3, shape=(), dtype=int32)"),
    (rank, "The number of axes as a tensor.", "x (*s) -> ()",
     ">>> print(lab.rank([[1, 2, 3]]))\nTensor(2, shape=(), dtype=int32)"),
    (one_hot, "One at each index, zero elsewhere, along a new axis.", "indices (*s) -> (*s, depth)",
     ">>> print(lab.one_hot([1], 3))\nTensor([[0. 1. 0.]], shape=(1, 3), dtype=float32)"),
), columns="summary shapes example", dtypes="any", derivative=_NONE, raises=("argument", "convert"))
fill.__doc__ = doc(
    "One value everywhere.", shapes="dims s, value () -> (*s)", dtypes="any", derivative="1 for each place",
    raises=("argument", "shape", "convert"),
    example=">>> print(lab.fill([2], 7))\nTensor([7 7], shape=(2,), dtype=int32)")
