"""Activations in pieces: rectifiers and the cheap stand-ins for smooth curves.

At a kink each takes the gradient of its flat or negative side, as `relu` does; `elu` is smooth there, and `selu` takes
the gradient of its positive side.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import general, of_features, unary
from autodiff_lab.engine.convert import convert, handed
from autodiff_lab.engine.dtypes import DIFFERENTIABLE
from autodiff_lab.engine.failure import wrong_dtype
from autodiff_lab.engine.op import REGISTRY, Domain
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import InvalidArgumentError, NotOneTensor
from autodiff_lab.kernels.base.elementwise import Chain, in_one_pass
from autodiff_lab.kernels.base.halves import in_float32
from autodiff_lab.kernels.checks import RealZeros, real_only
from autodiff_lab.ops.array.joining import concat
from autodiff_lab.ops.docs import doc, of_one
from autodiff_lab.ops.nn.activations import relu
from autodiff_lab.ops.structured import elementwise

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike

# Klambauer et al. 2017, "Self-Normalizing Neural Networks": the fixed point of mean 0 and variance 1.
SELU_SCALE = 1.0507009873554805
SELU_ALPHA = 1.6732632423543772

_ZEROS_6, _ZEROS_ELU, _ZEROS_SELU = RealZeros("relu6"), RealZeros("elu"), RealZeros("selu")
relu6 = of_features(unary(
    "relu6", lambda x: np.minimum(np.maximum(x, _ZEROS_6[x.dtype]), x.dtype.type(6)),
    lambda ops, g, out, x: ops.gate(g, ops.positive(out) * ops.positive(6 - out)),
    symbol="relu6", latex=r"\min(\max({0}, 0), 6)", locals_latex=("[0 < {0} < 6]",),
    sentence="keeps {0} between 0 and 6", expression="smaller(larger({0}, zero), number(6))",
    domain=(Domain(away_from=(0.0, 6.0)),), keeps="output", registered="Relu6",
    doc=of_one("x where it is between 0 and 6, else the nearer end.", "1 between 0 and 6, else 0; 0 at the ends", """
>>> print(lab.nn.relu6([-1.0, 2.0, 9.0]))
Tensor([0. 2. 6.], shape=(3,), dtype=float32)""")))

elu = of_features(unary(
    "elu", lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, _ZEROS_ELU[x.dtype])))[()],
    lambda ops, g, out, x: g * (1 - ops.relu(-out)),
    symbol="elu", latex=r"\operatorname{{elu}}({0})", locals_latex=(r"\min(1, e^{{{0}}})",),
    sentence="keeps {0} where it is positive, else e^{0} - 1", domain=(Domain(away_from=(0.0,)),), keeps="output",
    registered="Elu",
    expression="choose({0} > zero, {0}, expm1(smaller({0}, zero)))",
    doc=of_one("x where it is positive, else e^x - 1.", "1 where x > 0, else e^x; 1 at 0", """
>>> print(lab.nn.elu([0.0, 2.0]))
Tensor([0. 2.], shape=(2,), dtype=float32)""",
               notes="Clevert, Unterthiner & Hochreiter 2016.")))


@in_float32
def _selu(x: Any) -> Any:
    below = np.expm1(np.minimum(x, _ZEROS_SELU[x.dtype]))
    return SELU_SCALE * np.where(x > 0, x, SELU_ALPHA * below)[()]


selu = of_features(unary(
    "selu", _selu,
    lambda ops, g, out, x: g * (SELU_SCALE + SELU_SCALE * (SELU_ALPHA - 1) * ops.positive(-out) - ops.relu(-out)),
    symbol="selu", latex=r"\operatorname{{selu}}({0})",
    locals_latex=(r"\lambda \left([{0} \ge 0] + [{0} < 0] \alpha e^{{{0}}}\right)",),
    sentence="scales {0} where it is positive, else a multiple of e^{0} - 1",
    domain=(Domain(away_from=(0.0,)),), keeps="output", registered="Selu",
    expression=f"number({SELU_SCALE!r}) * choose({{0}} > zero, {{0}}, number({SELU_ALPHA!r}) * "
               "expm1(smaller({0}, zero)))",
    doc=of_one("1.0507·x where x is positive, else 1.7581·(e^x - 1).", "1.0507 where x ≥ 0, else 1.7581·e^x", """
