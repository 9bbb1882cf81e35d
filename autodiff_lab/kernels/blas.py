"""Matrix products by the fastest means at hand; the kernel under `matmul`, and an address for Numba kernels.

NumPy multiplies, and its OpenBLAS picks the kernels that suit the CPU.  Where it picked some that leave AVX-512 idle,
large products of float32 and float64 go to a second OpenBLAS, if the wheel ``scipy-openblas32`` is installed (the extra
``blas`` brings it).  Between the libraries facts choose and no measurement, at the first large product; importing this
module loads nothing.  Beside them stands an override like those of other heavy ops: `kernels.jit.products`.

A user who sets ``OPENBLAS_CORETYPE`` has chosen OpenBLAS's kernels, and no second library replaces them.
``AUTODIFF_LAB_BLAS`` in the environment goes further: ``numpy`` keeps every product with NumPy, ``second`` takes the
second library in spite of ``OPENBLAS_CORETYPE``.  `describe` tells what was chosen and why.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from autodiff_lab.errors import DtypeMismatch
from autodiff_lab.kernels.choose import CHOSEN, Chosen, numba_is_there

if TYPE_CHECKING:
    from autodiff_lab.kernels.libraries import Library

WISHES = ("auto", "numpy", "second")
LEAST = 1 << 18
"""Multiplications from which on a call of the second library pays."""
_WISH = os.environ.get("AUTODIFF_LAB_BLAS", "auto")
if _WISH not in WISHES:
    raise ValueError(f"AUTODIFF_LAB_BLAS={_WISH!r} is unknown. Try one of {WISHES}.")
PER_WORK = 16
"""Multiplications in one unit of the work of `matmul`, so that samples of up to a million units show what wins."""

ndarray = np.ndarray
_TRUTH = np.dtype(np.bool_)
_lock = threading.Lock()


class Routine(NamedTuple):
    """Where ``cblas_sgemm`` or ``cblas_dgemm`` begins in memory, and how many bytes its integers have."""

    address: int
    width: int


@dataclass(frozen=True)
class Choice:
    """The libraries of this process: the second one if it serves, NumPy's own if it is known, and why."""

    second: Library | None
    own: Library | None
    why: str


class _State:
    """What is known so far: nothing, until the first large product."""

    choice: Choice | None = None
    products: dict[Any, Any] | None = None  # by dtype, the functions of the second library; empty if NumPy serves


def by_library(x: Any, y: Any) -> Any:
    """Return ``x @ y``, by NumPy or by the second library; the reference of `matmul`."""
    products = _State.products
    if products is None:
        products = _products()
    if not products or x.__class__ is not ndarray or y.__class__ is not ndarray or x.dtype is not y.dtype:
        return x @ y
    product = products.get(x.dtype)
    if product is None or x.ndim < 2 or y.ndim < 2:
        return x @ y
    out = product(x, y) if x.ndim == 2 == y.ndim else _stacked(product, x, y)
    return x @ y if out is None else out


