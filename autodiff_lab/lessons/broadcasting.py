"""Checks of lesson 9: what is summed on the way back where shapes were fitted, and a regression with a shape too many.

Every pair of small shapes is tried, with fresh numbers.  A wrong answer is told by running the wrong function of
`misfits` on the same arrays: the idea must give the same array, or fail, for every one of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.lessons.attempt import (
    Stopped,
    array,
    attempt,
    checked,
    idea_behind,
    is_blank,
    name_of,
    number,
    numbers,
    other,
    protect,
    same,
    stop,
)
from autodiff_lab.lessons.dealing import signed, signed_each
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.misfits import LOSSES, SCALES, SPREADS, SUMS, slopes_of, spread, summed
from autodiff_lab.lessons.result import CheckResult, not_yet, passed

Shape = tuple[int, ...]
Trial = tuple[Any, ...]

RANK = 4
LENGTHS = (1, 2, 3)
INPUT = (2, 3, 4, 5)
"""The shape that the sums of exercise 2 start from: all lengths differ."""
NEAR = 1e-5
"""Difference up to which arrays count as the same: tensors of float32 will do."""
TRIALS = 4


@cache
def fitting() -> dict[tuple[Shape, Shape], int]:
    """Return, by the shape of a result and that of an input, how many ordered pairs of shapes lead there.

    Examples
    --------
    >>> pairs = fitting()
    >>> sum(pairs.values()), len(pairs)
    (6821, 1771)
    """
    shapes = [shape for rank in range(RANK + 1) for shape in product(LENGTHS, repeat=rank)]
    found: Counter[tuple[Shape, Shape]] = Counter()
    for one, another in product(shapes, repeat=2):
        front = (1,) * abs(len(one) - len(another))
        long, short = (one, front + another) if len(one) >= len(another) else (another, front + one)
        if all(m == n or 1 in {m, n} for m, n in zip(long, short, strict=True)):
            found[tuple(map(max, long, short)), one] += 1
    return found


def axis_sets() -> list[tuple[int, ...] | None]:
    """Return all axes that a sum over four axes can have: none given, or some, counted from the front or the back.

    Examples
    --------
    >>> len(axis_sets()), axis_sets()[0], axis_sets()[-1]
    (31, None, (-4, -3, -2, -1))
    """
    rank = len(INPUT)
    some = [axes for count in range(1, rank + 1) for axes in combinations(range(rank), count)]
    return [None, *some, *(tuple(axis - rank for axis in axes) for axes in some)]


def _copy(arguments: Trial) -> Trial:
    """Return the arguments with arrays of their own, which a function may change."""
    return tuple(each.copy() if isinstance(each, np.ndarray) else each for each in arguments)


def _answers(function: Any, trials: Sequence[Trial]) -> list[np.ndarray | None]:
    """Return what a learner's function gives for each trial, None where it raises; all calls share one deadline."""
    try:
        attempt(function, *_copy(trials[0]))  # says what is blank, or not a function
    except Stopped as stopped:
        if stopped.result.code != "RAISES" or not callable(function):
            raise

    def call(arguments: Trial) -> tuple[Any, ...]:
        try:
            return (function(*_copy(arguments)),)
        except (RecursionError, MemoryError):
            raise
        except Exception:  # noqa: BLE001 - a wrong idea may fail for some shapes and not for others
            return ()

    def read(value: Any) -> np.ndarray:
        plain = type(value) is np.ndarray and value.dtype.kind in "iuf"
        return value if plain else array(value, "the result", None)

    found = protect(lambda: [call(trial) for trial in trials], name_of(function))
    return [read(*each) if each else None for each in found]


def _agree(answer: np.ndarray | None, wanted: np.ndarray | None) -> bool:
    """Return whether an answer is this array; None is for a call that fails."""
    if answer is None or wanted is None:
        return answer is wanted
    return answer.shape == wanted.shape and bool(np.all(np.abs(answer - wanted) <= NEAR))


