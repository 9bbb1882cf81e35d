"""JavaScript stays little: lines that hold code, those of the lessons' own widgets and all others."""

from collections.abc import Callable
from pathlib import Path

from tests.tree import PACKAGE, project_files, shown

LESSONS = (
    "checkpoints", "clinic", "engines", "form", "golf", "jacobian_map", "shape_drill", "sketch_pad", "step_plot",
    "swell", "whodunnit",
)  # fmt: skip
"""Folders of the widgets that only lessons show."""
MOST_OF_LESSONS = 2_500
MOST_OF_ALL_OTHERS = 6_350
LONGEST_LINE = 260
"""Characters; code is not crammed into few lines."""


def code_count(text: str) -> int:
    """Return the number of lines that hold code: blank lines and comments are not counted."""
    count, inside = 0, False
    for line in map(str.strip, text.splitlines()):
        if inside:
            inside = "*/" not in line
        elif line.startswith("/*"):
            rest = line.partition("*/")
            inside = not rest[1]
            count += bool(rest[2].strip())
        else:
            count += bool(line) and not line.startswith("//")
    return count


def scripts() -> list[Path]:
    return [path for path in project_files() if path.suffix == ".js" and path.is_relative_to(PACKAGE)]


def is_of_lessons(path: Path) -> bool:
    return path.parent.parent.name == "widgets" and path.parent.name in LESSONS


def test_scripts_are_within_their_budgets(figure: Callable[[str, str], None]) -> None:
    lines = {path: code_count(path.read_text(encoding="utf-8")) for path in scripts()}
    lessons = sum(size for path, size in lines.items() if is_of_lessons(path))
    others = sum(lines.values()) - lessons
    figure("lines of JavaScript", f"{lessons:,} in the lessons' widgets, {others:,} elsewhere")
    assert 0 < lessons <= MOST_OF_LESSONS
    assert 0 < others <= MOST_OF_ALL_OTHERS


def test_every_folder_of_the_list_is_a_widget() -> None:
    assert [name for name in LESSONS if not (PACKAGE / "widgets" / name / "__init__.py").exists()] == []


def test_no_line_is_crammed() -> None:
    long = [
        f"{shown(path)}:{number}"
        for path in scripts()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > LONGEST_LINE and not line.lstrip().startswith(("/*", "*", "//"))
    ]
    assert not long


def test_comments_and_blank_lines_are_not_code() -> None:
    text = (
        "// what\n/** @type {number}\n * more */\n\n  /* one */ const a = 1;\nf(); // kept\n/** @param x */\nend();\n"
    )
    assert code_count(text) == 3
