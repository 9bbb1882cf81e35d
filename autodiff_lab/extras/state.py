"""How values enter and leave a state: datasets and queues store arrays, not tensors.

A value that leaves the state is a new tensor without history, so gradients stop.  Observers receive an event in both
cases: a value that leaves the engine, and one that enters it.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.engine import nest
from autodiff_lab.engine.convert import convert, is_composite
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.events import TensorLeft, TensorMet
from autodiff_lab.events.listener import sinks_now


def kept(value: Any, how: str) -> Any:
    """Return the array of a value that enters a state; `how` names the state in the event."""
    tensor = convert(value)
    for sink in sinks_now():
        sink.note(TensorLeft, tensor, how)
    return tensor._array


def given(array: Any) -> Tensor:
    """Return the tensor of an array that leaves a state."""
    tensor = wrap(array)
    for sink in sinks_now():
        sink.note(TensorMet, tensor, "converted")
    return tensor


def structure_of(value: Any) -> tuple[list[Any], Any]:
    """Return the leaves of a structure of tensors, and a function that rebuilds it from other leaves.

    A list is one leaf, as in TensorFlow's datasets: it becomes a tensor.  So is a ragged or sparse tensor.
    """
    return nest.flatten(value, leaf=lambda x: isinstance(x, list) or is_composite(x))
