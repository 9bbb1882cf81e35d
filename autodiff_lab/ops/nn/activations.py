"""Activations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import binary, general, of_features, unary
from autodiff_lab.engine.chains import IN_ONE_OP
from autodiff_lab.engine.convert import convert, handed
from autodiff_lab.engine.dtypes import DIFFERENTIABLE
from autodiff_lab.engine.failure import wrong_dtype
from autodiff_lab.engine.op import Domain
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import NotOneTensor
from autodiff_lab.kernels.base.choose import chosen
from autodiff_lab.kernels.base.halves import as_float32
from autodiff_lab.kernels.checks import RealZeros
from autodiff_lab.kernels.softmax import reference
from autodiff_lab.ops.checks import axis_from_end
from autodiff_lab.ops.docs import doc, of_one
from autodiff_lab.ops.math.arithmetic import zero_rule

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike

positive = unary(
    "positive", lambda x: (x > 0).astype(x.dtype), zero_rule, steps=True,
    symbol="x>0", latex="[{0} > 0]", locals_latex=("0",), sentence="is 1 where {0} is positive, else 0",
    domain=(Domain(away_from=(0.0,)),), keeps="nothing",
    expression="choose({0} > zero, one, zero)",
    doc=of_one("1 where x is positive, else 0, in the dtype of x; the rule of `relu` uses it.", "0", """
>>> print(lab.ops.nn.activations.positive([-1.0, 0.0, 2.0]))
Tensor([0. 0. 1.], shape=(3,), dtype=float32)"""))

_ZEROS = RealZeros("relu")
relu = of_features(unary(
    "relu", lambda x: np.maximum(x, _ZEROS[x.dtype]), lambda ops, g, out, x: ops.gate(g, ops.positive(out)),
    symbol="relu", latex=r"\max({0}, 0)", locals_latex=("[{0} > 0]",),
    sentence="keeps {0} where it is positive, else 0",
    expression="larger({0}, zero)", domain=(Domain(away_from=(0.0,)),), keeps="output", registered="Relu",
    doc=of_one("x where it is positive, else 0.", "1 where x > 0, else 0; 0 at 0", """
>>> print(lab.nn.relu([-1.0, 2.0]))
Tensor([0. 2.], shape=(2,), dtype=float32)""")))


ndarray = np.ndarray
_LARGEST = {"f": np.float32(88), "d": np.float64(709)}
"""Where e^x is about to overflow."""


def _sigmoid(x: Any) -> Any:
    """Return e^x / (1 + e^x), where x is cut before e^x overflows: the quotient is 1 there."""
    if x.dtype.kind == "c":
        right = x.real >= 0
        small = np.exp(np.where(right, -x, x))
        return np.where(right, 1 / (1 + small), small / (1 + small))[()]
    if x.itemsize == 2:
        return as_float32(_sigmoid, x)
    small = np.minimum(x, _LARGEST.get(x.dtype.char, 709.0))
    if x.__class__ is not ndarray:
        small = np.exp(small)
        return small / (1 + small)
    np.exp(small, small)
    return np.divide(small, 1 + small, small)


def _softplus(x: Any) -> Any:
    """Return max(x, 0) + ln(1 + e^-|x|), which does not overflow; NumPy's logaddexp takes ten times as long."""
    if x.__class__ is not ndarray or x.dtype.char not in "fd":
        return np.logaddexp(x, x.dtype.type(0))
    small = np.copysign(x, -1)
    np.exp(small, small)
    np.log1p(small, small)
    return np.add(small, np.maximum(x, 0), small)


sigmoid = unary(
    "sigmoid", _sigmoid, lambda ops, g, out, x: g * (out * (1 - out)),
    symbol="σ", latex=r"\sigma({0})", locals_latex=(r"\sigma({0}) \left(1 - \sigma({0})\right)",),
    sentence="squashes {0} between 0 and 1", expression="sigmoid({0})", keeps="output", registered="Sigmoid",
    doc=of_one("1 / (1 + e^-x), elementwise.", "σ(x)·(1 - σ(x))", """
>>> print(lab.nn.sigmoid(0.0))
Tensor(0.5, shape=(), dtype=float32)"""))

sigmoid_grad = binary(
    "sigmoid_grad", lambda g, y: g * (y * (1 - y)),
    lambda ops, h, out, g, y: ops.sigmoid_grad(h, y), lambda ops, h, out, g, y: h * g * (1 - 2 * y),
    symbol="d σ", latex=r"{0} \, {1} \left(1 - {1}\right)", locals_latex=(r"{1} (1 - {1})", r"{0} (1 - 2\,{1})"),
    sentence="multiplies {0} by {1}·(1 - {1})", expression="{0} * ({1} * (one - {1}))", keeps="inputs",
    doc="g·y·(1 - y) for the result y of a sigmoid; the rule of `sigmoid` as one op.")
IN_ONE_OP[sigmoid.op.rules[0]] = lambda ops, g, out, x: ops.sigmoid_grad(g, out)  # type: ignore[attr-defined]

softplus = of_features(unary(
    "softplus", _softplus,
    lambda ops, g, out, x: g * ops.sigmoid(x),
    symbol="softplus", latex=r"\ln(1 + e^{{{0}}})", locals_latex=(r"\sigma({0})",),
    sentence="takes ln(1 + e^{0})", expression="softplus({0})", keeps="inputs", registered="Softplus",
    doc=of_one("ln(1 + e^x), elementwise, without overflow.", "σ(x)", """
>>> print(lab.nn.softplus(0.0))
Tensor(0.6931472, shape=(), dtype=float32)""")))


