"""Factorizations by LAPACK, called without NumPy's and SciPy's checks, and without copies to turn axes round.

LAPACK's arrays lie by columns, so of an array in C's order it sees the transpose; each function here says what it asks
about the transpose.  Stacks of small matrices go to NumPy, whose loop over them is compiled; so do arrays on a GPU.
Errors are NumPy's `LinAlgError`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.arrays import on_gpu

SMALL = 16
"""Rows below which a stack of matrices goes to NumPy."""
_NAMES = ("potrf", "getrf", "getri", "syevd", "heevd", "gesdd")
_LAPACK: dict[str, dict[str, Any]] = {}
"""By dtype character, LAPACK's functions by their names."""


def _load(dtype: Any) -> dict[str, Any]:
    found = _LAPACK.get(dtype.char)
    if found is None:
        from scipy.linalg.lapack import get_lapack_funcs

        names = [n for n in _NAMES if n != ("syevd" if dtype.kind == "c" else "heevd")]
        found = _LAPACK[dtype.char] = dict(zip(names, get_lapack_funcs(names, dtype=dtype), strict=True))
    return found


def _by_numpy(x: Any) -> bool:
    return on_gpu(x) or not x.size or (x.ndim > 2 and x.shape[-1] < SMALL)


def _each(function: Any, x: Any) -> tuple[Any, ...]:
    """Return what a function gives for each matrix of a stack."""
    if x.ndim == 2:
        return function(x)
    found = [function(m) for m in x.reshape(-1, *x.shape[-2:])]
    return tuple([np.stack(parts).reshape(*x.shape[:-2], *parts[0].shape) for parts in zip(*found, strict=True)])


def cholesky(x: Any) -> Any:
    """Return the lower triangle L with L Lᴴ = x, of symmetric (Hermitian) matrices (*b, n, n) that may be overwritten.

    The transpose of x is conj(x) = Uᴴ U with U = Lᵀ.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.matmul.factors import cholesky
    >>> cholesky(np.array([[4.0, 2.0], [2.0, 10.0]])).tolist()
    [[2.0, 0.0], [1.0, 3.0]]
    """
    if _by_numpy(x):
        return np.linalg.cholesky(x)
    run = _load(x.dtype)["potrf"]

    def one(m: Any) -> tuple[Any, ...]:
        found, fault = run(m.T, lower=0, clean=1, overwrite_a=1)
        if fault:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        return (found.T,)

    return _each(one, x)[0]


def inverse(x: Any) -> Any:
    """Return the inverse of matrices (*b, n, n).

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.matmul.factors import inverse
    >>> inverse(np.array([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    if _by_numpy(x):
        return np.linalg.inv(x)
    lapack = _load(x.dtype)

    def one(m: Any) -> tuple[Any, ...]:
        factors, order, fault = lapack["getrf"](m.T)
        if not fault:
            found, fault = lapack["getri"](factors, order, lwork=64 * len(m), overwrite_lu=1)
            if not fault:
                return (found.T + found.dtype.type(0),)  # no zeros with a sign
        raise np.linalg.LinAlgError("Singular matrix")

    return _each(one, x)[0]


def eigh(x: Any) -> tuple[Any, Any]:
    """Return eigenvalues, ascending, and eigenvectors of symmetric (Hermitian) matrices by their lower triangles.

    Their transposes have the conjugate vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.matmul.factors import eigh
    >>> eigh(np.array([[2.0, 0.0], [0.0, 1.0]]))[0].tolist()
    [1.0, 2.0]
    """
    if _by_numpy(x):
        w, v = np.linalg.eigh(x)
        return w, v
    run = _load(x.dtype)["heevd" if x.dtype.kind == "c" else "syevd"]

    def one(m: Any) -> tuple[Any, ...]:
        w, v, fault = run(m.T, lower=0)
        if fault:
            raise np.linalg.LinAlgError("Eigenvalues did not converge")
        return w, np.ascontiguousarray(np.conj(v) if v.dtype.kind == "c" else v)

    return _each(one, x)  # pyright: ignore[reportReturnType]


def svd(x: Any, full: bool) -> tuple[Any, Any, Any]:
    """Return singular values, left and right singular vectors: s, u, v with u diag(s) vᴴ = x.

    The transpose of x is conj(v) diag(s) uᵀ.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.matmul.factors import svd
    >>> svd(np.array([[3.0, 0.0], [0.0, 2.0]]), False)[0].tolist()
    [3.0, 2.0]
    """
    if _by_numpy(x):
        u, s, vt = np.linalg.svd(x, full_matrices=full)
        v = np.swapaxes(vt, -1, -2)
        return s, u, np.conj(v) if x.dtype.kind == "c" else v.copy()
    run = _load(x.dtype)["gesdd"]

    def one(m: Any) -> tuple[Any, ...]:
        left, s, right, fault = run(m.T, full_matrices=int(full))
        if fault:
            raise np.linalg.LinAlgError("SVD did not converge")
        return s, right.T, np.ascontiguousarray(np.conj(left) if left.dtype.kind == "c" else left)

    return _each(one, x)  # pyright: ignore[reportReturnType]
