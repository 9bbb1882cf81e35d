"""Linear algebra, log-sum-exps, extremes, positions, arrays moved round: in loops and in sequences of small steps."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.compile.test_recurrences import agree, same, turns_of
from tests.compile.test_reroll import flat

TURNS, LONG = 6, 14
TOLERANCE = {"float32": 2e-4, "float64": 1e-9}
pytest.importorskip("numba", reason="recurrences need Numba")

Step = Callable[[Any, Any], Any]


def _spread(x: Any) -> Any:
    """A positive definite matrix, (n, n) of x (n, m)."""
    return x @ lab.transpose(x) * 0.1 + lab.eye(x.shape[0], dtype=x.dtype) * 2.0


def filtered(h: Any, x: Any) -> Any:
    factor = lab.linalg.cholesky(_spread(h))
    gain = lab.linalg.cholesky_solve(factor, x)
    return lab.tanh(h * 0.5 + gain) + lab.math.log(lab.linalg.diag_part(factor))[:, None] * 0.1


def solved(h: Any, x: Any) -> Any:
    matrix = _spread(h)
    _, size = lab.linalg.slogdet(matrix)
    turned = lab.linalg.solve(lab.transpose(matrix), h) + lab.linalg.inv(matrix) @ x
    return lab.tanh(turned) + (size + lab.linalg.det(matrix * 0.3)) * 0.01


def stacks_solved(h: Any, x: Any) -> Any:
    """Stacks of matrices, and of right-hand sides for one matrix."""
    matrices = lab.stack([_spread(h), _spread(x)])
    lower = lab.linalg.cholesky(matrices)
    both = lab.linalg.triangular_solve(lower, lab.stack([h, x])) + lab.linalg.solve(lower[0], lab.stack([x, h]))
    return lab.tanh(both[0] - both[1]) + lab.reduce_sum(lab.linalg.det(matrices)) * 0.001


def balanced(h: Any, x: Any) -> Any:
    f = lab.reduce_logsumexp(h + x, axis=1)
    return lab.tanh(h - f[:, None] - lab.reduce_logsumexp(h * 2.0, axis=0)) + lab.reduce_logsumexp(h) * 0.1


def weighted(h: Any, x: Any) -> Any:
    rows, columns = lab.nn.softmax(h, axis=0), lab.nn.log_softmax(x - h, axis=1)
    return rows * columns + lab.nn.softmax(h[:, :, None] * x[:, None], axis=1)[:, 0]


def best(h: Any, x: Any) -> Any:
    largest = lab.reduce_max(h[:, None] * x[None], axis=1) - lab.reduce_min(h, axis=0)
    return lab.tanh(largest) + lab.reduce_max(x * h) * 0.1


def moved(h: Any, x: Any) -> Any:
    around = lab.roll(h, [1, -2], [0, 1]) + lab.reverse(x, [0]) - lab.roll(x, 0, 1)
    edge = lab.pad(h[1:, 1:], [[1, 0], [0, 1]])
    return lab.tanh(around + edge) + lab.tile(h[:1], [h.shape[0], 1]) * 0.1


def triangles(h: Any, x: Any) -> Any:
    square = h @ lab.transpose(x)
    bands = lab.linalg.band_part(square, 0, -1) - lab.linalg.band_part(square, 1, 1)
    return lab.tanh(bands @ h) + lab.linalg.diag(lab.linalg.diag_part(square)) @ x * 0.1


def running(h: Any, x: Any) -> Any:
    forward = lab.cumsum(h, axis=1) - lab.cumsum(x, axis=0, exclusive=True, reverse=True)
    return lab.tanh(forward * 0.3) + lab.math.cumprod(x * 0.5, axis=1) * h


def picked(h: Any, x: Any) -> Any:
    rows = lab.gather(h, [2, 0, 2, 1, 0][: h.shape[0]] + [1] * max(0, h.shape[0] - 5))
    columns = lab.gather(x, [[2, 1], [0, 0]], axis=1)
    spots = lab.gather_nd(h, [[0, 1], [2, 2], [0, 1]])
    return lab.tanh(rows + columns[:, 1, :1]) + lab.reduce_sum(spots) * 0.1


def turned(h: Any, x: Any) -> Any:
    diagonals = lab.stack([h[:, 0] * 0.1, h[:, 1] * 0.1 + 3.0, x[:, 2] * 0.1])
    return lab.tanh(lab.linalg.cross(h, x) + lab.linalg.tridiagonal_solve(diagonals, h))


def spiking(h: Any, x: Any) -> Any:
    fires = lab.cast(h > 0.3, h.dtype)
    return lab.tanh(h * 0.9 + x - fires) + lab.nn.l2_loss(h) * lab.cast(lab.logical_not(x > 0.0), h.dtype) * 0.1


STEPS: list[Step] = [
    filtered, solved, stacks_solved, balanced, weighted, best, moved, triangles, running, picked, turned, spiking,
]  # fmt: skip


def _looped(step: Step, turns: int, second: bool) -> Callable[[Any, Any], Any]:
    """Steps over a series with gradients, of a gradient too if that is asked for."""

    def run(h: Any, series: Any) -> Any:
        with lab.GradientTape() as outer:
            outer.watch(h)
            with lab.GradientTape() as tape:
                tape.watch([h, series])
                state = h
                for t in range(turns):
                    state = step(state, series[t])
                loss = lab.reduce_sum(state * state)
            slopes = tape.gradient(loss, [h, series])
            size = lab.reduce_sum(lab.square(slopes[0]))
        return state, slopes, outer.gradient(size, h) if second else loss

    return run


def _given(dtype: str, rows: int, turns: int = TURNS) -> list[Any]:
    draw = np.random.default_rng(rows)
    shapes = ((rows, 3), (turns, rows, 3))
    return [lab.constant((draw.standard_normal(shape) * 0.6).astype(dtype)) for shape in shapes]


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("step", STEPS)
def test_forms_run_in_loops_with_second_derivatives(step: Step) -> None:
    """Few rows, or more than a vector holds, in turn; either dtype."""
    dtype, rows = (("float64", 3), ("float32", 2), ("float64", 7), ("float32", 3), ("float64", 2), ("float32", 7))[
        STEPS.index(step) % 6
    ]
    compiled = agree(_looped(step, TURNS, second=True), _given(dtype, rows), TOLERANCE[dtype])
    assert turns_of(compiled), compiled.why()
    assert "stays unrolled" not in compiled.why(), compiled.why()


def _one_after_the_other(h: Any, x: Any) -> Any:
    for step in STEPS:
        if h.shape[0] >= 3 or step is not picked:
            h = step(h, x)
    return h


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(("dtype", "rows"), [("float64", 2), ("float32", 7)])
def test_ragged_sizes_agree(dtype: str, rows: int) -> None:
    """All forms in one turn, forward."""

    def run(h: Any, series: Any) -> Any:
        for t in range(TURNS):
            h = _one_after_the_other(h, series[t])
        return h

    compiled = agree(run, _given(dtype, rows), TOLERANCE[dtype])
    assert turns_of(compiled), compiled.why()


@pytest.mark.slow
def test_forms_run_in_sequences() -> None:
    """What runs once is not a loop, but one call or a few."""
    compiled = agree(_looped(_one_after_the_other, 1, second=False), _given("float32", 4, 1), TOLERANCE["float32"])
    assert not turns_of(compiled)
    assert all(kernel.title.startswith("sequence") for kernel in compiled.kernels), compiled.source


def test_arrays_without_elements_agree() -> None:
    def empty(h: Any, series: Any) -> Any:
        for t in range(TURNS):
            h = lab.roll(h, 1, 0) + lab.reduce_logsumexp(series[t], axis=1, keepdims=True) + lab.cumsum(h, axis=1)
        return h

    agree(empty, _given("float32", 0), 1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_infinities_and_nan_in_log_sum_exps(dtype: str) -> None:
    """-inf everywhere, infinities, nan: the same as in eager runs."""
    inf, nan = float("inf"), float("nan")
    x = np.array([[-inf, -inf, -inf], [inf, 1.0, 2.0], [nan, 0.0, 1.0], [-inf, 0.0, 1.0]], dtype)

    def run(x: Any) -> Any:
        found = []
        for k in range(TURNS):
            with lab.GradientTape() as tape:
                tape.watch(x)
                y = lab.reduce_logsumexp(x * (1.0 + k), axis=1)
            found += [y, tape.gradient(y, x)]
        return found

    compiled = lab.function(run)
    given = lab.constant(x)
    for _ in range(2):
        same(flat(compiled(given)), flat(run(given)), 1e-5)
    assert compiled.fallbacks == 0


def _factored(x: Any) -> Any:
    for _ in range(LONG):
        x = lab.linalg.cholesky(x) + lab.eye(2)
    return x


def _inverted(x: Any) -> Any:
    for _ in range(LONG):
        x = lab.linalg.inv(x) * 1.5
    return x


@pytest.mark.parametrize("function", [_factored, _inverted])
def test_errors_are_those_of_eager_runs(function: Callable[..., Any]) -> None:
    """A matrix that is not positive definite, or singular, in the middle of a loop."""
    compiled = lab.function(function)
    compiled(lab.eye(2) * 2.0)
    assert turns_of(compiled) == [LONG]
    bad = lab.constant([[-1.0, 0.0], [0.0, 0.0]])
    with pytest.raises(lab.errors.InvalidArgumentError) as eager:
        function(bad)
    with pytest.raises(lab.errors.InvalidArgumentError) as found:
        compiled(bad)
    assert str(found.value).splitlines()[0] == str(eager.value).splitlines()[0]
    same(flat(compiled(lab.eye(2) * 3.0)), flat(function(lab.eye(2) * 3.0)), 1e-5)


def test_singular_determinants_are_zero() -> None:
    def run(x: Any) -> Any:
        found = []
        for k in range(TURNS):
            found += [lab.linalg.det(x * (1.0 + k)), *lab.linalg.slogdet(x + float(k))]
        return found

    compiled = agree(run, [lab.constant(np.array([[1.0, 2.0], [3.0, 5.0]]))], 1e-12)
    singular = lab.constant(np.array([[1.0, 2.0], [2.0, 4.0]]))
    same(flat(compiled(singular)), flat(run(singular)), 1e-12)


def test_positions_outside_raise_the_eager_error() -> None:
    def run(table: Any, ids: Any) -> Any:
        h = table[0]
        for t in range(LONG):
            h = lab.tanh(h + lab.gather(table, ids[t]))
        return h

    table, ids = lab.constant(np.ones((4, 3), "float32")), np.zeros(LONG, np.int64)
    compiled = lab.function(run)
    compiled(table, lab.constant(ids))
    assert turns_of(compiled), compiled.why()
    for bad in (4, -1):
        ids[3] = bad
        with pytest.raises(lab.errors.InvalidArgumentError, match="gather"):
            compiled(table, lab.constant(ids))


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_positions_of_each_turn_and_their_casts(kind: str) -> None:
    """Integers from outside: as positions, compared, and as numbers."""
    draw = np.random.default_rng(0)
    ids = lab.constant(draw.integers(0, 4, (5, TURNS)).astype(kind))
    table = lab.constant(draw.standard_normal((4, 3)).astype("float32"))

    def run(table: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(table)
            h = table[:1] * 0.0
            for t in range(TURNS):
                at = ids[:, t]
                kept = lab.cast(at, "float32")[:, None] * 0.1
                h = lab.tanh(lab.gather(table, at) + h * lab.where(at[:, None] > 1, 1.0, 0.5) + kept)
            loss = lab.reduce_sum(h * h)
        return h, tape.gradient(loss, table)

    compiled = agree(run, [table], 1e-5)
    assert turns_of(compiled), compiled.why()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("ndim", [1, 2])
def test_rows_are_replaced_in_a_loop_and_in_its_gradient(ndim: int, dtype: str) -> None:
    rng = np.random.default_rng(12)
    places = lab.constant(np.stack([rng.permutation(9)[:4] for _ in range(LONG)]))

    def run(h: Any, at: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(h)
            rows = h
            for t in range(LONG):
                picked = lab.gather(rows, at[t])
                rows = lab.tensor_scatter_nd_update(rows, at[t][:, None], lab.sin(picked * 1.1) + rows[0])
            loss = lab.reduce_sum(rows**2)
        return [rows, tape.gradient(loss, h)]

    h = lab.constant(rng.normal(size=(9, 3)[:ndim]).astype(dtype))
    compiled = agree(run, [h, places], TOLERANCE[dtype])
    assert len(turns_of(compiled)) == 2, compiled.why()
    assert "kept_mask" not in compiled.source
