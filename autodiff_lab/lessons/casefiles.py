"""What the JSON of a case contains: read, and refused in words where something is missing or does not fit."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from autodiff_lab.errors import InvalidArgumentError

LINES = 8
"""Lines of a program, at most."""
ELEMENTS = 100
"""Elements of an input, at most: a check nudges each of them."""
_REQUIRED = {"complaint": str, "program": list, "inputs": dict}
_OPTIONAL = {
    "title": str, "wanted": str, "source": str, "meant": str, "at": str, "shown": dict, "harmful": list, "hints": list,
    "also_lines": list,
}  # fmt: skip
_IN_WORDS = {str: "text", list: "a list", dict: "a dict"}


def load(file: str | Path) -> Mapping[str, Any]:
    """Return the data of a case that is a JSON file.

    Raises
    ------
    InvalidArgumentError
        If it cannot be read, or is not a case.
    """
    try:
        data = json.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidArgumentError(f"case: {str(file)!r} is not a JSON file that can be read: {error}.") from None
    return read(data)


def read(data: Any) -> Mapping[str, Any]:
    """Return the data of a case.

    Raises
    ------
    InvalidArgumentError
        If something is missing or does not fit.

    Examples
    --------
    >>> sorted(read({"complaint": "It is None.", "program": ["..."], "inputs": {"x": {"shape": [2]}}}))
    Traceback (most recent call last):
        ...
    autodiff_lab.errors.InvalidArgumentError: case: input 'x' needs a shape, low and high.
    """
    if not isinstance(data, Mapping):
        raise InvalidArgumentError("case: expected a dict with a complaint, a program and inputs.")
    for name, kind in {**_REQUIRED, **_OPTIONAL}.items():
        if name in _REQUIRED and name not in data:
            raise InvalidArgumentError(f"case: {name!r} is missing.")
        if name in data and not isinstance(data[name], kind):
            raise InvalidArgumentError(f"case: {name!r} should be {_IN_WORDS[kind]}.")
        if name in _REQUIRED and not data[name]:
            raise InvalidArgumentError(f"case: {name!r} is missing.")
    unknown = [str(name) for name in data if name not in _REQUIRED and name not in _OPTIONAL]
    if unknown:
        known = ", ".join([*_REQUIRED, *_OPTIONAL])
        raise InvalidArgumentError(f"case: there is no {unknown[0]!r} in a case; it may have {known}.")
    lines = data["program"]
    if not all(isinstance(line, str) for line in lines) or len(lines) > LINES:
        raise InvalidArgumentError(f"case: the program should be a list of at most {LINES} lines of text.")
    for name, what in data["inputs"].items():
        _check_input(name, what)
    _check_details(data)
    return data


def arrays(values: Any, names: Any, what: str) -> dict[str, np.ndarray]:
    """Return numbers by the name of an input.

    Raises
    ------
    InvalidArgumentError
        If there is no such input, or these are not numbers.
    """
    try:
        found = {name: np.array(value, dtype=np.float64) for name, value in values.items()}
    except (TypeError, ValueError, AttributeError):
        raise InvalidArgumentError(f"case: {what!r} should have numbers for the inputs, by name.") from None
    if set(found) - set(names):
        raise InvalidArgumentError(f"case: {what!r} names an input that does not exist.")
    return found


def _check_input(name: Any, what: Any) -> None:
    if not isinstance(name, str) or not name.isidentifier():
        raise InvalidArgumentError(f"case: an input should have the name of a parameter, and {name!r} is not one.")
    if not isinstance(what, Mapping) or not {"shape", "low", "high"} <= set(what):
        raise InvalidArgumentError(f"case: input {name!r} needs a shape, low and high.")
    bounds = [what[key] for key in ("low", "high", "first") if key in what]
    if not all(isinstance(value, (int, float)) and math.isfinite(value) for value in bounds):
        raise InvalidArgumentError(f"case: low, high and first of input {name!r} should be finite numbers.")
    shape = what["shape"]
    if not isinstance(shape, (list, tuple)) or not all(isinstance(n, int) and 0 < n <= ELEMENTS for n in shape):
        raise InvalidArgumentError(
            f"case: the shape of input {name!r} should be a list of lengths, at most {ELEMENTS}."
        )
    if math.prod(shape) > ELEMENTS:
        raise InvalidArgumentError(f"case: input {name!r} should have at most {ELEMENTS} elements.")


def _check_details(data: Mapping[str, Any]) -> None:
    inputs = data["inputs"]
    if data.get("source", next(iter(inputs))) not in inputs:
        raise InvalidArgumentError(f"case: there is no input {data['source']!r} to be the source.")
    for key, kind in (("hints", str), ("also_lines", int)):
        if not all(isinstance(each, kind) for each in data.get(key, ())):
            raise InvalidArgumentError(f"case: {key!r} should be a list of {'text' if kind is str else 'numbers'}.")
    arrays(data.get("shown", {}), inputs, "shown")
    for given in data.get("harmful", ()):
        if set(arrays(given, inputs, "harmful")) != set(inputs):
            raise InvalidArgumentError("case: each of 'harmful' should have every input.")
