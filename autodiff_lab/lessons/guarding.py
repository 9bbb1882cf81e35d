"""Programs whose gradient is nan, to be mended, and the place where a nan begins: exercises 2, 3 and 5 of lesson 11.

A mended function is called at fresh points.  Its values must be those of the broken one, to the last digits, and its
gradients finite and right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.explain.nonfinite import Bad
from autodiff_lab.lessons.attempt import a_kind, array, attempt, checked, finite, is_blank, listed, other, protect, stop
from autodiff_lab.lessons.dealing import signed
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.result import CheckResult, passed
from autodiff_lab.lessons.source import readable

EXACT = 1e-14
"""Relative difference up to which values count as unchanged."""
LITTLE = 1e-2
"""Up to here a change looks like a small number that was added."""
NEAR = 1e-6

Array = np.ndarray
Task = tuple[Callable[[Array], Array], Callable[[Array], Array], Callable[[np.random.Generator], Array]]
"""The values, the gradient of their sum (nan at a kink, where any number will do), and fresh points."""


def _lengths(x: Array) -> Array:
    return np.sqrt((x * x).sum(axis=-1))


def _along(x: Array, shortest: float) -> Array:
    """Return x over its length, row by row; zeros for rows that are not longer than this."""
    length = _lengths(x)[..., None]
    return np.where(length > shortest, x / np.where(length > shortest, length, 1.0), 0.0)


def _points(rng: np.random.Generator) -> Array:
    return np.concatenate([[0.0, 0.25, 0.99, 1.0, 1.01, 4.0], rng.uniform(0.05, 9.0, 4)])


def _signed(rng: np.random.Generator) -> Array:
    return np.concatenate([[0.0, -1.0, 1.0, -1e-3, 1e-3], rng.uniform(-5.0, -0.1, 2), rng.uniform(0.1, 5.0, 3)])


def _rows(rng: np.random.Generator) -> Array:
    near = [[0.3, 0.41], [-0.3, 0.39]]  # a little longer than 0.5, and a little shorter
    return np.concatenate([[[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]], near, signed(rng, 0.5, 4.0, (2, 2))])


def _pair(rng: np.random.Generator) -> Array:
    return signed(rng, 0.5, 4.0, 2) * 10.0 ** -rng.integers(0, 4)


def _where(x: Array, taken: Array, other_: Array, below: float = 1.0) -> Array:
    return np.where(x < below, taken, other_)


_TASKS: dict[str, Task] = {
    "root": (
        lambda x: _where(x, x, np.sqrt(x)),
        lambda x: np.where(x == 1.0, np.nan, _where(x, np.ones_like(x), 0.5 / np.sqrt(np.maximum(x, 1.0)))),
        _points,
    ),
    "rows": (lambda x: np.where(_lengths(x) > 0.5, _lengths(x), 1.0), lambda x: _along(x, 0.5), _rows),
    "log": (
        lambda x: np.where(x > 0, np.log(np.where(x > 0, x, 1.0)), 0.0),
        lambda x: np.where(x > 0, 1 / np.where(x > 0, x, 1.0), 0.0),
        _signed,
    ),
    "reciprocal": (
        lambda x: np.where(x == 0, 0.0, 1 / np.where(x == 0, 1.0, x)),
        lambda x: np.where(x == 0, 0.0, -1 / np.where(x == 0, 1.0, x * x)),
        _signed,
    ),
    "norm": (_lengths, lambda x: _along(x, 0.0), _pair),
}
TRIALS = 4


def _examine(function: Any, which: str, rng: np.random.Generator) -> None:
    """Raise what a check raises unless values and gradients are right at fresh points."""
    value_of, slope_of, points = _TASKS[which]
    trials = [points(rng) for _ in range(TRIALS)]
    if which == "norm":  # of short vectors alone, any length is near the right one
        trials += [signed(rng, 0.5, 4.0, 2), np.zeros(2)]
    found = [_run(function, x, value_of(x).shape) for x in trials]
    _compare_values(which, trials, [value for value, _ in found])
    known = [slope for _, slope in found if slope is not None]
    if len(known) < len(found):
        raise other("function", "The values are right, but there is no path from them to x.",
                    "Compute with x itself, by ops of lab.")  # fmt: skip
    slopes = np.concatenate([np.ravel(slope) for slope in known])
    if not np.isfinite(slopes).all():
        raise stop("WHERE_PROTECTS")
    wanted = np.concatenate([np.ravel(slope_of(x)) for x in trials])
    slopes = np.where(np.isnan(wanted), np.nan, slopes)
    if not np.allclose(slopes, wanted, NEAR, NEAR, equal_nan=True):
        at = float(np.concatenate([np.ravel(x) for x in trials])[int(np.nanargmax(abs(slopes - wanted)))])
        raise other("function", f"Values right, gradients finite, but the one at an element {at:.3g} is not its slope.",
                    "Is anything on the way a constant now that should depend on x?")  # fmt: skip


def _run(function: Any, x: Array, shape: tuple[int, ...]) -> tuple[Array, Array | None]:
    """Return the values of a learner's function at a point, and the gradient of their sum."""
    slopes: list[Any] = []

    @wraps(function)
    def call(x: Array) -> Any:
        tensor = lab.constant(x, dtype=lab.float64)
        with lab.GradientTape() as tape:
            tape.watch(tensor)
            result = function(tensor)
            total = lab.reduce_sum(result) if isinstance(result, lab.Tensor) else None
        slopes.append(None if total is None else tape.gradient(total, tensor))
        return result

    result = attempt(call, x) if callable(function) else attempt(function)
    value = array(result, "the result", shape)
    if not isinstance(result, lab.Tensor):
        raise stop("RAISES", f"The result should be a tensor, but is {a_kind(result)}.", "Compute it by ops of lab.")
    return value, None if slopes[-1] is None else array(slopes[-1], "the gradient", x.shape)


