"""Mathematics: ``lab.math``."""

from autodiff_lab.engine.primitives import add
from autodiff_lab.ops.array.gathering import argmax, argmin
from autodiff_lab.ops.math.arithmetic import (
    abs,
    add_n,
    divide,
    floordiv,
    floormod,
    maximum,
    minimum,
    multiply,
    negative,
    pow,
    reciprocal,
    sign,
    sqrt,
    square,
    subtract,
)
from autodiff_lab.ops.math.comparison import (
    ceil,
    equal,
    floor,
    greater,
    greater_equal,
    is_finite,
    is_inf,
    is_nan,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    not_equal,
    round,
)
from autodiff_lab.ops.math.exponential import exp, expm1, log, log1p, rsqrt
from autodiff_lab.ops.math.reductions import reduce_all, reduce_any, reduce_max, reduce_mean, reduce_min, reduce_sum
from autodiff_lab.ops.math.trigonometric import acos, acosh, asin, asinh, atan, atanh, cos, cosh, sin, sinh, tan, tanh
from autodiff_lab.ops.nn.activations import log_softmax, sigmoid, softmax, softplus

__all__ = [
    "abs", "acos", "acosh", "add", "add_n", "argmax", "argmin", "asin", "asinh", "atan", "atanh", "ceil", "cos",
    "cosh", "divide", "equal", "exp", "expm1", "floor", "floordiv", "floormod", "greater", "greater_equal",
    "is_finite", "is_inf", "is_nan", "less", "less_equal", "log", "log1p", "log_softmax", "logical_and", "logical_not",
    "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative", "not_equal", "pow", "reciprocal",
    "reduce_all", "reduce_any", "reduce_max", "reduce_mean", "reduce_min", "reduce_sum", "round", "rsqrt", "sigmoid",
    "sign", "sin", "sinh", "softmax", "softplus", "sqrt", "square", "subtract", "tan", "tanh",
]
