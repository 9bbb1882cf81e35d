"""Where an instruction of our own is written: its arguments, and what it needs of its surroundings (see `deferred`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.kernels.lowering.arithmetic import Arithmetic
from autodiff_lab.kernels.lowering.calls import attribute
from autodiff_lab.kernels.lowering.kinds import Untranslatable, in_memory
from autodiff_lab.kernels.lowering.values import Array, Number, lift, number


class Site:
    """The place of one call of an instruction.

    Parameters
    ----------
    arithmetic : Arithmetic
        Writes at the place.
    alloca : callable
        Makes room for a value of a type.
    written : deferred.Intrinsic
        What is called.
    args : list
        Its arguments.
    """

    def __init__(self, arithmetic: Arithmetic, alloca: Callable[[Any], Any], written: Any, args: list[Any]) -> None:
        self.a, self.builder, self.alloca = arithmetic, arithmetic.b, alloca
        self.written = written
        self.args: list[Any] = [lift(one) for one in args]
        if len(args) != len(written.given):
            raise Untranslatable(f"{len(args)} arguments of {written.name}")
        for n, kind in enumerate(written.given):
            if kind != "=":
                self.args[n] = self.a.cast(number(self.args[n]), self.dtype(kind))

    def dtype(self, kind: str) -> np.dtype[Any]:
        """Return the dtype that a kind names: its own, or that of an argument."""
        if not kind.startswith("="):
            return np.dtype("bool" if kind == "boolean" else kind)
        of = self.args[int(kind[1:])]
        return of.dtype if isinstance(of, (Number, Array)) else np.dtype(of)

    def write(self) -> Any:
        """Write the instruction; return its result."""
        given = [one.value if isinstance(one, Number) else one for one in self.args]
        made = self.written.write(self, *given)
        if self.written.result == "void":
            return None
        return made if isinstance(made, Array) else Number(self.dtype(self.written.result), made)

    def element(self, n: int) -> Any:
        """Return LLVM's type of the numbers of an argument, as they lie in memory."""
        return in_memory(self.dtype(f"={n}"))

    def data(self, n: int) -> Any:
        """Return where the elements of an array begin."""
        return self.args[n].data

    def count(self, n: int) -> Any:
        """Return how many elements an array has."""
        return attribute(self.a, self.args[n], "size").value

    def row(self, data: Any, size: Any, n: int) -> Array:
        """Return an array of one axis of the dtype of an argument."""
        return Array(self.dtype(f"={n}"), data, (size,))
