"""Exponentials and logarithms."""

from __future__ import annotations

import numpy as np

from autodiff_lab.engine.apply import unary
from autodiff_lab.engine.op import Domain
from autodiff_lab.ops.docs import of_one

exp = unary(
    "exp", np.exp, lambda ops, g, out, x: g * out,
    symbol="exp", latex="e^{{{0}}}", locals_latex=("e^{{{0}}}",), sentence="raises e to the power {0}",
    expression="exp({0})", keeps="output", registered="Exp",
    doc=of_one("e to the power x, elementwise.", "e^x, the op's own output", """
>>> print(lab.exp(0.0))
Tensor(1.0, shape=(), dtype=float32)"""))

expm1 = unary(
    "expm1", np.expm1, lambda ops, g, out, x: g * ops.exp(x),  # of out + 1 nothing is left where x is very negative
    symbol="expm1", latex="e^{{{0}}} - 1", locals_latex=("e^{{{0}}}",), sentence="raises e to {0} and takes 1 away",
    expression="expm1({0})", keeps="inputs", registered="Expm1",
    doc=of_one("e^x - 1, exact for small x.", "e^x", """
>>> print(lab.math.expm1(0.0))
Tensor(0.0, shape=(), dtype=float32)"""))

log = unary(
    "log", np.log, lambda ops, g, out, x: g / x,
    symbol="ln", latex=r"\ln {0}", locals_latex=(r"\frac{{1}}{{{0}}}",), sentence="takes the natural logarithm of {0}",
    expression="log({0})", domain=(Domain(low=0.0),), keeps="inputs", registered="Log",
    doc=of_one("Natural logarithm, elementwise.", "1/x", """
>>> print(lab.math.log(1.0))
Tensor(0.0, shape=(), dtype=float32)""", domain="x > 0; -inf at 0, nan below"))

log1p = unary(
    "log1p", np.log1p, lambda ops, g, out, x: g / (1 + x),
    symbol="log1p", latex=r"\ln(1 + {0})", locals_latex=(r"\frac{{1}}{{1 + {0}}}",),
    sentence="takes the logarithm of 1 + {0}", expression="log1p({0})", domain=(Domain(low=-1.0),), keeps="inputs",
    registered="Log1p",
    doc=of_one("ln(1 + x), exact for small x.", "1/(1 + x)", """
>>> print(lab.math.log1p(0.0))
Tensor(0.0, shape=(), dtype=float32)""", domain="x > -1"))

rsqrt = unary(
    "rsqrt", lambda x: 1 / np.sqrt(x), lambda ops, g, out, x: g * (-0.5) * out / x,
    symbol="1/√", latex=r"\frac{{1}}{{\sqrt{{{0}}}}}", locals_latex=(r"-\frac{{1}}{{2 {0}^{{3/2}}}}",),
    sentence="takes one over the square root of {0}", expression="one / sqrt({0})", domain=(Domain(low=0.0),),
    registered="Rsqrt",
    doc=of_one("One over the square root, elementwise.", "-1/(2 x^(3/2))", """
>>> print(lab.math.rsqrt(4.0))
Tensor(0.5, shape=(), dtype=float32)""", domain="x > 0"))
