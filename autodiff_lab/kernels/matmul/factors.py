"""Factorizations by LAPACK, called without NumPy's and SciPy's checks, and without copies to swap axes.

LAPACK's arrays lie by columns, so of an array in C's order it sees the transpose; each function here says what it asks
about the transpose.  Stacks of small matrices go to NumPy, whose loop over them is compiled, or to loops of ours;
arrays on a GPU go to NumPy.  Errors are NumPy's `LinAlgError`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.arrays import on_gpu
from autodiff_lab.kernels.base.choose import chosen

SMALL = 16
"""Rows below which a stack of matrices goes to NumPy."""
KEPT = 32
"""Rows above which LU factors are worth keeping: a smaller matrix is factored again in the time of two calls.

A larger one is factored by `lu` with or without a tape, so that results do not depend on what listens.
"""
_NAMES = ("potrf", "getrf", "getrs", "getri", "geqrf", "orgqr", "ungqr", "syevd", "heevd", "gesdd")
_COMPLEX = {"orgqr": "ungqr", "syevd": "heevd"}
_LAPACK: dict[str, dict[str, Any]] = {}
"""By dtype character, LAPACK's functions by their names."""


def _multiplications(a: Any, *others: Any) -> float:
    return a.size * a.shape[-1]


def _solve_all(a: Any, b: Any) -> Any:
    return np.linalg.solve(a, b)


def _inverse_all(x: Any) -> Any:
    return np.linalg.inv(x)


def _determinant_all(x: Any) -> Any:
    return np.linalg.det(x)


solve_all = chosen("solve_all", _solve_all, "matmul.solve_all", _multiplications)
inverse_all = chosen("inverse_all", _inverse_all, "matmul.inverse_all", _multiplications)
determinant_all = chosen("determinant_all", _determinant_all, "matmul.determinant_all", _multiplications)


def _load(dtype: Any) -> dict[str, Any]:
    found = _LAPACK.get(dtype.char)
    if found is None:
        from scipy.linalg.lapack import get_lapack_funcs

        other = _COMPLEX.keys() if dtype.kind == "c" else _COMPLEX.values()
        names = [n for n in _NAMES if n not in other]
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


def lu(x: Any) -> tuple[Any, Any]:
    """Return LU factors for `solve`, `inverse`, `determinant` and `slogdet`, which then do not factor x again.

    Parameters
    ----------
    x : ndarray (*b, n, n)
        Of a dtype that LAPACK knows; may be singular.

    Returns
    -------
    packed : ndarray (*b, n, n)
        LAPACK's factors of the transpose of each matrix, turned round, so that they lie as x does.
    pivots : ndarray (*b, n), int32
        The exchanges, in LAPACK's order; the first one is inverted bitwise where the matrix is singular.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.matmul.factors import lu, solve
    >>> a, b = np.array([[2.0, 1.0], [0.0, 4.0]]), np.array([[3.0], [4.0]])
    >>> solve(a, b, *lu(a)).tolist()
    [[1.0], [1.0]]
    """
    if not x.size:
        return x + 0, np.zeros_like(x[..., 0], dtype=np.int32)
    run, packed, pivots = _load(x.dtype)["getrf"], np.array(x, order="C"), np.empty(x.shape[:-1], np.int32)
    for m, exchanged in zip(packed.reshape(-1, *x.shape[-2:]), pivots.reshape(-1, x.shape[-1]), strict=True):
        _, exchanged[:], fault = run(m.T, overwrite_a=True)
        if fault > 0:
            exchanged[0] = ~exchanged[0]
    return packed, pivots


def solve(a: Any, b: Any, packed: Any = None, pivots: Any = None, transposed: bool = False) -> Any:
    """Return the solution x of a x = b, or of aᵀ x = b.

    Parameters
    ----------
    a : ndarray (*s, n, n)
        Of a dtype that LAPACK knows.
    b : ndarray (*t, n, k)
        Of the same dtype; leading axes broadcast.
    packed, pivots : ndarray, optional
        What `lu` returns for a.
    transposed : bool
        Whether the system is that of the transpose.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is singular.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.matmul.factors import solve
    >>> solve(np.array([[2.0, 0.0], [1.0, 4.0]]), np.array([[2.0], [9.0]])).tolist()
    [[1.0], [2.0]]
    """
    many = a.ndim > 2 or b.ndim > 2
    if on_gpu(a) or not a.size or not b.size or (packed is None and many and a.shape[-1] <= KEPT):
        return solve_all(np.swapaxes(a, -1, -2) if transposed else a, b)
    if packed is None:
        packed, pivots = lu(a)
    run = _load(a.dtype)["getrs"]
    if pivots.ndim == 1:
        turned = b if b.ndim == 2 else np.moveaxis(b, -2, 0).reshape(len(a), -1)
        x = np.ascontiguousarray(_solved(run, packed, pivots, turned, transposed))
        return x if b.ndim == 2 else np.moveaxis(x.reshape(len(a), *b.shape[:-2], -1), 0, -2)
    if a.shape[:-2] != b.shape[:-2]:
        stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        packed, pivots, b = (np.broadcast_to(one, (*stack, *one.shape[axes:]))
                             for one, axes in ((packed, -2), (pivots, -1), (b, -2)))  # fmt: skip
    x = np.empty(b.shape, b.dtype)
    given = (one.reshape(-1, *one.shape[axes:]) for one, axes in ((packed, -2), (pivots, -1), (b, -2), (x, -2)))
    for factors, exchanged, right, solution in zip(*given, strict=True):
        solution[...] = _solved(run, factors, exchanged, right, transposed)
    return x


