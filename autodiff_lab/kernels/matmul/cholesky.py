"""The gradient of the Cholesky factorization, block by block.

The formula (Murray, "Differentiation of the Cholesky decomposition", 2016, eq. 10) takes a product of matrices and two
triangular systems, which compute both triangles of everything.  Block by block (section 4.2 there) it takes a third of
that, in products of matrices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.arrays import arange, eye, on_gpu
from autodiff_lab.kernels.matmul.triangular import solve_triangular

BLOCKED = 256
"""Rows from which on the gradient is computed block by block."""
_ROWS = 64
"""Rows of a block."""


def cholesky_gradient(factor: Any, g: Any) -> Any:
    """Return the gradient with respect to A = L Lᵀ, which is symmetric, of real matrices.

    Parameters
    ----------
    factor : array (*b, n, n)
        L, of which only the lower triangle is read.
    g : array (*b, n, n)
        The gradient with respect to L, of which only the lower triangle is read.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.matmul.cholesky import cholesky_gradient
    >>> cholesky_gradient(np.array([[2.0, 0.0], [1.0, 3.0]]), np.eye(2)).round(3).tolist()
    [[0.292, -0.083], [-0.083, 0.167]]
    """
    n = factor.shape[-1]
    if n < BLOCKED or on_gpu(factor) or g.shape != factor.shape:
        return _whole(_lower(factor), _lower(g))
    made = np.empty(g.shape, g.dtype)
    for at in np.ndindex(g.shape[:-2]):
        made[at] = _by_blocks(np.tril(factor[at]), g[at])
    return made


def _lower(x: Any) -> Any:
    if not on_gpu(x):
        return np.tril(x)
    rows = arange(x.shape[-1], x, np.int32)
    return np.where(rows[:, None] >= rows, x, x.dtype.type(0))


def _whole(factor: Any, g: Any) -> Any:
    """Return sym(L⁻ᵀ Φ(Lᵀ g) L⁻¹), where Φ halves the diagonal and drops what is above it."""
    turned = np.swapaxes(factor, -1, -2)
    inner = _lower(turned @ g)
    inner = inner - inner * (eye(inner.shape[-1], inner) / 2)
    half = solve_triangular(turned, inner, False)
    whole = solve_triangular(turned, np.swapaxes(half, -1, -2), False)
    return (whole + np.swapaxes(whole, -1, -2)) / 2


def _by_blocks(factor: Any, g: Any) -> Any:
    """Do the same, the last rows first; what is below the diagonal counts for both triangles until the end."""
    made, n = np.tril(g), len(factor)
    for end in range(n, 0, -_ROWS):
        here, before, after = slice(max(0, end - _ROWS), end), slice(0, max(0, end - _ROWS)), slice(end, n)
        square, below, above = factor[here, here], factor[after, here], factor[here, before]
        made[after, here] = given = solve_triangular(square.T, made[after, here].T, False).T
        made[after, before] -= given @ above
        both = 2 * _whole(square, made[here, here] - np.tril(given.T @ below))
        made[here, before] -= both @ above + given.T @ factor[after, before]
        made[here, here] = both
    made = np.tril(made)
    made.flat[:: n + 1] /= 2
    return (made + made.T) / 2
