"""Elementwise functions beside the operators: angles of points, differences squared, truncated division, neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import binary, general, of_features, unary
from autodiff_lab.engine.convert import convert, convert_pair, handed
from autodiff_lab.engine.dtypes import as_dtype, public
from autodiff_lab.engine.nest import slices
from autodiff_lab.engine.op import REALS, Domain
from autodiff_lab.engine.shape import TensorShape, listed
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, NotOneTensor, ShapeMismatch
from autodiff_lab.kernels.base.columns import difference
from autodiff_lab.kernels.base.elementwise import Chain, in_one_pass
from autodiff_lab.kernels.base.halves import in_float32
from autodiff_lab.kernels.checks import real_only
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.creation import zeros_like
from autodiff_lab.ops.checks import dtypes_unequal
from autodiff_lab.ops.docs import doc, of_one, of_two
from autodiff_lab.ops.math.arithmetic import add_n, checked_quotient, divide, floormod, multiply, zero_rule
from autodiff_lab.ops.math.complex_numbers import is_complex
from autodiff_lab.ops.structured import elementwise, structured

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, ShapeLike, TensorLike

_FLOATS = "floating, both the same"

angle_of_point = binary(
    "atan2", np.arctan2,
    lambda ops, g, out, y, x: g * (x / (x * x + y * y)),
    lambda ops, g, out, y, x: -(g * (y / (x * x + y * y))),
    symbol="atan2", latex=r"\operatorname{{atan2}}({0}, {1})",
    locals_latex=(r"\frac{{{1}}}{{{1}^2 + {0}^2}}", r"-\frac{{{0}}}{{{1}^2 + {0}^2}}"),
    sentence="takes the angle of the point with height {0} and width {1}",
    domain=(REALS, Domain(low=0.0)), keeps="inputs", registered="Atan2", expression="atan2({0}, {1})",
    doc="The kernel-level angle; `lab.atan2` is the public function.")


def atan2(y: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    return angle_of_point(y, x, name=name)


atan2.op = angle_of_point.op  # type: ignore[attr-defined]
atan2.__doc__ = of_two(
    "Angle of the point (x, y) in radians, between -π and π; the first argument is y.",
    "x/(x² + y²) for y, -y/(x² + y²) for x; nan at the origin, as in TensorFlow", """
>>> print(lab.atan2(1.0, 0.0))
Tensor(1.5707964, shape=(), dtype=float32)""", domain="all points but the origin", dtypes=_FLOATS)


def _squared_difference(x: Any, y: Any) -> Any:
    away = difference(x, y)
    return np.square(away) if away.itemsize < 8 or away.dtype.kind != "c" else away * np.conj(away)


def _difference_rule(ops: Any, g: Any, x: Any, y: Any) -> Any:
    """Return the contribution of x; for complex numbers |x - y|² is real, so only the real part of g is passed on."""
    if is_complex(x):
        return ops.conj(2 * (x - y)) * ops.widen(ops.real_part(g))
    return g * (2 * difference(x, y))


squared_difference = binary(
    "squared_difference", _squared_difference,
    lambda ops, g, out, x, y: _difference_rule(ops, g, x, y), lambda ops, g, out, x, y: _difference_rule(ops, g, y, x),
    symbol="(x−y)²", latex=r"\left({0} - {1}\right)^2", locals_latex=(r"2 ({0} - {1})", r"-2 ({0} - {1})"),
    sentence="squares the difference of {0} and {1}", keeps="inputs", registered="SquaredDifference",
    expression="({0} - {1}) * ({0} - {1})",
    doc=of_two("The square of x - y, elementwise; of complex numbers |x - y|², in their dtype.",
               "2(x - y) for x, -2(x - y) for y", """
>>> print(lab.math.squared_difference([1.0, 4.0], 2.0))
Tensor([1. 4.], shape=(2,), dtype=float32)"""))

softsign = of_features(unary(
    "softsign", in_float32(lambda x: x / (1 + np.abs(real_only("softsign", x)))),
    lambda ops, g, out, x: g / ops.square(1 + ops.abs(x)),  # of the input: 1 - |out| cancels where |x| is large
    symbol="softsign", latex=r"\frac{{{0}}}{{1 + |{0}|}}", locals_latex=(r"\frac{{1}}{{(1 + |{0}|)^2}}",),
    sentence="squashes {0} between -1 and 1", domain=(Domain(away_from=(0.0,)),), keeps="inputs",
    registered="Softsign",
    expression="{0} / (one + abs({0}))",
    doc=of_one("x / (1 + |x|), elementwise.", "1/(1 + |x|)²", """
