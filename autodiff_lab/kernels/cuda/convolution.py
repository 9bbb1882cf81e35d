"""Convolution over one to three axes and its two gradients, on a GPU."""

from __future__ import annotations

from typing import Any

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.convolution_axes import MOST_PHASES, Geometry, backward, forward
from autodiff_lab.kernels.cuda.convolution_tiles import tile_for
from autodiff_lab.kernels.cuda.launching import check_size, empty, flat, launch
from autodiff_lab.kernels.reference.convolution import Padding, Sizes


def _taken(a: DeviceArray, b: DeviceArray, rank: int) -> bool:
    return a.dtype == b.dtype and a.dtype.char in "fd" and rank <= 3


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
    if not _taken(x, w, x.ndim - 2):
        return NotImplemented
    geometry = forward(x.shape[0], *w.shape[-2:], x.shape[1:-1], w.shape[:-2], strides, padding, dilations)
    shape = (x.shape[0], *[axis.result for axis in geometry.axes][-len(strides):], w.shape[-1])
    check_size("convolve", x.shape, w.shape, shape)
    return _made(x, w, shape, geometry)


def convolve_input(
    g: DeviceArray, w: DeviceArray, shape: Sizes, strides: Sizes, padding: Padding, dilations: Sizes
) -> Any:
    """The gradient by x, of the given shape, as `reference.convolution.convolve_input`."""
    geometry = backward(
        shape[0], *w.shape[:-3:-1], shape[1:-1], g.shape[1:-1], w.shape[:-2], strides, padding, dilations
    )
    if not _taken(g, w, g.ndim - 2) or geometry.phases > MOST_PHASES:
        return NotImplemented
    check_size("convolve_input", g.shape, w.shape, shape)
    return _made(g, w.swapaxes(-1, -2), tuple(shape), geometry)
