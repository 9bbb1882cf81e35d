"""Contractions of two arrays as matrix products: transposed views, one call into BLAS, the axes put in order.

``numpy.einsum`` of two operands runs a plain loop, which for large matrices takes some thirty times as long.  What is
small, sums an axis of one operand alone, or has nothing to sum is left to it.  Plans are kept for their shapes.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.matmul.blas import matmul

WORTH = 1 << 11
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
    if len(xs) == 2:
        return _pair(xs[0], xs[1], inputs[0], inputs[1], output)
    shapes = tuple([x.shape[x.ndim - len(s) :] for x, s in zip(xs, inputs, strict=True)])
    left, names = list(xs), list(inputs)
    for places, made in _order(inputs, output, shapes):
        taken = [(left.pop(i), names.pop(i)) for i in places]
        if len(taken) == 2:
            (x, of_x), (y, of_y) = taken
            left.append(_pair(x, y, of_x, of_y, made))
        else:
            equation = ",".join("..." + of_x for _, of_x in taken) + "->..." + made
            left.append(np.einsum(equation, *(x for x, _ in taken))[()])
        names.append(made)
    return left[0]


@lru_cache(512)
def _order(inputs: tuple[str, ...], output: str, shapes: tuple[tuple[int, ...], ...]) -> list[tuple[Any, str]]:
    """The contractions of more than two arrays: which are taken out of the list, last first, and what letters remain.

    `numpy.einsum_path` finds them, which takes several times as long as contracting small arrays.
    """
    shown = [np.broadcast_to(np.float32(0), shape) for shape in shapes]
    path = np.einsum_path(",".join(inputs) + "->" + output, *shown, optimize="greedy")[0][1:]
    left, order = list(inputs), []
    for step in path:
        places = sorted(step, reverse=True)
        taken = [left.pop(i) for i in places]
        later = set(output).union(*left)
        both = set(taken[0]).intersection(*taken[1:])
        found = [c for c in dict.fromkeys("".join(taken)) if c in later]
        made = "".join(sorted(found, key=lambda c, both=both: c not in both)) if left else output
        left.append(made)
        order.append((places, made))
    return order


def _pair(x: Any, y: Any, of_x: str, of_y: str, output: str) -> Any:
    """Contract two arrays, as matrices where that is faster."""
    if x.size * y.size >= WORTH and x.dtype.char in "fdFD" and x.dtype == y.dtype:
        depth = max(x.ndim - len(of_x), y.ndim - len(of_y))
        plan = _product(of_x, of_y, output, x.shape[x.ndim - len(of_x) :], y.shape[y.ndim - len(of_y) :])
        if plan is not None and not (x.size * plan.columns < WORTH > y.size * plan.rows):
            out = matmul(plan.left.of(x, depth), plan.right.of(y, depth))
            return plan.out.of(out.reshape(*out.shape[:depth], *plan.apart), depth)
    return np.einsum(f"...{of_x},...{of_y}->...{output}", x, y)[()]


class _Arranged(NamedTuple):
    """An order of the named axes, and the shape they then get, if another one."""

    order: tuple[int, ...]
    shape: tuple[int, ...] | None = None

    def of(self, x: Any, depth: int) -> Any:
        """Return an array so arranged, after `depth` axes of a stack; a view where one will do."""
        lead = x.ndim - len(self.order)
        if lead or self.order != tuple(range(x.ndim)):
            x = x.transpose(*range(lead), *(lead + axis for axis in self.order))
        if self.shape is None or (x.shape == self.shape and not depth):
            return x
        return x.reshape(*(1,) * (depth - lead), *x.shape[:lead], *self.shape)


class _Product(NamedTuple):
    """A contraction as a product of matrices: rows and columns of each, how operands and result are arranged."""

    rows: int
    columns: int
    left: _Arranged
    right: _Arranged
    apart: tuple[int, ...]
    out: _Arranged


@lru_cache(512)
def _product(of_x: str, of_y: str, output: str, shape_x: Any, shape_y: Any) -> _Product | None:
    """Return the contraction as a matrix product, None where that is not one or does not pay."""
    letters = set(of_x) | set(of_y)
    if any(c not in output and not (c in of_x and c in of_y) for c in letters):
        return None
    summed = [c for c in of_x if c not in output]
    both = [c for c in output if c in of_x and c in of_y]
    rows = [c for c in output if c not in of_y]
    columns = [c for c in output if c not in of_x]
    sizes = dict(zip(of_x, shape_x, strict=True)) | dict(zip(of_y, shape_y, strict=True))
    m, k, n = (prod(sizes[c] for c in part) for part in (rows, summed, columns))
    if not summed or m < 2 or n < 2 or m * k * n < _EACH:
        return None
    stack = tuple(sizes[c] for c in both)
    made = [*both, *rows, *columns]
    return _Product(
        m, n, _Arranged(tuple(map(of_x.index, [*both, *rows, *summed])), (*stack, m, k)),
        _Arranged(tuple(map(of_y.index, [*both, *summed, *columns])), (*stack, k, n)),
        tuple(sizes[c] for c in made), _Arranged(tuple(map(made.index, output))),
    )  # fmt: skip
