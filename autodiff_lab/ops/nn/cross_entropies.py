"""Losses element by element, and sums of squares: what is not softmax."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import binary, general
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.dtypes import DIFFERENTIABLE
from autodiff_lab.engine.failure import wrong_dtype
from autodiff_lab.engine.op import REALS, REGISTRY, Domain
from autodiff_lab.engine.primitives import stack
from autodiff_lab.engine.shape import flag
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import DtypeMismatch, ShapeMismatch
from autodiff_lab.kernels.base.elementwise import Chain, in_one_pass
from autodiff_lab.kernels.base.halves import in_float32
from autodiff_lab.ops.array.gathering import where
from autodiff_lab.ops.docs import doc, document
from autodiff_lab.ops.math.complex_numbers import imag, real
from autodiff_lab.ops.math.exponential import exp, log
from autodiff_lab.ops.nn.activations import _softplus, softplus

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike

sigmoid_cross_entropy = binary(
    "sigmoid_cross_entropy", lambda x, z: _softplus(x) - x * z,
    lambda ops, g, out, x, z: g * (ops.sigmoid(x) - z), lambda ops, g, out, x, z: -(g * x),
    symbol="cross entropy", latex=r"\ln(1 + e^{{{0}}}) - {0} \cdot {1}", locals_latex=(r"\sigma({0}) - {1}", "-{0}"),
    sentence="measures how far the sigmoid of {0} is from {1}", keeps="inputs",
    expression="softplus({0}) - {0} * {1}",
    doc="The kernel-level cross entropy of yes and no; `lab.nn.sigmoid_cross_entropy_with_logits`.")


def _of_chances(p: Any, z: Any) -> Any:
    made = (z - 1) * np.log(1 - p)
    made -= z * np.log(p)
    return made


binary_cross_entropy = binary(
    "binary_cross_entropy", _of_chances,
    lambda ops, g, out, p, z: g * ((p - z) / (p * (1 - p))), lambda ops, g, out, p, z: g * ops.log((1 - p) / p),
    symbol="cross entropy", latex=r"-{1} \ln {0} - (1 - {1}) \ln(1 - {0})",
    locals_latex=(r"\frac{{{0} - {1}}}{{{0} (1 - {0})}}", r"\ln \frac{{1 - {0}}}{{{0}}}"),
    sentence="measures how far the probability {0} is from {1}", keeps="inputs", domain=(Domain(0.05, 0.95), REALS),
    expression="({1} - one) * log(one - {0}) - {1} * log({0})",
    doc="The kernel-level cross entropy of yes and no by probabilities; `lab.losses.binary_crossentropy` cuts them "
        "off before 0 and 1.")


def _huber_expression(constants: Any, delta: float) -> str | None:
    if not 0 <= delta < math.inf:
        return None
    near = f"smaller(abs({{0}}), number({float(delta)!r}))"
    return f"{near} * (abs({{0}}) - number(0.5) * {near})"


def _huber(x: Any, delta: Any) -> Any:
    away = np.abs(x)
    near = np.minimum(away, delta)
    return near * (away - near.dtype.type(0.5) * near)


_bent = in_one_pass(
    "huber", _huber,
    lambda: Chain(("t0 = abs(v0)", "t1 = smaller(t0, v1)", "r = t1 * (t0 - number(0.5) * t1)"), "r"), 2)
huber_of = general(
    "huber", lambda x, delta: _bent(x, x.dtype.type(delta)),
    lambda ops, g, out, x, delta: g * ops.maximum(ops.minimum(x, delta), -delta),
    symbol="Huber", latex=r"\operatorname{{huber}}({0})",
    locals_latex=(r"\operatorname{{clip}}({0}, -\delta, \delta)",),
    sentence="takes half the square of {0}, or a straight line beyond delta", keeps="inputs",
    expression=_huber_expression,
    doc="Half the square of a difference, and beyond delta a straight line; `lab.losses.huber` is the public function.")


@in_float32
def _half_square(x: Any) -> Any:
    return np.sum(np.square(x)).astype(x.dtype)[()] * x.dtype.type(0.5)


half_square = general(
    "l2_loss", _half_square,
    lambda ops, g, out, x: ops.reshape(g, shape=stack(g, out) + (1,) * len(x.shape)) * x,
    symbol="½Σ²", latex=r"\tfrac12 \sum {0}^2", locals_latex=("{0}",),
    sentence="adds up half the squares of {0}", keeps="inputs", registered="L2Loss",
    doc="The kernel-level half sum of squares; `lab.nn.l2_loss` is the public function.")


def pair(name: str, labels: Any, logits: Any, what: tuple[str, str] = ("labels", "logits")) -> tuple[Tensor, Tensor]:
    """Return labels and logits as floating-point tensors of one dtype and shape."""
    x = convert(logits)
    z = convert(labels, x)
    if x._held.dtype not in DIFFERENTIABLE or x._held.dtype != z._held.dtype:
        raise DtypeMismatch(f"{name}: expected floating-point tensors of one dtype, got {z.dtype.name} ({what[0]}) and "
                            f"{x.dtype.name} ({what[1]}). Try lab.cast.")
    if x._held.shape != z._held.shape:
        raise ShapeMismatch(f"{name}: expected one shape, got {z._held.shape} ({what[0]}) and {x._held.shape} "
                            f"({what[1]}). Try lab.reshape or lab.broadcast_to.")
    return z, x


def sigmoid_cross_entropy_with_logits(labels: TensorLike | None = None, logits: TensorLike | None = None,
                                      name: str | None = None) -> Tensor:
    z, x = pair("sigmoid_cross_entropy_with_logits", labels, logits)
    return sigmoid_cross_entropy(x, z, name=name)


def weighted_cross_entropy_with_logits(labels: TensorLike | None = None, logits: TensorLike | None = None,
                                       pos_weight: TensorLike | None = None,
                                       name: str | None = None) -> Tensor:
    z, x = pair("weighted_cross_entropy_with_logits", labels, logits)
    weight = 1 + (convert(1.0 if pos_weight is None else pos_weight, x) - 1) * z
    return named((1 - z) * x + weight * softplus(-x), name)


def log_poisson_loss(targets: TensorLike, log_input: TensorLike, compute_full_loss: bool = False,
                     name: str | None = None) -> Tensor:
    z, c = pair("log_poisson_loss", targets, log_input, ("targets", "log_input"))
    loss = exp(c) - c * z
    if not flag(compute_full_loss, "log_poisson_loss: compute_full_loss"):
        return named(loss, name)
    large = z > 1
    safe = where(large, z, 1.0)  # so that no gradient meets log(0)
    stirling = safe * log(safe) - safe + 0.5 * log(2 * math.pi * safe)
    return named(loss + where(large, stirling, 0.0), name)


def l2_loss(t: TensorLike, name: str | None = None) -> Tensor:
    x = convert(t)
    if x._held.dtype not in DIFFERENTIABLE:
        raise wrong_dtype(REGISTRY["l2_loss"], (x,))
    if x._held.dtype.kind == "c":
        return named(half_square(real(x)) + half_square(imag(x)), name)
    return half_square(x, name=name)


document((
    (sigmoid_cross_entropy_with_logits, "Cross entropy between labels and the sigmoid of logits, for each element.",
     "labels (*s), logits (*s) -> (*s)", "σ(logits) - labels for the logits",
     ">>> print(lab.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[0.0]))\n"
     "Tensor([0.6931472], shape=(1,), dtype=float32)"),
    (weighted_cross_entropy_with_logits, "Cross entropy in which a missed positive weighs `pos_weight` times as much.",
     "labels (*s), logits (*s), pos_weight broadcasting to s -> (*s)",
     "(1 - z) - (1 + (w - 1)·z)·σ(-x) for the logits x, with labels z and weight w",
     ">>> print(lab.nn.weighted_cross_entropy_with_logits(labels=[1.0], logits=[0.0], pos_weight=2.0))\n"
     "Tensor([1.3862944], shape=(1,), dtype=float32)"),
    (log_poisson_loss, "e^c - z·c: the log-likelihood loss of a Poisson variable z whose rate is e^c; with Stirling's "
     "approximation of ln z! with compute_full_loss.", "targets (*s), log_input (*s) -> (*s)",
     "e^c - z for the log input c",
     ">>> print(lab.nn.log_poisson_loss([2.0], [0.0]))\nTensor([1.], shape=(1,), dtype=float32)"),
), raises=("shape", "dtypes", "convert"))
l2_loss.__doc__ = doc(
    "Half the sum of the squares of all elements.", shapes="t (*s) -> ()", derivative="t",
    raises=("floating", "convert"),
    example=">>> print(lab.nn.l2_loss([3.0, 4.0]))\nTensor(12.5, shape=(), dtype=float32)")
