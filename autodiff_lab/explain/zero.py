"""A path exists: what its value is and, if it is zero, where it became zero."""

from __future__ import annotations

import numpy as np

from autodiff_lab.explain.expressions import acting_as, literal, located, spoken
from autodiff_lab.explain.faults import underflow
from autodiff_lab.explain.model import Explanation
from autodiff_lab.explain.subjects import Subject
from autodiff_lab.recording.model import Flow, Step, Sweep
from autodiff_lab.recording.numbers import brief
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.snapshot import Snapshot

MOVERS = {"stack", "concat", "reshape", "transpose", "broadcast_to", "identity", "permute", "widen", "pad_axis"}
"""Ops that move elements without changing them."""
CHOOSERS = {
    "maximum",
    "minimum",
    "max",
    "min",
    "max_pool",
    "where",
    "gather",
    "gather_nd",
    "slice",
    "slice_axis",
    "take",
}


def is_zero(value: Snapshot) -> bool:
    """Return whether every element is zero, as far as the recording kept them."""
    if value.summary is not None:
        s = value.summary
        return s.minimum == 0 and s.maximum == 0 and not s.nan and not s.inf
    return value.array is not None and value.size > 0 and not np.asarray(value.array).any()


def of_value(recording: Recording, target: Subject, source: Subject, sweep: Sweep | None) -> Explanation:
    """Return the explanation where nothing cuts the path."""
    title = f"The gradient of {target.name} with respect to {source.name}"
    if sweep is None:
        return Explanation(
            "connected",
            "a number",
            f"{title} exists: a path of derivatives leads from one to the other.",
            "No backward pass from this target to this source was recorded, so its value is unknown.",
            fix="Call tape.gradient(target, source) inside the recording to see its value.",
        )
    result = next(r for s, r in zip(sweep.sources, sweep.results, strict=True) if s in source.keys)
    if result is None and not sweep.finished:
        return Explanation("connected", "a number", f"{title} exists, but the backward pass did not finish.", "")
    if result is None or not target.keys & set(sweep.targets):
        return Explanation(
            "not_recorded", "None", f"{title} is None.", "The recording does not show where the path is cut."
        )
    value = recording.tensors[result].snapshot
    if not value.finite:
        return _not_finite(recording, title, value)
    if is_zero(value):
        return _Zero(recording, sweep, title).explanation(source)
    return Explanation(
        "connected",
        "a number",
        f"{title} is {brief(value)}: a path of derivatives leads from one to the other.",
        f"{len(sweep.steps)} {'op was' if len(sweep.steps) == 1 else 'ops were'} visited on the way back.",
        fix="recording.ledger(source) shows what each path adds, for programs of scalars.",
    )


def _not_finite(recording: Recording, title: str, value: Snapshot) -> Explanation:
    from autodiff_lab.explain.nonfinite import first_nonfinite

    found = first_nonfinite(recording)
    first = found.backward or found.forward if found is not None else None
    what = "" if first is None else first.what
    return Explanation(
        "not_finite",
        "a number",
        f"{title} is {brief(value)}: a path exists and its value is not finite.",
        what,
        None if first is None else first.op,
        None if first is None else first.place,
        "" if first is None else first.where,
        "" if found is None else found.fix,
        code=() if found is None else found.rewrite,
    )


def _nonzero(local: Snapshot | None, others: list[Snapshot]) -> bool:
    """Return whether a derivative is not 0, as far as it is known: from itself, or from the other factors."""
    return not is_zero(local) if local is not None else all(not is_zero(other) for other in others)


