"""Bessel functions and integrals without a closed form: ``lab.math.special``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.engine.apply import general, unary
from autodiff_lab.engine.op import Domain
from autodiff_lab.ops.docs import of_one
from autodiff_lab.ops.math.scipy_kernels import special

__all__ = [
    "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_j0", "bessel_j1", "bessel_k0", "bessel_k0e",
    "bessel_k1", "bessel_k1e", "bessel_y0", "bessel_y1", "dawsn", "expint", "fresnel_cos", "fresnel_sin", "spence",
]
_POSITIVE = (Domain(low=0.0),)


def _of_order(name: str) -> Any:
    """Return a kernel of a Bessel function of any whole order."""
    function = special(name)
    return lambda x, order: function(np.asarray(order, x.dtype)[()], x)


# Orders above 1 appear in the derivatives of order 1, written so that they hold at 0 too.
bessel_iv = general(
    "bessel_iv", _of_order("iv"),
    lambda ops, g, out, x, order: g * (0.5 * (ops.bessel_iv(x, order=order - 1) + ops.bessel_iv(x, order=order + 1))),
    symbol="Iₙ", latex="I_n({0})", locals_latex=(r"\frac{{I_{{n-1}}({0}) + I_{{n+1}}({0})}}{{2}}",),
    sentence="takes a modified Bessel function of {0}", keeps="inputs",
    doc="Modified Bessel function of the first kind of whole order; the rule of `bessel_i1` uses it.")
bessel_ive = general(
    "bessel_ive", _of_order("ive"),
    lambda ops, g, out, x, order: g * (
        0.5 * (ops.bessel_ive(x, order=order - 1) + ops.bessel_ive(x, order=order + 1)) - ops.sign(x) * out),
    symbol="Iₙe", latex="e^{{-|{0}|}} I_n({0})",
    locals_latex=(r"e^{{-|{0}|}} \frac{{I_{{n-1}}({0}) + I_{{n+1}}({0})}}{{2}} - \ldots",),
    sentence="takes a scaled modified Bessel function of {0}",
    doc="Modified Bessel function of whole order times e^-|x|; the rule of `bessel_i1e` uses it.")
bessel_jv = general(
    "bessel_jv", _of_order("jv"),
    lambda ops, g, out, x, order: g * (0.5 * (ops.bessel_jv(x, order=order - 1) - ops.bessel_jv(x, order=order + 1))),
    symbol="Jₙ", latex="J_n({0})", locals_latex=(r"\frac{{J_{{n-1}}({0}) - J_{{n+1}}({0})}}{{2}}",),
    sentence="takes a Bessel function of {0}", keeps="inputs",
    doc="Bessel function of the first kind of whole order; the rule of `bessel_j1` uses it.")

bessel_i0 = unary(
    "bessel_i0", special("i0"), lambda ops, g, out, x: g * ops.bessel_i1(x),
    symbol="I₀", latex="I_0({0})", locals_latex=("I_1({0})",), sentence="takes the Bessel function I0 of {0}",
    keeps="inputs", registered="BesselI0",
    doc=of_one("Modified Bessel function of the first kind, order 0.", "I1(x)", """
>>> print(lab.math.bessel_i0(0.0))
Tensor(1.0, shape=(), dtype=float32)"""))
bessel_i0e = unary(
    "bessel_i0e", special("i0e"), lambda ops, g, out, x: g * (ops.bessel_i1e(x) - ops.sign(x) * out),
    symbol="I₀e", latex="e^{{-|{0}|}} I_0({0})",
    locals_latex=(r"e^{{-|{0}|}} \left(I_1({0}) - \operatorname{{sign}}({0}) I_0({0})\right)",),
    sentence="takes the scaled Bessel function I0 of {0}", domain=(Domain(away_from=(0.0,)),),
    registered="BesselI0e",
    doc=of_one("I0(x)·e^-|x|, which does not overflow.", "e^-|x|·(I1(x) - sign(x)·I0(x)); 0 at the kink", """
