"""Jacobians of all rows of a batch: those of one sweep for each column, eagerly and compiled, without whole stacks."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.transforms.columns import Columns

DRAW = np.random.default_rng(0)
ROWS, COLUMNS = 40, 24
MATRIX, SQUARE = DRAW.standard_normal((6, COLUMNS)), DRAW.standard_normal((COLUMNS, COLUMNS)) / 5
TIMES, WEIGHTS = np.linspace(0.1, 2, COLUMNS), DRAW.uniform(0.5, 2, (ROWS, COLUMNS))


def like(array: np.ndarray[Any, Any], x: Any) -> Any:
    return lab.constant(array, x.dtype)


def curve(x: Any) -> Any:
    """A weighted difference between curves and data."""
    level, slope, decay = (p[:, None] for p in lab.unstack(x[:, :3], axis=1))
    return like(WEIGHTS, x) * (level + slope * lab.exp(-like(TIMES, x) / lab.exp(decay)) - like(TIMES, x))


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "a curve": curve,
    "a layer": lambda x: lab.tanh(x @ like(MATRIX, x)),
    "two layers": lambda x: lab.sin(lab.tanh(x @ like(MATRIX, x)) @ like(SQUARE, x)),
    "gates": lambda x: lab.nn.relu(x @ like(MATRIX, x)) * 2.0 - lab.sigmoid(x @ like(MATRIX, x)),
    "a choice": lambda x: lab.where(x @ like(MATRIX, x) > 0.0, x @ like(MATRIX, x), lab.sin(x @ like(MATRIX, x))),
    "rows that are normalized": lambda x: lab.math.l2_normalize(x @ like(MATRIX, x), axis=1),
    "a softmax": lambda x: lab.nn.softmax(x @ like(MATRIX, x)),
    "quotients": lambda x: (x @ like(MATRIX, x)) / (1.0 + lab.square(x[:, :1])),
    "joined parts": lambda x: lab.concat([x * 2.0, lab.exp(x), lab.sin(x), x[:, ::-1]], axis=1),
    "rows that meet": lambda x: x @ like(MATRIX, x) - lab.reduce_mean(x),
}


def jacobian(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.batch_jacobian(y, x)

    return run


def by_columns(function: Callable[[Any], Any], x: Any) -> np.ndarray[Any, Any]:
    """One sweep for each column."""
    made: list[np.ndarray[Any, Any]] = []
    for k in range(function(x).shape[1]):
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = function(x)[:, k]
        made.append(lab.convert_to_tensor(tape.gradient(y, x)).numpy())
    return np.stack(made, axis=1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_the_one_of_a_sweep_for_each_column(name: str, dtype: str) -> None:
    x = lab.constant(np.random.default_rng(1).standard_normal((ROWS, 6)), dtype)
    function, wanted = PROGRAMS[name], by_columns(PROGRAMS[name], x)
    tolerance = 3e-6 if dtype == "float32" else 1e-13
    compiled = lab.function(jacobian(function))
    compiled.compile(x)
    for found in (jacobian(function)(x), compiled(x)):
        assert found.dtype == x.dtype
        np.testing.assert_allclose(found.numpy(), wanted, tolerance, tolerance * np.abs(wanted).max())
    assert not compiled.fallbacks, compiled.why()


@pytest.mark.parametrize("name", ["a curve", "a layer", "gates", "a choice", "quotients"])
def test_no_stack_is_made_whole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = lab.constant(np.random.default_rng(1).standard_normal((ROWS, 6)))
    compiled = lab.function(jacobian(PROGRAMS[name]))
    compiled.compile(x)
    assert f"({COLUMNS}, {ROWS}, {COLUMNS})" not in compiled.source
    assert "columns_(" not in compiled.source
    if name == "a curve":  # beside products with matrices large stacks go back in pieces
        monkeypatch.setattr(Columns, "whole", lambda self: pytest.fail("a stack was made whole"))
        jacobian(PROGRAMS[name])(x)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("name", ["a curve", "a layer", "gates", "quotients"])
def test_what_is_not_finite_is_where_whole_stacks_have_it(name: str, value: float) -> None:
    array = np.random.default_rng(1).standard_normal((ROWS, 6))
    compiled = lab.function(jacobian(PROGRAMS[name]))
    compiled.compile(lab.constant(array))
    array[3, 1] = value
    x = lab.constant(array)
    with lab.GradientTape() as tape, lab.record():  # somebody looks, so that stacks are whole
        tape.watch(x)
        y = PROGRAMS[name](x)
        wanted = tape.batch_jacobian(y, x).numpy()
    for found in (jacobian(PROGRAMS[name])(x), compiled(x)):
        np.testing.assert_allclose(found.numpy(), wanted, 1e-12, 1e-12)


def test_a_stack_as_an_array() -> None:
    value = np.arange(6.0).reshape(2, 3) + 1
    for stack, shape in ((Columns(value), (3, 2, 3)), (Columns(value, flat=True), (6, 3))):
        whole = stack.whole()
        assert whole.shape == stack.shape == shape
        np.testing.assert_array_equal(whole.reshape(3, 2, 3), np.eye(3)[:, None, :] * value)


def test_second_derivatives() -> None:
    """The inner sweep is recorded, so that its stacks are whole."""

    def run(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            total = lab.reduce_sum(lab.square(jacobian(curve)(x)))
        return tape.gradient(total, x)

    x = lab.constant(np.random.default_rng(1).standard_normal((ROWS, 6)))
    compiled = lab.function(run)
    compiled.compile(x)
    step, found = 1e-6, run(x).numpy()
    np.testing.assert_allclose(compiled(x).numpy(), found, 1e-11, 1e-11)
    for at in ((0, 0), (3, 1), (7, 2)):
        moved = [x.numpy() + sign * step * (np.arange(x.numpy().size) == at[0] * 6 + at[1]).reshape(x.shape)
                 for sign in (1, -1)]  # fmt: skip
        up, down = (float(lab.reduce_sum(lab.square(jacobian(curve)(lab.constant(m))))) for m in moved)
        np.testing.assert_allclose(found[at], (up - down) / (2 * step), 1e-5, 1e-6)
