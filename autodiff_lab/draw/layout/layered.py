"""A simple layered layout in Python, for machines without Graphviz.

Columns by longest path, leaves next to their first user, rows ordered by a few barycentre passes, straight curves.
Long edges may cross boxes: it is made to be there, and readable for small graphs.
"""

from __future__ import annotations

from collections import defaultdict

from autodiff_lab.draw.layout.placed import Placed, Point
from autodiff_lab.draw.model import Graph

COLUMN_SPACE, ROW_SPACE = 56.0, 20.0
PASSES = 8


def place_in_layers(graph: Graph) -> Placed:
    """Centres of all nodes; curves are left to be drawn as level ones."""
    before, after = _neighbours(graph)
    columns = _columns(graph, before, after)
    _order(columns, before, after)
    centres: dict[str, Point] = {}
    sizes = {node.key: (node.width, node.height) for node in graph.nodes}
    x = 0.0
    for column in columns:
        width = max(sizes[key][0] for key in column)
        y = -(sum(sizes[key][1] for key in column) + ROW_SPACE * (len(column) - 1)) / 2
        for key in column:
            centres[key] = (x + width / 2, y + sizes[key][1] / 2)
            y += sizes[key][1] + ROW_SPACE
        x += width + COLUMN_SPACE
    return Placed(centres, ((),) * len(graph.edges), x, 0.0)


def _neighbours(graph: Graph) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Who comes before and after whom; edges against the order of the run (a scope entered twice) are left out."""
    place = {node.key: number for number, node in enumerate(graph.nodes)}
    before: dict[str, list[str]] = {node.key: [] for node in graph.nodes}
    after: dict[str, list[str]] = {node.key: [] for node in graph.nodes}
    for edge in graph.edges:
        if place[edge.source] < place[edge.target]:
            before[edge.target].append(edge.source)
            after[edge.source].append(edge.target)
    return before, after


def _columns(graph: Graph, before: dict[str, list[str]], after: dict[str, list[str]]) -> list[list[str]]:
    depth: dict[str, int] = {}
    for node in graph.nodes:
        depth[node.key] = 1 + max((depth[key] for key in before[node.key]), default=-1)
    for node in reversed(graph.nodes):
        if not before[node.key] and after[node.key]:
            depth[node.key] = min(depth[key] for key in after[node.key]) - 1
    found: defaultdict[int, list[str]] = defaultdict(list)
    for node in graph.nodes:
        found[depth[node.key]].append(node.key)
    return [found[number] for number in sorted(found)]


def _order(columns: list[list[str]], before: dict[str, list[str]], after: dict[str, list[str]]) -> None:
    """Sort each column by the mean row of its neighbours, forwards and backwards in turn."""
    row = {key: place - len(column) / 2 for column in columns for place, key in enumerate(column)}
    for number in range(PASSES):
        towards, ordered = (before, columns) if number % 2 == 0 else (after, columns[::-1])
        for column in ordered:
            column.sort(key=lambda key: _mean([row[other] for other in towards[key]], row[key]))
            row |= {key: place - len(column) / 2 for place, key in enumerate(column)}


def _mean(rows: list[float], own: float) -> float:
    return sum(rows) / len(rows) if rows else own
