"""Answers made from right ones: slips that make them wrong, other forms that leave them right, and mutated programs.

Whether a mutated program is still right is not known beforehand: it is run beside the right one on what the check asks.
"""

from __future__ import annotations

import ast
import copy
import functools
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab import lessons
from autodiff_lab.compile import Function as Compiled

Function = Callable[..., Any]
Change = Callable[[Any], Any]
_NUMERIC = (int, float, Fraction, list, tuple, np.ndarray, np.generic)
SECOND = ("check", "check_repair", "check_safe")
"""Checks whose first argument is a number or a name, and whose second one is the answer."""


class Skipped(Exception):
    """The answer is not one that could be changed."""


class Through:
    """The module `lessons` as a cell sees it, with something done to an answer before it is checked."""

    def __init__(self, change: Change) -> None:
        self.change, self.reached = change, False

    def __getattr__(self, name: str) -> Any:
        found = getattr(lessons, name)
        if not name.startswith("check") or name.startswith("checkpoint"):
            return found
        at = int(name in SECOND)

        def check(*given: Any, **more: Any) -> Any:
            given = (*given[:at], self.change(given[at]), *given[at + 1 :])
            self.reached = True
            return found(*given, **more)

        return check


def numbers(change: Change, value: Any, tensors: bool = True) -> Any:
    """Return an answer with every number in it changed; those in tensors only if asked for."""
    if isinstance(value, dict):
        return {key: numbers(change, item, tensors) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([numbers(change, item, tensors) for item in value])
    if isinstance(value, (bool, str)) or value is None or value is ...:
        return value
    if lab.is_tensor(value):
        return lab.constant(change(value.numpy()), dtype=value.dtype) if tensors else value
    return change(value) if isinstance(value, (int, float, Fraction, np.ndarray, np.generic)) else value


def plain(value: Any) -> Any:
    """Return an answer in its simplest form, to compare it."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and not all(isinstance(v, (int, float, np.generic)) for v in value):
        return [plain(item) for item in value]
    value = value.numpy() if lab.is_tensor(value) else value
    return np.asarray(value, float) if isinstance(value, _NUMERIC) else value


def alike(one: Any, other: Any, tolerance: float = 1e-9) -> bool:
    """Return whether two answers say the same."""
    one, other = plain(one), plain(other)
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and one.keys() == other.keys()
            and all(alike(one[key], other[key], tolerance) for key in one)
        )
    if isinstance(one, list):
        return (
            isinstance(other, list)
            and len(one) == len(other)
            and all(alike(a, b, tolerance) for a, b in zip(one, other, strict=True))
        )
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape and bool(np.allclose(one, other, tolerance, tolerance, equal_nan=True))
    return type(one) is type(other) and bool(one == other)


class Slip:
    """A function that is right but for a slip; `slipped` says whether the slip has changed anything."""

    def __init__(self, function: Any, make: Callable[[Function], Function]) -> None:
        if not callable(function) or isinstance(function, (type, Compiled)):
            raise Skipped
        self.function, self.slipped = lambda *given: _listed(function(*given)), False
        self.wrong = make(self.function)
        self.__name__ = "slip"

    def __call__(self, *given: Any) -> Any:
        right = self.function(*copy_of(given))
        wrong = self.wrong(*given)
        self.slipped |= right is not None and not alike(right, wrong)
        return wrong


def _listed(found: Any) -> Any:
    """Return what a generator gives as a list, which can be changed and compared."""
    return list(found) if isinstance(found, Iterator) else found


def copy_of(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what a function was given as copies, where there are any."""
    return tuple(copy.deepcopy(each) if isinstance(each, (list, dict, np.ndarray)) else each for each in given)


def _number(change: Change, tensors: bool = True) -> Callable[[Function], Function]:
    return lambda function: lambda *given: numbers(change, function(*given), tensors)


def _whole(change: Change) -> Callable[[Function], Function]:
    return lambda function: lambda *given: change(function(*given))


def _first_call(function: Function) -> Function:
    """Right at the first call alone."""
    calls: list[None] = []

    def call(*given: Any) -> Any:
        calls.append(None)
        found = function(*given)
        return found if len(calls) == 1 else numbers(lambda x: x + 1, found)

    return call


def _case_shown(function: Function) -> Function:
    """Always the outcome of the first call."""
    first: list[Any] = []

    def call(*given: Any) -> Any:
        first.append(function(*given))
        return first[0]

    return call


def _positive(function: Function) -> Function:
    return lambda *given: function(*numbers(abs, list(given)))


def _whole_numbers(function: Function) -> Function:
    return lambda *given: function(*numbers(np.floor, list(given)))


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return dict(zip(value, reversed(value.values()), strict=True))
    return value[::-1] if isinstance(value, (list, tuple)) else value.T if isinstance(value, np.ndarray) else value


SLIPS: dict[str, Callable[[Function], Function]] = {
    "minus": _number(lambda x: -x),
    "one more": _number(lambda x: x + 1),
    "one less": _number(lambda x: x - 1),
    "twice": _number(lambda x: 2 * x),
    "a little more": _number(lambda x: 1.01 * x),
    "nan": _number(lambda x: x * float("nan")),
    "size": _number(abs),
    "text": _whole(str),
    "nothing": _whole(lambda found: None),
    "printed": _whole(print),
    "reversed": _whole(_reversed),
    "nested": _whole(lambda found: [found, found]),
    "right at the first call": _first_call,
    "the case shown": _case_shown,
    "right for positive numbers": _positive,
    "right for whole numbers": _whole_numbers,
}
"""Wrong functions, made from right ones."""


class _Called:
    def __init__(self, function: Function) -> None:
        self.function = function

    def __call__(self, *given: Any) -> Any:
        return self.function(*given)


def _swapped(value: Any) -> Any:
    kind = {list: tuple, tuple: list}.get(type(value))
    return kind(map(_swapped, value)) if kind else value


FORMS: dict[str, Callable[[Function], Function]] = {
    "an object that can be called": _Called,
    "partial": functools.partial,
    "any arguments": _whole(lambda found: found),
    "scalars of NumPy": _number(lambda x: np.float64(x) if np.ndim(x) == 0 else x, False),
    "arrays without axes": _number(lambda x: np.asarray(x, float), False),
    "tensors": _number(lambda x: lab.constant(np.asarray(x, float), dtype=lab.float64), False),
    "fractions": _number(lambda x: Fraction(float(x)) if np.ndim(x) == 0 and np.isfinite(x) else x, False),
    "lists for tuples": _whole(_swapped),
    "the other way round": _whole(lambda x: dict(reversed(x.items())) if isinstance(x, dict) else x),
}
"""Right functions in other forms."""

_BINARY = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow, ast.Mod)
_COMPARED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)


