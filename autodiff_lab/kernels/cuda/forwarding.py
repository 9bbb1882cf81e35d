"""Which NumPy functions CuPy answers: those named here, a test holds each name against CuPy.

What is not named runs on the CPU, on copies, and is told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.products_library import product_of

REDUCTIONS = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any",
}  # fmt: skip
"""What ``ufunc.reduce`` is called in CuPy."""
ACCUMULATIONS = {"add": "cumsum", "multiply": "cumprod"}
"""What ``ufunc.accumulate`` is called there."""
FUNCTIONS: dict[str, frozenset[str]] = {
    "numpy": frozenset({
        "all", "allclose", "amax", "amin", "angle", "any", "arange", "argmax", "argmin", "argsort", "argwhere",
        "array", "array_equal", "array_split", "asarray", "ascontiguousarray", "atleast_1d", "atleast_2d", "average",
        "bincount", "broadcast_arrays", "broadcast_to", "clip", "concatenate", "copy", "copyto", "count_nonzero",
        "cross", "cumprod", "cumsum", "diag", "diag_indices", "diagonal", "diff", "dot", "dstack", "einsum", "empty",
        "empty_like", "expand_dims", "eye", "flip", "fliplr", "flipud", "full", "full_like", "histogram", "hstack",
        "identity", "imag", "inner", "interp", "isclose", "isin", "kron", "linspace", "matmul", "max", "mean", "min",
        "moveaxis", "nan_to_num", "nanmax", "nanmin", "nansum", "ndim", "nonzero", "ones", "ones_like", "outer", "pad",
        "partition", "permute_dims", "prod", "ptp", "put", "ravel", "real", "repeat", "reshape", "result_type", "roll",
        "rollaxis", "rot90", "round", "searchsorted", "shape", "size", "sort", "split", "squeeze", "stack", "std",
        "sum", "swapaxes", "take", "take_along_axis", "tensordot", "tile", "trace", "transpose", "tri", "tril", "triu",
        "unique", "unravel_index", "vander", "var", "vdot", "vstack", "where", "zeros", "zeros_like",
    }),
    "numpy.linalg": frozenset({"cholesky", "det", "eigh", "eigvalsh", "inv", "lstsq", "matrix_power", "norm", "pinv",
                               "qr", "slogdet", "solve", "svd"}),
    "numpy.fft": frozenset({"fft", "fft2", "fftn", "ifft", "ifft2", "ifftn", "irfft", "irfft2", "irfftn", "rfft",
                            "rfft2", "rfftn", "fftshift", "ifftshift"}),
    "numpy.lib.stride_tricks": frozenset({"as_strided", "sliding_window_view"}),
}  # fmt: skip
SPECIAL = frozenset({
    "erf", "erfc", "erfcx", "erfinv", "erfcinv", "ndtr", "ndtri", "log_ndtr", "gamma", "gammaln", "psi", "digamma",
    "polygamma", "zeta", "gammainc", "gammaincc", "betaln", "betainc", "i0", "i0e", "i1", "i1e", "expit", "logit",
    "xlogy", "xlog1py", "entr", "rel_entr", "kl_div", "sinc", "log1p", "expm1",
})  # fmt: skip
"""Functions of ``scipy.special`` that ``cupyx.scipy.special`` has."""


def ufunc_of(memory: Any, ufunc: Any, method: str) -> Callable[..., Any] | None:
    """What CuPy has for a ufunc, called in one of its ways; None where it has nothing."""
    name = ufunc.__name__
    if getattr(np, name, None) is not ufunc:
        return getattr(memory.special, name, None) if method == "__call__" and name in SPECIAL else None
    if method == "__call__":
        return product_of(memory) if name == "matmul" else getattr(memory.module, name, None)
    if method == "reduce":
        return _over_first(getattr(memory.module, REDUCTIONS[name])) if name in REDUCTIONS else None
    if method == "accumulate":
        return _over_first(getattr(memory.module, ACCUMULATIONS[name])) if name in ACCUMULATIONS else None
    if method == "outer":
        return _outer(getattr(memory.module, name))
    return getattr(getattr(memory.module, name, None), method, None)


def special_function(memory: Any, name: str) -> Callable[..., Any]:
    """What CuPy has for a function of ``scipy.special``, called with arrays of one GPU."""
    found = getattr(memory.special, name)
    return lambda *arrays: memory.wrapped(found(*memory.operands(arrays)))


def _over_first(function: Callable[..., Any]) -> Callable[..., Any]:
    """Methods of ufuncs go over the first axis where none is given, functions over all."""

    def over(x: Any, axis: Any = 0, **how: Any) -> Any:
        return function(x, axis=axis, **how)

    return over


def _outer(function: Callable[..., Any]) -> Callable[..., Any]:
    def outer(x: Any, y: Any) -> Any:
        return function(x.reshape(x.shape + (1,) * y.ndim), y)

    return outer


def function_of(memory: Any, function: Any) -> Callable[..., Any] | None:
    """What CuPy has for a function of NumPy; None where it has nothing."""
    place, name = getattr(function, "__module__", ""), function.__name__
    if name not in FUNCTIONS.get(place, ()):
        return None
    found = memory.module
    for part in [*place.split(".")[1:], name]:
        found = getattr(found, part, None)
    return found
