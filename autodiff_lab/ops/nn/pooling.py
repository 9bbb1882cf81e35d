"""Pooling: the largest element or the mean of each window, channels last."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.dtypes import DIFFERENTIABLE, as_dtype
from autodiff_lab.engine.failure import wrong_dtype
from autodiff_lab.engine.shape import as_integers
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch, UnimplementedError
from autodiff_lab.kernels.base.choose import chosen
from autodiff_lab.kernels.convolution.reference import fits, out_sizes
from autodiff_lab.kernels.pooling import reference as kernel
from autodiff_lab.ops.checks import one_of
from autodiff_lab.ops.docs import doc
from autodiff_lab.ops.nn.convolution import layout, paddings, sizes
from autodiff_lab.ops.structured import called

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, IntsLike, PaddingLike, TensorLike


def _work(x: Any, *rest: Any, **how: Any) -> float:
    """Return the work of pooling: windows take NumPy eight times as long as elements in a row."""
    return 8 * x.size


def _work_of_windows(g: Any, *rest: Any, window: Any, **how: Any) -> float:
    return 8 * g.size * math.prod(window)


def _chosen(name: str, work: Any) -> Any:
    return chosen(name, getattr(kernel, name), work=work)


max_pool_windows = general(
    "max_pool", _chosen("max_pool", _work), lambda ops, g, out, x, **how: ops.max_pool_input(g, x, **how),
    stacked=False, symbol="max pool", latex=r"\operatorname{{maxpool}}({0})", locals_latex=(r"[{0} = \max]",),
    sentence="keeps the largest element of each window of {0}", keeps="inputs", registered="MaxPool",
    doc="The kernel-level max pooling; `lab.nn.max_pool` is the public function.")
max_pool_input = general(
    "max_pool_input", _chosen("max_pool_input", _work_of_windows),
    lambda ops, g, out, u, x, **how: ops.max_pool_pick(g, x, **how), None,
    stacked=False, symbol="max poolᵀ", latex=r"\operatorname{{maxpool}}^T_{{{1}}}({0})",
    locals_latex=(r"[{1} = \max]", "0"), keeps="inputs", registered="MaxPoolGrad",
    sentence="gives {0} to the largest element of each window of {1}, the first of equals",
    doc="The gradient of max pooling; the rule of `max_pool` uses it.")
max_pool_pick = general(
    "max_pool_pick", _chosen("max_pool_pick", _work),
    lambda ops, g, out, u, x, **how: ops.max_pool_input(g, x, **how), None,
    stacked=False, symbol="pick max", latex=r"{0}_{{\operatorname{{argmax}}({1})}}",
    locals_latex=(r"[{1} = \max]", "0"), keeps="inputs", registered="MaxPoolGradGrad",
    sentence="takes from {0} what lies where {1} is the largest of its window",
    doc="Elements where another tensor is the largest of its window; the rule of `max_pool_input` uses it.")
average_pool_windows = general(
    "average_pool", _chosen("average_pool", _work),
    lambda ops, g, out, x, **how: ops.average_pool_input(g, shape=tuple(x.shape), **how), stacked=False,
    symbol="mean pool", latex=r"\operatorname{{meanpool}}({0})", locals_latex=(r"\frac{{1}}{{n}}",),
    sentence="averages each window of {0}", keeps="nothing", registered="AvgPool",
    doc="The kernel-level average pooling; `lab.nn.avg_pool` is the public function.")
average_pool_input = general(
    "average_pool_input", _chosen("average_pool_input", _work_of_windows),
    lambda ops, g, out, u, shape, **how: ops.average_pool(g, **how), stacked=False,
    symbol="mean poolᵀ", latex=r"\operatorname{{meanpool}}^T({0})", locals_latex=(r"\frac{{1}}{{n}}",),
    sentence="spreads {0} over its windows", keeps="nothing", registered="AvgPoolGrad",
    doc="The gradient of average pooling; the rule of `average_pool` uses it.")


def _settled(shape: kernel.Sizes, ksize: Any, strides: Any, padding: Any) -> Any:
    """Return window, strides and padding for each axis, and whether the window fits."""
    rank = len(shape)
    window = sizes(ksize, rank, "ksize")
    steps = sizes(ksize if strides is None else strides, rank, "strides")
    around = paddings(padding, shape, window, steps, (1,) * rank)
    return window, steps, around, fits(shape, out_sizes(shape, window, steps, around, (1,) * rank))


_remembered = lru_cache(maxsize=1024)(_settled)


def _pool(op: Any, name: str, rank: int | None, value: Any, ksize: Any, strides: Any, padding: Any,
          data_format: str | None = None) -> Tensor:
    layout(data_format)
    x = convert(value)
    if x._held.dtype not in DIFFERENTIABLE:
        raise wrong_dtype(op.op, (x,))
    spatial = x._held.ndim - 2
    if not 1 <= spatial <= 3 or (rank is not None and spatial != rank):
        raise ShapeMismatch(f"{name}: expected an input (n, *{rank or '1 to 3'} axes, c), got shape {x._held.shape}.")
    plain = ksize.__class__ is int and padding.__class__ is str and (strides is None or strides.__class__ is int)
    found = (_remembered if plain else _settled)(x._held.shape[1:-1], ksize, strides, padding)
    window, steps, around, fits = found
    if not fits:
        raise ShapeMismatch(f"{name}: the window {window} is larger than the input {x._held.shape[1:-1]}. "
                            "Try padding='SAME'.")
    return op(x, window=window, strides=steps, padding=around)


class _Pooling(Protocol):
    def __call__(self, input: TensorLike, ksize: IntsLike, strides: IntsLike | None = None,
                 padding: PaddingLike = "VALID",
                 data_format: str | None = None, name: str | None = None) -> Tensor: ...


def _pooling(what: str, rank: int | None = None) -> _Pooling:
    """Make a public function that pools over a number of axes, or over those that the input has."""
    largest = what.startswith("max")
    op = max_pool_windows if largest else average_pool_windows

    def function(input: TensorLike, ksize: IntsLike, strides: IntsLike | None = None, padding: PaddingLike = "VALID",
                 data_format: str | None = None,
                 name: str | None = None) -> Tensor:
        return named(_pool(op, what, rank, input, ksize, strides, padding, data_format), name)

    axes = rank or 2
    function.__doc__ = doc(
        "The largest element of each window." if largest else "The mean of each window; padding does not count.",
        shapes="input (n, *s, c) -> (n, *t, c)", raises=("shape", "argument", "convert"),
        derivative="1 for each window's largest element, the first of equals" if largest else "1/n for each element",
        example=f">>> lab.nn.{what}(lab.ones((1, {'4, ' * axes}1)), 2).shape\nTensorShape([1, {'2, ' * axes}1])")
    return called(what, function)


max_pool, avg_pool = _pooling("max_pool"), _pooling("avg_pool")
max_pool1d, max_pool2d, max_pool3d = (_pooling(f"max_pool{rank}d", rank) for rank in (1, 2, 3))
avg_pool1d, avg_pool2d, avg_pool3d = (_pooling(f"avg_pool{rank}d", rank) for rank in (1, 2, 3))


def pool(input: TensorLike, window_shape: IntsLike, pooling_type: str, strides: IntsLike | None = None,
         padding: PaddingLike = "VALID",
         data_format: str | None = None, dilations: IntsLike | None = None, name: str | None = None) -> Tensor:
    one_of(str(pooling_type).upper(), ("MAX", "AVG"), "pool: pooling_type")
    if dilations is not None and set(as_integers(dilations, "pool: dilations")) != {1}:
        raise UnimplementedError(f"pool: dilations are not supported, got {dilations}.")
    op = max_pool_windows if pooling_type.upper() == "MAX" else average_pool_windows
    strides = 1 if strides is None else strides
    return named(_pool(op, "pool", None, input, window_shape, strides, padding, data_format), name)


def max_pool_with_argmax(input: TensorLike, ksize: IntsLike, strides: IntsLike, padding: PaddingLike = "VALID",
                         data_format: str | None = "NHWC",
                         output_dtype: DTypeLike = "int64", include_batch_in_index: bool = False,
                         name: str | None = None) -> tuple[Tensor, Tensor]:
    x, wanted = convert(input), as_dtype(output_dtype)
    if not wanted.is_integer:
        raise InvalidArgumentError(f"max_pool_with_argmax: output_dtype must be an integer dtype, got {wanted.name}.")
    largest = _pool(max_pool_windows, "max_pool_with_argmax", 2, x, ksize, strides, padding, data_format)
    window, steps = sizes(ksize, 2, "ksize"), sizes(strides, 2, "strides")
    around = paddings(padding, x._held.shape[1:-1], window, steps, (1, 1))
    at = np.maximum(kernel.max_places(x._array, window, steps, around), 0)
    if not include_batch_in_index:
        at = at % max(1, int(np.prod(x._held.shape[1:])))
    return named((largest, wrap(at.astype(wanted.dtype))), name)


pool.__doc__ = doc(
    "The largest element (`pooling_type` 'MAX') or the mean ('AVG') of each window; steps of 1 by default.",
    shapes="input (n, *s, c) -> (n, *t, c)", derivative="that of `max_pool` or `avg_pool`",
    raises=("shape", "argument", "convert"),
    example=">>> lab.nn.pool(lab.ones((1, 4, 4, 1)), 2, 'AVG').shape\nTensorShape([1, 3, 3, 1])")
max_pool_with_argmax.__doc__ = doc(
    "The largest element of each window, and its position in the flattened example (or batch, if asked).",
    shapes="input (n, h, w, c) -> twice (n, h', w', c)", raises=("shape", "argument", "convert"),
    derivative="1 for each window's largest element, the first of equals; none for positions",
    example=">>> lab.nn.max_pool_with_argmax([[[[1.0], [3.0]]]], (1, 2), 1)[1].numpy().tolist()\n[[[[1]]]]")
