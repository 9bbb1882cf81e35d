"""Layouts that fit a panel: from left to right, from the top, or in rows, whichever can be shown largest.

A picture that can be read in a panel of usual size keeps its direction from left to right, as one reads.
"""

from __future__ import annotations

from dataclasses import replace

from autodiff_lab.draw.layout.wrapping import Bands, wrapped
from autodiff_lab.draw.model import Box, Graph, Layout

PANEL = (820.0, 560.0)
"""Width and height, in pixels, of the explorer's panel in a window of 1300 pixels."""
READABLE = 0.8
"""The scale from which the numbers in a picture can be read."""
MOST_BANDS = 8
MOST_TURNED = 400
"""Nodes above which only one direction is laid out."""
ROWS_COUNT = 0.85
"""The share of its scale that counts for a picture in rows: long edges from row to row are harder to follow."""


def is_tight(graph: Graph, level: Layout) -> bool:
    """Return whether a layout from left to right is too small to be read, and another direction worth a try."""
    return scale(level) < READABLE and len(graph.nodes) <= MOST_TURNED


def fit(graph: Graph, level: Layout, across: Layout | None) -> Layout:
    """Return the layout that a panel can show at the largest scale.

    Parameters
    ----------
    graph : Graph
        What to place.
    level : Layout
        Its layout from left to right, which is returned if it can be read as a whole.
    across : Layout, optional
        The layout from left to right of the graph `turned`.

    Examples
    --------
    >>> from autodiff_lab.draw.layout import layout
    >>> from autodiff_lab.draw.model import Edge, Node
    >>> chain = Graph(tuple(Node(f"a{n}", "op", "sin") for n in range(24)),
    ...               tuple(Edge(f"a{n}", f"a{n + 1}", n, 0) for n in range(23)))
    >>> level = layout(chain, engine="layered")
    >>> found = fit(chain, level, layout(turned(chain), engine="layered"))
    >>> level.width > 2 * found.width, found.height < 600
    (True, True)
    """
    if scale(level) >= READABLE or not graph.nodes:
        return level
    found: list[tuple[float, Layout | Bands]] = [(scale(level), level)]
    if across is not None:
        down = _turned_back(across)
        found.append((scale(down), down))
    found += [(ROWS_COUNT * scale(rows), rows) for rows in wrapped(graph, level, MOST_BANDS)]
    best = max(found, key=lambda one: one[0])[1]
    return best.layout() if isinstance(best, Bands) else best


def scale(layout: Layout | Bands, most: float = 1.0) -> float:
    """Return the scale at which a panel shows a whole layout, at most `most`."""
    return min(PANEL[0] / max(layout.width, 1.0), PANEL[1] / max(layout.height, 1.0), most)


def turned(graph: Graph) -> Graph:
    """Return the graph with widths and heights exchanged."""
    return replace(graph, nodes=tuple(replace(n, width=n.height, height=n.width) for n in graph.nodes))


def _turned_back(layout: Layout) -> Layout:
    boxes = {key: Box(box.y, box.x, box.height, box.width) for key, box in layout.boxes.items()}
    curves = tuple(tuple((y, x) for x, y in curve) for curve in layout.curves)
    return Layout(boxes, curves, layout.height, layout.width, layout.engine, down=True)
