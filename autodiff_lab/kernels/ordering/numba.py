"""The largest elements of rows, and searches in sorted rows; the references are in `kernels.ordering.reference`.

Optimizations: the largest elements are kept in order while a row is read once, and most elements are not among them,
which takes one comparison.  For searches see `kernels.ordering.little`.
"""
# pyright: reportIndexIssue=false

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.base.loops import loop, override, row_major
from autodiff_lab.kernels.base.threads import spread
from autodiff_lab.kernels.ordering.little import search_row

MOST = 64
"""Elements that are kept in order; a partition finds more of them sooner."""
_WORTH_A_THREAD = 100_000


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


@loop("void({t}[:,::1], {t}[:,::1], int64[:,::1], boolean, int64, int64)", wraparound=False)
def _places(rows: Any, values: Any, places: Any, after: bool, low: int, high: int) -> None:
    """Find where the values of rows belong in sorted rows: before equal elements, or after them."""
    for r in range(low, high):
        search_row(rows[r], values[r], places[r], after)


@override(_places)
def search_rows(rows: Any, values: Any, side: str) -> Any:
    """Search many values at a time, without a branch that depends on one."""
    found = np.empty(values.shape, np.int64)
    if not found.size:
        return found
    run, after, m = _places[rows.dtype], side == "right", rows.shape[-1]
    n = values.size if rows.ndim == 1 else values.shape[-1]
    wanted, places = row_major(values).reshape(-1, n), found.reshape(-1, n)
    sorted_rows = row_major(rows).reshape(len(places), m)
    least = max(1, _WORTH_A_THREAD // (n * max(1, m).bit_length()))
    spread(lambda low, high: run(sorted_rows, wanted, places, after, low, high), len(places), least)
    return found


search_rows.typical = lambda rows, values: (np.sort(rows), values)  # type: ignore[attr-defined]