>>> print(lab.math.bessel_i0e(0.0))
Tensor(1.0, shape=(), dtype=float32)"""))
bessel_i1 = unary(
    "bessel_i1", special("i1"),
    lambda ops, g, out, x: g * (0.5 * (ops.bessel_i0(x) + ops.bessel_iv(x, order=2))),
    symbol="I₁", latex="I_1({0})", locals_latex=(r"\frac{{I_0({0}) + I_2({0})}}{{2}}",),
    sentence="takes the Bessel function I1 of {0}", keeps="inputs", registered="BesselI1",
    doc=of_one("Modified Bessel function of the first kind, order 1.", "(I0(x) + I2(x))/2", """
>>> print(lab.math.bessel_i1(0.0))
Tensor(0.0, shape=(), dtype=float32)"""))
bessel_i1e = unary(
    "bessel_i1e", special("i1e"),
    lambda ops, g, out, x: g * (0.5 * (ops.bessel_i0e(x) + ops.bessel_ive(x, order=2)) - ops.sign(x) * out),
    symbol="I₁e", latex="e^{{-|{0}|}} I_1({0})",
    locals_latex=(r"e^{{-|{0}|}} \left(\frac{{I_0({0}) + I_2({0})}}{{2}} - |I_1({0})|\right)",),
    sentence="takes the scaled Bessel function I1 of {0}", domain=(Domain(away_from=(0.0,)),),
    registered="BesselI1e",
    doc=of_one("I1(x)·e^-|x|, which does not overflow.", "e^-|x|·((I0(x) + I2(x))/2 - |I1(x)|)", """
>>> print(lab.math.bessel_i1e(0.0))
Tensor(0.0, shape=(), dtype=float32)"""))
bessel_j0 = unary(
    "bessel_j0", special("j0"), lambda ops, g, out, x: -(g * ops.bessel_j1(x)),
    symbol="J₀", latex="J_0({0})", locals_latex=("-J_1({0})",), sentence="takes the Bessel function J0 of {0}",
    keeps="inputs", registered="BesselJ0",
    doc=of_one("Bessel function of the first kind, order 0.", "-J1(x)", """
>>> print(lab.math.special.bessel_j0(0.0))
Tensor(1.0, shape=(), dtype=float32)"""))
bessel_j1 = unary(
    "bessel_j1", special("j1"),
    lambda ops, g, out, x: g * (0.5 * (ops.bessel_j0(x) - ops.bessel_jv(x, order=2))),
    symbol="J₁", latex="J_1({0})", locals_latex=(r"\frac{{J_0({0}) - J_2({0})}}{{2}}",),
    sentence="takes the Bessel function J1 of {0}", keeps="inputs", registered="BesselJ1",
    doc=of_one("Bessel function of the first kind, order 1.", "(J0(x) - J2(x))/2", """
>>> print(lab.math.special.bessel_j1(0.0))
Tensor(0.0, shape=(), dtype=float32)"""))
bessel_y0 = unary(
    "bessel_y0", special("y0"), lambda ops, g, out, x: -(g * ops.bessel_y1(x)),
    symbol="Y₀", latex="Y_0({0})", locals_latex=("-Y_1({0})",), sentence="takes the Bessel function Y0 of {0}",
    domain=_POSITIVE, keeps="inputs", registered="BesselY0",
    doc=of_one("Bessel function of the second kind, order 0.", "-Y1(x)", """
>>> print(f"{lab.math.special.bessel_y0(1.0):.4f}")
0.0883""", domain="x > 0; -inf at 0, nan below"))
bessel_y1 = unary(
    "bessel_y1", special("y1"), lambda ops, g, out, x: g * (ops.bessel_y0(x) - out / x),
    symbol="Y₁", latex="Y_1({0})", locals_latex=(r"Y_0({0}) - \frac{{Y_1({0})}}{{{0}}}",),
    sentence="takes the Bessel function Y1 of {0}", domain=_POSITIVE, registered="BesselY1",
    doc=of_one("Bessel function of the second kind, order 1.", "Y0(x) - Y1(x)/x", """
