"""Passes remove work without changing a bit."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

ODD = lab.constant([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -3.5])


def names(function: Any, *args: Any) -> list[str]:
    """Names of the ops of the compiled program."""
    function(*args)
    return [line.op.name for line in function.program.lines]


@pytest.mark.parametrize(
    ("function", "left"),
    [
        (lambda x: x * 1.0, []),
        (lambda x: 1.0 * x, []),
        (lambda x: x / 1.0, []),
        (lambda x: x - 0.0, []),
        (lambda x: x + -0.0, []),
        (lambda x: lab.negative(-x), []),
        (lambda x: lab.reshape(lab.identity(x), (7,)), []),
        (lambda x: lab.transpose(x, [0]), []),
        (lambda x: x + 0.0, ["add"]),  # -0.0 + 0.0 is 0.0
        (lambda x: x - -0.0, ["subtract"]),
        (lambda x: x * 0.0, ["multiply"]),  # inf and nan
        (lambda x: 0.0 - x, ["subtract"]),
        (lambda x: x * lab.ones((7,)), []),
        (lambda x: x * lab.ones((2, 7)), ["multiply"]),  # the shape grows
    ],
)
def test_algebra_is_exact_on_signed_zeros_infinities_and_nan(function: Any, left: list[str]) -> None:
    compiled = lab.function(function, backend="numpy")
    assert names(compiled, ODD) == left
    assert compiled(ODD).numpy().tobytes() == function(ODD).numpy().tobytes()


@pytest.mark.parametrize("perms", [((0, 1), (0, 1), (0, 1)), ((1, 0), (0, 1), (1, 0)), ((1, 0), (1, 0), (0, 1))])
def test_only_a_transpose_that_swaps_axes_turns_a_product(perms: Any) -> None:
    x, y = (lab.constant(np.random.default_rng(n).normal(size=(4, 4))) for n in range(2))

    def function(x: Any, y: Any) -> Any:
        return lab.transpose(lab.transpose(x, perms[0]) @ lab.transpose(y, perms[1]), perms[2])

    compiled = lab.function(function)
    compiled.compile(x, y)
    np.testing.assert_allclose(compiled(x, y).numpy(), function(x, y).numpy(), rtol=1e-12)


@pytest.mark.parametrize(("number", "left"), [(0j, "subtract"), (1 + 0j, "multiply")])
def test_complex_algebra_is_exact_too(number: complex, left: str) -> None:
    x = lab.constant(np.array([complex(-0.0, 0.0), complex(np.inf, 1), complex(1, -np.inf)], np.complex64))
    function = {"subtract": lambda x: x - number, "multiply": lambda x: x * number}[left]
    compiled = lab.function(function, backend="numpy")
    assert names(compiled, x) == ([] if left == "subtract" else [left])
    assert compiled(x).numpy().tobytes() == function(x).numpy().tobytes()


def test_common_subexpressions_are_computed_once() -> None:
    f = lab.function(lambda x, y: (lab.sin(x + y) * 2.0, lab.sin(y + x) * 3.0))
    assert names(f, ODD, ODD) == ["add", "sin", "multiply", "multiply"]


def test_what_nothing_uses_is_dropped_and_constants_are_folded() -> None:
    def f(x: Any) -> Any:
        lab.exp(x)
        return x * lab.sqrt(lab.constant(4.0)) * 1.0

    assert names(lab.function(f), ODD) == ["multiply"]


def test_unit_seeds_leave_no_trace() -> None:
    @lab.function
    def slope(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = lab.reduce_sum(x * x)
        return tape.gradient(y, x)

    assert names(slope, ODD) == ["add"]


def test_parameters_tell_apart_what_looks_alike() -> None:
    f = lab.function(lambda x: (lab.reduce_sum(x, axis=0), lab.reduce_sum(x, axis=1)))
    x = lab.ones((2, 3))
    f(x)
    a, b = f(x)
    assert (a.shape, b.shape) == ((3,), (2,))


def test_a_program_runs_line_by_line_too() -> None:
    f = lab.function(lambda x: lab.sin(x) * x)
    f(ODD)
    assert np.array_equal(f.program.run(ODD.numpy())[0], (lab.sin(ODD) * ODD).numpy(), equal_nan=True)


@pytest.mark.parametrize("name", ["sin", "tanh", "exp", "atan2"])
def test_a_function_that_is_in_no_loop_runs_as_the_eager_op_does(name: str) -> None:
    """Which has a compiled loop for many numbers: NumPy takes these one by one on processors without AVX-512."""
    operands = [lab.constant(np.linspace(-3.0, 3.0, 30_000))] * (2 if name == "atan2" else 1)
    function = getattr(lab, name)
    compiled = lab.function(function)
    with lab.use_kernels("numba"):
        np.testing.assert_array_equal(compiled(*operands).numpy(), function(*operands).numpy())
    assert f"{name}_(" in compiled.source
    few = lab.function(function)
    few(*[x[:5] for x in operands])
    assert f"np.{'arctan2' if name == 'atan2' else name}(" in few.source
