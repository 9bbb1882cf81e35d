"""Parts of matrices with a few columns, which are passed over column by column: results and bits are NumPy's."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.base import columns

RNG = np.random.default_rng(3)
PARTS: dict[str, Callable[[Any], Any]] = {
    "the last columns": lambda x: x[:, 1:], "the first ones": lambda x: x[:, :2], "every second": lambda x: x[:, ::2],
    "some rows": lambda x: x[3:], "of stacks": lambda x: x.reshape(100, -1, x.shape[1])[..., 1:3],
    "turned": lambda x: x.T.copy().T[:, 1:], "backwards": lambda x: x[:, ::-1][:, 1:], "all": lambda x: x,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("part", PARTS)
def test_passes_over_columns_have_the_bits_of_numpy(part: str, dtype: str) -> None:
    x, y = ((RNG.normal(size=(4000, 5)) * 9).astype(dtype) for _ in range(2))
    a, b = PARTS[part](x), PARTS[part](y)
    for function in columns.UFUNCS:
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(columns.by_columns(function, a, b), function(a, b))
            np.testing.assert_array_equal(columns.by_columns(function, a, b.copy()), function(a, b))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize(
    "part", [slice(1, None), slice(None, 2), slice(None, None, 2), slice(3, None, -1), slice(None)]
)
def test_parts_are_written_and_added_to_as_by_numpy(part: slice, dtype: str) -> None:
    x, y = ((RNG.normal(size=(4000, 5)) * 9).astype(dtype) for _ in range(2))
    g = y[:, part]
    for given in (g, g.copy(), np.broadcast_to(g[:1], g.shape), g[:1], 3):
        for fill in (columns.write_part, columns.add_to_part):
            whole, expected = x.copy(), x.copy()
            fill(whole[:, part], given)
            expected[:, part] = given if fill is columns.write_part else x[:, part] + given
            np.testing.assert_array_equal(whole, expected)


@pytest.mark.parametrize("shape", [(3000, 4), (3, 1000, 4), (500, 4), (2000, 5)])
def test_gradients_of_boxes(shape: tuple[int, ...]) -> None:
    """Corners taken apart, compared and joined again."""

    def run(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            low, high = x[..., :2], x[..., 2:4]
            size = high - low
            both = lab.concat([(low + high) * 0.5, size, size * size], axis=-1)
            value = lab.reduce_sum(both[..., 1:4] * both[..., 2:5]) + lab.reduce_sum(x[..., ::2] ** 2.0)
        return both, tape.gradient(value, x)

    x = RNG.normal(size=shape)
    low, high = x[..., :2], x[..., 2:4]
    size = high - low
    both, gradient = run(lab.constant(x))
    wanted = np.concatenate([(low + high) * 0.5, size, size * size], axis=-1)
    np.testing.assert_array_equal(both, wanted)
    slopes = np.zeros_like(wanted)
    slopes[..., 1:4] += wanted[..., 2:5]
    slopes[..., 2:5] += wanted[..., 1:4]
    of_size = slopes[..., 2:4] + 2 * size * slopes[..., 4:6]
    expected = np.zeros_like(x)
    expected[..., :2] = 0.5 * slopes[..., :2] - of_size
    expected[..., 2:4] = 0.5 * slopes[..., :2] + of_size
    expected[..., ::2] += 2 * x[..., ::2]
    np.testing.assert_allclose(gradient, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shapes", [
    [(2000, 3)] * 3, [(20, 100, 2)] * 2, [(2000, 3), (2000, 1)], [(2000, 7)] * 2, [(50, 3)] * 2,
])  # fmt: skip
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_joined_columns_are_those_of_numpy(shapes: Any, dtype: str) -> None:
    parts = [(RNG.normal(size=shape) * 5).astype(dtype) for shape in shapes]
    found = lab.concat([lab.constant(part) for part in parts], axis=-1)
    np.testing.assert_array_equal(found, np.concatenate(parts, axis=-1))
