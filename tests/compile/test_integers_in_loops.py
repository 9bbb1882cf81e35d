"""Loops over arrays that find positions, truth values and integers in each turn, and read what lies there."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.compile.test_recurrences import same, turns_of
from tests.compile.test_reroll import flat

TURNS = 6
DTYPES = {"float32": (lab.float32, 2e-4), "float64": (lab.float64, 1e-9)}
pytest.importorskip("numba", reason="recurrences need Numba")


def picked(s: Any, x: Any, t: int) -> Any:
    """A hard choice with the gradient of a soft one."""
    soft = lab.nn.softmax(s + x[t])
    hard = lab.one_hot(lab.argmax(soft, axis=-1), s.shape[-1], dtype=s.dtype)
    return lab.tanh(s * 0.5 + hard + soft - lab.stop_gradient(soft)), hard


def quantized(s: Any, x: Any, t: int) -> Any:
    """The nearest row of a table, and what is left."""
    code = lab.argmin(lab.reduce_sum((s[:, None] - x[t]) ** 2, axis=-1), axis=-1)
    return s - lab.gather(x[t], code) * 0.7, code


def sorted_by(s: Any, x: Any, t: int) -> Any:
    order = lab.argsort(x[t], axis=-1)
    return lab.gather(s, order, batch_dims=1) * 0.9 + lab.sort(s + x[t]) * 0.3, order


def best_two(s: Any, x: Any, t: int) -> Any:
    values, places = lab.math.top_k(s + x[t], 2)
    return s * 0.8 + lab.reduce_sum(values, axis=-1, keepdims=True) * 0.1, places


def between(s: Any, x: Any, t: int) -> Any:
    """Linear interpolation in a table: a floor, a cast, and a sum of integers."""
    place = lab.clip_by_value(s * 2.0 + 2.0, 0.0, 3.99)
    low = lab.floor(place)
    at, part = lab.cast(low, lab.int32), place - low
    row = x[t, 0]
    return lab.tanh(lab.gather(row, at) * (1.0 - part) + lab.gather(row, at + 1) * part), at


def counted(s: Any, x: Any, t: int) -> Any:
    """Integers of 32 bits that grow out of their range."""
    number = lab.cast(lab.clip_by_value(s, -3.0, 3.0) * 7e8, lab.int32)
    grown = lab.maximum(number * 3 - 5, -number) + lab.minimum(number, 7) - lab.clip_by_value(number, -9, 2)
    return s * 0.5 + lab.cast(grown, s.dtype) * 1e-9 + x[t], grown


def searched(s: Any, x: Any, t: int) -> Any:
    bounds = lab.linspace(lab.constant(-1.0, s.dtype), lab.constant(1.0, s.dtype), 4)
    return s * 0.9 + lab.cast(lab.searchsorted(bounds, s[0]), s.dtype)[: s.shape[-1]] * 0.1 + x[t], lab.round(s)


def alive(s: Any, x: Any, t: int) -> Any:
    live = lab.reduce_any(s + x[t] > 0.0, axis=-1, keepdims=True)
    return lab.where(live, s * 0.9 + x[t], s), lab.reduce_all(live)


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("step", [picked, quantized, sorted_by, best_two, between, counted, searched, alive])
def test_loops_that_find_integers_run_as_loops(step: Callable[..., Any], dtype: str) -> None:
    made, tolerance = DTYPES[dtype]
    rng = np.random.default_rng(3)

    def run(s: Any, x: Any) -> Any:
        found = []
        with lab.GradientTape() as tape:
            tape.watch([s, x])
            for t in range(TURNS):
                s, more = step(s, x, t)
                found.append(more)
            loss = lab.reduce_sum(s * s)
        return [loss, s, lab.stack(found), tape.gradient(loss, x)]

    given = [lab.constant(rng.normal(size=size), made) for size in ((5, 5), (TURNS, 5, 5))]
    compiled = lab.function(run)
    for now in (given, given, [x * 0.75 for x in given]):
        same(flat(compiled(*now)), flat(run(*now)), tolerance)
    assert compiled.fallbacks == 0
    assert not any("has no form" in reason for reason in compiled.why().split(". ")), compiled.why()
    assert turns_of(compiled), compiled.why()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_casts_of_what_no_integer_holds_are_numpys(kind: str, dtype: str) -> None:
    made, _ = DTYPES[dtype]
    rows = np.ones((TURNS, 7))
    rows[1:4] = [1e20, -1e20, 3e9, np.nan, np.inf, -np.inf, -2147483648.0]

    @lab.function
    def run(x: Any, s: Any) -> Any:
        found = []
        for t in range(TURNS):
            s = s * 0.5
            found.append(lab.cast(x[t] * 1.5 + s, kind))
        return lab.stack(found)

    x, s = lab.constant(rows, made), lab.zeros([7], dtype=made)
    with np.errstate(invalid="ignore"):
        expected = (rows.astype(dtype) * np.dtype(dtype).type(1.5)).astype(kind)
    assert run.compile(x, s)
    np.testing.assert_array_equal(run(x, s), expected)
    assert turns_of(run), run.why()


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_an_integer_is_carried_on_from_turn_to_turn(kind: str) -> None:
    rng = np.random.default_rng(6)

    def run(table: Any, weight: Any, token: Any) -> Any:
        tokens, h, total = [], lab.zeros([3, 6]), lab.constant(0.0)
        with lab.GradientTape() as tape:
            tape.watch([table, weight])
            for _ in range(TURNS):
                h = lab.tanh(h + lab.gather(table, token) @ weight)
                scores = lab.matmul(h, table, transpose_b=True)
                token = lab.argmax(scores, axis=-1, output_type=kind)
                total += lab.reduce_mean(lab.reduce_max(scores, axis=-1))
                tokens.append(token)
        return [total, lab.stack(tokens), *tape.gradient(total, [table, weight])]

    sizes = ((9, 6), (6, 6))
    given = [*(lab.constant(rng.normal(size=size), lab.float32) for size in sizes), lab.constant([0, 1, 2], kind)]
    compiled = lab.function(run)
    same(flat(compiled(*given)), flat(run(*given)), 2e-4)
    same(flat(compiled(*given)), flat(run(*given)), 2e-4)
    assert len(turns_of(compiled)) == 2, compiled.why()
