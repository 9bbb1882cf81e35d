"""Convolution and its gradients in Numba agree with NumPy over ranks, shapes, settings, layouts and special values."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from autodiff_lab.kernels.base import threads
from autodiff_lab.kernels.base.choose import use_kernels
from autodiff_lab.kernels.convolution import reference
from autodiff_lab.testing import check_gradient
from tests.kernels.overrides import compiled, kernel
from tests.ops.samples import samples

pytest.importorskip("numba", reason="the extra 'jit' is not installed, so there is nothing to compare")

TOLERANCE = {"float32": 2e-5, "float64": 1e-13}  # of the largest number of a result
NAMES = ("convolve", "convolve_input", "convolve_filter")
Case = tuple[np.ndarray, np.ndarray, dict[str, Any]]


def three(x: np.ndarray, w: np.ndarray, how: dict[str, Any]) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Calls of the three ops that belong together, with a g that is as large as the result."""
    g = np.random.default_rng(1).standard_normal(reference.convolve(x, w, **how).shape).astype(x.dtype)
    yield "convolve", (x, w), how
    yield "convolve_input", (g, w), {"shape": x.shape, **how}
    yield "convolve_filter", (x, g), {"window": w.shape[:-2], **how}


def agree(x: np.ndarray, w: np.ndarray, how: dict[str, Any]) -> None:
    for name, arrays, params in three(x, w, how):
        ours, theirs = compiled(name, *arrays, **params), getattr(reference, name)(*arrays, **params)
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        scale = max(1.0, float(np.abs(theirs).max()))
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=TOLERANCE[x.dtype.name] * scale, err_msg=f"{name} {how}")


def drawn(rng: np.random.Generator, rank: int, dtype: str) -> Case | None:
    """Draw a call with odd shapes; None if the window does not fit."""

    def numbers(low: int, high: int) -> tuple[int, ...]:
        return tuple(int(n) for n in rng.integers(low, high, rank))

    spatial, window = numbers(3, 15 if rank < 3 else 7), numbers(1, 5)
    pairs = zip(numbers(0, 4), numbers(0, 4), strict=True)
    how = {"strides": numbers(1, 4), "padding": tuple(pairs), "dilations": numbers(1, 3)}
    if min(reference.out_sizes(spatial, window, **how)) < 1:
        return None
    c_in, c_out = rng.choice([1, 2, 3, 8, 17]), rng.choice([1, 3, 6, 16, 17, 33, 70])
    x = rng.standard_normal((int(rng.integers(1, 4)), *spatial, c_in)).astype(dtype)
    return x, rng.standard_normal((*window, c_in, c_out)).astype(dtype), how


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_random_shapes_and_settings(rank: int, dtype: str) -> None:
    rng = np.random.default_rng(rank)
    cases = [case for case in (drawn(rng, rank, dtype) for _ in range(40)) if case is not None]
    assert len(cases) > 20
    for case in cases:
        agree(*case)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("images", "spatial", "window"), [(2, (1503,), (4,)), (1, (3, 1400), (2, 3)), (9, (5, 4), (3, 3))]
)
@pytest.mark.parametrize("stride", [1, 2])
def test_long_rows_go_piece_by_piece_and_small_images_together(
    images: int, spatial: tuple[int, ...], window: tuple[int, ...], stride: int, dtype: str
) -> None:
    rng = np.random.default_rng(4)
    rank = len(spatial)
    x = rng.standard_normal((images, *spatial, 37)).astype(dtype)
    how = {"strides": (stride,) * rank, "padding": ((1, 0),) * rank, "dilations": (1,) * rank}
    agree(x, rng.standard_normal((*window, 37, 18)).astype(dtype), how)


@pytest.fixture
def small() -> Case:
    rng = np.random.default_rng(2)
    how = {"strides": (1, 2), "padding": ((1, 1), (0, 2)), "dilations": (1, 1)}
    return rng.standard_normal((2, 6, 7, 4)), rng.standard_normal((3, 3, 4, 5)), how


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "Fortran": np.asfortranarray,
    "every other": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "broadcast": lambda x: np.broadcast_to(x[:1], x.shape),
}


