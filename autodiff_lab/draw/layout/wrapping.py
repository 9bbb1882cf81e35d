"""Long chains in rows: a picture that is much wider than a panel continues below, as a line of text does.

The columns of a finished layout are dealt out to bands of about equal width, one below the other.  Edges within a band
keep their curves; an edge to a later band leaves its column, runs through the gutter below its band, and comes in from
the left.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from autodiff_lab.draw.model import Box, Layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autodiff_lab.draw.model import Graph

    Point = tuple[float, float]
    Curve = tuple[Point, ...]

GUTTER, LANE = 28.0, 8.0
"""Pixels between two bands, and for each edge that passes between them."""
ASIDE = 26.0
"""Pixels from a column to the place where an edge turns, and between the bands and the edge of the picture."""
CORNER = 10.0
"""Radius of a turn."""


def wrapped(graph: Graph, layout: Layout, most: int) -> list[Bands]:
    """Return the places of a layout from left to right in 2 bands, in 3, and so on up to `most`.

    None where an edge leads backward; otherwise as many as there are two columns for each band.

    Parameters
    ----------
    graph : Graph
        What the layout places.
    layout : Layout
        From left to right.
    most : int
        At least 2.
    """
    if any(_leads_back(layout, edge.source, edge.target) for edge in graph.edges):
        return []
    columns = _columns(layout)
    reaches = [(min(rows), max(rows)) if (rows := [y for _, y in curve]) else () for curve in layout.curves]
    return [Bands(graph, layout, columns, reaches, bands) for bands in range(2, min(most, len(columns) // 2) + 1)]


def _leads_back(layout: Layout, source: str, target: str) -> bool:
    return source != target and layout.boxes[source].x >= layout.boxes[target].x


def _columns(layout: Layout) -> list[list[str]]:
    """Return the keys of the boxes, column by column from the left: boxes that overlap sideways share a column."""
    columns: list[list[str]] = []
    right = float("-inf")
    for key, box in sorted(layout.boxes.items(), key=lambda item: item[1].x - item[1].width / 2):
        if box.x - box.width / 2 >= right:
            columns.append([])
        columns[-1].append(key)
        right = max(right, box.x + box.width / 2)
    return columns


class Bands:
    """A layout in bands: its size; boxes and curves when it is chosen. `reaches` are the tops and bottoms of curves."""

    def __init__(
        self, graph: Graph, layout: Layout, columns: list[list[str]], reaches: Sequence[tuple[float, ...]], bands: int
    ) -> None:
        self.graph, self.old, self.reaches = graph, layout, reaches
        self.column = {key: at for at, keys in enumerate(columns) for key in keys}
        spans = [_span(layout, keys) for keys in columns]
        self.spans = spans
        share = (spans[-1][1] - spans[0][0]) / bands
        self.band_of = [min(int((left - spans[0][0]) / share), bands - 1) for left, _ in spans]
        self.band = {key: self.band_of[at] for key, at in self.column.items()}
        self.lefts = {band: spans[self.band_of.index(band)][0] for band in set(self.band_of)}
        self.passing: defaultdict[int, list[int]] = defaultdict(list)
        for number, edge in enumerate(graph.edges):
            source, target = self.band[edge.source], self.band[edge.target]
            if source != target:
                for gutter in sorted({source, target - 1}):
                    self.passing[gutter].append(number)
        self._place()

    def _place(self) -> None:
        aside = ASIDE + LANE * max(map(len, self.passing.values()), default=0)
        extents = self._extents()
        shifts: dict[int, Point] = {}
        self.gutters: dict[int, float] = {}
        top = 0.0
        for band in sorted(self.lefts):
            low, high = extents[band]
            shifts[band] = (aside - self.lefts[band], top - low)
            self.gutters[band] = top + high - low + GUTTER / 2
            top += high - low + GUTTER + LANE * len(self.passing[band])
        self.shifts = shifts
        rights = [round(box.x + shifts[self.band[key]][0], 2) + box.width / 2 for key, box in self.old.boxes.items()]
        self.width = round(max(rights) + ASIDE, 2)
        self.height = round(top - GUTTER + ASIDE, 2)

    def layout(self) -> Layout:
        """Return the whole layout."""
        boxes = {key: _moved_box(box, self.shifts[self.band[key]]) for key, box in self.old.boxes.items()}
        curves = tuple(self._curve(number) for number in range(len(self.graph.edges)))
        return Layout(boxes, curves, self.width, self.height, self.old.engine)

    def _extents(self) -> dict[int, Point]:
        """Return the top and bottom of each band: its boxes, and the curves within it."""
        heights: defaultdict[int, list[float]] = defaultdict(list)
        for key, box in self.old.boxes.items():
            heights[self.band[key]] += _rows(box)
        for edge, reach in zip(self.graph.edges, self.reaches, strict=True):
            band = self.band[edge.source]
            if self.band[edge.target] == band:
                heights[band] += reach
        return {band: (min(rows) - ASIDE / 2, max(rows) + ASIDE / 2) for band, rows in heights.items()}

    def _curve(self, number: int) -> Curve:
        edge, curve = self.graph.edges[number], self.old.curves[number]
        source, target = self.band[edge.source], self.band[edge.target]
        if source == target or not curve:
            return _moved(curve, self.shifts[source])
        start, end = _moved(curve[:1], self.shifts[source])[0], _moved(curve[-1:], self.shifts[target])[0]
        lane = LANE * self.passing[source].index(number)
        out = self.spans[self.column[edge.source]][1] + self.shifts[source][0] + ASIDE / 2 + lane / 2
        into = self.spans[self.column[edge.target]][0] + self.shifts[target][0] - ASIDE / 2 - lane / 4
        below = self.gutters[source] + lane
        way = [start, (out, start[1]), (out, below)]
        if target > source + 1:
            margin = ASIDE / 2 + lane
            above = self.gutters[target - 1] + LANE * self.passing[target - 1].index(number)
            way += [(margin, below), (margin, above), (into, above)]
        else:
            way += [(into, below)]
        return _rounded([*way, (into, end[1]), end])


def _span(layout: Layout, keys: Sequence[str]) -> Point:
    boxes = [layout.boxes[key] for key in keys]
    return min(b.x - b.width / 2 for b in boxes), max(b.x + b.width / 2 for b in boxes)


def _rows(box: Box) -> Point:
    return box.y - box.height / 2, box.y + box.height / 2


def _moved_box(box: Box, by: Point) -> Box:
    return Box(round(box.x + by[0], 2), round(box.y + by[1], 2), box.width, box.height)


def _moved(curve: Curve, by: Point) -> Curve:
    return tuple((round(x + by[0], 2), round(y + by[1], 2)) for x, y in curve)


def _rounded(way: Sequence[Point]) -> Curve:
    """Return a way along straight lines as a curve with round corners."""
    points = [way[0]]
    for before, corner, after in zip(way, way[1:], way[2:], strict=False):
        arrive, leave = _toward(corner, before), _toward(corner, after)
        points += [_between(points[-1], arrive, 1 / 3), _between(points[-1], arrive, 2 / 3), arrive]
        points += [_between(arrive, corner, 0.55), _between(leave, corner, 0.55), leave]
    points += [_between(points[-1], way[-1], 1 / 3), _between(points[-1], way[-1], 2 / 3), way[-1]]
    return tuple((round(x, 2), round(y, 2)) for x, y in points)


def _toward(corner: Point, other: Point) -> Point:
    """Return the point on the line to another corner at which a turn begins or ends."""
    length = max(abs(other[0] - corner[0]) + abs(other[1] - corner[1]), 1e-9)
    return _between(corner, other, min(CORNER, length / 2) / length)


def _between(one: Point, other: Point, share: float) -> Point:
    return one[0] + (other[0] - one[0]) * share, one[1] + (other[1] - one[1]) * share
