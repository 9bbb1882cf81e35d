"""Making tensors: constants, ranges, and what asks for a tensor's shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.devices import filled, filled_beside, placed
from autodiff_lab.engine.dtypes import as_dtype, public
from autodiff_lab.engine.placement import alone
from autodiff_lab.engine.shape import whole_numbers
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError
from autodiff_lab.events import tell_made, tell_peek, trace_now
from autodiff_lab.kernels.arrays import arange, on_gpu, ranked
from autodiff_lab.ops.docs import doc

_NONE = "none: the result depends on no values"


def as_shape(shape: Any) -> tuple[int, ...]:
    """A shape from an int, a sequence of ints or an integer tensor."""
    dims = whole_numbers(shape, "a shape")
    if any(n < 0 for n in dims):
        raise InvalidArgumentError(f"a shape has no negative lengths, got {dims}")
    return dims


def as_number(x: Any, name: str) -> Any:
    """A value that decides what is made, on the CPU."""
    return x.to_host(f"{name} reads its arguments")[()] if on_gpu(x) else x


def zeros(shape: Any, dtype: Any = "float32", name: str | None = None) -> Tensor:
    wanted = as_dtype(dtype).dtype
    return _named(wrap(filled(as_shape(shape), b"" if wanted.kind == "O" else 0, wanted)), name)


def ones(shape: Any, dtype: Any = "float32", name: str | None = None) -> Tensor:
    return _named(wrap(filled(as_shape(shape), 1, as_dtype(dtype).dtype)), name)


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    value = convert(value)
    tell_peek(value, "fill")
    if on_gpu(value._array):
        return _named(wrap(np.broadcast_to(value._array, as_shape(dims)).copy()), name)
    return _named(wrap(filled(as_shape(dims), value._array, value._array.dtype)), name)


def zeros_like(input: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    x = alone(convert(input))
    wanted = _dtype_or(x, dtype)
    return _named(wrap(filled_beside(x, x._array.shape, b"" if wanted.kind == "O" else 0, wanted)), name)


def ones_like(input: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    x = alone(convert(input))
    return _named(wrap(filled_beside(x, x._array.shape, 1, _dtype_or(x, dtype))), name)


def eye(num_rows: int, num_columns: int | None = None, dtype: Any = "float32", name: str | None = None) -> Tensor:
    as_shape([num_rows, num_rows if num_columns is None else num_columns])  # refuses lengths below 0
    return _named(wrap(placed(np.eye(int(num_rows), None if num_columns is None else int(num_columns),
                                     dtype=as_dtype(dtype).dtype))), name)


def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str | None = None) -> Tensor:
    if limit is None:
        start, limit = 0, start
    tensors = [convert(v) for v in (start, limit, delta)]
    for tensor in tensors:
        tell_peek(tensor, "range")
    values = [as_number(tensor._array, "range") for tensor in tensors]
    if values[2] == 0:
        raise InvalidArgumentError("range: delta is 0, so the limit is never reached")
    floats = [v.dtype for v in values if v.dtype.kind == "f"]  # a whole number beside a float adopts its dtype
    natural = np.result_type(*(floats or [v.dtype for v in values]))
    wanted = as_dtype(dtype).dtype if dtype is not None else natural
    return _named(wrap(placed(np.arange(*values).astype(wanted))), name)


def linspace(start: Any, stop: Any, num: Any, name: str | None = None) -> Tensor:
    first = convert(start)
    last = convert(stop, first)
    if first._array.dtype.kind not in "fV":
        raise InvalidArgumentError(f"linspace: start must be a float, got {public(first._array.dtype).name}")
    if int(num) < 1:
        raise InvalidArgumentError(f"linspace: num must be at least 1, got {int(num)}")
    tell_peek(first, "linspace")
    tell_peek(last, "linspace")
    low, high = (np.asarray(as_number(t._array, "linspace"), np.float64) for t in (first, last))
    return _named(wrap(placed(np.linspace(low, high, int(num)).astype(first._array.dtype))), name)


shape_of = general(
    "shape", lambda x, dtype: np.asarray(x.shape, as_dtype(dtype).dtype), None, symbol="shape",
    latex=r"\operatorname{{shape}}({0})", sentence="takes the lengths of the axes of {0}", registered="Shape",
    doc="The kernel-level shape; `lab.shape` is the public function.")


def shape(input: Any, out_type: Any = "int32", name: str | None = None) -> Tensor:
    x, wanted = convert(input), as_dtype(out_type)
    if trace_now() is not None:  # the shapes in a program are fixed: where they depend on values its calls check them
        return _named(wrap(np.asarray(x._array.shape, wanted.dtype)), name)
    return _named(shape_of(x, dtype=wanted.name), name)


def size(input: Any, out_type: Any = "int32", name: str | None = None) -> Tensor:
    return _named(wrap(as_dtype(out_type).dtype.type(convert(input)._array.size)), name)


def rank(input: Any, name: str | None = None) -> Tensor:
    return _named(wrap(np.int32(convert(input)._array.ndim)), name)


def _one_hot(indices: Any, depth: int, on: Any, off: Any, axis: int, dtype: str) -> Any:
    wanted = as_dtype(dtype).dtype
    hit = ranked(indices)[..., None] == arange(depth, indices)
    values = np.where(hit, np.asarray(on, wanted), np.asarray(off, wanted))
    return values if axis == -1 else np.moveaxis(values, -1, axis)


hot = general(
    "one_hot", _one_hot, None, symbol="one hot", latex=r"\operatorname{{onehot}}({0})",
    sentence="puts a one at each index of {0}", registered="OneHot",
    doc="The kernel-level one-hot encoding; `lab.one_hot` is the public function.")


def one_hot(indices: Any, depth: int, on_value: Any = None, off_value: Any = None, axis: int = -1, dtype: Any = None,
            name: str | None = None) -> Tensor:
    x = convert(indices)
    if x._array.dtype.kind not in "iu":
        raise DtypeMismatch(f"one_hot: indices are whole numbers, got {x.dtype.name}. Try lab.cast.")
    if not -1 <= int(axis) <= x._array.ndim:
        raise InvalidArgumentError(f"one_hot: axis {axis} is no place for a new axis in shape {x._array.shape}")
    if int(depth) < 0:
        raise InvalidArgumentError(f"one_hot: depth, the number of classes, is 0 or more, got {depth}.")
    on, off = (1 if on_value is None else on_value), (0 if off_value is None else off_value)
    on, off = (np.asarray(v).item() for v in (on, off))
    return _named(hot(x, depth=int(depth), on=on, off=off, axis=int(axis), dtype=as_dtype(dtype or "float32").name),
                  name)


def _dtype_or(x: Tensor, dtype: Any) -> Any:
    return x._array.dtype if dtype is None else as_dtype(dtype).dtype


def _named(tensor: Tensor, name: str | None) -> Tensor:
    if name is not None:
        tensor._name = name
    return tell_made(tensor)


for _function, _words, _shapes, _example in (
    (zeros, "Zeros; the shape may be a bare integer.", "shape s -> (*s)",
     ">>> print(lab.zeros(2))\nTensor([0. 0.], shape=(2,), dtype=float32)"),
    (ones, "Ones; the shape may be a bare integer.", "shape s -> (*s)",
     ">>> print(lab.ones((2,), dtype=lab.int8))\nTensor([1 1], shape=(2,), dtype=int8)"),
    (fill, "One value everywhere.", "dims s -> (*s)",
     ">>> print(lab.fill([2], 7))\nTensor([7 7], shape=(2,), dtype=int32)"),
    (zeros_like, "Zeros of the shape and dtype of a tensor.", "x (*s) -> (*s)",
     ">>> print(lab.zeros_like([1, 2]))\nTensor([0 0], shape=(2,), dtype=int32)"),
    (ones_like, "Ones of the shape and dtype of a tensor.", "x (*s) -> (*s)",
     ">>> print(lab.ones_like([1.0, 2.0]))\nTensor([1. 1.], shape=(2,), dtype=float32)"),
    (eye, "The identity matrix.", "(num_rows, num_columns)",
     ">>> print(lab.eye(2))\nTensor([[1. 0.]\n [0. 1.]], shape=(2, 2), dtype=float32)"),
    (range, "Numbers from start up to, and without, limit; int32 for Python ints.", "scalars -> (n,)",
     ">>> print(lab.range(1, 6))\nTensor([1 2 3 4 5], shape=(5,), dtype=int32)"),
    (linspace, "Evenly spaced numbers, both ends included.", "scalars -> (num,)",
     ">>> print(lab.linspace(0.0, 1.0, 3))\nTensor([0.  0.5 1. ], shape=(3,), dtype=float32)"),
    (shape, "The lengths of the axes as a tensor.", "x (*s) -> (rank,)",
     ">>> print(lab.shape([[1, 2, 3]]))\nTensor([1 3], shape=(2,), dtype=int32)"),
    (size, "The number of elements as a tensor.", "x (*s) -> ()",
     ">>> print(lab.size([[1, 2, 3]]))\nTensor(3, shape=(), dtype=int32)"),
    (rank, "The number of axes as a tensor.", "x (*s) -> ()",
     ">>> print(lab.rank([[1, 2, 3]]))\nTensor(2, shape=(), dtype=int32)"),
    (one_hot, "One at each index, zero elsewhere, along a new axis.", "indices (*s) -> (*s, depth)",
     ">>> print(lab.one_hot([1], 3))\nTensor([[0. 1. 0.]], shape=(1, 3), dtype=float32)"),
):
    _function.__doc__ = doc(_words, shapes=_shapes, dtypes="any", derivative=_NONE, example=_example,
                            raises=("argument", "convert"))
