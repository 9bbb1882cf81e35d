"""Convolutions and their gradients on a GPU against NumPy's, over ranks, shapes, settings and layouts of tiles."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.convolution import cuda as convolution
from autodiff_lab.kernels.convolution import cuda_filter as convolution_filter
from autodiff_lab.kernels.convolution import cuda_tiles as convolution_tiles
from autodiff_lab.kernels.convolution import reference
from tests.simulated.agreement import CudaKernels, agree, declined, on_gpu

lab.nn.conv2d  # noqa: B018 - loads the family, and with it the kernels

TOLERANCE = {"float32": 2e-5, "float64": 2e-14}
Case = tuple[Any, Any, dict[str, Any]]


def three(x: Any, w: Any, how: dict[str, Any]) -> None:
    """Compare a convolution and its two gradients."""
    g = np.random.default_rng(1).standard_normal(reference.convolve(x, w, **how).shape).astype(x.dtype)
    within = TOLERANCE[x.dtype.name]
    agree("convolve", x, w, tolerance=within, **how)
    agree("convolve_input", g, w, tolerance=within, shape=x.shape, **how)
    agree("convolve_filter", x, g, tolerance=within, window=w.shape[:-2], **how)


def drawn(rng: np.random.Generator, rank: int, dtype: str) -> Iterator[Case]:
    """Calls with odd shapes: any strides, dilations and paddings in which the window fits."""
    while True:

        def numbers(low: int, high: int) -> tuple[int, ...]:
            return tuple(int(n) for n in rng.integers(low, high, rank))

        spatial, window = numbers(3, 9 if rank < 3 else 5), numbers(1, 4)
        pairs = zip(numbers(0, 3), numbers(0, 3), strict=True)
        how = {"strides": numbers(1, 4), "padding": tuple(pairs), "dilations": numbers(1, 4)}
        if min(reference.out_sizes(spatial, window, **how)) > 0:
            c_in, c_out = rng.choice([1, 2, 3, 8, 9]), rng.choice([1, 3, 6, 17])
            x = rng.standard_normal((int(rng.integers(1, 4)), *spatial, c_in)).astype(dtype)
            yield x, rng.standard_normal((*window, c_in, c_out)).astype(dtype), how


def plain(channels: int = 5, filters: int = 7, images: int = 2, dtype: str = "float32") -> Case:
    """A convolution over images."""
    rng = np.random.default_rng(2)
    how = {"strides": (1, 2), "padding": ((1, 1), (0, 2)), "dilations": (1, 1)}
    x = rng.standard_normal((images, 6, 7, channels)).astype(dtype)
    return x, rng.standard_normal((3, 2, channels, filters)).astype(dtype), how


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_random_shapes_and_settings(rank: int, dtype: str) -> None:
    """Any window, stride, dilation and padding, in one to three dimensions."""
    cases = drawn(np.random.default_rng(rank), rank, dtype)
    for _ in range(2):
        three(*next(cases))


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("stride", [1, 2])
def test_paddings_by_name(padding: str, stride: int) -> None:
    """The paddings that a layer asks for."""
    x, w, _ = plain()
    strides, ones = (stride, stride), (1, 1)
    around = reference.same_padding((6, 7), (3, 2), strides, ones) if padding == "SAME" else ((0, 0), (0, 0))
    three(x[:, :, :, :3], w[:, :, :3], {"strides": strides, "padding": around, "dilations": ones})


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(
    ("dtype", "size"), [("float32", 0), ("float32", 1), ("float32", 2), ("float64", 0), ("float64", 1)]
)
def test_every_layout_of_tiles(monkeypatch: pytest.MonkeyPatch, dtype: str, size: int) -> None:
    """Each tile, in a result that is several tiles high and wide and ends inside one."""
    tiles, filter_tiles = convolution_tiles.TILES[dtype], convolution_filter.TILES[dtype]
    monkeypatch.setattr(convolution, "tile_for", lambda *which: tiles[size])
    monkeypatch.setattr(convolution, "filter_tile_for", lambda *which: filter_tiles[size % len(filter_tiles)])
    three(*plain(channels=2, filters=33, dtype=dtype))


@pytest.mark.parametrize("columns", [1, 16, 17, 33])
def test_a_tile_is_chosen_by_the_channels(columns: int) -> None:
    """No tile is left idle by half; where there are few pixels, the smallest one takes them."""
    tile, _ = convolution_tiles.tile_for("float32", 10_000, columns, 2)
    narrowest = convolution_tiles.TILES["float32"][-1][0]
    assert tile == narrowest or (columns - 1) % tile.columns >= tile.columns // 2
    assert convolution_tiles.tile_for("float32", 1, columns, 2)[0] == narrowest


@pytest.mark.parametrize("taps", [1, 7, 8, 9])
def test_inner_axes_around_a_slab(taps: int) -> None:
    """One channel: a thread that copies every 8th column goes from tap to tap at each slab."""
    rng = np.random.default_rng(3)
    how = {"strides": (1,), "padding": ((0, 0),), "dilations": (1,)}
    three(rng.standard_normal((2, 12, 1)), rng.standard_normal((taps, 1, 2)), how)


@pytest.mark.parametrize("library", [True, False])
def test_windows_of_one_point(monkeypatch: pytest.MonkeyPatch, library: bool) -> None:
    """Plain matrices, multiplied by the library, or where there is none by the kernel."""
    monkeypatch.setattr(convolution, "library_works", lambda memory: library)
    x, w, how = plain()
    three(x, w[:1, :1], {"strides": (1, 1), "padding": ((0, 0), (0, 0)), "dilations": (2, 1)})
    three(x, w[:1, :1], {"strides": (1, 1), "padding": ((0, 1), (0, 0)), "dilations": (1, 1)})
    three(x, w[:1, :1], {**how, "padding": ((0, 0), (0, 0))})


def test_stride_beyond_the_window() -> None:
    """Elements of x that no window meets have no gradient: zeros are written where no tap is."""
    rng = np.random.default_rng(4)
    how = {"strides": (3, 4), "padding": ((0, 0), (1, 1)), "dilations": (1, 2)}
    three(rng.standard_normal((2, 8, 9, 3)), rng.standard_normal((2, 1, 3, 4)), how)


@pytest.mark.parametrize("images", [0, 1])
@pytest.mark.parametrize(("channels", "filters"), [(0, 3), (3, 0), (0, 0), (2, 2)])
def test_nothing_to_add_up(images: int, channels: int, filters: int) -> None:
    """No images, no channels, no filters: empty results, or zeros."""
    three(*plain(channels, filters, images))


def test_views() -> None:
    """Arrays that do not lie in a row are copied first."""
    x, w, how = plain()
    memory = on_gpu(x).memory
    y, g = reference.convolve(x, w, **how), np.random.default_rng(5).standard_normal((2, 6, 4, 7)).astype(np.float32)
    turned = memory.upload(x.transpose(3, 2, 1, 0).copy()).transpose(3, 2, 1, 0)
    every_other = memory.upload(np.repeat(w, 2, axis=-1))[..., ::2]
    backwards = memory.upload(g[::-1].copy())[::-1]
    assert y.shape == g.shape
    calls = (
        ("convolve", (turned, every_other), (x, w), how),
        ("convolve_input", (backwards, every_other), (g, w), {**how, "shape": x.shape}),
        ("convolve_filter", (turned, backwards), (x, g), {**how, "window": (3, 2)}),
    )
    for name, ours, theirs, params in calls:
        got = getattr(CudaKernels, name)(*ours, **params).to_host()
        np.testing.assert_allclose(got, getattr(reference, name)(*theirs, **params), rtol=1e-5, atol=1e-5)


def test_settings_in_lists() -> None:
    """As a recording that was read back has them."""
    x, w, how = plain()
    three(x, w, {name: [list(n) if isinstance(n, tuple) else n for n in value] for name, value in how.items()})


def test_sums_that_come_out_the_same() -> None:
    """The gradient with respect to the filter has the same bits at every run: many chunks, added in order."""
    x, w, how = plain(channels=1, filters=3, images=5)
    g = np.random.default_rng(6).standard_normal(reference.convolve(x, w, **how).shape).astype(np.float32)
    assert g[..., 0].size > 4 * convolution.LEAST
    first, again = (CudaKernels.convolve_filter(on_gpu(x), on_gpu(g), (3, 2), **how).to_host() for _ in range(2))
    assert first.tobytes() == again.tobytes()


def test_values_that_are_not_numbers() -> None:
    """A nan in x reaches the pixels whose windows meet it, and no others."""
    x, w, how = plain()
    x[0, 3, 2, 1] = np.nan
    three(x, w, how)


def test_what_is_left_to_the_reference() -> None:
    """Other dtypes, two dtypes, and more dimensions than three."""
    x, w, how = plain()
    assert declined("convolve", x.astype(np.int32), w.astype(np.int32), **how)
    assert declined("convolve", x, w.astype(np.float64), **how)
    four = {"strides": (1,) * 4, "padding": ((0, 0),) * 4, "dilations": (1,) * 4}
    assert declined("convolve", np.zeros((1, 2, 2, 2, 2, 1), np.float32), np.zeros((1,) * 6, np.float32), **four)


def test_second_derivatives() -> None:
    """The gradient of a gradient runs on the three kernels: each is a derivative of another."""
    rng = np.random.default_rng(7)
    x, w = (rng.standard_normal(shape).astype(np.float32) for shape in ((1, 5, 4, 2), (3, 2, 2, 3)))

    def twice(place: str) -> list[Any]:
        with lab.device(place):
            a, b = lab.constant(x), lab.constant(w)
            with lab.GradientTape() as outer:
                outer.watch([a, b])
                with lab.GradientTape() as inner:
                    inner.watch([a, b])
                    y = lab.reduce_sum(lab.nn.conv2d(a, b, strides=(2, 1), padding="SAME") ** 3)
                by_x, by_w = inner.gradient(y, [a, b])
                z = lab.reduce_sum(by_x * by_x) + lab.reduce_sum(by_w * by_w)
            return [grad.numpy() for grad in outer.gradient(z, [a, b])]

    for got, expected in zip(twice("/GPU:0"), twice("/CPU:0"), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-2 * np.abs(expected).max())
