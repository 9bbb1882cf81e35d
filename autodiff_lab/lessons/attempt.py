"""Run what a learner wrote: a blank, an exception or a strange value becomes a friendly result, never a traceback.

A check is a function under `checked`.  Whatever stops it early is a `Stopped` that carries the result.  A learner's
code runs in `attempt` and nowhere else: it may raise anything, ask Python to exit, or never come to an end.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from itertools import islice
from typing import Any, ParamSpec, cast

import numpy as np

from autodiff_lab.lessons.codes.states import OTHER_BY_KIND
from autodiff_lab.lessons.deadline import SECONDS, TooLong, share_seconds, within_deadline
from autodiff_lab.lessons.result import CheckResult, not_yet

P = ParamSpec("P")

LONGEST = 1000
"""What is read of a list."""
_NOTHING = "End it with a return: a check cannot see printed text. If it ends with one, a gradient may be None."


class Stopped(Exception):
    """Ends a check with a result."""

    def __init__(self, result: CheckResult) -> None:
        super().__init__(result.message)
        self.result = result


def checked(check: Callable[P, CheckResult]) -> Callable[P, CheckResult]:
    """Make a check return the result of a `Stopped` that is raised in it, and give the code in it 5 seconds in all.

    Examples
    --------
    >>> @checked
    ... def check(answer):
    ...     return not_yet("OTHER") if number(answer, "answer") != 3.0 else not_yet("BLANK")
    >>> check(...).code
    'BLANK'
    """

    @wraps(check)
    def run(*args: P.args, **kwargs: P.kwargs) -> CheckResult:
        try:
            with share_seconds():
                return check(*args, **kwargs)
        except Stopped as stopped:
            return stopped.result

    return run


def stop(code: str, message: str = "", next_hint: str = "") -> Stopped:
    """Return what a check raises to end with this code."""
    return Stopped(not_yet(code, message, next_hint))


def other(kind: str, message: str = "", next_hint: str = "") -> Stopped:
    """Return what a check raises for a wrong answer with no known idea behind it.

    Parameters
    ----------
    kind : str
        What was asked for: a key of `OTHER_BY_KIND`.
    message, next_hint : str
        Instead of what the table says.

    Examples
    --------
    >>> print(other("list").result.message)
    The list is not right, and it is none of the usual wrong ones.
    """
    says, hint = OTHER_BY_KIND[kind]
    return stop("OTHER", message or says, next_hint or hint)


def is_blank(value: Any) -> bool:
    """Return whether a value is the ``...`` that an exercise comes with, or None."""
    return value is ... or value is None


def attempt(function: Any, *arguments: Any) -> Any:
    """Call a learner's function.

    Raises
    ------
    Stopped
        If it is not a function, has blanks left, raises, exits, returns nothing, or does not end before its deadline.

    Examples
    --------
    >>> attempt(lambda x: x + 1, 2)
    3
    """
    if is_blank(function):
        raise stop("BLANK", "There is nothing here to check yet.")
    if not callable(function):
        raise stop("RAISES", f"A function was expected, but this is {a_kind(function)}.")
    name = name_of(function)
    value = protect(lambda: function(*arguments), name)
    if inspect.iscoroutine(value):
        value.close()
        raise stop("RAISES", f"{name} is an async function.", "Begin it with def, without async.")
    if value is None:  # most often printed instead; no ... is left that the usual hint could speak of
        raise stop("BLANK", f"{name} returns nothing.", _NOTHING)
    if is_blank(value):
        raise stop("BLANK", f"{name} returns a blank (...).")
    return value


def name_of(function: Any) -> str:
    """Return what messages call a learner's function."""
    name = getattr(function, "__name__", None)
    return name if isinstance(name, str) and name != "<lambda>" else "your function"


def protect(call: Callable[[], Any], name: str) -> Any:
    """Return the value of a call that runs a learner's code, directly or not.

    Raises
    ------
    Stopped
        If it raises, exits or does not end before its deadline.  A `Stopped` from within is passed on.
    """
    try:
        return within_deadline(call)
    except Stopped:
        raise
    except TooLong:
        raise stop("TOO_LONG", f"{name} did not come to an end within {SECONDS:g} seconds.") from None
    except KeyboardInterrupt:
        raise stop("RAISES", f"{name} was interrupted.", "Run the cell again, and let it finish.") from None
    except RecursionError:
        message = f"{name} calls itself and never comes to an end."
        raise stop("TOO_LONG", message, "For which argument should it return without calling itself?") from None
    except SystemExit:
        message = f"{name} asks Python to exit."
        raise stop("RAISES", message, "End it with a return instead of exit(), quit() or sys.exit().") from None
    except BaseException as error:  # noqa: BLE001 - whatever a learner's code raises belongs in the note
        words = _words_of(error)
        if "ellipsis" in words.lower():
            raise stop("BLANK", f"{name} still has a blank (...).") from None
        raise stop(
            "RAISES",
            f"{name} raised {type(error).__name__}{': ' if words else ''}{words}",
            f"Call {name} in a new cell with small numbers; the message names the line.",
        ) from None