def _compare_values(which: str, trials: Sequence[Array], values: Sequence[Array]) -> None:
    truth = np.concatenate([np.ravel(_TASKS[which][0](x)) for x in trials])
    said = np.concatenate([np.ravel(value) for value in values])
    if np.allclose(said, truth, EXACT, EXACT):
        return
    if which == "root":
        x = np.concatenate(trials)
        kept = (_where(x, x, np.ones_like(x)), _where(x, np.ones_like(x), np.sqrt(x)))
        if any(np.allclose(said, wrong, NEAR, NEAR) for wrong in kept):
            raise stop("BRANCH_TAKEN")
    if not np.isfinite(said).all():
        raise stop("BRANCH_TAKEN", "Now the values themselves are not finite: the op gets harmful input where its "
                                   "result is kept.")  # fmt: skip
    raise stop("EPSILON_ADDED" if np.allclose(said, truth, LITTLE, LITTLE) else "CLIPPED")


@checked
def check_safe(which: str, function: Callable[[Any], Any], seed: int | None = None) -> CheckResult:
    """Check a function that is safe at 0: right values, and finite, right gradients.

    Parameters
    ----------
    which : str
        ``"log"``: log x for x > 0, else 0.  ``"reciprocal"``: 1/x, and 0 at 0.  ``"norm"``: the length of a vector of
        two, with gradient 0 at (0, 0).
    function : callable
        Takes a tensor of float64 and returns one.
    seed : int, optional
        Makes the points the same again.

    Raises
    ------
    InvalidArgumentError
        If `which` is none of these.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from autodiff_lab import lessons
    >>> lessons.check_safe("norm", lab.norm).code
    'WHERE_PROTECTS'
    """
    if which not in ("log", "reciprocal", "norm"):
        raise InvalidArgumentError(f"check_safe: expected 'log', 'reciprocal' or 'norm', got {which!r}.")
    _examine(function, which, np.random.default_rng(seed))
    return passed("The values are right, at 0 too, and every gradient is finite.")


@checked
def check_mended(root: Callable[[Any], Any], rows: Any = ..., seed: int | None = None) -> CheckResult:
    """Check two mended functions: the same values as before, and gradients that are finite and right.

    Parameters
    ----------
    root : callable
        x for x < 1 and √x otherwise, elementwise, with a finite gradient at 0.
    rows : callable
        The length of each row of an array of two columns, or 1 where it is not above 0.5, with a finite gradient for a
        row of zeros.
    seed : int, optional
        Makes the points the same again.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from autodiff_lab import lessons
    >>> lessons.check_mended(lambda x: lab.where(x < 1.0, x, lab.sqrt(x))).code
    'WHERE_PROTECTS'
    """
    rng = np.random.default_rng(seed)
    _examine(root, "root", rng)
    if is_blank(rows):
        raise stop("BLANK", "The first is mended. Now the rows.", "It is the same move: a harmless input, then the op.")
    _examine(rows, "rows", rng)
    return passed("Both have the values they had, and every gradient is finite and right.")


PROGRAMS: dict[str, str] = {
    "one": """\
def one(x):
    a = lab.math.log(x - 1.0)         # line 1
    b = lab.exp(a) + x                # line 2
    return lab.sqrt(b)                # line 3
""",
    "two": """\
def two(x):
    p = -x                            # line 1
    return lab.math.log(p)            # line 2
""",
    "three": """\
def three(x):
    big = x > 1.0                     # line 1
    root = lab.sqrt(x)                # line 2
    return lab.where(big, root, x)    # line 3
""",
}
"""The programs of exercise 3, as text because an explanation reads the user's lines."""
POINTS = {"one": 0.5, "two": 1.0, "three": 0.0}
"""Where they are run."""
PASSES = ("forward", "backward")


