"""Statements: what a compiled iteration of a loop consists of."""

from __future__ import annotations

from typing import Any, NamedTuple

from autodiff_lab.compile.program.blocks import Block
from autodiff_lab.compile.program.expressions import functions_in
from autodiff_lab.compile.program.reroll import Carried
from autodiff_lab.compile.recurrences.views import View


class Literal(NamedTuple):
    """A constant number, of any shape."""

    number: Any


class Each(NamedTuple):
    """One expression for every element of `target`; `out` is the value made, `after` values written before.

    `is_cell` says that others write the other parts of what it makes, each once.
    """

    text: str
    ins: tuple[View | Literal, ...]
    target: View
    out: Any
    angle: str | None = None
    after: tuple[int, ...] = ()
    is_cell: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape that it loops over."""
        return self.target.shape

    @property
    def costly(self) -> bool:
        """Whether it calls an elementary function."""
        return bool(functions_in(self.text))


class Reduce(NamedTuple):
    """A reduction; along what is reduced, `target` has the stride 0."""

    how: str
    ins: tuple[View | Literal, ...]
    target: View
    out: int
    after: tuple[int, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape that it loops over."""
        return self.target.shape


class Product(NamedTuple):
    """A matrix product, or a stack of them, which may be added to what the target holds."""

    ins: tuple[View, View]
    target: View
    out: int
    onto: Carried | None = None


class Apply(NamedTuple):
    """A call of a block; `strides` are those of the operands that are matrices."""

    block: Block
    ins: tuple[View, ...]
    strides: tuple[tuple[View, int], ...]
    target: View
    out: int


Statement = Each | Reduce | Product | Apply
