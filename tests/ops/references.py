"""Reference implementations of the ops of the larger families, in NumPy and SciPy or two lines of Python."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize
import scipy.special


def _where_the_share_is(a: float, u: float) -> float:
    """Search the number below which gamma numbers fall with probability u, or above which they do with -u."""
    miss = lambda x: scipy.special.gammainc(a, x) - (u if u >= 0 else 1 + u)  # noqa: E731
    return scipy.optimize.brentq(miss, 0.0, 1e4, xtol=1e-15, rtol=1e-14)


def _slope_by_a(a: Any, x: Any, order: int) -> Any:
    """Differentiate the series of P(a, x) by a with complex steps; SciPy's loggamma takes complex numbers."""
    a, x = np.broadcast_arrays(a, x)

    def value(shift: complex) -> Any:
        z = a[..., None] + np.arange(200) + shift
        return np.exp(z * np.log(x)[..., None] - x[..., None] - scipy.special.loggamma(z + 1)).sum(-1)

    # Cauchy's formula: the mean over a circle of f(a + r u) / (r u)^n, times n!.
    unit = 0.1 * np.exp(2j * np.pi * np.arange(32) / 32)
    return sum(value(u) / u**order for u in unit).real / 32 * order


def _recurrence(b: Any, a: Any, axis: int, reverse: bool) -> Any:
    """Solve (1 - A) h = b with A one below the diagonal, or one above it."""
    b, a = np.moveaxis(b, axis, -1), np.moveaxis(a, axis, -1)
    n = b.shape[-1]
    matrix = np.zeros((*a.shape, n))
    for i in range(n):
        before = i + 1 if reverse else i - 1
        matrix[..., i, i] = 1
        if 0 <= before < n:
            matrix[..., i, before] = -a[..., i]
    return np.moveaxis(np.linalg.solve(matrix, b[..., None])[..., 0], -1, axis)


