"""Triangular systems of stacks of matrices, where LAPACK has no call for a stack and one call for each costs too much.

Optimization: the loops of compiled programs, which go along the rows of the right-hand sides; matrices and right-hand
sides that lie transposed are read as they lie.
"""
# pyright: reportIndexIssue=false

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.kernels.base.loops import loop, override, row_major
from autodiff_lab.kernels.base.threads import spread
from autodiff_lab.kernels.matmul.little import triangular

_WORTH_A_THREAD = 1_000_000
"""Multiplications."""


@loop(
    "void({t}[::1], {t}[::1], {t}[::1], int64, int64, int64, boolean, int64, int64, int64, int64, int64)",
    wraparound=False,
)
def _substitute(
    x: Any, a: Any, b: Any, count: int, n: int, k: int, lower: bool, a_step: int, a_down: int, a_along: int,
    b_down: int, b_along: int,
) -> None:  # fmt: skip
    triangular(x, a, b, count, n, k, lower, a_step, a_down, a_along, n * k, b_down, b_along)


def _flat(stack: Any) -> tuple[Any, int, int]:
    """Return the elements of a stack of matrices, and how far apart rows and columns lie."""
    turned = stack.swapaxes(-1, -2)
    if turned.flags.carray and not stack.flags.carray:
        return turned.reshape(-1), 1, stack.shape[-2]
    return row_major(stack).reshape(-1), stack.shape[-1], 1


@override(_substitute)
def solve_stack(a: Any, b: Any, lower: bool) -> Any:
    """Substitute system after system."""
    n, k = b.shape[-2:]
    if a.dtype != b.dtype or a.ndim < 3 or a.shape[:-2] != b.shape[:-2] or not b.size:
        return NotImplemented
    x = np.empty(b.shape, b.dtype)
    (left, a_down, a_along), (right, b_down, b_along), made = _flat(a), _flat(b), x.reshape(-1)
    run = _substitute[b.dtype]

    def part(low: int, high: int) -> None:
        one, other, to = left[low * n * n : high * n * n], right[low * n * k : high * n * k], made[low * n * k :]
        run(to, one, other, high - low, n, k, lower, n * n, a_down, a_along, b_down, b_along)

    spread(part, math.prod(b.shape[:-2]), max(1, _WORTH_A_THREAD // (n * n * k)))
    return x
