"""Forms: ops of several passes over an array, written in lines that loops can compute.

Each form gets what writes the lines and the line that it stands for; results are those of the op's kernel.  A
log-sum-exp becomes the largest elements, exponentials, their sum and a logarithm, an array that is moved round becomes
two slices that are joined, a band of a matrix a choice by a constant mask.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from autodiff_lab.compile.program import crossing, normalizing
from autodiff_lab.compile.program.blocks import DET_LOG, DET_SIGN, LARGEST_COPY
from autodiff_lab.compile.program.program import Line, Value
from autodiff_lab.engine.op import Op
from autodiff_lab.kernels.matmul.factors import qr
from autodiff_lab.ops.array.shaping import swapped

FINITE_OR_ZERO = Op(
    "finite_or_zero", lambda x: np.where(np.isfinite(x), x, x.dtype.type(0))[()], None, 1,
    sentence="takes {0}, or 0 where it is not finite", expression="choose(abs({0}) < infinity, {0}, zero)",
    elementwise=True,
)  # fmt: skip
NOT_ZERO_OR_ONE = Op(
    "not_zero_or_one", lambda x: np.where(x == 0, x.dtype.type(1), x)[()], None, 1,
    sentence="takes {0}, or 1 where it is 0", expression="choose({0} == zero, one, {0})", elementwise=True,
)  # fmt: skip
QR_PACKED = Op(
    "qr_packed", lambda x: np.concatenate(qr(x, False), axis=-2), None, 1,
    sentence="factors {0} into orthonormal columns, and a triangle below them",
)  # fmt: skip
WIDEST_QR, MOST_QR = 32, 1024
"""Columns, and elements, of the largest matrix that is not left to LAPACK."""
OF_ROWS = frozenset({"extreme_grad", "softmax", "log_softmax", "softmax_grad", "log_softmax_grad"})
"""Ops that are worth rewriting where they work along long rows beside a loop."""
ALONG_AXES = OF_ROWS | {"logsumexp", "logsumexp_shares"}
"""Ops of several passes along axes, which are worth rewriting for short rows of large arrays too."""
FACTORED = {"det": 1, "inv": 1, "slogdet": 1, "solve": 2}
"""Ops that may be given LU factors, and how many inputs they have without them."""


class Writing(Protocol):
    """What writes the lines of a form."""

    values: dict[int, Value]
    grown: dict[Any, tuple[int, int, int]]
    """Exponentials, their sums, and what was subtracted, by the value that they are of and the axes."""

    def read(self, value: int, line: Line) -> int:
        """Return a value that a loop makes, which is this one or what a line reads of it."""
        ...

    def is_used(self, value: int) -> bool:
        """Return whether something reads a value, or it is a result."""
        ...

    def constant(self, array: Any) -> int:
        """Return the value of a constant."""
        ...

    def add(
        self, op: str | Op, ins: tuple[int, ...], params: dict[str, Any], shape: tuple[int, ...], of: Line,
        like: int | None = None,
    ) -> int:  # fmt: skip
        """Add a line, and return its value, of the dtype of a value, or of that line's result."""
        ...

    def each(self, line: Line, op: str | Op, *ins: int) -> int:
        """Add an elementwise line, and return its value."""
        ...

    def over(self, line: Line, op: str, value: int, axes: tuple[int, ...]) -> int:
        """Add a reduction that keeps its axes, and return its value."""
        ...

    def end(self, line: Line, op: str | Op, *ins: int, **params: Any) -> None:
        """Add the line that makes the result."""
        ...


