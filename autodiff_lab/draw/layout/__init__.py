"""Graph to layout: where everything is drawn, from left to right.  No colours, and no value is looked at.

`layout` asks a program for the places of boxes and the curves of edges, then lets every edge have an end of its own
on the side of a box (`attach`).  The programs, in order of preference: ``dot`` on the PATH, the Graphviz library in
the pygraphviz package, and a simple layering of our own, so that there is a picture on every machine.
"""

from __future__ import annotations

from autodiff_lab.draw.layout.attach import attach
from autodiff_lab.draw.layout.graphviz import place_by_graphviz, programs
from autodiff_lab.draw.layout.layered import place_in_layers
from autodiff_lab.draw.model import Graph, Layout
from autodiff_lab.errors import LayoutFailed

OWN = "layered"
"""Name of our own layering."""


def layout(graph: Graph, time_limit: float = 5.0, engine: str | None = None) -> Layout:
    """Place the nodes and edges of a graph, from left to right.

    Parameters
    ----------
    graph : Graph
        The sizes of its nodes are kept.
    time_limit : float
        Seconds after which Graphviz is stopped.
    engine : str, optional
        ``"dot"``, ``"pygraphviz"`` or ``"layered"``; by default the first of them that is here.

    Returns
    -------
    Layout
        Boxes and curves in pixels.  The same graph and engine give the same layout.

    Raises
    ------
    LayoutFailed
        If the graph is too large for the time limit, or the engine asked for is not here.

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
    available = programs()
    if engine not in (None, OWN, *available):
        here = ", ".join([*available, OWN])
        raise LayoutFailed(f"The layout engine {engine!r} is not here; this machine has: {here}.")
    for name in [engine] if engine else available:
        if name != OWN:
            placed = place_by_graphviz(graph, available[name], time_limit)
            if placed is not None:
                return attach(graph, placed, name)
    return attach(graph, place_in_layers(graph), OWN)
