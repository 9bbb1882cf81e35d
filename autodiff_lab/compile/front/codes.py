"""Codes: the names in the code of a function, nested functions included, and the lines on which they stand."""

from __future__ import annotations

import linecache
import re
import types
from collections.abc import Iterable, Iterator
from typing import Any

from autodiff_lab.compile.front.trace import Refusal
from autodiff_lab.events import Place


class Code:
    """What a code object and those nested in it declare; instructions are not read.

    Attributes
    ----------
    names : list of str
        Globals, built-ins, attributes and imported modules: whatever the code looks up by name.
    texts : list of str
        Strings that could be names.
    inner : list of code
        The code objects of functions and classes made inside.
    catches : bool
        Whether an error may be caught.
    imports : bool
        Whether a module may be imported: an import has a level and a list of names among the constants.
    found, modules, silent, calls, by_name
        What `Surroundings` found under these names: attributes of modules, modules, built-in functions that may have
        side effects, whether one calls others, and whether one looks up attributes.
    """

    def __init__(self, code: types.CodeType) -> None:
        self.code = code
        self.inner = list(_inner(code))
        every = (code, *self.inner)
        self.names = list(dict.fromkeys(name for part in every for name in part.co_names))
        self.texts = list(dict.fromkeys(text for part in every for text in _texts(part.co_consts)))
        self.catches = any(part.co_exceptiontable for part in every)
        self.imports = any(_may_import(part.co_consts) for part in every)
        self.found: set[str] = set()
        self.modules: dict[int, Any] = {}
        self.silent: list[Refusal] = []
        self.calls = "sort" in self.names  # with a key
        self.by_name = False


def _inner(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _inner(constant)


def _texts(constants: Iterable[Any]) -> Iterator[str]:
    for constant in constants:
        if isinstance(constant, str):
            if constant.isidentifier():
                yield constant
        elif isinstance(constant, (tuple, frozenset)):
            yield from _texts(constant)


def _may_import(constants: tuple[Any, ...]) -> bool:
    level = any(type(constant) is int and constant >= 0 for constant in constants)
    tuples = [constant for constant in constants if type(constant) is tuple]
    return level and (None in constants or any(all(isinstance(name, str) for name in names) for names in tuples))


def line_of(code: Code, name: str) -> Place:
    """Return the first line of a function on which a name stands, or its first line."""
    lines = sorted({line for part in (code.code, *code.inner) for *_, line in part.co_lines() if line})
    name = name.partition("[")[0].rpartition(".")[2]
    word = re.compile(rf"\b{re.escape(name)}\b") if name else None
    file = code.code.co_filename
    for line in lines:
        if word is not None and word.search(linecache.getline(file, line)):
            return file, line
    return file, code.code.co_firstlineno
