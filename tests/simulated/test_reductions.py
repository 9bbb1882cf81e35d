"""Reductions on a GPU against NumPy's, over any axes, of any length."""

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.reductions import cuda as reductions
from tests.simulated import agreement
from tests.simulated.agreement import SIZES, both, declined

lab.reduce_logsumexp  # noqa: B018 - loads the family, and with it the kernels
SIMPLE = ("sum", "mean", "max", "min", "logsumexp")
LONG = 4000
"""Longer than the parts into which the simulated GPU cuts few results."""


def numbers(*shape: int, dtype: str = "float32") -> np.ndarray:
    """Numbers around 0."""
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(dtype) * 3


def agree(name: str, x: np.ndarray, axes: tuple[int, ...], keepdims: bool) -> None:
    """As `agreement.agree`; sums, which may cancel, are held to the size of what was added up."""
    size = np.nansum(np.abs(np.where(np.isfinite(x), x, 0))) if name == "sum" else 1
    within = agreement.TOLERANCE.get(x.dtype.name, 0)
    agreement.agree(name, x, axes=axes, keepdims=keepdims, tolerance=within * max(1.0, float(size)) ** 0.5)


@pytest.mark.parametrize("name", SIMPLE)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_of_any_length(name: str, dtype: str) -> None:
    """Rows shorter than a block, as long, longer, and long enough to be cut into parts."""
    for length in (*SIZES, 300):
        agree(name, numbers(3, length, dtype=dtype), axes=(-1,), keepdims=False)
    agree(name, numbers(2, LONG, dtype=dtype), axes=(-1,), keepdims=True)


@pytest.mark.slow(keep=13)
@pytest.mark.parametrize("name", SIMPLE)
@pytest.mark.parametrize("axes", [(-1,), (-2,), (-3,), (-3, -2), (-2, -1), (-3, -1), (-3, -2, -1), ()])
def test_over_any_axes(name: str, axes: tuple[int, ...]) -> None:
    """Whatever is reduced, with and without axes of length 1 in its place; (0, 2) takes two passes."""
    x = numbers(6, 5, 7)
    agree(name, x, axes=axes, keepdims=False)
    agree(name, x, axes=axes, keepdims=True)
    agree(name, numbers(9, 40, 11), axes=axes, keepdims=False)


@pytest.mark.parametrize("name", SIMPLE)
@pytest.mark.parametrize("shape", [(2, 90, 3), (1, LONG, 3), (2, 5, 70), (1, 900, 33), (40, 2, 1), (3, 1, 200)])
def test_columns(name: str, shape: tuple[int, ...]) -> None:
    """Columns that fill a block's width, do not, or need several blocks; many rows, and few."""
    agree(name, numbers(*shape), axes=(-2,), keepdims=False)


@pytest.mark.parametrize("name", SIMPLE)
def test_arrays_that_lie_otherwise(name: str) -> None:
    """A transposed array is taken as it lies; every second element is copied first; axes of length 1 do not matter."""
    x = numbers(5, 6, 8)
    for axes in ((-1,), (-2,), (-3, -2), (-3, -1)):
        agree(name, x.T, axes=axes, keepdims=False)
        agree(name, x.transpose(1, 0, 2), axes=axes, keepdims=True)
        agree(name, x[:, ::2, ::-1], axes=axes, keepdims=False)
        agree(name, x[:, :1], axes=axes, keepdims=True)


@pytest.mark.parametrize("name", ["sum", "mean", "logsumexp"])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0,)])
def test_without_elements(name: str, shape: tuple[int, ...]) -> None:
    """Nothing is launched: sums are 0, means nan, logarithms of nothing -inf."""
    agree(name, np.zeros(shape, np.float32), axes=(-1,), keepdims=False)


def test_what_is_left_to_the_reference() -> None:
    """Integers, complex numbers, and extremes of nothing, which are an error."""
    for name in SIMPLE:
        assert declined(name, np.zeros((2, 2), np.int32), axes=(-1,), keepdims=False)
        assert declined(name, np.zeros((2, 2), np.complex64), axes=(-1,), keepdims=False)
    assert declined("max", np.zeros((2, 0), np.float32), axes=(-1,), keepdims=False)


