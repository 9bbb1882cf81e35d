"""Substitution: triangular and tridiagonal systems, in a number of steps that grows with their elements alone.

Substitution in a triangle is accurate component by component, however badly conditioned the triangle is; elimination
with exchanged rows is not.  A zero on the diagonal gives inf and nan, as IEEE 754 and TensorFlow have it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from autodiff_lab.kernels.arrays import on_gpu
from autodiff_lab.kernels.base.choose import chosen

ndarray = np.ndarray


def solve_triangular(a: Any, b: Any, lower: bool) -> Any:
    """Return the solution x of a x = b, where a is a triangle; the other triangle is not read.

    Parameters
    ----------
    a : array (*s, n, n)
        Of a dtype that LAPACK knows: float32, float64, complex64 or complex128.
    b : array (*t, n, k)
        Of the same dtype; leading axes broadcast.
    lower : bool
        Which triangle.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.matmul.triangular import solve_triangular
    >>> solve_triangular(np.array([[2.0, 0.0], [1.0, 4.0]]), np.array([[2.0], [9.0]]), True).tolist()
    [[1.0], [2.0]]
    """
    if a.ndim == 2 == b.ndim and a.__class__ is ndarray:  # by far the commonest
        return _one(_blas(b.dtype), a, b, lower)
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    n = a.shape[-1]
    if on_gpu(a) or (len(stack) and int(np.prod(stack)) > n):
        return _of_stacks(a, b, lower=lower)
    return _by_blas(a, b, lower, stack)


def solve_stack(a: Any, b: Any, lower: bool) -> Any:
    """Return the solutions row after row, of all systems at once."""
    n, stack = a.shape[-1], np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = (np.broadcast_to(b, (*stack, *b.shape[-2:])) + b.dtype.type(0)).astype(b.dtype)
    for i in range(n) if lower else range(n - 1, -1, -1):
        done = slice(0, i) if lower else slice(i + 1, n)
        rest = x[..., i : i + 1, :]
        if i != (0 if lower else n - 1):
            rest = rest - a[..., i : i + 1, done] @ x[..., done, :]
        x[..., i : i + 1, :] = rest / a[..., i : i + 1, i : i + 1]
    return x


_of_stacks = chosen("solve_stack", solve_stack, "matmul.solve_stack", lambda a, b, lower: b.size * a.shape[-1])


def _by_blas(a: Any, b: Any, lower: bool, stack: tuple[int, ...]) -> Any:
    """Return one system after the other."""
    found = _blas(b.dtype)
    if not stack:
        return _one(found, a, b, lower)
    x = np.empty((*stack, *b.shape[-2:]), b.dtype)
    if not x.size:
        return x
    a, b = np.broadcast_to(a, (*stack, *a.shape[-2:])), np.broadcast_to(b, x.shape)
    for at in np.ndindex(stack):
        x[at] = _one(found, a[at], b[at], lower)
    return x


@cache
def _blas(dtype: Any) -> tuple[Any, Any]:
    """Return BLAS's substitutions for one right-hand side and for several, for a dtype."""
    from scipy.linalg.blas import get_blas_funcs

    return tuple(get_blas_funcs(("trsv", "trsm"), dtype=dtype))


def _one(found: tuple[Any, Any], a: Any, b: Any, lower: bool) -> Any:
    """Return the solution of one system; BLAS sees the transpose of an array in C's order, and none is copied."""
    x = np.array(b, order="C")
    if not x.size:
        return x
    by_columns = a.flags.f_contiguous
    if x.shape[1] == 1:
        how = {"lower": lower} if by_columns else {"lower": not lower, "trans": 1}
        found[0](a if by_columns else a.T, x[:, 0], overwrite_x=1, **how)
    else:
        how = {"lower": lower, "trans_a": 1} if by_columns else {"lower": not lower}
        found[1](1.0, a if by_columns else a.T, x.T, side=1, overwrite_b=1, **how)
    return x


def solve_tridiagonal(diagonals: Any, b: Any) -> Any:
    """Return the solution x of a system whose matrix has three diagonals; nan where the matrix is singular.

    Parameters
    ----------
    diagonals : ndarray (*s, 3, n)
        Superdiagonal, diagonal and subdiagonal; the last of the first and the first of the last are not read.
    b : ndarray (*s, n, k)
        The right-hand sides.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.matmul.triangular import solve_tridiagonal
    >>> solve_tridiagonal(np.array([[1.0, 0.0], [2.0, 2.0], [0.0, 1.0]]), np.array([[3.0], [3.0]])).tolist()
    [[1.0], [1.0]]
    """
    x = np.empty(b.shape, b.dtype)
    n = b.shape[-2]
    if not x.size:
        return x
    if n == 1:
        return b / diagonals[..., 1:2, :]
    solve = _gtsv(b.dtype)
    for at in np.ndindex(b.shape[:-2]):
        above, middle, below = diagonals[at]
        *_, found, fault = solve(below[1:], middle, above[:-1], b[at])
        x[at] = found if not fault else np.nan
    return x


@cache
def _gtsv(dtype: Any) -> Any:
    """Return LAPACK's solution for a dtype: to look for it takes longer than to solve a small system."""
    from scipy.linalg.lapack import get_lapack_funcs

    return get_lapack_funcs("gtsv", dtype=dtype)
