"""The largest elements of rows, and searches in sorted rows; the references are in `kernels.ordering.reference`.

Optimizations: the largest elements are kept in order while a row is read once, and most elements are not among them,
which takes one comparison.  A search takes one step for many values before it takes the next, so that no step waits
for another one's comparison.
"""
# pyright: reportIndexIssue=false

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.base.deferred import register_jitable
from autodiff_lab.kernels.base.loops import loop, override, row_major
from autodiff_lab.kernels.base.threads import spread

MOST = 64
"""Elements that are kept in order; a partition finds more of them sooner."""
_WORTH_A_THREAD = 100_000
_IN_STEP = 512
"""Values that are searched side by side: what is known of them stays in the cache."""


@loop("boolean({t}[:,::1], int32[:,::1], {t}[::1], int64, int64)", wraparound=False)
def _largest(rows: Any, found: Any, best: Any, low: int, high: int) -> bool:
    """Find the largest elements of some rows; return False if one of them is nan."""
    for r in range(low, high):
        row, at = rows[r], found[r]
        kept = 0
        for i in range(row.size):
            value = row[i]
            if kept == best.size and value <= best[kept - 1]:
                continue
            if value != value:  # noqa: PLR0124 - nan alone differs from itself
                return False
            place = min(kept, best.size - 1)
            while place > 0 and best[place - 1] < value:
                best[place] = best[place - 1]
                at[place] = at[place - 1]
                place -= 1
            best[place] = value
            at[place] = i
            kept = min(kept + 1, best.size)
    return True


@override(_largest)
def top_positions(x: Any, k: int) -> Any:
    """Read each row once, and keep its largest elements in order."""
    if not 0 < k <= min(MOST, x.shape[-1]):
        return NotImplemented
    run, rows = _largest[x.dtype], row_major(x).reshape(-1, x.shape[-1])
    found = np.empty((len(rows), k), np.int32)
    least = max(1, _WORTH_A_THREAD // x.shape[-1])
    inside = spread(lambda low, high: run(rows, found, np.empty(k, x.dtype), low, high), len(rows), least)
    return found.reshape(*x.shape[:-1], k) if all(inside) else NotImplemented


@register_jitable
def _comes_before(a: Any, b: Any) -> bool:
    """Return whether an element of a sorted row is before another: nan is last."""
    return (a < b) | ((b != b) & (a == a))  # noqa: PLR0124 - nan alone differs from itself


@loop("void({t}[::1], {t}[::1], int64[::1], boolean)", wraparound=False)
def _places(row: Any, values: Any, places: Any, after: bool) -> None:
    """Find where values belong in a sorted row, before equal elements or after them, by halving what is left of it."""
    for first in range(0, values.size, _IN_STEP):
        last = min(first + _IN_STEP, values.size)
        wanted, at = values[first:last], places[first:last]
        for i in range(at.size):
            at[i] = 0
        left = row.size
        while left > 1:
            half = left // 2
            if after:
                for i in range(at.size):
                    at[i] += 0 if _comes_before(wanted[i], row[at[i] + half - 1]) else half
            else:
                for i in range(at.size):
                    at[i] += half if _comes_before(row[at[i] + half - 1], wanted[i]) else 0
            left -= half
        for i in range(at.size if left else 0):
            passed = not _comes_before(wanted[i], row[at[i]]) if after else _comes_before(row[at[i]], wanted[i])
            at[i] += 1 if passed else 0


@override(_places)
def search_rows(rows: Any, values: Any, side: str) -> Any:
    """Search many values at a time, without a branch that depends on one."""
    found = np.empty(values.shape, np.int64)
    run, after = _places[rows.dtype], side == "right"
    if rows.ndim == 1:
        run(row_major(rows), row_major(values).reshape(-1), found.reshape(-1), after)
        return found
    lines = rows.reshape(-1, rows.shape[-1]), values.reshape(-1, values.shape[-1]), found.reshape(-1, found.shape[-1])
    for row, wanted, places in zip(*lines, strict=True):
        run(row_major(row), row_major(wanted), places, after)
    return found


search_rows.typical = lambda rows, values: (np.sort(rows), values)  # type: ignore[attr-defined]
