"""Explanations given by a tape: from the recording that captured it, or from what the tape itself knows.

Without a recording there are no lines, and once a one-shot tape is spent there are no entries either; the answer then
says what is certain and how to find out the rest.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.errors import NotInRecording
from autodiff_lab.explain.causes import explain
from autodiff_lab.explain.expressions import in_code
from autodiff_lab.explain.model import Explanation
from autodiff_lab.explain.words import WHOLE_FIX, WORDS
from autodiff_lab.recording.recorder import RECENT

RECORD = "Put `with lab.record() as recording:` around the program: the answer then names the op and the line."


def of_tape(tape: int, target: Any, source: Any, facts: dict[str, Any]) -> Explanation:
    """Return the explanation for a tape, by its id and what it knows; see `GradientTape.explain`."""
    for reference in reversed(RECENT):
        recording = reference()
        if recording is None:
            continue
        heard = recording.so_far()
        if any(tape in (note.subject, note.by) for note in heard.notes):
            try:
                return explain(heard, target, source, tape)
            except NotInRecording:
                continue
    return _from_facts(facts)


def _from_facts(facts: dict[str, Any]) -> Explanation:
    cause, what, fix = _cause(facts)
    connected = cause == "connected"
    title = f"The gradient of {facts['target']} with respect to {facts['source']}"
    end = "exists: a path of derivatives leads from one to the other." if connected else "is None."
    if cause == "not_recorded":
        end = "may be None." if facts["spent"] else "is None."
    return Explanation(
        cause, "a number" if connected else "None", f"{title} {end}", what, fix=f"{fix} {RECORD}".strip()
    )


def _cause(facts: dict[str, Any]) -> tuple[str, str, str]:
    """Return the cause, what it means and what to try."""
    fields = {
        "code": in_code(facts["source"]),
        "s": facts["source"],
        "t": facts["target"],
        "x": facts["source"],
        "dtype": facts["dtype"],
        "more": "",
    }
    cause = _named(facts)
    if cause == "connected":
        return cause, "The tape has a path from target to source.", ""
    if cause == "integer":
        fix = WHOLE_FIX["other"].format(**fields)
        return cause, WORDS[cause][0].format(**fields), fix
    if cause == "not_watched":
        fields["more"] = "it is a tensor, and tapes watch tensors only after tape.watch."
    if cause in WORDS:
        what, fix = WORDS[cause]
        return cause, what.format(**fields), fix.format(**fields)
    if cause == "no_path":
        return cause, f"No op in the tape's block read {facts['source']}.", ""
    if facts["spent"]:
        return (
            cause,
            "The tape is spent and has released its entries, so it no longer knows how they are connected.",
            "",
        )
    if not facts["target_tracked"]:
        what = (
            f"The tape does not know {facts['target']}: it was made outside the tape's block, left the engine on the "
            "way, went through an op without a derivative, or depends on nothing that is watched."
        )
        return cause, what, ""
    return cause, f"The tape knows {facts['target']}, and no path of its entries leads to {facts['source']}.", ""


def _named(facts: dict[str, Any]) -> str:
    if facts.get("connected"):
        return "connected"
    if not facts["floating"]:
        return "integer"
    if facts["variable"]:
        if facts["watched"]:
            return "not_recorded"
        if not facts["trainable"]:
            return "not_trainable"
        return "no_path" if facts["automatic"] else "watching_off"
    return "not_watched" if facts.get("source_tracked") is False else "not_recorded"
