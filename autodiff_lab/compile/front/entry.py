"""Entries of the cache of a compiled function: a program that is ready to run, or the reasons why there is none."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.compile.backends import code_of
from autodiff_lab.compile.front.expected import EXPECT
from autodiff_lab.compile.front.surroundings import Surroundings
from autodiff_lab.compile.front.trace import Late, Refusal, Trace
from autodiff_lab.compile.loops.source import Code
from autodiff_lab.compile.program.blocks import LARGEST_COPY
from autodiff_lab.compile.program.halves import without_halves
from autodiff_lab.compile.program.lines import SIZED_BY_VALUES
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.rewriting import simplify
from autodiff_lab.compile.program.stacks import guarded, in_bands
from autodiff_lab.engine import nest
from autodiff_lab.engine.assigning import LOCK
from autodiff_lab.engine.buffers import holds, rows_changed
from autodiff_lab.engine.collector import be_patient, be_usual
from autodiff_lab.engine.devices import memory_of
from autodiff_lab.engine.dtypes import DType
from autodiff_lab.engine.indexed_slices import with_parts
from autodiff_lab.engine.shape import TensorShape
from autodiff_lab.engine.silence import quietly
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.engine.undoing import StateBefore
from autodiff_lab.engine.variable import Variable
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.ops.array.scattering import RowsToChange, left_to_variable

_VIEWED = (np.ndarray, DeviceArray)
_STATIC = (bool, int, float, complex, str, bytes, type(None), Variable, DType, TensorShape)


def assumptions(program: Program) -> list[Line]:
    """Return the lines that end a program where a value, or the shape of a result, is not as in the trace."""
    return [line for line in program.lines if line.op is EXPECT or line.op.name in SIZED_BY_VALUES]


class Refused(NamedTuple):
    """A signature that runs eagerly, and why."""

    reasons: list[Refusal]
    objects: list[Any]


class Plan(NamedTuple):
    """What makes an entry, and may do so several times, whether its program runs on the CPU, and what it assumes."""

    entry: Callable[[], Compiled]
    on_cpu: bool
    assumed: tuple[Any, ...]


@dataclass
class Compiled:
    """A signature that runs a program."""

    program: Program
    code: Code
    surroundings: Surroundings
    reads: list[Variable]
    assigned: list[Variable]
    rebuild: Callable[[list[Tensor]], Any]
    objects: list[Any]
    open_shapes: list[tuple[Variable, tuple[int, ...]]]
    late: list[Late]
    assumed: tuple[Any, ...]
    """Which values and shapes it assumes."""
    others: list[Compiled] = field(default_factory=list)
    """Programs for other values of what this one assumes."""
    latest: Compiled | None = None
    """The one of them that served the last call, which most likely serves the next one."""
    tried: int = 0
    """Traces for others."""
    making: Any = None
    """The wait for another one that is being compiled."""
    served: int = 0
    """Calls, counted if it assumes anything."""
    missed: int = 0
    """Calls that neither it nor the others could serve."""

    def moved(self) -> bool:
        """Return whether a variable has moved to another memory since the function was traced."""
        there = [self.program.values[i].memory for i in self.program.reads]
        return any(memory_of(v._held) is not place for v, place in zip(self.reads, there, strict=True))

    def __post_init__(self) -> None:
        self.compared = self.program.memory is not None  # whether it is known to be faster than the function
        self.run, self.silent = self.code.run, self.code.silent
        self.unchanged, self.serves = self.surroundings.unchanged, self.surroundings.serves
        self.alone = self.rebuild is _give_one
        first, assigned = len(self.program.arguments), {id(v) for v in self.assigned}
        self.moving = [(v, first + n) for n, v in enumerate(self.reads) if id(v) in assigned]

    def call(self, arrays: list[Any]) -> tuple[bool, Any]:
        """Run the program; False if it cannot serve these values, in which case nothing has changed."""
        latest = self.latest
        if latest is not None and latest.serves(arrays) and (served := latest.call(arrays))[0]:
            return served
        if self.open_shapes and any(v._held.shape != shape for v, shape in self.open_shapes):
            return False, None
        undo, given = None, arrays
        if self.late:
            arrays, undo = self._with_late(arrays)
        while True:  # a second time where another thread has assigned a variable meanwhile
            inputs = [*arrays, *[v._held for v in self.reads]]
            try:
                values = self.run(*inputs) if self.silent else quietly(self.run, *inputs)
            except Exception:  # noqa: BLE001 - the eager run that follows raises it in our words, or has another shape
                if undo is not None:
                    undo()
                return self._otherwise(given)
            if self.assumed:
                self.served, self.latest = self.served + 1, None
            if not self.assigned:
                return True, wrap(values[0]) if self.alone else self.rebuild([wrap(a) for a in values])
            count = len(values) - len(self.assigned)
            fresh = [a.copy() if a.__class__ in _VIEWED and a.base is not None else a for a in values[count:]]
            if self._assign(inputs, fresh):
                return True, self.rebuild([wrap(a) for a in values[:count]])

    def _otherwise(self, arrays: list[Any]) -> tuple[bool, Any]:
        """Run the program for other values that can serve a call, if there is one."""
        tried, self.latest = self.latest, None
        for other in self.others:
            if other is not tried and other.serves(arrays):
                done, result = other.call(arrays)
                if done:
                    self.latest = other
                    return True, result
        self.missed += 1
        return False, None

    def _assign(self, inputs: list[Any], fresh: list[Any]) -> bool:
        """Assign new values, unless another thread has assigned one of the variables meanwhile."""
        with LOCK.held:
            for variable, n in self.moving:
                if not holds(variable, inputs[n]):
                    return False
            inputs.clear()  # rows of what nobody else holds change in place
            for variable, array in zip(self.assigned, fresh, strict=True):
                if array.__class__ is RowsToChange:
                    rows_changed(variable, array.write)
                else:
                    variable._held = array
        return True

    def _with_late(self, arrays: list[Any]) -> tuple[list[Any], Callable[[], None]]:
        """Return the arrays with what every call creates, and how to undo random draws before an eager run."""
        before = StateBefore()
        for late in self.late:
            if late.source is not None:
                before.note_source(late.source())
        return [*arrays, *[late.make() for late in self.late]], before.undo


def compiled(trace: Trace, result: Any, around: Surroundings, objects: list[Any], backend: str) -> Plan | list[Refusal]:
    """Return how the entry for a trace is made, or the reasons why there is none."""
    leaves, rebuild = nest.flatten(result, leaf=nest.slices)
    leaves, rebuild = with_parts(leaves, rebuild)
    for leaf in leaves:
        if not isinstance(leaf, Tensor) and leaf.__class__ not in _STATIC:
            return [Refusal(f"it returns a {type(leaf).__name__}", None)]
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
    results = {id(leaves[i]): leaves[i] for i in places}  # a tensor that is returned twice stays one tensor
    number = {key: n for n, key in enumerate(results)}
    which = [number[id(leaves[i])] for i in places]
    program = trace.program(list(results.values()))
    if trace.refusals:
        return list(trace.refusals)
    reads = list(trace.hidden)
    order = {v: n for n, v in enumerate(reads)}
    assigned, late = list(trace.assigned), trace.late
    kept = [None if isinstance(leaf, Tensor) else leaf for leaf in leaves]

    def give(tensors: list[Tensor]) -> Any:
        now = list(kept)
        for place, n in zip(places, which, strict=True):
            now[place] = tensors[n]
        return rebuild(now)

    make = _give_one if isinstance(result, Tensor) else rebuild if len(results) == len(leaves) else give
    said = [(line.params.get("value"), line.outs) for line in assumptions(program)]
    assumed = tuple([value or tuple([program.values[i].shape for i in outs]) for value, outs in said])
    open_shapes = [(v, v._held.shape) for v in reads if v._shape is not None]

    def entry() -> Compiled:
        be_patient()  # a compiler makes many objects that live
        try:
            made, code = _coded(simplify(program), backend, [order.get(v, -1) for v in assigned])
        finally:
            be_usual()
        return Compiled(made, code, around, reads, assigned, make, objects, open_shapes, late, assumed)

    return Plan(entry, program.memory is None, assumed)


def _give_one(tensors: list[Tensor]) -> Any:
    return tensors[0]


def not_made(result: Any, held: Callable[[Any], bool]) -> list[Refusal]:
    """Refuse a list or dict in the result that existed before or occurs twice: a program creates new ones."""
    seen: set[int] = set()
    waiting = [result]
    while waiting:
        value = waiting.pop()
        if isinstance(value, (list, dict, deque)):
            if id(value) in seen or held(value):
                kind = type(value).__name__
                return [Refusal(f"it returns a {kind} of which a program would make a new one in every call", None)]
            seen.add(id(value))
        if isinstance(value, (list, tuple, dict, deque)):
            waiting.extend(value.values() if isinstance(value, dict) else value)
    return []


def _coded(program: Program, backend: str, place: list[int]) -> tuple[Program, Code]:
    """Return the program that runs, with bands where that helps, and its code.

    `place` has the number of the read of each variable that is assigned.
    """
    if backend != "numpy":
        program = without_halves(program)
    bands = in_bands(program) if backend != "numpy" and program.memory is None else None
    if bands is None:
        return program, code_of(_with_rows_left(program, place), backend)
    code = code_of(_with_rows_left(bands, place), backend)
    return bands, guarded(code, partial(code_of, _with_rows_left(program, place), backend))


def _with_rows_left(program: Program, place: list[int]) -> Program:
    """Return the program that leaves changes of some rows of a variable to the variable, which may write in place."""
    own = {(program.reads[n], i) for n, i in zip(place, program.assigned, strict=True) if n >= 0}
    lines = list(program.lines)
    for n, line in enumerate(lines):
        large = math.prod(program.values[line.outs[0]].shape) > LARGEST_COPY
        alone = large and not program.users[line.outs[0]] and program.outputs.count(line.outs[0]) == 1
        if (*line.ins[:1], *line.outs) in own and alone and program.memory is None:
            later = left_to_variable(line.op, program.values[line.outs[0]].dtype)
            lines[n] = line if later is None else line._replace(op=later)
    return replace(program, lines=tuple(lines))
