"""Series: one number for each iteration of a loop, for the small curve in its node.

Of a loop that carries a value from one iteration to the next, the size of that value and of its gradient; of a training
loop, the loss.  A scalar counts with its sign, a tensor with its Euclidean norm.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from autodiff_lab.draw.model import Series
from autodiff_lab.draw.scopes import inside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autodiff_lab.draw.loops import Loop
    from autodiff_lab.draw.timeline import Timeline
    from autodiff_lab.recording.snapshot import Snapshot


def carried(loop: Loop, timeline: Timeline) -> list[int]:
    """Return the tensor that each iteration hands to the next, and what the last one computes in its place.

    Where there are several, the one that is computed last in its iteration.  Empty if nothing is handed on.
    """
    scopes = timeline.scopes
    turn_of = {index: at for at, path in enumerate(loop.turns) for index in scopes.members[path]}
    chosen: list[int] = []
    place = -1
    for at, path in enumerate(loop.turns):
        members = scopes.members[path]
        made = [(n, tensor) for n, index in enumerate(members) for tensor in scopes.shown[index].outputs]
        if at == len(loop.turns) - 1:
            names = [timeline.recording.tensors[tensor].name for tensor in chosen[-1:]]
            called = [t for _, t in made if timeline.recording.tensors[t].name in names and names != [None]]
            chosen += called[-1:] or [tensor for n, tensor in made if n == place][:1]
            break
        handed = [(n, t) for n, t in made if any(turn_of.get(r, at) > at for r in scopes.readers.get(t, ()))]
        if not handed:
            return []
        place, tensor = handed[-1]
        chosen.append(tensor)
    return chosen if len(chosen) == len(loop.turns) else []


def series_of(loop: Loop, tensors: Sequence[int], timeline: Timeline) -> tuple[Series, ...]:
    """Return the curves of a loop that carries `tensors`: none, one, or a value with its gradient."""
    if tensors:
        found = [_values(tensors, timeline, "value"), _gradients(tensors, timeline)]
        return tuple(one for one in found if one is not None)
    losses = _losses(loop, timeline)
    one = _values(losses, timeline, "value") if losses else None
    return () if one is None else (one,)


def _losses(loop: Loop, timeline: Timeline) -> list[int]:
    """Return the tensor of each iteration of which a gradient was taken; empty unless every iteration has one."""
    records, scopes = timeline.recording.tensors, timeline.scopes
    made = {t: scopes.shown[a].scope for t in scopes.targets if (a := records[t].application) in scopes.shown}
    found = [next((t for t in sorted(made) if inside(made[t], path)), None) for path in loop.turns]
    return [tensor for tensor in found if tensor is not None] if None not in found else []


def _values(tensors: Sequence[int], timeline: Timeline, kind: str) -> Series | None:
    records = timeline.recording.tensors
    name = next((records[tensor].name for tensor in tensors if records[tensor].name), "") or ""
    return _series(name, kind, [records[tensor].snapshot for tensor in tensors], tuple(tensors))


def _gradients(tensors: Sequence[int], timeline: Timeline) -> Series | None:
    records = timeline.recording.tensors
    arrived = [timeline.arrivals.get(tensor, ()) for tensor in tensors]
    totals = [records[each[-1].total].snapshot if each and each[-1].total in records else None for each in arrived]
    return _series("", "gradient", totals)


def _series(name: str, kind: str, snapshots: Sequence[Snapshot | None], tensors: tuple[int, ...] = ()) -> Series | None:
    """Return the numbers of snapshots; None where fewer than two of them have one."""
    numbers = tuple(None if one is None else _number(one) for one in snapshots)
    return Series(name, kind, numbers, tensors) if sum(n is not None for n in numbers) > 1 else None


def _number(snapshot: Snapshot) -> float | None:
    if not snapshot.dtype.startswith(("float", "bfloat", "int", "uint")) or not snapshot.size:
        return None
    if snapshot.array is not None:
        array = np.asarray(snapshot.array, np.float64)
        number = float(array) if array.ndim == 0 else float(np.linalg.norm(array))
    elif snapshot.summary is not None and snapshot.summary.minimum is not None and snapshot.summary.maximum is not None:
        number = max(-snapshot.summary.minimum, snapshot.summary.maximum)
    else:
        return None
    return number if math.isfinite(number) else None


def heights(numbers: Sequence[float | None]) -> list[int | None]:
    """Return the numbers as heights from 0, the smallest, to 100, the largest; 50 if they are all alike.

    Examples
    --------
    >>> heights([1.0, 3.0, None, 2.0])
    [0, 100, None, 50]
    """
    known = [number for number in numbers if number is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    span = high - low
    if not span or not math.isfinite(span):
        return [None if number is None else 50 for number in numbers]
    return [None if number is None else round(100 * (number - low) / span) for number in numbers]
