"""The events themselves: frozen tuples of names, integer ids and NumPy values.

A value is the array of an immutable tensor, kept by reference and formatted late; observers read it and never
write to it. Ids are unique in the process and never reused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Place = tuple[str, int]
"""A file name (for a notebook cell, the name that IPython gave it) and a line number, counted from 1."""


class OpDescribed(NamedTuple):
    """The description of an op, sent before its first use, so that a recording can be read where the op is unknown.

    `like` is the op of autodiff_lab that it behaves as, and `calls` are the names that a program calls it by; both for
    ops of other frameworks.
    """

    op: str
    symbol: str
    latex: str
    locals_latex: tuple[str, ...]
    sentence: str
    elementwise: bool
    differentiable: bool
    like: str = ""
    calls: tuple[str, ...] = ()


class TensorMet(NamedTuple):
    """A tensor that no recorded op made: a constant, a converted value, or a read of a variable.

    `kind` is 'constant', 'converted', 'variable', or 'gradient' for what a backward pass left without recorded ops;
    `variable` is the id of the variable that was read.
    """

    tensor: int
    kind: str
    name: str | None
    value: Any
    variable: int | None
    trainable: bool
    place: Place | None
    scope: str


class TensorNamed(NamedTuple):
    """A tensor was given a name, as by ``lab.exp(x, name="grown")``; sent after the op that made it."""

    tensor: int
    name: str


class OpApplied(NamedTuple):
    """An op ran.  `cause` is the first output of the application whose rule ran it, None in the forward pass."""

    op: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    params: dict[str, Any] | None
    values: tuple[Any, ...]
    cause: int | None
    place: Place | None
    scope: str


class OpFailed(NamedTuple):
    """An op raised; the program ends here unless it catches the error."""

    op: str
    inputs: tuple[int, ...]
    params: dict[str, Any] | None
    error: str
    message: str
    place: Place | None
    scope: str


class TensorLeft(NamedTuple):
    """A value left the engine.

    `how` is 'numpy', '__array__', 'float', 'int', 'bool', 'index', 'dataset' or 'queue'; where memory is shared it is
    '__cuda_array_interface__' or '__dlpack__'.
    """

    tensor: int
    how: str
    place: Place | None


class TensorRead(NamedTuple):
    """A function looked at a value outside the ops: `lab.cond` at its condition, `lab.boolean_mask` at the mask.

    What ran next depends on the value in a way that no op says.  `how` is 'condition' where the value chose which ops
    ran next, 'parameter' where numbers were drawn from a distribution with it, else empty.
    """

    tensor: int
    place: Place | None
    how: str = ""


class Transferred(NamedTuple):
    """Values were copied implicitly between the CPU and a GPU.

    `direction` is 'to host' or 'to device'; `why` says what needed the copy.
    """

    direction: str
    bytes: int
    why: str
    place: Place | None


class VariableAssigned(NamedTuple):
    """A variable got a new value, or its first one from a tensor; no gradient passes from it to later reads."""

    variable: int
    name: str
    value: Any
    source: int | None
    place: Place | None


class FaultFound(NamedTuple):
    """An adapter found why a gradient is not what its user expects, by means that only its framework has.

    `cause` is a key of the framework's table of words, `subject` the tensor or variable concerned (0: all of them), and
    `by` the output of the op to blame.
    """

    cause: str
    subject: int
    detail: str
    place: Place | None
    by: int | None = None


class TapeOpened(NamedTuple):
    """A tape began to record; `automatic` ones watch every trainable variable that is read."""

    tape: int
    persistent: bool
    place: Place | None
    automatic: bool = True


class TapeClosed(NamedTuple):
    """A tape stopped recording; `reads` are the ids of the tensors as which it saw variables being read."""

    tape: int
    reads: tuple[int, ...] = ()


class TapeSwitched(NamedTuple):
    """An open tape paused, resumed, or discarded its entries: 'paused', 'resumed' or 'reset'."""

    tape: int
    how: str
    place: Place | None


class TensorWatched(NamedTuple):
    """A tape began to watch a tensor, or the value of a variable."""

    tape: int
    tensor: int
    place: Place | None


class SweepStarted(NamedTuple):
    """A backward pass begins: `seeds` are the ids of the cotangents of `targets`.

    `untracked` are requested targets that the tape does not know, `reads` is as in `TapeClosed`, and `names` are the
    names of sources that are variables, empty for tensors.
    """

    sweep: int
    tape: int
    targets: tuple[int, ...]
    seeds: tuple[int, ...]
    sources: tuple[int, ...]
    place: Place | None
    untracked: tuple[int, ...] = ()
    reads: tuple[int, ...] = ()
    names: tuple[str, ...] = ()


class GradientFlowed(NamedTuple):
    """One op passed a contribution to the adjoint of one of its inputs.

    `application` is the first output of the op's application and `position` the input's place among its inputs.
    `incoming` (one id for each output), `outgoing` and `total` are tensor ids: their values were sent when an op
    made them. `total` is the input's adjoint so far, this contribution included.  `local` is the derivative at a unit
    cotangent for elementwise ops, and None for others.  `summed` are the axes of the rule's result over which it was
    summed to get the shape of the input, which was broadcast along them.
    """

    sweep: int
    application: int
    position: int
    input: int
    incoming: tuple[int | None, ...]
    outgoing: int
    total: int
    local: Any
    summed: tuple[int, ...] = ()


def fitted_axes(have: tuple[int, ...], want: tuple[int, ...]) -> tuple[int, ...]:
    """Return the axes of a contribution of shape `have` over which a sweep sums to give it the shape `want`.

    Examples
    --------
    >>> from autodiff_lab.events.values import fitted_axes
    >>> fitted_axes((3, 4), (3, 1)), fitted_axes((5, 3, 4), (4,)), fitted_axes((), (3,))
    ((1,), (0, 1), ())
    """
    extra = len(have) - len(want)
    shared = enumerate(have[max(extra, 0) :]) if extra >= 0 else ()
    return (*range(extra), *(extra + i for i, n in shared if want[i] == 1 != n))


class SweepEnded(NamedTuple):
    """A backward pass is over; `results` are the ids of the gradients in the order of the sources, None for no path."""

    sweep: int
    results: tuple[int | None, ...]


Event = (
    OpDescribed
    | TensorMet
    | TensorNamed
    | OpApplied
    | OpFailed
    | TensorLeft
    | TensorRead
    | Transferred
    | VariableAssigned
    | FaultFound
    | TapeOpened
    | TapeClosed
    | TapeSwitched
    | TensorWatched
    | SweepStarted
    | GradientFlowed
    | SweepEnded
)
Observer = Callable[[Any], object]
