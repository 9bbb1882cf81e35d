"""Run a lesson as a learner would: its cells in order, some of them edited, without a kernel."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

import nbformat

from autodiff_lab.lessons import CheckResult
from tests.lessons.answers import SOLVED
from tests.tree import ROOT

NOTEBOOKS = ROOT / "notebooks"
LESSONS = sorted(path.stem for path in NOTEBOOKS.glob("[0-9][0-9]*_*.ipynb"))
TRANSLATED = sorted(path.relative_to(NOTEBOOKS).with_suffix("").as_posix() for path in NOTEBOOKS.glob("*/[0-9]*.ipynb"))
"""The lessons in other languages, such as "de/01_was_ist_eine_ableitung"."""


def number_of(lesson: str) -> str:
    """Return the number of a lesson from its file name: "07" or "14a"."""
    return lesson.rpartition("/")[2].partition("_")[0]


@cache
def cells(lesson: str) -> tuple[Any, ...]:
    """Return the cells of a lesson, given by the first characters of its file name."""
    (path,) = NOTEBOOKS.glob(f"{lesson}*.ipynb")
    return tuple(nbformat.read(path, as_version=4).cells)


def sources(lesson: str) -> dict[str, str]:
    """Return the sources of the code cells, by id."""
    return {cell.id: cell.source for cell in cells(lesson) if cell.cell_type == "code"}


def play(lesson: str, changes: Mapping[str, str] | None = None, stop_after: str = "") -> dict[str, Any]:
    """Run a lesson and return what each cell shows, by id, and under ``""`` the names that it leaves."""
    shipped = sources(lesson)
    changes = changes or {}
    assert set(changes) <= set(shipped), f"no such cells: {set(changes) - set(shipped)}"
    names: dict[str, Any] = {"__name__": "__main__"}
    shown: dict[str, Any] = {"": names}
    for count, (key, source) in enumerate(shipped.items(), start=1):
        shown[key] = run(changes.get(key, source), names, f"<lesson cell {count}>")
        if key == stop_after:
            break
    return shown


def _solving(lesson: str) -> Iterator[tuple[str, tuple[int, dict[str, Any]]]]:
    """For each cell, where it stands, and the names that the solved cells before it leave."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for count, (key, source) in enumerate(sources(lesson).items(), start=1):
        yield key, (count, dict(names))
        run(SOLVED[lesson].get(key, source), names, f"<lesson cell {count}>")


@lru_cache(maxsize=1)
def _solved(lesson: str) -> tuple[dict[str, tuple[int, dict[str, Any]]], Iterator[Any]]:
    return {}, _solving(lesson)


def answer(lesson: str, cell: str, typed: str, **replaced: Any) -> Any:
    """Return what a cell shows for an answer; the cells before it are solved, and run once.

    Ask for cells in their order: what a later cell has done to an object, a game for example, is not undone.
    `replaced` stands for names that the lesson has.
    """
    reached, going = _solved(lesson)
    while cell not in reached:
        reached.update([next(going)])
    count, names = reached[cell]
    return run(typed, names | replaced, f"<lesson cell {count}>")


def run(source: str, names: dict[str, Any], name: str) -> Any:
    """Run a cell and return the value of its last line, if that is an expression."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), name, "exec"), names)
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), name, "eval"), names)


def results(shown: Mapping[str, Any]) -> dict[str, CheckResult]:
    """Return the results of checks among what the cells show."""
    return {key: value for key, value in shown.items() if isinstance(value, CheckResult)}


def markdown(lesson: str) -> str:
    """Return the text of a lesson."""
    return "\n\n".join(cell.source for cell in cells(lesson) if cell.cell_type == "markdown")
