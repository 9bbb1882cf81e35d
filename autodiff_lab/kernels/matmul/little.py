"""Factorizations and systems of small matrices inside compiled code, where calling LAPACK costs more than arithmetic.

Generated modules import it.  Arrays are flat and begin with the first of `count` matrices; ``a_step`` is how far apart
matrices lie, ``a_down`` their rows and ``a_along`` their columns, in elements.  Results are contiguous.  Each function
returns 1 where the op would raise an error or where a comparison met a nan, and 0 otherwise: what called it then leaves
the work to NumPy.  Inner loops go along rows, which LLVM turns into vector instructions.
"""
# ruff: noqa: ANN001

from __future__ import annotations

from math import log, nan, sqrt

from numpy import finfo

from autodiff_lab.kernels.base.deferred import register_jitable
from autodiff_lab.kernels.matmul import tiny


@register_jitable
def subtract_row(x, at, y, begin, factor, count) -> None:
    """Subtract `factor` times a row of y from a row of x."""
    row, other = x[at : at + count], y[begin : begin + count]
    for j in range(count):
        row[j] -= factor * other[j]


@register_jitable
def cholesky(out, a, count, n, a_step, a_down, a_along) -> int:
    """Write the lower factor of the symmetric part of matrices: by rows of the upper one, which is then turned."""
    half = out.dtype.type(0.5)
    for s in range(count):
        here, there = s * a_step, s * n * n
        for i in range(n):
            for j in range(i, n):
                both = a[here + i * a_down + j * a_along] + a[here + j * a_down + i * a_along]
                out[there + i * n + j] = both * half
        for p in range(n):
            begin = there + p * n
            if not out[begin + p] > 0:
                return 1
            root = sqrt(out[begin + p])
            for j in range(p, n):
                out[begin + j] /= root
            for i in range(p + 1, n):
                subtract_row(out, there + i * n + i, out, begin + i, out[begin + i], n - i)
        for i in range(n):
            for j in range(i + 1, n):
                out[there + j * n + i] = out[there + i * n + j]
                out[there + i * n + j] = 0
    return 0


@register_jitable
def triangular(out, a, b, count, n, k, lower, a_step, a_down, a_along, b_step, b_down, b_along) -> int:
    """Write the solutions (n, k) of triangular systems, by substitution."""
    for s in range(count):
        here, right, there = s * a_step, s * b_step, s * n * k
        for turn in range(n):
            i = turn if lower else n - 1 - turn
            begin = there + i * k
            for j in range(k):
                out[begin + j] = b[right + i * b_down + j * b_along]
            for p in range(i) if lower else range(i + 1, n):
                subtract_row(out, begin, out, there + p * k, a[here + i * a_down + p * a_along], k)
            pivot = a[here + i * a_down + i * a_along]
            for j in range(k):
                out[begin + j] /= pivot
    return 0


@register_jitable
def _eliminated(lu, out, n, k, there) -> int:
    """Bring a square matrix into upper triangular form with exchanged rows, and `out` with it; return the sign.

    The sign is that of the exchange; 0 stands for a column of zeros or a nan, and then nothing is finished.
    """
    sign = 1
    for p in range(n):
        best, size = p, abs(lu[p * n + p])
        for i in range(p + 1, n):
            if not abs(lu[i * n + p]) <= size:
                best, size = i, abs(lu[i * n + p])
        if not size > 0:
            return 0
        if best != p:
            sign = -sign
            for j in range(n):
                lu[p * n + j], lu[best * n + j] = lu[best * n + j], lu[p * n + j]
            for j in range(k):
                at, other = there + p * k + j, there + best * k + j
                out[at], out[other] = out[other], out[at]
        for i in range(p + 1, n):
            factor = lu[i * n + p] / lu[p * n + p]
            subtract_row(lu, i * n + p, lu, p * n + p, factor, n - p)
            subtract_row(out, there + i * k, out, there + p * k, factor, k)
    return sign


@register_jitable
def _copied(a, here, n, a_down, a_along, lu) -> None:
    for i in range(n):
        for j in range(n):
            lu[i * n + j] = a[here + i * a_down + j * a_along]


