"""Snapshots: what a recording keeps of a value.

A snapshot holds the whole array while it is small, and otherwise a summary: shape, dtype, the minimum, mean and maximum
of the finite elements, the counts of nan and inf, and the first few elements.  A snapshot that came from a file
may have a dtype that NumPy does not know; it then keeps that name and the numbers as they were written.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from autodiff_lab.recording.schema import clean

WHOLE = 64
"""Elements up to which the default policy keeps a value in full."""
LEAF_WHOLE = 10_000
"""Elements up to which a leaf is kept in full, so that the recording can be replayed."""
FIRST = 6
"""How many elements a summary shows."""
_NAMES: dict[Any, str] = {}
"""Cached names of dtypes: NumPy computes each one afresh, which is slower than everything else here."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of a large value: extremes and mean of the finite elements, and how many are not finite."""

    minimum: float | None
    mean: float | None
    maximum: float | None
    nan: int
    inf: int
    first: tuple[Any, ...]
    bad: int | None = None
    """The position of the first non-finite element, in row-major order."""
    bad_value: Any = None
    """That element, a float or complex number."""


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A value as a recording keeps it.

    Attributes
    ----------
    dtype : str
        Name of the dtype, for example ``"float32"``.
    shape : tuple of int
        Length of each axis.
    array : numpy.ndarray or None
        The whole value, read only; None if only the summary was kept.  Strings are `str` objects, and bfloat16 numbers
        are doubles.
    summary : Summary or None
        Present when `array` is None.
    """

    dtype: str
    shape: tuple[int, ...]
    array: Any | None
    summary: Summary | None = None

    @property
    def size(self) -> int:
        """Number of elements."""
        size = 1
        for length in self.shape:
            size *= length
        return size

    @property
    def finite(self) -> bool:
        """Whether no element is nan or infinite."""
        return self.not_finite == (0, 0)

    @property
    def not_finite(self) -> tuple[int, int]:
        """How many elements are nan, and how many are infinite."""
        if self.array is None:
            return (0, 0) if self.summary is None else (self.summary.nan, self.summary.inf)
        array = np.asarray(self.array)
        if array.dtype.kind not in "fc" or np.isfinite(array).all():
            return 0, 0
        nan = int(np.isnan(array).sum())
        return nan, array.size - nan - int(np.isfinite(array).sum())

    @property
    def first_bad(self) -> tuple[int | None, Any]:
        """Position, in row-major order, and value of the first non-finite element; None if unknown."""
        if self.array is None:
            return (None, None) if self.summary is None else (self.summary.bad, self.summary.bad_value)
        array = np.asarray(self.array).ravel()
        at = int(np.argmin(np.isfinite(array)))
        return at, array[at].item()

    def __eq__(self, other: object) -> bool:
        """Return whether two values are the same, nan being the same as nan."""
        if not isinstance(other, Snapshot):
            return NotImplemented
        if (self.dtype, self.shape, repr(self.summary)) != (other.dtype, other.shape, repr(other.summary)):
            return False
        if self.array is None or other.array is None:
            return self.array is other.array
        return _comparable(self.array) == _comparable(other.array)

    def __hash__(self) -> int:
        return hash((self.dtype, self.shape))


def _comparable(array: Any) -> list[str]:
    """Return the elements as text: equal for equal values, for nan, and for dtypes without comparison."""
    return [str(x) for x in numbers_of(array).ravel().tolist()]


def summarise(array: Any) -> Summary:
    """Return the summary of an array of numbers; complex ones have no extremes and no mean."""
    array = numbers_of(array)
    kind = array.dtype.kind
    first = tuple(array.ravel()[:FIRST].tolist())
    if kind not in "fiubc" or array.size == 0:
        return Summary(None, None, None, 0, 0, first)
    finite = np.isfinite(array) if kind in "fc" else None
    if finite is None or finite.all():
        return Summary(*_extremes(array), 0, 0, first)
    nan = int(np.isnan(array).sum())
    inf = array.size - nan - int(finite.sum())
    bad = int(np.argmin(finite))
    return Summary(*_extremes(array[finite]), nan, inf, first, bad, array.ravel()[bad].item())


def _extremes(array: Any) -> tuple[float | None, float | None, float | None]:
    """Return the smallest element, the mean and the largest element of finite numbers."""
    if array.size == 0 or array.dtype.kind == "c":
        return None, None, None
    with np.errstate(all="ignore"):
        mean = float(array.mean(dtype=np.float64))
        if not math.isfinite(mean):  # the sum overflows, the mean does not
            mean = float((array / array.size).sum())
    return float(array.min()), mean, float(array.max())


def numbers_of(array: Any) -> np.ndarray[Any, Any]:
    """Return an array with a dtype that NumPy computes with: bfloat16 and the like become doubles, which is exact.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> numbers_of(lab.constant([1.0], lab.bfloat16).numpy()).dtype
    dtype('float64')
    """
    array = np.asarray(array)
    return array.astype(np.float64) if array.dtype.kind == "V" else array


def _text(item: Any) -> str:
    return clean(item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item))


def snapshot(array: Any, whole: int = WHOLE) -> Snapshot:
    """Keep an array of up to `whole` elements in full, else its summary.

    Examples
    --------
    >>> import numpy as np
    >>> snapshot(np.float32(3.0)).array
    array(3., dtype=float32)
    >>> snapshot(np.arange(100.0), whole=10).summary.mean
    49.5
    """
    array = np.asarray(array.to_host() if hasattr(array, "to_host") else array)  # from a GPU, without an event
    if array.dtype.kind == "O":  # strings, kept as text
        array = np.array([_text(item) for item in array.ravel()], dtype=object).reshape(array.shape)
    name = _NAMES.get(array.dtype)
    if name is None:
        name = _NAMES[array.dtype] = "string" if array.dtype.kind == "O" else array.dtype.name
    if array.size > whole:
        return Snapshot(name, array.shape, None, summarise(array))
    kept = array.astype(np.float64) if array.dtype.kind == "V" else array.copy()
    kept.flags.writeable = False
    return Snapshot(name, array.shape, kept)


NOT_SEEN = Snapshot("unknown", (), None, Summary(None, None, None, 0, 0, ()))
"""Stands for an unknown value: it was made before the recording began, or somebody wrote over it unheard."""


Policy = Callable[[Any, bool], Snapshot]
"""What is kept of an array: called with it and with whether it is a leaf."""


def kept(policy: Policy, value: Any, leaf: bool) -> Snapshot:
    """Return the snapshot of an array by a policy; snapshots stay, and held values answer for themselves.

    A held value is any object with `nbytes` and with ``to_snapshot(policy, leaf) -> Snapshot``: an array of another
    framework, of which a recorder knows no more than that.

    Examples
    --------
    >>> kept(keep, np.ones(2), True).shape, kept(keep, NOT_SEEN, True) is NOT_SEEN
    ((2,), True)
    """
    if value.__class__ is Snapshot:
        return value
    held = getattr(value, "to_snapshot", None)
    return policy(value, leaf) if held is None else held(policy, leaf)


def keep(array: Any, leaf: bool, whole: int = WHOLE) -> Snapshot:
    """Keep values up to `whole` elements, and leaves up to 10,000: the default policy of a recording.

    A policy is any such function of an array and of whether it is a leaf.

    Examples
    --------
    >>> import numpy as np
    >>> keep(np.ones(100), leaf=True).array is None, keep(np.ones(100), leaf=False).array is None
    (False, True)
    """
    return snapshot(array, max(whole, LEAF_WHOLE) if leaf else whole)
