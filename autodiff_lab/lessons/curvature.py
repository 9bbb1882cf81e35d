"""Checks of lesson 13, on derivatives of derivatives: nested tapes, Hessians, products with them, Newton's step.

The expected values come from formulas for polynomials and matrices, not from a second run of the tape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.lessons.attempt import Stopped, array, attempt, checked, finite, idea_behind, is_blank, other, stop
from autodiff_lab.lessons.dealing import signed
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.result import CheckResult, passed

Array = Any
Function = Callable[[Any], Any]

TRIALS = 6
SMALL, LARGE = 12, 24
"""Numbers of inputs for which the ops of a product with the Hessian are counted."""
PAIRS = ("xx", "xy", "yx", "yy")


class Polynomial:
    """A polynomial for plain numbers and tensors alike, lowest coefficient first.

    Examples
    --------
    >>> cube = Polynomial([0.0, 0.0, 0.0, 1.0])
    >>> cube(2.0), cube.derivative(2)(2.0)
    (8.0, 12.0)
    """

    def __init__(self, coefficients: Sequence[float]) -> None:
        self.coefficients = [float(c) for c in coefficients]

    def __call__(self, x: Any) -> Any:
        """Return the value at x."""
        value: Any = self.coefficients[-1]
        for coefficient in reversed(self.coefficients[:-1]):
            value = value * x + coefficient
        return value

    def derivative(self, order: int) -> Polynomial:
        """Return the derivative, by the rule for powers."""
        return Polynomial(np.polynomial.polynomial.polyder(np.array(self.coefficients), order).tolist() or [0.0])


@checked
def check_derivative(nth: Callable[[Function, Any], Any], order: int, seed: int | None = None) -> CheckResult:
    """Check a function that computes a derivative of some order, on random polynomials.

    Parameters
    ----------
    nth : callable
        ``nth(f, x)`` with a function of one tensor and a scalar tensor.
    order : int
        Which derivative, 2 or more.
    seed : int, optional
        Makes the polynomials the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> def second(f, x):
    ...     with lab.GradientTape() as outer:
    ...         outer.watch(x)
    ...         with lab.GradientTape() as inner:
    ...             inner.watch(x)
    ...             y = f(x)
    ...         slope = inner.gradient(y, x)
    ...     return outer.gradient(slope, x)
    >>> lessons.check_derivative(second, order=2)
    Passed. Right for 6 random polynomials.
    """
    rng = np.random.default_rng(seed)
    found: list[float] = []
    trials: list[list[tuple[str, float]]] = []
    for trial in range(TRIALS):
        f = Polynomial([*rng.uniform(0.5, 2.0, 5).round(2), 1.0])
        at = (-1) ** trial * float(rng.uniform(1.2, 2.0))
        found.append(finite(_derivative(nth, f, lab.constant(at, dtype=lab.float64)), "the derivative"))
        trials.append([("", f.derivative(order)(at)), *_wrong(f, at, order)])
    _judge(found, trials)
    return passed(f"Right for {TRIALS} random polynomials.")


def _judge(found: list[float], trials: list[list[tuple[str, float]]]) -> None:
    """Compare with what is right, the first of each trial, and then with what each wrong idea gives."""
    if not all(_close(one, ideas[0][1]) for one, ideas in zip(found, trials, strict=True)):
        code = idea_behind(found, [ideas[1:] for ideas in trials], _close)
        raise stop(code) if code else other("number")


def _close(one: Array, two: Array) -> bool:
    return np.shape(one) == np.shape(two) and bool(np.allclose(one, two, rtol=1e-6, atol=1e-9))


def _derivative(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a learner's function; a derivative that came out as None from a tape is not a blank: see the last sweep."""
    with lab.record() as recording:
        try:
            return attempt(function, *arguments)
        except Stopped as stopped:
            words, failed = stopped.result.message, stopped
    if words.endswith("returns nothing.") or "None" in words:
        sweeps = recording.sweeps
        if sweeps and None in sweeps[-1].results:
            raise stop("FIRST_OUTSIDE") from None
    raise failed