@register_jitable
def _solved(lu, out, n, k, there) -> int:
    """Eliminate, and substitute back."""
    if _eliminated(lu, out, n, k, there) == 0:
        return 1
    for turn in range(n):
        i = n - 1 - turn
        begin = there + i * k
        for p in range(i + 1, n):
            subtract_row(out, begin, out, there + p * k, lu[i * n + p], k)
        for j in range(k):
            out[begin + j] /= lu[i * n + i]
    return 0


@register_jitable
def solve(out, lu, a, b, count, n, k, a_step, a_down, a_along, b_step, b_down, b_along) -> int:
    """Write the solutions (n, k) of linear systems, by elimination with exchanged rows."""
    if 2 <= n <= 3:
        return tiny.solve(out, a, b, count, n, k, a_step, a_down, a_along, b_step, b_down, b_along)
    for s in range(count):
        there = s * n * k
        _copied(a, s * a_step, n, a_down, a_along, lu)
        for i in range(n):
            for j in range(k):
                out[there + i * k + j] = b[s * b_step + i * b_down + j * b_along]
        if _solved(lu, out, n, k, there):
            return 1
    return 0


@register_jitable
def inverse(out, lu, a, count, n, a_step, a_down, a_along) -> int:
    """Write the inverses of matrices."""
    if 2 <= n <= 3:
        return tiny.inverse(out, a, count, n, a_step, a_down, a_along)
    for s in range(count):
        there = s * n * n
        _copied(a, s * a_step, n, a_down, a_along, lu)
        for i in range(n):
            for j in range(n):
                out[there + i * n + j] = 1 if i == j else 0
        if _solved(lu, out, n, n, there):
            return 1
        for i in range(n * n):
            out[there + i] += 0  # no zeros with a sign
    return 0


@register_jitable
def determinant(out, lu, a, count, n, a_step, a_down, a_along) -> int:
    """Write the determinants of matrices; one that is singular or holds a nan is left to NumPy."""
    if 2 <= n <= 3:
        return tiny.determinant(out, a, count, n, a_step, a_down, a_along)
    for s in range(count):
        _copied(a, s * a_step, n, a_down, a_along, lu)
        sign = _eliminated(lu, lu, n, 0, 0)
        if sign == 0:
            return 1
        product = out.dtype.type(sign)
        for p in range(n):
            product *= lu[p * n + p]
        out[s] = product
    return 0


@register_jitable
def determinant_sign(out, lu, a, count, n, a_step, a_down, a_along) -> int:
    """Write the signs of the determinants of matrices, as `determinant`."""
    if 2 <= n <= 3:
        return tiny.determinant_sign(out, a, count, n, a_step, a_down, a_along)
    for s in range(count):
        _copied(a, s * a_step, n, a_down, a_along, lu)
        sign = _eliminated(lu, lu, n, 0, 0)
        if sign == 0:
            return 1
        for p in range(n):
            sign = -sign if lu[p * n + p] < 0 else sign
        out[s] = sign
    return 0


@register_jitable
def determinant_log(out, lu, a, count, n, a_step, a_down, a_along) -> int:
    """Write the logarithms of the absolute values of the determinants of matrices, as `determinant`."""
    if 2 <= n <= 3:
        return tiny.determinant_log(out, a, count, n, a_step, a_down, a_along)
    for s in range(count):
        _copied(a, s * a_step, n, a_down, a_along, lu)
        if _eliminated(lu, lu, n, 0, 0) == 0:
            return 1
        total = 0.0
        for p in range(n):
            total += log(abs(lu[p * n + p]))
        out[s] = total
    return 0


@register_jitable
def _eliminated_below(upper, middle, lower, x, n, k) -> int:
    """Clear the diagonal below by rows, which it swaps where that is larger; return 1 where the matrix is singular.

    Swapped rows make a second diagonal above, for which the one below has room.
    """
    for i in range(n - 1):
        last = i == n - 2
        if abs(middle[i]) >= abs(lower[i]):
            if middle[i] == 0:
                return 1
            factor = lower[i] / middle[i]
            middle[i + 1] -= factor * upper[i]
            for j in range(k):
                x[(i + 1) * k + j] -= factor * x[i * k + j]
            lower[i] = 0
            continue
        factor, below = middle[i] / lower[i], middle[i + 1]
        middle[i] = lower[i]
        middle[i + 1] = upper[i] - factor * below
        upper[i], lower[i] = below, 0 if last else upper[i + 1]
        if not last:
            upper[i + 1] = -factor * lower[i]
        for j in range(k):
            first = x[i * k + j]
            x[i * k + j] = x[(i + 1) * k + j]
            x[(i + 1) * k + j] = first - factor * x[(i + 1) * k + j]
    return 1 if middle[n - 1] == 0 else 0


