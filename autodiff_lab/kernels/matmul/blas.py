"""Matrix products: NumPy's, or those of a second OpenBLAS where the user asks for it; the kernel under `matmul`.

NumPy multiplies, and its OpenBLAS picks the kernels that suit the CPU.  Where it picked some that leave AVX-512 idle,
``AUTODIFF_LAB_BLAS=second`` in the environment sends large products of float32 and float64 to a second OpenBLAS, the
wheel ``scipy-openblas32`` (the extra ``blas`` installs it).  It is loaded at the first large product; importing this
module loads nothing.  `describe` says which library multiplies, and why.
"""

from __future__ import annotations

import os
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from autodiff_lab.errors import DtypeMismatch
from autodiff_lab.kernels.base.choose import CHOSEN, OnGpu
from autodiff_lab.kernels.base.halves import as_float32
from autodiff_lab.kernels.matmul import narrow

WISHES = ("numpy", "auto", "second")
"""What ``AUTODIFF_LAB_BLAS`` may be; ``auto`` is an older name of the default."""
LARGE = 1 << 18
"""Multiplications from which on a product may go elsewhere than to NumPy."""
TINY, MANY, AT_ONCE = 3, 4096, 8000
"""Rows of a matrix, and elements of a stack, that is multiplied by components; and matrices that fit the caches."""
_WISH = os.environ.get("AUTODIFF_LAB_BLAS") or "numpy"
if _WISH not in WISHES:
    raise ValueError(f"AUTODIFF_LAB_BLAS={_WISH!r} is unknown. Try one of {WISHES}.")

ndarray = np.ndarray
_TRUTH, _HALF = np.dtype(np.bool_), np.dtype(np.float16)
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def product(x: Any, y: Any) -> Any:
    """Return ``x @ y``, by NumPy unless the user asked for the second library; the reference of `matmul`.

    A stack of matrices times one matrix is a single product: NumPy would make one for each matrix of the stack.  So it
    does for two stacks, and where matrices are tiny, what it takes to begin a product is most of it.
    """
    if x.ndim > 2 and y.ndim == 2 and x.__class__ is ndarray:
        return product(x.reshape(prod(x.shape[:-1]), x.shape[-1]), y).reshape(*x.shape[:-1], y.shape[1])
    if _WISH == "second" and x.__class__ is ndarray and y.__class__ is ndarray:
        out = import_module("autodiff_lab.kernels.matmul.second_library").multiply(x, y)
        if out is not None:
            return out
    arrays = x.__class__ is ndarray is y.__class__
    if arrays and x.ndim == 2 == y.ndim:
        out = narrow.multiply(x, y)
        return x @ y if out is None else out
    tiny = arrays and x.ndim > 2 < y.ndim and x.size >= MANY and max(*x.shape[-2:], y.shape[-1]) <= TINY and y.size
    fits = tiny and x.shape[:-2] == y.shape[:-2] and x.shape[-1] == y.shape[-2]
    return _by_components(x, y) if fits and x.dtype is y.dtype and x.dtype in _FLOATS else x @ y


def _by_components(x: Any, y: Any) -> Any:
    """Multiply stacks of matrices with loops along the stacks, each of which takes one component of all matrices."""
    made = np.empty((*x.shape[:-1], y.shape[-1]), x.dtype)
    stacks = [a.reshape(-1, *a.shape[-2:]) for a in (x, y, made)]
    for low in range(0, len(stacks[2]), AT_ONCE):
        left, right, out = (a[low : low + AT_ONCE].transpose(1, 2, 0) for a in stacks)
        left, right = left.copy(), right.copy()
        total = left[:, 0, None] * right[0]
        for k in range(1, len(right)):
            total += left[:, k, None] * right[k]
        out[...] = total
    return made


class Products(OnGpu):
    """The kernel of `matmul`: small products go to NumPy straight away, which is most of what they cost."""

    def __call__(self, x: Any, y: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return ``x @ y``, by NumPy, a second library, or the kernel of a GPU.

        Parameters
        ----------
        x, y : ndarray or NumPy scalar
            Of any shapes and dtypes that ``@`` takes; transposed views are not copied.

        Returns
        -------
        ndarray
            What ``x @ y`` gives, in the operands' dtype if they have one; where a large product does not run on NumPy
            it is rounded otherwise, as products are added in another order.

        Raises
        ------
        ValueError, TypeError
            Those of ``x @ y``.

        Examples
        --------
        >>> from autodiff_lab.kernels.matmul import blas
        >>> import numpy as np
        >>> x = np.ones((200, 300), np.float32)
        >>> float(blas.matmul(x, x.T)[0, 0])
        300.0
        """
        if x.dtype is _HALF and x.__class__ is ndarray:  # NumPy has no BLAS for it, and takes a hundred times as long
            return as_float32(self, x, y)
        shape = y.shape
        if x.ndim < 3 and (len(shape) < 2 or x.size * shape[-1] < LARGE):
            out = x @ y
        else:
            out = super().__call__(x, y)
        dtype = out.dtype
        if dtype is _TRUTH:
            raise DtypeMismatch("matmul: not defined for bool tensors. Try lab.cast(x, lab.int32).")
        if dtype is not x.dtype and x.dtype == y.dtype and x.dtype.isnative:  # NumPy multiplies bfloat16 in float32
            return out.astype(x.dtype, copy=False)
        return out


matmul = Products("matmul", product, "matmul.matmul")
CHOSEN["matmul"] = matmul


def describe() -> str:
    """Say which library multiplies matrices here, and why.

    Examples
    --------
    >>> from autodiff_lab.kernels.matmul import blas
    >>> "products" in blas.describe()
    True
    """
    choice = import_module("autodiff_lab.kernels.matmul.second_library").choice(_WISH == "second")
    own = f"NumPy's OpenBLAS {choice.own.version} ({choice.own.core} kernels)" if choice.own else "NumPy's BLAS"
    if choice.second is None:
        return f"products run on {own}: {choice.why}"
    second = f"a second OpenBLAS, {choice.second.version} ({choice.second.core} kernels: {choice.why})"
    return f"large products run on {second}; the others on {own}"