def fits(line: Line, values: list[Value]) -> bool:
    """Return whether a form can write a line whose inputs and result these are: cotangents may be stacks of them."""
    if line.op.name in normalizing.NORMALIZING:
        return normalizing.fits_normalizing(line, values)
    if line.op.name in crossing.CROSSING:
        return crossing.fits_crossing(line, values)
    if line.op.name == "qr":
        *_, m, n = values[0].shape
        return not line.params["full"] and n <= min(m, WIDEST_QR) and m * n <= MOST_QR
    if line.op.name not in ALONG_AXES:
        return True
    shape, axes = values[-2].shape, _axes(line)
    kept = tuple(1 if k - len(shape) in axes else n for k, n in enumerate(shape))
    return bool(axes) and all(one.shape in (shape, kept) for one in values[:-1])


def _axes(line: Line) -> tuple[int, ...]:
    """Return the axes, which are negative."""
    return (line.params["axis"],) if "axis" in line.params else line.params["axes"]


def softmax(to: Writing, line: Line) -> None:
    """Write e^(x - max) / Σ e^(x - max), or its logarithm."""
    shifted, grown, total = crossing.shifted(to, line, line.ins[0], _axes(line))
    if line.op.name == "softmax":
        to.end(line, "divide", grown, total)
    else:
        to.end(line, "subtract", shifted, to.each(line, "log", total))


def surrounded(to: Writing, line: Line) -> bool:
    """Write a small array with a number around it that is not 0 as parts that are joined; return False for others."""
    x, out, number = to.values[line.ins[0]], to.values[line.outs[0]], line.params["value"]
    if not number or x.memory is not None or x.dtype.name not in _JOINED or not 0 < math.prod(out.shape) <= _FEW_JOINED:
        return False
    found, shape = line.ins[0], x.shape
    padded = [(axis, both) for axis, both in enumerate(line.params["paddings"]) if any(both)]
    for axis, both in padded:
        before, after = (to.constant(np.full(_with(shape, axis, n), number, x.dtype)) if n else None for n in both)
        parts = tuple([part for part in (before, found, after) if part is not None])
        shape = _with(shape, axis, shape[axis] + sum(both))
        if axis == padded[-1][0]:
            to.end(line, "concat", *parts, axis=axis - len(shape))
        else:
            found = to.add("concat", parts, {"axis": axis - len(shape)}, shape, line)
    return bool(padded)


_JOINED = ("float32", "float64", "int32", "int64")
_FEW_JOINED = 1 << 16


def softmax_grad(to: Writing, line: Line) -> None:
    """Write (g - Σ g·y)·y."""
    g, y = line.ins
    mean = to.over(line, "sum", to.each(line, "multiply", g, y), _axes(line))
    to.end(line, "multiply", to.each(line, "subtract", g, mean), y)


def log_softmax_grad(to: Writing, line: Line) -> None:
    """Write g - e^y·Σ g."""
    g, y = to.read(line.ins[0], line), line.ins[1]
    total = to.over(line, "sum", g, _axes(line))
    to.end(line, "subtract", g, to.each(line, "multiply", to.each(line, "exp", y), total))


def extreme_grad(to: Writing, line: Line) -> None:
    """Write g·[x = best] / n, where n elements equal the best."""
    g, best, x = line.ins
    up, down = to.each(line, "not_below", x, best), to.each(line, "not_below", best, x)
    hit = to.each(line, "multiply", up, down)
    to.end(line, "gate", g, to.each(line, "divide", hit, to.over(line, "sum", hit, _axes(line))))


def _grown(to: Writing, line: Line) -> tuple[int, int, int]:
    """Write e^(x - top), their sum, and top: the largest elements, or 0 where those are not finite.

    The gradient of a log-sum-exp gets those of the log-sum-exp.
    """
    key = (line.ins[0], _axes(line))
    if key not in to.grown:
        x = to.read(line.ins[0], line)
        top = to.each(line, FINITE_OR_ZERO, to.over(line, "max", x, _axes(line)))
        grown = to.each(line, "exp", to.each(line, "subtract", x, top))
        to.grown[key] = grown, to.over(line, "sum", grown, _axes(line)), top
    return to.grown[key]


