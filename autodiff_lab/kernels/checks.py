"""Checks of the values of arrays on any device; on a GPU a check that fails raises when a result is next read."""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError

_WITHOUT_SIGN = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def are_positions(numbers: Any, length: int) -> bool:
    """Return whether integers of the CPU are positions on an axis, by one reading of them.

    Seen without a sign, negative numbers are the largest.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.checks import are_positions
    >>> are_positions(np.array([0, 2]), 3), are_positions(np.array([0, -1]), 3), are_positions(np.array([3]), 3)
    (True, False, False)
    """
    if not numbers.size:
        return True
    if numbers.dtype.kind == "i":
        numbers = numbers.view(_WITHOUT_SIGN[numbers.itemsize])
    largest: int = numbers.item(numbers.argmax())  # of few numbers a quarter of the time of a reduction
    return largest < length


def check_positions(positions: Any, length: int, what: str) -> None:
    """Check that integers are positions on an axis.

    Raises
    ------
    InvalidArgumentError
        If one is negative, or not below `length`; see `require` for when.
    """
    if not positions.size:
        return
    if hasattr(positions, "promise"):  # seen without a sign, negative numbers are the largest: one reading
        unsigned = positions.view(f"u{positions.itemsize}") if positions.dtype.kind == "i" else positions
        error = InvalidArgumentError(f"{what} [0, {length})")  # now, as it names the line that it is made for
        (unsigned.max() < length).promise(lambda: error)
    elif not are_positions(positions, length):
        raise InvalidArgumentError(f"{what} [0, {length})")


def told(x: Any) -> str:
    """Return the values of an array for a message; for one on a GPU its shape and device, so as not to wait."""
    return f"shape {x.shape} on {x.memory.name}" if hasattr(x, "memory") else reprlib.repr(x.tolist())


def require(holds: Any, error: Callable[[], Exception]) -> None:
    """Raise an error unless something holds of an array's values.

    If the values are on a GPU nothing waits for them: the error is raised when a result is next read.

    Parameters
    ----------
    holds : bool or array of rank 0
        The condition.
    error : callable
        Makes the error.
    """
    if hasattr(holds, "promise"):
        made = error()  # now: what makes it may hold arrays, which would stay in memory until then
        holds.promise(lambda: made)
    elif not holds:
        raise error()


def real_only(name: str, x: Any) -> Any:
    """Return the array that an op of real numbers was given.

    Raises
    ------
    DtypeMismatch
        If it is complex.
    """
    if x.dtype.kind == "c":
        raise complex_refused(name, x.dtype)
    return x


def complex_refused(name: str, dtype: Any) -> DtypeMismatch:
    """Return the error of an op that complex numbers have no meaning for; NumPy would order them by real part."""
    return DtypeMismatch(
        f"{name}: this op takes real tensors, got {dtype}. Try lab.math.real(x), lab.math.imag(x) or lab.abs(x)."
    )


class RealZeros(dict[Any, Any]):
    """The number 0 of each real dtype; looking it up takes no longer than making it, and rejects complex numbers."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def __missing__(self, dtype: Any) -> Any:
        """Return the 0 of a dtype at its first use."""
        if dtype.kind == "c":
            raise complex_refused(self.name, dtype)
        self[dtype] = zero = dtype.type(0)
        return zero
