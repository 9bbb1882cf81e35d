"""`ufunc.at` on a GPU: CuPy's takes few dtypes, loses digits and drops nan; here every dtype gets NumPy's answer.

CuPy's atomic maximum of float64 goes through float32, and nan loses against any number.  So extremes are taken of
integers: the bits of a float, seen without a sign and with the negative ones turned round, are in the order of the
floats, and nan is put at the winning end.  Sums of floats are atomic, in no fixed order; the CUDA kernels of
`scatter_axis` and its kin have one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def at(memory: Any, name: str) -> Callable[..., None] | None:
    """Return what stands for ``ufunc.at``; None for ufuncs that nothing here does."""
    if name in ("add", "subtract"):
        return lambda total, index, values: _add(memory, total, memory.indices(index), _signed(name, values))
    if name in ("maximum", "minimum"):
        return lambda total, index, values: _extreme(memory, name, total, memory.indices(index), values)
    return None


def _signed(name: str, values: Any) -> Any:
    return values if name == "add" else -values


def _add(memory: Any, total: Any, index: Any, values: Any) -> None:
    m = memory.module
    if total.dtype.kind == "c":
        values = m.asarray(values)
        m.add.at(total.real, index, values.real)
        m.add.at(total.imag, index, values.imag)
    elif total.dtype.kind == "i" and total.itemsize == 8:  # sums of integers do not mind the sign
        m.add.at(total.view(np.uint64), index, m.asarray(values, total.dtype).view(np.uint64))
    elif total.dtype.kind in "iu" and total.itemsize < 4:
        wide = total.astype(np.int32)
        m.add.at(wide, index, m.asarray(values).astype(np.int32))
        total[...] = wide.astype(total.dtype)
    else:
        m.add.at(total, index, values)


def _extreme(memory: Any, name: str, total: Any, index: Any, values: Any) -> None:
    m = memory.module
    wide = _wide(total.dtype)
    nan_wins = np.iinfo(f"u{wide.itemsize}").max if name == "maximum" else 0
    keys = _keys(m, total.astype(wide), nan_wins)
    getattr(m, name).at(keys, index, _keys(m, m.asarray(values).astype(wide), nan_wins))
    total[...] = _values(m, keys, wide).astype(total.dtype)


def _wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of four or eight bytes in which an extreme is taken."""
    return np.dtype(f"{dtype.kind}4") if dtype.itemsize < 4 else dtype


def _keys(m: Any, x: Any, nan_wins: int) -> Any:
    """Integers without a sign that are in the order of the values."""
    if x.dtype.kind == "u":
        return x
    unsigned = np.dtype(f"u{x.itemsize}").type
    top = unsigned(1 << (8 * x.itemsize - 1))
    bits = x.view(unsigned)
    if x.dtype.kind == "i":
        return bits ^ top
    ordered = m.where((bits & top) != 0, ~bits, bits | top)
    return m.where(m.isnan(x), unsigned(nan_wins), ordered)


def _values(m: Any, keys: Any, dtype: np.dtype[Any]) -> Any:
    """Values by their keys; both ends of the keys of floats are nan."""
    if dtype.kind == "u":
        return keys
    top = keys.dtype.type(1 << (8 * dtype.itemsize - 1))
    if dtype.kind == "i":
        return (keys ^ top).view(dtype)
    return m.where((keys & top) != 0, keys ^ top, ~keys).view(dtype)
