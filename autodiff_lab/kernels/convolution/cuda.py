"""Convolution over one to three axes and its two gradients, on a GPU: products of matrices that are not written down.

One kernel computes the convolution and its gradient with respect to the input (`cuda_tiles`, with
`cuda_axes`), another the gradient with respect to the filter (`cuda_filter`); both multiply as `cuda_tiles` describes.
A window of one point leaves plain matrices, which the library multiplies.  The zeros around x are multiplied too, so an
infinite weight gives nan there, as in a convolution of a padded x.

What limits them, for 256 images of 56 x 56 x 64 with a window of 3 x 3 and 64 filters in float32:

- Arithmetic: 29.6 thousand million multiplications, each with an addition: 1.0 ms at 60 TFLOP/s.  Memory: x is read
  and y written once, 411 MB, 0.1 ms; 8 of 9 taps find x in a cache.  So arithmetic it is, at 144 operations a byte.
- Issue: from one slab to the next a thread has 707 instructions, counted in the machine code for an H200.  512
  multiply, 32 load 16 bytes from shared memory, 12 load from global memory, and the rest finds places.  That allows
  0.72 of the peak; 0.65 for the filter's gradient, which finds more places.
- Shared memory: those 32 loads are 4 for 64 multiplications.  One takes 1 to 4 cycles, as addresses of neighbours
  coincide; at 4 it would keep shared memory as busy as the arithmetic.
- Second-level cache: 6 kB for 65,536 multiplications of a block, 1.7 TB/s at 0.6 of the peak, less what the first-level
  cache answers.
- Occupancy: 128 threads of 128 registers and 18 kB of shared memory a block (17 kB for the filter's gradient): 4
  blocks, 16 of 64 warps, on a multiprocessor.  They suffice, as each thread has 64 sums that do not wait for each
  other.

Expected from this: 0.5 to 0.6 of the peak, 1.6 to 2 ms.  None of it was measured on a GPU; what shared memory takes,
and how well other blocks hide the barrier of each slab, only a GPU can tell.  With 3 channels a thread looks for
places at every slab, which allows 0.57 of the peak; with fewer than 32 filters part of the narrowest tile has no
work.  In float64 a thread has 8 by 4 sums: 256 multiplications in some 420 instructions, which units of half the
number hide.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.kernels.convolution.cuda_axes import Geometry, backward, forward
from autodiff_lab.kernels.convolution.cuda_depthwise import depthwise, depthwise_filter, depthwise_input
from autodiff_lab.kernels.convolution.cuda_filter import LEAST, sum_of_chunks
from autodiff_lab.kernels.convolution.cuda_filter import tile_for as filter_tile_for
from autodiff_lab.kernels.convolution.cuda_tiles import tile_for
from autodiff_lab.kernels.convolution.reference import Padding, Sizes
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import MOST, check_size, empty, flat, launch
from autodiff_lab.kernels.cuda.library import library_works

__all__ = ["convolve", "convolve_filter", "convolve_input", "depthwise", "depthwise_filter", "depthwise_input"]


def _taken(a: DeviceArray, b: DeviceArray, geometry: Geometry) -> bool:
    return geometry.takes(a, b, geometry.pixels, MOST - (1 << 20))  # up to the end of the last tile


def _is_product(geometry: Geometry) -> bool:
    """Return whether the window is one point that meets every element in turn."""
    plain = [(1, 1, 1, 0, axis.source) for axis in geometry.axes]
    return plain == [(a.window, a.multiple, a.phases, a.begin, a.result) for a in geometry.axes]


def _made(source: DeviceArray, w: DeviceArray, shape: Sizes, geometry: Geometry) -> DeviceArray:
    """Return the result of that shape; w is (taps, channels of the source, channels of the result)."""
    if 0 in shape or not source.size or not w.size:
        return source.memory.zeros(shape, source.dtype)
    if _is_product(geometry) and library_works(source.memory):
        module = source.memory.module
        left, right = source.raw.reshape(-1, geometry.read), w.raw.reshape(geometry.read, geometry.written)
        return source.memory.wrap(module.matmul(left, right).reshape(shape))
    made = empty(source, shape)
    tile, run = tile_for(source.dtype.name, geometry.pixels, geometry.written, source.memory.multiprocessors)
    blocks = -(-geometry.pixels // tile.rows) * -(-geometry.written // tile.columns)
    launch(run, (blocks, 1, geometry.phases), tile.threads, flat(source), flat(w), flat(made), *geometry.arguments())
    return made


def convolve(x: DeviceArray, w: DeviceArray, strides: Sizes, padding: Padding, dilations: Sizes) -> Any:
    """Convolve x (n, *spatial, c_in) with w (*window, c_in, c_out), as `reference.convolve`."""
    geometry = forward((x.shape[0], *w.shape[-2:]), x.shape[1:-1], w.shape[:-2], strides, padding, dilations)
    if not _taken(x, w, geometry):
        return NotImplemented
    shape = (x.shape[0], *[axis.result for axis in geometry.axes][-len(strides) :], w.shape[-1])
    check_size("convolve", x.shape, w.shape, shape)
    return _made(x, w, shape, geometry)


def convolve_input(
    g: DeviceArray, w: DeviceArray, shape: Sizes, strides: Sizes, padding: Padding, dilations: Sizes
) -> Any:
    """Return the gradient with respect to x, of the given shape, as `reference.convolve_input`."""
    geometry = backward(
        (shape[0], *w.shape[:-3:-1]), shape[1:-1], g.shape[1:-1], w.shape[:-2], strides, padding, dilations
    )
    if not _taken(g, w, geometry):
        return NotImplemented
    check_size("convolve_input", g.shape, w.shape, shape)
    return _made(g, w.memory.wrap(w.raw.swapaxes(-1, -2)), tuple(shape), geometry)


def convolve_filter(
    x: DeviceArray, g: DeviceArray, window: Sizes, strides: Sizes, padding: Padding, dilations: Sizes
) -> Any:
    """Return the gradient with respect to w, (*window, c_in, c_out), as `reference.convolve_filter`."""
    geometry = forward((x.shape[0], x.shape[-1], g.shape[-1]), x.shape[1:-1], window, strides, padding, dilations)
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

    def launch_chunks(parts: DeviceArray, chunk: int, chunks: int) -> None:
        launch(run, (blocks, chunks), tile.threads, *given, parts, chunk, *geometry.arguments())

    return sum_of_chunks(x, shape, geometry.pixels, blocks, LEAST, launch_chunks)
