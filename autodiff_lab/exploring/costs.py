"""`costs`: time and memory of every op of a recording, forward and backward.

Recording takes no times: clocks around each op would cost as much as a small op, and one run says little. The ops are
run again instead, alone and several times, on the recorded values, or on numbers of the same shape and dtype where only
a summary was kept. Bytes follow from shapes and dtypes and from what the rules of an op read, as a tape decides it.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autodiff_lab.draw.naming import described
from autodiff_lab.engine.lean import HEAVY_BYTES, LEAN_BYTES
from autodiff_lab.engine.op import UNREGISTERED
from autodiff_lab.engine.silence import quietly
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.explain.tracking import FOREVER, Tracking, kept_by, tracking
from autodiff_lab.recording.model import Application
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.snapshot import Snapshot
from autodiff_lab.teaching.program import registered_op

SHOWN = 20
RUNS = 5
SHORTEST = 50e-6
"""Seconds that one reading of the clock spans at least."""
_HEAD = ("op", "result", "forward", "backward", "bytes", "held", "")


@dataclass(frozen=True, slots=True)
class Cost:
    """What one op costs.

    Attributes
    ----------
    application : int
        Its index in ``recording.applications``.
    op, name, line : str
        The op, the name of its first result, and its line in the program.
    seconds : float or None
        The time of one run; None if it could not be run again.
    backward : float or None
        The time of the ops that its rules ran, in all backward passes; None as above.
    bytes : int
        Size of its results.
    held : int
        Bytes that a tape keeps because of this op. A value that several ops need counts for the first of them.
    """

    application: int
    op: str
    name: str
    line: str
    seconds: float | None
    backward: float | None
    bytes: int
    held: int


@dataclass(frozen=True, repr=False)
class Costs:
    """A row for each op of the forward pass, in the order in which they ran.

    Attributes
    ----------
    rows : tuple of Cost
        The ops.
    """

    rows: tuple[Cost, ...]

    @property
    def seconds(self) -> float:
        """Time of all ops, forward and backward; those that could not be run again are left out."""
        return sum((row.seconds or 0.0) + (row.backward or 0.0) for row in self.rows)

    @property
    def bytes(self) -> int:
        """Size of all results."""
        return sum(row.bytes for row in self.rows)

    @property
    def held(self) -> int:
        """Bytes that tapes keep for their backward passes."""
        return sum(row.held for row in self.rows)

    def by_op(self) -> Costs:
        """Return a row for each kind of op, with the sums of its runs; the most expensive first.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> with lab.record() as recording:
        ...     y = lab.exp(lab.exp(lab.constant(0.0)) + 1.0)
        >>> [(row.op, row.name) for row in sorted(lab.costs(recording).by_op().rows, key=lambda row: row.op)]
        [('add', '1 run'), ('exp', '2 runs')]
        """
        groups: defaultdict[str, list[Cost]] = defaultdict(list)
        for row in self.rows:
            groups[row.op].append(row)
        sums = [
            Cost(
                rows[0].application,
                op,
                f"{len(rows)} run{'s' * (len(rows) > 1)}",
                "",
                _sum(row.seconds for row in rows),
                _sum(row.backward for row in rows),
                sum(row.bytes for row in rows),
                sum(row.held for row in rows),
            )
            for op, rows in groups.items()
        ]
        return Costs(tuple(sorted(sums, key=_price, reverse=True)))

    def by_tensor(self, recording: Recording) -> dict[str, dict[int, float]]:
        """Return the times of the ops by the tensors that they made, as ``recording.explore(color=costs)`` shows them.

        Parameters
        ----------
        recording : Recording
            The one that was measured.

        Returns
        -------
        dict
            ``"forward time"`` and ``"backward time"``, each by the id of the first result of an op, in seconds.

        Raises
        ------
        InvalidArgumentError
            If these are the costs of another recording, or a table of sums.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> with lab.record() as recording:
        ...     y = lab.exp(lab.constant(1.0))
        >>> list(lab.costs(recording).by_tensor(recording))
        ['forward time', 'backward time']
        """
        ran = recording.so_far().applications
        times: dict[str, dict[int, float]] = {"forward time": {}, "backward time": {}}
        for row in self.rows:
            if row.application >= len(ran) or ran[row.application].op != row.op or row.name.endswith((" run", " runs")):
                raise InvalidArgumentError(
                    "These costs are not the rows of this recording. Try recording.explore(color=lab.costs(recording))."
                )
            for what, seconds in (("forward time", row.seconds), ("backward time", row.backward)):
                if seconds is not None and ran[row.application].outputs:
                    times[what][ran[row.application].outputs[0]] = seconds
        return times

    def __repr__(self) -> str:
        shown = sorted(self.rows, key=_price, reverse=True)[:SHOWN]
        lines = [_HEAD, *map(_cells, (row for row in self.rows if row in shown))]
        if len(self.rows) > len(shown):
            lines.append((f"{len(self.rows) - len(shown)} cheaper ops", "", "", "", "", "", ""))
        forward, backward = (_sum(getattr(row, part) for row in self.rows) for part in ("seconds", "backward"))
        lines.append(("all", "", _time(forward), _time(backward), _size(self.bytes), _size(self.held), ""))
        widths = [max(len(line[at]) for line in lines) for at in range(6)]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if at < 2 else cell.rjust(width)
                for at, (cell, width) in enumerate(zip(line, [*widths, 0], strict=True))
            ).rstrip()
            for line in lines
        )


def costs(recording: Recording, *, seconds: float = 1.0) -> Costs:
    """Measure what each op of a recording costs: time forward and backward, bytes made, bytes held for the tape.

    Parameters
    ----------
    recording : Recording
        A finished one; a loaded file will do.
    seconds : float
        How long to measure in all. Ops of the same kind, shapes and dtypes are measured once; those that are left when
        the time is over are run once each.

    Returns
    -------
    Costs
        Printed, the most expensive ops as a table.  Times are those of the kernels, without the overhead of calls.

    Raises
    ------
    InvalidArgumentError
        If the recording is none, or `seconds` is not a positive number.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> w = lab.Variable(lab.ones([100, 100]), name="w")
    >>> with lab.record() as recording:
    ...     with lab.GradientTape() as tape:
    ...         y = lab.reduce_sum(lab.exp(w @ w))
    ...     g = tape.gradient(y, w)
    >>> found = lab.costs(recording)
    >>> [(row.op, row.bytes, row.held) for row in found.rows]
    [('matmul', 40000, 40000), ('exp', 40000, 40000), ('sum', 4, 0)]
    >>> all(row.seconds > 0 and row.backward > 0 for row in found.rows)
    True
    """
    if not isinstance(recording, Recording):
        raise InvalidArgumentError(f"costs takes a recording, but this is a {type(recording).__name__}.")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
        raise InvalidArgumentError(f"seconds should be a positive number, but is {seconds!r}.")
    recording = recording.so_far()
    clock = _Clock(recording, seconds)
    held = held_by(recording)
    backward: defaultdict[int, list[float | None]] = defaultdict(list)
    rows: list[Cost] = []
    for application in recording.applications:
        if application.error is not None:
            continue
        took = clock.time(application)
        if application.cause is not None:
            backward[application.cause].append(took)
            continue
        made = sum(_bytes(recording, key) for key in application.outputs)
        name = described(recording, application.outputs[0]) if application.outputs else ""
        where = recording.where(application.place)
        about = application.index, application.op, name, where
        rows.append(Cost(*about, took, None, made, held.get(application.index, 0)))
    return Costs(tuple(replace(row, backward=_sum(backward.get(row.application, ()), 0.0)) for row in rows))


def held_by(recording: Recording) -> dict[int, int]:
    """Return the bytes that tapes keep, by the application that first needs them; see `GradientTape.saved_bytes`."""
    opened = {note.subject: note for note in recording.notes if note.kind == "tape opened"}
    found: defaultdict[int, int] = defaultdict(int)
    for tape, note in opened.items():
        seen, counted = tracking(recording, tape), set[int]()
        for application in recording.forward:
            if application.error is None and kept_by(recording, seen, application):
                if "persistent" in note.detail.split():
                    kept = set(application.inputs + application.outputs)
                else:
                    kept = _kept(recording, application, _tracked(seen, application))
                for key in kept - counted:
                    counted.add(key)
                    found[application.index] += _bytes(recording, key)
    return dict(found)


def _tracked(seen: Tracking, application: Application) -> list[int]:
    """Return the positions of the inputs that a tape tracked when an op was applied."""
    keys = enumerate(application.inputs)
    return [i for i, key in keys if seen.since.get(key, FOREVER) <= application.index]


def _kept(recording: Recording, application: Application, tracked: list[int]) -> set[int]:
    """Return the tensors that an entry of a one-shot tape keeps: those that rules read, and small ones."""
    ins, outs = set(application.inputs), set(application.outputs)
    op = registered_op(recording, application)
    keeps = "all" if op is None else op.keeps
    unread = outs if keeps == "inputs" or (op is not None and op.dtypes) else ins | outs
    if keeps == "all" or all(_bytes(recording, key) < LEAN_BYTES for key in unread):
        return ins | outs
    read: set[int] = set(outs) if keeps.startswith("output") or len(outs) > 1 else set()
    if keeps == "inputs":
        read |= ins
    elif keeps == "other input":
        read.update(application.inputs[1 - i] for i in tracked)
        read.update(key for key in ins if _bytes(recording, key) < HEAVY_BYTES)
    elif keeps == "output and input 1":
        read = {application.inputs[1]} | (outs if tracked != [0] else set())
    return read


class _Clock:
    """Runs ops again and remembers how long they took."""

    def __init__(self, recording: Recording, seconds: float) -> None:
        self.recording = recording
        self.end = time.perf_counter() + seconds
        self.known: dict[Any, float | None] = {}

    def time(self, application: Application) -> float | None:
        """Return the seconds that one run of an op takes."""
        values = [self.recording.tensors[key].snapshot for key in application.inputs]
        key = application.op, tuple((v.dtype, v.shape) for v in values), repr(application.params)
        if key not in self.known:
            self.known[key] = self._measured(application, values)
        return self.known[key]

    def _measured(self, application: Application, values: list[Snapshot]) -> float | None:
        op = registered_op(self.recording, application)
        if op is None or op.rules == UNREGISTERED:
            return None
        kernel, params = op.kernel, application.params or {}
        try:
            arrays = [_array(value) for value in values]
            first = _seconds(lambda: kernel(*arrays, **params), 1)
        except Exception:  # noqa: BLE001 - a kernel whose parameters were kept as text, for example
            return None
        if time.perf_counter() > self.end:
            return first
        count = min(max(1, int(SHORTEST / max(first, 1e-9))), 1000)
        return min(_seconds(lambda: kernel(*arrays, **params), count) for _ in range(RUNS))


def _seconds(run: Callable[[], Any], count: int) -> float:
    def again() -> float:
        start = time.perf_counter()
        for _ in range(count):
            run()
        return (time.perf_counter() - start) / count

    return quietly(again)


def _array(value: Snapshot) -> Any:
    """Return a recorded value, or in its place numbers of its shape and dtype: from 1 to 2, or zeros for integers."""
    dtype = np.dtype(value.dtype)
    if value.array is not None:
        return np.asarray(value.array).reshape(value.shape).astype(dtype, copy=False)
    if dtype.kind not in "fc":
        return np.zeros(value.shape, dtype)
    return (1.0 + np.random.default_rng(0).random(value.shape)).astype(dtype)


def _bytes(recording: Recording, key: int) -> int:
    value = recording.tensors[key].snapshot
    try:
        return value.size * np.dtype(value.dtype).itemsize
    except TypeError:  # bfloat16, strings
        return value.size * 2 if value.dtype == "bfloat16" else 0


def _sum(parts: Iterable[float | None], empty: float | None = None) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known else empty


def _price(row: Cost) -> float:
    return (row.seconds or 0.0) + (row.backward or 0.0)


def _cells(row: Cost) -> tuple[str, ...]:
    return row.op, row.name, _time(row.seconds), _time(row.backward), _size(row.bytes), _size(row.held), row.line


def _time(seconds: float | None) -> str:
    """Return a time in a few characters.

    >>> _time(3.21e-6), _time(0.01234), _time(2.5), _time(None)
    ('3.21 µs', '12.3 ms', '2.5 s', '-')
    """
    if seconds is None:
        return "-"
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def _size(count: int) -> str:
    """Return a number of bytes in a few characters.

    >>> _size(0), _size(512), _size(40_000), _size(3 * 2**20)
    ('0 B', '512 B', '39.1 KiB', '3 MiB')
    """
    for unit, factor in (("MiB", 2**20), ("KiB", 2**10)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count} B"
