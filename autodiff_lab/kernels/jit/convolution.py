"""Overrides of convolution and its two gradients, over one to three axes, in float32 and float64.

Threads share the images.  Results hang neither on the number of threads nor on what the machine does besides.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.jit import convolution_plans as plans
from autodiff_lab.kernels.jit.compiling import override, row_major
from autodiff_lab.kernels.jit.convolution_loops import correlate, correlate_filter
from autodiff_lab.kernels.jit.convolution_tiles import BYTES
from autodiff_lab.kernels.reference.convolution import Padding, Sizes
from autodiff_lab.kernels.threads import spread


def _flat(array: Any) -> Any:
    return row_major(array).reshape(-1)


def _correlated(plan: plans.Plan, x: Any, w: Any, out: Any) -> None:
    """Run a plan of `correlate` on flat arrays, images spread over threads."""
    run = correlate[x.dtype]

    def images(low: int, high: int) -> None:
        image = np.zeros(plan.image, x.dtype)
        panel = np.empty(plan.taps.size * plan.sizes[0] * (2 * BYTES // x.itemsize), x.dtype)
        run(x, w, out, image, panel, plan.offsets, plan.taps, plan.sizes, low, high)

    spread(images, plan.out[0], plan.least)


def _sample(work: int, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """A convolution of a 3x3 window, of about that many multiplications."""
    n = max(1, work // (12 * 12 * 72 * 8))
    side = 12 if work >= 12 * 12 * 72 * 8 else max(3, int((work / (72 * 8)) ** 0.5))
    x, w = np.ones((n, side, side, 8), dtype), np.ones((3, 3, 8, 8), dtype)
    return (x, w), {"strides": (1, 1), "padding": ((1, 1), (1, 1)), "dilations": (1, 1)}


def _sample_of_input(work: int, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    (x, w), how = _sample(work, dtype)
    return (x, w), {"shape": x.shape, **how}


def _sample_of_filter(work: int, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    (x, _), how = _sample(work, dtype)
    return (x, x), {"window": (3, 3), **how}


@override(correlate, sample=_sample)
def convolve(x: Any, w: Any, strides: Sizes, padding: Padding, dilations: Sizes) -> Any:
    """X (n, *spatial, c_in) with w (*window, c_in, c_out) -> (n, *out, c_out)."""
    plan = plans.forward(x.shape, w.shape, strides, padding, dilations) if x.dtype == w.dtype else None
    if plan is None:
        return NotImplemented
    out = np.empty(plan.out, x.dtype)
    _correlated(plan, _flat(x), _flat(w), out.reshape(-1))
    return out


@override(correlate, sample=_sample_of_input)
def convolve_input(g: Any, w: Any, shape: Sizes, strides: Sizes, padding: Padding, dilations: Sizes) -> Any:
    """The gradient by x, of the given shape."""
    found = plans.backward(g.shape, w.shape, tuple(shape), strides, padding, dilations) if g.dtype == w.dtype else None
    if found is None or not np.isfinite(w).all():  # zeros around g would make nan of what is infinite
        return NotImplemented
    out = np.empty(shape, g.dtype)
    flat, g, w = out.reshape(-1), _flat(g), _flat(w)
    for plan in found:
        _correlated(plan, g, w, flat)
    return out


@override(correlate_filter, sample=_sample_of_filter)
def convolve_filter(x: Any, g: Any, window: Sizes, strides: Sizes, padding: Padding, dilations: Sizes) -> Any:
    """The gradient by w: (*window, c_in, c_out)."""
    shape = (*window, x.shape[-1], g.shape[-1])
    plan = plans.forward(x.shape, shape, strides, padding, dilations) if x.dtype == g.dtype else None
    if plan is None or plan.out != g.shape:
        return NotImplemented
    out = np.empty((plan.blocks, *shape), x.dtype)
    flat, x, g = out.reshape(-1), _flat(x), _flat(g)
    run = correlate_filter[x.dtype]

    def blocks(low: int, high: int) -> None:
        run(x, g, flat, np.zeros(plan.image, x.dtype), plan.offsets, plan.rows, plan.sizes, low, high)

    spread(blocks, plan.blocks, max(1, plan.least // int(plan.sizes[25])))
    return out[0] if plan.blocks == 1 else np.add.reduce(out, axis=0)
