"""What a recording is made of, as plain frozen values that pictures, texts and explanations read.

A *tensor record* is one value, an *application* one run of an op, a *sweep* one backward pass, a *step* the visit of
a sweep to one application and a *flow* the contribution that one step passes to one input.  Tensors are named by
integer ids; applications, sweeps and steps by their index, counted from 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from autodiff_lab.events import Place
from autodiff_lab.recording.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class OpInfo:
    """How an op is written: `latex`, `locals_latex` and `sentence` hold ``{0}``, ``{1}`` for its inputs.

    `locals_latex` has one formula for each input, the factor that the incoming adjoint is multiplied by.  For an op of
    another framework, `like` is ours that it behaves as, and `calls` are the names that programs call it by.
    """

    name: str
    symbol: str = ""
    latex: str = ""
    locals_latex: tuple[str, ...] = ()
    sentence: str = ""
    elementwise: bool = False
    differentiable: bool = True
    like: str = ""
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TensorRecord:
    """One value.  `kind` is 'variable', 'constant', 'converted', 'gradient' or 'output'; `application` made it."""

    id: int
    kind: str
    name: str | None
    snapshot: Snapshot
    application: int | None = None
    variable: int | None = None
    trainable: bool = False
    place: Place | None = None
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Application:
    """One run of an op.

    `cause` is the index of the application whose rule ran it, None in the forward pass.  `error` is the message of
    the exception that it raised, and then `outputs` is empty.
    """

    index: int
    op: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    params: dict[str, Any] | None = None
    cause: int | None = None
    place: Place | None = None
    scope: str = ""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Flow:
    """A contribution to an adjoint: the `arrived`-th of `expected` contributions to tensor `input` in this sweep.

    `outgoing` and `total` are tensor ids; `local` is the derivative at a unit cotangent, for elementwise ops.  `summed`
    are the axes over which the rule's result was summed, because the input was broadcast along them.  In a forward pass
    `input` is the output that a tangent is carried to, from the input at `position`.
    """

    position: int
    input: int
    outgoing: int
    total: int
    arrived: int
    expected: int
    local: Snapshot | None = None
    summed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """The visit of a sweep to one application; `incoming` has the adjoint's id for each of its outputs.

    In a forward pass, `incoming` has the tangent's id for each of its inputs.
    """

    index: int
    application: int
    incoming: tuple[int | None, ...]
    flows: tuple[Flow, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """One backward pass: from the `seeds` of `targets` to the `results` of `sources` (None where no path leads).

    `untracked` are requested targets that the tape does not know, and `names` are those of sources that the recording
    does not have, as no op read them; they are empty for others.  `carried` are pairs of a tensor and the adjoint that
    it had before the pass, which a right engine never has.  A `forward` pass carries tangents instead, from the seeds
    of `targets`, which are inputs, to the tangents of `sources`, which are outputs.
    """

    index: int
    tape: int
    targets: tuple[int, ...]
    seeds: tuple[int, ...]
    sources: tuple[int, ...]
    results: tuple[int | None, ...]
    steps: tuple[Step, ...]
    place: Place | None = None
    finished: bool = True
    untracked: tuple[int, ...] = ()
    carried: tuple[tuple[int, int], ...] = ()
    forward: bool = False
    names: tuple[str, ...] = ()

    def called(self, position: int) -> str:
        """Return what to call a source that the recording does not have."""
        return (self.names[position] if self.names else "") or f"source {position + 1}"

    def adjoints(self) -> dict[int, int]:
        """Return the id of the final adjoint, or tangent, of every tensor that the sweep reached."""
        reached = dict(self.carried) | dict(zip(self.targets, self.seeds, strict=False))
        for step in self.steps:
            for flow in step.flows:
                reached[flow.input] = flow.total
        return reached


@dataclass(frozen=True, slots=True)
class Note:
    """An event that computed nothing.

    `kind` is 'left', 'read' where a function looked at a value outside the ops, 'assigned', 'watched', or 'tape
    opened', 'tape paused', 'tape resumed', 'tape reset', 'tape closed', 'copied' where values were copied between
    the CPU and a GPU, and 'read outside' for a tensor that was read from a variable before the block of the tape
    `by`, in which an op used it. `subject` is the id of the tensor, variable or tape (0 for a copy), and `detail`
    says how a value left, what was copied and why, names the variable, or marks a 'persistent' tape and a 'manual'
    one, which does not watch variables automatically.
    """

    kind: str
    subject: int
    detail: str
    place: Place | None = None
    before: int = 0
    """Index of the application that came next."""
    by: int | None = None
    """Id of the tape that watches, or of the tensor that was assigned."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One stop of a stepper.

    `phase` is 'forward' when application `application` ran, and 'backward' or 'tangent' when step `step` of sweep
    `sweep` visited it, 'tangent' in a forward pass.
    """

    phase: str
    application: int
    sweep: int | None = None
    step: int | None = None
