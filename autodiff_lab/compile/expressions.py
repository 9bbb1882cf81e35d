"""Scalar expressions of elementwise ops: what a fused loop computes for one element.

`{0}`, `{1}` are the inputs.  The names are those of `vector_maths`.  An op that is not listed is not fused: its line
runs with NumPy.  Arithmetic gives the bits of the eager op; the functions differ from NumPy's by the ulp measured.
`expression` also knows ops whose text hangs on a constant or a parameter, such as powers.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from autodiff_lab.compile.program import Line, Program

_SCALE = math.sqrt(2 / math.pi)
EXPRESSIONS: dict[str, str] = {
    "add": "{0} + {1}",
    "subtract": "{0} - {1}",
    "multiply": "{0} * {1}",
    "divide": "{0} / {1}",
    "negative": "-{0}",
    "square": "{0} * {0}",
    "squared_difference": "({0} - {1}) * ({0} - {1})",
    "reciprocal": "one / {0}",
    "sqrt": "sqrt({0})",
    "rsqrt": "one / sqrt({0})",
    "abs": "abs({0})",
    "exp": "exp({0})",
    "expm1": "expm1({0})",
    "log": "log({0})",
    "log1p": "log1p({0})",
    "sin": "sin({0})",
    "cos": "cos({0})",
    "tanh": "tanh({0})",
    "sigmoid": "sigmoid({0})",
    "softplus": "softplus({0})",
    "softsign": "{0} / (one + abs({0}))",
    "maximum": "larger({0}, {1})",
    "minimum": "smaller({0}, {1})",
    "clip": "larger(smaller({0}, {2}), {1})",
    "relu": "larger({0}, zero)",
    "positive": "choose({0} > zero, one, zero)",
    "not_below": "choose({0} >= {1}, one, zero)",
    "below": "choose({0} < {1}, one, zero)",
    "log_where_positive": "log(choose({0} > zero, {0}, one))",
    "reciprocal_where_positive": "choose({0} > zero, one / choose({0} > zero, {0}, one), zero)",
    "select": "choose({1}, {0}, zero)",
    "select_not": "choose({1}, zero, {0})",
    "where": "choose({0}, {1}, {2})",
    "less": "{0} < {1}",
    "less_equal": "{0} <= {1}",
    "greater": "{0} > {1}",
    "greater_equal": "{0} >= {1}",
    "equal": "{0} == {1}",
    "not_equal": "{0} != {1}",
    "logical_and": "{0} & {1}",
    "logical_or": "{0} | {1}",
    "broadcast_to": "{0}",
}
FUNCTIONS = frozenset({
    "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "tanh", "sigmoid", "softplus", "erf", "erfc", "normal_cdf",
    "power",
})  # fmt: skip
"""Names that stand for other code in float32 and in float64."""
ANGLES = frozenset({"sin", "cos", "tan"})
"""Ops whose argument must not be too far out."""

LOOPED: dict[str, str] = {
    "identity": "{0}",
    "tan": "tan({0})",
    "erf": "erf({0})",
    "erfc": "erfc({0})",
    "normal_cdf": "normal_cdf({0})",
    "gelu": "{0} * normal_cdf({0})",
    "gelu_tanh": f"number(0.5) * {{0}} * (one + tanh(number({_SCALE!r}) * ({{0}} + number(0.044715) * "
    "({0} * {0} * {0}))))",
    "floor": "floor({0})",
    "ceil": "ceil({0})",
    "rint": "nearest({0})",
    "sign": "choose({0} > zero, one, choose({0} < zero, -one, choose({0} == zero, zero, {0})))",
    "elu": "choose({0} > zero, {0}, expm1(smaller({0}, zero)))",
    "relu6": "smaller(larger({0}, zero), number(6))",
    "hard_sigmoid": "smaller(larger({0} + number(3), zero), number(6)) / number(6)",
    "hard_silu": "{0} * (smaller(larger({0} + number(3), zero), number(6)) / number(6))",
    "hard_tanh": "smaller(larger({0}, -one), one)",
    "log_sigmoid": "-softplus(-{0})",
    "silu": "{0} * sigmoid({0})",
    "mish": "{0} * tanh(softplus({0}))",
    "tanh_shrink": "{0} - tanh({0})",
    "squareplus": "({0} + sqrt({0} * {0} + number(4))) / number(2)",
    "sigmoid_cross_entropy": "softplus({0}) - {0} * {1}",
    "not_zero": "choose({0} != zero, one, zero)",
    "divide_no_nan": "choose({1} == zero, zero, {0} / {1})",
    "multiply_no_nan": "choose({1} == zero, zero, {0} * {1})",
    "reciprocal_no_nan": "choose({0} == zero, zero, one / {0})",
    "xlogy": "choose({0} == zero, zero, {0} * log({1}))",
    "xlog1py": "choose({0} == zero, zero, {0} * log1p({1}))",
    "xdivy": "choose({0} == zero, zero, {0} / {1})",
    "is_nan": "{0} != {0}",
    "is_inf": "abs({0}) == infinity",
    "is_finite": "abs({0}) < infinity",
    "logical_xor": "{0} != {1}",
    "logical_not": "not {0}",
}
"""Ops that loops over arrays compute beside those above."""
_CALLED = re.compile(r"\b([a-z]\w*)\(")


def expression(line: Line, program: Program) -> str | None:
    """The expression of a line in a loop, None where no loop can compute it."""
    name = line.op.name
    found = EXPRESSIONS.get(name) or LOOPED.get(name)
    if found is not None:
        return found
    special = _SPECIAL.get(name)
    return special(line, program) if special is not None else None


def functions_in(text: str) -> frozenset[str]:
    """The elementary functions that an expression calls."""
    return FUNCTIONS.intersection(_CALLED.findall(text))


def _exponent(line: Line, program: Program) -> Any:
    """The exponent of a power if it is one number that is known, as the eager kernel would see it."""
    value: Any = program.constants.get(line.ins[1])
    known = isinstance(value, np.floating) and value.dtype == program.values[line.ins[0]].dtype
    return value if known and math.isfinite(float(value)) else None


def _product(exponent: Any) -> str | None:
    """A small whole power as products: the eager kernel multiplies too, in this order."""
    return {0: "one", 1: "{0}", 2: "{0} * {0}", 3: "{0} * {0} * {0}"}.get(
        int(exponent) if exponent == int(exponent) else -1
    )


def _pow(line: Line, program: Program) -> str:
    exponent = _exponent(line, program)
    return (None if exponent is None else _product(exponent)) or "power({0}, {1})"


def _power_slope(line: Line, program: Program) -> str:
    """Slopes of powers: a factor y·(y-1)·…, 0 in whole where the factor is 0, and a power smaller by the order."""
    order = line.params["order"]
    exponent = _exponent(line, program)
    if exponent is None:
        factor = " * ".join(["{1}", *(f"({{1}} - number({i}))" for i in range(1, order))])
        return f"choose({factor} == zero, zero, {factor} * power({{0}}, {{1}} - number({order})))"
    number = line.op.kernel(exponent.dtype.type(1), exponent, **line.params)  # the power of 1 leaves the factor
    if number == 0:
        return "zero"
    power = _product(exponent - order) or f"power({{0}}, number({float(exponent - order)!r}))"
    return f"number({float(number)!r}) * ({power})"


def _round(line: Line, program: Program) -> str | None:
    return "nearest({0})" if not line.params else None


def _leaky_relu(line: Line, program: Program) -> str | None:
    alpha = float(line.params["alpha"])
    return f"choose({{0}} > zero, {{0}}, number({alpha!r}) * {{0}})" if math.isfinite(alpha) else None


_SPECIAL = {"pow": _pow, "power_slope": _power_slope, "round": _round, "leaky_relu": _leaky_relu}
