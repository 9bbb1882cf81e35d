"""Scalar expressions of elementwise ops: what a fused loop computes for one element.

`{0}`, `{1}` are the inputs.  The names are those of `vector_maths`.  An op that is not listed is not fused: its line
runs with NumPy.  Arithmetic gives the bits of the eager op; the functions differ from NumPy's by the ulp measured.
"""

from __future__ import annotations

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
    "clip": "smaller(larger({0}, {1}), {2})",
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
FUNCTIONS = frozenset({"exp", "expm1", "log", "log1p", "sin", "cos", "tanh", "sigmoid", "softplus"})
"""Names that stand for other code in float32 and in float64."""
ANGLES = frozenset({"sin", "cos"})
"""Ops whose argument must not be too far out."""
WHOLE_POWERS = {1: "{0}", 2: "{0} * {0}"}
"""Constant exponents for which NumPy multiplies too, so that the bits agree."""
