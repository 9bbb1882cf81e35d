"""The error function and what belongs to the normal distribution."""

from __future__ import annotations

import math

from autodiff_lab.engine.apply import unary
from autodiff_lab.engine.op import Domain
from autodiff_lab.ops.docs import of_one
from autodiff_lab.ops.math.scipy_kernels import special

_SCALE = 2 / math.sqrt(math.pi)
_INVERSE = math.sqrt(math.pi) / 2
_NORMAL = math.sqrt(2 * math.pi)

erf = unary(
    "erf", special("erf"), lambda ops, g, out, x: g * (_SCALE * ops.exp(-(x * x))),
    symbol="erf", latex=r"\operatorname{{erf}} {0}", locals_latex=(r"\frac{{2}}{{\sqrt{{\pi}}}} e^{{-{0}^2}}",),
    sentence="takes the error function of {0}", keeps="inputs", registered="Erf",
    expression="erf({0})",
    doc=of_one("Error function, 2/√π times the integral of e^(-t²) from 0 to x.", "2/√π·e^(-x²)", """
>>> print(lab.math.erf(0.0))
Tensor(0.0, shape=(), dtype=float32)"""))

erfc = unary(
    "erfc", special("erfc"), lambda ops, g, out, x: g * (-_SCALE * ops.exp(-(x * x))),
    symbol="erfc", latex=r"\operatorname{{erfc}} {0}", locals_latex=(r"-\frac{{2}}{{\sqrt{{\pi}}}} e^{{-{0}^2}}",),
    sentence="takes one minus the error function of {0}", keeps="inputs", registered="Erfc",
    expression="erfc({0})",
    doc=of_one("1 - erf(x), exact for large x.", "-2/√π·e^(-x²)", """
>>> print(lab.math.erfc(0.0))
Tensor(1.0, shape=(), dtype=float32)"""))

erfinv = unary(
    "erfinv", special("erfinv"), lambda ops, g, out, x: g * (_INVERSE * ops.exp(out * out)),
    symbol="erf⁻¹", latex=r"\operatorname{{erf}}^{{-1}} {0}",
    locals_latex=(r"\frac{{\sqrt{{\pi}}}}{{2}} e^{{(\operatorname{{erf}}^{{-1}} {0})^2}}",),
    sentence="takes the inverse error function of {0}", domain=(Domain(low=-1.0, high=1.0),), keeps="output",
    registered="Erfinv", expression="erfinv({0})",
    doc=of_one("Inverse error function.", "√π/2·e^(y²) with y the output", """
>>> print(lab.math.erfinv(0.0))
Tensor(0.0, shape=(), dtype=float32)""", domain="-1 < x < 1; infinite at the ends, nan beyond"))

erfcinv = unary(
    "erfcinv", special("erfcinv"), lambda ops, g, out, x: g * (-_INVERSE * ops.exp(out * out)),
    symbol="erfc⁻¹", latex=r"\operatorname{{erfc}}^{{-1}} {0}",
    locals_latex=(r"-\frac{{\sqrt{{\pi}}}}{{2}} e^{{(\operatorname{{erfc}}^{{-1}} {0})^2}}",),
    sentence="takes the inverse complementary error function of {0}", domain=(Domain(low=0.0, high=2.0),),
    keeps="output", expression="erfcinv({0})",
    doc=of_one("Inverse complementary error function.", "-√π/2·e^(y²) with y the output", """
>>> print(f"{lab.math.erfcinv(0.5):.4f}")
0.4769""", domain="0 < x < 2; infinite at the ends, nan beyond"))

ndtri = unary(
    "ndtri", special("ndtri"), lambda ops, g, out, x: g * (_NORMAL * ops.exp(out * out * 0.5)),
    symbol="Φ⁻¹", latex=r"\Phi^{{-1}}({0})", locals_latex=(r"\sqrt{{2 \pi}}\, e^{{(\Phi^{{-1}}({0}))^2 / 2}}",),
    sentence="takes the quantile {0} of the normal distribution", domain=(Domain(low=0.0, high=1.0),), keeps="output",
    registered="Ndtri", expression="ndtri({0})",
    doc=of_one("Quantile function of the standard normal distribution.", "√(2π)·e^(y²/2) with y the output", """
>>> print(lab.math.ndtri(0.5))
Tensor(0.0, shape=(), dtype=float32)""", domain="0 < x < 1; infinite at the ends, nan beyond"))
