"""Pairs: where a program computes a loss and its gradient, both come from one pass over the logits.

An eager call computes the loss before anything asks for its gradient, so each takes the exponentials for itself.
"""

from __future__ import annotations

from autodiff_lab.compile.loops.source import Kernel
from autodiff_lab.compile.program.program import Line, Program, Value
from autodiff_lab.ops.nn.losses import loss_and_grad

_LOSS = "sparse_softmax_cross_entropy"
_GRAD = f"{_LOSS}_grad"


def paired(
    program: Program, outside: list[Line], stage: dict[int, int], names: dict[int, str]
) -> tuple[list[tuple[Line, Kernel]], list[Line]]:
    """Return kernels for losses and gradients due at the same stage, each with its line, and the other lines.

    A gradient whose cotangent depends on the loss comes at a later stage, and stays a line.
    """
    made: list[tuple[Line, Kernel]] = []
    grads = {(line.ins[1:], stage[line.outs[0]]): line for line in outside if line.op.name == _GRAD}
    gone: set[int] = set()
    for loss in outside:
        grad = grads.get((loss.ins, stage[loss.outs[0]])) if loss.op.name == _LOSS else None
        if grad is None or grad.outs[0] in gone:
            continue
        values = [program.values[i] for i in grad.ins]
        g, logits = values[:2]
        if g.shape == logits.shape[:-1] and g.dtype == logits.dtype and _has_kernel(values):
            gone |= {loss.outs[0], grad.outs[0]}
            made.append((loss, _kernel(grad, loss, names, f"losses_{len(made) + 1}")))
    return made, [line for line in outside if line.outs[0] not in gone]


def _has_kernel(values: list[Value]) -> bool:
    """Return whether there is a kernel for both on the device of the logits; cotangent, logits and labels are given."""
    logits = values[1]
    if logits.memory is None:
        return loss_and_grad.prepare(logits.dtype, values)
    return loss_and_grad.cuda_override() is not None


def _kernel(grad: Line, loss: Line, names: dict[int, str], title: str) -> Kernel:
    g, logits, labels = (names[i] for i in grad.ins)
    one, two = names[loss.outs[0]], names[grad.outs[0]]
    source = "\n".join([
        f"def {title}({g}, {logits}, {labels}):  # compiled as one pass over {logits}",
        f"    {one} = {_LOSS}({logits}, {labels})",
        f"    {two} = {_GRAD}({g}, {logits}, {labels})  # rule of {_LOSS}, for {one}",
        f"    return {one}, {two}",
    ])  # fmt: skip
    note = "losses and their gradients in one pass"
    return Kernel(title, source, grad.ins, (loss.outs[0], grad.outs[0]), loss_and_grad, note=note)
