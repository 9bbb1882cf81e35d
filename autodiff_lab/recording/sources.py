"""The user's source: the lines that a recording met, and short labels for the files they stand in.

A notebook cell has a file name that means nothing to its author and changes from machine to machine; pictures and
texts call it ``cell 3``, and a script by its base name, so that they are the same everywhere.
"""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from autodiff_lab.events import Place

_EXECUTED = re.compile(r"In\[(\d+)\]")
_IPYTHON_INPUT = re.compile(r"<ipython-input-(\d+)-")


def lines_at(places: Iterable[Place | None]) -> dict[str, dict[int, str]]:
    """The source lines at some places, by file name and line number; unknown files have empty lines."""
    found: dict[str, dict[int, str]] = {}
    for place in places:
        if place is not None:
            found.setdefault(place[0], {})[place[1]] = ""
    for name, lines in found.items():
        for number in lines:
            lines[number] = linecache.getline(name, number).rstrip()
    return {name: dict(sorted(lines.items())) for name, lines in found.items()}


def labels_of(names: Iterable[str]) -> dict[str, str]:
    """What to call each file.

    Examples
    --------
    >>> labels_of(["examples/net.py", "<ipython-input-3-a1b2>", "<stdin>"])
    {'examples/net.py': 'net.py', '<ipython-input-3-a1b2>': 'cell 3', '<stdin>': '<stdin>'}
    """
    return {name: _cell(name) or PurePath(name).name or name for name in names}


def _cell(name: str) -> str | None:
    """``cell 3`` for a file name that a notebook gave to the third cell that ran, None for others."""
    old_style = _IPYTHON_INPUT.match(name)
    if old_style is not None:
        return f"cell {old_style[1]}"
    number = execution_count(name)
    if number is not None:
        return f"cell {number}"
    return "a notebook cell" if "ipykernel_" in name else None


def execution_count(name: str) -> str | None:
    """Ask IPython which cell a file name belongs to; any failure means that it does not know."""
    ipython: Any = sys.modules.get("IPython")
    try:
        shell = ipython.get_ipython()
        described = shell.compile.format_code_name(name)
        match = _EXECUTED.search(described[1]) if described else None
    except Exception:  # noqa: BLE001 - labels are a courtesy, and shells differ
        return None
    return match[1] if match else None
