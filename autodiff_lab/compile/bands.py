"""Bands: stacks of cotangents that are zero but for some diagonals, kept as those diagonals.

A Jacobian begins with the identity: one unit cotangent for each component of the target.  Elementwise ops scale its
columns, slices shift them, so that of an n × n stack n numbers matter.  `stacks` rewrites programs with what is here:
the description of a band, and the ops that make a stack of it and look whether that is right.

``0 · x`` is nan where x is infinite or nan.  Every column that is scaled has a value in each piece, so such an x leaves
an infinity or nan there, whatever follows; where one is found in a result, `NotFinite` is raised and the call runs on
whole stacks.  So results are those of the whole stacks, up to the sign of zeros.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.engine.op import Op

MOST_DIAGONALS = 5
"""Diagonals up to which a stack is a band."""


class NotFinite(Exception):
    """A diagonal holds an infinity or nan, so the zeros around it may not be zeros."""


class Piece(NamedTuple):
    """Values on the diagonal ``row = column - offset``, from column `first` on.

    Where the row is outside of the stack a value stands for the zeros of its column: they too may become nan.
    """

    offset: int
    first: int
    value: int
    length: int


class Band(NamedTuple):
    """The diagonals of a stack of `rows` vectors; at most two pieces add up at one place."""

    rows: int
    columns: int
    pieces: tuple[Piece, ...]

    @property
    def diagonal(self) -> int | None:
        """The one piece of a square stack if it is the whole main diagonal."""
        if len(self.pieces) == 1 and self.pieces[0][:2] == (0, 0) and self.pieces[0].length == self.rows:
            return self.pieces[0].value if self.rows == self.columns else None
        return None


@lru_cache(32)
def _zeros(length: int, kind: str) -> Any:
    return np.zeros(length, kind)


def _require_finite(flat: Any) -> None:
    """Raise `NotFinite` if an element is not; a product with zeros tells, and costs least."""
    if not math.isfinite(np.dot(flat, _zeros(flat.size, flat.dtype.char))):
        raise NotFinite


@lru_cache(64)
def _places(
    offsets: tuple[int, ...], firsts: tuple[int, ...], lengths: tuple[int, ...], rows: int, columns: int
) -> tuple[tuple[slice, slice, bool], ...]:
    """Of each piece: what of it lies in the stack, where among all elements, and whether a piece lies there already."""
    made: list[tuple[slice, slice, bool]] = []
    for n, (offset, first, length) in enumerate(zip(offsets, firsts, lengths, strict=True)):
        low = max(first, offset)
        high = max(low, min(first + length, rows + offset))
        start, step = (low - offset) * columns + low, columns + 1
        place = slice(start, max(start, start + (high - low - 1) * step + 1), step)
        made.append((slice(low - first, high - first), place, offset in offsets[:n]))
    return tuple(made)


def _diagonals(*pieces: Any, offsets: tuple[int, ...], firsts: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    whole = np.zeros(shape, pieces[0].dtype)
    flat = whole.reshape(-1)
    lengths = tuple([piece.size for piece in pieces])
    places = _places(offsets, firsts, lengths, shape[0], math.prod(shape[1:]))
    for piece, (part, place, taken) in zip(pieces, places, strict=True):
        _require_finite(piece)
        if taken:
            flat[place] += piece[part]
        else:
            flat[place] = piece[part]
    return whole


def _finite(x: Any) -> Any:
    _require_finite(x.reshape(-1))
    return x


DIAGONALS = Op("diagonals", _diagonals, None, sentence="puts vectors on diagonals of zeros")
FINITE = Op("finite", _finite, None, 1, sentence="is sure that {0} is finite", elementwise=True)


def columns_of(shape: tuple[int, ...]) -> int | None:
    """How many numbers each cotangent of a stack has, None for what is no stack."""
    return math.prod(shape[1:]) if len(shape) > 1 else None


def of_vectors(shape: tuple[int, ...]) -> bool:
    """Whether a stack is one of vectors, axes of length 1 aside."""
    return sum(n != 1 for n in shape[1:]) == 1
