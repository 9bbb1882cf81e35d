"""Random programs over ragged tensors give TensorFlow's values, dtypes, shapes and gradients."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.extras.ragged_draws import Program
from tests.extras.ragged_programs import program

tf = pytest.importorskip("tensorflow", reason="tensorflow is not installed, so there is no peer to compare with")
COUNT = int(os.environ.get("FUZZ_COUNT", "300"))


def flat_of(lib: Any, value: Any) -> list[Any]:
    """The tensors of a result that hold its numbers."""
    if isinstance(value, (list, tuple)):
        return [flat for item in value for flat in flat_of(lib, item)]
    return [value.flat_values if isinstance(value, lib.RaggedTensor) else value]


def told(lib: Any, value: Any) -> Any:
    """Values, dtype and shape of a result."""
    if isinstance(value, (list, tuple)):
        return [told(lib, item) for item in value]
    ragged = isinstance(value, lib.RaggedTensor)
    return ("ragged" if ragged else "tensor", value.to_list() if ragged else value.numpy().tolist(), value.dtype.name,
            value.shape.as_list())  # fmt: skip


def loss(lib: Any, value: Any) -> Any:
    """Add up the floating numbers of a result, each with a weight of its own."""
    total = None
    for flat in flat_of(lib, value):
        if flat.dtype.name in ("float32", "float64"):
            size = int(np.prod(flat.shape.as_list()))
            weights = np.cos(0.7 * np.arange(size)).reshape(flat.shape.as_list()).astype(flat.dtype.name)
            part = lib.cast(lib.reduce_sum(flat * weights), lib.float64)
            total = part if total is None else total + part
    return total


def outcome(lib: Any, case: Program) -> tuple[Any, Any, Any]:
    """A result and the first and second gradient with respect to the flat values."""
    flat = case.source(lib).flat_values
    if not flat.dtype.is_floating:
        return told(lib, case.run(lib, case.source(lib))), None, None
    with lib.GradientTape() as outer:
        outer.watch(flat)
        with lib.GradientTape() as inner:
            inner.watch(flat)
            value = case.run(lib, case.source(lib).with_flat_values(flat))
            total = loss(lib, value)
        first = None if total is None else inner.gradient(total, flat)
        first = None if first is None else lib.convert_to_tensor(first)
        again = None if first is None else lib.reduce_sum(first * first)
    second = None if again is None else outer.gradient(again, flat)
    numbers = [None if g is None else lib.convert_to_tensor(g).numpy() for g in (first, second)]
    return told(lib, value), numbers[0], numbers[1]


def same(ours: Any, theirs: Any) -> bool:
    """Whether nested lists hold the same numbers, up to rounding."""
    if isinstance(ours, (list, tuple)) and isinstance(theirs, (list, tuple)):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if theirs is None:  # a length that TensorFlow leaves open
        return True
    if isinstance(ours, float) and isinstance(theirs, float):
        return bool(np.isclose(ours, theirs, 1e-5, 1e-6, equal_nan=True))
    return type(ours) is type(theirs) and ours == theirs


def difference(seed: int) -> str | None:
    """What differs at a seed, or nothing; None too where TensorFlow refuses."""
    case = program(seed)
    try:
        theirs = outcome(tf, case)
    except Exception as error:  # noqa: BLE001 - whatever it refuses with
        return f"refused: {type(error).__name__}: {str(error)[:100]}"
    try:
        ours = outcome(lab, case)
    except Exception as error:  # noqa: BLE001 - it is reported
        return f"{seed} {case.name} {case.rows}: {type(error).__name__}: {error}; tensorflow {theirs[0]}"
    if not same(ours[0], theirs[0]):
        return f"{seed} {case.name} {case.rows}: {ours[0]}, tensorflow {theirs[0]}"
    for order, (mine, other) in enumerate(zip(ours[1:], theirs[1:], strict=True), 1):
        zero = 0.0 if order == 2 else None  # a second gradient that is 0 everywhere may be None in one of them
        if (mine is None) != (other is None) and zero is None:
            return f"{seed} {case.name} {case.rows}: gradient {order} is {mine}, tensorflow {other}"
        if order == 2 and "prod" in case.name:  # TensorFlow divides by the factor, which may be 0
            continue
        mine, other = (np.zeros(1) if g is None else g for g in (mine, other))
        if not np.allclose(mine, other, 1e-4, 1e-5, equal_nan=True):
            return f"{seed} {case.name} {case.rows}: gradient {order} is {mine}, tensorflow {other}"
    return None


def test_ragged_programs_agree_with_tensorflow(figure: Callable[[str, str], None]) -> None:
    found = [difference(seed) for seed in range(COUNT)]
    refused = [words for words in found if words and words.startswith("refused")]
    differ = [words for words in found if words and not words.startswith("refused")]
    figure("ragged programs compared with TensorFlow", f"{COUNT - len(refused)} of {COUNT}")
    assert not differ, f"{len(differ)} differ:\n" + "\n".join(differ[:20])
