"""NumPy values asked for in another dtype: floats may lose digits, nothing else may be lost."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.dtypes import public
from autodiff_lab.errors import ConversionError


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
