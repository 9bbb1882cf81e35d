"""Safe lines of code in place of an op that made nan or infinity, or whose derivative is infinite.

A rewrite keeps every value that was finite and has finite gradients. It is written with the user's own expressions: the
node of the op in its line is found and replaced, so that the lines run as they are. Where the op is inside a function
such as `norm`, its input is written out from the recording.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from autodiff_lab.explain.expressions import NODES, OPERATORS, acting_as, called, given, in_code
from autodiff_lab.recording.model import Application
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.snapshot import Snapshot
from autodiff_lab.recording.statements import parsed

Lines = tuple[str, ...]
INSIDE = {"sqrt": ("norm", "euclidean_norm", "reduce_euclidean_norm", "reduce_std")}
"""Functions whose last op this is: a guard of the op takes their place."""
POSITIVE, NOT_ZERO, INSIDE_ONE = "{x} > 0.0", "lab.not_equal({x}, 0.0)", "lab.abs({x}) < 1.0"
GUARDS = {
    "sqrt": (POSITIVE, "1.0", "0.0"),
    "rsqrt": (POSITIVE, "1.0", "0.0"),
    "divide": (NOT_ZERO, "1.0", "0.0"),
    "reciprocal": (NOT_ZERO, "1.0", "0.0"),
    "log1p": ("{x} > -1.0", "0.0", "0.0"),
    "acos": (INSIDE_ONE, "0.0", "lab.stop_gradient(lab.acos(lab.clip_by_value({x}, -1.0, 1.0)))"),
    "asin": (INSIDE_ONE, "0.0", "lab.stop_gradient(lab.asin(lab.clip_by_value({x}, -1.0, 1.0)))"),
    "atanh": (INSIDE_ONE, "0.0", "0.0"),
    "acosh": ("{x} > 1.0", "2.0", "0.0"),
}
"""For an op: when its input is harmless, an input that is, and what stands for its result elsewhere."""
LARGEST = {"float16": "11.0", "float64": "709.0"}
"""Where exp still has a value; 88.0 for the other dtypes."""
IN_MATH = {name: f"lab.math.{name}" for name in ("log", "log1p", "rsqrt", "reciprocal", "expm1")}
_PREFIX = {"negative": "-{0}", "identity": "{0}"}
_REDUCTIONS = {"sum": "reduce_sum", "mean": "reduce_mean", "max": "reduce_max", "min": "reduce_min"}
_PLAIN = ("square", "abs", "exp", "sqrt", "sin", "cos", "tanh", "maximum", "minimum")


def tiny(dtype: str) -> str:
    """Return a number that keeps values away from 0: float16 has nothing between 0 and 6e-8.

    Examples
    --------
    >>> tiny("float32"), tiny("float16")
    ('1e-12', '1e-6')
    """
    return "1e-6" if dtype == "float16" else "1e-12"


def node_of(recording: Recording, application: Application) -> ast.expr | None:
    """Return the part of the user's line that is this application, None if that is not certain.

    A line may have several: they run from the inside to the outside and from left to right, as often as the line does.
    """
    tree = parsed(recording.line(application.place))
    if tree is None:
        return None
    acts_as = acting_as(recording, application)
    info = recording.ops.get(application.op)
    calls = {application.op, *(info.calls if info is not None else ()), *INSIDE.get(acts_as, ())}
    nodes = [n for n in _inner_first(tree) if isinstance(n, ast.expr) and _is_one(n, acts_as, calls)]
    ran = [a.index for a in recording.forward if a.place == application.place and a.op == application.op]
    if not nodes or application.index not in ran or len(ran) % len(nodes):
        return None
    return nodes[ran.index(application.index) % len(nodes)]


def _inner_first(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield from _inner_first(child)
    yield node


def _is_one(node: ast.expr, op: str, calls: set[str]) -> bool:
    if isinstance(node, ast.BinOp):
        return op in NODES and isinstance(node.op, NODES[op])
    return isinstance(node, ast.Call) and called(node) in calls


def input_code(recording: Recording, application: Application, position: int) -> str | None:
    """Return code for an input of an op, the user's own if it can be found, None if nothing would run."""
    node = node_of(recording, application)
    if isinstance(node, ast.BinOp):
        return ast.unparse((node.left, node.right)[position])
    whole = isinstance(node, ast.Call) and called(node) in INSIDE.get(acting_as(recording, application), ())
    if isinstance(node, ast.Call) and not whole:
        parts = given(node)
        if position < len(parts) and not any(isinstance(part, ast.Starred) for part in parts):
            return ast.unparse(parts[position])
    return None if recording.framework else written_out(recording, application.inputs[position])


