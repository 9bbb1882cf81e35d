"""Folds: what a folded scope or loop holds, what leaves it, and which leaves it hides.

None of this depends on the picture around it.  The explorer has a picture of every scope, and each shows its neighbours
folded; so a fold is found once for a recording and kept by its `Timeline`.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from autodiff_lab.draw.scopes import prefixes
from autodiff_lab.draw.series import carried, series_of

if TYPE_CHECKING:
    from autodiff_lab.draw.loops import Loop
    from autodiff_lab.draw.model import Series
    from autodiff_lab.draw.timeline import Timeline

MOST_LEAVES = 6
"""How many leaves a folded scope without any other input shows."""


class Fold:
    """A scope, or all iterations of a loop, as one node.

    Parameters
    ----------
    timeline : Timeline
        That of the recording.
    path : str
        The scope; of a loop, its first iteration.
    loop : Loop, optional
        The loop, if it is one.

    Attributes
    ----------
    members : tuple of int
        The applications in it.
    private : frozenset of int
        The tensors that ops in it take, and no others.
    """

    def __init__(self, timeline: Timeline, path: str, loop: Loop | None = None) -> None:
        self.timeline, self.path, self.loop = timeline, path, loop
        self.scopes, readers = timeline.scopes, timeline.scopes.readers
        self.paths = dict.fromkeys((path,) if loop is None else loop.turns)
        self.members = tuple(index for one in self.paths for index in self.scopes.members[one])
        self._reads = Counter(tensor for index in self.members for tensor in self.scopes.shown[index].inputs)
        self.private = frozenset(tensor for tensor, count in self._reads.items() if count == len(readers[tensor]))

    @cached_property
    def leaving(self) -> tuple[int, ...]:
        """Its results: gradient targets, else values used outside, else unused values."""
        # What a loop computes is what its last iteration leaves behind.
        members = self.members if self.loop is None else self.scopes.members[self.loop.turns[-1]]
        made = (tensor for index in members for tensor in self.scopes.shown[index].outputs)
        leaving = [tensor for tensor in made if tensor not in self.private]
        told = [t for t in leaving if t in self.scopes.targets or self.scopes.readers.get(t)] or leaving
        return tuple(sorted(told, key=lambda tensor: tensor not in self.scopes.targets))

    @cached_property
    def hidden(self) -> frozenset[int]:
        """The leaves that are private to it; none where it would have no input but these few."""
        made = {tensor for index in self.members for tensor in self.scopes.shown[index].outputs}
        inputs = self._reads.keys() - made
        hidden = frozenset(tensor for tensor in inputs & self.private if self._folds_away(tensor))
        fed = self.loop is not None or len(inputs) > MOST_LEAVES or len(hidden) < len(inputs)
        return hidden if fed else frozenset()

    def _folds_away(self, tensor: int) -> bool:
        """Return whether a private leaf is hidden: a parameter or number that was made in here."""
        if tensor in self.scopes.later_reads:
            return True
        record = self.timeline.recording.tensors[tensor]
        small = record.kind == "variable" or record.snapshot.size == 1 or tensor in self.timeline.delivered
        return (small or not record.name) and any(path in self.paths for path in prefixes(record.scope))

    @cached_property
    def carried(self) -> list[int]:
        """What each iteration of the loop hands to the next, as `draw.series.carried` has it."""
        return [] if self.loop is None else carried(self.loop, self.timeline)

    @cached_property
    def series(self) -> tuple[Series, ...]:
        """The curves of the loop."""
        return () if self.loop is None else series_of(self.loop, self.carried, self.timeline)
