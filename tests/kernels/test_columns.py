"""Arithmetic, sums and rolls over short axes, which take another way than NumPy: their bits are NumPy's."""

from __future__ import annotations

import itertools
import math
import operator
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine import sweep
from autodiff_lab.engine.chains import FASTER
from autodiff_lab.kernels.base import columns, rows
from autodiff_lab.kernels.base.choose import use_kernels
from autodiff_lab.ops.math.arithmetic import multiply
from tests.kernels.test_bad_input import needs_numba

PAIRS = [
    ((90, 40, 3), (90, 40, 1)), ((1, 90, 3), (90, 1, 3)), ((4000, 3), (3,)), ((4000, 1), (4000, 7)),
    ((90, 40, 3), (40, 3)), ((90, 40, 3), (1, 1, 1)), ((90, 40, 9), (90, 40, 1)), ((3,), (3,)),
    ((4, 16, 16, 8, 4), (4, 1, 1, 8, 1)), ((600, 5, 5), (600, 1, 1)), ((600, 5, 5), (1, 1, 5)),
    ((9, 50, 5, 5), (1, 1, 5, 1)),
]  # fmt: skip


@pytest.mark.parametrize("function", [*columns.UFUNCS, np.maximum, np.logaddexp])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64"])
def test_columns_are_those_of_numpy(function: Any, dtype: str) -> None:
    rng = np.random.default_rng(0)
    for first, second in PAIRS:
        x, y = (rng.normal(size=shape).astype(dtype) for shape in (first, second))
        if function is np.logaddexp and dtype == "complex64":
            continue
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(columns.by_columns(function, x, y), function(x, y))
            np.testing.assert_array_equal(columns.by_columns(function, y, x), function(y, x))


@pytest.mark.parametrize(("x", "y", "wanted"), [
    ((4, 16, 16, 8, 4), (4, 1, 1, 8, 1), ((4, 16, 16, 8, 4), (4, 1, 1, 8, 4))),
    ((1, 1, 8, 1), (90, 40, 8, 2), ((1, 1, 8, 2), (90, 40, 8, 2))),
    ((90, 40, 2, 2), (90, 1, 2, 1), None), ((90, 40, 3), (90, 40, 1), None), ((90, 40, 8, 2), (40, 8, 1), None),
    ((9, 4, 8, 2), (1, 1, 8, 1), None), ((90, 40, 8, 2), (90, 40, 8, 1), None), ((90, 1, 8, 2), (1, 40, 8, 1), None),
])  # fmt: skip
def test_a_small_operand_is_spread_where_that_makes_rows_longer(x: Any, y: Any, wanted: Any) -> None:
    assert columns._spread_out(x, y) == wanted


