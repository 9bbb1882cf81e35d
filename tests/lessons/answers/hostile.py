"""Answers that are wrong for every exercise, and hard on a check: of another kind, endless, huge, or broken."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import autodiff_lab as lab


class Broken:
    """Fails at everything that a check may ask of it."""

    def __float__(self) -> float:
        raise KeyboardInterrupt

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ValueError

    def __iter__(self) -> Iterator[Any]:
        raise SystemExit

    def __repr__(self) -> str:
        raise RuntimeError

    def __eq__(self, _: object) -> bool:
        raise RuntimeError

    __hash__ = None  # type: ignore[assignment]


class Speechless(Exception):
    """An exception that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError


def loops(*_: Any) -> Any:
    while True:
        pass


def recurses(*given: Any) -> Any:
    return recurses(*given)


def exits(*_: Any) -> Any:
    sys.exit(3)


def interrupts(*_: Any) -> Any:
    raise KeyboardInterrupt


def speechless(*_: Any) -> Any:
    raise Speechless


def prints(*_: Any) -> None:
    print("the answer")


def yields(*_: Any) -> Iterator[float]:
    while True:
        yield 1.0


def empties(*given: Any) -> Any:
    """Change what was handed over, and return it."""
    for each in given:
        if isinstance(each, np.ndarray):
            each[...] = 0.0
        elif isinstance(each, (list, dict)):
            each.clear()
    return given[0]


async def waits(*_: Any) -> float:
    return 1.0


VALUES: list[Any] = [
    "9", "nine", b"9", [], [[1, 2], [3]], {}, {"x": 1}, 1 + 2j, np.array(["a"]), np.array(2.0), np.zeros((3, 3, 3)),
    lab.constant([1.0, 2.0]), lab.constant(1.0), float("nan"), float("inf"), -float("inf"), 10**400, True, Broken(),
    object(), range(3), set(), np.array([None]), [...], (..., ...), [None], {"u": "x", "v": 3},
    {"jacobian": float("nan"), "gradient": float("inf")}, {"A": [[1], [2, 3]], "B": "x"}, (1, "y", "z"),
    (None, None, None), [1, 2, float("nan")], {"x": float("nan"), "y": Broken()}, [Broken(), Broken()], int, np,
]  # fmt: skip
FUNCTIONS: list[Any] = [
    loops, recurses, exits, interrupts, speechless, prints, yields, empties, waits, lambda *_: 1 / 0, lambda: 1.0,
    lambda *given: given, lambda *_: np.ones(10**13), lambda *_: "x" * 10**13,
]  # fmt: skip


def returning(value: Any) -> Callable[..., Any]:
    """Return a function that returns a value, whatever it is given."""
    return lambda *_: value


HOSTILE: list[Any] = [*VALUES, *FUNCTIONS, *map(returning, VALUES)]
"""Every exercise gets all of them."""
