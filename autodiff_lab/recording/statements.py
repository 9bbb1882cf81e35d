"""The user's statements: the assignment at a line, and the number of operations in it.

Sources come from `linecache`, which knows script files as well as notebook cells. A source that cannot be read or
parsed has no statements, and nothing is ever executed.
"""

from __future__ import annotations

import ast
import linecache
import threading
from collections.abc import Container
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate

from autodiff_lab.events import Place

LONGEST_TARGET = 30
_MAKERS = frozenset({
    "constant", "convert_to_tensor", "eye", "fill", "linspace", "normal", "ones", "ones_like", "range",
    "stateless_normal", "stateless_uniform", "uniform", "zeros", "zeros_like",
})  # fmt: skip
"""Functions whose result is a tensor that no op made."""
_COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
_CONTAINERS = (*_COMPREHENSIONS, ast.Dict, ast.List, ast.Set, ast.Tuple)
_LOOPING = frozenset({"accumulate", "map", "prod", "reduce", "sum"})
"""Functions of Python that apply an operator to what they are given, one after the other."""


@dataclass(frozen=True)
class Statement:
    """An assignment: the names on its left, the expression on its right."""

    targets: tuple[str, ...]
    value: ast.expr
    extra: int = 0
    """1 for ``y += x``, an operation that its right side does not show."""

    @cached_property
    def is_call(self) -> bool:
        """Whether the right side is one call, such as ``tape.gradient(...)`` or ``lab.constant(...)``."""
        return isinstance(self.value, ast.Call)

    @property
    def makes_leaf(self) -> bool:
        """Whether a tensor that no op made is what the call returns: not in ``y = f(lab.constant(3.0))``."""
        if not isinstance(self.value, ast.Call):
            return False
        inner = (node for node in ast.walk(self.value) if isinstance(node, ast.Call) and node is not self.value)
        return _called(self.value) in _MAKERS or not any(_called(call) in _MAKERS for call in inner)

    @cached_property
    def makes_container(self) -> bool:
        """Whether the right side is a list, a dict or the like, so that no op in it made what the name stands for."""
        return isinstance(self.value, _CONTAINERS)

    @cached_property
    def loops_inside(self) -> bool:
        """Whether the right side runs operations again and again, as ``sum(parts)`` and ``[f(x) for x in xs]`` do."""
        return any(
            isinstance(node, _COMPREHENSIONS) or (isinstance(node, ast.Call) and _called(node) in _LOOPING)
            for node in ast.walk(self.value)
        )

    def count_ops(self, known: Container[str]) -> int:
        """Count the operations in the statement: operators, and calls of functions named like an op."""
        return _count(self.value, known) + self.extra

    def lasts(self, known: Container[str], ran: int) -> list[int]:
        """Return the last op of each part of ``a, b = x * x, sin(x)``, by position; empty if uncertain."""
        if not isinstance(self.value, (ast.Tuple, ast.List)):
            return []
        counts = [_count(part, known) for part in self.value.elts]
        return [end - 1 for end in accumulate(counts)] if 0 not in counts and sum(counts) == ran else []


def _count(tree: ast.AST, known: Container[str]) -> int:
    return sum(_is_op(node, known) for node in ast.walk(tree))


def _called(call: ast.Call) -> str:
    """Return the last part of the name of the function that is called, empty if it has none."""
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _is_op(node: ast.AST, known: Container[str]) -> bool:
    if isinstance(node, ast.Call):
        return _called(node) in known
    return isinstance(node, (ast.BinOp, ast.Compare)) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant)
    )


@dataclass(frozen=True)
class _File:
    """What is known of one source file: assignments by line, the names that loops assign, and blocks.

    A block is a loop or a function: the line where it begins, and its last one.
    """

    assignments: dict[int, tuple[Statement, ...]]
    loop_names: frozenset[str]
    blocks: tuple[tuple[int, int], ...] = ()


class Statements:
    """The assignments of the files that a recording reached, read on demand."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}

    def at(self, place: Place | None) -> Statement | None:
        """Return the assignment whose lines include a place, None if there is none, or more than one."""
        found = self.all_at(place)
        return found[0] if len(found) == 1 else None

    def all_at(self, place: Place | None) -> tuple[Statement, ...]:
        """Return the assignments whose lines include a place, in order: ``a = x + 1; b = a * 2`` are two."""
        return () if place is None else self._file(place[0]).assignments.get(place[1], ())

    def loop_names(self, name: str) -> frozenset[str]:
        """Return the variables of the loops in a file."""
        return self._file(name).loop_names

    def headers(self, place: Place) -> list[Place]:
        """Return the first lines of the loops and functions around a place, in order of lines."""
        name, line = place
        return [(name, first) for first, last in self._file(name).blocks if first < line <= last]

    def _file(self, name: str) -> _File:
        if name not in self._files:
            self._files[name] = _File({}, frozenset())
            with suppress(SyntaxError):
                self._files[name] = _read("".join(linecache.getlines(name)))
        return self._files[name]


_parsing = threading.Lock()


def parsed(source: str) -> ast.Module | None:
    """Return the syntax tree of a source, None if it cannot be parsed.

    One at a time: up to Python 3.12 the parser counts its depth for the whole process, and two threads that parse at
    once make each other fail with a `SystemError`.

    Examples
    --------
    >>> parsed("y = x * x").body[0].targets[0].id
    'y'
    >>> parsed("y = = x") is None
    True
    """
    with _parsing:
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError, SystemError):
            return None


@lru_cache(maxsize=32)  # one recording after the other comes from the same files
def _read(source: str) -> _File:
    tree = parsed(source)
    if tree is None:
        raise SyntaxError
    found: dict[int, list[tuple[int, int, Statement]]] = {}
    others: list[tuple[int, int, Statement]] = []
    loops: set[str] = set()
    blocks: list[tuple[int, int]] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef)):
            blocks.append((node.lineno, node.end_lineno or node.lineno))
        statement = _assignment(node)
        if statement is not None and isinstance(node, ast.stmt):
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                found.setdefault(line, []).append((node.lineno, node.col_offset, statement))
        elif isinstance(node, (ast.Expr, ast.Return)) and node.value is not None:
            others.append((node.lineno, node.col_offset, Statement((), node.value)))
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            loops.update(part.id for part in ast.walk(node.target) if isinstance(part, ast.Name))
    for other in others:  # what runs beside an assignment does not get its name
        if other[0] in found:
            found[other[0]].append(other)
    assignments = {line: tuple(one for *_, one in sorted(all_, key=_start)) for line, all_ in found.items()}
    return _File(assignments, frozenset(loops), tuple(sorted(blocks)))


def _start(found: tuple[int, int, Statement]) -> tuple[int, int]:
    return found[:2]


def _assignment(node: ast.AST) -> Statement | None:
    if isinstance(node, ast.Assign):
        return Statement(_targets(node.targets[0]), node.value)
    if isinstance(node, ast.AugAssign):
        return Statement(_targets(node.target), node.value, extra=1)
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return Statement(_targets(node.target), node.value)
    return None


def _targets(target: ast.expr) -> tuple[str, ...]:
    """Return the names of a target; none if one of them is starred, or a subscript that changes between runs."""
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    names: list[str] = []
    for part in parts:
        fixed = isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Constant)
        if not fixed and not isinstance(part, (ast.Name, ast.Attribute)):
            return ()
        name = ast.unparse(part)
        names.append(name if len(name) <= LONGEST_TARGET and not name.startswith("_") else "")
    return tuple(names)
