"""Tapes as frames: which ops ran while which tape was open, and where each gradient was requested.

A tape inside another is a frame inside a frame.  What a backward pass computes counts for a second derivative only if
the pass lies inside the frame of another tape; these pictures show whether it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autodiff_lab.draw import theme as themes
from autodiff_lab.draw.markup import picture, written
from autodiff_lab.explain.expressions import spoken
from autodiff_lab.recording.model import Application, Sweep
from autodiff_lab.recording.numbers import brief
from autodiff_lab.recording.recording import Recording

LINE, PAD, INDENT, LETTER = 24.0, 12.0, 16.0, 7.2

STYLE = """
.lab-frames { font: 400 14px var(--lab-ui-font); max-width: 100%; height: auto; }
.lab-frames text { fill: var(--lab-ink); }
.lab-frames .lab-head { font-weight: 600; }
.lab-frames .lab-op { font-family: var(--lab-code-font); }
.lab-frames .lab-frame { fill: none; stroke: var(--lab-forward); stroke-width: 1.5; }
.lab-frames .lab-pass { fill: none; stroke: var(--lab-backward); stroke-width: 1.5; stroke-dasharray: 5 3; }
.lab-paper { fill: var(--lab-paper); }
"""


@dataclass(frozen=True, slots=True)
class Line:
    """One line: `kind` is 'open', 'close', 'op' or 'pass'; `depth` is how many tapes are open around it."""

    kind: str
    depth: int
    text: str


def lines(recording: Recording, names: Sequence[str] = ()) -> list[Line]:
    """Return what happened, in chronological order.

    Parameters
    ----------
    recording : Recording
        The recording to describe.
    names : sequence of str
        Names of the tapes, in the order in which they were opened; by default tape 1, tape 2, ...

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.record() as recording:
    ...     with lab.GradientTape() as tape:
    ...         y = x * x
    ...     slope = tape.gradient(y, x)
    >>> for line in lines(recording):
    ...     print(line.depth, line.kind, line.text)
    0 open tape 1
    1 op × → y = 9
    0 close tape 1
    0 pass gradient of y with respect to x from tape 1 = 6; no tape records it
    """
    return list(_Teller(recording, names).lines())


def text(recording: Recording, names: Sequence[str] = ()) -> str:
    """Return the frames as indented text.

    Examples
    --------
    >>> text(Recording({}, {}, (), (), ()))
    'no tape was opened'
    """
    told: list[str] = []
    for line in lines(recording, names):
        if line.kind != "close":
            told.append("│ " * line.depth + (f"┌ {line.text}" if line.kind == "open" else line.text))
        else:
            told.append("│ " * line.depth + "└")
    return "\n".join(told) or "no tape was opened"


def svg(recording: Recording, names: Sequence[str] = (), theme: str = "auto") -> str:
    """Draw the frames.

    Parameters
    ----------
    recording : Recording
        What is drawn.
    names : sequence of str
        Names of the tapes, in the order in which they were opened.
    theme : str
        ``"light"``, ``"dark"``, or ``"auto"``: what the host or the system prefers.

    Returns
    -------
    str
        One ``<svg>`` element with title and description, all text escaped.

    Examples
    --------
    >>> svg(Recording({}, {}, (), (), ()))[:4]
    '<svg'
    """
    told = lines(recording, names)
    depth = max((line.depth for line in told), default=0) + 1
    right = max((line.depth * INDENT + len(line.text) * LETTER for line in told), default=100.0) + depth * INDENT
    width = right + 3 * PAD
    parts: list[str] = []
    opened: list[tuple[float, int]] = []
    y = PAD
    for line in told:
        x = PAD + line.depth * INDENT
        if line.kind == "open":
            y += 4
            opened.append((y, line.depth))
            parts.append(_text("lab-head", x + PAD, y + 19, line.text))
            y += LINE + 4
        elif line.kind == "close":
            top, at = opened.pop()
            inset = PAD + at * INDENT
            parts.append(_rect("lab-frame", inset, top, width - 2 * inset, y + 8 - top))
            y += 14
        elif line.kind == "op":
            parts.append(_text("lab-op", x + PAD - INDENT * bool(line.depth), y + 15, line.text))
            y += LINE
        else:
            y += 2
            parts.append(_rect("lab-pass", x, y, width - 2 * x, LINE + 2))
            parts.append(_text("", x + PAD, y + 18, line.text))
            y += LINE + 8
    account = text(recording, names)
    return picture("lab-frames", STYLE, "Tapes as frames", account, width, y + PAD, parts, theme)


class _Teller:
    """Walks a recording in chronological order."""

    def __init__(self, recording: Recording, names: Sequence[str]) -> None:
        self.recording = recording
        opened = [note.subject for note in recording.notes if note.kind == "tape opened"]
        given = [*names, *(f"tape {number}" for number in range(len(names) + 1, len(opened) + 1))]
        self.names = dict(zip(opened, given, strict=False))
        self.open: list[int] = []
        self.written = {moment.application for moment in recording.order if moment.phase == "forward"}

    def lines(self) -> Iterator[Line]:
        recording = self.recording
        starts = [self._start(sweep) for sweep in recording.sweeps]
        for index in range(len(recording.applications) + 1):
            yield from self._frames(index)
            for sweep, start in zip(recording.sweeps, starts, strict=True):
                if start == index:
                    yield Line("pass", len(self.open), self._pass(sweep))
            if index < len(recording.applications) and recording.applications[index].cause is None:
                yield Line("op", len(self.open), self._op(recording.applications[index]))

    def _frames(self, index: int) -> Iterator[Line]:
        for note in self.recording.notes:
            if note.before != index or note.subject not in self.names:
                continue
            if note.kind == "tape opened":
                yield Line("open", len(self.open), self.names[note.subject])
                self.open.append(note.subject)
            elif note.kind == "tape closed" and note.subject in self.open:
                self.open.remove(note.subject)
                yield Line("close", len(self.open), self.names[note.subject])

    def _ran(self, sweep: Sweep) -> list[int]:
        """Return the ops that a sweep ran, if any were recorded."""
        reached = {flow.outgoing for step in sweep.steps for flow in step.flows}
        reached |= {flow.total for step in sweep.steps for flow in step.flows}
        made = (self.recording.tensors[tensor].application for tensor in reached if tensor in self.recording.tensors)
        return [index for index in made if index is not None and self.recording.applications[index].cause is not None]

    def _start(self, sweep: Sweep) -> int:
        return min(self._ran(sweep), default=len(self.recording.applications))

    def _pass(self, sweep: Sweep) -> str:
        targets, sources = (
            ", ".join(spoken(self.recording, key) for key in keys)
            for keys in (sweep.targets or sweep.untracked, sweep.sources)
        )
        results = ", ".join("None" if key is None else self._value(key) for key in sweep.results)
        said = (
            f"gradient of {targets} with respect to {sources} from {self.names.get(sweep.tape, 'a tape')} = {results}"
        )
        written = len(self.written.intersection(self._ran(sweep)))
        if written:
            writers = " and ".join(self.names[tape] for tape in self.open)
            verb = "records" if len(self.open) == 1 else "record"
            return f"{said}; {writers} {verb} {written} {'op' if written == 1 else 'ops'}"
        return f"{said}; no tape records it" if sweep.targets else said

    def _op(self, application: Application) -> str:
        info = self.recording.ops.get(application.op)
        symbol = (info.symbol if info else "") or application.op
        named = [(self.recording.tensors[key].name, self._value(key)) for key in application.outputs]
        made = ", ".join(f"{name} = {value}" if name else value for name, value in named)
        return f"{symbol} → {made}" if made else symbol

    def _value(self, tensor: int) -> str:
        return brief(self.recording.tensors[tensor].snapshot, minus="−")


def _rect(css: str, x: float, y: float, width: float, height: float) -> str:
    return f'<rect class="{css}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{themes.RADIUS}"/>'


def _text(css: str, x: float, y: float, words: str) -> str:
    return f'<text class="{css}" x="{x:g}" y="{y:g}">{written(words)}</text>'
