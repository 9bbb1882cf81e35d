"""Links: edges that compute nothing.  From a node to its gradient, and from what was assigned to the next read.

They connect what the tape does not: a training step uses the gradient that a backward pass left, and the next step
reads the variable that this one changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autodiff_lab.draw.model import Edge, Node

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from autodiff_lab.draw.timeline import Timeline
    from autodiff_lab.recording.model import Application


class Links:
    """Finds the links between the nodes of one graph.

    Parameters
    ----------
    timeline : Timeline
        That of the recording.
    nodes : mapping of str to Node
        The nodes of the graph, by key.
    within : str
        Path of the scope whose inside the graph shows; empty for the whole program.
    """

    def __init__(self, timeline: Timeline, nodes: Mapping[str, Node], within: str) -> None:
        self.timeline = timeline
        self.recording = timeline.recording
        self.nodes = nodes
        self.within = within

    def edges(self, home: Callable[[Application], str]) -> list[Edge]:
        """Return the links, each pair of nodes once; `home` gives the key of an application's node."""
        self.home = home
        found: dict[tuple[str, str, str], Edge] = {}
        for edge in (*self._adjoints(), *self._assignments()):
            if edge.source != edge.target:
                found.setdefault((edge.source, edge.target, edge.kind), edge)
        return list(found.values())

    def _adjoints(self) -> Iterator[Edge]:
        for key, node in self.nodes.items():
            if node.kind == "gradient":
                of = self.timeline.delivered[node.tensors[0]].of
                owner = None if of is None else self._seat(of)
                if owner is not None:
                    yield Edge(owner, key, node.tensors[0], 0, "adjoint")

    def _assignments(self) -> Iterator[Edge]:
        for given, read in self.timeline.scopes.handed.get(self.within, ()):
            source, target = self._seat(given), self._seat(read)
            if source is not None and target is not None:
                yield Edge(source, target, read, 0, "assigned")

    def _seat(self, tensor: int) -> str | None:
        """Return the node that holds a tensor: its own, that of the op that made it, or the folded scope around it."""
        made_by = self.recording.tensors[tensor].application
        if made_by is not None and made_by in self.timeline.scopes.shown:
            keys = [self.home(self.timeline.scopes.shown[made_by])]
        else:
            readers = self.timeline.scopes.readers.get(tensor, ())
            homes = {self.home(self.timeline.scopes.shown[reader]) for reader in readers}
            keys = [f"t{tensor}", *sorted(key for key in homes if key.startswith("s"))]
        return next((key for key in keys if key in self.nodes and not self.nodes[key].outside), None)
