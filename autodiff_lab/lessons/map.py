"""The map of the course: a line with a stop for each lesson, and a dot for each exercise."""

from __future__ import annotations

from collections.abc import Mapping

from autodiff_lab.draw.charts import MARGIN, chart
from autodiff_lab.draw.lines import text_width
from autodiff_lab.draw.markup import words
from autodiff_lab.lessons.exercises import EXERCISES
from autodiff_lab.lessons.pictures import Picture
from autodiff_lab.lessons.store import Tried, read

COURSE: dict[str, str] = {
    "1": "What is a derivative?",
    "2": "The derivative is a function",
    "3": "Measuring slopes numerically",
    "4": "Formulas that swell",
    "5": "Carrying derivatives forward",
    "6": "The tape",
    "7": "Backwards, one gate at a time",
    "8": "When a value is used twice",
    "9": "Shapes",
    "10": "Jacobians nobody builds",
    "11": "Trust, but check",
    "12": "Downhill",
    "13": "Derivatives of derivatives",
    "14a": "Fast",
    "14b": "Small",
    "15": "A thread for each number",
    "16": "Case clinic",
    "17": "Bring your own framework",
}
"""The names of the lessons; those with exercises are on the map."""

ROW = 32.0
STOP, DOT, GAP = 12.0, 6.0, 20.0
"""Radius of a stop, radius of a dot, distance of dots, in pixels."""
DOTS = 336.0
"""Where the first dot is."""
_STYLE = """
.lab-chart .lab-track { stroke: var(--lab-hairline); stroke-width: 4; }
.lab-chart .lab-stop { fill: var(--lab-paper); stroke: var(--lab-muted); stroke-width: 1.5; }
.lab-chart .lab-stop.lab-all { fill: var(--lab-forward); stroke: var(--lab-forward); }
.lab-chart .lab-stop.lab-some { stroke: var(--lab-forward); stroke-width: 3; }
.lab-chart text.lab-inside { font-size: 12px; font-weight: 600; }
.lab-chart text.lab-inside.lab-all { fill: var(--lab-paper); }
.lab-chart .lab-dot { fill: var(--lab-paper); stroke: var(--lab-muted); stroke-width: 1.5; }
.lab-chart .lab-dot.lab-passed { fill: var(--lab-forward); stroke: var(--lab-forward); }
.lab-chart .lab-half { fill: var(--lab-backward); }
.lab-chart .lab-dot.lab-tried { stroke: var(--lab-backward); }
"""


def progress() -> Picture:
    """Draw the map of the course: which exercises were passed, which tried, which are still to come.

    It knows the answers given to `check` on this machine.  They are kept in ``progress.json`` in the user's data
    folder, nowhere else; deleting that file starts over, and ``AUTODIFF_LAB_PROGRESS=off`` keeps nothing.

    Returns
    -------
    Picture
        The map, and as text a line for each lesson.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> print(lessons.progress().account.splitlines()[0])  # doctest: +ELLIPSIS
    The course: ... exercises passed
    """
    return course_map(read())


def course_map(tried: Mapping[str, Tried]) -> Picture:
    """Draw a map from what was tried, by exercise.

    Examples
    --------
    >>> from autodiff_lab.lessons.store import Tried
    >>> print(course_map({"1.2": Tried(False, 2, {"NO_WIDTH": 2})}).account.splitlines()[1])
    1 What is a derivative?: 0 of 4 exercises; tried: 1.2 (NO_WIDTH)
    """
    lessons: dict[str, list[str]] = {}
    for exercise in EXERCISES:
        lessons.setdefault(exercise.partition(".")[0], []).append(exercise)
    done = sum(tried.get(exercise, Tried()).passed for exercise in EXERCISES)
    title = f"The course: {done} of {len(EXERCISES)} exercises passed"
    rows = [_line(lesson, numbers, tried) for lesson, numbers in lessons.items()]
    account = "\n".join([title, *rows])
    bottom = 56 + len(lessons) * ROW
    x = MARGIN + STOP
    parts = [words("lab-title", MARGIN, 26, title)]
    parts.append(f'<path class="lab-track" d="M{x:g},{56 + ROW / 2:g}V{bottom - ROW / 2:g}"/>')
    for row, (lesson, numbers) in enumerate(lessons.items()):
        parts += _stop(lesson, numbers, tried, 56 + (row + 0.5) * ROW)
    parts += _legend(bottom + 16)
    return Picture(account, chart(title, account, bottom + 36, parts, _STYLE))


def _line(lesson: str, numbers: list[str], tried: Mapping[str, Tried]) -> str:
    passed = sum(tried.get(number, Tried()).passed for number in numbers)
    text = f"{lesson} {COURSE.get(lesson, '')}: {passed} of {len(numbers)} exercises"
    stuck = [(number, entry) for number in numbers if (entry := tried.get(number)) and entry.tries and not entry.passed]
    told = [f"{number}{_codes(entry)}" for number, entry in stuck]
    return text + (f"; tried: {', '.join(told)}" if told else "")


def _codes(entry: Tried) -> str:
    return f" ({', '.join(entry.codes)})" if entry.codes else ""


def _stop(lesson: str, numbers: list[str], tried: Mapping[str, Tried], y: float) -> list[str]:
    states = [_state(tried.get(number, Tried())) for number in numbers]
    whole = "lab-all" if set(states) == {"passed"} else "lab-some" if set(states) != {"open"} else ""
    x = MARGIN + STOP
    parts = [
        f'<circle class="lab-stop {whole}" cx="{x:g}" cy="{y:g}" r="{STOP:g}"/>',
        words(f"lab-inside {whole}", x, y + 4, lesson, "middle"),
        words("", x + STOP + 12, y + 5, COURSE.get(lesson, "")),
    ]
    return parts + [_dot(state, DOTS + place * GAP, y) for place, state in enumerate(states)]


def _state(entry: Tried) -> str:
    return "passed" if entry.passed else "tried" if entry.tries else "open"


def _dot(state: str, x: float, y: float) -> str:
    dot = f'<circle class="lab-dot lab-{state}" cx="{x:g}" cy="{y:g}" r="{DOT:g}"/>'
    if state == "tried":  # half full, so that the colour is not all that tells it from the others
        dot += f'<path class="lab-half" d="M{x - DOT:g},{y:g}a{DOT:g},{DOT:g} 0 0 0 {2 * DOT:g},0z"/>'
    return dot


def _legend(y: float) -> list[str]:
    parts: list[str] = []
    x = MARGIN + DOT
    for state, word in (("passed", "passed"), ("tried", "tried"), ("open", "to come")):
        parts += [_dot(state, x, y), words("lab-muted", x + 12, y + 4, word)]
        x += 12 + text_width(word, 12.0) + 32
    return parts