class Products(Chosen):
    """The kernel of `matmul`: small products go to NumPy straight away, which is most of what they cost."""

    def __call__(self, x: Any, y: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return ``x @ y``, by the fastest means at hand.

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
        >>> from autodiff_lab.kernels import blas
        >>> import numpy as np
        >>> x = np.ones((200, 300), np.float32)
        >>> float(blas.matmul(x, x.T)[0, 0])
        300.0
        """
        shape = y.shape
        if len(shape) < 2 or x.size * shape[-1] < LEAST:
            out = x @ y
        elif _WISH == "numpy":
            out = self.reference(x, y)
        else:
            out = super().__call__(x, y)
        dtype = out.dtype
        if dtype is _TRUTH:
            raise DtypeMismatch("matmul: truth values are not multiplied. Try lab.cast(x, lab.int32).")
        if dtype is not x.dtype and x.dtype == y.dtype and x.dtype.isnative:  # NumPy multiplies bfloat16 in float32
            return out.astype(x.dtype, copy=False)
        return out

    def compile(self, dtype: Any) -> bool:
        """Compile the override, unless every product is NumPy's."""
        return _WISH != "numpy" and super().compile(dtype)


matmul = Products("matmul", by_library, "products.matmul", lambda x, y: x.size * y.shape[-1] / PER_WORK)
CHOSEN["matmul"] = matmul


def _stacked(product: Any, x: Any, y: Any) -> Any:
    """Products of stacks, one matrix after the other; a stack times one matrix is a single product of all its rows."""
    if y.ndim == 2:
        if not x.flags.c_contiguous:
            return None
        out = product(x.reshape(-1, x.shape[-1]), y)
        return None if out is None else out.reshape(*x.shape[:-1], y.shape[-1])
    if x.shape[-2] * x.shape[-1] * y.shape[-1] < LEAST or x.shape[-1] != y.shape[-2]:
        return None
    try:
        stack = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    except ValueError:
        return None
    out = np.empty((*stack, x.shape[-2], y.shape[-1]), x.dtype)
    x, y = np.broadcast_to(x, (*stack, *x.shape[-2:])), np.broadcast_to(y, (*stack, *y.shape[-2:]))
    for place in np.ndindex(stack):
        if product(x[place], y[place], out[place]) is None:
            return None
    return out


def _products() -> dict[Any, Any]:
    """By dtype, the products of the second library; made once."""
    if _State.products is None:
        from autodiff_lab.kernels.calling import products_of

        choice = chosen()
        made = products_of(choice.second, choice.own) if choice.second and choice.own else {}
        _State.products = made
    return _State.products


def chosen() -> Choice:
    """The libraries of this process; looked for once, and never before the first large product."""
    if _State.choice is None:
        with _lock:
            if _State.choice is None:
                _State.choice = _choose()
    return _State.choice


def _choose() -> Choice:
    from autodiff_lab.kernels import libraries

    own = libraries.of_numpy()
    if _WISH == "numpy":
        return Choice(None, own, "AUTODIFF_LAB_BLAS=numpy says so")
    if own is None:
        return Choice(None, None, "it was not built with OpenBLAS, or not as its wheels are")
    if "OPENBLAS_CORETYPE" in os.environ and _WISH != "second":
        return Choice(None, own, f"OPENBLAS_CORETYPE={os.environ['OPENBLAS_CORETYPE']} chooses its kernels")
    if own.suits or not libraries.has_wide_registers():
        return Choice(None, own, "its kernels are those for this CPU")
    second = libraries.second()
    if second is None:
        return Choice(None, own, "scipy-openblas32, which has faster kernels for this CPU, is not installed")
    if not second.suits:
        return Choice(None, own, f"scipy-openblas32 has no faster kernels for this CPU, only {second.core}")
    return Choice(second, own, "they use AVX-512, NumPy's do not")


def numpy_suits() -> bool:
    """Whether NumPy's library, as far as it is known, runs kernels that use AVX-512."""
    own = chosen().own
    return own is not None and own.suits


def routine(dtype: Any) -> Routine | None:
    """Return where the matrix product of the best library begins, for Numba kernels that call it by its address.

    Parameters
    ----------
    dtype : dtype or str
        float32 or float64.

    Returns
    -------
    Routine or None
        ``(address, width)``, to be passed on to `kernels.jit.gemm.call_gemm`; the address of ``cblas_sgemm`` or
        ``cblas_dgemm``, and the bytes of an integer there.  None for other dtypes, and where no library is known whose
        functions can be told.  The address holds for this process and its forks.

    Examples
    --------
    >>> from autodiff_lab.kernels import blas
    >>> found = blas.routine("float32")
    >>> found is None or found.width in (4, 8)
    True
    >>> blas.routine("int32") is None
    True
    """
    name = {"f": "cblas_sgemm", "d": "cblas_dgemm"}.get(np.dtype(dtype).char)
    choice = chosen()
    library = choice.second or choice.own
    if name is None or library is None:
        return None
    return Routine(library.address(name), library.width)


def describe() -> str:
    """Say which library multiplies matrices here, and why.

    Examples
    --------
    >>> from autodiff_lab.kernels import blas
    >>> "products" in blas.describe()
    True
    """
    choice = chosen()
    own = f"NumPy's OpenBLAS {choice.own.version} ({choice.own.core} kernels)" if choice.own else "NumPy's BLAS"
    if choice.second is None:
        return f"products run on {own}: {choice.why}{_beside()}"
    second = f"a second OpenBLAS, {choice.second.version} ({choice.second.core} kernels: {choice.why})"
    return f"large products run on {second}; the others on {own}{_beside()}"


def _beside() -> str:
    from autodiff_lab.kernels.libraries import has_wide_registers

    if _WISH == "numpy" or not numba_is_there() or not has_wide_registers():
        return ""
    return "; large ones on a kernel of our own where it is faster"


def _after_fork() -> None:
    global _lock  # noqa: PLW0603 - a lock that another thread held is held for ever in the child
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
