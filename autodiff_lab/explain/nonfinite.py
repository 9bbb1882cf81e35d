"""Where the first nan or infinity appeared, forward and backward, with the element, the line and the reason.

A bad value *began* where everything that went into it was finite; ops that merely pass it on are skipped. In a
backward pass the usual reason is 0 times infinity, in the branch of a `where` that was not taken; `masking` recognizes
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from autodiff_lab.events import Place
from autodiff_lab.explain.dialects import translated
from autodiff_lab.explain.expressions import acting_as, formula, located, named_at, spoken
from autodiff_lab.explain.masking import ZERO_SPOILS, Masking, rewrite_of
from autodiff_lab.explain.model import escaped
from autodiff_lab.explain.rewriting import guard, input_code, tiny
from autodiff_lab.recording.model import Application, Flow, Step, Sweep
from autodiff_lab.recording.numbers import brief, short
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.snapshot import Snapshot

Index = tuple[int, ...]


@dataclass(frozen=True)
class Bad:
    """A value that is not finite although everything that went into it is.

    Attributes
    ----------
    op : str or None
        The op that made it, None for an input of the program.
    index : tuple of int or None
        The first bad element, None for a scalar or where the recording kept no elements.
    shape : tuple of int
        Of the bad value.
    value : str
        The bad element, ``"nan"``, ``"inf"`` or ``"-inf"``.
    values : tuple of (str, str)
        What went into it at that element, by name.
    trigger : str
        The value of the program behind it, for example ``"x[1] = 0"``.
    what : str
        One sentence.
    place : Place or None
        File and line of the user's program.
    where : str
        The same in words, with the source line.
    """

    op: str | None
    index: Index | None
    shape: Index
    value: str
    values: tuple[tuple[str, str], ...]
    trigger: str
    what: str
    place: Place | None
    where: str

    @property
    def line(self) -> str:
        """The sentence and its line."""
        return f"{self.what} ({self.where})" if self.where else self.what


@dataclass(frozen=True)
class NonFinite:
    """Where nan and infinity appeared.

    Attributes
    ----------
    forward, backward : Bad or None
        The first in the forward pass, and the first in a backward pass.
    fix : str
        What to try.
    rewrite : tuple of str
        Safe lines of code in place of the masked one.
    """

    forward: Bad | None
    backward: Bad | None
    fix: str
    rewrite: tuple[str, ...] = ()

    def __str__(self) -> str:
        rows = [f"forward   {self.forward.line if self.forward else 'every value is finite'}"]
        rows.append(f"backward  {self.backward.line if self.backward else 'no bad value began here'}")
        rows.append(f"try       {self.fix}")
        return "\n".join([*rows, *(f"            {line}" for line in self.rewrite)])

    def _repr_markdown_(self) -> str:
        forward = escaped(self.forward.line) if self.forward else "every value is finite"
        backward = escaped(self.backward.line) if self.backward else "no bad value began here"
        code = ["", "```python", *self.rewrite, "```"] if self.rewrite else []
        return "\n".join([f"- Forward: {forward}", f"- Backward: {backward}", f"- Try: {escaped(self.fix)}", *code])


def first_nonfinite(recording: Recording) -> NonFinite | None:
    """Find where nan or infinity first appeared; see `Recording.first_nonfinite`."""
    return translated(_first(_Finder(recording)), recording.framework)


def _first(finder: _Finder) -> NonFinite | None:
    forward = next(finder.forward(), None)
    backward, fix, rewrite = finder.first_backward()
    if forward is None and backward is None:
        return None
    if forward is not None and (backward is None or (forward.op is not None and not finder.same_cause())):
        fix, rewrite = finder.forward_fix()
    return NonFinite(forward, backward, fix, rewrite)


FORWARD_FIX = {
    "log": "Keep its input above 0{code}, or use lab.math.log1p near 0.",
    "sqrt": "Keep its input from going below 0{code}.",
    "exp": "Subtract the maximum before exp, or use lab.nn.softmax, lab.nn.log_softmax or lab.nn.softplus.",
    "divide": "Keep the divisor away from 0: add a small number to it, or choose a safe one with lab.where first.",
    "reciprocal": "Keep its input away from 0: add a small number, or choose a safe one with lab.where first.",
    "pow": "A fractional power needs a base of at least 0, and a negative power a base that is not 0.",
}


FORWARD_CODE = {"log": "lab.math.log(lab.maximum({x}, {tiny}))", "sqrt": "lab.sqrt(lab.maximum({x}, 0.0))"}


class _Finder:
    def __init__(self, recording: Recording) -> None:
        self.recording = recording

        self.maker: Application | None = None
        self.spoilt: Application | None = None
        self.masked = False

    def same_cause(self) -> bool:
        """Return whether a `where` hides the op that made the first bad value: its backward pass is to be mended."""
        return self.masked and self.maker is not None and self.spoilt is self.maker

    def forward_fix(self) -> tuple[str, tuple[str, ...]]:
        """Return what to try about the first bad value of the forward pass, in terms of the program's own names."""
        maker, recording = self.maker, self.recording
        if maker is None:
            return "Check where this value comes from: it was not finite when it entered the program.", ()
        words, lines = guard(recording, maker)
        if words:
            return words, lines
        return self._words(maker), lines

    def _words(self, maker: Application) -> str:
        recording = self.recording
        acts_as = acting_as(recording, maker)
        words = FORWARD_FIX.get(acts_as, "Check the inputs of this op: they are finite, but its result is not.")
        code, dtype = "", self.value(maker.outputs[0]).dtype
        if acts_as in FORWARD_CODE and maker.inputs and not dtype.startswith("complex"):
            x = input_code(recording, maker, 0) or formula(recording, maker.inputs[0])
            if x:
                code = f": {FORWARD_CODE[acts_as].format(x=x, tiny=tiny(dtype))}"
        return words.format(code=code)

    def value(self, tensor: int) -> Snapshot:
        return self.recording.tensors[tensor].snapshot

    def forward(self) -> Iterator[Bad]:
        """Yield the bad values of the forward pass, in order."""
        seen: set[int] = set()
        for application in self.recording.forward:
            whole = True
            for tensor in application.inputs:
                if not self.value(tensor).finite:
                    whole = False
                    record = self.recording.tensors[tensor]
                    if record.application is None and tensor not in seen:
                        seen.add(tensor)
                        yield self.brought_in(tensor, application)
            for tensor in application.outputs:
                if whole and not self.value(tensor).finite:
                    self.maker = application
                    yield self.made(tensor, application)

    def brought_in(self, tensor: int, application: Application) -> Bad:
        record = self.recording.tensors[tensor]
        index, shown = first_bad(record.snapshot)
        place = record.place or application.place
        name = "A constant" if self.is_literal(tensor) else named_at(spoken(self.recording, tensor), index)
        what = f"{name} is {shown} when it enters the program, before any op."
        return Bad(
            None,
            index,
            record.snapshot.shape,
            shown,
            (),
            f"{name} = {shown}",
            what,
            place,
            located(self.recording, place),
        )

    def made(self, tensor: int, application: Application) -> Bad:
        value = self.value(tensor)
        index, shown = first_bad(value)
        into = tuple(self.inputs_at(application, index, value.shape))
        result = named_at(spoken(self.recording, tensor), index)
        given = ", ".join(f"{name} = {number}" for name, number in into)
        named = f"{result} = {shown}" if recording_name(self.recording, tensor) else f"{shown}{_at(index)}"
        what = f"{application.op} made {named}" + (f" from {given}." if given else ".")
        if value.shape:
            what += f" {_how_many(value)}"
        return Bad(
            application.op,
            index,
            value.shape,
            shown,
            into,
            self.trigger(application, index, value.shape),
            what,
            application.place,
            located(self.recording, application.place),
        )

    def inputs_at(self, application: Application, index: Index | None, shape: Index) -> Iterator[tuple[str, str]]:
        """Return the names and values of an op's inputs, at one element if the op works elementwise."""
        op = self.recording.ops.get(application.op)
        for tensor in dict.fromkeys(application.inputs):
            value, name = self.value(tensor), spoken(self.recording, tensor)
            at = element(value, index, shape) if op is not None and op.elementwise else None
            if at is None:
                yield name, brief(value)
            else:
                yield named_at(name, at[0]), short(at[1])

    def trigger(self, application: Application, index: Index | None, shape: Index) -> str:
        """Return the value of the program behind an element: back through elementwise ops to a leaf."""
        current: Application | None = application
        while current is not None:
            op = self.recording.ops.get(current.op)
            tensors = [t for t in current.inputs if not self.is_literal(t)] or list(current.inputs)
            if op is None or not op.elementwise or not tensors:
                return ""
            record = self.recording.tensors[tensors[0]]
            if record.application is None:
                at = element(record.snapshot, index, shape)
                return "" if at is None else f"{named_at(spoken(self.recording, record.id), at[0])} = {short(at[1])}"
            if record.snapshot.shape != shape:
                return ""
            current = self.recording.applications[record.application]
        return ""

    def is_literal(self, tensor: int) -> bool:
        record = self.recording.tensors[tensor]
        return record.kind == "constant" and record.name is None

    def first_backward(self) -> tuple[Bad | None, str, tuple[str, ...]]:
        """Return the first bad contribution that began in a backward pass, and how to fix it."""
        for sweep in self.recording.sweeps:
            for step in sweep.steps:
                if any(g is not None and not self.value(g).finite for g in step.incoming):
                    continue
                for flow in step.flows:
                    if not self.value(flow.outgoing).finite:
                        return self.share(sweep, step, flow)
        return None, "", ()

    def share(self, sweep: Sweep, step: Step, flow: Flow) -> tuple[Bad, str, tuple[str, ...]]:
        recording = self.recording
        application = recording.applications[step.application]
        outgoing, input_ = self.value(flow.outgoing), self.value(flow.input)
        index, shown = first_bad(outgoing)
        name = spoken(recording, flow.input)
        here = named_at(name, index)
        at = element(input_, index, outgoing.shape)
        incoming = next((g for g in step.incoming if g is not None), None)
        g_at = None if incoming is None else element(self.value(incoming), index, outgoing.shape)
        derivative = None if flow.local is None else element(flow.local, index, outgoing.shape)
        values = [(named_at(name, at[0]), short(at[1]))] if at else []
        values += [("incoming gradient", short(g_at[1]))] if g_at else []
        values += [("derivative", short(derivative[1]))] if derivative else []
        equation = f"{here} = {short(at[1])}" if at else ""
        point = name
        if at:
            point = equation if formula(recording, flow.input) else f"{here}, which is {short(at[1])},"
        mask = Masking(recording, sweep).of(step, index) if incoming is not None else None
        self.spoilt, self.masked = application, mask is not None
        infinite = _infinite(derivative[1]) if derivative else flow.local is not None and flow.local.not_finite[1] > 0
        if infinite and shown == "nan" and (g_at is None or g_at[1] == 0):
            what = (
                f"The derivative of {application.op} at {point} is infinite and the incoming gradient is 0: "
                "0 times infinity is nan."
            )
            if mask is not None:
                what += f" {mask.what}"
        elif infinite:
            what = f"The derivative of {application.op} at {point} is infinite, so the gradient becomes {shown}."
            what += self.then_nan(sweep, step, flow)
        else:
            arriving = f" of an incoming gradient {short(g_at[1])}" if g_at else ""
            what = f"The backward pass of {application.op} at {point} made {shown}{arriving}."
        if outgoing.size > 1:
            what += f" {_how_many(outgoing)}"
        trigger = self.trigger(application, index, outgoing.shape) or equation
        bad = Bad(
            application.op,
            index,
            outgoing.shape,
            shown,
            tuple(values),
            trigger,
            what,
            application.place,
            located(self.recording, application.place),
        )
        if at and not np.isfinite(at[1]):
            self.masked = False
            return bad, f"{here} is already not finite in the forward pass: fix that first.", ()
        if mask is None and not infinite and acting_as(recording, application) not in ZERO_SPOILS:
            return bad, f"Check what the backward pass of {application.op} does with these values.", ()
        return (bad, *rewrite_of(recording, self.first_infinite(sweep, step, flow) if infinite else application, mask))

    def first_infinite(self, sweep: Sweep, step: Step, flow: Flow) -> Application:
        """Return the first op of the program, from here back, whose derivative is infinite: a guard there is enough."""
        found, carried = self.recording.applications[step.application], {flow.outgoing, flow.total}
        for later in sweep.steps[step.index + 1 :]:
            if carried.isdisjoint(later.incoming):
                continue
            for further in later.flows:
                carried |= {further.outgoing, further.total}
                if further.local is not None and further.local.not_finite[1]:
                    found = self.recording.applications[later.application]
        return found

    def then_nan(self, sweep: Sweep, step: Step, flow: Flow) -> str:
        """Say where an infinite gradient meets a 0 further back."""
        carried = {flow.outgoing, flow.total}
        for later in sweep.steps[step.index + 1 :]:
            if carried.isdisjoint(later.incoming):
                continue
            application = self.recording.applications[later.application]
            for further in later.flows:
                if self.value(further.outgoing).not_finite[0]:
                    return f" Further back, in {application.op}, it meets a 0: 0 times infinity is nan."
                carried |= {further.outgoing, further.total}
        return ""


