"""Kernels that find the largest elements of rows, or search in sorted rows, against their references."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.ordering.reference import FEW, argsort_along, top_positions
from autodiff_lab.ops.array import selection
from tests.kernels.agreement import DTYPES, agree, declined, layouts

pytest.importorskip("numba", reason="overrides need Numba")
assert selection.search  # whose module chooses between the kernels
SHAPES = [((1,), 1), ((7,), 7), ((2, 3, 9), 2), ((40, 300), 10), ((3, 5000), 1), ((2, 5000), 64), ((0, 5), 2)]


def _rows(shape: tuple[int, ...], dtype: str, kind: str) -> Any:
    rng = np.random.default_rng(7)
    rows = rng.normal(size=shape) * 10
    if kind == "ties":
        rows = np.round(rows / 8)
    elif kind == "masked":
        rows = np.where(rng.random(shape) < 0.999, -np.inf, rows)
    elif kind == "ascending":
        rows = np.sort(rows)
    elif kind == "one nan":
        rows.reshape(-1)[: rows.size and 1] = np.nan
    with np.errstate(invalid="ignore"):
        return rows.astype(dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("kind", ["plain", "ties", "masked", "ascending", "one nan"])
def test_a_partition_finds_what_the_whole_order_begins_with(kind: str, dtype: str) -> None:
    for shape, k in (*SHAPES, ((FEW,), 0), ((2, FEW), FEW), ((2, 3, FEW), 100)):
        x = _rows(shape, dtype, kind)
        np.testing.assert_array_equal(top_positions(x, k), argsort_along(x, -1, True)[..., :k], strict=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["plain", "ties", "masked", "ascending"])
def test_one_pass_keeps_the_largest_in_order(kind: str, dtype: str) -> None:
    for shape, k in SHAPES:
        agree("top_positions", _rows(shape, dtype, kind), k=k)
    for _, array in layouts(_rows((4, 50), dtype, kind)):
        agree("top_positions", array, k=3)


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_pass_declines_nan_and_what_a_partition_finds_sooner(dtype: str) -> None:
    assert declined("top_positions", _rows((4, 50), dtype, "one nan"), k=3)
    assert declined("top_positions", _rows((500,), dtype, "plain"), k=65)
    assert declined("top_positions", _rows((5,), dtype, "plain"), k=0)


def test_top_k_of_long_rows_has_its_gradient_at_the_first_of_equal_elements() -> None:
    x = lab.Variable(np.tile(np.arange(5000, dtype="f") // 2, (2, 1)))
    with lab.GradientTape() as tape:
        best = lab.math.top_k(x, 3)
        y = lab.reduce_sum(best.values * [[1.0, 2.0, 3.0]])
    assert best.indices.numpy().tolist() == [[4998, 4999, 4996]] * 2
    gradient = tape.gradient(y, x).numpy()
    assert gradient[:, 4996:].tolist() == [[3.0, 0.0, 1.0, 2.0]] * 2
    assert not gradient[:, :4996].any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("side", ["left", "right"])
def test_search_in_rows_agrees_on_equal_elements_and_on_nan(side: str, dtype: str) -> None:
    rng = np.random.default_rng(5)
    for length, count in ((0, 3), (1, 5), (2, 0), (7, 40), (8, 513), (1000, 1200)):
        row, values = np.sort(rng.normal(size=length)).astype(dtype), rng.normal(size=count).astype(dtype)
        if length and count:
            values[::3] = rng.choice(row, values[::3].size)
            values[:4] = [np.nan, np.inf, -np.inf, -0.0][:count]
        agree("search_rows", row, values, side=side)
        row[length // 2 :] = np.nan
        agree("search_rows", row, values, side=side)
        agree("search_rows", row.astype(dtype)[::1], np.repeat(values, 2)[::2], side=side)
    for lead, length, count in (((2, 3), 9, 4), ((500,), 11, 1), ((40,), 17, 3), ((3,), 16, 17), ((4,), 700, 2),
                                ((5, 0), 3, 2), ((5,), 0, 2), ((5,), 3, 0)):  # fmt: skip
        rows = np.sort(rng.normal(size=(*lead, length)).astype(dtype))
        many = rng.normal(size=(*lead, count)).astype(dtype)
        if length:
            many[..., :2] = rows[..., length // 2, None]
            rows[..., length - length // 3 :] = np.nan
        agree("search_rows", rows, many, side=side)
