"""How to refer to a value in a sentence: by its name, as a number, or by the user's own code for it.

A ``%7`` means something only beside a printed recording; in a sentence ``sum(v * v)`` says more, and so does "the
result of matmul" where the formula is too long.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache

from autodiff_lab.events import Place
from autodiff_lab.recording.model import Application
from autodiff_lab.recording.names import one_line, short_name
from autodiff_lab.recording.numbers import dimensions, short
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.statements import parsed

OPERATORS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "pow": "**", "matmul": "@", "greater": ">",
    "less": "<", "greater_equal": ">=", "less_equal": "<=", "equal": "==", "not_equal": "!=",
}  # fmt: skip
NODES: dict[str, type[ast.AST]] = {
    "add": ast.Add, "subtract": ast.Sub, "multiply": ast.Mult, "divide": ast.Div, "pow": ast.Pow, "matmul": ast.MatMult,
}  # fmt: skip
PRECEDENCE = {**dict.fromkeys((">", "<", ">=", "<=", "==", "!="), 1), "+": 2, "-": 2, "*": 3, "/": 3, "@": 3, "**": 4}
LONGEST = 30
WIDEST = 100
DEEPEST = 6


def spoken(recording: Recording, tensor: int) -> str:
    """Return a value as part of a sentence: its name, its number, a short formula, or else which op made it.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> v = lab.constant([1.0, 2.0], name="v")
    >>> with lab.record() as recording:
    ...     n = lab.sqrt(lab.reduce_sum(v * v))
    >>> spoken(recording, recording.applications[1].outputs[0])
    'sum(v * v)'
    """
    known = formula(recording, tensor)
    if known is not None:
        return known
    place = recording.tensors[tensor].place if recording.tensors[tensor].application is not None else None
    return in_words(recording, tensor) + (f" on line {place[1]}" if place else "")


def formula(recording: Recording, tensor: int) -> str | None:
    """Return a value's name, its number, or a short formula for it; None if there is none of `LONGEST` characters."""
    words = _formula(recording, tensor, DEEPEST)
    return words if words is not None and len(words) <= LONGEST else None


def own_name(recording: Recording, tensor: int) -> str:
    """Return the user's name of a value on one line; empty if it has none, or a blank one."""
    return short_name(recording.tensors[tensor].name or "")


def in_words(recording: Recording, tensor: int) -> str:
    """Return what a value without a name or a short formula is called: the op that made it, or its kind.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> with lab.record() as recording:
    ...     n = lab.reduce_logsumexp(lab.constant([[1.0, 2.0]]))
    >>> [in_words(recording, tensor) for tensor in recording.tensors]
    ['an array of shape [1×2]', 'the result of logsumexp']
    """
    record = recording.tensors[tensor]
    if record.application is None:
        shape = dimensions(record.snapshot.shape)
        if record.kind == "variable":
            return "the unnamed variable" + (f" of shape {shape}" if shape else "")
        return f"an array of shape {shape}" if shape else "a number"
    made = recording.applications[record.application]
    which = "the result" if len(made.outputs) == 1 else f"result {made.outputs.index(tensor) + 1}"
    return f"{which} of {made.op.replace('_', ' ')}"


def named_at(name: str, index: tuple[int, ...] | None) -> str:
    """Return an element of a value.

    Examples
    --------
    >>> named_at("x", (0, 2)), named_at("the result of norm on line 7", (1,))
    ('x[0, 2]', 'element [1] of the result of norm on line 7')
    """
    if not index:
        return name
    at = f"[{', '.join(map(str, index))}]"
    if parsed(name) is None:
        return f"element {at} of {name}"
    return f"({name}){at}" if " " in name and not name.endswith(")") else name + at


def in_code(name: str) -> str:
    """Return a name as it may stand in a line of code; an ellipsis for a value that the program has no name for.

    Examples
    --------
    >>> in_code("w"), in_code("weights[0]"), in_code("dense/kernel"), in_code("the source")
    ('w', 'weights[0]', '...', '...')
    """
    tree = parsed(name)
    node = getattr(tree.body[0], "value", None) if tree is not None and len(tree.body) == 1 else None
    return name if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) else "..."


