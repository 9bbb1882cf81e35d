"""Assertions on tensors: they raise at once, name what differs and where, and return nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.ops.array.casting import identity


def text(message: str | None) -> str:
    """Return a message behind a sentence, if there is one."""
    return f" {message}" if message else ""


def _compare(name: str, sign: str, holds: Callable[[Any, Any], Any], x: Any, y: Any, message: str | None) -> None:
    a = convert(x)
    b = convert(y, a)
    try:
        left, right = np.broadcast_arrays(a._array, b._array)
    except ValueError:
        raise ShapeMismatch(
            f"{name}: shapes {a._held.shape} and {b._held.shape} do not broadcast.{text(message)}"
        ) from None
    if (left.dtype.kind == "O") != (right.dtype.kind == "O"):
        raise DtypeMismatch(f"{name}: {a.dtype.name} and {b.dtype.name} cannot be compared.{text(message)}")
    wrong = ~np.asarray(holds(left, right))
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        where = f" at {list(at)}" if at else ""
        raise InvalidArgumentError(
            f"{name}: x {sign} y does not hold{where}: x is {left[at]} and y is {right[at]} "
            f"({int(wrong.sum())} of {wrong.size} elements).{text(message)}"
        )


def assert_equal(
    x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Raise unless every element of x equals that of y.

    Raises
    ------
    InvalidArgumentError
        If one differs.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.assert_equal([1, 2], [1, 2])
    """
    _compare("assert_equal", "==", np.equal, x, y, message)


def assert_none_equal(
    x: Any, y: Any, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> None:
    """Raise unless every element of x differs from that of y.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.assert_none_equal([1, 2], 0)
    """
    _compare("assert_none_equal", "!=", np.not_equal, x, y, message)


def assert_less(
    x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Raise unless every element of x is less than that of y.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.assert_less([1, 2], 3)
    """
    _compare("assert_less", "<", np.less, x, y, message)


def assert_less_equal(
    x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Raise unless no element of x is greater than that of y.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.assert_less_equal([1, 2], 2)
    """
    _compare("assert_less_equal", "<=", np.less_equal, x, y, message)


def assert_greater(
    x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Raise unless every element of x is greater than that of y.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.assert_greater([1, 2], 0)
    """
    _compare("assert_greater", ">", np.greater, x, y, message)


def assert_greater_equal(
    x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Raise unless no element of x is less than that of y.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.assert_greater_equal([1, 2], 1)
    """
    _compare("assert_greater_equal", ">=", np.greater_equal, x, y, message)


def assert_positive(x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None) -> None:
    """Raise unless every element is greater than 0.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.assert_positive([1.0, 2.0])
    """
    _compare("assert_positive", ">", np.greater, x, 0, message)


def assert_negative(x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None) -> None:
    """Raise unless every element is less than 0.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.assert_negative([-1.0])
    """
    _compare("assert_negative", "<", np.less, x, 0, message)


def assert_non_negative(
    x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Raise unless no element is less than 0.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.assert_non_negative([0.0, 1.0])
    """
    _compare("assert_non_negative", ">=", np.greater_equal, x, 0, message)


def assert_non_positive(
    x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Raise unless no element is greater than 0.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.assert_non_positive([0.0, -1.0])
    """
    _compare("assert_non_positive", "<=", np.less_equal, x, 0, message)


def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raise unless ``|x - y| <= atol + rtol * |y|``; both are ten times the dtype's step if they are not given.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.assert_near(1.0, 1.0 + 1e-7)
    """

    def tolerance(value: Any) -> float:
        array = convert(value)._array
        if array.ndim or array.dtype.kind not in "fiuV":
            raise InvalidArgumentError(f"assert_near: a tolerance is one number, got {value!r:.80}.")
        return float(getattr(value, "_array", value))

    a = convert(x)
    if a.dtype.name in ("string", "bool"):
        raise DtypeMismatch(f"assert_near: takes numbers, got {a.dtype.name}.")
    step = 10 * float(a.dtype._limits().eps) if a.dtype.is_floating else 0.0
    relative, absolute = (step if t is None else tolerance(t) for t in (rtol, atol))

    def near(left: Any, right: Any) -> Any:
        return np.abs(left - right) <= absolute + relative * np.abs(right)

    _compare("assert_near", f"≈ (within {absolute:.3g} + {relative:.3g}·|y|)", near, a, y, message)


def assert_all_finite(x: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise if an element is nan or infinite.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.assert_all_finite([1.0, 2.0], "weights")
    """
    _finite("assert_all_finite", convert(x), message)


def _finite(name: str, x: Tensor, message: str | None) -> None:
    array = np.asarray(x._array)
    if array.dtype.kind not in "fcV":
        return
    wrong = ~np.isfinite(array)
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        nan, infinite = int(np.isnan(array).sum()), int(np.isinf(array).sum())
        raise InvalidArgumentError(
            f"{name}: {nan} nan and {infinite} infinite of {array.size} elements, the first at "
            f"{list(at)}.{text(message)} Try lab.record() and recording.first_nonfinite()."
        )


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """Return the tensor itself, unless an element is nan or infinite.

    Raises
    ------
    InvalidArgumentError
        If one is.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.debugging.check_numerics([1.0], "loss"))
    Tensor([1.], shape=(1,), dtype=float32)
    """
    x = convert(tensor)
    _finite("check_numerics", x, message)
    return x if name is None else identity(x, name)


def Assert(condition: Any, data: Any, summarize: int | None = None, name: str | None = None) -> None:
    """Raise, with some data, unless a condition holds.

    Raises
    ------
    InvalidArgumentError
        If it does not.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.Assert(lab.constant(1.0) > 0.0, ["all is well"])
    """
    if not bool(np.all(np.asarray(convert(condition)._array))):
        shown = data if isinstance(data, (list, tuple)) else [data]
        words = [item if isinstance(item, str) else str(convert(item)._array) for item in shown]
        raise InvalidArgumentError(f"Assert: the condition does not hold. Data: {', '.join(words)}")