def _wrong(f: Polynomial, at: float, order: int) -> Iterator[tuple[str, float]]:
    """Yield what each wrong idea makes of a derivative of some order."""
    slope = f.derivative(1)(at)
    yield "SQUARED", slope**order
    for lower in range(1, order):
        yield "SAME_TARGET", f.derivative(lower)(at)
    yield "VALUE", f(at)


@checked
def check_mixed(mixed: Callable[[Function, Any, Any], Any], seed: int | None = None) -> CheckResult:
    """Check a function that computes the mixed second derivative of a function of two numbers.

    Parameters
    ----------
    mixed : callable
        ``mixed(f, x, y)``: how the derivative with respect to x changes with y.
    seed : int, optional
        Makes functions and points the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_mixed(lambda f, x, y: 0.0).code
    'MIXED_ZERO'
    """
    rng = np.random.default_rng(seed)
    found: list[float] = []
    trials: list[list[tuple[str, float]]] = []
    for _ in range(TRIALS):
        a, b, c = (float(v) for v in rng.uniform(1.0, 2.0, 3).round(2))

        def f(x: Any, y: Any, a: float = a, b: float = b, c: float = c) -> Any:
            return a * x * x * x * y * y + b * x * x + c * y * y * y

        x, y = (float(v) for v in signed(rng, 1.1, 2.0, 2))
        answer = _derivative(mixed, f, *(lab.constant(v, dtype=lab.float64) for v in (x, y)))
        found.append(finite(answer, "the mixed derivative"))
        by_x, by_y = 3 * a * x * x * y * y + 2 * b * x, 2 * a * x**3 * y + 3 * c * y * y
        trials.append([("", 6 * a * x * x * y), ("MIXED_ZERO", 0.0), ("SQUARED", by_x * by_y), ("SAME_TARGET", by_x),
                       ("SAME_TARGET", by_y), ("SAME_VARIABLE", 6 * a * x * y * y + 2 * b),
                       ("SAME_VARIABLE", 2 * a * x**3 + 6 * c * y)])  # fmt: skip
    _judge(found, trials)
    return passed(f"Right for {TRIALS} random functions.")


@checked
def check_hessian(hessian: Callable[[float, float], Any], f: Callable[[Any, Any], Any],
                  seed: int | None = None) -> CheckResult:  # fmt: skip
    """Check the four second derivatives of a function of two numbers, worked out by hand, at fresh points.

    Parameters
    ----------
    hessian : callable
        ``hessian(x, y)`` returns ``[[xx, xy], [yx, yy]]``.
    f : callable
        The function, of two tensors.
    seed : int, optional
        Makes the points the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_hessian(lambda x, y: [[2.0, 3.0], [3.0, 0.0]], lambda x, y: x * x + 3.0 * x * y)
    Passed. All four agree with the tape at 6 fresh points.
    """
    rng = np.random.default_rng(seed)
    answers: list[Array] = []
    truths: list[Array] = []
    for _ in range(TRIALS):
        at = signed(rng, 0.5, 2.0, 2).round(2)
        said = _square(attempt(hessian, *map(float, at)))
        point = lab.constant(at)
        right = lab.hessian(lambda p: f(p[0], p[1]))(point).numpy()
        answers.append(said)
        truths.append(right)
    if not all(map(_close, answers, truths)):
        codes = {_wrong_hessian(said, right) for said, right in zip(answers, truths, strict=True)}
        if len(codes) == 1 and codes != {"OTHER"}:
            raise stop(codes.pop())
        raise other("numbers", *_where(np.array(answers), np.array(truths)))
    return passed(f"All four agree with the tape at {TRIALS} fresh points.")


