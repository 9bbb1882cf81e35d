"""Helpers for kernel tests: arrays of every layout, and the comparison of an override with its reference."""

import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from autodiff_lab.kernels.base import choose

DTYPES = ("float32", "float64")
TOLERANCE = {"float32": 2e-6, "float64": 2e-15}
"""Relative to the larger of 1 and the value; sums and vector maths differ from NumPy's in their last bits."""


def layouts(array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield an array as it is, backwards, in Fortran's order, with gaps, read-only, and not aligned."""
    yield "plain", array
    if array.ndim:
        yield "backwards", np.ascontiguousarray(array[::-1])[::-1]
        yield "fortran", np.asfortranarray(array)
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        wide[..., ::2] = array
        yield "gaps", wide[..., ::2]
    frozen = array.copy()
    frozen.flags.writeable = False
    yield "read-only", frozen
    shifted = np.empty(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    shifted[...] = array
    yield "not aligned", shifted


def both(name: str, *arrays: Any, **params: Any) -> tuple[Any, Any]:
    """Give what the override and the reference make of a call; the override must take it."""
    kernel = choose.CHOSEN[name]
    assert kernel.compile(arrays[0].dtype), kernel.failures
    for loop in kernel.override().loops:  # type: ignore[attr-defined]
        assert isinstance(loop[arrays[0].dtype], types.BuiltinFunctionType)  # it runs without Numba
    with np.errstate(all="ignore"):
        ours = kernel.override()(*arrays, **params)
        assert ours is not NotImplemented, (name, [np.shape(a) for a in arrays], params)
        return ours, kernel.reference(*arrays, **params)


def agree(name: str, *arrays: Any, tolerance: float | None = None, **params: Any) -> None:
    """Check that an override gives its reference's values, shapes and dtypes; nan and infinities in their places."""
    ours, reference = both(name, *arrays, **params)
    dtype = np.asarray(reference).dtype
    assert type(ours) is type(reference)
    within = TOLERANCE.get(dtype.name, 0) if tolerance is None else tolerance
    np.testing.assert_allclose(ours, reference, rtol=within, atol=within, strict=True)


def declined(name: str, *arrays: Any, **params: Any) -> bool:
    """Whether an override leaves a call to the reference."""
    kernel = choose.CHOSEN[name]
    assert kernel.compile(arrays[0].dtype), kernel.failures
    return kernel.override()(*arrays, **params) is NotImplemented
