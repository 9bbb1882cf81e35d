"""Looking: ops whose result is a view of their input, and the view itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.engine.op import Op

VIEWING = frozenset({
    "slice", "slice_axis", "take", "transpose", "reshape", "broadcast_to", "identity", "stop_gradient", "reverse",
    "diag_part",
})  # fmt: skip
"""Ops whose result may be a view of their input, for most parameters."""


def looking(value: int, program: Program) -> Line | None:
    """Return the line that makes a value by looking at another one, None for other values."""
    line = program.made_by.get(value)
    return line if line is not None and line.op.name in VIEWING and len(line.ins) == 1 else None


def view_by(op: Op) -> Callable[..., Any]:
    """Return the function that takes an op's view of an array, which may be written to.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.engine.op import REGISTRY
    >>> zeros = np.zeros((2, 2))
    >>> view_by(REGISTRY["diag_part"])(zeros, k=0)[...] = 1
    >>> zeros.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return _OTHERS.get(op.name) or op.part or op.kernel


def _reshaped(x: Any, shape: tuple[int, ...]) -> Any:
    return x.reshape(shape)


def _reversed(x: Any, axes: tuple[int, ...]) -> Any:
    return np.flip(x, axes)


def _diagonal(x: Any, k: int) -> Any:
    rows, columns = x.shape[-2:]
    down, along = max(-k, 0), max(k, 0)
    n = max(min(rows - down, columns - along), 0)
    return np.einsum("...ii->...i", x[..., down : down + n, along : along + n])


_OTHERS: dict[str, Callable[..., Any]] = {"diag_part": _diagonal, "reshape": _reshaped, "reverse": _reversed}
"""Where the kernel copies, or may give up an array."""
