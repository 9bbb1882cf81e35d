"""Verdicts on gradients that disagree with differences: exercises 1 and 4 of lesson 11.

A patient is a function with one thing wrong with it, or nothing. Its kind is finer than its verdict: a rule that is
right at a single point and one that is right nowhere are both wrong, but a learner misses them for different reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.lessons.attempt import a_kind, attempt, checked, is_blank, listed, other, stop
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.result import CheckResult, passed
from autodiff_lab.recording.numbers import short
from autodiff_lab.testing.differences import numeric_gradient

VERDICTS = ("agrees", "wrong rule", "kink", "precision", "not deterministic", "not finite")
_ALSO = {
    "agree": "agrees", "pass": "agrees", "passes": "agrees", "right": "agrees", "ok": "agrees",
    "wrong": "wrong rule", "rule": "wrong rule", "rounding": "precision", "imprecise": "precision",
    "nondeterministic": "not deterministic", "non deterministic": "not deterministic", "random": "not deterministic",
    "randomness": "not deterministic", "nan": "not finite", "inf": "not finite", "nonfinite": "not finite",
    "non finite": "not finite", "infinite": "not finite",
}  # fmt: skip
"""Other words for the same."""
TRUTH = {
    "right": "agrees", "wrong": "wrong rule", "lucky": "wrong rule", "kink": "kink", "cancelled": "kink",
    "precision": "precision", "random": "not deterministic", "nan": "not finite",
}  # fmt: skip
"""The verdict on each kind."""
NEARBY = 0.1
NEAR = 1e-2
"""Relative difference up to which a slope counts as agreeing."""
LETTERS = "abcdef"


@dataclass(frozen=True)
class Patient:
    """A function whose gradient is to be judged.

    Attributes
    ----------
    program : str
        What it computes, and its rule if that is not the usual one.
    function : callable
        Takes a tensor and returns one.
    x : float or tuple of float
        Where it is examined.
    kind : str
        What is wrong with it, a key of `TRUTH`.
    """

    program: str
    function: Callable[[Any], Any]
    x: float | tuple[float, ...]
    kind: str

    def value(self, x: Any) -> float:
        """Return the value at a point, as a float."""
        return float(lab.reduce_sum(self.function(_tensor(x))))

    def slope(self, x: Any) -> float:
        """Return what the tape gives at a point, with respect to the first element."""
        return float(np.ravel(lab.gradient(self.function)(_tensor(x)).numpy())[0])

    def difference(self, x: Any, h: float = 1e-6, sides: str = "both") -> float:
        """Return a difference quotient with respect to the first element: to ``"both"`` sides, left or right."""
        if sides == "both":
            (found,) = numeric_gradient(self.function, np.asarray(x, np.float64), step=h)
            return float(np.ravel(found)[0])
        step = np.zeros_like(np.asarray(x, np.float64))
        step.flat[0] = h if sides == "right" else -h
        return (self.value(x + step) - self.value(x)) / float(step.flat[0])


def _tensor(x: Any) -> Any:
    return lab.constant(x, dtype=lab.float64)


def _with_rule(value: Callable[[Any], Any], rule: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @lab.custom_gradient
    def function(x: Any) -> Any:
        return value(x), lambda upstream: upstream * rule(x)

    return function


class Patients:
    """Six functions by letter, with what the tape and differences say of each.  Dealt by `patients`.

    Attributes
    ----------
    by_letter : dict of str to Patient
        The functions.
    """

    def __init__(self, by_letter: dict[str, Patient]) -> None:
        self.by_letter = by_letter
        rows = [
            (letter, each.program, f"at {_point(each.x)}", short(each.slope(each.x)), short(each.difference(each.x)))
            for letter, each in by_letter.items()
        ]
        self._table = _aligned([("", "function", "", "tape", "differences"), *rows])

    def __repr__(self) -> str:
        return self._table

    def evidence(self, letter: str) -> str:
        """Return what a closer look at one of them finds: twice the same input, three steps, both sides, farther on.

        Parameters
        ----------
        letter : str
            Which of them.

        Raises
        ------
        InvalidArgumentError
            If there is none with this letter.

        Examples
        --------
        >>> from autodiff_lab import lessons
        >>> six = lessons.patients(seed=1)
        >>> letter = next(key for key, each in six.by_letter.items() if each.program.startswith("sum"))
        >>> print(six.evidence(letter).splitlines()[-1])
        at (1)                tape 2, differences 2
        """
        each = self.by_letter.get(str(letter).strip().lower())
        if each is None:
            raise lab.errors.InvalidArgumentError(f"There is no patient {letter!r}; the letters are a to f.")
        x = each.x
        far = (x[0],) if isinstance(x, tuple) else x + NEARBY
        steps = [f"{h:g}: {short(each.difference(x, h))}" for h in (1e-2, 1e-4, 1e-6)]
        rows = [
            ("twice the same value", f"{short(each.value(x), 8)} and {short(each.value(x), 8)}"),
            ("tape", short(each.slope(x))),
            ("differences, by step", ", ".join(steps)),
            ("left, right", " and ".join(short(each.difference(x, 1e-4, side)) for side in ("left", "right"))),
            (f"at {_point(far)}", f"tape {short(each.slope(far))}, differences {short(each.difference(far, 1e-4))}"),
        ]
        return _aligned([(f"{letter}  {each.program}",), *rows])


def _point(x: float | tuple[float, ...]) -> str:
    return f"({', '.join(map(short, x))})" if isinstance(x, tuple) else short(x)


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a table; a row of one cell runs across."""
    wide = [row for row in rows if len(row) > 1]
    widths = [max(map(len, column)) for column in zip(*wide, strict=True)]
    lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)) for row in wide]
    single = [row[0] for row in rows if len(row) == 1]
    return "\n".join(line.rstrip() for line in [*single, *lines])


