"""From events to a Recording: events kept while the program ran are put in order once, at the first use.

A builder has one method for each kind of event.  What refers forward (how many contributions an adjoint will get, the
result of a backward pass) is computed at the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from autodiff_lab.events import (
    FaultFound,
    GradientFlowed,
    OpApplied,
    OpDescribed,
    OpFailed,
    Place,
    SweepEnded,
    SweepStarted,
    TapeClosed,
    TapeOpened,
    TapeSwitched,
    TensorLeft,
    TensorMet,
    TensorNamed,
    TensorRead,
    TensorWatched,
    Transferred,
    VariableAssigned,
)
from autodiff_lab.recording.choosing import LEFT_OUT, Choice
from autodiff_lab.recording.model import Application, Flow, Moment, Note, OpInfo, Step, Sweep, TensorRecord
from autodiff_lab.recording.names import Namer, given_name
from autodiff_lab.recording.numbers import counted
from autodiff_lab.recording.parameters import plain
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.schema import clean
from autodiff_lab.recording.snapshot import NOT_SEEN, Policy, Snapshot, kept
from autodiff_lab.recording.sources import labels_of, lines_at
from autodiff_lab.recording.statements import Statements

if TYPE_CHECKING:
    from autodiff_lab.recording.recorder import Recorder


def build(recorder: Recorder) -> Recording:
    """Make a recording of the events that a recorder kept."""
    return build_from(recorder.made(), recorder, recorder.choice)


def build_from(
    events: Iterable[Any], recorder: Recorder, choice: Choice | None = None, policy: Policy | None = None
) -> Recording:
    """Make a recording of events, with the policy, the names and the title of a recorder."""
    builder = _Builder(policy or recorder.policy)
    if choice is not None:
        events = list(events)
        builder.choice, builder.called = choice, _called(events, recorder)
        builder.left_out = recorder.left_out
    for event in events:
        _HANDLERS[event.__class__](builder, event)
    return builder.finish(recorder)


def _called(events: list[Any], recorder: Recorder) -> dict[int, set[str]]:
    """Return all names of results: what a recording of all ops would show, and the local variables that hold them."""
    names = {key: {*held} for key, held in recorder.names.items()}
    for key, record in build_from(events, recorder, policy=lambda value, leaf: NOT_SEEN).tensors.items():
        if record.name:
            names.setdefault(key, set()).add(record.name)
    return names


class _OpenSweep:
    """A backward pass in progress: its steps as pairs of an application and the flows so far."""

    def __init__(self, index: int, event: SweepStarted) -> None:
        self.index, self.event = index, event
        self.steps: list[tuple[int, tuple[int | None, ...], list[tuple[GradientFlowed, int]]]] = []
        self.arrived: Counter[int] = Counter()
        self.results: tuple[int | None, ...] | None = None


@dataclass
class _OpenTape:
    """A tape's block: applications and tensors that existed when it began, its last application, what it read."""

    start: int
    met: int
    end: int | None = None
    reads: set[int] = field(default_factory=set)


