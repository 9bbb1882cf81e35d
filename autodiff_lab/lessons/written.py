"""More checks of lesson 4: formulas as nested tuples, differentiated by rule, and dealt loops whose tape is counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextvars import Context
from dataclasses import dataclass
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.lessons.attempt import (
    a_kind,
    attempt,
    checked,
    finite,
    idea_behind,
    is_blank,
    number,
    other,
    protect,
    same,
    stop,
)
from autodiff_lab.lessons.result import CheckResult, passed

TRIALS = 12
DEEP = 40
"""Rounds of a formula that only a table of its parts can differentiate in time."""
Formula = Any
"""``"x"``, a number, or (sign, formula, formula) with the signs +, - and *."""
Pair = tuple[float, float]


def repeated(n: int) -> Formula:
    """Return 4x(1 − x), n times, as nested tuples; a part that is used twice is one object.

    Examples
    --------
    >>> repeated(1)
    ('*', ('*', 4, 'x'), ('-', 1, 'x'))
    """
    found: Formula = "x"
    for _ in range(n):
        found = ("*", ("*", 4, found), ("-", 1, found))
    return found


_SUM: dict[str, Callable[[Pair, Pair], float]] = {"+": lambda u, v: u[1] + v[1], "-": lambda u, v: u[1] - v[1]}
_PRODUCT: Callable[[Pair, Pair], float] = lambda u, v: u[1] * v[0] + u[0] * v[1]  # noqa: E731
_WRONG: dict[str, tuple[float, Callable[[Pair, Pair], float], Callable[[Pair, Pair], float]]] = {
    "PRODUCT_OF_SLOPES": (0.0, _SUM["-"], lambda u, v: u[1] * v[1]),
    "HALF_PRODUCT": (0.0, _SUM["-"], lambda u, v: u[1] * v[0]),
    "HALF_PRODUCT ": (0.0, _SUM["-"], lambda u, v: u[0] * v[1]),
    "MINUS_LOST": (0.0, _SUM["+"], _PRODUCT),
    "CONSTANT_MOVES": (1.0, _SUM["-"], _PRODUCT),
}
"""By code: the derivative of a number, the rule for differences, and the rule for products."""


def _value(formula: Formula, x: float, slope: tuple[Any, ...] = (0.0, _SUM["-"], _PRODUCT)) -> Pair:
    """Return the value and the derivative of a formula, each object computed once."""
    known: dict[int, Pair] = {}

    def pair(part: Formula) -> Pair:
        if isinstance(part, str):
            return x, 1.0
        if not isinstance(part, tuple):
            return float(part), slope[0]
        if id(part) not in known:
            sign, u, v = part[0], pair(part[1]), pair(part[2])
            value = {"+": u[0] + v[0], "-": u[0] - v[0], "*": u[0] * v[0]}[sign]
            rule = {"+": _SUM["+"], "-": slope[1], "*": slope[2]}[sign]
            known[id(part)] = value, rule(u, v)
        return known[id(part)]

    return pair(formula)


def _read(formula: Formula, known: dict[int, Formula]) -> Formula:
    """Return what a learner made as a formula, each of its objects read once."""
    if is_blank(formula):
        raise stop("BLANK", "The derivative still has a blank (...).")
    if isinstance(formula, str):
        if formula != "x":
            raise stop(
                "RAISES", f'"{formula[:20]}" stands in the derivative as a part.', 'Parts are "x", numbers, tuples.'
            )
        return formula
    if not isinstance(formula, tuple):
        return finite(formula, "a number in the derivative")
    if id(formula) not in known:
        if len(formula) != 3 or not isinstance(formula[0], str) or formula[0] not in ("+", "-", "*"):
            raise stop("RAISES", "A part of the derivative is not (sign, formula, formula).", 'Like ("+", "x", 1).')
        known[id(formula)] = (formula[0], _read(formula[1], known), _read(formula[2], known))
    return known[id(formula)]


def _random(rng: np.random.Generator, depth: int) -> Formula:
    if depth == 0 or rng.random() < 0.2:
        return "x" if rng.random() < 0.6 else int(rng.integers(2, 6))
    sign = ("+", "-", "*", "*")[int(rng.integers(4))]
    return sign, _random(rng, depth - 1), _random(rng, depth - 1)


@checked
def check_formula(derivative: Callable[..., Any], table: bool = False, seed: int | None = None) -> CheckResult:
    """Check a function that differentiates formulas, written as nested tuples.

    Parameters
    ----------
    derivative : callable
        ``derivative(formula)``, or with `table` ``derivative(formula, seen)``, where `seen` is an empty dict for the
        parts that were differentiated already.  It returns a formula.
    table : bool
        Whether 40 rounds of 4x(1 − x) are differentiated as well, which only a table does in time.
    seed : int, optional
        Makes the formulas the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> def derivative(e):
    ...     if not isinstance(e, tuple):
    ...         return 1 if e == "x" else 0
    ...     sign, a, b = e
    ...     if sign in "+-":
    ...         return (sign, derivative(a), derivative(b))
    ...     return ("+", ("*", derivative(a), b), ("*", a, derivative(b)))
    >>> lessons.check_formula(derivative)
    Passed. Right for 12 fresh formulas.
    """
    rng = np.random.default_rng(seed)
    fixed: list[Formula] = [("*", 3, "x"), ("-", "x", ("*", "x", 2)), ("*", ("+", "x", 1), ("-", "x", 4)), repeated(2)]
    formulas = fixed + [_random(rng, 3) for _ in range(TRIALS - len(fixed))]
    x = float(rng.uniform(1.2, 1.9))
    call = (
        (lambda formula: attempt(derivative, formula, {})) if table else (lambda formula: attempt(derivative, formula))
    )
    found = [_value(_read(call(formula), {}), x)[0] for formula in formulas]
    if not all(same(said, _value(formula, x)[1]) for said, formula in zip(found, formulas, strict=True)):
        ideas = [[(code.strip(), _value(formula, x, way)[1]) for code, way in _WRONG.items()] for formula in formulas]
        code = idea_behind(found, ideas)
        raise stop(code) if code else other("function")
    if not table:
        return passed(f"Right for {TRIALS} fresh formulas.")
    seen: dict[Any, Any] = {}
    long = repeated(DEEP)
    made = protect(lambda: derivative(long, seen), "The derivative of 40 rounds")
    at = _value(_read(made, {}), 0.1)[0]
    if not same(at, _value(long, 0.1)[1]):
        raise other("function", "Short formulas come out right, and 40 rounds do not.", "Keys: id(e), not e itself.")
    return passed(f"Right for {TRIALS} fresh formulas, and for 40 rounds: {len(seen)} parts in the table.")


_LINES: Mapping[str, int] = {
    "y = y * y - 0.3": 2, "y = y / (1.0 + y * y)": 3, "y = lab.sin(y) * x": 2, "y = 0.5 * (y + x)": 2,
    "y = lab.tanh(y)": 1, "y = 2.5 * y * (1.0 - y)": 3,
}  # fmt: skip
"""Lines of a loop, with the entries that each leaves."""
_TWICE = tuple(line for line in _LINES if line.count("y") > 2)
_ROUNDS = (0, 1, 2, 3, 7, 10, 11, 30)


@dataclass(frozen=True, repr=False)
class DealtLoop:
    """A loop whose tape is counted.  Dealt by `deal_loop`.

    Attributes
    ----------
    text : str
        The program, a function of x and n.
    counts : mapping of str to int
        Entries of one round and outside the loop, ops on plain numbers in a round, and lines of the loop.
    """

    text: str
    counts: Mapping[str, int]

    def __repr__(self) -> str:
        return self.text

    def entries(self, n: int) -> int:
        """Return how many entries the tape has after n rounds, by running the program."""
        names: dict[str, Any] = {"lab": lab}
        exec(self.text, names)

        def run() -> int:
            x = lab.Variable(0.4, dtype=lab.float64)
            with lab.GradientTape() as tape, np.errstate(all="ignore"):
                names["program"](x, n)
            return len(tape.operations)

        return Context().run(run)


def deal_loop(seed: int | None = None) -> DealtLoop:
    """Deal a short program with a loop, for which the length of the tape is asked.

    Parameters
    ----------
    seed : int, optional
        Deals the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> loop = lessons.deal_loop(seed=1)
    >>> loop.entries(3) - loop.entries(2) == loop.counts["round"]
    True
    """
    rng = np.random.default_rng(seed)
    lines = [str(rng.choice(_TWICE))]
    lines.append(str(rng.choice([line for line in _LINES if line not in lines])))
    inside = ["a = 0.9 * a", *(lines[k] for k in rng.permutation(2).tolist())]
    before, after = str(rng.choice(["y = lab.exp(x)", "y = x * x"])), str(rng.choice(["y + a", "y * a"]))
    text = "\n".join([
        "def program(x, n):", "    a = 2.0", f"    {before}", "    for _ in range(n):",
        *(f"        {line}" for line in inside), f"    return {after}",
    ])  # fmt: skip
    counts = {"round": sum(_LINES[line] for line in lines), "outside": 2, "plain": 1, "lines": len(inside)}
    return DealtLoop(text, counts)


def _lengths_from(counts: Mapping[str, int], n: int) -> Iterator[tuple[str, float]]:
    """Yield what each wrong idea takes for the length of the tape, always in the same order."""
    each, outside, plain, lines = (counts[name] for name in ("round", "outside", "plain", "lines"))
    yield "EVERYTHING", (each + plain) * n + outside
    yield "EVERYTHING", (each + plain) * n
    yield "LOOP_ONLY", each * n
    yield "SOURCE_TEXT", each + outside
    yield "SOURCE_TEXT", each
    for rows in (lines, lines - plain, 1):
        for beside in (0, 1, 2, 3):
            yield "ONE_ENTRY_A_LINE", rows * n + beside


@checked
def check_tape_length(tape_length: Callable[[int], float], loop: Any) -> CheckResult:
    """Check a function that says how many entries the tape of a dealt loop has after n rounds.

    Parameters
    ----------
    tape_length : callable
        ``tape_length(n)``, for n from 0.
    loop : DealtLoop
        What `deal_loop` dealt.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> loop = lessons.deal_loop(seed=4)
    >>> lessons.check_tape_length(lambda n: loop.entries(n), loop)
    Passed. Right from 0 rounds to 30: the tape grows by the same number of entries in every round.
    >>> lessons.check_tape_length(lambda n: 7 * 2**n, loop).code
    'FORMULA_IS_TAPE'
    """
    if not isinstance(loop, DealtLoop):
        raise stop("RAISES", f"A dealt loop was expected, but this is {a_kind(loop)}.", "Give the loop that was dealt.")
    found = [number(attempt(tape_length, n), "the length") for n in _ROUNDS]
    if all(same(said, loop.entries(n)) for said, n in zip(found, _ROUNDS, strict=True)):
        return passed("Right from 0 rounds to 30: the tape grows by the same number of entries in every round.")
    code = idea_behind(found, [list(_lengths_from(loop.counts, n)) for n in _ROUNDS])
    by_n = dict(zip(_ROUNDS, found, strict=True))
    swells = by_n[11] >= 1.5 * by_n[10] > 0 and by_n[30] >= 1.5**19 * by_n[11]
    if not code and all(map(math.isfinite, found)) and swells:
        code = "FORMULA_IS_TAPE"
    if code == "EVERYTHING":
        raise stop(code, "This counts an op that no watched number goes into. Such an op leaves no entry.",
                   "Which line works with plain numbers only?")  # fmt: skip
    if code == "SOURCE_TEXT":
        raise stop(code, "This counts what the program says, once. The tape records what runs.",
                   "How often does a line run that stands in the loop?")  # fmt: skip
    raise stop(code) if code else other("function")