def patients(seed: int | None = None) -> Patients:
    """Deal six functions whose gradients disagree with differences, for a verdict on each.

    Parameters
    ----------
    seed : int, optional
        Deals the same again.

    Returns
    -------
    Patients
        Printed, it shows each with the tape's number and that of differences; ``.evidence("a")`` looks closer.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> six = lessons.patients(seed=1)
    >>> sorted(six.by_letter)
    ['a', 'b', 'c', 'd', 'e', 'f']
    """
    rng = np.random.default_rng(seed)
    noise = np.random.default_rng(int(rng.integers(2**31)))
    n, at, c = int(rng.integers(2, 6)), float(rng.integers(2, 6)), int(rng.choice([3, 5, 7, 9]))
    wrong = [
        Patient(f"{n} * x * x, rule {n} * x", _with_rule(lambda x: n * x * x, lambda x: n * x), at, "wrong"),
        Patient("sin(x), rule -cos(x)", _with_rule(lab.sin, lambda x: -lab.cos(x)), at, "wrong"),
        Patient("exp(x), rule x", _with_rule(lab.exp, lambda x: x), at, "wrong"),
    ]
    kinks = [
        Patient(f"{c} * relu(x)", lambda x: float(c) * lab.nn.relu(x), 0.0, "kink"),
        Patient(f"maximum(x, {c})", lambda x: lab.maximum(x, float(c)), float(c), "kink"),
    ]
    hidden = [
        Patient(f"where(x < {n}, x, sqrt(x))", lambda x: lab.where(x < float(n), x, lab.sqrt(x)), 0.0, "nan"),
        Patient(f"{n} * sqrt(x ** 4)", lambda x: float(n) * lab.sqrt(x**4), 0.0, "nan"),
    ]
    total = _with_rule(lambda x: lab.reduce_sum(x * x), lambda x: 2.0 * lab.reduce_sum(x))
    dealt = [
        wrong[int(rng.integers(3))],
        kinks[int(rng.integers(2))],
        hidden[int(rng.integers(2))],
        Patient(f"(x + {c}e8) ** 2 - {c * c}e16", lambda x: (x + c * 1e8) ** 2 - c * c * 1e16, 1.0, "precision"),
        Patient("x * random()", lambda x: x * float(noise.random()), at, "random"),
        Patient("sum(x * x), rule 2 * sum(x)", total, (1.0, at), "lucky"),
    ]
    order = rng.permutation(len(dealt)).tolist()
    return Patients({letter: dealt[k] for letter, k in zip(LETTERS, order, strict=True)})