def read_only(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flags.writeable = False
    return x


@pytest.mark.parametrize("layout", [*LAYOUTS.values(), read_only], ids=[*LAYOUTS, "read-only"])
def test_layouts(small: Case, layout: Callable[[np.ndarray], np.ndarray]) -> None:
    x, w, how = small
    agree(layout(x), layout(w), how)


@pytest.mark.parametrize("where", ["x", "w", "g"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_spread_as_in_numpy(small: Case, where: str, value: float) -> None:
    """Zeros around an image meet what is infinite only where NumPy lets them meet."""
    x, w, how = small
    for name, arrays, params in three(x, w, how):
        at = {"convolve": "xw", "convolve_input": "gw", "convolve_filter": "xg"}[name].find(where)
        if at < 0:
            continue
        arrays = [array.copy() for array in arrays]
        arrays[at][1, 1, 1, 1] = value
        with use_kernels("numba"), np.errstate(all="ignore"):
            ours, theirs = kernel(name)(*arrays, **params), getattr(reference, name)(*arrays, **params)
        np.testing.assert_array_equal(np.isfinite(ours), np.isfinite(theirs))
        np.testing.assert_array_equal(np.isnan(ours), np.isnan(theirs))


@pytest.mark.parametrize("shape", [(0, 5, 5, 2), (1, 5, 5, 0)])
def test_nothing_to_compute_is_left_to_numpy(shape: tuple[int, ...]) -> None:
    how = {"strides": (1, 1), "padding": ((0, 0), (0, 0)), "dilations": (1, 1)}
    for name, arrays, params in three(np.zeros(shape), np.zeros((3, 3, shape[-1], 2)), how):
        assert compiled(name, *arrays, **params) is NotImplemented
        with use_kernels("numba"):
            np.testing.assert_array_equal(kernel(name)(*arrays, **params), getattr(reference, name)(*arrays, **params))


def test_shapes_that_do_not_fit_are_refused_and_not_read_beyond_their_end() -> None:
    how = {"strides": (1, 1), "padding": ((0, 0), (0, 0)), "dilations": (1, 1)}
    x, w, g = np.zeros((2, 5, 5, 2)), np.zeros((3, 3, 2, 4)), np.zeros((2, 3, 3, 4))
    assert compiled("convolve", x, w[:, :, :1], **how) is NotImplemented
    assert compiled("convolve_input", g[..., :3], w, shape=x.shape, **how) is NotImplemented
    assert compiled("convolve_input", g, w, shape=(2, 9, 9, 2), **how) is NotImplemented
    assert compiled("convolve_input", g[:1], w, shape=x.shape, **how) is NotImplemented
    assert compiled("convolve_filter", x, g[:1], window=(3, 3), **how) is NotImplemented
    assert compiled("convolve_filter", x, g, window=(2, 2), **how) is NotImplemented


def test_the_number_of_threads_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    x, w = rng.standard_normal((37, 16, 16, 16)).astype("f4"), rng.standard_normal((3, 3, 16, 32)).astype("f4")
    how = {"strides": (1, 1), "padding": ((1, 1), (1, 1)), "dilations": (1, 1)}
    results = []
    for count in (1, 2, 3):
        monkeypatch.setattr(threads, "thread_count", lambda count=count: count)
        results.append([compiled(name, *arrays, **params) for name, arrays, params in three(x, w, how)])
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_filter_s_gradient_over_many_pixels_stays_exact() -> None:
    """Sums over blocks of images do not lose what one long sum would."""
    x, g = np.full((64, 64, 64, 1), 0.1, np.float32), np.ones((64, 64, 64, 1), np.float32)
    how = {"strides": (1, 1), "padding": ((0, 0), (0, 0)), "dilations": (1, 1)}
    ours = compiled("convolve_filter", x, g, window=(1, 1), **how)
    assert abs(float(ours[0, 0, 0, 0]) / (64**3 * float(np.float32(0.1))) - 1) < 1e-5


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_of_both_orders_agree_with_differences(name: str) -> None:
    with use_kernels("numba"):
        for sample in samples(name):
            assert check_gradient(sample, *sample.inputs)
            assert check_gradient(sample, *sample.inputs, order=2)
