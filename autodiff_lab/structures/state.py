"""Where values go into a state and come out of it again: data sets and queues keep arrays, not tensors.

A value that comes out is a new tensor that no op made, so gradients stop.  Both ways are told to those who listen,
as a value that leaves the engine and one that enters it.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.engine import nest
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.events import TensorLeft, TensorMet, sinks_now


def kept(value: Any, how: str) -> Any:
    """The array of a value that goes into a state; `how` names the state for those who listen."""
    tensor = convert(value)
    for sink in sinks_now():
        sink.note(TensorLeft, tensor, how)
    return tensor._array


def given(array: Any) -> Tensor:
    """A tensor that comes out of a state."""
    tensor = wrap(array)
    for sink in sinks_now():
        sink.note(TensorMet, tensor, "converted")
    return tensor


def structure_of(value: Any) -> tuple[list[Any], Any]:
    """The leaves of a structure of tensors, and what puts others in their places.

    A list is one leaf, as in TensorFlow's data sets: it becomes a tensor.  So is a ragged or sparse tensor.
    """
    if isinstance(value, list) or hasattr(value, "__composite__"):
        return [value], lambda leaves: leaves[0]
    if isinstance(value, tuple):
        parts = [structure_of(item) for item in value]
        make = getattr(type(value), "_make", tuple)  # a named tuple makes another of its kind
        return _combined(parts, make)
    if isinstance(value, dict):
        parts = [structure_of(item) for item in value.values()]
        keys = list(value)
        return _combined(parts, lambda items: dict(zip(keys, items, strict=True)))
    return nest.flatten(value)


def _combined(parts: list[tuple[list[Any], Any]], make: Any) -> tuple[list[Any], Any]:
    sizes = [len(leaves) for leaves, _ in parts]

    def rebuild(results: list[Any]) -> Any:
        rest = iter(results)
        return make([again([next(rest) for _ in range(size)]) for size, (_, again) in zip(sizes, parts, strict=True)])

    return [leaf for leaves, _ in parts for leaf in leaves], rebuild
