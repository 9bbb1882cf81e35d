"""Descriptions of values on cards: the name, the formula, or as much of the formula as fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autodiff_lab.explain.expressions import LONGEST, applied, formula, in_words, literal, own_name

if TYPE_CHECKING:
    from autodiff_lab.recording.recording import Recording

LEFT_OUT = "⋯"
"""What stands for parts that are left out; "…" means "not computed yet"."""


def described(recording: Recording, tensor: int) -> str:
    """Describe a value in a few words: its name or formula, or else the op that made it.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.record() as recording:
    ...     y = lab.cos(lab.exp(lab.sin(lab.tanh(x * x * x * x)))) - 1.0
    >>> [described(recording, a.outputs[0]) for a in recording.applications[3:7]]
    ['tanh(x * x * x * x)', 'sin(tanh(x * x * x * x))', 'exp(sin(tanh(x * x * x * x)))', 'cos(exp(⋯))']
    """
    whole = formula(recording, tensor)
    made = recording.tensors[tensor].application
    if whole is not None or made is None or len(recording.applications[made].outputs) > 1:
        return whole or in_words(recording, tensor)
    outlines = (_outline(recording, tensor, depth) for depth in (2, 1))
    return next((words for words in outlines if len(words) <= LONGEST), in_words(recording, tensor))


def _outline(recording: Recording, tensor: int, depth: int) -> str:
    record = recording.tensors[tensor]
    known = own_name(recording, tensor) or literal(recording, tensor)
    if known:
        return known
    if record.application is None or depth == 0:
        return LEFT_OUT
    made = recording.applications[record.application]
    parts = [_outline(recording, key, depth - 1) for key in made.inputs]
    return applied(made.op, parts, shown=dict.fromkeys(parts))
