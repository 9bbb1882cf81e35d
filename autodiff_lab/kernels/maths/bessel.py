"""Vector maths of modified Bessel functions of the first kind of orders 0, 1 and 2, without branches.

Up to an end e, I_n(x) is xⁿ·P(x²), and beyond it e^x·Q(1/x)/√x: the form of its power series and that of its asymptotic
one (Abramowitz & Stegun, 9.6.10 and 9.7.1).  The polynomials are those of least squares over Chebyshev's points, of
relative errors, with values of 50 digits; e is 12 for float64 and 8 for float32.  An exponential is taken of halves
where I_n itself would overflow later than that of the whole.
"""
# ruff: noqa: ANN001, ANN202

# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false
from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.kernels.maths import double
from autodiff_lab.kernels.maths.bits import choose, fused
from autodiff_lab.kernels.maths.special import INLINE, polynomial

_DOUBLE = {
    0: ([1.0941835195909513e-39, 1.6068790898596875e-37, 6.667136397632604e-34, 4.639434404362543e-31,
        3.882266049603029e-28, 2.593526314070924e-25, 1.4966766639966386e-22, 7.242055367887146e-20,
        2.8969123097463926e-17, 9.385964122456012e-15, 2.4028076158577214e-12, 4.709502786338945e-10,
        6.78168402894224e-08, 6.781684027697961e-06, 0.0004340277777780927, 0.015624999999999386, 0.25000000000000044,
        1.0], [-122647357.84591267, 30996902.02018415, 1613176.189242291, -1569883.2945559477, 278439.45437353855,
        -26964.313574666237, 1695.1514830247115, -68.99393377708047, 2.7802962125516673, 0.1862729253409922,
        0.09117349235843064, 0.044737247037918836, 0.029219431031308557, 0.02805062902165307, 0.04986778505025162,
        0.39894228040143265]),
    1: ([2.9608452243472626e-41, 5.580992184241343e-39, 2.0414112347299675e-35, 1.558861766336605e-32,
        1.3840925718223319e-29, 9.978460666661343e-27, 6.235816468486899e-24, 3.2918680744990208e-21,
        1.448454815104294e-18, 5.214425044813804e-16, 1.501754744604982e-13, 3.3639305647848676e-11,
        5.651403357018441e-09, 6.781684027737203e-07, 5.4253472222240176e-05, 0.0026041666666666266,
        0.06250000000000003, 0.5], [141893268.6131572, -40378595.56400571, 362644.48004293226, 1332512.8144633523,
        -260720.72226247634, 26126.702330088556, -1674.1722966977538, 68.54720753084615, -2.8998814127026313,
        -0.2272561514098305, -0.11131789597839382, -0.05752062291391824, -0.040907193853610246, -0.04675104841330331,
        -0.14960335515061235, 0.3989422804014327]),
    2: ([7.576164617574876e-43, 1.790279828436607e-40, 5.88306914453068e-37, 4.908061423599271e-34,
        4.606238768947182e-31, 3.5647923745855642e-28, 2.398281419541315e-25, 1.3716200660298517e-22,
        6.58388079377197e-20, 2.607212719194579e-17, 8.34308185496483e-15, 2.102456604269474e-12,
        4.0367166833958196e-10, 5.651403356465846e-08, 5.425347222222964e-06, 0.0003255208333333315,
        0.010416666666666668, 0.125], [-209103217.82588184, 73675522.47932182, -7528317.020126888, -445076.73514056584,
        191305.40122142885, -22566.855975969058, 1564.7780828782836, -65.37771202559041, 3.3393518113833665,
        0.40612613470209163, 0.20626075126090793, 0.1265511635729371, 0.12272153067206834, 0.3272573393142589,
        -0.7480167757526035, 0.39894228040143265]),
}  # fmt: skip
_SINGLE = {
    0: ([5.709217131453248e-17, 5.832245781835959e-15, 2.6325571497037847e-12, 4.624354232873884e-10,
        6.800258489647604e-08, 6.7793516791425645e-06, 0.00043404349707998335, 0.015624950639903545, 0.2500000596046448,
        1.0], [0.3798057436943054, -0.011267293244600296, 0.03349835425615311, 0.027911821380257607,
        0.04986937716603279, 0.3989422917366028]),
    1: ([2.7476661066423996e-18, 3.5115569302285657e-16, 1.6171017704156437e-13, 3.31867346103909e-11,
        5.661986435256949e-09, 6.780236958547903e-07, 5.42545567441266e-05, 0.002604162786155939, 0.0625000074505806,
        0.5], [-0.4431082308292389, 0.006757537368685007, -0.04582879692316055, -0.04659070447087288,
        -0.14960521459579468, 0.3989422917366028]),
    2: ([1.2016336436284193e-19, 1.8797887869781917e-17, 8.849984039062484e-15, 2.0818674475314713e-12,
        4.041736112458949e-10, 5.650681700331006e-08, 5.425404651759891e-06, 0.0003255206102039665,
        0.010416666977107525, 0.125], [0.714678943157196, 0.028618186712265015, 0.13026270270347595,
        0.32700860500335693, -0.7480138540267944, 0.3989422619342804]),
}  # fmt: skip
"""By order, P and Q, highest power first."""


def _of_order(order: int, number: Any, p: Any, q: Any, exp: Any, tools: tuple[Any, ...]) -> tuple[Any, Any]:
    """Make I_n and I_n·e^-|x| for one dtype, given polynomials, an exponential and a compiler's tools."""
    mark, choose, fused, sqrt = tools
    zero, half, one, bend, odd = number(0), number(0.5), number(1), number(order + 0.5), order == 1
    end, most = (number(v) for v in ((8, 100) if number is np.float32 else (12, 800)))

    def constant(x):
        return one

    def itself(x):
        return x

    def square(x):
        return x * x

    rise = mark((constant, itself, square)[order])

    @mark
    def near(x):
        """I_n(x) up to the end, where it stays beyond."""
        x = choose(x > end, end, choose(x < -end, -end, x))
        square = x * x
        lost = half * fused(x, x, -square) / (abs(x) + bend)  # P'(z)/P(z) is about 1/(2√z + 2n + 1)
        value = p(square) * rise(x)
        return value + value * lost

    @mark
    def far(x, size):
        """I_n(x)·e^-|x| beyond the end."""
        value = q(one / size) / sqrt(size)
        return choose(odd & (x < zero), -value, value)

    @mark
    def plain(x):
        size = choose(abs(x) > end, choose(abs(x) > most, most, abs(x)), end)
        grown = exp(size * half)
        return choose(abs(x) > end, grown * (grown * far(x, size)), near(x))

    @mark
    def scaled(x):
        size = abs(x)
        shrunk = exp(-choose(size > end, end, size))
        return choose(size > end, far(x, choose(size > end, size, end)), near(x) * shrunk)

    return plain, scaled


def modified_bessel(number: Any, exp: Any, *tools: Any) -> dict[str, Any]:
    """Return the functions for one dtype, by name; `tools` are a compiler's mark, choice, fused product and root."""
    tools = tools or (INLINE, choose, fused, math.sqrt)
    found: dict[str, Any] = {}
    for n, (p, q) in (_SINGLE if number is np.float32 else _DOUBLE).items():
        made = polynomial(p, number, tools[0]), polynomial(q, number, tools[0])
        found[f"bessel_i{n}"], found[f"bessel_i{n}e"] = _of_order(n, number, *made, exp, tools)
    return found


BESSEL = modified_bessel(np.float64, double.exp)
"""The functions for float64, by name."""
