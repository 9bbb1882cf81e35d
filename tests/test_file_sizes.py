"""Files stay small enough to be read in one sitting, and say what they are."""

import ast
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest

from tests.tree import PACKAGE, ROOT, project_files, shown

LONGEST = 400
MEDIAN = 125  # about 120
KINDS = {".py", ".js", ".css"}


def line_count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def sources(folder: Path) -> list[Path]:
    return [path for path in project_files() if path.suffix in KINDS and path.is_relative_to(folder)]


def test_no_file_is_longer_than_400_lines() -> None:
    sizes = {shown(path): line_count(path) for path in sources(ROOT)}
    long = [f"{name}: {size} lines" for name, size in sizes.items() if size > LONGEST]
    assert not long, f"Split these by subject; {LONGEST} lines is the most:\n" + "\n".join(long)


def test_the_median_file_of_the_package_is_at_most_about_120_lines(figure: Callable[[str, str], None]) -> None:
    sizes = [line_count(path) for path in sources(PACKAGE)]
    if not sizes:
        pytest.skip("the package has no source files yet")
    figure("package files", f"{len(sizes)}, median {median(sizes):.0f} lines, longest {max(sizes)}")
    assert median(sizes) <= MEDIAN


def test_every_module_says_what_it_is() -> None:
    silent = [
        shown(path)
        for folder in (PACKAGE, ROOT / "tests")
        for path in sources(folder)
        if path.suffix == ".py"
        and not path.is_relative_to(ROOT / "tests" / "data")  # scripts as a stranger would write them
        and not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not silent, "These modules open without a docstring:\n" + "\n".join(silent)


def test_every_script_and_style_sheet_of_the_package_opens_with_a_comment() -> None:
    silent = [
        shown(path)
        for path in sources(PACKAGE)
        if path.suffix in {".js", ".css"} and not path.read_text(encoding="utf-8").lstrip().startswith(("/*", "//"))
    ]
    assert not silent, "These files open without a comment that says what they are:\n" + "\n".join(silent)
