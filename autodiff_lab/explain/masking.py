"""The branch that was not taken: why it still spoils the gradient, and lines of code that avoid it.

`where` gives a gradient of 0 to the branch that it did not choose; 0 times an infinite derivative is nan, and nan plus
anything is nan. The remedy is always the same: choose a harmless input first, so that the derivative is finite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autodiff_lab.explain.expressions import acting_as, argument, formula, in_code, spoken
from autodiff_lab.explain.rewriting import call_with, guard, input_code
from autodiff_lab.recording.model import Application, Step, Sweep
from autodiff_lab.recording.recording import Recording

HARMLESS = {"exp": "0.0", "acos": "0.0", "asin": "0.0", "atanh": "0.0", "tan": "0.0", "acosh": "2.0"}
"""A number at which the derivative of an op is finite; 1.0 for all others."""
ZERO_SPOILS = {"sqrt", "rsqrt", "pow", "reciprocal", "divide", "log"}
"""Ops whose derivative is infinite at an input of 0."""


@dataclass(frozen=True)
class Mask:
    """The op that sent 0 into a branch: its application, the position of the branch, and a sentence."""

    application: Application
    position: int
    what: str


class Masking:
    """Finds the op that turned an incoming gradient into 0."""

    def __init__(self, recording: Recording, sweep: Sweep) -> None:
        self.recording, self.sweep = recording, sweep

    def of(self, step: Step, index: tuple[int, ...] | None) -> Mask | None:
        """Return the `where` behind a zero adjoint at one element, searching towards the target."""
        tensors = set(self.recording.applications[step.application].outputs)
        for earlier in reversed(self.sweep.steps[: step.index]):
            for flow in earlier.flows:
                if flow.input not in tensors or not self.zero_at(flow.outgoing, index):
                    continue
                application = self.recording.applications[earlier.application]
                if acting_as(self.recording, application) == "where" and flow.position:
                    return Mask(application, flow.position, self.sentence(application))
                tensors.update(application.outputs)
        return None

    def zero_at(self, tensor: int, index: tuple[int, ...] | None) -> bool:
        """Return whether a gradient is 0 at an element; assumed where the elements were not kept."""
        value = self.recording.tensors[tensor].snapshot
        if value.array is None:
            return True
        array = np.asarray(value.array)
        if index is None or array.ndim != len(index):
            return not array.all()
        return bool(array[index] == 0)

    def sentence(self, application: Application) -> str:
        """Return what the `where` did, in words."""
        place = application.place
        at = f" at line {place[1]}" if place else ""
        return f"The 0 comes from the branch that `where`{at} did not take."


def rewrite_of(recording: Recording, application: Application, mask: Mask | None) -> tuple[str, tuple[str, ...]]:
    """Return what to try, and safe lines of code to replace an op whose derivative is infinite."""
    if mask is None:
        fix, lines = guard(recording, application)
        acts_as = acting_as(recording, application)
        code = spoken(recording, application.inputs[1 if acts_as == "divide" else 0])
        if acts_as in ZERO_SPOILS:
            return fix or f"Keep {code} away from 0.", lines
        return fix or f"Keep {code} away from the values where the derivative of {application.op} is infinite.", lines
    acts_as = acting_as(recording, application)
    position = 1 if acts_as == "divide" else 0
    code = input_code(recording, application, position)
    safe_call = call_with(recording, application, position, "safe")
    advice = "Choose a harmless input for the branch before the op, not only its result after it:"
    if code is None or safe_call is None:
        return advice[:-1] + ".", ()
    lines = [] if code.isidentifier() else [f"inner = {code}"]
    x = code if code.isidentifier() else "inner"
    harmless = HARMLESS.get(acts_as, "1.0")
    where = mask.application
    condition = argument(recording, where, 0) or formula(recording, where.inputs[0]) or "mask"
    first = f"{x}, {harmless}" if mask.position == 1 else f"{harmless}, {x}"
    lines.append(f"safe = lab.where({condition}, {first})")
    if where.inputs[mask.position] in application.outputs:
        other = argument(recording, where, 3 - mask.position) or formula(recording, where.inputs[3 - mask.position])
        other = other or "..."
        parts = f"{safe_call}, {other}" if mask.position == 1 else f"{other}, {safe_call}"
        chosen = in_code(recording.name_of(where.outputs[0])).replace("...", "result")
        lines.append(f"{chosen} = lab.where({condition}, {parts})")
    else:
        lines.append(f"# then {safe_call} instead of {call_with(recording, application, position, x)}")
    return advice, tuple(lines)