@register_jitable
def tridiagonal(out, room, diagonals, b, stack, n, k) -> int:
    """Solve systems of three diagonals, as LAPACK's gtsv does, by elimination with pivots; nan where one is singular.

    The diagonals (stack, 3, n) are the one above, that in the middle and the one below.
    """
    for j in range(stack * n * k):
        out[j] = b[j]
    upper, middle, lower = room[:n], room[n : 2 * n], room[2 * n : 3 * n]
    for s in range(stack):
        given, x = diagonals[3 * s * n : 3 * (s + 1) * n], out[s * n * k : (s + 1) * n * k]
        for i in range(n):
            upper[i], middle[i] = given[i], given[n + i]
            lower[i] = given[2 * n + i + 1] if i < n - 1 else 0
        if _eliminated_below(upper, middle, lower, x, n, k) == 1:
            for j in range(n * k):
                x[j] = nan
            continue
        for j in range(k):
            x[(n - 1) * k + j] /= middle[n - 1]
        for turn in range(1, n):
            i = n - 1 - turn
            for j in range(k):
                second = lower[i] * x[(i + 2) * k + j] if turn > 1 else 0
                x[i * k + j] = (x[i * k + j] - upper[i] * x[(i + 1) * k + j] - second) / middle[i]
    return 0


@register_jitable
def reflect(x, begin, room, tau, m, n, k, start, sums) -> None:
    """Apply I - tau·v·vᵀ to the rows of a matrix (m, n) from row k on, in its columns from `start` on.

    The first element of v is 1, and the others are those of column k of the matrix in `room`, where n sums have place.
    """
    total, first = room[sums : sums + n], x[begin + k * n : begin + (k + 1) * n]
    for j in range(start, n):
        total[j] = first[j]
    for i in range(k + 1, m):
        factor, row = room[i * n + k], x[begin + i * n : begin + (i + 1) * n]
        for j in range(start, n):
            total[j] += factor * row[j]
    for j in range(start, n):
        total[j] *= tau
        first[j] -= total[j]
    for i in range(k + 1, m):
        factor, row = room[i * n + k], x[begin + i * n : begin + (i + 1) * n]
        for j in range(start, n):
            row[j] -= factor * total[j]


@register_jitable
def qr(out, room, a, count, m, n, a_step, a_down, a_along) -> int:  # noqa: C901, PLR0912 - compiled whole
    """Write the orthonormal columns of tall matrices, and below each its triangle, by Householder's reflections.

    Signs are those of LAPACK (Golub and Van Loan, "Matrix Computations", algorithm 5.2.1).  Numbers whose squares may
    underflow or overflow are declined.
    """
    zero, one = out.dtype.type(0), out.dtype.type(1)
    least = finfo(out.dtype).tiny / finfo(out.dtype).eps
    taus, sums = m * n, m * n + n
    for s in range(count):
        here, there = s * a_step, s * (m + n) * n
        for i in range(m):
            for j in range(n):
                room[i * n + j] = a[here + i * a_down + j * a_along]
        for k in range(n):
            alpha, below, largest = room[k * n + k], zero, zero
            for i in range(k + 1, m):
                below += room[i * n + k] * room[i * n + k]
                largest = max(largest, abs(room[i * n + k]))
            length = alpha * alpha + below
            if length - length != 0 or (largest > 0 and below < least):
                return 1
            tau = zero
            if largest > 0:
                root = sqrt(length)
                root = root if one / alpha < 0 else -root  # -0 is negative
                tau, scale = (root - alpha) / root, one / (alpha - root)
                for i in range(k + 1, m):
                    room[i * n + k] *= scale
                reflect(room, 0, room, tau, m, n, k, k + 1, sums)
                room[k * n + k] = root
            room[taus + k] = tau
        for i in range(m + n):
            for j in range(n):
                out[there + i * n + j] = one if i == j else zero
        for i in range(n):
            for j in range(n):
                out[there + (m + i) * n + j] = room[i * n + j] if j >= i else zero
        for turn in range(n):
            k = n - 1 - turn
            reflect(out, there, room, room[taus + k], m, n, k, k, sums)
    return 0
