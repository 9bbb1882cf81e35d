"""Pairs: a loss and its slope, which a compiled program knows to be wanted both, come from one pass over the logits.

Eagerly the slope is not known to be wanted when the loss is computed; then each takes the exponentials for itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from autodiff_lab.compile.program import Line, Program, Value
from autodiff_lab.compile.source import Kernel
from autodiff_lab.kernels.choose import chosen
from autodiff_lab.kernels.reference import cross_entropy as reference

_LOSS, _SLOPE = "sparse_softmax_cross_entropy", "sparse_softmax_cross_entropy_slope"


def _one_by_one(g: Any, logits: Any, labels: Any) -> tuple[Any, Any]:
    losses = reference.sparse_softmax_cross_entropy(logits, labels)
    return losses, reference.sparse_softmax_cross_entropy_slope(g, logits, labels)


loss_and_slope = chosen(
    "sparse_softmax_cross_entropy_and_slope",
    _one_by_one,
    "cross_entropy.sparse_softmax_cross_entropy_and_slope",
    work=lambda g, logits, labels: logits.size,
)


def paired(
    program: Program, outside: list[Line], stage: dict[int, int], names: dict[int, str]
) -> tuple[list[tuple[Line, Kernel]], list[Line]]:
    """Kernels for losses and slopes that are due at the same stage, each with the line it stands at; the other lines.

    A slope whose cotangent hangs on the loss comes at a later stage, and stays a line.
    """
    made: list[tuple[Line, Kernel]] = []
    slopes = {(line.ins[1:], stage[line.outs[0]]): line for line in outside if line.op.name == _SLOPE}
    gone: set[int] = set()
    for line in outside:
        slope = slopes.get((line.ins, stage[line.outs[0]])) if line.op.name == _LOSS else None
        if slope is None or slope.outs[0] in gone:
            continue
        values = [program.values[i] for i in slope.ins]
        g, logits = values[0], values[1]
        if g.shape != logits.shape[:-1] or g.dtype != logits.dtype or not _is_there(logits):
            continue
        gone |= {line.outs[0], slope.outs[0]}
        made.append((line, _kernel(slope, line, names, f"losses_{len(made) + 1}")))
    return made, [line for line in outside if line.outs[0] not in gone]


def _is_there(logits: Value) -> bool:
    """Whether there is a kernel for both, on the device of the logits."""
    if logits.memory is None:
        return loss_and_slope.prepare(logits.dtype)
    return hasattr(import_module("autodiff_lab.kernels.cuda.overrides").CudaKernels, loss_and_slope.name)


def _kernel(slope: Line, loss: Line, names: dict[int, str], title: str) -> Kernel:
    g, logits, labels = (names[i] for i in slope.ins)
    one, two = (names[line.outs[0]] for line in (loss, slope))
    source = "\n".join(
        [
            f"def {title}({g}, {logits}, {labels}):  # compiled as one pass over {logits}",
            f"    {one} = {_LOSS}({logits}, {labels})",
            f"    {two} = {_SLOPE}({g}, {logits}, {labels})  # rule of {_LOSS}, for {one}",
            f"    return {one}, {two}",
        ]
    )
    note = "losses and their slopes in one pass"
    return Kernel(title, source, slope.ins, (loss.outs[0], slope.outs[0]), loss_and_slope, note=note)
