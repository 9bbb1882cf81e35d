"""Checks of lesson 12: which steps converge, which land, how gradients vanish, and when one has arrived."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autodiff_lab.lessons.attempt import (
    a_kind,
    array,
    attempt,
    checked,
    finite,
    idea_behind,
    is_blank,
    listed,
    number,
    other,
    same,
    stop,
)
from autodiff_lab.lessons.dealing import signed
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.golf import is_game
from autodiff_lab.lessons.result import CheckResult, passed
from autodiff_lab.lessons.reviving import check_revive

TRIALS = 8
NEAR = 1e-6
LANDED = 1e-9
STEEPEST = 0.25
"""The largest slope of sigmoid, at 0."""

_CURVATURES = (0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 10.0, 20.0)
Guesses = Iterator[tuple[str, Any]]


@checked
def check_stroke(stroke: Callable[..., Any], *curvatures: float, seed: int | None = None) -> CheckResult:
    """Check a function that takes one step of gradient descent on ½kx², or on ½(ax² + by²).

    Parameters
    ----------
    stroke : callable
        ``stroke(x, h)``, or ``stroke(x, y, h)`` for two curvatures: where the step ends.
    *curvatures : float
        One or two.
    seed : int, optional
        Makes the points and steps the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_stroke(lambda x, h: x - h * 10 * x, 10)
    Passed. Right for 8 fresh points and steps.
    >>> lessons.check_stroke(lambda x, h: x + h * 10 * x, 10).code
    'UPHILL'
    """
    rng = np.random.default_rng(seed)
    dealt = [(signed(rng, 1, 9, len(curvatures)).tolist(), float(rng.uniform(0.05, 0.6))) for _ in range(TRIALS)]
    found = [array(attempt(stroke, *place, h), "the end of the stroke", None).ravel().tolist() for place, h in dealt]
    if any(len(end) != len(curvatures) for end in found):
        raise stop("RAISES", f"{len(curvatures)} number{'s' * (len(curvatures) > 1)} expected, where the step ends.")
    agree = lambda one, two: all(same(p, q, NEAR) for p, q in zip(one, two, strict=True))  # noqa: E731
    made: dict[str, list[list[float]]] = {
        code: [[formula(x, k, h) for x, k in zip(place, curvatures, strict=True)] for place, h in dealt]
        for code, formula in _STROKES.items()
    }
    if all(map(agree, found, made.pop(""))):
        return passed(f"Right for {TRIALS} fresh points and steps.")
    for code, ends in made.items():
        if all(map(agree, found, ends)):
            raise stop(code)
    raise other("function")


_STROKES: dict[str, Callable[[float, float, float], float]] = {
    "": lambda x, k, h: x - h * k * x,
    "UPHILL": lambda x, k, h: x + h * k * x,
    "GRADIENT_IS_DISTANCE": lambda x, k, h: x - h * x,
}


def _steps_from(curvatures: Sequence[float]) -> Guesses:
    """Yield what each wrong idea takes for the largest step, always in the same order."""
    low, high, mean = min(curvatures), max(curvatures), sum(curvatures) / len(curvatures)
    yield "UPHILL", -2 / high
    yield "UPHILL", -1 / high
    yield "HALF_THE_LIMIT", 1 / high
    yield "SLOWEST_RULES", 2 / low
    yield "SLOWEST_RULES", 1 / low
    yield "MEAN_RULES", 2 / mean
    yield "MEAN_RULES", 1 / mean
    yield "MEAN_RULES", 2 / float(np.median(curvatures))
    yield "FASTEST_IS_LARGEST", 2 / (low + high)
    yield "CURVATURE_FOR_STEP", high
    yield "CURVATURE_FOR_STEP", 2 * high
    yield "CURVATURE_FOR_STEP", high / 2
    yield "CURVATURE_FOR_STEP", low


@checked
def check_largest_step(largest_step: Callable[[Sequence[float]], float], seed: int | None = None) -> CheckResult:
    """Check a function that returns the step at which gradient descent stops converging.

    Parameters
    ----------
    largest_step : callable
        ``largest_step(curvatures)``, for a list of positive numbers.
    seed : int, optional
        Makes the lists the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_largest_step(lambda curvatures: 2 / max(curvatures))
    Passed. Right for 8 fresh lists of curvatures.
    >>> lessons.check_largest_step(lambda curvatures: 2 / min(curvatures)).code
    'SLOWEST_RULES'
    """
    rng = np.random.default_rng(seed)
    dealt = [rng.choice(_CURVATURES, int(rng.integers(2, 6)), replace=False).tolist() for _ in range(TRIALS)]
    dealt[0] = [1.0, 10.0, 3.0]
    found = [number(attempt(largest_step, list(each)), "the step") for each in dealt]
    limits = [2 / max(each) for each in dealt]
    if all(same(step, limit, NEAR) for step, limit in zip(found, limits, strict=True)):
        return passed(f"Right for {TRIALS} fresh lists of curvatures.")
    code = idea_behind(found, [list(_steps_from(each)) for each in dealt])
    if not code and all(0 < step <= 0.2 * limit for step, limit in zip(found, limits, strict=True)):
        code = "SMALLER_IS_SAFER"
    if not code and all(step < 0 for step in found):
        code = "UPHILL"
    raise stop(code) if code else other("function")


def _strokes_from(a: float, b: float) -> Guesses:
    """Yield what each wrong idea takes for two strokes, sorted."""
    mean = (a + b) / 2
    yield "UPHILL", sorted((-1 / a, -1 / b))
    yield "TWICE_AS_FAR", sorted((2 / a, 2 / b))
    yield "CURVATURE_FOR_STEP", sorted((a, b))
    yield "CURVATURE_FOR_STEP", sorted((a / b, b / a))
    yield "MEAN_RULES", sorted((1 / mean, 1 / mean))
    yield "MEAN_RULES", sorted((2 / mean, 2 / mean))
    yield "SLOWEST_RULES", sorted((1 / min(a, b), 1 / min(a, b)))


@checked
def check_two_strokes(two_strokes: Callable[[float, float], Sequence[float]], seed: int | None = None) -> CheckResult:
    """Check a function that returns the lengths of two strokes after which the ball is in the hole of ½(ax² + by²).

    Parameters
    ----------
    two_strokes : callable
        ``two_strokes(a, b)``, two numbers in any order.
    seed : int, optional
        Makes the valleys the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_two_strokes(lambda a, b: (1 / a, 1 / b))
    Passed. In the hole after two strokes, in 8 fresh valleys from anywhere.
    >>> lessons.check_two_strokes(lambda a, b: (1 / b, 1 / b)).code
    'POINTS_TO_MINIMUM'
    """
    rng = np.random.default_rng(seed)
    valleys = [tuple(sorted(rng.choice(_CURVATURES, 2, replace=False).tolist())[:: (-1) ** k]) for k in range(TRIALS)]
    answers: list[list[float]] = []
    for a, b in valleys:
        pair = listed(attempt(two_strokes, a, b), "the pair of strokes")
        if len(pair) != 2:
            raise stop("RAISES", f"Two strokes were expected, and there are {len(pair)}.", "Return them as h1, h2.")
        answers.append(sorted(finite(stroke, "a stroke") for stroke in pair))
    ends = [
        max(abs(start * (1 - h1 * k) * (1 - h2 * k)) for start, k in zip(rng.uniform(1, 10, 2), valley, strict=True))
        for (h1, h2), valley in zip(answers, valleys, strict=True)
    ]
    if max(ends) < LANDED:
        return passed(f"In the hole after two strokes, in {TRIALS} fresh valleys from anywhere.")
    agree = lambda one, two: all(same(p, q, NEAR) for p, q in zip(one, two, strict=True))  # noqa: E731
    code = idea_behind(answers, [list(_strokes_from(*valley)) for valley in valleys], agree)
    if not code and all(same(h1, h2, NEAR) for h1, h2 in answers):
        code = "POINTS_TO_MINIMUM"
    if not code and all(h1 < 0 for h1, _ in answers):
        code = "UPHILL"
    if not code and all(h1 > 0 and h2 * max(valley) < 0.2 for (h1, h2), valley in zip(answers, valleys, strict=True)):
        code = "SMALLER_IS_SAFER"
    raise stop(code) if code else other("numbers")


def _bounds_from(layers: int) -> Guesses:
    """Yield what each wrong idea takes for the bound of so many layers."""
    yield "LAYERS_ADD", STEEPEST * layers
    yield "LAYERS_ADD", STEEPEST / layers
    yield "VALUE_FOR_SLOPE", 0.5**layers
    yield "VALUE_FOR_SLOPE", 1.0
    yield "VALUE_FOR_SLOPE", 0.5 * layers


@checked
def check_bound(bound: Callable[[int], float]) -> CheckResult:
    """Check a function that returns the largest slope that a chain of so many sigmoids can have.

    Parameters
    ----------
    bound : callable
        ``bound(layers)``, a number.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_bound(lambda layers: 0.25**layers)
    Passed. Right from 1 layer to 30; ten layers let through less than a millionth.
    >>> lessons.check_bound(lambda layers: 0.5**layers).code
    'VALUE_FOR_SLOPE'
    """
    dealt = (1, 2, 3, 5, 10, 30)
    found = [number(attempt(bound, layers), "the bound") for layers in dealt]
    near = lambda one, two: math.isclose(one, two, rel_tol=NEAR)  # noqa: E731
    if all(near(said, STEEPEST**layers) for said, layers in zip(found, dealt, strict=True)):
        return passed("Right from 1 layer to 30; ten layers let through less than a millionth.")
    code = idea_behind(found, [list(_bounds_from(layers)) for layers in dealt], near)
    exact = [near(said, STEEPEST**layers) or said == 0 for said, layers in zip(found, dealt, strict=True)]
    raise stop(code or "SATURATED_IS_DEAD") if code or (all(exact) and 0 in found) else other("function")


def _distances_from(slope: float, curvature: float) -> Guesses:
    """Yield what each wrong idea takes for the distance; the last two are told apart where f bends downwards."""
    flat = 0.0 if curvature <= 0 else abs(slope) / curvature
    yield "GRADIENT_IS_DISTANCE", abs(slope)
    yield "GRADIENT_IS_DISTANCE", slope
    yield "CURVATURE_FOR_STEP", abs(slope * curvature)
    yield "FLAT_IS_CONVERGED", flat
    yield "FLAT_IS_CONVERGED", 0.0
    yield "FLAT_IS_CONVERGED", abs(slope / curvature)
    yield "FLAT_IS_CONVERGED", abs(slope) if curvature <= 0 else flat


@checked
def check_distance(distance: Callable[[float, float], float], seed: int | None = None) -> CheckResult:
    """Check a function that estimates how far the minimum is, from slope and curvature at a point.

    On ½k(x − m)² the slope is k(x − m) and the curvature k.  Where f does not bend upwards nothing is known, and the
    answer is infinity.

    Parameters
    ----------
    distance : callable
        ``distance(slope, curvature)``, a number that is not negative.
    seed : int, optional
        Makes the numbers the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_distance(lambda slope, curvature: abs(slope) / curvature if curvature > 0 else float("inf"))
    Passed. Right on 8 parabolas, and the plateau at 6 does not count as arrived.
    >>> lessons.check_distance(lambda slope, curvature: abs(slope)).code
    'GRADIENT_IS_DISTANCE'
    """
    rng = np.random.default_rng(seed)
    bends = [2.0, 0.5, *rng.choice(_CURVATURES, TRIALS - 2).tolist()]
    away = [-1.5, 2.5, *rng.choice([-4.0, -1.5, 2.5, 7.0], TRIALS - 2).tolist()]  # at both sides, whatever is drawn
    dealt = [(k * x, k) for k, x in zip(bends, away, strict=True)]
    dealt += [(6 * math.exp(-18), -35 * math.exp(-18)), (3.0, -2.0)]  # 1 − exp(−x²/2) at 6, and on top of a hill
    found = [number(attempt(distance, *each), "the distance") for each in dealt]
    right = [abs(slope) / bend if bend > 0 else math.inf for slope, bend in dealt]
    alike = lambda one, two: one == two or math.isclose(one, two, rel_tol=NEAR)  # noqa: E731
    if all(map(alike, found, right)):
        return passed(f"Right on {TRIALS} parabolas, and the plateau at 6 does not count as arrived.")
    code = idea_behind(found, [list(_distances_from(*each)) for each in dealt], alike)
    if not code and all(map(alike, found[:TRIALS], right)):
        code = "FLAT_IS_CONVERGED"
    if not code and all(map(alike, map(abs, found[:TRIALS]), right)):
        raise stop("OTHER", "The number is right but for its sign: a distance is not negative.", "Put abs() around it.")
    raise stop(code) if code else other("function")


@checked
def check_under_par(game: Any) -> CheckResult:
    """Check a game of golf: it must be in the hole with fewer strokes than par.

    Parameters
    ----------
    game : Golf
        What `deal_valley` or `golf` opened, with the strokes that were played.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> game = lessons.golf()
    >>> game.play(0.1)
    >>> game.play(1.0)
    >>> lessons.check_under_par(game)
    Passed. In the hole after 2 strokes: one over each curvature, 1 and 10.
    """
    if is_blank(game):
        raise stop("BLANK", "There is no game here yet.")
    if not is_game(game):
        raise stop("RAISES", f"A game was expected, but this is {a_kind(game)}.", "Give the game that you played.")
    low, high = game.green.curvatures
    if game.best and game.best < game.par:
        told = " and ".join(f"{k:.4g}" for k in (low, high))
        return passed(f"In the hole after {game.best} stroke{'s' * (game.best > 1)}: one over each curvature, {told}.")
    strokes = list(game.strokes)
    if not strokes:
        raise stop("BLANK", "No stroke is played yet.", "Play in the picture above, and run this cell again.")
    if all(step <= 0 for step in strokes):
        raise stop("UPHILL")
    if len(strokes) > 1 and max(strokes) - min(strokes) < NEAR:
        safe = strokes[0] * high < 0.2
        raise stop("SMALLER_IS_SAFER" if safe else "POINTS_TO_MINIMUM")
    if any(same(step, 2 / k, 1e-3) for step in strokes for k in (low, high)):
        raise stop("TWICE_AS_FAR")
    where = f"in the hole after {len(strokes)}" if game.is_over else f"not in the hole after {len(strokes)}"
    hint = "Find a length that makes one of the two bars vanish, and play it. Then the other one."
    raise stop("OTHER", f"The ball is {where}; par is {game.par}, and two strokes are enough.", hint)


SHOWER = {
    "a": "POINTS_TO_MINIMUM", "b": "", "c": "CURVATURE_FOR_STEP", "d": "SLOWEST_RULES",
}  # fmt: skip


@checked
def check_shower(letter: Any) -> CheckResult:
    """Check what helps against a shower that scalds and freezes in turns: the letter of one of four answers.

    Parameters
    ----------
    letter : str
        ``"a"`` to ``"d"``.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_shower("c").code
    'CURVATURE_FOR_STEP'
    """
    if is_blank(letter):
        raise stop("BLANK", "No letter yet.")
    said = letter.strip().lower() if isinstance(letter, str) else ""
    if said not in SHOWER:
        raise stop("RAISES", "One of the letters a to d was expected.", 'Write it in quotes, like "a".')
    if SHOWER[said]:
        raise stop(SHOWER[said], _SHOWER_SAYS[said], "What is h here: which number do you multiply the error by?")
    return passed("You turn too far for what you feel: the factor is below −1. A shorter step brings it back inside.")


_SHOWER_SAYS = {
    "a": "The direction is right: colder when it is hot. It is the length that is wrong.",
    "c": "Turning further makes the swings larger: that is a longer step.",
    "d": "Waiting for the slowest part does not help if each turn is too long.",
}

EXERCISES: dict[str, Exercise] = {
    "12.1": Exercise("the largest step", check_largest_step),
    "12.2": Exercise("two strokes", check_two_strokes),
    "12.3": Exercise("ten sigmoids", check_bound),
    "12.4": Exercise("two dead networks", check_revive),
    "12.5": Exercise("under par", check_under_par),
    "12.6": Exercise("how far is it?", check_distance),
    "12.7": Exercise("the shower", check_shower),
}
