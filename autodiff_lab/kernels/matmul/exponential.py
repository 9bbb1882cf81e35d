"""Exponentials of matrices and their derivatives: scaled, approximated and squared, whole stacks together.

A. H. Al-Mohy and N. J. Higham, "Computing the Fréchet derivative of the matrix exponential", 2009, and "A new scaling
and squaring algorithm for the matrix exponential", 2009, with the polynomials of P. Bader, S. Blanes and F. Casas,
"Computing the matrix exponential with an optimized Taylor polynomial approximation", 2019, which need no system solved.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from autodiff_lab.kernels.base.choose import chosen

LARGEST = 32
"""Rows of the largest matrix of which loops take the exponential."""
DEGREES = (12, 18)
BOUNDS = np.array([
    [[1.461661507209034, 3.010066362817634], [0.299615891381158, 1.090863719290036]],
    [[1.196715319421369, 2.595044802471324], [0.2426774793273562, 0.9317169257310866]],
])  # fmt: skip
"""The largest norms, of exponentials or of derivatives, in float32 or float64, that polynomials of these degrees serve.

There the backward error, or its derivative, reaches half the spacing of numbers at 1.
"""
_FACTORS = [
    (
        (-2.0861320e-13, -0.13181061013830184015, -0.02027855540589259079, -0.00675951846863086359),
        (-2.0861320e-13, -0.13181061013830184015, -0.02027855540589259079, -0.00675951846863086359),
        (0.18188869982170434744, 0.05502798439925399070, 0.09351590770535414968, 0.00610700528898058230),
        (5.31597895759871264183, 1.19926790417132231573, 0.01179296240992997031, 0.01108844528519167989),
        (9.0198e-16, 0.46932117595418237389, -0.20099424927047284052, -0.04623946134063071740),
    ), (
        (0, -0.100365581030144618291, -0.00802924648241156932449, -0.000892138498045729985177, 0),
        (0, 0, -0.0923364619367118555360, -0.0169364939002081722752, -0.0000140086798182036094347),
        (-0.0904316832390810593223, -0.0676404519071381882256, 0.0675961301770459654925, 0.0295552570429315521194,
         -0.0000139180257516060693404),
        (-10.9676396052962061844, 1.68015813878906206114, 0.0571779846478865511061, -0.00698210122488052056106,
         0.0000334975017086070470649),
        (0, 0.397849749499645077844, 1.36783778460411720168, 0.498289622525382669416, -0.000637898194594723280150),
    ),
]  # fmt: skip
"""For each degree, the coefficients of 1, a, a², a³ and a⁶ in p, q, r, s and t; with m = p q + r the polynomial is
(s + m) m + t."""


def _weights(kind: Any) -> Any:
    """Return the coefficients in a precision, those of 1 in t such that the exponential of 0 is exactly 1."""
    made = np.zeros((len(DEGREES), 5, 5), kind)
    for table, rows in zip(made, _FACTORS, strict=True):
        table[:, : len(rows[0])] = rows
        middle = table[0, 0] * table[1, 0] + table[2, 0]
        table[4, 0] = 1 - (table[3, 0] + middle) * middle
    return made.astype(np.float64)


WEIGHTS = np.stack([_weights(np.float32), _weights(np.float64)])


def _multiplications(x: Any, *others: Any) -> float:
    return x.size * x.shape[-1] if 0 < x.shape[-1] <= LARGEST else 0


def _exponentials_of(x: Any) -> Any:
    """Return the exponentials of matrices (*b, n, n); nan where a matrix is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.matmul.exponential import exponentials
    >>> exponentials(np.zeros((1, 2, 2))).tolist()
    [[[1.0, 0.0], [0.0, 1.0]]]
    """
    return np.exp(x) if x.shape[-1] == 1 else _exponentials(np.asarray(x)[None])[0]


def _derivatives_of(x: Any, e: Any) -> Any:
    """Return the derivatives of the exponential at matrices x (*b, n, n) in the directions e of the same shape.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.matmul.exponential import exponential_derivatives
    >>> exponential_derivatives(np.zeros((2, 2)), np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    return np.exp(x) * e if x.shape[-1] == 1 else _exponentials(np.stack(np.broadcast_arrays(x, e)))[1]


exponentials = chosen("exponentials", _exponentials_of, "matmul.exponentials", _multiplications)
exponential_derivatives = chosen(
    "exponential_derivatives", _derivatives_of, "matmul.exponential_derivatives", _multiplications
)


def _times(x: Any, y: Any) -> Any:
    """Return products of pairs, value and derivative, by the product rule; or of values alone."""
    if len(x) == 1:
        return x @ y
    made = x[:1] @ y
    made[1] += x[1] @ y[0]
    return made


def _norms(x: Any) -> Any:
    return np.abs(x).sum(-2).max(-1)


def _scaled(x: Any, exponents: Any) -> Any:
    """Return matrices times powers of two."""
    return x * np.exp2(exponents)[..., None, None].astype(x.real.dtype)


def _exponentials(pair: Any) -> Any:
    """Return exponentials (1, *b, n, n) of values, or (2, *b, n, n) with their derivatives."""
    if not pair.size:
        return pair
    sizes = _norms(pair[0])
    finite = np.isfinite(sizes)
    if not finite.all():
        pair, sizes = np.where(finite[..., None, None], pair, 0), np.where(finite, sizes, 0)
    wide, most = pair.real.itemsize // 8, sizes.max()
    at = int(most > BOUNDS[len(pair) - 1, wide, 0])
    bound = BOUNDS[len(pair) - 1, wide, at]
    halvings = np.ceil(np.log2(np.maximum(sizes, bound) / bound)) if most > bound else np.zeros_like(sizes)
    a = _scaled(pair, -halvings) if most > bound else pair
    square = _times(a, a)
    cube = _times(square, a)
    if most > bound and len(pair) == 1:
        spare = np.minimum(_spare(a[0], square[0], cube[0], DEGREES[at], bound), halvings)
        if spare.any():
            halvings, a = halvings - spare, _scaled(a, spare)
            square, cube = _scaled(square, 2 * spare), _scaled(cube, 3 * spare)
    made = _polynomial([a, square, cube, *[_times(cube, cube)] * at], WEIGHTS[wide, at])
    for turn in range(int(halvings.max())):
        rest = halvings > turn
        if rest.all():
            made = _times(made, made)
        else:
            made[:, rest] = _times(made[:, rest], made[:, rest])
    if not finite.all():
        made[:, ~finite] = np.nan
    return made


def _polynomial(powers: list[Any], weights: Any) -> Any:
    table = weights[:, 1 : len(powers) + 1].astype(powers[0].real.dtype)
    flat = np.stack(powers).reshape(len(powers), -1).view(table.dtype)  # one product, however many are added up
    parts = (table @ flat).view(powers[0].dtype).reshape(5, *powers[0].shape)
    np.einsum("...ii->...i", parts[:, 0])[...] += weights[:, :1].astype(table.dtype).reshape(5, *[1] * (parts.ndim - 3))
    left, right, middle, sums, made = parts
    middle += _times(left, right)
    sums += middle
    made += _times(sums, middle)
    return made


def _spare(a: Any, square: Any, cube: Any, degree: int, bound: float) -> Any:
    """Return how many halvings too many there were for matrices whose powers are smaller than their norms tell.

    Too many cost digits.  As few as the norms of a² and a³ allow would do, were there no cancellation in the
    polynomials; that of |a| to the power of the degree bounds it.
    """
    with np.errstate(divide="ignore"):
        found = np.floor(np.log2(bound / np.maximum(_norms(square) ** (1 / 2), _norms(cube) ** (1 / 3))))
        if not found.max() > 0:
            return np.zeros_like(found)
        row, sizes = np.ones((*a.shape[:-2], 1, a.shape[-1]), a.real.dtype), np.abs(a)
        for _ in range(degree // 3):
            row = row @ sizes
        error = row.max((-1, -2)).astype(np.float64) ** 3 * 2 / (factorial(degree + 1) * np.finfo(a.dtype).eps)
        found = np.minimum(found, np.floor(-np.log2(error) / degree))
    return np.clip(found, 0, np.finfo(a.dtype).maxexp // 4)