def first_bad(value: Snapshot) -> tuple[Index | None, str]:
    """Return the first non-finite element: its index (None for a scalar, or if it was not kept) and its value."""
    at, what = value.first_bad
    if what is None:
        what = float("nan" if value.not_finite[0] else "inf")
    return None if at is None or not value.shape else _unravelled(at, value.shape), short(what)


def _unravelled(position: int, shape: Index) -> Index:
    """Return the index of an element in row-major order; a shape in a file may be larger than NumPy can count."""
    index: list[int] = []
    for length in reversed(shape):
        position, at = divmod(position, max(length, 1))
        index.append(at)
    return tuple(reversed(index))


def element(value: Snapshot, index: Index | None, shape: Index) -> tuple[Index | None, Any] | None:
    """Return the element of a value that meets `index` of a broadcast `shape`, with its own index; None if not kept."""
    if value.array is None or len(value.shape) > len(shape):
        return None
    array = np.asarray(value.array)
    if not value.shape:
        return None, array[()]
    if index is None:
        return None
    own = index[len(index) - len(value.shape) :]
    own = tuple(0 if n == 1 else i for i, n in zip(own, value.shape, strict=True))
    return (own, array[own]) if all(i < n for i, n in zip(own, value.shape, strict=True)) else None


def _infinite(value: Any) -> bool:
    return isinstance(value, (float, complex, np.inexact)) and bool(np.isinf(value))


def recording_name(recording: Recording, tensor: int) -> str | None:
    """Return the user's name of a tensor."""
    return recording.tensors[tensor].name


def _at(index: Index | None) -> str:
    return f" at [{', '.join(map(str, index))}]" if index else ""


def _how_many(value: Snapshot) -> str:
    count = sum(value.not_finite)
    return f"{count} of {value.size} elements {'is' if count == 1 else 'are'} not finite."
