"""Depthwise and separable convolutions: each channel separately, then all of them mixed pointwise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert, convert_pair
from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import ShapeMismatch
from autodiff_lab.kernels.base.choose import chosen
from autodiff_lab.kernels.convolution import reference as kernel
from autodiff_lab.kernels.convolution.reference import fits, out_sizes
from autodiff_lab.ops.checks import dtypes_unequal
from autodiff_lab.ops.docs import doc
from autodiff_lab.ops.nn.convolution import conv2d, layout, paddings, sizes, too_large

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import IntsLike, PaddingLike, TensorLike


def _products(x: Any, w: Any, shape: Any = None, **how: Any) -> float:
    """Return about how many multiplications a depthwise convolution takes, or its gradient for the input."""
    return x.size * math.prod(w.shape[:-2]) * (w.shape[-1] if shape is None else 1)


def _multiplications(x: Any, g: Any, window: Any, **how: Any) -> float:
    return g.size * math.prod(window)


def _chosen(name: str, work: Any) -> Any:
    return chosen(name, getattr(kernel, name), work=work)


convolve_depthwise = general(
    "depthwise", _chosen("depthwise", _products),
    lambda ops, g, out, x, w, **how: ops.depthwise_input(g, w, shape=tuple(x.shape), **how),
    lambda ops, g, out, x, w, **how: ops.depthwise_filter(x, g, window=tuple(w.shape[:-2]), **how),
    stacked=False, symbol="∗ᶜ", latex=r"{0} \ast_c {1}", locals_latex=(r"\ast_c^T {1}", r"{0} \ast_c"),
    sentence="convolves each channel of {0} with its own filters {1}", keeps="inputs",
    registered="DepthwiseConv2dNative",
    doc="The kernel-level depthwise convolution; `lab.nn.depthwise_conv2d` is the public function.")

depthwise_input = general(
    "depthwise_input", _chosen("depthwise_input", _products),
    lambda ops, g, out, u, w, shape, **how: ops.depthwise(g, w, **how),
    lambda ops, g, out, u, w, shape, **how: ops.depthwise_filter(g, u, window=tuple(w.shape[:-2]), **how),
    stacked=False, symbol="∗ᶜᵀ", latex=r"{0} \ast_c^T {1}", locals_latex=(r"\ast_c {1}", r"\ast_c {0}"),
    sentence="spreads {0} by the filters {1} of each channel", keeps="inputs",
    registered="DepthwiseConv2dNativeBackpropInput",
    doc="The gradient of a depthwise convolution with respect to its input; the rule of `depthwise` uses it.")

depthwise_filter = general(
    "depthwise_filter", _chosen("depthwise_filter", _multiplications),
    lambda ops, g, out, x, u, window, **how: ops.depthwise_input(u, g, shape=tuple(x.shape), **how),
    lambda ops, g, out, x, u, window, **how: ops.depthwise(x, g, **how),
    stacked=False, symbol="∗ᶜᵂ", latex=r"{0} \ast_{{cW}} {1}", locals_latex=(r"\ast_c^T", r"{0} \ast_c"),
    sentence="correlates {0} with {1}, channel by channel, into filters", keeps="inputs",
    registered="DepthwiseConv2dNativeBackpropFilter",
    doc="The gradient of a depthwise convolution with respect to its filters; the rule of `depthwise` uses it.")


def depthwise_conv2d(input: TensorLike, filter: TensorLike, strides: IntsLike = 1, padding: PaddingLike = "VALID",
                     data_format: str | None = None,
                     dilations: IntsLike = 1, name: str | None = None) -> Tensor:
    layout(data_format)
    x, w = convert_pair(REGISTRY["depthwise"], input, filter)
    if x._held.dtype != w._held.dtype:
        raise dtypes_unequal("depthwise_conv2d", input=x, filter=w)
    if x._held.ndim != 4 or w._held.ndim != 4 or x._held.shape[-1] != w._held.shape[-2]:
        raise ShapeMismatch("depthwise_conv2d: expected an input (n, h, w, c) and a filter (h, w, c, m), got shapes "
                            f"{x._held.shape} and {w._held.shape}.")
    steps, holes = sizes(strides, 2, "strides"), sizes(1 if dilations is None else dilations, 2, "dilations")
    window, spatial = w._held.shape[:-2], x._held.shape[1:-1]
    around = paddings(padding, spatial, window, steps, holes)
    if not fits(spatial, out_sizes(spatial, window, steps, around, holes)):
        raise too_large("depthwise_conv2d", window, holes, spatial)
    return convolve_depthwise(x, w, strides=steps, padding=around, dilations=holes, name=name)


def separable_conv2d(input: TensorLike, depthwise_filter: TensorLike, pointwise_filter: TensorLike,
                     strides: IntsLike = 1,
                     padding: PaddingLike = "VALID", data_format: str | None = None, dilations: IntsLike = 1,
                     name: str | None = None) -> Tensor:
    point = convert(pointwise_filter)
    if point._held.ndim != 4 or point._held.shape[:2] != (1, 1):
        raise ShapeMismatch("separable_conv2d: expected a pointwise filter (1, 1, c·m, c_out), got shape "
                            f"{point._held.shape}.")
    deep = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return named(conv2d(deep, point), name)


depthwise_conv2d.__doc__ = doc(
    "Convolution of each channel with separate filters; channel k gives the channels k·m to k·m + m - 1.",
    shapes="input (n, h, w, c), filter (kh, kw, c, m) -> (n, h', w', c·m)", dtypes="floating, both the same",
    derivative="a transposed depthwise convolution for the input, a correlation for the filter",
    raises=("shape", "dtypes", "argument", "convert"),
    example=">>> lab.nn.depthwise_conv2d(lab.ones((1, 4, 4, 2)), lab.ones((3, 3, 2, 2))).shape\n"
            "TensorShape([1, 2, 2, 4])")
separable_conv2d.__doc__ = doc(
    "A depthwise convolution, whose channels a convolution with a window of one point then mixes.",
    shapes="input (n, h, w, c), depthwise_filter (kh, kw, c, m), pointwise_filter (1, 1, c·m, c_out) -> "
           "(n, h', w', c_out)", dtypes="floating, all the same",
    derivative="that of its two convolutions", raises=("shape", "dtypes", "argument", "convert"),
    example=">>> lab.nn.separable_conv2d(lab.ones((1, 4, 4, 2)), lab.ones((3, 3, 2, 1)), lab.ones((1, 1, 2, 5))).shape"
            "\nTensorShape([1, 2, 2, 5])")
