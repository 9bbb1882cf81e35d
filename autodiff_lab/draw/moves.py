"""Moves: ops that only put elements elsewhere, as the places from which a page takes the elements of the result.

Their kernels are run once more, on the numbers of the places instead of on values.  What comes out is written as
ranges, ``[start, length, stride, ...]`` with a length and a stride for each axis, the outermost first: a transposed
matrix or a slice is one range.  `widgets/running/shapes.js` reads them; the two change together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.op import REGISTRY

MOVES = frozenset((
    "band_part", "broadcast_to", "concat", "diag", "diag_part", "diag_range", "diag_range_part", "pad", "pad_axis",
    "repeat", "reverse", "roll", "slice", "slice_axis", "stack", "take", "tile", "transpose", "unslice",
))  # fmt: skip
Shape = tuple[int, ...]
Range = tuple[int, ...]


def moved(name: str, params: dict[str, Any], shapes: list[Shape], shape: Shape) -> dict[str, Any] | None:
    """Return the parameters of an op with its places in place of what they follow from, or None if it moves nothing.

    Parameters
    ----------
    name : str
        Of the op.
    params : dict
        As a recording keeps them.
    shapes : list of tuple of int
        Of its inputs.
    shape : tuple of int
        Of its result.

    Returns
    -------
    dict or None
        ``places`` are ranges of places in the inputs, laid end to end; -1 stands for the padding, whose value is
        ``value``.  Of ``accumulate_parts`` they are, for each part, its places in the result.

    Examples
    --------
    >>> moved("transpose", {"perm": (-1, -2)}, [(2, 3)], (3, 2))
    {'places': [[0, 3, 1, 2, 3]]}
    >>> moved("concat", {"axis": -1}, [(2,), (1,)], (3,))
    {'places': [[0, 3, 1]]}
    """
    if name not in MOVES and name != "accumulate_parts":
        return None
    try:
        if name == "accumulate_parts":
            numbers = [_numbers(op, dict(of), [shape]) for op, of in params["places"]]
            return {"places": [ranges(part) for part in numbers], "onto": params["onto"]}
        found = {"places": ranges(_numbers(name, params, shapes))}
    except Exception:  # noqa: BLE001 - of a file written by hand; the page then says that it cannot compute the op
        return {}
    return found | ({"value": params["value"]} if params.get("value") else {})


def _numbers(name: str, params: dict[str, Any], shapes: list[Shape]) -> list[int]:
    """Return, for each element of a result, the place in the inputs that it comes from; -1 for none."""
    starts = np.cumsum([1, *(int(np.prod(shape)) for shape in shapes)])
    inputs = [
        np.arange(start, start + np.prod(shape)).reshape(shape) for start, shape in zip(starts, shapes, strict=False)
    ]
    found = REGISTRY[name].kernel(*inputs, **params | ({"value": 0} if name == "pad" else {}))
    return (np.asarray(found).ravel() - 1).tolist()


def ranges(places: list[int]) -> list[list[int]]:
    """Return places as few ranges: neighbours with the same steps become one, until nothing more does.

    Examples
    --------
    >>> ranges([0, 3, 1, 4, 2, 5]), ranges([-1, -1, 7])
    ([[0, 3, 1, 2, 3]], [[-1, 2, 0], [7]])
    """
    parts: list[tuple[int, Range]] = [(place, ()) for place in places]
    while True:
        joined = _joined(parts)
        if len(joined) == len(parts):
            return [[start, *axes] for start, axes in parts]
        parts = joined


def _joined(parts: list[tuple[int, Range]]) -> list[tuple[int, Range]]:
    joined, at = [], 0
    while at < len(parts):
        start, axes = parts[at]
        step = parts[at + 1][0] - start if at + 1 < len(parts) else 0
        end = at + 1
        while end < len(parts) and parts[end] == (start + (end - at) * step, axes):
            end += 1
        joined.append((start, (end - at, step, *axes) if end - at > 1 else axes))
        at = end
    return joined
