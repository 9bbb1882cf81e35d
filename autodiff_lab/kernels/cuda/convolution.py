"""Convolution over one to three axes and its two gradients, on a GPU."""

from __future__ import annotations

from typing import Any

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.convolution_axes import AXES, MOST_PHASES, Geometry, backward, forward
from autodiff_lab.kernels.cuda.convolution_filter import LEAST
from autodiff_lab.kernels.cuda.convolution_filter import tile_for as filter_tile_for
from autodiff_lab.kernels.cuda.convolution_shares import shared
from autodiff_lab.kernels.cuda.convolution_tiles import tile_for
from autodiff_lab.kernels.cuda.launching import MOST, check_size, empty, flat, launch
from autodiff_lab.kernels.reference.convolution import Padding, Sizes


def _taken(a: DeviceArray, b: DeviceArray, geometry: Geometry) -> bool:
    """Whether kernels take these arrays: their pixels are counted in 32 bits up to the end of the last tile."""
    return (
        a.dtype == b.dtype
        and a.dtype.char in "fd"
        and a.ndim <= AXES + 2
        and geometry.phases <= MOST_PHASES
        and geometry.pixels < MOST - (1 << 20)
    )


def _made(source: DeviceArray, w: DeviceArray, shape: Sizes, geometry: Geometry) -> DeviceArray:
    """The result of that shape; w is (taps, channels of the source, channels of the result)."""
    made = empty(source, shape)
    if not made.size:
        return made
    if not source.size or not w.size:
        return source.memory.zeros(shape, source.dtype)
    tile, run = tile_for(source.dtype.name, geometry.pixels, geometry.written, source.memory.multiprocessors)
    blocks = -(-geometry.pixels // tile.rows) * -(-geometry.written // tile.columns)
    launch(run, (blocks, 1, geometry.phases), tile.threads, flat(source), flat(w), flat(made), *geometry.arguments())
    return made


def convolve(x: DeviceArray, w: DeviceArray, strides: Sizes, padding: Padding, dilations: Sizes) -> Any:
    """X (n, *spatial, c_in) with w (*window, c_in, c_out), as `reference.convolution.convolve`."""
    geometry = forward(x.shape[0], *w.shape[-2:], x.shape[1:-1], w.shape[:-2], strides, padding, dilations)
    if not _taken(x, w, geometry):
        return NotImplemented
    shape = (x.shape[0], *[axis.result for axis in geometry.axes][-len(strides) :], w.shape[-1])
    check_size("convolve", x.shape, w.shape, shape)
    return _made(x, w, shape, geometry)


def convolve_input(
    g: DeviceArray, w: DeviceArray, shape: Sizes, strides: Sizes, padding: Padding, dilations: Sizes
) -> Any:
    """The gradient by x, of the given shape, as `reference.convolution.convolve_input`."""
    geometry = backward(
        shape[0], *w.shape[:-3:-1], shape[1:-1], g.shape[1:-1], w.shape[:-2], strides, padding, dilations
    )
    if not _taken(g, w, geometry):
        return NotImplemented
    check_size("convolve_input", g.shape, w.shape, shape)
    return _made(g, w.memory.wrap(w.raw.swapaxes(-1, -2)), tuple(shape), geometry)


def convolve_filter(
    x: DeviceArray, g: DeviceArray, window: Sizes, strides: Sizes, padding: Padding, dilations: Sizes
) -> Any:
    """The gradient by w, (*window, c_in, c_out), as `reference.convolution.convolve_filter`."""
    geometry = forward(x.shape[0], x.shape[-1], g.shape[-1], x.shape[1:-1], window, strides, padding, dilations)
    if not _taken(x, g, geometry):
        return NotImplemented
    shape = (*window, x.shape[-1], g.shape[-1])
    check_size("convolve_filter", x.shape, g.shape, shape)
    if 0 in (x.size, g.size) or 0 in shape:
        return x.memory.zeros(shape, x.dtype)
    rows = geometry.taps * geometry.read
    tile, run = filter_tile_for(x.dtype.name, rows, geometry.written)
    blocks = -(-rows // tile.rows) * -(-geometry.written // tile.columns)
    given = flat(x), flat(g)

    def share_out(parts: DeviceArray, share: int, shares: int) -> None:
        launch(run, (blocks, shares), tile.threads, *given, parts, share, *geometry.arguments())

    return shared(x, shape, geometry.pixels, blocks, LEAST, share_out)
