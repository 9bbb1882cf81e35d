"""What a tape lets go of: large values that no rule will read.

An entry keeps a stub in place of such a tensor, with its id, shape and dtype.  Which values rules read, an op says; and
of two inputs the rule of one that no tape tracks will not run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.engine.op import Op
from autodiff_lab.engine.tensor import Tensor

ndarray = np.ndarray
_new = tuple.__new__
NEED_0, NEED_1 = (0,), (1,)
"""Which inputs of an op are tracked; entries of ops of two inputs hold these very tuples."""
LEAN_BYTES = 4000
"""Values smaller than this stay on the tape whether or not a rule reads them: letting go would cost more."""
HEAVY_BYTES = 32 << 10
"""The same for a factor that only the rule of an untracked input reads: most are the output of an op, let go of there,
or are kept by another rule."""


class Hollow(NamedTuple):
    """What is left of an array that no rule reads: its shape, its dtype, and the memory that it lay in."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    memory: Any
    nbytes = 0

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)


def _hollow(tensor: Tensor) -> Tensor:
    """Return the tensor without its array; made once for each tensor, since most are an output, then an input."""
    stub = tensor._hollow
    if stub is None:
        array = tensor._held
        memory = None if array.__class__ is ndarray else getattr(array, "memory", None)
        stub = tensor._hollow = Tensor()
        stub._id = tensor._id
        stub._held = _new(Hollow, (array.shape, array.dtype, memory))
    return stub


def lean_entry(op: Op, out: Any, ins: tuple[Tensor, ...], params: Any, need: tuple[int, ...]) -> tuple[Any, ...]:
    """Make an entry without the values that the op's rules do not read."""
    keeps = op.keeps
    if out.__class__ is not tuple:
        if len(ins) == 1:
            return lean_one(op, out, ins[0], params, need)
        if len(ins) == 2:
            return LEAN_TWO[keeps](op, out, *ins, params, need)
        if keeps != "output":
            out = _hollow(out)
    return op, out, ins if keeps == "inputs" else tuple([_hollow(t) for t in ins]), params, need


def lean_one(op: Op, out: Tensor, x: Tensor, params: Any, need: tuple[int, ...]) -> tuple[Any, ...]:
    """Make such an entry of an op of one input and one output."""
    keeps = op.keeps
    if keeps != "inputs":
        x = _hollow(x)
    if keeps != "output":
        out = _hollow(out)
    return op, out, (x,), params, need


def _other_input(op: Op, out: Tensor, x: Tensor, y: Tensor, params: Any, need: tuple[int, ...]) -> tuple[Any, ...]:
    """Keep the factor of what is tracked; the rule of an input that nobody tracks will not run."""
    if need is NEED_0:
        if x._held.nbytes >= HEAVY_BYTES:
            x = _hollow(x)
    elif need is NEED_1 and y._held.nbytes >= HEAVY_BYTES:
        y = _hollow(y)
    return op, stub if (stub := out._hollow) is not None else _hollow(out), (x, y), params, need


def _inputs(op: Op, out: Tensor, x: Tensor, y: Tensor, params: Any, need: tuple[int, ...]) -> tuple[Any, ...]:
    return op, _hollow(out), (x, y), params, need


def _output(op: Op, out: Tensor, x: Tensor, y: Tensor, params: Any, need: tuple[int, ...]) -> tuple[Any, ...]:
    return op, out, (_hollow(x), _hollow(y)), params, need


def _output_and_input_1(
    op: Op, out: Tensor, x: Tensor, y: Tensor, params: Any, need: tuple[int, ...]
) -> tuple[Any, ...]:
    """Keep them; of a quotient, only the rule of the divisor reads the output."""
    return op, _hollow(out) if need is NEED_0 else out, (_hollow(x), y), params, need


def _nothing(op: Op, out: Tensor, x: Tensor, y: Tensor, params: Any, need: tuple[int, ...]) -> tuple[Any, ...]:
    first, second = x._hollow, y._hollow
    ins = (_hollow(x) if first is None else first, _hollow(y) if second is None else second)
    return op, _hollow(out), ins, params, need


LEAN_TWO: dict[str, Callable[..., tuple[Any, ...]]] = {
    "other input": _other_input,
    "inputs": _inputs,
    "output": _output,
    "output and input 1": _output_and_input_1,
    "nothing": _nothing,
}
"""By what an op of two inputs keeps, what makes such an entry of it; one for each saves a tenth of an op."""


def is_large(op: Op, out: Any, ins: tuple[Tensor, ...]) -> bool:
    """Return whether a large value of an entry is one that the op's rules do not read."""
    keeps = op.keeps
    if keeps == "all":
        return False
    most = max([t._held.nbytes for t in out]) if out.__class__ is tuple else out._held.nbytes
    if most < LEAN_BYTES and keeps != "inputs":
        most = ins[0]._held.nbytes if len(ins) == 1 else max([t._held.nbytes for t in ins])
    return most >= LEAN_BYTES
