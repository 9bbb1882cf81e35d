"""Why a gradient is None, zero or a number: the result of the search in `paths`, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autodiff_lab.events import Place
from autodiff_lab.explain.dialects import translated, words_of
from autodiff_lab.explain.expressions import acting_as, in_code, located, own_name, spoken
from autodiff_lab.explain.faults import fault_of, not_leaf
from autodiff_lab.explain.leaving import Leaving, parts_of
from autodiff_lab.explain.model import Explanation
from autodiff_lab.explain.paths import Cut, Edge, Paths
from autodiff_lab.explain.subjects import Subject, subject, tape_of
from autodiff_lab.explain.tracking import Tracking, differentiable_dtype, tracking
from autodiff_lab.explain.words import LEFT_BY, OTHERWISE, SMOOTH, STORES, WHOLE_FIX
from autodiff_lab.explain.zero import of_value
from autodiff_lab.recording.choosing import demand_all
from autodiff_lab.recording.model import Sweep
from autodiff_lab.recording.names import one_line, short_name
from autodiff_lab.recording.numbers import short
from autodiff_lab.recording.recording import Recording

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
"""How the inputs of an op are counted, of those that have no derivative: none has more."""
LEAVES = 6
"""How many names are listed of what a target does depend on."""


def explain(
    recording: Recording, target: Any, source: Any, tape: int | None = None, seen: Tracking | None = None
) -> Explanation:
    """Explain the gradient of a target with respect to a source; see `Recording.explain`.

    Parameters
    ----------
    recording : Recording
        A program with at least one tape.
    target, source : Tensor, Variable, int or str
        Objects of the program, ids, or names as the printed recording shows them.
    tape : int, optional
        The id of the tape; by default the one that computed this gradient.
    seen : Tracking, optional
        What that tape recorded, if it has already been computed.

    Raises
    ------
    NotInRecording
        A `LookupError`: a name or id is not in the recording.
    """
    demand_all(recording, "explain")
    return translated(_explained(recording, target, source, tape, seen), recording.framework)


def _explained(recording: Recording, target: Any, source: Any, tape: int | None, seen: Tracking | None) -> Explanation:
    if isinstance(target, float | complex | np.ndarray | np.generic):
        return _of_plain_target(recording, target, subject(recording, source, "source"))
    t, s = subject(recording, target, "target"), subject(recording, source, "source")
    fault = fault_of(recording, t, s) if recording.framework else None
    if fault is not None:
        return fault
    tape = tape_of(recording, t, s) if tape is None else tape
    if tape is None:
        return _without_tape(t, s)
    return _Case(recording, t, s, tape, seen).verdict()


def _of_plain_target(recording: Recording, target: Any, s: Subject) -> Explanation:
    """Explain a target that is not a tensor: a number or an array that left the engine."""
    kind = _kind(target)
    exits = Leaving(recording).exits
    same = [n for n in exits if _is_value(recording.tensors[n.subject].snapshot.array, target)]
    note = (same or exits or [None])[-1]
    place = None if note is None else note.place
    return Explanation(
        "left_engine",
        "None",
        f"There is no gradient of {kind} with respect to {s.name}.",
        f"The target is {kind}, not a tensor: it left the engine and has no history.",
        place=place,
        where=located(recording, place),
        fix="Keep the target a tensor: use the functions of lab, and call float() or numpy() only to print it.",
    )


def _kind(value: Any) -> str:
    """Return what a value is, with its article: ``"a NumPy float32"``, ``"an int"``."""
    if isinstance(value, (np.ndarray, np.generic)):
        return f"a NumPy {'array' if isinstance(value, np.ndarray) else type(value).__name__}"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _is_value(kept: Any, value: Any) -> bool:
    kept, value = np.asarray(kept), np.asarray(value)
    return kept.shape == value.shape and kept.dtype.kind in "fiuc" and bool(np.allclose(kept, value, equal_nan=True))


def _without_tape(t: Subject, s: Subject) -> Explanation:
    return Explanation(
        "no_tape",
        "None",
        f"There is no gradient of {t.name} with respect to {s.name}.",
        "No tape recorded this program.",
        fix="Compute the target inside `with lab.GradientTape() as tape:` and call tape.gradient(target, source).",
    )


class _Case:
    """One question about one tape."""

    def __init__(
        self, recording: Recording, target: Subject, source: Subject, tape: int, seen: Tracking | None
    ) -> None:
        self.recording, self.t, self.s = recording, target, source
        self.seen: Tracking = seen or tracking(recording, tape)
        self.sweep = _sweep_for(recording, target, source, tape)

    def verdict(self) -> Explanation:
        if not self.s.tensors or not self.t.tensors:
            return self._no_path()
        edges = Paths(self.recording, self.seen, self.s).best(self.t)
        if edges is None:
            return self._no_path()
        cuts = [edge.cut for edge in edges if edge.cut is not None]
        deciding = [cut for cut in cuts if cut.cause == "control_flow"]
        cuts = deciding[:1] or self._with_source(cuts, edges)
        if not cuts:
            cuts = list(self._unexpected(edges))
        if cuts:
            return self._cut(cuts)
        leafless = not_leaf(self.recording, self.t, self.s) if self.sweep is None else None
        return leafless or of_value(self.recording, self.t, self.s, self.sweep)

    def _with_source(self, cuts: list[Cut], edges: list[Edge]) -> list[Cut]:
        """Put a fault of the source itself before the faults on the path."""
        unwatched = self._unwatched()
        if unwatched is None:
            return cuts
        record = self.recording.tensors[self.s.tensors[-1]]
        here = Cut(unwatched, record.id, record.place, record.application)
        if edges and unwatched != "replaced":
            first = edges[0]
            place = None if first.application is None else self.recording.applications[first.application].place
            here = Cut(unwatched, first.start, place, first.application)
        return [here, *(cut for cut in cuts if cut.cause != "not_watched")]

    def _unwatched(self) -> str | None:
        """Return why the tape never tracked the source; None if it did, or if that is not what is missing."""
        records = [self.recording.tensors[tensor] for tensor in self.s.tensors]
        if any(r.id in self.seen.since for r in records):
            return None
        if not any(differentiable_dtype(r.snapshot.dtype) for r in records):
            return None
        if self.s.variable is not None:
            if not self.s.trainable:
                return "not_trainable"
            return None if self.seen.automatic else "watching_off"
        made = records[-1].application
        if made is None:
            return "not_watched"
        if self._replaced(made):
            return "replaced"
        return "not_watched" if self.seen.listens(made) or self.seen.silence(made) == "before" else None

    def _replaced(self, made: int) -> bool:
        """Return whether the source's own line gave the name of a variable to a tensor: ``w = w - 0.1 * g``."""
        application = self.recording.applications[made]
        line = parts_of(self.recording.line(application.place))
        if not line.assigns & line.reads:
            return False
        todo, known = list(application.inputs), set[int]()
        while todo:
            record = self.recording.tensors[todo.pop()]
            if record.variable is not None:
                return True
            if record.application is not None and record.id not in known:
                known.add(record.id)
                todo.extend(self.recording.applications[record.application].inputs)
        return False

    def _unexpected(self, edges: list[Edge]) -> Iterator[Cut]:
        """Return the edges on which a backward pass departed from the tape's rules."""
        if self.sweep is None or not self.sweep.finished:
            return
        known = self.t.keys & set(self.sweep.targets)
        if known and self.sweep.results[self._place_in(self.sweep)] is not None:
            return
        reached = self.sweep.adjoints()
        flows = {(step.application, flow.position) for step in self.sweep.steps for flow in step.flows}
        for edge in reversed(edges):
            if edge.application is None or (edge.application, edge.position) in flows:
                continue
            application = self.recording.applications[edge.application]
            outside = self.s.variable is not None and edge.start in self.s.tensors
            heard = any(flow[0] == edge.application for flow in flows)
            told = edge.end in reached and not (outside and heard)
            yield Cut(
                "rule_gave_none" if told else "read_outside_tape", edge.start, application.place, application.index
            )
            return

    def _place_in(self, sweep: Sweep) -> int:
        return next(i for i, source in enumerate(sweep.sources) if source in self.s.keys)

    def _cut(self, cuts: list[Cut]) -> Explanation:
        first = cuts[0]
        silent = first.cause == "outside_tape" and first.application is not None
        if silent and all(self.seen.silence(self._made(t)) == "before" for t in self.t.tensors):
            first = Cut("target_before_tape", first.tensor, self._place_of(self.t.tensors[-1]), first.application)
        what, fix = self._words(first)
        also: list[str] = []
        causes = [first.cause]
        for cut in cuts[1:]:
            if cut.cause != causes[-1]:
                causes.append(cut.cause)
                also.append(f"{self._words(cut)[0]} {_bracketed(located(self.recording, cut.place))}".strip())
        reset = first.cause == "tape_reset"  # its line is that of the reset
        op = None if first.application is None or reset else self.recording.applications[first.application].op
        place = first.place or self._place_of_sweep(first)
        return Explanation(
            first.cause,
            "None",
            f"The gradient of {self.t.name} with respect to {self.s.name} is None: no path of derivatives "
            "leads from one to the other.",
            what,
            op,
            place,
            located(self.recording, place),
            fix,
            tuple(also),
            cut=(first.tensor, first.application),
        )

    def _made(self, tensor: int) -> int:
        made = self.recording.tensors[tensor].application
        return -1 if made is None else made

    def _place_of(self, tensor: int) -> Place | None:
        return self.recording.tensors[tensor].place

    def _place_of_sweep(self, cut: Cut) -> Place | None:
        """Return the line that requested the gradient, since the ops of a backward pass have no lines themselves."""
        if cut.application is None:
            return None
        outputs = set(self.recording.applications[cut.application].outputs)
        for sweep in self.recording.sweeps:
            if any(flow.outgoing in outputs or flow.total in outputs for step in sweep.steps for flow in step.flows):
                return sweep.place
        return self.recording.sweeps[0].place if self.recording.sweeps else None

    def _words(self, cut: Cut) -> tuple[str, str]:
        recording = self.recording
        record = recording.tensors[cut.tensor]
        op = "the op" if cut.application is None else one_line(recording.applications[cut.application].op)
        fields = {
            "s": self.s.name,
            "t": self.t.name,
            "code": in_code(self.s.name),
            "x": spoken(recording, cut.tensor),
            "op": op,
            "how": LEFT_BY.get(cut.detail, one_line(cut.detail)),
            "dtype": record.snapshot.dtype,
            "number": short(record.snapshot.array) if record.snapshot.size == 1 else "0",
        }
        fields["more"] = self._more(cut, op, fields)
        fields["why"] = self._why(cut, op)
        stored = cut.cause == "state_read" and cut.detail in STORES
        what, fix = words_of(recording.framework, "drawn" if stored else cut.cause)
        if (
            cut.cause == "integer"
            and self._acting(cut, op).startswith("cast")
            and differentiable_dtype(record.snapshot.dtype)
        ):
            made = recording.applications[cut.application or 0].outputs[0]
            fields["dtype"] = recording.tensors[made].snapshot.dtype
            what = "{x} is cast to {dtype} here, and gradients exist only for floats."
            fields["more"] = WHOLE_FIX["cast"].format(**fields)
        return what.format(**fields), fix.format(**fields)

    def _why(self, cut: Cut, op: str) -> str:
        """Return why an op has no derivative: it moves in steps, or this one of its inputs has none."""
        if self._acting(cut, op) in SMOOTH:
            return ": its result moves in steps"
        if cut.application is None or cut.cause != "not_differentiable":
            return ""
        application = self.recording.applications[cut.application]
        info = self.recording.ops.get(application.op)
        if info is None or not info.differentiable:
            return ""
        return f" with respect to its {ORDINALS[application.inputs.index(cut.tensor)]} input"

    def _acting(self, cut: Cut, op: str) -> str:
        made = cut.application
        return op if made is None else acting_as(self.recording, self.recording.applications[made])

    def _more(self, cut: Cut, op: str, fields: dict[str, str]) -> str:
        record = self.recording.tensors[cut.tensor]
        if cut.cause == "not_watched":
            if record.application is None:
                return "it is a constant; tapes watch variables automatically, but tensors only after tape.watch."
            return "it was computed before the tape's block, or from nothing that the tape watches."
        if cut.cause in ("left_engine", "overwritten"):
            return "came back"
        if cut.cause == "state_read":
            return short_name(cut.detail) or "that is read afterwards"
        if cut.cause == "outside_tape" and cut.application is not None:
            before = self.seen.silence(cut.application) == "before"
            return "before the tape's block began" if before else "after the tape's block had ended"
        if cut.cause == "not_differentiable":
            return SMOOTH.get(self._acting(cut, op), OTHERWISE).format(**fields)
        if cut.cause == "integer":
            leaf = record.application is None and cut.tensor in self.s.tensors
            kind = "other" if not leaf else "variable" if record.variable is not None else "constant"
            return WHOLE_FIX[kind if record.snapshot.size == 1 or kind == "other" else "other"].format(**fields)
        return ""

    def _no_path(self) -> Explanation:
        last = self.t.tensors[-1] if self.t.tensors else None
        place = None if last is None else self._place_of(last)
        made = -1 if last is None else self._made(last)
        what = f"{self.t.name} was not computed from {self.s.name}."
        if last is None:
            what = f"{_first_upper(self.t.name)} was not computed inside the recording."
        elif not self.s.tensors:
            what += f" No op in the recording read {self.s.name}."
        if made >= 0:
            what += f" It depends on {', '.join(self._leaves()) or 'constants alone'}."
        return Explanation(
            "no_path",
            "None",
            f"The gradient of {self.t.name} with respect to {self.s.name} is None: no path of derivatives "
            "leads from one to the other.",
            what,
            self.recording.applications[made].op if made >= 0 else None,
            place,
            located(self.recording, place),
            words_of(self.recording.framework, "no_path")[1].format(s=self.s.name, t=self.t.name),
        )

    def _leaves(self) -> list[str]:
        names: dict[str, None] = {}
        todo, known = list(self.t.tensors), set[int]()
        while todo:
            record = self.recording.tensors[todo.pop()]
            if record.id in known:
                continue
            known.add(record.id)
            if record.application is not None:
                todo.extend(self.recording.applications[record.application].inputs)
            elif name := own_name(self.recording, record.id):
                names[name] = None
        found = sorted(names)
        return found if len(found) <= LEAVES else [*found[:LEAVES], f"{len(found) - LEAVES} more"]


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:] if text.startswith("the ") else text


def _bracketed(where: str) -> str:
    return f"({where})" if where else ""


def _sweep_for(recording: Recording, target: Subject, source: Subject, tape: int) -> Sweep | None:
    """Return the last backward pass of the tape that computed this gradient."""
    return next(
        (
            sweep
            for sweep in reversed(recording.sweeps)
            if sweep.tape == tape
            and target.keys & {*sweep.targets, *sweep.untracked}
            and source.keys & set(sweep.sources)
        ),
        None,
    )
