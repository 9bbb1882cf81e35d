"""Graph to layout: where everything is drawn, from left to right.  It uses no colours and reads no values.

`layout` asks a program for the positions of boxes and the curves of edges, then gives every edge a separate end on
the side of a box (`attach`).  The programs, in order of preference: ``dot`` on the PATH, the Graphviz library in
the pygraphviz package, and a simple layering of our own, so that every machine has a picture.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from autodiff_lab.draw.layout.attach import attach
from autodiff_lab.draw.layout.graphviz import LARGE, place_by_graphviz, programs
from autodiff_lab.draw.layout.layered import place_in_layers
from autodiff_lab.draw.layout.placed import too_large
from autodiff_lab.draw.layout.rows import place_in_rows
from autodiff_lab.draw.model import Graph, Layout
from autodiff_lab.errors import LayoutFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

OWN = "layered"
"""Name of our own layering."""
MOST_A_SECOND = 4000
"""Nodes per second of the time limit beyond which no engine is tried: even the fastest could not do it."""


def layout(graph: Graph, time_limit: float = 5.0, engine: str | None = None) -> Layout:
    """Place the nodes and edges of a graph, from left to right.

    Parameters
    ----------
    graph : Graph
        The sizes of its nodes are kept.
    time_limit : float
        Seconds after which Graphviz is stopped.
    engine : str, optional
        ``"dot"``, ``"pygraphviz"`` or ``"layered"``; by default the first one that is available and works.

    Returns
    -------
    Layout
        Boxes and curves in pixels.  The same graph and engine give the same layout.

    Raises
    ------
    LayoutFailed
        If the graph is too large for the time limit, or the requested engine is not available.

    Examples
    --------
    >>> from autodiff_lab.draw.model import Edge, Node
    >>> pair = Graph((Node("t0", "variable", "x"), Node("a0", "op", "sin")), (Edge("t0", "a0", 0, 0),))
    >>> placed = layout(pair, engine="layered")
    >>> placed.boxes["t0"].x < placed.boxes["a0"].x
    True
    """
    if not graph.nodes:
        return Layout({}, (), 0.0, 0.0, engine or OWN)
    if len(graph.nodes) > MOST_A_SECOND * time_limit:
        raise too_large([graph], time_limit)
    engines = _engines(engine)
    rows = place_in_rows(graph)
    if rows is not None:
        return attach(graph, rows, OWN)
    for name, command in engines.items():
        placed = place_by_graphviz([graph], command, time_limit)
        if placed is not None:
            return attach(graph, placed[0], name)
    return attach(graph, place_in_layers(graph), OWN)


def layouts(graphs: Sequence[Graph], time_limit: float = 5.0, engine: str | None = None) -> list[Layout | LayoutFailed]:
    """Place several graphs; the small ones together in one run of Graphviz, which costs most of its time to start.

    Parameters
    ----------
    graphs : sequence of Graph
        For example the inside of every scope.
    time_limit : float
        Seconds for each run: all small graphs together, and each large one.
    engine : str, optional
        As for `layout`.

    Returns
    -------
    list of Layout or LayoutFailed
        In the order of the graphs; an error takes the place of a layout and is not raised.

    Raises
    ------
    LayoutFailed
        If the requested engine is not available.
    """
    found: dict[int, Layout | LayoutFailed] = {}
    for graph in graphs:
        rows = place_in_rows(graph)
        if rows is not None:
            found[id(graph)] = attach(graph, rows, OWN)
    together = [graph for graph in graphs if 0 < len(graph.nodes) <= LARGE and id(graph) not in found]
    for name, command in list(_engines(engine).items())[:1]:
        with suppress(LayoutFailed):
            for graph, placed in zip(together, place_by_graphviz(together, command, time_limit) or (), strict=False):
                found[id(graph)] = attach(graph, placed, name)
    for graph in graphs:
        if id(graph) not in found:
            found[id(graph)] = _layout_or_error(graph, time_limit, engine)
    return [found[id(graph)] for graph in graphs]


def _layout_or_error(graph: Graph, time_limit: float, engine: str | None) -> Layout | LayoutFailed:
    try:
        return layout(graph, time_limit, engine)
    except LayoutFailed as error:
        return error


def _engines(wanted: str | None) -> dict[str, Sequence[str]]:
    """Return the Graphviz commands to try, in order; none for our own layering."""
    available = programs()
    if wanted is None:
        return available
    if wanted not in (OWN, *available):
        here = ", ".join([*available, OWN])
        raise LayoutFailed(f"The layout engine {wanted!r} is not here; this machine has: {here}.")
    return {} if wanted == OWN else {wanted: available[wanted]}
