"""Normalization on a GPU against NumPy's: axes, layouts, scales, nan and infinities, rows of one value."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from tests.simulated.agreement import CudaKernels, agree, both, declined, on_gpu

import_module("autodiff_lab.ops.nn.normalization")  # it registers the kernels of this family

ALL = ("moments", "plain_normalize", "plain_normalize_grad", "normalize", "normalize_grad")
HOW: dict[str, Any] = {"epsilon": 1e-3}
# Rows shorter than a warp, than what a warp keeps, than what a block keeps, and longer; columns narrower than a block,
# not a divisor of it, wider; planes of columns; groups of columns; axes of length 1.
SHAPES = [
    ((7,), (-1,)), ((1, 1), (-1,)), ((5, 1), (-1,)), ((1, 5), (-2,)), ((9, 3), (-1,)), ((3, 33), (-1,)),
    ((2, 600), (-1,)), ((2, 1100), (-1,)), ((2, 3, 4, 5), (-2, -1)), ((40, 10), (-2,)), ((4, 3), (-2,)),
    ((150, 5), (-2,)), ((2, 70), (-2,)), ((130, 66), (-2,)), ((3, 130), (-2,)),
    ((3, 5, 6, 3), (-4, -3, -2)), ((3, 40, 7), (-2,)),
]  # fmt: skip
GROUPS = [((3, 4, 5), (-3, -1)), ((2, 6, 2, 2, 3), (-4, -3, -1)), ((2, 30, 4, 1), (-3, -1)), ((2, 3, 2, 40), (-3, -1))]


def scales(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """One number for each element of a row, or for each group of columns."""
    rank = len(shape)
    gone = [k - rank in axes for k in range(rank)]
    if all(gone[gone.index(True) :]):
        return tuple(n if there else 1 for n, there in zip(shape, gone, strict=True))
    first = gone.index(False, gone.index(True))
    last = gone.index(True, first) if True in gone[first:] else rank
    return tuple(n if first <= k < last else 1 for k, n in enumerate(shape))


def call(name: str, x: np.ndarray, axes: tuple[int, ...]) -> tuple[list[Any], dict[str, Any]]:
    """Arrays and parameters of a call about x."""
    rng = np.random.default_rng(0)
    g = np.asarray(rng.normal(size=x.shape)).astype(x.dtype)
    scale, offset = (rng.normal(size=scales(x.shape, axes)).astype(x.dtype) for _ in range(2))
    arrays = {"plain_normalize_grad": [g, x], "normalize": [x, scale, offset], "normalize_grad": [g, x, scale]}
    return arrays.get(name, [x]), {"axes": axes, **({} if name == "moments" else HOW)}


def check(name: str, x: np.ndarray, axes: tuple[int, ...], **more: Any) -> None:
    """Compare the two kernels on one array; the error of sums grows with their length, and gradients cancel."""
    arrays, params = call(name, x, axes)
    agree(name, *arrays, tolerance=1e-4 if x.dtype == np.float32 else 1e-12, **(params | more))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axis", [-1, -2])
def test_each_kernel_on_rows_and_columns(axis: int, dtype: str) -> None:
    """Named one by one: the report looks here for each method."""
    rng = np.random.default_rng(1)
    x, g = (rng.normal(size=(6, 6)).astype(dtype) for _ in range(2))
    scale, offset = (rng.normal(size=6).astype(dtype) for _ in range(2))
    within = 2e-5 if dtype == "float32" else 2e-13
    agree("moments", x, axes=(axis,), tolerance=within)
    agree("plain_normalize", x, axes=(axis,), tolerance=within, **HOW)
    agree("plain_normalize_grad", g, x, axes=(axis,), tolerance=within, **HOW)
    agree("normalize", x, scale, offset, axes=(axis,), tolerance=within, **HOW)
    agree("normalize_grad", g, x, scale, axes=(axis,), tolerance=within, **HOW)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("name", ALL)
def test_shapes_and_axes(name: str) -> None:
    """Each way in which axes lie, and sizes around those of teams, blocks and batches."""
    rng = np.random.default_rng(2)
    for k, (shape, axes) in enumerate([*SHAPES, *GROUPS]):
        check(name, (rng.normal(size=shape) + 3).astype("fd"[k % 2]), axes)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("shape", "axes"), [((5, 1), (-2,)), ((2, 4, 3, 1), (-4, -3, -2)), ((3, 4, 1), (-2,))])
def test_a_single_channel_has_a_single_scale(name: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    """Columns of one are rows in memory, and have no scale for each element."""
    check(name, (np.random.default_rng(4).normal(size=shape) + 3).astype("f"), axes)


@pytest.mark.parametrize("name", ALL[:3])
def test_few_long_rows_are_shared_by_blocks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They take the kernels of columns, one of which is a row."""
    monkeypatch.setattr("autodiff_lab.kernels.normalization.cuda.LONG_ROW", 0)
    for shape in ((1, 700), (1, 129), (1, 1)):
        check(name, np.random.default_rng(3).normal(size=shape).astype("f"), (-1,))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf, 1e-40])