def written_out(recording: Recording, tensor: int, depth: int = 6) -> str | None:
    """Return a value as an expression of named values, with every op written as a call; None if it has no such form.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> v = lab.constant([1.0, 2.0], name="v")
    >>> with lab.record() as recording:
    ...     n = lab.norm(v)
    >>> written_out(recording, recording.forward[-1].inputs[0])
    'lab.reduce_sum(lab.square(v), axis=-1)'
    """
    record = recording.tensors[tensor]
    if record.name:
        code = in_code(recording.name_of(tensor))
        return None if code == "..." else code
    if record.application is None:
        value = record.snapshot
        number = None if value.array is None or value.size != 1 or record.variable else value.array.item()
        return repr(number) if isinstance(number, float | int) and np.isfinite(number) else None
    made = recording.applications[record.application]
    parts = [written_out(recording, t, depth - 1) for t in made.inputs] if depth else [None]
    if len(made.outputs) != 1 or None in parts:
        return None
    return _written([part for part in parts if part is not None], made)


def _written(parts: list[str], made: Application) -> str | None:
    params = made.params or {}
    if made.op in _REDUCTIONS:
        axes = params.get("axes")
        more = "" if axes is None else f", axis={axes[0] if len(axes) == 1 else list(axes)}"
        return f"lab.{_REDUCTIONS[made.op]}({parts[0]}{more}{', keepdims=True' if params.get('keepdims') else ''})"
    if params:
        return None
    sides = [f"({part})" if " " in part else part for part in parts]
    if made.op in OPERATORS and len(parts) == 2:
        return f"{sides[0]} {OPERATORS[made.op]} {sides[1]}"
    if made.op in _PREFIX:
        return _PREFIX[made.op].format(*sides)
    return f"lab.{made.op}({', '.join(parts)})" if made.op in _PLAIN else None


def replaced(recording: Recording, application: Application, code: str, part: str = "guarded") -> Lines:
    """Return the user's statement with an op replaced by code; two lines if the op is only a part of it.

    Of ``with tape: y = ...`` this is the assignment alone, which stays where it is.
    """
    node, tree = node_of(recording, application), parsed(recording.line(application.place))
    way = [] if node is None or tree is None else _way_to(tree, _spot(node))
    depth = max((i for i, each in enumerate(way) if isinstance(each, ast.stmt)), default=0)
    if node is None or not way or any(isinstance(each, _BY_ITSELF) for each in way[depth:]):
        name = recording.name_of(application.outputs[0])
        named = recording.tensors[application.outputs[0]].name is not None and in_code(name) != "..."
        return (f"{name if named else 'result'} = {code}",)
    statement: Any = way[depth]
    if isinstance(getattr(statement, "value", None), ast.expr) and _spot(statement.value) == _spot(node):
        return (ast.unparse(_Put(node, code).visit(statement)),)
    return f"{part} = {code}", *ast.unparse(_Put(node, part).visit(statement)).splitlines()


_BY_ITSELF = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.While)
"""What runs its parts in its own time: a line before it would not do for one inside it."""


