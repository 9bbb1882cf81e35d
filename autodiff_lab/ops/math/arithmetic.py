"""Arithmetic: the operators, and what is made of them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import binary, general, unary
from autodiff_lab.engine.chains import FASTER
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.failure import kind_of
from autodiff_lab.engine.op import REALS, Domain
from autodiff_lab.engine.primitives import add
from autodiff_lab.engine.shape import listed
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.kernels.arrays import on_gpu
from autodiff_lab.kernels.base.columns import MANY, product
from autodiff_lab.kernels.base.halves import is_half
from autodiff_lab.kernels.checks import require
from autodiff_lab.ops.docs import of_one, of_two
from autodiff_lab.ops.math.complex_numbers import direction, is_complex, stretched, turned

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike

subtract = binary(
    "subtract", operator.sub,
    lambda ops, g, out, x, y: g,
    lambda ops, g, out, x, y: -g,
    symbol="−", latex="{0} - {1}", locals_latex=("1", "-1"), sentence="takes {1} from {0}",
    expression="{0} - {1}", keeps="nothing", registered="Sub", operator="sub",
    doc=of_two("Difference of two tensors.", "1 for x, -1 for y", """
>>> print(lab.subtract([5.0, 7.0], 2.0))
Tensor([3. 5.], shape=(2,), dtype=float32)"""))


def _product_by_columns(position: int) -> Any:
    """Return what a sweep over arrays calls instead of a rule of `multiply`."""
    return lambda ops, g, out, *inputs: product(g, inputs[1 - position])


multiply = binary(
    "multiply", operator.mul,
    lambda ops, g, out, x, y: g * y,
    lambda ops, g, out, x, y: g * x,
    symbol="×", latex=r"{0} \cdot {1}", locals_latex=("{1}", "{0}"), sentence="multiplies {0} by {1}",
    expression="{0} * {1}", keeps="other input", registered="Mul", operator="mul",
    doc=of_two("Product of two tensors, elementwise.", "y for x, x for y", """
>>> print(lab.multiply([1.0, 2.0], [3.0, 4.0]))
Tensor([3. 8.], shape=(2,), dtype=float32)"""))
for _position, _rule in enumerate(multiply.op.rules):  # type: ignore[attr-defined]
    FASTER[_rule] = _product_by_columns(_position)
    FASTER[_rule].fewest = MANY


def quotient(x: Any, y: Any) -> Any:
    """Divide; integers of 8 and 16 bits give float32, all others float64, as in TensorFlow."""
    if x.itemsize > 2 or x.dtype.kind not in "iu":  # the size is the quicker question
        return x / y
    return np.true_divide(x, y, dtype=np.float32) if not on_gpu(x) and not on_gpu(y) else (
        x.astype(np.float32) / y.astype(np.float32))


divide = binary(
    "divide", quotient,
    lambda ops, g, out, x, y: g / y,
    lambda ops, g, out, x, y: -(g * out) / y,
    symbol="÷", latex=r"\frac{{{0}}}{{{1}}}", locals_latex=(r"\frac{{1}}{{{1}}}", r"-\frac{{{0}}}{{{1}^2}}"),
    sentence="divides {0} by {1}", expression="{0} / {1}", domain=(REALS, Domain(away_from=(0.0,))),
    keeps="output and input 1",
    registered="RealDiv", operator="truediv", direct=operator.truediv,
    doc=of_two("Quotient of two tensors; integers give float64, those of 8 and 16 bits float32.",
               "1/y for x, -x/y² for y", """
>>> print(lab.divide([1.0, 3.0], 2.0))
Tensor([0.5 1.5], shape=(2,), dtype=float32)""", domain="y ≠ 0; elsewhere inf or nan, as IEEE 754 says"))

negative = unary(
    "negative", operator.neg, lambda ops, g, out, x: -g, floating=False,
    symbol="−", latex="-{0}", locals_latex=("-1",), sentence="negates {0}", expression="-{0}", keeps="nothing",
    registered="Neg", operator="neg",
    doc=of_one("Minus x, elementwise.", "-1", """
>>> print(lab.negative(2.0))
Tensor(-2.0, shape=(), dtype=float32)""", dtypes="any number", raises=("convert",)))


_NUMBERS: Any = (np.generic, int, float)
"""What a kernel is given that is not an array, of the CPU or of a GPU."""


def _power(x: Any, y: Any) -> Any:
    """Raise to a power; small integer powers of an array are products: NumPy's power takes ten times as long."""
    if isinstance(y, _NUMBERS) and not isinstance(x, _NUMBERS) and x.dtype.kind == "f":
        if y == 2:
            return x * x
        if y == 3:
            return x * x * x
        if y == 1:
            return x.copy()
    return operator.pow(x, y)


