"""Vector maths of quantiles: the inverses of the normal distribution, the error function and its complement.

Near one half a quantile is that of Wichura's algorithm AS 241, (p - 1/2)·A(r)/B(r) with r = 0.425² - (p - 1/2)², and
further out C(r - 1.6)/D(r - 1.6) or E(r - 5)/F(r - 5) with r = √(-ln p) for the smaller of p and 1 - p, which is given
by itself and keeps its digits.  Float64 has the coefficients of its PPND16, float32 those of PPND7.
"""
# ruff: noqa: ANN001, ANN202

# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false
from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.kernels.maths import double
from autodiff_lab.kernels.maths.bits import choose
from autodiff_lab.kernels.maths.special import INLINE, polynomial

_DOUBLE = (
    [2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987, 13731.69376550946, 1971.5909503065513,
     133.14166789178438, 3.3871328727963665],
    [5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597, 5394.196021424751, 687.1870074920579,
     42.31333070160091, 1.0],
    [0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684, 3.6478483247632045,
     5.769497221460691, 4.630337846156546, 1.4234371107496835],
    [1.0507500716444169e-09, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008, 0.6897673349851,
     1.6763848301838038, 2.053191626637759, 1.0],
    [2.0103343992922881e-07, 2.7115555687434876e-05, 0.0012426609473880784, 0.026532189526576124, 0.29656057182850487,
     1.7848265399172913, 5.463784911164114, 6.657904643501103],
    [2.0442631033899397e-15, 1.421511758316446e-07, 1.8463183175100548e-05, 0.0007868691311456133, 0.014875361290850615,
     0.1369298809227358, 0.599832206555888, 1.0],
)  # fmt: skip
_SINGLE = (
    [59.10937472, 159.29113202, 50.434271938, 3.3871327179],
    [67.1875636, 78.757757664, 17.895169469, 1.0],
    [0.17023821103, 1.3067284816, 2.75681539, 1.4234372777],
    [0.12021132975, 0.7370016425, 1.0],
    [0.017337203997, 0.42868294337, 3.081226386, 6.657905115],
    [0.012258202635, 0.24197894225, 1.0],
)  # fmt: skip
"""A to F, highest power first."""


def quantiles(number: Any, log: Any) -> dict[str, Any]:
    """Make the three functions for one dtype, given its logarithm."""
    a, b, c, d, e, f = (polynomial(one, number) for one in (_SINGLE if number is np.float32 else _DOUBLE))
    zero, half, one, two, infinity = (number(v) for v in (0, 0.5, 1, 2, math.inf))
    near, start, middle, far = (number(v) for v in (0.425, 0.425**2, 1.6, 5))
    root, part, ln2 = (number(v) for v in (math.sqrt(0.5), math.sqrt(0.125), math.log(2)))

    @INLINE
    def quantile(q, logarithm):
        """Return what p - 1/2 = q is multiplied by near one half, and the size of the quantile further out."""
        r = math.sqrt(-logarithm)
        distant = r > far
        u, v = start - q * q, r - choose(distant, far, middle)
        outside = choose(distant, e(v), c(v)) / choose(distant, f(v), d(v))
        return a(u) / b(u), choose(r == infinity, infinity, outside)

    @INLINE
    def ndtri(p):
        q = p - half
        factor, outside = quantile(q, log(choose(q > zero, one - p, p)))
        return choose(abs(q) <= near, q * factor, choose(q > zero, outside, -outside))

    @INLINE
    def erfinv(x):
        size = abs(x)
        factor, outside = quantile(x * half, log(one - size) - ln2)
        outside = outside * root
        return choose(size * half <= near, x * (factor * part), choose(x < zero, -outside, outside))

    @INLINE
    def erfcinv(x):
        y = one - x
        factor, outside = quantile(y * half, log(choose(y < zero, two - x, x)) - ln2)
        outside = outside * root
        return choose(abs(y) * half <= near, y * (factor * part), choose(y < zero, -outside, outside))

    return {"erfinv": erfinv, "erfcinv": erfcinv, "ndtri": ndtri}


QUANTILES = quantiles(np.float64, double.log)
"""The functions for float64, by name."""
