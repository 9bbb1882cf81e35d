"""The user's source: the lines that a recording reached, and short labels for their files.

The file name of a notebook cell means nothing to its author and differs between machines; pictures and texts
call it ``cell 3``, and a script by its base name, so that they are the same everywhere.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterable
from pathlib import PurePath

from autodiff_lab.errors import cell_of
from autodiff_lab.events import Place
from autodiff_lab.recording.schema import clean


def lines_at(places: Iterable[Place | None]) -> dict[str, dict[int, str]]:
    """Return the source lines at some places, by file name and line number; unknown files have empty lines."""
    found: dict[str, dict[int, str]] = {}
    for place in places:
        if place is not None:
            found.setdefault(place[0], {})[place[1]] = ""
    for name, lines in found.items():
        for number in lines:
            lines[number] = clean(linecache.getline(name, number).rstrip())
    return {name: dict(sorted(lines.items())) for name, lines in found.items()}


def labels_of(names: Iterable[str]) -> dict[str, str]:
    """Return what to call each file.

    Examples
    --------
    >>> labels_of(["examples/net.py", "<ipython-input-3-a1b2>", "<stdin>"])
    {'examples/net.py': 'net.py', '<ipython-input-3-a1b2>': 'cell 3', '<stdin>': '<stdin>'}
    """
    return {name: clean(cell_of(name) or PurePath(name).name or name) for name in names}
