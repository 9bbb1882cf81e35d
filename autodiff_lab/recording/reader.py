"""Reads the wire form back: every field is checked, every id must refer to something that came before.

Because the inputs of an application must be leaves or outputs of earlier applications, a file that passes has no
cycles.  Unknown op names and dtypes are valid, and nothing in a file is ever executed.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from autodiff_lab.errors import RecordingError, RecordingTooLarge, RecordingVersionError
from autodiff_lab.events import Place
from autodiff_lab.recording.model import Application, Flow, Moment, Note, OpInfo, Step, Sweep, TensorRecord
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.schema import FORMAT, VERSION, WORDS, Field
from autodiff_lab.recording.snapshot import Snapshot, Summary

LIMIT = 256 * 1024 * 1024
"""Bytes that `load_recording` reads by default."""
_RANK = 64
STRING = "string"
_KINDS = ("variable", "constant", "converted", "gradient")
_KNOWN_DTYPES = frozenset(
    ["bool", "float16", "float32", "float64", "complex64", "complex128"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)


def parse(path: Path, limit: int) -> Recording:
    """Read a file; see `load_recording`."""
    size = path.stat().st_size
    if size > limit:
        raise RecordingTooLarge(
            f"{path.name} has {size:,} bytes, and at most {limit:,} are read. If you trust the file, try "
            f"load_recording(path, limit={size})."
        )
    if not path.is_file():
        raise RecordingError(f"{path.name} is not a file.")
    try:
        loaded = json.loads(path.read_bytes().decode("utf-8"))
    except (UnicodeDecodeError, ValueError) as error:
        raise RecordingError(f"{path.name} is not JSON, or was cut short: {error}.") from None
    except RecursionError:
        raise RecordingError(f"{path.name} is nested too deeply to be a recording.") from None
    try:
        return recording_from(loaded)
    except RecordingError as error:
        raise type(error)(f"{path.name} is not a valid recording. {error}") from None


def recording_from(loaded: Any) -> Recording:
    """Return the recording that a loaded JSON value describes."""
    root = Field(loaded, "")
    if root.get("format", None).value != FORMAT:
        raise RecordingError(f'format: expected "{FORMAT}". Was this file written by Recording.save?')
    version = root.get("version").integer(1)
    if version > VERSION:
        raise RecordingVersionError(
            f"version: the file has version {version}, and this release reads up to {VERSION}. "
            "Try a newer autodiff_lab."
        )
    return _Reader(root).recording()


class _Reader:
    def __init__(self, root: Field) -> None:
        self.root = root
        self.files: list[str] = []
        self.tensors: dict[int, TensorRecord] = {}
        self.applications: list[Application] = []

    def recording(self) -> Recording:
        root = self.root
        ops = {op.name: op for op in map(_op, root.get("ops", []).items())}
        sources, labels = self.read_files(root.get("files", []))
        makers = _makers(root.get("applications", []))
        for field in root.get("tensors", []).items():
            self.tensor(field, makers)
        for output in makers:
            if output not in self.tensors:
                raise RecordingError(f"applications[{makers[output]}].outputs: there is no tensor {output}.")
        for field in root.get("applications", []).items():
            self.application(field)
        for op in {a.op for a in self.applications} - ops.keys():
            ops[op] = OpInfo(op)
        sweeps = tuple([self.sweep(i, field) for i, field in enumerate(root.get("sweeps", []).items())])
        return Recording(
            ops=ops,
            tensors=self.tensors,
            applications=tuple(self.applications),
            sweeps=sweeps,
            order=self.order(root.get("order", None), sweeps),
            notes=tuple([self.note(field) for field in root.get("notes", []).items()]),
            sources=sources,
            labels=labels,
            error=root.get("error", None).maybe_text() or None,
            replayable=root.get("replayable", False).boolean(),
            title=root.get("title", "").text(),
            framework=root.get("framework", "").text(),
        )

    def read_files(self, field: Field) -> tuple[dict[str, dict[int, str]], dict[str, str]]:
        sources: dict[str, dict[int, str]] = {}
        labels: dict[str, str] = {}
        for file in field.items():
            name = file.get("name").text()
            self.files.append(name)
            lines = sources[name] = {}
            labels[name] = file.get("label", "").text()
            for key, line in file.get("lines", {}).members():
                if not (key.value.isascii() and key.value.isdigit() and len(key.value) < 10):
                    raise key.wrong("a line number as key")
                lines[int(key.value)] = line.text()
        return sources, labels

    def place(self, field: Field) -> Place | None:
        if field.value is None:
            return None
        file, line = field.items(2, 2)
        return self.files[file.integer(0, len(self.files) - 1)], line.integer()

    def tensor(self, field: Field, makers: dict[int, int]) -> None:
        key = field.get("id").integer()
        if key in self.tensors:
            raise field.get("id").wrong("an id that no other tensor has")
        application = makers.get(key)
        kind = "output"
        if application is None:
            kind = field.get("kind").text()
            if kind not in _KINDS:
                raise field.get("kind").wrong(f"one of {', '.join(_KINDS)} for a tensor that no application made")
        self.tensors[key] = TensorRecord(
            key,
            kind,
            field.get("name", None).maybe_text() or None,
            value_from(field),
            application,
            field.get("variable", None).maybe_integer(),
            field.get("trainable", False).boolean(),
            self.place(field.get("place", None)),
            field.get("scope", "").text(),
        )

    def known(self, field: Field) -> int:
        key = field.integer()
        if key not in self.tensors:
            raise field.wrong("the id of a tensor")
        return key

    def maybe_known(self, field: Field) -> int | None:
        return None if field.value is None else self.known(field)

    def application(self, field: Field) -> None:
        index = len(self.applications)
        inputs: list[int] = []
        for item in field.get("inputs", []).items():
            tensor = self.known(item)
            maker = self.tensors[tensor].application
            if maker is not None and maker >= index:
                raise item.wrong("a leaf, or the output of an earlier application")
            inputs.append(tensor)
        params = field.get("params", None)
        cause = field.get("cause", None).maybe_integer(0, max(index - 1, 0))
        self.applications.append(
            Application(
                index,
                field.get("op").text(),
                tuple(inputs),
                tuple(field.get("outputs", []).value),
                None if params.value is None else _parameters(params),
                None if index == 0 else cause,
                self.place(field.get("place", None)),
                field.get("scope", "").text(),
                field.get("error", None).maybe_text() or None,
            )
        )

    def sweep(self, index: int, field: Field) -> Sweep:
        targets = tuple([self.known(item) for item in field.get("targets", []).items()])
        seeds = tuple([self.known(item) for item in field.get("seeds", []).items(len(targets), len(targets))])
        sources = tuple([item.integer() for item in field.get("sources", []).items()])
        results = tuple([self.maybe_known(item) for item in field.get("results", []).items(len(sources), len(sources))])
        counts = (len(sources), len(sources)) if field.get("names", []).items() else (0, 0)
        carried = [pair.items(2, 2) for pair in field.get("carried", []).items()]
        forward = field.get("forward", False).boolean()
        expected: Counter[int] = Counter()
        rows = [
            self.step(number, item, expected, forward) for number, item in enumerate(field.get("steps", []).items())
        ]
        steps = tuple(
            [
                Step(
                    step.index,
                    step.application,
                    step.incoming,
                    tuple([replace(f, expected=expected[f.input]) for f in step.flows]),
                )
                for step in rows
            ]
        )
        return Sweep(
            index,
            field.get("tape", 0).integer(),
            targets,
            seeds,
            sources,
            results,
            steps,
            self.place(field.get("place", None)),
            field.get("finished", True).boolean(),
            tuple([self.known(item) for item in field.get("untracked", []).items()]),
            tuple([(self.known(tensor), self.known(adjoint)) for tensor, adjoint in carried]),
            forward,
            tuple([name.text() for name in field.get("names", []).items(*counts)]),
        )

    def step(self, index: int, field: Field, arrived: Counter[int], forward: bool) -> Step:
        application_field, incoming, flows = field.items(3, 3)
        application = self.applications[application_field.integer(0, len(self.applications) - 1)]
        count = len(application.inputs if forward else application.outputs)
        return Step(
            index,
            application.index,
            tuple([self.maybe_known(item) for item in incoming.items(count, count)]),
            tuple([self.flow(item, application, arrived, forward) for item in flows.items()]),
        )

    def flow(self, field: Field, application: Application, arrived: Counter[int], forward: bool) -> Flow:
        parts = field.items(3, 5)
        place = parts[0].items(2, 2) if forward else [parts[0]]
        position = place[0].integer(0, len(application.inputs) - 1)
        tensor = place[1].integer() if forward else application.inputs[position]
        if forward and tensor not in application.outputs:
            raise place[1].wrong("an output of the application")
        arrived[tensor] += 1
        return Flow(
            position,
            tensor,
            self.known(parts[1]),
            self.known(parts[2]),
            arrived[tensor],
            0,
            value_from(parts[3]) if len(parts) > 3 and parts[3].value is not None else None,
            tuple([axis.integer(0, _RANK) for axis in parts[4].items()]) if len(parts) == 5 else (),
        )

    def order(self, field: Field, sweeps: tuple[Sweep, ...]) -> tuple[Moment, ...]:
        """Return what happened when; without this field, backward passes come after everything else."""
        if field.value not in (None, []):  # a writer leaves empty lists out
            return tuple([self.moment(item, sweeps) for item in field.items()])
        forward = [Moment("forward", a.index) for a in self.applications if a.cause is None]
        backward = [Moment(_phase(s), step.application, s.index, step.index) for s in sweeps for step in s.steps]
        return (*forward, *backward)

    def moment(self, field: Field, sweeps: tuple[Sweep, ...]) -> Moment:
        parts = field.items(1, 3)
        application = parts[0].integer(0, len(self.applications) - 1)
        if len(parts) == 1:
            return Moment("forward", application)
        if len(parts) == 2:
            raise field.wrong("an application, or an application, a sweep and a step")
        sweep = parts[1].integer(0, len(sweeps) - 1)
        step = parts[2].integer(0, len(sweeps[sweep].steps) - 1)
        if sweeps[sweep].steps[step].application != application:
            raise parts[0].wrong(f"application {sweeps[sweep].steps[step].application}, which that step visits")
        return Moment(_phase(sweeps[sweep]), application, sweep, step)

    def note(self, field: Field) -> Note:
        return Note(
            field.get("kind").text(),
            field.get("subject").integer(),
            field.get("detail", "").text(),
            self.place(field.get("place", None)),
            field.get("before", 0).integer(0, len(self.applications)),
            field.get("by", None).maybe_integer(),
        )


def _phase(sweep: Sweep) -> str:
    return "tangent" if sweep.forward else "backward"


def _parameters(field: Field) -> dict[str, Any]:
    data = field.data()
    if type(data) is not dict:
        raise field.wrong("an object of parameters")
    return data


def _op(field: Field) -> OpInfo:
    return OpInfo(
        field.get("name").text(),
        field.get("symbol", "").text(),
        field.get("latex", "").text(),
        tuple([item.text() for item in field.get("locals", []).items()]),
        field.get("sentence", "").text(),
        field.get("elementwise", False).boolean(),
        field.get("differentiable", True).boolean(),
        field.get("like", "").text(),
        tuple([item.text() for item in field.get("calls", []).items()]),
    )


def _makers(field: Field) -> dict[int, int]:
    """Return the index of the application that made each output; no tensor is made twice."""
    makers: dict[int, int] = {}
    for index, application in enumerate(field.items()):
        for output in application.get("outputs", []).items():
            if output.integer() in makers:
                raise output.wrong("the id of a tensor that no other application made")
            makers[output.value] = index
    return makers


def value_from(field: Field) -> Snapshot:
    """Return a snapshot from its dtype, shape, and values or summary."""
    dtype = field.get("dtype").text()
    shape = tuple([item.integer() for item in field.get("shape", []).items(0, _RANK)])
    if "values" not in field.value:
        return Snapshot(dtype, shape, None, _summary(field.get("summary"), dtype, math.prod(shape)))
    values = field.get("values")
    count = math.prod(shape) * (2 if dtype in ("complex64", "complex128") else 1)
    if type(values.value) is not list or len(values.value) != count:
        raise values.wrong(f"{count} values for shape {list(shape)}")
    array = _array(dtype, values).reshape(shape)
    array.flags.writeable = False
    return Snapshot(dtype, shape, array)


def _array(dtype: str, values: Field) -> np.ndarray[Any, Any]:
    if dtype not in _KNOWN_DTYPES:
        if dtype != STRING and all(type(x) in (int, float) or (type(x) is str and x in WORDS) for x in values.value):
            return np.array(values.numbers(), np.float64)
        return _texts([item.text() for item in values.items()])
    if dtype == "bool":
        return np.array(values.booleans(), dtype)
    if dtype[0] in "iu":
        limits = np.iinfo(dtype)
        return np.array(values.integers(int(limits.min), int(limits.max)), dtype)
    with np.errstate(all="ignore"):
        array = np.array(values.numbers(), np.float64)
        return array.view(np.complex128).astype(dtype) if dtype[0] == "c" else array.astype(dtype)


def _texts(words: list[str]) -> np.ndarray[Any, Any]:
    """Return an array of objects: in NumPy's own string arrays each element takes as much room as the longest."""
    array = np.empty(len(words), object)
    array[:] = words
    return array


def _summary(field: Field, dtype: str, size: int) -> Summary:
    minimum, mean, maximum, nan, inf, first, *bad = field.items(6, 8)
    smallest, middle, largest = [None if part.value is None else part.number() for part in (minimum, mean, maximum)]
    shown = tuple([item.text() if dtype == STRING else _plain_number(item) for item in first.items(0, 100)])
    at = bad[0].maybe_integer(0, max(size - 1, 0)) if bad else None
    what = _plain_number(bad[1]) if len(bad) == 2 else None
    return Summary(smallest, middle, largest, nan.integer(), inf.integer(), shown, at, what)


def _plain_number(field: Field) -> Any:
    value = field.value
    if type(value) is list:
        real, imaginary = field.items(2, 2)
        return complex(real.number(), imaginary.number())
    if type(value) is bool:
        return value
    if type(value) is str and value not in WORDS:
        return field.text()
    return value if type(value) is int else field.number()
