"""Wholes: ops that put their operands into parts of an array, and which op takes each part out again."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from autodiff_lab.compile.program.program import Line


class Parts(NamedTuple):
    """Where the operands of a line lie in its result: the op that takes each part, and its parameters."""

    places: list[tuple[str, dict[str, Any]]]
    adds: bool = False
    onto: bool = False


def _accumulated_parts(line: Line, shapes: list[tuple[int, ...]]) -> Parts:
    return Parts([(op, dict(params)) for op, params in line.params["places"]], True, line.params["onto"])


def _padded(line: Line, shapes: list[tuple[int, ...]]) -> Parts:
    axis, start = line.params["axis"], line.params["before"]
    return Parts([("slice_axis", {"axis": axis, "start": start, "stop": start + shapes[0][axis]})])


def _unsliced(line: Line, shapes: list[tuple[int, ...]]) -> Parts:
    return Parts([("slice", {"items": line.params["items"]})])


def _joined(line: Line, shapes: list[tuple[int, ...]]) -> Parts:
    axis, places, start = line.params["axis"], list[tuple[str, dict[str, Any]]](), 0
    for shape in shapes:
        places.append(("slice_axis", {"axis": axis, "start": start, "stop": start + shape[axis]}))
        start += shape[axis]
    return Parts(places)


def _stacked(line: Line, shapes: list[tuple[int, ...]]) -> Parts:
    return Parts([("take", {"axis": line.params["axis"], "index": n}) for n in range(len(shapes))])


def _on_diagonal(line: Line, shapes: list[tuple[int, ...]]) -> Parts:
    return Parts([("diag_part", {"k": line.params["k"]})])


def _on_diagonals(line: Line, shapes: list[tuple[int, ...]]) -> Parts | None:
    """Return the places of vectors on diagonals of a matrix, None unless each of them fills its diagonal."""
    rows, *each = line.params["shape"]
    places: list[tuple[str, dict[str, Any]]] = []
    for (length,), first, offset in zip(shapes, line.params["firsts"], line.params["offsets"], strict=True):
        begin, end = max(0, offset), min(math.prod(each), rows + offset)
        if len(each) != 1 or first != begin or length != end - begin:
            return None
        places.append(("diag_part", {"k": offset}))
    return Parts(places, adds=True)


def _surrounded(line: Line, shapes: list[tuple[int, ...]]) -> Parts | None:
    places = zip(shapes[0], line.params["paddings"], strict=True)
    items = tuple(("s", before, before + n, None) for n, (before, _) in places)
    return None if line.params["value"] else Parts([("slice", {"items": items})])


PARTS: dict[str, Callable[[Line, list[tuple[int, ...]]], Parts | None]] = {
    "accumulate_parts": _accumulated_parts, "concat": _joined, "diag": _on_diagonal,
    "diagonals": _on_diagonals, "pad": _surrounded,
    "pad_axis": _padded, "stack": _stacked, "unslice": _unsliced,
}  # fmt: skip
"""By the name of an op, what says where its operands go; it returns None where they are not all there is."""
