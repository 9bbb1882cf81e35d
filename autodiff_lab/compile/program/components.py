"""Components: small vectors and matrices that are stacked from arrays are computed component by component.

A rotation for each of many joints is stacked of sines, cosines and zeros, multiplied, and taken apart again.  Kept as
its nine components, each an array over the joints, it is never stacked: to take a row or to transpose only says which
components are meant, and a product of matrices is sums of products of components, which loops compute together with
all that surrounds them.  What something needs whole is stacked there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from autodiff_lab.compile.program.looking import VIEWING
from autodiff_lab.compile.program.program import Line, Program, Value
from autodiff_lab.compile.program.regions import fusible
from autodiff_lab.compile.program.rewriting import one_value, simplify
from autodiff_lab.compile.program.stacks import FINITE
from autodiff_lab.engine.op import REGISTRY, Op
from autodiff_lab.kernels.base.compiler import breathe

LONGEST, MOST = 4, 16
"""Components along an axis, and of a value, up to which they are kept apart."""
FEWEST = 64
"""Elements of a component from which on that pays."""
MOST_LINES = 8000
"""Lines of a program up to which it pays: compile time grows with them."""
LEFT = 0.75
"""Share of the lines outside loops that may be left: what is stacked and taken apart after all takes some as well."""
ROUNDED = 16
"""Units in the last place of the sum of all products, up to which a determinant may be that of a singular matrix."""
_FEW = (2, 3, 5, 7, 11)
"""Lengths of the axes of components where an op shows how it moves them."""
_FAR = 10_000
"""More than the product of these."""
Shape = tuple[int, ...]


def _sum_of_products(*factors: Any) -> Any:
    return sum(x * y for x, y in zip(factors[::2], factors[1::2], strict=True))


def _as_text(known: tuple[Any, ...]) -> str:
    return " + ".join([f"{{{n}}} * {{{n + 1}}}" for n in range(0, len(known), 2)])


PRODUCTS = Op(
    "sum_of_products", _sum_of_products, None, expression=_as_text, sentence="adds products", elementwise=True
)


def in_components(program: Program) -> Program:
    """Return the program with components in place of stacks, where that spares it lines that no loop computes."""
    walk = _Walk(program)
    if program.memory is not None or not any(line.op.name == "stack" and walk.begins(line) for line in program.lines):
        return program
    for line in program.lines:
        breathe()
        walk.take(line)
        if len(walk.lines) > MOST_LINES:
            return program
    for i in program.outputs:
        walk.whole(i)
    found = simplify(replace(program, lines=tuple(walk.lines), constants=walk.constants, values=walk.values))
    before, after = (sum(_is_apart(line, one) for line in one.lines) for one in (program, found))
    return found if after <= LEFT * before else program


def _is_apart(line: Line, program: Program) -> bool:
    """Return whether no loop computes a line, and it is more than another view of an array."""
    return line.op.name not in VIEWING and not fusible(line, program)


class _Walk:
    """Goes through the lines once; `parts` has the components of values, in arrays of the shape of their last axes."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.values, self.constants = dict(program.values), dict(program.constants)
        self.fresh = itertools.count(1 + max(self.values, default=0))
        self.lines: list[Line] = []
        self.parts: dict[int, Any] = {}
        self.origin: dict[int, Line] = {}  # of values that do not exist whole
        self.cut: dict[tuple[int, int], Any] = {}  # components of values that do, by how many axes these have
        self.alike: dict[Any, int] = {}

    def begins(self, line: Line) -> bool:
        """Return whether a line puts a few arrays beside each other along a new last axis."""
        stacks = line.op.name == "stack" and line.params["axis"] == -1
        if not stacks and (line.op.name != "accumulate_parts" or line.params["onto"]):
            return False
        one, out = self.program.values[line.ins[0]], self.program.values[line.outs[0]]
        floats = out.dtype.name in ("float32", "float64")
        return floats and out.shape[:-1] == one.shape and are_few(out.shape[-1:]) and math.prod(one.shape) >= FEWEST

    def take(self, line: Line) -> None:
        """Write lines for components, else give the line whole values."""
        found = self._found(line) if len(line.outs) == 1 else None
        if found is None:
            for i in line.ins:
                self.whole(i)
            self.lines.append(line)
        elif found.ndim:
            self.parts[line.outs[0]], self.origin[line.outs[0]] = found, line
        else:  # another name of one component
            again = {"shape": self.values[line.outs[0]].shape}
            self.lines.append(line._replace(op=REGISTRY["reshape"], ins=(int(found),), params=again))

    def _found(self, line: Line) -> Any:
        known = [self.size(i) for i in line.ins if i in self.parts]
        others = [self.size(i) for i in line.ins if i not in self.parts and i not in self.constants]
        if not self.begins(line) and (not known or max(others, default=0) > max(known)):  # too much to take apart
            return None
        rule = _RULES.get(line.op.name)
        if rule is not None:
            return rule(self, line)
        return _each(self, line) if fusible(line, self.program) else None

    def size(self, value: int) -> int:
        """Return the number of elements."""
        return math.prod(self.values[value].shape)

    def whole(self, value: int) -> None:
        """Stack the components of a value that something needs whole."""
        line = self.origin.pop(value, None)
        if line is None:
            return
        shape, parts = self.values[value].shape, self.parts[value]
        if _RULES.get(line.op.name) is _moved and self.origin.keys().isdisjoint(line.ins):
            self.lines.append(line)
            return
        flat = (*shape[: len(shape) - parts.ndim], parts.size)
        stacked = self.write("stack", parts.flat, flat, line, axis=-1)
        self.lines.append(line._replace(op=REGISTRY["reshape"], ins=(stacked,), params={"shape": shape}))

    def write(self, op: str | Op, given: Iterable[Any], shape: Shape, like: Line, **params: Any) -> int:
        """Add a line, or a constant if it depends on constants alone, and return its value."""
        ins, out = tuple(map(int, given)), next(self.fresh)
        made = REGISTRY[op] if isinstance(op, str) else op
        self.values[out] = Value(shape, self.values[like.outs[0]].dtype, "")
        if self.constants.keys() >= set(ins):
            with np.errstate(all="ignore"):
                self.constants[out] = made.kernel(*[self.constants[i] for i in ins], **params)
        else:
            self.lines.append(Line(made, ins, params, (out,), like.place, like.cause))
        return out

    def uniform(self, number: Any, shape: Shape, like: int) -> int:
        """Return a constant whose elements are alike, of the dtype of a value."""
        array = np.broadcast_to(np.asarray(number, self.values[like].dtype), shape)[()]
        key = (shape, array.dtype, array.flat[:1].tobytes() if shape else array.tobytes())
        if key not in self.alike:
            out = self.alike[key] = next(self.fresh)
            self.values[out], self.constants[out] = Value(shape, array.dtype, ""), array
        return self.alike[key]

    def apart(self, value: int, axes: int, line: Line) -> Any:
        """Return the components of a value along its last axes, None if there are too many."""
        shape = self.values[value].shape
        if axes == 0:
            return np.array(value)
        if value in self.parts:
            return self.parts[value] if self.parts[value].ndim == axes else self._deeper(value, axes, line)
        lead, last = shape[: max(0, len(shape) - axes)], shape[-axes:]
        if not are_few(last) or 0 in shape:
            return None
        if (value, axes) not in self.cut:
            like = line._replace(outs=(value,))
            one = one_value(self.constants[value]) if value in self.constants and shape else None
            found = np.empty(last, np.int64)
            for at in np.ndindex(last):
                if not shape:
                    found[at] = value
                elif one is not None:
                    found[at] = self.uniform(one, lead, value)
                else:
                    items = (*[("s", None, None, None)] * len(lead), *[("i", i) for i in at])
                    found[at] = self.write("slice", (value,), lead, like, items=items)
            self.cut[value, axes] = found.reshape((1,) * (axes - len(last)) + last)
        return self.cut[value, axes]

    def _deeper(self, value: int, axes: int, line: Line) -> Any:
        """Take the components of a value apart along further axes; None if there are fewer or too many."""
        parts, shape = self.parts[value], self.values[value].shape
        inner = shape[len(shape) - axes : len(shape) - parts.ndim]
        if parts.ndim > axes or len(shape) < axes or not are_few((*inner, *parts.shape)):
            return None
        columns = [self.apart(int(one), len(inner), line) for one in parts.flat]
        if any(column is None for column in columns):
            return None
        self.parts[value] = np.stack(columns, -1).reshape(*inner, *parts.shape)
        return self.parts[value]

    def lead(self, line: Line) -> Shape | None:
        """Return the axes of components, if they are the same for all operands that have any and for the result."""
        found = {self.values[i].shape[: -self.parts[i].ndim] for i in line.ins if i in self.parts}
        lead = found.pop() if found else self.values[line.ins[0]].shape
        same = not found and self.values[line.outs[0]].shape[: len(lead)] == lead
        return lead if same and len(lead) <= len(_FEW) else None


