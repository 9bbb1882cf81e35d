"""Losses with a rule of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.dtypes import DIFFERENTIABLE
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.ops.docs import doc


def _log_softmax(x: Any) -> Any:
    shifted = x - np.maximum.reduce(x, axis=-1, keepdims=True)
    return shifted - np.log(np.add.reduce(np.exp(shifted), axis=-1, keepdims=True))


def _with_class(ops: Any, g: Any) -> Any:
    return ops.reshape(g, shape=(*g.shape, 1))


def _logits_rule(ops: Any, g: Any, out: Any, logits: Any, labels: Any) -> Any:
    return _with_class(ops, g) * (ops.softmax(logits, axis=-1) * ops.sum(labels, axes=(-1,), keepdims=True) - labels)


cross_entropy_rows = general(
    "softmax_cross_entropy", lambda logits, labels: -np.add.reduce(labels * _log_softmax(logits), axis=-1),
    _logits_rule, lambda ops, g, out, logits, labels: -(_with_class(ops, g) * ops.log_softmax(logits, axis=-1)),
    warns=False, symbol="cross entropy", latex=r"-\textstyle\sum {1} \ln \operatorname{{softmax}}({0})",
    locals_latex=(r"\operatorname{{softmax}}({0}) - {1}", r"-\ln\operatorname{{softmax}}({0})"),
    sentence="measures how far softmax of {0} is from {1}", keeps="inputs",
    registered="SoftmaxCrossEntropyWithLogits",
    doc="The kernel-level cross entropy of each row; `lab.nn.softmax_cross_entropy`.")


def _classes(labels: Any, classes: int) -> Any:
    """The labels with a last axis of length 1, if each is a class number."""
    labels = np.asarray(labels)
    if labels.size and (labels.min() < 0 or labels.max() >= classes):
        raise InvalidArgumentError(f"sparse_softmax_cross_entropy_with_logits: a label is not in [0, {classes})")
    return labels[..., None].astype(np.intp, copy=False)


def _numbered_rows(logits: Any, labels: Any) -> Any:
    """No array of shares is made: each row is summed once, and the label's element picked out of it."""
    at = _classes(labels, logits.shape[-1])
    shifted = logits - np.maximum.reduce(logits, axis=-1, keepdims=True)
    total = np.log(np.add.reduce(np.exp(shifted), axis=-1))
    return (total - np.take_along_axis(shifted, at, axis=-1)[..., 0])[()]


def _softmax_minus_label(logits: Any, labels: Any) -> Any:
    at = _classes(labels, logits.shape[-1])
    shares = np.exp(logits - np.maximum.reduce(logits, axis=-1, keepdims=True))
    shares /= np.add.reduce(shares, axis=-1, keepdims=True)
    np.put_along_axis(shares, at, np.take_along_axis(shares, at, axis=-1) - shares.dtype.type(1), axis=-1)
    return shares


def _softmax_slope(ops: Any, g: Any, out: Any, logits: Any, labels: Any) -> Any:
    shares = ops.softmax(logits, axis=-1)
    return (g - ops.sum(g * shares, axes=(-1,), keepdims=True)) * shares


cross_entropy_of_numbers = general(
    "sparse_softmax_cross_entropy", _numbered_rows,
    lambda ops, g, out, logits, labels: _with_class(ops, g) * ops.softmax_minus_label(logits, labels), None,
    warns=False, symbol="cross entropy", latex=r"-\ln \operatorname{{softmax}}({0})_{{{1}}}",
    locals_latex=(r"\operatorname{{softmax}}({0}) - [{1}]", ""),
    sentence="measures how far softmax of {0} is from the class {1}", keeps="inputs",
    registered="SparseSoftmaxCrossEntropyWithLogits",
    doc="The kernel-level cross entropy of each row with a class number; "
        "`lab.nn.sparse_softmax_cross_entropy_with_logits`.")
softmax_minus_label = general(
    "softmax_minus_label", _softmax_minus_label, _softmax_slope, None, warns=False, symbol="softmax − label",
    latex=r"\operatorname{{softmax}}({0}) - [{1}]", locals_latex=(r"\left(g - \textstyle\sum g\,y\right) y", ""),
    sentence="takes softmax of {0}, less 1 at the class {1}", keeps="inputs",
    doc="Softmax less one at the label; the rule of `sparse_softmax_cross_entropy` uses it.")


