"""Program: a straight line of ops; a trace records it, passes rewrite it and back ends turn it into code.

Values are integers; `Program.values` has the shape, dtype and name of each.  Inputs are the arguments and the variables
that are read; outputs are the results and the variables that are assigned.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.engine.dtypes import public
from autodiff_lab.engine.op import Op
from autodiff_lab.events import Place
from autodiff_lab.kernels.cuda.array import DeviceArray

MOST_SHOWN = 1000
"""Larger constants on a GPU are not fetched to be shown."""


class Value(NamedTuple):
    """What is known of a value before the program runs; `memory` is that of a GPU, or None for the CPU."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    name: str
    memory: Any = None

    @property
    def kind(self) -> str:
        """Dtype and shape, abbreviated as in recordings: ``f32[3]``."""
        name = public(self.dtype).name
        letters = name.rstrip("0123456789")
        short = {"float": "f", "int": "i", "uint": "u", "complex": "c", "bfloat": "bf"}.get(letters, letters)
        return f"{short}{name[len(letters) :]}[{','.join(map(str, self.shape))}]"


class Line(NamedTuple):
    """One application of an op; `cause` is the value whose rule it belongs to, None in the forward pass."""

    op: Op
    ins: tuple[int, ...]
    params: dict[str, Any]
    outs: tuple[int, ...]
    place: Place | None = None
    cause: int | None = None


@dataclass(frozen=True)
class Program:
    """A traced function.

    Attributes
    ----------
    arguments, reads : tuple of int
        Inputs: tensors of the call, and variables in the order of their first reads.
    constants : dict of int to array
        Values that depend on no input.
    lines : tuple of Line
        In the order in which they ran.
    results, assigned : tuple of int
        Outputs: tensors of the result, and new values of variables.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> square = lab.function(lambda x: x * x)
    >>> print(square(lab.constant([1.0, 3.0])))
    Tensor([1. 9.], shape=(2,), dtype=float32)
    >>> print(square.program)
    %0: f32[2] = argument x
    %1: f32[2] = multiply(%0, %0)
    return %1
    """

    arguments: tuple[int, ...]
    reads: tuple[int, ...]
    constants: dict[int, Any]
    lines: tuple[Line, ...]
    results: tuple[int, ...]
    assigned: tuple[int, ...]
    values: dict[int, Value] = field(repr=False)
    targets: tuple[str, ...] = ()  # names of the variables assigned

    def with_lines(self, lines: Iterable[Line], same: dict[int, int], constants: dict[int, Any]) -> Program:
        """Return a copy with other lines; `same` maps outputs to the values that replace them."""

        def now(ids: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(same.get(i, i) for i in ids)

        return replace(
            self, lines=tuple(lines), constants=constants, results=now(self.results), assigned=now(self.assigned)
        )

    @property
    def inputs(self) -> tuple[int, ...]:
        """All inputs, in the order in which the program takes them."""
        return self.arguments + self.reads

    @cached_property
    def memory(self) -> Any:
        """The memory of the GPU that holds values of the program, None if all are on the CPU."""
        return next((value.memory for value in self.values.values() if value.memory is not None), None)

    @cached_property
    def made_by(self) -> dict[int, Line]:
        """The line that computes each value."""
        return {i: line for line in self.lines for i in line.outs}

    @cached_property
    def users(self) -> dict[int, list[Line]]:
        """The lines that read each value."""
        found: dict[int, list[Line]] = {i: [] for i in self.values}
        for line in self.lines:
            for i in line.ins:
                found[i].append(line)
        return found

    @cached_property
    def place(self) -> dict[int, int]:
        """Where in the program each value is computed: the number of its line."""
        return {i: number for number, line in enumerate(self.lines) for i in line.outs}

    @property
    def outputs(self) -> tuple[int, ...]:
        """All outputs, in the order in which the program returns them."""
        return self.results + self.assigned

    def run(self, *arrays: Any) -> tuple[Any, ...]:
        """Interpret the program line by line; the back ends are tested against it."""
        values = dict(self.constants)
        values.update(zip(self.inputs, arrays, strict=True))
        with np.errstate(all="ignore"):
            for line in self.lines:
                value = line.op.kernel(*(values[i] for i in line.ins), **line.params)
                values.update(zip(line.outs, value if value.__class__ is tuple else (value,), strict=True))
        return tuple(values[i] for i in self.outputs)

    def __str__(self) -> str:
        from autodiff_lab.compile.scalars.printed import text_of

        return text_of(self)


def shown(array: Any) -> str:
    """Return a constant in a few characters."""
    if array.__class__ is DeviceArray:
        if array.size > MOST_SHOWN:
            return f"on {array.memory.name}"
        array = array.to_host()
    if array.shape == ():
        return str(array)
    return np.array2string(array, threshold=4, edgeitems=1, precision=4, separator=", ").replace("\n", "")


def brief(value: Any) -> str:
    """Return a parameter in a few characters."""
    return shown(value) if isinstance(value, np.ndarray) else str(value)
