"""A plugin of pytest that holds loops to what they promise with ``wraparound=False``: the process ends where one lies.

Without it a negative index, or a slice that reaches beyond its array, would read other memory and say nothing.
"""

from __future__ import annotations

import ast
from typing import Any

from llvmlite import ir

from autodiff_lab.kernels.lowering.expressions import Expressions
from autodiff_lab.kernels.lowering.kinds import VOID
from autodiff_lab.kernels.lowering.values import long

_index, _ends = Expressions._index, Expressions._ends
_inside = {"slice": False}


def _needs(writer: Expressions, condition: Any) -> None:
    """Write an end of the process where a condition does not hold."""
    b = writer.b
    broken, on = b.append_basic_block(), b.append_basic_block()
    b.cbranch(condition, on, broken)
    b.position_at_end(broken)
    abort = b.module.globals.get("abort") or ir.Function(b.module, ir.FunctionType(VOID, []), "abort")
    b.call(abort, [])
    b.branch(on)
    b.position_at_end(on)


def _checked_index(self: Expressions, node: ast.expr, length: Any) -> Any:
    at = _index(self, node, length)
    if not self.wraps and not _inside["slice"] and not isinstance(at, ir.Constant):
        _needs(self, self.b.icmp_signed(">=", at, long(0)))
    return at


def _checked_ends(self: Expressions, node: ast.Slice, length: Any) -> tuple[Any, Any]:
    _inside["slice"] = True
    start, size = _ends(self, node, length)
    _inside["slice"] = False
    if not self.wraps:
        b = self.b
        positive = b.and_(b.icmp_signed(">=", start, long(0)), b.icmp_signed(">=", size, long(0)))
        _needs(self, b.and_(positive, b.icmp_signed("<=", b.add(start, size), length)))
    return start, size


def pytest_configure() -> None:
    """Check from now on, in this process."""
    Expressions._index, Expressions._ends = _checked_index, _checked_ends  # type: ignore[method-assign]