def are_few(last: Shape) -> bool:
    """Return whether a value with these last axes may be kept as components."""
    return math.prod(last) <= MOST and max(last, default=0) <= LONGEST


def _spread(numbers: Any, rank: int) -> Any:
    """Return an array of components in which each has a few elements, all of them different."""
    few = _FEW[:rank]
    return numbers * _FAR + np.arange(math.prod(few)).reshape(*few, *(1,) * numbers.ndim)


def _gathered(array: Any, rank: int, last: Shape) -> Any:
    """Return which components an array consists of, 0 for zeros; None if their elements have moved."""
    found = np.asarray(array[(0,) * rank] // _FAR) if array.shape == (*_FEW[:rank], *last) else None
    kept = found is not None and np.array_equal(array, np.where(found > 0, _spread(found, rank), 0))
    return found if kept else None


def _moved(walk: _Walk, line: Line) -> Any:
    """Return the components of a result that consists of those of the operands, and of zeros.

    The op itself shows which these are: it moves their numbers, beside a few axes that it has to leave as they are.
    """
    lead, shape = walk.lead(line), walk.values[line.outs[0]].shape
    if lead is None or not are_few(shape[len(lead) :]):
        return None
    known, numbers = [0], []
    for i in line.ins:
        parts = walk.apart(i, len(walk.values[i].shape) - len(lead), line)
        if parts is None:
            return None
        numbers.append(_spread(np.arange(len(known), len(known) + parts.size).reshape(parts.shape), len(lead)))
        known += parts.reshape(-1).tolist()
    params = line.params
    if "shape" in params:
        params = {**params, "shape": (*_FEW[: len(lead)], *params["shape"][len(lead) :])}
    try:
        found = _gathered(line.op.kernel(*numbers, **params), len(lead), shape[len(lead) :])
    except (ValueError, IndexError):
        return None
    if found is None:
        return None
    known[0] = walk.uniform(0, lead, line.outs[0]) if not found.all() else 0
    return np.array(known)[found]


def _each(walk: _Walk, line: Line) -> Any:
    """Return the components of an elementwise result."""
    axes = max(walk.parts[i].ndim for i in line.ins if i in walk.parts)
    shape = walk.values[line.outs[0]].shape
    given = [walk.apart(i, axes, line) for i in line.ins]
    if not are_few(shape[-axes:]) or any(one is None for one in given):
        return None
    operands: list[Any] = [*np.broadcast_arrays(*given)]  # pyright: ignore[reportArgumentType] - none is None
    columns = zip(*[one.flat for one in operands], strict=True)
    made = [walk.write(line.op, ins, shape[:-axes], line, **line.params) for ins in columns]
    return np.array(made).reshape(operands[0].shape)


def _product(walk: _Walk, line: Line) -> Any:
    """Return the components of a product of matrices, or of rows that are multiplied by one matrix."""
    x, y = line.ins
    shape = walk.values[line.outs[0]].shape
    rows = len(walk.values[y].shape) == 2 and (x not in walk.parts or walk.parts[x].ndim == 1)
    axes = 1 if rows else 2
    left, right = walk.apart(x, axes, line), walk.apart(y, 2, line)
    if left is None or right is None or left.shape[-1] != len(right):
        return None
    made = np.empty((*left.shape[:-1], right.shape[1]), np.int64)
    for at in np.ndindex(made.shape):
        pairs = zip(left[at[:-1]], right[:, at[-1]], strict=True)
        made[at] = walk.write(PRODUCTS, itertools.chain(*pairs), shape[:-axes], line)
    return made


def _total(walk: _Walk, line: Line) -> Any:
    """Return the components of a sum or mean over some of them, and over other axes."""
    parts, lead = walk.parts[line.ins[0]], walk.values[line.ins[0]].shape[: -walk.parts[line.ins[0]].ndim]
    inner = [a for a in range(parts.ndim) if a - parts.ndim in line.params["axes"]]
    outer = tuple([a + parts.ndim for a in line.params["axes"] if a < -parts.ndim])
    keepdims, total = line.params["keepdims"], parts
    shape = tuple([1 if a - len(lead) in outer else n for a, n in enumerate(lead)])
    if not keepdims:
        shape = tuple([n for a, n in enumerate(lead) if a - len(lead) not in outer])
    for axis in inner:
        first, *others = np.split(total, total.shape[axis], axis)
        for other in others:
            pairs = zip(first.flat, other.flat, strict=True)
            first = np.array([walk.write("add", pair, lead, line) for pair in pairs]).reshape(first.shape)
        total = first
    made = total.reshape(-1).tolist()
    if outer:
        made = [walk.write(line.op, (i,), shape, line, axes=outer, keepdims=keepdims) for i in made]
    if line.op.name == "mean" and total.size < parts.size:
        count = walk.uniform(parts.size // total.size, (), line.outs[0])
        made = [walk.write("divide", (i, count), shape, line) for i in made]
    kept = [n for a, n in enumerate(total.shape) if keepdims or a not in inner]
    return np.array(made).reshape(kept)


def _accumulated(walk: _Walk, line: Line) -> Any:
    """Return the components of a sum of contributions to parts of a value."""
    lead, shape, onto = walk.lead(line), walk.values[line.outs[0]].shape, line.params["onto"]
    if lead is None or not are_few(last := shape[len(lead) :]):
        return None
    rank = len(lead)
    whole = walk.apart(line.ins[0], len(last), line) if onto else np.full(last, -1)  # where nothing is yet
    if whole is None:
        return None
    made = whole.flatten()
    where = _spread(np.arange(1, made.size + 1).reshape(last), rank)
    for value, (op, params) in zip(line.ins[onto:], line.params["places"], strict=True):
        given, part = walk.values[value].shape, REGISTRY[op].part
        at = _gathered(part(where, **dict(params)), rank, given[rank:]) if part and given[:rank] == lead else None
        parts = walk.apart(value, len(given) - rank, line)
        if at is None or parts is None:
            return None
        for n, one in zip((at - 1).flat, parts.flat, strict=True):
            made[n] = one if made[n] < 0 else walk.write("add", (made[n], one), lead, line)
    zero = walk.uniform(0, lead, line.outs[0]) if np.any(made < 0) else -1
    return np.where(made < 0, zero, made).reshape(last)


def _cofactors(walk: _Walk, line: Line, x: Any, join: str = "subtract") -> Any:
    """Return the cofactors of a matrix of two or three rows as components: differences of products, or sums of them."""
    shape = walk.values[line.ins[0]].shape[:-2]
    if len(x) == 2:
        above, below = x[0, 1], x[1, 0]
        if join == "subtract":
            above, below = (walk.write("negative", (one,), shape, line) for one in (above, below))
        return np.array([[x[1, 1], below], [above, x[0, 0]]])
    made = np.empty((3, 3), np.int64)
    for i, j in np.ndindex(made.shape):  # those of neighbours in a circle need no signs
        (a, b), (c, d) = x[np.ix_(((i + 1) % 3, (i + 2) % 3), ((j + 1) % 3, (j + 2) % 3))]
        pair = [walk.write("multiply", factors, shape, line) for factors in ((a, d), (b, c))]
        made[i, j] = walk.write(join, pair, shape, line)
    return made


def _small_matrix(walk: _Walk, line: Line) -> Any:
    """Return the components of a matrix of two or three rows, None for others and for one whose factors are there."""
    x = walk.apart(line.ins[0], 2, line) if len(line.ins) == 1 else None
    return x if x is not None and x.shape in ((2, 2), (3, 3)) else None


def _expanded(walk: _Walk, line: Line, x: Any, cofactors: Any) -> int:
    """Return the determinant, by the first row."""
    pairs = zip(x[0], cofactors[0], strict=True)
    return walk.write(PRODUCTS, itertools.chain(*pairs), walk.values[line.ins[0]].shape[:-2], line)


def _determinant(walk: _Walk, line: Line) -> Any:
    """Return the determinant, a value of its own rather than a component."""
    x = _small_matrix(walk, line)
    return None if x is None else np.array(_expanded(walk, line, x, _cofactors(walk, line, x)))


def _inverse(walk: _Walk, line: Line) -> Any:
    """Return the components of an inverse.

    Where the determinant is out of range, or as small as rounding makes that of a singular matrix, the factor is not
    finite, and the work is left to the op, which may raise an error.
    """
    x = _small_matrix(walk, line)
    if x is None:
        return None
    shape, dtype = walk.values[line.ins[0]].shape[:-2], walk.values[line.ins[0]].dtype
    write: Callable[..., int] = lambda op, *ins: walk.write(op, ins, shape, line)  # noqa: E731
    number: Callable[[float], int] = lambda value: walk.uniform(value, shape, line.outs[0])  # noqa: E731
    sizes = np.array([write("abs", one) for one in x.flat]).reshape(x.shape)
    cofactors, sums = _cofactors(walk, line, x), _cofactors(walk, line, sizes, "add")
    det, most = _expanded(walk, line, x, cofactors), _expanded(walk, line, sizes, sums)
    regular = write("not_below", write("abs", det), write("multiply", most, number(ROUNDED * np.finfo(dtype).eps)))
    det = write(FINITE, det)
    factor = write(FINITE, write("divide", write("divide", number(1), det), regular))
    made = [walk.write("multiply", (part, factor), shape, line) for part in cofactors.T.flat]
    return np.array(made).reshape(x.shape)


_RULES: dict[str, Callable[[_Walk, Line], Any]] = {
    "accumulate_parts": _accumulated, "det": _determinant, "inv": _inverse, "matmul": _product, "mean": _total,
    "sum": _total,
    **dict.fromkeys(("broadcast_to", "concat", "identity", "pad_axis", "reshape", "reverse", "slice", "slice_axis",
                     "stack", "take", "transpose", "unslice"), _moved),
}  # fmt: skip
