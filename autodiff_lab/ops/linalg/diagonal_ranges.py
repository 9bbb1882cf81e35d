"""Several diagonals at once: packed into the rows of a matrix, and put back.

Diagonals k of different lengths fill rows of one length, and are aligned at their left or right end as TensorFlow's
``align`` says; superdiagonals and subdiagonals each have a side, and the main diagonal is on the left if either is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.kernels.arrays import beside, ranked, zeros

ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


def bounds(k: Any, what: str) -> tuple[int, int]:
    """The lowest and the highest diagonal that an argument `k` names.

    Raises
    ------
    InvalidArgumentError
        If it is neither a number nor a pair of them in ascending order.
    """
    from autodiff_lab.engine.shape import whole_numbers
    given = whole_numbers(getattr(k, "_array", k), f"{what}: k")
    if len(given) not in (1, 2) or given[0] > given[-1]:
        raise InvalidArgumentError(f"{what}: k is a diagonal or a pair (lowest, highest), got {k!r}.")
    return given[0], given[-1]


def checked_align(align: str, what: str) -> str:
    """The alignment, if it is one of the four."""
    if align not in ALIGNMENTS:
        raise InvalidArgumentError(f"{what}: align is one of {', '.join(ALIGNMENTS)}, got {align!r}.")
    return align


def longest(low: int, high: int, rows: int, columns: int) -> int:
    """The length of the longest diagonal of a range."""
    return max(min(rows + min(high, 0), columns - max(low, 0)), 0)


def places(low: int, high: int, rows: int, columns: int, align: str) -> tuple[Any, Any, Any]:
    """Row and column in the matrix of each packed element, and whether it is one; high diagonals come first."""
    above, below = align.split("_")
    width = longest(low, high, rows, columns)
    k = np.arange(high, low - 1, -1)[:, None]
    lengths = np.minimum(rows + np.minimum(k, 0), columns - np.maximum(k, 0))
    left = ((k >= 0) & (above == "LEFT")) | ((k <= 0) & (below == "LEFT"))
    at = np.arange(width) - np.where(left, 0, width - lengths)
    there = (at >= 0) & (at < lengths)
    at = np.where(there, at, 0)
    return at + np.maximum(-k, 0), at + np.maximum(k, 0), there


def _extract(x: Any, low: int, high: int, align: str) -> Any:
    rows, columns = x.shape[-2:]
    row, column, there = places(low, high, rows, columns, align)
    if not there.any():
        return zeros((*x.shape[:-2], *there.shape), x)
    row, column = np.where(there, row, 0), np.where(there, column, 0)
    return np.where(beside(x, there), x[..., row, column], x.dtype.type(0))


def _embed(x: Any, low: int, high: int, rows: int, columns: int, align: str) -> Any:
    x = ranked(x)
    whole = zeros((*x.shape[:-2], rows, columns), x)
    row, column, there = places(low, high, rows, columns, align)
    diagonal, at = np.nonzero(there)
    if len(at):
        whole[..., row[there], column[there]] = x[..., diagonal, at]
    return whole


extract_range = general(
    "diag_range_part", _extract,
    lambda ops, g, out, x, low, high, align: ops.diag_range(
        g, low=low, high=high, rows=x.shape[-2], columns=x.shape[-1], align=align),
    symbol="diag⁻¹", latex=r"\operatorname{{diag}}^{{-1}}({0})", locals_latex=("1",),
    sentence="takes diagonals of {0}", keeps="nothing",
    doc="The kernel-level packed diagonals; `lab.linalg.diag_part(x, k=(low, high))`.")
embed_range = general(
    "diag_range", _embed,
    lambda ops, g, out, x, low, high, rows, columns, align: ops.diag_range_part(g, low=low, high=high, align=align),
    symbol="diag", latex=r"\operatorname{{diag}}({0})", locals_latex=("1",), sentence="puts {0} on diagonals",
    keeps="nothing", doc="The kernel-level matrix of packed diagonals; `lab.linalg.diag(x, k=(low, high))`.")