def _outcome(function: Callable[..., Any], arguments: Trial) -> np.ndarray | None:
    """Return what a wrong function gives, None if it fails."""
    try:
        return np.asarray(function(*arguments))
    except (ValueError, IndexError):  # NumPy's AxisError is both
        return None


def _compare(
    function: Any, trials: Sequence[Trial], right: Callable[..., np.ndarray],
    wrong: Iterable[tuple[str, Callable[..., Any]]], weights: Sequence[int], describe: Callable[[Trial], str],
    praise: str,
) -> CheckResult:  # fmt: skip
    """Return a pass if all answers are right, else the one idea that gives the same answers everywhere."""
    answers = _answers(function, trials)
    bad = [at for at, trial in enumerate(trials) if not _agree(answers[at], right(*trial))]
    if not bad:
        return passed(praise)
    count, first = sum(weights[at] for at in bad), describe(trials[bad[0]])
    share = f"wrong for {count:,} of {sum(weights):,}; the first is {first}."
    ran = any(answer is not None for answer in answers)  # what always fails shows no idea
    for code, idea in wrong:
        if ran and all(_agree(answer, _outcome(idea, trial)) for answer, trial in zip(answers, trials, strict=True)):
            return not_yet(code, f"{not_yet(code).message} It is {share}" if len(trials) > TRIALS else "")
    raised = [at for at in bad if answers[at] is None]
    if raised:
        attempt(function, *_copy(trials[raised[0]]))
    raise other(
        "array",
        f"W{share[1:]}",
        "Write its numbers down: where did each element of the input go, and what comes back from there?",
    )


@checked
def check_unbroadcast(unbroadcast: Callable[..., Any], seed: int | None = None) -> CheckResult:
    """Check a function that sums an incoming gradient to the shape of an input that was broadcast.

    All pairs of shapes with up to four axes of length 1, 2 or 3 are tried: 6,821 of the 14,641 pairs fit, and in 5,050
    of them something must be summed.

    Parameters
    ----------
    unbroadcast : callable
        ``unbroadcast(g, shape)``: g is an array of float64, the result has this shape.
    seed : int, optional
        Makes the numbers the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> found = lessons.check_unbroadcast(lambda g, shape: g)
    >>> found.code, "wrong for 5,050 of 6,821" in found.message
    ('BROADCAST_KEPT', True)
    """
    rng = np.random.default_rng(seed)
    pairs = list(fitting())
    dealt = signed_each(rng, 1, 2, [result for result, _ in pairs])
    trials = [(given, shape) for given, (_, shape) in zip(dealt, pairs, strict=True)]
    return _compare(
        unbroadcast, trials, summed, SUMS, list(fitting().values()),
        lambda trial: f"g of shape {trial[0].shape} for an input of shape {trial[1]}",
        "Right for all 6,821 pairs of shapes, 5,050 of which need a sum.",
    )  # fmt: skip


@checked
def check_sum_rule(rule: Callable[..., Any], seed: int | None = None) -> CheckResult:
    """Check the backward rule of a sum over any axes of an array of shape (2, 3, 4, 5).

    Parameters
    ----------
    rule : callable
        ``rule(g, shape, axes, keepdims)``: g has the shape of the sum, the result has the shape of the input; axes is
        None or a tuple, whose numbers may be negative.
    seed : int, optional
        Makes the numbers the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_sum_rule(lambda g, shape, axes, keepdims: g).code
    'OUTPUT_SHAPE'
    """
    rng = np.random.default_rng(seed)
    trials = [
        (signed(rng, 1, 2, np.zeros(INPUT).sum(axis=axes, keepdims=keepdims).shape), INPUT, axes, keepdims)
        for axes in axis_sets()
        for keepdims in (False, True)
    ]
    return _compare(
        rule, trials, spread, SPREADS, [1] * len(trials),
        lambda trial: f"axes={trial[2]}, keepdims={trial[3]}",
        f"Right for all {len(trials)} sums: {len(axis_sets())} sets of axes, with keepdims and without.",
    )  # fmt: skip


