"""The body of a recurrence: one iteration, in statements that a compiled loop can hold.

There are four kinds of statements: an expression for each element, a reduction, a matrix product, and a call of a
function on whole arrays.  What merely looks at other values (slices, transposes, broadcasts) is a `View`, and what puts
parts together writes into views.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.compile.program.blocks import Block, block_of
from autodiff_lab.compile.program.expressions import angle, expression
from autodiff_lab.compile.program.looking import VIEWING, view_by
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import LARGEST_IN_TURN, REDUCTIONS
from autodiff_lab.compile.program.reroll import Before, Carried, Inside, Kept, Law, Tabled
from autodiff_lab.compile.program.rewriting import one_value
from autodiff_lab.compile.program.wholes import PARTS, Parts
from autodiff_lab.compile.recurrences.integers import JOINING, of_integers
from autodiff_lab.compile.recurrences.statements import Apply, Each, Literal, Product, Reduce, Statement
from autodiff_lab.compile.recurrences.views import Unexpressed, View, seen, strides_of, whole
from autodiff_lab.compile.scalars.rolled import Roll
from autodiff_lab.engine.op import REGISTRY

VALUE, STACK = "value", "stack of an earlier loop"
"""What comes in, in the names of flat arrays: a value by its number, or what a statement of an earlier loop stored."""
TABLED = 2_048
"""Elements of the largest array that is copied for each turn, where every turn reads another one."""
_FLOATS = (np.dtype("float32"), np.dtype("float64"))
_BOOL, _INTEGERS = np.dtype(bool), (np.dtype("int32"), np.dtype("int64"))


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
    kinds : dict of int to str
        The dtypes of the values made.
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
        self.kinds: dict[int, str] = {}
        self.carried = list(dict.fromkeys(law for mine in loop.laws for law in mine if isinstance(law, Carried)))
        self._fresh = loop.period
        self._sums = self._accumulated()
        for at, line in enumerate(self.turns[1]):
            self.values.append(self._value(at, line))

    def _one_dtype(self) -> np.dtype[Any]:
        values = [self.program.values[i] for line in self.turns[1] for i in (*line.ins, *line.outs)]
        found = {value.dtype for value in values} - {_BOOL, *_INTEGERS}
        if len(found) != 1 or not found <= set(_FLOATS):
            raise Unexpressed("it has values of several dtypes")
        if any(0 in value.shape for value in values):
            raise Unexpressed("it has values without elements")
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
            alone = len(mine) == 1 and at not in self.needed
            if line.op.name != "matmul" or not alone or self.turns[1][mine[0]].op.name != "add":
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

    def kind_of(self, base: Any) -> str:
        """Return the dtype of the flat array of a view."""
        if isinstance(base, int):
            return self.kinds.get(base, self.dtype.name)
        if isinstance(base, Tabled):
            value = base.values[0]
        elif base[0] == STACK:
            value = self.roll.lines[self.roll.loops[base[1]].start + base[2]].outs[0]
        elif base[0] == VALUE:
            value = base[1]
        else:
            value = self.turns[1][base[0].at if isinstance(base[0], Carried) else base[1]].outs[0]
        return self.program.values[value].dtype.name

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
            # The layers of a net: copying them takes longer.
            raise Unexpressed("it reads another large array in each turn")
        return whole(law, shape, 0, size)

    def _fresh_value(self, kind: str) -> int:
        self._fresh += 1
        self.kinds[self._fresh] = kind
        return self._fresh

    def _each(self, text: str, ins: tuple[View | Literal, ...], target: View, **more: Any) -> View:
        """Add an expression, and return where its results lie."""
        if math.prod(target.shape) >= LARGEST_IN_TURN:
            raise Unexpressed("its arrays are large")
        spread = tuple(one.spread(target.shape) if isinstance(one, View) else one for one in ins)
        self.statements.append(Each(text, spread, target, target.base, **more))
        return target

    def copied(self, view: View) -> View:
        """Add a copy of a view, and return it, contiguous."""
        return self._each("{0}", (view,), whole(self._fresh_value(self.kind_of(view.base)), view.shape))

    # --- lines -----------------------------------------------------------------------------------------------------

    def _value(self, at: int, line: Line) -> View | Literal:
        """Return the value of a line; what computes it is added to the statements."""
        shapes = [self.program.values[i].shape for i in line.ins]
        shape, dtype, _, memory = self.program.values[line.outs[0]]
        ins = [self.operand(law, its) for law, its in zip(self.loop.laws[at], shapes, strict=True)]
        name = line.op.name
        if memory is not None:
            raise Unexpressed("it has values on a GPU")
        self.kinds[at] = dtype.name
        target = whole(at, shape)
        if name in VIEWING:
            return self._looked_at(line, ins[0], at)
        if name in REDUCTIONS:
            return self._reduced(line, ins[0], target)
        if name == "matmul":
            return self._multiplied(ins, target, at)
        if name == "add" and any(goal == at for goal, _ in self._sums.values()):
            return target
        return self._computed(at, line, ins, target)

    def _computed(self, at: int, line: Line, ins: list[View | Literal], target: View) -> View:
        """Return the value of a line that calls a block, computes each element, or puts parts together."""
        name, kind = line.op.name, self.kinds[at]
        block = block_of(line, self.program, in_loop=True)
        if block is not None:
            return self._applied(block, ins, target, at)
        text = of_integers(line, self.program)
        if text is None and kind not in (self.dtype.name, "bool") and name not in JOINING:
            raise Unexpressed(f"it has no form for `{name}` of integers")
        text = text or expression(line, self.program)
        if text is not None:
            return self._each(text, tuple(ins), target, angle=angle(line))
        shapes = [self.program.values[i].shape for i in line.ins]
        parts = PARTS.get(name)
        if parts is None:
            raise Unexpressed(without_form(name))
        placed = [found for turn in self._turns_of(at) if (found := parts(turn[at], shapes)) is not None]
        if not placed:
            raise Unexpressed(without_form(name))
        return self._put_together(placed, ins, target)

    def _turns_of(self, at: int) -> list[list[Line]]:
        """Return the turns in which the parameters of a line differ."""
        moving = any(step for _, step in self.loop.numbers[at])
        return self.turns if moving else self.turns[:1]

    def _looked_at(self, line: Line, source: View | Literal, at: int) -> View | Literal:
        if isinstance(source, Literal):
            return source
        turns = [turn[at].params for turn in self._turns_of(at)]
        found = seen(source, line, turns) or seen(self.copied(source), line, turns)
        if found is None:
            raise Unexpressed(without_form(line.op.name))
        return found

    def _reduced(self, line: Line, source: View | Literal, target: View) -> View:
        shape, name = self.program.values[line.ins[0]].shape, line.op.name
        axes = {a % len(shape) for a in line.params["axes"]} if shape else set[int]()
        if math.prod(shape) >= LARGEST_IN_TURN:
            raise Unexpressed("its arrays are large")
        if not axes:
            return self._each("{0}", (source,), target)
        kept = tuple(1 if k in axes else n for k, n in enumerate(shape))
        strides = tuple(0 if k in axes else s for k, s in enumerate(strides_of(kept)))
        mean = name == "mean"
        out = self._fresh_value(self.dtype.name) if mean else target.base
        spread = source.spread(shape) if isinstance(source, View) else source
        self.statements.append(Reduce("sum" if mean else name, (spread,), View(out, shape, strides), out))
        if not mean:
            return target
        count = math.prod(shape) // math.prod(kept)
        return self._each(f"{{0}} / number({count})", (whole(out, target.shape),), target)

    def _multiplied(self, ins: list[View | Literal], target: View, at: int) -> View:
        x, y = (self._spelled_out(one, at, n) for n, one in enumerate(ins))
        if self.dtype != self.program.values[self.turns[1][at].outs[0]].dtype:
            raise Unexpressed("it has no form for a product of truth values")
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

    def _spelled_out(self, value: View | Literal, at: int, which: int) -> View:
        """Return a view; a number is written into all elements of an array."""
        if isinstance(value, View):
            return value
        shape = self.program.values[self.turns[1][at].ins[which]].shape
        return self._each("{0}", (value,), whole(self._fresh_value(value.number.dtype.name), shape))

    def _applied(self, block: Block, ins: list[View | Literal], target: View, at: int) -> View:
        """Add the call of a block, with copies of operands that do not lie as it reads them."""
        if max(math.prod(view.shape) for view in (target, *ins) if isinstance(view, View)) >= LARGEST_IN_TURN:
            raise Unexpressed("its arrays are large")
        given: list[View] = []
        strides: list[tuple[View, int]] = []
        for n, (one, matrices) in enumerate(zip(ins, block.matrices, strict=True)):
            view = self._spelled_out(one, at, n)
            along = zip(view.shape, view.strides, strides_of(view.shape), strict=True)
            if matrices:
                stack = self._stacked(view) if min(view.strides) >= 0 else None
                if stack is None:
                    view = self.copied(view)
                    stack = math.prod(view.shape[-2:])
                strides += [(view, stack), (view, view.strides[-2]), (view, view.strides[-1])]
            elif any(length > 1 and a != b for length, a, b in along):
                view = self.copied(view)
            given.append(view)
        self.statements.append(Apply(block, tuple(given), tuple(strides), target, target.base))
        return target

    @staticmethod
    def _stacked(view: View) -> int | None:
        """Return how far apart the matrices of a stack lie, None if they do not follow one stride."""
        count = math.prod(view.shape[:-2])
        one = view._replace(shape=view.shape[:-2], strides=view.strides[:-2]).folded((count,)) if count > 1 else None
        return 0 if count == 1 else None if one is None else one.strides[0]

    def _in_rows(self, matrix: View) -> View:
        """Return a matrix whose rows or columns are contiguous, copied if they are not."""
        (m, n), (a, b) = matrix.shape[-2:], matrix.strides[-2:]
        rows = (b == 1 or n == 1) and (a >= n or m == 1)
        columns = (a == 1 or m == 1) and (b >= m or n == 1)
        return matrix if rows or columns else self.copied(matrix)

    def _put_together(self, turns: list[Parts], ins: list[View | Literal], target: View) -> View:
        """Write parts into a whole: zeros where none lies, one after the other where they overlap."""
        shape, out, parts = target.shape, target.base, turns[0]
        if math.prod(shape) >= LARGEST_IN_TURN:
            raise Unexpressed("its arrays are large")
        count = np.zeros(shape, np.int16)
        for op, params in parts.places:
            view_by(REGISTRY[op])(count, **params)[...] += 1
        apart = not parts.onto and count.max(initial=0) <= 1
        covered = apart and len(turns) == 1 and count.all()
        if parts.onto:
            self._each("{0}", (ins[0],), target)
        elif not covered:
            self._each("zero", (), target)
        for n, (op, _) in enumerate(parts.places):
            place = seen(target, Line(REGISTRY[op], (), {}, ()), [turn.places[n][1] for turn in turns])
            if place is None:
                raise Unexpressed("it adds to parts without a place")
            part = ins[n + parts.onto]
            if apart:
                after = () if covered else (out,)
                self._each("{0}" if n == 0 or not parts.adds else "zero + {0}", (part,), place, after=after)
            else:
                self._each("{1}" if n == 0 and not parts.onto else "{0} + {1}", (place, part), place, after=(out,))
        return target


def without_form(op: str) -> str:
    """Return the reason for which a loop with an op stays unrolled."""
    return "its values control a branch, an index or a shape" if op == "expect" else f"it has no form for `{op}`"