def _spot(node: ast.expr) -> tuple[Any, ...]:
    """Return where a node stands in its line, by which it is recognized in another tree of it."""
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _way_to(tree: ast.AST, spot: tuple[Any, ...]) -> list[ast.AST]:
    """Return the nodes around a node, the outermost first; empty if it is not there."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.expr) and _spot(child) == spot:
            return [tree]
        way = _way_to(child, spot)
        if way:
            return [tree, *way]
    return []


class _Put(ast.NodeTransformer):
    """Puts code in place of one node, which is recognized by where it stands."""

    def __init__(self, node: ast.expr, code: str) -> None:
        self.at = _spot(node)
        self.code = ast.parse(code, mode="eval").body

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr) and _spot(node) == self.at:
            return self.code
        return super().generic_visit(node)


def guard(recording: Recording, application: Application) -> tuple[str, Lines]:
    """Return what keeps an op away from where it, or its derivative, is not finite: words, and lines that run."""
    acts_as = acting_as(recording, application)
    position = 1 if acts_as == "divide" else 0
    value = recording.tensors[application.inputs[position]].snapshot
    code = input_code(recording, application, position)
    if acts_as == "exp":
        return _of_exp(recording, application, code)
    known = _guard_of(recording, application, acts_as)
    if code is None or value.dtype.startswith("complex") or (known is None and acts_as != "log"):
        return "", ()
    if recording.framework == "torch" and known is not None and "stop_gradient" in known[2]:
        return "", ()
    if known is None:
        entropy = _entropy(recording, application, code)
        if entropy:
            return "lab.math.xlogy is 0 where its first argument is 0:", entropy
        log = f"lab.math.log(lab.maximum({code}, {tiny(value.dtype)}))"
        return "", replaced(recording, application, log) if _leaves(value.array, POSITIVE) else ()
    condition, harmless, otherwise = known
    if not _leaves(value.array, condition):  # it overflows for another reason
        return "", ()
    lines = [] if code.isidentifier() else [f"inner = {code}"]
    x = code if code.isidentifier() else "inner"
    condition = condition.format(x=x)
    call = call_with(recording, application, position, "safe")
    if call is None:
        return "", ()
    lines.append(f"safe = lab.where({condition}, {x}, {harmless})")
    chosen = f"lab.where({condition}, {call}, {otherwise.format(x=x)})"
    return (
        f"{_away(code, value, known)} a harmless input there, which gives the gradient 0:",
        (*lines, *replaced(recording, application, chosen)),
    )


def _away(code: str, value: Snapshot, known: tuple[str, str, str]) -> str:
    """Return the first words of what to try: a value below 0 is not mended by a small number added to it."""
    if known[1] != "1.0":
        return "Choose"
    if known[0] == POSITIVE and value.array is not None and bool((value.array < 0).any()):
        return f"{code} is below 0 {'here' if value.size == 1 else 'in places'}: check its sign, or choose"
    return f"Keep {code} away from 0 (add {tiny(value.dtype)}), or choose"


def _leaves(array: Any, condition: str) -> bool:
    """Return whether some element does not meet a condition; assumed where the elements were not kept."""
    if array is None:
        return True
    within: dict[str, Any] = {
        POSITIVE: array > 0, NOT_ZERO: array != 0, INSIDE_ONE: abs(array) < 1, "{x} > -1.0": array > -1,
        "{x} > 1.0": array > 1,
    }  # fmt: skip
    return not bool(np.all(within[condition]))


def _guard_of(recording: Recording, application: Application, acts_as: str) -> tuple[str, str, str] | None:
    if acts_as != "pow":
        return GUARDS.get(acts_as)
    exponent = recording.tensors[application.inputs[1]].snapshot
    whole = exponent.array is not None and bool((exponent.array == exponent.array.round()).all())
    return NOT_ZERO if whole else POSITIVE, "1.0", "0.0"


def call_with(recording: Recording, application: Application, position: int, name: str) -> str | None:
    """Return the op written as code, with one input under another name."""
    acts_as = acting_as(recording, application)
    parts = [name if i == position else input_code(recording, application, i) for i in range(len(application.inputs))]
    known = [part for part in parts if part is not None]
    if len(known) != len(parts):
        return None
    sign = OPERATORS.get(acts_as)
    if sign is not None and len(known) == 2:
        sides = [part if part.isidentifier() or " " not in part else f"({part})" for part in known]
        return f"{sides[0]} {sign} {sides[1]}"
    return f"{IN_MATH.get(acts_as, f'lab.{acts_as}')}({', '.join(known)})"


class _Uses:
    """What the program does with a value, one op after another."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording

    def of(self, application: Application, op: str) -> Iterator[Application]:
        """Yield the ops of a name that use the result of another."""
        for other in self.recording.forward:
            if set(application.outputs) & set(other.inputs) and acting_as(self.recording, other) == op:
                yield other

    def one(self, application: Application, op: str) -> Application | None:
        """Return the first of them."""
        return next(self.of(application, op), None)


