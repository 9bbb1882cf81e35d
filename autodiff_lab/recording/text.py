"""The printed form of a recording: what goldens, notebook tests, documents and screen readers read.

Tensors are numbered in order of appearance when the text is made, and it contains no addresses, times or paths, so
that the same program prints the same text everywhere:

    %0: f32 = variable         # x = 3
    %1: f32 = mul(%0, %0)      # y = 9   script.py, line 4: y = x * x
    backward pass from %1 (y)  # script.py, line 5: grad = tape.gradient(y, x)
    %1 += f32                  # 1
    %1 mul: %0 += f32, %0 += f32   # 3 (1 of 2), 3 (2 of 2, total 6)
    %0: gradient f32           # grad = 6
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

from autodiff_lab.events import Place
from autodiff_lab.recording.model import Application, Flow, Note, Step, Sweep
from autodiff_lab.recording.names import one_line, short_name
from autodiff_lab.recording.numbers import brief
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.snapshot import Snapshot

WIDEST = 44
"""The column beyond which comments are no longer aligned."""
LEFT_OUT = "⋯"
_DTYPES = {"float": "f", "int": "i", "uint": "u", "complex": "c", "bfloat": "bf"}


def text(
    recording: Recording, *, values: bool = True, lines: bool = True, most: int | None = None, room: float = math.inf
) -> str:
    """Return the printed form, or its first `most` lines; see `Recording.to_text`.

    Of what does not find `room`, a number of characters, the values are not worked out: it is to be cut off.
    """
    printer = _Printer(recording, values, lines)
    rows = []
    for row in islice(printer.rows(), most):
        rows.append(row)
        room -= len(row[0]) + len(row[1]) + 1
        printer.cut = room < 0
    rows = rows or [("no op ran", "")]
    width = min(max((len(left) for left, comment in rows if comment), default=0), WIDEST)
    return "\n".join(f"{left:<{width}}  # {comment}" if comment else left for left, comment in rows)


def kind_of(snapshot: Snapshot) -> str:
    """Return dtype and shape in short form.

    Examples
    --------
    >>> kind_of(Snapshot("float32", (2, 3), None)), kind_of(Snapshot("bool", (), None))
    ('f32[2,3]', 'bool')
    """
    letters = snapshot.dtype.rstrip("0123456789")
    short = _DTYPES.get(letters, letters) + snapshot.dtype[len(letters) :]
    return f"{short}[{','.join(map(str, snapshot.shape))}]" if snapshot.shape else short


class _Printer:
    """Walks a recording in chronological order and yields each line as its text and its comment."""

    def __init__(self, recording: Recording, values: bool, lines: bool) -> None:
        self.recording, self.values, self.lines, self.cut = recording, values, lines, False
        self.printed: set[int] = set()
        self.scope = ""
        self.sweep: int | None = None

    def rows(self) -> Iterator[tuple[str, str]]:
        recording = self.recording
        notes = list(filter(_is_told, recording.notes))
        for moment in recording.order:
            if moment.sweep is None or moment.step is None:
                while notes and notes[0].before <= moment.application:
                    yield from self.note(notes.pop(0))
                yield from self.application(recording.applications[moment.application])
            else:
                yield from self.moment(recording.sweeps[moment.sweep], moment.step)
        for sweep in recording.sweeps:
            if not sweep.steps:
                yield from self.start(sweep)
                yield from self.end(sweep)
        for note in notes:
            yield from self.note(note)
        if recording.error is not None:
            yield f"the program ended with {one_line(recording.error)}", ""

    def moment(self, sweep: Sweep, step: int) -> Iterator[tuple[str, str]]:
        if step == 0:
            yield from self.start(sweep)
        elif sweep.index != self.sweep:
            yield f"{direction(sweep)} pass {sweep.index + 1} continues", ""
        self.sweep = sweep.index
        yield self.step(sweep, sweep.steps[step])
        if step == len(sweep.steps) - 1:
            yield from self.end(sweep)

    def application(self, application: Application) -> Iterator[tuple[str, str]]:
        for tensor in application.inputs:
            yield from self.leaf(tensor)
        yield from self.enter(application.scope)
        outputs = ", ".join(f"{self.number(t)}: {self.kind(t)}" for t in application.outputs)
        inputs = [self.number(t) for t in application.inputs]
        parameters = [f"{key}={written(value)}" for key, value in (application.params or {}).items()]
        call = f"{one_line(application.op)}({', '.join(inputs + parameters)})"
        if application.error is not None:
            left, comment = f"FAILED {call}", one_line(application.error)
        else:
            left, comment = f"{outputs} = {call}", ", ".join(self.value(t) for t in application.outputs)
        if application.cause is not None:
            cause = self.recording.applications[application.cause]
            comment = ", ".join(filter(None, [comment, f"derivative of {self.number(cause.outputs[0])} {cause.op}"]))
        yield self.indented(left), self.comment(comment, application.place)

    def leaf(self, tensor: int) -> Iterator[tuple[str, str]]:
        record = self.recording.tensors[tensor]
        if tensor in self.printed or record.application is not None:
            return
        self.printed.add(tensor)
        yield from self.enter(record.scope)
        yield self.indented(f"{self.number(tensor)}: {self.kind(tensor)} = {record.kind}"), self.value(tensor)

    def enter(self, scope: str) -> Iterator[tuple[str, str]]:
        if scope != self.scope:
            self.scope = scope
            if scope:
                yield f"in {short_name(scope)}:", ""

    def indented(self, line: str) -> str:
        return f"  {line}" if self.scope else line

    def start(self, sweep: Sweep) -> Iterator[tuple[str, str]]:
        yield from self.enter("")
        for source in sweep.sources:
            if source in self.recording.tensors:
                yield from self.leaf(source)
        number = f" {sweep.index + 1}" if len(self.recording.sweeps) > 1 else ""
        targets = ", ".join(map(self.named, sweep.targets)) or "nothing that the tape watched"
        yield f"{direction(sweep)} pass{number} from {targets}", self.comment("", sweep.place)
        for target, seed in zip(sweep.targets, sweep.seeds, strict=False):
            sign = ": tangent" if sweep.forward else " +="
            yield f"{self.number(target)}{sign} {self.kind(seed)}", self.comment(self.value(seed, name=False), None)
        for tensor, adjoint in sweep.carried:
            left = f"{self.number(tensor)} already held {self.kind(adjoint)}"
            yield left, self.comment(self.value(adjoint, name=False), None)

    def step(self, sweep: Sweep, step: Step) -> tuple[str, str]:
        application = self.recording.applications[step.application]
        output = "" if sweep.forward else ", ".join(map(self.number, application.outputs)) + " "
        shares = ", ".join(f"{self.number(flow.input)} += {self.kind(flow.outgoing)}" for flow in step.flows)
        return f"{output}{application.op}: {shares}", ", ".join(filter(None, map(self.share, step.flows)))

    def share(self, flow: Flow) -> str:
        if not self.values:
            return ""
        tensors = self.recording.tensors
        if self.cut:
            return LEFT_OUT
        shown = brief(tensors[flow.outgoing].snapshot)
        if flow.expected < 2:
            return shown
        total = f", total {brief(tensors[flow.total].snapshot)}" if flow.arrived > 1 else ""
        return f"{shown} ({flow.arrived} of {flow.expected}{total})"

    def end(self, sweep: Sweep) -> Iterator[tuple[str, str]]:
        if not sweep.finished:
            yield f"the {direction(sweep)} pass did not finish", ""
            return
        what = "tangent" if sweep.forward else "gradient"
        for position, (source, result) in enumerate(zip(sweep.sources, sweep.results, strict=False)):
            met = source in self.recording.tensors
            who = self.number(source) if met else sweep.called(position) if self.values else "a source that no op used"
            if result is None:
                why = "no path leads to it" if met else "no op used it"
                yield f"{who}: no {what}", why if self.values else ""
            else:
                # A sweep passes on conjugates, so that this is not the last number above it.
                turned = self.values and not sweep.forward and self.kind(result).startswith("c")
                also = ", the conjugate of its adjoint" if turned else ""
                yield f"{who}: {what} {self.kind(result)}", self.value(result) + also

    def note(self, note: Note) -> Iterator[tuple[str, str]]:
        if note.kind == "left" and note.subject in self.recording.tensors:
            yield from self.leaf(note.subject)
            left = f"{self.number(note.subject)} left the tape by {one_line(note.detail)}"
        elif note.kind == "copied":
            left = f"copied {one_line(note.detail)}"
        elif note.kind == "assigned":
            left = f"assigned {short_name(note.detail) or 'a variable'}"
        else:
            return
        yield self.indented(left), self.comment("", note.place)

    def number(self, tensor: int) -> str:
        return f"%{self.recording.numbers[tensor]}"

    def named(self, tensor: int) -> str:
        name = self.recording.tensors[tensor].name
        return f"{self.number(tensor)} ({short_name(name)})" if name and self.values else self.number(tensor)

    def kind(self, tensor: int) -> str:
        return kind_of(self.recording.tensors[tensor].snapshot)

    def value(self, tensor: int, name: bool = True) -> str:
        if not self.values:
            return ""
        if self.cut:
            return LEFT_OUT
        record = self.recording.tensors[tensor]
        shown = brief(record.snapshot)
        return f"{short_name(record.name)} = {shown}" if record.name and name else shown

    def comment(self, shown: str, place: Place | None) -> str:
        if not self.lines or place is None:
            return shown
        line = self.recording.line(place)
        where = self.recording.where(place) + (f": {line}" if line else "")
        return f"{shown}   {one_line(where)}" if shown else one_line(where)


def direction(sweep: Sweep) -> str:
    """Return ``"forward"`` or ``"backward"``."""
    return "forward" if sweep.forward else "backward"


def _is_told(note: Note) -> bool:
    """Return whether a note has a line: values that left or were copied, and assignments except the initial one.

    The value of the initial one is older than the variable itself.
    """
    return note.kind in ("left", "copied") or (note.kind == "assigned" and (note.by is None or note.by > note.subject))


def written(value: Any) -> str:
    """Return the value of a parameter as text; an index as a program writes it.

    Examples
    --------
    >>> written((0, 1)), written({"axis": (0,)}), written((("s", None, 3, None), ("i", 2), ("n",)))
    ('[0, 1]', '{axis: [0]}', '[:3, 2, newaxis]')
    """
    if isinstance(value, tuple | list):
        if len(value) == 4 and value[0] == "s":
            start, stop, step = ("" if part is None else str(part) for part in value[1:])
            return f"{start}:{stop}" + (f":{step}" if step else "")
        if value and value[0] in ("i", "n"):
            return written(value[1]) if len(value) > 1 else "newaxis"
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {written(item)}" for key, item in value.items()) + "}"
    return one_line(repr(value))