>>> print(lab.math.softsign([-1.0, 3.0]))
Tensor([-0.5   0.75], shape=(2,), dtype=float32)""")))

rint = unary(
    "rint", np.rint, None, symbol="rint", latex=r"\operatorname{{rint}} {0}",
    sentence="rounds {0} to the nearest integer", registered="Rint",
    expression="nearest({0})",
    doc=of_one("The nearest integer, ties to even.", "none: a step function, gradients stop here", """
>>> print(lab.math.rint([0.5, 1.5, -2.7]))
Tensor([ 0.  2. -3.], shape=(3,), dtype=float32)"""))

next_to = general(
    "nextafter", np.nextafter, lambda ops, g, out, x, y: g, None,
    symbol="next", latex=r"\operatorname{{next}}({0}, {1})", locals_latex=("1", ""),
    sentence="takes the number next to {0} on the way to {1}", keeps="nothing", registered="NextAfter",
    doc="The kernel-level nextafter; `lab.math.nextafter` is the public function.")


@structured(2, by_element=True)
def nextafter(x1: TensorLike, x2: TensorLike, name: str | None = None) -> Tensor:
    x, y = convert_pair(next_to.op, x1, x2)  # type: ignore[attr-defined]
    if x._held.dtype != y._held.dtype or not x.dtype.is_floating:
        raise DtypeMismatch(f"nextafter: expected floating-point tensors of one dtype, got {x.dtype.name} and "
                            f"{y.dtype.name}. Try lab.cast.")
    return next_to(x, y, name=name)


def _truncated(x: Any, y: Any) -> Any:
    if x.dtype.kind in "iu":
        return np.where(y == 0, x.dtype.type(0), (x - np.fmod(x, np.where(y == 0, x.dtype.type(1), y))) // y)[()]
    return np.trunc(x / y)


truncatediv = binary(
    "truncatediv", checked_quotient("truncatediv", _truncated), None, None, symbol="÷",
    latex=r"\operatorname{{trunc}}({0} / {1})",
    sentence="divides {0} by {1} and drops the fractional part", registered="TruncateDiv",
    doc=of_two("Quotient rounded towards zero, elementwise.", "none: a step function", """
>>> print(lab.truncatediv(-7, 2))
Tensor(-3, shape=(), dtype=int32)"""))

truncatemod = binary(
    "truncatemod", checked_quotient("truncatemod", np.fmod),
    lambda ops, g, out, x, y: g,
    lambda ops, g, out, x, y: -(g * ops.truncated_quotient(x, y)),
    symbol="rem", latex=r"{0} \operatorname{{rem}} {1}", locals_latex=("1", r"-\operatorname{{trunc}}({0} / {1})"),
    sentence="takes the remainder of {0} by {1}, with the sign of {0}", domain=(REALS, Domain(low=2.5)),
    keeps="inputs", registered="TruncateMod",
    doc=of_two("Remainder with the sign of x, elementwise.", "1 for x; minus the truncated quotient for y", """
>>> print(lab.truncatemod([5.0, -5.0], 3.0))
Tensor([ 2. -2.], shape=(2,), dtype=float32)""", domain="y ≠ 0"))

truncated_quotient = binary(
    "truncated_quotient", lambda x, y: np.trunc(x / y), zero_rule, zero_rule, steps=True, symbol="trunc",
    latex=r"\operatorname{{trunc}}({0} / {1})", locals_latex=("0", "0"),
    sentence="divides {0} by {1} and drops the fractional part",
    domain=(REALS, Domain(low=2.5)), keeps="nothing",
    doc=of_two("Truncated quotient with a derivative of 0; the rule of `truncatemod` uses it.", "0", """
