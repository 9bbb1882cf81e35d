"""What one tape saw of a recorded program: when it was recording, what it watched, which tensors it tracked.

The rules are those of the tape itself, applied to a recording: an op is kept if the tape is recording, the op has
a derivative and one of its inputs is tracked at that moment; watching takes effect from then on, never earlier.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from autodiff_lab.events import Place
from autodiff_lab.recording.model import Application, Note
from autodiff_lab.recording.recording import Recording

FOREVER = 1 << 60
FLOATS = ("float", "bfloat", "complex")


def differentiable_dtype(dtype: str) -> bool:
    """Return whether gradients exist for a dtype, given by its name.

    Examples
    --------
    >>> [differentiable_dtype(name) for name in ("float32", "bfloat16", "int32", "bool")]
    [True, True, False, False]
    """
    return dtype.startswith(FLOATS)


@dataclass
class Block:
    """A stretch of applications, from `start` to before `end`, in which a tape was open or paused."""

    start: int
    end: int
    place: Place | None

    def __contains__(self, application: int) -> bool:
        return self.start <= application < self.end


@dataclass
class Tracking:
    """One tape's view of a recording.

    Attributes
    ----------
    automatic : bool
        Whether every trainable variable that is read is watched.
    opened, paused : list of Block
        When the tape was inside its ``with``, and inside `stop_recording`.
    reset : Note or None
        The last time it was reset.
    watched : dict of int to Note
        The first watch of a tensor or variable, by its id.
    since : dict of int to int
        The application from which each tracked tensor is tracked.
    outside : set of int
        Tensors read from variables before the block, without the tape seeing the read.
    """

    automatic: bool = True
    opened: list[Block] = field(default_factory=list)
    paused: list[Block] = field(default_factory=list)
    reset: Note | None = None
    watched: dict[int, Note] = field(default_factory=dict)
    since: dict[int, int] = field(default_factory=dict)
    outside: set[int] = field(default_factory=set)

    def listens(self, application: int) -> bool:
        """Return whether the tape saw an application."""
        return self.silence(application) is None

    def silence(self, application: int) -> str | None:
        """Return why the tape did not see an application: 'before', 'after', 'paused' or 'reset'; None if it did."""
        if not any(application in block for block in self.opened):
            return "before" if all(application < block.start for block in self.opened) else "after"
        if any(application in block for block in self.paused):
            return "paused"
        if self.reset is not None and application < self.reset.before:
            return "reset"
        return None


def tracking(recording: Recording, tape: int) -> Tracking:
    """Replay a recording through the rules of the tape with this id."""
    seen = _read_notes(recording, tape)
    watches = sorted(seen.watched.items(), key=lambda item: item[1].before)
    for application in recording.applications:
        while watches and watches[0][1].before <= application.index:
            key, note = watches.pop(0)
            _watch(recording, seen, key, note.before)
        if any(application.index in block for block in seen.opened):
            _read_variables(recording, seen, application)
        if kept_by(recording, seen, application):
            for tensor in application.outputs:
                if differentiable_dtype(recording.tensors[tensor].snapshot.dtype):
                    seen.since.setdefault(tensor, application.index)
    for key, note in watches:
        _watch(recording, seen, key, note.before)
    return seen


def _read_notes(recording: Recording, tape: int) -> Tracking:
    seen = Tracking()
    for note in recording.notes:
        if note.kind == "watched" and note.by == tape:
            seen.watched.setdefault(note.subject, note)
        elif note.kind == "read outside" and note.by == tape:
            seen.outside.add(note.subject)
        elif note.kind.startswith("tape ") and note.subject == tape:
            _switch(seen, note)
    if not seen.opened:
        seen.opened.append(Block(0, FOREVER, None))
    return seen


def _switch(seen: Tracking, note: Note) -> None:
    """Take note that the tape was opened, paused, resumed, reset or closed."""
    kind = note.kind.removeprefix("tape ")
    if kind == "opened":
        seen.automatic = "manual" not in note.detail.split()
        seen.opened.append(Block(note.before, FOREVER, note.place))
    elif kind == "closed":
        if not seen.opened:  # it was open before the recording began
            seen.opened.append(Block(0, FOREVER, None))
        seen.opened[-1].end = note.before
    elif kind == "paused":
        seen.paused.append(Block(note.before, FOREVER, note.place))
    elif kind == "resumed" and seen.paused:
        seen.paused[-1].end = note.before
    elif kind == "reset":
        seen.reset = note


def _watch(recording: Recording, seen: Tracking, key: int, before: int) -> None:
    record = recording.tensors.get(key)
    if record is not None and differentiable_dtype(record.snapshot.dtype):
        seen.since.setdefault(key, before)


def _read_variables(recording: Recording, seen: Tracking, application: Application) -> None:
    for tensor in application.inputs:
        record = recording.tensors[tensor]
        if record.variable is None or tensor in seen.outside or not differentiable_dtype(record.snapshot.dtype):
            continue
        asked = seen.watched.get(record.variable)
        if (seen.automatic and record.trainable) or (asked is not None and asked.before <= application.index):
            seen.since.setdefault(tensor, application.index)


def kept_by(recording: Recording, seen: Tracking, application: Application) -> bool:
    """Return whether a tape made an entry of an application."""
    op = recording.ops.get(application.op)
    return (
        (op is None or op.differentiable)
        and seen.listens(application.index)
        and any(seen.since.get(tensor, FOREVER) <= application.index for tensor in application.inputs)
    )
