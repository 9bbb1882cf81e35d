"""The sketch pad of lesson 2: a function to look at, and its derivative to draw before it is shown.

A sketch is an answer like any other: `sketch_pad` opens the pad, `predict(..., sketch=pad)` makes it a prediction, and
`check_sketches` an exercise.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

import autodiff_lab as lab
from autodiff_lab.draw.curves import Curves
from autodiff_lab.draw.sketches import COLUMNS, NEEDED, in_words, shown
from autodiff_lab.errors import ConversionError, InvalidArgumentError, MissingPackage
from autodiff_lab.exploring.curves import curves_of
from autodiff_lab.lessons.attempt import a_kind, checked, is_blank, stop
from autodiff_lab.lessons.codes import CODES
from autodiff_lab.lessons.prediction import Prediction
from autodiff_lab.lessons.result import CheckResult, passed
from autodiff_lab.lessons.unlocked import Unlocked

if TYPE_CHECKING:
    from autodiff_lab.widgets.sketch_pad import SketchPad

SKETCHED = (
    "COPIED_F", "FLIPPED_SLOPE", "ABSOLUTE", "SHIFTED_UP", "SECOND_FOR_FIRST", "AREA", "SIGNS_ONLY",
)  # fmt: skip
"""The ideas that a sketch can show."""
Function = Callable[[Any], Any]

FUNCTIONS: tuple[tuple[Function, float, float], ...] = (
    (lambda x: lab.exp(-x * x / 2.0), -3.0, 3.0),
    (lambda x: x * x * x / 3.0 - x, -2.2, 2.2),
    (lambda x: x * lab.exp(-x), -0.5, 5.0),
    (lab.sin, -3.5, 3.5),
    (lambda x: x / (1.0 + x * x), -4.0, 4.0),
    (lambda x: x**4 / 4.0 - x * x, -2.1, 2.1),
    (lambda x: lab.math.log(1.0 + x * x), -2.5, 2.5),
    (lambda x: lab.cos(x) * lab.exp(-x / 4.0), 0.0, 9.0),
    (lambda x: lab.tanh(2.0 * x) - x / 2.0, -3.0, 3.0),
    (lambda x: lab.sin(x) + x / 2.0, -5.0, 5.0),
    (lambda x: lab.sqrt(1.0 + x * x), -4.0, 4.0),
    (lambda x: x * lab.cos(x), -4.0, 4.0),
)
"""What is dealt, with its interval."""


def sketch_pad(
    f: Function, lo: float, hi: float, *, order: int = 1, trace: bool = True, name: str | None = None
) -> SketchPad:
    """Open a pad: f above, and below an empty panel in which its derivative is drawn before it is shown.

    Drag the point along f: it leaves its slope in the lower panel, dot by dot.  Draw with the pen, or move nine handles
    with the arrow keys.  *Show* lays the derivative over the sketch, with a band around it, the zeros and signs of
    both, and a score.  A wrong sketch is compared with what the usual mistakes draw.

    Parameters
    ----------
    f : callable
        Of one Tensor.
    lo, hi : float
        The interval.
    order : int
        1, or 2 to draw f″ from f′ afterwards.
    trace : bool
        Whether the point leaves its slope before the derivative is shown.
    name : str, optional
        What the function is called; by default its own name, or f.

    Returns
    -------
    SketchPad
        A widget; ``.draw([9, -3, 9])`` draws without a pen, ``.reveal()`` shows the derivative, ``.account()`` is the
        pad in words, ``.picture()`` one SVG with the score, ``.to_html(path)`` a page that needs no kernel.

    Raises
    ------
    NotCallable, BadInterval
        If f is not a function, or the interval is not valid.
    InvalidArgumentError
        If the order is not 1 or 2.
    ConversionError
        If f has no derivative that the tape knows.
    MissingPackage
        Where anywidget is not installed.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> pad = lessons.sketch_pad(lambda x: x**3 - 3.0 * x, -2.2, 2.2)
    >>> pad.draw([9, 4, 1, -1, -2, -1, 1, 4, 9])
    >>> pad.reveal()
    >>> print(pad.account())
    f′(x), your sketch: above 0 until -0.86, below until 0.86, above
    f′(x): above 0 until -1, below until 1, above
      100 of 100: this is f′(x).
    """
    if isinstance(order, bool) or order not in (1, 2):
        raise InvalidArgumentError(f"sketch_pad: expected an order of 1 or 2, got {order!r}.")
    return _opened(_sampled(f, lo, hi, order, name), order=order, trace=trace)


def deal_slopes(seed: int | None = None) -> SketchPad:
    """Deal three functions whose derivatives are to be drawn; the derivatives are shown once all three are right.

    Parameters
    ----------
    seed : int, optional
        Deals the same functions again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> print(lessons.deal_slopes(seed=2).account())
    f′(x): nothing drawn yet
    g′(x): nothing drawn yet
    h′(x): nothing drawn yet
    """
    rng = np.random.default_rng(secrets.randbelow(1 << 31) if seed is None else seed)
    chosen = rng.choice(len(FUNCTIONS), 3, replace=False).tolist()
    dealt = [
        _dealt(k, mirrored=bool(rng.integers(2)), upside_down=bool(rng.integers(2)), name=name)
        for k, name in zip(chosen, "fgh", strict=True)
    ]
    return _opened(*dealt, trace=False, reveals=False)


def slope_of_the_day() -> SketchPad:
    """Open a game: draw f′ of the function of the day, and beat somebody's score.

    Returns
    -------
    SketchPad
        A widget with 24 functions, one for each day; ``.to_html(path)`` writes the game as a page that needs no kernel,
        with your score as the one to beat.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.slope_of_the_day().account()
    'Slope of the day: draw f′ of a function that you see.'
    """
    dealt = [_dealt(k, mirrored=way, upside_down=k % 2 > 0) for way in (False, True) for k in range(len(FUNCTIONS))]
    return _opened(*dealt, trace=False, daily=True)


def _dealt(number: int, *, mirrored: bool, upside_down: bool, name: str = "f") -> Curves:
    """Return one of the functions, as it is or turned over."""
    f, lo, hi = FUNCTIONS[number]
    across, up = -1.0 if mirrored else 1.0, -1.0 if upside_down else 1.0
    ends = (-hi, -lo) if mirrored else (lo, hi)
    return _sampled(lambda x: up * f(across * x), *ends, 1, name)


def _sampled(f: Function, lo: float, hi: float, order: int, name: str | None) -> Curves:
    """Return a function and its derivatives, one more than is sketched."""
    curves, sampler = curves_of(f, lo, hi, COLUMNS, order + 1, name)
    rows = curves.rows[: sampler.order + 1]
    if len(rows) <= order or any(not np.isfinite(row).any() for row in rows[1 : order + 1]):
        why = curves.notes[0] if curves.notes else f"{curves.name} has no derivative that can be drawn."
        raise ConversionError(f"sketch_pad: {why}")
    return replace(curves, rows=rows)


def _opened(*dealt: Curves, **options: Any) -> SketchPad:
    try:
        from autodiff_lab.widgets.sketch_pad import SketchPad
    except ImportError as missing:
        raise MissingPackage.of("The sketch pad", "anywidget", "lab") from missing
    return SketchPad(*dealt, ideas={code: CODES[code].idea for code in SKETCHED}, **options)


def is_pad(given: Any) -> TypeGuard[SketchPad]:
    """Return whether this is a pad that `sketch_pad` or one of the games opened.

    Examples
    --------
    >>> is_pad(sketch_pad(lambda x: x * x, -1.0, 1.0)), is_pad([1.0])
    (True, False)
    """
    try:
        from autodiff_lab.widgets.sketch_pad import SketchPad
    except ImportError:  # without it no pad can be opened
        return False
    return isinstance(given, SketchPad)


class SketchPrediction(Prediction):
    """A prediction that is drawn.  Made by ``lessons.predict(..., sketch=pad)``.

    Showing the derivative commits the sketch, whether the button in the pad or ``.commit()`` does it.
    """

    def __init__(self, question: str, pad: SketchPad) -> None:
        self.pad = pad
        super().__init__(question)
        pad.observe(lambda _: self._committed(), "revealed")

    def _parts(self) -> list[Any]:
        return [self.pad]

    def _button(self) -> dict[str, str]:
        return {}

    def commit(self, *answers: Any) -> SketchPrediction:
        """Commit what is drawn, or draw this first, and show the derivative.

        Parameters
        ----------
        *answers : callable, sequence of float or float
            At most one sketch, as ``pad.draw`` takes it.

        Raises
        ------
        InvalidArgumentError
            If nothing or too little is drawn.

        Examples
        --------
        >>> from autodiff_lab import lessons
        >>> pad = lessons.sketch_pad(lambda x: x * x, -1.0, 1.0)
        >>> guess = lessons.predict("Draw f′.", sketch=pad)
        >>> slope = guess.unlock()
        >>> guess.commit(lambda x: x * x)
        Draw f′.
        You drew a curve above 0 everywhere.
        >>> print(repr(slope).partition("of 100: ")[2])
        this is what one gets if the derivative looks like the function
        """
        for answer in answers[:1]:
            self.pad.draw(answer)
        self.pad.reveal()
        self._committed()
        return self

    def _committed(self) -> None:
        if self.answer is not None or not self.pad.revealed:
            return
        at, row = map(int, self.pad.revealed[0].split("."))
        self.answer = {"": _words(self.pad.curves[at], self.pad.sketch(at, row))}
        self.note = f"{self._told()} It stays here; look below."
        for waiting in self._waiting:
            waiting.reveal()

    def _told(self) -> str:
        return f"You drew a curve {(self.answer or {})['']}."

    def unlock(self, view: Any = None, outcome: Any = None) -> Unlocked:
        """Return what opens as soon as the derivative is shown: by default where it is above 0 and where below."""
        return super().unlock(view, self._truth if outcome is None else outcome)

    def _truth(self) -> str:
        at, row = map(int, self.pad.revealed[0].split("."))
        return _words(self.pad.curves[at], shown(self.pad.curves[at], row))

    def outcomes_of(self, outcome: Any) -> dict[str, float | str]:
        """Return an outcome under the only name, the empty one."""
        return {"": str(outcome)}

    def judged(self, name: str, answer: Any, outcome: Any) -> str:
        """Return the score of the sketch as a sentence."""
        at, row = map(int, self.pad.revealed[0].split("."))
        return self.pad.said(self.pad.judged(at, row), self.pad.curves[at].names[row]).rstrip(".")


def _words(curves: Curves, heights: np.ndarray) -> str:
    """Return where a curve is above and below 0, with the minus sign of the fields."""
    return in_words(curves.x, heights).replace("-", "−")


@checked
def check_sketches(pad: Any) -> CheckResult:
    """Check the sketches on a pad of dealt functions.

    Parameters
    ----------
    pad : SketchPad
        What `deal_slopes` dealt, drawn on.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> three = lessons.deal_slopes(seed=2)
    >>> lessons.check_sketches(three).code
    'BLANK'
    """
    if is_blank(pad):
        raise stop("BLANK", "There is no pad here yet.")
    if not is_pad(pad):
        raise stop("RAISES", f"A pad was expected, but this is {a_kind(pad)}.",
                   "Give the check the pad itself: the name before lessons.deal_slopes.")  # fmt: skip
    names = [curves.names[1] for curves in pad.curves]
    left = [name for at, name in enumerate(names) if not pad.is_drawn(at, 1)]
    if left:
        raise stop("BLANK", f"Not drawn over the whole width yet: {', '.join(left)}.", "Draw it on the pad above.")
    for at, name in enumerate(names):
        judged = pad.judged(at, 1)
        if judged.code in CODES and judged.code != "OTHER":
            raise stop(judged.code, f"{name}: {CODES[judged.code].says}")
        if judged.code:
            raise stop("OTHER", f"What you drew for {name} is far from it, and from the usual mistakes.",
                       "First mark where the curve is level: there its derivative is 0. Then its signs.")  # fmt: skip
        if not judged.passed:
            raise stop("OTHER", f"{name} is nearly right: {judged.score} % of it lies in the band, {NEEDED} % must.",
                       "Look where the curve is steepest: there its derivative is highest or lowest.")  # fmt: skip
    for at in range(len(names)):
        pad.reveal(at, 1)
    return passed("All three lie in the band. The pad shows the derivatives now.")
