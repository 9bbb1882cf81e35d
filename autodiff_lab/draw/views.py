"""Views: the graph of the whole program and of the inside of every scope, each laid out once.

The explorer enters and leaves scopes without a kernel, so every view has its coordinates from the start.  A view that
cannot be laid out keeps the sentence that says why, and the explorer shows that instead.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autodiff_lab.draw.graph import graph
from autodiff_lab.draw.layout import SECONDS, arrangements
from autodiff_lab.draw.layout.rows import turns
from autodiff_lab.draw.model import Graph, Layout, Node, Series
from autodiff_lab.draw.series import heights
from autodiff_lab.draw.timeline import Timeline
from autodiff_lab.draw.values import clipped
from autodiff_lab.errors import LayoutFailed
from autodiff_lab.recording.recording import Recording

_Structure = tuple[object, ...]


@dataclass(frozen=True)
class Picture:
    """A graph with its layout, or with the sentence that says why it has none."""

    graph: Graph
    layout: Layout | None
    why: str = ""

    def loop(self) -> list[str]:
        """Return the paths of the iterations of a training loop that the picture shows, in order; usually none."""
        return [key[1:] for key in turns(self.graph)]

    def tensors(self) -> Iterator[int]:
        """Yield the ids of the tensors that the picture shows."""
        if self.layout is not None:
            for node in self.graph.nodes:
                yield from node.tensors
            for edge in self.graph.edges:
                yield edge.tensor

    def payload(self, numbers: Mapping[int, int]) -> dict[str, Any]:
        """Return the picture with coordinates rounded to pixels; a node is named by its place in the list."""
        if self.layout is None:
            return {"why": self.why}
        place = {node.key: at for at, node in enumerate(self.graph.nodes)}
        nodes: list[list[Any]] = []
        for node in self.graph.nodes:
            box = self.layout.boxes[node.key]
            corner = [round(box.x - box.width / 2), round(box.y - box.height / 2), round(box.width), round(box.height)]
            application = -1 if node.application is None else node.application
            shown = [numbers[tensor] for tensor in node.tensors]
            members = list(node.members)
            loop = [[*node.turns], *(_row(node, s, numbers) for s in node.series)] if node.turns else []
            more = [loop or node.times] if loop or node.times > 1 else []
            names = [node.key, node.kind, clipped(node.label), clipped(node.name)]
            nodes.append([*names, shown, application, members, int(node.outside), *corner, *more])
        edges = [
            [place[edge.source], place[edge.target], numbers[edge.tensor], edge.position, curve_text(curve)]
            + ([] if edge.kind == "value" else [edge.kind])
            for edge, curve in zip(self.graph.edges, self.layout.curves, strict=True)
        ]
        size = [round(self.layout.width), round(self.layout.height)]
        return {"nodes": nodes, "edges": edges, "size": size, **({"down": 1} if self.layout.down else {})}


def _row(node: Node, series: Series, numbers: Mapping[int, int]) -> list[Any]:
    """Return the numbers of a loop and, if its node shows them, the tensors that have them."""
    shown = node.tensors == series.tensors[-1:] and all(tensor in numbers for tensor in series.tensors)
    each = [[numbers[tensor] for tensor in series.tensors]] if shown and series.tensors else []
    return [series.kind, series.name, heights(series.numbers), *each]


def views(recording: Recording, timeline: Timeline, time_limit: float = SECONDS) -> dict[str, Picture]:
    """Return the picture of the whole program (path ``""``) and of every scope.

    Parameters
    ----------
    recording : Recording
        What to draw.
    timeline : Timeline
        That of the recording.
    time_limit : float
        CPU seconds for the layout of all small views together, and for each large one.
    """
    paths = ["", *timeline.scopes.members]
    drawn = [graph(recording, path, timeline=timeline) for path in paths]
    structures = [_structure(one) for one in drawn]
    graphs = _alike(drawn, structures)
    return {
        path: Picture(drawn, None, str(found)) if isinstance(found, LayoutFailed) else Picture(drawn, found)
        for path, drawn, found in zip(paths, graphs, _arranged(graphs, structures, time_limit), strict=True)
    }


def _structure(drawn: Graph) -> _Structure:
    """Return what two graphs have in common that look the same but for their texts."""
    place = {node.key: at for at, node in enumerate(drawn.nodes)}
    edges = tuple((place[edge.source], place[edge.target], edge.kind) for edge in drawn.edges)
    return tuple((node.kind, bool(node.members)) for node in drawn.nodes), edges


def _alike(graphs: Sequence[Graph], structures: Sequence[_Structure]) -> list[Graph]:
    """Return the graphs with equal sizes where they look the same: the iterations of a loop do not jump."""
    groups: defaultdict[_Structure, list[Graph]] = defaultdict(list)
    for drawn, own in zip(graphs, structures, strict=True):
        groups[own].append(drawn)
    sizes = {structure: _largest(group) for structure, group in groups.items()}
    return [_resized(drawn, sizes[own]) for drawn, own in zip(graphs, structures, strict=True)]


def _largest(graphs: Sequence[Graph]) -> list[tuple[float, float]]:
    """Return the width and height of each node that are enough in all of the graphs."""
    columns = zip(*(drawn.nodes for drawn in graphs), strict=True)
    return [(max(n.width for n in nodes), max(n.height for n in nodes)) for nodes in columns]


def _resized(drawn: Graph, sizes: Sequence[tuple[float, float]]) -> Graph:
    if all((n.width, n.height) == size for n, size in zip(drawn.nodes, sizes, strict=True)):
        return drawn
    pairs = zip(drawn.nodes, sizes, strict=True)
    return replace(drawn, nodes=tuple(replace(n, width=width, height=height) for n, (width, height) in pairs))


def _arranged(
    graphs: Sequence[Graph], structures: Sequence[_Structure], time_limit: float
) -> list[Layout | LayoutFailed]:
    """Return the layouts of graphs, one for all that look the same."""
    first = dict(zip(reversed(structures), reversed(graphs), strict=True))
    found = dict(zip(first, arrangements(list(first.values()), time_limit), strict=True))
    return [_moved_to(drawn, first[own], found[own]) for drawn, own in zip(graphs, structures, strict=True)]


def _moved_to(drawn: Graph, model: Graph, placed: Layout | LayoutFailed) -> Layout | LayoutFailed:
    if isinstance(placed, LayoutFailed) or drawn is model:
        return placed
    boxes = {node.key: placed.boxes[other.key] for node, other in zip(drawn.nodes, model.nodes, strict=True)}
    return replace(placed, boxes=boxes)


def curve_text(curve: tuple[tuple[float, float], ...]) -> str:
    """Write a curve as SVG path data in whole pixels.

    Examples
    --------
    >>> curve_text(((0.0, 1.4), (2.0, 3.0), (4.0, 5.0), (6.0, 7.0)))
    'M0 1C2 3 4 5 6 7'
    """
    if not curve:
        return ""
    points = [f"{round(x)} {round(y)}" for x, y in curve]
    return f"M{points[0]}C{' '.join(points[1:])}" if len(points) > 1 else f"M{points[0]}"
