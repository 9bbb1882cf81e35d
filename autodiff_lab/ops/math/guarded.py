"""Quotients and logarithms that are 0 where a plain one would be nan, in value and in derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.apply import binary, unary
from autodiff_lab.engine.op import REALS, Domain
from autodiff_lab.kernels.reductions import reference as masking
from autodiff_lab.ops.docs import of_one, of_two
from autodiff_lab.ops.math.arithmetic import quotient

_FLOATS = "floating, both the same"


def _where_not_zero(x: Any, value: Any) -> Any:
    return np.where(x == 0, value.dtype.type(0), value)[()]


not_zero = unary(
    "not_zero", lambda x: (x != 0).astype(x.dtype), None,  # a zero rule would turn a nan cotangent into nan
    symbol="≠0", latex=r"[{0} \ne 0]", locals_latex=("0",), sentence="is 1 where {0} is not 0, else 0",
    domain=(Domain(away_from=(0.0,)),), keeps="nothing",
    expression="choose({0} != zero, one, zero)",
    doc=of_one("1 where x is not 0, else 0, in the dtype of x; the rules of `xlogy` and `xdivy` use it.", "0", """
>>> print(lab.ops.math.guarded.not_zero([-1.0, 0.0]))
Tensor([1. 0.], shape=(2,), dtype=float32)"""))

divide_no_nan = binary(
    "divide_no_nan", lambda x, y: np.where(y == 0, x.dtype.type(0), quotient(x, y))[()],
    lambda ops, g, out, x, y: ops.divide_no_nan(g, y),
    lambda ops, g, out, x, y: -ops.divide_no_nan(g * out, y),
    symbol="÷₀", latex=r"\frac{{{0}}}{{{1}}}", locals_latex=(r"\frac{{1}}{{{1}}}", r"-\frac{{{0}}}{{{1}^2}}"),
    sentence="divides {0} by {1}, giving 0 where {1} is 0", domain=(REALS, Domain(away_from=(0.0,))),
    registered="DivNoNan",
    expression="choose({1} == zero, zero, {0} / {1})",
    doc=of_two("Quotient of two tensors, 0 where y is 0.", "1/y for x, -x/y² for y; both 0 where y is 0", """
>>> print(lab.math.divide_no_nan([1.0, 3.0], [0.0, 2.0]))
Tensor([0.  1.5], shape=(2,), dtype=float32)""", dtypes=_FLOATS))

multiply_no_nan = binary(
    "multiply_no_nan", lambda x, y: np.where(y == 0, x.dtype.type(0), x * y)[()],
    lambda ops, g, out, x, y: ops.multiply_no_nan(g, y),
    lambda ops, g, out, x, y: ops.multiply_no_nan(x, g),
    symbol="×₀", latex=r"{0} \cdot {1}", locals_latex=("{1}", "{0}"),
    sentence="multiplies {0} by {1}, giving 0 where {1} is 0", domain=(REALS, Domain(away_from=(0.0,))),
    keeps="inputs", registered="MulNoNan",
    expression="choose({1} == zero, zero, {0} * {1})",
    doc=of_two("Product of two tensors, 0 where y is 0 even if x is infinite or nan.",
               "y for x; x for y, or 0 where the incoming gradient is 0", """
>>> print(lab.math.multiply_no_nan([float("inf"), 3.0], [0.0, 2.0]))
Tensor([0. 6.], shape=(2,), dtype=float32)""", dtypes=_FLOATS))


gate = binary(
    "gate", masking.gate, lambda ops, g, out, x, mask: ops.gate(g, mask), lambda ops, g, out, x, mask: ops.gate(x, g),
    symbol="×₀", latex=r"{0} \cdot {1}", locals_latex=("{1}", "{0}"),
    sentence="multiplies {0} by {1}, giving 0 where {1} is 0", domain=(REALS, Domain(away_from=(0.0,))),
    expression="choose({1} == zero, zero, {0} * {1})", keeps="inputs",
    doc=of_two("Product with a mask, 0 or -0 where the mask is 0 even if x is infinite; rules of choices use it.",
               "the mask for x; x for the mask, or 0 where the incoming gradient is 0", """
