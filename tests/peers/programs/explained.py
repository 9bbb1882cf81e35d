"""Intended differences from TensorFlow: each belongs to the row of docs/differences.md with its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.peers.programs.compare import EPSILON, Difference
from tests.peers.programs.values import Call, Ref, kind_of

Test = Callable[[Call, dict[int, np.ndarray], Difference], bool]
ROWS: list[tuple[str, Test]] = []


def row(name: str) -> Callable[[Test], Test]:
    """Say that differences for which a function returns True belong to this row."""

    def add(test: Test) -> Test:
        ROWS.append((name, test))
        return test

    return add


def explanation(call: Call, arrays: dict[int, np.ndarray], difference: Difference) -> str:
    """Return the name of the row that explains a difference; empty if none does."""
    return next((name for name, test in ROWS if test(call, arrays, difference)), "")


def _read(item: Any, arrays: dict[int, np.ndarray]) -> Any:
    return arrays[item.at] if isinstance(item, Ref) else item


def _complex(arrays: dict[int, np.ndarray]) -> bool:
    return any(kind_of(array.dtype) == "c" for array in arrays.values())


@row("a derivative that is zero everywhere")
def _zero_or_none(call: Call, arrays: dict[int, np.ndarray], difference: Difference) -> bool:
    empty = difference.mine is not None and not difference.mine.size
    if difference.what != "second gradient" and call.function != "math.nextafter" and not empty:
        return False
    found = [g for g in (difference.mine, difference.theirs) if g is not None]
    return len(found) == 1 and not np.any(found[0][~np.isnan(found[0])])


@row("labels that do not sum to 1")
def _labels(call: Call, arrays: dict[int, np.ndarray], difference: Difference) -> bool:
    if call.function != "nn.softmax_cross_entropy_with_logits" or "gradient" not in difference.what:
        return False
    labels = _read(call.kwargs["labels"], arrays)
    return not np.allclose(np.sum(labels, axis=-1, dtype=np.float64), 1.0, atol=1e-3)


@row("complex functions whose rules omit a conjugate")
def _conjugates(call: Call, arrays: dict[int, np.ndarray], difference: Difference) -> bool:
    names = ("math.multiply_no_nan", "math.xlogy", "math.xdivy", "math.cumprod", "reduce_prod", "nn.silu", "nn.swish",
             "linalg.det", "linalg.slogdet", "linalg.sqrtm", "linalg.tridiagonal_solve")  # fmt: skip
    if call.function in ("linalg.svd", "norm") and difference.what == "second gradient":
        return _complex(arrays)
    return call.function in names and _complex(arrays) and "gradient" in difference.what


@row("products, quotients and scans with zeros, infinities or nan")
def _zero_factors(call: Call, arrays: dict[int, np.ndarray], difference: Difference) -> bool:
    products = ("math.cumprod", "reduce_prod", "math.segment_prod", "math.unsorted_segment_prod")
    guarded = ("math.xdivy", "math.xlogy", "math.xlog1py", "math.multiply_no_nan", "math.divide_no_nan")
    infinite = any(not np.all(np.isfinite(a.astype(complex))) for a in arrays.values())
    if call.function == "math.cumulative_logsumexp":
        return infinite or any(np.any(np.abs(a.astype(np.float64)) > 1e4) for a in arrays.values())
    if "gradient" not in difference.what or call.function not in products + guarded:
        return False
    return infinite or (call.function in products and any(not np.all(a) or _spread(a) for a in arrays.values()))


def _spread(factors: np.ndarray) -> bool:
    """Whether a quotient of a product by one of them loses all digits of the others."""
    sizes = np.abs(factors.astype(complex))
    return bool(np.max(sizes, initial=0.0) * EPSILON.get(factors.dtype.name, 1.0) > np.min(sizes, initial=np.inf))


@row("second derivatives of moments, and moments of infinite numbers")
def _moments(call: Call, arrays: dict[int, np.ndarray], difference: Difference) -> bool:
    if call.function not in ("nn.moments", "math.reduce_variance", "math.reduce_std"):
        return False
    infinite = any(not np.all(np.isfinite(a.astype(complex))) for a in arrays.values())
    return (infinite and "gradient" in difference.what) or (
        call.function == "nn.moments" and difference.what == "second gradient"
    )


@row("zeta, igamma and polygamma with respect to their order")
def _orders(call: Call, arrays: dict[int, np.ndarray], difference: Difference) -> bool:
    names = ("math.zeta", "math.igamma", "math.igammac", "math.polygamma")
    return call.function in names and difference.what == "second gradient" and difference.mine is None


@row("complex numbers at infinity and on branch cuts")
def _infinite(call: Call, arrays: dict[int, np.ndarray], difference: Difference) -> bool:
    mine, theirs = difference.mine, difference.theirs
    if mine is None or theirs is None or not (_complex(arrays) or kind_of(mine.dtype) == "c"):
        return False
    cuts = (
        "asin",
        "acos",
        "math.acosh",
        "math.atanh",
        "math.asinh",
        "atan",
        "sqrt",
        "math.log",
        "math.log1p",
        "pow",
        "op:**",
    )
    cut = call.function in cuts and any(np.any((np.imag(a) == 0) | (np.real(a) == 0)) for a in arrays.values())
    return cut or (mine.shape == theirs.shape and not np.all(np.isfinite(mine) & np.isfinite(theirs)))


@row("powers of 0, infinity and negative numbers")
def _powers(call: Call, arrays: dict[int, np.ndarray], difference: Difference) -> bool:
    if call.function not in ("op:**", "pow") or "gradient" not in difference.what or _complex(arrays):
        return False
    base = np.asarray(_read(call.args[0], arrays)).astype(complex)
    return not np.all(base.real > 0) or not np.all(np.isfinite(base))


@row("half precision near its largest number")
def _overflow(call: Call, arrays: dict[int, np.ndarray], difference: Difference) -> bool:
    mine, theirs = difference.mine, difference.theirs
    if mine is None or theirs is None or mine.dtype.name not in ("float16", "bfloat16") or mine.dtype != theirs.dtype:
        return False
    a, b = mine.astype(np.float64), theirs.astype(np.float64)
    with np.errstate(invalid="ignore"):
        apart = ~((a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) < 0.02 * np.abs(b)))
    apart &= ~np.asarray(difference.near())  # elsewhere only the peer's rounding is coarse
    limit = 200.0 if mine.dtype == np.float16 else 1e19
    large = any(np.any(np.abs(array.astype(np.float64)) > limit) for array in arrays.values()) or limit == 200.0
    beyond = (np.maximum(np.abs(a), np.abs(b)) > limit**1.7) | np.isnan(b)
    if difference.what == "values":
        return bool(np.all(np.isfinite(a[apart]) & ~np.isfinite(b[apart])))  # only TensorFlow overflows
    return large and bool(np.all(beyond[apart]))


@row("Bessel functions at 0 and where they overflow")
def _bessel(call: Call, arrays: dict[int, np.ndarray], difference: Difference) -> bool:
    names = ("math.bessel_i0", "math.bessel_i1", "math.bessel_i0e", "math.bessel_i1e")
    return (
        call.function in names
        and "gradient" in difference.what
        and any(np.any((a == 0) | (np.abs(a) > 80)) for a in arrays.values())
    )


@row("special functions at infinity, at poles and below 0")
def _integral(call: Call, arrays: dict[int, np.ndarray], difference: Difference) -> bool:
    names = ("math.special.expint", "math.erf", "math.erfc", "math.digamma", "math.lgamma", "nn.gelu",
             "math.acosh", "atan2")  # fmt: skip
    mine, theirs = difference.mine, difference.theirs
    if call.function not in names or mine is None or theirs is None or mine.shape != theirs.shape:
        return False
    return bool(np.all(np.isnan(theirs) | np.isclose(mine, theirs, 1e-2, equal_nan=True)))


@row("floor division and remainders of infinity")
def _floors(call: Call, arrays: dict[int, np.ndarray], difference: Difference) -> bool:
    if call.function not in ("op://", "math.floordiv", "op:%", "math.floormod"):
        return False
    return not all(np.all(np.isfinite(np.asarray(_read(item, arrays)).astype(float))) for item in call.args)


@row("order of the eigenvalues of a general matrix")
def _order(call: Call, arrays: dict[int, np.ndarray], difference: Difference) -> bool:
    if call.function not in ("linalg.eigvals", "linalg.eig"):
        return False
    if difference.what != "values":
        return True  # the weights of the sum that is differentiated follow the order
    return np.allclose(np.sort_complex(difference.mine), np.sort_complex(difference.theirs), 1e-4, 1e-5)


@row("accuracy in float64")
def _constants(call: Call, arrays: dict[int, np.ndarray], difference: Difference) -> bool:
    if call.function not in ("nn.gelu", "nn.leaky_relu", "linalg.expm", "math.erfinv") or difference.mine is None:
        return False
    mine, theirs = difference.mine, difference.theirs
    return mine.dtype == theirs.dtype == np.float64 and np.allclose(mine, theirs, 1e-6, 1e-7, equal_nan=True)


@row("real functions of complex numbers")
def _magnitudes(call: Call, arrays: dict[int, np.ndarray], difference: Difference) -> bool:
    names = ("math.reduce_euclidean_norm", "math.squared_difference", "norm", "linalg.norm", "math.l2_normalize",
             "math.reduce_variance", "math.reduce_std", "nn.moments")  # fmt: skip
    return call.function in names and _complex(arrays) and "gradient" in difference.what


@row("derivatives of what compares with nan")
def _undecided(call: Call, arrays: dict[int, np.ndarray], difference: Difference) -> bool:
    names = ("maximum", "minimum", "reduce_max", "reduce_min", "nn.elu", "nn.selu", "nn.relu", "nn.relu6",
             "clip_by_value", "sort", "math.l2_normalize")  # fmt: skip
    compares = call.function in names or "_max" in call.function or "_min" in call.function
    compares |= "norm" in call.function and call.kwargs.get("ord") in (1, float("inf"))
    return compares and any(np.any(np.isnan(a)) for a in arrays.values()) and "gradient" in difference.what


@row("infinite derivatives at poles and at -0.0")
def _poles(call: Call, arrays: dict[int, np.ndarray], difference: Difference) -> bool:
    mine, theirs = difference.mine, difference.theirs
    if mine is None or theirs is None or "gradient" not in difference.what or mine.shape != theirs.shape:
        return False
    same = (mine == theirs) | (np.isnan(mine) & np.isnan(theirs)) | np.isclose(mine, theirs, 1e-2)
    same |= difference.near()  # where the peer's rounding is coarser than that
    return bool(np.all(~np.isfinite(mine)[~same] & ~np.isfinite(theirs)[~same]))


@row("the order of nan and of infinity")
def _places(call: Call, arrays: dict[int, np.ndarray], difference: Difference) -> bool:
    names = ("argmax", "argmin", "math.top_k", "sort", "argsort", "tensor_scatter_nd_max", "tensor_scatter_nd_min")
    if call.function in names:
        return any(np.any(np.isnan(a)) for a in arrays.values())
    return "segment_m" in call.function and any(not np.all(np.isfinite(a)) for a in arrays.values())


@row("matrix functions without a real result")
def _not_real(call: Call, arrays: dict[int, np.ndarray], difference: Difference) -> bool:
    return call.function in ("linalg.sqrtm", "linalg.logm") and "the result is not real" in difference.words
