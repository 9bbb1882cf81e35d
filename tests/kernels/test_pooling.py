"""Pooling and its gradients in Numba agree with NumPy over ranks, shapes, settings, layouts and special values."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.kernels.base import threads
from autodiff_lab.kernels.base.choose import use_kernels
from autodiff_lab.kernels.convolution.reference import out_sizes
from autodiff_lab.kernels.pooling import reference
from autodiff_lab.testing import check_gradient
from tests.ops.samples import samples

NAMES = ("max_pool", "max_pool_input", "max_pool_pick", "average_pool", "average_pool_input")
Call = tuple[str, tuple[np.ndarray, ...], dict[str, Any]]


def kernel(name: str) -> Any:
    return REGISTRY[name].kernel


def compiled(name: str, *arrays: np.ndarray, **how: Any) -> Any:
    """Give what the override gives."""
    pytest.importorskip("numba", reason="the extra 'jit' is not installed, so there is nothing to compare")
    with use_kernels("numba"):
        assert kernel(name).compile(arrays[0].dtype), kernel(name).failures
    with np.errstate(all="ignore"):
        return kernel(name).override()(*arrays, **how)


def calls(x: np.ndarray, how: dict[str, Any]) -> Iterator[Call]:
    """Calls of all five ops on one image."""
    rng = np.random.default_rng(5)
    outs = out_sizes(x.shape[1:-1], how["window"], how["strides"], how["padding"], (1,) * len(how["window"]))
    g, h = (rng.standard_normal(s).astype(x.dtype) for s in ((x.shape[0], *outs, x.shape[-1]), x.shape))
    yield "max_pool", (x,), how
    yield "max_pool_input", (g, x), how
    yield "max_pool_pick", (h, x), how
    yield "average_pool", (x,), how
    yield "average_pool_input", (g,), {"shape": x.shape, **how}


def agree(x: np.ndarray, how: dict[str, Any]) -> None:
    for name, arrays, params in calls(x, how):
        with np.errstate(all="ignore"):
            ours, theirs = compiled(name, *arrays, **params), getattr(reference, name)(*arrays, **params)
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=5e-5 if x.dtype == "f4" else 1e-12, atol=1e-5, err_msg=name)


def drawn(rng: np.random.Generator, rank: int) -> tuple[tuple[int, ...], dict[str, Any]] | None:
    """Draw a shape and settings; None if the window does not fit."""

    def numbers(low: int, high: int) -> tuple[int, ...]:
        return tuple(int(n) for n in rng.integers(low, high, rank))

    spatial, window = numbers(2, 12 if rank < 3 else 6), numbers(1, 4)
    padding = tuple(zip(numbers(0, 4), numbers(0, 4), strict=True))  # a window may lie wholly in the padding
    how = {"window": window, "strides": numbers(1, 4), "padding": padding}
    if min(out_sizes(spatial, window, how["strides"], padding, (1,) * rank)) < 1:
        return None
    return (int(rng.integers(1, 4)), *spatial, int(rng.choice([1, 3, 16, 17]))), how


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_random_shapes_with_equal_elements_and_values_that_are_not_finite(rank: int, dtype: str) -> None:
    """Few different integers give many ties; the first of them gets the gradient, and nan counts as the largest."""
    rng = np.random.default_rng(rank)
    cases = [case for case in (drawn(rng, rank) for _ in range(40)) if case is not None]
    assert len(cases) > 20
    for shape, how in cases:
        agree(rng.integers(0, 4, shape).astype(dtype), how)
        agree(rng.choice([1, 2, np.nan, np.inf, -np.inf], shape, p=[0.5, 0.2, 0.1, 0.1, 0.1]).astype(dtype), how)


@pytest.mark.parametrize("kind", ["Fortran", "every other", "read-only", "broadcast"])
def test_layouts(kind: str) -> None:
    x = np.random.default_rng(6).standard_normal((2, 6, 6, 4))
    made = {
        "Fortran": np.asfortranarray(x),
        "every other": np.repeat(x, 2, axis=2)[:, :, ::2],
        "read-only": x.copy(),
        "broadcast": np.broadcast_to(x[:1], x.shape),
    }[kind]
    if kind == "read-only":
        made.flags.writeable = False
    agree(made, {"window": (2, 2), "strides": (2, 2), "padding": ((0, 0), (1, 1))})


def test_what_is_empty_is_left_to_numpy() -> None:
    for name, arrays, params in calls(
        np.zeros((0, 4, 4, 2)), {"window": (2, 2), "strides": (2, 2), "padding": ((0, 0), (0, 0))}
    ):
        assert compiled(name, *arrays, **params) is NotImplemented


@pytest.mark.parametrize("which", ["reference", "numba"])
def test_padding_never_gets_a_gradient(which: str) -> None:
    """Elements of -inf are as large as padding, and come after it; a window of padding alone passes nothing on."""
    how: dict[str, Any] = {"window": (2,), "strides": (2,), "padding": ((3, 0),)}
    g, x = np.array([1.0, 2.0, 4.0]).reshape(1, 3, 1), np.full((1, 3, 1), -np.inf)
    arguments = ("max_pool_input", g, x)
    got = compiled(*arguments, **how) if which == "numba" else reference.max_pool_input(g, x, **how)
    assert got.ravel().tolist() == [2.0, 4.0, 0.0]


@pytest.mark.parametrize("name", NAMES)
def test_the_number_of_threads_changes_no_bit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(7).standard_normal((21, 24, 24, 16)).astype("f4")
    how = {"window": (3, 3), "strides": (2, 2), "padding": ((1, 1), (1, 1))}
    (call,) = [(arrays, params) for called, arrays, params in calls(x, how) if called == name]
    results = []
    for count in (1, 3):
        monkeypatch.setattr(threads, "thread_count", lambda count=count: count)
        results.append(compiled(name, *call[0], **call[1]))
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_of_both_orders_agree_with_differences(name: str) -> None:
    with use_kernels("numba"):
        for sample in samples(name):
            assert check_gradient(sample, *sample.inputs)
            assert check_gradient(sample, *sample.inputs, order=2)


@pytest.mark.parametrize("side", [9, 64])
def test_large_windows_are_pooled_as_small_ones(side: int) -> None:
    """The reference takes another way for windows of many elements."""
    x = np.random.default_rng(8).standard_normal((1, side, side, 2))
    how = {"window": (side, side), "strides": (1, 1), "padding": ((0, 0), (0, 0))}
    np.testing.assert_array_equal(reference.max_pool(x, **how)[0, 0, 0], x.max(axis=(0, 1, 2)))