class _Builder:
    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.ops: dict[str, OpInfo] = {}
        self.tensors: dict[int, TensorRecord] = {}
        self.applications: list[Application] = []
        self.made_by: dict[int, int] = {}
        self.sweeps: dict[int, _OpenSweep] = {}
        self.open: list[_OpenSweep] = []
        self.met_in_sweeps: set[int] = set()
        self.moments: list[tuple[int, int | None, int | None]] = []
        self.notes: list[Note] = []
        self.reads: dict[int, int] = {}
        self.opened: dict[int, _OpenTape] = {}
        self.choice: Choice | None = None
        self.called: dict[int, set[str]] = {}
        self.left_out = 0

    def leave_out(self, event: OpApplied) -> bool:
        """Make leaves of the results of an op that is not kept, or that a rule of such an op ran."""
        if self.choice is None:
            return False
        if event.cause is None and self.cause(None, event.place) is None:
            names = [name for tensor in event.outputs for name in self.called.get(tensor, ())]
            if self.choice.keeps(event.op, event.scope, names):
                return False
            self.left_out += 1
        elif event.cause is None or event.cause in self.made_by:
            return False
        kind = "constant" if event.cause is None else "gradient"
        for tensor, value in zip(event.outputs, event.values, strict=True):
            self.tensor_met(TensorMet(tensor, kind, None, value, None, False, event.place, event.scope))
        return True

    def op_described(self, event: OpDescribed) -> None:
        self.ops[event.op] = OpInfo(*event)

    def tensor_met(self, event: TensorMet) -> None:
        if event.variable is not None:
            self.reads[event.variable] = event.tensor
        if event.tensor in self.tensors:
            return
        if self.open and event.place == self.open[-1].event.place:
            self.met_in_sweeps.add(event.tensor)
        self.tensors[event.tensor] = TensorRecord(
            event.tensor,
            event.kind,
            given_name(event.name),
            self.keep(event.value, True),
            None,
            event.variable,
            event.trainable,
            event.place,
            clean(event.scope),
        )

    def tensor_named(self, event: TensorNamed) -> None:
        record = self.tensors.get(event.tensor)
        if record is not None and record.variable is None:  # what is read of a variable has the variable's name
            self.tensors[event.tensor] = replace(record, name=given_name(event.name))

    def keep(self, value: Any, leaf: bool) -> Snapshot:
        return kept(self.policy, value, leaf)

    def op_applied(self, event: OpApplied) -> None:
        if self.leave_out(event):
            return
        op, inputs, outputs, params, values, cause, place, scope = event
        scope = clean(scope)
        index = len(self.applications)
        for tensor in inputs:
            self.known(tensor)
        self.applications.append(
            Application(index, op, inputs, outputs, plain(params) or None, self.cause(cause, place), place, scope)
        )
        self.moments.append((index, None, None))
        for tensor, value in zip(outputs, values, strict=True):
            self.made_by[tensor] = index
            self.tensors[tensor] = TensorRecord(
                tensor, "output", None, self.keep(value, False), index, None, False, place, scope
            )

    def cause(self, output: int | None, place: Place | None) -> int | None:
        """Return the application whose rule ran an op.

        After its last step a backward pass still adds up what arrived at several reads of one variable.
        Those ops run at its own line, and belong to the last application that it visited.
        """
        if output is not None:
            return self.made_by.get(output)
        if self.open and self.open[-1].steps and place == self.open[-1].event.place:
            return self.open[-1].steps[-1][0]
        return None

    def op_failed(self, event: OpFailed) -> None:
        index = len(self.applications)
        for tensor in event.inputs:
            self.known(tensor)
        self.applications.append(
            Application(
                index,
                event.op,
                event.inputs,
                (),
                plain(event.params) or None,
                None,
                event.place,
                clean(event.scope),
                clean(f"{event.error}: {event.message}"),
            )
        )
        self.moments.append((index, None, None))

    def known(self, tensor: int) -> int:
        """Make sure that an id has a record, if only to say that its value is unknown."""
        if tensor not in self.tensors:
            self.tensors[tensor] = TensorRecord(tensor, "constant", None, NOT_SEEN)
        return tensor

    def sweep_started(self, event: SweepStarted) -> None:
        for tensor in (*event.targets, *event.seeds, *event.untracked):
            self.known(tensor)
        self.met_in_sweeps.update(event.seeds)
        sweep = self.sweeps[event.sweep] = _OpenSweep(len(self.sweeps), event)
        self.open.append(sweep)
        if event.tape in self.opened:
            self.opened[event.tape].reads.update(event.reads)

    def gradient_flowed(self, event: GradientFlowed) -> None:
        sweep, application = self.sweeps.get(event.sweep), self.made_by.get(event.application)
        if sweep is None or application is None:
            return
        steps = sweep.steps
        if not steps or steps[-1][0] != application:
            steps.append((application, event.incoming, []))
            self.moments.append((application, sweep.index, len(steps) - 1))
        sweep.arrived[event.input] += 1
        if event.local is not None:  # kept small at once: it may have been computed just now
            event = event._replace(local=self.keep(event.local, False))
        steps[-1][2].append((event, sweep.arrived[event.input]))
        for tensor in (event.outgoing, event.total, *event.incoming):
            if tensor is not None:
                self.known(tensor)

    def sweep_ended(self, event: SweepEnded) -> None:
        sweep = self.sweeps.get(event.sweep)
        if sweep is not None:
            sweep.results = event.results
            self.open.remove(sweep)

    def note(self, kind: str, subject: int, detail: str, place: Any, by: int | None = None) -> None:
        self.notes.append(Note(kind, subject, clean(detail), place, len(self.applications), by))

    def tape_opened(self, event: TapeOpened) -> None:
        self.note("tape opened", event.tape, _kind_of_tape(event), event.place)
        self.opened.setdefault(event.tape, _OpenTape(len(self.applications), len(self.tensors)))

    def tape_closed(self, event: TapeClosed) -> None:
        self.note("tape closed", event.tape, "", None)
        if event.tape in self.opened:
            tape = self.opened[event.tape]
            tape.end = len(self.applications)
            tape.reads.update(event.reads)

    def note_reads_outside(self) -> None:
        """Note reads of variables made before a tape's block that ops inside it used, unseen by the tape.

        No event says whether a tensor that was read before is read again or merely used; the tape itself knows.
        """
        position = {key: number for number, key in enumerate(self.tensors)}
        for key, tape in self.opened.items():
            used = {t for application in self.applications[tape.start : tape.end] for t in application.inputs}
            for tensor in sorted(used - tape.reads) if tape.end is not None else ():
                record = self.tensors[tensor]
                if record.variable is not None and position[tensor] < tape.met:
                    self.notes.append(Note("read outside", tensor, "", record.place, tape.start, key))

    def finish(self, recorder: Recorder) -> Recording:
        if self.left_out:
            self.note(LEFT_OUT, 0, counted(self.left_out, "op"), None)
        applications = tuple(self.applications)
        self.note_reads_outside()
        read = self.tensors.keys() | {record.variable for record in self.tensors.values()}
        unread = {key: held[0] for key, held in recorder.names.items() if key not in read}
        sweeps = tuple(self.closed(sweep, read, unread) for sweep in self.sweeps.values())
        self.forget_unused(applications, sweeps)
        places = [x.place for group in (self.tensors.values(), applications, sweeps, self.notes) for x in group]
        statements = Statements()
        around = [header for place in {*places} if place is not None for header in statements.headers(place)]
        sources = lines_at([*places, *around])
        names = Namer(statements, recorder.names, self.ops, sources).names(
            self.tensors, applications, sweeps, self.met_in_sweeps
        )
        for key, name in names.items():
            if key in self.tensors:
                self.tensors[key] = replace(self.tensors[key], name=clean(name))
        return Recording(
            ops=self.ops,
            tensors=self.tensors,
            applications=applications,
            sweeps=sweeps,
            order=self.order(sweeps),
            notes=tuple(self.notes),
            sources=sources,
            labels=labels_of(sources),
            error=None if recorder.error is None else clean(recorder.error),
            replayable=not self.left_out
            and all(t.snapshot.array is not None for t in self.tensors.values() if t.application is None),
            title=clean(recorder.title),
            framework=recorder.framework,
        )

    def forget_unused(self, applications: tuple[Application, ...], sweeps: tuple[Sweep, ...]) -> None:
        """Leave out values that merely passed by, such as the list that a variable was made from."""
        used = {key for note in self.notes for key in (note.subject, note.by)}
        for application in applications:
            used.update(application.inputs, application.outputs)
        for sweep in sweeps:
            used.update(sweep.targets, sweep.seeds, sweep.sources, sweep.untracked)
            used.update(result for result in sweep.results if result is not None)
            for step in sweep.steps:
                used.update(tensor for tensor in step.incoming if tensor is not None)
                used.update(tensor for flow in step.flows for tensor in (flow.outgoing, flow.total))
        self.tensors = {key: record for key, record in self.tensors.items() if key in used}

    def closed(self, sweep: _OpenSweep, read: set[int | None], unread: dict[int, str]) -> Sweep:
        """Return a backward pass; `read` are the ids that the recording has, `unread` local variables of others."""
        given = sweep.event.names or ("",) * len(sweep.event.sources)
        pairs = zip(sweep.event.sources, given, strict=True)
        names = tuple("" if key in read else clean(given_name(name) or unread.get(key, "")) for key, name in pairs)
        steps = tuple(
            Step(
                index,
                application,
                incoming,
                tuple(
                    Flow(
                        *(e.position, e.input, e.outgoing, e.total, arrived, sweep.arrived[e.input]),
                        *(self.local(e.local), e.summed),
                    )
                    for e, arrived in flows
                ),
            )
            for index, (application, incoming, flows) in enumerate(sweep.steps)
        )
        event = sweep.event
        results = sweep.results or (None,) * len(event.sources)
        return Sweep(
            sweep.index,
            event.tape,
            event.targets,
            event.seeds,
            event.sources,
            tuple(None if r is None else self.known(r) for r in results),
            steps,
            event.place,
            sweep.results is not None,
            event.untracked,
            names=names if any(names) else (),
        )

    def local(self, value: Any) -> Snapshot | None:
        """Return a local derivative, None where there is none or where it could not be found any more."""
        found = None if value is None else self.keep(value, False)
        return None if found is NOT_SEEN else found

    def order(self, sweeps: tuple[Sweep, ...]) -> tuple[Moment, ...]:
        """Return what a stepper stops at: forward ops, steps, and ops of a backward pass that another one visited."""
        visited = {step.application for sweep in sweeps for step in sweep.steps}
        return tuple(
            Moment("forward", application) if sweep is None else Moment("backward", application, sweep, step)
            for application, sweep, step in self.moments
            if sweep is not None or self.applications[application].cause is None or application in visited
        )


