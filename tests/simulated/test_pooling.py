"""Pooling and its gradients on a GPU against NumPy's: ranks, settings, layouts, equal elements, nan, empty arrays."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.convolution.reference import out_sizes
from tests.simulated.agreement import CudaKernels, agree, agree_by_reference, both, declined, on_gpu

lab.nn.max_pool  # noqa: B018 - loads the family, and with it the kernels
TWO: dict[str, Any] = {"window": (2, 2), "strides": (2, 2), "padding": ((0, 0), (0, 0))}
Call = tuple[str, tuple[np.ndarray, ...], dict[str, Any]]


def calls(x: np.ndarray, how: dict[str, Any]) -> Iterator[Call]:
    """Calls of all five kernels on one image."""
    rng = np.random.default_rng(5)
    outs = out_sizes(x.shape[1:-1], how["window"], how["strides"], how["padding"], (1,) * len(how["window"]))
    g, h = (rng.standard_normal(s).astype(x.dtype) for s in ((x.shape[0], *outs, x.shape[-1]), x.shape))
    yield "max_pool", (x,), how
    yield "max_pool_input", (g, x), how
    yield "max_pool_pick", (h, x), how
    yield "average_pool", (x,), how
    yield "average_pool_input", (g,), {"shape": x.shape, **how}


def calls_of_kernels(x: np.ndarray, how: dict[str, Any]) -> Iterator[Call]:
    """Those for which there is a CUDA kernel."""
    return (call for call in calls(x, how) if call[0] != "max_pool_pick")


def check(x: np.ndarray, how: dict[str, Any]) -> None:
    """All five agree with their references."""
    for name, arrays, params in calls(x, how):
        (agree_by_reference if name == "max_pool_pick" else agree)(name, *arrays, **params)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_each_kernel_on_one_image(dtype: str) -> None:
    """Named one by one: the report looks here for each method."""
    x = np.random.default_rng(0).normal(size=(2, 5, 7, 3)).astype(dtype)
    g, h = x[:, :2, :3] * 2, x * 3
    agree("max_pool", x, **TWO)
    agree("max_pool_input", g, x, **TWO)
    agree_by_reference("max_pool_pick", h, x, **TWO)
    agree("average_pool", x, **TWO)
    agree("average_pool_input", g, shape=x.shape, **TWO)


def drawn(rng: np.random.Generator, rank: int) -> tuple[tuple[int, ...], dict[str, Any]] | None:
    """Draw a shape and settings; None if the window does not fit.  Of 8 channels a thread serves four, of 3 one."""

    def numbers(low: int, high: int) -> tuple[int, ...]:
        return tuple(int(n) for n in rng.integers(low, high, rank))

    spatial, window = numbers(1, 9 if rank < 3 else 4), numbers(1, 4)
    padding = tuple(zip(numbers(0, 4), numbers(0, 4), strict=True))  # a window may lie wholly in the padding
    how = {"window": window, "strides": numbers(1, 4), "padding": padding}
    if min(out_sizes(spatial, window, how["strides"], padding, (1,) * rank)) < 1:
        return None
    return (int(rng.integers(1, 3)), *spatial, int(rng.choice([1, 3, 8, 12]))), how


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_random_settings_with_equal_elements_and_values_that_are_not_finite(rank: int) -> None:
    """Few different integers give many ties; the first of them gets the gradient, and nan counts as the largest."""
    rng = np.random.default_rng(rank)
    cases = [case for case in (drawn(rng, rank) for _ in range(9)) if case is not None]
    assert len(cases) > 5
    for shape, how in cases:
        check(rng.integers(0, 4, shape).astype("f"), how)
        check(rng.choice([1, 2, np.nan, np.inf, -np.inf], shape, p=[0.5, 0.2, 0.1, 0.1, 0.1]).astype("d"), how)


def test_padding_never_gets_a_gradient() -> None:
    """Elements of -inf are as large as padding, and come after it; a window of padding alone passes nothing on."""
    how: dict[str, Any] = {"window": (2,), "strides": (2,), "padding": ((3, 0),)}
    g, x = np.array([1.0, 2.0, 4.0]).reshape(1, 3, 1), np.full((1, 3, 1), -np.inf)
    ours, _ = both("max_pool_input", g, x, **how)
    assert ours.to_host().ravel().tolist() == [2.0, 4.0, 0.0]
    check(x, how)


def test_windows_whose_numbers_need_more_than_a_byte() -> None:
    """Up to 255 elements a window's choice takes a byte, beyond that four."""
    x = np.random.default_rng(1).normal(size=(1, 18, 18, 1))
    for side in (15, 16):  # 225 and 256 elements
        how: dict[str, Any] = {"window": (side, side), "strides": (1, 2), "padding": ((0, 0), (1, 0))}
        check(x, how)
        check(-np.sort(-x, axis=None).reshape(x.shape)[:, ::-1, ::-1], how)  # the last element wins


def test_layouts() -> None:
    """What is not in a row is put in a row first."""
    x = np.random.default_rng(2).normal(size=(2, 4, 6, 3))
    for made in (np.asfortranarray(x), np.repeat(x, 2, axis=2)[:, :, ::2], np.broadcast_to(x[:1], x.shape)):
        raw = on_gpu(x).memory.wrap(made)
        for name, arrays, how in calls_of_kernels(x, {**TWO, "strides": (1, 2)}):
            ours = getattr(CudaKernels, name)(*(raw if a is x else on_gpu(a) for a in arrays), **how)
            expected, _ = both(name, *(np.ascontiguousarray(made) if a is x else a for a in arrays), **how)
            np.testing.assert_array_equal(ours.to_host(), expected.to_host())


def test_nothing_is_pooled_to_nothing() -> None:
    """No images, no channels, and images of padding alone."""
    check(np.zeros((0, 4, 4, 2), "f"), TWO)
    agree("max_pool", np.zeros((2, 4, 4, 0), "f"), **TWO)
    agree("average_pool", np.zeros((2, 4, 4, 0), "f"), **TWO)
    agree("max_pool", np.zeros((1, 0, 4, 2), "f"), **{**TWO, "padding": ((1, 1), (0, 0))})


def test_a_second_run_gives_the_same_bits() -> None:
    """Shares are gathered in the order of the windows."""
    x = np.random.default_rng(3).normal(size=(1, 6, 6, 2)).astype("f")
    how: dict[str, Any] = {"window": (3, 3), "strides": (1, 1), "padding": ((1, 1), (1, 1))}
    for name, arrays, params in calls_of_kernels(x, how):
        first, second = (getattr(CudaKernels, name)(*map(on_gpu, arrays), **params).to_host() for _ in range(2))
        np.testing.assert_array_equal(first, second)


def test_what_the_kernels_do_not_take_is_left_to_the_reference() -> None:
    """Half floats, four spatial axes, and a cotangent of another shape."""
    x = np.zeros((1, 4, 4, 1), np.float16)
    assert declined("max_pool", x, **TWO)
    assert declined("average_pool", np.zeros((1, 2, 2, 2, 2, 1)), window=(2,) * 4, strides=(1,) * 4,
                    padding=((0, 0),) * 4)  # fmt: skip
    assert declined("max_pool_input", np.zeros((1, 3, 2, 1)), np.zeros((1, 4, 4, 1)), **TWO)
