"""The cases of lesson 16: a complaint, a short program, and what the engine says is wrong with it.

A case is data, a JSON file with the program in it; no answer is stored. Line and cause come from running the program:
`diagnose` asks for the first value that is not finite, then why a gradient is missing or zero, then for the remarks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.explain import CAUSES, explain, first_nonfinite, remarks
from autodiff_lab.lessons.casefiles import arrays, load, read
from autodiff_lab.lessons.codes import CODES
from autodiff_lab.lessons.source import readable
from autodiff_lab.recording.numbers import brief
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.snapshot import snapshot

FOLDER = Path(__file__).with_name("cases")
CASES = 10
POINTS = 3
SAID = 200
"""Characters of an error in a program that are repeated."""
NAMES: dict[str, str] = {
    **CAUSES,
    "nan_forward": "a value of the forward pass is not finite",
    "nan_backward": "all values are finite, and a nan begins in the backward pass",
    "broadcast": "an op broadcast both of its inputs",
    "added_up": "gradients of several steps were added up",
}
"""The causes that a case may have, in words."""


class Text(str):
    """Text that a notebook shows as it is, without quotes.

    Examples
    --------
    >>> Text("two words")
    two words
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Finding:
    """What the engine says of a program: the line, from 1, the cause, a key of `NAMES`, and its words."""

    line: int
    cause: str
    words: str


@dataclass
class Chart:
    """What a learner did with a case: whether a check was tried, whether one passed, and what was told before."""

    tried: bool = False
    solved: bool = False
    told: set[str] = field(default_factory=set)

    @property
    def points(self) -> int:
        """The points that solving it is worth, or was."""
        return max(POINTS - len(self.told), 0)


CHARTS: dict[str, Chart] = {}
"""By name of the case; opening a case begins a new one."""


