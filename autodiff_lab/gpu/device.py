"""DeviceTensor: a tensor on a GPU, which handles the ops that take it.

An op of the engine that meets an operand with `__lab_apply__` hands itself over.  Here its operands are brought
together, its kernel runs on the arrays of the GPU, and what happened is recorded as for any op.  Tensors of two devices
are refused here and nowhere else.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.engine.apply import record_application
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.devices import CPU, current_memory, memory_of
from autodiff_lab.engine.failure import dtypes_differ, wrong_dtype
from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.op import Op
from autodiff_lab.engine.silence import quietly
from autodiff_lab.engine.tensor import MAKERS, Tensor, wrap
from autodiff_lab.engine.variable import Variable
from autodiff_lab.events import Transferred
from autodiff_lab.events.listener import fresh_id, heard, place_now, sinks_now, tell_listeners
from autodiff_lab.gpu.failure import devices_differ, failed_there
from autodiff_lab.gpu.gradients import DEVICE_OPS, at_home
from autodiff_lab.gpu.hosted import there
from autodiff_lab.gpu.variables import assignable, beside_target
from autodiff_lab.kernels.cuda.array import DOUBLES, KINDS
from autodiff_lab.kernels.cuda.traffic import OBSERVERS, tell

ENTERED = "a Python or NumPy value met a tensor of the GPU"


class DeviceTensor(Tensor):
    """A tensor of a GPU; made by ``x.gpu()``, in a block of `lab.device`, and by ops on such tensors."""

    __slots__ = ()

    def __lab_apply__(self, op: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Run an op on the GPU of its operands."""
        return applied(op, inputs, params)

    @property
    def device(self) -> str:
        """Where it lies: ``"/GPU:0"``."""
        return self._held.memory.name

    def numpy(self) -> Any:
        """Return a copy as a NumPy array, or a NumPy scalar for rank 0; it leaves the tape."""
        return self._leave("numpy").to_host()[()]

    def cpu(self) -> Tensor:
        """Return the same values on the CPU: a copy, through which gradients pass."""
        return RECORDING.copy_to_device(self, device=CPU)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self._leave("__cuda_array_interface__").__cuda_array_interface__

    def __dlpack__(self, **how: Any) -> Any:
        return self._leave("__dlpack__").__dlpack__(**how)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._held.__dlpack_device__()

    def __repr__(self) -> str:
        host = self._array.to_host()
        value = repr(host) if host.ndim else str(host)
        return f"<Tensor: shape={host.shape}, dtype={self.dtype.name}, device={self.device}, numpy={value}>"

    def __str__(self) -> str:
        return f"Tensor({self._array!s}, shape={self._held.shape}, dtype={self.dtype.name}, device={self.device})"

    def assignable(self, variable: Variable, tensor: Tensor, by_value: bool = False) -> Tensor:
        """Give a tensor to assign to a variable, one of the two being of a GPU."""
        return assignable(variable, tensor, by_value)

    def cotangent(self, seed: Tensor, target: Tensor) -> Tensor:
        """Give a cotangent beside its target, one of the two being of a GPU."""
        return beside_target(seed, target)


