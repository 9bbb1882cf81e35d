"""What a class has solved and where it went wrong, from the progress files of its learners, without their names.

A progress file (see `store`) holds neither a name nor a time; the names of files and folders may, so they are told to
the teacher, where a file cannot be read, and exported nowhere.  Only numbers of exercises and codes that the course
knows are exported, so nothing else that a file says can get into a table.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autodiff_lab.draw.charts import MARGIN, WIDTH, chart
from autodiff_lab.draw.markup import words
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.lessons.codes import CODES
from autodiff_lab.lessons.exercises import EXERCISES
from autodiff_lab.lessons.pictures import Picture
from autodiff_lab.lessons.store import Tried, tried_of

LARGEST = 1_000_000
"""Bytes; a progress file of the whole course has less than 20,000."""
SHOWN = 3
"""Misconceptions that the picture names for an exercise."""
COLUMNS = ("exercise", "title", "misconception", "learners", "answers", "solved")
ROW, LEFT = 44.0, 300.0
_STYLE = """
.lab-chart .lab-tried { fill: var(--lab-paper); stroke: var(--lab-backward); stroke-width: 1.5; }
.lab-chart .lab-solved { fill: var(--lab-forward); stroke: var(--lab-forward); stroke-width: 1.5; }
"""


@dataclass(frozen=True)
class Count:
    """How many learners, how many answers of theirs, and how many of these learners solved the exercise in the end."""

    learners: int = 0
    answers: int = 0
    solved: int = 0

    def plus(self, answers: int, solved: bool) -> Count:
        """Return the count with one more learner."""
        return Count(self.learners + 1, self.answers + answers, self.solved + solved)


@dataclass(frozen=True, repr=False)
class ClassResults:
    """The results of a class.  Made by `class_results`.

    Attributes
    ----------
    learners : int
        How many files were counted.
    exercises : dict of str to Count
        By number, in the order of the course; only those that somebody tried.
    misconceptions : dict of (str, str) to Count
        By exercise and code, the most frequent of an exercise first.
    skipped : dict of str to str
        Why a file was not counted, by its path; not part of any export.
    """

    learners: int
    exercises: dict[str, Count]
    misconceptions: dict[tuple[str, str], Count]
    skipped: dict[str, str]

    def _of(self, exercise: str) -> dict[str, Count]:
        return {code: count for (number, code), count in self.misconceptions.items() if number == exercise}

    def account(self) -> str:
        """Return the counts as text: a line for each exercise."""
        lines = [f"{_many(self.learners, 'learner')}, {_many(len(self.exercises), 'exercise')} tried"]
        for number, count in self.exercises.items():
            told = "".join(f", {code} {each.learners}" for code, each in self._of(number).items())
            lines.append(f"{number} {EXERCISES[number].title}: {count.solved} of {count.learners} solved{told}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return "\n".join([self.account(), *(f"not counted: {path}: {why}" for path, why in self.skipped.items())])

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return the counts as CSV, and write them to a file if one is given.

        A row without a misconception counts the learners who tried the exercise, their answers, and those who solved
        it; a row with one counts the learners who showed it, how often, and how many of them solved the exercise.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        for number, count in self.exercises.items():
            for code, each in {"": count, **self._of(number)}.items():
                writer.writerow([number, EXERCISES[number].title, code, each.learners, each.answers, each.solved])
        if path is not None:
            Path(path).write_text(text.getvalue(), encoding="utf-8")
        return text.getvalue()

    def picture(self) -> Picture:
        """Draw a bar for each exercise: who tried it, and filled, who solved it; the commonest misconceptions below."""
        title = f"Results of {_many(self.learners, 'learner')}"
        unit = (WIDTH - LEFT - MARGIN - 64) / max(self.learners, 1)
        parts = [words("lab-title", MARGIN, 26, title), words("lab-muted", LEFT, 26, "filled: solved; outlined: tried")]
        for row, (number, count) in enumerate(self.exercises.items()):
            y = 44 + row * ROW
            parts.append(words("", MARGIN, y + 14, f"{number}  {EXERCISES[number].title}"))
            for css, many in (("tried", count.learners), ("solved", count.solved)):
                parts.append(
                    f'<rect class="lab-{css}" x="{LEFT:g}" y="{y + 2:g}" width="{many * unit:.1f}" height="14"/>'
                )
            end = LEFT + count.learners * unit + 8
            parts.append(words("lab-number", end, y + 14, f"{count.solved} of {count.learners}"))
            told = [f"{code} {each.learners}" for code, each in list(self._of(number).items())[:SHOWN]]
            parts.append(words("lab-muted", LEFT, y + 32, ", ".join(told)))
        account = self.account()
        return Picture(account, chart(title, account, 56 + len(self.exercises) * ROW, parts, _STYLE))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the picture, and the account where there are none."""
        return {"text/plain": repr(self), "image/svg+xml": self.picture().svg}


