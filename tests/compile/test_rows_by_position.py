"""Large loops pick rows of tables where they read them, and add rows up where they belong."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.compile.agreement import agree, compiled

pytest.importorskip("numba", reason="fused loops need Numba")

DRAW = np.random.default_rng(0)
ROWS, WIDTH, USERS, ITEMS = 2_200, 32, 70, 50
TOLERANCE = {"float32": 2e-4, "float64": 1e-9}


def normal(*shape: int, dtype: str = "float32") -> Any:
    return lab.constant(DRAW.standard_normal(shape).astype(dtype))


def positions(count: int, *shape: int, dtype: str = "int64") -> Any:
    return lab.constant(DRAW.integers(0, count, shape).astype(dtype))


def slope(loss: Any, *leaves: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(leaves)
        value = loss(*leaves)
    return value, *map(lab.convert_to_tensor, tape.gradient(value, leaves))


@pytest.mark.parametrize("numbers", ["int32", "int64"])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_ratings_store_no_rows(dtype: str, numbers: str) -> None:
    user, item = positions(USERS, ROWS, dtype=numbers), positions(ITEMS, ROWS, dtype=numbers)
    rating = normal(ROWS, dtype=dtype)

    def run(p: Any, q: Any, bias: Any) -> Any:
        def loss(p: Any, q: Any, bias: Any) -> Any:
            guess = lab.reduce_sum(lab.gather(p, user) * lab.gather(q, item), axis=1) + lab.gather(bias, user)
            return lab.reduce_mean((guess - rating) ** 2) + 0.1 * lab.reduce_sum(p**2)

        return slope(loss, p, q, bias)

    leaves = normal(USERS, WIDTH, dtype=dtype), normal(ITEMS, WIDTH, dtype=dtype), normal(USERS, dtype=dtype)
    made = compiled(run, *leaves, tolerance=TOLERANCE[dtype])
    assert made.source.count("_at[r] * columns :") == 4  # two tables are read, and two gradients are added up


@pytest.mark.parametrize("flat", [False, True])
def test_rows_of_several_axes_are_moved(flat: bool) -> None:
    at, to = positions(USERS, 40, 60), positions(ITEMS, 40, 60)

    def run(x: Any, w: Any) -> Any:
        def loss(x: Any, w: Any) -> Any:
            picked = lab.gather(x, at) * lab.cast(at[..., None, None] + 1, x.dtype)
            value = lab.reduce_sum(picked**3, axis=[2, 3]) if flat else picked**3
            return lab.reduce_sum(value * 0.1) + lab.reduce_sum(lab.gather(w, to) * picked)

        return slope(loss, x, w)

    compiled(run, normal(USERS, 4, 8), normal(ITEMS, 4, 8))


def test_rows_by_coordinates_are_moved() -> None:
    at, to = positions(USERS, ROWS, 1), positions(ITEMS, ROWS, 1)

    def run(x: Any) -> Any:
        def loss(x: Any) -> Any:
            rows = lab.gather_nd(x, at) * 2.0 - 1.0
            return lab.reduce_sum(lab.scatter_nd(to, rows * rows, (ITEMS, WIDTH)) ** 2)

        return slope(loss, x)

    compiled(run, normal(USERS, WIDTH))


@pytest.mark.parametrize("kept", ["rows", "product"])
def test_rows_that_something_else_needs_are_stored(kept: str) -> None:
    at = positions(USERS, ROWS)

    def run(x: Any, y: Any) -> Any:
        rows = lab.gather(x, at)
        product = rows * y + 1.0
        sums = lab.math.unsorted_segment_sum(product, at, USERS) + lab.scatter_nd(at[:, None], product, x.shape)
        return sums, rows if kept == "rows" else product

    compiled(run, normal(USERS, WIDTH), normal(ROWS, WIDTH))


def test_long_rows_are_moved_in_blocks() -> None:
    at, to, width = positions(9, 12), positions(5, 12), 6_000

    def run(x: Any, y: Any) -> Any:
        rows = lab.gather(x, at) * y
        return lab.scatter_nd(to[:, None], rows - 1.0, (5, width)), lab.reduce_sum(rows * rows, axis=1)

    compiled(run, normal(9, width), normal(12, width))


@pytest.mark.parametrize("which", [0, 1])
def test_positions_outside_are_refused_as_by_the_ops(which: int) -> None:
    @lab.function
    def run(x: Any, y: Any, at: Any, to: Any) -> Any:
        return lab.scatter_nd(to[:, None], lab.gather(x, at) * y + y, (ITEMS, WIDTH))

    x, y = normal(USERS, WIDTH), normal(ROWS, WIDTH)
    inside = [positions(USERS, ROWS), positions(ITEMS, ROWS)]
    run(x, y, *inside)
    wrong = inside[which].numpy().copy()
    wrong[7] = (USERS, ITEMS)[which]
    given = [*inside]
    given[which] = lab.constant(wrong)
    with pytest.raises(lab.errors.InvalidArgumentError):
        run(x, y, *given)
    agree(run(x, y, *inside), run.python_function(x, y, *inside), TOLERANCE["float32"])


def test_many_rows_may_be_added_to_one() -> None:
    at = lab.constant(np.full(ROWS, 3))

    def run(x: Any, y: Any) -> Any:
        def loss(x: Any, y: Any) -> Any:
            return lab.reduce_sum(lab.gather(x, at) * y * y)

        return slope(loss, x, y)

    compiled(run, normal(USERS, WIDTH), normal(ROWS, WIDTH))
