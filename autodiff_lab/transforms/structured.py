"""Stacks of cotangents that are zero but for a part, kept as that part.

A Jacobian starts from the identity: one unit cotangent for each component of the target.  `bands` are what elementwise
rules and slices make of it, `blocks` what ops make of it that treat the elements of the first axis, the examples of a
batch, each by itself, and `columns` what becomes of the cotangents of a row that serve all rows of a batch.  `RULES`
says what each op makes of such a stack, in terms of the operations that it is given: raw ones in an eager sweep, whose
adjoints may be stacks of this kind and whose operations are `STRUCTURED`, or operations that write lines, where
`lab.function` rewrites a program.  Whatever has no rule is done with whole stacks.

``0 · x`` is nan where x is infinite or nan.  Raw operations see such a factor, and the stack becomes whole.  Others do
not: there every factor meets what is kept of the stack, so that such an x leaves an infinity or nan there, whatever
follows, and is found at the end.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.engine.namespace import RAW, Ops

RULES: dict[str, list[Callable[..., Any]]] = {}
"""By the name of an op, what makes something of structured stacks among its inputs, or gives None."""


class Structured:
    """A stack of cotangents, with one cotangent a row, of which a part is kept.

    Attributes
    ----------
    shape : tuple of int
        Of the whole stack.
    """

    __slots__ = ("shape",)
    __array_ufunc__ = None  # so that an array leaves its operators to this class
    nbytes = 0
    shape: tuple[int, ...]

    @property
    def ndim(self) -> int:
        """Number of axes of the whole stack."""
        return len(self.shape)

    @property
    def columns(self) -> int:
        """Number of elements of a cotangent."""
        return math.prod(self.shape[1:])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type."""
        raise NotImplementedError

    def whole(self) -> np.ndarray[Any, Any]:
        """Make the stack as an array."""
        raise NotImplementedError

    def __neg__(self) -> Any:
        return applied(RAW, "negative", (self,), {})

    def __sub__(self, other: Any) -> Any:
        return self + -other


def filled(value: Any) -> Any:
    """Make a structured stack a whole one, and leave anything else as it is."""
    return value.whole() if isinstance(value, Structured) else value


def applied(ops: Any, name: str, given: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Return what an op makes of structured stacks among its inputs, None if it needs whole ones."""
    for rule in RULES.get(name, ()):
        found = rule(ops, *given, **params)
        if found is not None:
            return found
    return None


def usable(ops: Any, *arrays: Any) -> bool:
    """Return whether zeros stay zeros whatever arrays they meet; others than raw operations find that out later."""
    return not ops.raw or all(np.isfinite(array).all() for array in arrays if array.dtype.kind == "f")


def checked(ops: Any, value: Any) -> Any:
    """Return what is kept of a stack before it is made whole; others than raw operations check that it is finite."""
    return value if ops.raw else ops.finite(value)


ELEMENTWISE = ("divide", "gate", "multiply", "select", "select_not", "sigmoid_grad", "tanh_grad")
"""Ops whose rules for a stack are those for what is kept of it, in `elementwise`."""


def elementwise(name: str, kind: Any, fits: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    """Make the rule of an elementwise op for stacks of a kind, which have a `value`; the other operand is none.

    `fits` tells from the shapes of the value and of the other operand whether the result is of that kind.
    """

    def rule(ops: Any, x: Any, y: Any) -> Any:
        if x.__class__ is y.__class__:
            return None
        g, by = (x, y) if x.__class__ is kind else (y, x)
        if g is not x and name != "multiply":
            return None
        shape: tuple[int, ...] = tuple(getattr(by, "shape", ()))
        if len(shape) == g.ndim and shape[:1] == (1,):
            shape = shape[1:]
            by = by.reshape(shape)
        if not fits(g.value.shape, shape):
            return None
        if getattr(by, "dtype", g.dtype) != g.dtype and name in ("multiply", "divide"):
            return None
        if hasattr(by, "dtype") and not usable(ops, by):
            return None
        if name == "divide" and ops.raw and not np.all(by):
            return None
        operation = getattr(ops, name)
        return kind(operation(g.value, by) if g is x else operation(by, g.value))

    return rule


def _by_rule(name: str, operate: Callable[[Any, Any], Any], *methods: str) -> None:
    def run(self: Structured, other: Any) -> Any:
        found = applied(RAW, name, (self, other), {})
        return operate(self.whole(), filled(other)) if found is None else found

    for method in methods:
        setattr(Structured, f"__{method}__", run)


_by_rule("multiply", operator.mul, "mul", "rmul")
_by_rule("add", operator.add, "add", "radd")
_by_rule("divide", operator.truediv, "truediv")


def _fall_back(name: str, reflected: bool = False) -> None:
    function = getattr(operator, name)
    if reflected:
        setattr(Structured, f"__r{name}__", lambda self, other: function(filled(other), self.whole()))
    else:
        setattr(Structured, f"__{name}__", lambda self, *others: function(self.whole(), *map(filled, others)))


for _name in ("pow", "matmul", "getitem", "abs", "floordiv", "mod", "lt", "le", "gt", "ge"):
    _fall_back(_name)
for _name in ("sub", "truediv", "pow", "matmul"):
    _fall_back(_name, reflected=True)


class _StructuredOps(Ops):
    """The raw operations, for sweeps whose adjoints may be structured stacks."""

    def __getattr__(self, name: str) -> Any:
        plain = getattr(RAW, name)

        def operation(*arrays: Any, **params: Any) -> Any:
            if any(isinstance(array, Structured) for array in arrays):
                found = applied(RAW, name, arrays, params)
                return plain(*map(filled, arrays), **params) if found is None else found
            return plain(*arrays, **params)

        setattr(self, name, operation)
        return operation


STRUCTURED = _StructuredOps(raw=True)
