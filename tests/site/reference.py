"""The reference pages of the site: every public name once, with its docstring.

The most used classes have pages of their own. The functions of the package are grouped by subject, the other modules
have a page each. A function with several names is described under the shortest; the other modules point
there.
"""

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import BuiltinMethodType, ModuleType
from typing import Any

from tests.test_exports import PUBLIC, listed

CLASSES = ("Tensor", "Variable", "GradientTape", "Recording", "Module")
"""Names of the package with a page of their own."""

MORE = ("autodiff_lab.layers", "autodiff_lab.events", "autodiff_lab.errors", "autodiff_lab.lessons")
"""Modules that people import, beside those whose names `tests.test_exports` watches."""

ORDER = "order.txt"
"""The file that lists the pages in the order of the navigation."""

MARKUP = re.compile(r"(?<!\\)([*|]|(?<=\w)_(?!\w))")

SUBJECTS = {
    "Recording and exploring": ("recording", "exploring", "events", "magic", "explain"),
    "Derivatives": ("transforms", "engine.sweep", "engine.tape", "engine.op"),
    "Compiling, kernels and devices": ("compile", "kernels", "engine.devices"),
    "Tensors and dtypes": ("engine", "extras.tensor_spec", "extras.portable", "extras.symbolic", "extras.tensor_array"),
    "Arrays": ("ops.array", "ops.linalg", "extras.ragged", "extras.sparse", "extras.families.array"),
    "Mathematics": ("ops.math", "ops.nn", "ops.by_name", "ops"),
    "Control flow and printing": ("extras",),
    "Modules and initializers": ("layers",),
}
"""Pages of the functions of the package: the first whose modules hold the function."""


class Entry:
    """A public name: the object, and how it is described."""

    def __init__(self, place: str, name: str, value: Any) -> None:
        self.place, self.name, self.value = place, name, value

    @property
    def full(self) -> str:
        """The dotted name under which Python finds it."""
        return f"{self.place}.{self.name}"

    @property
    def short(self) -> str:
        """The name as programs write it, with the package as ``lab``."""
        return self.full.replace("autodiff_lab", "lab", 1)

    @property
    def kind(self) -> str:
        """What Sphinx calls it."""
        if isinstance(self.value, type):
            return "exception" if issubclass(self.value, BaseException) else "class"
        return "function" if callable(self.value) else "data"

    def lines(self) -> list[str]:
        """Return the directive that describes it."""
        if self.kind == "data":
            return [f".. py:data:: {self.full}", "", f"   ``{self.value!r}``", ""]
        options = ["   :members:"] if self.kind == "class" else []
        return [f".. auto{self.kind}:: {self.full}", *options, ""]


def entries(place: str) -> list[Entry]:
    """Return the public names of a module, without modules and methods of Python's own."""
    module = importlib.import_module(place)
    found = [Entry(place, name, getattr(module, name)) for name in names(module)]
    return [entry for entry in found if not isinstance(entry.value, ModuleType | BuiltinMethodType)]


def names(module: ModuleType) -> list[str]:
    """Return the names that a module lists, or without a list those that it defines."""
    if "__all__" in vars(module):
        return listed(module)
    return [
        name
        for name, value in vars(module).items()
        if name[0] != "_" and callable(value) and value.__module__ == module.__name__
    ]


def subject(value: Any) -> str:
    """Return the page of a function of the package."""
    where = getattr(value, "__module__", "") or ""
    where = where.removeprefix("autodiff_lab.")
    for title, places in SUBJECTS.items():
        if any(where == place or where.startswith(place + ".") for place in places):
            return title
    return "Tensors and dtypes"


def pages() -> Iterator[tuple[str, str, list[str]]]:
    """Yield the file name, the title and the lines of every reference page."""
    described: dict[int, Entry] = {}
    root = entries("autodiff_lab")
    groups: dict[str, list[Entry]] = {title: [] for title in SUBJECTS}
    for entry in root:
        if id(entry.value) in described or entry.kind == "data":
            continue
        described[id(entry.value)] = entry
        if entry.name not in CLASSES:
            groups[subject(entry.value)].append(entry)
    data = [entry for entry in root if entry.kind == "data"]
    for entry in root:
        if entry.name in CLASSES:
            yield entry.name.lower(), f"lab.{entry.name}", entry.lines()
    for title, group in groups.items():
        extra = data if title == "Tensors and dtypes" else []
        lines = [line for entry in sorted([*group, *extra], key=lambda e: e.name.lower()) for line in entry.lines()]
        if lines:
            yield re.sub(r"\W+", "_", title.lower()), title, [".. module:: autodiff_lab", "   :no-index:", "", *lines]
    for place in dict.fromkeys([*PUBLIC[1:], *MORE]):
        yield _module_page(place, described)


def _module_page(place: str, described: dict[int, Entry]) -> tuple[str, str, list[str]]:
    found = entries(place)
    fresh: list[Entry] = []
    elsewhere: list[str] = []
    for entry in sorted(found, key=lambda e: e.name.lower()):
        known = described.get(id(entry.value))
        if known is not None and entry.kind != "data":
            elsewhere.append(f":py:obj:`{entry.short} <{known.full}>`")
        else:
            described[id(entry.value)] = entry
            fresh.append(entry)
    lines = [f".. automodule:: {place}", ""]
    if elsewhere:
        lines += ["Described under a shorter name: " + ", ".join(elsewhere) + ".", ""]
    return place, place.replace("autodiff_lab", "lab", 1), [*lines, *_all(fresh)]


def _all(found: list[Entry]) -> list[str]:
    return [line for entry in found for line in entry.lines()]


def write(folder: Path) -> None:
    """Write the pages as reStructuredText, and remove those that are out of date."""
    folder.mkdir(exist_ok=True)
    made = {f"{name}.rst": "\n".join([title, "=" * len(title), "", *lines]) for name, title, lines in pages()}
    for path in folder.glob("*.rst"):
        if path.name not in made:
            path.unlink()
    (folder / ORDER).write_text("\n".join(made), encoding="utf-8")
    for name, text in made.items():
        if not (folder / name).exists() or (folder / name).read_text(encoding="utf-8") != text:
            (folder / name).write_text(text, encoding="utf-8")


def readable(_app: Any, _what: str, _name: str, value: Any, _options: Any, lines: list[str]) -> None:
    """Escape what reStructuredText would take for markup where a docstring means a formula."""
    if not (inspect.isroutine(value) or inspect.isclass(value) or inspect.ismodule(value) or callable(value)):
        return
    in_code = False
    for place, line in enumerate(lines):
        in_code = line.lstrip().startswith(">>>") or (in_code and bool(line.strip()))
        if not in_code:
            lines[place] = escaped(line)


def escaped(line: str) -> str:
    r"""Return a line of prose with stars and bars outside of code escaped.

    >>> print(escaped("Shapes: x (*s) -> (*s), ``*args``."))
    Shapes: x (\*s) -> (\*s), ``*args``.
    """
    parts = re.split(r"(``.*?``|`[^`]*`|\*\*\w)", line)
    return "".join(part if place % 2 else MARKUP.sub(r"\\\1", part) for place, part in enumerate(parts))
