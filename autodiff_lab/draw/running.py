"""Running: what a page needs in order to compute a recording again, forward and backward, after a number was changed.

Every op of the program is listed, those of the derivative rules too, so one pass over the list gives values and
gradients alike.  An elementwise op comes with its expression as a tree, one that is made of simpler ones with its steps
(`draw.lowering`), every other one by its name: its twin in JavaScript is in ``widgets/running``.
`widgets/running/program.js` reads this payload; the two change together.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from autodiff_lab.draw.expressions import expression
from autodiff_lab.draw.lowering import LOWERED, lowered
from autodiff_lab.draw.moves import Shape, moved
from autodiff_lab.recording.model import Application, Sweep
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.snapshot import Snapshot

FOLDER = Path(__file__).parent.parent / "widgets" / "running"
MOST = 50_000
"""Elements of all values together up to which a page computes them again."""
MOST_OPS = 5_000
_TWIN = re.compile(r'^(twin|fn)\("([^"]+)"', re.MULTILINE)
_FEW = 4


def running(recording: Recording) -> dict[str, Any]:
    """Return what the page needs to compute a recording again, or why it will not.

    Parameters
    ----------
    recording : Recording
        Complete or not; what is not known stays unknown in the page.

    Returns
    -------
    dict
        JSON-able: ``{"off": reason}``, or the tables that ``widgets/running/program.js`` describes.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.record() as recording:
    ...     y = x * x
    >>> running(recording)["ops"]
    [['multiply', ['*', 0, 1]]]
    """
    size = sum(record.snapshot.size for record in recording.tensors.values())
    if recording.framework:
        return {"off": f"Ops of {recording.framework} are not computed in the page."}
    if size > MOST:
        return {"off": f"This recording has {size:,} numbers; up to {MOST:,} are computed again in the page."}
    if len(recording.applications) > MOST_OPS:
        return {
            "off": f"This recording has {len(recording.applications):,} ops; up to {MOST_OPS:,} run again in the page."
        }
    if any(_has_no_ops(recording, sweep) for sweep in recording.sweeps):
        return {"off": "No recorded op made what the backward pass delivered, so the page cannot run it again."}
    return _Tables(recording).payload()


def _has_no_ops(recording: Recording, sweep: Sweep) -> bool:
    """Return whether no op made what a pass delivered, but an engine of `lab.teaching` or who wrote a file by hand."""
    totals = {flow.total for step in sweep.steps for flow in step.flows} - {*sweep.seeds}
    made = [recording.tensors[total] for total in totals]
    without = [record.application is None and record.kind == "gradient" for record in made]
    return sweep.forward or (any(without) and all(without))


class _Tables:
    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.place = recording.numbers
        self.kinds: dict[tuple[str, tuple[int, ...]], int] = {}
        self.ops: dict[str, tuple[int, list[Any]]] = {}
        self.known: dict[str, tuple[int, Any]] = {}

    def payload(self) -> dict[str, Any]:
        recording = self.recording
        runs = [self.run(a) for a in recording.applications if a.error is None]
        payload: dict[str, Any] = {
            "tensors": [self.tensor(key) for key in sorted(recording.tensors, key=self.place.__getitem__)],
            "runs": runs,
            "ops": [op for _, op in self.ops.values()],
            "steps": [self.step(moment.sweep, moment.step) for moment in recording.order],
            "sweeps": [self.sweep(at) for at in range(len(recording.sweeps))],
            "reads": [
                [self.place[note.subject], note.detail, recording.where(note.place)]
                for note in recording.notes
                if note.kind in ("left", "read") and note.subject in self.place
            ],
        }
        stale = self.stale()
        if stale:
            payload["stale"] = stale
        payload["kinds"] = [[dtype, list(shape)] for dtype, shape in self.kinds]
        return payload

    def stale(self) -> list[int]:
        """Return the contributions that no recorded op made, as in a file written by hand: they cannot follow a change.

        A contribution of zeros stays what it is, and one that is passed on unchanged follows.
        """
        tensors, found = self.recording.tensors, set[int]()
        for sweep in self.recording.sweeps:
            for step in sweep.steps:
                for key in (key for flow in step.flows for key in (flow.outgoing, flow.total)):
                    kept = tensors[key].snapshot.array
                    passed = key in step.incoming or key in sweep.seeds
                    zero = kept is not None and np.asarray(kept).dtype.kind in "fiu" and not np.any(kept)
                    if tensors[key].application is None and not passed and not zero:
                        found.add(self.place[key])
        return sorted(found)

    def run(self, application: Application) -> list[Any]:
        """Return the op, the inputs, the outputs and the parameters of an application."""
        kept = [self.recording.tensors[key].snapshot.shape for key in application.inputs]
        made = [self.recording.tensors[key].snapshot.shape for key in application.outputs]
        given = application.params or {}
        key = repr((application.op, given, kept))
        if key not in self.known:
            what = computation(application.op, given, kept)
            op = [application.op] if what is None else [application.op, what]
            at, _ = self.ops.setdefault(repr(op), (len(self.ops), op))
            self.known[key] = at, what
        at, what = self.known[key]
        row = [at, self.places(application.inputs), self.places(application.outputs)]
        params = {} if what else parameters(application.op, given, kept, made[0] if made else ())
        if application.cause is not None:
            return [*row, params, application.cause]
        return [*row, params] if params else row

    def places(self, keys: Any) -> list[int]:
        return [-1 if key is None else self.place[key] for key in keys]

    def tensor(self, key: int) -> list[Any]:
        """Return the dtype and shape of a value, and its elements where the page cannot compute them."""
        record = self.recording.tensors[key]
        snapshot = record.snapshot
        row: list[Any] = [self.kinds.setdefault((snapshot.dtype, snapshot.shape), len(self.kinds))]
        made = None if record.application is None else self.recording.applications[record.application]
        if made is None or not has_twin(made.op, made.params):
            found = elements(snapshot)
            if found is not None:
                row.append(found)
        return row

    def step(self, sweep: int | None, step: int | None) -> list[Any]:
        """Return the values of a step of a backward pass: the adjoints, and contribution and total of each flow."""
        if sweep is None or step is None:
            return []
        found = self.recording.sweeps[sweep].steps[step]
        flows = [[self.place[flow.outgoing], self.place[flow.total]] for flow in found.flows]
        return [self.places(found.incoming), flows, found.application]

    def sweep(self, index: int) -> list[Any]:
        sweep = self.recording.sweeps[index]
        known = self.recording.tensors
        seeds = [seed for target, seed in zip(sweep.targets, sweep.seeds, strict=False) if target in known]
        results = [result for source, result in zip(sweep.sources, sweep.results, strict=False) if source in known]
        return [self.places(seeds), self.places(results)]


def elements(snapshot: Snapshot) -> Any:
    """Return the elements of a value: few as a list, many as base64 of little-endian numbers; None if unknown.

    Floats are written as float32 or float64, integers in as few of one, four or eight bytes as hold them all, the last
    as float64.

    Examples
    --------
    >>> from autodiff_lab.recording.snapshot import snapshot
    >>> elements(snapshot(np.array([1.0, np.inf]))), elements(snapshot(np.arange(6.0, dtype="float32")))
    ([1.0, 'inf'], 'AAAAAAAAgD8AAABAAABAQAAAgEAAAKBA')
    """
    if snapshot.array is None or snapshot.dtype.startswith("complex") or snapshot.dtype == "string":
        return None
    array = np.asarray(snapshot.array)
    if array.dtype.kind not in "fiub":
        return None
    if array.size <= _FEW:
        return [number if math.isfinite(number) else str(number) for number in map(_number, array.ravel())]
    if array.dtype.kind == "f":
        kind = "<f4" if array.dtype.itemsize <= 4 and snapshot.dtype != "bfloat16" else "<f8"
    else:
        kind = next((kind for kind in ("u1", "<i4") if (array.astype(kind) == array).all()), "<f8")
    return base64.b64encode(array.astype(kind).tobytes()).decode()


def _number(item: Any) -> int | float:
    item = item.item()
    return int(item) if isinstance(item, bool) else item


def computation(name: str, params: dict[str, Any], shapes: list[Shape]) -> Any:
    """Return what an op computes, as the tree of one element or as steps; None if only its twin knows.

    Examples
    --------
    >>> computation("multiply", {}, [(), ()]), computation("sum", {"axes": (-1,)}, [(3,)])
    (['*', 0, 1], None)
    """
    tree = expression(name, params)
    return jsonable(lowered(name, params, shapes)) if tree is None and name in LOWERED else tree


def parameters(name: str, params: dict[str, Any], shapes: list[Shape], shape: Shape) -> dict[str, Any]:
    """Return the parameters of an op as its twin takes them: of one that moves elements, their places.

    Examples
    --------
    >>> parameters("sum", {"axes": (-1,)}, [(2, 3)], (2,)), parameters("take", {"axis": -1, "index": 1}, [(3,)], ())
    ({'axes': [-1]}, {'places': [[1]]})
    """
    places = moved(name, params, shapes, shape)
    return jsonable(params if places is None else places)


def jsonable(value: Any) -> Any:
    """Return parameters as JSON: infinities and nan as text that `Number` of JavaScript reads."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value).replace("inf", "Infinity")
    if isinstance(value, dict):
        return {name: jsonable(item) for name, item in value.items()}
    return [jsonable(item) for item in value] if isinstance(value, (list, tuple)) else value


@lru_cache
def families() -> dict[str, str]:
    """Return by the name of each handwritten twin, and of each function of an expression, the file that has it.

    Examples
    --------
    >>> families()["einsum"], families()["erf"]
    ('products.js', 'special.js')
    """
    return {
        name: path.name
        for path in sorted(FOLDER.glob("*.js"))
        for _, names in _TWIN.findall(path.read_text(encoding="utf-8"))
        for name in names.split()
    }


def has_twin(name: str, params: dict[str, Any] | None = None) -> bool:
    """Return whether the page can compute an op.

    Examples
    --------
    >>> has_twin("matmul"), has_twin("svd")
    (True, False)
    """
    return name in families() or name in LOWERED or expression(name, params) is not None


def wanted_files(payload: dict[str, Any]) -> set[str]:
    """Return the files with the twins that a recording needs, without those that every page has."""
    names = {name for op in payload.get("ops", ()) for name in _names(op)}
    return {file for name, file in families().items() if name in names}


def _names(tree: Any) -> Iterator[str]:
    if isinstance(tree, (list, dict)):
        for part in tree.values() if isinstance(tree, dict) else tree:
            yield from _names(part)
    elif isinstance(tree, str):
        yield tree
