"""The syntax trees of functions, found by the line on which they begin."""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from autodiff_lab.kernels.lowering.kinds import Untranslatable


class Source(NamedTuple):
    """A function to be translated: its parameters, its statements, what its names mean, and its variables.

    `rest` is the parameter that takes all further arguments; `local` are the variables that need no memory: wherever
    one is read, its value is that of the assignment before it in the text.
    """

    name: str
    parameters: list[str]
    rest: str | None
    body: list[ast.stmt]
    scope: dict[str, Any]
    local: frozenset[str]


@functools.lru_cache(maxsize=1024)
def source_of(function: Callable[..., Any]) -> Source:
    """Return the source of a function.

    Raises
    ------
    Untranslatable
        If its text is not there, or several functions begin on its line.
    """
    code = function.__code__
    linecache.checkcache(code.co_filename)
    found = _functions("".join(linecache.getlines(code.co_filename))).get(code.co_firstlineno, [])
    found = [node for node in found if getattr(node, "name", "<lambda>") == code.co_name]
    if len(found) != 1:
        raise Untranslatable(f"{function.__qualname__}, whose text is not found")
    node = found[0]
    given = node.args
    if given.kwarg or given.kwonlyargs or given.defaults:
        raise Untranslatable(f"the parameters of {function.__qualname__}")
    body: list[ast.stmt] = [ast.Return(node.body)] if isinstance(node, ast.Lambda) else node.body
    cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
    scope = {**function.__globals__, **{name: cell.cell_contents for name, cell in cells}}
    parameters = [one.arg for one in (*given.posonlyargs, *given.args)]
    rest = given.vararg.arg if given.vararg else None
    local = _local(body, [*parameters, *([rest] if rest else [])])
    return Source(function.__qualname__, parameters, rest, body, scope, local)


@functools.lru_cache(maxsize=256)
def _functions(text: str) -> dict[int, list[Any]]:
    """Return the functions of a text by their first lines, those of decorators included; none if it is not Python."""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # a document whose examples run, say
        return {}
    made: dict[int, list[Any]] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
            made.setdefault(first, []).append(node)
    return made


class _Event(NamedTuple):
    """A variable is read, or assigned: in which blocks, which of these are loops, and where what is read comes from."""

    name: str
    assigns: bool
    path: tuple[int, ...]
    loops: tuple[int, ...]
    path_of_value: tuple[int, ...] = ()


class _Events(ast.NodeVisitor):
    """Lists what happens to variables, in the order of the text."""

    def __init__(self, parameters: list[str]) -> None:
        self.found = [_Event(name, True, (), ()) for name in parameters]
        self._path: tuple[int, ...] = ()
        self._loops: tuple[int, ...] = ()
        self._blocks = 0

    def visit_Name(self, node: ast.Name) -> None:
        self.found.append(_Event(node.id, isinstance(node.ctx, ast.Store), self._path, self._loops))

    def visit_Assign(self, node: ast.Assign) -> None:
        for one in (node.value, *node.targets):
            self.visit(one)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        if isinstance(node.target, ast.Name):
            self.visit(ast.Name(node.target.id, ast.Load()))
        self.visit(node.target)

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        self._block(node.body)
        self._block(node.orelse)

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self._block([node.target, *node.body], is_loop=True)

    def visit_While(self, node: ast.While) -> None:
        self._block([node.test, *node.body], is_loop=True)

    def _block(self, nodes: Sequence[ast.AST], *, is_loop: bool = False) -> None:
        self._blocks += 1
        kept = self._path, self._loops
        self._path += (self._blocks,)
        self._loops += (self._blocks,) if is_loop else ()
        for node in nodes:
            self.visit(node)
        self._path, self._loops = kept


def _local(body: list[ast.stmt], parameters: list[str]) -> frozenset[str]:
    """Return the variables whose value, wherever they are read, is that of the assignment before it in the text."""
    events = _Events(parameters)
    for statement in body:
        events.visit(statement)
    last: dict[str, _Event] = {}
    strayed: set[str] = set()
    read: dict[str, list[_Event]] = {}
    for event in events.found:
        if event.assigns:
            last[event.name] = event
            for before in read.get(event.name, []):  # a loop in which both stand brings the new value back there
                if set(event.loops) & set(before.loops) - set(before.path_of_value):
                    strayed.add(event.name)
        elif event.name in last:
            value = last[event.name]
            if event.path[: len(value.path)] != value.path:
                strayed.add(event.name)
            read.setdefault(event.name, []).append(event._replace(path_of_value=value.path))
    return frozenset(last.keys() - strayed)