def _logits(value: Any, name: str) -> Tensor:
    x = convert(value)
    if x._array.dtype not in DIFFERENTIABLE:
        raise DtypeMismatch(f"{name}: logits are floating, got {x.dtype.name}. Try lab.cast(logits, lab.float32).")
    if not x._array.ndim:
        raise ShapeMismatch(f"{name}: logits (*b, k) are needed, with a last axis of classes, got a single number.")
    return x


def softmax_cross_entropy_with_logits(labels: Any, logits: Any, axis: int = -1, name: str | None = None) -> Tensor:
    x = _logits(logits, "softmax_cross_entropy_with_logits")
    t = convert(labels, x)
    if axis not in (-1, x._array.ndim - 1):
        raise InvalidArgumentError("softmax_cross_entropy_with_logits: classes must be the last axis. Try transpose.")
    if t._array.dtype != x._array.dtype:
        raise DtypeMismatch(f"softmax_cross_entropy_with_logits: labels are {t.dtype.name} and logits {x.dtype.name}; "
                            "try lab.cast, or sparse_softmax_cross_entropy_with_logits for class numbers.")
    if t._array.shape != x._array.shape:
        raise ShapeMismatch(f"softmax_cross_entropy_with_logits: labels have shape {t._array.shape} and logits "
                            f"{x._array.shape}; they must agree.")
    return cross_entropy_rows(x, t)


def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any, name: str | None = None) -> Tensor:
    x = _logits(logits, "sparse_softmax_cross_entropy_with_logits")
    t = convert(labels)
    if t._array.dtype.kind not in "iu":
        raise DtypeMismatch(f"sparse_softmax_cross_entropy_with_logits: labels are class numbers, got {t.dtype.name}. "
                            "Try softmax_cross_entropy_with_logits for shares, or lab.cast to int32.")
    if t._array.shape != x._array.shape[:-1]:
        raise ShapeMismatch(f"sparse_softmax_cross_entropy_with_logits: labels have shape {t._array.shape}, logits "
                            f"{x._array.shape}; labels need {x._array.shape[:-1]}.")
    return cross_entropy_of_numbers(x, t)


def softmax_cross_entropy(logits: Any, labels: Any, name: str | None = None) -> Tensor:
    from autodiff_lab.ops.math.reductions import reduce_mean
    t = convert(labels)
    numbered = t._array.dtype.kind in "iu"
    rows = sparse_softmax_cross_entropy_with_logits if numbered else softmax_cross_entropy_with_logits
    return reduce_mean(rows(labels, logits))


for _function, _words, _shapes, _example in (
    (softmax_cross_entropy_with_logits, "Cross entropy of each row between labels (shares) and softmax of logits.",
     "labels (*b, k), logits (*b, k) -> (*b)", ">>> print(lab.nn.softmax_cross_entropy_with_logits(labels=[[1.0, 0.0]]"
     ", logits=[[0.0, 0.0]]))\nTensor([0.6931472], shape=(1,), dtype=float32)"),
    (sparse_softmax_cross_entropy_with_logits, "Cross entropy of each row between class numbers and softmax of logits.",
     "labels (*b) int, logits (*b, k) -> (*b)", ">>> print(lab.nn.sparse_softmax_cross_entropy_with_logits(labels=[1]"
     ", logits=[[0.0, 0.0]]))\nTensor([0.6931472], shape=(1,), dtype=float32)"),
    (softmax_cross_entropy, "Mean over the batch of the cross entropy; labels are class numbers or shares.",
     "logits (*b, k), labels (*b) or (*b, k) -> ()", ">>> print(lab.nn.softmax_cross_entropy(logits=[[0.0, 0.0]]"
     ", labels=[1]))\nTensor(0.6931472, shape=(), dtype=float32)"),
):
    _function.__doc__ = doc(_words, shapes=_shapes, derivative="softmax(logits) - labels for each row",
                            example=_example, raises=("shape", "dtypes", "convert"))
