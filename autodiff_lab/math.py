"""Mathematics: ``lab.math``."""

from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.primitives import add
from autodiff_lab.ops.array.gathering import argmax, argmin
from autodiff_lab.ops.array.selection import top_k
from autodiff_lab.ops.catalogue import from_extras
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
from autodiff_lab.ops.math.complex_numbers import angle, conj, imag, real
from autodiff_lab.ops.math.counting import (
    bincount,
    confusion_matrix,
    in_top_k,
    invert_permutation,
    is_non_decreasing,
    is_strictly_increasing,
)
from autodiff_lab.ops.math.cumulative import cumprod, cumsum, cumulative_logsumexp
from autodiff_lab.ops.math.elementary import (
    accumulate_n,
    atan2,
    mod,
    nextafter,
    polyval,
    rint,
    scalar_mul,
    softsign,
    squared_difference,
    truediv,
)
from autodiff_lab.ops.math.exponential import exp, expm1, log, log1p, rsqrt
from autodiff_lab.ops.math.gamma import betainc, digamma, igamma, igammac, lbeta, lgamma, polygamma, zeta
from autodiff_lab.ops.math.guarded import divide_no_nan, multiply_no_nan, reciprocal_no_nan, xdivy, xlog1py, xlogy
from autodiff_lab.ops.math.normal import erf, erfc, erfcinv, erfinv, ndtri
from autodiff_lab.ops.math.reductions import (
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
)
from autodiff_lab.ops.math.segments import (
    segment_max,
    segment_mean,
    segment_min,
    segment_prod,
    segment_sum,
    unsorted_segment_max,
    unsorted_segment_mean,
    unsorted_segment_min,
    unsorted_segment_prod,
    unsorted_segment_sqrt_n,
    unsorted_segment_sum,
)
from autodiff_lab.ops.math.statistics import (
    count_nonzero,
    l2_normalize,
    reduce_euclidean_norm,
    reduce_logsumexp,
    reduce_std,
    reduce_variance,
    zero_fraction,
)
from autodiff_lab.ops.math.trigonometric import acos, acosh, asin, asinh, atan, atanh, cos, cosh, sin, sinh, tan, tanh
from autodiff_lab.ops.nn.activations import log_softmax, sigmoid, softmax, softplus
from autodiff_lab.ops.nn.smooth_activations import log_sigmoid

if TYPE_CHECKING:
    from autodiff_lab.extras.families import special
    from autodiff_lab.extras.families.special import bessel_i0, bessel_i0e, bessel_i1, bessel_i1e

_EXTRAS = {
    "special": "families.special",
    "bessel_i0": "families.special",
    "bessel_i0e": "families.special",
    "bessel_i1": "families.special",
    "bessel_i1e": "families.special",
}

__all__ = [
    "abs",
    "accumulate_n",
    "acos",
    "acosh",
    "add",
    "add_n",
    "angle",
    "argmax",
    "argmin",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bessel_i0",
    "bessel_i0e",
    "bessel_i1",
    "bessel_i1e",
    "betainc",
    "bincount",
    "ceil",
    "confusion_matrix",
    "conj",
    "cos",
    "cosh",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "cumulative_logsumexp",
    "digamma",
    "divide",
    "divide_no_nan",
    "equal",
    "erf",
    "erfc",
    "erfcinv",
    "erfinv",
    "exp",
    "expm1",
    "floor",
    "floordiv",
    "floormod",
    "greater",
    "greater_equal",
    "igamma",
    "igammac",
    "imag",
    "in_top_k",
    "invert_permutation",
    "is_finite",
    "is_inf",
    "is_nan",
    "is_non_decreasing",
    "is_strictly_increasing",
    "l2_normalize",
    "lbeta",
    "less",
    "less_equal",
    "lgamma",
    "log",
    "log1p",
    "log_sigmoid",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "multiply_no_nan",
    "ndtri",
    "negative",
    "nextafter",
    "not_equal",
    "polygamma",
    "polyval",
    "pow",
    "real",
    "reciprocal",
    "reciprocal_no_nan",
    "reduce_all",
    "reduce_any",
    "reduce_euclidean_norm",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_std",
    "reduce_sum",
    "reduce_variance",
    "rint",
    "round",
    "rsqrt",
    "scalar_mul",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "softmax",
    "softplus",
    "softsign",
    "special",
    "sqrt",
    "square",
    "squared_difference",
    "subtract",
    "tan",
    "tanh",
    "top_k",
    "truediv",
    "unsorted_segment_max",
    "unsorted_segment_mean",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sqrt_n",
    "unsorted_segment_sum",
    "xdivy",
    "xlog1py",
    "xlogy",
    "zero_fraction",
    "zeta",
]


__path__: list[str] = []  # no modules inside, but `imports` can answer for names of other packages

if not TYPE_CHECKING:  # a checker sees the names above, and reports others

    def __getattr__(name: str) -> Any:
        """Load what `autodiff_lab.extras` holds when it is first asked for."""
        found = globals()[name] = from_extras(__name__, _EXTRAS, name)
        return found
