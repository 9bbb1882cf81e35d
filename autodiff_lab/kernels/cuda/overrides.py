"""CudaKernels: the CUDA override of every kernel, by the name of the kernel.

An override is called like the reference of its name, with arrays of one GPU, and returns arrays of that GPU, or
NotImplemented for what it does not do (dtypes, axes, layouts): then the reference runs, its NumPy calls answered by
CuPy.  The report of ``python -m autodiff_lab.kernels.cuda`` holds each to a compiled kernel and a test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_lab.kernels.base.choose import CHOSEN


class _ByName:
    def __getattr__(self, name: str) -> Callable[..., Any]:
        override = CHOSEN[name].cuda_override() if name in CHOSEN else None
        if override is None:
            raise AttributeError(f"no CUDA kernel is called {name!r}. Try one of {sorted(CHOSEN)}.")
        return override


CudaKernels = _ByName()