def _solved(run: Any, packed: Any, pivots: Any, b: Any, transposed: bool) -> Any:
    if pivots[0] < 0:
        raise np.linalg.LinAlgError("Singular matrix")
    return run(packed.T, pivots, b, trans=0 if transposed else 1)[0]


def inverse(x: Any, packed: Any = None, pivots: Any = None) -> Any:
    """Return the inverse of matrices (*b, n, n), by what `lu` returns for them if that is given.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.matmul.factors import inverse
    >>> inverse(np.array([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    if on_gpu(x) or not x.size or (packed is None and _by_numpy(x)):
        return inverse_all(x)
    if packed is None:
        packed, pivots = lu(x)
    run = _load(x.dtype)["getri"]

    def one(m: Any, pivots: Any) -> Any:
        if pivots[0] < 0:
            raise np.linalg.LinAlgError("Singular matrix")
        return run(m.T, pivots, lwork=64 * len(m))[0].T + m.dtype.type(0)  # no zeros with a sign

    if x.ndim == 2:
        return one(packed, pivots)
    pairs = zip(packed.reshape(-1, *x.shape[-2:]), pivots.reshape(-1, x.shape[-1]), strict=True)
    return np.stack([one(*pair) for pair in pairs]).reshape(x.shape)


def slogdet(x: Any, packed: Any = None, pivots: Any = None) -> tuple[Any, Any]:
    """Return sign and logarithm of the absolute value of the determinant of matrices (*b, n, n).

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.matmul.factors import slogdet
    >>> sign, logarithm = slogdet(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> print(sign, logarithm)
    -1.0 0.0
    """
    if packed is None and x.shape[-1] > KEPT and x.size and not on_gpu(x):
        packed, pivots = lu(x)
    if packed is None or not x.size:
        sign, logarithm = np.linalg.slogdet(x)
        return sign.astype(x.dtype)[()], logarithm.astype(x.real.dtype)[()]
    along = np.diagonal(packed, axis1=-2, axis2=-1)
    return np.sign(along).prod(-1) * _parity(pivots, x.dtype), np.log(np.abs(along)).sum(-1)


def determinant(x: Any, packed: Any = None, pivots: Any = None) -> Any:
    """Return the determinant of matrices (*b, n, n).

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.matmul.factors import determinant
    >>> print(determinant(np.array([[0.0, 1.0], [2.0, 0.0]])))
    -2.0
    """
    if packed is None and x.shape[-1] > KEPT and x.size and not on_gpu(x):
        packed, pivots = lu(x)
    if packed is None or not x.size:
        return determinant_all(x).astype(x.dtype)[()]
    found = np.diagonal(packed, axis1=-2, axis2=-1).prod(-1) * _parity(pivots, x.dtype)
    if np.all(np.isfinite(found) & (found != 0)):
        return found
    sign, logarithm = slogdet(x, packed, pivots)  # a product on its way may be out of range
    return sign * np.exp(logarithm)


def _parity(pivots: Any, dtype: Any) -> Any:
    """Return 1 for an even number of exchanges, -1 for an odd one."""
    exchanged = np.where(pivots < 0, ~pivots, pivots) != np.arange(pivots.shape[-1])
    return dtype.type(1) - dtype.type(2) * (exchanged.sum(-1) % 2).astype(dtype)


def qr(x: Any, full: bool) -> tuple[Any, Any]:
    """Return orthonormal columns q and an upper triangle r with q r = x, of matrices (*b, m, n).

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.matmul.factors import qr
    >>> abs(qr(np.array([[3.0], [4.0]]), False)[1]).round(6).tolist()
    [[5.0]]
    """
    if x.ndim > 2 or on_gpu(x) or not x.size:
        q, r = np.linalg.qr(x, mode="complete" if full else "reduced")
        return q, r
    lapack, (rows, columns) = _load(x.dtype), x.shape
    found, tau, *_ = lapack["geqrf"](x, lwork=64 * columns)
    wide = rows if full else min(rows, columns)
    r = np.where(_triangle(wide, columns), found[:wide], x.dtype.type(0))
    if wide > columns:
        found = np.concatenate([found, np.zeros((rows, wide - columns), x.dtype)], axis=1)
    q = lapack["ungqr" if x.dtype.kind == "c" else "orgqr"](found[:, :wide], tau, lwork=64 * wide)[0]
    return np.ascontiguousarray(q), r


def _triangle(rows: int, columns: int) -> Any:
    return np.arange(rows)[:, None] <= np.arange(columns)


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