SPREAD = [
    ((100, 60), (60,), "ar"), ((300, 1), (20,), "cr"), ((100, 60), (100, 1), "ac"), ((10, 20, 30), (20, 30), "ar"),
    ((10, 20, 30), (10, 1, 1), "ac"), ((10, 20, 1), (30,), "cr"), ((7, 3, 1000), (1, 1000), "ar"),
    ((5, 1, 40, 30), (40, 30), "ar"), ((600, 9), (9,), "ar"), ((3, 5000), (5000,), "ar"), ((70000, 10), (10,), "ar"),
    ((10, 20, 30), (1, 20, 1), ""), ((10, 20, 30), (10, 1, 30), ""), ((600, 7), (7,), ""), ((5, 1, 1), (1, 6, 9), "cr"),
    ((1, 5000), (5000,), ""), ((40, 50), (40, 50), ""), ((5, 5), (4,), ""), ((0, 20), (20,), ""), ((), (20,), ""),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second", "kinds"), SPREAD)
def test_shapes_are_told_apart_by_how_they_broadcast(
    first: tuple[int, ...], second: tuple[int, ...], kinds: str
) -> None:
    for x, y, wanted in ((first, second, kinds), (second, first, kinds[::-1])):
        found = rows.spread_of(x, y)
        assert (found.kinds if found else "") == wanted
        if found is not None:
            assert found.shape == np.broadcast_shapes(x, y)
            assert found.rows * found.columns == math.prod(found.shape)


@pytest.mark.slow(keep=2)
@needs_numba
@pytest.mark.parametrize("function", list(rows.ROWS))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_loops_over_rows_give_the_bits_of_numpy(function: Any, dtype: str) -> None:
    rng = np.random.default_rng(0)
    for first, second, kinds in SPREAD:
        if not kinds:
            continue
        x, y = (rng.normal(size=shape).astype(dtype) for shape in (first, second))
        x.flat[1], y.flat[0] = np.nan, 0.0
        for one, other in ((x, y), (y, x), (x[::-1], y)):
            with np.errstate(all="ignore"), use_kernels("numba"):
                wanted = function(one, other)
                found = columns.by_columns(function, one, other)
            assert (found.shape, found.dtype, found.tobytes()) == (wanted.shape, wanted.dtype, wanted.tobytes())
    if dtype == "float32":
        assert {"far", "fra", "fac", "fca", "fcr", "frc"} <= set(rows.ROWS[function].loops)


@needs_numba
def test_ops_and_rules_take_the_loops() -> None:
    x, row, column = (lab.constant(np.full(shape, 2.0, np.float32)) for shape in ((90, 60), (60,), (90, 1)))
    found: list[list[Any]] = []
    for mode in ("numpy", "numba"):
        with use_kernels(mode), lab.GradientTape() as tape:
            tape.watch([x, row, column])
            value = lab.reduce_sum((x * row - column) / (column + row))
        found.append([value.numpy(), *(g.numpy() for g in tape.gradient(value, [x, row, column]))])
    for plain, looped in zip(*found, strict=True):
        np.testing.assert_allclose(plain, looped, rtol=1e-6)


def test_arrays_of_rank_0_are_left_to_numpy() -> None:
    number, many = np.array(2.0, "f"), np.ones(9000, "f")
    for one, other in ((number, many), (many, number), (number, number)):
        np.testing.assert_array_equal(columns.by_columns(operator.mul, one, other), one * other)
        np.testing.assert_array_equal(columns.product(one, other), one * other)


def test_a_product_of_spread_cotangents_is_that_of_numpy() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(90, 40, 3)).astype("f")
    for g in (np.broadcast_to(rng.normal(size=(90, 1, 3)).astype("f"), x.shape), x.transpose(1, 0, 2), x[:, :1]):
        if g.shape != (40, 90, 3):
            np.testing.assert_array_equal(columns.product(g, x), g * x)
    np.testing.assert_array_equal(columns.product(np.float32(2), x), 2 * x)
    assert all(rule in FASTER for rule in multiply.op.rules)  # type: ignore[attr-defined]
    assert sweep.FEW <= columns.MANY


SUMMED = [
    (64, 3),
    (64, 3, 3),
    (2, 16, 32),
    (7,),
    (1, 5),
    (5, 1),
    (3, 1, 4),
    (2, 3, 4, 5),
    (600,),
    (600, 2),
    (2, 600),
    (),
    (256, 64),
    (997, 33),
    (1000, 60),
    (8, 40, 128),
    (600, 6, 6),
    (3, 90, 90),
    (131072,),
    (6, 5000),
    (2, 128, 77),
    (160, 250, 3),
    (17, 1009),
    (3, 784, 32),
    (2, 90, 5, 101),
]


def test_sums_by_a_product_are_those_of_numpy() -> None:
    rng, taken = np.random.default_rng(3), 0
    for shape, dtype in itertools.product(SUMMED, ("float32", "float64")):
        x = rng.normal(size=shape).astype(dtype)
        for count, keepdims in itertools.product(range(len(shape) + 1), (False, True)):
            for axes in itertools.combinations(range(-len(shape), 0), count):
                with lab.use_kernels("auto"):
                    found = columns.sum_by_product(x, axes, keepdims)
                if found is not None:
                    wanted = np.add.reduce(x.astype("d"), axis=axes, keepdims=keepdims)
                    assert found.shape == wanted.shape
                    assert found.dtype == dtype
                    error = 1e-6 if dtype == "float32" else 1e-14
                    np.testing.assert_allclose(found, wanted, atol=error * np.abs(x).sum() ** 0.5 + error)
                    taken += 1
    assert taken > 100


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "float16"])
@pytest.mark.parametrize("shape", [(4, 16, 16, 8, 4), (100, 30, 50), (3, 1, 700, 2), (7, 0, 3), (2, 3, 4, 5, 6)])
def test_axes_apart_are_added_up_one_group_after_the_other(shape: tuple[int, ...], dtype: str) -> None:
    x = (np.random.default_rng(5).normal(size=shape) * 4).astype(dtype)
    for count, keepdims in itertools.product(range(2, len(shape) + 1), (False, True)):
        for axes in itertools.combinations(range(-len(shape), 0), count):
            with lab.use_kernels("auto"):
                found = columns.sum_over_axes(x, axes, keepdims)
            wanted = np.add.reduce(x.astype("d"), axis=axes, keepdims=keepdims)
            assert (found.shape, found.dtype) == (wanted.shape, np.dtype(dtype))
            error = {"float32": 1e-6, "float64": 1e-14, "float16": 0.02}.get(dtype, 0)
            np.testing.assert_allclose(found, wanted, atol=error * (np.abs(x.astype("d")).sum() ** 0.5 + 1), rtol=error)


