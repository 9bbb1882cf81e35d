"""Calls of an OpenBLAS from Python: two arrays in, their product out, without a copy and in about two microseconds.

Only arrays that BLAS can read where they lie are taken: rows or columns next to each other, forwards, aligned.
Everything else is given back as None, and NumPy does it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.kernels.blas import LEAST

if TYPE_CHECKING:
    from autodiff_lab.kernels.libraries import Library

NARROW = 16
"""Matrices with fewer rows or columns than this are bound by memory, and gain nothing or lose."""
_LARGEST = 2**31 - 1  # integers of the second library have 32 bits
_ROW_MAJOR, _AS_IT_IS, _TRANSPOSED = 101, 111, 112  # the numbers that CBLAS gives them

Pointer = Callable[[Any], Any]
Product = Callable[..., Any]


def products_of(second: Library, own: Library) -> dict[Any, Product]:
    """By dtype, a function that multiplies two matrices with the second library, or gives None."""
    follow = _follower(second, own)
    pointer = _pointers()
    return {
        np.dtype(np.float32): _product(second.function("cblas_sgemm"), ctypes.c_float, 4, follow, pointer),
        np.dtype(np.float64): _product(second.function("cblas_dgemm"), ctypes.c_double, 8, follow, pointer),
    }


def _follower(second: Library, own: Library) -> Callable[[], None]:
    """A function that gives the second library as many threads as NumPy's has now."""
    # Neither takes time, so the interpreter's lock is kept: `PyDLL`.
    ours, numpys = ctypes.PyDLL(second.path), ctypes.PyDLL(own.path)
    asked = numpys[f"{own.prefix}openblas_get_num_threads{own.suffix}"]
    told = ours[f"{second.prefix}openblas_set_num_threads{second.suffix}"]
    now: list[int] = [0]

    def follow() -> None:
        count = asked()
        if count != now[0]:
            told(count)
            now[0] = count

    return follow


def _pointers() -> Pointer:
    """How an array's address is found: read from the head of the object, ten times faster, if that is where it is."""
    offset, read = object.__basicsize__, ctypes.c_void_p.from_address

    def quick(array: Any) -> Any:
        return read(id(array) + offset)

    base = np.zeros((3, 5))
    trials = (base, base[1:, 2:], base.T, np.zeros(7, np.float32)[3:])
    if all(quick(trial).value == trial.ctypes.data for trial in trials):
        return quick
    return lambda array: ctypes.c_void_p(array.ctypes.data)


def _read(x: Any, size: int) -> tuple[int, int]:
    """How BLAS is to read a matrix, and how many elements lie from one stored row to the next; (0, 0) if it cannot."""
    far, near = x.strides
    turned, length = _AS_IT_IS, x.shape[1]
    if near != size:
        far, near, turned, length = near, far, _TRANSPOSED, x.shape[0]
    if near != size or far < length * size or far % size or far > _LARGEST * size or not x.flags.aligned:
        return 0, 0
    return turned, far // size


def _product(gemm: Any, scalar: Any, size: int, follow: Callable[[], None], pointer: Pointer) -> Product:
    one, zero = scalar(1), scalar(0)

    def product(x: Any, y: Any, out: Any = None) -> Any:
        m, k = x.shape
        inner, n = y.shape
        if inner != k or m * n * k < LEAST or m < NARROW or n < NARROW or max(m, n, k) > _LARGEST:
            return None
        turned_x, step_x = _read(x, size)
        turned_y, step_y = _read(y, size)
        if not (turned_x and turned_y):
            return None
        px, py = pointer(x), pointer(y)
        if turned_x != turned_y and px.value == py.value and m == n:
            return None  # x times its own transpose: NumPy does half of the work, and the result is symmetric
        if out is None:
            out = np.empty((m, n), x.dtype)
        follow()
        gemm(_ROW_MAJOR, turned_x, turned_y, m, n, k, one, px, step_x, py, step_y, zero, pointer(out), n)
        return out

    return product
