"""Every way to get None for a gradient, and the formulas that lose only part of it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.engine.test_tapes import slope


def _after_the_block(x: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient(y * 2.0, x)


def _stopped(x: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(x)
        with tape.stop_recording():
            y = x * x
        z = y * 2.0
    return tape.gradient(z, x)


def _assigned(x: Any) -> Any:
    v = lab.Variable(0.0)
    with lab.GradientTape() as tape:
        tape.watch(x)
        v.assign_add(x)
        y = v * v
    return tape.gradient(y, x)


def _inside_derivative_only(x: Any) -> Any:
    with lab.GradientTape() as outer:
        outer.watch(x)
        with lab.GradientTape() as inner:
            inner.watch(x)
            y = x * x
    return outer.gradient(inner.gradient(y, x), x)


NONE: dict[str, Callable[[Any], Any]] = {
    "through NumPy": lambda x: slope(lambda t: lab.reduce_mean(np.square(t)), x),
    "through a Python number": lambda x: slope(lambda t: lab.constant(1.0) * float(t), x),
    "through an integer": lambda x: slope(lambda t: lab.cast(lab.cast(t, lab.int32), lab.float32) * 2.0, x),
    "through floor": lambda x: slope(lab.floor, x),
    "through round": lambda x: slope(lab.round, x),
    "through a comparison": lambda x: slope(lambda t: lab.cast(t > 0.0, lab.float32), x),
    "through its shape": lambda x: slope(lambda t: lab.cast(lab.shape(t), lab.float32), x),
    "through stop_gradient": lambda x: slope(lambda t: lab.stop_gradient(t) * 3.0, x),
    "through a condition": lambda x: slope(lambda t: lab.constant(1.0) if t > 0.0 else lab.constant(2.0), x),
    "through the state of a variable": _assigned,
    "through a new variable": lambda x: slope(lambda t: lab.Variable(t * 2.0) * 1.0, x),
    "by an op after the block": _after_the_block,
    "by an op while recording was stopped": _stopped,
    "by an inner gradient outside the outer block": _inside_derivative_only,
    "for another target": lambda x: slope(lambda t: lab.constant(2.0) * 2.0, x),
}


@pytest.mark.parametrize("way", NONE)
def test_no_path_gives_none(way: str) -> None:
    assert NONE[way](lab.constant(3.0)) is None


def test_part_of_a_formula_may_be_constant() -> None:
    assert float(slope(lambda x: x * x.numpy(), 3.0)) == 3.0
    assert float(slope(lambda x: x * lab.stop_gradient(x), 3.0)) == 3.0


def test_a_variable_that_became_a_tensor_is_lost() -> None:
    x: Any = lab.Variable(2.0)
    found = []
    for _ in range(2):
        with lab.GradientTape() as tape:
            y = x + 1
        found.append((type(x).__name__, tape.gradient(y, x)))
        x = x + 1
    assert [(name, None if g is None else float(g)) for name, g in found] == [("Variable", 1.0), ("Tensor", None)]


def test_control_flow_records_the_branch_that_ran() -> None:
    v0, v1 = lab.Variable(2.0), lab.Variable(2.0)
    for at, expected in ((1.0, [1.0, None, None]), (-1.0, [None, 4.0, None])):
        x = lab.constant(at)
        with lab.GradientTape() as tape:
            tape.watch(x)
            result = v0 if x > 0.0 else v1**2
        assert [None if g is None else float(g) for g in tape.gradient(result, [v0, v1, x])] == expected


def test_loops_record_what_ran() -> None:
    def power(x: Any, n: int) -> Any:
        out: Any = 1.0
        for i in range(n):
            if 1 < i < 5:
                out = lab.multiply(out, x)
        return out

    assert [float(slope(lambda x, n=n: power(x, n), 2.0)) for n in (6, 5, 4)] == [12.0, 12.0, 4.0]

    def doubling(x: Any) -> Any:
        y = lab.constant(1.0)
        while y < 10.0:
            y = y * x
        return y

    assert float(slope(doubling, 2.0)) == 32.0
