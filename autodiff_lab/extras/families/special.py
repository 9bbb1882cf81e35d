"""Bessel functions and integrals without a closed form: ``lab.math.special``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.engine.apply import _OfOne, general, unary
from autodiff_lab.engine.op import Domain
from autodiff_lab.kernels.base.halves import in_float32
from autodiff_lab.ops.docs import of_one
from autodiff_lab.ops.math.scipy_kernels import looped, special

__all__ = [
    "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_j0", "bessel_j1", "bessel_k0", "bessel_k0e",
    "bessel_k1", "bessel_k1e", "bessel_y0", "bessel_y1", "dawsn", "expint", "fresnel_cos", "fresnel_sin", "spence",
]


def _unscaled(scaled: Any) -> Any:
    """Return a kernel given that times e^-|x|: SciPy's is infinite before the function is, and nan at infinity."""
    def kernel(x: Any) -> Any:
        grown = np.exp(np.minimum(abs(x), 800) * 0.5)
        return scaled(np.clip(x, -800, 800)) * grown * grown
    return in_float32(kernel)


def _second(x: Any) -> Any:
    """Return I2(x)·e^-|x|, by recurrence far out, where SciPy's function of any order gives nan."""
    far = abs(x) > 30
    large = np.where(far, x, x.dtype.type(30))
    near = special("ive")(x.dtype.type(2), np.clip(x, -30, 30))
    return np.where(far, special("i0e")(large) - 2 * special("i1e")(large) / large, near)[()]


def _of_order(name: str, second: Any = None) -> Any:
    """Return a kernel of a Bessel function of any integer order; `second` is that of order 2, where it is known."""
    function = special(name)
    return lambda x, order: second(x) if second and order == 2 else function(np.asarray(order, x.dtype)[()], x)


def _in_loops(text: str) -> Any:
    """Return the expression of a modified Bessel function, for the orders that loops have functions for."""
    return lambda constants, order: text.format(order) if order in (0, 1, 2) else None


# Orders above 1 appear in the derivatives of order 1, written so that they hold at 0 too.
bessel_iv = general(
    "bessel_iv", _of_order("iv", looped("bessel_i2", _unscaled(_second))),
    lambda ops, g, out, x, order: g * (0.5 * (ops.bessel_iv(x, order=order - 1) + ops.bessel_iv(x, order=order + 1))),
    symbol="Iₙ", latex="I_n({0})", locals_latex=(r"\frac{{I_{{n-1}}({0}) + I_{{n+1}}({0})}}{{2}}",),
    sentence="takes a modified Bessel function of {0}", keeps="inputs", expression=_in_loops("bessel_i{}({{0}})"),
    doc="Modified Bessel function of the first kind of integer order; the rule of `bessel_i1` uses it.")
bessel_ive = general(
    "bessel_ive", _of_order("ive", looped("bessel_i2e", in_float32(_second))),
    lambda ops, g, out, x, order: g * (
        0.5 * (ops.bessel_ive(x, order=order - 1) + ops.bessel_ive(x, order=order + 1)) - ops.sign(x) * out),
    symbol="Iₙe", latex="e^{{-|{0}|}} I_n({0})",
    locals_latex=(r"e^{{-|{0}|}} \frac{{I_{{n-1}}({0}) + I_{{n+1}}({0})}}{{2}} - \ldots",),
    sentence="takes a scaled modified Bessel function of {0}", expression=_in_loops("bessel_i{}e({{0}})"),
    doc="Modified Bessel function of integer order times e^-|x|; the rule of `bessel_i1e` uses it.")
bessel_jv = general(
    "bessel_jv", _of_order("jv"),
    lambda ops, g, out, x, order: g * (0.5 * (ops.bessel_jv(x, order=order - 1) - ops.bessel_jv(x, order=order + 1))),
    symbol="Jₙ", latex="J_n({0})", locals_latex=(r"\frac{{J_{{n-1}}({0}) - J_{{n+1}}({0})}}{{2}}",),
    sentence="takes a Bessel function of {0}", keeps="inputs",
    doc="Bessel function of the first kind of integer order; the rule of `bessel_j1` uses it.")


def _bessel(name: str, rule: Any, local: str, summary: str, derivative: str, at_one: float, **more: Any) -> _OfOne:
    """Return the op of a Bessel function; its name ends in its letter, its order and, if it is scaled, an e.

    `local` is its derivative in LaTeX, `at_one` its value at 1 with four digits, `more` goes to `unary`.
    """
    kind = name.removeprefix("bessel_")
    letter, order, scale = kind[0].upper(), int(kind[1]), kind[2:]
    factor = {"": "", "Ie": "e^{{-|{0}|}} ", "Ke": "e^{{{0}}} "}[letter + scale if scale else ""]
    domain = {"Y": "x > 0; -inf at 0, nan below", "K": "x > 0; inf at 0, nan below"}.get(letter, "all real numbers")
    if letter in "YK":
        more["domain"] = (Domain(low=0.0),)
    return unary(
        name, _unscaled(special(f"{kind}e")) if kind in ("i0", "i1") else special(kind), rule,
        symbol=f"{letter}{'₀₁'[order]}{scale}", expression=f"{name}({{0}})" * (letter == "I"),
        latex=f"{factor}{letter}_{order}({{0}})", locals_latex=(local,),
        sentence=f"takes the {'scaled ' * bool(scale)}Bessel function {letter}{order} of {{0}}",
        registered=f"Bessel{letter}{kind[1:]}", **more, doc=of_one(summary, derivative, f"""
>>> print(f"{{lab.math.special.{name}(1.0):.4f}}")
{at_one:.4f}""", domain=domain))


