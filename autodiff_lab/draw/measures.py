"""Measures: a number for each value by which the explorer colours its nodes: norms, bytes, times, or the user's own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from autodiff_lab.draw.values import clipped
from autodiff_lab.errors import InvalidArgumentError, NotInRecording
from autodiff_lab.explain.expressions import spoken
from autodiff_lab.explain.subjects import subject
from autodiff_lab.recording.model import TensorRecord
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.snapshot import Snapshot


@runtime_checkable
class Measured(Protocol):
    """Several measures at once, as `lab.costs` has them: forward and backward times."""

    def by_tensor(self, recording: Recording) -> Mapping[str, Mapping[int, float]]:
        """Return the numbers of each measure, by the id of the tensor."""
        ...


Color: TypeAlias = "Mapping[Any, float] | Callable[[TensorRecord], float | None] | Measured"
"""A number for each value: by tensor, variable or name, what a function returns for its record, or costs."""
_WIDTHS = {"bool": 1, "bfloat16": 2}


def measures(
    recording: Recording, shown: Iterable[int], totals: Mapping[int, Snapshot], color: Color | None = None
) -> dict[str, dict[int, float]]:
    """Return the measures of values, by the name of the measure and the id of the tensor.

    Parameters
    ----------
    recording : Recording
        Any recording.
    shown : iterable of int
        Ids of the tensors to be measured.
    totals : mapping
        The final gradient of each tensor that has one, by id.
    color : mapping, callable or Costs, optional
        A measure of the user's own, or the times of `lab.costs`.

    Returns
    -------
    dict
        ``"value norm"`` and ``"gradient norm"``, the square root of the sum of squares of what was kept whole;
        ``"bytes"``; and the user's own under the name of the function, or ``"color"``.  What has no number is left out.

    Raises
    ------
    InvalidArgumentError
        `color` is neither a mapping nor callable, or gives something other than a finite real number or None.
    NotInRecording
        A key of `color` is not in the recording.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> with lab.record() as recording:
    ...     y = lab.constant([3.0, 4.0], name="x") * 2.0
    >>> found = measures(recording, recording.tensors, {}, {"x": 7})
    >>> found["value norm"].values(), found["bytes"].values(), found["color"].values()
    (dict_values([5.0, 2.0, 10.0]), dict_values([8, 4, 8]), dict_values([7.0]))
    """
    records = {key: recording.tensors[key] for key in shown}
    norms = {key: norm(record.snapshot) for key, record in records.items()}
    slopes = {key: norm(totals[key]) for key in records if key in totals}
    found: dict[str, dict[int, float]] = {
        "value norm": {key: number for key, number in norms.items() if number is not None},
        "gradient norm": {key: number for key, number in slopes.items() if number is not None},
        "bytes": {key: size for key, record in records.items() if (size := _bytes(record.snapshot)) is not None},
    }
    if isinstance(color, Measured):
        for what, numbers in color.by_tensor(recording).items():
            found[what] = {key: number for key, number in numbers.items() if key in records}
    elif color is not None:
        name = clipped(str(getattr(color, "__name__", "color")).replace("<lambda>", "color"))
        found[f"{name} (own)" if name in found else name] = _own(recording, records, color)
    return found


def norm(snapshot: Snapshot) -> float | None:
    """Return the square root of the sum of squares; None where it is unknown, empty, infinite or nan."""
    if snapshot.array is None or not snapshot.size or np.asarray(snapshot.array).dtype.kind not in "biufc":
        return None
    size = float(np.linalg.norm(np.abs(np.asarray(snapshot.array)).astype(np.float64).ravel()))
    return float(f"{size:.4g}") if math.isfinite(size) else None


def _bytes(snapshot: Snapshot) -> int | None:
    width = _WIDTHS.get(snapshot.dtype)
    if width is None:
        try:
            width = np.dtype(snapshot.dtype).itemsize
        except TypeError:
            return None
    return snapshot.size * width


def _own(recording: Recording, records: Mapping[int, TensorRecord], color: Color) -> dict[int, float]:
    if isinstance(color, Mapping):
        given = {key: number for who, number in color.items() for key in _keys(recording, who)}
    elif callable(color):
        given = {key: color(record) for key, record in records.items()}
    else:
        raise InvalidArgumentError(
            f"color must be a dict of numbers or a function of a TensorRecord, got {color!r:.80}. "
            "Try color={'x': 1.0} or color=lambda record: record.snapshot.size."
        )
    return {key: _number(recording, key, number) for key, number in given.items() if number is not None}


def _keys(recording: Recording, who: Any) -> tuple[int, ...]:
    try:
        found = subject(recording, who, "key")
    except LookupError as refusal:
        raise NotInRecording(f"color: {refusal}") from None
    if not found.tensors:
        raise NotInRecording(f"color: no op of the recording used {found.name}. Leave it out, or try its name.")
    return found.tensors


def _number(recording: Recording, key: int, number: Any) -> float:
    try:
        known = float(number)
    except (TypeError, ValueError, OverflowError):
        known = math.nan
    if not math.isfinite(known) or isinstance(number, str):
        raise InvalidArgumentError(
            f"color must give a finite real number or None for each value, got {number!r:.80} for "
            f"{spoken(recording, key)}."
        )
    return known
