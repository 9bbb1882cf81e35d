"""Registration of composite tensors as sources of tapes, through the one tensor in them that gradients reach."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_lab.engine import nest
from autodiff_lab.engine.indexed_slices import dense


class _Frame:
    """The value whose structure a gradient takes; two frames are equal only if they are the same object."""

    __slots__ = ("like",)

    def __init__(self, like: Any) -> None:
        self.like = like


def source_by_values(cls: type, values: Callable[[Any], Any], shaped: Callable[[Any, Any], Any]) -> None:
    """Let tapes watch values of a class and differentiate with respect to them.

    Parameters
    ----------
    cls : type
        The class.
    values : callable
        The part of a value that gradients reach.
    shaped : callable
        Takes a value and the gradient of that part and returns the gradient of the value; not called if that part has
        no gradient.
    """

    def rebuilt(frame: Any, children: Any) -> Any:
        (gradient,) = children
        return None if gradient is None else shaped(frame.like, dense(gradient))

    nest.register(cls, lambda x: ((values(x),), _Frame(x), None), rebuilt)
