"""Products called from compiled loops: BLAS by its address, without Python in between.

Generated modules import it.  SciPy publishes the addresses of its BLAS for compiled code.  An address
differs from process to process, so it is an argument of a loop and no part of its machine code.
"""
# ruff: noqa: ANN001, ANN201

# pyright: reportUnusedParameter=false, reportCallIssue=false
from __future__ import annotations

import ctypes
import functools
from importlib import import_module
from typing import Any

from autodiff_lab.kernels.base.deferred import intrinsic, ir, register_jitable

_NAMES = {"float32": "sgemm", "float64": "dgemm"}


@functools.cache
def address(kind: str) -> int:
    """Return the address of the matrix product of a dtype.

    Parameters
    ----------
    kind : str
        ``"float32"`` or ``"float64"``.

    Examples
    --------
    >>> from autodiff_lab.kernels.matmul import direct
    >>> direct.address("float32") != direct.address("float64")
    True
    """
    published: Any = import_module("scipy.linalg.cython_blas").__pyx_capi__[_NAMES[kind]]
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return int(api.PyCapsule_GetPointer(published, api.PyCapsule_GetName(published)))


@intrinsic("void", *["="] * 14)
def _gemm(site: Any, *args: Any) -> None:
    """Call ``gemm`` of BLAS: numbers by value here, by reference there."""
    function, first, second, m, n, k, scale, x, along_x, y, along_y, keep, z, along_z = args
    b, integer, letter, number = site.builder, ir.IntType(32), ir.IntType(8), site.element(6)

    def held(value: Any, kind: Any) -> Any:
        slot = site.alloca(kind)
        b.store(value, slot)
        return slot

    def flipped(flips: Any) -> Any:
        return held(b.select(flips, letter(ord("T")), letter(ord("N"))), letter)

    def size(value: Any) -> Any:
        return held(b.trunc(value, integer), integer)

    pointers = [b.inttoptr(one, number.as_pointer()) for one in (x, y, z)]
    passed = [
        flipped(first), flipped(second), size(m), size(n), size(k), held(scale, number), pointers[0], size(along_x),
        pointers[1], size(along_y), held(keep, number), pointers[2], size(along_z),
    ]  # fmt: skip
    kind = ir.FunctionType(ir.VoidType(), [one.type for one in passed])
    b.call(b.inttoptr(function, kind.as_pointer()), passed)


@register_jitable
def product(where, x, y, z, m, n, k, along_x, flips_x, along_y, flips_y, keep):
    """Put ``x @ y`` into z, or add it to z: slices of flat arrays that begin with matrices in row order.

    Parameters
    ----------
    where : int
        The address of the product of this dtype.
    x, y, z : array
        One-dimensional, of one dtype: (m, k), (k, n) and (m, n), the last one contiguous.
    m, n, k : int
        The sizes.
    along_x, along_y : int
        Elements from one row to the next, or from one column to the next where the matrix is flipped.
    flips_x, flips_y : bool
        Whether the columns are contiguous, not the rows.
    keep : number
        0 or 1: by what z is multiplied before the product is added.
    """
    one = z.dtype.type(1)
    _gemm(where, flips_y, flips_x, n, m, k, one, y.ctypes.data, along_y, x.ctypes.data, along_x, keep, z.ctypes.data, n)
