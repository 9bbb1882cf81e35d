"""What an op does about devices, once arrays of a GPU are about: it follows its data and moves none of the user's.

Values of rank 0 on the CPU go along as numbers.  Python lists and NumPy arrays that meet a tensor of a GPU are copied
to it, and that is told; tensors are not.  On the CPU none of this runs: ops look at `MEMORIES`, which is empty until
somebody asks for a GPU, or come here only when a kernel has raised.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from weakref import WeakValueDictionary

from autodiff_lab.engine.devices import current_memory, memory_of
from autodiff_lab.engine.failure import devices_differ, dtypes_differ, failed, wrong_dtype
from autodiff_lab.engine.silence import quietly
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.events import Transferred, heard, place_now, tell_listeners
from autodiff_lab.kernels.cuda.array import DOUBLES, KINDS, DeviceArray
from autodiff_lab.kernels.cuda.traffic import HEARERS, Refused, inside, tell

_entered: WeakValueDictionary[int, Tensor] = WeakValueDictionary()
"""Tensors that were Python or NumPy values a moment ago: an op may copy them to the GPU of the tensors they meet."""
ENTERED = "a Python or NumPy value met a tensor of the GPU"


def entered(tensor: Tensor, like: Tensor | None = None) -> Tensor:
    """Place a value that came with the call of an op: beside its partner, or where the op will find the others."""
    if not tensor._held.ndim or tensor._held.__class__ is DeviceArray:
        return tensor
    if like is not None and like._held.__class__ is DeviceArray:
        return _uploaded(tensor, like._held.memory)
    _entered[tensor._id] = tensor
    return tensor


def alone(tensor: Tensor) -> Tensor:
    """Place a value that no other tensor meets: where new tensors are made."""
    memory = current_memory()
    if memory is None or tensor._id not in _entered or tensor._held.dtype.kind not in KINDS:
        return tensor
    return _moved(tensor, memory)


def _moved(tensor: Tensor, memory: Any) -> Tensor:
    """Put a value that came along on a GPU: the tensor itself and not a copy of it, as a tape may be watching it."""
    tensor._array = memory.upload(tensor._held)
    return tensor


def _uploaded(tensor: Tensor, memory: Any) -> Tensor:
    tell("to device", tensor._held.nbytes, ENTERED)
    return _moved(tensor, memory)


def joined(tensor: Tensor, others: Iterable[Any]) -> Tensor:
    """Put a value that came along on the GPU of the first tensor of one that came with it, and tell of it."""
    memory = next((m for m in (memory_of(getattr(x, "_held", None)) for x in others) if m is not None), None)
    if memory is None or not tensor._held.ndim or tensor._held.__class__ is DeviceArray:
        return tensor
    return _uploaded(tensor, memory)


def gathered(op: Any, ins: tuple[Tensor, ...], params: dict[str, Any] | None = None) -> tuple[Tensor, ...]:
    """The inputs of an op on one device.

    Raises
    ------
    DeviceMismatch
        If tensors of two devices are among them.
    """
    memories = {t._held.memory for t in ins if t._held.__class__ is DeviceArray}
    from_host = [t._held.__class__ is not DeviceArray and t._held.ndim > 0 for t in ins]
    if not any(from_host) and len(memories) < 2:
        return ins
    came_along = all(t._id in _entered for t, host in zip(ins, from_host, strict=True) if host)
    if not memories:
        return tuple([alone(t) for t in ins]) if came_along else ins
    if len(memories) > 1 or not came_along:
        raise devices_differ(op, ins, params)
    (memory,) = memories
    return tuple([_uploaded(t, memory) if host else t for t, host in zip(ins, from_host, strict=True)])


def run(op: Any, ins: tuple[Tensor, ...], params: dict[str, Any]) -> tuple[tuple[Tensor, ...], Any]:
    """Run the kernel of an op with parameters; give the inputs that it had, and what it made."""
    ins = gathered(op, ins, params)
    arrays = [t._held for t in ins]
    for array in arrays:
        if array.__class__ is not DeviceArray:
            continue
        if array.memory.slow_doubles and array.dtype in DOUBLES:
            array.memory.warn_of_doubles(op.name)
        with inside():
            return ins, quietly(op.kernel, *arrays, **params)
    value = quietly(op.kernel, *arrays, **params) if op.warns else op.kernel(*arrays, **params)
    return ins, value if any(array.ndim for array in arrays) else _made_of_numbers(value)


def _made_of_numbers(value: Any) -> Any:
    """What an op makes of numbers that went along (a stack of them, say) lies where new tensors are made."""
    memory = current_memory()
    if memory is None:
        return value
    if value.__class__ is tuple:
        return tuple([_made_of_numbers(v) for v in value])
    return (
        memory.upload(value) if getattr(value, "ndim", 0) and value.dtype.kind in KINDS else value
    )  # strings have none


def rescued(op: Any, ins: tuple[Tensor, ...], error: Exception, floating: bool = False) -> Any:
    """What an elementwise op gives whose kernel raised: on a GPU it may only have refused.

    Raises
    ------
    LabError
        In our words, if the kernel cannot do it.
    """
    if error.__class__ is not Refused:
        raise failed(op, ins, None, error) from None
    ins = gathered(op, ins)
    arrays = [t._held for t in ins]
    if len(ins) == 2 and arrays[0].dtype != arrays[1].dtype:
        raise dtypes_differ(op, *ins)
    try:
        with inside():
            value = quietly(op.kernel, *arrays)
    except Exception as again:  # noqa: BLE001 - whatever a kernel raises is told in our words
        raise failed(op, ins, None, again) from None
    if floating and value.dtype != arrays[0].dtype:
        raise wrong_dtype(op, ins)
    return value


def _tell(direction: str, size: int, why: str) -> None:
    """Make an event of a copy that nobody asked for by name."""
    if heard():
        tell_listeners(Transferred(direction, size, why, place_now()))


HEARERS.append(_tell)
