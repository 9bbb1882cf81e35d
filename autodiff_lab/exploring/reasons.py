"""Reasons: the name of a compiled function, and why its calls run eagerly if they do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autodiff_lab.draw.lines import cut
from autodiff_lab.draw.program import Reason
from autodiff_lab.exploring.items import line_of
from autodiff_lab.recording.sources import labels_of

if TYPE_CHECKING:
    from autodiff_lab.compile.front.function import Function


def called(function: Function) -> str:
    """Return the name of a function; one without a name is called f."""
    name = getattr(function, "__name__", "")
    return cut(name) if name.isidentifier() else "f"


def eagerly(function: Function, name: str) -> tuple[str, tuple[Reason, ...]]:
    """Say whether and why calls run eagerly."""
    found = dict.fromkeys(function.refusals)
    files = labels_of({refusal.place[0] for refusal in found if refusal.place})
    reasons = tuple(
        Reason(refusal.reason, f"{files[refusal.place[0]]}, line {refusal.place[1]}", line_of(refusal.place))
        if refusal.place
        else Reason(refusal.reason)
        for refusal in found
    )
    if reasons:
        which = "calls with other arguments run" if function.compiled else f"{name} runs"
        return f"{which[0].upper() if function.compiled else which[0]}{which[1:]} eagerly, op by op:", reasons
    told = "" if function.compiled else function.why()
    if told.endswith("has not been called yet."):
        told = f"{name} has not been called yet: call it once, and look again."
    return told, ()
