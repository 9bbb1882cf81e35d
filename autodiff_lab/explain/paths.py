"""The path from a target back to a source through a recording, with every place where a gradient cannot pass.

Values travel through more than ops: they leave by NumPy and come back as constants, go through the state of a
variable, or decide which branch runs.  All of these are edges here; an edge that no gradient passes carries a `Cut`
and has a cost, and the cheapest path from target to source is the best explanation.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from autodiff_lab.events import Place
from autodiff_lab.explain.expressions import acting_as
from autodiff_lab.explain.leaving import Leaving
from autodiff_lab.explain.subjects import Subject
from autodiff_lab.explain.tracking import FOREVER, Tracking, differentiable_dtype
from autodiff_lab.recording.model import Application, OpInfo
from autodiff_lab.recording.recording import Recording

OP, RUN, STATE = 10.0, 2.0, 10.0
"""Costs of a cut: at one op, at each op of a run that the tape did not record, through a variable's state."""


@dataclass(frozen=True)
class Cut:
    """A place where a gradient stops: the cause, the op and line, and the tensor on the source's side of it."""

    cause: str
    tensor: int
    place: Place | None = None
    application: int | None = None
    detail: str = ""


@dataclass(frozen=True)
class Edge:
    """One step from a value to what was made of it."""

    start: int
    end: int
    cut: Cut | None = None
    cost: float = 0.0
    application: int | None = None
    position: int = 0


