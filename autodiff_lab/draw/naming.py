"""Descriptions of values on cards: the name, the formula, or as much of the formula as fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autodiff_lab.explain.expressions import LONGEST, applied, literal, spoken

if TYPE_CHECKING:
    from autodiff_lab.recording.recording import Recording

LEFT_OUT = "…"


def described(recording: Recording, tensor: int) -> str:
    """Describe a value in a few words; ``%7`` if even the shortest form is too long.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.record() as recording:
    ...     y = lab.exp(lab.sin(lab.tanh(x * x))) - 1.0
    >>> [described(recording, a.outputs[0]) for a in recording.applications[:4]]
    ['x * x', 'tanh(x * x)', 'sin(tanh(…))', 'exp(sin(…))']
    """
    words = spoken(recording, tensor)
    for depth in (2, 1) if recording.tensors[tensor].application is not None else ():
        if not words.startswith("%"):
            break
        shorter = _outline(recording, tensor, depth)
        words = shorter if len(shorter) <= LONGEST else words
    return words


def _outline(recording: Recording, tensor: int, depth: int) -> str:
    record = recording.tensors[tensor]
    known = record.name or literal(recording, tensor)
    if known:
        return known
    if record.application is None or depth == 0:
        return LEFT_OUT
    made = recording.applications[record.application]
    parts = [_outline(recording, key, depth - 1) for key in made.inputs]
    return applied(made.op, parts, shown=dict.fromkeys(parts))
