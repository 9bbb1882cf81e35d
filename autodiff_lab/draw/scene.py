"""Scene: everything that the explorer shows of a recording, as one JSON-able payload.

It travels to the page once; the front end (``widgets/explorer``) holds it and folds it up to an integer step, so that
stepping needs no kernel.  To stay small it is made of tables that refer to each other by position: each value is
written once, each place and op once.  ``widgets/explorer/scene.js`` reads it and names the columns again; the two files
change together, and `FORMAT` counts the changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autodiff_lab.draw.deliveries import root_cause, words
from autodiff_lab.draw.formula import template
from autodiff_lab.draw.layout import SECONDS
from autodiff_lab.draw.measures import Color, measures
from autodiff_lab.draw.naming import described
from autodiff_lab.draw.nested import left_out
from autodiff_lab.draw.phases import held, phases
from autodiff_lab.draw.running import running
from autodiff_lab.draw.scopes import inside
from autodiff_lab.draw.timeline import Timeline
from autodiff_lab.draw.values import Values, clipped
from autodiff_lab.draw.views import views
from autodiff_lab.events import Place
from autodiff_lab.explain.expressions import own_name
from autodiff_lab.explain.remarks import remarks_and_cuts
from autodiff_lab.recording.model import Application, Flow, Moment, OpInfo, Sweep
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.text import written

FORMAT = 6
_OF_COMPLEX = {"abs": (r"\overline{{\operatorname{{sign}} {0}}}",), "sign": ("",)}
"""Factors of ops whose rule has another one for complex numbers; that of ``sign`` is not a factor."""
NOTHING = -1
"""Stands for a position where there is nothing."""


def scene(
    recording: Recording, layout_seconds: float = SECONDS, color: Color | None = None, timeline: Timeline | None = None
) -> dict[str, Any]:
    """Return what the explorer shows of a recording.

    Parameters
    ----------
    recording : Recording
        With or without backward passes; one that ended in an error shows how far it got.
    layout_seconds : float
        CPU seconds that Graphviz may take for all small pictures together, and for each large one.
    color : mapping or callable, optional
        A number for each value by which nodes can be coloured; see `Explorer`.
    timeline : Timeline, optional
        That of the recording, if the caller has it already.

    Returns
    -------
    dict
        Lists, dicts, strings and integers only.  Tensors are named by their print-time number.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.record() as recording, lab.GradientTape() as tape:
    ...     y = x * x
    >>> len(scene(recording)["steps"])
    1
    """
    return _Tables((timeline or Timeline(recording)).for_stepping()).payload(layout_seconds, color)


class _Tables:
    """The tables under construction."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self.recording = timeline.recording
        self.values = Values()
        self.places: dict[Place, int] = {}
        self.ops: dict[tuple[str, int, bool], int] = {}
        self.scopes: dict[str, int] = {}
        self.tensors: dict[int, list[Any]] = {}

    def payload(self, layout_seconds: float, color: Color | None) -> dict[str, Any]:
        recording, timeline = self.recording, self.timeline
        self.tracked = timeline.tracked
        drawn = _drawn(recording)
        born = {moment.application: at for at, moment in enumerate(recording.order, start=1) if moment.sweep is None}
        told, cuts = remarks_and_cuts(recording)
        pictures = views(recording, timeline, layout_seconds)
        shown = [loop for picture in pictures.values() if (loop := picture.loop())]
        payload: dict[str, Any] = {
            "format": FORMAT,
            "title": heading(recording),
            "error": recording.error or "",
            "remarks": [clipped(remark) for remark in (*told, left_out(recording)) if remark],
            "cuts": [[cut.remark, cut.sweep, self.tensor(cut.tensor), _place(cut.application)] for cut in cuts],
            "start": start(recording.order),
            "applications": {str(a.index): self.application(a, born.get(a.index, 0)) for a in drawn},
            "steps": [self.step(moment) for moment in recording.order],
            "sweeps": [self.sweep(sweep) for sweep in recording.sweeps],
            "left": self.left(),
            "running": running(recording),
            "frames": {path: list(frame) for path, frame in timeline.frames.items()},
            "open": [*timeline.frames, *opened(recording, pictures[""].loop())],
            "loops": [*([*loop.turns] for loop in timeline.loops), *shown],
            "views": {path: picture.payload(recording.numbers) for path, picture in pictures.items()},
        }
        for picture in pictures.values():
            for tensor in picture.tensors():
                self.tensor(tensor)
        payload["measures"] = self.measures(color)
        payload["tensors"] = {str(number): row for number, row in self.tensors.items()}
        payload["ops"] = [self.op(*key) for key in self.ops]
        payload["places"] = [[recording.where(p), clipped(recording.line(p))] for p in self.places]
        payload["source"] = self.source()
        payload["scopes"] = list(self.scopes)
        payload["kinds"], payload["values"] = self.values.tables()
        payload["phases"], payload["labels"] = phases(payload)
        payload["held"] = held(payload)
        return payload

    def application(self, application: Application, born: int) -> list[Any]:
        kinds = [self.recording.tensors[key].snapshot.dtype for key in application.inputs]
        key = (application.op, len(kinds), any(kind.startswith("complex") for kind in kinds))
        root = root_cause(self.recording, application.cause)
        return [
            self.ops.setdefault(key, len(self.ops)),
            [self.tensor(t) for t in application.inputs],
            [self.tensor(t) for t in application.outputs],
            self.place(application.place if root is None else root.place),
            self.scopes.setdefault(application.scope, len(self.scopes)),
            born,
            application.error or "",
            _parameters(application.params),
            *([] if root is None else [self.derivative_of(application, root), root.index]),
        ]

    def derivative_of(self, application: Application, root: Application) -> str:
        """Say whose derivative rule ran an op: that of an op on the user's lines, or of an op of its derivative."""
        inner = application.cause is not None and self.recording.applications[application.cause].cause is not None
        where = self.recording.where(root.place)
        return clipped(f"derivative of {'the derivative of ' * inner}{root.op}{' at ' * bool(where)}{where}")

    def measures(self, color: Color | None) -> dict[str, dict[str, float]]:
        """Return the numbers by which nodes can be coloured, by the number of the tensor as JSON has it."""
        numbers, arrivals, records = self.recording.numbers, self.timeline.arrivals, self.recording.tensors
        totals = {
            key: records[each[-1].total].snapshot
            for key, each in arrivals.items()
            if each and each[-1].total in records
        }
        shown = [key for key in records if numbers[key] in self.tensors]
        found = measures(self.recording, shown, totals, color)
        return {what: {str(numbers[key]): number for key, number in known.items()} for what, known in found.items()}

    def op(self, name: str, inputs: int, is_complex: bool) -> list[Any]:
        info = self.recording.ops.get(name) or OpInfo(name)
        factors = (_OF_COMPLEX.get(name) if is_complex else None) or info.locals_latex
        formulas = [template(latex, inputs) for latex in factors]
        symbol = clipped(info.symbol or name)
        return [clipped(name), symbol, clipped(info.sentence), template(info.latex, inputs), formulas]

    def tensor(self, key: int) -> int:
        """Return the number of a tensor; its row is written at its first use."""
        number = self.recording.numbers[key]
        if number not in self.tensors:
            record = self.recording.tensors[key]
            self.tensors[number] = row = []
            made = _place(record.application)
            delivery = self.timeline.delivered.get(key)
            value = self.values.position(record.snapshot)
            kind = record.kind if delivery is None else "gradient"
            name = clipped(record.name or "") if own_name(self.recording, key) else ""
            row.extend([name, kind, value, made, self.place(record.place), int(key in self.tracked)])
            said = described(self.recording, key) if delivery is None else words(self.recording, delivery)
            if delivery is not None or not name:
                row.append("" if name else clipped(said))
            if delivery is not None:
                row.extend([delivery.moment + 1, *self.known(delivery.of)])
        return number

    def known(self, key: int | None) -> list[int]:
        return [self.recording.numbers[key]] if key is not None and key in self.recording.tensors else []

    def value(self, key: int | None) -> int:
        """Return the row of a gradient."""
        return NOTHING if key is None else self.values.position(self.recording.tensors[key].snapshot)

    def place(self, place: Place | None) -> int:
        return NOTHING if place is None else self.places.setdefault(place, len(self.places))

    def source(self) -> list[list[Any]]:
        """Return, by file, the number, indentation and text of each recorded line; of a place, its row instead."""
        files: list[list[Any]] = []
        for file, lines in self.recording.sources.items():
            known = {number: text for number, text in lines.items() if text.strip()}
            rows = [
                [number, len(text) - len(text.lstrip()), self.places.get((file, number), clipped(text.strip()))]
                for number, text in sorted(known.items())
            ]
            if any(isinstance(row[2], int) for row in rows):
                files.append([clipped(self.recording.labels.get(file, file)), rows])
        return files

    def step(self, moment: Moment) -> list[Any]:
        if moment.sweep is None or moment.step is None:
            return [moment.application]
        step = self.recording.sweeps[moment.sweep].steps[moment.step]
        incoming = [self.value(key) for key in step.incoming]
        return [moment.application, moment.sweep, incoming, [self.flow(flow) for flow in step.flows]]

    def flow(self, flow: Flow) -> list[Any]:
        local = NOTHING if flow.local is None else self.values.position(flow.local)
        shown = [self.tensor(flow.input), local, self.value(flow.outgoing), self.value(flow.total)]
        # Over which axes the contribution was summed, because the input was broadcast along them.
        return [flow.position, *shown, flow.arrived, flow.expected, *([list(flow.summed)] if flow.summed else [])]

    def sweep(self, sweep: Sweep) -> list[Any]:
        # A source that no op ever read is unknown, and there is nothing to show of it.
        met = self.recording.tensors
        targets = [pair for pair in zip(sweep.targets, sweep.seeds, strict=False) if pair[0] in met]
        sources = [pair for pair in zip(sweep.sources, sweep.results, strict=False) if pair[0] in met]
        unusual = sweep.carried or sweep.forward
        return [
            [self.tensor(target) for target, _ in targets],
            [self.value(seed) for _, seed in targets],
            [self.tensor(source) for source, _ in sources],
            [self.value(result) for _, result in sources],
            int(sweep.finished),
            self.place(sweep.place),
            *([[[self.tensor(t), self.value(g)] for t, g in sweep.carried], int(sweep.forward)] if unusual else []),
        ]

    def left(self) -> dict[str, list[Any]]:
        """Return, by tensor, how its value first left the engine, and where."""
        exits: dict[str, list[Any]] = {}
        for note in self.recording.notes:
            if note.kind == "left" and note.subject in self.recording.tensors:
                exits.setdefault(str(self.tensor(note.subject)), [clipped(note.detail), self.place(note.place)])
        return exits


