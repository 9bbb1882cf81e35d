"""Faults that an adapter found while the program ran: causes that only its framework has."""

from __future__ import annotations

from autodiff_lab.explain.dialects import WORDS
from autodiff_lab.explain.expressions import in_code, located, spoken
from autodiff_lab.explain.model import Explanation
from autodiff_lab.explain.subjects import Subject
from autodiff_lab.recording.model import Application, Flow, Note, Step
from autodiff_lab.recording.recording import Recording

KIND = "fault "


def fault_of(recording: Recording, target: Subject, source: Subject) -> Explanation | None:
    """Return the explanation that an adapter's note gives for a source, None if there is no such note.

    A fault of one variable comes before one of a whole backward pass; the first one counts.
    """
    notes = [n for n in recording.notes if n.kind.startswith(KIND)]
    own = [n for n in notes if n.subject in source.keys] or [n for n in notes if not n.subject]
    if not own:
        return None
    return _told(recording, own[0], target, source)


def fault_in_words(recording: Recording, note: Note, source: Subject) -> str:
    """Return a fault as a clause of one line; empty if its framework is not known."""
    words = WORDS.get(recording.framework, {}).get(note.kind.removeprefix(KIND))
    fields = {"s": source.name, "t": "", "code": in_code(source.name), "op": note.detail or "an op", "dtype": ""}
    return words[0].format(**fields).removesuffix(".") if words else ""


def _told(recording: Recording, note: Note, target: Subject, source: Subject) -> Explanation | None:
    cause = note.kind.removeprefix(KIND)
    words = WORDS.get(recording.framework, {}).get(cause)
    if words is None:
        return None
    op = note.detail or None
    fields = {"s": source.name, "t": target.name, "code": in_code(source.name), "op": op or "an op", "dtype": ""}
    failed = note.subject == 0
    title = f"The gradient of {target.name} with respect to {source.name}"
    return Explanation(
        cause,
        "None" if failed else "a number",
        f"{title} could not be computed." if failed else f"{title} is not what an optimizer needs.",
        words[0].format(**fields),
        op,
        note.place,
        located(recording, note.place),
        words[1].format(**fields),
    )


def not_leaf(recording: Recording, target: Subject, source: Subject) -> Explanation | None:
    """Return the explanation for a source that is the result of an op, where a framework fills gradients of leaves."""
    words = WORDS.get(recording.framework, {}).get("not_leaf")
    made = recording.tensors[source.tensors[-1]].application if source.tensors else None
    if words is None or made is None:
        return None
    application = recording.applications[made]
    fields = {"s": source.name, "t": target.name, "code": in_code(source.name), "op": application.op}
    return Explanation(
        "not_leaf",
        "None",
        f"`.grad` of {source.name} is None, although {target.name} depends on it.",
        words[0].format(**fields),
        application.op,
        application.place,
        located(recording, application.place),
        words[1].format(**fields),
    )


def underflow(recording: Recording, step: Step, flow: Flow) -> tuple[str, str] | None:
    """Return the words for a contribution that is 0 only because half precision has no smaller number."""
    words = WORDS.get(recording.framework, {}).get("underflow")
    dtype = recording.tensors[flow.outgoing].snapshot.dtype
    application: Application = recording.applications[step.application]
    if words is None or dtype != "float16":
        return None
    fields = {"op": application.op, "dtype": dtype, "x": spoken(recording, flow.input)}
    return words[0].format(**fields), words[1].format(**fields)
