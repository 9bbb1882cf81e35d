"""Where two recordings of the same program part: the first op whose difference rounding does not explain.

Every op is judged by itself. How much its inputs differ is known, because both recordings have them; from that and from
the op's own rounding follows a bound on how much its results may differ. So a difference that is only passed on is
explained, also where it grows, and the op that made it is not. `bounds` has the bounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from autodiff_lab.events import Place
from autodiff_lab.explain.bounds import Pair, flow_bound, leaf_bound, op_bound, pair_of, sum_bound
from autodiff_lab.explain.expressions import acting_as, located, named_at, spoken
from autodiff_lab.explain.model import escaped
from autodiff_lab.recording.model import Application, Flow, Step
from autodiff_lab.recording.numbers import counted, short
from autodiff_lab.recording.recording import Recording

Index = tuple[int, ...]


@dataclass(frozen=True)
class Comparison:
    """What `compare` found: the first difference that rounding does not explain, if there is one.

    Attributes
    ----------
    same : bool
        Whether there is none; also the truth value.
    phase : str
        ``"input"``: a value that enters the program differs; ``"forward"``: a result differs; ``"structure"``: one of
        the programs runs an op that the other does not, or gives an op another input; ``"backward"``: a contribution
        differs; ``"accumulation"``: a contribution was added up differently.  Empty if nothing differs.
    op : str
        The op, empty for an input.
    name : str
        The value that differs: the op's result, or the input that a contribution went to.
    index : tuple of int or None
        Of the element that exceeds its bound most; None for a scalar.
    a, b : float, complex or None
        The element in both recordings, None where there is none.
    error, bound : float
        By how much they differ, and how much rounding explains.
    applications : tuple of (int or None, int or None)
        The index of the op in each recording.
    places : tuple of (Place or None, Place or None)
        Its file and line in each program.
    what : str
        One sentence.
    compared : int
        How many values were compared.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> def run(dtype):
    ...     x = lab.constant([1.0, 2.0], dtype, name="x")
    ...     with lab.record() as recording:
    ...         y = lab.reduce_sum(lab.sin(x) * x)
    ...     return recording
    >>> bool(lab.compare(run("float32"), run("float64")))
    True
    """

    same: bool
    phase: str = ""
    op: str = ""
    name: str = ""
    index: Index | None = None
    a: Any = None
    b: Any = None
    error: float = 0.0
    bound: float = 0.0
    applications: tuple[int | None, int | None] = (None, None)
    places: tuple[Place | None, Place | None] = (None, None)
    what: str = ""
    compared: int = 0

    def __bool__(self) -> bool:
        return self.same

    def __str__(self) -> str:
        return self.what

    def _repr_markdown_(self) -> str:
        return escaped(self.what)


def compare(recording_a: Recording, recording_b: Recording) -> Comparison:
    """Find the first op in which two recordings of a program differ by more than rounding explains.

    Ops are matched in order, by name; recordings of different lengths are aligned. Values that enter the program come
    first, then forward passes, then backward passes, contribution by contribution. Runs in different dtypes are
    compared by the precision of the narrower one.

    Parameters
    ----------
    recording_a, recording_b : Recording
        For example before and after a change, in float32 and in float64, or from two frameworks.

    Returns
    -------
    Comparison
        True if they agree; printed, it says where they first do not.

    Raises
    ------
    TypeError
        If one of them is not a recording.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> def run(last):
    ...     x = lab.constant(0.5, name="x")
    ...     with lab.record() as recording:
    ...         y = lab.exp(lab.sin(x) * 3.0)
    ...         z = last(y)
    ...     return recording
    >>> found = lab.compare(run(lab.sqrt), run(lab.tanh))
    >>> found.phase, found.op, found.applications
    ('forward', 'sqrt', (3, 3))
    """
    for recording in (recording_a, recording_b):
        if not isinstance(recording, Recording):
            raise TypeError(f"compare: expected two recordings, got {type(recording).__name__}. Try lab.record().")
    return _Comparer(recording_a, recording_b).result()


class _Comparer:
    def __init__(self, a: Recording, b: Recording) -> None:
        self.a, self.b = a, b
        self.met: set[tuple[int, int]] = set()
        self.matched: set[tuple[int, int]] = set()
        self.compared = 0

    def result(self) -> Comparison:
        for found in self.found():
            return found
        values = counted(self.compared, "value")
        return Comparison(True, what=f"No difference beyond rounding: {values} compared.", compared=self.compared)

    def found(self) -> Iterator[Comparison]:
        pairs, gap = [], None
        for one, other in self.aligned():
            if one is None or other is None:
                gap = gap or (one, other)
                continue
            pairs.append((one, other))
            self.matched.add((one.index, other.index))
            yield from self.inputs(one, other, gap)
            yield from self.forward(one, other, gap)
        if gap is not None and self.ends_differ():
            yield self.missing(*gap)
        yield from self.backward({one.index: other.index for one, other in pairs})

    def aligned(self) -> Iterator[tuple[Application | None, Application | None]]:
        """Pair the ops of both programs in order; None where one has no counterpart."""
        a, b = self.a.forward, self.b.forward
        keys_a = [acting_as(self.a, one) for one in a]
        keys_b = [acting_as(self.b, one) for one in b]
        start = 0
        while start < min(len(a), len(b)) and keys_a[start] == keys_b[start]:
            yield a[start], b[start]
            start += 1
        matcher = SequenceMatcher(None, keys_a[start:], keys_b[start:], autojunk=False)
        for kind, i, j, k, n in matcher.get_opcodes():
            part_a, part_b = a[start + i : start + j], b[start + k : start + n]
            if kind == "equal" or (kind == "replace" and len(part_a) == len(part_b)):
                yield from zip(part_a, part_b, strict=True)
            else:
                yield from ((one, None) for one in part_a)
                yield from ((None, other) for other in part_b)

    def pair(self, one: int, other: int) -> Pair:
        return pair_of(self.a.tensors[one].snapshot, self.b.tensors[other].snapshot)

    def inputs(self, one: Application, other: Application, gap: Any) -> Iterator[Comparison]:
        """Compare the values that enter the program in this op."""
        for t, u in zip(one.inputs, other.inputs, strict=False):
            made = self.a.tensors[t].application, self.b.tensors[u].application
            if made in self.matched or (t, u) in self.met:
                continue
            self.met.add((t, u))
            pair = self.pair(t, u)
            if made == (None, None):
                yield from self.judged("input", one, other, t, pair, leaf_bound(pair), gap)
            else:  # it comes from another op, or from none: what it differs by is explained by nothing
                yield from self.judged("structure", one, other, t, pair, 64 * leaf_bound(pair), gap)

    def forward(self, one: Application, other: Application, gap: Any) -> Iterator[Comparison]:
        """Compare the results of an op."""
        inputs = [self.pair(t, u) for t, u in zip(one.inputs, other.inputs, strict=False)]
        op = acting_as(self.a, one)
        if bool(one.error) != bool(other.error):
            yield self.missing(one if other.error else None, other if one.error else None)
        for t, u in zip(one.outputs, other.outputs, strict=False):
            pair = self.pair(t, u)
            bound = op_bound(op, pair, inputs, one.params or {})
            yield from self.judged("forward", one, other, t, pair, bound, gap)

    def judged(
        self, phase: str, one: Application, other: Application, tensor: int, pair: Pair, bound: Any, gap: Any = None
    ) -> Iterator[Comparison]:
        """Yield the difference if a value exceeds its bound somewhere."""
        self.compared += 1
        if pair.a.shape == pair.b.shape:
            over = pair.excess(bound)
            if over is None:
                return
        elif gap is not None:
            yield self.missing(*gap)
            return
        else:
            over = None
        if gap is not None and phase in ("forward", "structure"):
            yield self.missing(*gap)
            return
        yield self.difference(phase, one, other, tensor, pair, over)

    def difference(
        self, phase: str, one: Application, other: Application, tensor: int, pair: Pair, over: Any
    ) -> Comparison:
        name = spoken(self.a, tensor)
        op = "" if phase == "input" else one.op
        index, error, bound, a, b = over if over is not None else (None, np.inf, 0.0, None, None)
        at = named_at(name, index)
        where = " and ".join(dict.fromkeys(filter(None, (located(self.a, one.place), located(self.b, other.place)))))
        subject = {
            "input": f"{at} enters the programs as",
            "forward": f"{op} gives {at} =",
            "structure": f"{op} takes another value as {at}:",
            "backward": f"The backward pass of {op} gives {at} a contribution of",
            "accumulation": f"After the contribution of {op} the adjoint of {at} is",
        }[phase]
        if one.op != other.op and phase == "forward":
            subject = f"One program runs {one.op}, the other {other.op}: {at} ="
        if over is None:
            said = f"{subject} a value of shape {pair.a.shape} and one of shape {pair.b.shape}"
        else:
            said = f"{subject} {short(a)} and {short(b)}; they differ by {error:.1e}, rounding explains {bound:.1e}"
        place = f" ({where})" if where else ""
        return Comparison(
            False, phase, op, name, index, a, b, float(error), float(bound), (one.index, other.index),
            (one.place, other.place), f"{said}{place}.", self.compared,
        )  # fmt: skip

    def missing(self, one: Application | None, other: Application | None) -> Comparison:
        """Describe an op that only one of the programs has."""
        recording, application = (self.a, one) if one is not None else (self.b, other)
        assert application is not None
        which = "first" if one is not None else "second"
        where = located(recording, application.place)
        what = (
            f"Only the {which} program runs {application.op} here{f' ({where})' if where else ''}, and results differ."
        )
        return Comparison(
            False, "structure", application.op, "", None, None, None, float("inf"), 0.0,
            (one.index if one else None, other.index if other else None),
            (one.place if one else None, other.place if other else None), what, self.compared,
        )  # fmt: skip

    def ends_differ(self) -> bool:
        """Return whether the last results differ, of which one program may have more."""
        if not self.a.forward or not self.b.forward:
            return True
        one, other = self.a.forward[-1], self.b.forward[-1]
        if not one.outputs or not other.outputs:
            return True
        pair = self.pair(one.outputs[0], other.outputs[0])
        return pair.a.shape != pair.b.shape or pair.excess(1e3 * leaf_bound(pair)) is not None

    def backward(self, match: dict[int, int]) -> Iterator[Comparison]:
        """Compare the contributions of the backward passes, in the order of the first recording's."""
        for one, other in zip(self.a.sweeps, self.b.sweeps, strict=False):
            steps = {step.application: step for step in other.steps}
            totals: dict[int, Pair] = {}
            for step in one.steps:
                twin = steps.get(match.get(step.application, -1))
                if twin is not None:
                    yield from self.step(step, twin, totals)

    def step(self, step: Step, twin: Step, totals: dict[int, Pair]) -> Iterator[Comparison]:
        one, other = self.a.applications[step.application], self.b.applications[twin.application]
        incoming = [
            self.pair(g, h)
            for g, h in zip(step.incoming, twin.incoming, strict=False)
            if g is not None and h is not None
        ]
        values = [*zip(one.inputs, other.inputs, strict=False), *zip(one.outputs, other.outputs, strict=False)]
        around = [self.pair(t, u) for t, u in values]
        flows = {flow.position: flow for flow in twin.flows}
        for flow in step.flows:
            partner = flows.get(flow.position)
            if partner is None:
                continue
            yield from self.flow(flow, partner, one, other, incoming, around)
            out, total = self.pair(flow.outgoing, partner.outgoing), self.pair(flow.total, partner.total)
            before = totals.get(flow.input)
            totals[flow.input] = total
            if flow.arrived > 1 and before is not None and before.a.shape == total.a.shape == out.a.shape:
                bound = sum_bound(before, out)
                yield from self.judged("accumulation", one, other, flow.input, total, bound)

    def flow(
        self, flow: Flow, partner: Flow, one: Application, other: Application, incoming: list[Pair], around: list[Pair]
    ) -> Iterator[Comparison]:
        out = self.pair(flow.outgoing, partner.outgoing)
        local = None
        if flow.local is not None and partner.local is not None:
            local = pair_of(flow.local, partner.local)
        yield from self.judged(
            "backward", one, other, flow.input, out, flow_bound(out, incoming, around, local, acting_as(self.a, one))
        )
