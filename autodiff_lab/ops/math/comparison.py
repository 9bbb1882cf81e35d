"""Comparison, logic and rounding: step functions, through which no gradient passes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.engine.apply import _OfOne, _OfTwo, binary, unary
from autodiff_lab.engine.failure import kind_of
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import DtypeMismatch
from autodiff_lab.ops.docs import of_one, of_two

_NONE = "none: a step function, gradients stop here"


def _compare(name: str, kernel: Callable[..., Any], symbol: str, latex: str, words: str, registered: str,
             example: str, **more: Any) -> _OfTwo:
    return binary(name, kernel, None, None, symbol=symbol, latex=f"{{0}} {latex} {{1}}",
                  sentence=f"asks whether {{0}} {words} {{1}}", registered=registered,
                  doc=of_two(f"Whether x {words} y, elementwise; a bool tensor.", _NONE, example), **more)


equal = _compare("equal", operator.eq, "=", "=", "equals", "Equal", """
>>> print(lab.equal([1, 2], [1, 3]))
Tensor([ True False], shape=(2,), dtype=bool)""", expression="{0} == {1}")
not_equal = _compare("not_equal", operator.ne, "≠", r"\ne", "differs from", "NotEqual", """
>>> print(lab.not_equal([1, 2], [1, 3]))
Tensor([False  True], shape=(2,), dtype=bool)""", expression="{0} != {1}")
less = _compare("less", operator.lt, "<", "<", "is less than", "Less", """
>>> print(lab.less([1, 2], 2))
Tensor([ True False], shape=(2,), dtype=bool)""", operator="lt", expression="{0} < {1}")
less_equal = _compare("less_equal", operator.le, "≤", r"\le", "is at most", "LessEqual", """
>>> print(lab.less_equal([1, 2], 1))
Tensor([ True False], shape=(2,), dtype=bool)""", operator="le", expression="{0} <= {1}")
greater = _compare("greater", operator.gt, ">", ">", "is greater than", "Greater", """
>>> print(lab.greater([1, 2], 1))
Tensor([False  True], shape=(2,), dtype=bool)""", operator="gt", expression="{0} > {1}")
greater_equal = _compare("greater_equal", operator.ge, "≥", r"\ge", "is at least", "GreaterEqual", """
>>> print(lab.greater_equal([1, 2], 2))
Tensor([False  True], shape=(2,), dtype=bool)""", operator="ge", expression="{0} >= {1}")


def _of_bools(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that takes bools only: NumPy would take every number but 0 for true."""
    def kernel(*arrays: Any) -> Any:
        if any(array.dtype.kind != "b" for array in arrays):
            kinds = ", ".join(map(kind_of, arrays))
            raise DtypeMismatch(f"{name}({kinds}): expected bool tensors. Try a comparison, such as x > 0, or "
                                "lab.bitwise for the bits of integers.")
        return function(*arrays)
    return kernel


def _logic(name: str, kernel: Callable[..., Any], symbol: str, registered: str, example: str,
           **more: Any) -> _OfTwo:
    return binary(name, _of_bools(name, kernel), None, None, symbol=symbol, latex=f"{{0}} {symbol} {{1}}",
                  sentence=f"{{0}} {symbol} {{1}}", registered=registered,
                  doc=of_two(f"Logical {name.split('_')[1]}, elementwise.", _NONE, example, dtypes="bool"), **more)


logical_and = _logic("logical_and", np.logical_and, "∧", "LogicalAnd", """
>>> print(lab.logical_and([True, True], [True, False]))
Tensor([ True False], shape=(2,), dtype=bool)""", expression="{0} & {1}")
logical_or = _logic("logical_or", np.logical_or, "∨", "LogicalOr", """
>>> print(lab.logical_or([True, False], [False, False]))
Tensor([ True False], shape=(2,), dtype=bool)""", expression="{0} | {1}")
logical_xor = _logic("logical_xor", np.logical_xor, "⊻", "LogicalXor", """
>>> print(lab.math.logical_xor([True, True], [True, False]))
Tensor([False  True], shape=(2,), dtype=bool)""", expression="{0} != {1}")


