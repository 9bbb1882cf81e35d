"""What is shown of a compiled function, as plain frozen values without ops, tensors or arrays.

An item is a value of the program: something that comes in, a constant, or the result of an op.  A row is a line of a
text and says which items it refers to; that is how the graph, the program and the generated source are linked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autodiff_lab.recording.numbers import counted


@dataclass(frozen=True, slots=True)
class Item:
    """A value of the program, with the op that makes it.

    `kind` is 'argument', 'variable', 'constant' or 'op'; `label` the op's symbol, or the name; `name` what the value
    is called in the generated source, `number` in the program (``%4``), `shape` its dtype and shape.  `ins` are the
    places of its inputs in the list of items.  `words` say what the op does, `where` and `line` which line of the
    user's program it comes from.
    """

    kind: str
    label: str
    name: str
    number: str
    shape: str
    ins: tuple[int, ...] = ()
    backward: bool = False
    words: str = ""
    where: str = ""
    line: str = ""
    times: int = 1


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a text, and the items that it refers to.

    `part` is ``"forward"`` or ``"backward"``, or empty if a line is neither.
    """

    text: str
    items: tuple[int, ...] = ()
    part: str = ""


@dataclass(frozen=True, slots=True)
class Loop:
    """Ops that became one call: its name, a few words on what it is, and its items."""

    title: str
    note: str
    items: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a function runs eagerly, and the line of the user's program that made it so, if it is known."""

    words: str
    where: str = ""
    line: str = ""

    def __str__(self) -> str:
        place = f"{self.where}: {self.line}" if self.line else self.where
        return f"{self.words} ({place})" if place else self.words


@dataclass(frozen=True, slots=True)
class ProgramView:
    """A compiled function, ready to be drawn.

    Attributes
    ----------
    title : str
        The function with its arguments: ``step(x: f32[5,3])``.
    items : tuple of Item
        In the order of the program's text.
    program, source : tuple of Row
        The two texts.
    loops : tuple of Loop
        Which ops became one loop.
    calls : int
        The number of ops that run as separate calls of their kernels.
    why : str
        A sentence if calls run eagerly, or none was made; empty otherwise.
    reasons : tuple of Reason
        Why they do.
    cut : str
        What was left out because the program is long; empty as a rule.

    Examples
    --------
    >>> x = Item("argument", "x", "x", "%0", "f32[3]")
    >>> y = Item("op", "sin", "y", "%1", "f32[3]", (0,))
    >>> ProgramView("f(x: f32[3])", (x, y), (), (), calls=1).summary()
    '1 op forward. It runs as one call.'
    """

    title: str
    items: tuple[Item, ...] = ()
    program: tuple[Row, ...] = ()
    source: tuple[Row, ...] = ()
    loops: tuple[Loop, ...] = ()
    calls: int = 0
    why: str = ""
    reasons: tuple[Reason, ...] = ()
    cut: str = ""

    def loop_of(self, at: int) -> int:
        """Return the index of the loop that computes an item, -1 if there is none."""
        return next((n for n, loop in enumerate(self.loops) if at in loop.items), -1)

    def summary(self) -> str:
        """Say in two sentences how many ops there are, and how they run."""
        ops = [at for at, item in enumerate(self.items) if item.kind == "op"]
        count, back = self._count(ops), self._count([at for at in ops if self.items[at].backward])
        if not ops:
            return "No op is left to run: the result was known before the call." if self.program else ""
        forward = f"{counted(count - back, 'op')} forward" + (f", {back} backward" if back else "")
        if not self.loops:
            return f"{forward}. {'It runs as one call' if count == 1 else 'They run one by one'}."
        sizes = [str(self._count(loop.items)) for loop in self.loops]
        listed = f"{', '.join(sizes[:-1])} and {sizes[-1]}" if len(sizes) > 1 else sizes[0]
        of = f"{listed} op{'s' * (listed != '1')}" if len(sizes) < 6 else f"{sum(map(int, sizes))} ops"
        word = "compiled loop" if all("loop" in loop.title for loop in self.loops) else "compiled piece"
        alone = f", and {counted(self.calls, 'separate call')}"
        return f"{forward}. They run as {counted(len(self.loops), word)} of {of}{alone if self.calls else ''}."

    def _count(self, items: Sequence[int]) -> int:
        return sum(self.items[at].times for at in items)

    def sentence(self, at: int) -> str:
        """Describe an item in one line, and give its details in a second."""
        item = self.items[at]
        called = item.number if item.number == item.name else f"{item.number}, {item.name}"
        if item.kind != "op":
            return f"{called}: {item.kind}\n{item.shape}"
        told = [f"{called}: {item.words}", item.shape, "backward" if item.backward else "forward"]
        told += [f"in {item.times} iterations"] if item.times > 1 else []
        loop = self.loop_of(at)
        if loop >= 0:
            told.append(f"one of {counted(self._count(self.loops[loop].items), 'op')} in {self.loops[loop].title}")
        else:
            told.append("runs as a separate call")
        if item.where:
            told.append(f"from {item.where}: {item.line}" if item.line else f"from {item.where}")
        return f"{told[0]}\n{'; '.join(told[1:])}"

    def loop_sentence(self, at: int) -> str:
        """Say what became one loop."""
        loop = self.loops[at]
        names = ", ".join(self.items[i].label for i in loop.items[:12]) + (", …" if len(loop.items) > 12 else "")
        return f"{loop.title}: {loop.note or counted(self._count(loop.items), 'op')}\n{names}"

    def account(self) -> str:
        """Return the text that replaces the views: the program, or why there is none; the same on every machine."""
        reasons = "\n".join(map(str, self.reasons))
        parts = [self.title, self.why, reasons, "\n".join(row.text for row in self.program), self.cut]
        return "\n\n".join(part for part in parts if part)
