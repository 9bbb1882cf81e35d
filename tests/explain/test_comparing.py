"""`compare` names the op that was changed, and nothing where rounding alone differs."""

import os
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.recording import Recording
from tests.explain.planted import changed, program, run

COUNT = max(25, int(os.environ.get("FUZZ_COUNT", "0")) // 20)
DTYPES = ["float32", "float64"]


def results(recording: Recording) -> list[Any]:
    found = [r for sweep in recording.sweeps for r in sweep.results if r is not None]
    return [recording.tensors[r].snapshot.array for r in found]


@pytest.mark.slow(keep=6)
@pytest.mark.parametrize("seed", range(COUNT))
def test_the_fault_of_a_random_program_is_found(seed: int) -> None:
    """None planted, one in an op, one in a rule, one in the accumulation: the answer is the op, or that all agree."""
    rng = np.random.default_rng(seed)
    made = program(rng)
    one, other = (str(dtype) for dtype in rng.choice(DTYPES, 2))
    a, ends = run(made, one)
    same = lab.compare(a, run(made, other)[0])
    assert same, str(same)
    at = int(rng.integers(len(made.steps)))
    swapped = changed(made, at, rng)
    if swapped is not None:
        b, ends_b = run(swapped, other)
        found = lab.compare(a, b)
        before, after = (
            r.tensors[r.applications[i].outputs[0]].snapshot.array for r, i in ((a, ends[at]), (b, ends_b[at]))
        )
        if not np.allclose(before, after, rtol=1e-3, atol=1e-3):
            assert found.applications[0] is not None
            assert (ends[at - 1] if at else 1) < found.applications[0] <= ends[at], str(found)
    names = sorted({step.op for step in made.steps} & {"sin", "tanh", "sigmoid", "exp", "square", "multiply"})
    if names:
        name, factor = str(rng.choice(names)), float(rng.choice([0.5, 2.0, -1.0, 1.01]))
        rules = REGISTRY[name].rules
        assert isinstance(rules, tuple)
        wrong = tuple((lambda ops, g, *rest, rule=rule: rule(ops, g, *rest) * factor) for rule in rules if rule)
        b, _ = run(made, one, lab.Engine(rules={name: wrong}))
        found = lab.compare(a, b)
        if not all(np.allclose(x, y, rtol=1e-6, atol=1e-6) for x, y in zip(results(a), results(b), strict=True)):
            assert (found.phase, found.op) == ("backward", name), str(found)
    b, _ = run(made, one, lab.Engine(accumulate=lambda old, new: new))
    found = lab.compare(a, b)
    if not all(np.allclose(x, y, rtol=1e-6, atol=1e-6) for x, y in zip(results(a), results(b), strict=True)):
        assert found.phase == "accumulation", str(found)


def recorded(function: Any, *values: Any) -> Recording:
    tensors = [lab.Variable(v, name=f"v{i}") for i, v in enumerate(values)]
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = function(*tensors)
        tape.gradient(y, tensors)
    return recording


def test_an_input_that_differs_comes_first() -> None:
    found = lab.compare(recorded(lab.sin, [1.0, 2.0]), recorded(lab.sin, [1.0, 2.001]))
    assert (found.phase, found.name, found.index) == ("input", "v0", (1,))
    assert "rounding explains" in str(found)


def test_an_op_that_one_program_lacks_is_named_if_it_matters() -> None:
    a = recorded(lambda x: lab.exp(lab.sin(x)), 0.5)
    b = recorded(lambda x: lab.exp(lab.sin(x) * 1.01), 0.5)
    found = lab.compare(a, b)
    assert (found.phase, found.op, found.applications[0]) == ("structure", "multiply", None)
    assert lab.compare(a, recorded(lambda x: lab.exp(lab.identity(lab.sin(x))), 0.5))


def test_a_bound_grows_with_the_length_of_a_sum() -> None:
    """A float32 sum of 50 numbers that cancel is far from the float64 one, and rounding explains it."""
    values = np.concatenate([np.full(25, 1e6), np.full(25, -1e6)]) + np.linspace(0, 1, 50)
    a, b = (recorded(lab.reduce_sum, lab.constant(values, dtype)) for dtype in DTYPES)
    assert lab.compare(a, b)
    assert not lab.compare(b, recorded(lambda x: lab.reduce_sum(x) + 0.01, lab.constant(values, "float64")))


def test_large_values_are_compared_by_their_summaries() -> None:
    x = np.random.default_rng(0).normal(size=(40, 40))
    a = recorded(lambda x: lab.reduce_sum(lab.tanh(x)), x)
    assert lab.compare(a, recorded(lambda x: lab.reduce_sum(lab.tanh(x)), x))
    found = lab.compare(a, recorded(lambda x: lab.reduce_sum(lab.sin(x)), x))
    assert (found.phase, found.op) == ("forward", "tanh")


def test_an_op_that_takes_another_value_is_named() -> None:
    """The ops are the same, and one is wired to another of them."""

    def program(second: bool) -> Any:
        def run(x: Any) -> Any:
            a = lab.sin(x)
            b = lab.exp(x)
            return (b if second else a) * b

        return run

    found = lab.compare(recorded(program(False), 0.5), recorded(program(True), 0.5))
    assert (found.phase, found.op) == ("structure", "multiply")
    assert "takes another value" in str(found)


def test_nan_and_shapes_are_differences_too() -> None:
    found = lab.compare(recorded(lab.sqrt, [4.0]), recorded(lambda x: lab.sqrt(x - 5.0), [4.0]))
    assert not found
    a, b = recorded(lambda x: x * lab.ones([2, 1]), [1.0]), recorded(lambda x: x * lab.ones([1, 2]), [1.0])
    assert "shape" in str(lab.compare(a, b))
    nan = recorded(lab.math.log, [-1.0])
    assert lab.compare(nan, nan)


def test_only_recordings_can_be_compared() -> None:
    with pytest.raises(TypeError, match="expected two recordings, got float"):
        lab.compare(recorded(lab.sin, 1.0), 3.0)
    with lab.record() as empty:
        pass
    assert lab.compare(empty, empty)
