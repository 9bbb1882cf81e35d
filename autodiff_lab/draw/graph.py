"""Recording to graph: which nodes and edges a picture has.  No coordinates, no colours.

`graph` is pure.  Each input of an application is an edge of its own, so ``x * x`` has two.  Scopes fold to one node
each; with `within` the inside of one scope is shown, and what lies outside it appears only where an edge crosses.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from autodiff_lab.draw.lines import node_size, number
from autodiff_lab.draw.model import Edge, Graph, Node
from autodiff_lab.draw.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autodiff_lab.recording.model import Application, TensorRecord
    from autodiff_lab.recording.recording import Recording

LABEL_LENGTH = 8
"""A constant whose value is written in at most so many characters is labelled with it."""


def graph(
    recording: Recording, within: str = "", folded: Iterable[str] | None = None, timeline: Timeline | None = None
) -> Graph:
    """The graph of a recording, or of one scope of it.

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
    return _Builder(recording, within, folded, timeline or Timeline(recording)).build()


def scope_paths(recording: Recording) -> tuple[str, ...]:
    """Every scope in which an op ran, outer ones before inner ones, in order of first use."""
    found: dict[str, None] = {}
    for application in recording.applications:
        parts = application.scope.split("/") if application.scope else []
        for length in range(1, len(parts) + 1):
            found.setdefault("/".join(parts[:length]))
    return tuple(found)


class _Builder:
    """Gathers the nodes and edges of one graph."""

    def __init__(self, recording: Recording, within: str, folded: Iterable[str] | None, timeline: Timeline) -> None:
        self.recording = recording
        self.timeline = timeline
        self.within = within.strip("/")
        self.shown = self._shown()
        paths = scope_paths(recording)
        if self.within and self.within not in paths:
            known = ", ".join(paths[:10]) or "none"
            raise KeyError(f"No op ran in scope {self.within!r}; the scopes of this recording are: {known}.")
        self.inner = tuple(path for path in paths if _inside(path, self.within) and path != self.within)
        direct = {path for path in self.inner if "/" not in _below(path, self.within)}
        self.folded = direct if folded is None else {path.strip("/") for path in folded}
        self.members: defaultdict[str, list[int]] = defaultdict(list)
        self.home: dict[int, str] = {}
        self.nodes: dict[str, Node] = {}
        self.edges: list[Edge] = []
        self.crossed: set[tuple[str, str, int]] = set()
        self.entered: defaultdict[str, int] = defaultdict(int)

    def _shown(self) -> dict[int, Application]:
        """Forward applications, and those backward ones that a stepper visits as forward moments (higher orders)."""
        visited = {m.application for m in self.recording.order if m.phase == "forward"}
        return {a.index: a for a in self.recording.applications if a.cause is None or a.index in visited}

    def build(self) -> Graph:
        for application in self.shown.values():
            key = self.home[application.index] = self._key_of(application)
            self.members[key].append(application.index)
        self.users = self._users()
        for application in self.shown.values():
            self._add(application)
        nodes = tuple(self._sized(node) for node in self.nodes.values())
        folded = frozenset(node.key[1:] for node in nodes if node.kind == "scope" and not node.outside)
        return Graph(nodes, tuple(self.edges), self.inner, folded)

    def _sized(self, node: Node) -> Node:
        width, height = node_size(node, self.timeline)
        return replace(node, width=width, height=height)

    def _key_of(self, application: Application) -> str:
        """The node an application belongs to: itself, a folded scope, or a neighbour outside of `within`."""
        scope = application.scope
        if not _inside(scope, self.within):
            return self._outside_key(application)
        parts = _below(scope, self.within).split("/") if scope != self.within else []
        for length in range(1, len(parts) + 1):
            path = "/".join(([self.within] if self.within else []) + parts[:length])
            if path in self.folded:
                return f"s{path}"
        return f"a{application.index}"

    def _outside_key(self, application: Application) -> str:
        path: list[str] = []
        for part in filter(None, application.scope.split("/")):
            path.append(part)
            if not _inside(self.within, "/".join(path)):
                return f"s{'/'.join(path)}"
        return f"a{application.index}"

    def _users(self) -> dict[int, set[str]]:
        users: defaultdict[int, set[str]] = defaultdict(set)
        for application in self.shown.values():
            for tensor in application.inputs:
                users[tensor].add(self.home[application.index])
        return users

    def _add(self, application: Application) -> None:
        target = self.home[application.index]
        inside = _inside(application.scope, self.within)
        joined: list[tuple[str, int, int]] = []
        for position, tensor in enumerate(application.inputs):
            source = self._source(tensor, target)
            if source is not None and source != target and (inside or self._is_inside(source, tensor)):
                self._source_node(source, tensor)
                joined.append((source, tensor, position))
        if inside or joined:
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
        """The node a tensor comes from; None for a leaf that is folded away with all that uses it."""
        made_by = self.recording.tensors[tensor].application
        if made_by is not None and made_by in self.shown:
            return self.home[made_by]
        scope = self.recording.tensors[tensor].scope
        folded = target.startswith("s") and _inside(scope, target[1:]) and self.users[tensor] == {target}
        return None if folded else f"t{tensor}"

    def _is_inside(self, source: str, tensor: int) -> bool:
        if source.startswith("t"):
            return False
        made_by = self.recording.tensors[tensor].application
        return made_by is not None and _inside(self.recording.applications[made_by].scope, self.within)

    def _source_node(self, key: str, tensor: int) -> None:
        if key in self.nodes:
            return
        record = self.recording.tensors[tensor]
        if key.startswith("t"):
            self.nodes[key] = self._leaf(key, record)
        elif record.application is not None:
            self._node(self.recording.applications[record.application])

    def _leaf(self, key: str, record: TensorRecord) -> Node:
        kind = "variable" if record.kind == "variable" else "constant"
        value = number(record.snapshot) if record.snapshot.shape == () else ""
        label = record.name or (value if kind == "constant" and 0 < len(value) <= LABEL_LENGTH else "") or kind
        outside = bool(self.within) and not _inside(record.scope, self.within)
        return Node(key, kind, label, tensors=(record.id,), scope=record.scope, outside=outside)

    def _node(self, application: Application) -> None:
        key = self.home[application.index]
        if key in self.nodes:
            return
        outside = not _inside(application.scope, self.within)
        if key.startswith("s"):
            self.nodes[key] = self._scope(key, outside)
            return
        info = self.recording.ops.get(application.op)
        label = info.symbol if info is not None and info.symbol else application.op
        kind = "op" if application.cause is None else "backward op"
        kind = "failed" if application.error is not None else kind
        name = self.recording.tensors[application.outputs[0]].name if application.outputs else None
        self.nodes[key] = Node(
            key, kind, label, name or "", application.outputs, application.index, application.scope, (), outside=outside
        )

    def _scope(self, key: str, outside: bool) -> Node:
        members = tuple(self.members[key])
        failed = any(self.shown[index].error is not None for index in members)
        path = key[1:]
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
        """Tensors made in a folded scope that others use, or that nobody does."""
        made = (tensor for index in members for tensor in self.shown[index].outputs)
        return tuple(tensor for tensor in made if self.users.get(tensor, set()) != {key})


def _inside(scope: str, within: str) -> bool:
    return not within or scope == within or scope.startswith(within + "/")


def _below(scope: str, within: str) -> str:
    return scope[len(within) + 1 :] if within else scope
