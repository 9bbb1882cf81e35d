"""Smooth activations: curves without a kink, each with a rule of its own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import unary
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.dtypes import DIFFERENTIABLE
from autodiff_lab.engine.failure import wrong_dtype
from autodiff_lab.engine.shape import flag
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.kernels.base.halves import in_float32
from autodiff_lab.kernels.checks import real_only
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.docs import doc, of_one
from autodiff_lab.ops.math.scipy_kernels import special
from autodiff_lab.ops.nn.activations import _sigmoid, _softplus, sigmoid

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike

_DENSITY = 1 / math.sqrt(2 * math.pi)
_TANH_SCALE = math.sqrt(2 / math.pi)
_TANH_CUBE = 0.044715


_ndtr = special("ndtr")


def _normal_cdf(x: Any) -> Any:
    if x.dtype.kind not in "fV":
        real_only("gelu", x)
        return x.astype(np.float64)  # which the op then refuses
    return _ndtr(x)


def _bell(ops: Any, x: Any) -> Any:
    return ops.exp(x * x * -0.5) * _DENSITY


normal_cdf = unary(
    "normal_cdf", _normal_cdf, lambda ops, g, out, x: g * _bell(ops, x),
    symbol="Φ", latex=r"\Phi({0})", locals_latex=(r"\frac{{1}}{{\sqrt{{2\pi}}}} e^{{-{0}^2 / 2}}",),
    sentence="takes the probability of a normal number below {0}", keeps="inputs",
    expression="normal_cdf({0})",
    doc=of_one("How likely a standard normal number is below x; the rule of `gelu` uses it.", "e^(-x²/2)/√(2π)", """
