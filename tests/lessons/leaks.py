"""Search a lesson for answers that can be read before a prediction is committed.

What is searched are pieces: code, text, what a cell draws, and what is written in attributes, hidden elements and
metadata. `tests.lessons.test_leaks` takes them from a run without a page, `tests.browser.leaks` from the page.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from autodiff_lab.lessons.unlocked import LOCKED

LONG = 8
"""Characters from which a line that is printed after the commit is looked for elsewhere."""

EQUALS = r"(?:[\d)] = \*{0,2}|\*\*|\btowards |\bis )"
"""What stands before a small number in a text that states it."""
SLOPE = r"(?:\bslope (?:is |= |f′\(x\) ?)?|f′\([^)]*\) = |\bd\w+/d\w+ (?:= |is )|\b[Ii]t is |answer is )"
"""And in a picture, where values of other things are equal to small numbers as well."""


@dataclass(frozen=True)
class Piece:
    """Something that can be read: in which cell, of which kind, and the words."""

    cell: str
    kind: Literal["code", "text", "drawn"]
    words: str


@dataclass
class Secrets:
    """What the questions of a lesson close: outcomes by the cell of the question, and lines that are printed."""

    outcomes: dict[str, list[Any]]
    lines: set[str]


def long_lines(text: str) -> set[str]:
    """Return the lines that say enough to be recognized, with single blanks."""
    return {" ".join(line.split()) for line in text.splitlines() if len(line.strip()) >= LONG}


def search(pieces: Iterable[Piece], closed: Secrets) -> list[str]:
    """Return the places where an answer can be read; the pieces are in the order of the lesson."""
    pieces = list(pieces)
    order = list(dict.fromkeys(piece.cell for piece in pieces))
    found: list[str] = []
    for piece in pieces:
        if piece.kind == "drawn":
            found += [f"drawn in {piece.cell}: {line}" for line in sorted(closed.lines & long_lines(piece.words))]
    for question, outcomes in closed.outcomes.items():
        below = set(order[order.index(question) + 1 :])
        for piece in pieces:
            if piece.cell in below and not (piece.kind == "drawn" and piece.cell in closed.outcomes):  # has choices
                found += [f"{piece.cell} says {value!r}" for value in _told(piece, outcomes)]
    return found


def _told(piece: Piece, outcomes: list[Any]) -> Iterator[Any]:
    """Yield the outcomes that a piece states."""
    if piece.kind == "code":
        yield from (value for value in _said(piece.words) if _is_one_of(value, outcomes))
    elif piece.kind == "text":
        yield from (value for value in outcomes if is_told(value, piece.words))
    else:
        words = " ".join(piece.words.replace(LOCKED, "").split())
        yield from (value for value in outcomes if is_told(value, words, drawn=True))


def is_told(value: Any, text: str, drawn: bool = False) -> bool:
    """Return whether a text states an outcome: in so many words, or as the number that something is.

    Small numbers occur everywhere, so they count where a sum is equal to them, or where something is or goes towards
    them, or where they are printed bold; single words count in bold only. Of what is drawn, they count as a slope,
    and a single word if it stands alone.

    >>> is_told(9.0, "then f climbs by **9**"), is_told(9.0, "9 times"), is_told(9.0, "slope f′(x) 9", drawn=True)
    (True, False, True)
    """
    said = value if isinstance(value, str) else f"{value:,.15g}".replace("-", "−")
    plain = text.replace("-", "−") if not isinstance(value, str) else text
    if isinstance(value, str) and " " in said:
        return said in text
    if drawn and not re.search(r"\d", said):
        return text == said
    before, after = r"(?<![\w.,−])", r"(?![\w]|[.,]\d)"
    if len(re.sub(r"\D", "", said)) < 3:
        before = SLOPE if drawn else EQUALS if re.search(r"\d", said) else r"\*\*"
    return re.search(before + re.escape(said) + after, plain) is not None


def literals(node: ast.AST) -> Iterator[Any]:
    """Yield the constants that an expression may give; those inside calls are arguments, not answers."""
    if isinstance(node, ast.Constant):
        yield node.value
    elif isinstance(node, ast.Lambda):
        yield from literals(node.body)
    elif isinstance(node, ast.Dict):
        for part in node.values:
            yield from literals(part)


def _said(source: str) -> Iterator[Any]:
    """Yield the answers that a cell states: the literals of an outcome."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.keyword) and node.arg == "outcome":
            yield from literals(node.value)


def _is_one_of(value: Any, outcomes: list[Any]) -> bool:
    if isinstance(value, str):
        return value in [one for one in outcomes if isinstance(one, str)]
    numbers = [float(one) for one in outcomes if not isinstance(one, str)]
    return isinstance(value, (int, float)) and any(abs(value - one) <= 1e-3 * max(abs(one), 1.0) for one in numbers)