class Paths:
    """Searches a recording, as one tape saw it, for the path from a target to a source."""

    def __init__(self, recording: Recording, seen: Tracking, source: Subject) -> None:
        self.recording, self.seen, self.source = recording, seen, frozenset(source.tensors)
        self.leaving = Leaving(recording)
        self.born = born(recording)

    def best(self, target: Subject) -> list[Edge] | None:
        """Return the edges of the cheapest path from source to target; None if nothing connects them."""
        best: dict[int, float] = dict.fromkeys(target.tensors, 0.0)
        came: dict[int, Edge] = {}
        heap = [(0.0, -tensor, tensor) for tensor in target.tensors]
        heapq.heapify(heap)
        while heap:
            cost, _, tensor = heapq.heappop(heap)
            if cost > best[tensor]:
                continue
            if tensor in self.source:
                return _walk(tensor, came)
            for edge in self.into(tensor, target):
                total = cost + edge.cost
                if total < best.get(edge.start, float("inf")):
                    best[edge.start] = total
                    came[edge.start] = edge
                    heapq.heappush(heap, (total, -edge.start, edge.start))
        return None

    def into(self, tensor: int, target: Subject) -> Iterator[Edge]:
        """Yield every edge that ends at a tensor."""
        record = self.recording.tensors[tensor]
        if record.application is not None:
            application = self.recording.applications[record.application]
            for position, start in enumerate(application.inputs):
                cut, cost = self.cut(application, start)
                yield Edge(start, tensor, cut, cost, application.index, position)
        elif record.variable is not None:
            yield from self._through_state(tensor, record.variable)
            if tensor in target.tensors:  # a number that came back, and was made a variable to silence an error
                for exit_, cost in self.leaving.exits_behind(tensor, self.born[tensor]):
                    cause = self.leaving.cause(exit_)
                    yield Edge(exit_.subject, tensor, Cut(cause, exit_.subject, exit_.place, None, exit_.detail), cost)
        else:
            if record.kind == "gradient":
                yield from self._through_pass(tensor)
            for exit_, cost in self.leaving.exits_behind(tensor, self.born[tensor]):
                cause = self.leaving.cause(exit_)
                yield Edge(exit_.subject, tensor, Cut(cause, exit_.subject, exit_.place, None, exit_.detail), cost)
        for read, cost in self.leaving.reads_behind(tensor, self.born[tensor]):
            cause = self.leaving.cause(read)
            yield Edge(read.subject, tensor, Cut(cause, read.subject, read.place, None, read.detail), cost)
        for exit_, cost in self.leaving.decisions(tensor, self.born[tensor], tensor in target.tensors):
            yield Edge(exit_.subject, tensor, Cut("control_flow", exit_.subject, exit_.place, None, exit_.detail), cost)

    def cut(self, application: Application, start: int) -> tuple[Cut | None, float]:
        """Return what stops a gradient between an op's output and one of its inputs."""
        recording, index = self.recording, application.index
        op = recording.ops.get(application.op)
        tensors = recording.tensors
        whole = not differentiable_dtype(tensors[start].snapshot.dtype)
        made_whole = all(not differentiable_dtype(tensors[t].snapshot.dtype) for t in application.outputs)
        cause, cost = None, OP
        acts_as = acting_as(recording, application)
        if acts_as == "stop_gradient":
            cause = "stop_gradient"
        elif whole or (made_whole and acts_as.startswith("cast")):
            cause = "integer"
        elif op is not None and not (op.differentiable and self._has_rule(op, application, start)):
            cause = "not_differentiable"
        elif not self.seen.listens(index):
            cause, cost = self._silence(application), RUN
        elif start in self.source and self.seen.since.get(start, FOREVER) > index:
            late = "watched_too_late" if start in self.seen.since else "not_watched"
            cause, cost = "read_outside_tape" if start in self.seen.outside else late, RUN
        if cause is None:
            return None, 0.0
        place = self.seen.reset.place if cause == "tape_reset" and self.seen.reset else None
        return Cut(cause, start, place or application.place, index), cost

    def _has_rule(self, op: OpInfo, application: Application, start: int) -> bool:
        """Return whether one of our ops has a derivative with respect to an input: most have one for each of them."""
        formulas = op.locals_latex
        return (
            bool(self.recording.framework)
            or len(formulas) != len(application.inputs)
            or any(formula for formula, tensor in zip(formulas, application.inputs, strict=True) if tensor == start)
        )

    def _silence(self, application: Application) -> str:
        silence = self.seen.silence(application.index)
        if silence == "paused":
            return "recording_stopped"
        if silence == "reset":
            return "tape_reset"
        return "outside_tape" if application.cause is None else "inner_gradient_outside"

    def _through_pass(self, tensor: int) -> Iterator[Edge]:
        """A gradient depends on what its backward pass went through, although no op was recorded that made it."""
        for sweep in self.recording.sweeps:
            if tensor in sweep.results:
                for start in (*sweep.sources, *sweep.targets):
                    cut = Cut("inner_gradient_outside", start, sweep.place)
                    yield Edge(start, tensor, cut, RUN)

    def _through_state(self, tensor: int, variable: int) -> Iterator[Edge]:
        for note in self.recording.notes:
            if (
                note.kind == "assigned"
                and note.subject == variable
                and note.by is not None
                and note.before <= self.born[tensor]
            ):
                sources = (note.by,) if note.by in self.recording.tensors else self._reads(note.by)
                for start in sources:
                    if start != tensor and self.born[start] <= note.before:
                        yield Edge(start, tensor, Cut("state_read", start, note.place, None, note.detail), STATE)

    def _reads(self, variable: int) -> tuple[int, ...]:
        return tuple(r.id for r in self.recording.tensors.values() if r.variable == variable)


def born(recording: Recording) -> dict[int, int]:
    """Return the application that made each tensor, and for others the one that came next when they were met."""
    times: dict[int, int] = {}
    now = 0
    for record in recording.tensors.values():
        if record.application is not None:
            now = record.application
            times[record.id] = now
            now += 1
        else:
            times[record.id] = now
    return times


def _walk(tensor: int, came: dict[int, Edge]) -> list[Edge]:
    edges: list[Edge] = []
    while tensor in came:
        edges.append(came[tensor])
        tensor = came[tensor].end
    return edges
