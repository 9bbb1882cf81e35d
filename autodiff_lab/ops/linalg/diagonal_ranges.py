"""Several diagonals at once: packed into the rows of a matrix, and put back.

Diagonals k of different lengths fill rows of one length, and are aligned at their left or right end as TensorFlow's
``align`` says; superdiagonals and subdiagonals each have a side, and the main diagonal is on the left if either is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autodiff_lab.engine.apply import general
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.kernels.arrays import zeros

ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


def bounds(k: Any, what: str) -> tuple[int, int]:
    """Return the lowest and the highest diagonal that an argument `k` names.

    Raises
    ------
    InvalidArgumentError
        If it is neither a number nor a pair of them in ascending order.
    """
    from autodiff_lab.engine.shape import as_integers
    given = as_integers(getattr(k, "_array", k), f"{what}: k")
    if len(given) not in (1, 2) or given[0] > given[-1]:
        raise InvalidArgumentError(f"{what}: k must be a diagonal or a pair (lowest, highest), got {k!r}.")
    return given[0], given[-1]


def longest(low: int, high: int, rows: int, columns: int) -> int:
    """Return the length of the longest diagonal of a range."""
    return max(min(rows + min(high, 0), columns - max(low, 0)), 0)


def lines(low: int, high: int, rows: int, columns: int, align: str) -> Iterator[tuple[int, slice, slice]]:
    """Per diagonal that is not empty: its packed row, its place in that row, and its place in the flattened matrix."""
    above, below = align.split("_")
    width = longest(low, high, rows, columns)
    for row, k in enumerate(range(high, low - 1, -1)):
        length = min(rows + min(k, 0), columns - max(k, 0))
        if length > 0:
            left = (k >= 0 and above == "LEFT") or (k <= 0 and below == "LEFT")
            first = 0 if left else width - length
            start = max(-k, 0) * columns + max(k, 0)
            yield row, slice(first, first + length), slice(start, start + length * (columns + 1), columns + 1)


def _extract(x: Any, low: int, high: int, align: str) -> Any:
    rows, columns = x.shape[-2:]
    packed = zeros((*x.shape[:-2], high - low + 1, longest(low, high, rows, columns)), x)
    flat = x.reshape(*x.shape[:-2], rows * columns)
    for row, place, line in lines(low, high, rows, columns, align):
        packed[..., row, place] = flat[..., line]
    return packed


def _embed(x: Any, low: int, high: int, rows: int, columns: int, align: str) -> Any:
    flat = zeros((*x.shape[:-2], rows * columns), x)
    for row, place, line in lines(low, high, rows, columns, align):
        flat[..., line] = x[..., row, place]
    return flat.reshape(*x.shape[:-2], rows, columns)


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