def _square(said: Any) -> Array:
    if (
        isinstance(said, (list, tuple))
        and len(said) == 2
        and all(isinstance(row, (list, tuple)) and len(row) == 2 for row in said)
    ):
        blank = [name for name, value in zip(PAIRS, (*said[0], *said[1]), strict=True) if is_blank(value)]
        if blank:
            raise stop("BLANK", f"Still blank: {', '.join(blank)}.")
    found = array(said, "the Hessian", None)
    if found.shape != (2, 2):
        raise stop("RAISES", "Two rows of two numbers were expected, like [[1.0, 2.0], [2.0, 3.0]].")
    if not np.isfinite(found).all():
        raise stop("RAISES", "The Hessian has a nan or an infinity in it, and finite numbers were expected.")
    return found


def _wrong_hessian(said: Array, right: Array) -> str:
    if not np.allclose(said[0, 1], said[1, 0]):
        return "NOT_SYMMETRIC"
    diagonal = np.allclose(np.diag(said), np.diag(right), rtol=1e-6)
    if diagonal and said[0, 1] == 0:
        return "MIXED_ZERO"
    return "FLIPPED_MIXED" if diagonal and np.allclose(said[0, 1], -right[0, 1], rtol=1e-6) else "OTHER"


def _where(said: Array, right: Array) -> tuple[str, str]:
    """Name the first entry that is wrong at any of the points."""
    entries = zip(PAIRS, said.reshape(-1, 4).T, right.reshape(-1, 4).T, strict=True)
    wrong = [name for name, found, true in entries if not _close(found, true)]
    hint = "Differentiate with respect to the first letter, and then with respect to the second."
    return f"The entry {wrong[0]} is not right.", hint


def _valley(p: Any) -> Any:
    """Rosenbrock's function of any number of inputs: neighbours are coupled, so the Hessian is not diagonal."""
    ahead, behind = p[1:], p[:-1]
    return lab.reduce_sum(lab.square(1.0 - behind) + 3.0 * lab.square(ahead - behind * behind))


@checked
def check_hvp(product: Callable[[Function, Any, Any], Any], seed: int | None = None) -> CheckResult:
    """Check a product of a Hessian with a vector: the numbers, and that no Hessian was built on the way.

    Parameters
    ----------
    product : callable
        ``product(f, x, v)`` with a scalar function of a vector.
    seed : int, optional
        Makes points and vectors the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_hvp(lab.hvp)
    Passed. Right for 6 random vectors, and as many ops for 24 inputs as for 12.
    >>> lessons.check_hvp(lambda f, x, v: lab.linalg.matvec(lab.hessian(f)(x), v)).code
    'HESSIAN_BUILT'
    """
    rng = np.random.default_rng(seed)
    found: list[Array] = []
    trials: list[list[tuple[str, Array]]] = []
    for _ in range(TRIALS):
        x, v = signed(rng, 0.5, 1.5, (2, 5))
        point = lab.constant(x)
        found.append(array(_derivative(product, _valley, point, lab.constant(v)), "the product", None))
        whole = lab.hessian(_valley)(point).numpy()
        trials.append([("", whole @ v), *_wrong_products(point, whole, v)])
    if not all(_close(one, ideas[0][1]) for one, ideas in zip(found, trials, strict=True)):
        code = idea_behind(found, [ideas[1:] for ideas in trials], _close)
        raise (stop(code) if code else other("array", "This is not the Hessian times v, and none of the usual slips."))
    small, large = (_ops_of(product, n) for n in (SMALL, LARGE))
    if large[1] >= LARGE * LARGE or large[0] != small[0]:
        grew = [
            f"for {n} inputs {ops} ops ran, and the largest value had {size} numbers"
            for n, (ops, size) in ((SMALL, small), (LARGE, large))
        ]
        raise stop("HESSIAN_BUILT", f"The numbers are right; {'; '.join(grew)}.")
    return passed(f"Right for {TRIALS} random vectors, and as many ops for {LARGE} inputs as for {SMALL}.")


