"""Kernels of recurrences: which loops of a program become one call each, and the Python around the compiled loop."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from autodiff_lab.compile.loops.kernels import flat
from autodiff_lab.compile.loops.source import Kernel
from autodiff_lab.compile.loops.text import indented
from autodiff_lab.compile.program.lines import RECURRENCE, call, comment
from autodiff_lab.compile.program.looking import VIEWING
from autodiff_lab.compile.program.names import Namer
from autodiff_lab.compile.program.program import Line, Program, Value, brief
from autodiff_lab.compile.program.repeats import INDEXED, kept_apart, loops_of
from autodiff_lab.compile.program.reroll import Before, Carried, Kept, Loop, Tabled, without
from autodiff_lab.compile.recurrences.body import VALUE, numbers_of, without_form
from autodiff_lab.compile.recurrences.rows import put_together, read_by_name, rows_in
from autodiff_lab.compile.recurrences.sharing import with_parts_taken_again
from autodiff_lab.compile.recurrences.text import Text
from autodiff_lab.compile.recurrences.views import Unexpressed
from autodiff_lab.compile.scalars.rolled import NotRolled, Roll, Writer, name_statements
from autodiff_lab.engine.op import REGISTRY, Op
from autodiff_lab.kernels.base.store import load

FEWEST = 24
"""Lines from which on a loop is worth compiling."""


def with_recurrences(program: Program, skipped: list[str], unrolled: list[str]) -> tuple[Program, dict[int, Call]]:
    """Return the program with one line in place of each loop over arrays, and the calls by the results of those lines.

    Parameters
    ----------
    program : Program
        On the CPU, as it was traced.
    skipped : list of str
        Gets the error of a compiler; the loops then stay unrolled.
    unrolled : list of str
        Gets the loops that have no compiled form, and why.
    """
    found = _Recurrences(with_parts_taken_again(program))
    unrolled += found.unrolled
    if not found.texts:
        return program, {}
    try:
        return found.replaced()
    except Exception as error:  # noqa: BLE001 - whatever a compiler says, the program runs unrolled
        skipped.append(f"{len(found.texts)} loops over arrays: {type(error).__name__}: {error}")
        return program, {}


class _Recurrences:
    """The loops of a program that can be compiled; whoever reads their values finds them in what they store."""

    def __init__(self, program: Program) -> None:
        self.program, self.lines = program, list(program.lines)
        self.texts: list[Text] = []
        self.unrolled = [_stays(turns, without_form(name)) for turns, name in kept_apart(program)]
        loops = self._worth(loops_of(program))
        while loops:
            try:
                self.roll = Roll(self.lines, list(program.outputs), loops)
            except NotRolled:
                return
            rows = ((line.outs[0], rows_in(line, program, self.roll)) for line in self.roll.plain)
            self.together = {out: runs for out, runs in rows if runs}
            self.single = self._read_one_by_one()
            texts = [self._text(n) for n in range(len(loops))]
            gone = {n for n, text in enumerate(texts) if text is None}
            if not gone:
                self.texts = [text for text in texts if text is not None]
                return
            loops = without(loops, self.lines, gone)

    def _worth(self, loops: list[Loop]) -> list[Loop]:
        """Return the loops over arrays that are long enough, and those that only take parts which another reads."""
        reads = [{law.loop for mine in loop.laws for law in mine if isinstance(law, Kept)} for loop in loops]
        read = set().union(*reads)
        turns = [self.lines[loop.start : loop.start + loop.period] for loop in loops]
        shapes = [[self.program.values[i].shape for line in turn for i in (*line.ins, *line.outs)] for turn in turns]
        arrays = {n for n, of_turn in enumerate(shapes) if any(of_turn)}
        for _ in loops:  # single numbers that such a loop stores are read in one, too
            arrays |= {n for n, others in enumerate(reads) if not arrays.isdisjoint(others)}
        gone: set[int] = set()
        for n, (loop, turn) in enumerate(zip(loops, turns, strict=True)):
            computing = sum(line.op.name not in VIEWING for line in turn)
            if n not in arrays or (computing * loop.rounds < FEWEST and (computing or n not in read)):
                gone.add(n)
        return without(loops, self.lines, gone)

    def _read_one_by_one(self) -> set[int]:
        """Return the values that something outside of their own loop reads by name."""
        found = set(self.program.outputs)
        for line in self.roll.plain:
            found.update(read_by_name(line, self.together.get(line.outs[0])))
        for loop in self.roll.loops:
            for law in (law for mine in loop.laws for law in mine):
                found.update(_named(law))
        return found

    def _text(self, number: int) -> Text | None:
        loop = self.roll.loops[number]
        last = self.lines[loop.end - loop.period : loop.end]
        finals = [at for at, line in enumerate(last) if line.outs[0] in self.single]
        try:
            text = Text(self.roll, number, self.program, finals)
            tables = sum(isinstance(base, Tabled) and not self._is_known(base) for base in text.outside)
            if tables >= loop.rounds:  # to put them together takes longer than the turns one by one
                raise Unexpressed(f"it reads {tables} other arrays in each turn")
        except Unexpressed as met:
            self.unrolled.append(_stays(loop.rounds, str(met)))
            return None
        return text

    def _is_known(self, table: Tabled) -> bool:
        return self.program.constants.keys() >= set(table.values)

    # --- the program without the turns ------------------------------------------------------------------------------

    def replaced(self) -> tuple[Program, dict[int, Call]]:
        """Return the program with one line for each loop, and the calls of those lines."""
        values, lines, calls = dict(self.program.values), list[Line](), dict[int, Call]()
        stacks: dict[tuple[int, int], int] = {}
        number, fresh = 0, count(1 + max(values))
        for part in self.roll.parts():
            if not isinstance(part, Loop):
                for line in part:
                    runs = self.together.get(line.outs[0])
                    if runs is None:
                        lines.append(line)
                    else:
                        lines += put_together(line, runs, self.program, values, stacks, self.roll)
                fresh = count(1 + max(values))
                continue
            tables: dict[Tabled, int] = {}
            for base in self.texts[number].outside:
                if isinstance(base, Tabled) and not self._is_known(base):
                    shape, dtype, name, _ = values[base.values[0]]
                    table = tables[base] = next(fresh)
                    values[table] = Value((part.rounds, *shape), dtype, f"each_{name or 'v'}")
                    how, first = {"axis": -1 - len(shape)}, self.lines[part.start]
                    lines.append(Line(REGISTRY["stack"], base.values, how, (table,), first.place, first.cause))
            for at in self.texts[number].stacks:
                shape, dtype, name, _ = values[self.lines[part.end - part.period + at].outs[0]]
                stack = stacks[number, at] = next(fresh)
                turns = part.rounds + int(self.roll.kept[number, at] is not None)
                values[stack] = Value((turns, *shape), dtype, f"all_{name or 'v'}")
            one = Call(self, number, stacks, tables, values)
            lines.append(one.line)
            calls[one.line.outs[0]] = one
            number += 1
        return replace(self.program, lines=tuple(lines), values=values), calls


def _stays(turns: int, why: str) -> str:
    return f"A loop of {turns} iterations stays unrolled: {why}"


def _named(law: Any) -> tuple[int, ...]:
    """Return the values that a law reads by name."""
    if isinstance(law, Before):
        return (law.value,)
    if isinstance(law, Carried):
        return law.first
    if isinstance(law, Tabled):
        return law.values
    return (law.initial,) if isinstance(law, Kept) and law.initial is not None else ()


class Call:
    """The line that stands for a loop, and its kernel."""

    def __init__(
        self,
        found: _Recurrences,
        number: int,
        stacks: dict[tuple[int, int], int],
        tables: dict[Tabled, int],
        values: dict[int, Value],
    ) -> None:
        self.text, self.roll, self.values, self.number = found.texts[number], found.roll, values, number
        self.program, self.stacks, self.tables = found.program, stacks, tables
        self.loop = loop = found.roll.loops[number]
        self.lines = found.lines[loop.start : loop.end]
        laws = [law for mine in loop.laws for law in mine]
        taken = [i for law in laws if law not in tables for i in _named(law)]
        taken += [initial for initial in self.text.kept.values() if initial is not None]
        gone = {*self.program.constants, *(line.outs[0] for line in self.lines)}
        self.kept = sorted({(law.loop, law.at) for law in laws if isinstance(law, Kept)})
        taken += tables.values()
        self.ins = [*(i for i in dict.fromkeys(taken) if i not in gone), *(stacks[key] for key in self.kept)]
        last = loop.end - loop.period
        self.finals = [found.lines[last + at].outs[0] for at in self.text.finals]
        before = self.lines[: -loop.period]
        self.rows = [line.outs[0] for line in before if line.outs[0] in found.single]  # taken out of a stack
        self.made = [*(stacks[number, at] for at in self.text.stacks), *self.finals]
        self.outs = [*self.made, *self.rows]
        first = self.lines[0]
        op = Op(RECURRENCE, self.plainly, None, sentence="runs a loop")
        self.line = Line(op, tuple(self.ins), {}, tuple(self.outs), first.place, first.cause)

    def plainly(self, *arrays: Any) -> tuple[Any, ...]:
        """Run the loop line by line with NumPy."""
        known: dict[int, Any] = dict(self.program.constants)
        known.update(zip(self.ins, arrays, strict=True))
        for base, table in self.tables.items():
            known.update(zip(base.values, known[table], strict=True))
        for n, at in self.kept:
            stack, initial = known[self.stacks[n, at]], self.roll.kept[n, at]
            if initial is not None:
                known[initial] = stack[0]
            loop = self.roll.loops[n]
            for turn in range(loop.rounds):
                value = self.roll.lines[loop.start + turn * loop.period + at].outs[0]
                known[value] = stack[turn + (initial is not None)]
        with np.errstate(all="ignore"):
            for line in self.lines:
                known[line.outs[0]] = line.op.kernel(*(known[i] for i in line.ins), **line.params)
        for at, initial in self.text.kept.items():
            rows = [known[line.outs[0]] for line in self.lines[at :: self.loop.period]]
            known[self.stacks[self.number, at]] = np.stack([*([] if initial is None else [known[initial]]), *rows])
        return tuple([known[i] for i in self.outs])

    @property
    def title(self) -> str:
        """Its name in what is shown."""
        return f"recurrence_{self.number + 1}"

    @property
    def note(self) -> str:
        """What it is, in a few words."""
        return f"{len(self.lines)} ops: {self.loop.rounds} iterations of one loop"

    def kernel(self, names: dict[int, str]) -> Kernel:
        """Return the compiled loop as a step of a program with these names."""
        ins, outs, backward = tuple(self.ins), tuple(self.outs), self.lines[0].cause is not None
        run = self._wrapper()
        return Kernel(self.title, self.shown(names), ins, outs, run, backward, self.note, (self.loop.rounds,))

    def slots(self) -> list[Any]:
        """Return the slots of the loop as a step of a sequence: numbers, constant arrays, and values by `VALUE`."""
        found: list[Any] = [_address(self.text), self.loop.rounds, np.array(self.text.numbers, np.int64)]
        for base in self.text.outside:
            value = self._value_of(base)
            found.append(self._constant(base) if value is None else (VALUE, value))
        return [*found, *((VALUE, i) for i in self.made)]

    def _value_of(self, base: Any) -> int | None:
        """Return the value that comes in for a base, None if it is constant."""
        if isinstance(base, Tabled):
            return self.tables.get(base)
        value = base[1] if base[0] == VALUE else self.stacks[base[1], base[2]]
        return None if value in self.program.constants else value

    def _constant(self, base: Any) -> Any:
        known = self.program.constants
        if not isinstance(base, Tabled):
            return flat(known[base[1]])
        numbers = numbers_of(base, self.program)
        return flat(np.stack([known[i] for i in base.values] if numbers is None else numbers))

    def place_of(self, row: int) -> tuple[int, int]:
        """Return the stack in which a value of an earlier turn lies, and at which position."""
        _, turn, at = self.roll.place[row]
        return self.stacks[self.number, at], turn + int(self.text.kept[at] is not None)

    def _wrapper(self) -> Any:
        """Return the function that allocates what the loop writes, calls it, and returns its results."""
        bound: dict[str, Any] = {"loop": load(self.text.module).loop, "flat": flat, "empty": np.empty}
        bound["plainly"] = self.plainly
        name = {i: f"a{n}" for n, i in enumerate(self.ins)}
        taken = ", ".join(name.values())
        body: list[str] = []
        for n, i in enumerate(self.made):
            shape, dtype, _, _ = self.values[i]
            name[i] = f"b{n}"
            body.append(f'b{n} = empty({tuple(shape)}, "{dtype.name}")')
        given: list[str] = []
        for n, slot in enumerate(self.slots()):
            if isinstance(slot, tuple):
                given.append(f"{name[slot[1]]}.reshape(-1)" if slot[1] in self.made else f"flat({name[slot[1]]})")
            else:
                bound[f"c{n}"] = slot
                given.append(f"c{n}")
        body.append(f"if loop({', '.join(given)}): return plainly({taken})")
        results = [*(name[i] + ("" if self.values[i].shape else "[()]") for i in self.made)]
        for i in self.rows:
            stack, turn = self.place_of(i)
            results.append(f"{name[stack]}[{turn}]{'.copy()' * (i in self.program.outputs)}")  # whose memory is its own
        body.append(f"return ({', '.join(results)},)")
        code = "\n".join([f"def kernel({taken}):", *indented(body)])
        exec(compile(code, "<autodiff_lab recurrence>", "exec"), bound)
        return bound["kernel"]

    def shown(self, names: dict[int, str]) -> str:
        """Return the loop with the user's names and with comments."""
        namer = Namer(dict(names))
        for loop in self.roll.loops[: self.number + 1]:
            name_statements(namer, self.roll, loop, self.program)
        for i in self.program.constants:
            namer.give(i, "c")
        says = namer.names
        writer = Writer(self.roll, says, _shown, set(), lambda line: comment(line, self.program, writer.names))
        writer.arrays.update({key: names[i] for key, i in self.stacks.items()})
        own = [i for key, i in self.stacks.items() if key[0] == self.number]
        rows = [f"{names[i]} = empty({self.values[i].shape})" for i in own]
        rows += [row for row in writer.one(self.number) if " = empty(" not in row]
        rows.append(f"return {', '.join(names[i] for i in self.outs)}")
        return "\n".join(["@njit", f"def {self.title}({', '.join(names[i] for i in self.ins)}):", *indented(rows)])


def _shown(line: Line, given: list[str]) -> str:
    """Return the expression of a line, with its parameters in full: some are written in terms of the turn."""
    if line.op.name in INDEXED:
        params = [f"{key}={brief(value)}" for key, value in line.params.items()]
        return f"{line.op.name}({', '.join([*given, *params])})"
    return call(line, dict(zip(line.ins, given, strict=True)), {})


def _address(text: Text) -> int:
    if not text.multiplies:
        return 0
    from autodiff_lab.kernels.matmul.direct import address

    return address(text.body.dtype.name)