>>> print(f"{lab.math.special.bessel_y1(1.0):.4f}")
-0.7812""", domain="x > 0; -inf at 0, nan below"))
bessel_k0 = unary(
    "bessel_k0", special("k0"), lambda ops, g, out, x: -(g * ops.bessel_k1(x)),
    symbol="K₀", latex="K_0({0})", locals_latex=("-K_1({0})",), sentence="takes the Bessel function K0 of {0}",
    domain=_POSITIVE, keeps="inputs", registered="BesselK0",
    doc=of_one("Modified Bessel function of the second kind, order 0.", "-K1(x)", """
>>> print(f"{lab.math.special.bessel_k0(1.0):.4f}")
0.4210""", domain="x > 0; inf at 0, nan below"))
bessel_k0e = unary(
    "bessel_k0e", special("k0e"), lambda ops, g, out, x: g * (out - ops.bessel_k1e(x)),
    symbol="K₀e", latex="e^{{{0}}} K_0({0})", locals_latex=(r"e^{{{0}}} \left(K_0({0}) - K_1({0})\right)",),
    sentence="takes the scaled Bessel function K0 of {0}", domain=_POSITIVE, registered="BesselK0e",
    doc=of_one("K0(x)·e^x, which does not underflow.", "e^x·(K0(x) - K1(x))", """
>>> print(f"{lab.math.special.bessel_k0e(1.0):.4f}")
1.1445""", domain="x > 0; inf at 0, nan below"))
bessel_k1 = unary(
    "bessel_k1", special("k1"), lambda ops, g, out, x: -(g * (ops.bessel_k0(x) + out / x)),
    symbol="K₁", latex="K_1({0})", locals_latex=(r"-K_0({0}) - \frac{{K_1({0})}}{{{0}}}",),
    sentence="takes the Bessel function K1 of {0}", domain=_POSITIVE, registered="BesselK1",
    doc=of_one("Modified Bessel function of the second kind, order 1.", "-K0(x) - K1(x)/x", """
>>> print(f"{lab.math.special.bessel_k1(1.0):.4f}")
0.6019""", domain="x > 0; inf at 0, nan below"))
bessel_k1e = unary(
    "bessel_k1e", special("k1e"), lambda ops, g, out, x: g * (out - out / x - ops.bessel_k0e(x)),
    symbol="K₁e", latex="e^{{{0}}} K_1({0})",
    locals_latex=(r"e^{{{0}}} \left(K_1({0}) - \frac{{K_1({0})}}{{{0}}} - K_0({0})\right)",),
    sentence="takes the scaled Bessel function K1 of {0}", domain=_POSITIVE, registered="BesselK1e",
    doc=of_one("K1(x)·e^x, which does not underflow.", "e^x·(K1(x) - K1(x)/x - K0(x))", """
>>> print(f"{lab.math.special.bessel_k1e(1.0):.4f}")
1.6362""", domain="x > 0; inf at 0, nan below"))

dawsn = unary(
    "dawsn", special("dawsn"), lambda ops, g, out, x: g * (1 - 2 * x * out),
    symbol="D", latex="D({0})", locals_latex=("1 - 2 {0} D({0})",), sentence="takes Dawson's integral of {0}",
    registered="Dawsn",
    doc=of_one("Dawson's integral, e^(-x²) times the integral of e^(t²) from 0 to x.", "1 - 2x·D(x)", """
