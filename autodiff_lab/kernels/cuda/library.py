"""Whether CuPy's matrix products work here, and what multiplies where they do not.

CuPy leaves products of floats to cuBLAS, a separate library that may not be installed (it is large), and finds out at
the first product.  It is tried once for each GPU; where it fails there is one warning, and `matmul.cuda` multiplies.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autodiff_lab.kernels.cuda.memory import Memory

NOT_LOADED = (ImportError, OSError, RuntimeError)
"""What CuPy raises where cuBLAS is not installed, or not in a version that it supports."""
_works: dict[Any, bool] = {}


def library_works(memory: Memory) -> bool:
    """Whether CuPy multiplies matrices on a GPU; found out once, by a product of two matrices of four numbers."""
    works = _works.get(memory)
    return _try(memory) if works is None else works


def _try(memory: Memory) -> bool:
    why = ""
    try:
        with memory.using():
            ones = memory.module.ones((2, 2), "float32")
            memory.module.matmul(ones, ones)
    except NOT_LOADED as error:
        first = (str(error).splitlines() or [""])[0]
        why = f"{type(error).__name__}: {first}"
    _works[memory] = not why
    if why:
        warnings.warn(
            f"{memory.name}: cuBLAS does not load ({why}), so matrix products run on slower kernels of this package. "
            "Try: pip install 'autodiff-lab[cuda]', which brings it.",
            RuntimeWarning,
            stacklevel=3,
        )
    return _works[memory]


def product_of(memory: Memory) -> Callable[..., Any]:
    """Return what multiplies arrays of CuPy on a GPU."""

    def product(x: Any, y: Any, **how: Any) -> Any:
        if library_works(memory):
            return memory.module.matmul(x, y, **how)
        out = how.pop("out", None)
        ours = import_module("autodiff_lab.kernels.matmul.cuda").by_kernel(memory.wrap(x), memory.wrap(y))
        if ours is NotImplemented:
            try:  # integers need no library
                ours = memory.wrap(memory.module.matmul(x, y, **how))
            except NOT_LOADED as error:  # and the CPU multiplies, which is reported
                raise NotImplementedError("cuBLAS does not load") from error
        if out is None:
            return ours.raw
        out[...] = ours.raw
        return out

    return product
