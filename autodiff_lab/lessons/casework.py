"""Checks of lesson 16: a line, a cause and a mended program, each against what the engine says and differences show.

A mended program is right if, at fresh inputs, its value is that of the broken one, or the one that the case asks for,
and its gradient is the difference quotient of that value. Where the broken program is nan, any finite numbers will do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.lessons.attempt import a_kind, array, attempt, checked, is_blank, listed, number, other, protect, stop
from autodiff_lab.lessons.casefiles import arrays
from autodiff_lab.lessons.clinic import CASES, CHARTS, NAMES, POINTS, Case, Chart, Finding, case, diagnose
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.result import CheckResult, passed
from autodiff_lab.recording.recording import Recording

TRIALS = 8
"""So many that a program with a branch takes each way in nearly every check."""
STEP = 1e-5
CLOSE = 1e-3
"""How far a value or a gradient may be off; a program may compute in float32."""
Inputs = dict[str, np.ndarray]


@dataclass
class Trial:
    """One run of a mended program beside what it should give; `slope` is None where there is no gradient."""

    value: np.ndarray
    slope: np.ndarray | None
    right_value: float
    right_slope: np.ndarray
    old_slope: Any
    about_source: bool
    by_tape: bool

    @property
    def keeps_value(self) -> bool:
        """Whether the value is right."""
        return self.value.shape == () and bool(np.isclose(self.value, self.right_value, CLOSE, CLOSE))

    @property
    def right(self) -> bool:
        """Whether the gradient is right too."""
        return self.keeps_value and self.slope is not None and _alike(self.slope, self.right_slope)

    @property
    def unchanged(self) -> bool:
        """Whether the gradient is the one that the broken program gives."""
        if self.slope is None or self.old_slope is None:
            return self.slope is self.old_slope
        return _alike(self.slope, self.old_slope)


def _alike(one: np.ndarray, two: Any) -> bool:
    two = np.asarray(two)
    return one.shape == two.shape and bool(np.allclose(one, two, CLOSE, CLOSE, equal_nan=True))


@checked
def check_case(which: Any, line: Any = ..., cause: Any = ..., program: Any = ...) -> CheckResult:
    """Check the diagnosis of a case, and its cure.

    Parameters
    ----------
    which : int or Case
        The number of a case, or one that `case` opened.
    line : int
        The line of the program in which the fault is.
    cause : str
        Its name: a key of `autodiff_lab.explain.CAUSES`, or ``"nan_forward"``, ``"nan_backward"``, ``"broadcast"`` or
        ``"added_up"``.
    program : callable
        The mended program.  It takes arrays and returns a value and a gradient.

    Raises
    ------
    InvalidArgumentError
        If there is no such case.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_case(3, 7, "left_engine").code
    'SYMPTOM_FOR_CAUSE'
    """
    patient = which if isinstance(which, Case) else _opened(which)
    if is_blank(line):
        raise stop("BLANK", "The line is still blank.", "In which line of the program is the fault?")
    chart = patient.chart
    truth = diagnose(patient)
    where = _line(line, len(patient.data["program"]))
    if is_blank(cause):
        raise stop("BLANK", "The cause is still blank.", "Its name is in the table of the lesson.")
    named = _cause(cause)
    chart.tried = True
    _same_line(where, truth, patient)
    _same_cause(named, truth)
    if is_blank(program):
        raise stop("BLANK", "Line and cause are right. The mended program is still blank.", "Mend a copy of it.")
    _mended(patient, truth, program)
    chart.solved = True
    worth = f"{chart.points} of {POINTS} points"
    return passed(f"Line, cause and cure are right: {NAMES[truth.cause]}. {worth}.")


def _opened(which: Any) -> Case:
    """Return a case without beginning a new chart."""
    name = f"case {which}"
    kept = CHARTS.get(name)
    found = case(which)
    CHARTS[name] = kept or Chart()
    return found


def _line(line: Any, lines: int) -> int:
    """Return a line number; ``"line 4"`` will do."""
    if isinstance(line, str):
        found = re.fullmatch(r"\s*(?:line\s+)?(\d{1,3})\s*", line, re.IGNORECASE)
        if not found:
            raise stop("RAISES", "The line should be a number.", "They are at the left of the program.")
        line = int(found[1])
    at = number(line, "the line")
    if at not in range(1, lines + 1):
        raise stop("RAISES", f"There is no such line: they are numbered from 1 to {lines}.")
    return int(at)


def _cause(cause: Any) -> str:
    if not isinstance(cause, str):
        raise stop("RAISES", f"The cause should be a name in quotes, but is {a_kind(cause)}.")
    name = re.sub(r"[\s-]+", "_", cause.strip().lower())
    if name not in NAMES:
        raise stop("RAISES", "This is not the name of a cause.", "The names are in the table of the lesson.")
    return name


def _same_line(line: int, truth: Finding, patient: Case) -> None:
    if line == truth.line or line in patient.data.get("also_lines", ()):
        return
    if line > truth.line:
        raise stop("SYMPTOM_FOR_CAUSE")
    raise other("number", f"Line {line} is still in order.", "Go on from there: which line is the first that is not?")


def _same_cause(cause: str, truth: Finding) -> None:
    if cause == truth.cause:
        return
    if truth.cause == "zero" and cause not in ("nan_forward", "nan_backward", "broadcast", "added_up", "connected"):
        raise stop("NONE_IS_ZERO", "The line is right. But that is a cause of None, and this gradient is not None.",
                   "Print it. A path that exists and a path that is missing are two different things.")  # fmt: skip
    raise stop("WRONG_CAUSE", "The line is right, but it does something other than what you named.")


def _mended(patient: Case, truth: Finding, program: Any) -> None:
    """Stop unless a program is a cure."""
    trials = [_trial(patient, program, given) for given in _places(patient)]
    if not all(trial.right for trial in trials):
        raise _what_is_wrong(trials, truth)
    if not all(trial.by_tape for trial in trials):
        raise stop("ONE_NUMBER", "The numbers are right, but no tape computed them.",
                   "Call tape.gradient, and let it go through the whole program.")  # fmt: skip
    for given in patient.data.get("harmful", ()):
        value, slope = _parts(attempt(program, *(np.array(each, float) for each in given.values())))
        if slope is None:
            raise stop("STILL_NONE")
        if not np.isfinite(value).all():
            if np.isfinite(slope).all():
                raise stop("SILENCED")
            raise stop("SYMPTOM_FOR_CAUSE", "It still gives nan: what begins it is as it was.")
        if not np.isfinite(slope).all():
            raise stop(
                "SYMPTOM_FOR_CAUSE", "The value is finite now, and the gradient is not: the guard comes too late."
            )


def _places(patient: Case) -> list[Inputs]:
    """Return fresh inputs, and those with which the case is shown if its value is finite there.

    They are where the complaint comes from: a cure for a unit that is dead must be tried where it is dead.
    """
    rng = np.random.default_rng()
    shown = patient.inputs(rng) | arrays(patient.data.get("shown", {}), patient.data["inputs"], "shown")
    at = {**shown, patient.source: np.asarray(patient.formula("at", shown), dtype=np.float64)}
    fresh = [patient.inputs(rng) for _ in range(TRIALS)]
    return [*fresh, shown] if np.isfinite(_reference(patient, at)) else fresh


def _what_is_wrong(trials: list[Trial], truth: Finding) -> Exception:
    """Return what stops a check of a program whose numbers are not right."""
    slopes = [trial.slope for trial in trials]
    if all(slope is None for slope in slopes):
        return stop("STILL_NONE")
    if all(trial.unchanged for trial in trials):
        return stop("BLANK", "The program does what it did before.", "Change the line that you named.")
    if not all(trial.keeps_value for trial in trials):
        return stop("OTHER_FUNCTION")
    none_before = all(trial.old_slope is None for trial in trials)
    if all(slope is None or not np.any(slope) for slope in slopes):
        return stop("NONE_IS_ZERO" if none_before else "SILENCED")
    if not all(trial.about_source for trial in trials) or (truth.cause.startswith("nan") and _hides(trials)):
        return stop("SILENCED")
    if all(slope is not None and _alike(slope, slopes[0]) for slope in slopes):
        return stop("ONE_NUMBER")
    if any(slope is not None and not np.isfinite(slope).all() for slope in slopes):
        return stop("SYMPTOM_FOR_CAUSE", "The gradient is still nan: what begins it is as it was.")
    return other("number", "There is a gradient, but it is not that of the value.", "Is each use of the input seen?")


def _hides(trials: list[Trial]) -> bool:
    """Return whether what was nan is a 0 that is not true, and everything else as before."""
    for trial in trials:
        if trial.slope is None or trial.old_slope is None or trial.slope.shape != np.shape(trial.old_slope):
            return False
        if not _alike(trial.slope, np.nan_to_num(trial.old_slope, nan=0.0, posinf=0.0, neginf=0.0)):
            return False
    return True


def _trial(patient: Case, program: Any, given: Inputs) -> Trial:
    """Run a mended program and the broken one at the same inputs."""
    where = {**given, patient.source: np.asarray(patient.formula("at", given), dtype=np.float64)}
    old = patient.function()(**_copied(given))
    with lab.record(namespace={}) as recording:
        value, slope = _parts(attempt(program, *_copied(given).values()))
    return Trial(
        value=value,
        slope=slope,
        right_value=_reference(patient, where),
        right_slope=_difference(patient, where),
        old_slope=None if old[1] is None else np.asarray(old[1]),
        about_source=_is_about(recording, where[patient.source]),
        by_tape=bool(recording.sweeps),
    )


def _copied(given: Inputs) -> Inputs:
    return {name: values.copy() for name, values in given.items()}


def _parts(result: Any) -> tuple[np.ndarray, np.ndarray | None]:
    parts = listed(result, "what the program returns")
    if len(parts) != 2:
        raise stop("RAISES", "The program should still return two things: its value and the gradient.")
    value = array(parts[0], "the value", None)
    return value, None if parts[1] is None else array(parts[1], "the gradient", None)


def _reference(patient: Case, given: Inputs) -> float:
    """Return the value that a cure should have."""
    return float(patient.formula("meant", given))


def _difference(patient: Case, given: Inputs) -> np.ndarray:
    """Return the central differences of the value with respect to the source."""
    x = given[patient.source]
    found = np.zeros(x.shape)
    for at in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[at] = STEP
        up, down = (_reference(patient, {**given, patient.source: x + s}) for s in (step, -step))
        found[at] = (up - down) / (2 * STEP)
    return found


def _is_about(recording: Recording, x: np.ndarray) -> bool:
    """Return whether the last gradient is with respect to a value that is the input, as far as can be seen."""
    if not recording.sweeps:
        return True
    sources = [recording.tensors.get(key) for key in recording.sweeps[-1].sources]
    shown = [each.snapshot.array for each in sources if each is not None and each.snapshot.array is not None]
    return not shown or any(_alike(np.asarray(each, dtype=np.float64), x) for each in shown)


HARD = {"broadcast": "hard", "added_up": "hard", "zero": "hard", "connected": "hard"}


@checked
def check_own_case(data: Any = ...) -> CheckResult:
    """Check a case that a learner wrote for the next class: at most eight lines, and one fault that the engine finds.

    Parameters
    ----------
    data : mapping
        What `case` takes: ``complaint``, ``program`` and ``inputs``.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> program = '''
    ... def program(x):
    ...     x = lab.Variable(x, name="x")
    ...     with lab.GradientTape() as tape:
    ...         y = lab.floor(x)
    ...     return y, tape.gradient(y, x)'''
    >>> number = {"shape": [], "low": 0.0, "high": 1.0}
    >>> lessons.check_own_case({"complaint": "It is flat.", "program": program, "inputs": {"x": number}})
    Passed. One fault: an op on the path has no derivative, in line 4. A remark names it: easy to find.
    """
    if is_blank(data):
        raise stop("BLANK", "There is nothing here to check yet.")
    if not isinstance(data, Mapping):
        raise stop("RAISES", f"A case is a dict, but this is {a_kind(data)}.",
                   "It has a complaint, a program and inputs.")  # fmt: skip
    left = [str(key) for key, value in data.items() if is_blank(value)]
    if left:
        raise stop("BLANK", f"Blank: {left[0]}.")
    program = data.get("program")
    text = program.strip("\n").splitlines() if isinstance(program, str) else program
    if isinstance(text, list) and any("..." in line for line in text if isinstance(line, str)):
        raise stop("BLANK", "The program still has a blank (...).")
    found = protect(lambda: _judged({**data, "program": text}), "your case")
    if found is None:
        raise other("function", "The engine finds nothing wrong with this program.", "Put one of the ten faults in.")
    easy = "Nothing is None or nan: hard to find" if found.cause in HARD else "A remark names it: easy to find"
    return passed(f"One fault: {NAMES[found.cause]}, in line {found.line}. {easy}.")


def _judged(data: Any) -> Finding | None:
    """Return what the engine says of a learner's case, or None."""
    try:
        opened = case(data)
        opened.run()
    except InvalidArgumentError as wrong:
        raise stop("RAISES", str(wrong)) from None
    CHARTS.pop(opened.name, None)  # it is to be judged, not solved
    try:
        return diagnose(opened)
    except InvalidArgumentError:
        return None


def _exercises() -> Iterator[tuple[str, Exercise]]:
    titles = (
        "an example from a book", "trains once", "a loss of one line", "the loss is watched now", "accuracy as a loss",
        "nothing comes back", "the debugger says: line 5", "the branch never taken", "right loss, useless model",
        "each step is longer",
    )  # fmt: skip
    for which, title in zip(range(1, CASES + 1), titles, strict=True):

        def check(line: Any, cause: Any = ..., program: Any = ..., which: int = which) -> CheckResult:
            return check_case(which, line, cause, program)

        yield f"16.{which}", Exercise(title, check)
    yield f"16.{CASES + 1}", Exercise("a case of your own", check_own_case)


EXERCISES: dict[str, Exercise] = dict(_exercises())
