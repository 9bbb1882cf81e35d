"""The wire form: a recording as versioned JSON, written completely or not at all.

Nothing that can be derived is stored, so a file cannot contradict itself: which application made a tensor, the
input that a contribution went to and how many contributions arrive follow from the rest.  Values are flat lists, with
"nan", "inf" and "-inf" as words, and a float32 is written with the digits that a float32 has.  Reading is in `reader`.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from autodiff_lab.recording.files import write_whole
from autodiff_lab.recording.journal import is_journal, read_journal
from autodiff_lab.recording.model import Application, Flow, Note, OpInfo, Step, Sweep, TensorRecord
from autodiff_lab.recording.reader import LIMIT, parse
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.schema import FORMAT, NUMBER, VERSION
from autodiff_lab.recording.snapshot import Snapshot, numbers_of


def save(recording: Recording, path: str | Path) -> None:
    """Write a recording as JSON; an existing file is replaced only when the new one is complete."""
    write_whole(Path(path), json.dumps(to_json(recording), ensure_ascii=True, allow_nan=False, separators=(",", ":")))


def load_recording(path: str | Path, *, limit: int = LIMIT, partial: bool = False) -> Recording:
    """Read a recording written by `Recording.save` or ``lab.record(to=...)``, or by another program in the same format.

    Parameters
    ----------
    path : str or Path
        A JSON file.
    limit : int
        Bytes beyond which the file is refused before it is read.
    partial : bool
        Whether to read a file of ``lab.record(to=...)`` that was cut short or is damaged up to that point; the
        recording then ends with an error that says so.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    RecordingTooLarge
        If it is larger than `limit`.
    RecordingVersionError
        If a newer release wrote it.
    RecordingError
        If it is damaged or not a recording; the message names the location in the file, and what can be read.

    Examples
    --------
    >>> import autodiff_lab as lab, tempfile, os
    >>> with lab.record() as recording:
    ...     y = lab.exp(lab.constant(0.0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     recording.save(os.path.join(folder, "exp.json"))
    ...     lab.load_recording(os.path.join(folder, "exp.json")) == recording
    True
    """
    path = Path(path)
    return read_journal(path, limit, partial) if path.is_file() and is_journal(path) else parse(path, limit)


def to_json(recording: Recording) -> dict[str, Any]:
    """Return the recording as JSON can hold it."""
    files = {name: number for number, name in enumerate(recording.sources)}
    return _lean(
        {
            "format": FORMAT,
            "version": VERSION,
            "title": recording.title,
            "framework": recording.framework,
            "error": recording.error,
            "replayable": recording.replayable,
            "ops": [_op(op) for op in recording.ops.values()],
            "files": [
                {"name": name}
                | _lean(
                    {
                        "label": recording.labels.get(name, ""),
                        "lines": {str(number): line for number, line in lines.items()},
                    }
                )
                for name, lines in recording.sources.items()
            ],
            "tensors": [_tensor(record, files) for record in recording.tensors.values()],
            "applications": [_application(application, files) for application in recording.applications],
            "sweeps": [_sweep(sweep, files) for sweep in recording.sweeps],
            "order": [
                [m.application] if m.sweep is None else [m.application, m.sweep, m.step] for m in recording.order
            ],
            "notes": [_note(note, files) for note in recording.notes],
        }
    )


def _lean(fields: dict[str, Any]) -> dict[str, Any]:
    """Return a dict without defaults: the reader restores None, False, "" and empty lists."""
    return {
        key: value
        for key, value in fields.items()
        if value is not None and value is not False and value not in ("", [], {})
    }


def _op(op: OpInfo) -> dict[str, Any]:
    return (
        {"name": op.name}
        | _lean(
            {
                "symbol": op.symbol,
                "latex": op.latex,
                "locals": list(op.locals_latex),
                "sentence": op.sentence,
                "elementwise": op.elementwise,
                "like": op.like,
                "calls": list(op.calls),
            }
        )
        | ({} if op.differentiable else {"differentiable": False})
    )


def _place(place: Any, files: dict[str, int]) -> list[int] | None:
    return None if place is None else [files[place[0]], place[1]]


def _tensor(record: TensorRecord, files: dict[str, int]) -> dict[str, Any]:
    return _lean(
        {
            "id": record.id,
            "kind": "" if record.application is not None else record.kind,
            "name": record.name,
            "variable": record.variable,
            "trainable": record.trainable,
            "scope": record.scope,
            "place": _place(record.place, files),
        }
    ) | value_to_json(record.snapshot)


def _application(application: Application, files: dict[str, int]) -> dict[str, Any]:
    return {"op": application.op, "inputs": list(application.inputs), "outputs": list(application.outputs)} | _lean(
        {
            "params": data_to_json(application.params),
            "cause": application.cause,
            "scope": application.scope,
            "place": _place(application.place, files),
            "error": application.error,
        }
    )


def data_to_json(value: Any) -> Any:
    """Return parameters as JSON; numbers that JSON does not have become ``{"$": "nan"}``."""
    if isinstance(value, float) and not math.isfinite(value):
        return {NUMBER: str(value)}
    if isinstance(value, tuple):
        return [data_to_json(item) for item in value]
    if isinstance(value, dict):
        return {f"{NUMBER}{key}" if key.startswith(NUMBER) else key: data_to_json(item) for key, item in value.items()}
    return value


def _sweep(sweep: Sweep, files: dict[str, int]) -> dict[str, Any]:
    more = {
        "untracked": list(sweep.untracked),
        "carried": [list(pair) for pair in sweep.carried],
        "forward": sweep.forward,
        "names": list(sweep.names),
    }
    return _lean(more) | {
        "tape": sweep.tape,
        "targets": list(sweep.targets),
        "seeds": list(sweep.seeds),
        "sources": list(sweep.sources),
        "results": list(sweep.results),
        "steps": [_step(step, sweep.forward) for step in sweep.steps],
        "place": _place(sweep.place, files),
        "finished": sweep.finished,
    }


def _step(step: Step, forward: bool) -> list[Any]:
    return [step.application, list(step.incoming), [_flow(flow, forward) for flow in step.flows]]


def _flow(flow: Flow, forward: bool) -> list[Any]:
    row = [[flow.position, flow.input] if forward else flow.position, flow.outgoing, flow.total]
    local = None if flow.local is None else value_to_json(flow.local)
    if flow.summed:
        return [*row, local, [*flow.summed]]
    return row if local is None else [*row, local]


def _note(note: Note, files: dict[str, int]) -> dict[str, Any]:
    return {"kind": note.kind, "subject": note.subject, "before": note.before} | _lean(
        {"detail": note.detail, "place": _place(note.place, files), "by": note.by}
    )


def value_to_json(snapshot: Snapshot) -> dict[str, Any]:
    """Return dtype, shape, and the elements in row-major order or their summary."""
    fields: dict[str, Any] = {"dtype": snapshot.dtype}
    if snapshot.shape:
        fields["shape"] = list(snapshot.shape)
    if snapshot.array is not None:
        fields["values"] = _flat(np.asarray(snapshot.array))
    elif snapshot.summary is not None:
        s = snapshot.summary
        fields["summary"] = [*map(_number, (s.minimum, s.mean, s.maximum)), s.nan, s.inf, list(map(_word, s.first))]
        fields["summary"] += [] if s.bad is None else [s.bad, _word(s.bad_value)]
    return fields


def _flat(array: np.ndarray[Any, Any]) -> list[Any]:
    array = numbers_of(array)
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], axis=-1)
    if array.dtype == np.float32:
        return [_number(x) for x in _short_digits(array.ravel())]
    return [_number(x) for x in array.ravel().tolist()]


def _short_digits(array: np.ndarray[Any, Any]) -> list[float]:
    """Return doubles with few digits that round to these float32 numbers: 0.1, not 0.10000000149011612."""
    short = [float(str(x)) for x in array]
    with np.errstate(all="ignore"):
        same = np.asarray(short).astype(np.float32) == array
    return [s if equal else float(x) for s, equal, x in zip(short, same, array, strict=True)]


def _number(value: Any) -> Any:
    """Return a number in few characters: 3 for 3.0, which its dtype makes a float again; -0.0 is kept."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e6 and str(value) != "-0.0":
        return int(value)
    return _word(value)


def _word(value: Any) -> Any:
    """Return a number as it is, and what JSON has no number for as a word."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, complex):
        return [_word(value.real), _word(value.imag)]
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
