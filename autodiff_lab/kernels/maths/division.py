"""Division that rounds down, and its remainder, as NumPy computes them.

A remainder is exact.  That of a quotient below 2^23 is one product that is rounded once, corrected where the quotient
was rounded to the wrong side of an integer; of larger ones the divisor is taken off in multiples by powers of two.
"""
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.base.deferred import register_jitable
from autodiff_lab.kernels.maths.bits import choose, floor, fused


def division(number: Any, *tools: Any) -> dict[str, Any]:
    """Return the functions for one dtype, by name; `tools` are a compiler's mark, choice, floor and fused product."""
    mark, choice, down, product = tools or (register_jitable, choose, floor, fused)
    zero, half, one, most, nan = (number(v) for v in (0, 0.5, 1, 8388608, np.nan))

    @mark
    def far_rest(size, by):
        """The remainder of positive numbers whose quotient is large, or not a number."""
        if not (by > zero) or size - size != zero:
            return nan
        while size >= by:
            part = by
            while part + part <= size:
                part += part
            size -= part
        return size

    @mark
    def rest_of(x, y):
        """The remainder with the sign of x, which is C's fmod."""
        size, by = abs(x), abs(y)
        whole = down(size / by)
        if whole < most:
            rest = choice(whole == zero, size, product(-whole, by, size))
            rest = choice(rest < zero, rest + by, choice(rest >= by, rest - by, rest))
        else:
            rest = far_rest(size, by)
        return choice(x < zero, -rest, rest)

    @mark
    def remainder(x, y):
        """The remainder with the sign of y."""
        rest = rest_of(x, y)
        crosses = (rest != zero) & ((rest < zero) != (y < zero))
        return choice(rest == zero, choice(y < zero, -zero, zero), choice(crosses, rest + y, rest))

    @mark
    def floor_divide(x, y):
        """The quotient, rounded down."""
        quotient, rest = x / y, rest_of(x, y)
        crosses = (rest != zero) & ((rest < zero) != (y < zero))
        found = (x - rest) / y
        found = choice(crosses, found - one, found)
        whole = down(found)
        whole = choice(found - whole > half, whole + one, whole)
        whole = choice(found == zero, quotient * zero, whole)
        return choice(y == zero, quotient, whole)

    return {"remainder": remainder, "floor_divide": floor_divide}
