"""Segments, coordinates and batches of indices as arguments of a compiled function: checked, and as the eager op."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from tests.compile.test_small_steps import in_one_call, normal
from tests.refusals import refused

RNG = np.random.default_rng(0)
IDS = np.array([2, 0, -1, 2, 3, 0])
SEGMENTS = [
    "unsorted_segment_sum", "unsorted_segment_mean", "unsorted_segment_sqrt_n", "unsorted_segment_max",
    "unsorted_segment_min",
]  # fmt: skip
BATCHES: dict[str, tuple[Callable[[Any, Any], Any], tuple[int, ...], tuple[int, ...], int]] = {
    "one for each row": (lambda x, i: lab.gather(x, i, batch_dims=1), (4, 3), (4,), 3),
    "several for each row": (lambda x, i: lab.gather(x, i, batch_dims=1, axis=1), (4, 3), (4, 2), 3),
    "inner axes": (lambda x, i: lab.gather(x, i, batch_dims=1), (4, 3, 2), (4, 2, 2), 3),
    "axes between": (lambda x, i: lab.gather(x, i, batch_dims=1, axis=2), (2, 3, 4), (2, 2), 4),
    "two batch axes": (lambda x, i: lab.gather(x, i, batch_dims=2, axis=2), (2, 3, 4), (2, 3), 4),
    "coordinates": (lambda x, i: lab.gather_nd(x, i, batch_dims=1), (2, 3, 3), (2, 4, 2), 3),
}


def both(f: Callable[..., Any], *args: Any) -> tuple[Any, Any]:
    """Return values and first and second derivatives of a function, eagerly and compiled as one program."""

    def run(x: Any, *rest: Any) -> Any:
        with lab.GradientTape() as outer:
            outer.watch(x)
            with lab.GradientTape() as inner:
                inner.watch(x)
                y = f(x, *rest)
                loss = lab.reduce_sum(y**3)
            first = inner.gradient(loss, x)
            first = lab.convert_to_tensor(first)
            total = lab.reduce_sum(first * first)
        return y, first, lab.convert_to_tensor(outer.gradient(total, x))

    compiled = lab.function(run)
    found = compiled(*args)
    found = compiled(*args)  # the first call also traced
    assert compiled.fallbacks == 0, compiled.why()
    return run(*args), found


def agree(f: Callable[..., Any], *args: Any) -> None:
    for eager, compiled in zip(*both(f, *args), strict=True):
        assert compiled.dtype == eager.dtype
        np.testing.assert_allclose(compiled.numpy(), eager.numpy(), rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("name", SEGMENTS)
@pytest.mark.parametrize(("ids", "shape"), [
    (IDS, (6,)), (IDS, (6, 2)), (IDS.reshape(2, 3), (2, 3, 2)), (np.zeros(0, int), (0, 2)),
    (IDS.astype("int32"), (6, 2)),
])  # fmt: skip
def test_segments_by_numbers_that_are_arguments(name: str, ids: Any, shape: tuple[int, ...]) -> None:
    op = getattr(lab.math, name)
    agree(lambda x, i: op(x, i, 5), lab.constant(RNG.normal(size=shape)), lab.constant(ids))


@pytest.mark.parametrize("dtype", ["float16", "int32"])
def test_segments_of_other_dtypes(dtype: str) -> None:
    x, ids = lab.constant(np.arange(12).reshape(6, 2).astype(dtype)), lab.constant(IDS)
    for name in ("unsorted_segment_sum", "unsorted_segment_max") if dtype == "int32" else SEGMENTS:
        op = getattr(lab.math, name)
        compiled = lab.function(lambda x, i, op=op: op(x, i, 4))
        compiled(x, ids)
        found = compiled(x, ids)
        assert compiled.fallbacks == 0
        assert found.dtype == x.dtype
        np.testing.assert_array_equal(found.numpy(), op(x, ids, 4).numpy())


@pytest.mark.parametrize("name", BATCHES)
def test_batches_of_indices_that_are_arguments(name: str) -> None:
    f, shape, indices, limit = BATCHES[name]
    agree(f, lab.constant(RNG.normal(size=shape)), lab.constant(RNG.integers(0, limit, indices)))


@pytest.mark.parametrize("bad", [7, -1])
def test_an_index_that_is_out_of_range_is_refused_in_later_calls_too(bad: int) -> None:
    for f, shape, indices, limit in BATCHES.values():
        compiled = lab.function(f)
        x, good = lab.constant(RNG.normal(size=shape)), RNG.integers(0, limit, indices)
        compiled(x, lab.constant(good))
        wrong = good.copy()
        wrong.flat[-1] = bad
        with refused(InvalidArgumentError, "not in"):
            compiled(x, lab.constant(wrong))


def test_a_segment_that_is_not_there_is_refused() -> None:
    compiled = lab.function(lambda x, i: lab.math.unsorted_segment_sum(x, i, 3))
    x = lab.ones((3,))
    compiled(x, lab.constant([0, 1, 2]))
    with refused(InvalidArgumentError, r"segment_ids must be below num_segments=3, got \[0, 1, 3\]"):
        compiled(x, lab.constant([0, 1, 3]))
    with refused(ShapeMismatch, "must begin with that of segment_ids"):
        lab.function(lambda x, i: lab.math.unsorted_segment_sum(x, i, 3))(x, lab.constant([0, 1]))


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize(
    ("shape", "depth"), [((5, 6), 1), ((5, 6), 2), ((5, 6, 2), 2), ((3, 4, 5), 3), ((2, 3, 4, 5), 4)]
)  # fmt: skip
def test_elements_by_coordinates(shape: tuple[int, ...], depth: int, kind: str) -> None:
    def run(x: Any, at: Any, updates: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([x, updates])
            picked, put = lab.gather_nd(x, at), lab.scatter_nd(at, updates, shape)
            loss = lab.reduce_sum(lab.sin(picked)) + lab.reduce_sum(put**2)
        return picked, put, tape.gradient(loss, [x, updates])

    x = lab.constant(RNG.normal(size=shape))
    compiled = lab.function(run)
    for count in (7, 7, 300):  # many are picked in another way where ops run one by one
        at = np.stack([RNG.integers(0, n, count) for n in shape[:depth]], axis=-1).astype(kind)
        updates = lab.constant(RNG.normal(size=(count, *shape[depth:])))
        found, wanted = (lab.nest.flatten(f(x, lab.constant(at), updates)) for f in (compiled, run))
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one.numpy(), other.numpy(), 1e-12)
        np.testing.assert_array_equal(wanted[0].numpy(), x.numpy()[tuple(at.T)])
        for bad in (-1, max(shape[:depth])):
            wrong = at.copy()
            wrong[-1, -1 if shape[depth - 1] == max(shape[:depth]) else 0] = bad
            for f in (compiled, run):
                with refused(InvalidArgumentError, "not in"):
                    f(x, lab.constant(wrong), updates)
    assert compiled.fallbacks <= 6


@pytest.mark.parametrize("bad", [0.0, np.inf, np.nan], ids=["finite", "infinity", "nan"])
@pytest.mark.parametrize("low", [0, -3], ids=["inside", "some outside"])
@pytest.mark.parametrize("ids", [(600,), (20, 30)])
def test_products_with_one_hot_rows_pick_rows_and_add_them_up(bad: float, low: int, ids: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    table, weights = rng.normal(size=(100, 5)), rng.normal(size=(*ids, 5))
    table[7, 3] += bad
    given = [lab.constant(table), lab.constant(rng.integers(low, 100 - low, ids)), lab.constant(weights)]

    def step(table: Any, ids: Any, weights: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(table)
            rows = lab.one_hot(ids, 100, dtype=table.dtype) @ table
            loss = lab.reduce_sum(weights * lab.tanh(rows))
        return rows, tape.gradient(loss, table)

    compiled = lab.function(step)
    for wanted, found in zip(step(*given), [compiled(*given), compiled(*given)][1], strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)
    assert "marked_rows_" in compiled.source, compiled.why()
    assert "marked_sums_" in compiled.source or len(ids) > 1


@pytest.mark.parametrize("how", ["add", "sub", "update"])
@pytest.mark.parametrize(("depth", "lead"), [(1, (2, 2)), (2, (5,)), (2, (2, 3)), (3, (4,))])
def test_changes_by_coordinates_are_part_of_a_sequence(how: str, depth: int, lead: tuple[int, ...]) -> None:
    change = getattr(lab, f"tensor_scatter_nd_{how}")
    shape, draw = (6, 4, 5), np.random.default_rng(0)
    places = draw.permutation(np.prod(shape[:depth]))[: np.prod(lead)]
    if how != "update":
        places[1] = places[0]  # one element twice
    at = np.stack(np.unravel_index(places, shape[:depth]), axis=-1).reshape(*lead, depth)

    def run(x: Any, updates: Any, at: Any) -> Any:
        sources = [updates] if how == "update" else [x, updates]
        with lab.GradientTape() as tape:
            tape.watch(sources)
            y = lab.exp(change(x * 2.0, at, updates * 0.5)) + 1.0
            loss = lab.reduce_sum(y * y)
        return [y, *tape.gradient(loss, sources)]

    x, updates = normal(*shape, dtype="float64"), normal(*lead, *shape[depth:], dtype="float64")
    made = in_one_call(run, x, updates, at)
    with refused(InvalidArgumentError, "6"):
        made(lab.constant(x), lab.constant(updates), lab.constant(at + 6))


@pytest.mark.parametrize("to", ["int32", "int64"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_positions_among_cells_are_part_of_a_sequence(dtype: str, to: str) -> None:
    """Linear interpolation in a table."""

    def run(x: Any, table: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([x, table])
            low = lab.clip_by_value(lab.cast(lab.floor(x), to), 0, 6)
            share = x - lab.cast(low, dtype)
            y = lab.gather(table, low) * (1.0 - share) + lab.gather(table, low + 1) * share
            loss = lab.reduce_sum(y * y)
        return [y, *[lab.convert_to_tensor(g) for g in tape.gradient(loss, [x, table])]]

    in_one_call(run, normal(9, dtype=dtype) * 3 + 3, normal(8, dtype=dtype))


@pytest.mark.parametrize("to", ["int32", "int64"])
def test_numbers_that_no_integer_holds_are_cast_as_numpy_does(to: str) -> None:
    odd = np.tile([0.0, -0.5, 1.9, 2.0**31 - 1, 2.0**31, -(2.0**31) - 1, 1e30, -1e30, np.inf, -np.inf, np.nan], 7)
    compiled = lab.function(lambda x: lab.cast(lab.floor(x * 2.0) + 0.5, to) + 1)
    compiled.compile(lab.constant(odd))
    with np.errstate(all="ignore"):
        wanted = (np.floor(odd * 2) + 0.5).astype(to) + np.dtype(to).type(1)
    np.testing.assert_array_equal(compiled(lab.constant(odd)).numpy(), wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(
    ("lead", "length", "each"), [((), 40, (7,)), ((3,), 9, (4,)), ((), 1, ()), ((2, 2), 70, (30,))]
)
def test_searches_are_part_of_a_sequence(
    lead: tuple[int, ...], length: int, each: tuple[int, ...], side: str, dtype: str
) -> None:
    draw = np.random.default_rng(2)
    rows = np.sort(draw.integers(0, 20, (*lead, length)), axis=-1).astype(dtype)
    rows[..., -1:] = np.nan
    values = draw.integers(-2, 24, (*lead, *each)).astype(dtype)
    values.reshape(-1)[:1] = np.nan

    def run(rows: Any, values: Any) -> Any:
        found = lab.searchsorted(rows, values, side)
        return found, lab.cumsum(lab.cast(lab.reshape(found, [-1]), rows.dtype) * 0.5)

    in_one_call(run, rows, values)


@pytest.mark.parametrize("stack", [(), (2,)])
@pytest.mark.parametrize("width", range(1, 7))
def test_rows_of_every_small_width_are_read_and_added_up(width: int, stack: tuple[int, ...]) -> None:
    rng = np.random.default_rng(width)
    at = lab.constant([3, 0, 3, 4, 1, 3, 0, 2])

    @lab.function
    def run(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            rows = lab.gather(lab.sin(x), at, axis=-2)
            loss = lab.reduce_sum(rows**2 * lab.range(8.0)[:, None])
        return rows, tape.gradient(loss, x)

    x = lab.constant(rng.normal(size=(*stack, 5, width)).astype(np.float32))
    assert run.compile(x), run.why()
    picked, weights = np.sin(x.numpy())[..., at.numpy(), :], np.bincount(at.numpy(), np.arange(8.0))[:, None]
    rows, slope = run(x)
    np.testing.assert_allclose(rows, picked, 1e-6)
    np.testing.assert_allclose(slope, 2 * weights * np.sin(x.numpy()) * np.cos(x.numpy()), 1e-4, 1e-5)
