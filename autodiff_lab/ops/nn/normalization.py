"""Normalization: means and variances over axes, and values shifted and scaled by them.

The ops come first, then the functions made of them.  Means, distances and variances of neighbouring axes stay in the
cache while one kernel goes over them; op by op each would be written to memory and read again.  The axes of the ops are
negative and sorted.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.primitives import kept_shape, reshape_to, stack
from autodiff_lab.engine.shape import as_integer, flag
from autodiff_lab.engine.sweep import fit
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.kernels.base.choose import chosen
from autodiff_lab.kernels.base.halves import is_half
from autodiff_lab.kernels.normalization import reference
from autodiff_lab.kernels.reductions.reference import count, shape_over
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.joining import pad_axis, slice_axis
from autodiff_lab.ops.array.shaping import squeeze
from autodiff_lab.ops.checks import axes_from_end, floats
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.math.arithmetic import pow, square
from autodiff_lab.ops.math.elementary import squared_difference
from autodiff_lab.ops.math.exponential import rsqrt
from autodiff_lab.ops.math.reductions import mean_over, reduce_sum, unless_few

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import IntsLike, TensorLike

Axes = tuple[int, ...]
_FEW = 512
"""Elements below which moments are NumPy's: choosing another kernel would cost more."""


def _elements(g: Any, x: Any, *rest: Any, **how: Any) -> int:
    return x.size


def _scaled(ops: Any, g: Any, out: Any, x: Any, scale: Any, offset: Any, axes: Axes, epsilon: float,
            need: tuple[int, ...]) -> list[Any]:
    if need == (0,):
        return [ops.standardize_grad(g * scale, x, axes=axes, epsilon=epsilon)]
    contributions = ops.normalize_grad(g, x, scale, axes=axes, epsilon=epsilon)
    return [contributions[i] for i in need]


plain_normalize = general(
    "standardize", chosen("plain_normalize", reference.plain_normalize),
    lambda ops, g, out, x, axes, epsilon: ops.standardize_grad(g, x, axes=axes, epsilon=epsilon), warns=False,
    symbol="(x − mean)/σ", latex=r"\frac{{{0} - \overline{{{0}}}}}{{\sqrt{{\sigma^2 + \varepsilon}}}}",
    locals_latex=(r"\frac{{g - \overline{{g}} - y\,\overline{{g y}}}}{{\sqrt{{\sigma^2 + \varepsilon}}}}",),
    sentence="shifts and scales {0} to mean 0 and variance 1", keeps="inputs",
    doc="(x - mean) / √(variance + epsilon) over negative axes; `lab.layers.GroupNormalization` without a scale is "
        "made of it.")

normalize = general(
    "normalize", chosen("normalize", reference.normalize), _scaled, shared=True, warns=False,
    symbol="normalize", latex=r"\frac{{{0} - \overline{{{0}}}}}{{\sqrt{{\sigma^2 + \varepsilon}}}} \cdot {1} + {2}",
    locals_latex=(r"\frac{{g {1} - \overline{{g {1}}} - y\,\overline{{g {1} y}}}}{{\sqrt{{\sigma^2 + \varepsilon}}}}",
                  r"\frac{{{0} - \overline{{{0}}}}}{{\sqrt{{\sigma^2 + \varepsilon}}}}", "1"),
    sentence="shifts and scales {0} to mean 0 and variance 1, multiplies by {1} and adds {2}", keeps="inputs",
    doc="(x - mean) / √(variance + epsilon) over negative axes, times a scale, plus an offset of the same shape; "
        "`lab.layers.LayerNormalization`, `BatchNormalization` and `GroupNormalization` are made of it.")


