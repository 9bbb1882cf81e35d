"""Checks of lesson 5: a class of pairs, of a value and its tangent, that a learner writes.

Each operation is tried alone first, so that a wrong rule is named for the operation in which it is. Then come random
expressions and loops, measured by central differences as in lesson 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.lessons.attempt import a_kind, checked, idea_behind, is_blank, number, other, protect, same, stop
from autodiff_lab.lessons.result import CheckResult, passed

EXPRESSIONS = 40
TRIALS = 6
H = 1e-5
"""The step of the differences that expressions and loops are measured with."""
MEASURED = 1e-5
"""Relative difference up to which a tangent agrees with a difference."""
OPS = {"+": "the sum", "*": "the product", "/": "the quotient", "sin": "sin", "exp": "exp"}

Pair = tuple[float, float]
Tree = int | float | tuple[Any, ...]
"""The place of an input (an int), a plain number (a float), or an operation with its operands."""


@checked
def check_dual(dual: Any, sin: Any = ..., exp: Any = ..., ops: str = "+ * sin exp") -> CheckResult:
    """Check a class of pairs: a value, and the tangent that is carried along.

    Parameters
    ----------
    dual : class
        ``dual(value, tangent)``, with attributes `value` and `tangent`; plain numbers are welcome on either side of an
        operation.
    sin, exp : callable
        Take such a pair and return one.
    ops : str
        What is checked, separated by blanks.

    Raises
    ------
    InvalidArgumentError
        If `ops` has other words than ``+``, ``*``, ``sin`` and ``exp``.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> class Dual:
    ...     def __init__(self, value, tangent):
    ...         self.value, self.tangent = value, tangent
    ...     def __add__(self, other):
    ...         if not isinstance(other, Dual):
    ...             other = Dual(other, 0.0)
    ...         return Dual(self.value + other.value, self.tangent + other.tangent)
    ...     __radd__ = __add__
    >>> lessons.check_dual(Dual, ops="+")
    Passed. 40 of 40 random expressions of + agree with central differences.
    """
    wanted = ops.split() if isinstance(ops, str) else []
    if not wanted or not set(wanted) <= {"+", "*", "sin", "exp"}:
        raise InvalidArgumentError(f'Operations are words out of "+ * sin exp", and these are {ops!r}.')
    check_parts(dual)
    functions = {"sin": sin, "exp": exp}
    rng = np.random.default_rng()
    for op in wanted:
        if op in functions:
            _check_function(dual, op, functions[op], rng)
        else:
            try_operator(dual, op, rng)
    for _ in range(EXPRESSIONS):
        tree, at, along = _fresh(wanted, rng)
        made = protect(
            lambda tree=tree, at=at, along=along: evaluate(
                tree, [dual(*pair) for pair in zip(at, along, strict=True)], {**_OPERATORS, **functions}
            ),
            "your class",
        )
        value, tangent = read_pair(made, "An expression")
        if not (same(value, _plain(tree, at)) and same(tangent, _measured(tree, at, along), MEASURED)):
            raise spoiled("expressions")
    named = ", ".join(wanted)
    return passed(f"{EXPRESSIONS} of {EXPRESSIONS} random expressions of {named} agree with central differences.")


def check_parts(dual: Any) -> None:
    """See that a pair can be made and read."""
    if is_blank(dual):
        raise stop("BLANK", "There is nothing here to check yet.")
    if not isinstance(dual, type):
        raise stop("RAISES", f"A class was expected, but this is {a_kind(dual)}.", "Hand over the class itself: Dual.")
    found = read_pair(protect(lambda: dual(2.5, -1.5), "your class"), "Dual(2.5, -1.5)")
    if found != (2.5, -1.5):
        raise stop("OTHER", "Dual(2.5, -1.5) should have value 2.5 and tangent −1.5.",
                   "Its __init__ keeps both arguments as they are.")  # fmt: skip


def read_pair(made: Any, what: str) -> Pair:
    """Return value and tangent of a pair that a learner's class made."""
    name = f"{what[:1].upper()}{what[1:]}"
    if is_blank(made):
        raise stop("BLANK", f"{name} gives nothing back.", "Replace every ..., and return a Dual.")
    parts = [protect(lambda part=part: getattr(made, part, made), what) for part in ("value", "tangent")]
    if any(part is made for part in parts):
        raise stop("RAISES", f"{name} should give a Dual, with .value and .tangent, but is {a_kind(made)}.",
                   "Return Dual(value, tangent).")  # fmt: skip
    return number(parts[0], f"the value of {what}"), number(parts[1], f"the tangent of {what}")


