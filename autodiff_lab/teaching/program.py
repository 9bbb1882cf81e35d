"""A recorded program as a backward pass sees it: entries, values and names, without the program that made them.

A recording holds what the ops computed, and the registry holds their rules and kernels. Together they are enough to
run a backward pass again, by any engine, and to compute the same ops at other inputs. Numbers are float64, whatever
the program's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from autodiff_lab.engine.op import REGISTRY, Op
from autodiff_lab.engine.silence import quietly
from autodiff_lab.errors import InvalidArgumentError, NotInRecording
from autodiff_lab.explain.expressions import spoken
from autodiff_lab.explain.subjects import Subject, subject
from autodiff_lab.recording.model import Application, Sweep
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.snapshot import Snapshot

Array = np.ndarray[Any, Any]
Point = Mapping[str, object]
"""Values of inputs by name."""

AGREES = 1e-3
"""How closely recomputed ops have to meet the recorded values, relative to them."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An op of the program, as a pass visits it.

    Attributes
    ----------
    application : int
        Its index in ``recording.applications``.
    op : str
        Its name in the registry; for another framework's op, the name of ours that it is like.
    inputs, outputs : tuple of int
        Ids of tensors.
    need : tuple of int
        The positions of the inputs that contributions go to.
    params : dict
        Parameters of the op.
    rules : tuple of callable, callable or None
        Its derivative rules; None for an op that is not in the registry, which then has its recorded `locals`.
    locals : dict of int to array
        Recorded local derivatives by position.
    """

    application: int
    op: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    need: tuple[int, ...]
    params: dict[str, Any]
    rules: Any
    locals: dict[int, Array]


@dataclass(frozen=True)
class Program:
    """What a pass runs on.

    Attributes
    ----------
    recording : Recording
        The recording that it was made from.
    entries : tuple of Entry
        In the order in which the ops ran.
    targets : tuple of int
        Where the pass starts.
    seeds : tuple of array
        The cotangents of the targets.
    sources : tuple of Subject
        What gradients are asked for.
    values : dict of int to array
        The value of every tensor that an entry reads or makes.
    sweep : Sweep or None
        The recorded backward pass that it repeats, if there is one.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from autodiff_lab import teaching
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.record() as recording, lab.GradientTape() as tape:
    ...     y = x * x
    >>> program = teaching.program_of(recording)
    >>> list(program.accounts), float(program.at({"x": 5.0}).values[program.targets[0]])
    (['y', 'x'], 25.0)
    """

    recording: Recording
    entries: tuple[Entry, ...]
    targets: tuple[int, ...]
    seeds: tuple[Array, ...]
    sources: tuple[Subject, ...]
    values: dict[int, Array]
    sweep: Sweep | None = None

    @cached_property
    def makers(self) -> dict[int, Entry]:
        """The entry that made each tensor."""
        return {output: entry for entry in self.entries for output in entry.outputs}

    @cached_property
    def uses(self) -> dict[int, int]:
        """How many contributions a complete pass delivers to each tensor."""
        counts: dict[int, int] = {}
        reached = set(self.targets)
        for entry in reversed(self.entries):
            if not reached.isdisjoint(entry.outputs):
                for position in entry.need:
                    key = entry.inputs[position]
                    counts[key] = counts.get(key, 0) + 1
                    reached.add(key)
        return counts

    @cached_property
    def moving(self) -> frozenset[int]:
        """The tensors that depend on a source, and the sources."""
        found = {key for source in self.sources for key in source.tensors}
        for entry in self.entries:
            if not found.isdisjoint(entry.inputs):
                found.update(entry.outputs)
        return frozenset(found)

    @cached_property
    def accounts(self) -> dict[str, Subject]:
        """The values that a gradient may be asked for, by name: results of entries, last op first, then the sources."""
        made = [o for entry in reversed(self.entries) for o in entry.outputs]
        found: dict[str, Subject] = {}
        for key in made:
            if key in self.uses or key in self.targets:
                name = spoken(self.recording, key)
                found.setdefault(name, Subject(name, (key,)))
        return found | {source.name: source for source in self.sources}

    def account(self, name: object) -> Subject:
        """Return the value that a name, an id or a tensor stands for.

        Raises
        ------
        NotInRecording
            If there is none.
        """
        if isinstance(name, str) and name in self.accounts:
            return self.accounts[name]
        try:
            return subject(self.recording, name)
        except NotInRecording:
            if isinstance(name, str) and any(not source.tensors for source in self.sources):
                return Subject(name, ())  # perhaps the source that no op read, whose name nothing tells
            raise

    def at(self, point: Point) -> Program:
        """Return the same ops with other inputs; inputs that `point` does not name keep their recorded values.

        Raises
        ------
        NotInRecording
            If a name is not in the recording.
        InvalidArgumentError
            If a value does not have the shape of the input, a name is not that of an input, or an op cannot be
            computed again.
        """
        if not point:
            return self
        values = dict(self.values)
        changed: set[int] = set()
        for name, given in point.items():
            for key in self._leaves(name):
                changed.add(key)
                values[key] = _shaped(given, self.values.get(key, self.number(key)), str(name))
        needed = ancestors(self.recording, self.targets)
        for application in self.recording.applications:
            if application.index in needed and not changed.isdisjoint(application.inputs):
                for key, array in zip(application.outputs, self.again(application, values), strict=True):
                    values[key] = array
                    changed.add(key)
        return replace(self, values=values)

    def _leaves(self, name: Any) -> tuple[int, ...]:
        who = self.account(name)
        if any(self.recording.tensors[key].application is not None for key in who.tensors):
            raise InvalidArgumentError(
                f"{who.name} is not an input of the recorded program. Try {', '.join(s.name for s in self.sources)}."
            )
        return who.tensors

    def again(self, application: Application, values: dict[int, Array]) -> tuple[Array, ...]:
        """Compute an application on other values."""
        op = registered_op(self.recording, application)
        arrays = [values[key] if key in values else self.number(key) for key in application.inputs]
        try:
            if op is None:
                raise KeyError(application.op)
            made = quietly(op.kernel, *arrays, **(application.params or {}))
            made = made if isinstance(made, tuple | list) else (made,)
            return tuple(_double(np.asarray(array)) for array in made)
        except Exception as error:
            raise InvalidArgumentError(
                f"{application.op} cannot be computed again at other inputs from the recording "
                f"({type(error).__name__}: {error}). Record the program a second time instead."
            ) from error

    def number(self, key: int) -> Array:
        """Return the recorded value of a tensor.

        Raises
        ------
        InvalidArgumentError
            If the recording kept only a summary of it.
        """
        return number_of(self.recording, key)


def registered_op(recording: Recording, application: Application) -> Op | None:
    """Return our op for an application, or the one that another framework's is like."""
    info = recording.ops.get(application.op)
    for name in (application.op if not recording.framework else "", "" if info is None else info.like):
        if name and name in REGISTRY:
            return REGISTRY[name]
    return None


