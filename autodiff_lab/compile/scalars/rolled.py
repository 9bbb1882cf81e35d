"""Rolled text: scalar lines as Python statements, with ``for`` loops where `reroll` found repetitions.

A loop stores in an array what a later loop reads, and carries in plain names what its next iteration needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from autodiff_lab.compile.program.names import Namer
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.repeats import in_terms_of_the_turn
from autodiff_lab.compile.program.reroll import Before, Carried, Inside, Kept, Law, Loop, Tabled

MOST_LISTED = 300
"""The most results that are written one by one; a stretch of what a loop stores counts as one."""


class NotRolled(Exception):
    """The loops cannot be written."""


class Roll:
    """Scalar lines, the loops in them, and what each loop must keep.

    Attributes
    ----------
    kept : dict
        By loop and statement, the value before the first iteration if that is stored too, else None.
    tables : list of tuple of int
        Values that are passed as arrays, one for each iteration of a loop.
    """

    def __init__(self, lines: list[Line], outs: list[int], loops: list[Loop]) -> None:
        self.lines, self.outs, self.loops = lines, outs, loops
        self.kept: dict[tuple[int, int], int | None] = {}
        self.tables: list[tuple[int, ...]] = []
        self.place: dict[int, tuple[int, int, int]] = {}  # value -> loop, iteration, statement
        for n, loop in enumerate(self.loops):
            for k in range(loop.rounds * loop.period):
                self.place[lines[loop.start + k].outs[0]] = (n, *divmod(k, loop.period))
        self.plain: list[Line] = [line for part in self.parts() if not isinstance(part, Loop) for line in part]
        for loop in self.loops:
            for law in (law for mine in loop.laws for law in mine):
                self._note(law)
        for line in self.plain:
            self._read(line.ins)
        self._read(self._listed())

    @property
    def statements(self) -> int:
        """Number of lines of the text, on which the compile time depends."""
        return len(self.plain) + sum(loop.period for loop in self.loops)

    @property
    def singles(self) -> list[int]:
        """Values that the lines read by name, in the order of their first use."""
        read = [i for line in self.plain for i in line.ins]
        for loop in self.loops:
            for law in (law for mine in loop.laws for law in mine):
                read += law.first if isinstance(law, Carried) else [law.value] if isinstance(law, Before) else []
        return list(dict.fromkeys([*read, *self.outs]))

    def parts(self) -> Iterable[Loop | list[Line]]:
        """Loops and the straight lines between them, in order."""
        at = 0
        for loop in self.loops:
            if loop.start > at:
                yield self.lines[at : loop.start]
            yield loop
            at = loop.end
        if at < len(self.lines):
            yield self.lines[at:]

    def _note(self, law: Law) -> None:
        if isinstance(law, Kept):
            before = self.kept.setdefault((law.loop, law.at), law.initial)
            if law.initial is not None:
                if before not in (None, law.initial):
                    raise NotRolled
                self.kept[law.loop, law.at] = law.initial
        elif isinstance(law, Tabled):
            if law.values not in self.tables:
                self.tables.append(law.values)
                self._read(law.values)
        elif isinstance(law, Carried):
            self._read(law.first)
        elif isinstance(law, Before):
            self._read((law.value,))

    def _read(self, values: Iterable[int]) -> None:
        """Note values that are read one by one: all but those of the last iteration must be stored."""
        for value in values:
            found = self.place.get(value)
            if found is not None and found[1] != self.loops[found[0]].rounds - 1:
                self.kept.setdefault((found[0], found[2]), None)

    # --- results ---------------------------------------------------------------------------------------------------

    def stretches(self) -> list[tuple[int, int, int]]:
        """Return stretches of results that a loop stores in a row: their first position, count and step."""
        found: list[tuple[int, int, int]] = []
        n = 0
        while n < len(self.outs):
            count, step = 1, 0
            here = self.place.get(self.outs[n])
            while here is not None and n + count < len(self.outs):
                after = self.place.get(self.outs[n + count])
                if after is None or (after[0], after[2]) != (here[0], here[2]):
                    break
                ahead = after[1] - here[1] - (step * (count - 1) if step else 0)
                if ahead not in (1, -1) or (step and ahead != step):
                    break
                step = ahead
                count += 1
            found.append((n, count, step or 1))
            n += count
        return found

    def _listed(self) -> list[int]:
        """Return the results; a stretch also needs the last iteration stored."""
        stretches = self.stretches()
        if self.loops and len(stretches) > MOST_LISTED:
            raise NotRolled
        for n, count, _ in stretches:
            if count > 1:
                loop, _, at = self.place[self.outs[n]]
                self.kept.setdefault((loop, at), None)
        return self.outs


def rename(roll: Roll, program: Program, names: dict[int, str]) -> None:
    """Rename the results of the lines, with one name for all iterations of a statement.

    Outputs from other iterations than the last get their own names.
    """
    mine = {line.outs[0] for line in roll.lines}
    namer = Namer({i: name for i, name in names.items() if i not in mine})
    for part in roll.parts():
        if not isinstance(part, Loop):
            for line in part:
                namer.give_line(line, program)
            continue
        name_statements(namer, roll, part, program)
    names.update(namer.names)


def name_statements(namer: Namer, roll: Roll, loop: Loop, program: Program) -> None:
    """Name what a loop computes, with one name for all iterations of a statement but for outputs of earlier ones."""
    outs = set(roll.outs)
    for at in range(loop.period):
        lines = roll.lines[loop.start + at : loop.end : loop.period]
        called = [program.values[line.outs[0]].name for line in (lines[0], lines[-1])]
        wish = called[0] or called[1] or "v"
        if lines[-1].cause is not None:
            wish = f"g_{namer.names.get(lines[-1].cause, '')}"
        name = namer.give(lines[-1].outs[0], wish)
        for line in lines[:-1]:
            if line.outs[0] in outs:
                namer.give(line.outs[0], name)
            else:
                namer.names[line.outs[0]] = name


class Writer:
    """Writes the statements of a roll with given names; `say` gives the comment of a line, if there is to be one."""

    def __init__(
        self,
        roll: Roll,
        names: dict[int, str],
        expression: Callable[[Line, list[str]], str],
        booleans: set[int],
        say: Callable[[Line], str] | None = None,
    ) -> None:
        self.roll, self.expression, self.booleans, self.say = roll, expression, booleans, say
        self.names = dict(names)
        last = [loop.end - loop.period for loop in roll.loops]
        for value, (loop, _, at) in roll.place.items():
            self.names[value] = names.get(roll.lines[last[loop] + at].outs[0], "")
        self._taken = set(self.names.values())
        self.tables = [self._fresh(f"each_{n}") for n, _ in enumerate(roll.tables, start=1)]
        self.arrays = {key: self._fresh(f"all_{self._made(*key)}") for key in roll.kept}
        self.text: list[str] = []

    def _fresh(self, wish: str) -> str:
        while wish in self._taken:
            wish += "_"
        self._taken.add(wish)
        return wish

    def _made(self, loop: int, at: int) -> str:
        """Return the name that a statement of a loop assigns."""
        return self.names[self.roll.lines[self.roll.loops[loop].start + at].outs[0]]

    def read(self, value: int) -> str:
        """Return the expression of a value outside of the loops."""
        found = self.roll.place.get(value)
        if found is None or found[1] == self.roll.loops[found[0]].rounds - 1:
            return self.names[value]
        key = (found[0], found[2])
        return f"{self.arrays[key]}[{found[1] + self._shift(key)}]"

    def _shift(self, key: tuple[int, int]) -> int:
        """Return 1 if the value before the first iteration is stored in front, else 0."""
        return int(self.roll.kept[key] is not None)

    def body(self) -> list[str]:
        """Return all statements."""
        number = 0
        backward: bool | None = None
        for part in self.roll.parts():
            for line in [self.roll.lines[part.start]] if isinstance(part, Loop) else part:
                if (line.cause is not None) != backward:
                    backward = line.cause is not None
                    self.text += self._mark(backward)
                if not isinstance(part, Loop):
                    self._statement(line, [self.read(i) for i in line.ins], "")
            if isinstance(part, Loop):
                self._loop(part, number)
                number += 1
        return self.text

    def one(self, number: int) -> list[str]:
        """Return the statements of one loop alone; those before it must have names."""
        self._loop(self.roll.loops[number], number)
        return self.text

    def _mark(self, backward: bool) -> list[str]:
        """Return the comment at the beginning of a forward or backward pass."""
        return [f"# {'backward' if backward else 'forward'}"] if self.say is not None else []

    def _statement(self, line: Line, given: list[str], indent: str) -> None:
        text = f"{indent}{self.names[line.outs[0]]} = {self.expression(line, given)}"
        self.text.append(f"{text.ljust(44)}  # {self.say(line)}" if self.say is not None else text)

    def _loop(self, loop: Loop, number: int) -> None:
        keys = [key for key in self.roll.kept if key[0] == number]
        for key in keys:
            value, shift = self.roll.lines[loop.start + key[1]].outs[0], self._shift(key)
            kind = "bool_" if value in self.booleans else "number"
            self.text.append(f"{self.arrays[key]} = empty({loop.rounds + shift}, {kind})")
            initial = self.roll.kept[key]
            if initial is not None:
                self.text.append(f"{self.arrays[key]}[0] = {self.read(initial)}")
        memory, updates = self._memory(loop, number)
        steps = [law.step for mine in loop.laws for law in mine if isinstance(law, Kept)]
        down = sum(steps) < 0
        self.text.append(f"for i in range({loop.rounds - 1}, -1, -1):" if down else f"for i in range({loop.rounds}):")
        for at, mine in enumerate(loop.laws):
            # The comment is that of the second iteration: the first may read what came in.
            line = self.roll.lines[loop.start + loop.period + at]
            if loop.numbers:
                line = in_terms_of_the_turn(line, loop.numbers[at], partial(_index, count=loop.rounds, down=down))
            given = [self._operand(law, loop, number, memory, down) for law in mine]
            self._statement(line, given, "    ")
            if (number, at) in self.arrays:
                place = _index(self._shift((number, at)), 1, loop.rounds, down)
                self.text.append(f"    {self.arrays[number, at]}[{place}] = {self._made(number, at)}")
        self.text += [f"    {update}" for update in updates]

    def _memory(self, loop: Loop, number: int) -> tuple[dict[Carried, str], list[str]]:
        """Return names for what iterations carry on, and the statements that update them at the end of an iteration."""
        readers: dict[Carried, int] = {}
        for at, mine in enumerate(loop.laws):
            readers.update({law: at for law in mine if isinstance(law, Carried)})
        memory: dict[Carried, str] = {}
        updates: list[str] = []
        for law, last in readers.items():
            made = self._made(number, law.at)
            alone = sum(other.at == law.at and other.lag == 1 for other in readers) == 1
            if law.lag == 1 and alone and last <= law.at:  # nothing reads the old value after the new one is computed
                memory[law] = made
                self.text.append(f"{made} = {self.read(law.first[0])}")
                continue
            chain = [self._fresh(f"{made}_{ago}_before") for ago in range(law.lag, 0, -1)]
            memory[law] = chain[0]
            self.text += [f"{name} = {self.read(i)}" for name, i in zip(chain, law.first, strict=True)]
            updates += [f"{old} = {new}" for old, new in zip(chain, [*chain[1:], made], strict=True)]
        return memory, updates

    def _operand(self, law: Law, loop: Loop, number: int, memory: dict[Carried, str], down: bool) -> str:
        if isinstance(law, Inside):
            return self._made(number, law.at)
        if isinstance(law, Before):
            return self.read(law.value)
        if isinstance(law, Carried):
            return memory[law]
        if isinstance(law, Kept):
            key = (law.loop, law.at)
            return f"{self.arrays[key]}[{_index(law.first + self._shift(key), law.step, loop.rounds, down)}]"
        return f"{self.tables[self.roll.tables.index(law.values)]}[{_index(0, 1, loop.rounds, down)}]"

    def results(self) -> list[str]:
        """Return the expressions of the results."""
        return [self.read(i) for i in self.roll.outs]

    def listed(self, out: str) -> list[str]:
        """Return statements that put the results into an array."""
        text: list[str] = []
        for n, count, step in self.roll.stretches():
            if count == 1:
                text.append(f"{out}[{n}] = {self.read(self.roll.outs[n])}")
                continue
            loop, first, at = self.roll.place[self.roll.outs[n]]
            low = first + self._shift((loop, at))
            place = f"{low} + i" if step == 1 else f"{low} - i"
            text += [f"for i in range({count}):", f"    {out}[{n} + i] = {self.arrays[loop, at]}[{place}]"]
        return text


def _index(first: int, step: int, count: int, down: bool) -> str:
    """Return the position ``first + step · iteration`` in terms of i, which may count down."""
    if down:
        first, step = first + step * (count - 1), -step
    if step == -1:
        return f"{first} - i"
    turn = "i" if step == 1 else f"{step} * i"
    return turn if first == 0 else f"{turn} + {first}" if first > 0 else f"{turn} - {-first}"