bessel_i0 = _bessel(
    "bessel_i0", lambda ops, g, out, x: g * ops.bessel_i1(x), "I_1({0})",
    "Modified Bessel function of the first kind, order 0.", "I1(x)", 1.2661, keeps="inputs")
bessel_i0e = _bessel(
    "bessel_i0e", lambda ops, g, out, x: g * (ops.bessel_i1e(x) - ops.sign(x) * out),
    r"e^{{-|{0}|}} \left(I_1({0}) - \operatorname{{sign}}({0}) I_0({0})\right)",
    "I0(x)·e^-|x|, which does not overflow.", "e^-|x|·(I1(x) - sign(x)·I0(x)); 0 at the kink", 0.4658,
    domain=(Domain(away_from=(0.0,)),))
bessel_i1 = _bessel(
    "bessel_i1", lambda ops, g, out, x: g * (0.5 * (ops.bessel_i0(x) + ops.bessel_iv(x, order=2))),
    r"\frac{{I_0({0}) + I_2({0})}}{{2}}",
    "Modified Bessel function of the first kind, order 1.", "(I0(x) + I2(x))/2", 0.5652, keeps="inputs")
bessel_i1e = _bessel(
    "bessel_i1e",
    lambda ops, g, out, x: g * (0.5 * (ops.bessel_i0e(x) + ops.bessel_ive(x, order=2)) - ops.sign(x) * out),
    r"e^{{-|{0}|}} \left(\frac{{I_0({0}) + I_2({0})}}{{2}} - |I_1({0})|\right)",
    "I1(x)·e^-|x|, which does not overflow.", "e^-|x|·((I0(x) + I2(x))/2 - |I1(x)|)", 0.2079,
    domain=(Domain(away_from=(0.0,)),))
bessel_j0 = _bessel(
    "bessel_j0", lambda ops, g, out, x: -(g * ops.bessel_j1(x)), "-J_1({0})",
    "Bessel function of the first kind, order 0.", "-J1(x)", 0.7652, keeps="inputs")
bessel_j1 = _bessel(
    "bessel_j1", lambda ops, g, out, x: g * (0.5 * (ops.bessel_j0(x) - ops.bessel_jv(x, order=2))),
    r"\frac{{J_0({0}) - J_2({0})}}{{2}}",
    "Bessel function of the first kind, order 1.", "(J0(x) - J2(x))/2", 0.4401, keeps="inputs")
bessel_y0 = _bessel(
    "bessel_y0", lambda ops, g, out, x: -(g * ops.bessel_y1(x)), "-Y_1({0})",
    "Bessel function of the second kind, order 0.", "-Y1(x)", 0.0883, keeps="inputs")
bessel_y1 = _bessel(
    "bessel_y1", lambda ops, g, out, x: g * (ops.bessel_y0(x) - out / x), r"Y_0({0}) - \frac{{Y_1({0})}}{{{0}}}",
    "Bessel function of the second kind, order 1.", "Y0(x) - Y1(x)/x", -0.7812)
bessel_k0 = _bessel(
    "bessel_k0", lambda ops, g, out, x: -(g * ops.bessel_k1(x)), "-K_1({0})",
    "Modified Bessel function of the second kind, order 0.", "-K1(x)", 0.4210, keeps="inputs")
bessel_k0e = _bessel(
    "bessel_k0e", lambda ops, g, out, x: g * (out - ops.bessel_k1e(x)), r"e^{{{0}}} \left(K_0({0}) - K_1({0})\right)",
    "K0(x)·e^x, which does not underflow.", "e^x·(K0(x) - K1(x))", 1.1445)
bessel_k1 = _bessel(
    "bessel_k1", lambda ops, g, out, x: -(g * (ops.bessel_k0(x) + out / x)), r"-K_0({0}) - \frac{{K_1({0})}}{{{0}}}",
    "Modified Bessel function of the second kind, order 1.", "-K0(x) - K1(x)/x", 0.6019)
bessel_k1e = _bessel(
    "bessel_k1e", lambda ops, g, out, x: g * (out - out / x - ops.bessel_k0e(x)),
    r"e^{{{0}}} \left(K_1({0}) - \frac{{K_1({0})}}{{{0}}} - K_0({0})\right)",
    "K1(x)·e^x, which does not underflow.", "e^x·(K1(x) - K1(x)/x - K0(x))", 1.6362)

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


def _fresnel(which: int) -> Any:
    pair = special("fresnel")

    def kernel(x: Any) -> Any:
        if x.dtype.itemsize == 2 and x.dtype.kind in "fV":
            return pair(x.astype(np.float32))[which].astype(x.dtype)
        return pair(x)[which]
    return kernel


fresnel_cos = unary(
    "fresnel_cos", _fresnel(1), lambda ops, g, out, x: g * ops.cos(math.pi / 2 * (x * x)),
    symbol="C", latex="C({0})", locals_latex=(r"\cos\left(\tfrac{{\pi}}{{2}} {0}^2\right)",),
    sentence="takes Fresnel's cosine integral of {0}", keeps="inputs", registered="FresnelCos",
    doc=of_one("Integral of cos(π t²/2) from 0 to x.", "cos(π x²/2)", """
>>> print(lab.math.special.fresnel_cos(0.0))
Tensor(0.0, shape=(), dtype=float32)"""))
fresnel_sin = unary(
    "fresnel_sin", _fresnel(0), lambda ops, g, out, x: g * ops.sin(math.pi / 2 * (x * x)),
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
