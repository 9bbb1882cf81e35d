"""Running sums, products, log-sum-exps and first-order recurrences along an axis.

`running_scan` says how lines are scanned, and `running_walk` how many lines beside each other are.  Where neither the
axis is the last nor lines are many, the axis is first moved to the end, which costs a copy.

In a scan brackets are set otherwise than in the reference, which goes from one element to the next: sums differ by
rounding, and the product of a stretch may overflow where the product of all from the start on does not.  Where such a
product meets an exact 0 the result is 0, as it is in the reference; there, 0 times an infinite element is nan.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import check_size, cuda, math
from autodiff_lab.kernels.cuda.rows import as_rows, from_rows
from autodiff_lab.kernels.cuda.running_scan import Operation, Scan
from autodiff_lab.kernels.cuda.running_walk import Walk


@cuda.jit(device=True)
def _product(x: Any, y: Any) -> Any:
    """x·y, and 0 for 0·inf: a factor that is infinite is mostly one that overflowed."""
    made = x * y
    if math.isnan(made) and not math.isnan(x) and not math.isnan(y):
        return x if x == 0 else y
    return made


@cuda.jit(device=True)
def _sums(x: Any, _: Any, y: Any, factor: Any) -> Any:
    return x + y, factor


@cuda.jit(device=True)
def _products(x: Any, _: Any, y: Any, factor: Any) -> Any:
    return _product(x, y), factor


@cuda.jit(device=True)
def _logsumexps(x: Any, one: Any, y: Any, factor: Any) -> Any:
    """ln(e^x + e^y), as `numpy.logaddexp`."""
    if x == y:
        return x + math.log(one + one), factor
    return max(x, y) + math.log1p(math.exp(-abs(x - y))), factor


@cuda.jit(device=True)
def _recurrences(x: Any, scale: Any, y: Any, factor: Any) -> Any:
    """What a stretch makes of h is scale·h + x; the next one multiplies that by its factor and adds y."""
    return y + _product(factor, x), _product(scale, factor)


class _Both(NamedTuple):
    """The two ways of an operation."""

    scan: Scan
    walk: Walk

    def __call__(self, x: DeviceArray, a: DeviceArray, axis: int, exclusive: bool, reverse: bool) -> DeviceArray:
        """Scan x along an axis, with factors of a or with nothing but x."""
        if self.walk.serves(x, axis):
            return self.walk(x, a, axis, exclusive, reverse)
        flat, _, length = as_rows(x, axis)
        factors = flat if a is x else as_rows(a, axis)[0]
        return from_rows(self.scan(flat, factors, length, exclusive, reverse), x.shape, axis)


def _both(name: str, serves: str, operation: Operation, beside: int = 3, ahead: int = 8) -> _Both:
    return _Both(Scan(name, (serves,), operation, beside), Walk(name, (serves,), operation, ahead))


_SUM = _both("running_sum", "cumsum", Operation(_sums, 0.0, two=False))
_PRODUCT = _both("running_product", "cumprod", Operation(_products, 1.0, two=False))
_LOGSUMEXP = _both("running_logsumexp", "cumulative_logsumexp", Operation(_logsumexps, -math.inf, two=False), 2, 4)
_RECURRENCE = _both("recurrence", "recurrence", Operation(_recurrences, 0.0, two=True), beside=2)


def _along(op: str, run: _Both, x: DeviceArray, axis: int, exclusive: bool, reverse: bool) -> Any:
    if x.dtype.char not in "fd" or not x.size:
        return NotImplemented
    check_size(op, x.shape)
    return run(x, x, axis, exclusive, reverse)


def cumsum(x: DeviceArray, axis: int, exclusive: bool, reverse: bool) -> Any:
    """Sums of all elements up to each, as `reference.running.cumsum`."""
    return _along("cumsum", _SUM, x, axis, exclusive, reverse)


def cumprod(x: DeviceArray, axis: int, exclusive: bool, reverse: bool) -> Any:
    """Products of all elements up to each, as `reference.running.cumprod`."""
    return _along("cumprod", _PRODUCT, x, axis, exclusive, reverse)


def cumulative_logsumexp(x: DeviceArray, axis: int, reverse: bool) -> Any:
    """Ln Σ e^x of all elements up to each, as `reference.running.cumulative_logsumexp`."""
    return _along("cumulative_logsumexp", _LOGSUMEXP, x, axis, exclusive=False, reverse=reverse)


def recurrence(b: DeviceArray, a: DeviceArray, axis: int, reverse: bool) -> Any:
    """Each h is b plus a times the h before, as `reference.running.recurrence`."""
    if b.dtype.char not in "fd" or not b.size or b.dtype != a.dtype or b.shape[b.ndim - a.ndim :] != a.shape:
        return NotImplemented
    check_size("recurrence", b.shape)
    return _RECURRENCE(b, a, axis, exclusive=False, reverse=reverse)