def test_nan_and_infinities_spread_as_in_the_reference(name: str, special: float) -> None:
    """To their row or column, and to no other."""
    for shape, axes in (((3, 5), (-2,)), ((10, 40), (-2,)), ((2, 70), (-1,))):
        x = np.random.default_rng(4).normal(size=shape).astype("f")
        x[1, 2] = special
        check(name, x, axes)
        check(name, np.full(shape, special, "f"), axes)


@pytest.mark.parametrize("name", ALL[1:])
@pytest.mark.parametrize("axes", [(-1,), (-2,)])
def test_values_without_spread_become_zero_or_nan_where_epsilon_is_zero(name: str, axes: tuple[int, ...]) -> None:
    """Means of equal values are exact, whatever parts they are joined from."""
    check(name, np.full((24, 40), 0.75, "f"), axes)
    check(name, np.full((24, 40), 0.75, "f"), axes, epsilon=0.0)


@pytest.mark.parametrize("name", ["plain_normalize", "plain_normalize_grad"])
@pytest.mark.parametrize(("shape", "axes"), [((2, 600), (-1,)), ((80, 40), (-2,)), ((2, 70), (-2,))])
@pytest.mark.parametrize("far", [0, 3, 1e4])
def test_results_are_as_exact_as_the_reference(name: str, shape: tuple[int, int], axes: Any, far: float) -> None:
    """Both are held against float64; the square of the mean is never taken from the mean of the squares."""
    x = (np.random.default_rng(5).normal(size=shape) + far).astype("f")
    arrays, how = call(name, x, axes)
    ours, reference = both(name, *arrays, **how)
    _, exact = both(name, *[array.astype("d") for array in arrays], **how)
    assert np.abs(ours.to_host() - exact).max() <= 2 * np.abs(reference - exact).max()


def test_layouts() -> None:
    """What is not in a row is put in a row first."""
    x = np.random.default_rng(6).normal(size=(6, 9))
    for made in (np.asfortranarray(x), np.repeat(x, 2, axis=1)[:, ::2], np.broadcast_to(x[:1], x.shape)):
        device = on_gpu(x).memory.wrap(made)
        for axes in ((-1,), (-2,)):
            ours = CudaKernels.plain_normalize_grad(device, device, axes=axes, **HOW)
            expected, _ = both("plain_normalize_grad", *[np.ascontiguousarray(made)] * 2, axes=axes, **HOW)
            np.testing.assert_array_equal(ours.to_host(), expected.to_host())


def test_what_the_kernels_do_not_take_is_left_to_the_reference() -> None:
    """No axes, nothing there, axes that lie in three runs, half floats, stacks of cotangents, other scales."""
    for name in ALL:
        for shape, axes in (((2, 3), ()), ((0, 3), (-1,)), ((3, 0), (-1,)), ((3, 2, 2, 4, 3), (-5, -3, -1))):
            x = np.zeros(shape)
            more = {"plain_normalize_grad": 1, "normalize": 2, "normalize_grad": 2}
            assert declined(name, x, *[x] * more.get(name, 0), axes=axes, **({} if name == "moments" else HOW))
    x = np.ones((4, 5))
    assert declined("plain_normalize", x.astype(np.float16), axes=(-1,), **HOW)
    assert declined("plain_normalize_grad", np.ones((2, 4, 5)), x, axes=(-1,), **HOW)
    assert declined("normalize", x, x, x, axes=(-1,), **HOW)
    assert declined("normalize_grad", x, x, x[:, :1], axes=(-1,), **HOW)


def test_a_second_run_gives_the_same_bits() -> None:
    """Sums are taken in a fixed order."""
    x = np.random.default_rng(7).normal(size=(30, 50)).astype("f")
    for axes in ((-1,), (-2,)):
        arrays, how = call("normalize_grad", x, axes)
        first, second = (CudaKernels.normalize_grad(*map(on_gpu, arrays), **how) for _ in range(2))
        for one, other in zip(first, second, strict=True):
            np.testing.assert_array_equal(one.to_host(), other.to_host())


def test_axes_counted_from_the_front_are_left_to_the_reference() -> None:
    """The ops count from the end; who calls the kernels otherwise gets the reference."""
    x = np.ones((2, 3, 4), np.float32)
    assert declined("moments", x, axes=(0, 1))
    assert declined("normalize", x, x[0, 0], x[0, 0], axes=(0, 1), epsilon=1e-3)