>>> print(lab.math.special.dawsn(0.0))
Tensor(0.0, shape=(), dtype=float32)"""))
expint = unary(
    "expint", special("expi"), lambda ops, g, out, x: g * (ops.exp(x) / x),
    symbol="Ei", latex=r"\operatorname{{Ei}}({0})", locals_latex=(r"\frac{{e^{{{0}}}}}{{{0}}}",),
    sentence="takes the exponential integral of {0}", domain=(Domain(away_from=(0.0,)),), keeps="inputs",
    registered="Expint",
    doc=of_one("Exponential integral, the integral of e^t/t from -∞ to x.", "e^x/x", """
>>> print(f"{lab.math.special.expint(1.0):.4f}")
1.8951""", domain="x ≠ 0"))


def _fresnel(name: str, which: int) -> Any:
    pair = special("fresnel")

    def kernel(x: Any) -> Any:
        if x.dtype.itemsize == 2 and x.dtype.kind in "fV":
            return pair(x.astype(np.float32))[which].astype(x.dtype)
        return pair(x)[which]
    return kernel


fresnel_cos = unary(
    "fresnel_cos", _fresnel("fresnel_cos", 1), lambda ops, g, out, x: g * ops.cos(math.pi / 2 * (x * x)),
    symbol="C", latex="C({0})", locals_latex=(r"\cos\left(\tfrac{{\pi}}{{2}} {0}^2\right)",),
    sentence="takes Fresnel's cosine integral of {0}", keeps="inputs", registered="FresnelCos",
    doc=of_one("Integral of cos(π t²/2) from 0 to x.", "cos(π x²/2)", """
>>> print(lab.math.special.fresnel_cos(0.0))
Tensor(0.0, shape=(), dtype=float32)"""))
fresnel_sin = unary(
    "fresnel_sin", _fresnel("fresnel_sin", 0), lambda ops, g, out, x: g * ops.sin(math.pi / 2 * (x * x)),
    symbol="S", latex="S({0})", locals_latex=(r"\sin\left(\tfrac{{\pi}}{{2}} {0}^2\right)",),
    sentence="takes Fresnel's sine integral of {0}", keeps="inputs", registered="FresnelSin",
    doc=of_one("Integral of sin(π t²/2) from 0 to x.", "sin(π x²/2)", """
>>> print(lab.math.special.fresnel_sin(0.0))
Tensor(0.0, shape=(), dtype=float32)"""))


def _log_quotient(x: Any) -> Any:
    return np.where(x == 1, x.dtype.type(-1), np.log(x) / np.where(x == 1, x.dtype.type(1), 1 - x))[()]


spence = unary(
    "spence", special("spence"), lambda ops, g, out, x: g * ops.log_quotient(x),
    symbol="Li₂", latex=r"\operatorname{{Li}}_2(1 - {0})", locals_latex=(r"\frac{{\ln {0}}}{{1 - {0}}}",),
    sentence="takes Spence's integral of {0}", domain=(Domain(low=0.0, away_from=(1.0,)),), keeps="inputs",
    registered="Spence",
    doc=of_one("Spence's function, the integral of ln t/(1 - t) from 1 to x.", "ln x/(1 - x); -1 at 1", """
>>> print(lab.math.special.spence(1.0))
Tensor(0.0, shape=(), dtype=float32)""", domain="x > 0"))
log_quotient = unary(
    "log_quotient", _log_quotient, lambda ops, g, out, x: g * ((1 / x + out) / (1 - x)),
    symbol="ln x/(1−x)", latex=r"\frac{{\ln {0}}}{{1 - {0}}}",
    locals_latex=(r"\frac{{1 / {0} + \ln {0} / (1 - {0})}}{{1 - {0}}}",),
    sentence="divides the logarithm of {0} by 1 - {0}", domain=(Domain(low=0.0, away_from=(1.0,)),),
    doc=of_one("ln x/(1 - x), and -1 at 1; the rule of `spence` uses it.", "(1/x + ln x/(1 - x))/(1 - x), nan at 1", """
>>> print(lab.math.special.log_quotient(1.0))
Tensor(-1.0, shape=(), dtype=float32)""", domain="x > 0"))