def try_operator(dual: Any, op: str, rng: np.random.Generator) -> None:
    """Try an operation on pairs, then with a plain number on either side."""
    operate, what = _OPERATORS[op], OPS[op]
    pairs = [(fresh_pair(rng), fresh_pair(rng)) for _ in range(TRIALS)]
    answers = [
        read_pair(operated(lambda u=u, v=v: operate(dual(*u), dual(*v)), what, op), what) for u, v in pairs
    ]  # fmt: skip
    _compare(answers, [list(_binary(op, u, v)) for u, v in pairs], what)
    for plain_first in (False, True):
        mixed = [(fresh_pair(rng), float(rng.integers(2, 9)) / 2) for _ in range(TRIALS)]
        where = f"{what} with a plain number on the {'left' if plain_first else 'right'}"
        calls = [
            (lambda c=c, u=u: operate(c, dual(*u))) if plain_first else (lambda c=c, u=u: operate(dual(*u), c))
            for u, c in mixed
        ]
        answers = [read_pair(operated(call, where, op, plain_first), where) for call in calls]
        operands = [((c, 0.0), u) if plain_first else (u, (c, 0.0)) for u, c in mixed]
        moving = [((c, 1.0), u) if plain_first else (u, (c, 1.0)) for u, c in mixed]
        ideas = [[next(_binary(op, *of)), ("CONSTANT_MOVES", next(_binary(op, *also))[1]), *list(_binary(op, *of))[1:]]
                 for of, also in zip(operands, moving, strict=True)]  # fmt: skip
        _compare(answers, ideas, where)


def operated(call: Callable[[], Any], what: str, op: str, plain_first: bool = False) -> Any:
    """Return the result of an operation; one that the class does not have gets a hint."""

    def named() -> Any:
        try:
            return call()
        except TypeError as error:
            if "not supported" not in str(error) and "unsupported operand" not in str(error):
                raise
            if "ellipsis" in str(error):
                raise
            raise stop("RAISES", f"{what[:1].upper()}{what[1:]} does not work yet: {error}.",
                       f"For this Python calls {_METHODS[op][plain_first]}.") from None  # fmt: skip
        except AttributeError as error:
            if "'float' object" not in str(error):
                raise
            raise stop("RAISES", f"{what[:1].upper()}{what[1:]}: {error}.",
                       "A plain number is a pair with tangent 0: make it one first.") from None  # fmt: skip

    return protect(named, what)


def _check_function(dual: Any, name: str, function: Any, rng: np.random.Generator) -> None:
    """Try sin or exp on pairs."""
    if is_blank(function):
        raise stop("BLANK", f"{name} is still missing: the check takes the class, sin and exp.")
    if not callable(function):
        raise stop("RAISES", f"{name} should be a function, but is {a_kind(function)}.")
    pairs = [fresh_pair(rng) for _ in range(TRIALS)]
    answers = [read_pair(protect(lambda u=u: function(dual(*u)), name), name) for u in pairs]
    _compare(answers, [list(_unary(name, *u)) for u in pairs], name)


def _compare(answers: Sequence[Pair], ideas: Sequence[list[tuple[str, Pair]]], what: str) -> None:
    """Stop with the idea that explains all answers, if they are not those of the first entries."""
    right = [each[0][1] for each in ideas]
    if all(_same(answer, wanted) for answer, wanted in zip(answers, right, strict=True)):
        return
    code = idea_behind(answers, [each[1:] for each in ideas], _same)
    if not code and all(same(a[1], w[1]) for a, w in zip(answers, right, strict=True)):
        code = "VALUE_LOST"
    if not code:
        agree = all(same(a[0], w[0]) for a, w in zip(answers, right, strict=True))
        found = "The values are right, and the tangents are not" if agree else "Neither values nor tangents are right"
        raise other("function", f"Look at {what}. {found}; it is none of the usual wrong answers.")
    raise stop(code, f"Look at {what}. {stop(code).result.message}")


def _same(one: Pair, wanted: Pair) -> bool:
    return same(one[0], wanted[0]) and same(one[1], wanted[1])


def fresh_pair(rng: np.random.Generator) -> Pair:
    """Return a value and a tangent that lie well apart from each other, from 0 and from 1."""
    while True:
        value, tangent = (float(n) for n in np.round(rng.uniform(-2.5, 2.5, 2), 2))
        distances = (abs(value), abs(tangent), abs(value - tangent), abs(abs(value) - 1), abs(abs(tangent) - 1))
        if min(distances) > 0.2:
            return value, tangent