class _Zero:
    """Follows a zero adjoint from the source towards the target, to the ops that made it zero."""

    def __init__(self, recording: Recording, sweep: Sweep, title: str) -> None:
        self.recording, self.sweep, self.title = recording, sweep, title
        self.into: dict[int, list[tuple[Step, Flow]]] = {}
        for step in sweep.steps:
            for flow in step.flows:
                self.into.setdefault(flow.input, []).append((step, flow))

    def explanation(self, source: Subject) -> Explanation:
        title = f"{self.title} is zero, not None: a path of derivatives exists and its value is 0."
        makers, cancelled = self._makers([t for t in source.tensors if t in self.into])
        if cancelled is not None:
            place = self.recording.tensors[cancelled].place
            count = len(self.into[cancelled])
            name = spoken(self.recording, cancelled)
            return Explanation(
                "zero",
                "zero",
                title,
                f"{count} contributions reach {name} and cancel each other.",
                None,
                place,
                located(self.recording, place),
                "recording.ledger(source) shows each contribution.",
            )
        if not makers:
            return Explanation(
                "zero",
                "zero",
                title,
                "The backward pass began with zeros.",
                place=self.sweep.place,
                where=located(self.recording, self.sweep.place),
            )
        step, flow = min(makers, key=lambda pair: pair[0].index)
        application = self.recording.applications[step.application]
        what, fix = self._reason(step, flow)
        others = len({pair[0].index for pair in makers}) - 1
        also = (f"It becomes zero at {others} more op{'s' if others > 1 else ''} on other paths.",) if others else ()
        return Explanation(
            "zero",
            "zero",
            title,
            what,
            application.op,
            application.place,
            located(self.recording, application.place),
            fix,
            also,
        )

    def _makers(self, tensors: list[int]) -> tuple[list[tuple[Step, Flow]], int | None]:
        """Return the flows at which zero began, or a tensor at which nonzero contributions cancelled.

        After an op that only moves elements, part of a gradient may be zero and the rest not.
        """
        makers: list[tuple[Step, Flow]] = []
        todo, known = [(tensor, False) for tensor in tensors], set(tensors)
        while todo:
            tensor, part = todo.pop()
            for step, flow in self.into.get(tensor, ()):
                application = self.recording.applications[step.application]
                if not part and not is_zero(self._value(flow.outgoing)):
                    return [], tensor
                moves = acting_as(self.recording, application) in MOVERS
                arrives = any(g is not None and not is_zero(self._value(g)) for g in step.incoming)
                if arrives and not moves:
                    makers.append((step, flow))
                    continue
                for output in application.outputs:
                    if output not in known:
                        known.add(output)
                        todo.append((output, part or (moves and arrives)))
        return makers, None

    def _reason(self, step: Step, flow: Flow) -> tuple[str, str]:
        recording = self.recording
        application = recording.applications[step.application]
        name, value = spoken(recording, flow.input), brief(self._value(flow.input))
        op, acts_as = application.op, acting_as(recording, application)
        others = [t for i, t in enumerate(application.inputs) if i != flow.position]
        small = underflow(recording, step, flow) if _nonzero(flow.local, [self._value(t) for t in others]) else None
        if small is not None:
            return small
        if acts_as in ("multiply", "matmul", "divide") and others and is_zero(self._value(others[0])):
            if literal(recording, others[0]) is not None:
                return f"{op}: {name} is multiplied by 0 in this line.", "Remove the factor 0."
            other = spoken(recording, others[0])
            return (
                f"{op}: {name} is multiplied by {other}, which is 0, so {name} does not matter here.",
                f"Give {other} a value other than 0 if {name} should get a gradient.",
            )
        if acts_as in ("relu", "relu6"):
            return (
                f"{op} is dead here: its input {name} is {value}, where {op} is flat and its derivative is 0.",
                "Start with other values, use a smaller step, or lab.nn.leaky_relu, whose derivative is never 0.",
            )
        if acts_as == "clip":
            return (
                f"{op}: {name} = {value} lies outside the limits, where the result does not change.",
                f"Widen the limits of {op} if {name} should get a gradient.",
            )
        if acts_as in CHOOSERS:
            return (
                f"{op} did not select {name} ({value}), so the derivative is 0.",
                "This is correct for these values; a smooth choice such as lab.nn.softmax gives all inputs a gradient.",
            )
        return (
            f"The derivative of {op} with respect to {name} is 0 at {name} = {value}.",
            f"Examine {op} around this value; where its derivative is 0, a gradient step cannot move {name}.",
        )

    def _value(self, tensor: int) -> Snapshot:
        return self.recording.tensors[tensor].snapshot
