"""Loops whose iterations are independent, so that LLVM need not ask which arrays overlap before it vectorizes them.

LLVM compares every array that a loop writes with every other one, each time before the loop begins, and leaves a loop
of more than some hundred pairs as it is.  A fused loop writes into new arrays, element by element, so that no turn
writes what another one touches.  LLVM takes that from metadata: the accesses to memory are in a group, and the loop
says that those of the group are parallel (LLVM's language reference, ``llvm.loop.parallel_accesses``).
"""

from __future__ import annotations

import ast
import re
from typing import Any

from llvmlite import ir

_LOOP, _GROUP = "a loop", "a group"
_NODE = re.compile(rf"^(!\d+) = !{{ !\"(?:{_LOOP}|{_GROUP})\", i64 \d+(?:, (!\d+))? }}$", re.MULTILINE)


class Turns:
    """Metadata of the independent loops of a module."""

    def __init__(self, module: Any) -> None:
        self.group = module.add_metadata([_GROUP, ir.IntType(64)(0)])
        self._module, self._count = module, 0
        self._parallel = module.add_metadata(["llvm.loop.parallel_accesses", self.group])

    def mark(self, branch: Any) -> None:
        """Mark the branch back to the head of a loop."""
        self._count += 1
        loop = self._module.add_metadata([_LOOP, ir.IntType(64)(self._count), self._parallel])
        branch.set_metadata("llvm.loop", loop)


def with_distinct_nodes(text: str) -> str:
    """Return a module's text in which nodes of loops and groups are distinct, and those of loops name themselves."""
    return _NODE.sub(
        lambda found: (
            f"{found[1]} = distinct !{{{found[1]}, {found[2]}}}" if found[2] else f"{found[1]} = distinct !{{}}"
        ),
        text,
    )


def is_innermost(node: ast.For) -> bool:
    """Return whether a loop holds no other one."""
    return not any(isinstance(one, (ast.For, ast.While)) for inner in node.body for one in ast.walk(inner))
