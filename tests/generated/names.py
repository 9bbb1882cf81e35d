"""docs/tensorflow_names.md: which of TensorFlow's names are here, and why the others are not.

The names are data (tests/data/tensorflow_names.toml), and so are the reasons
(tests/data/left_out.toml, left_out_whole.toml).
"""

import tomllib
from functools import reduce
from pathlib import Path
from typing import Any

import autodiff_lab as lab

DATA = Path(__file__).resolve().parent.parent / "data"
HEAD = """# Names that TensorFlow users know

This page is written by the program: `make docs-renew` renews it, and a test holds it to what the package exports.

These are the names that code for eager tensors, variables and tapes uses most. Those that are here have the same
positional order and the common keywords after `import autodiff_lab as tf`; rarer keywords may be missing, and then the
call raises `TypeError`. What computes differently on purpose is in [differences](differences.md).
"""


WHOLE = "## Left out as a whole\n\n| names | because |\n|---|---|"


def _table_of(file: str) -> dict[str, Any]:
    return tomllib.loads((DATA / f"{file}.toml").read_text(encoding="utf-8"))


def families() -> dict[str, list[str]]:
    """Return TensorFlow's names by family."""
    return _table_of("tensorflow_names")


def reasons() -> dict[str, str]:
    """Return why a name was left out, by name."""
    return _table_of("left_out")


def is_here(name: str) -> bool:
    """Tell whether a dotted name can be reached from the package."""

    def member(value: Any, part: str) -> Any:
        return getattr(value, part)

    try:
        reduce(member, name.split("."), lab)
    except AttributeError:
        return False
    return True


def page() -> str:
    """Return the text of the page."""
    parts, why = [HEAD], reasons()
    known = families()
    every = [name for names in known.values() for name in names]
    here = [name for name in every if is_here(name)]
    parts.append(f"{len(here)} of {len(every)} names are here.\n")
    for family, names in known.items():
        present = [name for name in names if is_here(name)]
        parts.append(f"## {family}\n\n{len(present)} of {len(names)}.\n")
        if present:
            parts.append(f"Here: {', '.join(f'`{name}`' for name in present)}.\n")
        missing = [name for name in names if not is_here(name)]
        if missing:
            rows = [f"| `{name}` | {why.get(name, 'no reason is written down')} |" for name in missing]
            parts.append("\n".join(["| left out | because |", "|---|---|", *rows, ""]))
    whole = _table_of("left_out_whole")
    return "\n".join([*parts, WHOLE, *(f"| {name} | {reason} |" for name, reason in whole.items())]).rstrip() + "\n"
