"""Places for labels: beside what they name, away from lines and from each other.

The twin of ``widgets/plotting/labels.js``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LETTER = 0.6
"""Width of a letter, as a part of its size."""
Around = tuple[float, float, str]
AROUND: tuple[Around, ...] = (
    (12, 5, "start"), (12, -12, "start"), (12, 22, "start"), (0, -14, "middle"), (0, 26, "middle"),
    (-12, -12, "end"), (-12, 22, "end"), (-12, 5, "end"), (24, -28, "start"), (24, 38, "start"), (-24, -28, "end"),
    (-24, 38, "end"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on the paper, in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Return whether two boxes share a point."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


def text_box(x: float, y: float, text: str, anchor: str, size: float) -> Box:
    """Return about the room that a text takes.

    Examples
    --------
    >>> text_box(0.0, 0.0, "ab", "end", 10.0)
    Box(left=-12.0, top=-10.0, right=0.0, bottom=3.0)
    """
    width = LETTER * size * len(text)
    left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    return Box(left, y - size, left + width, y + 0.3 * size)


def crossings(box: Box, spots: np.ndarray) -> int:
    """Count how much of a line of shape (n, 2) runs through a box, in points taken every few pixels.

    Examples
    --------
    >>> crossings(Box(0, 0, 10, 10), np.array([[-20.0, 5.0], [20.0, 5.0]])) > 0
    True
    """
    count = 0
    for (x1, y1), (x2, y2) in zip(spots[:-1].tolist(), spots[1:].tolist(), strict=True):
        parts = min(max(1, math.ceil(math.hypot(x2 - x1, y2 - y1) / 4)), 1000)
        along = np.arange(parts + 1) / parts
        x, y = x1 + (x2 - x1) * along, y1 + (y2 - y1) * along
        count += int(((x > box.left - 2) & (x < box.right + 2) & (y > box.top) & (y < box.bottom)).sum())
    return count


def place_label(
    point: tuple[float, float], text: str, lines: Sequence[np.ndarray], boxes: Sequence[Box], width: float,
    height: float, size: float = 14.0,
) -> tuple[float, float, str, Box]:  # fmt: skip
    """Return the place around a point at which a text crosses least: x, y, its anchor and its box.

    Parameters
    ----------
    point : pair of float
        What is named, in pixels.
    text : str
        The label.
    lines : sequence of numpy.ndarray
        Lines to avoid, each of shape (n, 2).
    boxes : sequence of Box
        Labels that are already there.
    width, height : float
        The room.
    size : float
        Of the text.

    Examples
    --------
    >>> place_label((50.0, 50.0), "here", [np.array([[50.0, 50.0], [100.0, 50.0]])], [], 100.0, 100.0)[:3]
    (62.0, 38.0, 'start')
    """
    best: tuple[float, tuple[float, float, str, Box]] | None = None
    for rank, (dx, dy, anchor) in enumerate(AROUND):
        x, y = point[0] + dx, point[1] + dy
        box = text_box(x, y, text, anchor, size)
        outside = max(0, -box.left) + max(0, box.right - width) + max(0, -box.top) + max(0, box.bottom - height)
        crossed = sum(crossings(box, each) for each in lines)
        covered = sum(box.overlaps(other) for other in boxes)
        cost = 10 * outside + 4 * crossed + 60 * covered + rank
        if best is None or cost < best[0]:
            best = cost, (x, y, anchor, box)
    assert best is not None
    return best[1]
