"""Programs that the lessons carry as text, so that recordings show their lines and not lines of this package."""

from __future__ import annotations

import linecache
from types import CodeType


def readable(source: str, name: str) -> CodeType:
    r"""Compile a program whose lines can be shown under a name.

    Parameters
    ----------
    source : str
        The program.
    name : str
        What its file is called, for example ``"puzzle 7"``.

    Examples
    --------
    >>> import linecache
    >>> exec(readable("answer = 42\n", "program 0"))
    >>> linecache.getline("program 0", 1)
    'answer = 42\n'
    """
    lines = source.splitlines(keepends=True)
    linecache.cache[name] = (len(source), None, lines, name)
    return compile(source, name, "exec")
