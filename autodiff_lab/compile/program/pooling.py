"""Means of windows that lie side by side, and their gradients, as sums along one axis after the other.

A window of p by q elements is an axis of p rows and one of q columns in each of them.  Other windows, which
overlap or lie across the edge, are left to the kernel.
"""

from __future__ import annotations

import math

import numpy as np

from autodiff_lab.compile.program.forms import Writing
from autodiff_lab.compile.program.program import Line

MOST = 1 << 16
"""Elements of the largest array that is averaged in steps; the kernel's loops are as fast with more."""
POOLING = frozenset({"average_pool", "average_pool_input"})


def pooled(to: Writing, line: Line) -> bool:
    """Write the mean of each window, or spread a cotangent over them; return False for windows not side by side."""
    spreads = line.op.name == "average_pool_input"
    x, out = to.values[line.ins[0]], to.values[line.outs[0]]
    whole, windows = (out.shape, x.shape) if spreads else (x.shape, out.shape)
    window, padding = line.params["window"], line.params["padding"]
    fits = all(n * k == m for n, k, m in zip(windows[1:-1], window, whole[1:-1], strict=True))
    if not fits or tuple(line.params["strides"]) != tuple(window) or any(map(any, padding)):
        return False
    if x.dtype.name not in ("float32", "float64") or x.memory is not None or not 0 < math.prod(whole) <= MOST:
        return False
    (_spread if spreads else _averaged)(to, line, windows, tuple(window))
    return True


def _averaged(to: Writing, line: Line, windows: tuple[int, ...], window: tuple[int, ...]) -> None:
    batch, *lengths, channels = windows
    found, rest = line.ins[0], channels
    for axis in reversed(range(len(window))):
        before = batch * math.prod(n * k for n, k in zip(lengths[:axis], window[:axis], strict=True))
        rows = (before * lengths[axis], window[axis], rest)
        found = to.add("reshape", (found,), {"shape": rows}, rows, line)
        found = to.add("sum", (found,), {"axes": (-2,), "keepdims": False}, (rows[0], rest), line)
        rest *= lengths[axis]
    scale = to.constant(to.values[line.ins[0]].dtype.type(1 / math.prod(window)))
    found = to.add("multiply", (found, scale), {}, to.values[found].shape, line)
    to.end(line, "reshape", found, shape=windows)


def _spread(to: Writing, line: Line, windows: tuple[int, ...], window: tuple[int, ...]) -> None:
    batch, *lengths, channels = windows
    kind, found, rest = to.values[line.ins[0]].dtype, line.ins[0], channels
    for axis in reversed(range(len(window))):
        rows = (batch * math.prod(lengths[: axis + 1]), 1, rest)
        part = 1 / math.prod(window) if axis == len(window) - 1 else 1
        ones = to.constant(np.full((window[axis], 1), part, kind))
        found = to.add("reshape", (found,), {"shape": rows}, rows, line)
        found = to.add("multiply", (found, ones), {}, (rows[0], window[axis], rest), line)
        rest *= window[axis] * lengths[axis]
    to.end(line, "reshape", found, shape=to.values[line.outs[0]].shape)
