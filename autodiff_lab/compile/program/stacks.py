"""Stacks: a pass that keeps stacks of cotangents as bands, by the rules of eager sweeps.

The rules of `transforms.bands` are called with operations that write lines: ops on stacks become ops on vectors, and
the zeros around them are filled in at the end.  If a diagonal then holds an infinity or nan, the other elements may not
be zeros: `NotFinite` is raised and the call runs on whole stacks.  So results are those of whole stacks, up to the sign
of zeros.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from autodiff_lab.compile.loops.source import Code
from autodiff_lab.compile.program.program import Line, Program, Value
from autodiff_lab.compile.program.rewriting import simplify
from autodiff_lab.engine.op import REGISTRY, Op
from autodiff_lab.engine.silence import quietly
from autodiff_lab.events.listener import fresh_id
from autodiff_lab.kernels.base.compiler import breathe
from autodiff_lab.transforms.bands import Bands, Piece, diagonals
from autodiff_lab.transforms.blocks import Blocks, in_blocks
from autodiff_lab.transforms.columns import Columns, in_columns
from autodiff_lab.transforms.structured import RULES, Structured, applied

SMALLEST, MOST_DIAGONALS = 400, 5
"""Elements from which on a constant is examined, and diagonals up to which it becomes a band."""
SMALLEST_COLUMNS = 8192
"""Elements from which on a stack of columns costs more than the checks that its parts are finite."""
_DTYPES = (np.dtype("float32"), np.dtype("float64"))


class NotFinite(Exception):
    """A diagonal holds an infinity or nan, so the elements around it may not be zeros."""


@lru_cache(32)
def _zeros(length: int, kind: str) -> Any:
    return np.zeros(length, kind)


def _finite(x: Any) -> Any:
    """Raise `NotFinite` if an element is not finite; a product with zeros is the cheapest test."""
    flat = x.reshape(-1)
    if not math.isfinite(np.dot(flat, _zeros(flat.size, flat.dtype.char))):
        raise NotFinite
    return x


DIAGONALS = Op("diagonals", diagonals, None, sentence="puts vectors on diagonals of zeros")
BLOCKS = Op("blocks", in_blocks, None, 1, sentence="puts each part of {0} on the diagonal of a stack of zeros")
COLUMNS = Op("columns", in_columns, None, 1, sentence="places each column of {0} in a layer of its own, among zeros")
FINITE = Op("finite", _finite, None, 1, sentence="checks that {0} is finite", elementwise=True)


def in_bands(program: Program) -> Program | None:
    """Return a program with bands in place of stacks, None if there are none.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> @lab.function
    ... def gradients(x):
    ...     with lab.GradientTape() as tape:
    ...         tape.watch(x)
    ...         y = lab.sin(x)
    ...     return tape.jacobian(y, x)
    >>> print(gradients(lab.linspace(0.0, 1.0, 30))[0, :2])
    Tensor([1. 0.], shape=(2,), dtype=float32)
    >>> print(gradients.program)
    %0: f32[30] = argument x
    backward:
    %1: f32[30] = cos(%0)
    %2: f32[30] = finite(%1)
    %3: f32[30,30] = diagonals(%2, offsets=(0,), firsts=(0,), shape=(30, 30))
    return %3
    """
    walk = _Walk(program)
    for line in program.lines:
        breathe()
        walk.take(line)
    if not walk.changed:
        return None
    for i in program.outputs:
        walk.whole(i)
    return simplify(replace(program, lines=tuple(walk.lines), constants=walk.constants, values=walk.values))


class _Vector:
    """A value of the program as a rule sees it: operations on it become lines."""

    def __init__(self, ops: _Writing, value: int) -> None:
        self.ops, self.value = ops, value
        self.shape, self.dtype = ops.walk.values[value].shape, ops.walk.values[value].dtype

    @property
    def T(self) -> Any:
        made = self.ops.walk.program.made_by.get(self.value)
        if made is not None and made.op.name == "transpose" and made.params["perm"] in ((-1, -2), (1, 0)):
            return _Vector(self.ops, made.ins[0])
        return self.ops.transpose(self, perm=(-1, -2))

    def reshape(self, shape: tuple[int, ...]) -> Any:
        return self.ops.reshape(self, shape=shape)

    def __add__(self, other: Any) -> Any:
        return self.ops.add(self, other)

    def __mul__(self, other: Any) -> Any:
        return self.ops.multiply(self, other)

    def __truediv__(self, other: Any) -> Any:
        return self.ops.divide(self, other)

    def __neg__(self) -> Any:
        return self.ops.negative(self)

    def __getitem__(self, index: slice) -> Any:
        return self.ops.slice(self, items=(("s", index.start, index.stop, None),))


class _Writing:
    """Operations that write lines in place of another; constants are computed at once."""

    raw = False

    def __init__(self, walk: _Walk, like: Line) -> None:
        self.walk, self.like = walk, like

    def __getattr__(self, name: str) -> Any:
        op, walk, like = FINITE if name == "finite" else REGISTRY[name], self.walk, self.like

        def write(*given: _Vector, **params: Any) -> _Vector:
            ins, out = tuple([x.value for x in given]), fresh_id()
            known = [walk.constants.get(i) for i in ins]
            if name == "reshape" and params["shape"] == given[0].shape:
                return given[0]
            constant = all(array is not None for array in known)
            if not constant:
                known = [np.broadcast_to(x.dtype.type(x.dtype.kind in "fc"), x.shape) for x in given]
                walk.lines.append(Line(op, ins, params, (out,), like.place, like.cause))
            with np.errstate(all="ignore"):
                array = op.kernel(*known, **params)  # of ones or positions of 0, as only its shape is wanted
            if constant:
                walk.constants[out] = np.ascontiguousarray(array) if array.shape else array
            walk.values[out] = Value(array.shape, array.dtype, "")
            return _Vector(self, out)

        return write


class _Walk:
    """Goes through the lines once; `bands` holds the values that do not exist as stacks."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.values, self.constants = dict(program.values), dict(program.constants)
        self.lines: list[Line] = []
        self.changed = False
        self.bands: dict[int, Structured] = {}
        self._origin: dict[int, Line] = {}
        for i, array in program.constants.items():
            self._find_band(i, array)

    def take(self, line: Line) -> None:
        """Rewrite a line by the rule of its op, else give it whole stacks."""
        ops = _Writing(self, line)
        if line.op.name in RULES and not self.bands.keys().isdisjoint(line.ins):
            found = applied(ops, line.op.name, tuple([self._given(ops, i) for i in line.ins]), line.params)
            if found is not None:
                self.changed = True
                if isinstance(found, Structured):
                    self.bands[line.outs[0]], self._origin[line.outs[0]] = found, line
                else:
                    again = {"shape": found.shape}  # a name for it
                    self.lines.append(line._replace(op=REGISTRY["reshape"], ins=(found.value,), params=again))
                return
        for i in line.ins:
            self.whole(i)
        self.lines.append(line)

    def _given(self, ops: _Writing, value: int) -> Any:
        band = self.bands.get(value)
        if band is None:
            return _Vector(ops, value)
        if isinstance(band, Blocks):
            return Blocks(_Vector(ops, band.value.value), band.flat)
        if isinstance(band, Columns):
            return Columns(_Vector(ops, band.value.value), band.flat)
        assert isinstance(band, Bands)
        return Bands(band.shape, [p._replace(value=_Vector(ops, p.value.value)) for p in band.pieces])

    def whole(self, value: int) -> None:
        """Build the stack of a band that something needs whole."""
        line = self._origin.pop(value, None)
        band = self.bands.get(value)
        if line is not None and isinstance(band, (Blocks, Columns)):
            kept = (self._checked(line, band.value.value),)
            op = BLOCKS if isinstance(band, Blocks) else COLUMNS
            self.lines.append(line._replace(op=op, ins=kept, params={"shape": band.shape}))
        elif line is not None and isinstance(band, Bands):
            pieces = band.pieces
            offsets, firsts = tuple([p.offset for p in pieces]), tuple([p.first for p in pieces])
            params = {"offsets": offsets, "firsts": firsts, "shape": self.values[value].shape}
            ins = tuple([p.value.value for p in pieces])
            if all(i in self.constants for i in ins):
                self.constants[value] = DIAGONALS.kernel(*[self.constants[i] for i in ins], **params)
            else:
                ins = tuple([self._checked(line, i) for i in ins])
                self.lines.append(line._replace(op=DIAGONALS, ins=ins, params=params))

    def _checked(self, line: Line, value: int) -> int:
        """Add the line that checks what is kept of a stack; return its result."""
        if value in self.constants:
            return value
        out = fresh_id()
        self.values[out] = self.values[value]
        self.lines.append(line._replace(op=FINITE, ins=(value,), params={}, outs=(out,)))
        return out

    def _find_band(self, value: int, array: Any) -> None:
        """Keep a constant stack as a band if it has few diagonals."""
        if array.size < SMALLEST or array.ndim < 2 or array.dtype not in _DTYPES:
            return
        stack = array.reshape(len(array), -1)
        rows, columns = np.nonzero(stack)
        offsets = np.unique(columns - rows)
        if not np.isfinite(stack[rows, columns]).all():
            return
        if not 0 < len(offsets) <= MOST_DIAGONALS:
            if not self._find_columns(value, array, len(rows)):
                self._find_blocks(value, array, len(rows))
            return
        ops, pieces = _Writing(self, Line(DIAGONALS, (), {}, ())), list[Piece]()
        for offset in map(int, offsets):
            diagonal, i = np.array(np.diagonal(stack, offset)), fresh_id()
            self.constants[i], self.values[i] = diagonal, Value(diagonal.shape, array.dtype, "")
            pieces.append(Piece(offset, max(0, offset), _Vector(ops, i)))
        self.bands[value] = Bands(array.shape, pieces)

    def _find_columns(self, value: int, array: Any, count: int) -> bool:
        """Keep a constant stack as columns if its `count` elements that are not zero lie in them."""
        if array.ndim < 3 or len(array) != array.shape[-1] or array.size < SMALLEST_COLUMNS:
            return False
        parts = np.ascontiguousarray(np.einsum("k...k->...k", array))
        if np.count_nonzero(parts) != count:
            return False
        i = fresh_id()
        self.constants[i], self.values[i] = parts, Value(parts.shape, array.dtype, "")
        self.bands[value] = Columns(_Vector(_Writing(self, Line(COLUMNS, (), {}, ())), i))
        return True

    def _find_blocks(self, value: int, array: Any, count: int) -> None:
        """Keep a constant stack as blocks if its `count` elements that are not zero lie in them."""
        for flat in (False, True):
            n, inner = math.isqrt(len(array)) if flat else len(array), array.shape[1 if flat else 2 :]
            if array.shape == ((n * n, *inner) if flat else (n, n, *inner)):
                each = np.arange(n)
                parts = array.reshape(n, n, *inner)[each, each]
                if np.count_nonzero(parts) == count:
                    i = fresh_id()
                    self.constants[i], self.values[i] = parts, Value(parts.shape, array.dtype, "")
                    self.bands[value] = Blocks(_Vector(_Writing(self, Line(BLOCKS, (), {}, ())), i), flat)
                    return


def guarded(code: Code, whole: Callable[[], Code]) -> Code:
    """Return the code of a program with bands; if a diagonal is not finite, the code with whole stacks runs."""
    made: list[Code] = []

    def run(*arrays: Any) -> tuple[Any, ...]:
        try:
            return code.run(*arrays)
        except NotFinite:
            if not made:
                made.append(whole())
            return quietly(made[0].run, *arrays)  # which may need NumPy where this code does not

    return replace(code, run=run)
