"""A concept inventory: ten questions in two parallel forms, to be asked before and after the course.

The forms ask for the same ideas with other numbers.  Every wrong choice is what one misconception gives, computed from
the numbers of the question; `score` tells which it was.  docs/inventory.md has both forms for paper, and the key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.lessons.attempt import is_blank
from autodiff_lab.lessons.codes import CODES

LETTERS = "abcd"
_PLACES = {"A": "cabdbadcbd", "B": "bdacdcabca"}
"""Where the right choice stands, question by question."""

Choices = tuple[Any, dict[str, Any]]
"""The right choice, and the wrong ones by code."""


@dataclass(frozen=True, slots=True)
class Item:
    """A question.

    Attributes
    ----------
    concept : str
        What it asks about, in a few words.
    lesson : int
        The lesson that teaches it.
    question : str
        Plain text; lines of code are indented.
    choices : tuple of (str, str)
        In the order of the letters: the choice, and the code of the misconception that leads to it; empty if right.
    """

    concept: str
    lesson: int
    question: str
    choices: tuple[tuple[str, str], ...]

    @property
    def right(self) -> str:
        """The letter of the right choice."""
        return LETTERS[[code for _, code in self.choices].index("")]


@dataclass(frozen=True, repr=False, slots=True)
class Inventory:
    """One form of the inventory.  Made by `inventory`.

    Attributes
    ----------
    form : str
        ``"A"`` or ``"B"``.
    items : tuple of Item
        Ten.
    """

    form: str
    items: tuple[Item, ...]

    def __repr__(self) -> str:
        parts = [f"Form {self.form}"]
        for number, item in enumerate(self.items, start=1):
            choices = [f"   {letter}) {text}" for letter, (text, _) in zip(LETTERS, item.choices, strict=True)]
            parts.append("\n".join([f"{number}. {item.question}", *choices]))
        return "\n\n".join(parts)

    def score(self, answers: str | Mapping[int, Any]) -> Score:
        """Score the answers of one person.

        Parameters
        ----------
        answers : str or mapping of int to str
            A letter for each question, ``-`` where none was chosen; or letters by number.

        Returns
        -------
        Score
            How many are right, and the misconceptions behind the others.

        Raises
        ------
        InvalidArgumentError
            If there are not ten letters, or one is not a choice.

        Examples
        --------
        >>> from autodiff_lab import lessons
        >>> lessons.inventory("A").score({6: "b", 10: "d"})
        1 of 10 right, 8 left out
        6 (when a value is used twice): b, OVERWRITE: a new contribution replaces the old one
        """
        if isinstance(answers, str):
            letters = [letter for letter in answers if not letter.isspace()]
            if len(letters) != len(self.items):
                raise InvalidArgumentError(f"{len(self.items)} letters were expected, but {len(letters)} were given.")
            answers = dict(enumerate(letters, start=1))
        chosen: dict[int, str] = {}
        for number, letter in answers.items():
            if number not in range(1, len(self.items) + 1):
                raise InvalidArgumentError(
                    f"There is no question {number!r}: they are numbered 1 to {len(self.items)}."
                )
            if is_blank(letter) or letter in ("-", ""):
                continue
            if not isinstance(letter, str) or letter.strip().lower() not in tuple(LETTERS):
                raise InvalidArgumentError(f"{letter!r} is not a choice of question {number}: write a, b, c, d or -.")
            chosen[number] = letter.strip().lower()
        return Score(self, dict(sorted(chosen.items())))


@dataclass(frozen=True, repr=False, slots=True)
class Score:
    """What one person answered.

    Attributes
    ----------
    inventory : Inventory
        The form.
    chosen : dict of int to str
        Letters by question, without those that were left out.
    """

    inventory: Inventory
    chosen: dict[int, str]

    @property
    def right(self) -> int:
        """How many are right."""
        return sum(not code for code in self._codes().values())

    @property
    def codes(self) -> dict[int, str]:
        """The misconception behind each wrong choice, by question."""
        return {number: code for number, code in self._codes().items() if code}

    def _codes(self) -> dict[int, str]:
        items = self.inventory.items
        return {number: items[number - 1].choices[LETTERS.index(at)][1] for number, at in self.chosen.items()}

    def __repr__(self) -> str:
        items = self.inventory.items
        left = len(items) - len(self.chosen)
        lines = [f"{self.right} of {len(items)} right" + (f", {left} left out" if left else "")]
        for number, code in self.codes.items():
            what = f"{number} ({items[number - 1].concept})"
            lines.append(f"{what}: {self.chosen[number]}, {code}: {CODES[code].idea}")
        return "\n".join(lines)


def inventory(form: str = "A") -> Inventory:
    """Return one form of the concept inventory: ten questions with four choices each.

    Parameters
    ----------
    form : str
        ``"A"`` or ``"B"``: the same concepts with other numbers, one for before the course and one for after it.

    Raises
    ------
    InvalidArgumentError
        If there is no such form.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> form = lessons.inventory("B")
    >>> len(form.items), form.items[4].question
    (10, 'f = (x − y)·z at x = 9, y = 3, z = 4. What is df/dy?')
    """
    key = form.strip().upper() if isinstance(form, str) else ""
    if key not in _PLACES:
        raise InvalidArgumentError(f'There is no form {form!r} of the inventory: write "A" or "B".')
    made = _items(key == "B")
    return Inventory(key, tuple(_placed(item, at) for item, at in zip(made, _PLACES[key], strict=True)))


def _placed(made: tuple[str, int, str, Choices], letter: str) -> Item:
    concept, lesson, question, (right, wrong) = made
    choices = [(str(value), code) for code, value in wrong.items()]
    choices.insert(LETTERS.index(letter), (str(right), ""))
    return Item(concept, lesson, question, tuple(choices))


def _items(other: bool) -> Iterator[tuple[str, int, str, Choices]]:
    yield ("a rate at a point", 1, *_rate(*((5, 6) if other else (3, 4))))
    yield ("the step of a difference", 3, *_step(other))
    yield ("a forward sweep", 5, *_forward(*((4, 3, 7) if other else (3, 2, 5))))
    yield ("what a tape records", 6, *_tape(other))
    yield ("one gate of a backward pass", 7, *_gate(*((9, 3, 4) if other else (7, 2, 3))))
    yield ("when a value is used twice", 8, *_twice(*((5, 2, 4) if other else (2, 3, 4))))
    yield ("broadcasting backwards", 9, *_broadcast(*((2, 5) if other else (3, 4))))
    yield ("the gradient of a vector", 10, *_vector(*((3, 4, 2, 1) if other else (2, 5, 1, 2))))
    yield ("a check that fails", 11, *_kink(other))
    yield ("the step downhill", 12, *_downhill(*((1, 4) if other else (2, 8))))


def _rate(c: int, b: int) -> tuple[str, Choices]:
    end = b * b + c * b
    question = (
        f"f(x) = x² + {c}x climbs from 0 at x = 0 to {end} at x = {b}. How much does it climb, for each unit of x, "
        "exactly at x = 1?"
    )
    return question, (2 + c, {"WHOLE_TRIP": b + c, "CHANGE": end, "VALUE": 1 + c})


def _step(other: bool) -> tuple[str, Choices]:
    dtype, right, ignored = ("float32", "0.0003", "0.00000001") if other else ("float64", "0.00000001", "0.0003")
    question = f"The slope of sin at 1 is measured as (sin(1 + h) − sin(1)) / h in {dtype}. Which h errs least?"
    return question, (right, {
        "SMALLER_IS_BETTER": "0.00000000000001", "LARGER_IS_SAFER": "0.01", "DTYPE_IGNORED": ignored,
    })  # fmt: skip


def _forward(a: int, x: int, y: int) -> tuple[str, Choices]:
    question = (
        f"f = {a}·x + x·y at x = {x}, y = {y}. One forward sweep starts with tangent 1 for x and 0 for y. What tangent "
        "does f get?"
    )
    return question, (a + y, {"ALL_SEEDED": a + y + x, "OWN_VALUE": a + x, "PRODUCT_OF_SLOPES": a})


def _tape(other: bool) -> tuple[str, Choices]:
    start, op, last = ("5.0", "sin(x)", "- 2.0") if other else ("3.0", "exp(x)", "+ 1.0")
    lines = [f"x = Variable({start})", "with GradientTape() as tape:", "    k = sqrt(constant(16.0))",
             "    if x > 4.0:", "        y = x * x", "    else:", f"        y = {op}",
             f"    z = y {last} * k"]  # fmt: skip
    taken, name, end = ("multiply", "sin", "subtract") if other else ("exp", "exp", "add")
    said = {"SOURCE_TEXT": f"multiply, {name}, {end}", "EVERYTHING": f"sqrt, greater, {taken}, multiply, {end}",
            "FORGOTTEN": end}  # fmt: skip
    question = "Which entries does the tape hold at the end?\n" + "\n".join(f"       {line}" for line in lines)
    return question, (f"{taken}, {end}", said)


def _gate(x: int, y: int, z: int) -> tuple[str, Choices]:
    question = f"f = (x − y)·z at x = {x}, y = {y}, z = {z}. What is df/dy?"
    return question, (_n(-z), {"MINUS_LOST": z, "OWN_VALUE": _n(y - x), "LOCAL_ONLY": _n(-1)})


def _twice(a: int, b: int, c: int) -> tuple[str, Choices]:
    right = a * (b + c)
    question = f"y = {a}x, u = {b}y, v = {c}y, f = u + v. A backward pass starts at f with 1. What is df/dx?"
    return question, (right, {"OVERWRITE": a * c, "EARLY": a * b + right, "STALE": 4 * right})


def _broadcast(m: int, n: int) -> tuple[str, Choices]:
    question = (
        f"x has shape ({m}, 1), y has shape (1, {n}), and s is the sum of all elements of x + y. What is the gradient "
        "of s with respect to x?"
    )
    return question, (_column(m, n), {
        "MEAN_FOR_SUM": _column(m, 1), "KEEPDIMS_LOST": [n] * m, "BROADCAST_KEPT": f"{m} rows of {n} ones",
    })  # fmt: skip


def _column(m: int, value: int) -> list[list[int]]:
    return [[value] for _ in range(m)]


def _vector(p: int, q: int, v: int, w: int) -> tuple[str, Choices]:
    question = (
        f"y = [x₁ + x₂, x₁·x₂] at x = [{p}, {q}]. A backward pass starts at y with the cotangent [{v}, {w}]. What is "
        "the gradient with respect to x?"
    )
    return question, ([v + w * q, v + w * p], {
        "TRANSPOSE_LOST": [v + w, v * q + w * p], "SUMMED": [1 + q, 1 + p], "WHOLE_JACOBIAN": [[v, v], [w * q, w * p]],
    })  # fmt: skip


def _kink(other: bool) -> tuple[str, Choices]:
    what, tape = ("max(x, 7) at 7", 1) if other else ("relu(x) at 0", 0)
    question = (
        f"A check of {what}: the tape says {tape}, differences say 0.5 for every step, and the slopes to the left and "
        "to the right are 0 and 1. What does that show?"
    )
    return question, ("a kink, where the tape gives the slope of one side", {
        "FAIL_MEANS_WRONG_RULE": "the rule of the op is wrong",
        "STEP_TOO_SMALL": "nothing yet: a much smaller step would agree",
        "KINK_HAS_NO_GRADIENT": "the tape should have given no number here",
    })  # fmt: skip


def _downhill(a: int, b: int) -> tuple[str, Choices]:
    question = (
        f"x ← x − h·gradient goes down ½({a}x² + {b}y²) with a fixed step h. From which h on does it no longer arrive?"
    )
    return question, (_n(2 / b), {
        "HALF_THE_LIMIT": _n(1 / b), "SLOWEST_RULES": _n(2 / a), "MEAN_RULES": _n(2 / ((a + b) / 2)),
    })  # fmt: skip


def _n(value: float) -> str:
    return f"{value:g}".replace("-", "−")
