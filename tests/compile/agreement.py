"""What tests of compiled programs share: a comparison with what the ops give one by one."""

from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab import nest


def agree(made: Any, expected: Any, tolerance: float) -> None:
    """Compare shapes, dtypes and values, relative to the largest of each array."""
    for a, b in zip(nest.flatten(made), nest.flatten(expected), strict=True):
        a, b = a.numpy(), b.numpy()
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        scale = max(1.0, float(np.abs(b).max(initial=0.0)))
        assert np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True)


def compiled(function: Any, *arguments: Any, tolerance: float = 2e-4) -> Any:
    """Compile a function, compare three calls with the function itself, and return the compiled one."""
    made: Any = lab.function(function)
    expected = function(*arguments)
    for _ in range(3):
        agree(made(*arguments), expected, tolerance)
    assert made.fallbacks == 0
    assert not made.skipped
    return made