@checked
def check_sums(sums: Callable[..., Any], shape: Sequence[int], result: Sequence[int]) -> CheckResult:
    """Check a function that sums an incoming gradient for one input, whose shape was stretched to that of the result.

    Parameters
    ----------
    sums : callable
        ``sums(g)``, with g an array of float64.
    shape, result : sequence of int
        The shapes of the input and of the result.

    Raises
    ------
    InvalidArgumentError
        If an input of this shape cannot be stretched to that of the result.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_sums(lambda g: g.sum(axis=0), (4,), (3, 4))
    Passed. What arrives is summed over axis 0 of (3, 4) and has the shape (4,).
    >>> lessons.check_sums(lambda g: g.sum(axis=1), (3, 1), (3, 4)).code
    'KEEPDIMS_LOST'
    """
    small, large = shape_of(shape, "shape"), shape_of(result, "result")
    lacking = len(large) - len(small)
    if lacking < 0 or any(m not in {1, n} for m, n in zip(small, large[lacking:], strict=True)):
        raise InvalidArgumentError(f"An input of shape {small} cannot be stretched to {large}.")
    rng = np.random.default_rng()
    trials = [(signed(rng, 1, 2, large),) for _ in range(TRIALS)]
    axes = [axis for axis in range(len(large)) if axis < lacking or small[axis - lacking] != large[axis]]
    found = f"axis {axes[0]}" if len(axes) == 1 else f"axes {', '.join(map(str, axes))}" if axes else "no axis"
    return _compare(
        sums, trials, lambda g: summed(g, small),
        [(code, lambda g, wrong=wrong: wrong(g, small)) for code, wrong in SUMS], [1] * TRIALS,
        lambda trial: f"g of shape {trial[0].shape}",
        f"What arrives is summed over {found} of {large} and has the shape {small}.",
    )  # fmt: skip


def shape_of(given: Any, name: str) -> Shape:
    """Return a shape as a tuple.

    Raises
    ------
    InvalidArgumentError
        If it is not a sequence of a few positive integers, or so large that it would not be drawn.

    Examples
    --------
    >>> shape_of([3, 1], "shape")
    (3, 1)
    """
    fits = isinstance(given, (tuple, list)) and len(given) <= 2 * RANK
    if not (fits and all(isinstance(n, int) and not isinstance(n, bool) and 0 < n <= 1000 for n in given)):
        raise InvalidArgumentError(f"{name} should be a tuple of up to {2 * RANK} lengths, like (3, 1).")
    if np.prod(given, dtype=float) > 1e6:
        raise InvalidArgumentError(f"An array of shape {tuple(given)} is too large here; use fewer than 1e6 elements.")
    return tuple(given)


@checked
def check_scale(gradient_of_scale: Callable[..., Any]) -> CheckResult:
    """Check the gradient with respect to a number that multiplies a whole matrix.

    Parameters
    ----------
    gradient_of_scale : callable
        ``gradient_of_scale(g, s, M)`` for the result s·M; g and M are arrays of the same shape, the answer is a number.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_scale(lambda g, s, M: (g * M).sum())
    Passed. One number that is used everywhere gets one sum over everything.
    >>> lessons.check_scale(lambda g, s, M: g * M).code
    'BROADCAST_KEPT'
    """
    rng = np.random.default_rng()
    trials = [(rng.normal(size=(3, 4)), float(rng.uniform(1.5, 3)), rng.normal(size=(3, 4))) for _ in range(TRIALS)]
    return _compare(
        gradient_of_scale, trials, lambda g, s, M: np.asarray((g * M).sum()), SCALES, [1] * TRIALS,
        lambda trial: f"g and M of shape {trial[0].shape}",
        "One number that is used everywhere gets one sum over everything.",
    )  # fmt: skip


