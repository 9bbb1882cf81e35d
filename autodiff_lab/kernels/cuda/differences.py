"""Functions of NumPy that CuPy has with another result, and what runs in their place.

This follows CuPy 14.  Every entry says what differs; nothing here is for speed.  Arguments are arrays of CuPy and
scalars; results are arrays of CuPy.  In the simulator the same code runs on NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.library import product_of
from autodiff_lab.kernels.cuda.promises import ask


def into(out: Any, made: Any) -> Any:
    """Return a result, written into an array where one was given for it."""
    if out is None:
        return made
    out[...] = made
    return out


def dividing(memory: Any, name: str, of_floats: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function that differs for floats alone; `of_floats` gets the rest and where its sign is not that of y."""
    m = memory.module

    def run(x: Any, y: Any, out: Any = None) -> Any:
        dtype = m.result_type(x, y)
        if dtype.kind != "f":
            return getattr(m, name)(x, y) if out is None else getattr(m, name)(x, y, out=out)
        y = m.asarray(y, dtype)  # a scalar has no elements to choose by
        rest = m.fmod(x, y)
        return into(out, of_floats(m, dtype, x, y, rest, (rest != 0) & ((rest < 0) != (y < 0))))

    return run


def _remainder(m: Any, dtype: Any, x: Any, y: Any, rest: Any, beyond: Any) -> Any:
    """CuPy computes x - floor(x / y)·y, which is nan for an infinite y and loses digits where x / y is large."""
    return m.where(beyond, rest + y, m.where(rest == 0, m.copysign(dtype.type(0), y), rest))


def _floor_divide(m: Any, dtype: Any, x: Any, y: Any, rest: Any, beyond: Any) -> Any:
    """CuPy rounds x / y down, which is rounded already: 1 // 0.1 should be 9, but 1 / 0.1 is 10."""
    near = (x - rest) / y
    near = m.where(beyond, near - 1, near)
    whole = m.floor(near)
    whole = m.where(near - whole > 0.5, whole + 1, whole)
    whole = m.where(near == 0, m.copysign(dtype.type(0), x / y), whole)
    return m.where(y == 0, x / y, whole).astype(dtype, copy=False)


def power(memory: Any) -> Callable[..., Any]:
    """Integers to negative integer powers are an error in NumPy; CuPy gives 0."""
    m = memory.module

    def run(x: Any, y: Any, out: Any = None) -> Any:
        if m.result_type(x, y).kind in "iu":
            ask(memory, m.all(m.asarray(y) >= 0), lambda: ValueError("Integers to negative integer powers"))
        return m.power(x, y) if out is None else m.power(x, y, out=out)

    return run


def angle(memory: Any) -> Callable[..., Any]:
    """CuPy returns π for nan and 0 for -0 among real numbers."""
    m = memory.module

    def run(z: Any, deg: bool = False) -> Any:
        made = m.angle(z) if z.dtype.kind == "c" else m.arctan2(z.dtype.type(0), z)
        return made * (180 / np.pi) if deg else made

    return run


def _looking(memory: Any) -> AbstractContextManager[Any]:
    """Return a block in which CuPy checks what its libraries report of a matrix, for which it waits."""
    return nullcontext() if memory.simulated else import_module("cupyx").errstate(linalg="raise")


def solve(memory: Any) -> Callable[..., Any]:
    """CuPy does not broadcast stacks of matrices, and returns numbers for singular ones unless told to check."""
    m = memory.module

    def run(a: Any, b: Any) -> Any:
        if b.ndim > 1 and a.shape[:-2] != b.shape[:-2]:
            stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
            a, b = m.broadcast_to(a, stack + a.shape[-2:]), m.broadcast_to(b, stack + b.shape[-2:])
        with _looking(memory):
            return m.linalg.solve(a, b)

    return run


def looking(memory: Any, name: str) -> Callable[..., Any]:
    """Make a function of linear algebra that raises for a singular matrix, as NumPy's does; CuPy has to be told to."""

    def run(*arrays: Any, **how: Any) -> Any:
        with _looking(memory):
            return getattr(memory.module.linalg, name)(*arrays, **how)

    return run


def joined(memory: Any, name: str) -> Callable[..., Any]:
    """Concatenate and stack: CuPy does not accept scalars among the arrays."""
    m = memory.module
    return lambda parts, **how: getattr(m, name)([m.asarray(p) for p in parts], **how)


def cumulative(memory: Any, name: str) -> Callable[..., Any]:
    """Cumulative sums and products: CuPy accumulates half floats in their own precision, and lacks small integers."""
    run = getattr(memory.module, name)

    def over(x: Any, axis: Any = None, dtype: Any = None) -> Any:
        wanted = np.dtype(x.dtype if dtype is None else dtype)
        if wanted.itemsize > 2:
            return run(x, axis=axis) if dtype is None else run(x, axis=axis, dtype=dtype)
        wide = np.float32 if wanted.kind == "f" else np.int32
        made = run(x.astype(wide), axis=axis, dtype=wide)
        return made if dtype is None and wanted.kind != "f" else made.astype(wanted)

    return over


# `ufunc.at`: CuPy's takes few dtypes, and its atomic maximum of float64 goes through float32 and drops nan.  So
# extremes are taken of integers: the bits of a float, read as unsigned and with negative ones inverted, have the order
# of the floats, and nan is put at the winning end.  Sums of floats are atomic, in no fixed order; the CUDA kernels of
# `scatter_axis` and the like have one.


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


DIFFERENT_UFUNCS: dict[str, Callable[[Any], Callable[..., Any]]] = {
    "remainder": partial(dividing, name="remainder", of_floats=_remainder),
    "floor_divide": partial(dividing, name="floor_divide", of_floats=_floor_divide),
    "matmul": product_of,
    "power": power,
}
"""By the name of a ufunc, what makes its function for a memory."""
DIFFERENT_FUNCTIONS: dict[tuple[str, str], Callable[[Any], Callable[..., Any]]] = {
    ("numpy", "angle"): angle,
    ("numpy", "concatenate"): partial(joined, name="concatenate"),
    ("numpy", "stack"): partial(joined, name="stack"),
    ("numpy", "cumsum"): partial(cumulative, name="cumsum"),
    ("numpy", "cumprod"): partial(cumulative, name="cumprod"),
    ("numpy.linalg", "solve"): solve,
    ("numpy.linalg", "inv"): partial(looking, name="inv"),
    ("numpy.linalg", "cholesky"): partial(looking, name="cholesky"),
}
"""By module and name of a function."""
