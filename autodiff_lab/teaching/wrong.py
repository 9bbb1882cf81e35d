"""Wrong ideas about derivatives as engines: about the books, the start, the chain rule, single rules, and arrays.

Each engine replaces one part. Some ideas come in several variants, such as keeping the first contribution or the last;
they have the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from math import e
from typing import Any

import numpy as np

from autodiff_lab.teaching.books import Books, Local, run
from autodiff_lab.teaching.engines import Engine, right_rules, seeded
from autodiff_lab.teaching.walks import closed, early, nowhere, tangents_added

IDEAS: dict[str, str] = {
    "OVERWRITE": "a new contribution replaces the old one",
    "EARLY": "a value may deliver as soon as anything has arrived",
    "CLOSED": "a value that has delivered once is done, whatever arrives later",
    "STALE": "each backward pass starts clean by itself",
    "STALE_LEAVES": "the gradients of inputs are cleared by themselves",
    "ONE_PATH": "only the strongest path counts",
    "AVERAGED": "contributions are averaged",
    "SEED": "the backward pass begins with 0, or with the value of f",
    "VALUE": "the derivative is the value",
    "LOCAL_ONLY": "the gradient is the local derivative",
    "INCOMING_ONLY": "what comes in is passed on as it is",
    "CHAIN_ADDED": "along a path, derivatives are added",
    "SIGN": "a sign more or less does not matter",
    "FORWARD_FOR_REVERSE": "one forward pass gives the gradient",
    "OWN_VALUE": "through a product, each factor gets its own value",
    "PRODUCT_OF_SLOPES": "the derivative of a product is the product of the derivatives",
    "MINUS_LOST": "a difference passes the gradient on like a sum",
    "QUOTIENT_FLIPPED": "in the quotient rule the order does not matter",
    "QUOTIENT_NO_SQUARE": "in the quotient rule the denominator is not squared",
    "MAX_LOSER": "max passes the gradient to the smaller input",
    "MAX_SHARES": "max gives something to both inputs",
    "RELU_ALWAYS": "relu always passes the gradient on",
    "EXP_INPUT": "the local derivative of exp is its input",
    "EXP_AS_POWER": "exp is differentiated like a power",
    "LOG_INPUT": "the local derivative of log is its input",
    "SIN_SIGN": "the derivative of sin is minus cos",
    "INPUT_FOR_OUTPUT": "a rule that needs the output may use the input",
    "POWER_NO_FACTOR": "the exponent goes down by one, and does not come to the front",
    "POWER_KEPT": "the exponent comes to the front, and does not go down",
    "CONSTANT_LOST": "a constant factor disappears",
    "BROADCAST_KEPT": "a gradient has the shape of the result",
    "TRANSPOSE_LOST": "going back multiplies by the same matrix",
    "SUMMED": "the gradient of a vector needs no cotangent",
}
"""The ideas by code, as a learner would put them."""


def wrong_engines() -> tuple[Engine, ...]:
    """Return every wrong idea as an engine, the most telling first; variants of an idea have the same code.

    Returns
    -------
    tuple of Engine
        ``engine.at(value)`` is the same idea at a single value.

    Examples
    --------
    >>> from autodiff_lab import teaching
    >>> engines = teaching.wrong_engines()
    >>> len({engine.code for engine in engines}), engines[0].code
    (33, 'OVERWRITE')
    """
    return _all()


@cache
def _all() -> tuple[Engine, ...]:
    return (*_books(), *_rules(), *_chains(), *_starts(), *_arrays())


def _engine(code: str, **parts: Any) -> Engine:
    return Engine(code, IDEAS[code], **parts)


def _books() -> Iterator[Engine]:
    yield _engine("OVERWRITE", accumulate=lambda old, new: new)
    yield _engine("OVERWRITE", accumulate=lambda old, new: old)
    for all_first in (False, True):
        for flipped in (False, True):
            yield _engine("EARLY", walk=early(flipped, all_first))
    for all_first in (False, True):
        for flipped in (False, True):
            yield _engine("CLOSED", walk=closed(flipped, all_first))
    yield _engine("STALE", start=_kept)
    yield _engine("STALE", start=_kept_and_seeded)
    yield _engine("STALE_LEAVES", start=_kept_leaves)
    yield _engine("ONE_PATH", accumulate=_stronger)
    yield _engine("AVERAGED", combine=lambda incoming, local: incoming * local / local.uses, by_account=True)


def _kept(books: Books) -> dict[int, Any]:
    """Return what a right pass left on the accounts; the seeds are set again."""
    return run(books.program, Engine()).adjoints | seeded(books)


def _kept_and_seeded(books: Books) -> dict[int, Any]:
    """Return what a right pass left on the accounts, with the seeds added."""
    left = run(books.program, Engine()).adjoints
    return left | {key: left[key] + seed for key, seed in seeded(books).items()}


def _kept_leaves(books: Books) -> dict[int, Any]:
    left = run(books.program, Engine()).adjoints
    return {key: g for key, g in left.items() if books.maker(key) is None} | seeded(books)


def _stronger(old: Any, new: Any) -> Any:
    return np.where(np.abs(new) > np.abs(old), new, old)


def _starts() -> Iterator[Engine]:
    yield _engine("SEED", start=lambda books: {key: seed * 0 for key, seed in seeded(books).items()})
    yield _engine("SEED", start=lambda books: {key: books.program.values[key] for key in books.targets})
    yield _engine("VALUE", start=_values, walk=_walk_of_values)


def _values(books: Books) -> dict[int, Any]:
    if books.only is not None:
        return seeded(books)
    return {key: books.program.values[key] for key in {*books.program.uses, *books.targets}}


def _walk_of_values(books: Books) -> None:
    """Leave every account at the value, or walk backwards and put the one value onto its account."""
    if books.only is None:
        nowhere(books)
        return
    for entry in reversed(books.entries):
        if books.only in entry.outputs:
            books.adjoints[books.only] = books.program.values[books.only]
        books.deliver(entry)
    if books.only in books.adjoints:
        books.adjoints[books.only] = books.program.values[books.only]


def _chains() -> Iterator[Engine]:
    yield _engine("LOCAL_ONLY", combine=lambda incoming, local: local.unit)
    yield _engine("LOCAL_ONLY", combine=lambda incoming, local: local.unit, accumulate=lambda old, new: new)
    yield _engine("INCOMING_ONLY", combine=lambda incoming, local: incoming)
    yield _engine("CHAIN_ADDED", combine=lambda incoming, local: incoming + local)
    yield _engine("SIGN", combine=lambda incoming, local: -(incoming * local))
    yield _engine("SIGN", start=lambda books: {key: -seed for key, seed in seeded(books).items()})
    yield _engine("FORWARD_FOR_REVERSE", start=_tangents, walk=nowhere)


def _tangents(books: Books) -> dict[int, Any]:
    return tangents_added(books) if books.only is None else seeded(books)


def _rules() -> Iterator[Engine]:
    extremes = ("maximum", "minimum")
    power = right_rules("pow")[1]
    yield from _swapped("OWN_VALUE", {"multiply": (lambda o, g, z, x, y: g * x, lambda o, g, z, x, y: g * y)})
    yield _engine("OWN_VALUE", combine=_own_value)
    yield _engine("PRODUCT_OF_SLOPES", combine=_product_of_slopes)
    yield from _swapped("PRODUCT_OF_SLOPES", {"multiply": (lambda o, g, z, x, y: g,) * 2})
    minus = {
        "subtract": (lambda o, g, z, x, y: g,) * 2,
        "divide": (lambda o, g, z, x, y: g / y, lambda o, g, z, x, y: g * x / (y * y)),
    }
    others = {
        "negative": (lambda o, g, z, x: g,),
        "reciprocal": (lambda o, g, z, x: g / (x * x),),
        "squared_difference": (lambda o, g, z, x, y: 2 * g * (x - y),) * 2,
    }
    yield from _swapped("MINUS_LOST", minus | others)
    yield _engine("MINUS_LOST", rules=minus)
    yield from _swapped(
        "QUOTIENT_FLIPPED", {"divide": (lambda o, g, z, x, y: -g / y, lambda o, g, z, x, y: g * x / (y * y))}
    )
    yield from _swapped(
        "QUOTIENT_NO_SQUARE",
        {
            "divide": (lambda o, g, z, x, y: g / y, lambda o, g, z, x, y: -g * x / y),
            "reciprocal": (lambda o, g, z, x: -g / x,),
        },
    )
    yield from _swapped(
        "MAX_LOSER", {op: tuple(map(_unless_tied, right_rules(op), right_rules(op)[::-1])) for op in extremes}
    )
    for share in (1.0, 0.5):
        shared = [tuple(_unless_tied(rule, _scaled(share)) for rule in right_rules(op)) for op in extremes]
        yield from _swapped("MAX_SHARES", dict(zip(extremes, shared, strict=True)))
    yield from _swapped("RELU_ALWAYS", {"relu": (lambda o, g, z, x: g,)})
    yield from _swapped("EXP_INPUT", {"exp": (lambda o, g, z, x: g * x,)})
    yield from _swapped("EXP_AS_POWER", {"exp": (lambda o, g, z, x: g * x * z / e,)})
    yield from _swapped("LOG_INPUT", {"log": (lambda o, g, z, x: g * x,)})
    yield from _swapped(
        "SIN_SIGN", {"sin": (lambda o, g, z, x: -g * np.cos(x),), "cos": (lambda o, g, z, x: g * np.sin(x),)}
    )
    yield from _swapped(
        "INPUT_FOR_OUTPUT",
        {
            "tanh": (lambda o, g, z, x: g * (1 - x * x),),
            "sqrt": (lambda o, g, z, x: g * 0.5 / x,),
            "sigmoid": (lambda o, g, z, x: g * x * (1 - x),),
        },
    )
    yield from _swapped(
        "POWER_NO_FACTOR",
        {"square": (lambda o, g, z, x: g * x,), "pow": (lambda o, g, z, x, y: g * np.power(x, y - 1), power)},
    )
    yield from _swapped(
        "POWER_KEPT", {"square": (lambda o, g, z, x: 2 * g * z,), "pow": (lambda o, g, z, x, y: g * y * z, power)}
    )
    yield _engine("CONSTANT_LOST", combine=_without_constant)
    yield _engine("CONSTANT_LOST", combine=_without_factor)


def _swapped(code: str, rules: dict[str, Any]) -> Iterator[Engine]:
    """Yield the engine with these rules, and those that are wrong about a single one of the ops."""
    yield _engine(code, rules=rules)
    if len(rules) > 1:
        for op, rule in rules.items():
            yield _engine(code, rules={op: rule})


def _own_value(incoming: Any, local: Local) -> Any:
    """Give each factor its own value where both may change."""
    own = local.op == "multiply" and not any(local.constant)
    return local.fitted(incoming * local.inputs[local.position]) if own else incoming * local


def _product_of_slopes(incoming: Any, local: Local) -> Any:
    """Give each factor what came in where both may change."""
    product = local.op == "multiply" and not any(local.constant)
    return local.fitted(incoming) if product else incoming * local


def _unless_tied(rule: Callable[..., Any], wrong: Callable[..., Any]) -> Callable[..., Any]:
    """Return a wrong rule of a maximum that is right where both inputs are equal: there, conventions differ."""
    return lambda ops, g, z, x, y: np.where(x == y, rule(ops, g, z, x, y), wrong(ops, g, z, x, y))


def _scaled(share: float) -> Callable[..., Any]:
    return lambda ops, g, z, x, y: g * share


def _without_constant(incoming: Any, local: Local) -> Any:
    """Drop the constant factor of a product, or the constant that something is divided by."""
    if local.op == "divide" and local.position == 0 and local.constant[1]:
        return local.fitted(incoming)
    return _without_factor(incoming, local)


def _without_factor(incoming: Any, local: Local) -> Any:
    """Drop the constant factor of a product."""
    scaled = local.op == "multiply" and local.constant[1 - local.position]
    return local.fitted(incoming) if scaled else incoming * local


def _arrays() -> Iterator[Engine]:
    yield _engine("BROADCAST_KEPT", combine=lambda incoming, local: local.unfitted(incoming))
    yield from _swapped("TRANSPOSE_LOST", {"matmul": (lambda o, g, z, x, y: g @ y, lambda o, g, z, x, y: x @ g)})
    yield _engine("SUMMED", start=lambda books: {key: np.ones_like(seed) for key, seed in seeded(books).items()})
