"""Snapshots: what a recording keeps of a value.

A snapshot holds the whole array while it is small, and a summary of it beyond that: shape, dtype, the least, mean
and greatest finite element, the counts of nan and inf, and the first few elements.  A snapshot that came from a file
may have a dtype that NumPy does not know; it then keeps that name and the numbers as they were written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from autodiff_lab.events import Late

WHOLE = 64
"""Elements up to which the default policy keeps a value whole."""
LEAF_WHOLE = 10_000
"""Elements up to which a value that no op made is kept whole, so that the recording can be replayed."""
FIRST = 6
"""Elements that a summary shows."""
_NAMES: dict[Any, str] = {}
"""Names of dtypes met so far: NumPy works each one out anew, which is slower than all else here."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What is left of a large value: extremes and mean of the finite elements, and how many are not finite."""

    minimum: float | None
    mean: float | None
    maximum: float | None
    nan: int
    inf: int
    first: tuple[Any, ...]
    bad: int | None = None
    """Where the first element that is not finite stands, counted in row-major order."""


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
        The whole value, read only; None if only the summary was kept.
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
        if self.summary is not None:
            return self.summary.nan == 0 and self.summary.inf == 0
        array = np.asarray(self.array)
        return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())

    def __eq__(self, other: object) -> bool:
        """Whether two values are the same, nan being the same as nan."""
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
    """The elements as text: equal for equal values, for nan, and for dtypes that have no comparison."""
    array = np.asarray(array)
    if array.dtype.kind == "V":  # bfloat16 and its like
        array = array.astype(np.float64)
    return [str(x) for x in array.ravel().tolist()]


def summarise(array: Any) -> Summary:
    """The summary of an array of numbers."""
    array = np.asarray(array)
    first = tuple(array.ravel()[:FIRST].tolist())
    if array.dtype.kind not in "fiub" or array.size == 0:
        return Summary(None, None, None, 0, 0, first)
    if array.dtype.kind != "f":
        return Summary(float(array.min()), float(array.mean()), float(array.max()), 0, 0, first)
    finite = np.isfinite(array)
    if finite.all():
        return Summary(float(array.min()), float(array.mean()), float(array.max()), 0, 0, first)
    nan = int(np.isnan(array).sum())
    inf = array.size - nan - int(finite.sum())
    bad = int(np.argmin(finite))
    kept = array[finite]
    if kept.size == 0:
        return Summary(None, None, None, nan, inf, first, bad)
    return Summary(float(kept.min()), float(kept.mean()), float(kept.max()), nan, inf, first, bad)


def _text(item: Any) -> str:
    return item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item)


def snapshot(array: Any, whole: int = WHOLE) -> Snapshot:
    """Keep an array whole up to `whole` elements, else its summary.

    Examples
    --------
    >>> import numpy as np
    >>> snapshot(np.float32(3.0)).array
    array(3., dtype=float32)
    >>> snapshot(np.arange(100.0), whole=10).summary.mean
    49.5
    """
    array = np.asarray(array.to_host() if hasattr(array, "to_host") else array)  # from a GPU, without telling of it
    if array.dtype.kind == "O":  # strings, kept as text
        array = np.array([_text(item) for item in array.ravel()], dtype=object).reshape(array.shape)
    name = _NAMES.get(array.dtype)
    if name is None:
        name = _NAMES[array.dtype] = "string" if array.dtype.kind == "O" else array.dtype.name
    if array.size > whole:
        return Snapshot(name, array.shape, None, summarise(array))
    kept = array.copy()
    kept.flags.writeable = False
    return Snapshot(name, array.shape, kept)


def keep(array: Any, leaf: bool, whole: int = WHOLE) -> Snapshot:
    """Keep values up to `whole` elements, and leaves up to 10,000: the default policy of a recording.

    A policy is any such function of an array and of whether it is a leaf, a value that no recorded op made.

    Examples
    --------
    >>> import numpy as np
    >>> keep(np.ones(100), leaf=True).array is None, keep(np.ones(100), leaf=False).array is None
    (False, True)
    """
    return snapshot(array, max(whole, LEAF_WHOLE) if leaf else whole)


def snapshot_of(late: Late, policy: Callable[[Any, bool], Snapshot]) -> Snapshot | None:
    """The snapshot of a value that is worked out now; None where that fails, as a user's rule may raise anything."""
    try:
        with np.errstate(all="ignore"):
            value = late.value()
            return value if value is None or isinstance(value, Snapshot) else policy(value, False)
    except Exception:  # noqa: BLE001 - the value is left out
        return None


def settled(late: Late, policy: Callable[[Any, bool], Snapshot]) -> Late:
    """The same value worked out already: a snapshot holds no large array, and what it is made from may be freed."""
    return Late(_itself, (snapshot_of(late, policy),))


def _itself(value: Any) -> Any:
    return value
