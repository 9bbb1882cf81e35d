"""A simple layered layout in Python, for machines without Graphviz.

Columns that make edges short, rows ordered by barycentres.  A long edge keeps a thin lane free in every column that it
crosses.  It works on every machine, and is readable for small graphs.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

from autodiff_lab.draw.layout.columns import shorten
from autodiff_lab.draw.layout.placed import Placed, Point

if TYPE_CHECKING:
    from autodiff_lab.draw.model import Graph

COLUMN_SPACE, ROW_SPACE = 64.0, 20.0
LANE = 4.0
"""Height kept free for an edge that passes a column."""
PASSES = 8
MOST_LANES = 20_000
"""Lanes beyond which long edges are drawn straight across: a value used by everything would fill the picture."""


def place_in_layers(graph: Graph) -> Placed:
    """Return centres of all nodes, and curves for the edges that pass other columns."""
    return _Layers(graph).placed()


class _Layers:
    """Columns of slots; a slot is a node (its key) or the lane of an edge (its number and the column)."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.place = {node.key: number for number, node in enumerate(graph.nodes)}
        self.height = {node.key: node.height for node in graph.nodes}
        # Edges against the order of execution (a scope that was entered twice) do not affect the columns.
        self.onward = [n for n, e in enumerate(graph.edges) if self.place[e.source] < self.place[e.target]]
        self.column = self._columns()
        self.slots: list[list[str]] = [[] for _ in range(max(self.column.values(), default=-1) + 1)]
        for node in graph.nodes:
            self.slots[self.column[node.key]].append(node.key)
        self.before: defaultdict[str, list[str]] = defaultdict(list)
        self.after: defaultdict[str, list[str]] = defaultdict(list)
        spans = [self.column[graph.edges[n].target] - self.column[graph.edges[n].source] for n in self.onward]
        self.spacious = sum(spans) <= MOST_LANES
        self.lanes = {number: self._lane(number) for number in self.onward}

    def _columns(self) -> dict[str, int]:
        depth = dict.fromkeys(self.place, 0)
        first_user: dict[str, int] = {}
        made = set()
        for number in sorted(self.onward, key=lambda n: self.place[self.graph.edges[n].target]):
            edge = self.graph.edges[number]
            depth[edge.target] = max(depth[edge.target], depth[edge.source] + 1)
            made.add(edge.target)
        for number in self.onward:
            edge = self.graph.edges[number]
            first_user[edge.source] = min(first_user.get(edge.source, depth[edge.target]), depth[edge.target])
        depth |= {key: user - 1 for key, user in first_user.items() if key not in made}
        depth = shorten(depth, [(self.graph.edges[n].source, self.graph.edges[n].target) for n in self.onward])
        used = {old: new for new, old in enumerate(sorted(set(depth.values())))}
        return {key: used[value] for key, value in depth.items()}

    def _lane(self, number: int) -> list[str]:
        """Make slots for an edge in the columns between its nodes, and link neighbours along it."""
        edge = self.graph.edges[number]
        lane = []
        between = range(self.column[edge.source] + 1, self.column[edge.target]) if self.spacious else ()
        for column in between:
            slot = f"{number} {column}"
            self.slots[column].append(slot)
            self.height[slot] = LANE
            lane.append(slot)
        way = [edge.source, *lane, edge.target]
        for one, other in pairwise(way):
            self.after[one].append(other)
            self.before[other].append(one)
        return lane

    def placed(self) -> Placed:
        y = self._rows()
        widths = {node.key: node.width for node in self.graph.nodes}
        spans: list[tuple[float, float]] = []
        x = 0.0
        for column in self.slots:
            width = max((widths[slot] for slot in column if slot in widths), default=0.0)
            spans.append((x, x + width))
            x += width + COLUMN_SPACE
        centres = {key: (sum(spans[self.column[key]]) / 2, y[key]) for key in self.place}
        curves = tuple(
            self._curve(centres, spans, y, number) if self.lanes.get(number) else ()
            for number in range(len(self.graph.edges))
        )
        return Placed(centres, curves)

    def _curve(self, centres: dict[str, Point], spans: list[tuple[float, float]], y: dict[str, float],
               number: int) -> tuple[Point, ...]:  # fmt: skip
        """Return a curve that is level through every column and bends between columns."""
        edge = self.graph.edges[number]
        through = [(spans[int(slot.split()[1])], y[slot]) for slot in self.lanes[number]]
        stops = [centres[edge.source], *((x, row) for span, row in through for x in span), centres[edge.target]]
        curve = [stops[0]]
        for (x1, y1), (x2, y2) in pairwise(stops):
            middle = (x1 + x2) / 2
            curve += [(middle, y1), (middle, y2), (x2, y2)]
        return tuple(curve)

    def _rows(self) -> dict[str, float]:
        """Order every column by the mean row of its neighbours, alternately forwards and backwards; then place it."""
        y: dict[str, float] = {}
        for column in self.slots:
            self._stack(column, y, {})
        for number in range(2 * PASSES):
            towards, columns = (self.before, self.slots) if number % 2 == 0 else (self.after, self.slots[::-1])
            for column in columns:
                # Most slots are lanes, with one neighbour on each side.
                wanted = {s: y[near[0]] if len(near := towards[s]) == 1 else _mean(near, y, s) for s in column}
                if number < PASSES:
                    column.sort(key=wanted.__getitem__)
                self._stack(column, y, wanted)
        return y

    def _stack(self, column: list[str], y: dict[str, float], wanted: dict[str, float]) -> None:
        """Place a column from top to bottom, each slot as near to its desired row as its neighbours allow."""
        bottom = float("-inf")
        moved = 0.0
        for slot in column:
            half = self.height[slot] / 2
            goal = wanted.get(slot, 0.0)
            y[slot] = place = max(goal, bottom + ROW_SPACE + half)
            moved += place - goal
            bottom = place + half
        up = moved / len(column)
        for slot in column:
            y[slot] -= up


def _mean(near: list[str], y: dict[str, float], own: str) -> float:
    return sum([y[slot] for slot in near]) / len(near) if near else y[own]