def _power_rule_x(ops: Any, g: Any, out: Any, x: Any, y: Any) -> Any:
    return g * ops.power_grad(x, y, order=1)


def _power_rule_y(ops: Any, g: Any, out: Any, x: Any, y: Any) -> Any:
    return g * (out * ops.log_where_positive(x))


_SHORT_POWERS = {
    0.0: "one", 0.5: "sqrt({0})", 1.0: "{0}", 2.0: "{0} * {0}", 3.0: "{0} * {0} * {0}",  # as the kernel multiplies
    **{exponent: f"choose({{0}} == -infinity, infinity, abs({root}))" for exponent, root in (
        (1.5, "{0} * sqrt({0})"), (2.5, "{0} * {0} * sqrt({0})"))},
    **{exponent: f"choose({{0}} == -infinity, zero, abs(one / sqrt({{0}}){rest}))" for exponent, rest in (
        (-0.5, ""), (-1.5, " / {0}"), (-2.5, " / ({0} * {0})"))},
}  # fmt: skip
"""Small integer powers as products, and others by a root, which takes a fraction of the time; -∞ and -0 as in C."""


def _power_expression(constants: tuple[Any, ...]) -> str:
    exponent = constants[1]
    return _SHORT_POWERS.get(exponent, "power({0}, {1})")


pow = binary(
    "pow", _power, _power_rule_x, _power_rule_y,
    symbol="^", latex="{{{0}}}^{{{1}}}", locals_latex=("{1} {{{0}}}^{{{1} - 1}}", r"{{{0}}}^{{{1}}} \ln {0}"),
    sentence="raises {0} to the power {1}", expression=_power_expression, domain=(Domain(low=0.0), REALS),
    registered="Pow", operator="pow",
    doc=of_two("x to the power y, elementwise.", "y·x^(y-1) for x; x^y·ln x for y, taken as 0 where x ≤ 0", """
>>> print(lab.pow([2.0, 3.0], 2.0))
Tensor([4. 9.], shape=(2,), dtype=float32)""", domain="x > 0, or integer y"))


def _falling(y: Any, order: int) -> Any:
    """Return y (y - 1) ... (y - order + 1), the factor before the power after so many derivatives with respect to x."""
    return reduce(operator.mul, [y - i for i in range(1, order)], y)


def _falling_grad(y: Any, order: int) -> Any:
    """Return the derivative of `_falling` with respect to y: the sum of the products with one factor left out."""
    if order == 1:
        return 1
    factors = [[y - i for i in range(order) if i != left_out] for left_out in range(order)]
    return reduce(operator.add, [reduce(operator.mul, some) for some in factors])


def _power_grad(x: Any, y: Any, order: int) -> Any:
    factor = _falling(y, order)
    if isinstance(y, _NUMBERS) and not isinstance(x, _NUMBERS) and y - order == 1 and x.dtype.kind == "f":
        return factor * x
    value = factor * _power(x, y - order)
    flat = factor == 0  # there the power may be infinite, and the gradient is still 0
    if not (on_gpu(flat) or (flat.any() if flat.__class__ is np.ndarray else flat)):
        return value
    return np.where(flat, value.dtype.type(0), value)[()]


def _power_grad_rule_y(ops: Any, g: Any, out: Any, x: Any, y: Any, order: int) -> Any:
    return g * (ops.pow(x, y - order) * _falling_grad(y, order) + out * ops.log_where_positive(x))


def _power_grad_expression(constants: tuple[Any, ...], order: int) -> str:
    """Return a factor y (y - 1) ..., 0 altogether where the factor is 0, and a power lower by the order."""
    exponent = constants[1]
    if exponent is None:
        factor = " * ".join(["{1}", *(f"({{1}} - number({i}))" for i in range(1, order))])
        return f"choose({factor} == zero, zero, {factor} * power({{0}}, {{1}} - number({order})))"
    number = _power_grad(exponent.dtype.type(1), exponent, order)  # the power of 1 leaves the factor
    if number == 0:
        return "zero"
    lower = exponent - order
    power = _SHORT_POWERS.get(lower, f"power({{0}}, number({float(lower)!r}))")
    return f"number({float(number)!r}) * ({power})"


