"""Layouts: strides of arrays, where a view of an array lies, and where the parts of a whole go.

What an op does to strides is asked of NumPy: its kernel works on an array that is never read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.compile.program.looking import view_by
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.wholes import PARTS
from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.transforms.bands import diagonal_places

MOST_AXES = 4
"""Axes of the largest copy, where those that lie one after the other count as one."""
MOST_COPIES = 16
"""Copies that stand for one of more axes."""


class Part(NamedTuple):
    """A value that is put into a whole: from which element on, and with which strides."""

    value: int
    offset: int
    strides: tuple[int, ...]

    def rows(self, shape: tuple[int, ...], width: int) -> tuple[int, int, int] | None:
        """Return how a part of this shape goes through a whole with rows of `width` elements, None if it leaves them.

        That is the axis along which it goes from row to row, the first row, and how many rows further the next one is;
        for a part of a single row any axis and the step 0.
        """
        along = [axis for axis, n in enumerate(shape) if n > 1 and self.strides[axis] % width == 0]
        beside = [axis for axis in range(len(shape)) if axis not in along]
        first, inside = divmod(self.offset, width)
        low, high = reach([shape[axis] for axis in beside], [self.strides[axis] for axis in beside])
        if len(along) > 1 or inside < low or inside + high >= width:
            return None
        return (along[0], first, self.strides[along[0]] // width) if along else (-1, first, 0)


def dense_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides, in elements, of an array whose elements lie in order."""
    return tuple([math.prod(shape[axis + 1 :]) for axis in range(len(shape))])


def reach(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, int]:
    """Return how many elements an array goes back in memory from its first one, and how many forward.

    Examples
    --------
    >>> from autodiff_lab.compile.program.layouts import reach
    >>> reach((3, 4), (4, -1))
    (3, 8)
    """
    spans = [(n - 1) * stride for n, stride in zip(shape, strides, strict=True)]
    return sum(max(0, -span) for span in spans), sum(max(0, span) for span in spans)


def places_of(shape: Sequence[int], strides: Sequence[int], first: int = 0) -> Any:
    """Return where all elements of an array lie, in order, if the first one lies at `first`.

    Examples
    --------
    >>> from autodiff_lab.compile.program.layouts import places_of
    >>> places_of((2, 3), (10, -1), 5).tolist()
    [5, 4, 3, 15, 14, 13]
    """
    places = np.array(first, np.int64)
    for length, stride in zip(shape, strides, strict=True):
        places = places[..., None] + np.arange(length, dtype=np.int64) * stride
    return places.reshape(-1)


def is_dense(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Return whether elements lie in order; the stride of an axis of length 1 does not matter."""
    return all(n == 1 or a == b for n, a, b in zip(shape, strides, dense_strides(shape), strict=True))


def in_rows(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Return whether the elements of each row lie one after the other, and rows do not overlap."""
    return (shape[-1] == 1 or strides[-1] == 1) and (shape[-2] == 1 or strides[-2] >= shape[-1])


def turned_last(axes: tuple[int, ...]) -> tuple[int, ...]:
    """Return lengths or strides with the last two exchanged: those of the transposed matrices."""
    return (*axes[:-2], axes[-1], axes[-2])


def merged(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return lengths and strides of the axes, where those that lie one after the other are one."""
    axes: list[tuple[int, int]] = []
    for n, stride in zip(shape, strides, strict=True):
        if n == 1:
            continue
        if axes and axes[-1][1] == n * stride:
            axes[-1] = (axes[-1][0] * n, stride)
        else:
            axes.append((n, stride))
    return axes


def few_axes(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Return whether few copies put the elements of a view in order."""
    return math.prod(n for n, _ in merged(shape, strides)[:-MOST_AXES]) <= MOST_COPIES


def view_of(
    take: Callable[..., Any], shape: tuple[int, ...], dtype: np.dtype[Any], strides: tuple[int, ...]
) -> tuple[int, tuple[int, ...]] | None:
    """Return the offset and the strides of the view that `take` gives of an array, None if it gives none."""
    before, after = reach(shape, strides)
    memory = np.empty(before + 1 + after, dtype)
    array = np.lib.stride_tricks.as_strided(memory[before:], shape, [s * dtype.itemsize for s in strides])
    found = take(array)
    if not isinstance(found, np.ndarray) or found.dtype != dtype:
        return None
    begin, first, here = (one.__array_interface__["data"][0] for one in (memory, array, found))
    if not begin <= here < begin + memory.nbytes:  # a copy
        return None
    return (here - first) // dtype.itemsize, tuple([s // dtype.itemsize for s in found.strides])


def seen_by(line: Line, shape: tuple[int, ...], dtype: np.dtype[Any], strides: tuple[int, ...]) -> Any:
    """Return the view of its input that an op gives, as `view_of`."""
    take = view_by(line.op)  # a kernel may give a number where a part is a view of one element
    return view_of(lambda x: take(x, **line.params), shape, dtype, strides)


def parts_of_whole(line: Line, program: Program) -> list[Part] | None:
    """Return where the inputs of an op go in its result, None if that is not what the op does."""
    shapes = [program.values[i].shape for i in line.ins]
    if line.op.name in STACKED:
        return STACKED[line.op.name](line, shapes)
    whole = PARTS[line.op.name](line, shapes) if line.op.name in PARTS else None
    if whole is None:
        return None
    ins = line.ins[whole.onto :]
    parts = [_part(i, op, given, line, program) for i, (op, given) in zip(ins, whole.places, strict=True)]
    found = [part for part in parts if part is not None]
    return found if len(found) == len(parts) else None


def _on_diagonals(line: Line, shapes: list[tuple[int, ...]]) -> list[Part] | None:
    """Return where vectors lie on the diagonals of a stack, None if a part of one lies outside of it."""
    rows, *each = line.params["shape"]
    lengths = tuple([length for (length,) in shapes])
    places = diagonal_places(line.params["offsets"], line.params["firsts"], lengths, rows, math.prod(each))
    if any(inside != slice(0, length) for (inside, *_), length in zip(places, lengths, strict=True)):
        return None
    return [Part(i, place.start, (place.step,)) for i, (_, place, _) in zip(line.ins, places, strict=True)]


def _in_blocks(line: Line, shapes: list[tuple[int, ...]]) -> list[Part]:
    width = math.prod(shapes[0][1:])
    return [Part(line.ins[0], 0, ((shapes[0][0] + 1) * width, *dense_strides(shapes[0])[1:]))]


def _in_columns(line: Line, shapes: list[tuple[int, ...]]) -> list[Part]:
    return [Part(line.ins[0], 0, (*dense_strides(shapes[0])[:-1], math.prod(shapes[0]) + 1))]


STACKED: dict[str, Callable[[Line, list[tuple[int, ...]]], list[Part] | None]] = {
    "blocks": _in_blocks, "columns": _in_columns, "diagonals": _on_diagonals,
}  # fmt: skip
"""Ops that put what is kept of a stack of cotangents among zeros."""


def _part(value: int, op: str, params: dict[str, Any], line: Line, program: Program) -> Part | None:
    shape, dtype, *_ = program.values[line.outs[0]]
    take = view_by(REGISTRY[op])
    if take(np.empty(shape, "bool"), **params).shape != program.values[value].shape:
        return None
    found = view_of(lambda whole: take(whole, **params), shape, dtype, dense_strides(shape))
    return None if found is None else Part(value, *found)
