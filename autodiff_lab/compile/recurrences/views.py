"""Views: where the elements of a value lie, for values that are parts of others or are read along other strides.

The ops say it themselves: NumPy's strides of what a kernel makes of an array that nobody ever reads or writes.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.compile.program.looking import view_by
from autodiff_lab.compile.program.program import Line


class Unexpressed(Exception):
    """A line has no compiled form."""


class View(NamedTuple):
    """Elements of a flat array: in turn i the first one is ``offset + first + step * i``, the others follow strides.

    `base` names the flat array.
    """

    base: Any
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0
    first: int = 0
    step: int = 0

    @property
    def moves(self) -> bool:
        """Whether it begins elsewhere in other turns."""
        return bool(self.first or self.step)

    def ends(self) -> tuple[int, int]:
        """Return its lowest and its highest element, without what moves."""
        spans = [(n - 1) * s for n, s in zip(self.shape, self.strides, strict=True)]
        return self.offset + sum(min(0, s) for s in spans), self.offset + sum(max(0, s) for s in spans)

    def spread(self, shape: tuple[int, ...]) -> View:
        """Return it broadcast."""
        padded = (0,) * (len(shape) - len(self.shape)) + self.strides
        lengths = (1,) * (len(shape) - len(self.shape)) + self.shape
        strides = tuple(0 if n == 1 else s for n, s in zip(lengths, padded, strict=True))
        return self._replace(shape=shape, strides=strides)

    def folded(self, shape: tuple[int, ...]) -> View | None:
        """Return the same elements in another shape, None if no strides give them."""
        array = _array(self)
        made = array.view()
        try:
            made.shape = shape  # unlike reshape, it never copies
        except AttributeError:
            return None
        return self._replace(shape=shape, strides=made.strides)


def strides_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of a contiguous array."""
    return tuple(math.prod(shape[k + 1 :]) for k in range(len(shape)))


def whole(base: Any, shape: tuple[int, ...], first: int = 0, step: int = 0) -> View:
    """Return a contiguous view."""
    return View(base, shape, strides_of(shape), 0, first, step)


def _array(view: View) -> Any:
    """Return an array of bytes with the strides of a view; its memory is never touched."""
    low, high = view.ends()
    held = np.empty(high - low + 1, np.int8)
    return np.lib.stride_tricks.as_strided(held[view.offset - low :], view.shape, view.strides, writeable=True)


def seen(view: View, line: Line, turns: list[dict[str, Any]]) -> View | None:
    """Return what a viewing op makes of a view, None if it copies; `turns` are its parameters in each turn.

    Raises
    ------
    Unexpressed
        If what it takes does not move by the same step from turn to turn.
    """
    array, take = _array(view), view_by(line.op)
    here = array.__array_interface__["data"][0]
    lowest, highest = (here + end - view.offset for end in view.ends())
    found: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = []
    for params in turns:
        made: Any = np.asarray(take(array, **params))
        place = made.__array_interface__["data"][0]
        if not lowest <= place <= highest:
            return None
        found.append((place - here, made.shape, made.strides))
    (start, shape, strides), step = found[0], 0
    if len(found) > 1:
        step = found[1][0] - start
        if any(one != (start + step * turn, shape, strides) for turn, one in enumerate(found)):
            raise Unexpressed(f"the place of `{line.op.name}` follows no step")
    if step:
        return View(view.base, shape, strides, view.offset, view.first + start, view.step + step)
    return View(view.base, shape, strides, view.offset + start, view.first, view.step)
