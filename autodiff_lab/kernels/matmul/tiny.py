"""Matrices of two and three rows, in numbers instead of arrays: elimination as `little` does it, without its loops.

`little` calls these functions, with the same arguments and results.  The larger element is the pivot here too, so
that results are those of larger matrices; an exchange is a choice and no branch, which would be guessed wrong every
second time.  A pivot of zero, or nan, ends as a last pivot of nan, so one comparison finds what is left to NumPy.
"""
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from math import log

from autodiff_lab.kernels.base.deferred import register_jitable
from autodiff_lab.kernels.maths.bits import choose


@register_jitable
def _exchanged(swap, x, y):
    return choose(swap, y, x), choose(swap, x, y)


@register_jitable
def _factors_2(a, at, down, along):
    """Return the pivots p and q, what is above q, the factor below p, and whether rows were exchanged."""
    p, u, l, q = a[at], a[at + along], a[at + down], a[at + down + along]  # noqa: E741
    swap = not abs(l) <= abs(p)
    p, l = _exchanged(swap, p, l)  # noqa: E741
    u, q = _exchanged(swap, u, q)
    f = l / p
    return p, q - f * u, u, f, swap


@register_jitable
def _factors_3(a, at, down, along):
    """Return the pivots p, q and r, what is above q and r, the factors below p and q, and three exchanges in order."""
    p, u, v = a[at], a[at + along], a[at + 2 * along]
    f, q, w = a[at + down], a[at + down + along], a[at + down + 2 * along]
    g, h, r = a[at + 2 * down], a[at + 2 * down + along], a[at + 2 * down + 2 * along]
    first = not abs(f) <= abs(p)
    p, f = _exchanged(first, p, f)
    u, q = _exchanged(first, u, q)
    v, w = _exchanged(first, v, w)
    second = not abs(g) <= abs(p)
    p, g = _exchanged(second, p, g)
    u, h = _exchanged(second, u, h)
    v, r = _exchanged(second, v, r)
    f, g = f / p, g / p
    q, w, h, r = q - f * u, w - f * v, h - g * u, r - g * v
    third = not abs(h) <= abs(q)
    f, g = _exchanged(third, f, g)
    q, h = _exchanged(third, q, h)
    w, r = _exchanged(third, w, r)
    h = h / q
    return p, q, r - h * w, u, v, w, f, g, h, first, second, third


@register_jitable
def _substituted_2(factors, x, y):
    """Return the solution for one right-hand side."""
    p, q, u, f, swap = factors
    x, y = _exchanged(swap, x, y)
    y = (y - f * x) / q
    return (x - u * y) / p, y


@register_jitable
def _substituted_3(factors, x, y, z):
    """Return the solution for one right-hand side."""
    p, q, r, u, v, w, f, g, h, first, second, third = factors
    x, y = _exchanged(first, x, y)
    x, z = _exchanged(second, x, z)
    y, z = _exchanged(third, y, z)
    y, z = y - f * x, z - g * x
    z = (z - h * y) / r
    y = (y - w * z) / q
    return (x - v * z - u * y) / p, y, z


@register_jitable
def _pivots(a, at, n, down, along):
    """Return the sign of the exchanges and the pivots, the third of which is 1 for two rows."""
    one = a.dtype.type(1)
    if n == 2:
        two = _factors_2(a, at, down, along)
        return choose(two[4], -one, one), two[0], two[1], one, abs(two[1]) > 0
    three = _factors_3(a, at, down, along)
    sign = choose(three[9], -one, one)
    sign = choose(three[10], -sign, sign)
    return choose(three[11], -sign, sign), three[0], three[1], three[2], abs(three[2]) > 0


@register_jitable
def determinant(out, a, count, n, a_step, a_down, a_along) -> int:
    """Write the determinants of matrices."""
    failed = 0
    for s in range(count):
        sign, p, q, r, fine = _pivots(a, s * a_step, n, a_down, a_along)
        out[s] = sign * p * q * r
        failed = choose(fine, failed, 1)
    return failed


@register_jitable
def determinant_sign(out, a, count, n, a_step, a_down, a_along) -> int:
    """Write the signs of the determinants of matrices."""
    failed = 0
    for s in range(count):
        sign, p, q, r, fine = _pivots(a, s * a_step, n, a_down, a_along)
        sign = choose(p < 0, -sign, sign)
        sign = choose(q < 0, -sign, sign)
        out[s] = choose(r < 0, -sign, sign)
        failed = choose(fine, failed, 1)
    return failed


@register_jitable
def determinant_log(out, a, count, n, a_step, a_down, a_along) -> int:
    """Write the logarithms of the absolute values of the determinants of matrices."""
    failed = 0
    for s in range(count):
        _, p, q, r, fine = _pivots(a, s * a_step, n, a_down, a_along)
        out[s] = log(abs(p)) + log(abs(q)) + (log(abs(r)) if n == 3 else 0)
        failed = choose(fine, failed, 1)
    return failed


@register_jitable
def solve(out, a, b, count, n, k, a_step, a_down, a_along, b_step, b_down, b_along) -> int:
    """Write the solutions (n, k) of linear systems."""
    failed = 0
    for s in range(count):
        there, right = s * n * k, s * b_step
        if n == 2:
            two = _factors_2(a, s * a_step, a_down, a_along)
            failed = choose(abs(two[1]) > 0, failed, 1)
            for j in range(k):
                at = right + j * b_along
                x, y = _substituted_2(two, b[at], b[at + b_down])
                out[there + j], out[there + k + j] = x, y
        else:
            three = _factors_3(a, s * a_step, a_down, a_along)
            failed = choose(abs(three[2]) > 0, failed, 1)
            for j in range(k):
                at = right + j * b_along
                x, y, z = _substituted_3(three, b[at], b[at + b_down], b[at + 2 * b_down])
                out[there + j], out[there + k + j], out[there + 2 * k + j] = x, y, z
    return failed


@register_jitable
def inverse(out, a, count, n, a_step, a_down, a_along) -> int:
    """Write the inverses of matrices; sums with zero leave no zeros with a sign."""
    failed, one, zero = 0, a.dtype.type(1), a.dtype.type(0)
    for s in range(count):
        at = s * n * n
        if n == 2:
            two = _factors_2(a, s * a_step, a_down, a_along)
            failed = choose(abs(two[1]) > 0, failed, 1)
            for j in range(2):
                x, y = _substituted_2(two, choose(j == 0, one, zero), choose(j == 1, one, zero))
                out[at + j], out[at + 2 + j] = x + zero, y + zero
        else:
            three = _factors_3(a, s * a_step, a_down, a_along)
            failed = choose(abs(three[2]) > 0, failed, 1)
            for j in range(3):
                x, y, z = _substituted_3(
                    three, choose(j == 0, one, zero), choose(j == 1, one, zero), choose(j == 2, one, zero)
                )
                out[at + j], out[at + 3 + j], out[at + 6 + j] = x + zero, y + zero, z + zero
    return failed