def _bend(ops: Any, h: Any, g: Any, turned: Any, x: Any, axes: Axes, epsilon: float) -> Any:
    """Return the contribution of x for a cotangent h of `turned`, the gradient of the normalized values.

    Σ h·turned is n·r·(c - a·b) with the covariance c of g and h, a the mean of g·y and b that of h·y, and r one over
    the root; the derivative of r is -r²·y/n, that of a is the gradient itself over n.
    """
    how: dict[str, Any] = {"axes": axes, "keepdims": True}
    y = ops.standardize(x, axes=axes, epsilon=epsilon)
    root = ops.rsqrt(ops.mean(ops.square(x - ops.mean(x, **how)), **how) + epsilon)
    a, b = ops.mean(g * y, **how), ops.mean(h * y, **how)
    together = ops.mean(g * h, **how) - ops.mean(g, **how) * ops.mean(h, **how)
    other = ops.standardize_grad(h, x, axes=axes, epsilon=epsilon)
    return -(root * (b * turned + a * other)) - root * root * y * (together - a * b)


def _plain_grad_rule_x(ops: Any, h: Any, out: Any, g: Any, x: Any, axes: Axes, epsilon: float) -> Any:
    return _bend(ops, h, g, out, x, axes, epsilon)


plain_normalize_grad = general(
    "standardize_grad",
    chosen("plain_normalize_grad", reference.plain_normalize_grad, work=_elements),
    lambda ops, h, out, g, x, axes, epsilon: ops.standardize_grad(h, x, axes=axes, epsilon=epsilon),
    _plain_grad_rule_x,
    warns=False, symbol="d standardize",
    latex=r"\frac{{{0} - \overline{{{0}}} - y\,\overline{{{0} y}}}}{{\sqrt{{\sigma^2 + \varepsilon}}}}",
    locals_latex=(r"\frac{{h - \overline{{h}} - y\,\overline{{h y}}}}{{\sqrt{{\sigma^2 + \varepsilon}}}}",
                  r"-\frac{{\overline{{h y}}\,s_g + \overline{{g y}}\,s_h}}{{\sqrt{{\sigma^2 + \varepsilon}}}} "
                  r"- \frac{{y \left(\overline{{g h}} - \overline{{g}}\,\overline{{h}} - \overline{{g y}}\,"
                  r"\overline{{h y}}\right)}}{{\sigma^2 + \varepsilon}}"),
    sentence="takes from {0} its mean and what lies along {1}, and divides by the deviation",
    doc="(g - mean of g - y · mean of g·y) / √(variance + epsilon) for the result y of `standardize`; the rule of "
        "`standardize` uses it.")


def _normalize_grad_rule(ops: Any, h: Any, out: Any, g: Any, x: Any, scale: Any, axes: Axes, epsilon: float,
                          need: tuple[int, ...]) -> list[Any]:
    """Differentiate the contributions of x, scale and offset: standardize_grad(g·scale, x), Σ g·y and Σ g."""
    how: dict[str, Any] = {"axes": axes, "epsilon": epsilon}
    lone = (1,) * (len(x.shape) - len(scale.shape))
    of_scale, of_offset = (ops.reshape(k, shape=(*k.shape[:len(k.shape) - len(scale.shape)], *lone, *scale.shape))
                           for k in h[1:])
    turned = ops.standardize_grad(h[0], x, **how)
    contributions: list[Any] = []
    for i in need:
        if i == 0:
            contributions.append(scale * turned + of_scale * ops.standardize(x, **how) + of_offset)
        elif i == 1:
            bent = _bend(ops, h[0], g * scale, out[0], x, axes, epsilon)
            contributions.append(bent + ops.standardize_grad(g * of_scale, x, **how))
        else:
            contributions.append(g * turned)
    return contributions


normalize_grad = general(
    "normalize_grad",
    chosen("normalize_grad", reference.normalize_grad, work=_elements),
    _normalize_grad_rule, shared=True, warns=False, symbol="d normalize",
    latex=r"\left(\frac{{{0} {2} - \overline{{{0} {2}}} - y\,\overline{{{0} {2} y}}}}"
          r"{{\sqrt{{\sigma^2 + \varepsilon}}}}, \textstyle\sum {0} y, \sum {0}\right)",
    locals_latex=(r"{2} s_h + h_1 y + h_2", r"\partial s_{{{0} {2}}} + s_{{{0} h_1}}", r"{0} s_h"),
    sentence="splits {0} between {1}, {2} and the offset",
    doc="The contributions of x, scale and offset for a cotangent; the rule of `normalize` uses it.")