def _words_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - an exception class of the learner's own may fail even at this
        return ""


def a_kind(value: Any) -> str:
    """Return what a value is, in words.

    Examples
    --------
    >>> a_kind("nine"), a_kind([1]), a_kind(len), a_kind(3)
    ('text in quotes', 'a list', 'a function', 'an int')
    """
    if isinstance(value, (str, bytes)):
        return "text in quotes"
    if inspect.isgenerator(value):
        return "a generator"
    if inspect.isroutine(value):
        return "a function"
    kind = type(value).__name__
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}"


def number(value: Any, what: str) -> float:
    """Return a learner's number as a float; tensors, NumPy scalars and arrays of a single number will do.

    Raises
    ------
    Stopped
        If it is blank or not a real number: text is not.

    Examples
    --------
    >>> number(np.array([2.5]), "it")
    2.5
    """
    found = array(value, what, None)
    if found.size != 1:
        raise stop("RAISES", f"{_start(what)} should be a number, but is {a_kind(value)} of {found.size} numbers.")
    return float(found.reshape(-1)[0])


def finite(value: Any, what: str) -> float:
    """Return a learner's number, which must not be nan or infinite.

    Raises
    ------
    Stopped
        If it is; and as `number` does.

    Examples
    --------
    >>> finite(2, "it")
    2.0
    """
    found = number(value, what)
    if not math.isfinite(found):
        raise stop("RAISES", f"{_start(what)} is {found:g}, and a finite number was expected.",
                   "Look for a division by zero, or for a number that is missing.")  # fmt: skip
    return found


def idea_behind(
    answers: Sequence[Any], ideas: Sequence[Iterable[tuple[str, Any]]], agree: Callable[[Any, Any], bool] | None = None
) -> str:
    """Return the code of the idea that explains all answers, the nearest one of several, or an empty string.

    Parameters
    ----------
    answers : sequence
        One for each trial.
    ideas : sequence of iterables of (str, object)
        For each trial the codes and what each would have answered, in the same order every time.
    agree : callable, optional
        Whether an answer is what an idea gives; by default `same`.

    Examples
    --------
    >>> idea_behind([6.0, 1.0], [[("HALF", 3.0), ("TWICE", 6.0)], [("HALF", 0.5), ("TWICE", 1.0)]])
    'TWICE'
    """
    found: list[tuple[float, str]] = []
    for guesses in zip(*ideas, strict=True):
        pairs = [(answer, guess) for answer, (_, guess) in zip(answers, guesses, strict=True)]
        if all((agree or same)(answer, guess) for answer, guess in pairs):
            found.append((0.0 if agree else sum(abs(answer - guess) for answer, guess in pairs), guesses[0][0]))
    return min(found, key=lambda one: one[0], default=(0.0, ""))[1]