def _wrong_products(point: Any, whole: Array, v: Array) -> list[tuple[str, Array]]:
    with lab.GradientTape() as tape:
        tape.watch(point)
        value = _valley(point)
    slope = tape.gradient(value, point).numpy()
    return [("SUMMED", whole.sum(axis=0)), ("DIRECTION_ONLY", np.asarray(slope @ v)), ("DIRECTION_ONLY", slope * v),
             ("DIRECTION_ONLY", slope), ("MIXED_ZERO", np.diag(whole) * v), ("HESSIAN_BUILT", whole)]  # fmt: skip


def _ops_of(product: Callable[[Function, Any, Any], Any], n: int) -> tuple[int, int]:
    """Return how many ops ran, and how many numbers the largest value had."""
    x, v = lab.constant(np.linspace(0.5, 1.5, n)), lab.constant(np.linspace(-1.0, 1.0, n))
    with lab.record() as recording:
        attempt(product, _valley, x, v)
    sizes = (int(np.prod(tensor.snapshot.shape)) for tensor in recording.tensors.values())
    return len(recording.applications), max(sizes, default=0)


@checked
def check_newton(step: Callable[[Function, Any], Any], seed: int | None = None) -> CheckResult:
    """Check Newton's step on random quadratics: the first lands on the minimum, the second stays there.

    Parameters
    ----------
    step : callable
        ``step(f, x)`` with a scalar function of a vector; returns the next x.
    seed : int, optional
        Makes the quadratics the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_newton(lambda f, x: x).code
    'NO_STEP'
    """
    rng = np.random.default_rng(seed)
    found: list[Array] = []
    trials: list[list[tuple[str, Array]]] = []
    landed = True
    for _ in range(TRIALS):
        root = rng.normal(size=(3, 3))
        curvature, lowest = root @ root.T + np.eye(3), rng.normal(size=3)

        def f(x: Any, curvature: Array = curvature, lowest: Array = lowest) -> Any:
            away = x - lab.constant(lowest)
            return 0.5 * lab.reduce_sum(away * lab.linalg.matvec(lab.constant(curvature), away))

        start = lowest + signed(rng, 0.5, 2.0, 3)
        first = array(attempt(step, f, lab.constant(start)), "the next x", start.shape)
        found.append(first)
        trials.append(_wrong_steps(start, curvature, curvature @ (start - lowest)))
        landed = landed and np.allclose(first, lowest, atol=1e-6)
        if landed:
            second = array(attempt(step, f, lab.constant(first)), "the next x", start.shape)
            landed = np.allclose(second, lowest, atol=1e-6)
    if not landed:
        code = idea_behind(found, trials, _close)
        raise stop(code) if code else other("array", "The first step does not land on the minimum, or the second does "
                                            "not stay there.")  # fmt: skip
    return passed(f"On {TRIALS} random quadratics the first step lands on the minimum, and the second stays there.")


def _wrong_steps(start: Array, curvature: Array, slope: Array) -> list[tuple[str, Array]]:
    newton = np.linalg.solve(curvature, slope)
    return [("NO_STEP", start), ("PLAIN_STEP", start - slope), ("UPHILL", start + newton), ("UPHILL", start + slope),
             ("NO_STEP", newton), ("NO_STEP", -newton), ("MULTIPLIED", start - curvature @ slope),
            ("MIXED_ZERO", start - slope / np.diag(curvature))]  # fmt: skip


def _valley_of_two(x: Any, y: Any) -> Any:
    """Return the function whose Hessian is worked out in lesson 13."""
    return (1 - x) ** 2 + 100 * (y - x * x) ** 2


EXERCISES: dict[str, Exercise] = {
    "13.1": Exercise("nested tapes, repaired", lambda second: check_derivative(second, order=2)),
    "13.2": Exercise("a Hessian by hand", lambda hessian: check_hessian(hessian, _valley_of_two)),
    "13.3": Exercise("Hessian times vector", check_hvp),
    "13.4": Exercise("Newton's step", check_newton),
    "13.5": Exercise("jerk in a lift", lambda jerk: check_derivative(jerk, order=3)),
}
