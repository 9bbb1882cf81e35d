"""Trigonometric and hyperbolic functions and their inverses; angles are in radians."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.apply import binary, unary
from autodiff_lab.engine.chains import IN_ONE_OP
from autodiff_lab.engine.op import Domain
from autodiff_lab.ops.docs import of_one
from autodiff_lab.ops.math.complex_numbers import is_complex

sin = unary(
    "sin", np.sin, lambda ops, g, out, x: g * ops.cos(x),
    symbol="sin", latex=r"\sin {0}", locals_latex=(r"\cos {0}",), sentence="takes the sine of {0}",
    expression="sin({0})", keeps="inputs", registered="Sin",
    doc=of_one("Sine of x in radians, elementwise.", "cos x", """
>>> print(lab.sin(0.0))
Tensor(0.0, shape=(), dtype=float32)"""))

cos = unary(
    "cos", np.cos, lambda ops, g, out, x: -(g * ops.sin(x)),
    symbol="cos", latex=r"\cos {0}", locals_latex=(r"-\sin {0}",), sentence="takes the cosine of {0}",
    expression="cos({0})", keeps="inputs", registered="Cos",
    doc=of_one("Cosine of x in radians, elementwise.", "-sin x", """
>>> print(lab.cos(0.0))
Tensor(1.0, shape=(), dtype=float32)"""))

tan = unary(
    "tan", np.tan, lambda ops, g, out, x: g * (1 + out * out),
    symbol="tan", latex=r"\tan {0}", locals_latex=(r"1 + \tan^2 {0}",), sentence="takes the tangent of {0}",
    expression="tan({0})", domain=(Domain(low=-1.5, high=1.5),), keeps="output", registered="Tan",
    doc=of_one("Tangent of x in radians, elementwise.", "1 + tan² x", """
>>> print(lab.tan(0.0))
Tensor(0.0, shape=(), dtype=float32)""", domain="x not an odd multiple of π/2"))

asin = unary(
    "asin", np.arcsin, lambda ops, g, out, x: g / ops.sqrt(1 - x * x),
    symbol="asin", latex=r"\arcsin {0}", locals_latex=(r"\frac{{1}}{{\sqrt{{1 - {0}^2}}}}",),
    sentence="takes the inverse sine of {0}", domain=(Domain(low=-1.0, high=1.0),),
    keeps="inputs", registered="Asin", expression="asin({0})",
    doc=of_one("Inverse sine, in radians.", "1/√(1 - x²)", """
>>> print(lab.asin(0.0))
Tensor(0.0, shape=(), dtype=float32)""", domain="-1 < x < 1; nan beyond"))

acos = unary(
    "acos", np.arccos, lambda ops, g, out, x: -g / ops.sqrt(1 - x * x),
    symbol="acos", latex=r"\arccos {0}", locals_latex=(r"-\frac{{1}}{{\sqrt{{1 - {0}^2}}}}",),
    sentence="takes the inverse cosine of {0}", domain=(Domain(low=-1.0, high=1.0),),
    keeps="inputs", registered="Acos", expression="acos({0})",
    doc=of_one("Inverse cosine, in radians.", "-1/√(1 - x²)", """
>>> print(lab.acos(1.0))
Tensor(0.0, shape=(), dtype=float32)""", domain="-1 < x < 1; nan beyond"))

atan = unary(
    "atan", np.arctan, lambda ops, g, out, x: g / (1 + x * x),
    symbol="atan", latex=r"\arctan {0}", locals_latex=(r"\frac{{1}}{{1 + {0}^2}}",),
    sentence="takes the inverse tangent of {0}", keeps="inputs", registered="Atan", expression="atan({0})",
    doc=of_one("Inverse tangent, in radians.", "1/(1 + x²)", """
>>> print(lab.atan(0.0))
Tensor(0.0, shape=(), dtype=float32)"""))

sinh = unary(
    "sinh", np.sinh, lambda ops, g, out, x: g * ops.cosh(x),
    symbol="sinh", latex=r"\sinh {0}", locals_latex=(r"\cosh {0}",), sentence="takes the hyperbolic sine of {0}",
    keeps="inputs", registered="Sinh", expression="sinh({0})",
    doc=of_one("Hyperbolic sine, elementwise.", "cosh x", """
>>> print(lab.sinh(0.0))
Tensor(0.0, shape=(), dtype=float32)"""))

cosh = unary(
    "cosh", np.cosh, lambda ops, g, out, x: g * ops.sinh(x),
    symbol="cosh", latex=r"\cosh {0}", locals_latex=(r"\sinh {0}",), sentence="takes the hyperbolic cosine of {0}",
    keeps="inputs", registered="Cosh", expression="cosh({0})",
    doc=of_one("Hyperbolic cosine, elementwise.", "sinh x", """
