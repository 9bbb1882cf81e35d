"""How much two computations of one op may differ: its own rounding, and what its inputs differ by.

Rounding, with eps that of the narrower dtype: 0 for ops that only move or choose elements, a few ulps for elementwise
ops, n · eps · Σ|terms| for sums and products of matrices (N. J. Higham, *Accuracy and Stability of Numerical
Algorithms*, 2nd ed., 2002, sections 3.1 and 3.5). What the inputs differ by is multiplied by the derivative, to first
order, where it is known here; for all other ops a condition number of `CONDITION` is allowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from autodiff_lab.recording.snapshot import Snapshot, summarise

CONDITION = 100.0
"""How much relative differences of its inputs an op may magnify of which nothing else is known."""
EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "complex64": 2.0**-23}
ULPS = 8.0
MOVING = {
    "reshape", "transpose", "slice_axis", "gather", "concat", "stack", "identity", "broadcast_to", "negative", "abs",
    "maximum", "minimum", "relu", "max", "min", "pad", "reverse", "expand_dims", "squeeze", "stop_gradient", "cast",
    "repeat", "tile", "split", "unstack", "strided_slice", "slice",
}  # fmt: skip
"""Ops that change no digits: differences of their inputs pass at most as they are."""
SLOPES = {
    "exp": lambda x, y: abs(y), "log": lambda x, y: 1 / abs(x), "sin": lambda x, y: 1.0, "cos": lambda x, y: 1.0,
    "tanh": lambda x, y: 1.0, "sigmoid": lambda x, y: 0.25, "sqrt": lambda x, y: 0.5 / abs(y),
    "square": lambda x, y: 2 * abs(x), "reciprocal": lambda x, y: y * y, "softplus": lambda x, y: 1.0,
    "erf": lambda x, y: 1.13, "atan": lambda x, y: 1.0, "log1p": lambda x, y: 1 / abs(1 + x),
    "expm1": lambda x, y: abs(y) + 1,
}  # fmt: skip
"""Bounds of the derivative of ops of one input."""


SATURATING = {"sigmoid", "tanh", "softplus", "erf", "softmax"}
CHOOSING = {"maximum", "minimum", "relu", "abs"}


@dataclass(frozen=True, eq=False)
class Pair:
    """The same value in both recordings, as arrays of one precision; `whole` if every element is known."""

    a: Any
    b: Any
    eps: float
    whole: bool
    exact: bool
    """Whether it is not floating: then it has no rounding."""

    @property
    def apart(self) -> Any:
        """By how much they differ, element by element; 0 where both are the same infinity or nan."""
        if self.a.shape != self.b.shape:
            return np.asarray(np.inf)
        with np.errstate(all="ignore"):
            same = (self.a == self.b) | ((self.a != self.a) & (self.b != self.b))
            return np.where(same, 0.0, np.nan_to_num(abs(self.a - self.b), nan=np.inf, posinf=np.inf))

    @property
    def size(self) -> Any:
        """The larger magnitude of both."""
        return np.maximum(abs(self.a), abs(self.b))

    @property
    def largest(self) -> float:
        """The largest finite magnitude."""
        sizes = np.concatenate([abs(np.ravel(self.a)), abs(np.ravel(self.b))])
        sizes = sizes[np.isfinite(sizes)]
        return float(sizes.max(initial=0.0))

    @property
    def relative(self) -> float:
        """The largest difference over the largest magnitude."""
        apart = float(np.max(self.apart, initial=0.0))
        return 0.0 if apart == 0 else apart / (self.largest or 1.0)

    def excess(self, bound: Any) -> tuple[Any, float, float, Any, Any] | None:
        """Return the element that exceeds its bound most, None if none does."""
        apart, bound = self.apart, np.broadcast_to(np.nan_to_num(bound, nan=np.inf, posinf=np.inf), self.apart.shape)
        over = apart > bound
        if not over.any():
            return None
        with np.errstate(all="ignore"):
            share = np.where(over, apart / np.maximum(bound, 1e-300), 0.0)
        at = np.unravel_index(int(np.argmax(share)), share.shape)
        index = tuple(int(i) for i in at) if self.whole and apart.shape else None
        return index, float(apart[at]), float(bound[at]), self.a[at].item(), self.b[at].item()


def pair_of(one: Snapshot, other: Snapshot) -> Pair:
    """Put two snapshots beside each other; of large values what their summaries have.

    Examples
    --------
    >>> from autodiff_lab.recording.snapshot import snapshot
    >>> pair = pair_of(snapshot(np.float32(1.0)), snapshot(np.float64(1.0)))
    >>> pair.eps == 2.0**-23, float(pair.apart)
    (True, 0.0)
    """
    eps = max(EPS.get(one.dtype, 2.0**-52), EPS.get(other.dtype, 2.0**-52))
    exact = not one.dtype.startswith(("float", "bfloat", "complex"))
    if one.array is not None and other.array is not None:
        return Pair(_wide(one.array), _wide(other.array), eps, True, exact)
    if one.shape != other.shape:
        return Pair(np.zeros(1), np.zeros(2), eps, False, exact)
    return Pair(_known(one), _known(other), eps, False, exact)


def _wide(array: Any) -> Any:
    array = np.asarray(array)
    if array.dtype.kind in "OSU":
        return np.array([hash(item) % 2**31 for item in array.ravel()], float).reshape(array.shape)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _known(value: Snapshot) -> Any:
    known = value.summary if value.array is None else summarise(np.asarray(value.array))
    if known is None:
        return np.zeros(1)
    numbers = (known.minimum, known.mean, known.maximum, known.nan, known.inf, *known.first)
    return np.array([0.0 if n is None or isinstance(n, str) else n for n in numbers])


def leaf_bound(pair: Pair) -> Any:
    """Return how much a value that enters both programs may differ: by its rounding to the narrower dtype."""
    return 0.0 if pair.exact else (pair.eps if pair.whole else 16 * pair.eps) * np.maximum(pair.size, 1e-300)


def op_bound(op: str, out: Pair, inputs: list[Pair], params: dict[str, Any]) -> Any:
    """Return how much the results of an op may differ, for each element.

    Examples
    --------
    >>> from autodiff_lab.recording.snapshot import snapshot
    >>> one = pair_of(snapshot(np.float32(1.0)), snapshot(np.float32(1.0)))
    >>> bool(op_bound("sin", one, [one], {}) < 1e-6)
    True
    """
    eps = max([out.eps, *(pair.eps for pair in inputs if not pair.exact)])
    if out.exact or not out.whole or not all(pair.whole for pair in inputs):
        return _unknown(out, inputs, eps)
    with np.errstate(all="ignore"):
        own = ULPS * eps * out.size
        known = _passed_on(op, out, inputs, params, eps)
        if known is None:
            return _unknown(out, inputs, eps)
        try:
            return np.broadcast_to(2 * known, out.a.shape) + own
        except ValueError:
            return _unknown(out, inputs, eps)


def _passed_on(op: str, out: Pair, inputs: list[Pair], params: dict[str, Any], eps: float) -> Any:
    """Return what the differences of the inputs become, to first order, with the rounding of sums."""
    if len(inputs) == 1:
        (x,) = inputs
        if op in SLOPES:
            return np.broadcast_to(SLOPES[op](x.a, out.a), x.a.shape) * x.apart
        if op in ("sum", "mean"):
            axes = params.get("axes")
            axes = None if axes is None else tuple(axes)
            count = x.a.size / max(out.a.size, 1)
            total = (x.apart + count * eps * x.size).sum(axis=axes, keepdims=bool(params.get("keepdims")))
            return total if op == "sum" else total / max(count, 1)
        return x.apart.max(initial=0.0) if op in MOVING else None
    if len(inputs) == 2:
        x, y = inputs
        if op in ("add", "subtract"):
            return x.apart + y.apart + eps * (x.size + y.size)
        if op == "multiply":
            return x.size * y.apart + y.size * x.apart
        if op == "divide":
            return (x.apart + out.size * y.apart) / np.minimum(abs(y.a), abs(y.b))
        if op == "matmul" and x.a.ndim >= 2 <= y.a.ndim:
            left = x.size if not params.get("transpose_a") else np.swapaxes(x.size, -1, -2)
            right = y.size if not params.get("transpose_b") else np.swapaxes(y.size, -1, -2)
            d_left = x.apart if not params.get("transpose_a") else np.swapaxes(x.apart, -1, -2)
            d_right = y.apart if not params.get("transpose_b") else np.swapaxes(y.apart, -1, -2)
            return d_left @ right + left @ d_right + left.shape[-1] * eps * (left @ right)
    if op in MOVING:
        return max((float(pair.apart.max(initial=0.0)) for pair in inputs), default=0.0)
    return None


def _unknown(out: Pair, inputs: list[Pair], eps: float) -> Any:
    """Allow for an op of which nothing is known: nothing at equal inputs if it has no rounding, else n · eps."""
    relative = max((pair.relative for pair in inputs), default=0.0)
    if out.exact:
        return np.inf if relative > 0 else 0.0
    largest = max([out.largest, *(pair.largest for pair in inputs)]) if relative else out.largest
    count = max([out.a.size, *(pair.a.size for pair in inputs)]) if out.whole else 1000
    return largest * (CONDITION * relative + ULPS * eps * np.sqrt(count))


def flow_bound(out: Pair, incoming: list[Pair], around: list[Pair], local: Pair | None, op: str = "") -> Any:
    """Return how much a contribution may differ, given the adjoints that came in, and the op's inputs and results.

    Where an op chooses between inputs that are as good as equal, the two programs may choose differently.
    """
    eps = max([out.eps, *(pair.eps for pair in (*incoming, *around) if not pair.exact)])
    relative = max((pair.relative for pair in (*incoming, *around)), default=0.0)
    size = out.largest
    if local is not None and local.whole and incoming:
        size = max(size, local.largest * incoming[0].largest)
    elif relative:
        size = max([size, *(pair.largest for pair in incoming)])
    count = max([out.a.size, *(pair.a.size for pair in (*incoming, *around))]) if out.whole else 1000
    bound: Any = size * (CONDITION * relative + 2 * ULPS * eps * np.sqrt(count))
    if op in SATURATING and incoming:  # their rules compute 1 - y, which has few digits left
        bound += ULPS * eps * incoming[0].largest
    if relative and op in CHOOSING:
        x = around[0]
        y = around[1] if op in ("maximum", "minimum") else Pair(0 * x.a, 0 * x.b, x.eps, x.whole, x.exact)
        if x.a.shape == y.a.shape == out.a.shape:
            tied = np.minimum(abs(x.a - y.a), abs(x.b - y.b)) <= 4 * (x.apart + y.apart)
            return np.where(tied & (x.apart + y.apart > 0), np.inf, bound)
    return bound


def sum_bound(before: Pair, more: Pair) -> Any:
    """Return how much an adjoint may differ after a contribution was added."""
    eps = max(before.eps, more.eps)
    return before.apart + more.apart + 4 * eps * (before.size + more.size)