_moments = unless_few(_FEW, "moments", reference.moments)


def _mean_and_variance(x: Any, axes: Axes, keepdims: bool = True) -> tuple[Any, Any]:
    mean, variance = _moments(x, axes=axes)
    if keepdims:
        return mean, variance
    kept = shape_over(x, axes, False)
    return mean.reshape(kept)[()], variance.reshape(kept)[()]


_mean_and_variance.prepare = _moments.prepare  # type: ignore[attr-defined]


def _moments_rule(ops: Any, g: Any, out: Any, x: Any, axes: Axes, need: tuple[int, ...],
                  keepdims: bool = True) -> list[Any]:
    """1/n for the mean, 2(x - mean)/n for the variance; the next order differentiates the mean too."""
    of_mean, of_variance, mean = *g, out[0]
    if not keepdims:
        kept = kept_shape(tuple(x.shape), axes)
        lead = stack(of_mean, mean)
        of_mean, of_variance, mean = (ops.reshape(each, shape=before + kept)
                                      for each, before in ((of_mean, lead), (of_variance, lead), (mean, ())))
    number = max(count(x, axes), 1)
    return [(x - mean) * (of_variance * (2 / number)) + of_mean / number]


mean_and_variance = general(
    "moments", _mean_and_variance, _moments_rule, shared=True, warns=False,
    symbol="mean, σ²", latex=r"\left(\overline{{{0}}},\ \overline{{({0} - \overline{{{0}}})^2}}\right)",
    locals_latex=(r"\frac{{g_1 + 2 g_2 ({0} - \overline{{{0}}})}}{{n}}",),
    sentence="takes the mean and the variance of {0}",
    doc="Mean, and mean of squared distances from it, over negative axes, which stay with length 1 unless keepdims is "
        "False; `lab.layers.BatchNormalization` keeps averages of both.")


def _batch_rule(ops: Any, g: Any, out: Any, x: Any, mean: Any, variance: Any, scale: Any, offset: Any, epsilon: float,
                need: tuple[int, ...]) -> list[Any]:
    """g·scale/√(variance + epsilon) for x; the others get what the sums of g and of g·(x - mean) come to.

    They are added up here, once for two contributions, where all have one shape; else by the sweep.
    """
    root = ops.rsqrt(variance + epsilon)
    factor, lead = root * scale, len(stack(g, out))
    along = g * (x - mean) if 2 in need or 3 in need else None
    total = g if 1 in need or 4 in need else None
    if mean.shape == variance.shape == scale.shape == offset.shape:
        along, total = (each if each is None else fit(ops, each, mean, lead) for each in (along, total))
    contributions: list[Any] = []
    for i in need:
        if i == 0:
            contributions.append(g * factor)
        elif i == 1:
            contributions.append(-(total * factor))
        elif i == 2:
            contributions.append(along * (factor * root * root * -0.5))
        else:
            contributions.append(along * root if i == 3 else total)
    return contributions


batch_normalize = general(
    "batch_normalize", reference.batch_normalize, _batch_rule, shared=True,
    symbol="batch normalize", latex=r"\frac{{{0} - {1}}}{{\sqrt{{{2} + \varepsilon}}}} \cdot {3} + {4}",
    locals_latex=(r"\frac{{{3}}}{{\sqrt{{{2} + \varepsilon}}}}", r"-\frac{{{3}}}{{\sqrt{{{2} + \varepsilon}}}}",
                  r"-\frac{{{3} ({0} - {1})}}{{2 ({2} + \varepsilon)^{{3/2}}}}",
                  r"\frac{{{0} - {1}}}{{\sqrt{{{2} + \varepsilon}}}}", "1"),
    sentence="shifts {0} by {1}, divides by the root of {2}, multiplies by {3} and adds {4}", keeps="inputs",
    doc="(x - mean) / √(variance + epsilon) · scale + offset, of arrays that broadcast; "
        "`lab.nn.batch_normalization` is the public function.")


