"""Reductions: sums, means, extremes and products over axes.

The public functions accept axes as users write them and hand negative ones to the ops, whose rules then do not mind
cotangents with extra leading axes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import apply_op, general
from autodiff_lab.engine.convert import convert, handed
from autodiff_lab.engine.primitives import kept_shape, negative_axes, stack, sum_over
from autodiff_lab.engine.shape import as_integers, flag
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, NotOneTensor
from autodiff_lab.kernels.base.choose import ELSEWHERE, IN_USE, chosen
from autodiff_lab.kernels.base.columns import FEW_TO_ADD, FEW_TO_ONE, MOST_UNASKED, fold, sum_by_product
from autodiff_lab.kernels.base.halves import in_float32
from autodiff_lab.kernels.reductions import reference
from autodiff_lab.ops.array.shaping import _inverse
from autodiff_lab.ops.docs import doc

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import IntsLike, TensorLike

_AXES = "x (*s), axis of s -> s without the axes (length 1 with keepdims)"


def _spread(ops: Any, value: Any, out: Any, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Put the reduced axes back with length 1; the sweep spreads them over the input."""
    if keepdims or not axes:
        return value
    return ops.reshape(value, shape=stack(value, out) + kept_shape(tuple(x.shape), axes))


def _mean_rule(ops: Any, g: Any, out: Any, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    count = max(reference.count(x, axes), 1)
    if isinstance(g, np.generic):
        return g / count  # type: ignore[operator] - a number, which the sweep spreads
    return _spread(ops, g, out, x, axes, keepdims) / count


def unless_few(few: int, name: str, reference: Any) -> Any:
    """Return a kernel with an override, which is not looked up for few elements: that would cost more."""
    kernel = chosen(name, reference)

    def run(x: Any, **params: Any) -> Any:
        if x.size < few and IN_USE["mode"] != "numba" and x.__class__ not in ELSEWHERE:
            return reference(x, **params)
        return kernel(x, **params)

    run.prepare = kernel.prepare  # type: ignore[attr-defined]
    return run


_mean_of_many = chosen("mean", reference.mean_over)


def _mean(x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    few = FEW_TO_ONE if len(axes) == x.ndim else FEW_TO_ADD
    if x.size < few and IN_USE["mode"] != "numba" and x.__class__ not in ELSEWHERE:
        return reference.mean_over(x, axes, keepdims)
    total = sum_by_product(x, axes, keepdims, MOST_UNASKED) if x.__class__ is np.ndarray else None
    return _mean_of_many(x, axes=axes, keepdims=keepdims) if total is None else total / reference.count(x, axes)


_mean.prepare = _mean_of_many.prepare  # type: ignore[attr-defined]
mean_over = general(
    "mean", _mean, _mean_rule, warns=False,
    symbol="mean", latex=r"\overline{{{0}}}", locals_latex=(r"\frac{{1}}{{n}}",),
    sentence="averages the elements of {0}", keeps="nothing", registered="Mean",
    doc="The kernel-level mean over negative axes; `lab.reduce_mean` is the public function.")


def _extreme_rule(ops: Any, g: Any, out: Any, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Give the contribution to the extreme element, in equal parts where several are equal."""
    best = out if keepdims or not axes else ops.reshape(out, shape=kept_shape(tuple(x.shape), axes))
    return ops.extreme_grad(_spread(ops, g, out, x, axes, keepdims), best, x, axes=axes)


extreme_grad = general(
    "extreme_grad",
    chosen("extreme_grad", reference.extreme_grad, work=lambda g, best, x, axes: x.size),
    lambda ops, h, out, g, best, x, axes: ops.extreme_grad(h, best, x, axes=axes), None, None,
    warns=False, symbol="g·[x = best]", latex=r"{0}\,[{2} = {1}] / n", locals_latex=("[{2} = {1}] / n", "", ""),
    sentence="gives {0} to the elements of {2} that equal {1}, in equal parts", keeps="inputs",
    doc="A cotangent for the elements that equal an extreme, shared equally; the rules of `max` and `min` use it.")
max_over = general(
    "max", unless_few(FEW_TO_ADD, "max", reference.max_over), _extreme_rule,
    warns=False,
    symbol="max", latex=r"\max {0}", locals_latex=(r"[{0} = \max {0}]",), sentence="takes the largest element of {0}",
    registered="Max", doc="The kernel-level maximum over negative axes; `lab.reduce_max` is the public function.")
min_over = general(
    "min", unless_few(FEW_TO_ADD, "min", reference.min_over), _extreme_rule,
    warns=False,
    symbol="min", latex=r"\min {0}", locals_latex=(r"[{0} = \min {0}]",), sentence="takes the least element of {0}",
    registered="Min", doc="The kernel-level minimum over negative axes; `lab.reduce_min` is the public function.")
def _products_of_others(ops: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """Return for each element the product of the others, by two scans: no division, so zeros do no harm."""
    if len(axes) == 1:
        before = ops.cumprod(x, axis=axes[0], exclusive=True, reverse=False)
        return before * ops.cumprod(x, axis=axes[0], exclusive=True, reverse=True)
    kept = tuple(i for i in range(-len(x.shape), 0) if i not in axes)
    perm = kept + axes
    apart = ops.transpose(x, perm=perm)
    shape = tuple(apart.shape)
    count = int(np.prod(shape[len(kept):]))
    found = _products_of_others(ops, ops.reshape(apart, shape=(*shape[:len(kept)], count)), (-1,))
    return ops.transpose(ops.reshape(found, shape=shape), perm=_inverse(perm))


def _prod_rule(ops: Any, g: Any, out: Any, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    return _spread(ops, g, out, x, axes, keepdims) * _products_of_others(ops, x, axes) if axes else g


prod_over = general(
    "prod", in_float32(lambda x, axes, keepdims: fold(np.multiply, x, axes, keepdims, x.dtype)),
    _prod_rule,
    symbol="Π", latex=r"\prod {0}", locals_latex=(r"\prod_{{\ne i}} {0}",), sentence="multiplies the elements of {0}",
    keeps="inputs", registered="Prod", doc="The kernel-level product; `lab.reduce_prod` is the public function.")


any_over = general(
    "any", lambda x, axes, keepdims: fold(np.logical_or, x, axes, keepdims), None, warns=False,
    symbol="any",
    latex=r"\bigvee {0}", sentence="asks whether any element of {0} is true", registered="Any",
    doc="The kernel-level any over negative axes; `lab.reduce_any` is the public function.")
all_over = general(
    "all", lambda x, axes, keepdims: fold(np.logical_and, x, axes, keepdims), None, warns=False,
    symbol="all",
    latex=r"\bigwedge {0}", sentence="asks whether all elements of {0} are true", registered="All",
    doc="The kernel-level all over negative axes; `lab.reduce_all` is the public function.")


_EVERY_AXIS = tuple(negative_axes(None, rank) for rank in range(5))
"""By rank, the axes of a reduction over everything."""


def _few_axes(axis: Any, rank: int) -> tuple[int, ...] | None:
    """Return one or two axes of a list or tuple as an op takes them; None for what is looked at with more care."""
    if (axis.__class__ is tuple or axis.__class__ is list) and 1 <= len(axis) <= 2:
        first, last = axis[0], axis[-1]
        if first.__class__ is last.__class__ is int and -rank <= first < rank and -rank <= last < rank:
            first, last = first if first < 0 else first - rank, last if last < 0 else last - rank
            if len(axis) == 1:
                return (first,)
            return None if first == last else (first, last) if first < last else (last, first)
    return None


def _reduce(op: Any, what: str, x: Any, axis: Any, keepdims: bool, name: str | None) -> Tensor:
    if x.__class__ is Tensor and keepdims.__class__ is bool and name is None and x._held.dtype.kind != "b":
        rank = x._held.ndim
        if axis is None:
            axes = _EVERY_AXIS[rank] if rank < len(_EVERY_AXIS) else negative_axes(None, rank)
        elif axis.__class__ is int:
            axes = (axis if axis < 0 else axis - rank,) if -rank <= axis < rank else None
        else:
            axes = _few_axes(axis, rank)
        if axes is not None:  # most calls, by the shortest way
            return apply_op(op.op, (x,), {"axes": axes, "keepdims": keepdims})
    try:
        x = convert(x)
    except NotOneTensor as met:
        return named(handed(met, _FUNCTIONS[what], (x,), axis=axis, keepdims=keepdims), name)
    if x._held.dtype.kind == "b" and op is not any_over and op is not all_over:
        raise DtypeMismatch(f"{what}: not defined for bool tensors. Try lab.cast(x, lab.int32), or "
                            "lab.reduce_any and lab.reduce_all.")
    if axis is not None:
        axis = as_integers(axis, f"{what}: axis")
    try:
        axes = negative_axes(axis, x._held.ndim)
    except ValueError as error:
        raise InvalidArgumentError(
            f"{what}: {error}. The tensor has shape {x._held.shape}; try axis=None or one of "
            f"{list(range(x._held.ndim))}.") from None
    keepdims = keepdims if keepdims.__class__ is bool else flag(keepdims, f"{what}: keepdims")
    return op(x, axes=axes, keepdims=keepdims, name=name)


def reduce_sum(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: bool = False,
               name: str | None = None) -> Tensor:
    return _reduce(sum_over, "reduce_sum", input_tensor, axis, keepdims, name)


def reduce_mean(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: bool = False,
                name: str | None = None) -> Tensor:
    return _reduce(mean_over, "reduce_mean", input_tensor, axis, keepdims, name)


def reduce_prod(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: bool = False,
                name: str | None = None) -> Tensor:
    return _reduce(prod_over, "reduce_prod", input_tensor, axis, keepdims, name)


def reduce_max(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: bool = False,
               name: str | None = None) -> Tensor:
    return _reduce(max_over, "reduce_max", input_tensor, axis, keepdims, name)


def reduce_min(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: bool = False,
               name: str | None = None) -> Tensor:
    return _reduce(min_over, "reduce_min", input_tensor, axis, keepdims, name)


def reduce_any(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: bool = False,
               name: str | None = None) -> Tensor:
    return _reduce(any_over, "reduce_any", input_tensor, axis, keepdims, name)


def reduce_all(input_tensor: TensorLike, axis: IntsLike | None = None, keepdims: bool = False,
               name: str | None = None) -> Tensor:
    return _reduce(all_over, "reduce_all", input_tensor, axis, keepdims, name)


_ALL = (reduce_sum, reduce_mean, reduce_prod, reduce_max, reduce_min, reduce_any, reduce_all)
_FUNCTIONS = {function.__name__: function for function in _ALL}
_NONE = "none: gradients stop here"
for _function, _words, _derivative, _example in (
    (reduce_sum, "Sum of elements over axes, all of them by default.", "1 for every element",
     ">>> print(lab.reduce_sum([[1.0, 2.0], [3.0, 4.0]], axis=0))\nTensor([4. 6.], shape=(2,), dtype=float32)"),
    (reduce_mean, "Mean of elements over axes, all of them by default.", "1/n for every element",
     ">>> print(lab.reduce_mean([1.0, 2.0, 6.0]))\nTensor(3.0, shape=(), dtype=float32)"),
    (reduce_prod, "Product of elements over axes, all of them by default.",
     "the product of the other elements, right at 0 too",
     ">>> print(lab.reduce_prod([2.0, 3.0, 4.0]))\nTensor(24.0, shape=(), dtype=float32)"),
    (reduce_max, "Largest element over axes.", "1 for the largest element, shared equally between ties",
     ">>> print(lab.reduce_max([1.0, 5.0, 2.0]))\nTensor(5.0, shape=(), dtype=float32)"),
    (reduce_min, "Smallest element over axes.", "1 for the smallest element, shared equally between ties",
     ">>> print(lab.reduce_min([1.0, 5.0, 2.0]))\nTensor(1.0, shape=(), dtype=float32)"),
    (reduce_any, "Whether any element over axes is true.", _NONE,
     ">>> print(lab.reduce_any([True, False]))\nTensor(True, shape=(), dtype=bool)"),
    (reduce_all, "Whether all elements over axes are true.", _NONE,
     ">>> print(lab.reduce_all([True, False]))\nTensor(False, shape=(), dtype=bool)"),
):
    _function.__doc__ = doc(_words, shapes=_AXES, derivative=_derivative, example=_example,
                            dtypes="bool" if _derivative is _NONE else "any number", raises=("argument", "convert"))
