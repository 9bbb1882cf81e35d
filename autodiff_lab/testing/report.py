"""The result of a gradient check: a verdict, its reason, the worst elements, and for notebooks a picture.

It is a value. Only the curve of errors against steps is computed when it is asked for, because a check that
passes does not need it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from autodiff_lab.testing.differences import Array

AGREES, NOTHING = "agrees", "nothing to check"
WRONG_SHAPE, NOT_DETERMINISTIC, NOT_FINITE = "wrong shape", "not deterministic", "not finite"
WRONG_RULE, JUMP, KINK, PRECISION = "wrong rule", "jump", "kink", "precision"
BY_WEIGHT = (WRONG_SHAPE, NOT_DETERMINISTIC, NOT_FINITE, WRONG_RULE, JUMP, KINK, PRECISION)
"""Verdicts that do not pass; if elements differ in theirs, the first in this order is that of the check."""
LISTED = 5
"""Elements that the printed form lists."""


class StepError(NamedTuple):
    """How far a central difference with this step is from the tape's gradient.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.testing.StepError(1e-5, 4.5e-12).step
    1e-05
    """

    step: float
    error: float


@dataclass(frozen=True)
class GradientEntry:
    """One element whose gradient and difference disagree.

    Attributes
    ----------
    input : int
        Which input, counted from 0.
    index : tuple of int
        Which of its elements.
    gradient, difference : float or complex
        The values from the tape and from central differences.
    error, tolerance : float
        How much they differ, and how much they may differ.
    verdict : str
        Why, as in `GradientCheck.verdict`; empty if this element was not examined.
    left, right : float or None
        The slopes on its two sides, extrapolated to a step of 0; None where the function is not finite there.
    why : str
        The reason, in a sentence or two.
    label : str
        ``"input 0"``, with the key if the input is a dict.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> entry = lab.testing.check_gradient(lab.nn.relu, 0.0).entries[0]
    >>> entry.verdict, entry.gradient, round(entry.left, 6), round(entry.right, 6)
    ('kink', 0.0, 0.0, 1.0)
    """

    input: int
    index: tuple[int, ...]
    gradient: float | Array
    difference: float | Array
    error: float
    tolerance: float
    verdict: str = ""
    left: float | None = None
    right: float | None = None
    why: str = ""
    label: str = ""

    @property
    def where(self) -> str:
        """The input and its element in words."""
        return self.label + (f", element {list(self.index)}" if self.index else "")


@dataclass(frozen=True)
class GradientCheck:
    """The result of `check_gradient`: a verdict, and the element where gradient and difference disagree most.

    Attributes
    ----------
    passed : bool
        Whether every element of every gradient agrees within the tolerance; also the truth value of the check.
    input : int
        Which input, counted from 0.
    index : tuple of int
        Which of its elements.
    gradient, difference : float or complex
        The values from the tape and from the differences there.
    error, tolerance : float
        How much they differ, and how much they may differ.
    verdict : str
        ``"agrees"``, or why the check does not pass:

        - ``"wrong rule"``: tape and differences disagree here and at nearby points, at every step;
        - ``"kink"``: they disagree only here, where the slopes on the two sides differ, or where kinks of several ops
          meet;
        - ``"jump"``: the function jumps here;
        - ``"precision"``: within rounding and truncation error the differences do not contradict the gradient;
        - ``"not deterministic"``: two runs with the same inputs differ;
        - ``"wrong shape"``: a rule returned a gradient that does not have the shape of its input;
        - ``"not finite"``: the gradient, or the function itself, is nan or infinite.

        ``"nothing to check"`` passes: no input is floating or complex.
    why : str
        The reason, in a sentence or two.
    entries : tuple of GradientEntry
        The elements that disagree, worst first, at most 100; the first few were examined one by one.
    shadow : str
        The arithmetic in which one-sided slopes were computed: ``"longdouble"``, or ``"float64"`` where longdouble is
        not wider or the program does not run in it.  Empty if nothing was examined.
    errors : tuple of numpy.ndarray
        For each input, the error of each element divided by its tolerance; more than 1 does not pass.
    curve : tuple of StepError
        The error of central differences in float64 against the step, at the worst element.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> check = lab.testing.check_gradient(lab.sin, [0.0, 1.0])
    >>> check.passed, check.input, check.verdict
    (True, 0, 'agrees')
    >>> min(check.curve, key=lambda point: point.error).error < 1e-9
    True
    """

    passed: bool
    input: int
    index: tuple[int, ...]
    gradient: float | Array
    difference: float | Array
    error: float
    tolerance: float
    verdict: str = AGREES
    why: str = ""
    label: str = "input 0"
    entries: tuple[GradientEntry, ...] = ()
    shadow: str = ""
    errors: tuple[Array, ...] = field(default=(), repr=False, compare=False)
    _measure: Callable[[], list[tuple[float, float]]] | None = field(default=None, repr=False, compare=False)

    def __bool__(self) -> bool:
        return self.passed

    @cached_property
    def curve(self) -> tuple[StepError, ...]:
        """Errors against steps at the worst element; runs the function again."""
        return () if self._measure is None else tuple(StepError(*point) for point in self._measure())

    @property
    def where(self) -> str:
        """The worst element in words."""
        return self.label + (f", element {list(self.index)}" if self.index else "")

    @property
    def sentence(self) -> str:
        """What was found, in one sentence."""
        if self.verdict == NOTHING:
            return "There was nothing to check: no input is floating or complex. Try 3.0 instead of 3."
        if self.verdict == AGREES:
            return (
                f"The gradient agrees with finite differences; the largest error is {self.error:.1e}, at {self.where}."
            )
        if self.verdict == WRONG_SHAPE:
            return "The backward pass stopped, because a rule returned what cannot be the gradient of its input."
        return (
            f"At {self.where} the tape gives {_number(self.gradient)}, finite differences give "
            f"{_number(self.difference)}; they differ by {self.error:.1e}; the tolerance is {self.tolerance:.1e}."
        )

    def __str__(self) -> str:
        if self.verdict in (AGREES, NOTHING):
            return self.sentence
        rows = [f"{self.verdict}: {self.sentence}", *([f"  {self.why}"] if self.why else [])]
        if len(self.entries) > 1:
            rows.append(f"  {self.count} elements disagree; the worst:")
            rows += [
                f"    {e.where}: {_number(e.gradient)} and {_number(e.difference)}"
                + (f", {e.verdict}" if e.verdict else "")
                for e in self.entries[:LISTED]
            ]
        return "\n".join(rows)

    @property
    def count(self) -> int:
        """How many elements disagree."""
        return sum(int((array > 1).sum()) for array in self.errors)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the text, and a report with the worst elements, a heat map and the step curve."""
        from autodiff_lab.draw.gradcheck import report

        page = report(self._told(), self._table(), self.errors, self._points(), slopes=self._slopes())
        return {"text/plain": str(self), "text/html": page}

    def _told(self) -> tuple[str, str, str]:
        return self.verdict, self.sentence, self.why

    def _table(self) -> list[tuple[str, ...]]:
        return [
            (
                e.where, _number(e.gradient), _number(e.difference), f"{e.error:.1e}",
                "–" if e.left is None else _number(e.left), "–" if e.right is None else _number(e.right), e.verdict,
            )
            for e in self.entries[:LISTED]
        ]  # fmt: skip

    def _slopes(self) -> tuple[float, float, float] | None:
        """Return the slopes on both sides of the worst element and the tape's number, if they are real and known."""
        worst = next((e for e in self.entries if (e.input, e.index) == (self.input, self.index)), None)
        if worst is None or worst.left is None or worst.right is None or isinstance(worst.gradient, complex):
            return None
        return worst.left, worst.right, float(worst.gradient)

    def _points(self) -> list[tuple[float, float]]:
        if self.verdict in (NOT_DETERMINISTIC, NOTHING):
            return []
        return [(point.step, point.error) for point in self.curve]


def _number(value: Any) -> str:
    return f"{value:.8g}"