>>> print(lab.cosh(0.0))
Tensor(1.0, shape=(), dtype=float32)"""))

tanh = unary(
    "tanh", np.tanh, lambda ops, g, out, x: g * (1 - out * out),
    symbol="tanh", latex=r"\tanh {0}", locals_latex=(r"1 - \tanh^2 {0}",),
    sentence="takes the hyperbolic tangent of {0}", expression="tanh({0})", keeps="output", registered="Tanh",
    doc=of_one("Hyperbolic tangent, elementwise.", "1 - tanh² x", """
>>> print(lab.tanh(0.0))
Tensor(0.0, shape=(), dtype=float32)"""))

tanh_grad = binary(
    "tanh_grad", lambda g, y: g * (1 - y * y),
    lambda ops, h, out, g, y: ops.tanh_grad(h, y), lambda ops, h, out, g, y: h * g * y * -2,
    symbol="d tanh", latex=r"{0} \left(1 - {1}^2\right)", locals_latex=(r"1 - {1}^2", r"-2\,{0}\,{1}"),
    sentence="multiplies {0} by 1 - {1}²", expression="{0} * (one - {1} * {1})", keeps="inputs",
    doc="g·(1 - y²) for the result y of a hyperbolic tangent; the rule of `tanh` as one op.")
IN_ONE_OP[tanh.op.rules[0]] = lambda ops, g, out, x: ops.tanh_grad(g, out)  # type: ignore[attr-defined]


def _asinh_rule(ops: Any, g: Any, out: Any, x: Any) -> Any:
    """g/√(1 + x²); the root of a real x is a·√(1/a² + (x/a)²) with a = max(1, |x|), so that no square overflows."""
    if is_complex(x):
        return g / ops.sqrt(1 + x * x)
    large, rest = ops.maximum(1, ops.abs(x)), ops.maximum(ops.minimum(x, 1), -1)
    small = 1 / large
    return g / large / ops.sqrt(small * small + rest * rest)


asinh = unary(
    "asinh", np.arcsinh, _asinh_rule,
    symbol="asinh", latex=r"\operatorname{{arsinh}} {0}", locals_latex=(r"\frac{{1}}{{\sqrt{{1 + {0}^2}}}}",),
    sentence="takes the inverse hyperbolic sine of {0}", keeps="inputs", registered="Asinh", expression="asinh({0})",
    doc=of_one("Inverse hyperbolic sine, elementwise.", "1/√(1 + x²)", """
>>> print(lab.asinh(0.0))
Tensor(0.0, shape=(), dtype=float32)"""))


def _acosh_rule(ops: Any, g: Any, out: Any, x: Any) -> Any:
    """√(x - 1)·√(x + 1) is nan below 1, as the value is, and has the branch of acosh for complex numbers.

    √(x² - 1) is neither.
    """
    return g / ops.sqrt(x - 1) / ops.sqrt(x + 1)


acosh = unary(
    "acosh", np.arccosh, _acosh_rule,
    symbol="acosh", latex=r"\operatorname{{arcosh}} {0}", locals_latex=(r"\frac{{1}}{{\sqrt{{{0}^2 - 1}}}}",),
    sentence="takes the inverse hyperbolic cosine of {0}", domain=(Domain(low=1.0),),
    keeps="inputs", registered="Acosh", expression="acosh({0})",
    doc=of_one("Inverse hyperbolic cosine, elementwise.", "1/√(x² - 1)", """
>>> print(lab.acosh(1.0))
Tensor(0.0, shape=(), dtype=float32)""", domain="x > 1; nan below"))

atanh = unary(
    "atanh", np.arctanh, lambda ops, g, out, x: g / (1 - x * x),
    symbol="atanh", latex=r"\operatorname{{artanh}} {0}", locals_latex=(r"\frac{{1}}{{1 - {0}^2}}",),
    sentence="takes the inverse hyperbolic tangent of {0}",
    domain=(Domain(low=-1.0, high=1.0),), keeps="inputs", registered="Atanh", expression="atanh({0})",
    doc=of_one("Inverse hyperbolic tangent, elementwise.", "1/(1 - x²)", """
>>> print(lab.atanh(0.0))
Tensor(0.0, shape=(), dtype=float32)""", domain="-1 < x < 1; inf at the ends, nan beyond"))
