"""Searches in sorted rows, inside compiled code; generated modules import it.

Optimization: a search takes one step for many values before it takes the next, so that no step waits for another one's
comparison.
"""
# pyright: reportIndexIssue=false

from __future__ import annotations

from typing import Any

from autodiff_lab.kernels.base.deferred import register_jitable

SHORT = 16
"""Elements of rows, and values for each, up to which counting is quicker than halving."""
IN_STEP = 512
"""Values that are searched side by side: what is known of them stays in the cache."""


@register_jitable
def _comes_before(a: Any, b: Any) -> bool:
    """Return whether an element of a sorted row is before another: nan is last."""
    return (a < b) | ((b != b) & (a == a))  # noqa: PLR0124 - nan alone differs from itself


@register_jitable
def _count(row: Any, values: Any, places: Any, after: bool) -> None:
    """Find where values belong in a short sorted row, by counting what comes before each."""
    for i in range(values.size):
        value, passed = values[i], 0
        if after:
            for k in range(row.size):
                passed += 0 if _comes_before(value, row[k]) else 1
        else:
            for k in range(row.size):
                passed += 1 if _comes_before(row[k], value) else 0
        places[i] = passed


@register_jitable
def _halve(row: Any, values: Any, places: Any, after: bool) -> None:
    """Find where values belong in a sorted row, by halving what is left of it."""
    for first in range(0, values.size, IN_STEP):
        last = min(first + IN_STEP, values.size)
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


@register_jitable
def search_row(row: Any, values: Any, places: Any, after: bool) -> None:
    """Find where values belong in a sorted row: before equal elements, or after them."""
    if row.size <= SHORT and values.size <= SHORT:
        _count(row, values, places, after)
    else:
        _halve(row, values, places, after)


@register_jitable
def search(out: Any, rows: Any, values: Any, count: int, length: int, each: int, after: int) -> int:
    """Do it for `count` rows that lie one after the other, with `each` values for every row."""
    for s in range(count):
        row, wanted = rows[s * length : (s + 1) * length], values[s * each : (s + 1) * each]
        search_row(row, wanted, out[s * each : (s + 1) * each], after != 0)
    return 0