def _running(reduce: Callable[..., Any], x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    n = x.shape[axis]
    parts = [range(i + 1 - exclusive) if not reverse else range(i + exclusive, n) for i in range(n)]
    rows = [reduce(np.take(x, part, axis), axis=axis) for part in parts]
    return np.stack(rows, axis) if rows else x


def _by_segment(reduce: Callable[..., Any], x: Any, ids: Any, count: int, empty: float) -> Any:
    whole = np.full((count, *x.shape[1:]), float(empty))
    for segment in set(ids.tolist()):
        whole[segment] = reduce(x[ids == segment], axis=0)
    return whole


MATHEMATICS: dict[str, Callable[..., Any]] = {
    # Complex numbers.
    "widen": lambda x: x + 0j,
    "real_part": np.real,
    "imaginary_part": np.imag,
    "conj": np.conj,
    "angle": np.angle,
    "complex": lambda x, y: x + 1j * y,
    # Elementwise.
    "atan2": np.arctan2,
    "clip": np.clip,
    "divide_no_nan": lambda x, y: x / y,
    "multiply_no_nan": np.multiply,
    "gate": np.multiply,
    "tanh_grad": lambda g, y: g - g * y**2,
    "sigmoid_grad": lambda g, y: g * y - g * y**2,
    "nextafter": np.nextafter,
    "not_zero": lambda x: np.where(x == 0, 0.0, 1.0),
    "reciprocal_no_nan": lambda x: x**-1.0,
    "rint": np.round,
    "softsign": lambda x: x / (np.abs(x) + 1),
    "squared_difference": lambda x, y: x * x - 2 * x * y + y * y,
    "truncated_quotient": lambda x, y: np.trunc(x / y),
    "truncatediv": lambda x, y: np.trunc(x / y),
    "truncatemod": np.fmod,
    "xdivy": np.divide,
    "xlog1py": scipy.special.xlog1py,
    "xlogy": scipy.special.xlogy,
    # Special functions.
    "bessel_i0": lambda x: scipy.special.iv(0, x),
    "bessel_i0e": lambda x: scipy.special.ive(0, x),
    "bessel_i1": lambda x: scipy.special.iv(1, x),
    "bessel_i1e": lambda x: scipy.special.ive(1, x),
    "bessel_iv": lambda x, order: scipy.special.iv(order, x),
    "bessel_ive": lambda x, order: scipy.special.ive(order, x),
    "bessel_j0": lambda x: scipy.special.jv(0, x),
    "bessel_j1": lambda x: scipy.special.jv(1, x),
    "bessel_jv": lambda x, order: scipy.special.jv(order, x),
    "bessel_k0": lambda x: scipy.special.kv(0, x),
    "bessel_k0e": lambda x: scipy.special.kve(0, x),
    "bessel_k1": lambda x: scipy.special.kv(1, x),
    "bessel_k1e": lambda x: scipy.special.kve(1, x),
    "bessel_y0": lambda x: scipy.special.yv(0, x),
    "bessel_y1": lambda x: scipy.special.yv(1, x),
    "betainc": scipy.special.betainc,
    "dawsn": scipy.special.dawsn,
    "digamma": lambda x: scipy.special.polygamma(0, x),
    "trigamma": lambda x: scipy.special.polygamma(1, x),
    "erf": scipy.special.erf,
    "erfc": lambda x: 1 - scipy.special.erf(x),
    "erfcinv": lambda x: scipy.special.erfinv(1 - x),
    "erfinv": scipy.special.erfinv,
    "expint": scipy.special.expi,
    "fresnel_cos": lambda x: scipy.special.fresnel(x)[1],
    "fresnel_sin": lambda x: scipy.special.fresnel(x)[0],
    "gamma_quantile": np.vectorize(_where_the_share_is, otypes=[float]),
    "igamma": scipy.special.gammainc,
    "igamma_grad": _slope_by_a,
    "igammac": lambda a, x: 1 - scipy.special.gammainc(a, x),
    "lgamma": scipy.special.loggamma,
    "log_quotient": lambda x: np.log(x) / (1 - x),
    "ndtri": lambda x: np.sqrt(2) * scipy.special.erfinv(2 * x - 1),
    "polygamma": lambda a, x: scipy.special.polygamma(a.astype(int), x),
    "spence": scipy.special.spence,
    "zeta": scipy.special.zeta,
    # Over axes.
    "cumprod": lambda x, **how: _running(np.prod, x, **how),
    "cumsum": lambda x, **how: _running(np.sum, x, **how),
    "cumulative_logsumexp": lambda x, **how: _running(scipy.special.logsumexp, x, exclusive=False, **how),
    "euclidean_norm": lambda x, axes, keepdims: (x * x).sum(axes, keepdims=keepdims) ** 0.5,
    "logsumexp_shares": lambda x, axes: np.exp(x) / np.exp(x).sum(axes, keepdims=True),
    "running_top": lambda x, **how: _running(np.max, x, exclusive=False, **how),
    "logsumexp": lambda x, axes, keepdims: np.log(np.exp(x).sum(axes, keepdims=keepdims)),
    "prod": lambda x, axes, keepdims: x.prod(axes, keepdims=keepdims),
    "recurrence": _recurrence,
    # Segments, counts, bits.
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "invert": lambda x: -x - 1,
    "left_shift": lambda x, y: x * 2**y,
    "right_shift": lambda x, y: x // 2**y,
    "population_count": lambda x: [(v % 256).bit_count() for v in x.tolist()],
    "bitcast": lambda x, dtype: np.frombuffer(x.tobytes(), dtype).reshape(x.shape),
    "invert_permutation": lambda x: [x.tolist().index(i) for i in range(len(x))],
    "in_top_k": lambda targets, x, k: [t in np.argsort(-row)[:k] for t, row in zip(targets, x, strict=True)],
    "segment_max": lambda x, ids, count, empty: _by_segment(np.max, x, ids, count, empty),
    "segment_min": lambda x, ids, count, empty: _by_segment(np.min, x, ids, count, empty),
    "segment_sum": lambda x, ids, count: _by_segment(np.sum, x, ids, count, 0),
}


def _scattered(change: Callable[..., Any]) -> Callable[..., Any]:
    """Change one element after the other."""

    def reference(x: Any, updates: Any, indices: Any) -> Any:
        result = x.copy()
        for at in np.ndindex(indices.shape[:-1]):
            place = tuple(indices[at])
            result[place] = change(result[place], updates[at])
        return result

    return reference


def _put_along(x: Any, indices: Any, axis: int, length: int) -> Any:
    total = np.zeros([length if i - x.ndim == axis else n for i, n in enumerate(x.shape)])
    for at in np.ndindex(x.shape):
        place = list(at)
        place[axis] = indices[at]
        total[tuple(place)] += x[at]
    return total


def _rows_searched(rows: Any, values: Any, side: str) -> Any:
    below = np.less if side == "left" else np.less_equal
    rows = rows if rows.ndim == 1 else rows[..., None, :]
    return below(rows, values[..., None]).sum(-1)


def _last(rank: int) -> list[int]:
    return list(range(-rank, 0))


SIGNALS: dict[str, Callable[..., Any]] = {
    "fft": lambda x, rank: np.fft.fftn(x, axes=_last(rank)),
    "ifft": lambda x, rank: np.fft.ifftn(x, axes=_last(rank)),
    "irfft": lambda x, rank, length: np.fft.irfftn(x, [*x.shape[x.ndim - rank : -1], length], _last(rank)),
    "mirror_weights": lambda x, length, count: (
        x * [(1 if k in (0, length / 2) else 2) / count for k in range(x.shape[-1])]
    ),
    "rfft": lambda x, rank: np.fft.fftn(x, axes=_last(rank))[..., : x.shape[-1] // 2 + 1],
}

ARRAYS: dict[str, Callable[..., Any]] = {
    "argsort": lambda x, axis, descending: np.argsort(-x if descending else x, axis),
    "pad": lambda x, paddings, value: np.pad(x, paddings, constant_values=value) if x.ndim else x,
    "put_along": _put_along,
    "repeat": lambda x, **how: np.repeat(x, *how.values()),
    "reverse": lambda x, axes: x[tuple(slice(None, None, -1 if i - x.ndim in axes else 1) for i in range(x.ndim))],
    "roll": lambda x, **how: np.roll(x, *how.values()),
    "searchsorted": _rows_searched,
    "take_along": np.take_along_axis,
    "tensor_scatter_nd_add": _scattered(np.add),
    "tensor_scatter_nd_max": _scattered(np.maximum),
    "tensor_scatter_nd_min": _scattered(np.minimum),
    "tensor_scatter_nd_sub": _scattered(np.subtract),
    "tile": lambda x, **how: np.tile(x, *how.values()),
    "top_positions": lambda x, k: np.argsort(-x, -1)[..., :k],
    "unique": lambda x: list(dict.fromkeys(x.tolist())),
    "unique_counts": lambda x: [x.tolist().count(v) for v in dict.fromkeys(x.tolist())],
    "unique_numbers": lambda x: [list(dict.fromkeys(x.tolist())).index(v) for v in x.tolist()],
}
