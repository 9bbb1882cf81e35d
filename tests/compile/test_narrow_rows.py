"""Loops over rows of a few elements, whose columns are written out, agree with the eager ops."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.compile.loops import kernels, narrow
from autodiff_lab.compile.loops.text import BLOCK
from autodiff_lab.compile.program.regions import WIDE
from tests.compile.agreement import agree

pytest.importorskip("numba", reason="loops need Numba")

DRAW = np.random.default_rng(7)
ODD = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, 1e-40)
Rows = Callable[[Any, Any, Any], Any]


def levels(x: Any, row: Any, column: Any) -> Any:
    """Go over each row three times, each time with a number that the last pass gave."""
    y = (x + row) * column
    y = lab.exp(y - lab.reduce_max(y, axis=-1, keepdims=True))
    y = y / lab.reduce_sum(y, axis=-1, keepdims=True)
    return y - lab.reduce_mean(y * row, axis=-1, keepdims=True)


CASES: dict[str, Rows] = {
    "levels": levels,
    "softmax": lambda x, row, column: lab.nn.softmax(x * column) * row,
    "log_softmax": lambda x, row, column: lab.nn.log_softmax(x + row) * column,
    "sums over rows": lambda x, row, column: lab.reduce_sum(lab.sin(x * row) * column, axis=0),
    "means over rows": lambda x, row, column: lab.reduce_mean(x * row + column, axis=0) * row,
    "extremes over rows": lambda x, row, column: (
        lab.reduce_max(x * row, axis=0) - lab.reduce_min(x + column, axis=0, keepdims=True)
    ),
    "extremes": lambda x, row, column: lab.reduce_max(x * row, axis=-1) + lab.reduce_min(x + row, axis=-1),
    "products": lambda x, row, column: lab.reduce_prod(lab.tanh(x) + row, axis=-1, keepdims=True) * column,
    "everything": lambda x, row, column: (
        lab.reduce_mean((x - row) ** 2.0) + lab.reduce_sum(x * column) / 1000.0 + lab.reduce_max(x - row)
    ),
    "numbers of rows": lambda x, row, column: (
        lab.reduce_sum(lab.sqrt(lab.reduce_sum(x * x, axis=-1) + 1.0) * column[..., 0]) * row
    ),
    "selected": lambda x, row, column: lab.where(x > row, x * column, lab.reduce_sum(x, axis=-1, keepdims=True)),
    "distances": lambda x, row, column: lab.exp(-lab.reduce_sum((x - row) ** 2.0, axis=-1, keepdims=True)) * column,
}


def step_of(function: Rows) -> Callable[..., Any]:
    def step(x: Any, row: Any, column: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([x, row, column])
            y = function(x, row, column)
            target = lab.reduce_sum(y * y)
        return y, tape.gradient(target, [x, row, column], unconnected_gradients="zero")

    return step


def drawn(kind: str, *shape: int) -> Any:
    return lab.constant(DRAW.standard_normal(shape).astype(kind))


def check(name: str, kind: str, shape: tuple[int, ...]) -> Any:
    """Compare a compiled case with the ops, on rows of the last axis."""
    given = drawn(kind, *shape), drawn(kind, shape[-1]), drawn(kind, *shape[:-1], 1)
    step = step_of(CASES[name])
    made: Any = lab.function(step)
    expected = step(*given)
    for _ in range(2):
        agree(made(*given), expected, 5e-4 if kind == "float32" else 1e-9)
    assert made.fallbacks == 0
    assert not made.skipped
    return made


@pytest.mark.slow(keep=6)
@pytest.mark.parametrize("columns", [*range(1, 11), 16, 20, 32, 33])
@pytest.mark.parametrize("name", CASES)
def test_rows_of_a_few_elements_agree_with_eager_ops(name: str, columns: int) -> None:
    kind = ("float32", "float64")[(columns + len(name)) % 2]
    check(name, kind, (2, BLOCK // columns + 3, columns))
    check(name, kind, (5, columns))


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("name", CASES)
def test_many_such_rows_are_shared_among_threads(name: str) -> None:
    columns = 2 + list(CASES).index(name)
    check(name, "float32", (WIDE // columns + 100, columns))


@pytest.mark.parametrize("name", ["levels", "extremes", "extremes over rows", "everything", "softmax"])
def test_infinities_and_nan_give_what_eager_ops_give(name: str) -> None:
    def function(x: Any) -> Any:
        return CASES[name](x, lab.constant([0.5, 1.0, 2.0]), lab.ones([40, 1]))

    compiled = lab.function(function)
    for odd in ODD:
        values = DRAW.standard_normal((40, 3)).astype(np.float32)
        values[1, DRAW.integers(3)] = values[-1, 0] = odd
        x = lab.constant(values)
        np.testing.assert_allclose(compiled(x).numpy(), function(x).numpy(), rtol=1e-5, atol=1e-6)
    assert compiled.compiled


def test_angles_that_are_too_large_are_left_to_the_ops() -> None:
    values = DRAW.standard_normal((50, 3)).astype(np.float32)
    values[20, 1] = 3e9
    x, row = lab.constant(values), lab.constant([1.0, 2.0, 3.0])

    def function(x: Any) -> Any:
        return lab.reduce_sum(lab.cos(x * row), axis=-1)

    compiled = lab.function(function)
    for _ in range(2):
        agree(compiled(x), function(x), 1e-6)


PARTS: dict[str, Callable[[Any], Any]] = {
    "tails": lambda x: x[:, 1:4], "reversed": lambda x: x[:, ::-1], "every second": lambda x: x[::2, :6:2],
    "turned": lambda x: lab.transpose(lab.reshape(x, (6, -1))), "rows backwards": lambda x: x[::-1, 2:],
    "spread": lambda x: lab.broadcast_to(x[:, 1:2], (x.shape[0], 5)), "one row": lambda x: (
        lab.broadcast_to(x[3], (x.shape[0], 6))),
    "halves": lambda x: lab.split(x, 2, axis=1)[1], "one column": lambda x: x[:, 2:3], "deep": lambda x: (
        lab.reshape(x, (-1, 3, 6))[:, 1, :4]),
}  # fmt: skip


@pytest.mark.parametrize("rows", [60, 33_000])
@pytest.mark.parametrize("name", PARTS)
def test_parts_of_arrays_are_read_where_they_lie(name: str, rows: int) -> None:
    def step(x: Any, row: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            part = PARTS[name](x)
            other = lab.sin(part) * part[:, :1] + row[: part.shape[1]]
            size = lab.sqrt(lab.reduce_sum(other * part, axis=1, keepdims=True) ** 2.0 + 1.0)
            loss = lab.reduce_mean(other / size)
        return other * 2.0 - part, loss, tape.gradient(loss, x)

    given = drawn("float32", rows, 6), drawn("float32", max(rows // 2, 6))
    made: Any = lab.function(step)
    expected = step(*given)
    for _ in range(2):
        agree(made(*given), expected, 2e-4)
    assert made.fallbacks == 0
    assert not made.skipped


@pytest.mark.parametrize("rows", [5, 700])
@pytest.mark.parametrize("columns", [2, 3, 8, 9])
def test_a_loop_over_arrays_of_short_rows_agrees_with_eager_ops(columns: int, rows: int) -> None:
    def step(x: Any, v: Any, row: Any) -> Any:
        start, energy, drift = x, 0.0, 0.0
        with lab.GradientTape() as tape:
            tape.watch([start, row])
            for _ in range(12):
                size = lab.sqrt(lab.reduce_sum(x * x, axis=-1, keepdims=True) + 1.0)
                pull = lab.sin(x * row) - x / size**3.0
                v = v + 0.05 * (pull - v[:, ::-1])
                x = x + 0.05 * v * lab.cast(v > -1.0, v.dtype)
                energy = energy + lab.reduce_sum(v * v, axis=0)
                drift = drift + lab.reduce_max(x, axis=-1)
                drift = drift + lab.reduce_sum(lab.broadcast_to(size, x.shape), axis=-1)
            loss = lab.reduce_sum(energy * row) + lab.reduce_mean(drift)
        return x, v, energy, drift, tape.gradient(loss, [start, row])

    given = drawn("float64", rows, columns), drawn("float64", rows, columns), drawn("float64", columns)
    made: Any = lab.function(step)
    expected = step(*given)
    for _ in range(2):
        agree(made(*given), expected, 1e-9)
    assert "run as loops" in made.why()
    assert not made.skipped


def test_columns_that_are_taken_one_after_the_other_share_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    load = kernels.load
    monkeypatch.setattr(kernels, "load", lambda text: texts.append(text) or load(text))
    x = drawn("float32", WIDE, 12)

    def step(x: Any) -> Any:
        y = lab.zeros([WIDE, 3])
        for k in range(4):
            y = lab.stop_gradient(lab.tanh(y + x[:, 3 * k : 3 * k + 3]) * x[:, k : k + 1])
            y = lab.cumsum(y, axis=0) * 1e-4  # a step of its own
        return y

    made = lab.function(step)
    made.compile(x)
    np.testing.assert_allclose(made(x).numpy(), step(x).numpy(), rtol=1e-4, atol=1e-4)
    assert len(texts) > 1
    assert len(set(texts)) <= 2  # the first adds zeros


def test_a_flat_loop_reads_short_rows_of_a_larger_array_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    assert written(monkeypatch, lambda x, row: lab.exp(x[:, 1:]) * 2.0 + x[:, 1:], WIDE, 4) == [True]
    assert written(monkeypatch, lambda x, row: lab.exp(x[:, 1:]) * 2.0 + x[:, 1:], WIDE, 21) == [False]


def test_one_op_on_short_rows_of_a_larger_array_is_a_loop() -> None:
    for columns, loops in ((2, 1), (6, 1), (8, 0)):
        x = lab.constant(DRAW.normal(size=(WIDE, 3, columns)).astype("float32"))
        made = lab.function(lambda x: x[:, 2] - x[:, 0])
        assert made.compile(x)
        assert len(made.kernels) == loops, columns
        agree(made(x), x[:, 2] - x[:, 0], 0)


@pytest.mark.parametrize("columns", [2, 3, 4, 9])
def test_a_sequence_writes_out_short_rows_that_lie_in_larger_ones(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def step(x: Any, at: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            corners = lab.gather(x, at)
            sides = lab.stack([corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]], axis=-1)
            lengths = lab.reduce_sum((corners[:, ::2] - corners[:, 1:2]) ** 2, axis=-1)
            loss = lab.reduce_sum(sides**2) + lab.reduce_sum(lab.sqrt(lengths + 1.0))
        return sides, tape.gradient(loss, x)

    found: list[bool] = []

    def spied(*given: Any) -> Any:
        writer = narrow.narrowed(*given)
        found.append(writer is not None and bool(writer.strided))
        return writer

    monkeypatch.setattr("autodiff_lab.compile.sequences.tasks.narrowed", spied)
    x, at = drawn("float32", 30, columns), lab.constant(DRAW.integers(0, 30, (50, 3)))
    made: Any = lab.function(step)
    assert made.compile(x, at)
    for _ in range(2):
        agree(made(x, at), step(x, at), 2e-4)
    assert made.fallbacks == 0
    assert any(found) is (columns < 9)


def written(monkeypatch: pytest.MonkeyPatch, function: Any, rows: int, columns: int) -> list[bool]:
    """Compile a function, and say which of its loops are written out."""
    found: list[bool] = []

    def spied(*given: Any) -> Any:
        writer = narrow.narrowed(*given)
        found.append(writer is not None)
        return writer

    monkeypatch.setattr("autodiff_lab.compile.loops.kernels.narrowed", spied)
    made = lab.function(function)
    made.compile(drawn("float32", rows, columns), drawn("float32", columns))
    assert "for i in range(" in made.source
    return found


def one_pass(x: Any, row: Any) -> Any:
    return lab.reduce_sum(lab.exp(x * row), axis=-1)


def three_passes(x: Any, row: Any) -> Any:
    return lab.nn.softmax(x * row) * row


def long(x: Any, row: Any) -> Any:
    for _ in range(narrow.MOST_FUNCTIONS // 3 + 1):
        x = lab.tanh(x * row)
    return x


def test_columns_are_written_out_where_that_is_quicker_and_shown_as_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    many = WIDE  # too large for a loop over arrays, or steps of a sequence
    for columns, once, again in ((3, True, True), (8, True, True), (16, False, True), (20, True, True),
                                 (24, False, False), (33, False, False)):  # fmt: skip
        assert written(monkeypatch, one_pass, many, columns) == [once], columns
        assert written(monkeypatch, three_passes, many, columns) == [again], columns
    assert written(monkeypatch, long, many, 3) == [False]
