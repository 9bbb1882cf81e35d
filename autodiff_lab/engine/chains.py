"""Chains: elementwise ops and their rules as statements of one loop, made from the expressions of ops.

A rule such as ``g * (s * (1 + x * (1 - s)))`` of `silu` is called once with symbols in place of arrays.  Each op that
it applies writes the statement of its `Op.expression`, and the statements become one compiled loop, which the sweep
calls in place of the rule.  A rule that asks for more than arithmetic, such as values, shapes or an op without an
expression, has no chain and runs as it stands.  So does every rule in a sweep that is recorded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np

from autodiff_lab.engine.namespace import RAW
from autodiff_lab.engine.op import REGISTRY, Op
from autodiff_lab.kernels.base.choose import IN_USE
from autodiff_lab.kernels.base.elementwise import ANGLES, COUNTED, FEW, Chain, Elementwise, functions_in, in_one_pass

ndarray = np.ndarray
_PAIR = {"f": "faa", "d": "daa"}
FASTER: dict[Callable[..., Any], Any] = {}
"""By rule, what a sweep over plain arrays calls in its place, for cotangents of at least as many elements as its
attribute `fewest` says."""

IN_ONE_OP: dict[Callable[..., Any], Callable[..., Any]] = {}
"""By rule, the same as one op: for sweeps that tapes alone record, which differentiate each op of a rule again."""


class _NotAChain(Exception):
    """Raised while a rule is traced."""


class _Writer:
    """Collects the statements of a rule."""

    def __init__(self) -> None:
        self.statements: list[str] = []
        self.functions = 0

    def apply(self, op: Op, *inputs: Any) -> _Symbol:
        """Write the statement of an op."""
        expression = op.expression
        if not isinstance(expression, str) or not expression or len(inputs) != op.arity:
            raise _NotAChain
        found = functions_in(expression)
        self.functions += len(found)
        name, given = f"t{len(self.statements)}", [*map(_text, inputs)]
        self.statements.append(f"{name} = {expression.format(*given)}")
        if found & ANGLES:
            self.statements.append(f"far |= int32(is_far({given[0]}))")
        return _Symbol(self, name)


def _text(x: Any) -> str:
    """Return an operand as text: a name, or a number in the dtype of the loop."""
    if x.__class__ is _Symbol:
        return x.name
    if x.__class__ not in (int, float) or not np.isfinite(x):
        raise _NotAChain
    return f"number({x!r})"


def _operator(name: str, reflected: bool = False) -> Callable[..., _Symbol]:
    def apply(x: _Symbol, *others: Any) -> _Symbol:
        return x.writer.apply(REGISTRY[name], *others, x) if reflected else x.writer.apply(REGISTRY[name], x, *others)

    return apply


class _Symbol:
    """Stands for an array while a rule is traced; whatever is asked beside arithmetic raises."""

    __slots__ = ("name", "writer")

    def __init__(self, writer: _Writer, name: str) -> None:
        self.writer, self.name = writer, name

    def __getattr__(self, name: str) -> Any:
        raise _NotAChain

    def __bool__(self) -> bool:
        raise _NotAChain

    __add__, __radd__ = _operator("add"), _operator("add", True)
    __sub__, __rsub__ = _operator("subtract"), _operator("subtract", True)
    __mul__, __rmul__ = _operator("multiply"), _operator("multiply", True)
    __truediv__, __rtruediv__ = _operator("divide"), _operator("divide", True)
    __neg__ = _operator("negative")


class _SymbolicOps:
    """The namespace that a rule takes its operations from while it is traced."""

    raw = True

    def __init__(self, writer: _Writer) -> None:
        self._writer = writer

    def __getattr__(self, name: str) -> Any:
        op = REGISTRY.get(name)
        if op is None:
            raise _NotAChain

        def apply(*inputs: Any, **params: Any) -> _Symbol:
            if params:
                raise _NotAChain
            return self._writer.apply(op, *inputs)

        return apply


def chain_of_op(op: Op) -> Chain | None:
    """Return the chain of an op itself: one statement."""
    writer = _Writer()
    try:
        out = writer.apply(op, *(_Symbol(writer, f"v{n}") for n in range(op.arity or 0)))
    except _NotAChain:
        return None
    return Chain(tuple(writer.statements), out.name)


def chain_of_rule(rule: Callable[..., Any], arity: int) -> tuple[Chain, tuple[int, ...]] | None:
    """Return the chain of a rule, and which of cotangent, output and inputs it reads, as positions.

    None if there is none, or if it is a single operation, which NumPy does as quickly.

    Examples
    --------
    >>> from autodiff_lab.engine.chains import chain_of_rule
    >>> chain_of_rule(lambda ops, g, out, x: g * (1 - out * out), 1)
    (Chain(statements=('t0 = v1 * v1', 't1 = number(1) - t0', 't2 = v0 * t1'), result='t2'), (0, 1))
    """
    writer = _Writer()
    symbols = [_Symbol(writer, f"v{n}") for n in range(arity + 2)]
    try:
        out = rule(_SymbolicOps(writer), *symbols)
    except Exception:  # noqa: BLE001 - a rule that arrays would satisfy may trip over symbols in any way
        return None
    if out.__class__ is not _Symbol or len(writer.statements) + writer.functions < 2:
        return None
    text = "\n".join(writer.statements)
    used = tuple(n for n in range(arity + 2) if re.search(rf"\bv{n}\b", text))
    if len(used) < 2 or used[0] != 0:
        return None
    for new, old in enumerate(used):
        text = re.sub(rf"\bv{old}\b", f"v{new}", text)
    return Chain(tuple(text.split("\n")), out.name), used


def _pays(op: Op) -> bool:
    """Return whether a loop for an op itself can be faster than its kernel.

    It can where NumPy has no single function for the op, or one of which it has vectors on some processors alone.
    """
    text = op.expression
    if not isinstance(text, str) or "(" not in text:
        return False
    return not isinstance(op.kernel, np.ufunc) or bool(functions_in(text)) or op.kernel is np.sign


def faster_kernel(op: Op) -> Callable[..., Any]:
    """Return the kernel of an elementwise op, as one loop where that pays, and prepare its rules for the same."""
    if isinstance(op.rules, tuple) and op.expression:
        for i, rule in enumerate(op.rules):
            if callable(rule) and rule not in FASTER:
                FASTER[rule] = _in_one_pass(f"{op.name}, rule {i}", rule, op.arity or 0)
    return in_one_pass(op.name, op.kernel, lambda: chain_of_op(op), op.arity or 0) if _pays(op) else op.kernel


def _in_one_pass(name: str, rule: Callable[..., Any], arity: int) -> Callable[..., Any]:
    """Return what a sweep calls in place of a rule: its loop, or the rule as long as there is none."""
    found: list[tuple[Elementwise, Callable[..., Any]]] = []
    pair: list[tuple[dict[str, Any], bool]] = []  # of a rule that reads the cotangent and one other array, as most do

    def run(ops: Any, g: Any, out: Any, *inputs: Any) -> Any:
        if pair:  # as `Elementwise.fast` does, without the calls
            loops, of_input = pair[0]
            other, dtype = (inputs[0] if of_input else out), g.dtype
            ready = loops.get(_PAIR.get(dtype.char, ""))
            if (
                ready is not None and g.size >= ready[1] and IN_USE["mode"] == "auto"
                and other.__class__ is ndarray and other.dtype is dtype and other.shape == g.shape
                and g.flags.carray and other.flags.carray
            ):  # fmt: skip
                result = ready[0]((g, other))
                return rule(ops, g, out, *inputs) if result is None else result
        elif not found:
            traced = chain_of_rule(rule, arity)
            if traced is None:
                del FASTER[rule]
                return rule(ops, g, out, *inputs)
            chain, used = traced
            found.append((Elementwise(name, _reference(rule, used, arity), lambda: chain), itemgetter(*used)))
            if len(used) == 2 and used[1] < 3:
                pair.append((found[0][0].loops, used[1] == 2))
        kernel, choose = found[0]
        dtype, size, mode = g.dtype, g.size, IN_USE["mode"]
        run.fewest = max(FEW, min([COUNTED, *kernel.least.values()]))  # type: ignore[attr-defined]
        if mode != "numba" and (mode == "numpy" or size < kernel.least.get(dtype, COUNTED)):
            return rule(ops, g, out, *inputs)
        result = kernel.looped(choose((g, out, *inputs)), dtype, size, mode)
        return rule(ops, g, out, *inputs) if result is None else result

    run.fewest = COUNTED  # type: ignore[attr-defined]
    return run


def _reference(rule: Callable[..., Any], used: tuple[int, ...], arity: int) -> Callable[..., Any]:
    """Return a rule as a function of the arrays that it reads."""
    if arity == 1 and used == (0, 1):  # as quick as the rule itself: loops are measured against it
        return lambda g, out: rule(RAW, g, out, None)
    if arity == 1 and used == (0, 2):
        return lambda g, x: rule(RAW, g, None, x)

    def reference(*arrays: Any) -> Any:
        given: list[Any] = [None] * (arity + 2)
        for position, array in zip(used, arrays, strict=True):
            given[position] = array
        return rule(RAW, *given)

    return reference
