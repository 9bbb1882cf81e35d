"""Scopes of a recording: which applications a picture shows, which ran in which scope, and who reads whose results.

Gathered once for a recording and kept by its `Timeline`, because the explorer makes a graph of every scope.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autodiff_lab.recording.model import Application
    from autodiff_lab.recording.recording import Recording


class Scopes:
    """An index of a recording.

    Attributes
    ----------
    shown : dict of int to Application
        Forward applications, and those backward ones that a stepper visits as forward moments (higher orders).
    members : dict of str to list of int
        For every scope, outer ones before inner ones: the shown applications that ran in it or deeper inside.
    below : dict of str to list of str
        For every scope, and under ``""`` for the whole program: the scopes inside, outer ones before inner ones.
    readers : dict of int to list of int
        For every tensor: the shown applications that take it.
    reads : dict of int to list of int
        For every variable: the tensors that were read from it, in order.
    later_reads : frozenset of int
        All reads of variables except the first of each.
    changes : dict of int to str
        For every tensor that was assigned, or added to a variable: the name of the variable.
    targets : frozenset of int
        Tensors of which gradients were taken.
    handed : dict of str to list of (int, int)
        For every scope, and under ``""`` for the whole program: what was assigned to a variable, made or used there,
        and the next tensor that an op read from that variable.
    """

    def __init__(self, recording: Recording) -> None:
        self.shown = shown_ops(recording)
        self.members: dict[str, list[int]] = {}
        self.readers: defaultdict[int, list[int]] = defaultdict(list)
        around: dict[str, tuple[str, ...]] = {}
        for application in self.shown.values():
            scope = application.scope
            if scope not in around:
                around[scope] = prefixes(scope)
            for path in around[scope]:
                self.members.setdefault(path, []).append(application.index)
            for tensor in application.inputs:
                self.readers[tensor].append(application.index)
        self.reads: defaultdict[int, list[int]] = defaultdict(list)
        for key, record in sorted(recording.tensors.items()):
            if record.kind == "variable" and record.variable is not None:
                self.reads[record.variable].append(key)
        self.later_reads = frozenset(key for keys in self.reads.values() for key in keys[1:])
        self.changes = self._changes(recording)
        self.targets = frozenset(target for sweep in recording.sweeps for target in sweep.targets)
        self.below: defaultdict[str, list[str]] = defaultdict(list)
        for path in self.members:
            for outer in ("", *prefixes(path)[:-1]):
                self.below[outer].append(path)
        self.handed: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self._find_handed(recording)

    def _changes(self, recording: Recording) -> dict[int, str]:
        changes: dict[int, str] = {}
        for note in recording.notes:
            if note.kind == "assigned" and note.by is not None:
                read = recording.tensors[self.reads[note.subject][0]].name if note.subject in self.reads else None
                changes[note.by] = read or note.detail
        return changes

    def _find_handed(self, recording: Recording) -> None:
        for given, read in self._assignments(recording):
            made_by = recording.tensors[given].application
            at = self.readers.get(given, ()) if made_by is None or made_by not in self.shown else (made_by,)
            for path in {"": None} | dict.fromkeys(path for index in at for path in prefixes(self.shown[index].scope)):
                self.handed[path].append((given, read))

    def _assignments(self, recording: Recording) -> Iterator[tuple[int, int]]:
        """Yield each tensor that was assigned, with the next one that an op read from the variable."""
        used: dict[int, tuple[list[int], list[int]]] = {}
        for variable, keys in self.reads.items():
            reads = [read for read in keys if read in self.readers]
            # The first op of each, as a running maximum: an early read may be used late, and a search needs an order.
            used[variable] = reads, list(accumulate((self.readers[read][0] for read in reads), max))
        for note in recording.notes:
            known = note.kind == "assigned" and note.before and note.by in recording.tensors
            if known and note.by is not None and note.subject in used:
                reads, starts = used[note.subject]
                at = bisect_left(starts, note.before)
                if at < len(reads):
                    yield note.by, reads[at]

    def around(self, within: str) -> list[Application]:
        """Return the applications inside a scope, and those outside that read what was made in it; in order."""
        if not within:
            return list(self.shown.values())
        inside = self.members[within]
        made = (tensor for index in inside for tensor in self.shown[index].outputs)
        reading = (index for tensor in made for index in self.readers.get(tensor, ()))
        return [self.shown[index] for index in sorted({*inside, *reading})]


def shown_ops(recording: Recording) -> dict[int, Application]:
    """Return by index the forward applications, and those backward ones that a stepper visits as forward moments."""
    visited = {moment.application for moment in recording.order if moment.phase == "forward"}
    return {a.index: a for a in recording.applications if a.cause is None or a.index in visited}


def prefixes(scope: str) -> tuple[str, ...]:
    """Return a scope and all scopes around it, the outermost first.

    Examples
    --------
    >>> prefixes("net/layer1/dense")
    ('net', 'net/layer1', 'net/layer1/dense')
    """
    parts = scope.split("/") if scope else []
    return tuple("/".join(parts[:length]) for length in range(1, len(parts) + 1))


def inside(scope: str, within: str) -> bool:
    """Return whether a scope is another one or lies in it; everything lies in ``""``."""
    return not within or scope == within or scope.startswith(within + "/")
