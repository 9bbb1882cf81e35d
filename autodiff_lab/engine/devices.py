"""Devices: where new tensors are made, and where a tensor lives.

Ops follow their data: what they give lies where their tensors lie.  What makes tensors out of nothing or out of Python
values (constants, zeros, random numbers, variables, the weights of layers) follows the innermost block of `device`; the
blocks of a thread or task are its own.  Outside of such a block nothing here costs more than a look at a variable.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, ContextDecorator, nullcontext
from contextvars import ContextVar
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.errors import DeviceError

if TYPE_CHECKING:
    from autodiff_lab.kernels.cuda.memory import Memory

CPU = "/CPU:0"
_PLACE: ContextVar[Any] = ContextVar("autodiff_lab_device", default=None)
_AROUND: ContextVar[tuple[Any, ...]] = ContextVar("autodiff_lab_devices_around", default=())
_chosen = _PLACE.get  # None outside of blocks, `CPU`, or the memory of a GPU
_NAME = re.compile(r"(?:/job:\w+)?(?:/replica:\d+)?(?:/task:\d+)?/?(?:device:)?(cpu|gpu)(?::(\d+))?", re.IGNORECASE)


def device(device_name: str | None) -> AbstractContextManager[str | None]:
    """Make tensors on a device for the length of a block; blocks nest, and each thread and task has its own.

    What is made in the block lies there: constants, zeros, ranges, random numbers, variables, the weights of layers.
    Ops do not move anything: they run where their inputs are.

    Parameters
    ----------
    device_name : str or None
        ``"/GPU:0"``, ``"GPU:0"``, ``"gpu"``, ``"/device:GPU:0"``, ``"/CPU:0"`` and the like; None undoes the blocks
        around this one.

    Raises
    ------
    DeviceError
        A `RuntimeError`: there is no such device; the message says what is missing and what to do.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> with lab.device("/CPU:0"):
    ...     x = lab.zeros(3)
    >>> x.device
    '/CPU:0'
    """
    return _Block(None if device_name is None else place_of(device_name))


class _Block(AbstractContextManager["str | None"], ContextDecorator):
    """The block that `device` returns; it is reentrant, and other threads may enter it."""

    __slots__ = ("_place",)

    def __init__(self, place: Any) -> None:
        self._place = place

    def __repr__(self) -> str:
        return f"<device {getattr(self._place, 'name', self._place)}>"

    def __enter__(self) -> str | None:
        place = self._place
        _AROUND.set((*_AROUND.get(), _chosen()))
        _PLACE.set(place)
        return place if place.__class__ is str or place is None else place.name

    def __exit__(self, *error: object) -> None:
        *around, place = _AROUND.get()
        _AROUND.set(tuple(around))
        _PLACE.set(place)


def place_of(name: Any) -> Any:
    """Return what a name stands for: `CPU`, or the memory of a GPU.

    Raises
    ------
    DeviceError
        If there is no such device.
    """
    found = _NAME.fullmatch(name) if isinstance(name, str) else None
    if found is None:
        raise DeviceError(f"device: {name!r} is not the name of a device. Try '/GPU:0' or '/CPU:0'.")
    index = int(found[2] or 0)
    if found[1].upper() == "GPU":
        return import_module("autodiff_lab.gpu").memory_of(index)
    if index:
        raise DeviceError(f"/CPU:{index}: all processors of this machine form one device. Try '/CPU:0'.")
    return CPU


def device_now() -> Any:
    """Return what the innermost block names: `CPU`, the memory of a GPU, or None outside of blocks."""
    return _chosen()


def current_memory() -> Memory | None:
    """Return the memory in which new tensors are made; None where that is the CPU's."""
    place = _chosen()
    return None if place is CPU else place


def beside(*values: Any) -> AbstractContextManager[Any]:
    """Return a block on the device of the first tensor that is on a GPU; inside a block of `device`, an empty one."""
    if _chosen() is None:
        for value in values:
            memory = memory_of(getattr(value, "_held", None))
            if memory is not None:
                return _Block(memory)
    return nullcontext()


def following(value: Any) -> AbstractContextManager[Any]:
    """Return a block on the device of a tensor, whatever the blocks around it name: for what an op makes internally."""
    place, now = memory_of(value._held) or CPU, _chosen()
    return nullcontext() if place is now or (now is None and place is CPU) else _Block(place)


def on_cpu() -> AbstractContextManager[Any]:
    """Return a block on the CPU: for tensors that Python reads at once, such as the ends of a range."""
    return nullcontext() if _chosen() is None else _Block(CPU)


def placed(array: Any) -> Any:
    """Move an array to the device where new tensors are made: itself, or inside the block of a GPU a copy there."""
    place = _chosen()
    if place is None or place is CPU or memory_of(array) is not None:
        return array
    return place.upload(array)


def filled(shape: tuple[int, ...], value: Any, dtype: np.dtype[Any]) -> Any:
    """Return an array filled with one value, on the device where new tensors are made."""
    memory = current_memory()
    if memory is None or dtype.kind == "O":  # of strings `placed` says that a GPU holds none
        zeros = value.__class__ is int and value == 0
        return placed((np.zeros(shape, dtype) if zeros else np.full(shape, value, dtype))[()])
    made = memory.empty(shape, dtype)
    made.fill(value)
    return made


def placed_by_block(array: Any) -> Any:
    """Move an array to the device of the innermost block, the CPU included; outside of blocks return it as it is."""
    place = _chosen()
    return array if place is None else moved(array, None if place is CPU else place)


def memory_of(array: Any) -> Memory | None:
    """Return the memory of the GPU on which an array lies, or lay where only its shape is left; None for the CPU."""
    return getattr(array, "memory", None)


def zeros_beside(array: Any, shape: tuple[int, ...], value: int = 0) -> Any:
    """Return zeros, or ones, of an array's dtype on its device."""
    memory = memory_of(array)
    if memory is None:
        return np.full(shape, value, array.dtype)[()] if value else np.zeros(shape, array.dtype)[()]
    made = memory.empty(shape, array.dtype)
    made.fill(value)
    return made


def filled_beside(tensor: Any, shape: tuple[int, ...], value: Any, dtype: np.dtype[Any]) -> Any:
    """Return an array filled with one value on the device of a tensor."""
    memory = memory_of(tensor._held)
    if memory is None:
        return (np.zeros(shape, dtype) if value.__class__ is int and value == 0 else np.full(shape, value, dtype))[()]
    made = memory.empty(shape, dtype)
    made.fill(value)
    return made


def moved(array: Any, memory: Memory | None) -> Any:
    """Move an array to a memory, None being the CPU's; returns the array itself if it is there."""
    have = memory_of(array)
    if have is memory:
        return array
    host = array if have is None else array.to_host()[()]
    return host if memory is None else memory.upload(host)


def device_of(array: Any) -> str:
    """Return the name of the device on which an array lies, or lay where only its shape is left."""
    memory = getattr(array, "memory", None)
    return CPU if memory is None else memory.name
