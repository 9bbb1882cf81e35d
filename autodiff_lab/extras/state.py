"""Where values go into a state and come out of it again: data sets and queues keep arrays, not tensors.

A value that comes out is a new tensor that no op made, so gradients stop.  Both ways are told to those who listen,
as a value that leaves the engine and one that enters it.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.engine import nest
from autodiff_lab.engine.convert import convert, is_composite
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.events import TensorLeft, TensorMet, sinks_now


def kept(value: Any, how: str) -> Any:
    """Return the array of a value that goes into a state; `how` names the state for those who listen."""
    tensor = convert(value)
    for sink in sinks_now():
        sink.note(TensorLeft, tensor, how)
    return tensor._array


def given(array: Any) -> Tensor:
    """Return a tensor that comes out of a state."""
    tensor = wrap(array)
    for sink in sinks_now():
        sink.note(TensorMet, tensor, "converted")
    return tensor


def structure_of(value: Any) -> tuple[list[Any], Any]:
    """Return the leaves of a structure of tensors, and what puts others in their places.

    A list is one leaf, as in TensorFlow's data sets: it becomes a tensor.  So is a ragged or sparse tensor.
    """
    return nest.flatten(value, leaf=lambda x: isinstance(x, list) or is_composite(x))
