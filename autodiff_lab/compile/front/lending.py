"""Lending: pass other tensors to a function inside the caller's own lists and dicts.

A trace needs arguments that nothing else refers to, and NumPy arrays become tensors. But a list or dict that is
passed must stay the caller's: a function may append to it, compare it by identity, or return it. So its elements are
replaced for the duration of the call; tuples and the like, which cannot change, are built again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from autodiff_lab.compile.front.trace import Refusal
from autodiff_lab.engine import nest
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable

_ITEMS = (list, deque)


class Lent:
    """A block in which `args` and `kwargs` hold other leaves, given in the order of `take_apart`.

    Attributes
    ----------
    containers : dict
        The caller's lists and dicts by their ids.
    """

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: list[Any]) -> None:
        self._given = iter(leaves)
        self._back: dict[int, tuple[Any, Any]] = {}  # what was lent, and what it replaces
        self._before: list[tuple[Any, list[int]]] = []
        self._made: list[tuple[Any, Any, dict[str, Any]]] = []
        self.containers: dict[int, Any] = {}
        self._twice = False
        self.args, self.kwargs = args, kwargs

    def __enter__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        try:
            args = tuple([self._lend(x) for x in self.args])
            return args, {name: self._lend(x) for name, x in self.kwargs.items()}
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *error: object) -> None:
        for container in self.containers.values():
            for key, item in list(_pairs(container)):
                if id(item) in self._back:
                    container[key] = self._back[id(item)][1]
        for mine, theirs, before in self._made:
            if vars(mine) != before:
                vars(theirs).update(vars(mine))

    def refusals(self, held: Callable[[Any], bool]) -> Iterator[Refusal]:
        """Yield why a program could not replace the call; `held` tells what the function reaches in another way."""
        if any(_content(container) != before for container, before in self._before) or any(
            list(map(id, vars(mine).values())) != list(map(id, before.values())) for mine, _, before in self._made
        ):
            yield Refusal("it changes an argument while it runs, which a program would not repeat", None)
        if self._twice:
            yield Refusal("the same list or dict is passed twice", None)
        for container in self.containers.values():
            if held(container):
                yield Refusal(f"an argument, a {type(container).__name__}, can be reached in another way too", None)

    def _lend(self, value: Any) -> Any:
        kind = type(value)
        if kind in _ITEMS or (isinstance(value, dict) and nest.level(value) is not None):
            self._twice = self._twice or id(value) in self.containers
            self.containers[id(value)] = value
            self._before.append((value, _content(value)))
            for key, item in list(_pairs(value)):
                lent = self._lend(item)
                if lent is not item:
                    value[key] = lent
            return value
        level = None if isinstance(value, (Tensor, Variable)) else nest.level(value)
        if level is None:
            lent = next(self._given)
            if lent is not value:
                self._back[id(lent)] = (lent, value)
            return lent
        children, rebuild = level
        lent = [self._lend(child) for child in children]
        if all(a is b for a, b in zip(lent, children, strict=True)):
            return value
        made = rebuild(lent)
        self._back[id(made)] = (made, value)
        if hasattr(made, "__dict__") and not isinstance(made, tuple):
            self._made.append((made, value, dict(vars(made))))
        return made


def _pairs(container: Any) -> Iterator[tuple[Any, Any]]:
    return iter(container.items()) if isinstance(container, dict) else enumerate(container)


def _content(container: Any) -> list[int]:
    return [id(part) for pair in _pairs(container) for part in (pair if isinstance(container, dict) else pair[1:])]
