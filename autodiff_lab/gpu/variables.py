"""Variables and devices: a variable keeps its device, and what is assigned to it must come from there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.devices import memory_of, moved
from autodiff_lab.engine.failure import at_line, kind_of
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.errors import DeviceMismatch
from autodiff_lab.events.listener import place_now
from autodiff_lab.kernels.cuda.traffic import tell

if TYPE_CHECKING:
    from autodiff_lab.engine.variable import Variable


def assignable(variable: Variable, tensor: Tensor, by_value: bool = False) -> Tensor:
    """Give a tensor to assign, on the device of the variable; values and single numbers are copied there.

    Raises
    ------
    DeviceMismatch
        If a tensor is on another device.
    """
    array, memory = tensor._held, memory_of(variable._held)
    have = memory_of(array)
    if have is memory:
        return tensor
    if not by_value and (array.ndim or have is not None):
        where = "x.cpu()" if memory is None else "x.gpu()"
        kind = kind_of(array).partition(" ")[0]
        raise DeviceMismatch(
            f"Cannot assign a tensor {kind} on {tensor.device} to the variable {variable.name}, which is on "
            f"{variable.device}; nothing is copied implicitly.{at_line(place_now())}\n  Try {where}, or "
            f"v.move_to({tensor.device!r}) first."
        )
    tell("to host" if memory is None else "to device", array.nbytes, f"assigned to the variable {variable.name}")
    return wrap(moved(array, memory))


def beside_target(seed: Any, target: Any) -> Tensor:
    """Give a cotangent on the device of its target: values and single numbers are copied there.

    Raises
    ------
    DeviceMismatch
        If a tensor is on another device.
    """
    array, memory = seed._held, memory_of(target._held)
    if memory_of(array) is memory:
        return seed if not hasattr(seed, "alone") else wrap(array)
    if array.ndim and not hasattr(seed, "alone"):
        raise DeviceMismatch(
            f"gradient: a cotangent is on {seed.device} and its target on {target.device}. Try .gpu() or .cpu()."
        )
    tell("to host" if memory is None else "to device", array.nbytes, "a gradient moves to the device of its value")
    return wrap(moved(array, memory))