def _entropy(recording: Recording, application: Application, code: str) -> Lines:
    """Return the lines for ``x * log(y)``: 0 where x is 0, whatever y is."""
    product = _Uses(recording).one(application, "multiply")
    if product is None or recording.framework:
        return ()
    position = 1 - product.inputs.index(application.outputs[0])
    other = input_code(recording, product, position)
    value = recording.tensors[product.inputs[position]].snapshot
    inner = recording.tensors[application.inputs[0]].snapshot
    if other is None or value.array is None or inner.array is None or ((inner.array <= 0) & (value.array != 0)).any():
        return ()
    return replaced(recording, product, f"lab.math.xlogy({other}, {code})")


def _of_exp(recording: Recording, application: Application, code: str | None) -> tuple[str, Lines]:
    """Return the function that a formula with an overflowing exp spells out, or a bound for its input."""
    dtype = recording.tensors[application.inputs[0]].snapshot.dtype
    if code is None or dtype.startswith("complex"):
        return "", ()
    name, last, call = _spelled_out(recording, application, code) or ("", application, "")
    if name:
        return f"{name} computes the same without overflow:", replaced(recording, last, call)
    bound = f"lab.exp(lab.minimum({code}, {LARGEST.get(dtype, '88.0')}))"
    advice = "Subtract the maximum before exp, or use lab.nn.softmax, lab.nn.log_softmax or lab.nn.softplus"
    return f"{advice}; or limit the input:", replaced(recording, application, bound)


def _spelled_out(recording: Recording, e: Application, code: str) -> tuple[str, Application, str] | None:
    uses = _Uses(recording)
    twins = [a for a in recording.forward if a.op == e.op and a.inputs == e.inputs]
    total = next((total for twin in twins if (total := uses.one(twin, "sum"))), None)
    made = {t for twin in twins for t in twin.outputs}
    if total is not None and not recording.framework:
        ratio, log = uses.one(total, "divide"), uses.one(total, "log")
        rank = len(recording.tensors[e.outputs[0]].snapshot.shape)
        axes = (total.params or {}).get("axes")
        along = rank - 1 if axes is None and rank == 1 else axes[0] % max(rank, 1) if axes and len(axes) == 1 else None
        axis = "" if along in (None, rank - 1) else f", axis={along}"
        if ratio is not None and ratio.inputs[0] in made and along is not None:
            later = uses.one(ratio, "log")
            if later is not None:
                return "lab.nn.log_softmax", later, f"lab.nn.log_softmax({code}{axis})"
            return "lab.nn.softmax", ratio, f"lab.nn.softmax({code}{axis})"
        if log is not None:
            kept = ", keepdims=True" if (total.params or {}).get("keepdims") else ""
            over = "" if axes is None or len(axes) == rank else f", axis={list(axes)}"
            return "lab.reduce_logsumexp", log, f"lab.reduce_logsumexp({code}{over}{kept})"
    more = next((more for twin in twins if (more := uses.one(twin, "add"))), None)
    if more is None or not _is_one_plus(recording, more, made):
        return None
    log, ratio = uses.one(more, "log"), uses.one(more, "divide")
    if log is not None:
        return "lab.nn.softplus", log, f"lab.nn.softplus({code})"
    if ratio is None:
        return None
    if ratio.inputs[0] in made:
        return "lab.sigmoid", ratio, f"lab.sigmoid({code})"
    top = recording.tensors[ratio.inputs[0]].snapshot
    if top.array is not None and (top.array == 1).all():
        opposite = code[1:] if code[0] == "-" and code[1:].isidentifier() else f"-({code})"
        return "lab.sigmoid", ratio, f"lab.sigmoid({opposite})"
    return None


def _is_one_plus(recording: Recording, more: Application, made: set[int]) -> bool:
    others = [recording.tensors[t].snapshot for t in more.inputs if t not in made]
    return len(others) == 1 and others[0].array is not None and bool((others[0].array == 1).all())
