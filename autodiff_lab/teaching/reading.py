"""Read the program out of a recording: what is differentiated, with respect to what, and through which ops.

The last backward pass of a recording says all three. Where there is none, they follow from the ops themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from autodiff_lab.engine.op import UNREGISTERED, Op
from autodiff_lab.errors import NotInRecording
from autodiff_lab.explain.subjects import Subject, of_id, subject
from autodiff_lab.recording.model import Sweep
from autodiff_lab.recording.recording import Recording
from autodiff_lab.teaching.program import Array, Entry, Program, ancestors, array_of, number_of, registered_op


def program_of(recording: Recording, target: object = None, sources: Iterable[object] | None = None) -> Program:
    """Return the program of a recording: that of its last backward pass, or of its last op where there is none.

    Parameters
    ----------
    recording : Recording
        A finished one.
    target : Tensor, Variable, int or str, optional
        What is differentiated; by default the target of the last backward pass, or else the last result.
    sources : list, optional
        What it is differentiated with respect to; by default the sources of the last backward pass, or else the
        variables, watched tensors and named constants that the target depends on.

    Raises
    ------
    NotInRecording
        A `LookupError`: the recording has no op, or a name is not in it.
    InvalidArgumentError
        A value is missing because the recording kept only a summary of it.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from autodiff_lab import teaching
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.record() as recording, lab.GradientTape() as tape:
    ...     y = lab.exp(x * x)
    >>> [entry.op for entry in teaching.program_of(recording).entries]
    ['multiply', 'exp']
    """
    recording = recording.so_far()
    sweep = _sweep_for(recording, target)
    if sweep is not None:
        targets, seeds = sweep.targets, tuple(number_of(recording, key) for key in sweep.seeds)
        asked = _met(recording, sweep)
    else:
        targets = _targets(recording, target)
        seeds = tuple(np.ones(number_of(recording, key).shape) for key in targets)
        asked = _inputs(recording, targets)
    if sources is not None:
        asked = tuple(subject(recording, who, "source") for who in sources)
    entries = tuple(_entries(recording, sweep, targets, asked))
    keys = {key for entry in entries for key in (*entry.inputs, *entry.outputs)}
    keys.update(targets, (key for source in asked for key in source.tensors))
    values = _values(recording, keys)
    return Program(recording, entries, targets, seeds, asked, values, sweep)


def _sweep_for(recording: Recording, target: Any) -> Sweep | None:
    who = None if target is None else subject(recording, target, "target")
    for sweep in reversed(recording.sweeps):
        if sweep.finished and sweep.targets and not sweep.forward and (who is None or who.keys & set(sweep.targets)):
            return sweep
    return None


def _targets(recording: Recording, target: Any) -> tuple[int, ...]:
    if target is not None:
        who = subject(recording, target, "target")
        if not who.tensors:
            raise NotInRecording(f"{who.name} is not in the recording.")
        return who.tensors[-1:]
    made = [a for a in recording.forward if a.outputs and _differentiable(recording, a.outputs[0])]
    if not made:
        raise NotInRecording("The recording has no op that could be differentiated. Record a computation first.")
    return made[-1].outputs[:1]


def _met(recording: Recording, sweep: Sweep) -> tuple[Subject, ...]:
    """Return the sources of a sweep; one that no op ever read is known by its id and perhaps a name."""
    found = enumerate(sweep.sources)
    return tuple(of_id(recording, key) or Subject(sweep.called(at), (), key) for at, key in found)


def _inputs(recording: Recording, targets: tuple[int, ...]) -> tuple[Subject, ...]:
    """Return the leaves that gradients are likely asked for: variables and watched tensors, else named constants."""
    needed = ancestors(recording, targets)
    read = dict.fromkeys(key for index in sorted(needed) for key in recording.applications[index].inputs)
    leaves = [
        r for key in read if (r := recording.tensors[key]).application is None and _differentiable(recording, key)
    ]
    watched = {note.subject for note in recording.notes if note.kind == "watched"}
    chosen = (
        [r for r in leaves if (r.variable is not None and r.trainable) or r.id in watched]
        or [r for r in leaves if r.name]
        or leaves
    )
    found = {subject_.keys: subject_ for r in chosen if (subject_ := of_id(recording, r.id)) is not None}
    return tuple(found.values())


def _entries(
    recording: Recording, sweep: Sweep | None, targets: tuple[int, ...], sources: tuple[Subject, ...]
) -> Iterator[Entry]:
    """Yield the ops that a pass goes through: those that the sweep visited, else those between sources and targets."""
    visited = None if sweep is None else _visited(sweep)
    moving = {key for source in sources for key in source.tensors}
    needed = ancestors(recording, targets)
    for application in recording.applications:
        if application.index not in needed or application.error is not None:
            continue
        op = registered_op(recording, application)
        if visited is not None:
            if application.index not in visited:
                continue
            locals_ = visited[application.index]
            need = tuple(sorted(locals_))
        else:
            need = tuple(i for i, key in enumerate(application.inputs) if key in moving and _passes(op, i))
            need = tuple(i for i in need if _differentiable(recording, application.inputs[i]))
            locals_ = {}
            if not need or not any(_differentiable(recording, key) for key in application.outputs):
                continue
        moving.update(application.outputs)
        rules = None if op is None or op.rules in (None, UNREGISTERED) else op.rules
        name = application.op if op is None else op.name
        arrays = {i: array for i, array in locals_.items() if array is not None}
        yield Entry(
            application.index, name, application.inputs, application.outputs, need, application.params or {}, rules,
            arrays,
        )  # fmt: skip


def _visited(sweep: Sweep) -> dict[int, dict[int, Array | None]]:
    """Return the recorded local derivatives by application and position, None for those that were not recorded."""
    found: dict[int, dict[int, Array | None]] = {}
    for step in sweep.steps:
        here = found.setdefault(step.application, {})
        for flow in step.flows:
            here[flow.position] = None if flow.local is None else array_of(flow.local)
    return found


def _passes(op: Op | None, position: int) -> bool:
    """Return whether an op passes gradients to an input."""
    if op is None or op.rules is None or op.rules == UNREGISTERED:
        return False
    return not isinstance(op.rules, tuple) or (position < len(op.rules) and op.rules[position] is not None)


def _differentiable(recording: Recording, key: int) -> bool:
    return recording.tensors[key].snapshot.dtype.startswith(("float", "bfloat", "complex"))


def _values(recording: Recording, keys: set[int]) -> dict[int, Array]:
    """Return the recorded values; those of which only a summary was kept are computed again from the others."""
    values: dict[int, Array] = {}
    for key in sorted(keys):
        array = array_of(recording.tensors[key].snapshot)
        if array is not None:
            values[key] = array
    missing = keys - values.keys()
    if missing:
        blank = Program(recording, (), (), (), (), values)
        for index in sorted(ancestors(recording, tuple(missing))):
            application = recording.applications[index]
            if any(key not in values for key in application.outputs):
                values.update(zip(application.outputs, blank.again(application, values), strict=True))
        for key in missing - values.keys():
            number_of(recording, key)
    return values
