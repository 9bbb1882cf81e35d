"""Quotients by a number that is the same for all threads: one multiplication and a shift in place of a division.

A GPU has no instruction for a division of whole numbers; some 25 do it, with a branch that keeps loads apart which
should be in flight together.  For n below 2^31 and a divisor d of at most 2^l, n / d rounded down is (n·m) >> (31 + l)
with m = 2^(31 + l) / d rounded down, plus 1 (Granlund and Montgomery 1994); the product stays below 2^63.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.launching import cuda


def divisor(d: int) -> tuple[Any, int]:
    """What a kernel is given for a divisor from 1 to 2^31: a multiplier of 32 bits and a shift.

    Examples
    --------
    >>> from autodiff_lab.kernels.cuda.scatter_quotients import divisor
    >>> multiplier, shift = divisor(7)
    >>> 1_000_000_000 * int(multiplier) >> shift == 1_000_000_000 // 7
    True
    """
    shift = 31 + (d - 1).bit_length()
    return np.uint32((1 << shift) // d + 1), shift


@cuda.jit(device=True)
def quotient(n: Any, multiplier: Any, shift: Any) -> Any:
    """N over the divisor, rounded down, in 32 bits."""
    return np.int32(np.uint64(np.uint32(n)) * np.uint64(multiplier) >> np.uint64(shift))
