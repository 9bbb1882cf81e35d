"""Files stay small enough to be read in one sitting, and have a docstring that says what they are."""

import ast
import re
from collections.abc import Callable
from pathlib import Path

from tests.tree import PACKAGE, ROOT, project_files, shown

LONGEST = 400
BUDGETS = {"engine": 3_990, "ops": 9_060, "kernels": 15_870, "gpu": 1_600, "compile": 10_560, "extras": 6_480}
"""The most lines of code that a folder may hold; see docs/decisions/house.md."""
WHOLE = 86_800
CORE = 75_100
"""The package without `gpu`, `extras` and the CUDA kernels: what somebody reads who works on the engine."""
KINDS = {".py", ".js", ".css"}


def line_count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def code_count(path: Path) -> int:
    """Return the number of lines that hold code: blank lines, comments and docstrings are not counted."""
    text = path.read_text(encoding="utf-8")
    lines = enumerate(text.split("\n"), start=1)
    found = {number for number, line in lines if line.strip() and not line.lstrip().startswith("#")}
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        within = range(getattr(node, "lineno", 0), (getattr(node, "end_lineno", 0) or 0) + 1)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docstrings.update(within)
        elif isinstance(node, ast.JoinedStr) or isinstance(getattr(node, "value", None), str | bytes):
            found.update(within)  # whatever a text looks like
    return len(found - docstrings)


def sources(folder: Path) -> list[Path]:
    return [path for path in project_files() if path.suffix in KINDS and path.is_relative_to(folder)]


def inside(path: Path) -> tuple[str, ...]:
    """Return the names of the folders and the file below the package."""
    return path.relative_to(PACKAGE).parts


def is_apart(path: Path) -> bool:
    """Return whether a file is outside the core."""
    is_kernel = inside(path)[0] == "kernels" and path.stem.startswith("cuda_")  # what a cuda.py is too long to hold
    return is_kernel or not {"gpu", "extras", "cuda"}.isdisjoint((*inside(path), path.stem))


def listed(folders: dict[str, int]) -> str:
    return ", ".join(f"{name} {size:,}" for name, size in folders.items() if size)


def test_no_file_is_longer_than_400_lines() -> None:
    sizes = {shown(path): line_count(path) for path in sources(ROOT)}
    long = [f"{name}: {size} lines" for name, size in sizes.items() if size > LONGEST]
    assert not long, f"Split these by subject; {LONGEST} lines is the most:\n" + "\n".join(long)


def test_no_folder_is_longer_than_its_budget(figure: Callable[[str, str], None]) -> None:
    files = [path for path in sources(PACKAGE) if path.suffix == ".py"]
    lines = {path: code_count(path) for path in files}
    whole = sum(lines.values())
    core = sum(size for path, size in lines.items() if not is_apart(path))
    folders = {folder: sum(size for path, size in lines.items() if folder in inside(path)) for folder in BUDGETS}
    figure("lines of code", f"{whole:,} in {len(files)} files; the core {core:,}; " + listed(folders))
    figure("lines of Python", f"{sum(map(line_count, files)):,}, with docstrings, comments and blank lines")
    long = [f"{name}: {size:,} of {BUDGETS[name]:,}" for name, size in folders.items() if size > BUDGETS[name]]
    assert not long, "These folders have outgrown their budgets:\n" + "\n".join(long)
    assert whole <= WHOLE
    assert core <= CORE


def test_docstrings_comments_and_blank_lines_are_not_code(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    docstring = '"""A module.\n\nMore of it.\n"""\n\n# why\n'
    constant = 'TEXT = """two\nlines"""\n\n\n'
    function = 'def f(x):\n    """Twice."""\n    return (\n        2 * x  # or x + x\n    )\n'
    file.write_text(docstring + constant + function, encoding="utf-8")
    assert code_count(file) == 6


def test_every_module_says_what_it_is() -> None:
    silent = [
        shown(path)
        for folder in (PACKAGE, ROOT / "tests")
        for path in sources(folder)
        if path.suffix == ".py"
        and not path.is_relative_to(ROOT / "tests" / "data")  # scripts as a stranger would write them
        and not re.match(r'(#.*\n|\s)*r?"""', path.read_text(encoding="utf-8"))
    ]
    assert not silent, "These modules open without a docstring:\n" + "\n".join(silent)


def test_every_script_and_style_sheet_of_the_package_opens_with_a_comment() -> None:
    silent = [
        shown(path)
        for path in sources(PACKAGE)
        if path.suffix in {".js", ".css"} and not path.read_text(encoding="utf-8").lstrip().startswith(("/*", "//"))
    ]
    assert not silent, "These files open without a comment that says what they are:\n" + "\n".join(silent)
