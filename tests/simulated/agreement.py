"""Helpers for tests of CUDA kernels: arrays on the simulated GPU, and the comparison of a method with its reference."""

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.kernels.base import choose
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.gpus import memory_of

TOLERANCE = {"float32": 2e-6, "float64": 2e-15}
"""Relative to the larger of 1 and the value."""
SIZES = (1, 2, 31, 32, 33, 100)
"""Lengths around the size of a simulated block."""


class _ByName:
    """The CUDA override of every kernel, by the name of the kernel."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        override = choose.CHOSEN[name].cuda_override() if name in choose.CHOSEN else None
        if override is None:
            raise AttributeError(f"no CUDA kernel is called {name}")
        return override


CudaKernels = _ByName()


def on_gpu(value: Any) -> Any:
    """Copy NumPy arrays to the simulated GPU; leave other values."""
    return memory_of(0).upload(value) if isinstance(value, np.ndarray) else value


def both(name: str, *arrays: Any, **params: Any) -> tuple[Any, Any]:
    """Give what the CUDA method and the reference make of a call; the method must take it."""
    ours = getattr(CudaKernels, name)(*map(on_gpu, arrays), **params)
    assert ours is not NotImplemented, (name, [np.shape(a) for a in arrays], params)
    with np.errstate(all="ignore"):
        return ours, choose.CHOSEN[name].reference(*arrays, **params)


def agree(name: str, *arrays: Any, tolerance: float | None = None, **params: Any) -> None:
    """Check that a CUDA method gives its reference's values, shapes and dtypes, on the GPU."""
    _compare(*both(name, *arrays, **params), tolerance)


def agree_by_reference(name: str, *arrays: Any, tolerance: float | None = None, **params: Any) -> None:
    """Check the same for a kernel without a CUDA method, whose reference runs on the GPU."""
    kernel = choose.CHOSEN[name]
    assert kernel.cuda_override() is None
    with np.errstate(all="ignore"):
        _compare(kernel(*map(on_gpu, arrays), **params), kernel.reference(*arrays, **params), tolerance)


def _compare(ours: Any, reference: Any, tolerance: float | None) -> None:
    if not isinstance(reference, tuple):
        ours, reference = (ours,), (reference,)
    assert len(ours) == len(reference)
    for got, expected in zip(ours, reference, strict=True):
        assert got.__class__ is DeviceArray
        within = TOLERANCE.get(np.asarray(expected).dtype.name, 0) if tolerance is None else tolerance
        np.testing.assert_allclose(got.to_host(), np.asarray(expected), rtol=within, atol=within, strict=True)


def declined(name: str, *arrays: Any, **params: Any) -> bool:
    """Whether a CUDA method leaves a call to the reference."""
    return getattr(CudaKernels, name)(*map(on_gpu, arrays), **params) is NotImplemented