def acting_as(recording: Recording, application: Application) -> str:
    """Return the op of autodiff_lab that an application behaves as: its own, or the one that a foreign op is like."""
    info = recording.ops.get(application.op)
    return info.like or application.op if info is not None else application.op


def located(recording: Recording, place: Place | None) -> str:
    """Return a place in words, with the user's source line; a very long line is cut off."""
    line = recording.line(place)
    line = line if len(line) <= WIDEST else f"{line[: WIDEST - 1]}‥"
    return one_line(recording.where(place) + (f": {line}" if line else ""))


def literal(recording: Recording, tensor: int) -> str | None:
    """Return the number of an unnamed scalar constant as it is written in code; None for anything else."""
    record = recording.tensors[tensor]
    value = record.snapshot
    if record.name or record.application is not None or record.variable or value.size != 1 or value.array is None:
        return None
    number = short(value.array)
    return f"{number}.0" if value.dtype.startswith("float") and number.lstrip("-").isdigit() else number


def _formula(recording: Recording, tensor: int, depth: int) -> str | None:
    record = recording.tensors[tensor]
    if name := own_name(recording, tensor):
        return name
    if record.application is None:
        return literal(recording, tensor)
    made = recording.applications[record.application]
    if depth == 0 or len(made.outputs) != 1:
        return None
    parts: list[str] = []
    for t in made.inputs:
        part = _formula(recording, t, depth - 1)
        if part is None or len(part) > LONGEST:  # nor is the whole known, or short enough
            return None
        parts.append(part)
    acts_as = acting_as(recording, made)
    return applied(acts_as if acts_as in OPERATORS else made.op, parts)


def applied(op: str, parts: list[str], shown: Iterable[str] | None = None) -> str:
    """Return an op on its inputs as a formula; a call lists the inputs of `shown` only, if it is given.

    Examples
    --------
    >>> applied("multiply", ["x", "a + b"]), applied("subtract", ["a * b", "a - b"]), applied("sin", ["x"])
    ('x * (a + b)', 'a * b - (a - b)', 'sin(x)')
    """
    sign = OPERATORS.get(op)
    if sign is None or len(parts) != 2:
        return f"{op}({', '.join(parts if shown is None else shown)})"
    (left, right), binding = parts, PRECEDENCE[sign]
    from_the_right = sign == "**"
    if _binding(left) < binding + from_the_right:
        left = f"({left})"
    if _binding(right) < binding + (not from_the_right):
        right = f"({right})"
    return f"{left} {sign} {right}"


def _binding(words: str) -> int:
    """Return the precedence of the loosest operator of a formula that stands in no brackets."""
    depth, bare = 0, ""
    for letter in words:
        depth -= letter in ")]}"
        bare += letter if not depth else ""
        depth += letter in "([{"
    signed = [PRECEDENCE["*"]] if words.startswith("-") else []
    return min((*signed, *(PRECEDENCE.get(word, 0) for word in bare.split()[1::2])), default=len(PRECEDENCE))


def argument(recording: Recording, application: Application, position: int) -> str | None:
    """Return the user's own code for an input of an op, read from its line; None unless the line has exactly one."""
    info = recording.ops.get(application.op)
    calls = (application.op, *(info.calls if info is not None else ()))
    return _argument(recording.line(application.place), acting_as(recording, application), calls, position)


@cache
def _argument(line: str, op: str, calls: tuple[str, ...], position: int) -> str | None:
    tree = parsed(line)
    if tree is None:
        return None
    found: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and op in NODES and isinstance(node.op, NODES[op]):
            found.append((node.left, node.right)[position])
        elif isinstance(node, ast.Call) and called(node) in calls:
            found += given(node)[position : position + 1]
    return ast.unparse(found[0]) if len(found) == 1 else None


def given(node: ast.Call) -> list[ast.expr]:
    """Return the operands of a call in order; ``x.sqrt()`` has the tensor in front, ``lab.sqrt(x)`` a module."""
    whole = isinstance(node.func, ast.Attribute) and not node.args
    return [node.func.value] if whole and isinstance(node.func, ast.Attribute) else node.args


def called(node: ast.Call) -> str:
    """Return the name that a call calls a function by."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
