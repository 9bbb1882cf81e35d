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

FRACTION = re.compile(r"(?<![\w.,/])(\d+)/(\d+)(?![\w/])")

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
        found += [f"{piece.cell} says what is wrong" for piece in pieces
                  if piece.cell == question and piece.kind == "code" and names_wrong_answers(piece.words)]  # fmt: skip
        for piece in pieces:
            if piece.cell in below and not (piece.kind == "drawn" and piece.cell in closed.outcomes):  # has choices
                found += [f"{piece.cell} says {value!r}" for value in _told(piece, outcomes)]
    return found


def _told(piece: Piece, outcomes: list[Any]) -> Iterator[Any]:
    """Yield the outcomes that a piece states."""
    if piece.kind == "code":
        yield from (value for value in (*_said(piece.words), *computed(piece.words)) if _is_one_of(value, outcomes))
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

    >>> is_told(0.2, "here $2/10$"), is_told(0.2, "2/11, 12/10 and 2/100")
    (True, False)
    >>> is_told(9.0, "then f climbs by **9**"), is_told(9.0, "9 times"), is_told(9.0, "slope f′(x) 9", drawn=True)
    (True, False, True)
    """
    said = value if isinstance(value, str) else f"{value:,.15g}".replace("-", "−")
    plain = text.replace("-", "−") if not isinstance(value, str) else text
    if isinstance(value, str) and " " in said:
        return said in text
    if drawn and not re.search(r"\d", said):
        return text == said
    if not isinstance(value, str) and not drawn and value % 1:
        fractions = (int(above) / int(below) for above, below in FRACTION.findall(plain) if int(below))
        if any(abs(fraction - value) < 1e-9 for fraction in fractions):
            return True
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


def computed(source: str) -> Iterator[float]:
    """Yield what a cell computes from numbers alone.

    >>> list(computed("needed = -(-20 // 8); y = 2 * x; half = 4"))
    [3]
    """
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        parts = list(ast.walk(node))
        numbers = all(isinstance(part, ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop)
                      or (isinstance(part, ast.Constant) and isinstance(part.value, int | float))
                      for part in parts)  # fmt: skip
        if numbers and any(isinstance(part, ast.BinOp) for part in parts):
            yield eval(compile(ast.Expression(node), "<cell>", "eval"))  # type: ignore[arg-type]
        else:
            waiting += ast.iter_child_nodes(node)


def names_wrong_answers(source: str) -> bool:
    """Return whether the cell of a question holds wrong answers with their ideas, from which the right one follows.

    >>> names_wrong_answers('predict("?", choices=["a", "b"], ideas={"a": "VALUE"})')
    True
    >>> names_wrong_answers('predict("?", ideas="9.Q1"); predict("?", ideas={"x": (seen, ["EARLY"])})')
    False
    """
    words = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.keyword)]
    tables = [t for word in words if word.arg == "ideas" for t in ast.walk(word.value) if isinstance(t, ast.Dict)]
    return any(not isinstance(value, ast.Tuple | ast.Dict) for table in tables for value in table.values)


def _is_one_of(value: Any, outcomes: list[Any]) -> bool:
    if isinstance(value, str):
        return value in [one for one in outcomes if isinstance(one, str)]
    numbers = [float(one) for one in outcomes if not isinstance(one, str)]
    return isinstance(value, (int, float)) and any(abs(value - one) <= 1e-3 * max(abs(one), 1.0) for one in numbers)
