"""Functions in a subset of Python, written as instructions of LLVM.

The subset is what loops of this package are made of: numbers, arrays with their rows in order, ``for`` over ranges,
``while``, ``if``, and calls of functions that `deferred` marks, which are written out where they are called.  Dtypes
follow Numba's rules, so that one text means the same to both; what is not in the subset is left to Numba (see
`Untranslatable`).
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from autodiff_lab.kernels.base import deferred
from autodiff_lab.kernels.lowering.calls import call
from autodiff_lab.kernels.lowering.expressions import builtin
from autodiff_lab.kernels.lowering.kinds import (
    BYTES,
    INT32,
    INT64,
    LINE,
    LONG,
    VOID,
    Untranslatable,
    declared,
    in_memory,
)
from autodiff_lab.kernels.lowering.sites import Site
from autodiff_lab.kernels.lowering.sources import source_of
from autodiff_lab.kernels.lowering.statements import RESULT, Frame, Statements
from autodiff_lab.kernels.lowering.turns import Turns
from autodiff_lab.kernels.lowering.values import Array, long, number

_OPERATORS = {operator.add: ast.Add(), operator.sub: ast.Sub(), operator.mul: ast.Mult(), operator.truediv: ast.Div()}


class Translator(Statements):
    """Writes calls of functions at the place of a builder; what it takes is that of `Statements`."""

    def __init__(
        self, builder: Any, wide: dict[Any, np.dtype[Any]], *, wraps: bool, turns: Turns | None = None
    ) -> None:
        super().__init__(builder, wide, wraps=wraps, turns=turns)
        self.rooms: list[Any] = []
        self.short: Any = None

    def write(self, function: Callable[..., Any], args: Sequence[Any], flags: Sequence[str] = ()) -> Any:
        """Write out a call of a function; return its result."""
        source = source_of(function)
        count = len(source.parameters)
        if len(args) < count or (len(args) > count and not source.rest):
            raise Untranslatable(f"{len(args)} arguments of {source.name}")
        *early, last = source.body
        simple = bool(self.frames) and isinstance(last, ast.Return) and not any(map(_returns, early))
        frame = Frame(source, None if simple else self.b.append_basic_block())
        self.frames.append(frame)
        kept, self.a.flags = self.a.flags, tuple(flags)
        for name, value in zip(source.parameters, args[:count], strict=True):
            self.assign(name, value)
        if source.rest:
            self.assign(source.rest, tuple(args[count:]))
        result = self._straight(early, last) if simple else self._left(frame, source.body)
        self.a.flags = kept
        self.frames.pop()
        return result

    def _straight(self, early: list[ast.stmt], last: Any) -> Any:
        self.statements(early)
        return self.value(last.value) if last.value else None

    def _left(self, frame: Frame, body: list[ast.stmt]) -> Any:
        """Write a body with returns anywhere, which lead to one place."""
        self.statements(body)
        if not self.b.block.is_terminated:
            self.b.branch(frame.leave)
        self.b.position_at_end(frame.leave)
        return self.read(frame.kept[RESULT]) if RESULT in frame.kept else None

    def called(self, node: ast.Call) -> Any:
        """Write a call in an expression; return its result."""
        function = self.value(node.func)
        if node.keywords:
            raise Untranslatable(f"the arguments of {ast.unparse(node)}")
        args: list[Any] = []
        for one in node.args:
            args += self.value(one.value) if isinstance(one, ast.Starred) else [self.value(one)]
        if function is np.empty:
            return self._room(*args)
        if function is deferred.unordered:
            return call(self.a, range, args)._replace(independent=True)
        if isinstance(function, type) or not callable(function):
            return call(self.a, function, args)
        if function in _OPERATORS:
            return self.binary(_OPERATORS[function], *args)
        written = deferred.INTRINSICS.get(function)
        if written is not None:
            return Site(self.a, self.alloca, written, args).write()
        return self._of_ours(function, args)

    def _of_ours(self, function: Callable[..., Any], args: list[Any]) -> Any:
        chosen = deferred.OVERLOADS.get(function)
        if chosen is not None:
            choose, options = chosen
            function = choose(*(number(one).dtype for one in args))
            options = {**options, **deferred.MARKED.get(function, {})}
        elif function in deferred.MARKED:
            options = deferred.MARKED[function]
        else:
            return call(self.a, function, args)
        return self.write(function, args, options.get("fastmath", ()))

    def _room(self, size: Any, dtype: Any) -> Array:
        """Allocate an array, which the caller of all this frees; without memory the outermost function returns."""
        b, dtype, length = self.b, np.dtype(dtype), self.a.cast(number(size), LONG).value
        if any(frame.loops for frame in self.frames):
            raise Untranslatable("an array that is allocated in a loop")
        room = self.alloca(BYTES)
        with b.goto_entry_block():
            b.store(BYTES(None), room)
        self.rooms.append(room)
        if self.short is None:
            self.short = self.alloca(INT32)
            with b.goto_entry_block():
                b.store(INT32(0), self.short)
        size = b.add(b.mul(length, long(dtype.itemsize)), long(LINE))
        made = b.call(declared(b.module, "PyMem_RawMalloc", BYTES, [INT64]), [size])
        b.store(made, room)
        enough, none = b.append_basic_block(), b.append_basic_block()
        b.cbranch(b.icmp_unsigned("==", made, BYTES(None)), none, enough)
        b.position_at_end(none)
        b.store(INT32(1), self.short)
        b.branch(self.frames[0].leave)
        b.position_at_end(enough)
        begin = b.and_(b.add(b.ptrtoint(made, INT64), long(LINE - 1)), long(-LINE))
        return Array(dtype, b.inttoptr(begin, in_memory(dtype).as_pointer()), (length,))

    def free(self) -> None:
        """Free what was allocated."""
        for room in self.rooms:
            self.b.call(declared(self.b.module, "PyMem_RawFree", VOID, [BYTES]), [self.b.load(room)])

    def named(self, name: str) -> Any:
        """Return the value of a name: a variable, or what the function finds around it."""
        frame = self.frames[-1]
        if name in frame.known:
            return frame.known[name]
        if name in frame.kept:
            return self.read(frame.kept[name])
        scope = frame.source.scope
        found = scope[name] if name in scope else builtin(name)
        return self._table(found) if isinstance(found, np.ndarray) else found

    def _table(self, array: np.ndarray[Any, Any]) -> Array:
        """Return an array whose numbers are constants."""
        module, kind = self.b.module, in_memory(array.dtype)
        numbers = ir.Constant(ir.ArrayType(kind, array.size), [kind(one) for one in array.ravel().tolist()])
        table = ir.GlobalVariable(module, numbers.type, module.get_unique_name("table"))
        table.linkage, table.global_constant = "internal", True
        table.initializer = numbers  # type: ignore[assignment]  # pyright: ignore[reportAttributeAccessIssue]
        return Array(array.dtype, self.b.gep(table, [INT64(0), INT64(0)]), tuple(map(long, array.shape)))


def _returns(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Return) for one in ast.walk(node))
