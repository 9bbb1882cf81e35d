"""Reductions beside sum, mean, product and extremes: norms, variances, log-sum-exps, counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert, handed
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import NotOneTensor
from autodiff_lab.kernels.base.halves import in_float32, is_half
from autodiff_lab.kernels.reductions import reference
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.checks import floats
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.math.arithmetic import maximum, multiply, sqrt, square, subtract
from autodiff_lab.ops.math.comparison import not_equal
from autodiff_lab.ops.math.complex_numbers import conj, is_complex, real
from autodiff_lab.ops.math.exponential import rsqrt
from autodiff_lab.ops.math.reductions import _reduce, _spread, reduce_mean, reduce_sum, unless_few

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, IntsLike, TensorLike

_FEW = 16
"""Below this number of elements exponentials are NumPy's: choosing another kernel would cost more."""


@in_float32
def _euclidean_norm(x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    squares = x * (x if x.dtype.kind != "c" else np.conj(x))
    return np.sqrt(np.add.reduce(squares, axis=axes, keepdims=keepdims))


def _norm_rule(ops: Any, g: Any, out: Any, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if not is_complex(x):
        return x * _spread(ops, g / out, out, x, axes, keepdims)
    return ops.conj(x) * _spread(ops, ops.widen(ops.real_part(g)) / out, out, x, axes, keepdims)


norm_over = general(
    "euclidean_norm", _euclidean_norm, _norm_rule,
    warns=False,
    symbol="‖x‖", latex=r"\left\lVert {0} \right\rVert", locals_latex=(r"\frac{{{0}}}{{\lVert {0} \rVert}}",),
    sentence="takes the length of {0}", registered="EuclideanNorm",
    doc="The kernel-level norm; `lab.math.reduce_euclidean_norm` is the public function.")


def _logsumexp_rule(ops: Any, g: Any, out: Any, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    cotangent, weights = _spread(ops, g, out, x, axes, keepdims), ops.logsumexp_shares(x, axes=axes)
    if weights.__class__ is np.ndarray and cotangent.ndim == weights.ndim and cotangent.dtype == weights.dtype:
        weights *= cotangent  # which nobody else has
        return weights
    return cotangent * weights


def _softmax_rule(ops: Any, h: Any, out: Any, x: Any, axes: tuple[int, ...]) -> Any:
    return out * (h - ops.sum(h * out, axes=axes, keepdims=True))


softmax_over = general(
    "logsumexp_shares", unless_few(_FEW, "logsumexp_shares", reference.softmax_over), _softmax_rule, warns=False,
    symbol="e / Σ e", latex=r"\frac{{e^{{{0}}}}}{{\sum e^{{{0}}}}}",
    locals_latex=(r"\left(h - \textstyle\sum h\,y\right) y",), sentence="turns {0} into weights that add up to 1",
    keeps="output", doc="e^x over its sum over negative axes; the rule of `reduce_logsumexp` uses it.")
logsumexp_over = general(
    "logsumexp", unless_few(_FEW, "logsumexp", reference.logsumexp_over), _logsumexp_rule, warns=False,
    symbol="ln Σ e", keeps="inputs", latex=r"\ln \sum e^{{{0}}}",
    locals_latex=(r"\frac{{e^{{{0}}}}}{{\sum e^{{{0}}}}}",),
    sentence="takes the logarithm of the sum of e to the elements of {0}",
    doc="The kernel-level log-sum-exp; `lab.reduce_logsumexp` is the public function.")


def reduce_euclidean_norm(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: bool = False,
                          name: str | None = None) -> Tensor:
    x = floats(input_tensor, "reduce_euclidean_norm")
    return _reduce(norm_over, "reduce_euclidean_norm", x, axis, keepdims, name)


def reduce_logsumexp(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: bool = False,
                     name: str | None = None) -> Tensor:
    x = floats(input_tensor, "reduce_logsumexp", False)
    return _reduce(logsumexp_over, "reduce_logsumexp", x, axis, keepdims, name)


def reduce_variance(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: bool = False,
                    name: str | None = None) -> Tensor:
    try:
        x = floats(input_tensor, "reduce_variance")
    except NotOneTensor as met:
        return named(handed(met, reduce_variance, (input_tensor,), axis=axis, keepdims=keepdims), name)
    if is_half(x._held.dtype):
        return named(cast(reduce_variance(cast(x, "float32"), axis, keepdims), x.dtype), name)
    away = subtract(x, reduce_mean(x, axis, True))
    squared = real(multiply(away, conj(away))) if x.dtype.is_complex else square(away)
    return named(reduce_mean(squared, axis, keepdims), name)


def reduce_std(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: bool = False,
               name: str | None = None) -> Tensor:
    try:
        x = floats(input_tensor, "reduce_std")
    except NotOneTensor as met:
        return named(handed(met, reduce_std, (input_tensor,), axis=axis, keepdims=keepdims), name)
    if is_half(x._held.dtype):
        return named(cast(reduce_std(cast(x, "float32"), axis, keepdims), x.dtype), name)
    return sqrt(reduce_variance(x, axis, keepdims), name=name)


def count_nonzero(input: TensorLike, axis: IntsLike | None = None, keepdims: bool = False, dtype: DTypeLike = "int64",
                  name: str | None = None) -> Tensor:
    x = convert(input)
    there = x if x._held.dtype.kind == "b" else not_equal(x, b"" if x._held.dtype.kind == "O" else 0)
    return named(cast(reduce_sum(cast(there, "int64"), axis, keepdims), dtype), name)


def zero_fraction(value: TensorLike, name: str | None = None) -> Tensor:
    x = convert(value)
    return named(cast(reduce_mean(cast(not_equal(x, 0), "float32")) * -1.0 + 1.0, "float32"), name)


def l2_normalize(x: TensorLike, axis: IntsLike | None = None, epsilon: float = 1e-12, name: str | None = None,
                 dim: IntsLike | None = None) -> Tensor:
    axis = dim if axis is None else axis  # its name in TensorFlow 1
    x = floats(x, "l2_normalize")
    if is_half(x._held.dtype):
        return named(cast(l2_normalize(cast(x, "float32"), axis, epsilon), x.dtype), name)
    squared = square(x) if not x.dtype.is_complex else real(multiply(x, conj(x)))
    scale = rsqrt(maximum(reduce_sum(squared, axis, True), epsilon))
    return multiply(x, cast(scale, x.dtype) if x.dtype.is_complex else scale, name=name)


_AXES = "x (*s), axis of s -> s without the axes (length 1 with keepdims)"
_NONE = "none: gradients stop here"
document((
    (reduce_euclidean_norm, "Square root of the sum of squares of absolute values over axes.", _AXES,
     "floating or complex",
     "x over the norm; nan where all elements are 0, as in TensorFlow",
     ">>> print(lab.math.reduce_euclidean_norm([3.0, 4.0]))\nTensor(5.0, shape=(), dtype=float32)"),
    (reduce_logsumexp, "ln Σ e^x over axes, without overflow.", _AXES, "floating",
     "the softmax of x; 0 where all elements are -inf",
     '>>> print(f"{lab.reduce_logsumexp([1000.0, 1000.0]):.2f}")\n1000.69'),
    (reduce_variance, "Mean of squared distances from the mean, over axes.", _AXES, "floating, or complex to real",
     "2(x - mean)/n",
     ">>> print(lab.math.reduce_variance([1.0, 3.0]))\nTensor(1.0, shape=(), dtype=float32)"),
    (reduce_std, "Square root of the variance over axes.", _AXES, "floating, or complex to real",
     "(x - mean)/(n·std); nan where all elements are equal, as in TensorFlow",
     ">>> print(lab.math.reduce_std([1.0, 3.0]))\nTensor(1.0, shape=(), dtype=float32)"),
    (count_nonzero, "Number of elements that are not 0, over axes.", _AXES, "any to int64, or as `dtype` says", _NONE,
     ">>> print(lab.math.count_nonzero([0.0, 2.0, 3.0]))\nTensor(2, shape=(), dtype=int64)"),
    (zero_fraction, "Fraction of elements that are 0.", "x (*s) -> ()", "any number to float32", _NONE,
     ">>> print(lab.math.zero_fraction([0.0, 2.0]))\nTensor(0.5, shape=(), dtype=float32)"),
    (l2_normalize, "x over its length along axes; lengths below √epsilon count as √epsilon.", "x (*s) -> (*s)",
     "floating or complex", "the part of g across x, over the length",
     ">>> print(lab.math.l2_normalize([3.0, 4.0]))\nTensor([0.6 0.8], shape=(2,), dtype=float32)"),
), columns="summary shapes dtypes derivative example", raises=("argument", "convert"))
