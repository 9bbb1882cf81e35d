"""The state at a moment: which values exist, which adjoints have arrived, and which never will.

Pictures and the stepper ask a `Timeline` instead of reading the recording themselves, so that one piece
of code distinguishes "not computed yet", zero and "no path".  Moments are indices into `Recording.order`, and a
query returns the state after that moment; None stands for the end of the program.
"""

from __future__ import annotations

from collections import defaultdict
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from autodiff_lab.draw.deliveries import Delivery, deliveries
from autodiff_lab.draw.folds import Fold
from autodiff_lab.draw.loops import with_loops
from autodiff_lab.draw.nested import Frame, with_frames
from autodiff_lab.draw.scopes import Scopes

if TYPE_CHECKING:
    from autodiff_lab.draw.loops import Loop
    from autodiff_lab.draw.model import Node
    from autodiff_lab.recording.recording import Recording

START = -1
"""The moment before the first one."""


@dataclass(frozen=True, slots=True)
class Gradient:
    """The adjoint of a tensor at a moment.

    `state` is 'known' (then `tensor` is the adjoint's id), 'pending' (not computed yet), 'no path' (a finished sweep
    did not get here) or 'none' (nothing is expected: no sweep, or a constant that no sweep reached).  `arrived`
    contributions of `expected` are summed in it; a seed counts as one of one.
    """

    state: str
    tensor: int | None = None
    arrived: int = 0
    expected: int = 0


@dataclass(frozen=True, slots=True)
class _Arrival:
    moment: int
    sweep: int
    total: int
    arrived: int
    expected: int


