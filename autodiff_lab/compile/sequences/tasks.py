"""Tasks: the steps of a sequence as machine code and what each call of it needs, which are sizes and addresses.

Machine code knows no size, so that programs share it: a loop and a copy are compiled once for a structure, a product
once for the tiles that its shape has.
A view costs nothing: a value lies somewhere in the memory of another one, with strides, and products read their left
operand transposed.  What needs its elements in order gets a copy of them, once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.compile.loops.narrow import Narrow, narrowed
from autodiff_lab.compile.loops.parts import parts_of, texts_of
from autodiff_lab.compile.loops.strided import Origin, with_strided
from autodiff_lab.compile.loops.text import LONGEST_ROW, START, Writer, indented
from autodiff_lab.compile.program.blocks import Block, block_of
from autodiff_lab.compile.program.casting import CASTS
from autodiff_lab.compile.program.layouts import (
    MOST_AXES,
    Part,
    dense_strides,
    few_axes,
    in_rows,
    is_dense,
    merged,
    parts_of_whole,
    reach,
    seen_by,
    turned_last,
)
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import Region
from autodiff_lab.compile.recurrences.kernel import Call
from autodiff_lab.compile.sequences.convolutions import Pass, passes_of
from autodiff_lab.compile.sequences.elements import elements_of, joins_alone, takes_few_loops
from autodiff_lab.compile.sequences.joining import Source, Spot, join_steps
from autodiff_lab.compile.sequences.steps import JOINS
from autodiff_lab.compile.sequences.texts import block_text, copy_text, product_text
from autodiff_lab.kernels.base.store import load


class Place(NamedTuple):
    """An address: so many bytes after the begin of a buffer."""

    buffer: int
    bytes: int


class Lies(NamedTuple):
    """Where a value lies: in which buffer, from which element on, and its strides in elements."""

    buffer: int
    offset: int
    strides: tuple[int, ...]


class Task(NamedTuple):
    """Machine code and its slots; `made` are the buffers that it fills."""

    step: Any
    slots: tuple[int | Place, ...]
    made: tuple[int, ...]


class Builder:
    """Turns regions and lines into tasks, one after the other.

    Attributes
    ----------
    given : list of int
        Values from outside, in the order of their first use; each is a buffer.
    constants : dict of int to array
        Buffers that never change.
    sizes : dict of int to int
        Bytes of the buffers that tasks fill; those with negative numbers hold copies.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.tasks: list[Task] = []
        self.given: list[int] = []
        self.constants: dict[int, Any] = {}
        self.sizes: dict[int, int] = {}
        self.lies: dict[int, Lies] = {}
        self.writers: dict[int, Writer] = {}  # of each region, by the last value that it makes
        self._copies: dict[int, Place] = {}
        self._extra = 0  # buffers of no value

    def add(self, item: Region | Line | Call) -> None:
        """Add the tasks of a step."""
        if isinstance(item, Region):
            self._loop(item)
        elif isinstance(item, Call):
            self._recurrence(item)
        elif item.op.name == "matmul":
            self._product(item)
        elif item.op.name in CASTS:
            self._cast(item)
        elif item.op.name in JOINS:
            self._join(item)
        elif joins_alone(item, self.program):
            self._each(item)
        elif (block := block_of(item, self.program)) is not None:
            self._block(item, block)
        elif passes := passes_of(item, self.program):
            self._convolution(item, passes)
        else:
            self._view(item)

    def buffer_of_result(self, value: int) -> int:
        """Return the buffer that holds a value and nothing else, as it is to be returned."""
        return value if self.lies[value].buffer == value else self._copied(value).buffer

    def _of(self, value: int) -> Lies:
        """Return where a value lies; one that nothing made yet comes from outside."""
        found = self.lies.get(value)
        if found is None:
            found = self.lies[value] = Lies(value, 0, dense_strides(self.program.values[value].shape))
            if value in self.program.constants:
                self.constants[value] = np.array(self.program.constants[value], order="C")
            else:
                self.given.append(value)
        return found

    def _new(self, value: int, buffer: int | None = None) -> Place:
        """Return room for a value."""
        shape, dtype, *_ = self.program.values[value]
        place = Place(value if buffer is None else buffer, 0)
        self.sizes[place.buffer] = math.prod(shape) * dtype.itemsize
        if buffer is None:
            self.lies[value] = Lies(value, 0, dense_strides(shape))
        return place

    def _another(self) -> int:
        """Return the number of a buffer that no value has."""
        self._extra += 1
        return -self._extra

    def _place(self, value: int) -> Place:
        lies = self._of(value)
        return Place(lies.buffer, lies.offset * self.program.values[value].dtype.itemsize)

    def _dense(self, value: int) -> Place:
        """Return where the elements of a value lie in order, if need be after a copy."""
        dense = is_dense(self.program.values[value].shape, self._of(value).strides)
        return self._place(value) if dense else self._copied(value)

    def _copied(self, value: int) -> Place:
        """Return a copy of a value with its elements in order."""
        found = self._copies.get(value)
        if found is None:
            source = self._place(value)
            found = self._copies[value] = self._new(value, self._another())
            size = self.program.values[value].dtype.itemsize
            kind = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64", 16: "complex128"}[size]
            self._copy(value, source, found, kind, kind)
        return found

    def _copy(self, value: int, source: Place, target: Place, kind: str, made: str) -> None:
        """Add the task that reads a value where it lies, and writes its elements in order, perhaps of another dtype."""
        axes = merged(self.program.values[value].shape, self.lies[value].strides)
        more, axes = axes[: max(0, len(axes) - MOST_AXES)], axes[-MOST_AXES:]
        fill = [(1, 0)] * (MOST_AXES - len(axes))
        lengths, strides = zip(*fill, *axes, strict=True)
        step = load(copy_text(kind, made, strides[-1])).step
        read, written = (np.dtype(name).itemsize for name in (kind, made))
        for n, turn in enumerate(np.ndindex(*[length for length, _ in more])):  # a copy for each place in further axes
            before = sum(k * stride for k, (_, stride) in zip(turn, more, strict=True))
            begin = Place(source.buffer, source.bytes + read * before)
            goal = Place(target.buffer, target.bytes + written * n * math.prod(lengths))
            self.tasks.append(Task(step, (begin, goal, *lengths, *strides), () if n else (target.buffer,)))

    def _cast(self, line: Line) -> None:
        value, out = line.ins[0], line.outs[0]
        kind, made = (self.program.values[i].dtype.name for i in (value, out))
        self._of(value)
        self._copy(value, self._place(value), self._new(out), kind, made)

    def _join(self, line: Line) -> None:
        """Add the tasks that put parts into a whole."""
        values, onto = self.program.values, line.params.get("onto", False)
        parts = parts_of_whole(line, self.program) or []
        if onto:
            parts.insert(0, Part(line.ins[0], 0, dense_strides(values[line.outs[0]].shape)))
        sources = [Source(part, values[part.value].shape, self._of(part.value).strides) for part in parts]
        places = [self._place(part.value) for part in parts]
        target, begin = self._new(line.outs[0]), len(self.tasks)
        adds, covers = line.op.name in ("accumulate_parts", "diagonals"), onto or line.op.name in ("concat", "stack")
        for text, given in join_steps(values[line.outs[0]], sources, adds=adds, covers=covers):
            slots: list[int | Place] = []
            for slot in given:
                if isinstance(slot, Spot):
                    place = target if slot.source < 0 else places[slot.source]
                    slots.append(Place(place.buffer, place.bytes + slot.bytes))
                else:
                    slots.append(slot if isinstance(slot, int) else self._constant(slot))
            self.tasks.append(Task(load(text).step, tuple(slots), ()))
        self.tasks[begin] = self.tasks[begin]._replace(made=(target.buffer,))

    def _constant(self, array: Any) -> Place:
        """Return the place of an array that never changes."""
        place = Place(self._another(), 0)
        self.constants[place.buffer] = array
        return place

    def _view(self, line: Line) -> None:
        value, out = line.ins[0], line.outs[0]
        shape, dtype, *_ = self.program.values[value]
        lies = self._of(value)
        seen = seen_by(line, shape, dtype, lies.strides)
        if seen is None:  # such as a reshape of what lies transposed
            lies = Lies(self._copied(value).buffer, 0, dense_strides(shape))
            seen = seen_by(line, shape, dtype, lies.strides)
        if seen is None:
            raise ValueError(f"{line.op.name} gives no view")
        self.lies[out] = Lies(lies.buffer, lies.offset + seen[0], seen[1])
        if not few_axes(self.program.values[out].shape, seen[1]):
            raise ValueError(f"{line.op.name} gives a view of too many axes")

    def _product(self, line: Line) -> None:
        values = self.program.values
        x, y = line.ins
        xs, ys, x_strides, y_strides = values[x].shape, values[y].shape, self._of(x).strides, self._of(y).strides
        if len(xs) == 1:
            xs, x_strides = (1, *xs), (0, *x_strides)
        if len(ys) == 1:
            ys, y_strides = (*ys, 1), (*y_strides, 0)
        if len(xs) > 2 == len(ys) and is_dense(xs, x_strides):  # a stack times one matrix is one product
            xs, x_strides = (math.prod(xs[:-1]), xs[-1]), (xs[-1], 1)
        stack, m, k, n = max(math.prod(xs[:-2]), math.prod(ys[:-2])), *xs[-2:], ys[-1]
        turned = [turned_last(axes) for axes in (xs, x_strides, ys, y_strides)]
        left_lies = n == 1 and stack == 1 and in_rows(*turned[:2]) and not in_rows(xs, x_strides)
        if left_lies or (m == 1 and in_rows(*turned[2:]) and not in_rows(ys, y_strides)):
            x, y, m, n = y, x, n, m  # what is turned lies in rows, and the other is one row or one column
            ys, y_strides, xs, x_strides = turned
        left, x_down, x_step, is_turned = self._matrix(x, xs, x_strides, either=True)
        right, y_down, y_step, _ = self._matrix(y, ys, y_strides, either=False)
        x_step, y_step = x_step * (math.prod(xs[:-2]) > 1), y_step * (math.prod(ys[:-2]) > 1)  # one is for all
        out = self._new(line.outs[0])
        dtype = values[line.outs[0]].dtype
        text = product_text(dtype.name, is_turned, m, n, column=n == 1 == y_down)
        slots = (left, right, out, m, k, n, stack, x_down, y_down, x_step, y_step)
        self.tasks.append(Task(load(text).step, slots, (out.buffer,)))

    def _matrix(
        self, value: int, shape: tuple[int, ...], strides: tuple[int, ...], either: bool
    ) -> tuple[Place, int, int, bool]:
        """Return where an operand lies, how far apart its rows and its matrices are, and whether it is transposed."""
        axes = merged(shape[:-2], strides[:-2])
        step = axes[-1][1] if axes else 0
        if len(axes) < 2:
            if in_rows(shape, strides):
                return self._place(value), strides[-2] if shape[-2] > 1 else shape[-1], step, False
            if either and in_rows(turned_last(shape), turned_last(strides)):
                return self._place(value), strides[-1] if shape[-1] > 1 else shape[-2], step, True
        return self._copied(value), shape[-1], math.prod(shape[-2:]), False

    def _each(self, line: Line) -> None:
        strides = [self._of(i).strides for i in line.ins]
        places = [self._place(i) for i in line.ins]
        shapes = [self.program.values[i].shape for i in (*line.outs, *line.ins)]
        if not takes_few_loops(shapes, strides):
            strides = [dense_strides(shape) for shape in shapes[1:]]
            places = [self._dense(i) for i in line.ins]
        made = elements_of(line, self.program, strides)
        out = self._new(line.outs[0])
        self.tasks.append(Task(load(made.text).step, (out, *places, *made.numbers), (out.buffer,)))

    def _block(self, line: Line, block: Block) -> None:
        places: list[Place] = []
        strides: list[int] = []
        for value, matrices in zip(line.ins, block.matrices, strict=True):
            if not matrices:
                places.append(self._dense(value))
                continue
            shape, lies = self.program.values[value].shape, self._of(value)
            stacks = merged(shape[:-2], lies.strides[:-2])
            if len(stacks) > 1 or min(lies.strides) < 0:
                places.append(self._copied(value))
                strides += [math.prod(shape[-2:]), shape[-1], 1]
            else:
                places.append(self._place(value))
                strides += [stacks[0][1] if stacks else 0, *lies.strides[-2:]]
        out = self._new(line.outs[0])
        kinds = [self.program.values[i].dtype.name for i in (*line.outs, *line.ins)]
        numbers = [*block.sizes, *strides, *[block.room] * (block.room > 0)]
        text = block_text(block, kinds, len(numbers))
        self.tasks.append(Task(load(text).step, (out, *places, *numbers), (out.buffer,)))

    def _convolution(self, line: Line, passes: tuple[Pass, ...]) -> None:
        places = [self._dense(i) for i in line.ins]
        out, image, panel = self._new(line.outs[0]), Place(self._another(), 0), Place(self._another(), 0)
        size = self.program.values[line.outs[0]].dtype.itemsize
        self.sizes[image.buffer] = size * max(one.image for one in passes)
        self.sizes[panel.buffer] = size * max(one.panels for one in passes)
        made = out.buffer, image.buffer, panel.buffer
        for n, one in enumerate(passes):
            slots: list[int | Place] = [out, *places, image, one.image, panel, one.panels]
            for table in one.tables:
                slots += [self._constant(table), table.size]
            slots.append(int(one.checks))
            self.tasks.append(Task(load(one.text).step, tuple(slots), () if n else made))

    def _recurrence(self, loop: Call) -> None:
        slots: list[int | Place] = []
        for slot in loop.slots():
            if isinstance(slot, int):
                slots.append(slot)
            elif not isinstance(slot, tuple):
                slots.append(self._constant(slot))
            else:
                slots.append(self._new(slot[1]) if slot[1] in loop.made else self._dense(slot[1]))
        self.tasks.append(Task(load(loop.text.step).step, tuple(slots), tuple(loop.made)))
        for row in loop.rows:
            (stack, turn), shape = loop.place_of(row), loop.values[row].shape
            self.lies[row] = Lies(stack, turn * math.prod(shape), dense_strides(shape))

    def _loop(self, region: Region) -> None:
        writer: Writer | None = narrowed(region, self.program, self._origin)
        if writer is None:
            region, strided = with_strided(region, self.program, LONGEST_ROW, self._origin)
            parts = parts_of(region, self.program, texts_of(region, self.program))
            writer = Writer(region, self.program, parts, strided)
        self.writers[region.all[-1].outs[0]] = writer
        first = writer.arguments()[0]
        slots: list[int | Place] = [writer.rows, int(first.given), math.prod(region.shape)]
        text = [*self._arrays(writer, slots), *writer.body(), *_ends(writer), "return far"]
        module = [
            *writer.head(),
            *["from numpy import int64"] * bool(writer.strided),
            "from autodiff_lab.kernels.base.pointers import STEP, at",
            f"@addressed(STEP{writer.options()})",
            "def step(slots):",
            *indented([f"first, last, {first.name} = 0, slots[0], slots[1]", *text]),
        ]
        made = tuple([i for line in region.all for i in line.outs if i in region.needed])
        self.tasks.append(Task(load("\n".join(module) + "\n").step, tuple(slots), made))

    def _origin(self, value: int) -> Origin:
        """Return where a value lies, counted from that of its elements which comes first in memory."""
        strides = self._of(value).strides
        return Origin(value, (), reach(self.program.values[value].shape, strides)[0], strides)

    def _strided(
        self, value: int, writer: Writer, array: Callable[..., None], text: list[str], slots: list[int | Place]
    ) -> None:
        """Write where the rows of an operand lie: by a table of where they begin, or evenly apart if they are short."""
        lies, (shape, dtype, *_), name = self._of(value), self.program.values[value], writer.names[value]
        first = lies.offset - reach(shape, lies.strides)[0]
        array(name, "1 << 60", writer.number_of(value), Place(lies.buffer, first * dtype.itemsize))
        starts = writer.strided[value].starts
        if isinstance(writer, Narrow):
            text.append(f"{name}_at = slots[{len(slots)}]")
            slots.append(int(starts[0]))
        else:
            array(f"{name}_at", "last", "int64", self._constant(starts))

    def _arrays(self, writer: Writer, slots: list[int | Place]) -> list[str]:
        """Write how a loop gets its arrays from slots, to which they are added."""
        parts, names = writer.parts, writer.names
        text: list[str] = []

        def array(name: str, size: str, kind: str, place: Place) -> None:
            text.append(f"{name} = at(slots[{len(slots)}], {size}, {kind})")
            slots.append(place)

        for values, size in ((parts.whole, "slots[2]"), (parts.row, writer.width), (parts.column, writer.count)):
            for i in values:
                if i in writer.strided:
                    self._strided(i, writer, array, text, slots)
                else:
                    array(names[i], size, writer.number_of(i), self._dense(i))
        for i in parts.single:
            array(f"{names[i]}_a", "1", writer.number_of(i), self._dense(i))
            text.append(f"{names[i]} = {names[i]}_a[0]")
        for values, size in ((parts.stored, "slots[2]"), (parts.row_stored, writer.count)):
            for i in values:
                array(f"out_{names[i]}", size, writer.number_of(i), self._new(i))
        for line in parts.over_rows:
            array(f"out_{writer.name(line)}", writer.width, "number", self._new(line.outs[0]))
            text += [f"for i in range({writer.width}):", f"    out_{writer.name(line)}[i] = {START[line.op.name]}"]
        for line in parts.all_totals:
            array(f"result_{writer.name(line)}", "1", "number", self._new(line.outs[0]))
        return text


def _ends(writer: Writer) -> list[str]:
    """Write what a loop does with its reductions at the end."""
    text: list[str] = []
    for line in writer.parts.over_rows:
        if line.op.name == "mean":
            text += [f"for i in range({writer.width}):", f"    out_{writer.name(line)}[i] /= number({writer.count})"]
    return [*text, *(f"result_{writer.name(line)}[0] = {writer.total(line)}" for line in writer.parts.all_totals)]
