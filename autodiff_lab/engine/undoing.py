"""Undoing a run: what variables held before it, and in which states sources of random numbers were.

A function that is compiled ahead runs once, and so does one that turns out not to apply to all rows together.  What
they assigned or drew must not be seen afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autodiff_lab.engine.variable import Variable


class StateBefore:
    """The state before a run; whoever runs something asks it to `undo`."""

    def __init__(self) -> None:
        self._variables: dict[Variable, Any] = {}
        self._sources: dict[int, tuple[Any, Any]] = {}

    def note_variable(self, variable: Variable) -> None:
        """Note a variable that is about to be assigned."""
        if variable not in self._variables:
            self._variables[variable] = variable._held

    def note_source(self, source: Any) -> None:
        """Note a generator of NumPy's that is about to be drawn from."""
        if id(source) not in self._sources:
            self._sources[id(source)] = source, source.bit_generator.state

    def keep(self, variables: Iterable[Variable]) -> None:
        """Let variables keep their present values: those with which a layer or an optimizer has built them."""
        for variable in variables:
            self._variables.pop(variable, None)

    def keep_draws(self) -> None:
        """Let what was drawn so far stay drawn, initial weights among it."""
        sources = [source for source, _ in self._sources.values()]
        self._sources.clear()
        for source in sources:
            self.note_source(source)

    def undo(self) -> None:
        """Give variables the values back that they had, or were created with, and put the sources back."""
        for variable, array in self._variables.items():
            variable._held = array
        for source, state in self._sources.values():
            source.bit_generator.state = state
