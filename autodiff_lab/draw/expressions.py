"""Expressions: what an elementwise op computes for one element, as a tree that a page turns into a function.

A tree is ``[operator, *operands]``; an operand is a tree, the position of an input, or the name of a constant.
`widgets/running/expressions.js` reads them; the two change together.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import Any

from autodiff_lab.engine.op import REGISTRY

EXPRESSIONS = {
    **{name: f"{name}({{0}})" for name in ("asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh")},
    **{name: f"{name}({{0}})" for name in ("lgamma", "digamma")},
    **{name: f"bit_{name[8:]}({{0}}, {{1}})" for name in ("bitwise_and", "bitwise_or", "bitwise_xor")},
    **dict.fromkeys(("floordiv", "floor_quotient"), "floor_quotient({0}, {1})"),
    **dict.fromkeys(("truncatediv", "truncated_quotient"), "trunc({0} / {1})"),
    "atan2": "atan2({0}, {1})",
    "floormod": "floor_mod({0}, {1})",
    "truncatemod": "remainder({0}, {1})",
    "invert": "choose({0} < zero, -{0} - one, -{0} - one)",
}
"""Formulas of one element for ops that are never fused, or whose kernels are not such a formula."""
WITHOUT_TWINS = frozenset({
    "broadcast_to", "erfinv", "erfcinv", "ndtri", "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_iv",
    "bessel_ive",
})  # fmt: skip
"""Ops whose expressions call what a page has no function for; `broadcast_to` has a twin of its own."""
_OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.BitAnd: "&", ast.BitOr: "|", ast.Lt: "<",
    ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.USub: "neg", ast.Not: "not",
}  # fmt: skip
_INPUT = re.compile(r"\{(\d+)\}")


def expression(name: str, params: dict[str, Any] | None) -> list[Any] | None:
    """Return what an op computes for one element as a tree, or None if it is not elementwise.

    Examples
    --------
    >>> expression("softplus", None), expression("leaky_relu", {"alpha": 0.5})[0]
    (['softplus', 0], 'choose')
    """
    op = REGISTRY.get(name)
    if op is None or name in WITHOUT_TWINS:
        return None
    text = EXPRESSIONS.get(name) or op.expression
    if callable(text):
        try:
            text = text((None,) * (op.arity or 8), **(params or {}))
        except Exception:  # noqa: BLE001 - a user's function; the op then has no twin
            return None
    return tree(text) if text else None


@lru_cache(maxsize=4096)
def tree(text: str) -> Any:
    """Return the tree of a formula, or None if it is not one.

    Examples
    --------
    >>> tree("exp({0}) * {1}")
    ['*', ['exp', 0], 1]
    """
    try:
        found = _node(ast.parse(_INPUT.sub(r"x\1", text), mode="eval").body)
    except (SyntaxError, KeyError, ValueError):
        return None
    return found if isinstance(found, list) else ["+", found, ["number", 0]] if found is None else ["same", found]


def _node(node: ast.expr) -> Any:
    if isinstance(node, ast.Name):
        return int(node.id[1:]) if re.fullmatch(r"x\d+", node.id) else node.id
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id == "number":
            return ["number", ast.literal_eval(node.args[0])]
        return [node.func.id, *map(_node, node.args)]
    if isinstance(node, ast.BinOp):
        return [_OPERATORS[type(node.op)], _node(node.left), _node(node.right)]
    if isinstance(node, ast.UnaryOp):
        return [_OPERATORS[type(node.op)], _node(node.operand)]
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return [_OPERATORS[type(node.ops[0])], _node(node.left), _node(node.comparators[0])]
    raise ValueError(ast.dump(node))
