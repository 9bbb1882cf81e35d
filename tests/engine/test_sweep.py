"""The sweep: reverse order, any depth, steps, engines that are wrong on purpose, random graphs against differences."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autodiff_lab as lab
from autodiff_lab.engine.namespace import RAW
from autodiff_lab.testing import check_gradient

DEEP = 100_000


@pytest.mark.parametrize("recorded", [False, True])
def test_a_hundred_thousand_chained_ops_are_differentiated(recorded: bool) -> None:
    x = lab.constant(0.3)
    with lab.GradientTape() as outer:
        outer.watch(x)
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(DEEP):
                y = y + x
        assert len(tape.operations) == DEEP
        g = tape.gradient(y, x) if recorded else None
    if g is None:
        g = tape.gradient(y, x)
    assert float(g) == DEEP + 1


def test_a_deep_chain_is_freed_without_recursion() -> None:
    x = lab.Variable(1.0)
    tape = lab.GradientTape()
    with tape:
        y = x.read()
        for _ in range(DEEP):
            y = lab.negative(y)
    del tape, y


def test_gradients_visit_ops_in_reverse_order_of_recording() -> None:
    seen: list[str] = []

    def marked(name: str) -> Any:
        @lab.custom_gradient
        def through(x: Any) -> Any:
            def back(upstream: Any) -> Any:
                seen.append(name)
                return upstream

            return lab.identity(x), back

        return through

    x = lab.constant(2.0)
    with lab.GradientTape() as tape:
        tape.watch(x)
        left = marked("first")(x)
        right = marked("second")(x)
        y = marked("third")(left) + right
        z = marked("fourth")(y)
    tape.gradient(z, x)
    assert seen == ["fourth", "third", "second", "first"]


def test_a_sweep_may_be_stepped_and_its_adjoints_edited() -> None:
    x = lab.constant(3.0)
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    steps = tape.steps(z, x)
    assert steps.adjoint(x) is None
    assert next(steps) == 1
    assert float(steps.adjoint(y)) == 18.0
    steps.adjoints[y.id] = np.float32(1)
    assert list(steps) == [0]
    assert float(steps.adjoint(x)) == 6.0


def test_entries_without_a_path_are_no_steps() -> None:
    x = lab.constant(3.0)
    with lab.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        lab.sin(x)
        z = y + x
        lab.cos(x)
    assert list(tape.steps(z, x)) == [2, 0]


# --- engines made wrong on purpose ------------------------------------------------------------------------------------


def diamond() -> tuple[Any, Any, Any]:
    """``y = 3x; c = 2y + 5y``: two paths, the right slope is 21."""
    x = lab.constant(2.0)
    with lab.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = 3 * x
        c = 2 * y + 5 * y
    return x, c, tape


@pytest.mark.parametrize(
    ("engine", "expected"),
    [
        (lab.Engine(), 21),
        (lab.Engine(accumulate=lambda old, new: new), 6),
        (lab.Engine(accumulate=lambda old, new: old), 15),
        (lab.Engine(rules={"add": (lambda ops, g, out, x, y: g, lambda ops, g, out, x, y: 0 * g)}), 6),
    ],
)
def test_another_accumulation_or_rule_gives_the_number_of_the_classic_mistake(engine: Any, expected: int) -> None:
    x, c, tape = diamond()
    assert float(tape.gradient(c, x, engine=engine)) == expected
    assert float(tape.gradient(c, x)) == 21, "the right engine is untouched"


def test_a_walk_that_does_not_wait_for_all_users_counts_a_path_twice() -> None:
    x, c, tape = diamond()
    made = {entry[1].id: entry for entry in tape._entries}
    total: dict[int, Any] = {}

    def visit(tensor: Any, g: Any) -> None:
        total[tensor.id] = total.get(tensor.id, 0) + g
        if tensor.id in made:
            op, out, ins, _, need = made[tensor.id]
            for i in need:
                visit(ins[i], op.rules[i](RAW, total[tensor.id], out._array, *(t._array for t in ins)))

    visit(c, np.float32(1))
    assert total[x.id] == 27


def test_a_named_operation_may_be_swapped() -> None:
    x = lab.constant(0.5)
    with lab.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = lab.sin(x)
    wrong = lab.Engine(ops=RAW.swapped(cos=np.sin))
    assert float(tape.gradient(y, x, engine=wrong)) == pytest.approx(np.sin(0.5))
    assert float(tape.gradient(y, x)) == pytest.approx(np.cos(0.5))


def test_an_op_that_is_not_registered_is_named() -> None:
    with pytest.raises(AttributeError, match="no op named 'sine' is registered"):
        _ = RAW.sine


# --- random graphs ----------------------------------------------------------------------------------------------------

UNARY = [lab.sin, lab.cos, lab.tanh, lab.nn.sigmoid, lab.square, lab.negative, lab.nn.softplus]
BINARY = [lab.add, lab.subtract, lab.multiply, lambda x, y: x / (2.0 + y * y)]
SHAPES = [(), (2,), (2, 1), (1, 2), (2, 2)]


def random_program(seed: int, length: int) -> Any:
    """Return a function that applies `length` random ops to its inputs, reusing results and branching freely.

    Results are squashed so that no number grows; the same seed is the same program.
    """

    def program(*inputs: Any) -> Any:
        rng = np.random.default_rng(seed)
        values = list(inputs)
        for _ in range(length):
            if rng.random() < 0.4:
                made = UNARY[rng.integers(len(UNARY))](values[rng.integers(len(values))])
            else:
                made = BINARY[rng.integers(len(BINARY))](*[values[rng.integers(len(values))] for _ in range(2)])
            if made.ndim and rng.random() < 0.1:
                made = lab.reduce_sum(made, axis=-1)
            values.append(lab.tanh(made))
        return lab.reduce_sum(values[-1]) + sum(lab.reduce_sum(v) for v in values[-4:-1])

    return program


@given(st.integers(0, 10**6), st.integers(200, 400), st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3))
@settings(max_examples=25)
def test_gradients_of_random_graphs_of_hundreds_of_ops_equal_differences(seed: int, length: int, shapes: list) -> None:
    rng = np.random.default_rng(seed)
    inputs = [rng.normal(size=s) for s in shapes]
    program = random_program(seed, length)
    check = check_gradient(program, *inputs, rtol=1e-4, atol=1e-5)
    assert check, str(check)


@given(st.integers(0, 10**6))
@settings(max_examples=15)
def test_second_derivatives_of_random_graphs_are_symmetric(seed: int) -> None:
    x = lab.constant(np.random.default_rng(seed).normal(size=3))
    program = random_program(seed, 30)
    with lab.GradientTape() as outer:
        outer.watch(x)
        with lab.GradientTape() as inner:
            inner.watch(x)
            y = program(x)
        g = inner.gradient(y, x)
    hessian = np.asarray(outer.jacobian(g, x, unconnected_gradients="zero"))
    np.testing.assert_allclose(hessian, hessian.T, 1e-9, 1e-9)