@pytest.mark.slow(keep=5)
@pytest.mark.parametrize("name", SIMPLE)
@pytest.mark.parametrize("length", [9, 400, LONG])
def test_values_that_are_not_numbers(name: str, length: int) -> None:
    """A nan makes its own result nan, wherever it stands; infinities are what NumPy makes of them."""
    x = numbers(7, length)
    x[0, -1], x[1, 0], x[2, length // 2] = np.nan, np.nan, np.inf
    x[3, 1], x[4] = -np.inf, -np.inf
    x[5, 0], x[5, -1], x[6, 0], x[6, -1] = np.inf, -np.inf, np.inf, np.nan
    agree(name, x, axes=(-1,), keepdims=False)
    agree(name, x, axes=(-2,), keepdims=False)


def test_a_logarithm_of_large_numbers_does_not_overflow() -> None:
    """e^1000 is beyond every dtype, and ln(e^1000 + e^1000) is 1000.69; results far below 0 are exact too."""
    for top in (1000.0, -1000.0):
        x = np.full((2, 400), top, np.float32)
        agree("logsumexp", x, axes=(-1,), keepdims=False)
        agree("logsumexp", x, axes=(-2, -1), keepdims=False)


def test_a_long_sum_is_as_exact_as_a_pairwise_one() -> None:
    """Elements are added in trees: the error of a float32 sum stays near that of NumPy, and below a loop's."""
    x = np.random.default_rng(0).random((1, 60_000)).astype(np.float32)
    ours, numpys = both("sum", x, axes=(-2, -1), keepdims=False)
    exact = x.astype(np.float64).sum()
    loop = np.add.accumulate(x[0])[-1]
    error = abs(float(ours.to_host()) - exact) / exact
    assert error <= max(2 * abs(float(numpys) - exact) / exact, 3e-7)
    assert error < abs(float(loop) - exact) / exact


def test_the_same_bits_at_every_run() -> None:
    """Nothing depends on which thread comes first."""
    x = numbers(1, 3000)
    first, second = (both("sum", x, axes=(-2, -1), keepdims=False)[0].to_host() for _ in range(2))
    assert first.tobytes() == second.tobytes()


def test_cuts_fill_the_gpu_and_cover_the_rows() -> None:
    """However few results there are: parts hold all rows, none is empty."""
    x = lab.kernels.cuda.gpus.memory_of(0).upload(np.zeros(1, np.float32))
    for reduced in (1, 31, 600, 10_000, 16_777_216):
        for blocks in (1, 3, 100):
            parts, chunk = reductions.cuts(x, blocks, reduced, 32)
            assert (parts - 1) * chunk < reduced <= parts * chunk


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(7, 5), (3, 100), (2, 300), (1, LONG), (3, 90, 5), (1, LONG, 3), (2, 9, 70)])
def test_the_gradient_of_an_extreme(shape: tuple[int, ...], dtype: str) -> None:
    """What equals the extreme gets equal parts of the cotangent; the reference runs, on the GPU."""
    axis = 1 - len(shape)
    x = np.round(numbers(*shape, dtype=dtype))
    g = numbers(*[1 if a == 1 else n for a, n in enumerate(shape)], dtype=dtype)
    agreement.agree_by_reference("extreme_grad", g, x.max(axis=axis, keepdims=True), x, axes=(axis,))
    agreement.agree_by_reference("extreme_grad", g, x.min(axis=axis, keepdims=True), x, axes=(axis,))


def test_the_gradient_of_an_extreme_over_several_axes() -> None:
    """Neighbouring axes, axes apart, a transposed array and stacked cotangents."""
    x = np.round(numbers(4, 5, 6))
    for axes in ((-3, -2, -1), (-2, -1), (-3, -2), (-3,)):
        best = x.max(axis=axes, keepdims=True)
        agreement.agree_by_reference("extreme_grad", best * 2, best, x, axes=axes)
    turned = x.transpose(2, 0, 1)
    best = turned.max(axis=-2, keepdims=True)
    agreement.agree_by_reference("extreme_grad", best, best, turned, axes=(-2,))
    best = x.max(axis=(-3, -1), keepdims=True)
    agreement.agree_by_reference("extreme_grad", best, best, x, axes=(-3, -1))
    best = x.max(axis=-1, keepdims=True)
    agreement.agree_by_reference("extreme_grad", np.stack([best, best]), best, x, axes=(-1,))


@pytest.mark.parametrize("length", [5, LONG])
def test_the_gradient_of_an_extreme_that_is_nan(length: int) -> None:
    """There are no parts then: nan for the whole row, and for no other."""
    x = numbers(3, length)
    x[0, 3] = np.nan
    g = np.array([[1.0], [2.0], [np.inf]], np.float32)
    agreement.agree_by_reference("extreme_grad", g, x.max(axis=-1, keepdims=True), x, axes=(-1,))
