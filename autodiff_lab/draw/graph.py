"""Recording to graph: which nodes and edges a picture has.  No coordinates, no colours.

`graph` is pure.  Each input of an application is a separate edge, so ``x * x`` has two.  Scopes fold to one node
each; with `within` the inside of one scope is shown, and what lies outside it appears only where an edge crosses.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from autodiff_lab.draw.deliveries import words
from autodiff_lab.draw.lines import node_size, number
from autodiff_lab.draw.links import Links
from autodiff_lab.draw.model import Edge, Graph, Node
from autodiff_lab.draw.scopes import inside, prefixes
from autodiff_lab.draw.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autodiff_lab.draw.folds import Fold
    from autodiff_lab.recording.model import Application, TensorRecord
    from autodiff_lab.recording.recording import Recording

_NUMBERED = re.compile(r"[\[_. ]?\d+\]?$")
"""The end of a name that differs between the leaves that one node stands for."""
FOLDED = "sl"
"""First letters of the keys of nodes that stand for many ops: scopes and loops."""
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
    return tuple(Timeline(recording).scopes.members)


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
        self.inner = tuple(self.scopes.below.get(self.within, ()))
        depth = self.within.count("/") + 1 if self.within else 0
        direct = {path for path in self.inner if path.count("/") == depth}
        self.folded = direct if folded is None else {path.strip("/") for path in folded}
        # A loop is one node wherever its iterations would stand side by side, and open where one of them is shown.
        self.loop_at = timeline.loop_at if folded is None else {}
        self.open = {self.loop_at[path].turns[0] for path in prefixes(self.within) if path in self.loop_at}
        self.taken: dict[int, tuple[int, int]] = {}
        self.homes: dict[str, str | None] = {}
        self.nodes: dict[str, Node] = {}
        self.edges: list[Edge] = []
        self.crossed: set[tuple[str, str, int]] = set()
        self.entered: defaultdict[str, int] = defaultdict(int)

    def build(self) -> Graph:
        self._find_taken()
        for application in self.scopes.around(self.within):
            self._add(application)
        self.edges += self._carried()
        self.edges += Links(self.timeline, self.nodes, self.within).edges(self._home)
        nodes = tuple(self._sized(node) for node in self.nodes.values())
        folded = frozenset(node.key[1:] for node in nodes if node.members and not node.outside)
        return Graph(nodes, tuple(self.edges), self.inner, folded)

    def _sized(self, node: Node) -> Node:
        known = self.timeline.sized
        if node not in known:
            width, height = node_size(node, self.timeline)
            known[node] = replace(node, width=width, height=height)
        return known[node]

    def _home(self, application: Application) -> str:
        """Return the node of an application: itself, a folded scope, or a neighbour outside of `within`."""
        scope, within = application.scope, self.within
        if scope not in self.homes:
            if inside(scope, within):
                paths = (path for path in prefixes(scope) if path in self.folded and not inside(within, path))
            else:
                paths = (path for path in prefixes(scope) if not inside(within, path))
            path = next(paths, None)
            self.homes[scope] = None if path is None else self._folded_key(path)
        return self.homes[scope] or f"a{application.index}"

    def _folded_key(self, path: str) -> str:
        loop = self.loop_at.get(path)
        return f"s{path}" if loop is None or loop.turns[0] in self.open else f"l{loop.turns[0]}"

    def _find_taken(self) -> None:
        """Find the leaves that the iterations of a loop take one by one; the first stands for all of them."""
        for path in self.inner:
            loop = self.loop_at.get(path)
            if loop is None or path != loop.turns[0] or path not in self.folded:
                continue  # only what runs directly in here is one node
            fold = self.timeline.fold(f"l{path}")
            turn = {index: at for at, path in enumerate(loop.turns) for index in self.scopes.members[path]}
            alike: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
            for tensor in dict.fromkeys(t for index in turn for t in self.scopes.shown[index].inputs):
                readers = self.scopes.readers[tensor]
                if self._may_be_taken(tensor, fold) and len({turn.get(reader) for reader in readers}) == 1:
                    record = self.recording.tensors[tensor]
                    op = self.scopes.shown[readers[0]].op
                    alike[op, record.snapshot.shape, record.snapshot.dtype, record.kind].append(tensor)
            for tensors in alike.values():
                if 2 * len(tensors) > len(loop.turns):
                    self.taken |= {tensor: (tensors[0], len(tensors)) for tensor in tensors}

    def _may_be_taken(self, tensor: int, fold: Fold) -> bool:
        """Return whether a tensor is a leaf that only a loop reads; an unnamed number is part of the loop itself."""
        record = self.recording.tensors[tensor]
        if record.application is not None or tensor in self.scopes.later_reads:
            return False
        return (record.snapshot.size > 1 or bool(record.name)) and tensor in fold.private

    def _carried(self) -> list[Edge]:
        """Return, for each loop, an edge to itself for what its iterations hand on."""
        loops = sorted((self.loop_at[key[1:]] for key in self.nodes if key[0] == "l"), key=self.timeline.loops.index)
        handed = {(key := f"l{loop.turns[0]}"): self.timeline.fold(key).carried for loop in loops}
        return [Edge(key, key, tensors[-1], 0, "carried") for key, tensors in handed.items() if tensors]

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
        looped = "l" in (source[0], target[0])
        if looped or target[0] in FOLDED:
            # Between a loop and another node one edge stands for those of all iterations.
            crossing = (source, target, -1 if looped else tensor)
            if crossing in self.crossed:
                return
            self.crossed.add(crossing)
        if target[0] in FOLDED:
            position = self.entered[target]
            self.entered[target] += 1
        self.edges.append(Edge(source, target, tensor, position))

    def _source(self, tensor: int, target: str) -> str | None:
        """Return the node a tensor comes from; None for a leaf that is folded away with all that uses it."""
        made_by = self.recording.tensors[tensor].application
        if made_by is not None and made_by in self.scopes.shown:
            return self._home(self.scopes.shown[made_by])
        if tensor in self.taken:
            return f"t{self.taken[tensor][0]}"
        hidden = target[0] in FOLDED and tensor in self.timeline.fold(target).hidden
        return None if hidden else f"t{tensor}"

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
        times = self.taken.get(record.id, (0, 1))[1]
        value = "" if times > 1 else value
        name = _NUMBERED.sub("", record.name or "") if times > 1 else record.name
        label = name or (value if kind == "constant" and 0 < len(value) <= LABEL_LENGTH else "")
        return Node(key, kind, label or kind, tensors=(record.id,), scope=record.scope, outside=outside, times=times)

    def _node(self, application: Application) -> None:
        key = self._home(application)
        if key in self.nodes:
            return
        outside = not inside(application.scope, self.within)
        if key[0] in FOLDED:
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
        fold = self.timeline.fold(key)
        loop, turns = fold.loop, () if fold.loop is None else fold.loop.turns
        failed = any(self.scopes.shown[index].error is not None for index in fold.members)
        kind = "failed" if failed else "scope" if loop is None else "loop"
        label = fold.path.rsplit("/", 1)[-1] if loop is None else loop.label
        return Node(
            key, kind, label, "", fold.leaving, None, fold.path, fold.members,
            outside=outside, turns=turns, series=fold.series,
        )  # fmt: skip
