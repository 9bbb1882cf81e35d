"""Diagonal stacks of cotangents run as vectors and agree with full stacks, including infinities."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.compile.program.stacks import DIAGONALS, FINITE, NotFinite

SIZE = 40
DRAW = np.random.default_rng(0)
MATRIX, VECTOR = DRAW.standard_normal((SIZE, SIZE)), DRAW.standard_normal(SIZE)
W, V = lab.constant(MATRIX), lab.constant(VECTOR)
TALL, WIDE = lab.constant(DRAW.standard_normal((60, SIZE))), lab.constant(DRAW.standard_normal((25, SIZE)))
LONG = np.random.default_rng(5).uniform(0.2, 2.0, 480)


def jacobian(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.jacobian(y, x)

    return run


def hessian(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        with lab.GradientTape() as outer:
            outer.watch(x)
            with lab.GradientTape() as inner:
                inner.watch(x)
                y = function(x)
            slope = inner.gradient(y, x)
        return outer.jacobian(slope, x)

    return run


def times(matrix: Any, x: Any) -> Any:
    return lab.linalg.matvec(lab.cast(matrix, x.dtype), x)


def rosenbrock(x: Any) -> Any:
    a, b = x[:-1], x[1:]
    return lab.reduce_sum(100.0 * (b - a**2) ** 2 + (1.0 - a) ** 2)


def beam(x: Any) -> Any:
    """Bending energy: five diagonals."""
    bend = x[2:] - 2.0 * x[1:-1] + x[:-2]
    return lab.reduce_sum(bend**2 * x[1:-1])


BANDED: dict[str, Callable[[Any], Any]] = {
    "elementwise": jacobian(lambda x: lab.sin(x) * x - lab.exp(x) / (x * x + 1.0)),
    "differences": jacobian(lambda x: (x[1:] - x[:-1]) * x[1:]),
    "differences of differences": jacobian(lambda x: ((x[1:] - x[:-1])[1:] - (x[1:] - x[:-1])[:-1]) ** 2),
    "one part": jacobian(lambda x: lab.tanh(x[5:25])),
    "row times number": jacobian(lambda x: x * 3.0 - x / lab.constant(7.0, x.dtype)),
    "reshaped": jacobian(lambda x: lab.reshape(lab.sin(lab.reshape(x, (SIZE, 1))), (SIZE,))),
    "matrix times vector": jacobian(lambda x: lab.tanh(times(W, x))),
    "vector times matrix": jacobian(lambda x: lab.sin((x[None, :] @ lab.cast(W, x.dtype))[0])),
    "numbers that all elements use": jacobian(
        lambda x: x[0] * lab.exp(-(((lab.constant(VECTOR, x.dtype) - x[1]) / x[2]) ** 2)) + x[3]
    ),
    "differences times a number": jacobian(lambda x: (x[1:] - x[:-1]) * x[5] + x[:-1] / x[7]),
    "rosenbrock": hessian(rosenbrock),
    "beam": hessian(beam),
    "cubes": hessian(lambda x: lab.reduce_sum(x**3)),
    "matrix": jacobian(lambda x: lab.sin(lab.reshape(x, (8, 5)) * 3.0) - lab.reshape(x, (8, 5))),
    "rows of a matrix": jacobian(
        lambda x: lab.tanh(lab.reshape(x, (8, 5)) * lab.reshape(lab.stop_gradient(x), (8, 5))[1])
    ),
    "columns of a matrix": jacobian(
        lambda x: lab.reshape(x, (8, 5)) ** 2 / (lab.stop_gradient(lab.reshape(x, (8, 5))[:, :1]) ** 2 + 1.0)
    ),
    "chain": hessian(lambda x: lab.reduce_sum(lab.sin(x[1:] * x[:-1]))),
}
OTHER: dict[str, Callable[[Any], Any]] = {
    "tall": jacobian(lambda x: lab.tanh(times(TALL, x))),
    "wide": jacobian(lambda x: times(WIDE, lab.sin(x))),
    "two layers": jacobian(lambda x: times(W, lab.tanh(times(W, x)))),
    "softmax": jacobian(lab.nn.softmax),
    "sums": jacobian(lambda x: x * lab.reduce_sum(x)),
    "norm": hessian(lambda x: lab.sqrt(lab.reduce_sum(x * x))),
    "every second": jacobian(lambda x: x[::2] * x[1::2]),
    "one number": jacobian(lambda x: x * x[3]),
    "turned round": jacobian(lambda x: x[::-1] * x),
    "turned matrix": jacobian(lambda x: lab.sin(lab.transpose(lab.reshape(x, (8, 5))))),
    "part of a matrix": jacobian(lambda x: lab.sin(lab.reshape(x, (8, 5))[1:, 2])),
    "matrix times matrix": jacobian(lambda x: lab.sin(lab.reshape(x, (8, 5)) @ lab.cast(W, x.dtype)[:5])),
    "quadratic form": hessian(lambda x: lab.reduce_sum(x * times(W, x))),
    "choice": jacobian(lambda x: lab.where(x > 0.0, x * x, lab.nn.relu(x + 1.0))),
    "straight line": jacobian(lambda x: times(W, x)),
}  # fmt: skip


def same(function: Callable[[Any], Any], x: np.ndarray, compiled: Any = None) -> Any:
    compiled = compiled or lab.function(function)
    given = lab.constant(x)
    expected = function(given).numpy()
    for _ in range(2):
        found = compiled(given).numpy()
        assert found.dtype == expected.dtype
        tolerance = 1e-5 if x.dtype == np.float32 else 1e-12
        assert np.allclose(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True), compiled.source
    assert compiled.fallbacks == 0
    return compiled


@pytest.mark.slow(keep=16)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", [*BANDED, *OTHER])
def test_jacobians_and_hessians_are_those_of_whole_stacks(name: str, dtype: str) -> None:
    """Bands and what is none: the compiled result is the eager one."""
    function = (BANDED | OTHER)[name]
    compiled = same(function, VECTOR.astype(dtype))
    same(function, (VECTOR * 1.5 - 0.2).astype(dtype), compiled)
    if name in BANDED:
        stacks = [line for line in compiled.program.lines if line.op.name in ("add", "subtract", "negative", "divide")]
        sizes = [int(np.prod(compiled.program.values[line.outs[0]].shape)) for line in stacks]
        assert all(size <= SIZE for size in sizes), str(compiled.program)


@pytest.mark.slow(keep=15)
@pytest.mark.parametrize("name", BANDED)
@pytest.mark.parametrize("bad", [-np.inf, np.nan, 1e200, 5e-324])
def test_what_is_not_finite_spreads_as_in_whole_stacks(name: str, bad: float) -> None:
    """Zero times infinity is nan: a column with an infinity has nan beside it, as in the eager Jacobian."""
    compiled = lab.function(BANDED[name])
    compiled(V)
    for place in (0, 17, SIZE - 1):
        x = VECTOR.copy()
        x[place] = bad
        same(BANDED[name], x, compiled)


def test_a_matrix_with_an_infinity_makes_nan_as_the_product_of_stacks_does() -> None:
    """The matrix is an argument, so that it may change."""

    def run(x: Any, matrix: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = lab.tanh(lab.linalg.matvec(matrix, x))
        return tape.jacobian(y, x)

    compiled = lab.function(run)
    for bad in (1.0, np.inf, np.nan):
        matrix = MATRIX.copy()
        matrix[3, 4] = bad
        for _ in range(2):
            found, expected = compiled(V, lab.constant(matrix)).numpy(), run(V, lab.constant(matrix)).numpy()
            assert np.allclose(found, expected, rtol=1e-12, atol=1e-14, equal_nan=True)
    assert compiled.fallbacks == 0
    assert "finite" in str(compiled.program)


def test_a_column_without_a_diagonal_may_become_nan_too() -> None:
    """The first column of a shifted stack is all zeros; divided by zero it is all nan, and is added to another."""

    def function(x: Any) -> Any:
        shifted = x[2:] / x[:-2]
        return shifted[:-2] * x[2:-2] - shifted[2:] + x[:-4]

    compiled = lab.function(jacobian(function))
    compiled(V)
    for place in range(SIZE):
        for bad in (0.0, np.inf, 1e308):
            x = VECTOR.copy()
            x[place] = bad
            same(jacobian(function), x, compiled)


def test_diagonals_that_leave_the_stack_on_either_side() -> None:
    """Only what lies inside is put there; all of it is checked before."""
    ones = np.arange(1.0, 6.0)
    for rows in (1, 2, 5, 7):
        for offset in range(-8, 8):
            expected = np.zeros((rows, 5))
            for column in range(5):
                if 0 <= column - offset < rows:
                    expected[column - offset, column] = ones[column]
            found = DIAGONALS.kernel(ones, offsets=(offset,), firsts=(0,), shape=(rows, 5))
            assert np.array_equal(found, expected)
    with pytest.raises(NotFinite):
        FINITE.kernel(np.array([1.0, np.nan]))


def test_numpy_keeps_every_bit_and_whole_stacks() -> None:
    """The NumPy back end runs the lines of the eager function."""
    for function in BANDED.values():
        compiled = lab.function(function, backend="numpy")
        compiled(V)
        assert "diagonals" not in str(compiled.program)
        assert compiled(V).numpy().tobytes() == function(V).numpy().tobytes()


def test_results_are_arrays_of_their_own() -> None:
    """Two calls do not share memory, and a variable keeps what it is assigned."""
    compiled = lab.function(BANDED["elementwise"])
    compiled(V)
    first = compiled(V).numpy().copy()
    held = compiled(V)
    compiled(lab.constant(VECTOR * 2.0))
    assert np.array_equal(held.numpy(), first)


@pytest.mark.parametrize("seed", range(20))
def test_random_functions_of_vectors(seed: int) -> None:
    """Random elementwise ops and shifts, and their Jacobians."""
    choice = random.Random(seed)
    plan = [(choice.randrange(9), choice.random(), choice.random()) for _ in range(choice.randrange(2, 8))]

    def function(x: Any) -> Any:
        values = [x]
        for kind, first, second in plan:
            a, b = values[int(first * len(values))], values[int(second * len(values))]
            size = min(a.shape[0], b.shape[0])
            a, b = a[:size], b[-size:]
            made = [
                lambda a, b: a * b, lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a / (b * b + 1.0),
                lambda a, b: lab.sin(a), lambda a, b: a[1:] - a[:-1], lambda a, b: a[2:] * 3.0, lambda a, b: -a[:-1],
                lambda a, b: lab.square(a) - b,
            ][kind]  # fmt: skip
            values.append(made(a, b))
        return values[-1]

    compiled = same(jacobian(function), VECTOR)
    x = VECTOR.copy()
    x[choice.randrange(SIZE)] = choice.choice([np.inf, np.nan, 1e308])
    same(jacobian(function), x, compiled)


def test_slices_of_one_tensor_stay_in_bands() -> None:
    """Their contributions are added by one op, which has a rule for bands as each of them has."""

    @lab.function
    def hessian(x: Any) -> Any:
        with lab.GradientTape() as outer:
            outer.watch(x)
            with lab.GradientTape() as inner:
                inner.watch(x)
                a, b = x[:-1], x[1:]
                y = lab.reduce_sum(100.0 * (b - a**2.0) ** 2.0 + (1.0 - a) ** 2.0)
            gradient = inner.gradient(y, x)
        return outer.jacobian(gradient, x)

    x = np.linspace(-1.5, 1.5, 60)
    found = hessian(lab.constant(x)).numpy()
    ops = {line.op.name for line in hessian.program.lines}
    assert "diagonals" in ops
    assert "accumulate_parts" not in ops
    wanted, i = np.zeros((60, 60)), np.arange(59)
    wanted[i, i] = 1200 * x[:-1] ** 2 - 400 * x[1:] + 2
    wanted[i + 1, i + 1] += 200
    wanted[i, i + 1] = wanted[i + 1, i] = -400 * x[:-1]
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def of_rows(function: Callable[[Any], Any], batch: bool) -> Callable[[Any], Any]:
    def call(x: Any) -> Any:
        rows = lab.reshape(x, (20, 24))
        with lab.GradientTape() as tape:
            tape.watch(rows)
            y = function(rows)
        stack = tape.batch_jacobian(y, rows) if batch else tape.jacobian(y, rows)
        return lab.tanh(lab.cumsum(stack, axis=-1))

    return call


STEPS: dict[str, Callable[[Any], Any]] = {
    "diagonals": lambda x: lab.cumsum(jacobian(lambda x: lab.sin(x) * x)(x[:40]), axis=1),
    "diagonals that meet": lambda x: lab.cumsum(
        jacobian(lambda x: ((x[1:] - x[:-1])[1:] - (x[1:] - x[:-1])[:-1]) ** 2 + x[2:] * x[:-2])(x[:40]), axis=0
    ),
    "blocks": of_rows(lambda rows: lab.reduce_sum(lab.sin(rows) ** 2, axis=1), batch=False),
    "columns": of_rows(lambda rows: lab.tanh(rows * lab.constant(LONG[:24], rows.dtype)), batch=True),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", STEPS)
def test_what_is_kept_of_a_stack_is_put_among_zeros_in_a_sequence(name: str, dtype: str) -> None:
    pytest.importorskip("numba", reason="sequences need Numba")
    x = LONG.astype(dtype)
    made = same(STEPS[name], x)
    assert name.split(maxsplit=1)[0] in made.source
    steps = made.source.rpartition("def program")[2]
    assert f"= {name.split(maxsplit=1)[0]}" not in steps, steps
    for bad in (np.inf, np.nan):
        other = x.copy()
        other[7] = bad
        same(STEPS[name], other, made)
