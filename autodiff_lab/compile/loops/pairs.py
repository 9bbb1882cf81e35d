"""Pairs: a loss and its gradient, which a compiled program knows to be wanted both, come from one pass over the logits.

Eagerly the gradient is not known to be wanted when the loss is computed; then each takes the exponentials for itself.
"""

from __future__ import annotations

from autodiff_lab.compile.loops.source import Kernel
from autodiff_lab.compile.program.program import Line, Program, Value
from autodiff_lab.ops.nn.losses import loss_and_grad

_LOSS, _SLOPE = "sparse_softmax_cross_entropy", "sparse_softmax_cross_entropy_grad"


def paired(
    program: Program, outside: list[Line], stage: dict[int, int], names: dict[int, str]
) -> tuple[list[tuple[Line, Kernel]], list[Line]]:
    """Return kernels for losses and gradients due at the same stage, each with its line, and the other lines.

    A gradient whose cotangent depends on the loss comes at a later stage, and stays a line.
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
    """Return whether there is a kernel for both, on the device of the logits."""
    if logits.memory is None:
        return loss_and_grad.prepare(logits.dtype)
    return loss_and_grad.cuda_override() is not None


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
    return Kernel(title, source, slope.ins, (loss.outs[0], slope.outs[0]), loss_and_grad, note=note)