power_grad = general(
    "power_grad", _power_grad,
    lambda ops, g, out, x, y, order: g * ops.power_grad(x, y, order=order + 1), _power_grad_rule_y,
    warns=False, symbol="d^", latex="{1} {{{0}}}^{{{1} - 1}}",
    locals_latex=(r"{1} ({1} - 1) {{{0}}}^{{{1} - 2}}", r"\frac{{\partial}}{{\partial {1}}} {1} {{{0}}}^{{{1} - 1}}"),
    sentence="takes the derivative of {0} to the power {1}", expression=_power_grad_expression,
    doc="The derivative of x^y with respect to x, `order` times: y·x^(y-1), and 0 where y is 0, at x = 0 too; the "
        "rule of `pow` uses it.")


def _has_log(x: Any) -> Any:
    """Return where numbers have a logarithm in their dtype: positive ones, and all complex ones but 0."""
    return x > 0 if x.dtype.kind != "c" else x != 0


log_where_positive = unary(
    "log_where_positive", lambda x: np.log(np.where(_has_log(x), x, x.dtype.type(1)))[()],
    lambda ops, g, out, x: g * ops.reciprocal_where_positive(x),
    symbol="ln⁺", latex=r"\ln^+ {0}", locals_latex=(r"\frac{{[{0} > 0]}}{{{0}}}",),
    sentence="takes the logarithm of {0} where it is positive, else 0", keeps="inputs", domain=(Domain(low=0.0),),
    expression="log(choose({0} > zero, {0}, one))",
    doc=of_one("Natural logarithm where x is positive, 0 elsewhere; the rule of `pow` uses it.",
               "1/x where x > 0, else 0", """
>>> print(lab.ops.math.arithmetic.log_where_positive([-1.0, 1.0]))
Tensor([0. 0.], shape=(2,), dtype=float32)"""))

reciprocal_where_positive = unary(
    "reciprocal_where_positive",
    lambda x: np.where(_has_log(x), 1 / np.where(_has_log(x), x, x.dtype.type(1)), x.dtype.type(0))[()],
    lambda ops, g, out, x: -g * out * out,
    symbol="1/x⁺", latex=r"\frac{{[{0} > 0]}}{{{0}}}", locals_latex=(r"-\frac{{[{0} > 0]}}{{{0}^2}}",),
    sentence="takes one over {0} where it is positive, else 0", keeps="output", domain=(Domain(low=0.0),),
    expression="choose({0} > zero, one / choose({0} > zero, {0}, one), zero)",
    doc=of_one("One over x where x is positive, 0 elsewhere.", "-1/x² where x > 0, else 0", """
>>> print(lab.ops.math.arithmetic.reciprocal_where_positive([-1.0, 2.0]))
Tensor([0.  0.5], shape=(2,), dtype=float32)"""))

square = unary(
    "square", lambda x: x * x, lambda ops, g, out, x: g * (2 * x), floating=False,
    symbol="x²", latex="{0}^2", locals_latex=("2 {0}",), sentence="squares {0}", expression="{0} * {0}",
    keeps="inputs", registered="Square",
    doc=of_one("x times x, elementwise.", "2x", """
>>> print(lab.square(3.0))
Tensor(9.0, shape=(), dtype=float32)""", dtypes="any number", raises=("convert",)))

sqrt = unary(
    "sqrt", np.sqrt, lambda ops, g, out, x: g * 0.5 / out,
    symbol="√", latex=r"\sqrt{{{0}}}", locals_latex=(r"\frac{{1}}{{2 \sqrt{{{0}}}}}",),
    sentence="takes the square root of {0}", expression="sqrt({0})", domain=(Domain(low=0.0),), keeps="output",
    registered="Sqrt",
    doc=of_one("Square root, elementwise.", "1/(2√x), infinite at 0", """
>>> print(lab.sqrt(9.0))
Tensor(3.0, shape=(), dtype=float32)""", domain="x > 0; nan below"))

reciprocal = unary(
    "reciprocal", lambda x: 1 / x, lambda ops, g, out, x: -g * out * out,
    symbol="1/x", latex=r"\frac{{1}}{{{0}}}", locals_latex=(r"-\frac{{1}}{{{0}^2}}",),
    sentence="takes one over {0}", expression="one / {0}", domain=(Domain(away_from=(0.0,)),), keeps="output",
    registered="Reciprocal",
    doc=of_one("One over x, elementwise.", "-1/x²", """
>>> print(lab.math.reciprocal(4.0))
Tensor(0.25, shape=(), dtype=float32)""", domain="x ≠ 0"))