def _binary(op: str, one: Pair, two: Pair) -> Iterator[tuple[str, Pair]]:
    """Yield the right result of an operation, then what each wrong idea makes of it, always in the same order."""
    (u, du), (v, dv) = one, two
    if op == "+":
        yield "", (u + v, du + dv)
        yield "VALUE", (u + v, u + v)
    elif op == "*":
        yield "", (u * v, du * v + u * dv)
        yield "PRODUCT_OF_SLOPES", (u * v, du * dv)
        yield "HALF_PRODUCT", (u * v, du * v)
        yield "HALF_PRODUCT", (u * v, u * dv)
        yield "OWN_VALUE", (u * v, u * du + v * dv)
        yield "VALUE", (u * v, u * v)
    else:
        yield "", (u / v, (du * v - u * dv) / v**2)
        yield "QUOTIENT_FLIPPED", (u / v, (u * dv - du * v) / v**2)
        yield "QUOTIENT_NO_SQUARE", (u / v, (du * v - u * dv) / v)
        yield "QUOTIENT_NO_SQUARE", (u / v, du * v - u * dv)
        yield "MINUS_LOST", (u / v, (du * v + u * dv) / v**2)
        yield "HALF_PRODUCT", (u / v, du / v)
        yield "HALF_PRODUCT", (u / v, -u * dv / v**2)
        if dv:
            yield "PRODUCT_OF_SLOPES", (u / v, du / dv)


def _unary(name: str, u: float, du: float) -> Iterator[tuple[str, Pair]]:
    """Yield the right sin or exp of a pair, then what each wrong idea makes of it."""
    if name == "sin":
        yield "", (math.sin(u), math.cos(u) * du)
        yield "NO_CHAIN", (math.sin(u), math.cos(u))
        yield "SIGN", (math.sin(u), -math.cos(u) * du)
        yield "NO_CHAIN", (math.sin(u), math.cos(du))
        yield "VALUE", (math.sin(u), math.sin(u))
    else:
        yield "", (math.exp(u), math.exp(u) * du)
        yield "NO_CHAIN", (math.exp(u), math.exp(u))
        yield "EXP_INPUT", (math.exp(u), u * du)
        yield "EXP_AS_POWER", (math.exp(u), u * math.exp(u - 1) * du)
        yield "EXP_AS_POWER", (math.exp(u), u * math.exp(u - 1))
        yield "NO_CHAIN", (math.exp(u), math.exp(du))


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda u, v: u + v,
    "*": lambda u, v: u * v,
    "/": lambda u, v: u / v,
}
_METHODS = {"+": ("__add__", "__radd__"), "*": ("__mul__", "__rmul__"), "/": ("__truediv__", "__rtruediv__"),
            ">": ("__gt__", "__lt__")}  # fmt: skip


def evaluate(tree: Tree, inputs: Sequence[Any], operations: dict[str, Callable[..., Any]]) -> Any:
    """Return the value of an expression for any kind of input.

    Examples
    --------
    >>> evaluate(("+", ("*", 0, 1), 3.0), [2.0, 5.0], _OPERATORS)
    13.0
    """
    if isinstance(tree, int):
        return inputs[tree]
    if isinstance(tree, float):
        return tree
    op, *operands = tree
    return operations[op](*(evaluate(each, inputs, operations) for each in operands))


def _plain(tree: Tree, at: Sequence[float]) -> float:
    return float(evaluate(tree, at, {**_OPERATORS, "sin": math.sin, "exp": math.exp}))


def _measured(tree: Tree, at: Sequence[float], along: Sequence[float], h: float = H) -> float:
    """Return the central difference of an expression along a direction."""
    left, right = ([x + sign * h * t for x, t in zip(at, along, strict=True)] for sign in (-1, 1))
    return (_plain(tree, right) - _plain(tree, left)) / (2 * h)


def _fresh(ops: Sequence[str], rng: np.random.Generator) -> tuple[Tree, list[float], list[float]]:
    """Return an expression in three inputs that differences can measure, a point, and a tangent for each input."""
    while True:
        tree = _grown(ops, rng, 4)
        at, along = ([float(n) for n in np.round(rng.uniform(-1.5, 1.5, 3), 2)] for _ in range(2))
        if isinstance(tree, tuple):
            try:
                one, two = _measured(tree, at, along), _measured(tree, at, along, 2 * H)
            except OverflowError:
                continue
            if 0.01 < abs(one) < 50 and same(one, two, MEASURED / 10):
                return tree, at, along


def _grown(ops: Sequence[str], rng: np.random.Generator, depth: int) -> Tree:
    """Return a random expression."""
    if depth == 0 or rng.random() < 0.15:
        return int(rng.integers(3))
    op = str(rng.choice(list(ops)))
    if op in ("sin", "exp"):
        return op, _grown(ops, rng, depth - 1)
    operands: list[Tree] = [_grown(ops, rng, depth - 1) for _ in range(2)]
    if rng.random() < 0.25:
        operands[int(rng.integers(2))] = float(rng.integers(1, 5)) / 2
    return op, *operands


def spoiled(where: str) -> Exception:
    """Return what ends a check whose operations are right one by one, and wrong together."""
    return other("function", f"Each operation alone is right, but {where} of them are not.",
                 "Does an operation change one of its operands? It should make a new pair.")  # fmt: skip