def test_a_product_sums_nothing_that_it_would_change() -> None:
    """Gaps, integers, long rows that cannot be cut, and whatever must not depend on the machine."""
    x = np.ones((64, 3), np.float32)
    with lab.use_kernels("auto"):
        assert columns.sum_by_product(x, (-2,), False) is not None
        assert columns.sum_by_product(x.T, (-1,), False) is None
        assert columns.sum_by_product(np.ones((120000, 9), "f"), (-1,), False) is None
        np.testing.assert_array_equal(columns.sum_by_product(np.ones((3, 9000), "f").T, (-1,), False), 3)
        assert columns.sum_by_product(x.astype(int), (-2,), False) is None
        assert columns.sum_by_product(np.ones((2, 600), "f"), (-1,), False) is None
        assert columns.sum_by_product(np.ones((2, 10007), "f"), (-1,), False) is None
        assert columns.sum_by_product(np.ones((2, 1 << 20), "f"), (-1,), False) is None
        assert columns.sum_by_product(np.ones((64, 9), "f"), (-2, -1), False) is None
    with lab.use_kernels("numpy"):
        assert columns.sum_by_product(x, (-2,), False) is None


def test_infinities_and_nans_are_added_up_as_such() -> None:
    x = np.zeros((8, 4), np.float32)
    x[2, 0], x[3, 1], x[4, 2], x[5, 2] = np.inf, np.nan, np.inf, -np.inf
    with lab.use_kernels("auto"), np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(columns.sum_by_product(x, (-2,), False), [np.inf, np.nan, np.nan, 0])


@pytest.mark.parametrize("axis", [0, 1, 2, [0, 1], [1, 2]])
def test_sums_of_few_are_differentiated_twice(axis: Any) -> None:
    x = lab.constant(np.random.default_rng(4).normal(size=(6, 5, 3)))
    with lab.use_kernels("auto"), lab.GradientTape() as outer:
        outer.watch(x)
        with lab.GradientTape() as inner:
            inner.watch(x)
            y = lab.reduce_sum(lab.reduce_sum(x, axis=axis) ** 2)
        first = inner.gradient(y, x)
        z = lab.reduce_sum(first**2)
    total = np.sum(x.numpy(), axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=True)
    count = x.numpy().size // total.size
    np.testing.assert_allclose(first.numpy(), np.broadcast_to(2 * total, (6, 5, 3)))
    np.testing.assert_allclose(outer.gradient(z, x).numpy(), np.broadcast_to(8 * count * total, (6, 5, 3)))


def test_shapes_that_do_not_broadcast_are_named() -> None:
    with pytest.raises(lab.errors.ShapeMismatch, match="add"):
        _ = lab.constant(np.ones((4000, 3), "f")) + lab.constant(np.ones((5, 3), "f"))
    with pytest.raises(ValueError, match="broadcast"):
        columns.by_columns(operator.add, np.ones((4000, 3), "f"), np.ones((5, 3), "f"))