_IDEAS: tuple[tuple[str, Mapping[str, frozenset[str]]], ...] = (
    ("FAIL_MEANS_WRONG_RULE", {
        "kink": frozenset({"wrong rule"}), "precision": frozenset({"wrong rule"}),
        "cancelled": frozenset({"wrong rule"}), "nan": frozenset({"wrong rule", "not finite"}),
        "random": frozenset({"wrong rule", "not deterministic"}), "lucky": frozenset({"agrees", "wrong rule"}),
    }),
    ("ONE_RUN", {"random": frozenset(VERDICTS)}),
    ("NAN_GRADIENT_NEEDS_NAN_LOSS", {"nan": frozenset(VERDICTS)}),
    ("KINK_HAS_NO_GRADIENT", {"kink": frozenset({"not finite"}), "cancelled": frozenset({"not finite", "kink"})}),
    ("PASS_MEANS_RIGHT", {"lucky": frozenset({"agrees"})}),
    ("STEP_TOO_SMALL", {"precision": frozenset({"wrong rule", "kink", "not deterministic"})}),
    ("KINKS_CANCEL", {"cancelled": frozenset({"wrong rule", "precision", "agrees"})}),
)  # fmt: skip
"""What each idea may answer on each kind; on kinds that are not listed it answers right.

The first explains several kinds at once.  The others have a kind of their own, so a set of them can explain an answer.
"""


def _judge(kinds: Sequence[str], said: Sequence[str]) -> str:
    """Return an empty string if all are right, else the first of the ideas that together explain every answer."""
    wrong = [(kind, word) for kind, word in zip(kinds, said, strict=True) if word != TRUTH[kind]]
    if not wrong:
        return ""
    whole = _IDEAS[0][1]
    disagreeing = {"kink", "precision", "cancelled"} & set(kinds)
    if disagreeing <= {kind for kind, _ in wrong} and all(word in whole.get(kind, ()) for kind, word in wrong):
        return _IDEAS[0][0]
    names = [next((code for code, on in _IDEAS[1:] if word in on.get(kind, ())), "") for kind, word in wrong]
    steady = all(_same_on_kind(kind, kinds, said) for kind, _ in wrong)
    if "" in names or not steady:
        return "OTHER"
    return next(code for code, _ in _IDEAS if code in names)


def _same_on_kind(kind: str, kinds: Sequence[str], said: Sequence[str]) -> bool:
    """Return whether all of a kind are missed: an idea does not miss one of two."""
    return all(word != TRUTH[kind] for each, word in zip(kinds, said, strict=True) if each == kind)


def _word(said: Any, what: str) -> str:
    """Return a verdict as the table has it.

    Raises
    ------
    Stopped
        If it is blank, or not one of them.
    """
    if is_blank(said):
        raise stop("BLANK", f"{what} is still blank.")
    plain = said.strip().lower().replace("_", " ").replace("-", " ") if isinstance(said, str) else ""
    plain = _ALSO.get(plain, plain)
    if plain not in VERDICTS:
        shown = repr(said) if isinstance(said, str) and len(said) < 40 else a_kind(said)
        raise stop("RAISES", f"{what} is {shown}, which is not a verdict.", f"The verdicts: {', '.join(VERDICTS)}.")
    return plain


def _by_letter(answer: Any) -> list[Any]:
    """Return six answers in the order of the letters, from a mapping, a list, or words between commas."""
    if is_blank(answer):
        raise stop("BLANK", "There are no verdicts yet.")
    if isinstance(answer, str):
        answer = answer.split(",")
    if isinstance(answer, Mapping):
        found = {str(key).strip().lower(): value for key, value in answer.items() if isinstance(key, str)}
        if sorted(found) != list(LETTERS) or len(answer) != len(LETTERS):
            raise stop("RAISES", "The verdicts should have the letters a to f, each once.",
                       'Write them as {"a": "kink", ...}.')  # fmt: skip
        return [found[letter] for letter in LETTERS]
    found_list = listed(answer, "the verdicts")
    if len(found_list) != len(LETTERS):
        raise stop("RAISES", f"Six verdicts were expected, and there are {len(found_list)}.",
                   'Write them as {"a": "kink", ...}.')  # fmt: skip
    return found_list