class Case:
    """A complaint and the program that it is about.  Made by `case`.

    Attributes
    ----------
    name : str
        What the program is called in explanations, for example ``"case 4"``.
    complaint : str
        What its author says.
    program : str
        At most eight lines that define ``program(...)``, which returns a value and a gradient.
    """

    def __init__(self, name: str, data: Mapping[str, Any]) -> None:
        self.name, self.data = name, data
        self.complaint, self.program = data["complaint"], "\n".join(data["program"]) + "\n"
        self.title: str = data.get("title", name)
        self.source: str = data.get("source") or next(iter(data["inputs"]))

    @property
    def chart(self) -> Chart:
        """What was tried so far."""
        return CHARTS.setdefault(self.name, Chart())

    def run(self) -> tuple[Recording, Any, Any]:
        """Record the program at the numbers with which the case is shown; return its value and gradient too."""
        given = self.inputs(np.random.default_rng(0)) | arrays(self.data.get("shown", {}), self.data["inputs"], "shown")
        with lab.record(self.name, namespace={}) as recording:
            result = self.function()(**given)
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise InvalidArgumentError(f"{self.name}: the program should return a value and a gradient.")
        return recording, *result

    def function(self) -> Any:
        """Return the program as a function of arrays, by name."""
        names: dict[str, Any] = {"lab": lab, "np": np}
        exec(readable(self.program, self.name), names)
        if not callable(names.get("program")):
            raise InvalidArgumentError(f"{self.name}: the program should define program(...).")
        return names["program"]

    def try_it(self) -> None:
        """Run it once.

        Raises
        ------
        InvalidArgumentError
            If the program cannot be run or returns something else, or its formulas do not fit.
        """
        try:
            _, value, _ = self.run()
        except InvalidArgumentError:
            raise
        except Exception as error:
            raise InvalidArgumentError(
                f"case: the program cannot be run: {type(error).__name__}: {error}"[:SAID]
            ) from error
        for key in ("at", "meant"):
            try:
                found = np.asarray(self.formula(key, self.inputs(np.random.default_rng(0))), dtype=np.float64)
            except Exception as error:
                raise InvalidArgumentError(
                    f"case: {key!r} cannot be computed: {type(error).__name__}: {error}"[:SAID]
                ) from error
            if key == "meant" and (found.shape or np.shape(value)):
                raise InvalidArgumentError(f"{self.name}: the value should be a single number.")

    def formula(self, key: str, given: Mapping[str, np.ndarray]) -> Any:
        """Return the point at which the gradient is taken (``"at"``), or the value that is wanted (``"meant"``)."""
        if key in self.data:
            return eval(compile(self.data[key], self.name, "eval"), {"np": np, **given})
        if key == "at":
            return given[self.source]
        return self.function()(**{name: value.copy() for name, value in given.items()})[0]

    def inputs(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Return fresh inputs."""
        found = {}
        for name, what in self.data["inputs"].items():
            found[name] = np.array(rng.uniform(what["low"], what["high"], what["shape"]))
            if "first" in what:
                found[name].flat[0] = what["first"]
        return found

    def hint(self) -> Text:
        """Return the next hint; each costs a point.

        Examples
        --------
        >>> from autodiff_lab import lessons
        >>> lessons.case(9).hint()
        Print the shape of every value.
        """
        hints = self.data.get("hints", [])
        given = [hint for hint in hints if hint in self.chart.told]
        left = [hint for hint in hints if hint not in self.chart.told]
        if not left:
            return Text("\n".join(["There is no further hint.", *given]))
        if not self.chart.solved:
            self.chart.told.add(left[0])
        return Text(left[0])

    def diagnosis(self) -> Text:
        """Return what the engine says, once a check has been tried; before it is solved, that costs a point.

        Examples
        --------
        >>> from autodiff_lab import lessons
        >>> lessons.case(5).diagnosis()
        Closed until you have tried a check of this case.
        """
        if not self.chart.tried:
            return Text("Closed until you have tried a check of this case.")
        if not self.chart.solved:
            self.chart.told.add("the diagnosis")
        found = diagnose(self)
        return Text(f"line {found.line}, {found.cause}\n{found.words}")

    def to_html(self, path: str | Path) -> Path:
        """Write the case as one HTML file that needs no network and no kernel: it asks for the line and the cause.

        Parameters
        ----------
        path : str or pathlib.Path
            Where the file goes.

        Returns
        -------
        pathlib.Path
            The file. It holds the answers; who looks for them there will find them.
        """
        from autodiff_lab.widgets.clinic import page

        truth = diagnose(self)
        says = {
            "none": "Point at a line and name a cause first.",
            "early": "That line is still in order. Go on from there: which line is the first that is not?",
            "late": f"{CODES['SYMPTOM_FOR_CAUSE'].says} {CODES['SYMPTOM_FOR_CAUSE'].hint}",
            "cause": "The line is right, but it does something other than what you named.",
            "next": "Now mend the program, and keep its value. The engine says:",
        }
        facts = {
            "title": f"{self.name[:1].upper()}{self.name[1:]}: {self.title}",
            "complaint": f"“{self.complaint}”", "wanted": self.data.get("wanted", ""),
            "program": self.data["program"], "values": self._values(), "causes": [*NAMES.items()],
            "hints": self.data.get("hints", []), "points": POINTS,
            "lines": [truth.line, *self.data.get("also_lines", ())], "cause": truth.cause,
            "diagnosis": truth.words, "says": says,
        }  # fmt: skip
        file = Path(path)
        file.write_text(page(facts), encoding="utf-8")
        return file

    def __repr__(self) -> str:
        return "\n".join([*self._head(), self._listing(), self._values()])

    def _values(self) -> str:
        recording, value, slope = self.run()
        said = set(remarks(recording))
        text = [line for line in recording.to_text().splitlines() if line not in said]
        return "\n".join([f"returns {_short(value)} and {_short(slope)}", "", *text])

    def _head(self) -> list[str]:
        wanted = self.data.get("wanted")
        return [f"{self.name}: {self.title}", f"“{self.complaint}”", *([wanted] if wanted else []), ""]

    def _listing(self) -> str:
        return "".join(f"{number:2}  {line}\n" for number, line in enumerate(self.data["program"], 1))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the complaint, the program with its line numbers and the graph of its values; and the same as text."""
        recording, value, slope = self.run()
        title, complaint, *wanted = (escape(line) for line in self._head() if line)
        result = escape(f"returns {_short(value)} and {_short(slope)}")
        html = (
            '<div class="lab-case" style="font-size: 14px; line-height: 1.5; max-width: 60em">'
            f"<b>{title}</b><blockquote>{complaint}</blockquote>{''.join(f'<p>{line}</p>' for line in wanted)}"
            f'<pre style="overflow-x: auto; white-space: pre">{escape(self._listing())}    {result}</pre>'
            f'<div style="overflow-x: auto">{replace(recording, sweeps=()).to_svg()}</div></div>'
        )
        return {"text/plain": repr(self), "text/html": html}


def _short(value: Any) -> str:
    return "None" if value is None else brief(snapshot(np.asarray(value)))


def case(which: int | str | Path | Mapping[str, Any]) -> Case:
    r"""Open a case of lesson 16, or one of your own.

    Parameters
    ----------
    which : int, path or mapping
        Its number, from 1 to 10; or a JSON file, or what one contains: ``complaint``, ``program`` as a list of at most
        eight lines that define ``program(...)``, and ``inputs``, for each a ``shape``, ``low`` and ``high``.

    Returns
    -------
    Case
        Displayed, it is the complaint, the program and what it computes; ``.hint()`` costs a point, and
        ``.diagnosis()`` opens what the engine says once a check has been tried.

    Raises
    ------
    InvalidArgumentError
        If there is no such case, or something is missing from it.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> print("\n".join(repr(lessons.case(1)).splitlines()[:9]))
    case 1: An example from a book
    “I copied this from a book, line by line. It prints None.”
    <BLANKLINE>
     1  def program(x):
     2      x = lab.constant(x)
     3      with lab.GradientTape() as tape:
     4          loss = lab.reduce_sum(x * x + 3.0 * x)
     5      return loss, tape.gradient(loss, x)
    <BLANKLINE>
    """
    if isinstance(which, Mapping):
        found = Case("your case", read(which))
        found.try_it()
    elif isinstance(which, (str, Path)):
        found = Case(Path(which).stem, load(which))
        found.try_it()
    elif isinstance(which, int) and not isinstance(which, bool) and 1 <= which <= CASES:
        found = Case(f"case {which}", _shipped(which))
    else:
        raise InvalidArgumentError(f"case: expected a number from 1 to {CASES}, a JSON file or a dict, got {which!r}.")
    CHARTS[found.name] = Chart()
    return found


@cache
def _shipped(number: int) -> Mapping[str, Any]:
    return load(FOLDER / f"{number:02d}.json")


def diagnose(case: Case) -> Finding:
    """Return the line and the cause that the engine finds.

    Raises
    ------
    InvalidArgumentError
        If it finds nothing wrong, or no tape computed the gradient.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> found = diagnose(lessons.case(3))
    >>> found.line, found.cause
    (6, 'left_engine')
    """
    recording, *_ = case.run()
    found = _finding(recording, case.name)
    if found is None:
        raise InvalidArgumentError(f"{case.name}: the engine finds nothing wrong with this program.")
    return found


def _finding(recording: Recording, file: str) -> Finding | None:
    bad = first_nonfinite(recording)
    first = bad and (bad.forward or bad.backward)
    if bad and first and first.place and first.place[0] == file:
        return Finding(first.place[1], "nan_forward" if bad.forward else "nan_backward", str(bad))
    if recording.sweeps:
        sweep = recording.sweeps[-1]
        why = explain(recording, [*sweep.targets, *sweep.untracked][0], sweep.sources[0])
        if why.place and why.place[0] == file and why.cause not in ("connected", "not_finite"):
            return Finding(why.place[1], why.cause, str(why))
    for line in remarks(recording):
        at = re.search(r"line (\d+)\)$", line)
        cause = "broadcast" if "which neither input has" in line else "added_up" if "were added up" in line else ""
        if at and cause:
            return Finding(int(at[1]), cause, line)
    return None


def ward() -> Text:
    """Return the cases that were opened, with their points.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> _ = lessons.case(2)
    >>> "case 2" in lessons.ward()
    True
    """
    rows = [f"{name:<12}{f'{chart.points} points' if chart.solved else 'open'}" for name, chart in CHARTS.items()]
    points = sum(chart.points for chart in CHARTS.values() if chart.solved)
    return Text("\n".join([*rows, f"{points} of {POINTS * len(CHARTS)} points"]))
