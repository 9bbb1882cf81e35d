"""Cumulative sums, products and log-sum-exps along an axis.

What comes later in the axis depends on all that came before, so adjoints run the other way: the rule of a cumulative
sum is a cumulative sum from the other end, and those of the other two are first-order recurrences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert, handed
from autodiff_lab.engine.shape import flag
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import DtypeMismatch, NotOneTensor
from autodiff_lab.kernels.base.choose import chosen
from autodiff_lab.kernels.scans import reference
from autodiff_lab.ops.checks import axis_from_end, floats
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.math.reductions import unless_few

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import IntsLike, TensorLike


_FEW = 128
"""Elements below which NumPy adds up as quickly as a kernel is chosen."""


def _moved(ops: Any, x: Any, axis: int, back: bool) -> Any:
    """Return the values shifted by one along the axis, forward or back, with a zero at the free end."""
    n = x.shape[axis]
    if back:
        return ops.pad_axis(ops.slice_axis(x, axis=axis, start=1, stop=n), axis=axis, before=0, after=1)
    return ops.pad_axis(ops.slice_axis(x, axis=axis, start=0, stop=n - 1), axis=axis, before=1, after=0)


def _recurrence_rule_b(ops: Any, g: Any, out: Any, b: Any, a: Any, axis: int, reverse: bool) -> Any:
    return ops.recurrence(g, _moved(ops, a, axis, not reverse), axis=axis, reverse=not reverse) if g.shape[axis] else g


def _recurrence_rule_a(ops: Any, g: Any, out: Any, b: Any, a: Any, axis: int, reverse: bool) -> Any:
    if not g.shape[axis]:
        return g
    return _recurrence_rule_b(ops, g, out, b, a, axis, reverse) * _moved(ops, out, axis, reverse)


recurrence = general(
    "recurrence", chosen("recurrence", reference.recurrence), _recurrence_rule_b,
    _recurrence_rule_a, symbol="h=b+ah", latex=r"h_i = {0}_i + {1}_i h_{{i-1}}",
    locals_latex=(r"\operatorname{{recur}}_{{\leftarrow}}", r"h_{{i-1}} \operatorname{{recur}}_{{\leftarrow}}"),
    sentence="adds to each of {0} the last result times {1}",
    doc="A first-order linear recurrence along a negative axis; the rule of `lab.math.cumprod` uses it.")


def _sum_rule(ops: Any, g: Any, out: Any, x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    return ops.cumsum(g, axis=axis, exclusive=exclusive, reverse=not reverse)


def _product_rule(ops: Any, g: Any, out: Any, x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    """Return the product of what came before, times the sum of g over products of what came between.

    TensorFlow divides by x instead, which is nan at 0.
    """
    if not x.shape[axis]:
        return g
    before = ops.cumprod(x, axis=axis, exclusive=True, reverse=reverse)
    if exclusive:
        after = _moved(ops, ops.recurrence(g, x, axis=axis, reverse=not reverse), axis, not reverse)
    else:
        after = ops.recurrence(g, _moved(ops, x, axis, not reverse), axis=axis, reverse=not reverse)
    return before * after


scan_sum = general(
    "cumsum", unless_few(_FEW, "cumsum", reference.cumsum), _sum_rule, symbol="Σ→",
    latex=r"\textstyle\sum_{{\le i}} {0}", locals_latex=(r"\textstyle\sum_{{\ge i}}",),
    sentence="adds up the elements of {0} one after the other",
    keeps="nothing", registered="Cumsum", doc="The kernel-level cumulative sum; `lab.cumsum` is the public function.")
scan_product = general(
    "cumprod", chosen("cumprod", reference.cumprod), _product_rule, symbol="Π→",
    latex=r"\textstyle\prod_{{\le i}} {0}", locals_latex=(r"\textstyle\sum_{{\ge i}} \prod_{{\ne i}} {0}",),
    sentence="multiplies the elements of {0} one after the other", keeps="inputs", registered="Cumprod",
    doc="The kernel-level cumulative product; `lab.math.cumprod` is the public function.")

cumulative_max = general(
    "running_top", reference.cumulative_max, None,
    symbol="max→", latex=r"\max_{{\le i}} {0}", sentence="takes the largest element of {0} so far",
    doc="The cumulative maximum, clipped to the range of finite numbers; the rule of `cumulative_logsumexp` uses it.")


def _logsumexp_rule(ops: Any, g: Any, out: Any, x: Any, axis: int, reverse: bool) -> Any:
    """Σ g·e^(x - y) over each y after x, with e^y as e^m·s: the cumulative maximum m, and a sum s from 1 to n.

    Differences of results y would not do: those of large numbers are rounded, at 1e8 by more than ln 2.  Nor would one
    maximum for all, as what lies far below it at first vanishes beside it.  The derivative does not depend on m, which
    is held still.
    """
    n = x.shape[axis]
    if not n:
        return g
    dtype = x.dtype.name
    half = dtype in ("float16", "bfloat16")
    wide, wide_g = (ops.cast(v, dtype="float32") if half else v for v in (x, g))
    top = ops.running_top(wide, axis=axis, reverse=reverse)
    head, tail = (ops.slice_axis(top, axis=axis, start=k, stop=n - 1 + k) for k in (0, 1))
    step = ops.exp(tail - head if reverse else head - tail)  # by what the sums before are made smaller: never above 1
    before, after = (ops.pad_axis(step, axis=axis, before=k, after=1 - k) for k in (int(not reverse), int(reverse)))
    each = ops.exp(wide - top)
    sums = ops.recurrence(each, before, axis=axis, reverse=reverse)
    found = each * ops.recurrence(ops.divide_no_nan(wide_g, sums), after, axis=axis, reverse=not reverse)
    return ops.cast(found, dtype=dtype) if half else found


scan_logsumexp = general(
    "cumulative_logsumexp",
    chosen("cumulative_logsumexp", reference.cumulative_logsumexp), _logsumexp_rule,
    symbol="ln Σ e→", keeps="inputs",
    latex=r"\ln \textstyle\sum_{{\le i}} e^{{{0}}}", locals_latex=(r"\textstyle\sum_{{j \ge i}} e^{{{0}_i - y_j}}",),
    sentence="takes ln Σ e^x over the elements of {0} so far", registered="CumulativeLogsumexp",
    doc="The kernel-level cumulative log-sum-exp; `lab.math.cumulative_logsumexp` is the public function.")


def _numbers(value: Any, what: str) -> Tensor:
    x = convert(value)
    if x._held.dtype.kind in "bO":
        raise DtypeMismatch(f"{what}: expected numbers, got {x.dtype.name}. Try lab.cast(x, lab.int32).")
    return x


def cumsum(x: TensorLike, axis: IntsLike = 0, exclusive: bool = False, reverse: bool = False,
           name: str | None = None) -> Tensor:
    try:
        x = _numbers(x, "cumsum")
    except NotOneTensor as met:
        return named(handed(met, cumsum, (x,), axis=axis, exclusive=exclusive, reverse=reverse), name)
    at = axis_from_end(axis, x._held.ndim, "cumsum")
    exclusive = exclusive if exclusive.__class__ is bool else flag(exclusive, "cumsum: exclusive")
    reverse = reverse if reverse.__class__ is bool else flag(reverse, "cumsum: reverse")
    return scan_sum(x, axis=at, exclusive=exclusive, reverse=reverse, name=name)


def cumprod(x: TensorLike, axis: IntsLike = 0, exclusive: bool = False, reverse: bool = False,
            name: str | None = None) -> Tensor:
    x = _numbers(x, "cumprod")
    at = axis_from_end(axis, x._held.ndim, "cumprod")
    return scan_product(x, axis=at, exclusive=flag(exclusive, "cumprod: exclusive"),
                        reverse=flag(reverse, "cumprod: reverse"), name=name)


def cumulative_logsumexp(x: TensorLike, axis: IntsLike = 0, exclusive: bool = False, reverse: bool = False,
                         name: str | None = None) -> Tensor:
    from autodiff_lab.ops.array.creation import fill
    from autodiff_lab.ops.array.joining import concat, slice_axis
    x = floats(x, "cumulative_logsumexp", False)
    at = axis_from_end(axis, x._held.ndim, "cumulative_logsumexp")
    n = x._held.shape[at]
    total = scan_logsumexp(x, axis=at, reverse=flag(reverse, "cumulative_logsumexp: reverse"))
    if not flag(exclusive, "cumulative_logsumexp: exclusive") or not n:
        return named(total, name)
    edge = list(x._held.shape)
    edge[at] = 1
    nothing = fill(edge, x._held.dtype.type("-inf"))
    if reverse:
        return named(concat([slice_axis(total, axis=at, start=1, stop=n), nothing], at), name)
    return named(concat([nothing, slice_axis(total, axis=at, start=0, stop=n - 1)], at), name)


_MORE = "`exclusive` leaves the element itself out, `reverse` starts from the other end."
document((
    (cumsum, "Cumulative sum along an axis.", "any number", "1 for what came before: a cumulative sum from the other "
                                                            "end",
     ">>> print(lab.cumsum([1, 2, 3]), lab.cumsum([1, 2, 3], exclusive=True, reverse=True))\n"
     "Tensor([1 3 6], shape=(3,), dtype=int32) Tensor([5 3 0], shape=(3,), dtype=int32)"),
    (cumprod, "Cumulative product along an axis.", "any number",
     "products of the other elements, right at 0 too, where TensorFlow gives nan",
     ">>> print(lab.math.cumprod([1.0, 2.0, 3.0]))\nTensor([1. 2. 6.], shape=(3,), dtype=float32)"),
    (cumulative_logsumexp, "Cumulative ln Σ e^x along an axis, without overflow; -inf for an empty sum.",
     "floating", "e^(x - y) for each y after x",
     ">>> print(lab.math.cumulative_logsumexp([0.0, 0.0]))\nTensor([0.        0.6931472], shape=(2,), dtype=float32)"),
), columns="summary dtypes derivative example", shapes="x (*s) -> (*s)", raises=("argument", "convert"), notes=_MORE)
