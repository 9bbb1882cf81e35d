"""Graph to layout: where everything is drawn.  It uses no colours and reads no values.

`layout` asks a program for the positions of boxes and the curves of edges, then gives every edge a separate end on
the side of a box (`attach`).  The programs, in order of preference: ``dot`` on the PATH, the Graphviz library in
the pygraphviz package, and a simple layering in Python, so that every machine has a picture, and every graph: what
Graphviz cannot place in its time is placed in layers.  `arrange` chooses the direction that fits a panel.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from autodiff_lab.draw.layout.attach import attach
from autodiff_lab.draw.layout.fitting import fit, is_tight, turned
from autodiff_lab.draw.layout.graphviz import LARGE, place_by_graphviz, programs
from autodiff_lab.draw.layout.layered import place_in_layers
from autodiff_lab.draw.layout.placed import TooSlow, too_large
from autodiff_lab.draw.layout.rows import place_in_rows
from autodiff_lab.draw.model import Graph, Layout
from autodiff_lab.errors import LayoutFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

OWN = "layered"
"""Name of our own layering."""
SECONDS = 5.0
"""CPU seconds that Graphviz may take, unless the caller says otherwise."""
MOST_BY_GRAPHVIZ = 1000
"""Nodes beyond which Graphviz is not asked: of one graph it would take its whole time, of many small ones seconds."""
MOST_A_SECOND = 4000
"""Nodes per second of the time limit beyond which no engine is tried: even the fastest could not do it."""


def layout(graph: Graph, time_limit: float = SECONDS, engine: str | None = None) -> Layout:
    """Place the nodes and edges of a graph, from left to right.

    Parameters
    ----------
    graph : Graph
        The sizes of its nodes are kept.
    time_limit : float
        CPU seconds after which Graphviz is stopped and our own layering is used.
    engine : str, optional
        ``"dot"``, ``"pygraphviz"`` or ``"layered"``; by default the first one that is available and works.

    Returns
    -------
    Layout
        Boxes and curves in pixels.  The same graph and engine give the same layout.

    Raises
    ------
    LayoutFailed
        If the graph is too large for any engine, or the requested engine is not available.

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
    engines = _engines(engine or (OWN if len(graph.nodes) > MOST_BY_GRAPHVIZ else None))
    rows = place_in_rows(graph)
    if rows is not None:
        return attach(graph, rows, OWN)
    for name, command in engines.items():
        try:
            placed = place_by_graphviz([graph], command, time_limit)
        except TooSlow:
            break
        if placed is not None:
            return attach(graph, placed[0], name)
    return attach(graph, place_in_layers(graph), OWN)


def arrange(graph: Graph, time_limit: float = SECONDS, engine: str | None = None) -> Layout:
    """Place the nodes and edges of a graph in the direction in which a panel can show them largest.

    Parameters and errors are those of `layout`.

    Examples
    --------
    >>> from autodiff_lab.draw.model import Edge, Node
    >>> chain = Graph(tuple(Node(f"a{n}", "op", "sin") for n in range(20)),
    ...               tuple(Edge(f"a{n}", f"a{n + 1}", n, 0) for n in range(19)))
    >>> layout(chain, engine="layered").width > 2 * arrange(chain, engine="layered").width
    True
    """
    level = layout(graph, time_limit, engine)
    if place_in_rows(graph) is not None:
        return level
    tight = is_tight(graph, level)
    return fit(graph, level, layout(turned(graph), time_limit, level.engine) if tight else None)


def arrangements(
    graphs: Sequence[Graph], time_limit: float = SECONDS, engine: str | None = None
) -> list[Layout | LayoutFailed]:
    """Arrange several graphs; the small ones together in one run of Graphviz, which costs most of its time to start.

    Parameters
    ----------
    graphs : sequence of Graph
        For example the inside of every scope.
    time_limit : float
        CPU seconds for each run: all small graphs together, and each large one.
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
    small = [graph for graph in graphs if 0 < len(graph.nodes) <= LARGE and place_in_rows(graph) is None]
    if engine is None:
        so_far = accumulate(len(graph.nodes) for graph in small)
        small = [graph for graph, count in zip(small, so_far, strict=True) if count <= MOST_BY_GRAPHVIZ]
    for name, command in list(_engines(engine).items())[:1]:
        level = _together(small, name, command, time_limit)
        tight = [(graph, turned(graph)) for graph, one in zip(small, level, strict=False) if is_tight(graph, one)]
        beside = _together([other for _, other in tight], name, command, time_limit)
        across = {id(graph): one for (graph, _), one in zip(tight, beside, strict=False)}
        found = {id(graph): fit(graph, one, across.get(id(graph))) for graph, one in zip(small, level, strict=False)}
    for graph in graphs:
        if id(graph) not in found:
            many = engine is None and 0 < len(graph.nodes) <= LARGE and place_in_rows(graph) is None
            small_one = fit(graph, layout(graph, time_limit, OWN), None) if many else None
            found[id(graph)] = small_one or _arranged_or_error(graph, time_limit, engine)
    return [found[id(graph)] for graph in graphs]


def _together(graphs: Sequence[Graph], name: str, command: Sequence[str], time_limit: float) -> list[Layout]:
    """Return the layouts of graphs from one run of a program; none if it does not work here."""
    try:
        placed = place_by_graphviz(graphs, command, time_limit) or ()
    except TooSlow:
        name, placed = OWN, [place_in_layers(graph) for graph in graphs]
    return [attach(graph, one, name) for graph, one in zip(graphs, placed, strict=False)]


def _arranged_or_error(graph: Graph, time_limit: float, engine: str | None) -> Layout | LayoutFailed:
    try:
        return arrange(graph, time_limit, engine)
    except LayoutFailed as error:
        return error


def _engines(wanted: str | None) -> dict[str, Sequence[str]]:
    """Return the Graphviz commands to try, in order; none for our own layering."""
    available = programs()
    if wanted is None:
        return available
    if wanted not in (OWN, *available):
        here = ", ".join([*available, OWN])
        raise LayoutFailed(f"The layout engine {wanted!r} is not installed; this machine has: {here}.")
    return {} if wanted == OWN else {wanted: available[wanted]}
