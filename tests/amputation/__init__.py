"""The amputation test: the core works without `gpu/`, `extras/` and the CUDA kernels.

``make test-amputated`` hides them from every process of a test run and prints how many tests ran. A test that needs
one of them has the mark ``extras``, and so have the cases of a table that `marked` selects; a row of a table that is
read in other ways is there only if `EXTRAS` is true.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.amputation.sitecustomize import is_hidden
from tests.tree import PACKAGE, ROOT

APART = tuple(ROOT / "tests" / folder for folder in ("gpu", "simulated", "extras", "cuda_report"))
"""Folders of tests that are about what is hidden."""


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


EXTRAS = _is_there("autodiff_lab.extras")
"""Whether this process can import `autodiff_lab.extras`."""


def names_in(door: Path) -> dict[str, str]:
    """Return the names that a public module imports from the package, each with the module that it comes from."""
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse(door.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("autodiff_lab.")
        for alias in node.names
    }


def from_extras() -> Iterator[str]:
    """Yield the public names that need `autodiff_lab.extras`, with and without the package, and their namespaces."""
    for door in [*PACKAGE.glob("*.py"), *PACKAGE.glob("*.pyi")]:
        space = "" if door.stem == "__init__" else door.stem
        found = [name for name, home in names_in(door).items() if home.startswith("autodiff_lab.extras.")]
        if found:
            yield f"autodiff_lab.{space}".rstrip(".")
            yield from (f"{space}.{name}".lstrip(".") for name in found)


AWAY = frozenset() if EXTRAS else frozenset(from_extras())
"""The public names that this process cannot use."""


def marked(cases: Iterable[Any], needs: Callable[[Any], bool]) -> list[Any]:
    """Return the cases of a test, with a mark on those that need a hidden part."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.extras) if needs(case) else case
        for case in cases
    ]


def public(names: Iterable[str]) -> list[Any]:
    """Return cases of a test over public names: those that need `extras`, and their methods, are marked."""
    away = frozenset(from_extras())
    return marked(names, lambda name: name in away or name.rpartition(".")[0] in away)


def is_about_what_is_hidden(path: Path) -> bool:
    """Return whether a file is of a hidden part, or a public module that holds nothing else."""
    if path.is_relative_to(PACKAGE) and is_hidden(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)):
        return True
    if path.parent != PACKAGE or path.suffix != ".py":
        return any(path.is_relative_to(folder) for folder in APART)
    names = {name: home for name, home in names_in(path).items() if not home.startswith("autodiff_lab.absent.")}
    return bool(names) and all(home.startswith("autodiff_lab.extras.") for home in names.values())
