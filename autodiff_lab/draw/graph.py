"""Recording to graph: which nodes and edges a picture has.  No coordinates, no colours.

`graph` is pure.  Each input of an application is a separate edge, so ``x * x`` has two.  Scopes fold to one node
each; with `within` the inside of one scope is shown, and what lies outside it appears only where an edge crosses.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from autodiff_lab.draw.deliveries import words
from autodiff_lab.draw.lines import node_size, number
from autodiff_lab.draw.links import Links
from autodiff_lab.draw.model import Edge, Graph, Node
from autodiff_lab.draw.passes import with_passes
from autodiff_lab.draw.scopes import Scopes, inside, prefixes
from autodiff_lab.draw.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autodiff_lab.recording.model import Application, TensorRecord
    from autodiff_lab.recording.recording import Recording

MOST_LEAVES = 6
"""How many leaves a folded scope without any other input shows."""
LABEL_LENGTH = 8
"""A constant whose value takes at most this many characters is labelled with it."""


def graph(
    recording: Recording, within: str = "", folded: Iterable[str] | None = None, timeline: Timeline | None = None
) -> Graph:
    """Return the graph of a recording, or of one scope of it.

    Parameters
    ----------
    recording : Recording
        What to draw.
    within : str
        Path of the scope whose inside is shown, for example ``"net/layer1"``; empty for the whole program.
    folded : iterable of str, optional
        Paths of the scopes that are one node each.  By default every direct sub-scope of `within`.
    timeline : Timeline, optional
        That of the recording, if the caller has it already.

    Returns
    -------
    Graph
        Nodes in the order in which they ran, each leaf before its first use; unused leaves are left out.

    Raises
    ------
    KeyError
        If nothing was recorded in `within`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.record() as recording:
    ...     y = x * x
    >>> [(edge.source, edge.target, edge.position) for edge in graph(recording).edges] # doctest: +ELLIPSIS
    [('t...', 'a0', 0), ('t...', 'a0', 1)]
    """
    return _Builder(within, folded, timeline or Timeline(recording)).build()


def scope_paths(recording: Recording) -> tuple[str, ...]:
    """Return every scope in which a shown op ran, outer ones before inner ones, in order of first use."""
    return tuple(Scopes(with_passes(recording)).members)


class _Builder:
    """Gathers the nodes and edges of one graph."""

    def __init__(self, within: str, folded: Iterable[str] | None, timeline: Timeline) -> None:
        self.recording = timeline.recording
        self.timeline = timeline
        self.scopes = timeline.scopes
        self.within = within.strip("/")
        if self.within and self.within not in self.scopes.members:
            known = ", ".join(list(self.scopes.members)[:10]) or "none"
            raise KeyError(f"No op ran in scope {self.within!r}; the scopes of this recording are: {known}.")
        self.inner = tuple(p for p in self.scopes.members if p != self.within and inside(p, self.within))
        depth = self.within.count("/") + 1 if self.within else 0
        direct = {path for path in self.inner if path.count("/") == depth}
        self.folded = direct if folded is None else {path.strip("/") for path in folded}
        self.fed: dict[str, bool] = {}
        self.homes: dict[int, str] = {}
        self.nodes: dict[str, Node] = {}
        self.edges: list[Edge] = []
        self.crossed: set[tuple[str, str, int]] = set()
        self.entered: defaultdict[str, int] = defaultdict(int)

    def build(self) -> Graph:
        for application in self.scopes.around(self.within):
            self._add(application)
        self.edges += Links(self.timeline, self.nodes, self._users).edges(self._home)
        nodes = tuple(self._sized(node) for node in self.nodes.values())
        folded = frozenset(node.key[1:] for node in nodes if node.members and not node.outside)
        return Graph(nodes, tuple(self.edges), self.inner, folded)

    def _sized(self, node: Node) -> Node:
        width, height = node_size(node, self.timeline)
        return replace(node, width=width, height=height)

    def _home(self, application: Application) -> str:
        """Return the node of an application: itself, a folded scope, or a neighbour outside of `within`."""
        if application.index not in self.homes:
            scope, within = application.scope, self.within
            if inside(scope, within):
                paths = (path for path in prefixes(scope) if path in self.folded and not inside(within, path))
            else:
                paths = (path for path in prefixes(scope) if not inside(within, path))
            path = next(paths, None)
            self.homes[application.index] = f"a{application.index}" if path is None else f"s{path}"
        return self.homes[application.index]

    def _users(self, tensor: int) -> set[str]:
        return {self._home(self.scopes.shown[index]) for index in self.scopes.readers.get(tensor, ())}

    def _add(self, application: Application) -> None:
        target = self._home(application)
        within = inside(application.scope, self.within)
        joined: list[tuple[str, int, int]] = []
        for position, tensor in enumerate(application.inputs):
            source = self._source(tensor, target)
            if source is not None and source != target and (within or self._is_inside(source, tensor)):
                self._source_node(source, tensor)
                joined.append((source, tensor, position))
        if within or joined:
            self._node(application)
        for source, tensor, position in joined:
            self._join(source, target, tensor, position)

    def _join(self, source: str, target: str, tensor: int, position: int) -> None:
        if target.startswith("s"):
            if (source, target, tensor) in self.crossed:
                return
            self.crossed.add((source, target, tensor))
            position = self.entered[target]
            self.entered[target] += 1
        self.edges.append(Edge(source, target, tensor, position))

    def _source(self, tensor: int, target: str) -> str | None:
        """Return the node a tensor comes from; None for a leaf that is folded away with all that uses it."""
        made_by = self.recording.tensors[tensor].application
        if made_by is not None and made_by in self.scopes.shown:
            return self._home(self.scopes.shown[made_by])
        return None if self._folds_away(tensor, target) and self._fed(target) else f"t{tensor}"

    def _folds_away(self, tensor: int, target: str) -> bool:
        """Return whether a leaf is private to a folded scope: a parameter or number that nothing else uses."""
        record = self.recording.tensors[tensor]
        if not target.startswith("s") or self._users(tensor) != {target}:
            return False
        if tensor in self.timeline.scopes.later_reads:
            return True
        small = record.kind == "variable" or record.snapshot.size == 1 or tensor in self.timeline.delivered
        return (small or not record.name) and inside(record.scope, target[1:])

    def _fed(self, target: str) -> bool:
        """Return whether a folded scope has any other input; one without any shows its few leaves instead."""
        if target not in self.fed:
            members = [self.scopes.shown[index] for index in self.scopes.members[target[1:]]]
            made = {tensor for member in members for tensor in member.outputs}
            read = {tensor for member in members for tensor in member.inputs}
            private = [self._folds_away(tensor, target) for tensor in read - made]
            self.fed[target] = len(private) > MOST_LEAVES or not all(private)
        return self.fed[target]

    def _is_inside(self, source: str, tensor: int) -> bool:
        if source.startswith("t"):
            return False
        made_by = self.recording.tensors[tensor].application
        return made_by is not None and inside(self.recording.applications[made_by].scope, self.within)

    def _source_node(self, key: str, tensor: int) -> None:
        if key in self.nodes:
            return
        record = self.recording.tensors[tensor]
        if key.startswith("t"):
            self.nodes[key] = self._leaf(key, record)
        elif record.application is not None:
            self._node(self.recording.applications[record.application])

    def _leaf(self, key: str, record: TensorRecord) -> Node:
        outside = bool(self.within) and not inside(record.scope, self.within)
        delivery = self.timeline.delivered.get(record.id)
        if delivery is not None:
            label = words(self.recording, delivery)
            return Node(key, "gradient", label, record.name or "", (record.id,), scope=record.scope, outside=outside)
        kind = "variable" if record.kind == "variable" else "constant"
        value = number(record.snapshot) if record.snapshot.shape == () and record.application is None else ""
        label = record.name or (value if kind == "constant" and 0 < len(value) <= LABEL_LENGTH else "")
        return Node(key, kind, label or kind, tensors=(record.id,), scope=record.scope, outside=outside)

    def _node(self, application: Application) -> None:
        key = self._home(application)
        if key in self.nodes:
            return
        outside = not inside(application.scope, self.within)
        if key.startswith("s"):
            self.nodes[key] = self._scope(key, outside)
            return
        info = self.recording.ops.get(application.op)
        label = info.symbol if info is not None and info.symbol else application.op
        kind = "op" if application.cause is None else "backward op"
        kind = "failed" if application.error is not None else kind
        name = self.recording.tensors[application.outputs[0]].name if application.outputs else None
        changed = self.scopes.changes.get(application.outputs[0]) if application.outputs else None
        name = f"changes {changed}" if changed and not name else name
        self.nodes[key] = Node(
            key, kind, label, name or "", application.outputs, application.index, application.scope, (), outside=outside
        )

    def _scope(self, key: str, outside: bool) -> Node:
        path = key[1:]
        members = tuple(self.scopes.members[path])
        failed = any(self.scopes.shown[index].error is not None for index in members)
        return Node(
            key,
            "failed" if failed else "scope",
            path.rsplit("/", 1)[-1],
            "",
            self._leaving(key, members),
            None,
            path,
            members,
            outside=outside,
        )

    def _leaving(self, key: str, members: tuple[int, ...]) -> tuple[int, ...]:
        """Return a folded scope's results: gradient targets, else values used outside, else unused values."""
        made = (tensor for index in members for tensor in self.scopes.shown[index].outputs)
        leaving = [tensor for tensor in made if self._users(tensor) != {key}]
        told = [t for t in leaving if t in self.scopes.targets or self._users(t)] or leaving
        return tuple(sorted(told, key=lambda tensor: tensor not in self.scopes.targets))
