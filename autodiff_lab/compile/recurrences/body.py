"""The body of a recurrence: one turn of it, in statements that a compiled loop can hold.

There are three kinds of statements: an expression for each element, a reduction, and a matrix product.  What merely
looks at other values (slices, transposes, broadcasts) is a `View`, and what puts parts together writes into views.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.compile.program.expressions import angle, expression, functions_in
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import REDUCTIONS
from autodiff_lab.compile.program.reroll import Before, Carried, Inside, Kept, Law, Tabled
from autodiff_lab.compile.program.rewriting import one_value
from autodiff_lab.compile.recurrences.views import VIEWING, Unexpressed, View, seen, strides_of, whole
from autodiff_lab.compile.scalars.rolled import Roll
from autodiff_lab.engine.op import REGISTRY

VALUE, STACK = "value", "stack of an earlier loop"
"""What comes in, in the names of flat arrays: a value by its number, or what a statement of an earlier loop stored."""
LARGEST = 65_536
"""Elements of a statement from which on its own loop, which threads share, is as fast."""
TABLED = 2_048
"""Elements of the largest array that is copied for each turn, where every turn reads another one."""
_FLOATS = (np.dtype("float32"), np.dtype("float64"))
_BOOL = np.dtype(bool)


class Literal(NamedTuple):
    """A constant number, of any shape."""

    number: Any


def given(value: int, shape: tuple[int, ...], program: Program) -> View | Literal:
    """Return where a value from outside lies; a constant of one number is part of the text."""
    constant = program.constants.get(value)
    number = None if constant is None else one_value(constant)
    return whole((VALUE, value), shape) if number is None else Literal(number)


def numbers_of(law: Tabled, program: Program) -> list[Any] | None:
    """Return the constants of a table where each of them is one number."""
    found = [program.constants.get(i) for i in law.values]
    numbers = [None if array is None else one_value(array) for array in found]
    return None if any(number is None for number in numbers) else numbers


class Each(NamedTuple):
    """One expression for every element of `target`; `out` is the value made, `after` values written before."""

    text: str
    ins: tuple[View | Literal, ...]
    target: View
    out: Any
    angle: str | None = None
    after: tuple[int, ...] = ()

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
    after: tuple[int, ...] = ()


Statement = Each | Reduce | Product


class Body:
    """One turn of a loop.

    Parameters
    ----------
    roll : Roll
        The program with its loops.
    number : int
        Which loop.
    program : Program
        For shapes and constants.
    needed : set of int
        Lines of the turn whose values are read outside of the loop.

    Attributes
    ----------
    statements : list
        In order.
    values : list of View or Literal
        What each line of the turn computes.
    truths : set of int
        Values made that hold truth values.
    dtype : dtype
        Of all numbers.
    carried : list of Carried
        What a turn takes from those before.
    """

    def __init__(self, roll: Roll, number: int, program: Program, needed: set[int]) -> None:
        self.roll, self.program, self.needed = roll, program, needed
        self.loop = loop = roll.loops[number]
        starts = range(loop.start, loop.end, loop.period)
        self.turns = [roll.lines[start : start + loop.period] for start in starts]
        self.dtype = self._one_dtype()
        self.statements: list[Statement] = []
        self.values: list[View | Literal] = []
        self.truths: set[int] = set()
        self.carried = list(dict.fromkeys(law for mine in loop.laws for law in mine if isinstance(law, Carried)))
        self._fresh = loop.period
        self._sums = self._accumulated()
        for at, line in enumerate(self.turns[1]):
            self.values.append(self._value(at, line))

    def _one_dtype(self) -> np.dtype[Any]:
        values = [self.program.values[i] for line in self.turns[1] for i in (*line.ins, *line.outs)]
        found = {value.dtype for value in values} - {_BOOL}
        if len(found) != 1 or not found <= set(_FLOATS):
            raise Unexpressed("values of several dtypes")
        if any(0 in value.shape for value in values):
            raise Unexpressed("values without elements")
        return found.pop()

    def _accumulated(self) -> dict[int, tuple[int, Carried]]:
        """Return products that are only added to what the same addition made in the turn before, by statement."""
        users: dict[int, list[int]] = {}
        for at, mine in enumerate(self.loop.laws):
            for law in mine:
                if isinstance(law, Inside):
                    users.setdefault(law.at, []).append(at)
        found: dict[int, tuple[int, Carried]] = {}
        for at, line in enumerate(self.turns[1]):
            mine = users.get(at, [])
            if (
                line.op.name != "matmul"
                or len(mine) != 1
                or at in self.needed
                or self.turns[1][mine[0]].op.name != "add"
            ):
                continue
            others = [law for law in self.loop.laws[mine[0]] if law != Inside(at)]
            same = self._shape(mine[0]) == self._shape(at)
            if same and len(others) == 1 and isinstance(others[0], Carried) and others[0][:2] == (mine[0], 1):
                readers = [law for laws in self.loop.laws for law in laws if law == others[0]]
                others_of_it = [law for law in self.carried if law.at == mine[0]]
                if len(readers) == 1 == len(others_of_it):
                    found[at] = mine[0], others[0]
        return found

    def _shape(self, at: int) -> tuple[int, ...]:
        return self.program.values[self.turns[1][at].outs[0]].shape

    def is_truth(self, base: Any) -> bool:
        """Return whether the flat array of a view holds truth values."""
        if isinstance(base, int):
            return base in self.truths
        if isinstance(base, Tabled):
            value = base.values[0]
        elif base[0] == STACK:
            value = self.roll.lines[self.roll.loops[base[1]].start + base[2]].outs[0]
        elif base[0] == VALUE:
            value = base[1]
        else:
            value = self.turns[1][base[0].at if isinstance(base[0], Carried) else base[1]].outs[0]
        return self.program.values[value].dtype == _BOOL

    # --- operands --------------------------------------------------------------------------------------------------

    def operand(self, law: Law, shape: tuple[int, ...]) -> View | Literal:
        """Return where an operand lies."""
        if isinstance(law, Inside):
            return self.values[law.at]
        if isinstance(law, Before):
            return given(law.value, shape, self.program)
        size = math.prod(shape)
        if isinstance(law, Carried):
            return whole((law, law.lag), shape)
        if isinstance(law, Kept):
            shift = int(self.roll.kept[law.loop, law.at] is not None)  # what came before the first turn is in front
            return whole((STACK, law.loop, law.at), shape, (law.first + shift) * size, law.step * size)
        if numbers_of(law, self.program) is not None:
            return View(law, shape, (0,) * len(shape), 0, 0, 1)
        if size > TABLED:
            raise Unexpressed("another large array in each turn")  # the layers of a net: copying them takes longer
        return whole(law, shape, 0, size)

    def _fresh_value(self, truth: bool = False) -> int:
        self._fresh += 1
        if truth:
            self.truths.add(self._fresh)
        return self._fresh

    def _each(self, text: str, ins: tuple[View | Literal, ...], target: View, **more: Any) -> View:
        """Add an expression, and return where its results lie."""
        if math.prod(target.shape) >= LARGEST:
            raise Unexpressed("large arrays")
        spread = tuple(one.spread(target.shape) if isinstance(one, View) else one for one in ins)
        self.statements.append(Each(text, spread, target, target.base, **more))
        return target

    def copied(self, view: View) -> View:
        """Add a copy of a view, and return it, contiguous."""
        truth = self.is_truth(view.base)
        return self._each("{0}", (view,), whole(self._fresh_value(truth), view.shape))

    # --- lines -----------------------------------------------------------------------------------------------------

    def _value(self, at: int, line: Line) -> View | Literal:
        """Return the value of a line; what computes it is added to the statements."""
        shapes = [self.program.values[i].shape for i in line.ins]
        shape, dtype, _, memory = self.program.values[line.outs[0]]
        ins = [self.operand(law, its) for law, its in zip(self.loop.laws[at], shapes, strict=True)]
        name = line.op.name
        if memory is not None:
            raise Unexpressed("values on a GPU")
        if dtype == _BOOL:
            self.truths.add(at)
        target = whole(at, shape)
        if name in VIEWING and (name != "reshape" or shape):
            return self._looked_at(line, ins[0], at)
        if name in REDUCTIONS:
            return self._reduced(line, ins[0], target)
        if name == "matmul":
            return self._multiplied(ins, target, at)
        if name == "add" and any(goal == at for goal, _ in self._sums.values()):
            return target
        text = expression(line, self.program)
        if text is not None:
            return self._each(text, tuple(ins), target, angle=angle(line))
        parts = _PARTS.get(name)
        if parts is None:
            raise Unexpressed(name)
        return self._put_together([parts(turn[at], shapes) for turn in self._turns_of(at)], ins, target)

    def _turns_of(self, at: int) -> list[list[Line]]:
        """Return the turns in which the parameters of a line differ."""
        moving = any(step for _, step in self.loop.numbers[at])
        return self.turns if moving else self.turns[:1]

    def _looked_at(self, line: Line, source: View | Literal, at: int) -> View | Literal:
        if isinstance(source, Literal):
            return source
        turns = [turn[at].params for turn in self._turns_of(at)]
        found = seen(source, line, turns)
        if found is None:
            found = seen(self.copied(source), line, turns)
        if found is None:
            raise Unexpressed(line.op.name)
        return found

    def _reduced(self, line: Line, source: View | Literal, target: View) -> View:
        shape, name = self.program.values[line.ins[0]].shape, line.op.name
        axes = {a % len(shape) for a in line.params["axes"]} if shape else set[int]()
        if math.prod(shape) >= LARGEST:
            raise Unexpressed("large arrays")
        if not axes:
            return self._each("{0}", (source,), target)
        kept = tuple(1 if k in axes else n for k, n in enumerate(shape))
        strides = tuple(0 if k in axes else s for k, s in enumerate(strides_of(kept)))
        mean = name == "mean"
        out = self._fresh_value() if mean else target.base
        spread = source.spread(shape) if isinstance(source, View) else source
        self.statements.append(Reduce("sum" if mean else name, (spread,), View(out, shape, strides), out))
        if not mean:
            return target
        count = math.prod(shape) // math.prod(kept)
        return self._each(f"{{0}} / number({count})", (whole(out, target.shape),), target)

    def _multiplied(self, ins: list[View | Literal], target: View, at: int) -> View:
        x, y = (one if isinstance(one, View) else self._spelled_out(one, at, n) for n, one in enumerate(ins))
        if self.dtype != self.program.values[self.turns[1][at].outs[0]].dtype:
            raise Unexpressed("a product of truth values")
        shape, lead = target.shape, target.shape
        if len(x.shape) == 1:
            x = x._replace(shape=(1, *x.shape), strides=(0, *x.strides))
        else:
            lead = lead[:-1]
        if len(y.shape) == 1:
            y = y._replace(shape=(*y.shape, 1), strides=(*y.strides, 0))
        else:
            lead = lead[:-1]
        if lead and len(y.shape) == 2:
            fold = (math.prod(x.shape[:-1]), x.shape[-1])
            x = x.folded(fold) or self.copied(x).folded(fold) or x
            lead = ()
        m, k, n = *x.shape[-2:], y.shape[-1]
        x = self._in_rows(x).spread((*lead, m, k))
        y = self._in_rows(y).spread((*lead, k, n))
        goal, onto = self._sums.get(at, (at, None))
        out = whole(goal, (*lead, m, n))
        self.statements.append(Product((x, y), out, goal, onto))
        return whole(goal, shape)

    def _spelled_out(self, literal: Literal, at: int, which: int) -> View:
        shape = self.program.values[self.turns[1][at].ins[which]].shape
        return self._each("{0}", (literal,), whole(self._fresh_value(), shape))

    def _in_rows(self, matrix: View) -> View:
        """Return a matrix whose rows or columns are contiguous, copied if they are not."""
        (m, n), (a, b) = matrix.shape[-2:], matrix.strides[-2:]
        rows = (b == 1 or n == 1) and (a >= n or m == 1)
        columns = (a == 1 or m == 1) and (b >= m or n == 1)
        return matrix if rows or columns else self.copied(matrix)

    def _put_together(self, turns: list[_Parts], ins: list[View | Literal], target: View) -> View:
        """Write parts into a whole: zeros where none lies, one after the other where they overlap."""
        shape, out, parts = target.shape, target.base, turns[0]
        if math.prod(shape) >= LARGEST:
            raise Unexpressed("large arrays")
        count = np.zeros(shape, np.int16)
        for op, params in parts.places:
            REGISTRY[op].part(count, **params)[...] += 1  # type: ignore[misc] - only ops that have one are named
        apart = not parts.onto and count.max(initial=0) <= 1
        covered = apart and len(turns) == 1 and count.all()
        if parts.onto:
            self._each("{0}", (ins[0],), target)
        elif not covered:
            self._each("zero", (), target)
        for n, (op, _) in enumerate(parts.places):
            place = seen(target, Line(REGISTRY[op], (), {}, ()), [turn.places[n][1] for turn in turns])
            if place is None:
                raise Unexpressed("parts without a place")
            part = ins[n + parts.onto]
            if apart:
                after = () if covered else (out,)
                self._each("{0}" if n == 0 or not parts.adds else "zero + {0}", (part,), place, after=after)
            else:
                self._each("{1}" if n == 0 and not parts.onto else "{0} + {1}", (place, part), place, after=(out,))
        return target


class _Parts(NamedTuple):
    """Where the operands of a line lie in its result: the op that takes each part, and its parameters."""

    places: list[tuple[str, dict[str, Any]]]
    adds: bool = False
    onto: bool = False


def _accumulated_parts(line: Line, shapes: list[tuple[int, ...]]) -> _Parts:
    return _Parts([(op, dict(params)) for op, params in line.params["places"]], True, line.params["onto"])


def _padded(line: Line, shapes: list[tuple[int, ...]]) -> _Parts:
    axis, start = line.params["axis"], line.params["before"]
    return _Parts([("slice_axis", {"axis": axis, "start": start, "stop": start + shapes[0][axis]})])


def _unsliced(line: Line, shapes: list[tuple[int, ...]]) -> _Parts:
    return _Parts([("slice", {"items": line.params["items"]})])


def _joined(line: Line, shapes: list[tuple[int, ...]]) -> _Parts:
    axis, places, start = line.params["axis"], list[tuple[str, dict[str, Any]]](), 0
    for shape in shapes:
        places.append(("slice_axis", {"axis": axis, "start": start, "stop": start + shape[axis]}))
        start += shape[axis]
    return _Parts(places)


def _stacked(line: Line, shapes: list[tuple[int, ...]]) -> _Parts:
    return _Parts([("take", {"axis": line.params["axis"], "index": n}) for n in range(len(shapes))])


_PARTS = {
    "accumulate_parts": _accumulated_parts, "concat": _joined, "pad_axis": _padded, "stack": _stacked,
    "unslice": _unsliced,
}  # fmt: skip
