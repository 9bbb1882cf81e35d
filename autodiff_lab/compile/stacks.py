"""Stacks: a pass that keeps stacks of cotangents as bands, where they are; see `bands`.

The ops on stacks become ops on vectors, and the zeros are put around them at the end; a matrix times a diagonal becomes
a scaling of its rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from autodiff_lab.compile.band_rules import RULES
from autodiff_lab.compile.bands import DIAGONALS, MOST_DIAGONALS, Band, NotFinite, Piece, columns_of
from autodiff_lab.compile.passes import simplify
from autodiff_lab.compile.program import Line, Program, Value
from autodiff_lab.compile.source import Code
from autodiff_lab.engine.op import REGISTRY, Op
from autodiff_lab.events import fresh_id

SMALLEST = 400
"""Elements from which on a stack is looked at."""
_DTYPES = (np.dtype("float32"), np.dtype("float64"))


def in_bands(program: Program) -> Program | None:
    """The program with bands in place of stacks, None where there are none.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> @lab.function
    ... def slopes(x):
    ...     with lab.GradientTape() as tape:
    ...         tape.watch(x)
    ...         y = lab.sin(x)
    ...     return tape.jacobian(y, x)
    >>> print(slopes(lab.linspace(0.0, 1.0, 30))[0, :2])
    Tensor([1. 0.], shape=(2,), dtype=float32)
    >>> print(slopes.program)
    %0: f32[30] = argument x
    backward:
    %1: f32[30] = cos(%0)
    %2: f32[30,30] = diagonals(%1, offsets=(0,), firsts=(0,), shape=(30, 30))
    return %2
    """
    walk = Walk(program)
    for line in program.lines:
        walk.take(line)
    if not walk.changed:
        return None
    for i in program.outputs:
        walk.whole(i)
    made = replace(program, lines=tuple(walk.lines), constants=walk.constants, values=walk.values)
    return simplify(made)


class Walk:
    """Goes through the lines once; `bands` holds the values that are not there as stacks."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.values, self.constants = dict(program.values), dict(program.constants)
        self.lines: list[Line] = []
        self.changed = False
        self.bands: dict[int, Band] = {}
        self._origin: dict[int, Line] = {}
        self._known: dict[tuple[int, int, int], int] = {}
        for i, array in program.constants.items():
            band = self._constant_band(array)
            if band is not None:
                self.bands[i] = band

    def take(self, line: Line) -> None:
        """Rewrite a line if it can be; else let it have whole stacks."""
        rule = RULES.get(line.op.name)
        if rule is not None and not self.bands.keys().isdisjoint(line.ins):
            found = rule(self, line)
            if found is not None:
                self.changed = True
                if isinstance(found, Band):
                    self.bands[line.outs[0]] = found
                    self._origin[line.outs[0]] = line
                return
        for i in line.ins:
            self.whole(i)
        self.lines.append(line)

    def whole(self, value: int) -> None:
        """Make a stack of a band that something needs as a stack."""
        line = self._origin.pop(value, None)
        if line is not None:
            pieces = self.bands[value].pieces
            params = {
                "offsets": tuple(p.offset for p in pieces),
                "firsts": tuple(p.first for p in pieces),
                "shape": self.values[value].shape,
            }
            ins = tuple(p.value for p in pieces)
            if all(i in self.constants for i in ins):
                self.constants[value] = DIAGONALS.kernel(*(self.constants[i] for i in ins), **params)
            else:
                self.lines.append(Line(DIAGONALS, ins, params, (value,), line.place, line.cause))

    # --- making lines ----------------------------------------------------------------------------------------------

    def line(
        self,
        op: str | Op,
        ins: tuple[int, ...],
        like: Line,
        shape: tuple[int, ...],
        params: dict[str, Any] | None = None,
    ) -> int:
        """A new line that stands for part of another; constants are computed at once."""
        op = REGISTRY[op] if isinstance(op, str) else op
        out, params = fresh_id(), dict(params or {})
        if all(i in self.constants for i in ins):
            with np.errstate(all="ignore"):
                array = op.kernel(*(self.constants[i] for i in ins), **params)
            self.constants[out] = np.ascontiguousarray(array) if array.shape else array
        else:
            self.lines.append(Line(op, ins, params, (out,), like.place, like.cause))
        self.values[out] = Value(shape, self.values[ins[0]].dtype, "")
        return out

    def reshaped(self, value: int, shape: tuple[int, ...], like: Line) -> int:
        """A value in another shape."""
        return (
            value
            if self.values[value].shape == shape
            else self.line("reshape", (value,), like, shape, {"shape": shape})
        )

    def part(self, value: int, first: int, length: int, like: Line) -> int:
        """The stretch of a vector that belongs to a piece; single numbers belong to all."""
        shape = self.values[value].shape
        if shape in ((), (length,)):
            return value
        key = (value, first, length)
        if key not in self._known:
            items = (("s", first, first + length, None),)
            self._known[key] = self.line("slice", (value,), like, (length,), {"items": items})
        return self._known[key]

    # --- what bands are --------------------------------------------------------------------------------------------

    def _constant_band(self, array: Any) -> Band | None:
        if array.size < SMALLEST or array.dtype not in _DTYPES or not columns_of(array.shape):
            return None
        array = array.reshape(len(array), -1)
        rows, columns = np.nonzero(array)
        offsets = np.unique(columns - rows)
        if not 0 < len(offsets) <= MOST_DIAGONALS or not np.isfinite(array[rows, columns]).all():
            return None
        pieces: list[Piece] = []
        for offset in map(int, offsets):
            diagonal = np.array(np.diagonal(array, offset))
            value = fresh_id()
            self.constants[value], self.values[value] = diagonal, Value(diagonal.shape, array.dtype, "")
            pieces.append(Piece(offset, max(0, offset), value, diagonal.size))
        return Band(array.shape[0], array.shape[1], tuple(pieces))

    def band(self, value: int, like: Line) -> Band:
        """A band whose pieces do not overlap."""
        band = self.bands[value]
        kept: dict[int, Piece] = {}
        for piece in band.pieces:
            other = kept.get(piece.offset)
            kept[piece.offset] = piece if other is None else self._merged(other, piece, like)
        if len(kept) == len(band.pieces):
            return band
        self.bands[value] = band._replace(pieces=tuple(kept.values()))
        return self.bands[value]

    def full(self, value: int, like: Line) -> Band:
        """A band whose pieces reach over all columns, and do not overlap."""
        band = self.band(value, like)
        pieces: list[Piece] = []
        for p in band.pieces:
            if p.length != band.columns:
                items = (("s", p.first, p.first + p.length, None),)
                params = {"items": items, "shape": (band.columns,)}
                padded = self.line("unslice", (p.value,), like, (band.columns,), params)
                p = Piece(p.offset, 0, padded, band.columns)
            pieces.append(p)
        self.bands[value] = band._replace(pieces=tuple(pieces))
        return self.bands[value]

    def _merged(self, a: Piece, b: Piece, like: Line) -> Piece:
        """The sum of two pieces of one diagonal."""
        first, last = min(a.first, b.first), max(a.first + a.length, b.first + b.length)
        length = last - first
        padded: list[int] = []
        for piece in (a, b):
            items = (("s", piece.first - first, piece.first - first + piece.length, None),)
            fits = piece.length == length
            made = {"items": items, "shape": (length,)}
            padded.append(piece.value if fits else self.line("unslice", (piece.value,), like, (length,), made))
        return Piece(a.offset, first, self.line("add", (padded[0], padded[1]), like, (length,)), length)

    def column_operand(self, value: int, stack: int, like: Line) -> int | None:
        """An operand that is one number, or one number a column; None where it is something else."""
        shape, whole = self.values[value].shape, self.values[stack].shape
        if value in self.bands or self.values[value].dtype != self.values[stack].dtype:
            return None
        if math.prod(shape) == 1 and len(shape) <= len(whole):
            return self.reshaped(value, (), like)
        padded, each = (1,) * (len(whole) - len(shape)) + shape, whole[1:]
        if len(padded) != len(whole) or padded[0] != 1:
            return None
        if padded[1:] != each:  # a row or a column of a matrix
            if shape != padded[1:]:
                value = self.reshaped(value, padded[1:], like)
            value = self.line("broadcast_to", (value,), like, each, {"shape": each})
        return self.reshaped(value, (math.prod(each),), like)


def guarded(code: Code, whole: Callable[[], Code]) -> Code:
    """The code of a program in bands; where a diagonal is not finite, that of the program with whole stacks runs."""
    made: list[Code] = []

    def run(*arrays: Any) -> tuple[Any, ...]:
        try:
            return code.run(*arrays)
        except NotFinite:
            if not made:
                made.append(whole())
            return made[0].run(*arrays)

    return replace(code, run=run)