>>> print(lab.nn.selu([0.0, 2.0]))
Tensor([0.       2.101402], shape=(2,), dtype=float32)""",
               notes="Klambauer, Unterthiner, Mayr & Hochreiter 2017.")))


def _ramp(name: str, x: Any) -> Any:
    real_only(name, x)
    return np.minimum(np.maximum(x + 3, x.dtype.type(0)), x.dtype.type(6)) / 6


hard_sigmoid = unary(
    "hard_sigmoid", lambda x: _ramp("hard_sigmoid", x),
    lambda ops, g, out, x: ops.gate(g, ops.positive(out) * ops.positive(1 - out) / 6),
    symbol="hard σ", latex=r"\operatorname{{clip}}\left(\frac{{{0} + 3}}{{6}}, 0, 1\right)",
    locals_latex=(r"\frac{{1}}{{6}} [-3 < {0} < 3]",), sentence="squashes {0} between 0 and 1 by a straight line",
    domain=(Domain(away_from=(-3.0, 3.0)),), keeps="output",
    expression="smaller(larger({0} + number(3), zero), number(6)) / number(6)",
    doc=of_one("(x + 3)/6, no less than 0 and no more than 1.", "1/6 between -3 and 3, else 0", """
>>> print(lab.nn.hard_sigmoid([-4.0, 0.0, 4.0]))
Tensor([0.  0.5 1. ], shape=(3,), dtype=float32)"""))


def _hard_silu_rule(ops: Any, g: Any, out: Any, x: Any) -> Any:
    gate = ops.hard_sigmoid(x)
    return ops.gate(g, gate + x * (ops.positive(gate) * ops.positive(1 - gate) / 6))


hard_silu = unary(
    "hard_silu", lambda x: x * _ramp("hard_swish", x),
    _hard_silu_rule, symbol="hard swish",
    latex=r"{0} \operatorname{{clip}}\left(\frac{{{0} + 3}}{{6}}, 0, 1\right)",
    locals_latex=(r"\frac{{2 {0} + 3}}{{6}}",), sentence="weighs {0} by a straight line from 0 to 1",
    domain=(Domain(away_from=(-3.0, 3.0)),), keeps="inputs",
    expression="{0} * (smaller(larger({0} + number(3), zero), number(6)) / number(6))",
    doc=of_one("x times (x + 3)/6 cut to [0, 1].", "(2x + 3)/6 between -3 and 3, 0 below, 1 above", """
