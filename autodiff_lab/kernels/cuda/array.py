"""DeviceArray: an array in the memory of a GPU, which NumPy's functions and operators take.

It wraps an array of CuPy (in the simulator: of NumPy) and answers NumPy's two protocols, so that the kernels of the
ops, written for NumPy, run on a GPU as they are.  What CuPy has is asked of CuPy; the rest is done by NumPy on a copy,
and told as traffic.  Nothing becomes a NumPy array silently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from autodiff_lab.kernels.cuda.promises import answer
from autodiff_lab.kernels.cuda.traffic import is_inside, refuse, tell

if TYPE_CHECKING:
    from autodiff_lab.kernels.cuda.memory import Memory

NOT_THERE = (TypeError, AttributeError, NotImplementedError)
"""What CuPy raises where it does not do what NumPy does."""

KINDS = "biufc"
"""Kinds of dtype that a GPU holds."""
DOUBLES = frozenset({np.dtype("float64"), np.dtype("complex128")})
PRINTED = "it was printed"
"""Why values are copied for `str` and `format`; for `repr`, which notebooks and debuggers ask for, nothing is told."""

WRITE = {"at", "copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"}
"""What writes into its first argument."""


class DeviceArray(NDArrayOperatorsMixin):
    """An array on a GPU.

    Attributes
    ----------
    raw : cupy.ndarray
        What holds the elements.
    memory : Memory
        Of which GPU.
    """

    __slots__ = ("__weakref__", "memory", "raw")
    __array_priority__ = 50
    __hash__ = object.__hash__  # pyright: ignore[reportAssignmentType]

    if TYPE_CHECKING:
        reshape: Callable[..., DeviceArray]
        astype: Callable[..., DeviceArray]
        sum: Callable[..., DeviceArray]

    def __init__(self, raw: Any, memory: Memory) -> None:
        self.raw, self.memory = raw, memory

    # What an array is.

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis."""
        return self.raw.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type."""
        return self.raw.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.raw.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.raw.size

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return self.raw.nbytes

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.raw.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis."""
        return self.raw.strides

    @property
    def flags(self) -> Any:
        """How it lies in memory."""
        return self.raw.flags

    @property
    def base(self) -> Any:
        """The array of which it is a view, or None."""
        return self.raw.base

    @property
    def T(self) -> DeviceArray:
        """A view with its axes reversed."""
        return self.memory.wrap(self.raw.T)

    @property
    def real(self) -> DeviceArray:
        """Real parts."""
        return self.memory.wrap(self.raw.real)

    @property
    def imag(self) -> DeviceArray:
        """Imaginary parts."""
        return self.memory.wrap(self.raw.imag)

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
        """A copy as a NumPy array; told as traffic unless `why` is empty, where a user asked for it by name."""
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
        """An element as a Python number."""
        return self.to_host("one number was asked for").item(*at)

    def tolist(self) -> Any:
        """The elements as nested lists."""
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
        memory = _memory_of((*inputs, *(out or ())))
        if method != "__call__" or is_inside():
            return _computed(memory, ufunc, method, inputs, out, how)
        check_operands(inputs)
        return check_value(inputs, _computed(memory, ufunc, method, inputs, out, how))

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], how: dict[str, Any]) -> Any:
        if is_inside():
            return _called(self.memory, function, args, how)
        check_operands(args)
        return check_value(args, _called(self.memory, function, args, how))


def _computed(memory: Memory, ufunc: Any, method: str, inputs: tuple[Any, ...], out: Any, how: dict[str, Any]) -> Any:
    """What a ufunc gives."""
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
    """What a function of NumPy gives."""
    found = memory.function(function)
    if found is None:
        return _on_host(memory, f"CuPy has no {function.__name__}", function, args, how)
    try:
        return memory.wrapped(found(*memory.operands(args), **memory.operands(how)))
    except NOT_THERE as error:
        return _on_host(memory, f"{function.__name__} of CuPy: {error}", function, args, how)


def _on_cpu(host: np.ndarray[Any, Any]) -> Any:
    """What a pickled array becomes: a NumPy array, or a scalar for rank 0."""
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


def check_operands(inputs: Iterable[Any]) -> None:
    """Refuse what an op must not mix: arrays of a CPU and a GPU, or of two GPUs, and two dtypes."""
    dtypes: set[Any] = set()
    memories: set[Any] = set()
    for x in inputs:
        if x.__class__ is DeviceArray:
            memories.add(x.memory)
            dtypes.add(x.dtype)
        elif isinstance(x, (np.ndarray, np.generic)):
            if x.ndim:
                refuse("host")
            dtypes.add(x.dtype)
    if len(memories) > 1:
        refuse("host")
    if len(dtypes) > 1:
        refuse("dtypes")


def check_value(inputs: tuple[Any, ...], value: Any) -> Any:
    """Refuse another dtype than the operands', truth aside, which the op that asked for it may give."""
    if value.__class__ is DeviceArray and value.dtype.kind != "b":
        for x in inputs:
            if x.__class__ is DeviceArray and x.dtype != value.dtype:
                refuse("promoted")
    return value


def _targets(out: tuple[Any, ...]) -> Any:
    raw = tuple([x.raw for x in out])
    return raw[0] if len(raw) == 1 else raw


def _on_host(memory: Memory, why: str, function: Callable[..., Any], args: Any, how: dict[str, Any]) -> Any:
    """What NumPy makes of copies, copied back."""
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
