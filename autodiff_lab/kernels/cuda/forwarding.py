"""The NumPy functions that CuPy runs: those named here, each of which a test checks against CuPy.

What is not named runs on the CPU, on copies, which are reported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.differences import DIFFERENT_FUNCTIONS, DIFFERENT_UFUNCS, at, cumulative, into

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
        "bincount", "broadcast_arrays", "broadcast_to", "clip", "concatenate", "copy", "count_nonzero", "cross",
        "cumprod", "cumsum", "diag", "diag_indices", "diagonal", "diff", "dot", "dstack", "einsum", "empty",
        "empty_like", "expand_dims", "eye", "flip", "fliplr", "flipud", "full", "full_like", "histogram", "hstack",
        "identity", "imag", "inner", "interp", "isclose", "isin", "kron", "linspace", "matmul", "max", "mean", "min",
        "moveaxis", "nan_to_num", "nanmax", "nanmin", "nansum", "ndim", "nonzero", "ones", "ones_like", "outer",
        "pad", "partition", "permute_dims", "prod", "ptp", "put_along_axis", "ravel", "real", "repeat", "reshape",
        "result_type", "roll", "rollaxis", "rot90", "round", "searchsorted", "shape", "size", "sort", "split",
        "squeeze", "stack", "std", "sum", "swapaxes", "take", "take_along_axis", "tensordot", "tile", "trace",
        "transpose", "tri", "tril", "triu", "unique", "unravel_index", "vander", "var", "vdot", "vstack", "where",
        "zeros", "zeros_like",
    }),
    "numpy.linalg": frozenset({"cholesky", "det", "eigh", "eigvalsh", "inv", "lstsq", "matrix_power", "norm", "pinv",
                               "qr", "slogdet", "solve", "svd"}),
    "numpy.fft": frozenset({"fft", "fft2", "fftn", "ifft", "ifft2", "ifftn", "irfft", "irfft2", "irfftn", "rfft",
                            "rfft2", "rfftn", "fftshift", "ifftshift"}),
    "numpy.lib.stride_tricks": frozenset({"as_strided", "sliding_window_view"}),
}  # fmt: skip
SPECIAL = frozenset({
    "erf", "erfc", "erfcx", "erfinv", "erfcinv", "ndtr", "ndtri", "log_ndtr", "gamma", "gammaln", "psi", "digamma",
    "polygamma", "zeta", "gammainc", "gammaincc", "gammaincinv", "gammainccinv", "betaln", "betainc", "i0", "i0e",
    "i1", "i1e", "expit", "logit", "xlogy", "xlog1py", "entr", "rel_entr", "kl_div", "sinc", "log1p", "expm1",
})  # fmt: skip
"""Functions of ``scipy.special`` that ``cupyx.scipy.special`` has."""


def ufunc_of(memory: Any, ufunc: Any, method: str) -> Callable[..., Any] | None:
    """Return what CuPy has for a ufunc, called in one of its ways; None where it has nothing."""
    return _silent(memory, _ufunc_of(memory, ufunc, method))


def _silent(memory: Any, run: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """Return a function that does not warn of infinities and nan, as on a GPU; NumPy, in the simulator, would."""
    return np.errstate(all="ignore")(run) if memory.simulated and run is not None else run


def _ufunc_of(memory: Any, ufunc: Any, method: str) -> Callable[..., Any] | None:
    name = ufunc.__name__
    if getattr(np, name, None) is not ufunc:
        return getattr(memory.special, name, None) if method == "__call__" and name in SPECIAL else None
    if method == "__call__":
        different = DIFFERENT_UFUNCS.get(name)
        return getattr(memory.module, name, None) if different is None else different(memory)
    if method == "reduce":
        return reduction(memory, name) if name in REDUCTIONS else None
    if method == "accumulate":
        return accumulation(memory, name)
    if method == "outer":
        return _outer(getattr(memory.module, name))
    return at(memory, name) if method == "at" else None


def reduction(memory: Any, name: str) -> Callable[..., Any]:
    """``ufunc.reduce`` by the function of CuPy, which reduces all axes where none is given and has no ``initial``."""
    m = memory.module
    run = getattr(m, REDUCTIONS[name])

    def reduce(
        x: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None
    ) -> Any:
        how = {} if dtype is None or name not in ("add", "multiply") else {"dtype": dtype}
        axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
        if not axes:  # nothing is reduced; CuPy decides the dtype
            return into(out, run(x[None], axis=0, **how))
        if initial is not None and any(x.shape[a] == 0 for a in axes):
            return into(out, m.full(_left(x.shape, axes, keepdims), initial, x.dtype if dtype is None else dtype))
        made = run(x, axis=axes, keepdims=keepdims, **how)
        if initial is not None:
            made = getattr(m, name)(made, made.dtype.type(initial))
        return into(out, made)

    return reduce


def _left(shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    gone = {a % len(shape) for a in axes}
    return tuple([1 if k in gone else n for k, n in enumerate(shape) if keepdims or k not in gone])


def accumulation(memory: Any, name: str) -> Callable[..., Any]:
    """``ufunc.accumulate``: sums and products are CuPy's, others join spans of 1, 2, 4, ... elements."""
    m = memory.module
    if name in ACCUMULATIONS:
        return lambda x, axis=0, dtype=None: cumulative(memory, ACCUMULATIONS[name])(x, axis, dtype or x.dtype)
    join = getattr(m, name)

    def accumulate(x: Any, axis: int = 0) -> Any:
        made = x.copy()
        line, span = m.moveaxis(made, axis, 0), 1
        while span < len(line):
            line[span:] = join(line[span:], line[:-span])
            span *= 2
        return made

    return accumulate


def _outer(function: Callable[..., Any]) -> Callable[..., Any]:
    def outer(x: Any, y: Any) -> Any:
        return function(x.reshape(x.shape + (1,) * y.ndim), y)

    return outer


def function_of(memory: Any, function: Any) -> Callable[..., Any] | None:
    """Return what CuPy has for a function of NumPy; None where it has nothing."""
    return _silent(memory, _function_of(memory, function))


def _function_of(memory: Any, function: Any) -> Callable[..., Any] | None:
    place, name = getattr(function, "__module__", ""), function.__name__
    if name not in FUNCTIONS.get(place, ()):
        return None
    different = DIFFERENT_FUNCTIONS.get((place, name))
    if different is not None:
        return different(memory)
    found = memory.module
    for part in [*place.split(".")[1:], name]:
        found = getattr(found, part, None)
    return found
