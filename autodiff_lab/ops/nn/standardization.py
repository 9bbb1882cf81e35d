"""Values normalized to mean 0 and variance 1 over axes, as one op, with or without a scale and an offset; moments.

What layers of normalization are made of.  Means, distances and variances of neighbouring axes stay in the cache while
one kernel goes over them; op by op each would be written to memory and read again.  Axes are negative and sorted.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.engine.apply import general
from autodiff_lab.kernels.base.choose import chosen
from autodiff_lab.kernels.normalization import reference
from autodiff_lab.kernels.reductions.reference import count

Axes = tuple[int, ...]


def _elements(g: Any, x: Any, *rest: Any, **how: Any) -> int:
    return x.size


def _scaled(ops: Any, g: Any, out: Any, x: Any, scale: Any, offset: Any, axes: Axes, epsilon: float,
            need: tuple[int, ...]) -> list[Any]:
    if need == (0,):
        return [ops.standardize_grad(g * scale, x, axes=axes, epsilon=epsilon)]
    shares = ops.normalize_grad(g, x, scale, axes=axes, epsilon=epsilon)
    return [shares[i] for i in need]


standardize = general(
    "standardize", chosen("plain_normalize", reference.plain_normalize),
    lambda ops, g, out, x, axes, epsilon: ops.standardize_grad(g, x, axes=axes, epsilon=epsilon), warns=False,
    symbol="(x − mean)/σ", latex=r"\frac{{{0} - \overline{{{0}}}}}{{\sqrt{{\sigma^2 + \varepsilon}}}}",
    locals_latex=(r"\frac{{g - \overline{{g}} - y\,\overline{{g y}}}}{{\sqrt{{\sigma^2 + \varepsilon}}}}",),
    sentence="brings {0} to mean 0 and variance 1", keeps="inputs",
    doc="(x - mean) / √(variance + epsilon) over negative axes; `lab.layers.GroupNormalization` is made of it.")

normalize = general(
    "normalize", chosen("normalize", reference.normalize), _scaled, shared=True, warns=False,
    symbol="normalize", latex=r"\frac{{{0} - \overline{{{0}}}}}{{\sqrt{{\sigma^2 + \varepsilon}}}} \cdot {1} + {2}",
    locals_latex=(r"\frac{{g {1} - \overline{{g {1}}} - y\,\overline{{g {1} y}}}}{{\sqrt{{\sigma^2 + \varepsilon}}}}",
                  r"\frac{{{0} - \overline{{{0}}}}}{{\sqrt{{\sigma^2 + \varepsilon}}}}", "1"),
    sentence="brings {0} to mean 0 and variance 1, multiplies by {1} and adds {2}", keeps="inputs",
    doc="(x - mean) / √(variance + epsilon) over negative axes, times a scale, plus an offset of the same shape; "
        "`lab.layers.LayerNormalization` and `lab.layers.BatchNormalization` are made of it.")


def _bend(ops: Any, h: Any, g: Any, turned: Any, x: Any, axes: Axes, epsilon: float) -> Any:
    """Return the contribution of x in a cotangent h of the gradient that `turned` is: how the gradient bends.

    Σ h·slope is n·r·(c - a·b) with the covariance c of g and h, a the mean of g·y and b that of h·y, and r one over the
    root; the derivative of r is -r²·y/n, that of a is the gradient itself over n.
    """
    how: dict[str, Any] = {"axes": axes, "keepdims": True}
    y = ops.standardize(x, axes=axes, epsilon=epsilon)
    root = ops.rsqrt(ops.mean(ops.square(x - ops.mean(x, **how)), **how) + epsilon)
    a, b = ops.mean(g * y, **how), ops.mean(h * y, **how)
    together = ops.mean(g * h, **how) - ops.mean(g, **how) * ops.mean(h, **how)
    other = ops.standardize_grad(h, x, axes=axes, epsilon=epsilon)
    return -(root * (b * turned + a * other)) - root * root * y * (together - a * b)


def _slope_rule_x(ops: Any, h: Any, out: Any, g: Any, x: Any, axes: Axes, epsilon: float) -> Any:
    return _bend(ops, h, g, out, x, axes, epsilon)


standardize_grad = general(
    "standardize_grad",
    chosen("plain_normalize_grad", reference.plain_normalize_grad, work=_elements),
    lambda ops, h, out, g, x, axes, epsilon: ops.standardize_grad(h, x, axes=axes, epsilon=epsilon), _slope_rule_x,
    warns=False, symbol="d standardize",
    latex=r"\frac{{{0} - \overline{{{0}}} - y\,\overline{{{0} y}}}}{{\sqrt{{\sigma^2 + \varepsilon}}}}",
    locals_latex=(r"\frac{{h - \overline{{h}} - y\,\overline{{h y}}}}{{\sqrt{{\sigma^2 + \varepsilon}}}}",
                  r"-\frac{{\overline{{h y}}\,s_g + \overline{{g y}}\,s_h}}{{\sqrt{{\sigma^2 + \varepsilon}}}} "
                  r"- \frac{{y \left(\overline{{g h}} - \overline{{g}}\,\overline{{h}} - \overline{{g y}}\,"
                  r"\overline{{h y}}\right)}}{{\sigma^2 + \varepsilon}}"),
    sentence="takes from {0} its mean and what lies along {1}, and divides by the deviation",
    doc="(g - mean of g - y · mean of g·y) / √(variance + epsilon) for the result y of `standardize`; the rule of "
        "`standardize` uses it.")


def _normalize_slope_rule(ops: Any, h: Any, out: Any, g: Any, x: Any, scale: Any, axes: Axes, epsilon: float,
                          need: tuple[int, ...]) -> list[Any]:
    """Of one op that gives the contributions of x, scale and offset: standardize_grad(g·scale, x), Σ g·y and Σ g."""
    how: dict[str, Any] = {"axes": axes, "epsilon": epsilon}
    lone = (1,) * (len(x.shape) - len(scale.shape))
    of_scale, of_offset = (ops.reshape(k, shape=(*k.shape[:len(k.shape) - len(scale.shape)], *lone, *scale.shape))
                           for k in h[1:])
    turned = ops.standardize_grad(h[0], x, **how)
    shares: list[Any] = []
    for i in need:
        if i == 0:
            shares.append(scale * turned + of_scale * ops.standardize(x, **how) + of_offset)
        elif i == 1:
            bent = _bend(ops, h[0], g * scale, out[0], x, axes, epsilon)
            shares.append(bent + ops.standardize_grad(g * of_scale, x, **how))
        else:
            shares.append(g * turned)
    return shares


normalize_grad = general(
    "normalize_grad",
    chosen("normalize_grad", reference.normalize_grad, work=_elements),
    _normalize_slope_rule, shared=True, warns=False, symbol="d normalize",
    latex=r"\left(\frac{{{0} {2} - \overline{{{0} {2}}} - y\,\overline{{{0} {2} y}}}}"
          r"{{\sqrt{{\sigma^2 + \varepsilon}}}}, \textstyle\sum {0} y, \sum {0}\right)",
    locals_latex=(r"{2} s_h + h_1 y + h_2", r"\partial s_{{{0} {2}}} + s_{{{0} h_1}}", r"{0} s_h"),
    sentence="shares {0} among {1}, {2} and the offset",
    doc="The shares of x, scale and offset in a cotangent; the rule of `normalize` uses it.")


def _moments_rule(ops: Any, g: Any, out: Any, x: Any, axes: Axes, need: tuple[int, ...]) -> list[Any]:
    """1/n for the mean, 2(x - mean)/n for the variance; the mean is the op's own: the next order sees it move."""
    return [(g[0] + 2 * g[1] * (x - out[0])) / max(count(x, axes), 1)]


mean_and_variance = general(
    "moments", chosen("moments", reference.moments), _moments_rule, shared=True, warns=False,
    symbol="mean, σ²", latex=r"\left(\overline{{{0}}},\ \overline{{({0} - \overline{{{0}}})^2}}\right)",
    locals_latex=(r"\frac{{g_1 + 2 g_2 ({0} - \overline{{{0}}})}}{{n}}",),
    sentence="takes the mean and the variance of {0}",
    doc="Mean, and mean of squared distances from it, over negative axes, which stay with length 1; "
        "`lab.layers.BatchNormalization` keeps averages of both.")
