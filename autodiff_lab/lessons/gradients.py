"""Check gradients that a learner computed by hand: against the tape, and against tapes that are wrong on purpose.

A wrong idea about the backward pass is an engine with one rule or one habit replaced. If an answer agrees with
such an engine at every point tried, the idea behind it is known, and no wrong numbers have to be stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.lessons.attempt import attempt, checked, numbers, same, stop
from autodiff_lab.lessons.result import CheckResult, not_yet, passed

Function = Callable[..., Any]
Numbers = dict[str, float]

TRIALS = 6
"""Points at which an answer is tried."""


def _keep_new(_: Any, new: Any) -> Any:
    return new


def _keep_old(old: Any, _: Any) -> Any:
    return old


def _wrong_engines() -> Iterator[tuple[str, lab.Engine]]:
    """Yield every wrong idea as an engine, the most telling first."""
    yield "OVERWRITE", lab.Engine(accumulate=_keep_new)
    yield "OVERWRITE", lab.Engine(accumulate=_keep_old)
    yield "OWN_VALUE", lab.Engine(rules={"multiply": (lambda o, g, z, x, y: g * x, lambda o, g, z, x, y: g * y)})
    yield "EXP_INPUT", lab.Engine(rules={"exp": (lambda o, g, z, x: g * x,)})
    yield "MINUS_LOST", lab.Engine(rules={"subtract": (lambda o, g, z, x, y: g, lambda o, g, z, x, y: g)})
    for loser in ("maximum", "minimum"):
        yield "MAX_LOSER", lab.Engine(rules={loser: tuple(reversed(REGISTRY[loser].rules))})  # type: ignore[arg-type]
        yield "MAX_SHARES", lab.Engine(rules={loser: (lambda o, g, z, x, y: g,) * 2})
        yield "MAX_SHARES", lab.Engine(rules={loser: (lambda o, g, z, x, y: g * 0.5,) * 2})
    yield "LOCAL_ONLY", lab.Engine(rules={op.name: tuple(map(_at_unit, op.rules)) for op in _plain_ops()})
    yield "LOCAL_ONLY", lab.Engine(
        accumulate=_keep_new, rules={op.name: tuple(map(_at_unit, op.rules)) for op in _plain_ops()})  # fmt: skip


def _plain_ops() -> Iterator[Any]:
    return (op for op in REGISTRY.values() if op.rules.__class__ is tuple and op.elementwise)


def _at_unit(rule: Any) -> Any:
    """Return a rule that forgets the incoming gradient."""
    return lambda ops, g, out, *inputs: rule(ops, g * 0 + 1, out, *inputs)


def gradients_of(function: Function, at: Numbers, engine: lab.Engine | None = None, seed: float = 1.0) -> Numbers:
    """Return the gradient of a function with respect to each argument, from the tape; 0 where there is no path.

    Examples
    --------
    >>> gradients_of(lambda x, y: x * y, {"x": 3.0, "y": 2.0})
    {'x': 2.0, 'y': 3.0}
    """
    sources = [lab.constant(value, dtype=lab.float64) for value in at.values()]
    with lab.GradientTape() as tape:
        tape.watch(sources)
        target = function(*sources)
    seeds = lab.constant(seed, dtype=lab.float64)
    found = tape.gradient(target, sources, seeds, lab.UnconnectedGradients.ZERO, engine=engine)
    return {name: float(value) for name, value in zip(at, found, strict=True)}


def diagnosis(function: Function, points: Sequence[Numbers], answers: Sequence[Numbers]) -> str:
    """Return the code of the wrong idea that explains all answers, or ``"OTHER"``.

    Examples
    --------
    >>> diagnosis(lambda x: x * x, [{"x": 3.0}], [{"x": 3.0}])
    'OVERWRITE'
    """
    right = [gradients_of(function, at) for at in points]
    for code, engine in _wrong_engines():
        wrong = [gradients_of(function, at, engine) for at in points]
        if wrong != right and agree(answers, wrong):
            return code
    values = [float(function(*[lab.constant(v, dtype=lab.float64) for v in at.values()])) for at in points]
    for seeds in ([0.0] * len(points), values):
        if agree(answers, [gradients_of(function, at, seed=seed) for at, seed in zip(points, seeds, strict=True)]):
            return "SEED"
    if agree(answers, points):
        return "VALUE"
    doubled = [{name: 2 * value for name, value in each.items()} for each in right]
    if agree(answers, doubled):
        return "STALE"
    flipped = [{name: -value for name, value in each.items()} for each in right]
    each_sign = [agree([{n: a[n]} for a in answers], [{n: s[n]} for s in signs]) for signs in (right, flipped)
                 for n in right[0]]  # fmt: skip
    count = len(right[0])
    return "SIGN" if all(a or b for a, b in zip(each_sign[:count], each_sign[count:], strict=True)) else "OTHER"


def agree(some: Sequence[Numbers], others: Sequence[Numbers]) -> bool:
    """Return whether all numbers agree, name by name."""
    return all(same(one[name], other[name]) for one, other in zip(some, others, strict=True) for name in other)


@checked
def check_gradients(by_hand: Function, function: Function, seed: int | None = None) -> CheckResult:
    """Check a function that computes a gradient by hand, at fresh points.

    Parameters
    ----------
    by_hand : callable
        Takes numbers and returns a dict: the gradient of `function` with respect to each argument, by name.
    function : callable
        The function itself, of ops; its arguments have the names of the gradients.
    seed : int, optional
        Makes the points the same again; by default they are fresh each time.

    Returns
    -------
    CheckResult
        With the code of a misconception if one explains the answers.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_gradients(lambda x, y: {"x": y, "y": x}, lambda x, y: x * y)
    Passed. The gradients agree with the tape at 6 fresh points.
    >>> lessons.check_gradients(lambda x, y: {"x": x, "y": y}, lambda x, y: x * y).code
    'OWN_VALUE'
    """
    names = names_of(function)
    points = fresh_points(names, np.random.default_rng(seed))
    answers = [numbers(attempt(by_hand, *at.values()), names) for at in points]
    right = [gradients_of(function, at) for at in points]
    if agree(answers, right):
        return passed(f"The gradients agree with the tape at {TRIALS} fresh points.")
    code = diagnosis(function, points, answers)
    if code != "OTHER":
        return not_yet(code)
    wrong = [name for name in names if not agree([{name: a[name]} for a in answers], [{name: r[name]} for r in right])]
    which = " and ".join(wrong)
    raise stop(
        "OTHER", f"The gradient with respect to {which} is not right, and it is none of the usual wrong answers."
    )


def names_of(function: Function) -> tuple[str, ...]:
    """Return the names of a function's arguments.

    Examples
    --------
    >>> names_of(lambda x, y: x * y)
    ('x', 'y')
    """
    code = function.__code__
    return tuple(code.co_varnames[: code.co_argcount])


def fresh_points(names: Sequence[str], rng: np.random.Generator) -> list[Numbers]:
    """Return points between −2 and 2 whose coordinates are well apart, so that no max is a tie and no two ideas agree.

    With each point comes its opposite, so that either input of a max wins somewhere.
    """
    points: list[Numbers] = []
    while len(points) < TRIALS:
        place = np.round(rng.uniform(-2, 2, len(names)), 2)
        gaps = np.abs(np.subtract.outer(place, place))[~np.eye(len(names), dtype=bool)]
        if np.all(np.abs(place) > 0.2) and np.all(gaps > 0.2) and np.all(np.abs(np.abs(place) - 1) > 0.1):
            points += [dict(zip(names, map(float, each), strict=True)) for each in (place, -place)]
    return points