>>> print(lab.ops.nn.smooth_activations.normal_cdf(0.0))
Tensor(0.5, shape=(), dtype=float32)"""))

gelu_exact = unary(
    "gelu", in_float32(lambda x: x * _normal_cdf(x)),
    lambda ops, g, out, x: g * (ops.normal_cdf(x) + x * _bell(ops, x)),
    symbol="gelu", latex=r"{0} \Phi({0})", locals_latex=(r"\Phi({0}) + {0} \Phi'({0})",),
    sentence="weighs {0} by the probability of a normal number below it", keeps="inputs",
    expression="{0} * normal_cdf({0})",
    doc="The kernel-level exact gelu; `lab.nn.gelu` is the public function.")


def _gelu_tanh_rule(ops: Any, g: Any, out: Any, x: Any) -> Any:
    t = ops.tanh(_TANH_SCALE * (x + _TANH_CUBE * (x * x * x)))
    inner = _TANH_SCALE * (1 + 3 * _TANH_CUBE * (x * x))
    return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner)


@in_float32
def _gelu_tanh(x: Any) -> Any:
    real_only("gelu", x)
    if x.__class__ is not np.ndarray or x.dtype.kind != "f":
        return 0.5 * x * (1 + np.tanh(_TANH_SCALE * (x + _TANH_CUBE * (x * x * x))))
    bent = x * x
    bent *= x
    bent *= _TANH_CUBE
    bent += x
    bent *= _TANH_SCALE
    np.tanh(bent, bent)
    bent += 1
    bent *= 0.5 * x
    return bent


gelu_tanh = unary(
    "gelu_tanh", _gelu_tanh, _gelu_tanh_rule,
    symbol="gelu", latex=r"\tfrac12 {0} \left(1 + \tanh u\right)",
    locals_latex=(r"\tfrac12 (1 + \tanh u) + \tfrac12 {0} (1 - \tanh^2 u) u'",),
    sentence="weighs {0} by about the probability of a normal number below it", keeps="inputs",
    expression=f"number(0.5) * {{0}} * (one + tanh(number({_TANH_SCALE!r}) * ({{0}} + number({_TANH_CUBE!r}) * "
               "({0} * {0} * {0}))))",
    doc="The kernel-level approximate gelu; `lab.nn.gelu(x, approximate=True)` is the public function.")


def gelu(features: TensorLike, approximate: bool = False, name: str | None = None) -> Tensor:
    return named((gelu_tanh if flag(approximate, "gelu: approximate") else gelu_exact)(features), name)


gelu.__doc__ = of_one(
    "x times the probability that a standard normal number is below x; by an approximation with tanh if asked.",
    "Φ(x) + x·Φ'(x)", ">>> print(lab.nn.gelu([0.0, 2.0], approximate=True).numpy().round(3))\n[0.    1.955]",
    notes="Hendrycks & Gimpel 2016.")


def _silu_rule(ops: Any, g: Any, out: Any, x: Any) -> Any:
    s = ops.sigmoid(x)
    return g * (s * (1 + x * (1 - s)))


silu_of_one = unary(
    "silu", in_float32(lambda x: x * _sigmoid(x)), _silu_rule,
    symbol="swish", latex=r"{0} \sigma({0})", locals_latex=(r"\sigma({0}) \left(1 + {0} (1 - \sigma({0}))\right)",),
    sentence="weighs {0} by its sigmoid", keeps="inputs",
    expression="{0} * sigmoid({0})",
    doc="The kernel-level silu, x·σ(x); `lab.nn.silu` is the public function.")


def silu(features: TensorLike, beta: TensorLike = 1.0, name: str | None = None) -> Tensor:
    if isinstance(beta, (int, float)) and beta == 1:
        return silu_of_one(features, name=name)
    x = convert(features)
    if x._held.dtype not in DIFFERENTIABLE:
        raise wrong_dtype(silu_of_one.op, (x,))  # type: ignore[attr-defined]
    return named(x * sigmoid(x * cast(convert(beta, x), x.dtype)), name)


swish = silu
silu.__doc__ = doc(
    "x·σ(βx), elementwise; also called swish.", shapes="features (*s), beta () -> (*s)", raises=("floating", "convert"),
    derivative="σ(βx)·(1 + βx·(1 - σ(βx))) for x, x²·σ(βx)·(1 - σ(βx)) for β", notes="Ramachandran, Zoph & Le 2017.",
    example=">>> print(lab.nn.silu([0.0, 1.0]))\nTensor([0.        0.7310586], shape=(2,), dtype=float32)")


def _mish_rule(ops: Any, g: Any, out: Any, x: Any) -> Any:
    t = ops.tanh(ops.softplus(x))
    return g * (t + x * ((1 - t * t) * ops.sigmoid(x)))


mish = unary(
    "mish", in_float32(lambda x: x * np.tanh(_softplus(x))), _mish_rule,
    symbol="mish", latex=r"{0} \tanh \ln(1 + e^{{{0}}})",
    locals_latex=(r"\tanh s + {0} (1 - \tanh^2 s)\, \sigma({0})",),
    sentence="weighs {0} by tanh of its softplus", keeps="inputs",
    expression="{0} * tanh(softplus({0}))",
    doc=of_one("x·tanh(softplus(x)), elementwise.", "t + x·(1 - t²)·σ(x) with t = tanh(softplus(x))", """
>>> print(lab.nn.mish(0.0))
Tensor(0.0, shape=(), dtype=float32)""", notes="Misra 2019."))

log_sigmoid = unary(
    "log_sigmoid", lambda x: -_softplus(-x), lambda ops, g, out, x: g * ops.sigmoid(-x),
    symbol="ln σ", latex=r"\ln \sigma({0})", locals_latex=(r"\sigma(-{0})",),
    sentence="takes the logarithm of the sigmoid of {0}", keeps="inputs",
    expression="-softplus(-{0})",
    doc=of_one("ln(1 / (1 + e^-x)), elementwise, without overflow.", "σ(-x)", """
>>> print(lab.nn.log_sigmoid(0.0))
Tensor(-0.6931472, shape=(), dtype=float32)"""))
