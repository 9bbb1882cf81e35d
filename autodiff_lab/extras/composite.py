"""How a value of several tensors becomes a source of tapes: by the one tensor in it that gradients reach."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_lab.engine import nest


class _Frame:
    """The value that a gradient is shaped like; two frames are equal only if they are one."""

    __slots__ = ("like",)

    def __init__(self, like: Any) -> None:
        self.like = like


def source_by_values(cls: type, values: Callable[[Any], Any], shaped: Callable[[Any, Any], Any]) -> None:
    """Let tapes watch values of a class and differentiate by them.

    Parameters
    ----------
    cls : type
        The class.
    values : callable
        The part of a value that gradients reach.
    shaped : callable
        Takes a value and the gradient of that part, and gives the gradient of the value; not asked where that part
        has none.
    """

    def rebuilt(frame: Any, children: Any) -> Any:
        (gradient,) = children
        return None if gradient is None else shaped(frame.like, gradient)

    nest.register(cls, lambda x: ((values(x),), _Frame(x), None), rebuilt)
