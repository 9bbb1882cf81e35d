"""Depthwise convolution and its gradients in Numba agree with NumPy over ranks, shapes, settings and special values."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from autodiff_lab.kernels.base import threads
from autodiff_lab.kernels.base.choose import use_kernels
from autodiff_lab.kernels.convolution import reference
from autodiff_lab.kernels.convolution.reference import out_sizes
from autodiff_lab.testing import check_gradient
from tests.kernels.overrides import compiled, kernel
from tests.ops.samples import samples

pytest.importorskip("numba", reason="the extra 'jit' is not installed, so there is nothing to compare")

TOLERANCE = {"float32": 2e-5, "float64": 1e-13}  # of the largest number of a result
NAMES = ("depthwise", "depthwise_input", "depthwise_filter")


def three(x: np.ndarray, w: np.ndarray, how: dict[str, Any]) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Calls of the three ops that belong together, with a g that is as large as the result."""
    g = np.random.default_rng(1).standard_normal(reference.depthwise(x, w, **how).shape).astype(x.dtype)
    yield "depthwise", (x, w), how
    yield "depthwise_input", (g, w), {"shape": x.shape, **how}
    yield "depthwise_filter", (x, g), {"window": w.shape[:-2], **how}


def agree(x: np.ndarray, w: np.ndarray, how: dict[str, Any]) -> None:
    for name, arrays, params in three(x, w, how):
        ours, theirs = compiled(name, *arrays, **params), getattr(reference, name)(*arrays, **params)
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        scale = max(1.0, float(np.abs(theirs).max()))
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=TOLERANCE[x.dtype.name] * scale, err_msg=f"{name} {how}")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_random_shapes_and_settings(rank: int, dtype: str) -> None:
    rng = np.random.default_rng(rank)

    def numbers(low: int, high: int) -> tuple[int, ...]:
        return tuple(int(n) for n in rng.integers(low, high, rank))

    met = 0
    for _ in range(40):
        spatial, window = numbers(3, 15 if rank < 3 else 7), numbers(1, 5)
        pairs = tuple(zip(numbers(0, 4), numbers(0, 4), strict=True))
        how: dict[str, Any] = {"strides": numbers(1, 4), "padding": pairs, "dilations": numbers(1, 3)}
        if min(out_sizes(spatial, window, **how)) < 1:
            continue
        met += 1
        c, m = int(rng.choice([1, 3, 8, 17, 33])), int(rng.choice([1, 1, 2, 5]))
        x = rng.standard_normal((int(rng.integers(1, 4)), *spatial, c)).astype(dtype)
        agree(x, rng.standard_normal((*window, c, m)).astype(dtype), how)
    assert met > 20


HOW: dict[str, Any] = {"strides": (1, 2), "padding": ((1, 1), (0, 2)), "dilations": (1, 1)}


@pytest.mark.parametrize("kind", ["Fortran", "every other", "read-only", "broadcast"])
def test_layouts(kind: str) -> None:
    rng = np.random.default_rng(2)
    x, w = rng.standard_normal((2, 6, 7, 4)), rng.standard_normal((3, 3, 4, 2))

    def laid(a: np.ndarray) -> np.ndarray:
        made = {
            "Fortran": np.asfortranarray(a),
            "every other": np.repeat(a, 2, axis=-1)[..., ::2],
            "read-only": a.copy(),
            "broadcast": np.broadcast_to(a[:1], a.shape),
        }[kind]
        made.flags.writeable = kind not in ("read-only", "broadcast")
        return made

    agree(laid(x), laid(w), HOW)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("which", [0, 1])
def test_values_that_are_not_finite_spread_as_in_numpy(which: int, value: float) -> None:
    rng = np.random.default_rng(3)
    for name, arrays, params in three(rng.standard_normal((2, 6, 7, 4)), rng.standard_normal((3, 3, 4, 2)), HOW):
        arrays = [array.copy() for array in arrays]
        arrays[which][1, 1, 1, 1] = value
        with use_kernels("numba"), np.errstate(all="ignore"):
            ours, theirs = kernel(name)(*arrays, **params), getattr(reference, name)(*arrays, **params)
        np.testing.assert_array_equal(np.isfinite(ours), np.isfinite(theirs))
        np.testing.assert_array_equal(np.isnan(ours), np.isnan(theirs))


def test_what_is_empty_is_left_to_numpy() -> None:
    for name, arrays, params in three(np.zeros((0, 6, 7, 4)), np.zeros((3, 3, 4, 2)), HOW):
        assert compiled(name, *arrays, **params) is NotImplemented


def test_shapes_that_do_not_fit_are_refused_and_not_read_beyond_their_end() -> None:
    how = {"strides": (1, 1), "padding": ((0, 0), (0, 0)), "dilations": (1, 1)}
    x, w, g = np.zeros((2, 5, 5, 2)), np.zeros((3, 3, 2, 2)), np.zeros((2, 3, 3, 4))
    assert compiled("depthwise", x[..., :1], w, **how) is NotImplemented
    assert compiled("depthwise_input", g[..., :2], w, shape=x.shape, **how) is NotImplemented
    assert compiled("depthwise_input", g, w, shape=(2, 5, 5, 4), **how) is NotImplemented
    assert compiled("depthwise_filter", x, g[..., :3], window=(3, 3), **how) is NotImplemented
    assert compiled("depthwise_filter", x, g, window=(2, 2), **how) is NotImplemented


def test_the_number_of_threads_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    x, w = rng.standard_normal((37, 32, 32, 16)).astype("f4"), rng.standard_normal((3, 3, 16, 1)).astype("f4")
    how = {"strides": (1, 1), "padding": ((1, 1), (1, 1)), "dilations": (1, 1)}
    for name, arrays, params in three(x, w, how):
        results = []
        for count in (1, 3):
            monkeypatch.setattr(threads, "thread_count", lambda count=count: count)
            results.append(compiled(name, *arrays, **params))
        np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_of_both_orders_agree_with_differences(name: str) -> None:
    with use_kernels("numba"):
        for sample in samples(name):
            assert check_gradient(sample, *sample.inputs)
            assert check_gradient(sample, *sample.inputs, order=2)
