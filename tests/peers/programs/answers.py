"""TensorFlow's results for the programs of some seeds, stored in a file, so that every machine can compare with them.

``python -m tests.peers.programs.answers`` writes the file, with a Python that has TensorFlow.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

import numpy as np

from tests.peers.programs.compare import Expectation, Expected, differences, expectation
from tests.peers.programs.explained import explanation
from tests.peers.programs.peers import Peer
from tests.peers.programs.run import program_of
from tests.peers.programs.values import Call, Dtype, Ref, dtype_of, kind_of
from tests.tree import ROOT

FILE = ROOT / "tests" / "data" / "tensorflow_answers.json"
SEEDS = 300


def written(value: Any) -> Any:
    """Return an argument, an array or an expectation as JSON has it."""
    if isinstance(value, Ref):
        return {"value": value.at}
    if isinstance(value, Dtype):
        return {"dtype": value.name}
    if isinstance(value, Expected):
        return {**written(value.array), "bound": float(f"{value.bound + _apart(value):.2e}")}
    if isinstance(value, np.ndarray):
        flat = value.ravel()
        digits = {"float32": 9, "complex64": 9, "float64": 17, "complex128": 17}.get(value.dtype.name, 6)
        parts = [flat.real, flat.imag] if kind_of(value.dtype) == "c" else [flat]
        shown = [[_number(x, digits) for x in part.tolist()] for part in parts]
        return {"array": shown, "as": value.dtype.name, "shape": list(value.shape)}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, slice):
        return {"slice": [value.start, value.stop, value.step]}
    if value is Ellipsis:
        return {"ellipsis": True}
    if isinstance(value, tuple):
        return {"tuple": [written(item) for item in value]}
    if isinstance(value, list):
        return [written(item) for item in value]
    return value


def _number(x: Any, digits: int) -> Any:
    return float(f"{x:.{digits}g}") if isinstance(x, float) else x


def _apart(value: Expected) -> float:
    """How far the peer's own numbers are from those ours are held against: a file keeps the peer's alone."""
    if kind_of(value.array.dtype) not in "fc":
        return 0.0
    gap = np.abs(value.array.astype(value.exact.dtype) - value.exact)
    return float(np.max(gap, initial=0.0, where=np.isfinite(gap)))


def read(value: Any) -> Any:
    """Return what `written` wrote."""
    if isinstance(value, list):
        return [read(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        array = _array(value)
        if "bound" not in value:
            return array
        wide = np.complex128 if array.dtype.kind == "c" else np.float64
        return Expected(array, array.astype(wide) if kind_of(array.dtype) in "fc" else array, value["bound"])
    key, held = next(iter(value.items()))
    made = {"value": Ref, "dtype": Dtype, "slice": lambda parts: slice(*parts), "ellipsis": lambda _: Ellipsis}
    return tuple(read(held)) if key == "tuple" else made[key](held)


def _array(value: dict[str, Any]) -> np.ndarray:
    parts, dtype = value["array"], dtype_of(value["as"])
    if len(parts) == 2:
        made = np.empty(len(parts[0]), np.complex128)
        made.real, made.imag = parts
        return made.astype(dtype).reshape(value["shape"])
    return np.asarray(parts[0]).astype(dtype).reshape(value["shape"])


def stored() -> list[tuple[int, Call, dict[int, np.ndarray], Expectation]]:
    """Return the statements of the file: seed, call, the values it reads, and what is expected."""
    rows = json.loads(FILE.read_text(encoding="utf-8"))
    return [
        (
            row["seed"],
            Call(row["call"], tuple(read(row["args"])), {key: read(item) for key, item in row["kwargs"].items()}),
            {int(at): read(array) for at, array in row["over"].items()},
            Expectation(*(None if part is None else [read(item) for item in part] for part in row["expected"])),
        )
        for row in rows
    ]


def main() -> int:
    """Write the file; return 1, writing nothing, where our answers differ from it without a reason."""
    import autodiff_lab as lab

    ours, peer = Peer(lab), Peer(importlib.import_module("tensorflow"))
    rows: list[dict[str, Any]] = []
    for seed in range(SEEDS):
        for call, arrays, answer in program_of(seed, peer)[1]:
            if answer.values is None or any(kind_of(array.dtype) == "?" for array in answer.values):
                continue
            expected = expectation(answer, peer.ask(call, arrays, wide=True))
            found = differences(ours.ask(call, arrays), expected, (lab.errors.LabError, NotImplementedError))
            if any(not explanation(call, arrays, difference) for difference in found):
                print(f"seed {seed}: {call}: {found[0].what}: {found[0].words}")
                return 1
            if found:
                continue
            over = {at: written(np.asarray(array)) for at, array in arrays.items()}
            parts = (expected.values, expected.first, expected.second)
            rows.append({"seed": seed, "call": call.function, "args": written(list(call.args)),
                         "kwargs": {key: written(item) for key, item in call.kwargs.items()}, "over": over,
                         "expected": [written(part) for part in parts]})  # fmt: skip
    text = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    FILE.write_text(f"[\n{text}\n]\n", encoding="utf-8")
    print(f"{len(rows)} statements, {FILE.stat().st_size // 1024} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