def class_results(paths: str | Path | Iterable[str | Path]) -> ClassResults:
    """Count what a class has solved, and which misconceptions its answers showed.

    Nothing is written, and no file is changed.  The counts hold no names, identifiers or times.

    Parameters
    ----------
    paths : path or iterable of paths
        Progress files, or folders that are searched for ``*.json`` with everything below them.

    Returns
    -------
    ClassResults
        Shown as a picture in a notebook; ``.to_csv(path)`` writes a table.

    Raises
    ------
    InvalidArgumentError
        If a path does not exist.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from autodiff_lab import lessons
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name, passed in (("a", True), ("b", False)):
    ...     entry = {"passed": passed, "tries": 2, "codes": {"CHANGE": 1}}
    ...     _ = (folder / f"{name}.json").write_text(json.dumps({"exercises": {"1.1": entry}}))
    >>> print(lessons.class_results(folder))
    2 learners, 1 exercise tried
    1.1 average rate: 1 of 2 solved, CHANGE 2
    """
    learners = 0
    exercises: dict[str, Count] = {}
    shown: dict[tuple[str, str], Count] = {}
    skipped: dict[str, str] = {}
    for path in _files([paths] if isinstance(paths, str | Path) else paths):
        try:
            entries = _read(path)
        except (OSError, ValueError, RecursionError) as error:
            skipped[str(path)] = str(error) if isinstance(error, _NotProgress) else "it cannot be read"
            continue
        learners += 1
        for number, entry in entries.items():
            if number in EXERCISES and entry.tries:
                exercises[number] = exercises.get(number, Count()).plus(entry.tries, entry.passed)
                for code, times in (entry.codes or {}).items():
                    if code in CODES and times:
                        shown[number, code] = shown.get((number, code), Count()).plus(times, entry.passed)
    ordered = sorted(shown.items(), key=lambda pair: (-pair[1].learners, -pair[1].answers, pair[0]))
    return ClassResults(learners, {n: exercises[n] for n in EXERCISES if n in exercises}, dict(ordered), skipped)


class _NotProgress(ValueError):
    pass


def _files(paths: Iterable[str | Path]) -> list[Path]:
    """Return the files to read, each once."""
    found: dict[Path, Path] = {}
    for path in map(Path, paths):
        if not path.exists():
            raise InvalidArgumentError(f"class_results: there is no file or folder {path}.")
        for file in sorted(path.rglob("*.json")) if path.is_dir() else [path]:
            found.setdefault(file.resolve(), file)
    return list(found.values())


def _read(path: Path) -> dict[str, Tried]:
    """Return what one file says.

    Raises
    ------
    OSError, ValueError, RecursionError
        If it is not a progress file.
    """
    if not path.is_file():
        raise _NotProgress("it is not a file")
    if path.stat().st_size > LARGEST:
        raise _NotProgress(f"it is larger than {LARGEST:,} bytes")
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise _NotProgress("it is damaged: not JSON") from None
    entries = document.get("exercises") if isinstance(document, dict) else None
    if not isinstance(entries, dict):
        raise _NotProgress("it is not a progress file")
    return {number: tried_of(entry) for number, entry in entries.items()}


def _many(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