>>> print(lab.nn.hard_swish([-4.0, 0.0, 4.0]))
Tensor([-0.  0.  4.], shape=(3,), dtype=float32)""", notes="Howard et al. 2019, where it is called h-swish."))
hard_swish = hard_silu

def _leaky_expression(constants: Any, alpha: float) -> str | None:
    return f"choose({{0}} > zero, {{0}}, number({float(alpha)!r}) * {{0}})" if math.isfinite(alpha) else None


def _leaky_reference(x: Any, alpha: Any) -> Any:
    if 0 < alpha <= 1:
        return np.maximum(x, alpha * x)
    return np.where(x > 0, x, alpha * x)[()]


_leaky = in_one_pass(
    "leaky_relu", _leaky_reference, lambda: Chain(("r = choose(v0 > zero, v0, v1 * v0)",), "r"), 2)
leaky = general(
    "leaky_relu", lambda x, alpha: _leaky(x, x.dtype.type(alpha)),
    lambda ops, g, out, x, alpha: ops.gate(g, ops.positive(x) * (1 - alpha) + alpha),
    symbol="leaky relu", latex=r"\max({0}, \alpha {0})", locals_latex=(r"[{0} > 0] + \alpha [{0} \le 0]",),
    sentence="keeps {0} where it is positive, else a fraction of it", keeps="inputs", registered="LeakyRelu",
    expression=_leaky_expression,
    doc="The kernel-level leaky rectifier; `lab.nn.leaky_relu` is the public function.")


@elementwise
def leaky_relu(features: TensorLike, alpha: float = 0.2, name: str | None = None) -> Tensor:
    try:
        x = convert(features)
    except NotOneTensor as met:
        return named(handed(met, leaky_relu, (features,), alpha=alpha), name)
    if x._held.dtype not in DIFFERENTIABLE or x._held.dtype.kind == "c":
        raise wrong_dtype(REGISTRY["leaky_relu"], (x,))
    factor = alpha
    if alpha.__class__ is not float:
        given = convert(alpha)._array
        factor = np.nan if given.ndim or given.dtype.kind not in "fiuV" else float(given)
    if not 0 <= factor < np.inf:
        raise InvalidArgumentError(f"leaky_relu: alpha must be a finite number, 0 or more, got {alpha!r:.80}.")
    return leaky(x, alpha=factor, name=name)


def crelu(features: TensorLike, axis: int = -1, name: str | None = None) -> Tensor:
    x = convert(features)
    if x._held.ndim == 0:
        raise InvalidArgumentError("crelu: expected a tensor of rank 1 or more, got a scalar. Try lab.reshape(x, "
                                   "(1,)).")
    return relu(concat([x, -x], axis), name=name)


leaky_relu.__doc__ = doc(
    "x where it is positive, else alpha·x.", shapes="features (*s) -> (*s)", derivative="1 where x > 0, else alpha",
    raises=("floating", "argument", "convert"), notes="Maas, Hannun & Ng 2013.",
    example=">>> print(lab.nn.leaky_relu([-1.0, 2.0], alpha=0.1))\nTensor([-0.1  2. ], shape=(2,), dtype=float32)")
crelu.__doc__ = doc(
    "relu(x) and relu(-x), joined along an axis, which becomes twice as long.", shapes="features (*s) -> s with 2n",
    derivative="1 for the half where x is positive, -1 for the other", raises=("argument", "convert"),
    notes="Shang, Sohn, Almeida & Lee 2016.",
    example=">>> print(lab.nn.crelu([-1.0, 2.0]))\nTensor([0. 2. 1. 0.], shape=(4,), dtype=float32)")


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
    expression="choose(abs({0}) <= number(0.5), zero, {0})",
    symbol="hard shrink", latex=r"[\left|{0}\right| > 0.5]\, {0}", locals_latex=(r"[\left|{0}\right| > 0.5]",),
    sentence="keeps {0} where it is farther than 0.5 from 0, else 0", domain=(Domain(away_from=(-0.5, 0.5)),),
    keeps="output",
    doc=of_one("x where it is farther than 0.5 from 0, else 0.", "1 there, else 0", """
>>> print(lab.nn.hard_shrink([-2.0, 0.2, 2.0]))
Tensor([-2.  0.  2.], shape=(3,), dtype=float32)"""))

soft_shrink = unary(
    "soft_shrink", _soft_shrink,
    lambda ops, g, out, x: ops.gate(g, ops.positive(ops.abs(out))),
    expression="choose({0} > zero, one, choose({0} < zero, -one, choose({0} == zero, zero, {0}))) * "
               "larger(abs({0}) - number(0.5), zero)",
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
    expression="choose({0} <= -one, zero, choose({0} < one, ({0} + one) * ({0} + one) / number(4), {0}))",
    sentence="bends relu of {0} by a parabola from -1 to 1", domain=(Domain(away_from=(-1.0, 1.0)),), keeps="inputs",
    doc=of_one("0 up to -1, x from 1 on, a parabola between.", "0, (x + 1)/2 and 1 in the three parts", """
>>> print(lab.nn.sparse_plus([-2.0, 0.0, 2.0]))
Tensor([0.   0.25 2.  ], shape=(3,), dtype=float32)"""))
