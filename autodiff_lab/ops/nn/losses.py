"""Cross entropies with a softmax, each with a rule for the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.shape import as_integer
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.kernels.base.choose import chosen
from autodiff_lab.kernels.softmax import reference
from autodiff_lab.ops.checks import floats
from autodiff_lab.ops.docs import document

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike


def _rows(g: Any, logits: Any, *rest: Any) -> int:
    return logits.size


loss_and_grad = chosen(
    "sparse_softmax_cross_entropy_and_grad", reference.sparse_softmax_cross_entropy_and_grad, work=_rows
)
"""The kernel of a loss and its gradient at once, for compiled programs, which know that both are wanted."""


def _with_class(ops: Any, g: Any) -> Any:
    return ops.reshape(g, shape=(*g.shape, 1))


def _softmax_grad(ops: Any, g: Any, out: Any, logits: Any, labels: Any) -> Any:
    return ops.softmax_grad(g, ops.softmax(logits, axis=-1), axis=-1)


cross_entropy_rows = general(
    "softmax_cross_entropy",
    chosen("softmax_cross_entropy", reference.softmax_cross_entropy),
    lambda ops, g, out, logits, labels: ops.softmax_cross_entropy_grad(g, logits, labels),
    lambda ops, g, out, logits, labels: -(_with_class(ops, g) * ops.log_softmax(logits, axis=-1)),
    warns=False, symbol="cross entropy", latex=r"-\textstyle\sum {1} \ln \operatorname{{softmax}}({0})",
    locals_latex=(r"\operatorname{{softmax}}({0}) - {1}", r"-\ln\operatorname{{softmax}}({0})"),
    sentence="measures how far softmax of {0} is from {1}", keeps="inputs",
    registered="SoftmaxCrossEntropyWithLogits",
    doc="The kernel-level cross entropy of each row; `lab.nn.softmax_cross_entropy`.")


def _grad_rule_g(ops: Any, h: Any, out: Any, g: Any, logits: Any, labels: Any) -> Any:
    total = ops.sum(labels, axes=(-1,), keepdims=True)
    return ops.sum(h * (ops.softmax(logits, axis=-1) * total - labels), axes=(-1,), keepdims=False)


def _grad_rule_logits(ops: Any, h: Any, out: Any, g: Any, logits: Any, labels: Any) -> Any:
    weight = _with_class(ops, g) * ops.sum(labels, axes=(-1,), keepdims=True)
    return weight * ops.softmax_grad(h, ops.softmax(logits, axis=-1), axis=-1)


def _grad_rule_labels(ops: Any, h: Any, out: Any, g: Any, logits: Any, labels: Any) -> Any:
    return _with_class(ops, g) * (ops.sum(h * ops.softmax(logits, axis=-1), axes=(-1,), keepdims=True) - h)


cross_entropy_grad = general(
    "softmax_cross_entropy_grad",
    chosen("softmax_cross_entropy_grad", reference.softmax_cross_entropy_grad, work=_rows),
    _grad_rule_g, _grad_rule_logits, _grad_rule_labels,
    warns=False, symbol="g·(softmax − label)",
    latex=r"{0} \left(\operatorname{{softmax}}({1}) - {2}\right)",
    locals_latex=(r"\operatorname{{softmax}}({1}) - {2}", r"{0} \left(g - \textstyle\sum g\,y\right) y",
                  r"{0} \left(\textstyle\sum g\,y - g\right)"),
    sentence="multiplies {0} by softmax of {1} minus {2}", keeps="inputs",
    doc="A cotangent of each row times softmax minus labels; the rule of `softmax_cross_entropy` uses it.")

cross_entropy_of_numbers = general(
    "sparse_softmax_cross_entropy",
    chosen("sparse_softmax_cross_entropy", reference.sparse_softmax_cross_entropy),
    lambda ops, g, out, logits, labels: ops.sparse_softmax_cross_entropy_grad(g, logits, labels), None,
    warns=False, symbol="cross entropy", latex=r"-\ln \operatorname{{softmax}}({0})_{{{1}}}",
    locals_latex=(r"\operatorname{{softmax}}({0}) - [{1}]", ""),
    sentence="measures how far softmax of {0} is from the class {1}", keeps="inputs",
    registered="SparseSoftmaxCrossEntropyWithLogits",
    doc="The kernel-level cross entropy of each row with a class number; "
        "`lab.nn.sparse_softmax_cross_entropy_with_logits`.")
sparse_cross_entropy_grad = general(
    "sparse_softmax_cross_entropy_grad",
    chosen("sparse_softmax_cross_entropy_grad", reference.sparse_softmax_cross_entropy_grad, work=_rows),
    lambda ops, h, out, g, logits, labels:
        ops.sum(h * ops.softmax_minus_label(logits, labels), axes=(-1,), keepdims=False),
    lambda ops, h, out, g, logits, labels:
        _with_class(ops, g) * ops.softmax_grad(h, ops.softmax(logits, axis=-1), axis=-1), None,
    warns=False, symbol="g·(softmax − label)", latex=r"{0} \left(\operatorname{{softmax}}({1}) - [{2}]\right)",
    locals_latex=(r"\operatorname{{softmax}}({1}) - [{2}]", r"{0} \left(g - \textstyle\sum g\,y\right) y", ""),
    sentence="multiplies {0} by softmax of {1}, minus 1 at the class {2}", keeps="inputs",
    doc="A cotangent of each row times softmax minus one at the label; the rule of `sparse_softmax_cross_entropy` uses "
        "it.")
softmax_minus_label = general(
    "softmax_minus_label", reference.softmax_minus_label, _softmax_grad, None, warns=False,
    symbol="softmax − label", latex=r"\operatorname{{softmax}}({0}) - [{1}]",
    locals_latex=(r"\left(g - \textstyle\sum g\,y\right) y", ""),
    sentence="takes softmax of {0}, minus 1 at the class {1}", keeps="inputs",
    doc="Softmax minus one at the label; the rule of `sparse_softmax_cross_entropy_grad` uses it.")


def _logits(value: Any, name: str) -> Tensor:
    x = floats(value, name)
    if not x._held.ndim:
        raise ShapeMismatch(f"{name}: expected logits (*b, k) with a last axis of classes, got a scalar.")
    return x


def softmax_cross_entropy_with_logits(labels: TensorLike, logits: TensorLike, axis: int = -1,
                                      name: str | None = None) -> Tensor:
    x = _logits(logits, "softmax_cross_entropy_with_logits")
    t = convert(labels, x)
    if as_integer(axis, "softmax_cross_entropy_with_logits: axis") not in (-1, x._held.ndim - 1):
        raise InvalidArgumentError("softmax_cross_entropy_with_logits: the classes must be the last axis. Try "
                                   "lab.transpose.")
    if t._held.dtype != x._held.dtype:
        raise DtypeMismatch(f"softmax_cross_entropy_with_logits: expected one dtype, got {t.dtype.name} (labels) and "
                            f"{x.dtype.name} (logits). Try lab.cast, or sparse_softmax_cross_entropy_with_logits for "
                            "class numbers.")
    if t._held.shape != x._held.shape:
        raise ShapeMismatch(f"softmax_cross_entropy_with_logits: expected one shape, got {t._held.shape} (labels) and "
                            f"{x._held.shape} (logits).")
    return cross_entropy_rows(x, t, name=name)


def sparse_softmax_cross_entropy_with_logits(labels: TensorLike, logits: TensorLike, name: str | None = None) -> Tensor:
    t = convert(labels)
    if t._held.dtype.kind not in "iu":
        cure = "They come first, then logits" if convert(logits)._held.dtype.kind in "iu" else (
            "Try softmax_cross_entropy_with_logits for probabilities, or lab.cast to int32")
        raise DtypeMismatch(f"sparse_softmax_cross_entropy_with_logits: labels must be integers, got {t.dtype.name}. "
                            f"{cure}.")
    x = _logits(logits, "sparse_softmax_cross_entropy_with_logits")
    if t._held.shape != x._held.shape[:-1]:
        raise ShapeMismatch(f"sparse_softmax_cross_entropy_with_logits: labels must have shape {x._held.shape[:-1]} "
                            f"for logits of shape {x._held.shape}, got {t._held.shape}."
                            + (" Labels come first." if t._held.ndim > x._held.ndim else ""))
    return cross_entropy_of_numbers(x, t, name=name)


def softmax_cross_entropy(logits: TensorLike, labels: TensorLike, name: str | None = None) -> Tensor:
    from autodiff_lab.ops.math.reductions import reduce_mean
    t = convert(labels)
    numbered = t._held.dtype.kind in "iu"
    rows = sparse_softmax_cross_entropy_with_logits if numbered else softmax_cross_entropy_with_logits
    return named(reduce_mean(rows(labels, logits)), name)


document((
    (softmax_cross_entropy_with_logits, "Cross entropy of each row between labels (probabilities) and softmax of "
                                        "logits.",
     "labels (*b, k), logits (*b, k) -> (*b)", ">>> print(lab.nn.softmax_cross_entropy_with_logits(labels=[[1.0, 0.0]]"
     ", logits=[[0.0, 0.0]]))\nTensor([0.6931472], shape=(1,), dtype=float32)"),
    (sparse_softmax_cross_entropy_with_logits, "Cross entropy of each row between class numbers and softmax of logits.",
     "labels (*b) int, logits (*b, k) -> (*b)", ">>> print(lab.nn.sparse_softmax_cross_entropy_with_logits(labels=[1]"
     ", logits=[[0.0, 0.0]]))\nTensor([0.6931472], shape=(1,), dtype=float32)"),
    (softmax_cross_entropy, "Mean over the batch of the cross entropy; labels are class numbers or probabilities.",
     "logits (*b, k), labels (*b) or (*b, k) -> ()", ">>> print(lab.nn.softmax_cross_entropy(logits=[[0.0, 0.0]]"
     ", labels=[1]))\nTensor(0.6931472, shape=(), dtype=float32)"),
), columns="summary shapes example", derivative="softmax(logits) - labels for each row",
   raises=("shape", "dtypes", "convert"))