def logsumexp(to: Writing, line: Line) -> None:
    """Write ln Σ e^(x - top) + top."""
    _, total, top = _grown(to, line)
    logarithm = to.each(line, "log", total)
    shape = to.values[line.outs[0]].shape
    if shape == to.values[top].shape:
        to.end(line, "add", logarithm, top)
    elif shape:
        to.end(line, "reshape", to.each(line, "add", logarithm, top), shape=shape)
    else:  # a sum of one element is a number
        to.end(line, "sum", to.each(line, "add", logarithm, top), axes=_axes(line), keepdims=False)


def logsumexp_shares(to: Writing, line: Line) -> None:
    """Write e^(x - top) / Σ e^(x - top), which is 0 where all are."""
    grown, total, _ = _grown(to, line)
    to.end(line, "divide", grown, to.each(line, NOT_ZERO_OR_ONE, total))


def roll(to: Writing, line: Line) -> None:
    """Write, for each axis, the end of an array joined to what came before it."""
    (value,), shape = line.ins, to.values[line.ins[0]].shape
    moves = [(axis, by % shape[axis]) for axis, by in zip(line.params["axes"], line.params["shifts"], strict=True)]
    moves = [(axis, by) for axis, by in moves if by]
    for n, (axis, by) in enumerate(moves):
        length = shape[axis]
        parts = [
            to.add("slice_axis", (value,), {"axis": axis, "start": a, "stop": b}, _with(shape, axis, b - a), line)
            for a, b in ((length - by, length), (0, length - by))
        ]
        if n == len(moves) - 1:
            to.end(line, "concat", *parts, axis=axis)
        else:
            value = to.add("concat", tuple(parts), {"axis": axis}, shape, line)
    if not moves:
        to.end(line, "identity", value)


def _with(shape: tuple[int, ...], axis: int, length: int) -> tuple[int, ...]:
    return tuple([length if k == axis % len(shape) else n for k, n in enumerate(shape)])


def band_part(to: Writing, line: Line) -> None:
    """Write a choice by a mask."""
    rows, columns = to.values[line.outs[0]].shape[-2:]
    lower, upper = line.params["lower"], line.params["upper"]
    distance = np.arange(columns) - np.arange(rows)[:, None]
    mask = (distance >= (-lower if lower >= 0 else -math.inf)) & (distance <= (upper if upper >= 0 else math.inf))
    if mask.all():
        to.end(line, "identity", *line.ins)
    else:
        to.end(line, "select", line.ins[0], to.constant(mask))


def marked_at(to: Writing, line: Line) -> bool:
    """Write ones in which rows are replaced by zeros, for a sequence or a loop; return whether that could be done."""
    out, at = to.values[line.outs[0]], to.values[line.ins[0]].shape
    if out.memory is not None or out.dtype.kind != "f" or not at or not 0 < math.prod(out.shape) <= LARGEST_COPY:
        return False
    shapes = out.shape, (*at[:-1], *out.shape[at[-1] :])
    ones, zeros = (
        to.add("broadcast_to", (to.constant(out.dtype.type(number)),), {"shape": shape}, shape, line)
        for number, shape in zip((1, 0), shapes, strict=True)
    )
    to.end(line, "tensor_scatter_nd_update", ones, zeros, line.ins[0])
    return True


def slogdet(to: Writing, line: Line) -> None:
    """Write sign and logarithm of a determinant by themselves, as loops have lines of one result."""
    for op, out in zip((DET_SIGN, DET_LOG), line.outs, strict=True):
        if to.is_used(out):
            to.end(line._replace(outs=(out,)), op, line.ins[0])


def factored_again(to: Writing, line: Line) -> None:
    """Write an op without the LU factors that it is given, as a loop does not hand them on."""
    ins = line.ins[: FACTORED[line.op.name]]
    if line.params.get("transposed"):
        *lead, n, _ = to.values[ins[0]].shape
        ins = (to.add("transpose", ins[:1], {"perm": swapped(2 + len(lead))}, (*lead, n, n), line), *ins[1:])
    to.end(line, line.op, *ins)