>>> print(lab.ops.math.guarded.gate([float("inf"), 3.0], [0.0, 1.0]))
Tensor([0. 3.], shape=(2,), dtype=float32)""", dtypes=_FLOATS))

reciprocal_no_nan = unary(
    "reciprocal_no_nan", lambda x: np.where(x == 0, x.dtype.type(0), 1 / x)[()],
    lambda ops, g, out, x: -g * out * out,
    symbol="1/x₀", latex=r"\frac{{1}}{{{0}}}", locals_latex=(r"-\frac{{1}}{{{0}^2}}",),
    sentence="takes one over {0}, or 0 where it is 0", domain=(Domain(away_from=(0.0,)),), keeps="output",
    expression="choose({0} == zero, zero, one / {0})",
    doc=of_one("One over x, 0 where x is 0.", "-1/x², 0 where x is 0", """
>>> print(lab.math.reciprocal_no_nan([0.0, 4.0]))
Tensor([0.   0.25], shape=(2,), dtype=float32)"""))

xlogy = binary(
    "xlogy", lambda x, y: _where_not_zero(x, x * np.log(y)),
    lambda ops, g, out, x, y: g * ops.xlogy(ops.not_zero(x), y),
    lambda ops, g, out, x, y: g * ops.xdivy(x, y),
    symbol="x ln y", latex=r"{0} \ln {1}", locals_latex=(r"\ln {1}", r"\frac{{{0}}}{{{1}}}"),
    sentence="multiplies {0} by the logarithm of {1}", domain=(Domain(away_from=(0.0,)), Domain(low=0.0)),
    keeps="inputs", registered="Xlogy",
    expression="choose({0} == zero, zero, {0} * log({1}))",
    doc=of_two("x·ln y, and 0 where x is 0, whatever y is.",
               "ln y for x, x/y for y; both 0 where x is 0, as TensorFlow has it", """
>>> print(lab.math.xlogy([0.0, 2.0], [0.0, 1.0]))
Tensor([0. 0.], shape=(2,), dtype=float32)""", domain="y > 0, or x = 0", dtypes=_FLOATS))

xlog1py = binary(
    "xlog1py", lambda x, y: _where_not_zero(x, x * np.log1p(y)),
    lambda ops, g, out, x, y: g * ops.xlog1py(ops.not_zero(x), y),
    lambda ops, g, out, x, y: g * ops.xdivy(x, 1 + y),
    symbol="x ln(1+y)", latex=r"{0} \ln(1 + {1})", locals_latex=(r"\ln(1 + {1})", r"\frac{{{0}}}{{1 + {1}}}"),
    sentence="multiplies {0} by the logarithm of 1 + {1}", domain=(Domain(away_from=(0.0,)), Domain(low=-1.0)),
    keeps="inputs", registered="Xlog1py",
    expression="choose({0} == zero, zero, {0} * log1p({1}))",
    doc=of_two("x·ln(1 + y), exact for small y, and 0 where x is 0, whatever y is.",
               "ln(1 + y) for x, x/(1 + y) for y; both 0 where x is 0, as TensorFlow has it", """
>>> print(lab.math.xlog1py([0.0, 2.0], [-1.0, 0.0]))
Tensor([0. 0.], shape=(2,), dtype=float32)""", domain="y > -1, or x = 0", dtypes=_FLOATS))

xdivy = binary(
    "xdivy", lambda x, y: _where_not_zero(x, x / y),
    lambda ops, g, out, x, y: g * ops.xdivy(ops.not_zero(x), y),
    lambda ops, g, out, x, y: -(g * ops.xdivy(out, y)),
    symbol="x÷y", latex=r"\frac{{{0}}}{{{1}}}", locals_latex=(r"\frac{{1}}{{{1}}}", r"-\frac{{{0}}}{{{1}^2}}"),
    sentence="divides {0} by {1}, giving 0 where {0} is 0",
    domain=(Domain(away_from=(0.0,)), Domain(away_from=(0.0,))), registered="Xdivy",
    expression="choose({0} == zero, zero, {0} / {1})",
    doc=of_two("x/y, and 0 where x is 0, whatever y is.",
               "1/y for x, -x/y² for y; both 0 where x is 0, as TensorFlow has it", """
>>> print(lab.math.xdivy([0.0, 3.0], [0.0, 2.0]))
Tensor([0.  1.5], shape=(2,), dtype=float32)""", domain="y ≠ 0, or x = 0", dtypes=_FLOATS))
