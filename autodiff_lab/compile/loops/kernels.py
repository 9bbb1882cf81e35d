"""Kernels of fused loops: what stands between the generated Python and a compiled loop.

A wrapper is written for each loop: it flattens the inputs, makes the outputs, calls the loop, and lets NumPy do the
lines one by one where the loop met an angle too large for its reduction.  A loop over many elements is handed to
threads in ranges of rows; what they add up is kept apart by rows and added in order, so that the number of threads
changes no bit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.compile.loops.parts import Parts, parts_of
from autodiff_lab.compile.loops.source import Kernel
from autodiff_lab.compile.loops.text import Writer, constant_text, module_text, sizes
from autodiff_lab.compile.program.expressions import functions_in
from autodiff_lab.compile.program.lines import comment
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import Region
from autodiff_lab.kernels.base.store import load
from autodiff_lab.kernels.base.threads import spread

CHUNKS = 16
"""Into how many parts the rows of a large loop are split where it adds them up."""
PAYS = 50_000.0
"""Nanoseconds of work from which on a thread of its own pays: to start one takes some 15,000."""
_ARRAY, _LINE, _FUNCTION = 0.05, 0.03, 0.3
"""Nanoseconds that an array, a line and an elementary function cost for each element of four bytes, as measured."""
_MERGE = {"sum": "add", "mean": "add", "prod": "multiply", "max": "maximum", "min": "minimum"}
_EMPTY = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}


def flat(array: Any) -> Any:
    """Return the elements in a row, in memory that Numba takes; a view where the array allows it."""
    flags = array.flags
    if flags.c_contiguous and flags.writeable:
        return array.reshape(-1)
    return np.array(array, order="C").reshape(-1)


def kernel_of(region: Region, program: Program, needed: set[int], names: dict[int, str], title: str) -> Kernel:
    """Compile a region; `needed` are the values that something outside uses."""
    parts = parts_of(region, program, needed)
    loop = load(module_text(region, program, parts)).loop
    wrapper = _Wrapper(region, program, parts)
    writer = Writer(region, program, parts, names)
    constants = [f"{names[i]} = {constant_text(v)}" for i, v in parts.constants.items()]
    text = with_comments(writer.text(title), region, program, names)
    source = "\n".join([*constants, "@njit", *text])
    backward = all(line.cause is not None for line in region.all)
    note = f"{len(region.all)} ops in one loop"
    return Kernel(title, source, tuple(wrapper.ins), tuple(wrapper.outs), wrapper.function(loop), backward, note)


def with_comments(text: list[str], region: Region, program: Program, names: dict[int, str]) -> list[str]:
    """Put the words of each op behind its statement."""
    said = {f"{names[line.outs[0]]}_i": comment(line, program, names) for line in [*region.lines, *region.row_lines]}
    made: list[str] = []
    for row in text:
        words = said.pop(row.strip().partition(" = ")[0], None)
        made.append(f"{row.ljust(52)}  # {words}" if words else row)
    return made


class _Wrapper:
    """Writes the function that calls a loop."""

    def __init__(self, region: Region, program: Program, parts: Parts) -> None:
        self.region, self.program, self.parts = region, program, parts
        self.ins = [*parts.whole, *parts.row, *parts.column, *parts.single]
        lines = [*parts.over_rows, *parts.all_totals]
        self.outs = [*parts.stored, *parts.row_stored, *(line.outs[0] for line in lines)]
        self.name = {i: f"v{n}" for n, i in enumerate(dict.fromkeys([*self.ins, *self.outs]))}
        self.rows, self.columns = sizes(region)
        self.plan = Writer(region, program, parts, self.name)
        self.per = -(-self.rows // CHUNKS)

    def function(self, loop: Any) -> Any:
        """Return the function, which takes the arrays of `ins` and gives a tuple of those of `outs`."""
        bound: dict[str, Any] = {
            "loop": loop, "flat": flat, "empty": np.empty, "full": np.full, "spread": spread, "np": np,
            "number": self.region.dtype.type, "plainly": self._plainly(),
        }  # fmt: skip
        arguments = ", ".join(self.name[i] for i in self.ins)
        body = [*self._outputs(), *(self._in_ranges() if self.plan.wide else self._at_once())]
        body.append(f"if far: return plainly({arguments})")
        body += self._finished()
        body.append(f"return ({', '.join(self._result(i) for i in self.outs)},)")
        text = "\n".join([f"def kernel({arguments}):", *(f"    {line}" for line in body)])
        exec(compile(text, "<autodiff_lab kernel>", "exec"), bound)
        return bound["kernel"]

    def _outputs(self) -> list[str]:
        """Return arrays for the results; they own their memory, so that a variable can keep them."""
        made: list[str] = []
        for i in [*self.parts.stored, *self.parts.row_stored]:
            value = self.program.values[i]
            kind = "bool" if value.dtype.kind == "b" else self.region.dtype.name
            made.append(f'{self.name[i]} = empty({value.shape}, "{kind}")')
        for line in self.parts.over_rows:
            shape = (-(-self.rows // self.per), self.columns) if self.plan.chunked else self._shape(line)
            made.append(f"{self._named(line)} = full({shape}, {_start(line)}, number)")
        if self.plan.wide:
            made += [f'sums_{self._named(line)} = empty({self.rows}, "float64")' for line in self.parts.all_totals]
        return made

    def _arrays(self) -> list[str]:
        """Return the arguments of the loop beside the range of rows."""
        name, values = self.name, self.program.values
        made = [str(self.columns), *([str(self.per)] if self.plan.chunked else [])]
        made += [f"flat({name[i]})" for i in [*self.parts.whole, *self.parts.row, *self.parts.column]]
        made += [name[i] if values[i].shape == () else f"{name[i]}.reshape(())[()]" for i in self.parts.single]
        for i in [*self.parts.stored, *self.parts.row_stored]:
            made.append(name[i] if len(values[i].shape) == 1 else f"{name[i]}.reshape(-1)")
        made += [f"{self._named(line)}.reshape(-1)" for line in self.parts.over_rows]
        if self.plan.wide:
            made += [f"sums_{self._named(line)}" for line in self.parts.all_totals]
        return made

    def _at_once(self) -> list[str]:
        targets = ["far", *(self._named(line) for line in self.parts.all_totals)]
        return [f"{', '.join(targets)} = loop(0, {self.rows}, {', '.join(self._arrays())})"]

    def _in_ranges(self) -> list[str]:
        """Return the call that threads share; where rows are added up, they share chunks of rows."""
        arrays = self._arrays()
        given = [f"a{n}" for n in range(len(arrays))]
        call = f"loop(low, high, {', '.join(given)})"
        elements = int(PAYS / self._cost())
        count, each = self.rows, max(1, -(-elements // self.columns))
        if self.plan.chunked:
            call = f"loop(low * {self.per}, min(high * {self.per}, {self.rows}), {', '.join(given)})"
            count, each = -(-self.rows // self.per), max(1, -(-elements // (self.columns * self.per)))
        text = [f"{a} = {array}" for a, array in zip(given, arrays, strict=True)]
        return [*text, f"far = max(spread(lambda low, high: {call}, {count}, {each}))"]

    def _cost(self) -> float:
        """About how many nanoseconds one element takes."""
        arrays = len(self.parts.whole) + len(self.parts.stored)
        functions = sum(len(functions_in(text)) for text in self.parts.texts.values())
        each = _ARRAY * arrays + _LINE * len(self.region.lines) + _FUNCTION * functions
        return each * self.region.dtype.itemsize / 4

    def _finished(self) -> list[str]:
        """Put together what ranges made, and divide means."""
        made: list[str] = []
        for line in self.parts.over_rows:
            name = self._named(line)
            if self.plan.chunked:
                made.append(f"{name} = np.{_MERGE[line.op.name]}.reduce({name}, axis=0).reshape({self._shape(line)})")
            if line.op.name == "mean":
                made.append(f"{name} /= number({self.rows})")
        for line in self.parts.all_totals if self.plan.wide else []:
            name, count = self._named(line), math.prod(self.program.values[line.ins[0]].shape)
            divided = f" / number({count})" if line.op.name == "mean" else ""
            made.append(f"{name} = number(np.{_MERGE[line.op.name]}.reduce(sums_{name})){divided}")
        return made

    def _result(self, i: int) -> str:
        if any(line.outs[0] == i for line in self.parts.all_totals):
            shape = self.program.values[i].shape
            return f"number({self.name[i]})" if shape == () else f"full({shape}, {self.name[i]}, number)"
        return self.name[i]

    def _named(self, line: Line) -> str:
        return self.name[line.outs[0]]

    def _shape(self, line: Line) -> tuple[int, ...]:
        return self.program.values[line.outs[0]].shape

    def _plainly(self) -> Any:
        """Run the lines of the region with NumPy, in the order in which they were traced."""
        order = {id(line): n for n, line in enumerate(self.program.lines)}
        ordered = sorted(self.region.all, key=lambda line: order[id(line)])
        made = {i for line in ordered for i in line.outs}
        constants = {
            i: self.program.constants[i] for line in ordered for i in line.ins
            if i not in made and i not in self.ins
        }  # fmt: skip
        ins, outs = self.ins, self.outs

        def plainly(*arrays: Any) -> tuple[Any, ...]:
            values: dict[int, Any] = {**constants, **dict(zip(ins, arrays, strict=True))}
            with np.errstate(all="ignore"):
                for line in ordered:
                    values[line.outs[0]] = line.op.kernel(*(values[i] for i in line.ins), **line.params)
            return tuple([values[i] for i in outs])

        return plainly


def _start(line: Line) -> str:
    value = _EMPTY[line.op.name]
    return repr(value) if math.isfinite(value) else f'number("{value}")'
