"""Fourier transforms of the rows of small arrays inside compiled code, for lengths without large prime factors.

Generated modules import it.  Arrays are flat and contiguous; `roots` has the powers of e^(-2πi/n).  A transform takes a
factor of the length in each pass and writes to and fro between two halves of its room, in the order in which the next
pass reads (Stockham 1966).  All rows are transformed together, as the columns of their transpose, so the innermost
loops run over contiguous elements.
"""
# ruff: noqa: ANN001

from __future__ import annotations

from autodiff_lab.kernels.base.deferred import register_jitable

FACTORS = (4, 2, 3, 5, 7, 11, 13)
"""What a pass may take out of a length."""


def is_smooth(n: int) -> bool:
    """Return whether a length has no factors but those.

    Examples
    --------
    >>> is_smooth(60), is_smooth(34)
    (True, False)
    """
    for factor in FACTORS:
        while n % factor == 0:
            n //= factor
    return n == 1


@register_jitable
def factor_of(n) -> int:
    """Return the factor that the next pass takes."""
    for factor in (4, 2, 3, 5, 7, 11):
        if n % factor == 0:
            return factor
    return 13


@register_jitable
def one_pass(source, target, roots, n, left, stride, rows, factor) -> None:
    """Take one factor: `left` is what the passes before left over of the length n, `stride` is what they took."""
    m, s = left // factor, stride * rows
    for q in range(m):
        first = source[s * q : s * (q + 1)]
        for j in range(factor):
            total = target[s * (factor * q + j) : s * (factor * q + j + 1)]
            for t in range(s):
                total[t] = first[t]
            for i in range(1, factor):
                root, part = roots[(i * j * (n // factor)) % n], source[s * (q + m * i) : s * (q + m * i + 1)]
                for t in range(s):
                    total[t] += part[t] * root
            root = roots[(q * j * stride) % n]
            for t in range(s):
                total[t] *= root


@register_jitable
def pass_of_four(source, target, roots, left, stride, rows) -> None:
    """Take a factor of 4, whose roots are 1, -i, -1 and i."""
    m, s = left // 4, stride * rows
    for q in range(m):
        one, two, three = roots[q * stride], roots[2 * q * stride], roots[3 * q * stride]
        a, b = source[s * q : s * (q + 1)], source[s * (q + m) : s * (q + m + 1)]
        c, d = source[s * (q + 2 * m) : s * (q + 2 * m + 1)], source[s * (q + 3 * m) : s * (q + 3 * m + 1)]
        u, v = target[4 * s * q : s * (4 * q + 1)], target[s * (4 * q + 1) : s * (4 * q + 2)]
        w, x = target[s * (4 * q + 2) : s * (4 * q + 3)], target[s * (4 * q + 3) : s * (4 * q + 4)]
        for t in range(s):
            plus, minus = a[t] + c[t], a[t] - c[t]
            others, turned = b[t] + d[t], b[t] - d[t]
            turned = complex(turned.imag, -turned.real)
            u[t], w[t] = plus + others, (plus - others) * two
            v[t], x[t] = (minus + turned) * one, (minus - turned) * three


@register_jitable
def transform_columns(room, roots, n, rows) -> int:
    """Transform the columns of a matrix (n, rows) in the first half of the room; return where the result begins."""
    source, left, stride, whole = 0, n, 1, n * rows
    while left > 1:
        factor, here, there = factor_of(left), room[source : source + whole], room[whole - source : 2 * whole - source]
        if factor == 4:
            pass_of_four(here, there, roots, left, stride, rows)
        else:
            one_pass(here, there, roots, n, left, stride, rows, factor)
        source, left, stride = whole - source, left // factor, stride * factor
    return source


@register_jitable
def _overflows(room, begin, count) -> int:
    """Return 1 if a sum is not finite: SciPy does not multiply infinity by roots that are 1 + 0i, which gives nan."""
    total = 0.0
    for k in range(begin, begin + count):
        total += (room[k].real - room[k].real) + (room[k].imag - room[k].imag)
    return 0 if total == 0 else 1


@register_jitable
def transform(out, room, x, roots, rows, length, inverse) -> int:
    """Transform complex rows; the inverse is the conjugate of the transform of the conjugate, over the length."""
    for row in range(rows):
        for k in range(length):
            found = x[row * length + k]
            room[k * rows + row] = found.conjugate() if inverse else found
    begin = transform_columns(room, roots, length, rows)
    for row in range(rows):
        for k in range(length):
            found = room[begin + k * rows + row]
            out[row * length + k] = found.conjugate() / length if inverse else found
    return _overflows(room, begin, rows * length)


@register_jitable
def transform_real(out, room, x, roots, rows, length, _) -> int:
    """Transform real rows; the second half of each spectrum mirrors the first."""
    half = length // 2 + 1
    for row in range(rows):
        for k in range(length):
            room[k * rows + row] = complex(x[row * length + k], 0)
    begin = transform_columns(room, roots, length, rows)
    for row in range(rows):
        for k in range(half):
            out[row * half + k] = room[begin + k * rows + row]
    return _overflows(room, begin, rows * length)


@register_jitable
def transform_to_real(out, room, x, roots, rows, length, _) -> int:
    """Give the real rows of half spectra; imaginary parts without a mirror image do not count."""
    half = length // 2 + 1
    for row in range(rows):
        for k in range(half):
            found = x[row * half + k]
            room[k * rows + row] = found.conjugate()
            room[(length - k) % length * rows + row] = found
        room[row] = complex(x[row * half].real, 0)
        if length % 2 == 0:
            room[length // 2 * rows + row] = complex(x[row * half + half - 1].real, 0)
    begin = transform_columns(room, roots, length, rows)
    for row in range(rows):
        for k in range(length):
            out[row * length + k] = room[begin + k * rows + row].real / length
    return _overflows(room, begin, rows * length)