def ancestors(recording: Recording, targets: tuple[int, ...]) -> set[int]:
    """Return the indices of the applications that targets are made by."""
    found: set[int] = set()
    left = [*targets]
    while left:
        made = recording.tensors[left.pop()].application
        if made is not None and made not in found:
            found.add(made)
            left.extend(recording.applications[made].inputs)
    return found


def number_of(recording: Recording, key: int) -> Array:
    """Return the recorded value of a tensor, or say that only a summary of it was kept."""
    array = array_of(recording.tensors[key].snapshot)
    if array is None:
        raise InvalidArgumentError(
            f"The recording kept only a summary of {spoken(recording, key)}, which is too large. Try a smaller program."
        )
    return array


def array_of(snapshot: Snapshot) -> Array | None:
    """Return a value that was kept in full, None for a summary."""
    return None if snapshot.array is None else _double(np.asarray(snapshot.array).reshape(snapshot.shape))


def _double(array: Array) -> Array:
    """Return floats as float64 and complex numbers as complex128."""
    kind = {"f": np.float64, "c": np.complex128}.get(array.dtype.kind)
    return array if kind is None or array.dtype == kind else array.astype(kind)


def _shaped(given: Any, like: Array, name: str) -> Array:
    try:
        array = np.array(given, dtype=like.dtype)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"The value of {name} should be a number or an array: {error}.") from None
    if array.shape != like.shape and array.size != like.size:
        raise InvalidArgumentError(f"The value of {name} should have shape {like.shape}, but has {array.shape}.")
    return array.reshape(like.shape)
