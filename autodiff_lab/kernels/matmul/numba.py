"""Systems and factors of stacks of small matrices, for each of which a call of LAPACK costs more than its arithmetic.

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
from autodiff_lab.kernels.matmul import little, little_exponential
from autodiff_lab.kernels.matmul.exponential import LARGEST

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
    little.triangular(x, a, b, count, n, k, lower, a_step, a_down, a_along, n * k, b_down, b_along)


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


@loop(
    "int64({t}[::1], {t}[::1], {t}[::1], {t}[::1], int64, int64, int64, int64, int64, int64, int64)", wraparound=False
)
def _eliminate(
    x: Any, lu: Any, a: Any, b: Any, count: int, n: int, k: int, a_down: int, a_along: int, b_down: int, b_along: int
) -> int:
    return little.solve(x, lu, a, b, count, n, k, n * n, a_down, a_along, n * k, b_down, b_along)


@loop("int64({t}[::1], {t}[::1], {t}[::1], int64, int64, int64, int64)", wraparound=False)
def _invert(x: Any, lu: Any, a: Any, count: int, n: int, a_down: int, a_along: int) -> int:
    return little.inverse(x, lu, a, count, n, n * n, a_down, a_along)


@loop("int64({t}[::1], {t}[::1], {t}[::1], int64, int64, int64, int64)", wraparound=False)
def _multiply_pivots(x: Any, lu: Any, a: Any, count: int, n: int, a_down: int, a_along: int) -> int:
    return little.determinant(x, lu, a, count, n, n * n, a_down, a_along)


@override(_eliminate)
def solve_all(a: Any, b: Any) -> Any:
    """Eliminate system after system; singular ones are the reference's to refuse."""
    n, k = b.shape[-2:]
    if a.dtype != b.dtype or a.shape[:-2] != b.shape[:-2] or not b.size:
        return NotImplemented
    x, run = np.empty(b.shape, b.dtype), _eliminate[b.dtype]
    (left, *a_apart), (right, *b_apart), made = _flat(a), _flat(b), x.reshape(-1)

    def part(low: int, high: int) -> int:
        one, other, to = left[low * n * n : high * n * n], right[low * n * k : high * n * k], made[low * n * k :]
        return run(to, np.empty(n * n, b.dtype), one, other, high - low, n, k, *a_apart, *b_apart)

    failed = spread(part, math.prod(b.shape[:-2]), max(1, _WORTH_A_THREAD // (n * n * (n + k))))
    return NotImplemented if any(failed) else x


def _of_each(run: Any, a: Any, shape: tuple[int, ...]) -> Any:
    """Return what a loop writes for each matrix; NotImplemented if it left one to the reference."""
    n, count = a.shape[-1], math.prod(a.shape[:-2])
    if not a.size:
        return NotImplemented
    x = np.empty(shape, a.dtype)
    (matrices, *apart), made, size = _flat(a), x.reshape(-1), x.size // count

    def part(low: int, high: int) -> int:
        own = matrices[low * n * n : high * n * n]
        return run[a.dtype](made[low * size :], np.empty(n * n, a.dtype), own, high - low, n, *apart)

    return NotImplemented if any(spread(part, count, max(1, _WORTH_A_THREAD // n**3))) else x


@override(_invert)
def inverse_all(x: Any) -> Any:
    """Eliminate matrix after matrix."""
    return _of_each(_invert, x, x.shape)


@override(_multiply_pivots)
def determinant_all(x: Any) -> Any:
    """Eliminate matrix after matrix, and multiply what is left on the diagonals."""
    return _of_each(_multiply_pivots, x, x.shape[:-2])


@loop("int64({t}[::1], {t}[::1], {t}[::1], int64, int64, int64, int64)", wraparound=False)
def _exponentiate(x: Any, room: Any, a: Any, count: int, n: int, a_down: int, a_along: int) -> int:
    return little_exponential.expm(x, room, a, count, n, n * n, a_down, a_along)


@loop("int64({t}[::1], {t}[::1], {t}[::1], {t}[::1], int64, int64, int64, int64, int64, int64)", wraparound=False)
def _derive(
    x: Any, room: Any, a: Any, e: Any, count: int, n: int, a_down: int, a_along: int, e_down: int, e_along: int
) -> int:
    return little_exponential.expm_frechet(x, room, a, e, count, n, n * n, a_down, a_along, n * n, e_down, e_along)


def _of_exponentials(run: Any, *given: Any) -> Any:
    (n, shape, dtype), parts = (given[0].shape[-1], given[0].shape, given[0].dtype), len(given)
    if not given[0].size or n > LARGEST or any(a.shape != shape or a.dtype != dtype for a in given):
        return NotImplemented
    x, stacks = np.empty(shape, dtype), [_flat(a) for a in given]
    made, apart = x.reshape(-1), [distance for stack in stacks for distance in stack[1:]]

    def part(low: int, high: int) -> int:
        own, room = slice(low * n * n, high * n * n), np.empty(little_exponential.room_of(high - low, n, parts), dtype)
        return run[dtype](made[own], room, *[stack[0][own] for stack in stacks], high - low, n, *apart)

    failed = spread(part, math.prod(shape[:-2]), max(1, _WORTH_A_THREAD // (10 * parts * n**3)))
    return NotImplemented if any(failed) else x


@override(_exponentiate)
def exponentials(x: Any) -> Any:
    """Scale, approximate and square matrix after matrix, or several side by side."""
    return _of_exponentials(_exponentiate, x)


@override(_derive)
def exponential_derivatives(x: Any, e: Any) -> Any:
    """Carry the derivative along."""
    return _of_exponentials(_derive, x, e)


def _regular(a: Any, *others: Any) -> tuple[Any, ...]:
    """Return matrices of a measurement with a larger diagonal: random ones may be nearly singular."""
    return a + a.shape[-1] * np.eye(a.shape[-1], dtype=a.dtype), *others


for _function in (solve_all, inverse_all, determinant_all):
    _function.typical = _regular  # type: ignore[attr-defined]
