"""Checks of lesson 2 that are typed: where a curve is level, steepest, highest; which curve is the derivative of which.

The functions that a check makes up are fresh quartics whose slope is k(x − a)²(x − b): 0 at a without a change of sign,
and at b with one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autodiff_lab.draw.curves import svg as curves_svg
from autodiff_lab.draw.sketches import in_words, position, signs_of, zeros
from autodiff_lab.exploring.curves import curves_of
from autodiff_lab.lessons.attempt import (
    attempt,
    checked,
    finite,
    idea_behind,
    is_blank,
    listed,
    name_of,
    other,
    protect,
    stop,
)
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.pictures import Picture
from autodiff_lab.lessons.result import CheckResult, passed
from autodiff_lab.lessons.sketching import FUNCTIONS, Function, check_sketches

TRIALS = 6
NEAR = 0.02
"""How far a computed place may be from the true one."""
READ_OFF = 0.05
"""The same for one that is read off a picture."""
MANY = 4
"""More points than a quartic has of any kind."""
LETTERS = "ABCD"
Places = Sequence[float]


@dataclass(frozen=True, slots=True)
class Quartic:
    """A function with the slope k(x − a)²(x − b), for plain numbers, arrays and tensors alike.

    Examples
    --------
    >>> f = Quartic(4.0, 0.0, 3.0, 0.0)
    >>> f(3.0), f.level, f.steepest
    (-27.0, [0.0, 3.0], [0.0, 2.0])
    """

    k: float
    a: float
    b: float
    c: float

    def __call__(self, x: Any) -> Any:
        """Return the value at x."""
        u = x - self.a
        return self.k * u * u * u * (u / 4 - (self.b - self.a) / 3) + self.c

    @property
    def level(self) -> list[float]:
        """Where the slope is 0."""
        return [self.a, self.b]

    @property
    def steepest(self) -> list[float]:
        """Where the second derivative is 0."""
        return [self.a, self.a + 2 * (self.b - self.a) / 3]

    @property
    def ends(self) -> tuple[float, float]:
        """An interval with all of these well inside."""
        wide = 0.8 * abs(self.b - self.a)
        return round(min(self.a, self.b) - wide, 1), round(max(self.a, self.b) + wide, 1)

    def zeros(self) -> list[float]:
        """Return where f is 0, inside the interval."""
        x = np.linspace(*self.ends, 4001)
        return zeros(x, self(x))


def _fresh(rng: np.random.Generator) -> Quartic:
    apart = float(rng.choice([-1, 1])) * float(rng.uniform(1.5, 3.0))
    # Not rounded: a sample of the learner's that meets b exactly would see no change of sign on either side.
    a, k = float(rng.uniform(-2.0, 2.0)), float(rng.choice([-4, -2, 2, 4]))
    depth = k * apart**4 / 12  # how far f(b) lies below f(a); f crosses 0 on both sides of b
    return Quartic(k, a, a + apart, depth * float(rng.uniform(0.3, 0.7)))


def _agree(given: Places, wanted: Places, near: float = NEAR) -> bool:
    """Return whether two lists name the same places; one that is named twice counts once."""
    covered = all(any(abs(one - two) <= near for two in given) for one in wanted)
    return covered and all(any(abs(one - two) <= near for one in wanted) for two in given)


def _places(value: Any, what: str) -> list[float]:
    return [finite(each, f"an item of {what}") for each in listed(value, what)]


@checked
def check_level(level: Callable[[Function, float, float], Any], seed: int | None = None) -> CheckResult:
    """Check a function that finds the points where the slope of a function is 0.

    Parameters
    ----------
    level : callable
        ``level(f, lo, hi)``, a list of numbers; f takes numbers, arrays and tensors.
    seed : int, optional
        Makes the quartics the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_level(lambda f, lo, hi: f.level)
    Passed. Right for 6 fresh quartics, the touching points included.
    """
    trials, answers = _tried(level, seed)
    if all(_agree(answer, f.level) for answer, f in zip(answers, trials, strict=True)):
        return passed(f"Right for {TRIALS} fresh quartics, the touching points included.")
    raise _named(answers, [[("MISSED_TOUCH", [f.b]), *_elsewhere(f)] for f in trials])


@checked
def check_extrema(extrema: Callable[[Function, float, float], Any], seed: int | None = None) -> CheckResult:
    """Check a function that finds the highest and lowest points inside an interval.

    Parameters
    ----------
    extrema : callable
        ``extrema(f, lo, hi)``, a list of numbers; f takes numbers, arrays and tensors.
    seed : int, optional
        Makes the quartics the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_extrema(lambda f, lo, hi: f.level).code
    'ZERO_IS_EXTREMUM'
    """
    trials, answers = _tried(extrema, seed)
    if all(_agree(answer, [f.b]) for answer, f in zip(answers, trials, strict=True)):
        return passed(f"Right for {TRIALS} fresh quartics: only where the slope changes its sign.")
    pairs = [(place, end) for answer, f in zip(answers, trials, strict=True) for place in answer for end in f.ends]
    if any(abs(place - end) <= NEAR for place, end in pairs):
        raise stop("OTHER", "An end of the interval is among your points.",
                   "Only points inside count: f goes up on one side of them and down on the other.")  # fmt: skip
    raise _named(answers, [[("ZERO_IS_EXTREMUM", f.level), *_elsewhere(f)] for f in trials])


def _tried(function: Any, seed: int | None) -> tuple[list[Quartic], list[list[float]]]:
    rng = np.random.default_rng(seed)
    trials = [_fresh(rng) for _ in range(TRIALS)]
    return trials, [_places(attempt(function, f, *f.ends), "what your function returns") for f in trials]


def _elsewhere(f: Quartic) -> Iterator[tuple[str, Places]]:
    """Yield the places at which other things are 0."""
    yield "ZEROS_OF_F", f.zeros()
    yield "STEEPEST", f.steepest
    yield "STEEPEST", f.steepest[1:]


def _named(answers: Sequence[Places], ideas: Sequence[Sequence[tuple[str, Places]]]) -> Exception:
    code = idea_behind(answers, ideas, _agree)
    if code:
        return stop(code)
    if not any(answers):
        return stop("OTHER", "Your function found no points.", "Print the slopes that it looks at, for x⁴ − 4x³.")
    if max(map(len, answers)) > MANY:
        return stop("OTHER", f"A quartic has few such points; your function returns up to {max(map(len, answers))}.",
                    "Neighbours on a grid all lie near one point: return one of them, where the size of the slope is"
                    " smallest.")  # fmt: skip
    return other("list", next_hint="Try it on x⁴ − 4x³ from −1 to 4, whose points you know.")


@checked
def check_slopes(f: Function, lo: float, hi: float, *, level: Any, signs: Any, steepest: Any) -> CheckResult:
    """Check what is read off a curve: where it is level, the signs of its slope in between, where it is steepest.

    Parameters
    ----------
    f : callable
        The function.
    lo, hi : float
        The interval.
    level, steepest : sequence of float
        Places, right to 0.05; steepest ones are those where the slope is highest or lowest.
    signs : str
        A plus or minus for each part between level points, from left to right, like ``"+-+"``.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_slopes(lambda x: x * x, -1, 1, level=[0], signs="-+", steepest=[])
    Passed. Level points, signs and steepest points are right.
    """
    curves, _ = protect(lambda: curves_of(f, lo, hi, 2001, 2), name_of(f))
    value, slope, bend = (zeros(curves.x, row) for row in curves.rows)
    given, steep = _places(level, "level"), _places(steepest, "steepest")
    if is_blank(signs):
        raise stop("BLANK", "The signs are still blank.")
    said = str(signs).replace("−", "-").replace(" ", "")
    if not said or set(said) - set("+-"):
        raise stop("RAISES", f"The signs are {signs!r}, but plus and minus were expected.", 'Write them like "+-+".')
    if not _agree(given, slope, READ_OFF):
        raise _elsewhere_named("level", given, [("ZEROS_OF_F", value), ("STEEPEST", bend)])
    right = _signs(curves.rows[1])
    if said != right:
        swapped = right.translate(str.maketrans("+-", "-+"))
        ideas = {swapped: "FLIPPED_SLOPE", "+" * len(right): "ABSOLUTE", _signs(curves.rows[0]): "COPIED_F",
                 _signs(curves.rows[2]): "SECOND_FOR_FIRST"}  # fmt: skip
        if said in ideas:
            raise stop(ideas[said])
        raise stop("OTHER", f"The level points are right; the signs {said} are not.",
                   f"There are {len(right)} parts. In which of them does the curve go up?")  # fmt: skip
    if not _agree(steep, bend, READ_OFF):
        raise _elsewhere_named("steepest", steep, [("COPIED_F", slope), ("ZEROS_OF_F", value)])
    return passed("Level points, signs and steepest points are right.")


def _signs(heights: np.ndarray) -> str:
    """Return the signs of a curve from left to right.

    >>> _signs(np.array([2.0, 1.0, -1.0, -2.0, 3.0]))
    '+-+'
    """
    signs = signs_of(heights)
    return "".join("-" if sign < 0 else "+" for sign in [signs[0], *signs[1:][np.diff(signs) != 0]])


def _elsewhere_named(what: str, given: Places, ideas: Sequence[tuple[str, Places]]) -> Exception:
    for code, places in ideas:
        if given and places and _agree(given, places, READ_OFF):
            return stop(code)
    return stop(
        "OTHER", f"The points under {what} are not right.", "How many are there? Go along the curve with a ruler."
    )


@dataclass(frozen=True, repr=False)
class ShuffledCurves(Picture):
    """A function and its derivatives in disorder.  Made by `shuffled_curves`.

    Attributes
    ----------
    letters : str
        The letters in order: that of f, of f′ and so on.
    """

    letters: str


def shuffled_curves(
    f: Function | None = None, lo: float = -1.0, hi: float = 1.0, *, order: int = 2, seed: int | None = None
) -> ShuffledCurves:
    """Draw a function and its derivatives below each other, in disorder and with letters for names.

    Parameters
    ----------
    f : callable, optional
        Of one Tensor; by default one that is dealt, with an interval of its own.
    lo, hi : float
        The interval.
    order : int
        How many derivatives, at most 3.
    seed : int, optional
        Deals the same function and order again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> print(lessons.shuffled_curves(lambda x: x * x, seed=1))
    3 curves for x from -1 to 1
      A: 1 at the left end, 1 at the right; above 0 everywhere; turns at 0
      B: -2 at the left end, 2 at the right; below 0 until 0, above
      C: 2 at the left end, 2 at the right; above 0 everywhere
    """
    rng = np.random.default_rng(seed)
    if f is None:
        f, lo, hi = FUNCTIONS[int(rng.integers(len(FUNCTIONS)))]
    curves, _ = curves_of(f, lo, hi, 201, order)
    places = rng.permutation(order + 1).tolist()
    rows = [curves.rows[places.index(k)] for k in range(order + 1)]
    shuffled = replace(curves, rows=tuple(rows), marks=(), notes=(), labels=tuple(LETTERS[: order + 1]))
    told = f"{len(rows)} curves for x from {lo:g} to {hi:g}"
    lines = [told, *(f"  {letter}: {_told(curves.x, row)}" for letter, row in zip(LETTERS, rows, strict=False))]
    title = f"{told}: which is the derivative of which?"
    drawing = curves_svg(replace(shuffled, title=title), order=order)
    return ShuffledCurves("\n".join(lines), drawing, "".join(LETTERS[place] for place in places))


def _told(x: np.ndarray, row: np.ndarray) -> str:
    turns = zeros(x, np.gradient(row, x)) if np.ptp(row) > 1e-9 else []
    places = ", ".join(position(place, 0.05) for place in turns)
    ends = f"{row[0]:.3g} at the left end, {row[-1]:.3g} at the right"
    return f"{ends}; {in_words(x, row)}" + (f"; turns at {places}" if turns else "")


def prices(t: Any) -> Any:
    """Return prices of which "the rate of increase of inflation is decreasing": p‴ is below 0, p, p′ and p″ above.

    Examples
    --------
    >>> prices(0.0), round(prices(1.0), 3)
    (1.0, 1.633)
    """
    return 1.0 + t / 5.0 + 0.6 * t * t - t * t * t / 6.0


@checked
def check_shuffled(order: Any, dealt: ShuffledCurves) -> CheckResult:
    """Check which of three shuffled curves is f, which f′ and which f″.

    Parameters
    ----------
    order : str or sequence of str
        Their letters in this order.
    dealt : ShuffledCurves
        What `shuffled_curves` dealt.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> dealt = lessons.shuffled_curves(seed=4)
    >>> lessons.check_shuffled(dealt.letters[::-1], dealt).code
    'AREA'
    """
    if is_blank(order):
        raise stop("BLANK", "There is no order yet.")
    if not isinstance(dealt, ShuffledCurves):
        raise stop("RAISES", "The curves themselves are missing.", "Give the check what lessons.shuffled_curves dealt.")
    said = "".join(str(each).strip().upper() for each in listed(list(order) if isinstance(order, str) else order, "it"))
    said = "".join(letter for letter in said if letter not in " ,>-")
    f, first, second = dealt.letters
    if sorted(said) != sorted(dealt.letters):
        raise stop("RAISES", "Each of the three letters is needed once.", 'Write them like "ABC": f, f′, f″.')
    if said == dealt.letters:
        return passed("Each of the last two is 0 where the one before it is level.")
    named = {second + first + f: "AREA", f + second + first: "SECOND_FOR_FIRST"}
    if said in named:
        raise stop(named[said])
    raise stop("OTHER", f"{said[1]} is not the slope of {said[0]}.",
               f"Where is {said[0]} level? A curve that is its derivative is 0 there, and nowhere else.")  # fmt: skip


FILM = {0: 0, 5: 50, 10: 80, 15: 40, 20: 0, 25: 40, 30: 60, 35: 30, 40: 0, 45: -50, 50: -80, 55: -60, 60: -20}
"""Speed in km/h by minute; below 0 the car comes back."""
_STOPS = {20: "ZERO_IS_EXTREMUM", 0: "ZERO_IS_EXTREMUM", 10: "STEEPEST", 50: "FLIPPED_SLOPE"}


@checked
def check_farthest(minute: Any) -> CheckResult:
    """Check at which minute of the film the car was farthest from home.

    Parameters
    ----------
    minute : float
        Read off the table.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_farthest(10).code
    'STEEPEST'
    """
    said = finite(minute, "the minute")
    if abs(said - 40) < 1:
        return passed("There the speed changes from forth to back: f′ goes from + to −.")
    if said in _STOPS:
        raise stop(_STOPS[int(said)], _SAYS[int(said)])
    way = "still on its way out" if said < 40 else "on its way back"
    raise stop("OTHER", f"At minute {said:g} the car is {way}.", "Which sign does its speed have before, and after?")


_SAYS = {
    20: "The car stops there, at a light, and goes on in the same direction.",
    0: "The speed is 0 there, and the car is at home.",
    10: "There the car is fastest, not farthest: it goes on moving away.",
    50: "There it comes back fastest. Being far from home is not the same as moving fast.",
}

EXERCISES: dict[str, Exercise] = {
    "2.1": Exercise("three sketches", check_sketches),
    "2.2": Exercise("level points", check_level),
    "2.3": Exercise("highest and lowest", check_extrema),
    "2.4": Exercise("shuffled curves", check_shuffled),
    "2.5": Exercise("farthest from home", check_farthest),
}