def normalized(x: Any, axes: tuple[int, ...], epsilon: float, scale: Any = None, offset: Any = None) -> Tensor:
    """(x - mean) / √(variance + epsilon) over negative axes, times the scale and plus the offset where they are given.

    One op, where both have one shape and the dtype of x; where the dtypes differ the product raises.
    """
    x = floats(x, "normalization")
    if scale is not None and offset is not None:
        factor, level = convert(scale, x), convert(offset, x)
        if factor._held.dtype == level._held.dtype == x._held.dtype and factor._held.shape == level._held.shape:
            return normalize(x, factor, level, axes=axes, epsilon=epsilon)
    result = plain_normalize(x, axes=axes, epsilon=epsilon)
    if scale is not None:
        result = result * scale
    return result if offset is None else result + offset


def moments(x: TensorLike, axes: IntsLike, shift: TensorLike | None = None, keepdims: bool = False,
            name: str | None = None,
            ) -> tuple[Tensor, Tensor]:
    x = floats(x, "moments")
    over = axes_from_end(axes, x._held.ndim, "moments")
    if is_half(x._held.dtype):
        mean, variance = moments(cast(x, "float32"), over, keepdims=keepdims)
        return named((cast(mean, x.dtype), cast(variance, x.dtype)), name)
    keepdims = flag(keepdims, "moments: keepdims")
    if x._held.dtype.kind == "c":
        mean = mean_over(x, axes=over, keepdims=True)
        # The mean in the squares must not be held constant: its contribution to the gradient is 0, but not to the next
        # order.
        variance = mean_over(squared_difference(x, mean), axes=over, keepdims=True)
    else:
        return named(mean_and_variance(x, axes=over, keepdims=keepdims or not over), name)
    if not keepdims and over:
        kept = shape_over(x, over, False)
        mean, variance = reshape_to(mean, shape=kept), reshape_to(variance, shape=kept)
    return named((mean, variance), name)


def weighted_moments(x: TensorLike, axes: IntsLike, frequency_weights: TensorLike, keepdims: bool = False,
                     name: str | None = None,
                     ) -> tuple[Tensor, Tensor]:
    x = floats(x, "weighted_moments")
    over, keepdims = axes_from_end(axes, x._held.ndim, "weighted_moments"), flag(keepdims, "weighted_moments: keepdims")
    if is_half(x._held.dtype):
        weights = cast(convert(frequency_weights, x), "float32")
        mean, variance = weighted_moments(cast(x, "float32"), over, weights, keepdims)
        return named((cast(mean, x.dtype), cast(variance, x.dtype)), name)
    weights = convert(frequency_weights, x) + x * 0
    total = reduce_sum(weights, axis=over, keepdims=True)
    mean = reduce_sum(weights * x, axis=over, keepdims=True) / total
    squares = squared_difference(x, mean) if x._held.dtype.kind == "c" else square(x - mean)
    variance = reduce_sum(weights * squares, axis=over, keepdims=True) / total
    return named((mean, variance) if keepdims or not over else (squeeze(mean, over), squeeze(variance, over)), name)


def sufficient_statistics(x: TensorLike, axes: IntsLike, shift: TensorLike | None = None, keepdims: bool = False,
                          name: str | None = None,
                          ) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    x = floats(x, "sufficient_statistics")
    over = axes_from_end(axes, x._held.ndim, "sufficient_statistics")
    count = math.prod(x._held.shape[a] for a in over)
    moved = x if shift is None else x - convert(shift, x)
    total, squares = (reduce_sum(each, axis=over, keepdims=keepdims) for each in (moved, square(moved)))
    return named((wrap(x._held.dtype.type(count)), total, squares, None if shift is None else convert(shift, x)), name)


def normalize_moments(counts: TensorLike, mean_ss: TensorLike, variance_ss: TensorLike, shift: TensorLike | None,
                      name: str | None = None,
                      ) -> tuple[Tensor, Tensor]:
    total = floats(mean_ss, "normalize_moments")
    count = convert(counts, total)
    shifted = total / count
    variance = convert(variance_ss, total) / count - square(shifted)
    return named((shifted if shift is None else shifted + convert(shift, total), variance), name)


