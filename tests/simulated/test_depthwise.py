"""Depthwise convolutions and their gradients on a GPU against NumPy's, over ranks, shapes and settings."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.convolution import cuda_depthwise as depthwise
from autodiff_lab.kernels.convolution import reference
from autodiff_lab.kernels.convolution.reference import out_sizes
from tests.simulated.agreement import CudaKernels, agree, declined, on_gpu

lab.nn.depthwise_conv2d  # noqa: B018 - loads the family, and with it the kernels

TOLERANCE = {"float32": 2e-5, "float64": 2e-14}
PLAIN: dict[str, Any] = {"strides": (1, 2), "padding": ((1, 1), (0, 2)), "dilations": (1, 1)}


def three(x: Any, w: Any, how: dict[str, Any]) -> None:
    """Compare a depthwise convolution and its two gradients."""
    g = np.random.default_rng(1).standard_normal(reference.depthwise(x, w, **how).shape).astype(x.dtype)
    within = TOLERANCE[x.dtype.name]
    agree("depthwise", x, w, tolerance=within, **how)
    agree("depthwise_input", g, w, tolerance=within, shape=x.shape, **how)
    agree("depthwise_filter", x, g, tolerance=within, window=w.shape[:-2], **how)


def plain(channels: int = 5, multiple: int = 2, images: int = 2, dtype: str = "float32") -> tuple[Any, Any]:
    """Images and filters for them."""
    rng = np.random.default_rng(2)
    x, w = rng.standard_normal((images, 6, 21, channels)), rng.standard_normal((3, 2, channels, multiple))
    return x.astype(dtype), w.astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_random_shapes_and_settings(rank: int, dtype: str) -> None:
    """Any window, stride, dilation and padding, in one to three dimensions."""
    rng, tried = np.random.default_rng(rank), 0
    while tried < 5:
        spatial, window, strides, dilations, low, high = (
            tuple(int(n) for n in rng.integers(*ends, rank))
            for ends in ((3, 12 if rank < 3 else 5), (1, 5), (1, 4), (1, 3), (0, 3), (0, 3))
        )
        how = {"strides": strides, "padding": tuple(zip(low, high, strict=True)), "dilations": dilations}
        if min(out_sizes(spatial, window, **how)) > 0:
            channels, multiple = int(rng.choice([1, 2, 3, 9])), int(rng.choice([1, 2, 3]))
            x = rng.standard_normal((2, *spatial, channels)).astype(dtype)
            three(x, rng.standard_normal((*window, channels, multiple)).astype(dtype), how)
            tried += 1


@pytest.mark.parametrize("length", [1, 7, 8, 9, 17])
def test_lengths_around_a_strip(length: int) -> None:
    """The last strip of a row ends where the row does."""
    x, w = plain(channels=3)
    three(x[:, :, :length], w[:, :1], {**PLAIN, "strides": (1, 1)})


@pytest.mark.parametrize("channels", [7, 8, 9, 33])
def test_channels_around_a_group(channels: int) -> None:
    """The last group of channels of the filter's gradient is not full, or there is one more."""
    x, w = plain(channels, 1)
    three(x[:1, :4, :9], w, PLAIN)


@pytest.mark.parametrize("window", [(1, 1), (3, 3), (4, 3), (2, 7)])
def test_windows_around_the_taps_of_a_thread(window: tuple[int, int]) -> None:
    """A thread sums up 3 by 3 taps; smaller windows leave some of them out, larger ones need several threads."""
    x, _ = plain(channels=2)
    w = np.random.default_rng(3).standard_normal((*window, 2, 1)).astype(np.float32)
    three(x[:, :, :9], w, {"strides": (1, 1), "padding": ((2, 2), (2, 3)), "dilations": (1, 1)})


@pytest.mark.parametrize("images", [0, 1])
@pytest.mark.parametrize(("channels", "multiple"), [(0, 1), (2, 0), (2, 1)])
def test_nothing_to_add_up(images: int, channels: int, multiple: int) -> None:
    """No images, no channels, no filters: empty results, or zeros."""
    three(*plain(channels, multiple, images), PLAIN)


def test_views() -> None:
    """Arrays that do not lie in a row are copied first."""
    x, w = plain(3)
    turned = on_gpu(x.transpose(3, 2, 1, 0).copy()).transpose(3, 2, 1, 0)
    every_other = on_gpu(np.repeat(w, 2, axis=-1))[..., ::2]
    got = CudaKernels.depthwise(turned, every_other, **PLAIN).to_host()
    np.testing.assert_allclose(got, reference.depthwise(x, w, **PLAIN), rtol=1e-5, atol=1e-5)


def test_sums_that_come_out_the_same() -> None:
    """The gradient with respect to the filter has the same bits at every run: many chunks, added in order."""
    x, w = plain(3, 1)
    g = np.random.default_rng(4).standard_normal(reference.depthwise(x, w, **PLAIN).shape).astype(np.float32)
    assert g[..., 0].size > 4 * depthwise.LEAST
    first, again = (CudaKernels.depthwise_filter(on_gpu(x), on_gpu(g), (3, 2), **PLAIN).to_host() for _ in range(2))
    assert first.tobytes() == again.tobytes()


def test_values_that_are_not_numbers() -> None:
    """A nan in x reaches what meets it, and nothing else."""
    x, w = plain(3)
    x[0, 3, 2, 1] = np.nan
    three(x, w, PLAIN)


def test_what_is_left_to_the_reference() -> None:
    """Other dtypes, and two dtypes."""
    x, w = plain(2)
    assert declined("depthwise", x.astype(np.int32), w.astype(np.int32), **PLAIN)
    assert declined("depthwise", x, w.astype(np.float64), **PLAIN)
