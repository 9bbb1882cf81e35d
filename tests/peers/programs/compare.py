"""What differs between two answers to a statement, in words.

A number is wrong where it lies farther from the value in 64 bits than a few times the peer's own distance and the
rounding of the dtype allow; everything else (shapes, dtypes, whole numbers, None, nan, infinities) is compared exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.peers.programs.peers import Answer
from tests.peers.programs.values import BFLOAT16, kind_of

EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52, "complex64": 2.0**-23,
           "complex128": 2.0**-52}  # fmt: skip
SMALLEST = {"float16": 1e-7}
WIDTH = {"values": 16.0, "first gradient": 64.0, "second gradient": 256.0}


@dataclass(frozen=True)
class Difference:
    """Something that differs: what it is in, in words, and the two arrays (None for no gradient at all)."""

    what: str
    words: str
    mine: Any = None
    theirs: Any = None


def differences(mine: Answer, theirs: Answer, wide: Answer | None, documented: tuple[type, ...]) -> list[Difference]:
    """Return what differs between our answer and the peer's.

    Parameters
    ----------
    mine, theirs : Answer
        The two answers.
    wide : Answer or None
        The peer's answer in 64 bits.
    documented : tuple of type
        What we may raise where the peer raises too.
    """
    if mine.error is not None and not isinstance(mine.error, documented):
        return [Difference("error", f"raises {_line(mine.error)}")]
    if theirs.error is not None:
        return []
    if mine.error is not None:
        return [Difference("refusal", f"refuses: {_line(mine.error)}")]
    found = _arrays("values", mine.values, theirs.values, wide.values if wide else None, mine.values or [])
    if found or theirs.first is None:
        return found
    if mine.first is None:
        words = f"the backward pass raises {_line(mine.late)}" if mine.late else "no gradient"
        return [Difference("first gradient", words)]
    found = _arrays("first gradient", mine.first, theirs.first, wide.first if wide else None, theirs.first)
    if found or theirs.second is None:
        return found
    if mine.second is None:
        if mine.late:
            return [Difference("second gradient", f"the second backward pass raises {_line(mine.late)}")]
        mine = Answer(second=[None] * len(theirs.second))
    return _arrays("second gradient", mine.second, theirs.second, wide.second if wide else None, theirs.first)


def _line(error: Any) -> str:
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:160]}"


def _arrays(what: str, mine: Any, theirs: Any, wide: Any, beside: list[Any]) -> list[Difference]:
    if len(mine) != len(theirs):
        return [Difference(what, f"{len(mine)} here, {len(theirs)} there")]
    best: list[Any] = [None] * len(mine) if wide is None or len(wide) != len(mine) else wide
    sizes = [float(np.max(np.abs(_wide(a))[np.isfinite(_wide(a))], initial=0.0)) for a in beside if _numeric(a)]
    return [
        Difference(what, words, ours, other)
        for ours, other, exact in zip(mine, theirs, best, strict=True)
        if (words := _array(what, ours, other, exact, max(sizes, default=0.0)))
    ]


def _numeric(array: Any) -> bool:
    return array is not None and kind_of(array.dtype) in "fc"


def _array(what: str, mine: Any, theirs: Any, best: Any, size: float) -> str | None:
    if mine is None or theirs is None:
        return None if mine is theirs else _both(mine, theirs)
    if mine.shape != theirs.shape:
        return f"shape {mine.shape} here, {theirs.shape} there"
    if mine.dtype != theirs.dtype:
        return f"dtype {mine.dtype} here, {theirs.dtype} there"
    if kind_of(mine.dtype) not in "fc":
        return None if np.array_equal(mine, theirs) else _both(mine, theirs)
    a, b = _wide(mine), _wide(theirs)
    exact = b if best is None or best.shape != b.shape else _wide(best)
    infinite = ~np.isfinite(b) & ~np.isnan(b)
    if (
        not np.array_equal(np.isnan(a), np.isnan(b))
        or not np.array_equal(np.isfinite(a), np.isfinite(b))
        or not np.array_equal(a[infinite], b[infinite])
    ):
        return _both(mine, theirs)
    finite = np.isfinite(b) & np.isfinite(exact)
    if not finite.any():
        return None
    a, b, exact = a[finite], b[finite], exact[finite]
    epsilon = EPSILON[mine.dtype.name] * (1.0 if mine.dtype in (np.float16, BFLOAT16) else WIDTH[what])
    if best is None or mine.dtype in (np.float64, np.complex128):
        epsilon *= 64.0
    scale = max(float(np.max(np.abs(exact))), size if what == "second gradient" else 0.0)
    bound = 4.0 * float(np.max(np.abs(b - exact))) + epsilon * scale + SMALLEST.get(mine.dtype.name, 1e-37)
    worst = float(np.max(np.abs(a - exact)))
    return None if worst <= bound else f"{_both(mine, theirs)}, off by {worst:.2g} where {bound:.2g} is allowed"


def _wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _both(mine: Any, theirs: Any) -> str:
    return f"{_shown(mine)} here, {_shown(theirs)} there"


def _shown(array: Any) -> str:
    if array is None:
        return "None"
    return f"{np.array2string(array, precision=6, threshold=12, separator=', ')} {array.dtype}"
