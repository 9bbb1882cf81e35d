"""The two numbers that a check compares: the tape's gradient, and central differences in float64.

Outputs are weighted by numbers that differ from element to element, so that wrong elements do not cancel in the sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.engine import nest
from autodiff_lab.engine.convert import constant, convert
from autodiff_lab.engine.indexed_slices import dense
from autodiff_lab.engine.tape import GradientTape
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.math.complex_numbers import imag, real
from autodiff_lab.ops.math.reductions import reduce_sum

Function = Callable[..., Any]
Array = np.ndarray[Any, Any]


def numeric_gradient(function: Callable[..., object], *inputs: object, step: float = 1e-6) -> list[Array]:
    """Compute the gradient by central differences, ``(f(x + h) - f(x - h)) / 2h`` for each element.

    Parameters
    ----------
    function : callable
        Takes float64 tensors and returns a tensor or a structure of them; outputs are weighted and added up.
    *inputs : Tensor, array, number or nested list
        Where to differentiate; converted to float64, or to complex128.  Integers and bools are passed on and not
        differentiated.
    step : float
        h, relative to elements larger than 1.

    Returns
    -------
    list of numpy.ndarray
        One for each input, of its shape, float64; complex128 for complex inputs, with the derivatives with respect to
        the real and the imaginary part; empty arrays for other inputs.

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
    arrays = [as_double(x) for x in inputs]

    def value(k: int, changed: Array) -> float:
        tensors = [constant(changed if i == k else a) for i, a in enumerate(arrays)]
        return float(weighted_sum(function(*tensors))._array)

    return [_differences(a, lambda changed, k=k: value(k, changed), step) for k, a in enumerate(arrays)]


def gradient(function: Function, *tensors: Tensor) -> list[Tensor | None]:
    """Return the gradient of the weighted sum of a function's outputs for each input, None where there is no path.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.testing.gradient(lab.square, lab.constant(3.0))[0])
    Tensor(6.0, shape=(), dtype=float32)
    """
    return swept(*traced(function, *tensors))


def traced(function: Function, *tensors: Tensor) -> tuple[GradientTape, Tensor, tuple[Tensor, ...]]:
    """Run a function on a tape that watches its inputs; return the tape, the weighted sum and the inputs.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> _, total, _ = traced(lab.square, lab.constant(3.0))
    >>> float(total)
    9.0
    """
    with GradientTape() as tape:
        tape.watch([t for t in tensors if is_differentiated(t)])
        total = weighted_sum(function(*tensors))
    return tape, total, tensors


def swept(tape: GradientTape, total: Tensor, tensors: tuple[Tensor, ...]) -> list[Tensor | None]:
    """Return the gradients of what `traced` ran, one for each input.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> float(swept(*traced(lab.square, lab.constant(3.0)))[0])
    6.0
    """
    found = iter(map(dense, tape.gradient(total, [t for t in tensors if is_differentiated(t)])))
    return [next(found) if is_differentiated(t) else None for t in tensors]


def is_differentiated(tensor: Tensor) -> bool:
    """Return whether an input of this dtype has a gradient.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> is_differentiated(lab.constant(1.0)), is_differentiated(lab.constant(1))
    (True, False)
    """
    return tensor.dtype.is_floating or tensor.dtype.is_complex


def weighted_sum(value: object) -> Tensor:
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
        part = reduce_sum(tensor * constant(weights(tensor._held.shape), tensor.dtype))
        if total is not None and part.dtype is not total.dtype:  # a program may mix precisions
            part, total = cast(part, "float64"), cast(total, "float64")
        total = part if total is None else total + part
    return constant(0.0, "float64") if total is None else total


def weights(shape: tuple[int, ...]) -> Array:
    """Return the weights of an output's elements.

    Examples
    --------
    >>> weights((2,)).round(3).tolist()
    [1.0, 0.765]
    """
    return np.cos(0.7 * np.arange(math.prod(shape))).reshape(shape)


def as_double(value: Any) -> Array:
    """Return an input as an array of doubles, real or complex; integers and bools as they are.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> as_double(lab.constant(1.5)).dtype, as_double(3).dtype
    (dtype('float64'), dtype('int32'))
    """
    tensor = convert(value)
    if tensor.dtype.name == "float32" and isinstance(value, float | list | tuple):
        tensor = constant(value, "float64")  # Python's floats are doubles: 0.1 is to stay what it is
    array = np.asarray(tensor._array)
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    return array.astype(np.float64) if array.dtype.kind in "fV" else array


def _differences(array: Array, value: Callable[[Array], float], step: float) -> Array:
    if array.dtype.kind not in "fc":
        return np.zeros(0)
    result = np.zeros(array.shape, array.dtype)
    for at in np.ndindex(array.shape):
        for unit in (1.0, 1j) if array.dtype.kind == "c" else (1.0,):
            h = step * max(1.0, abs(array[at]))
            up, down = array.copy(), array.copy()
            up[at] += h * unit
            down[at] -= h * unit
            apart = abs(up[at] - down[at])
            result[at] += unit * (value(up) - value(down)) / apart
    return result
