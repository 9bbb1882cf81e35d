"""DeviceArray: an array in the memory of a GPU, which NumPy's functions and operators take.

It wraps an array of CuPy (in the simulator: of NumPy) and answers NumPy's two protocols, so that the kernels of the
ops, written for NumPy, run on a GPU unchanged.  CuPy computes what it has functions for; NumPy does the rest on a copy,
which is reported as traffic.  Nothing becomes a NumPy array silently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from autodiff_lab.kernels.base import choose
from autodiff_lab.kernels.cuda.promises import answer, promise
from autodiff_lab.kernels.cuda.traffic import tell

if TYPE_CHECKING:
    from autodiff_lab.kernels.cuda.memory import Memory

NOT_THERE = (TypeError, AttributeError, NotImplementedError)
"""What CuPy raises where it does not support what NumPy does."""

KINDS = "biufc"
"""Kinds of dtype that a GPU holds."""
DOUBLES = frozenset({np.dtype("float64"), np.dtype("complex128")})
PRINTED = "it was printed"
"""Why values are copied for `str` and `format`; the copies of `repr`, which debuggers call, are not reported."""

WRITE = {"at", "copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"}
"""Functions that write into their first argument."""


def _of_raw(name: str, doc: str) -> Any:
    return property(attrgetter(f"raw.{name}"), doc=doc)


def _view(name: str, doc: str) -> Any:
    return property(lambda self: self.memory.wrap(getattr(self.raw, name)), doc=doc)


class DeviceArray(NDArrayOperatorsMixin):
    """An array on a GPU.

    Attributes
    ----------
    raw : cupy.ndarray
        The array that holds the elements.
    memory : Memory
        The GPU's.
    """

    __slots__ = ("__weakref__", "memory", "raw")
    __array_priority__ = 50
    __hash__ = object.__hash__  # pyright: ignore[reportAssignmentType]

    if TYPE_CHECKING:
        reshape: Callable[..., DeviceArray]
        astype: Callable[..., DeviceArray]
        fill: Callable[..., None]
        sum: Callable[..., DeviceArray]

    def __init__(self, raw: Any, memory: Memory) -> None:
        self.raw, self.memory = raw, memory

    # What an array is.

    shape = _of_raw("shape", "Length of each axis.")
    dtype = _of_raw("dtype", "Element type.")
    ndim = _of_raw("ndim", "Number of axes.")
    size = _of_raw("size", "Number of elements.")
    nbytes = _of_raw("nbytes", "Bytes of the elements.")
    itemsize = _of_raw("itemsize", "Bytes of an element.")
    strides = _of_raw("strides", "Bytes from one element to the next along each axis.")
    flags = _of_raw("flags", "How it lies in memory.")
    base = _of_raw("base", "The array of which it is a view, or None.")
    T = _view("T", "A view with its axes reversed.")
    real = _view("real", "Real parts.")
    imag = _view("imag", "Imaginary parts.")

    @property
    def flat(self) -> Iterator[Any]:
        """The elements in a row, copied to the CPU."""
        return self.to_host("flat").flat  # pyright: ignore[reportReturnType]

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.memory.interface(self.raw)

    def __dlpack__(self, **how: Any) -> Any:
        return self.raw.__dlpack__(**how)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.memory.index  # kDLCUDA

    # How it leaves the GPU.

    def to_host(self, why: str = "") -> Any:
        """Return a copy as a NumPy array; reported as traffic unless `why` is empty, where a user asked for it."""
        if why:
            tell("to host", self.nbytes, why)
        host = self.memory.download(self.raw)
        answer(self.memory)  # the copy has waited for the GPU already
        return host

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("An array on a GPU becomes a NumPy array only as a copy.")
        return np.asarray(self.to_host("a NumPy array was asked for"), dtype)

    def item(self, *at: int) -> Any:
        """Return an element as a Python number."""
        return self.to_host("one number was asked for").item(*at)

    def tolist(self) -> Any:
        """Return the elements as nested lists."""
        return self.to_host("a list was asked for").tolist()

    def __bool__(self) -> bool:
        return bool(self.to_host("a condition was asked for"))

    def __float__(self) -> float:
        return float(self.to_host("one number was asked for"))

    def __int__(self) -> int:
        return int(self.to_host("one number was asked for"))

    def __complex__(self) -> complex:
        return complex(self.to_host("one number was asked for"))

    def __index__(self) -> int:
        return self.to_host("one number was asked for").__index__()

    def __len__(self) -> int:
        return len(self.raw)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"{self.to_host()!r} on {self.memory.name}"

    def __str__(self) -> str:
        return str(self.to_host(PRINTED))

    def __format__(self, spec: str) -> str:
        return format(self.to_host(PRINTED)[()], spec)

    def __reduce__(self) -> tuple[Any, ...]:
        return _on_cpu, (self.to_host("pickled"),)  # another process may have no GPU

    def __copy__(self) -> DeviceArray:
        return self.memory.wrap(self.raw.copy())

    def __deepcopy__(self, memo: Any) -> DeviceArray:
        return self.__copy__()

    # How it is computed with.

    def __getitem__(self, index: Any) -> DeviceArray:
        return self.memory.wrap(self.memory.here(self.raw.__getitem__)(self.memory.indices(index)))

    def __setitem__(self, index: Any, value: Any) -> None:
        self.memory.here(self.raw.__setitem__)(self.memory.indices(index), self.memory.operand(value))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **how: Any) -> Any:
        return _computed(_memory_of((*inputs, *(out or ()))), ufunc, method, inputs, out, how)

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], how: dict[str, Any]) -> Any:
        make = _MAKERS.get(function)
        return _called(self.memory, function, args, how) if make is None else make(self.memory, *args, **how)

    def promise(self, error: Callable[[], Exception]) -> None:
        """Raise an error later, when a result is read, unless this array of rank 0 is true."""
        promise(self, error)


def _computed(memory: Memory, ufunc: Any, method: str, inputs: tuple[Any, ...], out: Any, how: dict[str, Any]) -> Any:
    """Return the result of a ufunc."""
    run = memory.ufunc(ufunc, method)
    if run is None:
        return _on_host(memory, f"CuPy has no {ufunc.__name__}", getattr(ufunc, method), inputs, {**how, "out": out})
    operands = [memory.operand(x) for x in inputs]
    try:
        value = run(*operands, **how) if out is None else run(*operands, out=_targets(out), **how)
    except NOT_THERE as error:
        why = f"{ufunc.__name__} of CuPy: {error}"
        return _on_host(memory, why, getattr(ufunc, method), inputs, {**how, "out": out})
    if memory.slow_doubles and getattr(value, "dtype", np.bool_) in DOUBLES:
        memory.warn_of_doubles(ufunc.__name__)
    if out is not None:
        return out[0] if len(out) == 1 else out
    return memory.wrapped(value)


def _called(memory: Memory, function: Any, args: tuple[Any, ...], how: dict[str, Any]) -> Any:
    """Return the result of a function of NumPy."""
    found = memory.function(function)
    if found is None:
        return _on_host(memory, f"CuPy has no {function.__name__}", function, args, how)
    try:
        return memory.wrapped(found(*memory.operands(args), **memory.operands(how)))
    except NOT_THERE as error:
        return _on_host(memory, f"{function.__name__} of CuPy: {error}", function, args, how)


def _on_cpu(host: np.ndarray[Any, Any]) -> Any:
    """Return what a pickled array becomes: a NumPy array, or a scalar for rank 0."""
    return host[()]


def _method(name: str) -> Callable[..., Any]:
    def method(self: DeviceArray, *args: Any, **how: Any) -> Any:
        memory = self.memory
        if name == "astype":
            memory.check_dtype(args[0] if args else how["dtype"])
        return memory.wrapped(memory.here(getattr(self.raw, name))(*memory.operands(args), **memory.operands(how)))

    method.__name__ = name
    method.__doc__ = f"As `numpy.ndarray.{name}`."
    return method


for _name in (
    "all", "any", "argmax", "argmin", "argsort", "astype", "clip", "conj", "conjugate", "copy", "cumprod", "cumsum",
    "diagonal", "dot", "fill", "flatten", "max", "mean", "min", "nonzero", "prod", "ravel", "repeat", "reshape",
    "round", "sort", "squeeze", "std", "sum", "swapaxes", "take", "trace", "transpose", "var", "view",
):  # fmt: skip
    setattr(DeviceArray, _name, _method(_name))


def _memory_of(values: tuple[Any, ...]) -> Memory:
    return next(x.memory for x in values if x.__class__ is DeviceArray)


def _targets(out: tuple[Any, ...]) -> Any:
    raw = tuple([x.raw for x in out])
    return raw[0] if len(raw) == 1 else raw


def _on_host(memory: Memory, why: str, function: Callable[..., Any], args: Any, how: dict[str, Any]) -> Any:
    """Return the result of NumPy on copies, copied back."""
    out = how.pop("out", None)
    given = memory.hosted(args, why)
    value = function(*given, **memory.hosted(how, why))
    if function.__name__ in WRITE and args[0].__class__ is DeviceArray:
        args[0].raw[...] = memory.uploaded(given[0], why).raw
    made = memory.uploaded(value, why)
    if out is None:
        return made
    for target, result in zip(out, made if isinstance(made, tuple) else (made,), strict=True):
        target.raw[...] = result.raw
    return out[0] if len(out) == 1 else out


def _lengths(shape: Any) -> tuple[int, ...]:
    return (int(shape),) if np.ndim(shape) == 0 else tuple(shape)


def _full(memory: Memory, shape: Any, value: Any, dtype: Any = None, **layout: Any) -> DeviceArray:
    made = memory.empty(_lengths(shape), dtype)
    made.raw.fill(value)
    return made


def _arange(memory: Memory, count: int, dtype: Any = np.int64, **layout: Any) -> DeviceArray:
    size = int(count) * np.dtype(dtype).itemsize
    return memory.wrap(memory.guarded(lambda: memory.module.arange(count, dtype=dtype), size))


def _eye(memory: Memory, rows: int, dtype: Any = None, **layout: Any) -> DeviceArray:
    made = _full(memory, (rows, rows), 0, dtype)
    made.reshape(-1).raw[:: rows + 1] = 1
    return made


def _asarray(memory: Memory, value: Any, dtype: Any = None) -> DeviceArray:
    if value.__class__ is not DeviceArray:
        value = memory.uploaded(np.asarray(value), "positions and weights are worked out on the CPU")
    return value if dtype is None or value.dtype == dtype else value.astype(dtype)


def _contiguous(memory: Memory, x: Any, dtype: Any = None) -> DeviceArray:
    found = _asarray(memory, x, dtype)
    return memory.wrap(memory.guarded(lambda: memory.module.ascontiguousarray(found.raw), found.nbytes))


_MAKERS: dict[Any, Callable[..., DeviceArray]] = {
    np.zeros: lambda memory, shape, dtype=None, **layout: _full(memory, shape, 0, dtype),
    np.empty: lambda memory, shape, dtype=None, **layout: memory.empty(_lengths(shape), dtype),
    np.full: _full,
    np.arange: _arange,
    np.eye: _eye,
    np.asarray: _asarray,
    np.ascontiguousarray: _contiguous,
}
"""What makes an array on the device of another one; NumPy calls these for ``like=``."""
choose.ELSEWHERE.add(DeviceArray)
