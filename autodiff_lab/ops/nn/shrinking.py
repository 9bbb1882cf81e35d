"""Activations that cut or shrink: straight lines with flat parts, and smooth relatives of relu."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.apply import unary
from autodiff_lab.engine.op import Domain
from autodiff_lab.kernels.checks import real_only
from autodiff_lab.ops.docs import of_one


def _floating(x: Any) -> Any:
    """Return the number 1 of x's dtype, divided by itself: integers widen here, and the op refuses them."""
    one = x.dtype.type(1)
    return one / one


def _hard_tanh(x: Any) -> Any:
    real_only("hard_tanh", x)
    one = _floating(x)
    return np.minimum(np.maximum(x, -one), one)


def _hard_shrink(x: Any) -> Any:
    real_only("hard_shrink", x)
    return np.where(np.abs(x) <= 0.5, _floating(x) * 0, x)[()]  # in this order nan stays nan


def _soft_shrink(x: Any) -> Any:
    real_only("soft_shrink", x)
    one = _floating(x)
    return np.sign(x) * np.maximum(np.abs(x) - one / 2, one * 0)


hard_tanh = unary(
    "hard_tanh", _hard_tanh,
    lambda ops, g, out, x: ops.gate(g, ops.positive(1 - ops.abs(out))),
    symbol="hard tanh", latex=r"\operatorname{{clip}}({0}, -1, 1)", locals_latex=(r"[-1 < {0} < 1]",),
    sentence="cuts {0} at -1 and 1", domain=(Domain(away_from=(-1.0, 1.0)),), keeps="output",
    expression="smaller(larger({0}, -one), one)",
    doc=of_one("x, no less than -1 and no more than 1.", "1 between -1 and 1, else 0", """
>>> print(lab.nn.hard_tanh([-2.0, 0.5, 2.0]))
Tensor([-1.   0.5  1. ], shape=(3,), dtype=float32)"""))

hard_shrink = unary(
    "hard_shrink", _hard_shrink,
    lambda ops, g, out, x: ops.gate(g, ops.positive(ops.abs(out))),
    symbol="hard shrink", latex=r"[\left|{0}\right| > 0.5]\, {0}", locals_latex=(r"[\left|{0}\right| > 0.5]",),
    sentence="keeps {0} where it is farther than 0.5 from 0, else 0", domain=(Domain(away_from=(-0.5, 0.5)),),
    keeps="output",
    doc=of_one("x where it is farther than 0.5 from 0, else 0.", "1 there, else 0", """
>>> print(lab.nn.hard_shrink([-2.0, 0.2, 2.0]))
Tensor([-2.  0.  2.], shape=(3,), dtype=float32)"""))

soft_shrink = unary(
    "soft_shrink", _soft_shrink,
    lambda ops, g, out, x: ops.gate(g, ops.positive(ops.abs(out))),
    symbol="soft shrink", latex=r"\operatorname{{sign}}({0}) \max(\left|{0}\right| - 0.5, 0)",
    locals_latex=(r"[\left|{0}\right| > 0.5]",), sentence="moves {0} towards 0 by 0.5",
    domain=(Domain(away_from=(-0.5, 0.5)),), keeps="output",
    doc=of_one("x moved towards 0 by 0.5, and no farther than 0.", "1 where |x| > 0.5, else 0", """
>>> print(lab.nn.soft_shrink([-2.0, 0.2, 2.0]))
Tensor([-1.5  0.   1.5], shape=(3,), dtype=float32)""", notes="The proximal map of |x|/2: Donoho 1995."))


def _tanh_shrink_rule(ops: Any, g: Any, out: Any, x: Any) -> Any:
    bent = ops.tanh(x)
    return g * (bent * bent)


tanh_shrink = unary(
    "tanh_shrink", lambda x: x - np.tanh(x), _tanh_shrink_rule,
    symbol="tanh shrink", latex=r"{0} - \tanh {0}", locals_latex=(r"\tanh^2 {0}",),
    sentence="takes from {0} its hyperbolic tangent", keeps="inputs",
    expression="{0} - tanh({0})",
    doc=of_one("x minus tanh x, elementwise.", "tanh² x", """
>>> print(lab.nn.tanh_shrink(0.0))
Tensor(0.0, shape=(), dtype=float32)"""))

squareplus = unary(
    "squareplus", lambda x: (x + np.sqrt(x * x + 4)) / 2,
    lambda ops, g, out, x: g * (0.5 + 0.5 * x / ops.sqrt(x * x + 4)),
    symbol="squareplus", latex=r"\frac{{{0} + \sqrt{{{0}^2 + 4}}}}{{2}}",
    locals_latex=(r"\frac{{1}}{{2}} \left(1 + \frac{{{0}}}{{\sqrt{{{0}^2 + 4}}}}\right)",),
    sentence="rounds off relu of {0} without an exponential", keeps="inputs",
    expression="({0} + sqrt({0} * {0} + number(4))) / number(2)",
    doc=of_one("(x + √(x² + 4))/2, a smooth relu without an exponential.", "(1 + x/√(x² + 4))/2", """
>>> print(lab.nn.squareplus(0.0))
Tensor(1.0, shape=(), dtype=float32)""", notes="Barron 2021."))


def _sparse_plus(x: Any) -> Any:
    real_only("sparse_plus", x)
    bent = (x + 1) * (x + 1) / 4
    return np.where(x <= -1, x.dtype.type(0), np.where(x < 1, bent, x))[()]  # in this order nan stays nan


sparse_plus = unary(
    "sparse_plus", _sparse_plus, lambda ops, g, out, x: g * (0.5 + 0.5 * ops.hard_tanh(x)),
    symbol="sparse plus", latex=r"\frac{{({0} + 1)^2}}{{4}}", locals_latex=(r"\frac{{{0} + 1}}{{2}}",),
    sentence="bends relu of {0} by a parabola from -1 to 1", domain=(Domain(away_from=(-1.0, 1.0)),), keeps="inputs",
    doc=of_one("0 up to -1, x from 1 on, a parabola between.", "0, (x + 1)/2 and 1 in the three parts", """
>>> print(lab.nn.sparse_plus([-2.0, 0.0, 2.0]))
Tensor([0.   0.25 2.  ], shape=(3,), dtype=float32)"""))