def _copy_in_words(event: Transferred) -> str:
    where = "CPU" if event.direction == "to host" else "GPU"
    return f"{event.bytes:,} bytes to the {where}: {event.why}"


def _kind_of_tape(event: TapeOpened) -> str:
    return " ".join([*["persistent"] * event.persistent, *["manual"] * (not event.automatic)])


_HANDLERS: dict[type, Callable[[_Builder, Any], None]] = {
    OpDescribed: _Builder.op_described,
    TensorMet: _Builder.tensor_met,
    TensorNamed: _Builder.tensor_named,
    OpApplied: _Builder.op_applied,
    OpFailed: _Builder.op_failed,
    SweepStarted: _Builder.sweep_started,
    GradientFlowed: _Builder.gradient_flowed,
    SweepEnded: _Builder.sweep_ended,
    TensorRead: lambda b, e: b.note("read", e.tensor, e.how, e.place),
    TensorLeft: lambda b, e: b.note("left", e.tensor, e.how, e.place),
    FaultFound: lambda b, e: b.note(f"fault {e.cause}", e.subject, e.detail, e.place, e.by),
    VariableAssigned: lambda b, e: b.note("assigned", e.variable, given_name(e.name) or "", e.place, e.source),
    TensorWatched: lambda b, e: b.note("watched", e.tensor, "", e.place, e.tape),
    TapeOpened: _Builder.tape_opened,
    TapeSwitched: lambda b, e: b.note(f"tape {e.how}", e.tape, "", e.place),
    TapeClosed: _Builder.tape_closed,
    Transferred: lambda b, e: b.note("copied", 0, _copy_in_words(e), e.place),
}