sign = unary(
    "sign", lambda x: direction(x) if x.dtype.kind == "c" else np.sign(x),
    lambda ops, g, out, x: turned(ops, g, out, x) if is_complex(x) else ops.below(g, g), floating=False, steps=True,
    symbol="sign", latex=r"\operatorname{{sign}} {0}", locals_latex=("0",), sentence="takes the sign of {0}",
    domain=(Domain(away_from=(0.0,)),), registered="Sign",
    expression="choose({0} > zero, one, choose({0} < zero, -one, choose({0} == zero, zero, {0})))",
    doc=of_one("-1, 0 or 1 by the sign of x; nan stays nan. The direction x/|x| of a complex number.",
               "0 for real numbers", """
>>> print(lab.sign([-2.0, 0.0, 5.0]))
Tensor([-1.  0.  1.], shape=(3,), dtype=float32)""", dtypes="any number", raises=("convert",)))

abs = unary(
    "abs", np.abs, lambda ops, g, out, x: stretched(ops, g, x) if is_complex(x) else g * ops.sign(x), floating=False,
    symbol="|x|", latex=r"\left| {0} \right|", locals_latex=(r"\operatorname{{sign}} {0}",),
    sentence="takes the absolute value of {0}", expression="abs({0})", domain=(Domain(away_from=(0.0,)),),
    keeps="inputs", registered="Abs", operator="abs",
    doc=of_one("Absolute value, elementwise.", "the sign of x; 0 at the kink", """
>>> print(lab.abs([-2.0, 3.0]))
Tensor([2. 3.], shape=(2,), dtype=float32)""", dtypes="any number", raises=("convert",)))


def _choice_rules(flip: bool) -> tuple[Any, Any]:
    """Return the rules of maximum or minimum: the contribution goes to the chosen input, in a tie to the first.

    What was not chosen has a derivative of 0 even where the contribution is infinite, as in ``sqrt(maximum(x, 0))``
    below 0.
    """
    def first(ops: Any, g: Any, out: Any, x: Any, y: Any) -> Any:
        return ops.gate(g, ops.not_below(y, x) if flip else ops.not_below(x, y))

    def second(ops: Any, g: Any, out: Any, x: Any, y: Any) -> Any:
        return ops.gate(g, ops.below(y, x) if flip else ops.below(x, y))
    return first, second


def zero_rule(ops: Any, g: Any, out: Any, *inputs: Any) -> Any:
    """Return 0, the rule of a step function, even where the cotangent is infinite and 0 times it would be nan."""
    return ops.below(g, g)


not_below = binary(
    "not_below", lambda x, y: (x >= y).astype(x.dtype), zero_rule, zero_rule, steps=True,
    symbol="≥", latex=r"[{0} \ge {1}]", locals_latex=("0", "0"),
    sentence="is 1 where {0} is at least {1}, else 0", keeps="nothing",
    expression="choose({0} >= {1}, one, zero)",
    doc=of_two("1 where x ≥ y, else 0, in the dtype of x.", "0", """
>>> print(lab.ops.math.arithmetic.not_below([1.0, 2.0], [2.0, 2.0]))
Tensor([0. 1.], shape=(2,), dtype=float32)"""))

below = binary(
    "below", lambda x, y: (x < y).astype(x.dtype), zero_rule, zero_rule, steps=True,
    symbol="<", latex="[{0} < {1}]", locals_latex=("0", "0"),
    sentence="is 1 where {0} is below {1}, else 0", keeps="nothing",
    expression="choose({0} < {1}, one, zero)",
    doc=of_two("1 where x < y, else 0, in the dtype of x.", "0", """
>>> print(lab.ops.math.arithmetic.below([1.0, 2.0], [2.0, 2.0]))
Tensor([1. 0.], shape=(2,), dtype=float32)"""))

maximum = binary(
    "maximum", np.maximum, *_choice_rules(flip=False),
    symbol="max", latex=r"\max({0}, {1})", locals_latex=(r"[{0} \ge {1}]", "[{0} < {1}]"),
    sentence="takes the larger of {0} and {1}", expression="larger({0}, {1})", keeps="inputs", registered="Maximum",
    doc=of_two("The larger of x and y, elementwise; nan if either is nan.",
               "1 for the larger, 0 for the other; a tie goes to x", """
>>> print(lab.maximum([1.0, 5.0], 3.0))
Tensor([3. 5.], shape=(2,), dtype=float32)"""))