def _place(application: int | None) -> int:
    return NOTHING if application is None else application


def _drawn(recording: Recording) -> list[Application]:
    """Return the forward applications, and those of a backward pass that are stepped through too (higher orders)."""
    visited = {moment.application for moment in recording.order}
    return [a for a in recording.applications if a.cause is None or a.index in visited]


def heading(recording: Recording) -> str:
    """Return the title, or else the user's line that made the result: the last target, else the last value."""
    if recording.title or not recording.forward:
        return clipped(recording.title)
    targets = [target for sweep in recording.sweeps for target in sweep.targets if target in recording.tensors]
    made = recording.tensors[targets[-1]].application if targets else None
    result = recording.forward[-1] if made is None else recording.applications[made]
    return clipped(recording.line(result.place).removeprefix("return "))


def start(order: Sequence[Moment]) -> int:
    """Return the step that is shown first: the end of the forward pass before the first sweep, so → goes backwards."""
    backward = (at for at, moment in enumerate(order) if moment.sweep is not None)
    return next(backward, len(order))


def opened(recording: Recording, loop: Sequence[str]) -> list[str]:
    """Return the scope that is open at first, if any: of a training loop, the first shown iteration."""
    at = start(recording.order)
    scope = recording.applications[recording.order[at - 1].application].scope if at else ""
    return [turn for turn in loop if inside(scope, turn)][:1]


def _parameters(params: dict[str, Any] | None) -> str:
    return clipped(", ".join(f"{name}={written(value)}" for name, value in (params or {}).items()))