def test_gradients_of_points_are_those_of_small_steps() -> None:
    """Forces between bodies: large enough that every product goes by columns."""
    rng = np.random.default_rng(2)
    position = rng.normal(size=(64, 3))
    weight = rng.normal(size=(64, 64))

    def value(position: Any) -> Any:
        apart = position[None] - position[:, None]
        return lab.reduce_sum(lab.reduce_sum(lab.constant(weight)[:, :, None] * apart * apart, axis=1) ** 2)

    x = lab.constant(position)
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = value(x)
    found = tape.gradient(y, x).numpy()
    step = 1e-6
    for index in ((0, 0), (5, 2), (63, 1)):
        moved = position.copy()
        moved[index] += step
        above = float(value(lab.constant(moved)))
        moved[index] -= 2 * step
        below = float(value(lab.constant(moved)))
        np.testing.assert_allclose(found[index], (above - below) / (2 * step), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("width", [2, 3, 7, 8])
def test_sums_over_short_rows_have_the_bits_of_numpy(width: int, dtype: str) -> None:
    x = np.random.default_rng(3).normal(size=(30, 20, width)).astype(dtype)
    with lab.use_kernels("numpy"):
        for keepdims in (False, True):
            ours = lab.reduce_sum(lab.constant(x), axis=-1, keepdims=keepdims).numpy()
            np.testing.assert_array_equal(ours, np.add.reduce(x, axis=-1, keepdims=keepdims))


def test_rolls_are_those_of_numpy() -> None:
    many = np.arange(4200).reshape(700, 3, 2)  # rows so short and so many that columns are copied
    x = np.arange(60).reshape(3, 4, 5)
    for y in (x, many, many.swapaxes(1, 2)):
        for axis in (-3, -2, -1, 0, 1, 2):
            for by in (0, 1, -1, 3, 7, -13):
                np.testing.assert_array_equal(lab.roll(lab.constant(y), by, axis).numpy(), np.roll(y, by, axis))
    np.testing.assert_array_equal(lab.roll(lab.constant(x), (1, 2), (0, 2)).numpy(), np.roll(x, (1, 2), (0, 2)))
    assert lab.roll(lab.zeros((0, 3)), 1, 0).shape == (0, 3)


def test_brackets_with_new_axes_are_those_of_numpy() -> None:
    x = np.arange(24).reshape(2, 3, 4)
    t = lab.constant(x)
    for index in (
        (None,), (slice(None), None), (0, None, slice(1, 3)), (None, 1, None, 2, None, 3, None),
        (slice(None), slice(None), slice(None), None), (None, Ellipsis, None), (slice(None, None, 2), None, 1),
    ):  # fmt: skip
        np.testing.assert_array_equal(t[index].numpy(), x[index])
    with pytest.raises(lab.errors.InvalidArgumentError):
        t[0, 0, 0, 0]
    with pytest.raises(lab.errors.InvalidArgumentError):
        t[None, 2]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", "bool", "complex64"])
@pytest.mark.parametrize("shape", [(2000, 2), (600, 3), (40, 30, 16), (600, 17), (100, 5), (0, 3), (700, 1)])
def test_reductions_of_short_rows_have_the_bits_and_dtypes_of_numpy(shape: tuple[int, ...], dtype: str) -> None:
    x = np.random.default_rng(0).normal(size=shape) * 3
    x = x.astype(dtype) if dtype != "bool" else x > 0
    for ufunc, made in ((np.multiply, x.dtype), (np.logical_or, None), (np.logical_and, None)):
        for axes in ((-1,), (-2,), tuple(range(-x.ndim, 0))):
            for keepdims in (False, True):
                with np.errstate(all="ignore"):
                    found = columns.fold(ufunc, x, axes, keepdims, made)
                    wanted = ufunc.reduce(x, axis=axes, keepdims=keepdims, dtype=made)
                assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
                np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(700, 6, 24, 2), (3, 40_000, 1, 3), (900, 96, 7), (2, 3, 50, 40, 5)])
def test_long_columns_of_short_rows_are_added_up_one_by_one(shape: tuple[int, ...], dtype: str) -> None:
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    for axes in ((-2,), (-3, -2)):
        for keepdims in (False, True):
            found = columns.sum_over_axes(x, axes, keepdims)
            wanted = np.add.reduce(x.astype(np.float64), axis=axes, keepdims=keepdims)
            assert (found.shape, found.dtype) == (wanted.shape, np.dtype(dtype))
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-3 if dtype == "float32" else 1e-11)