class Timeline:
    """The moments of a recording, indexed by what happens in them.

    Parameters
    ----------
    recording : Recording
        Read once; the timeline keeps no copy of its values.  Its own `recording` has scopes for the iterations of a
        loop.
    """

    def __init__(self, recording: Recording) -> None:
        self.stepped = False
        """Whether for the explorer; see `for_stepping`."""
        self._read(*with_loops(recording), {})

    def for_stepping(self) -> Timeline:
        """Return that for the explorer, which has frames around nested tapes, and shows the gradients of any pass."""
        recording, loops, frames = with_frames(self.recording, self.loops)
        other = copy(self)  # with all that has been found so far
        if recording is not self.recording:
            vars(other).clear()
            other._read(recording, loops, frames)
        other.stepped, other.sized = True, {} if len(recording.sweeps) > 1 else other.sized  # one may be chosen
        return other

    def _read(self, recording: Recording, loops: tuple[Loop, ...], frames: dict[str, Frame]) -> None:
        self.sized: dict[Node, Node] = {}
        """Nodes with their sizes, by themselves without: found once, although many views have the node."""
        self._folds: dict[str, Fold] = {}
        self.recording, self.loops, self.frames = recording, loops, frames
        self.end = len(recording.order)
        self.ran: dict[int, int] = {}
        self.visited: dict[tuple[int, int], int] = {}
        for index, moment in enumerate(recording.order):
            if moment.phase == "forward":
                self.ran[moment.application] = index
            elif moment.sweep is not None and moment.step is not None:
                self.visited[moment.sweep, moment.step] = index
        self.spans = tuple(self._span(sweep.index, len(sweep.steps)) for sweep in recording.sweeps)

    def _span(self, sweep: int, steps: int) -> tuple[int, int]:
        moments = [self.visited[sweep, step] for step in range(steps) if (sweep, step) in self.visited]
        return (min(moments), max(moments)) if moments else (self.end, self.end)

    def has_run(self, application: int, moment: int | None = None) -> bool:
        """Return whether an application has run; one that no moment mentions ran before the first."""
        return moment is None or self.ran.get(application, START) <= moment

    def has_value(self, tensor: int, moment: int | None = None) -> bool:
        """Return whether a tensor has its value: leaves always do, unless a backward pass has yet to make them."""
        if tensor in self.delivered:
            return moment is None or self.delivered[tensor].moment <= moment
        made_by = self.recording.tensors[tensor].application
        return made_by is None or self.has_run(made_by, moment)

    def gradient(self, tensor: int, moment: int | None = None) -> Gradient:
        """Return the adjoint of a tensor: from the latest sweep that reaches it, including the one in progress."""
        now = self.end if moment is None else moment
        arrivals = self.arrivals.get(tensor, ())
        begun = [a for a in arrivals if self.spans[a.sweep][0] <= now]
        if begun:
            latest = begun[-1].sweep
            here = [a for a in begun if a.sweep == latest and a.moment <= now]
            if here:
                last = here[-1]
                return Gradient("known", last.total, last.arrived, last.expected)
            return Gradient("pending", None, 0, begun[-1].expected)
        if arrivals:
            return Gradient("pending", None, 0, arrivals[0].expected)
        if not self.recording.sweeps or tensor not in self.tracked:
            return Gradient("none")
        return Gradient("no path" if self._passed_by(tensor, now) else "pending")

    def flow_moment(self, application: int, position: int, moment: int | None = None) -> int | None:
        """Return when a contribution passed back through an input: in the latest sweep, else the first; or None."""
        return self._latest(self.shares.get((application, position), ()), moment)

    def flow_moment_into(self, application: int, tensor: int, moment: int | None = None) -> int | None:
        """Return the same for any input of the application that holds `tensor`."""
        inputs = self.recording.applications[application].inputs
        moments = [self.flow_moment(application, at, moment) for at, held in enumerate(inputs) if held == tensor]
        return max((m for m in moments if m is not None), default=None)

    def _latest(self, moments: tuple[tuple[int, int], ...], moment: int | None) -> int | None:
        now = self.end if moment is None else moment
        begun = [at for at, sweep in moments if self.spans[sweep][0] <= now]
        return begun[-1] if begun else (moments[0][0] if moments else None)

    def _passed_by(self, tensor: int, now: int) -> bool:
        made_by = self.recording.tensors[tensor].application
        since = START if made_by is None else self.ran.get(made_by, START)
        return any(
            sweep.finished and since <= first and last <= now
            for sweep, (first, last) in zip(self.recording.sweeps, self.spans, strict=True)
        )

    @cached_property
    def scopes(self) -> Scopes:
        """Which applications are shown, and in which scopes they ran."""
        return Scopes(self.recording)

    @cached_property
    def loop_at(self) -> dict[str, Loop]:
        """By path of an iteration: its loop."""
        return {path: loop for loop in self.loops for path in loop.turns}

    def fold(self, key: str) -> Fold:
        """Return what a folded node holds: ``s`` and the path of a scope, or ``l`` and that of a first iteration."""
        if key not in self._folds:
            self._folds[key] = Fold(self, key[1:], self.loop_at[key[1:]] if key[0] == "l" else None)
        return self._folds[key]

    @cached_property
    def delivered(self) -> dict[int, Delivery]:
        """What backward passes made and no shown op did, by tensor."""
        return deliveries(self.recording, self.visited, self.ran)

    @cached_property
    def arrivals(self) -> dict[int, tuple[_Arrival, ...]]:
        """For every tensor that a sweep reaches, its partial sums in order."""
        found: defaultdict[int, list[_Arrival]] = defaultdict(list)
        for sweep in self.recording.sweeps:
            first = self.spans[sweep.index][0]
            for target, seed in zip(sweep.targets, sweep.seeds, strict=False):
                found[target].append(_Arrival(first, sweep.index, seed, 1, 1))
            for step in sweep.steps:
                moment = self.visited.get((sweep.index, step.index), self.end)
                for flow in step.flows:
                    arrival = _Arrival(moment, sweep.index, flow.total, flow.arrived, flow.expected)
                    found[flow.input].append(arrival)
        return {tensor: tuple(list_) for tensor, list_ in found.items()}

    @cached_property
    def overlapping(self) -> frozenset[int]:
        """Tensors that a pass reaches, if any two passes reach one of them in common."""
        met = [sweep for each in self.arrivals.values() for sweep in {arrival.sweep for arrival in each}]
        return frozenset(self.arrivals) if len(met) > len(self.arrivals) else frozenset()

    @cached_property
    def shares(self) -> dict[tuple[int, int], tuple[tuple[int, int], ...]]:
        """For every input of an application (index, position): moments and sweeps of the contributions passed on."""
        found: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        for sweep in self.recording.sweeps:
            for step in sweep.steps:
                moment = self.visited.get((sweep.index, step.index), self.end)
                for flow in step.flows:
                    found[step.application, flow.position].append((moment, sweep.index))
        return {key: tuple(list_) for key, list_ in found.items()}

    @cached_property
    def tracked(self) -> frozenset[int]:
        """Tensors that may have a gradient: variables, watched ones, sources, and all that is made of them."""
        recording = self.recording
        asked = {key for key, record in recording.tensors.items() if record.kind == "variable"}
        asked |= {note.subject for note in recording.notes if note.kind == "watched"}
        asked |= {source for sweep in recording.sweeps for source in sweep.sources}
        for application in recording.applications:
            # What a backward pass made is not part of the computation, unless an outer tape recorded it.
            if application.cause is not None and application.index not in self.ran:
                continue
            if not asked.isdisjoint(application.inputs):
                asked |= {output for output in application.outputs if self._continuous(output)}
        return frozenset(asked)

    def _continuous(self, tensor: int) -> bool:
        return self.recording.tensors[tensor].snapshot.dtype.startswith(("float", "bfloat", "complex"))