def birthplace(name: str) -> tuple[str, int, str]:
    """Return the op in which the first nan of a program begins, its line, and the pass.

    Examples
    --------
    >>> birthplace("two")
    ('log', 2, 'forward')
    """
    names: dict[str, Any] = {"lab": lab}
    exec(readable(PROGRAMS[name], f"program {name}"), names)
    x = lab.Variable(POINTS[name], name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            result = names[name](x)
        tape.gradient(result, x)
    found = recording.first_nonfinite()
    assert found is not None
    bad: Bad | None = found.forward or found.backward
    assert bad is not None
    assert bad.op is not None
    assert bad.place is not None
    return bad.op, bad.place[1] - 1, PASSES[0] if found.forward else PASSES[1]


@checked
def check_birthplaces(said: Any) -> CheckResult:
    """Check in which op, on which line and in which pass the first nan of three programs begins.

    Parameters
    ----------
    said : mapping of str to (str, int, str)
        For ``"one"``, ``"two"`` and ``"three"`` the op, the line, and ``"forward"`` or ``"backward"``.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_birthplaces({"one": ("sqrt", 3, "forward"), "two": ..., "three": ...}).code
    'BLAMED_WHERE_IT_SURFACED'
    """
    if is_blank(said):
        raise stop("BLANK", "There is nothing here to check yet.")
    if not isinstance(said, dict):
        raise stop("RAISES", f"A dict was expected, but this is {a_kind(said)}.", 'Begin with {"one": ("sqrt", 3, ...')
    missing = [name for name in PROGRAMS if is_blank(said.get(name))]
    for name in PROGRAMS:
        if name not in missing:
            _check_birthplace(name, said[name])
    if missing:
        raise stop("BLANK", f"Still blank: {', '.join(missing)}.")
    return passed("All three. A nan begins where finite numbers go in and something else comes out.")


def _check_birthplace(name: str, said: Any) -> None:
    parts = listed(said, f"the answer for {name}")
    if len(parts) != 3:
        raise stop("RAISES", f"The answer for {name} should be an op, a line and a pass.", '("sqrt", 3, "forward")')
    if any(map(is_blank, parts)):
        raise stop("BLANK", f"The answer for {name} still has a blank.")
    op, line, way = birthplace(name)
    said_op = _text(parts[0], f"the op of {name}").rpartition(".")[2].removesuffix("()")
    said_line = finite(parts[1], f"the line of {name}")
    said_way = _text(parts[2], f"the pass of {name}")
    if said_way not in PASSES:
        raise stop("RAISES", f"The pass of {name} should be forward or backward.")
    if (said_op, said_line, said_way) == (op, line, way):
        return
    if said_line == line and said_op == op:
        raise stop("NAN_GRADIENT_NEEDS_NAN_LOSS" if way == "backward" else "BLAMED_WHERE_IT_SURFACED")
    if said_line > line:
        raise stop("BLAMED_WHERE_IT_SURFACED")
    if said_line < line:
        raise stop("BLAMED_TOO_EARLY")
    raise other("word", f"The line of {name} is right, but the op is another.",
                f"Which ops does line {line} call, and in which order?")  # fmt: skip


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        name = protect(lambda: getattr(value, "__name__", None), what)
        if not isinstance(name, str):
            raise stop("RAISES", f"{what[:1].upper()}{what[1:]} should be text, but is {a_kind(value)}.")
        value = name
    return value.strip().lower()


STATIONS = {"sensor": "BLAMED_TOO_EARLY", "conversion": "", "display": "BLAMED_WHERE_IT_SURFACED"}
GUARDS = {"before": "", "after": "WHERE_PROTECTS"}


@checked
def check_thermometer(station: Any, guard: Any = ...) -> CheckResult:
    """Check which part of a thermometer is broken, and on which side of it the guard belongs.

    The sensor gives 0 mV, which is a valid reading; the conversion takes its logarithm; the display shows −∞.

    Parameters
    ----------
    station : str
        ``"sensor"``, ``"conversion"`` or ``"display"``.
    guard : str
        ``"before"`` or ``"after"`` it.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_thermometer("display", "after").code
    'BLAMED_WHERE_IT_SURFACED'
    """
    for said, known, what in ((station, STATIONS, "station"), (guard, GUARDS, "guard")):
        if is_blank(said):
            raise stop("BLANK", f"The {what} is still blank.", f"One of: {', '.join(known)}.")
        word = said.strip().lower() if isinstance(said, str) else ""
        if word not in known:
            shown = repr(said) if isinstance(said, str) and len(said) < 40 else a_kind(said)
            raise stop("RAISES", f"The {what} is {shown}, which is none of {', '.join(known)}.")
        if known[word]:
            raise stop(known[word])
    return passed("0 mV is finite and its logarithm is not. Checked before the conversion, it never gets that far.")


EXERCISES: dict[str, Exercise] = {
    "11.2": Exercise("two functions mended", check_mended),
    "11.3": Exercise("where a nan begins", check_birthplaces),
    "11.5": Exercise("a thermometer", check_thermometer),
}
