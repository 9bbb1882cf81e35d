"""Forms of cross entropies: losses of small batches and their gradients, in lines that loops can compute.

A loss and its gradient get the same exponentials.  Labels that are class numbers become rows of zeros with a one, which
serve both as well.  Results are those of the kernels' references.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autodiff_lab.compile.program.program import Line, Value
from autodiff_lab.engine.op import REGISTRY, Op
from autodiff_lab.kernels.softmax.reference import classes

if TYPE_CHECKING:
    from typing import Any

    from autodiff_lab.compile.program.forms import Writing

_LOSSES = frozenset({"softmax_cross_entropy", "sparse_softmax_cross_entropy"})
CROSSING = _LOSSES | {f"{name}_grad" for name in _LOSSES} | {"softmax_minus_label"}


def _marked(labels: Any, depth: int, dtype: str) -> Any:
    classes(labels, depth)
    return REGISTRY["one_hot"].kernel(labels, depth=depth, on=1, off=0, axis=-1, dtype=dtype)


MARKED_CLASSES = Op(
    "marked_classes", _marked, None, 1, sentence="puts a one at the class {0} of each row, which must be there"
)


def fits_crossing(line: Line, values: list[Value]) -> bool:
    """Return whether a form can write a line: not where cotangents are stacks."""
    logits, labels = values[-3:-1]
    rows = logits.shape[:-1]
    sparse = not line.op.name.startswith("softmax_cross")
    alike = labels.dtype.name in ("int32", "int64") if sparse else labels.dtype == logits.dtype
    return alike and bool(rows) and labels.shape == (rows if sparse else logits.shape) and values[0].shape in (
        rows, logits.shape
    )  # fmt: skip


def shifted(to: Writing, line: Line, logits: int, axes: tuple[int, ...] = (-1,)) -> tuple[int, int, int]:
    """Write logits minus the largest along axes, their exponentials and the sums of these; other lines get them too."""
    key = ("shifted", logits, axes)
    if key not in to.grown:
        x = to.read(logits, line)
        moved = to.each(line, "subtract", x, to.over(line, "max", x, axes))
        grown = to.each(line, "exp", moved)
        to.grown[key] = moved, grown, to.over(line, "sum", grown, axes)
    return to.grown[key]


def _labels(to: Writing, line: Line) -> int:
    """Return labels of the shape of the logits."""
    logits, labels = line.ins[-2:]
    shape, dtype, *_ = to.values[logits]
    if line.op.name.startswith("softmax_cross"):
        return labels
    key = ("classes", labels, shape, dtype)
    if key not in to.grown:
        made = to.add(MARKED_CLASSES, (labels,), {"depth": shape[-1], "dtype": dtype.name}, shape, line)
        to.grown[key] = made, made, made
    return to.grown[key][0]


def cross_entropy(to: Writing, line: Line) -> None:
    """Write Σ labels · (ln Σ e^shifted - shifted)."""
    moved, _, total = shifted(to, line, line.ins[-2])
    labels, logarithm = _labels(to, line), to.each(line, "log", total)
    if line.op.name == "softmax_cross_entropy":
        each = to.each(line, "multiply", labels, to.each(line, "subtract", moved, logarithm))
        found = to.each(line, "negative", to.over(line, "sum", each, (-1,)))
    else:
        own = to.over(line, "sum", to.each(line, "gate", moved, labels), (-1,))
        found = to.each(line, "subtract", logarithm, own)
    to.end(line, "reshape", found, shape=to.values[line.outs[0]].shape)


def cross_entropy_grad(to: Writing, line: Line) -> None:
    """Write g · (e^shifted / Σ e^shifted · Σ labels - labels)."""
    _, grown, total = shifted(to, line, line.ins[-2])
    labels, made = _labels(to, line), to.each(line, "divide", grown, total)
    if line.op.name == "softmax_cross_entropy_grad":
        made = to.each(line, "multiply", made, to.over(line, "sum", to.read(labels, line), (-1,)))
    if line.op.name == "softmax_minus_label":
        to.end(line, "subtract", made, labels)
        return
    shape = (*to.values[line.ins[0]].shape, 1)
    g = to.add("reshape", line.ins[:1], {"shape": shape}, shape, line)
    to.end(line, "multiply", g, to.each(line, "subtract", made, labels))
