"""Gradients that a training loop adds up by mistake: a running sum that is never reset, and that every update uses.

Adding gradients is common and often right, as over parts of a batch. It is reported only where nothing else fits: three
updates of one variable in succession, each relative to its value, each by a sum of gradients that has grown by the
gradients since the update before. Then every update repeats all earlier ones.
"""

from __future__ import annotations

from autodiff_lab.events import Place
from autodiff_lab.recording.model import Application, Note
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.snapshot import Snapshot, summarise

Sum = tuple[int, frozenset[int]]
"""A variable, and the gradients of it that were added up without a factor."""
ADDS = {"add", "add_n"}
UPDATES = 3
"""So many growing sums in succession are taken for a mistake. Heun's and Runge-Kutta's methods have two."""


def added_up(recording: Recording) -> list[tuple[int, int, Place | None]]:
    """Return each variable that is updated by a sum that only grows, the number of gradients in it, and the line.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> w, total = lab.Variable(1.0, name="w"), 0.0
    >>> with lab.record() as recording:
    ...     for _ in range(3):
    ...         with lab.GradientTape() as tape:
    ...             loss = w * w
    ...         total += tape.gradient(loss, w)
    ...         _ = w.assign_sub(0.1 * total)
    >>> [(count, place[1]) for _, count, place in added_up(recording)]
    [(3, 5)]
    """
    sums = _gradients(recording)
    if len(sums) < UPDATES:
        return []
    made: dict[int, Place | None] = {}
    for application in recording.forward:
        _add(application, sums, made)
    found: list[tuple[int, int, Place | None]] = []
    for variable in sorted({variable for variable, _ in sums.values()}):
        longest = _growing(_sums_of_updates(recording, variable, sums))
        if longest:
            keys, tensor = longest
            found.append((variable, len(keys), made.get(tensor)))
    return found


def _gradients(recording: Recording) -> dict[int, Sum]:
    """Return what backward passes returned for variables."""
    sums: dict[int, Sum] = {}
    for sweep in recording.sweeps:
        for source, result in zip(sweep.sources, sweep.results, strict=False):
            record = recording.tensors.get(source)
            variable = source if record is None else record.variable
            if result is not None and variable is not None:
                sums[result] = variable, frozenset({result})
    return sums


def _add(application: Application, sums: dict[int, Sum], made: dict[int, Place | None]) -> None:
    """Enter the result of an addition whose operands are gradients of one variable, or sums of them."""
    if application.op not in ADDS or len(application.outputs) != 1:
        return
    parts = [sums[key] for key in application.inputs if key in sums]
    if parts and len({variable for variable, _ in parts}) == 1:
        (out,) = application.outputs
        sums[out] = parts[0][0], frozenset().union(*(keys for _, keys in parts))
        if len(parts) > 1 or out not in made:
            made[out] = application.place


def _sums_of_updates(
    recording: Recording, variable: int, sums: dict[int, Sum]
) -> list[tuple[frozenset[int], int] | None]:
    """Return the sum that each update of a variable used, with its tensor; None where that is not certain."""
    found: list[tuple[frozenset[int], int] | None] = []
    reads: list[Note] = []  # since the update before
    start = 0
    for update in recording.notes:
        if update.kind == "read":
            reads.append(update)
        if update.kind != "assigned" or update.subject != variable:
            continue
        window = [a for a in recording.applications[start : update.before] if a.cause is None]
        used = {key for a in window for key in a.inputs if not _is_a_sum(a, sums)}
        used |= {n.subject for n in reads if n.place == update.place}
        mine = {(sums[key][1], key) for key in used if key in sums and sums[key][0] == variable}
        certain = len({keys for keys, _ in mine}) == 1 and _is_relative(recording, update, variable, start)
        found.append(max(mine, key=lambda pair: pair[1]) if certain else None)
        reads, start = [], update.before
    return found


def _is_a_sum(application: Application, sums: dict[int, Sum]) -> bool:
    return application.op in ADDS and any(key in sums for key in application.outputs)


def _is_relative(recording: Recording, update: Note, variable: int, start: int) -> bool:
    """Return whether an update starts from the variable's value, as `assign_sub`, optimizers, ``w.assign(w - ...)`` do.

    A note has the tensor that was given. What `assign` was given is what the variable is next read as.
    """
    given = None if update.by is None else recording.tensors.get(update.by)
    if given is None or given.application is None:
        return True
    read = next((r for r in recording.tensors.values() if r.variable == variable and r.id > given.id), None)
    if read is None or _extremes(read.snapshot) != _extremes(given.snapshot):
        return True
    made = recording.applications[given.application]
    return made.index >= start and any(recording.tensors[key].variable == variable for key in made.inputs)


def _extremes(value: Snapshot) -> tuple[float | None, float | None, float | None]:
    found = summarise(value.array) if value.summary is None else value.summary
    return found.minimum, found.mean, found.maximum


def _growing(updates: list[tuple[frozenset[int], int] | None]) -> tuple[frozenset[int], int] | None:
    """Return the last sum of the first run of updates whose sums grow, if it is long enough."""
    run: list[tuple[frozenset[int], int]] = []
    for each in [*updates, None]:
        if each is not None and run and run[-1][0] < each[0]:
            run.append(each)
            continue
        if len(run) >= UPDATES:
            return run[-1]
        run = [each] if each is not None else []
    return None