def array(value: Any, what: str, shape: tuple[int, ...] | None) -> np.ndarray:
    """Return a learner's array as float64; tensors, nested lists and numbers will do.

    Parameters
    ----------
    value : object
        The answer.
    what : str
        What messages call it, with its article: ``"the gradient"``.
    shape : tuple of int, optional
        The shape that it must have; None accepts any.

    Returns
    -------
    numpy.ndarray
        Of dtype float64.  It may contain nan and infinities.

    Raises
    ------
    Stopped
        If it is blank or has blanks, is text, ragged or complex, or does not have the shape.

    Examples
    --------
    >>> array([[1, 2], [3, 4]], "the Hessian", (2, 2)).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    if is_blank(value):
        raise stop("BLANK", f"{_start(what)} is still blank.")
    name = _start(what)
    if inspect.isgenerator(value) or isinstance(value, (map, zip, filter, range)):
        value = listed(value, what)
    kind = a_kind(value)
    wanted = "a number" if shape is None or shape == () else f"an array of shape {shape}"
    if isinstance(value, (str, bytes, bytearray)):
        raise stop("RAISES", f"{name} should be {wanted}, but is {kind}.", "Write it without the quotes.")
    plain = protect(lambda: _plain(value, name), what)
    if plain is None:
        raise stop("RAISES", f"{name} should be {wanted}, but is {kind}.")
    if any(item is ... or item is None for item in (plain.flat if plain.dtype == object else ())):
        raise stop("BLANK", f"{name} still has a blank (...).")
    if plain.dtype == object and plain.size:
        plain = _numbers_in(plain, name)
    if plain.dtype.kind == "c":
        raise stop("RAISES", f"{name} should be real, but has an imaginary part.")
    if plain.dtype.kind not in "biuf" and plain.size:
        raise stop("RAISES", f"{name} should be {wanted}, but is {kind}{_inside(plain)}.")
    if shape is not None and plain.shape != shape:
        found = "a single number" if plain.shape == () else f"of shape {plain.shape}"
        raise stop("RAISES", f"{name} should be {wanted}, but is {found}.")
    return plain.astype(np.float64)


def _plain(value: Any, name: str) -> np.ndarray | None:
    """Return a value as an array of NumPy, or None if it is not one."""
    if isinstance(value, (dict, set, frozenset)):
        return None
    convert = getattr(value, "numpy", None)
    source = convert() if callable(convert) else value
    try:
        found = np.asarray(source)
        if found.dtype == object and found.ndim == 0 and not is_blank(source):
            found = np.asarray(float(cast("Any", source)))  # a Fraction, a Decimal, an integer beyond 64 bits
    except OverflowError:
        raise stop("RAISES", f"{name} is a number too large for a float.") from None
    except Exception:  # noqa: BLE001 - ragged lists, and classes whose __array__ or __float__ fails
        return None
    return found


def _numbers_in(values: np.ndarray, name: str) -> np.ndarray:
    """Return an array of objects as floats: nested lists of tensors, of fractions and the like."""

    def read(item: Any) -> float:
        if isinstance(item, (str, bytes, complex, dict, list, tuple)):
            raise TypeError
        return float(item)

    try:
        return protect(lambda: np.array([read(item) for item in values.flat]).reshape(values.shape), name)
    except Stopped:
        raise stop("RAISES", f"{name} should contain nothing but numbers.") from None


def _inside(values: np.ndarray) -> str:
    what = " of text" if values.dtype.kind in "US" else " of other things"
    return what if values.ndim else ""


def _start(what: str) -> str:
    return f"{what[:1].upper()}{what[1:]}"


def listed(value: Any, what: str) -> list[Any]:
    """Return a learner's list; tuples, arrays and generators will do.

    Raises
    ------
    Stopped
        If it is blank, or cannot be gone through.

    Examples
    --------
    >>> listed((name for name in "ab"), "the list")
    ['a', 'b']
    """
    if is_blank(value):
        raise stop("BLANK", f"{_start(what)} is still blank.")
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise stop("RAISES", f"{_start(what)} should be a list, but is {a_kind(value)}.")
    found = protect(lambda: list(islice(value, LONGEST + 1)), what)
    if len(found) > LONGEST:
        raise stop("RAISES", f"{_start(what)} has more than {LONGEST} items.")
    return found


def numbers(values: Any, names: tuple[str, ...]) -> dict[str, float]:
    """Return a learner's numbers by name.

    Raises
    ------
    Stopped
        If it is not a mapping, a name is missing, or a value is blank or not a number.

    Examples
    --------
    >>> numbers({"x": 1, "y": 2.5}, ("x", "y"))
    {'x': 1.0, 'y': 2.5}
    """
    if is_blank(values):
        raise stop("BLANK", "There is nothing here to check yet.")
    if not isinstance(values, Mapping):
        example = f'{{"{names[0]}": 1.0, ...}}'
        raise stop("RAISES", f"Numbers by name were expected, like {example}; this is {a_kind(values)}.")
    extra = [str(key) for key in values if key not in names]
    if extra and not all(name in values for name in names):
        raise stop("RAISES", f"There is no {extra[0]!r} here: the names are {', '.join(names)}.")
    left = [name for name in names if is_blank(values.get(name))]
    if left:
        count = "One blank is" if len(left) == 1 else f"{len(left)} blanks are"
        raise stop("BLANK", f"{count} left: {', '.join(left)}.")
    return {name: number(values[name], f"the number for {name}") for name in names}


def same(one: float, other: float, tolerance: float = 1e-6) -> bool:
    """Return whether two numbers agree, relative to their size; nan agrees with nothing.

    Examples
    --------
    >>> same(1e9, 1e9 + 1.0), same(1.0, 1.1), same(float("nan"), float("nan"))
    (True, False, False)
    """
    return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance)
