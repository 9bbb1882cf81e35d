"""Automatic remarks on a recording: missing, non-finite and repeated gradients, and unexpected shapes, one line each.

Printed recordings end with these lines, and pages show them, so that a cut path is noticed at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from autodiff_lab.events import Place
from autodiff_lab.explain.adding_up import added_up
from autodiff_lab.explain.causes import explain
from autodiff_lab.explain.expressions import acting_as
from autodiff_lab.explain.faults import KIND, fault_in_words
from autodiff_lab.explain.model import Explanation
from autodiff_lab.explain.nonfinite import Bad, first_nonfinite
from autodiff_lab.explain.subjects import of_id
from autodiff_lab.explain.tracking import Tracking, tracking
from autodiff_lab.recording.choosing import left_out
from autodiff_lab.recording.model import Sweep
from autodiff_lab.recording.numbers import brief
from autodiff_lab.recording.recording import Recording

MOST = 5
"""The largest number of remarks; the last one says how many were left out."""
LOOKED_AT = 30
"""How many missing gradients are explained; a training loop repeats the same few."""


def remarks(recording: Recording, *, lines: bool = True) -> tuple[str, ...]:
    """Return one line for each gradient that is missing, not finite or added up by mistake, and for unexpected shapes.

    Parameters
    ----------
    recording : Recording
        Any recording.
    lines : bool
        Whether to include line numbers.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> w1, w2 = lab.Variable(0.5, name="w1"), lab.Variable(2.0, name="w2")
    >>> with lab.record() as recording:
    ...     with lab.GradientTape() as tape:
    ...         y = lab.stop_gradient(lab.tanh(w1)) * w2
    ...     grads = tape.gradient(y, [w1, w2])
    >>> print(*remarks(recording, lines=False))
    gradient of w1 is None: stop_gradient
    """
    return remarks_and_cuts(recording, lines)[0]


def remarks_and_cuts(recording: Recording, lines: bool = True) -> tuple[tuple[str, ...], tuple[Missing, ...]]:
    """Return the remarks, and where in the graph the gradients are lost that the first of them miss.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.record() as recording:
    ...     with lab.GradientTape() as tape:
    ...         y = lab.stop_gradient(x) * 2.0
    ...     slope = tape.gradient(y, x)
    >>> _, (missing,) = remarks_and_cuts(recording)
    >>> recording.applications[missing.application].op, missing.remark
    ('stop_gradient', 0)
    """
    found: dict[str, int] = {}
    cuts: dict[Missing, None] = {}
    gone = left_out(recording)
    for sweep, line, cut in () if gone else _gaps(recording, lines):
        found[line] = found.get(line, 0) + 1
        if cut is not None:
            cuts[Missing(list(found).index(line), sweep, *cut)] = None
    told = [line if count == 1 else f"{line} (in {count} backward passes)" for line, count in found.items()]
    if gone:
        told.append(f"{gone} {'was' if gone == '1 op' else 'were'} left out of this recording")
    told += _spoilt(recording, lines)
    told += _repeated(recording, lines)
    told += _stretched(recording, lines)
    shown = told if len(told) <= MOST else [*told[: MOST - 1], f"and {len(told) - MOST + 1} more like these"]
    return tuple(shown), tuple(cuts)


@dataclass(frozen=True)
class Missing:
    """Where a gradient is lost: the position of the remark on it, the sweep, and the cut of an `Explanation`."""

    remark: int
    sweep: int
    tensor: int
    application: int | None


def _gaps(recording: Recording, lines: bool) -> Iterator[tuple[int, str, tuple[int, int | None] | None]]:
    """Yield the sweep of each missing gradient, the remark on it, and where it is cut."""
    heard: dict[int, Tracking] = {}
    missing = (
        (sweep, position)
        for sweep in recording.sweeps
        for position, result in enumerate(sweep.results if sweep.finished else ())
        if result is None
    )
    for sweep, position in islice(missing, LOOKED_AT):
        if sweep.tape not in heard:
            heard[sweep.tape] = tracking(recording, sweep.tape)
        yield sweep.index, *_missing(recording, sweep, position, heard[sweep.tape], lines)


def _missing(
    recording: Recording, sweep: Sweep, position: int, seen: Tracking, lines: bool
) -> tuple[str, tuple[int, int | None] | None]:
    key = sweep.sources[position]
    known = of_id(recording, key)
    if known is None:
        return f"gradient of {sweep.called(position)} is None: no op used it{_at(recording, sweep.place, lines)}", None
    targets = [*sweep.targets, *sweep.untracked]
    if not targets:
        return f"gradient of {known.name} is None: there was no target{_at(recording, sweep.place, lines)}", None
    why = _nearest([explain(recording, target, key, sweep.tape, seen) for target in targets])
    return f"gradient of {known.name} is None: {why.short}{_at(recording, why.place, lines)}", why.cut


def _nearest(found: list[Explanation]) -> Explanation:
    """Return the most telling target: one whose path was cut says more than one that never had a path."""
    cut = [e for e in found if e.cause != "no_path" and e.result == "None"]
    return (cut or found)[0]


def _spoilt(recording: Recording, lines: bool) -> list[str]:
    """Describe non-finite gradients of sources and where they began; otherwise a non-finite forward value."""
    bad: list[str] = []
    for sweep in recording.sweeps:
        for source, result in zip(sweep.sources, sweep.results, strict=False):
            if result is None or recording.tensors[result].snapshot.finite:
                continue
            known = of_id(recording, source)
            if known is not None:
                bad.append(f"gradient of {known.name} is {brief(recording.tensors[result].snapshot)}")
    found = first_nonfinite(recording) if bad or _last_is_bad(recording) else None
    if found is None:
        return []
    first = found.forward or found.backward
    assert first is not None
    who = bad[0] if bad else "a value is not finite"
    return [f"{who}: {_reason(first, found.backward)}{_at(recording, first.place, lines)}"]


def _repeated(recording: Recording, lines: bool) -> list[str]:
    """Name the variables whose updates repeat earlier gradients, as a loop here shows or an adapter found."""
    told: list[str] = []
    for variable, count, place in added_up(recording):
        known = of_id(recording, variable)
        told.append(
            f"{count} gradients of {known.name if known else 'a variable'} were added up, so each update repeated the "
            f"earlier ones: was the sum to be reset in each step?{_at(recording, place, lines)}"
        )
    for note in recording.notes:
        known = of_id(recording, note.subject) if note.kind == f"{KIND}grad_not_cleared" else None
        if known is not None:
            told.append(f"{fault_in_words(recording, note, known)}{_at(recording, note.place, lines)}")
    return list(dict.fromkeys(told))


def _stretched(recording: Recording, lines: bool) -> list[str]:
    """Name the elementwise ops of two inputs whose result has the shape of neither: (100, 1) - (100,) is (100, 100)."""
    found: dict[tuple[object, ...], None] = {}
    for application in recording.forward:
        info = recording.ops.get(application.op)
        binary = len(application.inputs) == 2 and len(application.outputs) == 1
        if not binary or not (
            info is not None and (info.elementwise or acting_as(recording, application) in ELEMENTWISE)
        ):
            continue
        (out,) = application.outputs
        shapes = [recording.tensors[t].snapshot.shape for t in (*application.inputs, out)]
        if shapes[2] not in shapes[:2] and all(np.prod(shape, dtype=float) > 1 for shape in shapes[:2]):
            at = _at(recording, application.place, lines)
            found[application.op, *shapes, at] = None
    return [
        f"{op}: shapes {a} and {b} broadcast to {c}, which neither input has. Is that intended?{at}"
        for op, a, b, c, at in found
    ]


ELEMENTWISE = {"add", "subtract", "multiply", "divide", "pow", "maximum", "minimum", "squared_difference", "atan2"}


def _last_is_bad(recording: Recording) -> bool:
    """Return whether a final result is not finite; values that masks and maxima discard on purpose do not count."""
    read = {tensor for application in recording.forward for tensor in application.inputs}
    return any(not recording.tensors[t].snapshot.finite for a in recording.forward for t in a.outputs if t not in read)


def _reason(first: Bad, backward: Bad | None) -> str:
    at = f" ({first.trigger})" if first.trigger else ""
    if first is backward:
        cause = first.value
        if "is infinite" in first.what:
            cause = "0 times infinity" if "0 times infinity is nan" in first.what else "an infinite derivative"
        return f"{cause} in the backward pass of {first.op}{at}"
    return f"{first.op or 'an input value'} is {first.value}{at}"


def _at(recording: Recording, place: Place | None, lines: bool) -> str:
    """Return where it is, with the cell or file if the program has more than one."""
    if place is None or not lines:
        return ""
    return f" ({recording.where(place)})" if len(recording.sources) > 1 else f" (line {place[1]})"
