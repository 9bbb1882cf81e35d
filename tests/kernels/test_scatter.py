"""Kernels that sum by position, or choose, against their references: layouts, axes, stacks, repeated positions."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.base.choose import use_kernels
from tests.kernels.agreement import DTYPES, agree, declined, layouts
from tests.ops.samples import samples
from tests.ops.test_derivatives import first_order

pytest.importorskip("numba", reason="overrides need Numba")
lab.math.segment_sum([0.0], [0])  # the families of these kernels load
AXES = [
    ((7,), (7,), -1, 4), ((5, 3), (5,), -2, 4), ((3, 5), (5,), -1, 9), ((2, 6, 3), (6,), -2, 2),
    ((4, 2, 3, 5), (2, 3), -2, 6), ((3,), (), -2, 4), ((), (), -1, 1), ((0, 3), (0,), -2, 2), ((5, 0), (5,), -2, 3),
    ((1, 64), (1,), -2, 1), ((2000, 33), (2000,), -2, 50),
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "at", "axis", "length"), AXES)
def test_scatter_axis_over_shapes(shape: Any, at: Any, axis: int, length: int, dtype: str) -> None:
    rng = np.random.default_rng(1)
    g = np.asarray(rng.normal(size=shape)).astype(dtype)
    for kind in (np.int64, np.int32, np.uint8):
        positions = np.asarray(rng.integers(0, length, at)).astype(kind)
        agree("scatter_axis", g, positions, axis=axis, length=length, tolerance=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_scatter_nd_over_shapes(dtype: str) -> None:
    rng = np.random.default_rng(2)
    for shape, at, stack in (
        ((4,), (6, 1), ()), ((3, 5), (7, 2), ()), ((3, 5), (7, 1), ()), ((3, 5), (2, 3, 1), (2,)), ((3, 5), (0, 2), ()),
        ((3, 4, 5), (9, 2), (2, 2)), ((3, 5), (2,), ()), ((0, 3), (0, 1), ()),
    ):  # fmt: skip
        indices = np.stack([rng.integers(0, max(n, 1), at[:-1]) for n in shape[: at[-1]]] or [np.zeros(at)], -1)
        indices = indices.astype(np.int64).reshape(at)
        g = np.asarray(rng.normal(size=(*stack, *at[:-1], *shape[at[-1] :]))).astype(dtype)
        agree("scatter_nd", g, indices, shape=shape, tolerance=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0,), (1,), (50,), (50, 3), (2000, 40), (6, 2, 2), (5, 0)])
def test_sums_of_segments_over_shapes(shape: tuple[int, ...], dtype: str) -> None:
    rng = np.random.default_rng(3)
    x, ids = rng.normal(size=shape).astype(dtype), rng.integers(0, 9, shape[0])
    agree("segment_sum", x, ids, count=9, tolerance=1e-5)
    agree("segment_sum", x, np.sort(ids), count=12, tolerance=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0,), (1,), (50,), (50, 3), (2000, 40), (6, 2, 2), (5, 0)])
@pytest.mark.parametrize("name", ["segment_max", "segment_min"])
def test_extremes_of_segments_over_shapes(name: str, shape: tuple[int, ...], dtype: str) -> None:
    rng = np.random.default_rng(3)
    x, ids = rng.normal(size=shape).astype(dtype), rng.integers(0, 9, shape[0])
    agree(name, x, ids, count=12, empty=-7.5)
    x.flat[::7] = np.nan
    x.flat[3::7] = -np.inf
    agree(name, x, ids, count=9, empty=0.0)


def test_layouts_agree_with_the_reference() -> None:
    g, positions = np.random.default_rng(4).normal(size=(6, 5)).astype("f"), np.array([1, 0, 1, 1, 3, 0])
    for (_, rows), (_, at) in zip(layouts(g), layouts(positions), strict=True):
        agree("scatter_axis", rows, at, axis=-2, length=4)
        agree("segment_sum", rows, at, count=4)
        agree("segment_min", rows, at, count=5, empty=0.0)
        agree("scatter_nd", rows, at[:, None], shape=(4, 5))


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf, 1e-40])
def test_nan_and_infinities_stay_where_they_are(special: float) -> None:
    g = np.ones((4, 2), "f")
    g[1] = special
    agree("scatter_axis", g, np.array([0, 2, 2, 1]), axis=-2, length=3)
    agree("scatter_axis", np.full((3, 2), np.inf, "f") * [[1], [-1], [1]], np.array([0, 0, 1]), axis=-2, length=3)


def test_positions_outside_are_left_to_the_reference() -> None:
    g = np.ones((2, 3), "f")
    for bad in ([0, 5], [-1, 0]):
        assert declined("scatter_axis", g, np.array(bad), axis=-2, length=5)
        assert declined("segment_sum", g, np.array(bad), count=5)
        assert declined("scatter_nd", g, np.array(bad)[:, None], shape=(5, 3))
        with use_kernels("numba"), pytest.raises(lab.errors.InvalidArgumentError, match=r"axis 0 is not in \[0, 5\)"):
            lab.scatter_nd(np.array(bad)[:, None], g, [5, 3])


@pytest.mark.parametrize("name", ["gather", "gather_nd", "scatter_axis", "scatter_nd", "segment_sum", "segment_max"])
def test_rules_pass_their_checks_on_the_overrides(name: str) -> None:
    with use_kernels("numba"):
        assert [sentence for sample in samples(name) for sentence in first_order(sample)] == []


def test_columns_are_shared_among_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTODIFF_LAB_THREADS", "3")
    rng = np.random.default_rng(5)
    g, positions = rng.normal(size=(40_000, 101)).astype("f"), rng.integers(0, 40_000, 40_000)
    agree("scatter_axis", g, positions, axis=-2, length=40_000, tolerance=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_choices_by_a_condition_agree_for_arrays_numbers_and_masks_of_some_axes(dtype: str) -> None:
    rng = np.random.default_rng(6)
    x, y = (rng.normal(size=(3, 4, 50)).astype(dtype) for _ in range(2))
    x[0, 0, :3], y[0, 0, :3] = [np.nan, -0.0, np.inf], [1.0, 0.0, np.nan]
    number = x.dtype.type(-1e9)
    for shape in ((3, 4, 50), (4, 50), (50,), (3, 1, 50), (4, 1), (1,), (1, 4, 50)):
        condition = rng.random(shape) > 0.5
        turned = x.transpose(1, 0, 2).copy().transpose(1, 0, 2)
        for one, other in ((x, y), (x, number), (number, y), (turned, y[::-1])):
            agree("choose_elements", one, other, condition)
    agree("choose_elements", x[:0], y[:0], x[:0] > 0)
    for one, other, condition in (
        (x, y[:, :, :1], x > 0), (x, y, x[None] > 0), (number, number, x > 0), (x, y, np.array(True)),
        (x[0, 0], y[0, 0], x > 0),
    ):  # fmt: skip
        assert declined("choose_elements", one, other, condition)
