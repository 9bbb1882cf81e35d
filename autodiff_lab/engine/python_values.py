"""Python and NumPy values as arrays: which dtype they get, and when they are refused."""

from __future__ import annotations

import reprlib
from typing import Any, NoReturn

import numpy as np

from autodiff_lab.engine.dtypes import public
from autodiff_lab.engine.shape import TensorShape
from autodiff_lab.engine.strings import string_array
from autodiff_lab.errors import ConversionError, NotRectangular


def refitted(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a copy of a NumPy array or scalar in another dtype.

    Raises
    ------
    ConversionError
        If fractions, imaginary parts or numbers beyond the dtype's range would be lost.

    Examples
    --------
    >>> refitted(np.array([1.0, 2.0]), np.dtype("int32"))
    array([1, 2], dtype=int32)
    """
    lost = _lost(np.asarray(value), dtype)
    if lost:
        raise ConversionError(
            f"Cannot convert a NumPy array of dtype {value.dtype} to Tensor of dtype {public(dtype).name}; {lost}. Try "
            "lab.cast."
        )
    with np.errstate(all="ignore"):
        return np.array(value if value.dtype.kind != "c" or dtype.kind == "c" else value.real).astype(dtype)[()]


def _lost(array: Any, dtype: np.dtype[Any]) -> str:
    """Return what a conversion would lose, empty if it is nothing."""
    have, want = array.dtype.kind, dtype.kind
    if "O" in (have, want):
        return "text and numbers do not mix"
    if have == "c" and want != "c":
        return "that would drop imaginary parts" if array.imag.any() else _lost(array.real, dtype)
    if want in "fcV" or have == "b":
        return ""
    if want == "b":
        return "" if np.isin(array.astype(np.float64), (0.0, 1.0)).all() else "it contains values other than 0 and 1"
    if have == "V":
        return _lost(array.astype(np.float64), dtype)
    if have == "f" and not np.all(np.isfinite(array) & (np.trunc(array) == array)):
        return "that would drop fractional parts" if np.isfinite(array).all() else "some values are not finite"
    if not array.size:
        return ""
    limits = np.iinfo(dtype)
    fits = limits.min <= int(array.min()) and int(array.max()) <= limits.max
    return "" if fits else "some values are out of range"


_DEFAULTS = {"f": np.dtype("float32"), "i": np.dtype("int32")}
_INT64 = np.dtype("int64")


def fits(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> bool:
    """Return whether a Python value of this natural dtype may become `dtype`: ints may widen, floats never truncate."""
    order = "biufcV"
    have, want = array.dtype.kind, dtype.kind
    if have == "O" or want in "bO":
        return have == want
    if want == "V":  # bfloat16
        return have in "iuf"
    return order.index(have) <= order.index(want) or (have in "iu" and want in "iu")


def python_array(value: Any, dtype: np.dtype[Any] | None) -> Any:
    """Return the array of a Python value that holds no tensor."""
    array = _as_numpy(value)
    if array.dtype.kind in "USO" and isinstance(next(array.flat, None), (str, bytes)):
        return string_array(value, dtype)
    if array.dtype.kind not in "fiubc":
        raise ConversionError(f"Cannot convert {reprlib.repr(value)} to Tensor: {_fault(value, array)}")
    if dtype is None:
        dtype = _natural(value, array)
    elif array.size:
        _check_fit(value, array, dtype)
    if dtype.kind in "iub":
        return array.astype(dtype)
    with np.errstate(all="ignore"):  # a number beyond the dtype's range becomes infinite, as IEEE 754 says
        return array.astype(dtype)


def _as_numpy(value: Any) -> np.ndarray[Any, np.dtype[Any]]:
    try:
        return np.asarray(value)
    except UnicodeDecodeError:  # bytes that are not UTF-8 beside text
        return np.array(value, object)
    except ValueError:
        raise NotRectangular(
            "Can't convert non-rectangular Python sequence to Tensor. Every row of nested lists must have the same "
            "length; try lab.ragged.constant(...) for rows of different lengths, or pad them."
        ) from None
    except OverflowError:
        raise ConversionError(f"Cannot convert {reprlib.repr(value)} to Tensor: the number is too large.") from None


def _natural(value: Any, array: np.ndarray[Any, Any]) -> np.dtype[Any]:
    """Return the dtype that Python values get if none is given: 32 bits, 64 for integers that need them."""
    kind = array.dtype.kind
    if kind == "u":  # NumPy's choice where a number is 2⁶³ or more
        _refuse(value, _INT64, array)
    if kind == "i" and array.size:
        low, high = _extremes(array)
        if low < -(2**31) or high >= 2**31:
            return array.dtype
    if not array.size and isinstance(value, TensorShape):
        return _DEFAULTS["i"]
    return _DEFAULTS.get(kind) or array.dtype


def _check_fit(value: Any, array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> None:
    """Refuse what the given dtype cannot hold."""
    if not fits(array, dtype):
        raise ConversionError(
            f"Cannot convert {reprlib.repr(value)} to Tensor of dtype {public(dtype).name}. Try {_cure(dtype)}."
        )
    if array.dtype.kind in "iu" and dtype.kind in "iu":
        limits, (low, high) = np.iinfo(dtype), _extremes(array)
        if low < limits.min or high > limits.max:
            _refuse(value, dtype, array)


def _refuse(value: Any, dtype: np.dtype[Any], array: np.ndarray[Any, Any]) -> NoReturn:
    cure = "dtype=lab.int64" if array.dtype.kind == "i" else "dtype=lab.uint64, or a float such as 1e19"
    raise ConversionError(
        f"Cannot convert {reprlib.repr(value)} to Tensor of dtype {public(dtype).name}: out of range. Try {cure}."
    )


def _extremes(array: np.ndarray[Any, Any]) -> tuple[int, int]:
    """Return the smallest and the largest of integers; for a few, Python is faster than NumPy."""
    if array.size > 64:
        return int(array.min()), int(array.max())
    numbers = array.ravel().tolist()
    return min(numbers), max(numbers)


def _cure(dtype: np.dtype[Any]) -> str:
    if dtype.kind == "O":
        return "lab.strings.as_string(value)"
    return f"lab.cast(value, {public(dtype).name!r}), or another dtype"


NO_GRADIENT = (
    "a gradient is None if the target does not depend on the source. Try tape.explain(target, source), which says why."
)


def _fault(value: Any, array: np.ndarray[Any, Any]) -> str:
    """Return what is wrong with a value that NumPy cannot convert to numbers."""
    if value is None:
        return NO_GRADIENT
    item = array.ravel()[0] if array.size else value
    name = type(item).__name__
    if array.size and all(type(item) is int for item in array.flat):
        return "it does not fit in 64 bits. Try a float, such as 1e30."
    return (
        f"it holds {'an' if name[0] in 'aeiou' else 'a'} {name}, not numbers. "
        "Try numbers, lists of numbers, NumPy arrays or tensors."
    )


def fault_of_objects(array: Any) -> str:
    """Return what is wrong with an array of Python objects; nothing if there are strings in it.

    Examples
    --------
    >>> fault_of_objects(np.array([1.0, None], object))
    'it holds None. Try numpy.nan, or a number, for what is missing, and array.astype("float32").'
    """
    items = list(array.flat)
    if not items or any(isinstance(item, (str, bytes)) for item in items):
        return ""
    if any(item is None for item in items):
        return 'it holds None. Try numpy.nan, or a number, for what is missing, and array.astype("float32").'
    if any(isinstance(item, (list, tuple, np.ndarray)) for item in items):
        return "it holds lists or arrays. Try lab.ragged.constant(array.tolist()), or rows of one length."
    kinds = sorted({type(item).__name__ for item in items})
    return f'its elements are Python objects ({", ".join(kinds[:3])}). Try array.astype("float32").'