minimum = binary(
    "minimum", np.minimum, *_choice_rules(flip=True),
    symbol="min", latex=r"\min({0}, {1})", locals_latex=(r"[{0} \le {1}]", "[{0} > {1}]"),
    sentence="takes the smaller of {0} and {1}", expression="smaller({0}, {1})", keeps="inputs", registered="Minimum",
    doc=of_two("The smaller of x and y, elementwise; nan if either is nan.",
               "1 for the smaller, 0 for the other; a tie goes to x", """
>>> print(lab.minimum([1.0, 5.0], 3.0))
Tensor([1. 3.], shape=(2,), dtype=float32)"""))

def checked_quotient(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that refuses integers divided by 0, which have no infinity; NumPy would give 0."""
    def kernel(x: Any, y: Any) -> Any:
        if y.dtype.kind in "iu":
            require(np.all(y), lambda: InvalidArgumentError(
                f"{name}({kind_of(x)}, {kind_of(y)}): integer division by zero. Try lab.where(y == 0, 1, y) "
                "as the divisor, or lab.cast to floats."))
        return function(x, y)
    return kernel


floordiv = binary(
    "floordiv", checked_quotient("floordiv", operator.floordiv), None, None, symbol="//",
    latex=r"\left\lfloor {0} / {1} \right\rfloor",
    sentence="divides {0} by {1} and rounds down", registered="FloorDiv", operator="floordiv",
    expression="floor_divide({0}, {1})",
    doc=of_two("Quotient rounded down, elementwise.", "none: a step function", """
>>> print(lab.math.floordiv(7, 2))
Tensor(3, shape=(), dtype=int32)"""))

floormod = binary(
    "floormod", checked_quotient("floormod", operator.mod),
    lambda ops, g, out, x, y: g,
    lambda ops, g, out, x, y: -(g * ops.floor_quotient(x, y)),
    symbol="mod", latex=r"{0} \bmod {1}", locals_latex=("1", r"-\left\lfloor {0} / {1} \right\rfloor"),
    sentence="takes the remainder of {0} by {1}", domain=(REALS, Domain(low=0.5)), keeps="inputs",
    registered="FloorMod", operator="mod", expression="remainder({0}, {1})",
    doc=of_two("Remainder with the sign of y, elementwise.", "1 for x; minus the floored quotient for y", """
>>> print(lab.math.floormod([5.0, -1.0], 3.0))
Tensor([2. 2.], shape=(2,), dtype=float32)""", domain="y ≠ 0"))

floor_quotient = binary(
    "floor_quotient", np.floor_divide, zero_rule, zero_rule, steps=True,
    symbol="⌊x/y⌋", latex=r"\left\lfloor {0} / {1} \right\rfloor", locals_latex=("0", "0"),
    sentence="divides {0} by {1} and rounds down", domain=(REALS, Domain(low=0.5)), keeps="nothing",
    expression="floor_divide({0}, {1})",
    doc=of_two("Floored quotient with a derivative of 0; the rule of `floormod` uses it.", "0", """
>>> print(lab.ops.math.arithmetic.floor_quotient(7.0, 2.0))
Tensor(3.0, shape=(), dtype=float32)"""))


def add_n(inputs: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """Sum of a list of tensors.

    Shapes: each (*s) -> (*s).  Dtypes: any number, all the same.  Derivative: 1 for each.

    Raises
    ------
    InvalidArgumentError
        If the list is empty.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.add_n([1.0, 2.0, 3.0]))
    Tensor(6.0, shape=(), dtype=float32)
    """
    inputs = listed(inputs, "add_n: inputs")
    if not inputs:
        raise InvalidArgumentError("add_n: expected at least one tensor, got an empty list. Try lab.zeros(shape).")
    if len(inputs) == 1:
        return add(inputs[0], 0, name=name)
    total = add(inputs[0], inputs[1])
    if len(inputs) > 2 and total._held.itemsize == 2 and is_half(total._held.dtype):
        return named(_add_halves(inputs, total), name)
    for value in inputs[2:]:
        total = add(total, value)
    return named(total, name)


def _add_halves(inputs: list[Any], like: Tensor) -> Tensor:
    """Return the sum of at least two tensors of the dtype of `like`, in float32 and rounded once."""
    from autodiff_lab.ops.array.casting import cast

    total = cast(convert(inputs[0], like), "float32")
    for value in inputs[1:]:
        total = add(total, cast(convert(value, like), "float32"))
    return cast(total, like.dtype)
