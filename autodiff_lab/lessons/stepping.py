"""Explorers that ask: forward mode with a slot for each sweep, and any pass with its numbers to be typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab import teaching
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.recording import Recording
from autodiff_lab.teaching.reading import program_of

if TYPE_CHECKING:
    from autodiff_lab.widgets.explorer import Explorer

SWEEPS = 24
"""The most sweeps that one picture shows."""


def forward_stepper(recording: Recording, seeds: Any = None, *, target: Any = None, locked: bool = False) -> Explorer:
    """Open forward mode in the explorer: every node has a value and a tangent, and every sweep fills a slot.

    Parameters
    ----------
    recording : Recording
        A finished one.
    seeds : mapping, or list of mappings, optional
        The tangents of inputs by name, for each sweep; see `teaching.forward`. By default there is a sweep for each
        number among the inputs, so that the slots are the gradient.
    target : Tensor, int or str, optional
        The result; by default that of the last backward pass, or the last one.
    locked : bool
        Whether a tangent is shown only once it has been typed.

    Raises
    ------
    InvalidArgumentError
        There are more than 24 sweeps, or `teaching.forward` cannot carry these seeds.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from autodiff_lab import lessons
    >>> x, y = lab.Variable(2.0, name="x"), lab.Variable(3.0, name="y")
    >>> with lab.record() as recording, lab.GradientTape() as tape:
    ...     f = x * y
    >>> print(lessons.forward_stepper(recording, locked=True).account())
    %0: f32 = variable          # x = 2
    %1: f32 = variable          # y = 3
    %2: f32 = multiply(%0, %1)  # f = 6
    Every further step is a question: type the number that comes next.
    """
    from autodiff_lab.widgets.explorer import Explorer

    _check(recording)
    each = _one_by_one(recording, target) if seeds is None else seeds
    if isinstance(each, (list, tuple)) and len(each) > SWEEPS:
        raise InvalidArgumentError(f"These are {len(each)} sweeps, and at most {SWEEPS} are shown.")
    return Explorer(teaching.forward(recording, each, target), ask=locked)


def locked_stepper(recording: Recording) -> Explorer | Recording:
    """Open a recording in the explorer, where every step of a pass asks for the numbers that it delivers.

    A number counts up to 0.5 %, and up to 1 % if it is rounded to two digits or more.

    Parameters
    ----------
    recording : Recording
        A finished one, of single numbers; steps that deliver arrays are shown without a question.

    Returns
    -------
    Explorer
        A widget.  Where anywidget is not installed nothing can ask, and it is the recording, which is text then.

    Raises
    ------
    InvalidArgumentError
        This is not a recording.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from autodiff_lab import lessons
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.record() as recording:
    ...     with lab.GradientTape() as tape:
    ...         y = x * x
    ...     slope = tape.gradient(y, x)
    >>> stepper = lessons.locked_stepper(recording)
    >>> stepper.is_locked
    True
    """
    _check(recording)
    try:
        from autodiff_lab.widgets.explorer import Explorer
    except ImportError:
        return recording
    return Explorer(recording, ask=True)


def _check(recording: Any) -> None:
    if not isinstance(recording, Recording):
        raise InvalidArgumentError(
            f"A recording was expected, but this is {type(recording).__name__}. Make one with "
            "`with lab.record() as recording:`."
        )


def _one_by_one(recording: Recording, target: Any) -> list[dict[int, Any]]:
    """Return the seeds of a gradient: for each number among the inputs, 1 there and 0 elsewhere."""
    program = program_of(recording, target)
    sources = [source for source in program.sources if source.tensors]
    if not sources:
        raise InvalidArgumentError("The recorded program has no input that a tangent could be carried from.")
    shapes = [program.number(source.tensors[0]).shape for source in sources]
    count = sum(int(np.prod(shape)) for shape in shapes)
    if count > SWEEPS:
        raise InvalidArgumentError(f"The gradient takes {count} forward sweeps, and at most {SWEEPS} are shown. "
                                   "Choose some with `seeds`.")  # fmt: skip
    found: list[dict[int, Any]] = []
    for source, shape in zip(sources, shapes, strict=True):
        for at in range(int(np.prod(shape))):
            one = np.zeros(shape)
            one.flat[at] = 1.0
            found.append({min(source.keys): one if shape else 1.0})
    return found
