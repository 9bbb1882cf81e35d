"""Check gradients against finite differences, for authors of derivative rules.

The project's own table of ops is tested with it. Differences are taken in float64, whatever the dtype
of the inputs. Outputs are weighted by numbers that differ from element to element, so that
wrong elements do not cancel in the sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autodiff_lab.engine import nest
from autodiff_lab.engine.convert import constant, convert
from autodiff_lab.engine.indexed_slices import dense
from autodiff_lab.engine.tape import GradientTape
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.ops.math.complex_numbers import imag, real
from autodiff_lab.ops.math.reductions import reduce_sum

__all__ = ["GradientCheck", "check_gradient", "numeric_gradient"]

Function = Callable[..., Any]


@dataclass(frozen=True)
class GradientCheck:
    """The result of `check_gradient`, for the element where gradient and difference disagree most.

    Attributes
    ----------
    passed : bool
        Whether every element of every gradient agrees within the tolerance; also the truth value of the check.
    input : int
        Which input, counted from 0.
    index : tuple of int
        Which of its elements.
    gradient, difference : float
        The values from the tape and from the differences there.
    error, tolerance : float
        How much they differ, and how much they may differ.
    verdict : str
        ``"agrees"``; ``"kink"``: the slopes on the two sides differ and the tape's gradient is one of them or
        between them, so there is nothing to compare with; ``"precision"``: the differences are not accurate enough
        here; ``"wrong"``.  Only the first passes.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> check = lab.testing.check_gradient(lab.sin, [0.0, 1.0])
    >>> check.passed, check.input
    (True, 0)
    """

    passed: bool
    input: int
    index: tuple[int, ...]
    gradient: float
    difference: float
    error: float
    tolerance: float
    verdict: str = "agrees"

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        where = f"input {self.input}" + (f", element {list(self.index)}" if self.index else "")
        if self.passed:
            return f"The gradient agrees with finite differences; the largest error is {self.error:.1e}, at {where}."
        apart = f"the tape gives {self.gradient:.8g}, finite differences give {self.difference:.8g}"
        if self.verdict == "kink":
            return (
                f"The function has a kink at {where}: {apart}, and the slopes on the two sides differ. The gradient is "
                "one of them or lies between them, so it cannot be checked here. Try a point away from the kink."
            )
        if self.verdict == "precision":
            return (
                f"Finite differences are not accurate enough to check the gradient at {where}: {apart}. Try another "
                "step, or a point "
                "farther from kinks, sharp turns and the end of the domain."
            )
        return (
            f"The gradient is wrong at {where}: the tape gives {self.gradient:.8g}, finite differences give "
            f"{self.difference:.8g}; they differ by {self.error:.1e}; the tolerance is {self.tolerance:.1e}."
        )


def numeric_gradient(function: Function, *inputs: Any, step: float = 1e-6) -> list[np.ndarray[Any, Any]]:
    """Compute the gradient by central differences, ``(f(x + h) - f(x - h)) / 2h`` for each element.

    Parameters
    ----------
    function : callable
        Takes float64 tensors and returns a tensor or a structure of them; outputs are weighted and added up.
    *inputs : Tensor, array, number or nested list
        Where to differentiate; converted to float64.  Integers and bools are passed on and not differentiated.
    step : float
        h, relative to elements larger than 1.

    Returns
    -------
    list of numpy.ndarray
        One for each input, of its shape, float64; empty arrays for inputs that are not floating.

    Raises
    ------
    ConversionError
        If an input is not numeric.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> grad, = lab.testing.numeric_gradient(lambda x: x * x, 3.0)
    >>> round(float(grad), 6)
    6.0
    """
    arrays = [_as_float64(x) for x in inputs]

    def value(k: int, changed: np.ndarray[Any, Any]) -> float:
        tensors = [constant(changed if i == k else a) for i, a in enumerate(arrays)]
        return float(weighted_sum(function(*tensors))._array)

    return [_differences(a, lambda changed, k=k: value(k, changed), step) for k, a in enumerate(arrays)]


def check_gradient(
    function: Function,
    *inputs: Any,
    order: int = 1,
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
) -> GradientCheck:
    """Compare the tape's gradient of a function with central differences.

    Parameters
    ----------
    function : callable
        Takes tensors and returns a tensor or a structure of them.  At a kink, such as that of relu at 0, differences
        cannot check the gradient; the verdict is then ``"kink"`` and the check does not pass.
    *inputs : Tensor, array, number or nested list
        Where to compare; converted to float64.
    order : int
        1 for the gradient; 2 compares the gradient of the gradient with differences of the gradient.
    step : float, optional
        Of the differences; 1e-6 for the first order and 1e-5 for the second.
    rtol, atol : float, optional
        Tolerances, relative and absolute; 1e-5 and 1e-6 for the first order, ten times as much for the second.

    Returns
    -------
    GradientCheck
        True if the gradients agree; printed, it is a sentence.

    Raises
    ------
    ConversionError
        If an input is not numeric.
    ValueError
        If `order` is neither 1 nor 2.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> bool(lab.testing.check_gradient(lambda x, y: x * lab.exp(y), [1.0, 2.0], 0.5))
    True
    >>> @lab.custom_gradient
    ... def wrong(x):
    ...     return x * x, lambda upstream: upstream * x
    >>> print(lab.testing.check_gradient(wrong, 3.0))
    The gradient is wrong at input 0: the tape gives 3, finite differences give 6; they differ by 3.0e+00; the tolerance
    is 6.1e-05.
    """
    if order not in (1, 2):
        raise ValueError(f"check_gradient: expected order 1 or 2, got {order!r}.")
    if order == 2:

        def function_2(*tensors: Tensor) -> list[Tensor]:
            found = [g for g in gradient(function, *tensors) if g is not None]
            return [g * g for g in found]

        return check_gradient(
            function_2, *inputs, step=step or 1e-5, rtol=rtol or 1e-4, atol=1e-5 if atol is None else atol
        )
    rtol, atol = 1e-5 if rtol is None else rtol, 1e-6 if atol is None else atol
    arrays = [_as_float64(x) for x in inputs]
    exact = gradient(function, *[constant(a) for a in arrays])
    rough = numeric_gradient(function, *arrays, step=step or 1e-6)
    worst = GradientCheck(True, 0, (), 0.0, 0.0, 0.0, atol)
    margin = -1.0
    for k, (g, expected) in enumerate(zip(exact, rough, strict=True)):
        if not expected.size:
            continue
        got = np.zeros(expected.shape) if g is None else np.asarray(g._array)
        error = np.abs(got - expected)
        allowed = atol + rtol * np.abs(expected)
        share = np.nan_to_num(error / allowed, nan=np.inf)
        at = np.unravel_index(int(np.argmax(share)), expected.shape)
        if share[at] > margin:
            margin = float(share[at])
            worst = GradientCheck(
                margin <= 1,
                k,
                tuple(int(i) for i in at),
                float(got[at]),
                float(expected[at]),
                float(error[at]),
                float(allowed[at]),
            )
    return worst if worst.passed else replace(worst, verdict=_verdict(function, arrays, worst, step or 1e-6))


def _verdict(function: Function, arrays: list[np.ndarray[Any, Any]], worst: GradientCheck, step: float) -> str:
    """Return why gradient and difference disagree at an element: a kink, imprecise differences, or a wrong rule."""
    x = float(arrays[worst.input][worst.index])

    def value(shift: float) -> float:
        changed = [a.copy() for a in arrays]
        changed[worst.input][worst.index] = x + shift
        return float(weighted_sum(function(*map(constant, changed)))._array)

    def sides(h: float) -> tuple[float, float]:
        return (here - value(-h)) / h, (value(h) - here) / h

    here, h = value(0.0), step * max(1.0, abs(x))
    (left, right), (closer_left, closer_right) = sides(h), sides(h / 8)
    rounding = 32 * float(np.finfo(np.float64).eps) * max(abs(here), 1e-300) / h
    if not np.isfinite([left, right, closer_left, closer_right]).all():
        return "precision"
    jump, closer = abs(right - left), abs(closer_right - closer_left)
    low, high = min(left, right) - worst.tolerance, max(left, right) + worst.tolerance
    if jump > max(worst.tolerance, rounding) and closer > jump / 2 and low <= worst.gradient <= high:
        return "kink"
    moved = abs((closer_left + closer_right) / 2 - worst.difference)
    return "precision" if worst.error <= max(rounding, 4 * moved) else "wrong"


def gradient(function: Function, *tensors: Tensor) -> list[Tensor | None]:
    """Return the gradient of the weighted sum of a function's outputs for each input, None where there is no path.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.testing.gradient(lab.square, lab.constant(3.0))[0])
    Tensor(6.0, shape=(), dtype=float32)
    """
    sources = [t for t in tensors if t.dtype.is_floating]
    with GradientTape() as tape:
        tape.watch(sources)
        total = weighted_sum(function(*tensors))
    found = iter(map(dense, tape.gradient(total, sources)))
    return [next(found) if t.dtype.is_floating else None for t in tensors]


def weighted_sum(value: Any) -> Tensor:
    """Sum the floating elements of a tensor or a structure of them, each with its own weight.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.testing.weighted_sum(lab.constant([1.0])))
    Tensor(1.0, shape=(), dtype=float32)
    """
    total: Any = None
    for tensor in map(convert, nest.flatten(value)[0]):
        if tensor.dtype.is_complex:
            tensor = real(tensor) + 0.6 * imag(tensor)
        if not tensor.dtype.is_floating:
            continue
        weights = np.cos(0.7 * np.arange(tensor._held.size)).reshape(tensor._held.shape)
        part = reduce_sum(tensor * constant(weights, tensor.dtype))
        total = part if total is None else total + part
    return constant(0.0, "float64") if total is None else total


def _as_float64(value: Any) -> np.ndarray[Any, Any]:
    array = np.asarray(convert(value)._array)
    return array.astype(np.float64) if array.dtype.kind in "fV" else array


def _differences(
    array: np.ndarray[Any, Any], value: Callable[[np.ndarray[Any, Any]], float], step: float
) -> np.ndarray[Any, Any]:
    if array.dtype != np.float64:
        return np.zeros(0)
    result = np.zeros(array.shape)
    for at in np.ndindex(array.shape):
        h = step * max(1.0, abs(float(array[at])))
        up, down = array.copy(), array.copy()
        up[at] += h
        down[at] -= h
        result[at] = (value(up) - value(down)) / (up[at] - down[at])
    return result