def mutated(source: str, rng: random.Random) -> str:
    """Return the source of a cell with one thing in its answer changed.

    Raises
    ------
    Skipped
        If there is nothing that could be.
    """
    tree = ast.parse(source)
    found = [(node, put) for node, put in _inside(tree) if isinstance(node, _KINDS)]
    if not found:
        raise Skipped
    node, put = rng.choice(found)
    put(rng.choice(list(_other(node, rng))))
    return ast.unparse(ast.fix_missing_locations(tree))


_KINDS = (ast.BinOp, ast.Compare, ast.Constant, ast.UnaryOp, ast.IfExp, ast.Call, ast.Name, ast.Tuple, ast.List)


def _inside(tree: ast.Module) -> Iterator[tuple[Any, Callable[[Any], None]]]:
    """Yield the expressions of an answer, and what replaces each; the other arguments of its check are left alone."""
    last = tree.body[-1]
    call = last.value if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) else None
    for top in tree.body[:-1] if call else tree.body:
        yield from _below(top)
    if call is not None:
        at = int(isinstance(call.func, ast.Attribute) and call.func.attr in SECOND)
        for argument in call.args[at : at + 1]:
            if not isinstance(argument, (ast.Name, ast.Constant)):
                yield from _below(argument)


def _below(parent: ast.AST) -> Iterator[tuple[Any, Callable[[Any], None]]]:
    for name, value in ast.iter_fields(parent):
        if isinstance(value, ast.expr):
            if not (isinstance(value, ast.Name) and (name == "func" or not isinstance(value.ctx, ast.Load))):
                yield value, functools.partial(setattr, parent, name)
            yield from _below(value)
        elif isinstance(value, list):
            for at, item in enumerate(value):
                if isinstance(item, ast.expr) and isinstance(getattr(item, "ctx", ast.Load()), ast.Load):
                    yield item, functools.partial(value.__setitem__, at)
                if isinstance(item, ast.AST):
                    yield from _below(item)
        elif isinstance(value, ast.AST):
            yield from _below(value)


def _other(node: Any, rng: random.Random) -> Iterator[ast.expr]:
    """Yield expressions to put in the place of one."""
    if isinstance(node, ast.BinOp):
        yield from (ast.BinOp(node.left, op(), node.right) for op in _BINARY if not isinstance(node.op, op))
        yield from (node.left, node.right, ast.BinOp(node.right, node.op, node.left))
    elif isinstance(node, ast.Compare):
        yield from (ast.Compare(node.left, [op(), *node.ops[1:]], node.comparators) for op in _COMPARED)
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse, ast.IfExp(node.test, node.orelse, node.body))
    elif isinstance(node, (ast.Tuple, ast.List)):
        yield type(node)(node.elts[::-1], node.ctx)
        yield type(node)(node.elts[:-1], node.ctx)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield from map(ast.Constant, (node.value + 1, node.value - 1, 2 * node.value, 0, -node.value))
    else:
        yield from (_called(f"abs({_TEXT})", node), _called(f"-({_TEXT})", node), _called(f"({_TEXT}) + 1", node))
        if isinstance(node, ast.Call) and len(node.args) > 1:
            yield ast.Call(node.func, [*node.args[1::-1], *node.args[2:]], node.keywords)


_TEXT = "it"


def _called(text: str, put: ast.expr) -> ast.expr:
    class Put(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return put if node.id == _TEXT else node

    return Put().visit(ast.parse(text, mode="eval").body)
