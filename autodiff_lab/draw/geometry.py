"""Curves as SVG path text: the line of an edge, the line of its gradient beside it, and arrowheads.

A curve is a start and triples of Bezier control points, in pixels, y downwards.
"""

from __future__ import annotations

from itertools import pairwise
from math import atan2, cos, hypot, sin

Point = tuple[float, float]
Curve = tuple[Point, ...]

HEAD_LENGTH, HEAD_WIDTH = 8.0, 6.5
"""Size of an arrowhead, in pixels."""
BESIDE = 5.0
"""Pixels between the line of an edge and the line of its gradient."""


def path(curve: Curve) -> str:
    """Return the curve as the ``d`` of an SVG path.

    Examples
    --------
    >>> path(((0, 0), (1, 0), (2, 1), (3.25, 1)))
    'M0,0C1,0 2,1 3.2,1'
    """
    if not curve:
        return ""
    first, *rest = [f"{_text(x)},{_text(y)}" for x, y in curve]
    return f"M{first}C{' '.join(rest)}"


def shortened(curve: Curve, by: float = HEAD_LENGTH) -> Curve:
    """Return the curve with its end drawn back, so that a line stops under its arrowhead and not at the tip."""
    # The handle stays: were it moved as well, a steep line would come too close to the one beside it.
    (x, y), angle = curve[-1], _end_angle(curve)
    return (*curve[:-1], (x - by * cos(angle), y - by * sin(angle)))


def arrowhead(curve: Curve, length: float = HEAD_LENGTH, width: float = HEAD_WIDTH) -> str:
    """Return a filled arrowhead at the end of the curve, as the ``d`` of an SVG path.

    It is a separate path and not a marker, because a marker needs an id, and ids of two pictures on a page would
    collide.
    """
    (x, y), angle = curve[-1], _end_angle(curve)
    back_x, back_y = x - length * cos(angle), y - length * sin(angle)
    side_x, side_y = width / 2 * sin(angle), width / 2 * cos(angle)
    corners = ((x, y), (back_x + side_x, back_y - side_y), (back_x - side_x, back_y + side_y))
    return "M" + "L".join(f"{_text(a)},{_text(b)}" for a, b in corners) + "Z"


def backward(curve: Curve, gap: float = BESIDE) -> Curve:
    """Return the path of a gradient: the curve from its end to its start, `gap` pixels below it."""
    sides = [_side(one, other) for one, other in pairwise(curve)]
    moved = []
    for (x, y), one, other in zip(curve, [sides[0], *sides], [*sides, sides[-1]], strict=True):
        # Where two sides of the control polygon meet, the point moves to where the moved sides meet.
        stretch = gap / max(1.0 + one[0] * other[0] + one[1] * other[1], 0.5)
        moved.append((x + stretch * (one[0] + other[0]), y + stretch * (one[1] + other[1])))
    return tuple(reversed(moved))


def _side(one: Point, other: Point) -> Point:
    """Return the unit vector to the right of the direction from one point to another (below, for rightward ones)."""
    along_x, along_y = other[0] - one[0], other[1] - one[1]
    length = hypot(along_x, along_y) or 1.0
    return -along_y / length, along_x / length


def _end_angle(curve: Curve) -> float:
    end = curve[-1]
    for point in reversed(curve[:-1]):
        if hypot(end[0] - point[0], end[1] - point[1]) > 0.01:
            return atan2(end[1] - point[1], end[0] - point[0])
    return 0.0


def _text(number: float) -> str:
    return f"{number:.1f}".rstrip("0").rstrip(".") if number != int(number) else str(int(number))
