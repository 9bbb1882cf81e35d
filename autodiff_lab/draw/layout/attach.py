"""Gives every edge a separate end on the sides of its boxes, so that parallel edges do not overlap.

Edges leave on the right and arrive on the left, sorted by where they come from and evenly spaced. A short edge
becomes one curve with level ends; a long one keeps the route that the layout program found around other boxes.
"""

from __future__ import annotations

from collections import defaultdict

from autodiff_lab.draw.layout.placed import Placed, Point
from autodiff_lab.draw.model import Box, Graph, Layout

APART = 16.0
"""Pixels between the ends of two edges, where there is room."""
MARGIN = 16.0
"""Empty pixels around the picture: halos and loops stay inside."""
CORNER = 8.0
LOOP = 36.0

Curve = tuple[Point, ...]


def attach(graph: Graph, placed: Placed, engine: str) -> Layout:
    """Return the finished layout: boxes from centres, and curves that end on them."""
    placed = _first_on_top(graph, placed)
    boxes = {
        node.key: Box(placed.centres[node.key][0], placed.centres[node.key][1], node.width, node.height)
        for node in graph.nodes
    }
    leave, arrive = _ends(graph, boxes, placed)
    curves = [
        _around(boxes[edge.source])
        if edge.source == edge.target
        else _downwards(boxes[edge.source], boxes[edge.target])
        if _is_above(boxes[edge.source], boxes[edge.target])
        else _curve(leave[number], arrive[number], placed.curves[number], boxes[edge.source], boxes[edge.target])
        for number, edge in enumerate(graph.edges)
    ]
    return _framed(boxes, curves, engine)


def _first_on_top(graph: Graph, placed: Placed) -> Placed:
    """Mirror the picture if what ran first is at the bottom of most columns; a layout is equally good either way up."""
    columns: defaultdict[float, list[float]] = defaultdict(list)
    for node in graph.nodes:
        x, y = placed.centres[node.key]
        columns[round(x)].append(y)
    downwards = 0.0
    for heights in columns.values():
        middle = (len(heights) - 1) / 2
        downwards += sum((place - middle) * y for place, y in enumerate(heights))
    if downwards >= 0:
        return placed
    centres = {key: (x, -y) for key, (x, y) in placed.centres.items()}
    return Placed(centres, tuple(tuple((x, -y) for x, y in curve) for curve in placed.curves))


def _ends(graph: Graph, boxes: dict[str, Box], placed: Placed) -> tuple[dict[int, Point], dict[int, Point]]:
    leaving: defaultdict[str, list[int]] = defaultdict(list)
    arriving: defaultdict[str, list[int]] = defaultdict(list)
    for number, edge in enumerate(graph.edges):
        if edge.source == edge.target or _is_above(boxes[edge.source], boxes[edge.target]):
            continue
        leaving[edge.source].append(number)
        arriving[edge.target].append(number)
    leave: dict[int, Point] = {}
    arrive: dict[int, Point] = {}
    for key, numbers in leaving.items():
        numbers.sort(key=lambda n: (_next_height(placed.curves[n], boxes[graph.edges[n].target]), n))
        leave |= _spread(numbers, boxes[key], right=True)
    for key, numbers in arriving.items():
        numbers.sort(key=lambda n: (_last_height(placed.curves[n], boxes[graph.edges[n].source]), n))
        arrive |= _spread(numbers, boxes[key], right=False)
    return leave, arrive


def _next_height(curve: Curve, target: Box) -> float:
    """Return the height a curve heads for first: its first bend, or the box it goes to."""
    return curve[3][1] if len(curve) > 4 else target.y


def _last_height(curve: Curve, source: Box) -> float:
    return curve[-4][1] if len(curve) > 4 else source.y


def _spread(numbers: list[int], box: Box, right: bool) -> dict[int, Point]:
    x = box.x + box.width / 2 if right else box.x - box.width / 2
    apart = min(APART, (box.height - 2 * CORNER) / max(len(numbers) - 1, 1))
    top = box.y - apart * (len(numbers) - 1) / 2
    return {number: (x, top + apart * place) for place, number in enumerate(numbers)}


def _curve(start: Point, end: Point, found: Curve, source: Box, target: Box) -> Curve:
    if start[0] >= end[0]:
        return _backwards(start, end, max(source.y + source.height / 2, target.y + target.height / 2))
    if len(found) <= 4:
        return _level(start, end)
    points = list(found)
    points[0], points[-1] = start, end
    # The ends are level; the inner points of the way around other boxes stay where they are.
    points[1] = (start[0] + (points[3][0] - start[0]) / 3, start[1])
    points[-2] = (end[0] - (end[0] - points[-4][0]) / 3, end[1])
    return tuple(points)


def _around(box: Box) -> Curve:
    """Return a curve from the right of a box over its top to its left: what a loop hands on to itself."""
    right, left, top = box.x + box.width / 2, box.x - box.width / 2, box.y - box.height / 2
    start, end = (right, top + CORNER), (left, top + CORNER)
    return (
        start, (right + LOOP * 0.7, start[1]), (right + LOOP * 0.7, top - LOOP / 2), (right - LOOP / 2, top - LOOP / 2),
        (box.x, top - LOOP / 2), (box.x, top - LOOP / 2), (left + LOOP / 2, top - LOOP / 2),
        (left - LOOP * 0.7, top - LOOP / 2), (left - LOOP * 0.7, end[1]), end,
    )  # fmt: skip


def _is_above(source: Box, target: Box) -> bool:
    """Return whether two boxes stand in one column, as the iterations of a loop do."""
    apart = (target.y - target.height / 2) - (source.y + source.height / 2)
    return apart > 0 and abs(source.x - target.x) < (source.width + target.width) / 4


def _downwards(source: Box, target: Box) -> Curve:
    start, end = (source.x, source.y + source.height / 2), (target.x, target.y - target.height / 2)
    reach = (end[1] - start[1]) / 2
    return start, (start[0], start[1] + reach), (end[0], end[1] - reach), end


def _level(start: Point, end: Point) -> Curve:
    reach = (end[0] - start[0]) / 2
    return start, (start[0] + reach, start[1]), (end[0] - reach, end[1]), end


def _backwards(start: Point, end: Point, below: float) -> Curve:
    """Route an edge around below, if it returns to an earlier column (a scope that was entered twice)."""
    low = below + LOOP / 2
    middle = ((start[0] + end[0]) / 2, low)
    return (
        start, (start[0] + LOOP, start[1]), (start[0] + LOOP, low), middle,
        (end[0] - LOOP, low), (end[0] - LOOP, end[1]), end,
    )  # fmt: skip


def _framed(boxes: dict[str, Box], curves: list[Curve], engine: str) -> Layout:
    """Shift everything inside, with a margin, and round to a hundredth of a pixel."""
    xs = [x for curve in curves for x, _ in curve]
    ys = [y for curve in curves for _, y in curve]
    for box in boxes.values():
        xs += (box.x - box.width / 2, box.x + box.width / 2)
        ys += (box.y - box.height / 2, box.y + box.height / 2)
    left, top = min(xs) - MARGIN, min(ys) - MARGIN
    moved = {
        key: Box(round(box.x - left, 2), round(box.y - top, 2), round(box.width, 2), round(box.height, 2))
        for key, box in boxes.items()
    }
    lines = tuple(tuple((round(x - left, 2), round(y - top, 2)) for x, y in curve) for curve in curves)
    return Layout(moved, lines, round(max(xs) - left + MARGIN, 2), round(max(ys) - top + MARGIN, 2), engine)
