"""Variables and devices: a variable keeps its device, and what is assigned to it must come from there.

Moving one is for programs that build first and then choose where to train.  It may not happen while a tape holds a read
of the variable, because the gradient of that read would be on a device that the variable has left.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.devices import memory_of, moved, place_of
from autodiff_lab.engine.failure import at_line
from autodiff_lab.engine.tensor import wrap
from autodiff_lab.errors import TapeMisused
from autodiff_lab.events import TensorMet
from autodiff_lab.events.listener import place_now, sinks_now, trace_now
from autodiff_lab.kernels.arrays import ranked

if TYPE_CHECKING:
    from autodiff_lab.engine.variable import Variable

_TAPES: list[weakref.ref[Any]] = []
_MOST = [64]  # tapes in the list, from which on those that are gone are taken out


def remember(tape: Any) -> None:
    """Keep a weak reference to a tape that reads a variable."""
    _TAPES.append(weakref.ref(tape))
    if len(_TAPES) > _MOST[0]:
        _TAPES[:] = [ref for ref in _TAPES if ref() is not None]
        _MOST[0] = 2 * len(_TAPES) + 64


def tapes() -> list[Any]:
    """Return the tapes that are alive and have read a variable."""
    return [tape for ref in _TAPES[:] if (tape := ref()) is not None]


def settle(variable: Variable, array: Any, own: bool = False) -> None:
    """Assign a computed value to a variable, in its dtype; one that is its `own`, or lies on a GPU, is not copied."""
    dtype, memory, value = variable._held.dtype, memory_of(array), ranked(array)
    if memory is not memory_of(variable._held):
        variable.assign(value.astype(dtype)[()])
        return
    value = value if value.dtype == dtype and (own or memory is not None) else value.astype(dtype)
    variable._check_shape(value.shape)
    tensor = wrap(value if value.ndim or memory is not None else value[()])
    for sink in sinks_now() if memory is None else ():
        sink.note(TensorMet, tensor, "converted")
    variable._replace(tensor._held, tensor)


def move(variable: Variable, name: str) -> None:
    """Put the value of a variable on another device; see `Variable.move_to`."""
    memory = _check_free([variable], name)
    if memory_of(variable._held) is memory:
        return
    trace = trace_now()
    if trace is not None:
        trace.refuse(f"the variable {variable.name} is moved to another device")
    array = moved(variable._held, memory)
    variable._replace(array, wrap(array))


def move_all(variables: Iterable[Variable], name: str) -> None:
    """Put variables on another device: all of them or, if a tape holds a read of one, none."""
    found = list(variables)
    _check_free(found, name)
    for variable in found:
        move(variable, name)


def _check_free(variables: list[Variable], name: str) -> Any:
    """Return the memory that a name stands for, if every variable may be moved there."""
    place = place_of(name)
    memory = None if place.__class__ is str else place
    for variable in variables:
        if memory_of(variable._held) is memory or not _held(variable):
            continue
        raise TapeMisused(
            f"move_to: a tape has recorded a read of the variable {variable.name} on {variable.device}; its gradient "
            f"would end up on the device it left.{at_line(place_now())}\n  Try moving it before the tape's block, or "
            "after computing the gradient (for a persistent tape: after `del tape`)."
        )
    return memory


def follow(variable: Variable, kept: Iterable[Variable]) -> None:
    """Move the slots of a variable to its device, so that no step copies them there and back."""
    memory = memory_of(variable._held)
    for slot in kept:
        if memory_of(slot._held) is not memory:
            slot._held = moved(slot._held, memory)  # not an assignment: listeners need not know


def _held(variable: Variable) -> bool:
    """Return whether a tape, open or closed and unspent, has read the variable's present value."""
    array = variable._held
    return any(tape.reads[variable]._held is array for tape in tapes() if variable in tape.reads)