def _last(x: Any, *rest: Any, axis: int) -> int:
    """Return the number of elements if the axis is the one that the override knows."""
    return x.size if axis == -1 else 0


softmax_along = general(
    "softmax", chosen("softmax", reference.softmax, work=_last),
    lambda ops, g, out, x, axis: ops.softmax_grad(g, out, axis=axis),
    warns=False, symbol="softmax", latex=r"\operatorname{{softmax}}({0})",
    locals_latex=(r"\left(g - \textstyle\sum g\,y\right) y",), sentence="turns {0} into weights that add up to 1",
    keeps="output", registered="Softmax", doc="The kernel-level softmax along a negative axis; `lab.nn.softmax`.")


def _softmax_grad_rule_y(ops: Any, h: Any, out: Any, g: Any, y: Any, axis: int) -> Any:
    mean = ops.sum(g * y, axes=(axis,), keepdims=True)
    return h * (g - mean) - g * ops.sum(h * y, axes=(axis,), keepdims=True)


softmax_grad = general(
    "softmax_grad", chosen("softmax_grad", reference.softmax_grad, work=_last),
    lambda ops, h, out, g, y, axis: ops.softmax_grad(h, y, axis=axis), _softmax_grad_rule_y, warns=False,
    symbol="d softmax", latex=r"\left({0} - \textstyle\sum {0}\,{1}\right) {1}",
    locals_latex=(r"\left(h - \textstyle\sum h\,{1}\right) {1}",
                  r"h \left({0} - \textstyle\sum {0}\,{1}\right) - {0} \textstyle\sum h\,{1}"),
    sentence="takes from {0} its mean by the weights {1}, and multiplies by them", keeps="inputs",
    doc="(g - Σ g·y)·y for the result y of a softmax; the rule of `softmax` uses it.")

log_softmax_along = general(
    "log_softmax", chosen("log_softmax", reference.log_softmax, work=_last),
    lambda ops, g, out, x, axis: ops.log_softmax_grad(g, out, axis=axis),
    warns=False, symbol="log softmax", latex=r"\ln \operatorname{{softmax}}({0})",
    locals_latex=(r"g - e^y \textstyle\sum g",), sentence="takes the logarithm of the softmax of {0}",
    keeps="output", registered="LogSoftmax", doc="The kernel-level log-softmax; `lab.nn.log_softmax`.")


def _log_softmax_grad_rule_g(ops: Any, h: Any, out: Any, g: Any, y: Any, axis: int) -> Any:
    return h - ops.sum(h * ops.exp(y), axes=(axis,), keepdims=True)


def _log_softmax_grad_rule_y(ops: Any, h: Any, out: Any, g: Any, y: Any, axis: int) -> Any:
    return -(h * (ops.sum(g, axes=(axis,), keepdims=True) * ops.exp(y)))


log_softmax_grad = general(
    "log_softmax_grad",
    chosen("log_softmax_grad", reference.log_softmax_grad, work=_last),
    _log_softmax_grad_rule_g, _log_softmax_grad_rule_y, warns=False,
    symbol="d log softmax", latex=r"{0} - e^{{{1}}} \textstyle\sum {0}",
    locals_latex=(r"h - \textstyle\sum h\,e^{{{1}}}", r"-h\,e^{{{1}}} \textstyle\sum {0}"),
    sentence="takes from {0} its sum times e to the {1}", keeps="inputs",
    doc="g - e^y·Σ g for the result y of a log-softmax; the rule of `log_softmax` uses it.")


def _along(op: Any, name: str, logits: Any, axis: int) -> Tensor:
    x = convert(logits)
    if x._held.dtype not in DIFFERENTIABLE or x._held.dtype.kind == "c":
        raise wrong_dtype(op.op, (x,))
    return op(x, axis=axis_from_end(axis, x._held.ndim, name))


def softmax(logits: TensorLike, axis: int = -1, name: str | None = None) -> Tensor:
    try:
        return named(_along(softmax_along, "softmax", logits, axis), name)
    except NotOneTensor as met:
        return named(handed(met, softmax, (logits,), axis=axis), name)


def log_softmax(logits: TensorLike, axis: int = -1, name: str | None = None) -> Tensor:
    return named(_along(log_softmax_along, "log_softmax", logits, axis), name)


softmax.__doc__ = doc(
    "e^x over the sum of e^x along an axis, without overflow.", shapes="logits (*s) -> (*s)",
    derivative="(g - Σ g·y)·y with y the output", raises=("argument", "convert"),
    example=">>> print(lab.nn.softmax([0.0, 0.0]))\nTensor([0.5 0.5], shape=(2,), dtype=float32)")
log_softmax.__doc__ = doc(
    "Logarithm of the softmax along an axis, without overflow.", shapes="logits (*s) -> (*s)",
    derivative="g - e^y·Σ g with y the output", raises=("argument", "convert"),
    example=">>> print(lab.nn.log_softmax([0.0, 0.0]))\nTensor([-0.6931472 -0.6931472], shape=(2,), dtype=float32)")
