"""Thinning: what a notebook or a page keeps of a recording stays within a number of bytes.

Numbers are thinned, the graph never is: first the elements of arrays are rounded, then arrays are described in words,
and at last the page does not compute again.  Long text is packed (gzip), to a tenth if it is structure and to a half if
it is numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autodiff_lab.draw.markup import json_text
from autodiff_lab.draw.packing import Piece, gzipped, piece
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.recording.numbers import SHOWN

MOST = 2_000_000
"""Bytes that a view of a recording takes at most, unless the caller says otherwise."""
LONGEST = 50_000
"""Characters of JSON up to which it is kept as it is, so that it can be read and searched."""
_FULL, _CELLS = 1, 5
"""The columns of a row of values that grow with the array; see `draw.values`."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a scene.

    Attributes
    ----------
    payload : dict
        The scene, thinned if that was necessary.
    pieces : tuple of Piece
        Its JSON, packed; empty if it is short.
    size : int
        Bytes of it in a file of text, where packed bytes are written as base64.
    without : str
        What was left out, in words, empty if nothing was.
    """

    payload: dict[str, Any]
    pieces: tuple[Piece, ...]
    size: int
    without: str

    @property
    def packed(self) -> bytes:
        """Its JSON packed by gzip, empty if it is short."""
        return gzipped(self.pieces) if self.pieces else b""

    def packed_in(self, state: dict[str, Any]) -> bytes:
        """Return the JSON of a dict with the scene under ``"scene"`` and what `state` has, packed by gzip."""
        return gzipped((piece('{"scene":'), *self.pieces, piece(f",{json_text(state)[1:]}")))


def kept(payload: dict[str, Any], most: int | None = MOST, besides: int = 0) -> Kept:
    """Return as much of a scene as takes at most so many bytes together with what is kept besides it.

    Parameters
    ----------
    payload : dict
        As of `draw.scene.scene`; it is not changed.
    most : int, optional
        Bytes; None for no limit.
    besides : int
        Bytes of scripts, styles and pictures that are kept as well.

    Returns
    -------
    Kept
        The scene itself if it is small enough. The structure is never thinned, so the size may be above the limit.

    Raises
    ------
    InvalidArgumentError
        If `most` is neither None nor a positive integer.

    Examples
    --------
    >>> elements = "[" + ", ".join(["0.1234567"] * 20) + "]"
    >>> scene = {"values": [["mean 0.12, spread 0 [20]", elements, "mean 0.12, spread 0", 0, 0]], "running": {}}
    >>> found = kept(scene, most=150)
    >>> found.payload["values"], found.without
    ([['mean 0.12, spread 0 [20]', '', 'mean 0.12, spread 0', 0, 0]], 'arrays are described in words')
    """
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most <= 0):
        raise InvalidArgumentError(
            f"max_bytes: expected a positive number of bytes, or None for no limit, got {most!r}. Try 8_000_000."
        )
    structure = {name: part for name, part in payload.items() if name not in ("values", "running")}
    stays = piece(f",{json_text(structure)[1:]}" if structure else "}")
    found = _packed(payload, stays, "")
    levels = iter(_LEVELS)
    while most is not None and found.size + besides > most and (level := next(levels, None)):
        without, act = level
        found = _packed(act(found.payload), stays, without)
    return found


def _packed(payload: dict[str, Any], stays: Piece, without: str) -> Kept:
    """Return a scene as it is kept; most of it `stays` whatever is left out, and is packed once."""
    thinned = f'{{"values":{json_text(payload["values"])},"running":{json_text(payload["running"])}'
    if len(thinned) + len(stays[0]) <= LONGEST:
        return Kept(payload, (), len(thinned.encode("utf-8", "replace")) + len(stays[0]), without)
    pieces = piece(thinned), stays
    return Kept(payload, pieces, (len(gzipped(pieces)) + 2) // 3 * 4, without)


def _rounded(payload: dict[str, Any]) -> dict[str, Any]:
    """Round the elements of arrays to three digits."""
    return {**payload, "values": [_rounded_row(row) for row in payload["values"]]}


def _rounded_row(row: list[Any]) -> list[Any]:
    cells = [float(f"{cell:.3g}") if isinstance(cell, float) else cell for cell in _elements_of(row)]
    return [row[0], "", *row[2:_CELLS], cells, *row[_CELLS + 1 :]] if cells else row


def _elements_of(row: list[Any]) -> list[float | str]:
    """Return the elements of an array of real numbers that a row has, and nothing of one that is written out."""
    if len(row) > _CELLS and row[_CELLS]:
        return list(row[_CELLS])
    try:
        words = row[_FULL].replace("[", " ").replace("]", " ").replace(",", " ").split()
        numbers = [float(word) for word in words]
    except ValueError:
        return []
    known = [number if number - number == 0 else str(number) for number in numbers]
    return known if len(known) > SHOWN else []


def _in_words(payload: dict[str, Any]) -> dict[str, Any]:
    """Leave the elements of arrays out."""
    rows = [[row[0], row[_FULL] if len(row[_FULL]) <= len(row[0]) else "", *row[2:_CELLS]] for row in payload["values"]]
    return {**payload, "values": rows}


def _still(payload: dict[str, Any]) -> dict[str, Any]:
    """Leave out what the page needs to compute again."""
    return {**payload, "running": {"off": "To save space, this view does not compute again with other inputs."}}


_LEVELS: tuple[tuple[str, Callable[[dict[str, Any]], dict[str, Any]]], ...] = (
    ("elements of arrays are rounded to three digits", _rounded),
    ("arrays are described in words", _in_words),
    ("arrays are described in words, and inputs cannot be changed", _still),
)


def bytes_in_words(size: int) -> str:
    """Return a size as people say it.

    Examples
    --------
    >>> bytes_in_words(900), bytes_in_words(112_400), bytes_in_words(1_960_000)
    ('0.9 kB', '112 kB', '2 MB')
    """
    return f"{size / 1e6:.2g} MB" if size >= 999_500 else f"{size / 1e3:.{0 if size >= 9_950 else 1}f} kB"


def said(found: Kept, most: int | None, besides: int, where: str, how: str) -> str:
    """Return what a view says about its size.

    Parameters
    ----------
    found : Kept
        What is kept.
    most, besides : int
        As for `kept`.
    where : str
        Such as ``"in the notebook"``.
    how : str
        A call that keeps everything.

    Examples
    --------
    >>> said(Kept({}, (), 3_000, ""), MOST, 0, "in the notebook", "")
    '3.0 kB in the notebook'
    """
    whole = found.size + besides
    text = f"{bytes_in_words(whole)} {where}"
    if not found.without or most is None:
        return text
    limit = bytes_in_words(most)
    why = f"; the limit is {limit}, but the graph alone takes more:" if whole > most else f". To stay below {limit},"
    return f"{text}{why} {found.without}. {how} keeps everything."
