"""Rules for bands: what each op makes of a stack of which only diagonals are kept; see `bands`.

A rule gives the band of the result, True if it wrote the line that makes it, or None where the op needs whole stacks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autodiff_lab.compile.bands import FINITE, MOST_DIAGONALS, Band, Piece, columns_of, of_vectors
from autodiff_lab.compile.program import Line
from autodiff_lab.engine.op import REGISTRY

if TYPE_CHECKING:
    from autodiff_lab.compile.stacks import Walk

Rule = Callable[["Walk", Line], "Band | bool | None"]


def _scaled(walk: Walk, line: Line) -> Band | None:
    """A product or a quotient with a number for each column."""
    a, b = line.ins
    stack, other = (a, b) if a in walk.bands else (b, a)
    if (stack == b and line.op.name in ("divide", "gate")) or walk.values[line.outs[0]].shape != walk.values[
        stack
    ].shape:
        return None
    factor = walk.column_operand(other, stack, line)
    if factor is None:
        return None
    band, pieces = walk.full(stack, line), []
    for piece in band.pieces:
        ins = (piece.value, factor) if stack == a else (factor, piece.value)
        pieces.append(piece._replace(value=walk.line(line.op, ins, line, (piece.length,))))
    return band._replace(pieces=tuple(pieces))


def _negated(walk: Walk, line: Line) -> Band:
    band = walk.bands[line.ins[0]]
    return band._replace(
        pieces=tuple([p._replace(value=walk.line("negative", (p.value,), line, (p.length,))) for p in band.pieces])
    )


def _added(walk: Walk, line: Line) -> Band | None:
    """Pieces of the same place are added, others stand side by side; of more than two on a diagonal a sum is made."""
    a, b = (walk.bands.get(i) for i in line.ins)
    if a is None or b is None or walk.values[line.ins[0]].shape != walk.values[line.ins[1]].shape:
        return None
    ours = {p.offset for p in a.pieces}
    crowded = [p.offset for p in (*a.pieces, *b.pieces)]
    if any(crowded.count(offset) > 2 for offset in crowded):
        a, b = walk.band(line.ins[0], line), walk.band(line.ins[1], line)
    kept = {(p.offset, p.first, p.length): p for p in a.pieces}
    pieces = dict(kept)
    for p in b.pieces:
        key = (p.offset, p.first, p.length)
        if key in kept:
            pieces[key] = p._replace(value=walk.line(line.op, (kept[key].value, p.value), line, (p.length,)))
        elif line.op.name == "add":
            pieces[key] = p
        else:
            pieces[key] = p._replace(value=walk.line("negative", (p.value,), line, (p.length,)))
    found = Band(a.rows, a.columns, tuple(pieces.values()))
    return found if len(ours | {p.offset for p in b.pieces}) <= MOST_DIAGONALS else None


def _range(item: Any, length: int) -> range | None:
    """The columns that an index takes, None where they are not a stretch."""
    found = range(*slice(*item[1:]).indices(length)) if item[0] == "s" else None
    return found if found is not None and found.step == 1 and len(found) > 0 else None


def _item(items: Any, shape: tuple[int, ...]) -> tuple[Any, int] | None:
    """The one index that matters, and the length of its axis: axes of length 1 come and go."""
    matters: list[tuple[Any, int]] = []
    axes = iter(shape)
    for item in items:
        if item[0] != "n":
            length = next(axes)
            if length != 1:
                matters.append((item, length))
    matters += [(("s", None, None, None), length) for length in axes if length != 1]
    return matters[0] if len(matters) == 1 else None


def _sliced(walk: Walk, line: Line) -> Band | None:
    band, shape = walk.bands[line.ins[0]], walk.values[line.ins[0]].shape
    rank = sum(item[0] != "n" for item in line.params["items"])
    found = _item(line.params["items"], shape[1:]) if rank < len(shape) else None
    taken = _range(*found) if found is not None else None
    if taken is None or columns_of(walk.values[line.outs[0]].shape) != len(taken):
        return None
    pieces: list[Piece] = []
    for p in band.pieces:
        low, high = max(p.first, taken.start), min(p.first + p.length, taken.stop)
        if low < high:
            value = walk.part(p.value, low - p.first, high - low, line)
            pieces.append(Piece(p.offset - taken.start, low - taken.start, value, high - low))
    return Band(band.rows, len(taken), tuple(pieces)) if pieces else None


def _put_back(walk: Walk, line: Line) -> Band | None:
    band, shape = walk.bands[line.ins[0]], line.params["shape"]
    found = _item(line.params["items"], shape)
    taken = _range(*found) if found is not None else None
    if found is None or taken is None or len(taken) != band.columns:
        return None
    by = taken.start
    return Band(band.rows, found[1], tuple([p._replace(offset=p.offset + by, first=p.first + by) for p in band.pieces]))


def _rearranged(walk: Walk, line: Line) -> Band | None:
    """A reshape, or a transpose that moves only axes of length 1."""
    band = walk.bands[line.ins[0]]
    before, after = walk.values[line.ins[0]].shape, walk.values[line.outs[0]].shape
    if before[:1] != after[:1] or not columns_of(before) == columns_of(after) == band.columns:
        return None
    turned = line.op.name == "transpose" and (len(line.params["perm"]) == len(before) or not of_vectors(before))
    return None if turned else band


def _multiplied(walk: Walk, line: Line) -> bool | None:
    """A matrix times a diagonal: the rows of the transposed matrix, scaled."""
    a, b = line.ins
    left = a in walk.bands
    stack, other = (a, b) if left else (b, a)
    shape, out = walk.values[other].shape, walk.values[line.outs[0]].shape
    diagonal = walk.band(stack, line).diagonal
    if other in walk.bands or len(shape) != 2 or diagonal is None or line.params:
        return None
    n, wide = walk.bands[stack].rows, walk.values[stack].shape
    if wide != ((n, 1, n) if left else (n, n, 1)) and not (left and wide == (n, n)):
        return None
    columns = shape[1] if left else shape[0]
    matrix = other
    if not left:
        made = walk.program.made_by.get(other)
        turned = made is not None and made.op.name == "transpose" and made.params["perm"] in ((-1, -2), (1, 0))
        if made is not None and turned:
            matrix = made.ins[0]
        else:
            matrix = walk.line("transpose", (other,), line, shape[::-1], {"perm": (-1, -2)})
    scale = walk.reshaped(diagonal, (n, 1), line)
    product = walk.line("multiply", (matrix, scale), line, (n, columns))
    sure = walk.line(FINITE, (product,), line, (n, columns))
    walk.lines.append(Line(REGISTRY["reshape"], (sure,), {"shape": out}, line.outs, line.place, line.cause))
    return True


RULES: dict[str, Rule] = {
    "multiply": _scaled, "divide": _scaled, "gate": _scaled, "negative": _negated, "add": _added, "subtract": _added,
    "slice": _sliced, "unslice": _put_back, "reshape": _rearranged, "transpose": _rearranged, "matmul": _multiplied,
}  # fmt: skip
