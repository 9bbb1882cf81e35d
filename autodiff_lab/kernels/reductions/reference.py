"""Products with a mask: what the mask leaves out is 0, even where the other factor is infinite.

Means, extremes and log-sum-exps over axes, which are negative and sorted; sums are in `base.columns`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.arrays import full
from autodiff_lab.kernels.base.columns import sum_over_axes
from autodiff_lab.kernels.base.halves import accumulator, as_float32
from autodiff_lab.kernels.checks import complex_refused


def gate(x: Any, mask: Any) -> Any:
    """Multiply by a mask; where it is 0 the result is 0 or -0, whatever x is.

    The product is taken as it is unless it holds a nan: to choose element by element takes several times as long.
    """
    out = x * mask
    total = np.vdot(out, out) if out.__class__ is np.ndarray and out.dtype.char in "fd" else out
    if isinstance(total, np.floating) and total == total:  # noqa: PLR0124 - nan is not equal to itself
        return out
    return np.where(mask == 0, out.dtype.type(0), out)[()]


Axes = tuple[int, ...]


def mean_over(x: Any, axes: Axes, keepdims: bool) -> Any:
    """Mean in the dtype of x: of integers it is cut towards 0, half floats are added up in float32."""
    if x.dtype.kind in "iu":  # a mean fits its dtype; the sum and the number of elements need not
        whole = np.add.reduce(x, axis=axes, keepdims=keepdims, dtype=np.uint64 if x.dtype.kind == "u" else np.int64)
        number = whole.dtype.type(max(count(x, axes), 1))
        mean = whole // number
        if x.dtype.kind == "i":
            mean = mean + ((whole < 0) & (mean * number != whole))
        return mean.astype(x.dtype)
    if x.itemsize == 2:
        return as_float32(mean_over, x, axes=axes, keepdims=keepdims)
    total = sum_over_axes(x, axes, keepdims)
    mean = total / count(x, axes)  # of the dtype of the sum
    return mean if mean.dtype is x.dtype else mean.astype(x.dtype)


def max_over(x: Any, axes: Axes, keepdims: bool) -> Any:
    """Largest element; nan if any is."""
    if x.dtype.kind == "c":
        raise complex_refused("reduce_max", x.dtype)
    try:
        return np.maximum.reduce(x, axis=axes, keepdims=keepdims)
    except ValueError:
        return _of_nothing(x, axes, keepdims, largest=False)


def min_over(x: Any, axes: Axes, keepdims: bool) -> Any:
    """Least element; nan if any is."""
    if x.dtype.kind == "c":
        raise complex_refused("reduce_min", x.dtype)
    try:
        return np.minimum.reduce(x, axis=axes, keepdims=keepdims)
    except ValueError:
        return _of_nothing(x, axes, keepdims, largest=True)


def _of_nothing(x: Any, axes: Axes, keepdims: bool, largest: bool) -> Any:
    """Return what changes no extreme that it is compared with: an infinity, or an end of the range of integers."""
    if x.size:
        raise ValueError(f"{x.dtype} has no order")
    if x.dtype.kind in "iu":
        limits = np.iinfo(x.dtype)
        value = limits.max if largest else limits.min
    else:
        value = np.inf if largest else -np.inf
    return full(shape_over(x, axes, keepdims), value, x)[()]


def extreme_grad(g: Any, best: Any, x: Any, axes: Axes) -> Any:
    """G where x is the best of its axes, in equal parts where several are, else 0; g and best have length 1 there.

    Cotangents may have further axes before those of x.  Where a nan is the best there are no parts: nan.
    """
    chosen = (x == best).astype(accumulator(g.dtype))
    chosen /= np.add.reduce(chosen, axis=axes, keepdims=True)
    parts = gate(g, chosen)
    return parts if parts.dtype is g.dtype else parts.astype(g.dtype)


def logsumexp_over(x: Any, axes: Axes, keepdims: bool) -> Any:
    """Return ln Σ e^x, without overflow; -inf where there is nothing to add up."""
    if x.itemsize == 2:
        return as_float32(logsumexp_over, x, axes=axes, keepdims=keepdims)
    made, top = _exponentials(x, axes)
    total = np.log(np.add.reduce(made, axis=axes, keepdims=True))
    total += top
    return total if keepdims else total.reshape(shape_over(x, axes, keepdims))[()]


def softmax_over(x: Any, axes: Axes) -> Any:
    """Return e^x over its sum over axes, the derivative of `logsumexp_over`; 0 where all elements are -inf.

    Taking e^(x - y) with the rounded result y would be wrong: its error grows with y, and at 1e8 it gives 1 for 0.5.
    """
    if x.itemsize == 2:
        return as_float32(softmax_over, x, axes=axes)
    made, _ = _exponentials(x, axes)
    total = np.add.reduce(made, axis=axes, keepdims=True)
    if _holds_everywhere(total):
        made /= total
        return made
    return made / np.where(total == 0, x.dtype.type(1), total)


def _exponentials(x: Any, axes: Axes) -> tuple[Any, Any]:
    """Return e^(x - top) and the largest elements, or 0 where they are not finite; the axes stay with length 1."""
    top = np.maximum.reduce(x, axis=axes, keepdims=True, initial=-np.inf)
    finite = np.isfinite(top)
    if not _holds_everywhere(finite):
        top = np.where(finite, top, x.dtype.type(0))
    made = x - top
    return np.exp(made, made) if made.__class__ is np.ndarray else np.exp(made), top


def _holds_everywhere(condition: Any) -> bool:
    """Return whether all elements are true; False on a GPU, where the answer would cost a copy to the CPU."""
    return condition.__class__ is np.ndarray and bool(np.logical_and.reduce(condition, axis=None))


def count(x: Any, axes: Axes) -> int:
    """Return how many elements become one."""
    found = 1
    for a in axes:
        found *= x.shape[a]
    return found


def shape_over(x: Any, axes: Axes, keepdims: bool) -> tuple[int, ...]:
    """Return the shape of what is left."""
    rank = len(x.shape)
    if keepdims:
        return tuple(1 if i - rank in axes else n for i, n in enumerate(x.shape))
    return tuple(n for i, n in enumerate(x.shape) if i - rank not in axes)
