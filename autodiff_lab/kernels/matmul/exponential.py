"""Exponentials of stacks of matrices, which are scaled, approximated and squared together.

N. J. Higham, "The scaling and squaring method for the matrix exponential revisited", 2005.  SciPy's function goes
through Python for each matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.matmul import factors

FEWEST, LARGEST = 4, 64
"""Matrices of a stack, and rows of each, for which the exponentials of all are taken together."""
_PADE = {
    4: (3.925724783138660, (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0)),
    8: (5.371920351148152, (
        64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
        10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0)),
}  # fmt: skip
"""By the size of a real number: the largest norm that an approximant of order 7 or 13 serves, and its coefficients."""


def exponentials(x: Any) -> Any:
    """Return the exponentials of matrices (*b, n, n); nan where a matrix is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.matmul.exponential import exponentials
    >>> exponentials(np.zeros((1, 2, 2))).tolist()
    [[[1.0, 0.0], [0.0, 1.0]]]
    """
    if x.shape[-1] == 1:
        return np.exp(x)
    most, coefficients = _PADE[x.real.itemsize]
    sizes = np.abs(x).sum(-2).max(-1)
    finite = np.isfinite(sizes)
    halvings = np.ceil(np.log2(np.maximum(np.where(finite, sizes, 0), most) / most)).astype(np.int64)
    a = np.where(finite[..., None, None], x, 0) * np.exp2(-halvings)[..., None, None].astype(x.real.dtype)
    powers = [np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape), a @ a]
    while len(powers) < 4:
        powers.append(powers[-1] @ powers[1])
    scaled = [c / coefficients[0] for c in coefficients]  # so that e^0 is exactly the identity
    even, odd = (_of_squares(powers, scaled[k::2]) for k in (0, 1))
    odd = a @ odd
    made = factors.solve(even - odd, even + odd)
    for turn in range(int(halvings.max())):
        rest = halvings > turn
        made = made @ made if rest.all() else np.where(rest[..., None, None], made @ made, made)
    made[~finite] = np.nan
    return made


def _of_squares(powers: list[Any], coefficients: Any) -> Any:
    """Return a polynomial of a², given 1, a², a⁴ and a⁶: of degree 3 or 6 in a²."""
    low = sum(c * power for c, power in zip(coefficients[:4], powers, strict=True))
    if len(coefficients) == 4:
        return low
    return low + powers[3] @ sum(c * power for c, power in zip(coefficients[4:], powers[1:], strict=True))