def _step(name: str, kernel: Callable[..., Any], symbol: str, latex: str, sentence: str, registered: str, summary: str,
          example: str, **more: Any) -> _OfOne:
    return unary(name, kernel, None, floating=False, symbol=symbol, latex=latex, sentence=sentence,
                 registered=registered, doc=of_one(summary, _NONE, example, dtypes="any number", raises=("convert",)),
                 **more)


logical_not = _step("logical_not", _of_bools("logical_not", np.logical_not), "¬", r"\lnot {0}",
                    "negates {0}", "LogicalNot",
                    "Logical not, elementwise.", """
>>> print(lab.logical_not([True, False]))
Tensor([False  True], shape=(2,), dtype=bool)""", expression="not {0}")
is_nan = _step("is_nan", np.isnan, "nan?", r"{0} = \mathrm{{nan}}", "asks whether {0} is nan", "IsNan",
               "Whether x is nan, elementwise.", """
>>> print(lab.math.is_nan([1.0, float("nan")]))
Tensor([False  True], shape=(2,), dtype=bool)""", expression="{0} != {0}")
is_inf = _step("is_inf", np.isinf, "inf?", r"\left| {0} \right| = \infty", "asks whether {0} is infinite", "IsInf",
               "Whether x is infinite, elementwise.", """
>>> print(lab.math.is_inf([1.0, float("inf")]))
Tensor([False  True], shape=(2,), dtype=bool)""", expression="abs({0}) == infinity")
is_finite = _step("is_finite", np.isfinite, "finite?", r"\left| {0} \right| < \infty", "asks whether {0} is finite",
                  "IsFinite", "Whether x is neither nan nor infinite, elementwise.", """
>>> print(lab.math.is_finite([1.0, float("inf")]))
Tensor([ True False], shape=(2,), dtype=bool)""", expression="abs({0}) < infinity")
def _round_expression(constants: Any, **params: Any) -> str | None:
    return None if params else "nearest({0})"


floor = _step("floor", np.floor, "⌊x⌋", r"\lfloor {0} \rfloor", "rounds {0} down", "Floor",
              "The largest integer not above x.", """
>>> print(lab.floor([1.7, -1.2]))
Tensor([ 1. -2.], shape=(2,), dtype=float32)""", expression="floor({0})")
ceil = _step("ceil", np.ceil, "⌈x⌉", r"\lceil {0} \rceil", "rounds {0} up", "Ceil",
             "The smallest integer not below x.", """
>>> print(lab.math.ceil([1.2, -1.7]))
Tensor([ 2. -1.], shape=(2,), dtype=float32)""", expression="ceil({0})")
round = _step("round", np.round, "round", r"\operatorname{{round}} {0}", "rounds {0}", "Round",
              "The nearest integer, ties to even.", """
>>> print(lab.round([0.5, 1.5, 2.4]))
Tensor([0. 2. 2.], shape=(3,), dtype=float32)""", expression=_round_expression)


def _equality(op: Callable[..., Any]) -> Callable[..., Any]:
    """Return `==` or `!=` of tensors; what is not a number is different."""
    def compare(x: Any, y: Any) -> Any:
        if y is None or (isinstance(y, (str, bytes)) and x._held.dtype.kind != "O"):
            return NotImplemented
        return op(x, y)
    return compare


def _install_equality() -> None:
    from autodiff_lab.engine.variable import Variable
    for cls in (Tensor, Variable):
        cls.__eq__ = _equality(equal)  # type: ignore[method-assign]
        cls.__ne__ = _equality(not_equal)  # type: ignore[method-assign]
        cls.__hash__ = object.__hash__  # type: ignore[method-assign]


_install_equality()
