"""Lines of generated Python: the NumPy expression of an op, and its comment.

An operator is written as an operator, and a NumPy function of few numbers by its name; any other kernel is bound in the
generated module and called by the op's name.  Either way the code runs the kernel of the eager op, which has a compiled
loop for a function of many numbers.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.kernels.base.elementwise import FEW

_OPERATORS = {
    operator.add: "{} + {}", operator.sub: "{} - {}", operator.mul: "{} * {}", operator.truediv: "{} / {}",
    operator.neg: "-{}", operator.pow: "{} ** {}", operator.lt: "{} < {}", operator.le: "{} <= {}",
    operator.gt: "{} > {}", operator.ge: "{} >= {}", operator.eq: "{} == {}", operator.ne: "{} != {}",
    operator.mod: "{} % {}", operator.floordiv: "{} // {}",
}  # fmt: skip
_PLAIN = (int, float, str, bool, type(None))


RECURRENCE = "recurrence"
"""The op of a line that stands for a whole loop."""


def call(line: Line, names: dict[int, str], bound: dict[str, Any], program: Program | None = None) -> str:
    """Return the expression of a line; kernels and parameters without a literal are put into `bound`.

    With its program the code is as quick as dtypes and shapes allow; without it, it is only read.
    """
    args = [names[i] for i in line.ins]
    kernel = line.op.kernel
    given = [program.values[i] for i in line.ins] if program is not None else []
    if line.op.name == "transpose" and line.params == {"perm": (-1, -2)} and given and len(given[0].shape) == 2:
        return f"{args[0]}.T"  # a view, as from the kernel, in a tenth of the time
    infix = _OPERATORS.get(kernel)
    if infix is not None and not line.params:
        return infix.format(*args)
    known = getattr(kernel, "reference", kernel)  # NumPy's function is what a reader knows
    many = kernel is not known and any(math.prod(value.shape) >= FEW for value in given)
    if isinstance(known, np.ufunc) and getattr(np, known.__name__, None) is known and not many:
        function = f"np.{known.__name__}"
    else:
        function = _bind(bound, f"{line.op.name}_", kernel)
    params = [f"{key}={_literal(value, bound)}" for key, value in line.params.items()]
    return f"{function}({', '.join([*args, *params])})"


def _bind(bound: dict[str, Any], name: str, value: Any) -> str:
    wish, count = name, 1
    while name in bound and bound[name] is not value:
        count += 1
        name = f"{wish}{count}"
    bound[name] = value
    return name


def _literal(value: Any, bound: dict[str, Any]) -> str:
    if _plain(value):
        return repr(value)
    return _bind(bound, "parameter", value)


def _plain(value: Any) -> bool:
    """Return whether the repr of a value is Python that evaluates to it."""
    if value.__class__ in (tuple, list):
        return all(map(_plain, value))
    return value.__class__ in _PLAIN and (value.__class__ is not float or math.isfinite(value))


def comment(line: Line, program: Program, names: dict[int, str]) -> str:
    """Return what an op does, in the words of the stepper, or the derivative that it belongs to."""
    if line.cause is not None:
        made = program.made_by.get(line.cause)
        if made is None or made.op.name == RECURRENCE:
            return "of a derivative"
        name = names.get(line.cause)  # none if a loop computes it and keeps it to itself
        return f"rule of {made.op.name}" + (f", for {name}" if name is not None else "")
    if not line.op.sentence:
        return line.op.name
    shown = [names[i] if i in names and names[i].isidentifier() else "a constant" for i in line.ins]
    try:
        return line.op.sentence.format(*shown)
    except (IndexError, KeyError):
        return line.op.name


class OtherValueError(Exception):
    """A value differs from the one that a program was compiled for."""


STATIC = frozenset({
    "sum", "mean", "max", "min", "any", "all", "matmul", "transpose", "reshape", "broadcast_to", "slice", "unslice",
    "slice_axis", "pad_axis", "take", "accumulate_parts",
    "softmax", "log_softmax", "softmax_cross_entropy", "stack",
    "sparse_softmax_cross_entropy", "softmax_minus_label", "softmax_grad", "log_softmax_grad",
    "softmax_cross_entropy_grad", "sparse_softmax_cross_entropy_grad", "concat", "gather", "scatter_axis",
    "where", "select", "select_not", "clip", "cast", "cast_to_discrete", "identity", "stop_gradient", "power_grad",
    "logsumexp", "logsumexp_shares", "roll", "repeat", "reverse", "tile", "pad", "cumsum", "cumprod", "gather_nd",
    "cumulative_logsumexp", "running_top",
    "scatter_nd", "band_part", "diag", "diag_part", "cholesky", "cholesky_grad", "inv", "solve", "triangular_solve",
    "det", "det_sign", "det_log", "lu_factors", "one_hot", "argmax", "argmin", "max_pool", "diagonals", "extreme_grad",
    "standardize", "standardize_grad", "normalize", "normalize_grad", "moments", "tensor_scatter_nd_add",
    "tensor_scatter_nd_sub", "tensor_scatter_nd_update", "argsort", "marked_classes",
    "put_along", "take_along", "top_positions", "ctc_loss", "softmax_minus_occupancy", "expect",
    "segment_sum", "segment_max", "segment_min", "cross", "l2_loss", "tridiagonal_solve",
    "expm", "expm_frechet",
})  # fmt: skip
"""Ops, beside the elementwise ones, whose result shape follows from the shapes of the inputs."""
SIZED_BY_VALUES = frozenset({"where_true", "unique", "unique_counts", "unique_numbers"})
"""Ops whose result has a shape that depends on the values of the inputs."""
JUDGING = frozenset({
    "expect", *SIZED_BY_VALUES,
    "gather", "gather_nd", "take", "take_along", "scatter_nd", "tensor_scatter_nd_add", "tensor_scatter_nd_sub",
    "tensor_scatter_nd_max", "tensor_scatter_nd_min", "tensor_scatter_nd_update", "segment_sum", "segment_max",
    "segment_min", "invert_permutation", "floordiv", "floormod", "truncatediv", "truncatemod",
    "cholesky", "cholesky_solve", "inv", "solve", "triangular_solve", "eig", "eigh", "svd", "lu", "logm", "sqrtm",
    "sylvester",
})  # fmt: skip
"""Ops whose input values decide on a shape or an error, so that they run even if nothing uses their results."""


def has_static_shape(line: Line) -> bool:
    """Return whether the result shape is independent of values."""
    return line.op.elementwise or line.op.name in STATIC
