"""Contractions of two arrays as matrix products: transposed views, one call into BLAS, the axes put in order.

``numpy.einsum`` of two operands runs a plain loop, which for large matrices takes some thirty times as long.  What is
small, sums an axis of one operand alone, or has nothing to sum is left to it.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from autodiff_lab.kernels.matmul.blas import matmul

WORTH = 1 << 15
"""Multiplications from which on the arranging of axes pays."""
_EACH = 1 << 8
"""The same for one matrix of a stack."""


def contract(*xs: Any, inputs: tuple[str, ...], output: str) -> Any:
    """Sum the products of arrays over the subscripts that the output does not name.

    Parameters
    ----------
    xs : ndarray
        Leading axes that the subscripts do not name are a stack, and broadcast.
    inputs : tuple of str
        A letter for each axis, none of them twice for one array.
    output : str
        The letters of the result, in order.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.matmul.contraction import contract
    >>> contract(np.ones((2, 3)), np.ones((3, 4)), inputs=("ij", "jk"), output="ki").shape
    (4, 2)
    """
    dtype = xs[0].dtype
    if dtype.itemsize == 2 and dtype.kind in "fV":  # NumPy would add halves up in halves, and knows no bfloat16 here
        return contract(*(x.astype(np.float32) for x in xs), inputs=inputs, output=output).astype(dtype)
    if len(xs) == 2 and xs[0].size * xs[1].size >= WORTH and xs[0].dtype.char in "fdFD" and xs[0].dtype == xs[1].dtype:
        product = _as_product(xs[0], xs[1], inputs[0], inputs[1], output)
        if product is not None:
            return product
    equation = ",".join("..." + s for s in inputs) + "->..." + output
    return np.einsum(equation, *xs, optimize=len(xs) > 2)[()]


def _as_product(x: Any, y: Any, of_x: str, of_y: str, output: str) -> Any:
    """Return the contraction as a matrix product, None where that is not one or does not pay."""
    letters = set(of_x) | set(of_y)
    if any(c not in output and not (c in of_x and c in of_y) for c in letters):
        return None
    summed = [c for c in of_x if c not in output]
    both = [c for c in output if c in of_x and c in of_y]
    rows = [c for c in output if c not in of_y]
    columns = [c for c in output if c not in of_x]
    sizes = dict(zip(of_x, x.shape[x.ndim - len(of_x) :], strict=True))
    sizes |= dict(zip(of_y, y.shape[y.ndim - len(of_y) :], strict=True))
    m, k, n = (prod(sizes[c] for c in part) for part in (rows, summed, columns))
    if not summed or m < 2 or n < 2 or m * k * n < _EACH or x.size * n < WORTH > y.size * m:
        return None
    depth = max(x.ndim - len(of_x), y.ndim - len(of_y))
    shape_both = tuple(sizes[c] for c in both)
    left = _arranged(x, of_x, [*both, *rows, *summed], depth, (*shape_both, m, k))
    right = _arranged(y, of_y, [*both, *summed, *columns], depth, (*shape_both, k, n))
    out = matmul(left, right)
    stack = out.shape[:depth]
    out = out.reshape(*stack, *shape_both, *(sizes[c] for c in [*rows, *columns]))
    made = [*both, *rows, *columns]
    return out.transpose(*range(depth), *(depth + made.index(c) for c in output))


def _arranged(x: Any, letters: str, order: list[str], depth: int, shape: tuple[int, ...]) -> Any:
    """An array with its named axes in an order and shape, after `depth` axes of a stack; a view where one will do."""
    lead = x.ndim - len(letters)
    x = x.transpose(*range(lead), *(lead + letters.index(c) for c in order))
    return x.reshape(*(1,) * (depth - lead), *x.shape[:lead], *shape)