class Guest(Tensor):
    """A Python or NumPy value in the call of an op: it goes where the other operands are, or where tensors are made."""

    __slots__ = ()

    @staticmethod
    def of(array: Any, like: Tensor | None = None) -> Tensor:
        """Make the tensor that an array becomes on entering; single numbers go along, and matter in blocks alone."""
        if array.__class__ in MAKERS:
            return wrap(array)
        if isinstance(like, DeviceTensor) and array.ndim:
            return _uploaded(array, like._held.memory)
        guest = Guest() if array.ndim or current_memory() is not None else Tensor()
        guest._id, guest._held, guest._hollow = fresh_id(), array, None
        return guest

    def __lab_apply__(self, op: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Run an op where its other operands are."""
        return applied(op, inputs, params)

    def alone(self) -> Tensor:
        """Settle where new tensors are made: no other tensor is met."""
        return _settled(self, current_memory())

    def cotangent(self, seed: Tensor, target: Tensor) -> Tensor:
        """Settle beside a target."""
        return beside_target(seed, target)


def of_array(array: Any, key: int = 0) -> DeviceTensor:
    """Make the tensor of an array of a GPU."""
    tensor = DeviceTensor()
    tensor._held, tensor._id, tensor._hollow = array, key or fresh_id(), None
    return tensor


def _settled(tensor: Tensor, memory: Any) -> Tensor:
    """Put a guest on a device, None being the CPU: under its own id, as somebody may have heard of it."""
    if memory is not None and tensor._held.ndim and tensor._held.dtype.kind in KINDS:
        return of_array(memory.upload(tensor._held), tensor._id)
    found = Tensor()
    found._held, found._id, found._hollow = tensor._held, tensor._id, None
    return found


def applied(op: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Run an op some of whose operands are of a GPU, or not settled yet; record it."""
    ins = _together(op, inputs, params)
    if all(t.__class__ is not DeviceTensor for t in ins):
        out = op(*ins, **params)
        return out if any(t._held.ndim for t in ins) else _of_numbers(out)
    op, arrays = there(op), [t._held for t in ins]
    if op.dtypes == "same" and arrays[0].dtype != arrays[1].dtype:
        raise dtypes_differ(op, *ins)
    for array in arrays:
        memory = memory_of(array)
        if memory is not None and memory.slow_doubles and array.dtype in DOUBLES:
            memory.warn_of_doubles(op.name)
    try:
        value = quietly(op.kernel, *arrays, **params)
    except Exception as error:  # noqa: BLE001 - whatever a kernel raises is reworded
        raise failed_there(op, ins, params, error) from error.__cause__
    if op.dtypes == "floating" and value.dtype != arrays[0].dtype:
        raise wrong_dtype(op, ins)
    return _recorded(op, ins, value, params if op.dtypes == "" else None)


def _of_numbers(out: Any) -> Any:
    """Put what an op made of Python numbers (a stack of them, say) where new tensors are made."""
    if out.__class__ is tuple:
        return tuple([_of_numbers(part) for part in out])
    return _settled(out, current_memory())


def _recorded(op: Op, ins: tuple[Tensor, ...], value: Any, params: dict[str, Any] | None) -> Any:
    out = tuple([wrap(v) for v in value]) if value.__class__ is tuple else wrap(value)
    sinks = sinks_now()
    if sinks:
        tapes = [sink for sink in sinks if not sink.hears_all and not sink.traces]
        for tape in tapes:
            tape.ops = DEVICE_OPS
        if any(t.__class__ is not DeviceTensor and any(t._id in tape.tracked for tape in tapes) for t in ins):
            op = at_home(op)
        record_application(sinks, op, out, ins, params)
    return out


def _together(op: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> tuple[Tensor, ...]:
    """Bring the operands of an op to one device.

    Raises
    ------
    DeviceMismatch
        If tensors of two devices are among them.
    """
    like = next((x for x in inputs if isinstance(x, Tensor)), None)
    ins = tuple([x if isinstance(x, Tensor) else convert(x, like) for x in inputs])
    memories = {t._held.memory for t in ins if t.__class__ is DeviceTensor}
    if len(memories) > 1 or (memories and any(t._held.ndim and t.__class__ not in (DeviceTensor, Guest) for t in ins)):
        raise devices_differ(op, ins, params)
    if memories:
        (memory,) = memories
        return tuple([_followed(t, memory) if t.__class__ is Guest else t for t in ins])
    follows = any(t._held.ndim and t.__class__ is not Guest for t in ins)  # tensors of the CPU
    memory = None if follows else current_memory()
    return tuple([t if t.__class__ is not Guest else _settled(t, memory) for t in ins])


def _followed(guest: Tensor, memory: Any) -> Tensor:
    """Put a guest on the GPU of those it meets; a number goes along as it is."""
    return _uploaded(guest._held, memory, guest._id) if guest._held.ndim else _settled(guest, None)


def _uploaded(array: Any, memory: Any, key: int = 0) -> Tensor:
    tell("to device", array.nbytes, ENTERED)
    return of_array(memory.upload(array), key)


def _tell(direction: str, size: int, why: str) -> None:
    """Report a copy that the program did not request explicitly."""
    if heard():
        tell_listeners(Transferred(direction, size, why, place_now()))


OBSERVERS.append(_tell)
