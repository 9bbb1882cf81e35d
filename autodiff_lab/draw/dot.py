"""Graph to DOT, for Graphviz users: the object that the graphviz package renders, pipes and displays.

It holds the same content as the picture: labels with names and numbers, solid forward edges, dashed gradient edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autodiff_lab.draw.lines import NodeLines, cut, node_lines
from autodiff_lab.draw.theme import LIGHT
from autodiff_lab.draw.timeline import Timeline
from autodiff_lab.errors import MissingPackage

if TYPE_CHECKING:
    from graphviz import Digraph, Source

    from autodiff_lab.draw.model import Edge, Graph, Node
    from autodiff_lab.recording.recording import Recording

FONT = "Helvetica"
_SHAPES = {"variable": "ellipse", "constant": "plaintext", "gradient": "ellipse", "scope": "box3d", "loop": "box3d"}


def dot(graph: Graph, recording: Recording) -> Source:
    """Write a graph in the DOT language.

    Parameters
    ----------
    graph : Graph
        What to draw; Graphviz decides where.
    recording : Recording
        The values and gradients, as they are at the end of the program.

    Returns
    -------
    graphviz.Source
        With ``.render()``, ``.pipe()``, ``.source`` and a display in notebooks.  Rendering needs the
        ``dot`` program; the text does not.

    Raises
    ------
    MissingPackage
        Without the graphviz package.

    Examples
    --------
    >>> from autodiff_lab.draw.model import Graph, Node
    >>> from autodiff_lab.recording.recording import Recording
    >>> picture = dot(Graph((Node("a0", "op", "sin"),), ()), Recording({}, {}, ()))
    >>> print(picture.source.splitlines()[-2].strip())
    n0 [label=sin shape=box]
    """
    try:
        import graphviz
    except ImportError as error:
        raise MissingPackage.of("DOT output", "graphviz", "graphviz") from error
    timeline = Timeline(recording)
    drawn = graphviz.Digraph(
        graph_attr={"rankdir": "LR", "fontname": FONT, **_title(recording)},
        node_attr={"shape": "box", "style": "rounded", "fontname": FONT, "color": LIGHT["muted"]},
        edge_attr={"color": LIGHT["forward"], "arrowsize": "0.7"},
    )
    # Numbers instead of keys: a scope may be called anything, and the graphviz package reads ":" in a name as a port.
    names = {node.key: f"n{number}" for number, node in enumerate(graph.nodes)}
    for node in graph.nodes:
        drawn.node(names[node.key], graphviz.escape(_label(node_lines(node, timeline))), **_look(node))
    members = {node.key: node.members for node in graph.nodes}
    for edge in graph.edges:
        if edge.kind == "carried":
            drawn.edge(names[edge.source], names[edge.target])
            continue
        if edge.kind != "value":
            colour = LIGHT["backward" if edge.kind == "adjoint" else "muted"]
            drawn.edge(names[edge.source], names[edge.target], style="dashed", color=colour)
            continue
        drawn.edge(names[edge.source], names[edge.target])
        if passes_back(edge, members[edge.target], timeline):
            _back(drawn, names[edge.target], names[edge.source])
    return graphviz.Source(drawn.source)


def passes_back(edge: Edge, members: tuple[int, ...], timeline: Timeline) -> bool:
    """Return whether any sweep sent a contribution back along an edge."""
    if members:
        return any(timeline.flow_moment_into(member, edge.tensor) is not None for member in members)
    return timeline.flow_moment(int(edge.target[1:]), edge.position) is not None


def _title(recording: Recording) -> dict[str, str]:
    import graphviz

    return {"label": graphviz.escape(cut(recording.title)), "labelloc": "t"} if recording.title else {}


def _label(lines: NodeLines) -> str:
    name = lines.leads_to
    head = " ".join(filter(None, (lines.label, name, lines.count, lines.shape)))
    return "\n".join(filter(None, (head, lines.value, f"gradient {lines.gradient}" if lines.gradient else "")))


def _look(node: Node) -> dict[str, str]:
    look = {"shape": _SHAPES.get(node.kind, "box")}
    if node.kind == "failed":
        look |= {"color": LIGHT["cut"], "penwidth": "2"}
    if node.outside:
        look["style"] = "dashed"
    return look


def _back(drawn: Digraph, tail: str, head: str) -> None:
    drawn.edge(tail, head, style="dashed", color=LIGHT["backward"], constraint="false")
