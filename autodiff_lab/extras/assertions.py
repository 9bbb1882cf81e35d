"""Assertions on the values of tensors; the error says which element fails and where."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.events.listener import trace_now, unheard
from autodiff_lab.ops.array.casting import identity
from autodiff_lab.ops.math import comparison
from autodiff_lab.ops.math.reductions import reduce_all

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike


def text(message: Any) -> str:
    """Return a message to append to a sentence, if there is one; as with `assert`, it may be any object."""
    return "" if message is None or (isinstance(message, str) and not message) else f" {message}"


def _compare(name: str, sign: str, holds: Callable[[Any, Any], Any], x: Any, y: Any, message: str | None) -> None:
    a = convert(x)
    b = convert(y, a)
    if trace_now() is not None and _holds_in_trace(holds, a, b):
        return
    try:
        left, right = np.broadcast_arrays(a._array, b._array)
    except ValueError:
        raise ShapeMismatch(
            f"{name}: shapes {a._held.shape} and {b._held.shape} do not broadcast.{text(message)}"
        ) from None
    if (left.dtype.kind == "O") != (right.dtype.kind == "O"):
        raise DtypeMismatch(f"{name}: dtypes {a.dtype.name} and {b.dtype.name} cannot be compared.{text(message)}")
    wrong = ~np.asarray(holds(left, right))
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        where = f" at {list(at)}" if at else ""
        raise InvalidArgumentError(
            f"{name}: x {sign} y does not hold{where}: x is {left[at]} and y is {right[at]} "
            f"({int(wrong.sum())} of {wrong.size} elements).{text(message)}"
        )


def _holds_in_trace(holds: Callable[[Any, Any], Any], a: Tensor, b: Tensor) -> bool:
    """Return whether a comparison holds; a program that assumes it is left where it does not."""
    if a._held.dtype != b._held.dtype or a._held.dtype.kind == "O" or not isinstance(holds, np.ufunc):
        return False  # NumPy compares what ops do not
    try:
        np.broadcast_shapes(a._held.shape, b._held.shape)
    except ValueError:
        return False
    with unheard():
        return bool(reduce_all(getattr(comparison, holds.__name__)(a, b)))


class _OfTwo(Protocol):
    def __call__(
        self, x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
    ) -> None: ...


class _OfOne(Protocol):
    def __call__(
        self, x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
    ) -> None: ...


def _described(function: Any, name: str, words: str, example: str) -> Any:
    """Give a function made from a table its name and its documentation."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Raise unless {words}.

    Raises
    ------
    InvalidArgumentError
        If an element fails the comparison.
    ShapeMismatch
        If the shapes do not broadcast.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.{name}({example})
    """
    return function


def _of_two(name: str, sign: str, holds: Callable[[Any, Any], Any], words: str, example: str) -> _OfTwo:
    def compare(
        x: TensorLike, y: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
    ) -> None:
        _compare(called, sign, holds, x, y, message)

    called = name
    return _described(compare, name, f"every element of x {words} that of y", example)


def _of_one(name: str, sign: str, holds: Callable[[Any, Any], Any], example: str) -> _OfOne:
    def compare(
        x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
    ) -> None:
        _compare(called, sign, holds, x, 0, message)

    called = name
    return _described(compare, name, f"``x {sign} 0`` holds for every element", example)


assert_equal = _of_two("assert_equal", "==", np.equal, "equals", "[1, 2], [1, 2]")
assert_less = _of_two("assert_less", "<", np.less, "is less than", "[1, 2], 3")
assert_less_equal = _of_two("assert_less_equal", "<=", np.less_equal, "is less than or equal to", "[1, 2], 2")
assert_greater = _of_two("assert_greater", ">", np.greater, "is greater than", "[1, 2], 0")
assert_greater_equal = _of_two(
    "assert_greater_equal", ">=", np.greater_equal, "is greater than or equal to", "[1, 2], 1"
)
assert_positive = _of_one("assert_positive", ">", np.greater, "[1.0, 2.0]")
assert_negative = _of_one("assert_negative", "<", np.less, "[-1.0]")
assert_non_negative = _of_one("assert_non_negative", ">=", np.greater_equal, "[0.0, 1.0]")
assert_non_positive = _of_one("assert_non_positive", "<=", np.less_equal, "[0.0, -1.0]")


def assert_none_equal(
    x: TensorLike, y: TensorLike, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> None:
    """Raise unless every element of x differs from that of y; the order of the arguments is that of TensorFlow.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.assert_none_equal([1, 2], 0)
    """
    _compare("assert_none_equal", "!=", np.not_equal, x, y, message)


def assert_near(
    x: TensorLike,
    y: TensorLike,
    rtol: TensorLike | None = None,
    atol: TensorLike | None = None,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raise unless ``|x - y| <= atol + rtol * |y|``; both default to 10 times the dtype's epsilon.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.assert_near(1.0, 1.0 + 1e-7)
    """

    def tolerance(value: Any) -> float:
        array = convert(value)._array
        if array.ndim or array.dtype.kind not in "fiuV":
            raise InvalidArgumentError(f"assert_near: expected a number as tolerance, got {value!r:.80}.")
        return float(getattr(value, "_array", value))

    a = convert(x)
    if a.dtype.name in ("string", "bool"):
        raise DtypeMismatch(f"assert_near: expected a numeric dtype, got {a.dtype.name}.")
    step = 10 * float(a.dtype._limits().eps) if a.dtype.is_floating else 0.0
    relative, absolute = (step if t is None else tolerance(t) for t in (rtol, atol))

    def near(left: Any, right: Any) -> Any:
        return np.abs(left - right) <= absolute + relative * np.abs(right)

    _compare("assert_near", f"≈ (within {absolute:.3g} + {relative:.3g}·|y|)", near, a, y, message)


def assert_all_finite(x: TensorLike, message: str | None = None, name: str | None = None) -> None:
    """Raise if any element is nan or infinite.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.assert_all_finite([1.0, 2.0], "weights")
    """
    _finite("assert_all_finite", convert(x), message)


def _finite(name: str, x: Tensor, message: str | None) -> None:
    if x._held.dtype.kind not in "fcV":
        return
    if trace_now() is not None and x._held.dtype.kind == "f":
        with unheard():
            if reduce_all(comparison.is_finite(x)):
                return
    array = np.asarray(x._array)
    wrong = ~np.isfinite(array)
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        nan, infinite = int(np.isnan(array).sum()), int(np.isinf(array).sum())
        raise InvalidArgumentError(
            f"{name}: {nan} nan and {infinite} infinite of {array.size} elements, the first at "
            f"{list(at)}.{text(message)} Try lab.record() and recording.first_nonfinite()."
        )


def check_numerics(tensor: TensorLike, message: str, name: str | None = None) -> Tensor:
    """Return the tensor, or raise if any element is nan or infinite.

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


def Assert(condition: TensorLike, data: object, summarize: int | None = None, name: str | None = None) -> None:
    """Raise an error that shows some data unless a condition holds.

    Raises
    ------
    InvalidArgumentError
        If it does not.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.Assert(lab.constant(1.0) > 0.0, ["all is well"])
    """
    told = convert(condition)
    if trace_now() is not None and told._held.dtype.kind == "b":
        with unheard():
            if reduce_all(told):
                return
    if not bool(np.all(np.asarray(told._array))):
        shown = data if isinstance(data, (list, tuple)) else [data]
        words = [item if isinstance(item, str) else str(convert(item)._array) for item in shown]
        raise InvalidArgumentError(f"Assert: the condition does not hold. Data: {', '.join(words)}")
