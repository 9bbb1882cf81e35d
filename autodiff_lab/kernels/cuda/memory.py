"""Memory: a GPU as a place for arrays.

CuPy allocates, copies and computes; numba launches our kernels on the arrays that CuPy holds, in CuPy's stream.  In
the simulator NumPy stands in for CuPy, so that whatever runs on a GPU can be tried and tested without one.
"""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from autodiff_lab import errors
from autodiff_lab.errors import DeviceError, DeviceMemoryError, DeviceWarning
from autodiff_lab.kernels.cuda.array import KINDS, DeviceArray
from autodiff_lab.kernels.cuda.forwarding import function_of, ufunc_of
from autodiff_lab.kernels.cuda.traffic import MEMORIES, tell

_NOT_THE_USERS = tuple(str(Path(file).parent) for file in (errors.__file__, np.__file__))
ROOM = 2**30
"""The size in bytes that the simulated GPU reports; it is not enforced."""


def _frames_to_the_user() -> int:
    """Frames from the caller's on to the innermost one outside this package and NumPy."""
    count, frame = 1, sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_NOT_THE_USERS):
        count, frame = count + 1, frame.f_back
    return count


class Memory:
    """A GPU's memory; made by `gpus.memories`.

    Attributes
    ----------
    index : int
        Index of the GPU.
    name : str
        ``"/GPU:0"`` for the first.
    module : module
        CuPy, or NumPy in the simulator.
    simulated : bool
        Whether the GPU is simulated.
    multiprocessors : int
        How many the GPU has; grids are sized by it.
    """

    simulated = True
    multiprocessors = 2
    peak = 0
    slow_doubles = False
    """Whether float64 is much slower than float32 on this GPU, and no warning has said so yet."""

    def __init__(self, index: int, module: Any, special: Any) -> None:
        self.index, self.name, self.module, self.special = index, f"/GPU:{index}", module, special
        self.ufunc: Callable[[Any, str], Any] = lru_cache(None)(lambda u, method: self.here(ufunc_of(self, u, method)))
        self.function: Callable[[Any], Any] = lru_cache(None)(lambda f: self.here(function_of(self, f)))
        MEMORIES.append(self)

    def __repr__(self) -> str:
        return f"<Memory of {self.name}>"

    def __reduce__(self) -> str:
        raise TypeError(f"The memory of {self.name} cannot be copied to another process.")

    # Arrays in and out.

    def wrap(self, raw: Any) -> DeviceArray:
        """Return a device array around an array of CuPy."""
        return DeviceArray(raw if raw.__class__ is self.module.ndarray else self.module.asarray(raw), self)

    def wrapped(self, value: Any) -> Any:
        """Replace the arrays of CuPy in a result by device arrays."""
        if isinstance(value, (self.module.ndarray, np.generic)):
            return self.wrap(value)
        if value.__class__ is tuple or isinstance(value, tuple):
            return tuple([self.wrapped(v) for v in value])
        return [self.wrapped(v) for v in value] if value.__class__ is list else value

    def upload(self, host: Any) -> DeviceArray:
        """Return a copy of a NumPy array or scalar.

        Raises
        ------
        DeviceError
            If a GPU holds no such elements (strings, bfloat16).
        DeviceMemoryError
            If there is no room.
        """
        host = np.asarray(host)
        self.check_dtype(host.dtype)
        return self.wrap(self.guarded(lambda: self.module.array(host), host.nbytes))

    def check_dtype(self, dtype: Any) -> None:
        """Refuse elements that a GPU does not hold.

        Raises
        ------
        DeviceError
            If they are strings or bfloat16.
        """
        dtype = np.dtype(dtype)
        if dtype.kind in "OSU":  # single strings are NumPy's
            raise DeviceError(f"{self.name}: strings live on the CPU only. Try creating them outside the device block.")
        if dtype.kind not in KINDS:
            raise DeviceError(
                f"{self.name}: elements of dtype {dtype.name} live on the CPU only. Try lab.cast(x, lab.float32) "
                "first, or leave them there."
            )

    def download(self, raw: Any) -> Any:
        """Return a copy as a NumPy array."""
        return np.array(raw)

    def shared(self, value: Any) -> DeviceArray:
        """Return a device array on the memory of an object with the CUDA array interface."""
        interface = value.__cuda_array_interface__
        found = self.module.asarray(SimpleNamespace(__array_interface__={**interface, "version": 3}, owner=value))
        self.check_dtype(found.dtype)
        return self.wrap(found)

    def unpacked(self, value: Any) -> DeviceArray:
        """Return a device array on the memory of a DLPack exporter."""
        return self.wrap(self.module.from_dlpack(value))

    def interface(self, raw: Any) -> dict[str, Any]:
        """Return the CUDA array interface of an array of ours."""
        described = raw.__array_interface__
        return {key: described[key] for key in ("shape", "typestr", "data", "strides")} | {"version": 3}

    def empty(self, shape: tuple[int, ...], dtype: Any) -> DeviceArray:
        """Return an uninitialized array."""
        self.check_dtype(dtype)
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        made = self.wrap(self.guarded(lambda: self.module.empty(shape, dtype), size))
        if self.simulated and made.dtype.kind == "f":
            made.raw.fill(np.nan)  # so that elements that a kernel forgets are noticed
        return made

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> DeviceArray:
        """Return zeros."""
        made = self.empty(shape, dtype)
        made.raw.fill(0)
        return made

    # What functions are given.

    def operand(self, x: Any) -> Any:
        """Return what CuPy is given for a value: the array of a device array, a copy of a host array."""
        if x.__class__ is DeviceArray:
            return x.raw
        if isinstance(x, np.ndarray):
            if not x.ndim:
                return x[()]
            tell("to device", x.nbytes, "a kernel made it on the CPU")
            return self.module.asarray(x)
        return x

    def special_function(self, name: str) -> Callable[..., Any]:
        """Return what CuPy has for a function of ``scipy.special``, called with arrays of this GPU."""
        found = getattr(self.special, name)
        return lambda *arrays: self.wrapped(found(*self.operands(arrays)))

    def operands(self, value: Any) -> Any:
        """Return the same at any depth of tuples, lists and dicts."""
        if isinstance(value, dict):
            return {k: self.operands(v) for k, v in value.items()}
        if value.__class__ in (tuple, list):
            return type(value)(self.operands(v) for v in value)
        return self.operand(value)

    def indices(self, index: Any) -> Any:
        """Return an index, with the arrays in it on this GPU."""
        if isinstance(index, tuple):
            return tuple([self.indices(i) for i in index])
        if isinstance(index, list):
            index = np.asarray(index)
        if isinstance(index, np.ndarray) and index.ndim:
            return self.module.asarray(index)  # it came with the call, as a slice would
        return self.operand(index)

    def hosted(self, value: Any, why: str) -> Any:
        """Replace device arrays by NumPy arrays, at any depth."""
        if value.__class__ is DeviceArray:
            return value.to_host(why)[()]
        if isinstance(value, dict):
            return {k: self.hosted(v, why) for k, v in value.items()}
        if value.__class__ in (tuple, list):
            return type(value)(self.hosted(v, why) for v in value)
        return value

    def uploaded(self, value: Any, why: str) -> Any:
        """Replace the NumPy arrays in a result by device arrays."""
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in KINDS:
            tell("to device", value.nbytes, why)
            return self.upload(value)
        if isinstance(value, tuple):
            return tuple([self.uploaded(v, why) for v in value])
        return [self.uploaded(v, why) for v in value] if isinstance(value, list) else value

    # What differs between a GPU and the simulator.

    def guarded(self, allocate: Callable[[], Any], size: int) -> Any:
        """Return the result of an allocation; if the GPU is full, raise an error of ours."""
        try:
            return allocate()
        except MemoryError:
            raise self.full(size) from None

    def full(self, size: int) -> DeviceMemoryError:
        """Return the error for an allocation that does not fit."""
        figures = self.figures()
        return DeviceMemoryError(
            f"{self.name}: no room for {size:,} bytes; {figures['current']:,} are in use here, {figures['free']:,} are "
            "free. Try smaller batches, lab.recompute_grad, or letting go of tensors and tapes."
        )

    def argument(self, raw: Any) -> Any:
        """Return what numba is given for an array."""
        return raw

    def launch(self, compiled: Any, blocks: Any, threads: Any, arguments: list[Any]) -> None:
        """Run a kernel."""
        from autodiff_lab.kernels.cuda.simulator import simulate

        simulate(compiled, blocks, threads, arguments)

    def using(self) -> AbstractContextManager[Any]:
        """Return a block in which CuPy allocates here."""
        return nullcontext()

    def here(self, function: Any) -> Any:
        """Return a function of CuPy that runs on this GPU, whichever is the current one."""
        return function

    def synchronize(self) -> None:
        """Wait until the GPU has done what it was given."""

    def figures(self) -> dict[str, int]:
        """Bytes in use by arrays, held by the pool at most and now, free on the GPU and in all."""
        found = [x.raw for x in gc.get_objects() if x.__class__ is DeviceArray and x.memory is self]
        owners = {id(owner): owner for owner in (x if x.base is None else x.base for x in found)}
        current = sum(getattr(owner, "nbytes", 0) for owner in owners.values())
        self.peak = max(self.peak, current)
        return {"current": current, "peak": self.peak, "pool": current, "free": ROOM - current, "total": ROOM}

    def forget_peak(self) -> None:
        """Free the unused memory of the pool, and reset its peak."""
        self.peak = 0

    def warn_of_doubles(self, op: str) -> None:
        """Say once that float64 is slow on this GPU, naming the op where it was met."""
        self.slow_doubles = False
        warnings.warn(
            f"{op}: {self.details()['device_name']} ({self.name}) computes float64 at 1/32 of the speed of float32 or "
            "less. Try lab.cast(x, lab.float32), or the CPU. This warning appears once.",
            DeviceWarning,
            stacklevel=_frames_to_the_user(),
        )

    def details(self) -> dict[str, Any]:
        """Return what GPU it is."""
        return {
            "device_name": "a simulated GPU", "compute_capability": None,
            "multiprocessors": self.multiprocessors, "memory": ROOM, "simulated": True,
        }  # fmt: skip
