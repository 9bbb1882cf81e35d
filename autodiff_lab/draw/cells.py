"""Cells: a tensor as a small picture, one cell for each element, or a histogram where there are many.

The larger an element is in size, the darker its cell; a negative one has a minus cut out of it, so that no colour
carries the sign.  ``widgets/explorer/cells.js`` draws the same on a page; ``tests/data/cells.json`` holds both to one
table.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.recording.numbers import SHOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autodiff_lab.recording.snapshot import Snapshot

ROWS, COLUMNS = 8, 16
"""The most cells of a picture; a vector of more than `COLUMNS` elements continues in the next row."""
LEVELS = 5
"""Degrees of darkness."""
BARS = 16
HEIGHT, BREADTH = 32.0, 80.0
"""Room of a picture on a node, in pixels; a single row may be a little wider, and is lower."""
ROW_HEIGHT, ROW_BREADTH = 10.0, 96.0
LARGEST = 8.0
NAMED = 1024
"""Elements up to which the cells of a value go to the page, where the card shows them on demand."""


def grid(shape: Sequence[int]) -> tuple[int, int] | None:
    """Return the rows and columns of a picture of cells; None for few elements, which are written out, and for many.

    Examples
    --------
    >>> grid((5, 8)), grid((2, 3, 4)), grid((40,)), grid((3,)), grid((64, 64))
    ((5, 8), (6, 4), (3, 16), None, None)
    """
    size = math.prod(shape)
    if not SHOWN < size <= ROWS * COLUMNS:
        return None
    columns = shape[-1]
    if columns == size:
        columns = min(size, COLUMNS)
    rows = -(-size // columns)
    return (rows, columns) if rows <= ROWS and columns <= COLUMNS else None


def cell_size(rows: int, columns: int) -> float:
    """Return the side of a cell on a node, in pixels.

    Examples
    --------
    >>> cell_size(5, 8), cell_size(8, 8), cell_size(1, 8)
    (6, 4, 10)
    """
    if rows == 1:
        return int(min(ROW_HEIGHT, ROW_BREADTH / columns))
    return int(min(LARGEST, HEIGHT / rows, BREADTH / columns))


def elements(snapshot: Snapshot) -> list[float] | None:
    """Return the elements of a value in row-major order; None if they were not kept or are not real numbers."""
    if snapshot.array is None or snapshot.size < 2 or snapshot.size > NAMED:
        return None
    array = np.asarray(snapshot.array)
    return array.ravel().astype(np.float64).tolist() if array.dtype.kind in "fiub" else None


def pictured(snapshot: Snapshot) -> tuple[float, float] | None:
    """Return the width and height of the picture of a value on a node; None if it is better written out.

    Examples
    --------
    >>> from autodiff_lab.recording.snapshot import snapshot
    >>> pictured(snapshot(np.ones((5, 8)))), pictured(snapshot(np.ones(3)))
    ((48.0, 30.0), None)
    """
    if snapshot.size <= SHOWN or snapshot.array is None:
        return None
    kind = np.asarray(snapshot.array).dtype.kind
    shape = grid(snapshot.shape)
    if kind not in "fiub":
        return None
    if shape is None:
        return (3.0 * BARS, HEIGHT) if kind != "b" else None
    cell = cell_size(*shape)
    return float(shape[1] * cell), float(shape[0] * cell)


def level(number: float, largest: float) -> int:
    """Return how dark a cell is: 0 for zero, else 1 to `LEVELS` by its size; -1 for nan and infinity.

    Examples
    --------
    >>> level(0.0, 2.0), level(-2.0, 2.0), level(0.1, 2.0), level(math.nan, 2.0)
    (0, 5, 1, -1)
    """
    if not math.isfinite(number):
        return -1
    return math.ceil(LEVELS * abs(number) / largest) if number and largest else 0


def cell_path(x: float, y: float, size: float, number: float) -> str:
    """Return the outline of a cell; that of a negative number has a minus cut out, that of nan is a cross.

    Examples
    --------
    >>> cell_path(0, 0, 6, 1.0), cell_path(0, 0, 6, -1.0)
    ('M0 0h6v6h-6z', 'M0 0h6v6h-6zM1 2.5v1h4v-1z')
    """
    if not math.isfinite(number):
        return f"M{x:g} {y:g}l{size:g} {size:g}M{x + size:g} {y:g}l{-size:g} {size:g}"
    if number >= 0:
        return f"M{x:g} {y:g}h{size:g}v{size:g}h{-size:g}z"
    # The hole is drawn the other way round, which leaves it out of the filling.
    across, high = size - 2, max(1, size // 6)
    hole = f"M{x + 1:g} {y + (size - high) / 2:g}v{high:g}h{across:g}v{-high:g}z"
    return f"M{x:g} {y:g}h{size:g}v{size:g}h{-size:g}z{hole}"


def paths(numbers: Sequence[float], columns: int, size: float) -> dict[int, str]:
    """Return one path for all cells of each level, with the first cell at the origin.

    Examples
    --------
    >>> paths([1.0, -0.5], 2, 6)
    {5: 'M0 0h6v6h-6z', 3: 'M6 0h6v6h-6zM7 2.5v1h4v-1z'}
    """
    largest = max((abs(n) for n in numbers if math.isfinite(n)), default=0.0)
    drawn: dict[int, str] = {}
    for at, number in enumerate(numbers):
        row, column = divmod(at, columns)
        degree = level(number, largest)
        if degree:
            drawn[degree] = drawn.get(degree, "") + cell_path(column * size, row * size, size, number)
    return drawn


def draw_cells(snapshot: Snapshot, x: float, y: float, kind: str) -> str:
    """Return a value that `pictured` has a size for as SVG, with its corner at x, y; `kind` is its class."""
    room = pictured(snapshot) or (0.0, 0.0)
    shape = grid(snapshot.shape)
    if shape is None:
        inside = bars_path(histogram(snapshot.array), room)
        drawn = f'<path class="lab-level-4" d="{inside}"/>'
    else:
        found = paths(elements(snapshot) or (), shape[1], cell_size(*shape))
        drawn = "".join(
            f'<path class="lab-level-{"bad" if degree < 0 else degree}" d="{d}"/>' for degree, d in found.items()
        )
    return f'<g class="lab-cells {kind}" transform="translate({x:g},{y:g})">{_frame(*room)}{drawn}</g>'


def empty_cells(x: float, y: float, width: float, height: float) -> str:
    """Return the frame of a picture whose value is not computed yet."""
    return f'<g class="lab-cells lab-pending" transform="translate({x:g},{y:g})">{_frame(width, height)}</g>'


def _frame(width: float, height: float) -> str:
    return f'<rect class="lab-frame" x="-0.5" y="-0.5" width="{width + 1:g}" height="{height + 1:g}"/>'


def bars_path(heights: Sequence[int], room: tuple[float, float]) -> str:
    """Return the outline of a histogram that fills a room.

    Examples
    --------
    >>> bars_path([100, 50], (6.0, 32.0))
    'M0 32v-32h2v32zM3 32v-16h2v16z'
    """
    width, height = room
    across = width / len(heights)
    drawn = ""
    for at, share in enumerate(heights):
        up = round(height * share / 100, 1)
        drawn += f"M{at * across:g} {height:g}v-{up:g}h{across - 1:g}v{up:g}z" if up else ""
    return drawn


def histogram(numbers: Any) -> list[int]:
    """Return the heights, from 0 to 100, of `BARS` bars from the smallest finite element to the largest.

    Examples
    --------
    >>> histogram(np.arange(160.0))[:3], histogram(np.zeros(200))[7:9]
    ([100, 100, 100], [0, 100])
    """
    array = np.asarray(numbers, np.float64).ravel()
    finite = array[np.isfinite(array)]
    if not finite.size:
        return [0] * BARS
    low, high = float(finite.min()), float(finite.max())
    with np.errstate(all="ignore"):
        if not math.isfinite(high - low) or high == low:
            low, high = (low - 1.0, low + 1.0) if high == low and abs(low) < 1e15 else (-math.inf, math.inf)
        if not math.isfinite(high - low):
            return [0] * (BARS // 2) + [100] + [0] * (BARS // 2 - 1)
        counts = np.histogram(finite, BARS, (low, high))[0]
    return [round(100 * int(count) / int(counts.max())) for count in counts]