def tile(to: Writing, line: Line) -> None:
    """Write an array along new axes, which are then joined to its own."""
    shape, times = to.values[line.ins[0]].shape, line.params["multiples"]
    apart = tuple(n for length in shape for n in (1, length))
    whole = tuple(n for many, length in zip(times, shape, strict=True) for n in (many, length))
    spread = to.add("reshape", line.ins, {"shape": apart}, apart, line)
    spread = to.add("broadcast_to", (spread,), {"shape": whole}, whole, line)
    to.end(line, "reshape", spread, shape=to.values[line.outs[0]].shape)


def half_square(to: Writing, line: Line) -> None:
    """Write half the sum of the squares."""
    x = to.read(line.ins[0], line)
    squares = to.each(line, "multiply", x, x)
    axes = tuple(range(-len(to.values[x].shape), 0))
    total = to.add("sum", (squares,), {"axes": axes, "keepdims": False}, (), line)
    to.end(line, "multiply", to.constant(to.values[x].dtype.type(0.5)), total)


def norm(to: Writing, line: Line) -> None:
    """Write the root of the sum of the squares."""
    x = to.read(line.ins[0], line)
    squares = to.each(line, "multiply", x, x)
    total = to.add("sum", (squares,), line.params, to.values[line.outs[0]].shape, line)
    to.end(line, "sqrt", total)


def packed_qr(to: Writing, line: Line) -> None:
    """Write both factors as one array, and take them apart."""
    *lead, m, n = to.values[line.ins[0]].shape
    packed = to.add(QR_PACKED, line.ins, {}, (*lead, m + n, n), line)
    for out, start, stop in zip(line.outs, (0, m), (m, m + n), strict=True):
        to.end(line._replace(outs=(out,)), "slice_axis", packed, axis=-2, start=start, stop=stop)


def cross(to: Writing, line: Line) -> None:
    """Write the three numbers of a cross product, which are then stacked."""
    shape = to.values[line.outs[0]].shape[:-1]
    three = [{"axis": -1, "index": n} for n in range(3)]
    x, y = ([to.add("take", (i,), params, to.values[i].shape[:-1], line) for params in three] for i in line.ins)
    parts: list[int] = []
    for n in range(3):
        j, k = (n + 1) % 3, (n + 2) % 3
        pair = (to.each(line, "multiply", x[j], y[k]), to.each(line, "multiply", x[k], y[j]))
        parts.append(to.add("subtract", pair, {}, shape, line))
    to.end(line, "stack", *parts, axis=-1)


FORMS: dict[str, Callable[[Writing, Line], None]] = {
    "band_part": band_part, "batch_normalize": normalizing.batch_normalize, "cross": cross, "det": factored_again,
    "euclidean_norm": norm, "extreme_grad": extreme_grad,
    "inv": factored_again, "l2_loss": half_square, "log_softmax": softmax,
    "log_softmax_grad": log_softmax_grad, "logsumexp": logsumexp,
    "logsumexp_shares": logsumexp_shares, "moments": normalizing.moments, "normalize": normalizing.normalize,
    "normalize_grad": normalizing.normalize_grad, "qr": packed_qr, "roll": roll, "slogdet": slogdet, "softmax": softmax,
    "softmax_cross_entropy": crossing.cross_entropy, "softmax_cross_entropy_grad": crossing.cross_entropy_grad,
    "softmax_grad": softmax_grad, "softmax_minus_label": crossing.cross_entropy_grad, "solve": factored_again,
    "sparse_softmax_cross_entropy": crossing.cross_entropy,
    "sparse_softmax_cross_entropy_grad": crossing.cross_entropy_grad, "standardize": normalizing.standardize,
    "standardize_grad": normalizing.standardize_grad, "tile": tile,
}  # fmt: skip
"""By the name of an op, what writes it."""