@checked
def check_patients(verdicts: Any, dealt: Patients) -> CheckResult:
    """Check a verdict on each of six functions.

    Parameters
    ----------
    verdicts : mapping of str to str, or sequence of str
        By letter, or in the order of the letters; words of `VERDICTS`.
    dealt : Patients
        What `patients` dealt.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> six = lessons.patients(seed=1)
    >>> lessons.check_patients(["wrong rule"] * 6, six).code
    'FAIL_MEANS_WRONG_RULE'
    """
    if not isinstance(dealt, Patients):
        raise stop("RAISES", f"The patients are what lessons.patients() dealt, but this is {a_kind(dealt)}.")
    said = [_word(each, f"The verdict on {letter}") for letter, each in zip(LETTERS, _by_letter(verdicts), strict=True)]
    kinds = [dealt.by_letter[letter].kind for letter in LETTERS]
    code = _judge(kinds, said)
    if not code:
        return passed("All six. Two of them have a wrong rule; in the others the rule is right.")
    right = sum(TRUTH[kind] == word for kind, word in zip(kinds, said, strict=True))
    if code == "OTHER":
        raise other("list", f"{right} of 6 are right, and no single idea explains the others.",
                    "Ask for the evidence of each, and go through the five questions in their order.")  # fmt: skip
    raise stop(code)


def _strangers(rng: np.random.Generator) -> Iterator[Patient]:
    """Yield twelve functions of one number, two or so of each kind."""
    noise = np.random.default_rng(int(rng.integers(2**31)))
    a, b, c = (float(rng.integers(2, 6)) for _ in range(3))
    x = float(rng.integers(2, 7)) / 4
    x0 = x / 2
    yield Patient("", lambda x: a * lab.sin(x) * x, x, "right")
    yield Patient("", lambda x: lab.exp(x) + b * x, -x, "right")
    yield Patient("", lambda x: lab.maximum(x, 0.0) * b, x, "right")
    yield Patient("", _with_rule(lambda x: a * x * x, lambda x: a * x), x, "wrong")
    yield Patient("", _with_rule(lab.sin, lambda x: -lab.cos(x)), 1.0 + x / 8, "wrong")
    yield Patient("", _with_rule(lambda x: x * x * x, lambda x: 0.0 * x + 3 * x0 * x0), x0, "lucky")
    yield Patient("", lambda x: a * lab.maximum(x, c), c, "kink")
    yield Patient("", lambda x: lab.maximum(x, b) + lab.minimum(x, b), b, "cancelled")
    yield Patient("", lambda x: (x + 1e10) ** 2 - 1e20, float(rng.choice([1, 3, 5, 7])), "precision")
    yield Patient("", lambda x: 1e10 + lab.exp(x / a), a, "precision")
    yield Patient("", lambda x: x * (b + float(noise.random())), x, "random")
    yield Patient("", lambda x: lab.where(x < c, x, lab.sqrt(x)), 0.0, "nan")


@checked
def check_verdict(verdict: Callable[..., Any], seed: int | None = None) -> CheckResult:
    """Check a function that judges gradients: twelve functions, among them right ones.

    Parameters
    ----------
    verdict : callable
        ``verdict(f, slope, x)``: f gives a value and slope what the tape says, both of a float; returns a word of
        `VERDICTS`.
    seed : int, optional
        Deals the same functions again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> def verdict(f, slope, x):
    ...     near = lambda at, h: abs((f(at + h) - f(at - h)) / (2 * h) - slope(at)) <= 0.01 * abs(slope(at))
    ...     if f(x) != f(x):
    ...         return "not deterministic"
    ...     if not np.isfinite(slope(x)):
    ...         return "not finite"
    ...     if not near(x + 0.1, 1e-3):
    ...         return "wrong rule"
    ...     if near(x, 1e-6):
    ...         return "agrees"
    ...     return "precision" if near(x, 1e-3) else "kink"
    >>> lessons.check_verdict(verdict)
    Passed. All twelve are judged right.
    >>> lessons.check_verdict(lambda f, slope, x: "agrees").code
    'OTHER'
    """
    rng = np.random.default_rng(seed)
    dealt = list(_strangers(rng))
    dealt = [dealt[k] for k in rng.permutation(len(dealt))]
    said = [_word(attempt(verdict, each.value, each.slope, each.x), "What your function returns") for each in dealt]
    kinds = [each.kind for each in dealt]
    code = _judge(kinds, said)
    if not code:
        return passed("All twelve are judged right.")
    right = sum(TRUTH[kind] == word for kind, word in zip(kinds, said, strict=True))
    if code == "OTHER":
        raise other("function", f"{right} of 12 verdicts are right, and no single idea explains the others.",
                    "Go through the five questions in their order, one if for each.")  # fmt: skip
    raise stop(code)


EXERCISES: dict[str, Exercise] = {
    "11.1": Exercise("six patients", check_patients),
    "11.4": Exercise("a judge of gradients", check_verdict),
}