>>> print(lab.ops.math.elementary.truncated_quotient(-7.0, 2.0))
Tensor(-3.0, shape=(), dtype=float32)"""))


def _clip_rule(ops: Any, g: Any, out: Any, x: Any, low: Any, high: Any) -> Any:
    return ops.gate(g, ops.not_below(x, low) * ops.not_below(high, x))


_clip = in_one_pass(
    "clip", lambda x, low, high: np.maximum(np.minimum(x, high), low),
    lambda: Chain(("r = larger(smaller(v0, v2), v1)",), "r"), 3)
clip = general(
    "clip", _clip, _clip_rule,
    lambda ops, g, out, x, low, high: ops.gate(g, ops.below(ops.minimum(x, high), low)),
    lambda ops, g, out, x, low, high: ops.gate(g, ops.below(high, x) * ops.not_below(high, low)),
    warns=False, symbol="clip", latex=r"\operatorname{{clip}}({0}, {1}, {2})",
    locals_latex=(r"[{1} \le {0} \le {2}]", "[{0} < {1}]", "[{0} > {2}]"),
    sentence="keeps {0} between {1} and {2}", keeps="inputs", registered="ClipByValue",
    expression="larger(smaller({0}, {2}), {1})",
    doc="The kernel-level clip; `lab.clip_by_value` is the public function.")


@elementwise
def clip_by_value(t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike,
                  name: str | None = None) -> Any:
    if slices(t):
        from autodiff_lab.ops.math.clipping import without_repeats

        rows = without_repeats(t)
        return named(rows.with_values(clip_by_value(rows.values, clip_value_min, clip_value_max)), name)
    try:
        x = convert(t)
    except NotOneTensor as met:
        return named(handed(met, clip_by_value, (t, clip_value_min, clip_value_max)), name)
    low, high = convert(clip_value_min, x), convert(clip_value_max, x)
    if not low._held.dtype == high._held.dtype == x._held.dtype:
        raise dtypes_unequal("clip_by_value", t=x, bound=high if low._held.dtype == x._held.dtype else low)
    return clip(x, low, high, name=name)


clip_by_value.__doc__ = doc(
    "x, no less than the one bound and no more than the other; where they cross, the lower one wins.",
    shapes="t (*s), bounds that broadcast to s -> (*s)", dtypes="any number, all the same",
    derivative="1 for x from bound to bound, both included, 0 beyond; 1 for a bound where it is taken",
    raises=("shape", "dtypes", "convert"),
    example=">>> print(lab.clip_by_value([-3.0, 0.5, 3.0], -1.0, 1.0))\n"
            "Tensor([-1.   0.5  1. ], shape=(3,), dtype=float32)")


def scalar_mul(scalar: TensorLike, x: TensorLike, name: str | None = None) -> Any:
    if slices(x):
        return named(x.with_values(scalar_mul(scalar, x.values)), name)
    try:
        factor, x = convert_pair(multiply.op, scalar, x)  # type: ignore[attr-defined]
    except NotOneTensor as met:
        return named(handed(met, multiply.op, (scalar, x)), name)  # type: ignore[attr-defined]
    if factor._held.ndim:
        raise ShapeMismatch(f"scalar_mul: expected a scalar of rank 0, got shape {factor._held.shape}. "
                            "Try lab.multiply.")
    return multiply(factor, x, name=name)


def truediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    return divide(x, y, name=name)


def realdiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    return divide(x, y, name=name)


def mod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    return floormod(x, y, name=name)


for _function, _words, _derivative, _domain, _example in (
    (nextafter, "The nearest representable number to x1 in the direction of x2.", "1 for x1, none for x2",
     "all real numbers", ">>> bool(lab.math.nextafter(1.0, 2.0) > 1.0)\nTrue"),
    (scalar_mul, "A single number times a tensor.", "x summed for the number, the number for x", "all real numbers",
     ">>> print(lab.scalar_mul(2.0, [1.0, 3.0]))\nTensor([2. 6.], shape=(2,), dtype=float32)"),
    (truediv, "Quotient of two tensors. The same as `divide`.", "1/y for x, -x/y² for y",
     "y ≠ 0", ">>> print(lab.truediv(3, 2))\nTensor(1.5, shape=(), dtype=float64)"),
    (realdiv, "Quotient of two tensors. The same as `divide`.", "1/y for x, -x/y² for y",
     "y ≠ 0", ">>> print(lab.realdiv(3.0, 2.0))\nTensor(1.5, shape=(), dtype=float32)"),
    (mod, "Remainder with the sign of y. The same as `floormod`.", "1 for x; minus the floored quotient for y",
     "y ≠ 0", ">>> print(lab.math.mod([5.0, -1.0], 3.0))\nTensor([2. 2.], shape=(2,), dtype=float32)"),
):
    _function.__doc__ = of_two(_words, _derivative, _example, _domain)


def polyval(coeffs: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    if isinstance(coeffs, Tensor) or not isinstance(coeffs, (list, tuple)):
        raise InvalidArgumentError("polyval: coeffs must be a list of coefficients, the one of the highest power "
                                   "first.")
    x = convert(x)
    if not coeffs:
        return named(zeros_like(x), name)
    value = convert(coeffs[0], x)
    for coefficient in coeffs[1:]:
        value = value * x + convert(coefficient, x)
    return named(value, name)


polyval.__doc__ = doc(
    "A polynomial by Horner's scheme; the coefficient of the highest power comes first.",
    shapes="coeffs, a list of tensors that broadcast, x (*s) -> (*s)", dtypes="any number, all the same",
    derivative="that of the products and sums it is made of", raises=("shape", "argument", "dtypes", "convert"),
    example=">>> print(lab.math.polyval([1.0, 0.0, -1.0], 3.0))\nTensor(8.0, shape=(), dtype=float32)")


def accumulate_n(inputs: Sequence[TensorLike], shape: ShapeLike | None = None, tensor_dtype: DTypeLike | None = None,
                 name: str | None = None) -> Tensor:
    total = add_n([convert(x) for x in listed(inputs, "accumulate_n: inputs")])
    if tensor_dtype is not None and total.dtype != tensor_dtype:
        raise DtypeMismatch(f"accumulate_n: expected dtype {as_dtype(tensor_dtype).name}, got {total.dtype.name}. Try "
                            "lab.cast.")
    if shape is not None and not TensorShape(shape).is_compatible_with(total.shape):
        raise ShapeMismatch(f"accumulate_n: expected shape {shape}, got {tuple(total.shape)}.")
    return named(total, name)


accumulate_n.__doc__ = doc(
    "Sum of a list of tensors, checked against a shape and a dtype.", shapes="each (*s) -> (*s)",
    dtypes="any number, all the same", derivative="1 for each", raises=("shape", "argument", "dtypes"),
    example=">>> print(lab.math.accumulate_n([[1.0, 2.0], [3.0, 4.0]]))\nTensor([4. 6.], shape=(2,), dtype=float32)")


def saturate_cast(value: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    x, wanted = convert(value), as_dtype(dtype)
    have = x._held.dtype
    if not (wanted.is_integer or wanted.is_floating) or have.kind in "cOb":
        raise DtypeMismatch(f"saturate_cast: cannot cast {x.dtype.name} to {wanted.name}; both must be real. Try "
                            "lab.cast.")
    low, high = (_inside(bound, wanted.dtype, have) for bound in (wanted.min, wanted.max))
    return named(cast(clip(x, wrap(low), wrap(high)), wanted), name)


def _inside(bound: Any, wanted: np.dtype[Any], have: np.dtype[Any]) -> Any:
    """Return a bound of the target dtype in that of the tensor, within what both can hold."""
    own = public(have)
    if have.kind in "iu":
        return have.type(max(min(int(bound), int(own.max)), int(own.min)))
    near = have.type(max(min(float(bound), float(own.max)), float(own.min)))
    beyond = wanted.kind in "iu" and abs(int(near)) > abs(int(bound))
    return np.nextafter(near, have.type(0)) if beyond else near


saturate_cast.__doc__ = doc(
    "The same numbers in another dtype, with its lowest or highest number instead of those beyond.",
    shapes="value (*s) -> (*s)", dtypes="any real number to any",
    derivative="1 between floats, 0 beyond the range; gradients stop at integers", raises=("dtypes", "convert"),
    example=">>> print(lab.saturate_cast([-5.0, 300.0], lab.uint8))\nTensor([  0 255], shape=(2,), dtype=uint8)")