@checked
def check_regression(loss: Callable[..., Any], seed: int | None = None) -> CheckResult:
    """Check the loss of a regression by its gradient: the mean of the squares of n errors, one for each row.

    Parameters
    ----------
    loss : callable
        ``loss(w, b, X, y)``, a number, with tensors of float64 of the shapes (2, 1), (), (n, 2) and (n,).
    seed : int, optional
        Makes the numbers the same again.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from autodiff_lab import lessons
    >>> lessons.check_regression(lambda w, b, X, y: lab.reduce_mean((X @ w + b - y) ** 2.0)).code
    'ALL_PAIRS'
    """
    if is_blank(loss):
        raise stop("BLANK", "There is nothing here to check yet.")
    rng = np.random.default_rng(seed)
    trials = [
        (rng.normal(size=(2, 1)), np.asarray(rng.normal()), rng.normal(size=(n, 2)), 3 + rng.normal(size=n))
        for n in (5, 8, 11, 6)
    ]

    def value(w: np.ndarray, b: np.ndarray, X: np.ndarray, y: np.ndarray) -> float:
        tensors = [lab.constant(each, dtype=lab.float64) for each in (w, b, X, y)]
        return number(attempt(loss, *tensors), f"the value of {name_of(loss)}")

    answers = [slopes_of(value, *trial) for trial in trials]
    ideas = [[(code, slopes_of(wrong, *trial)) for code, wrong in LOSSES] for trial in trials]
    found = idea_behind(answers, ideas, lambda one, another: bool(np.allclose(one, another, 1e-4, 1e-4)))
    if found == "":
        raise other("function", "Its gradient is not that of the mean of the squared errors, one for each row.",
                    "Print the shape of the error. How many numbers should it have?")  # fmt: skip
    if found != "RIGHT":
        return not_yet(found)
    meant = [float(np.mean((y - (X @ w)[:, 0] - b) ** 2)) for w, b, X, y in trials]
    if not all(same(value(*trial), loss, 1e-6) for trial, loss in zip(trials, meant, strict=True)):
        raise other("function", "Its gradient is right, but its value is not the mean of the squared errors.",
                    "What is added to it that does not depend on w and b?")  # fmt: skip
    return passed("It is right for 4 fresh data sets: n errors, not n times n.")


SHOPS = (30.0, -12.0, 5.0, -7.0)
"""By how much the takings of each shop of the transfer grow for each euro more on the price."""


@checked
def check_price(answers: dict[str, Any], shops: Sequence[float] = SHOPS) -> CheckResult:
    """Check how the takings of a chain of shops change with the one price that all of them use.

    Parameters
    ----------
    answers : dict of str to float
        ``{"price": ..., "share": ...}``: the change of the sum of all takings for each euro more on the price, and the
        change of the mean of the takings for each euro more in one shop.
    shops : sequence of float
        The change of the takings of each shop for each euro more on the price.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_price({"price": 4, "share": 0.25}).code, lessons.check_price({"price": 16, "share": 1}).code
    ('MEAN_FOR_SUM', 'SUM_FOR_MEAN')
    """
    said = numbers(answers, ("price", "share"))
    total, count = sum(shops), len(shops)
    if same(said["price"], total) and same(said["share"], 1 / count):
        return passed("The price is used in every shop, so its changes add up. In a mean each shop counts with 1/n.")
    if not same(said["price"], total):
        if same(said["price"], total / count):
            raise stop("MEAN_FOR_SUM")
        if any(same(said["price"], each) for each in (shops[0], shops[-1])):
            raise stop("FIRST_TAKEN")
        raise other("number", "The change with the price is not right.",
                    "One euro more, in every shop at once: what do the four tills say together?")  # fmt: skip
    if same(said["share"], 1.0) or same(said["share"], count):
        raise stop("SUM_FOR_MEAN")
    raise other("number", "The share of one shop is not right.",
                "Let one shop take a euro more, and work out the mean again.")  # fmt: skip


EXERCISES: dict[str, Exercise] = {
    "9.1": Exercise("sum to a shape", check_unbroadcast),
    "9.2": Exercise("the rule of a sum", check_sum_rule),
    "9.3": Exercise("mend a regression", check_regression),
    "9.4": Exercise("one price, four shops", check_price),
}