def batch_normalization(x: TensorLike, mean: TensorLike, variance: TensorLike, offset: TensorLike | None,
                        scale: TensorLike | None, variance_epsilon: float, name: str | None = None) -> Tensor:
    x = floats(x, "batch_normalization")
    middle, spread = convert(mean, x), convert(variance, x)
    factor, level = (None if given is None else convert(given, x) for given in (scale, offset))
    if factor is not None and level is not None and variance_epsilon.__class__ is float:
        given = (middle, spread, factor, level)
        shape, dtype = middle._held.shape, x._held.dtype
        if all(t._held.shape == shape and t._held.dtype == dtype for t in given):
            return batch_normalize(x, middle, spread, factor, level, epsilon=variance_epsilon, name=name)
    turned = rsqrt(spread + variance_epsilon)
    result = (x - middle) * (turned if factor is None else turned * factor)
    return named(result if level is None else result + level, name)


def local_response_normalization(input: TensorLike, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0,
                                 beta: float = 0.5, name: str | None = None) -> Tensor:
    x = floats(input, "local_response_normalization")
    if x._held.ndim != 4:
        raise ShapeMismatch(f"local_response_normalization: expected an input (n, h, w, c), got shape {x._held.shape}.")
    radius = as_integer(depth_radius, "local_response_normalization: depth_radius")
    if radius < 0:
        raise InvalidArgumentError(f"local_response_normalization: depth_radius must not be negative, got {radius}.")
    channels = x._held.shape[-1]
    around = pad_axis(square(x), axis=-1, before=radius, after=radius)
    total: Any = 0.0
    for start in range(2 * radius + 1):
        total = total + slice_axis(around, axis=-1, start=start, stop=start + channels)
    return named(x / pow(bias + alpha * total, beta), name)


lrn = local_response_normalization

document((
    (moments, "Mean and variance over axes; `shift` is accepted and changes nothing.",
     "x (*s) -> twice s without the axes", "1/n for the mean, 2(x - mean)/n for the variance",
     ">>> mean, variance = lab.nn.moments([1.0, 3.0], axes=[0])\n>>> float(mean), float(variance)\n(2.0, 1.0)"),
    (weighted_moments, "Weighted mean and variance over axes.",
     "x (*s), frequency_weights broadcasting to s -> twice s without the axes", "that of the weighted sums",
     ">>> mean, variance = lab.nn.weighted_moments([1.0, 4.0], [0], [2.0, 1.0])\n>>> float(mean), float(variance)\n"
     "(2.0, 2.0)"),
    (sufficient_statistics, "Count, sum and sum of squares over axes, and the shift that x was moved by before.",
     "x (*s) -> (), twice s without the axes, shift", "that of the sums",
     ">>> [float(t) for t in lab.nn.sufficient_statistics([1.0, 3.0], [0])[:3]]\n[2.0, 4.0, 10.0]"),
    (normalize_moments, "Mean and variance from the statistics that `sufficient_statistics` gives.",
     "counts (), mean_ss (*s), variance_ss (*s), shift (*s) or None -> twice (*s)", "that of the quotients",
     ">>> [float(t) for t in lab.nn.normalize_moments(2.0, 4.0, 10.0, None)]\n[2.0, 1.0]"),
    (batch_normalization, "(x - mean) / √(variance + epsilon), times the scale, plus the offset.",
     "x (*s), the others broadcasting to s -> (*s)", "that of the product and the sum",
     ">>> print(lab.nn.batch_normalization([1.0, 3.0], 2.0, 1.0, None, None, 0.0))\n"
     "Tensor([-1.  1.], shape=(2,), dtype=float32)"),
    (local_response_normalization, "x over (bias + alpha·(sum of the squares of the channels around))^beta.",
     "input (n, h, w, c) -> the same", "that of the quotient",
     ">>> print(lab.nn.local_response_normalization([[[[1.0]]]], bias=3.0))\n"
     "Tensor([[[[0.5]]]], shape=(1, 1, 1, 1), dtype=float32)"),
), raises=("argument", "floating", "convert"))
