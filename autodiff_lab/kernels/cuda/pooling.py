"""Pooling and its gradients over one to three axes, as `reference.pooling`.

Passes through memory: one read of x and one write of the result for `max_pool` and `average_pool`; the gradient of
`average_pool` reads the shares and writes one image; that of `max_pool` looks for the largest elements again (one read
of x), keeps a number for each window, of one byte for windows of up to 255 elements, and gathers.  Windows that are
large and few, such as one for each image, leave most of the GPU idle: `reduce_max` and `reduce_mean` are for those.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import THREADS, blocks_for, check_size, empty, flat, launch
from autodiff_lab.kernels.cuda.pooling_elements import pool_gather_largest, pool_gather_means
from autodiff_lab.kernels.cuda.pooling_geometry import Plan, plan
from autodiff_lab.kernels.cuda.pooling_windows import pool_largest, pool_means, pool_pick, pool_places
from autodiff_lab.kernels.reference.convolution import Padding, Sizes

NUMBERED = 255
"""Elements of a window up to which their numbers fit into a byte, the largest of which stands for none."""


def _planned(op: str, x: DeviceArray, shape: Sizes, window: Sizes, strides: Sizes, padding: Padding) -> Plan | None:
    """What the kernels need; None for dtypes and ranks that they do not take."""
    if x.dtype.char not in "fd":
        return None
    made = plan(tuple(shape), tuple(window), tuple(strides), tuple(padding))
    if made is not None:
        check_size(op, tuple(shape), made.shape)
    return made


def _per_window(run: Any, made: Plan, dtype: Any, *arrays: DeviceArray) -> DeviceArray:
    """Run a kernel with a thread for each window."""
    out = empty(arrays[0], made.shape, dtype)
    launch(run, blocks_for(int(made.windows[0])), THREADS, *map(flat, arrays), flat(out), made.windows)
    return out


def _per_element(run: Any, made: Plan, shape: Sizes, *arrays: DeviceArray) -> DeviceArray:
    """Run a kernel with a thread for each element of x."""
    out = empty(arrays[0], shape)
    launch(run, blocks_for(int(made.elements[0])), THREADS, *map(flat, arrays), flat(out), made.elements)
    return out


def max_pool(x: DeviceArray, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """The largest element of each window; padding never wins."""
    made = _planned("max_pool", x, x.shape, window, strides, padding)
    return NotImplemented if made is None else _per_window(pool_largest, made, x.dtype, x)


def max_pool_input(g: DeviceArray, x: DeviceArray, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """The gradient of `max_pool` by x: each window's share goes to its largest element, the first of equals."""
    made = _planned("max_pool_input", x, x.shape, window, strides, padding)
    if made is None or g.dtype != x.dtype or g.shape != made.shape:
        return NotImplemented
    numbers = _per_window(pool_places, made, np.uint8 if prod(window) <= NUMBERED else np.uint32, x)
    return _per_element(pool_gather_largest, made, x.shape, g, numbers)


def max_pool_pick(h: DeviceArray, x: DeviceArray, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """The elements of h where those of x are the largest of their windows, 0 for nothing but padding."""
    made = _planned("max_pool_pick", x, x.shape, window, strides, padding)
    if made is None or h.dtype != x.dtype or h.shape != x.shape:
        return NotImplemented
    return _per_window(pool_pick, made, x.dtype, h, x)


def average_pool(x: DeviceArray, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """The mean of each window's elements; padding does not count."""
    made = _planned("average_pool", x, x.shape, window, strides, padding)
    return NotImplemented if made is None else _per_window(pool_means, made, x.dtype, x)


def average_pool_input(g: DeviceArray, shape: Sizes, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """The gradient of `average_pool` by x: each window's share is spread evenly."""
    made = _planned("average_pool_input", g, shape, window, strides, padding)
    if made is None or g.shape != made.shape:
        return NotImplemented
    return _per_element(pool_gather_means, made, tuple(shape), g)
