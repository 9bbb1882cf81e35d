"""Resolve what is meant: a tensor, a variable, an id or a name becomes the tensors of a recording that stand for it.

A variable stands for all its reads.  Which tape is meant follows from the gradients that the recorded program computed.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from typing import Any

from autodiff_lab.errors import NotInRecording
from autodiff_lab.events.listener import Identified
from autodiff_lab.explain.expressions import spoken
from autodiff_lab.recording.recording import Recording


@dataclass(frozen=True)
class Subject:
    """A target or source: its name, its tensors in the recording, and the variable they are reads of."""

    name: str
    tensors: tuple[int, ...]
    variable: int | None = None
    trainable: bool = True

    @property
    def keys(self) -> frozenset[int]:
        """The ids by which notes and backward passes refer to it."""
        return frozenset(self.tensors if self.variable is None else (*self.tensors, self.variable))


def subject(recording: Recording, who: Any, role: str = "tensor") -> Subject:
    """Return the tensors that a tensor, variable, id or name stands for; `role` is used where there is no name.

    Raises
    ------
    NotInRecording
        A `LookupError`: no tensor has that name or id.
    """
    if isinstance(who, Identified):
        key = who._id  # pyright: ignore[reportPrivateUsage]
        known = of_id(recording, key)
        if known is not None:
            return known
        name = str(getattr(who, "name", None) or "").removesuffix(":0")
        variable = key if hasattr(who, "trainable") else None
        return Subject(
            name if name not in ("", "Variable") else f"the {role}", (), variable, getattr(who, "trainable", True)
        )
    find = recording.__dict__.get("_find")
    if find is not None and not isinstance(who, int | str):
        key = find(who)
        known = None if key is None else of_id(recording, key)
        return known or Subject(f"the {role}", ())
    if isinstance(who, int):
        known = of_id(recording, who)
        if known is None:
            raise NotInRecording(f"No tensor of the recording has the id {who}. Ids are the keys of recording.tensors.")
        return known
    return _of_name(recording, str(who))


def of_id(recording: Recording, key: int) -> Subject | None:
    """Return the subject with the id of a tensor or of a variable, None if the recording has neither."""
    record = recording.tensors.get(key)
    if record is not None and record.variable is None:
        return Subject(_called(recording, key), (key,))
    variable = key if record is None else record.variable
    reads = [r for r in recording.tensors.values() if r.variable == variable]
    if not reads:
        return None
    return Subject(_called(recording, reads[-1].id), tuple(r.id for r in reads), variable, reads[-1].trainable)


def _called(recording: Recording, key: int) -> str:
    return spoken(recording, key)


def _of_name(recording: Recording, name: str) -> Subject:
    found = [r for r in recording.tensors.values() if r.name == name or f"%{recording.numbers[r.id]}" == name]
    if not found:
        names = sorted({r.name for r in recording.tensors.values() if r.name})
        near = difflib.get_close_matches(name, names, 3) or names[:8]
        raise NotInRecording(
            f"Nothing in the recording is called {name!r}. Try "
            + (f"one of {', '.join(near)}, or " if near else "")
            + "the number that the printed recording shows, such as '%0'."
        )
    known = of_id(recording, found[-1].id)
    assert known is not None
    return replace(known, name=name) if name.startswith("%") else known


def tape_of(recording: Recording, target: Subject, source: Subject) -> int | None:
    """Return the tape that computed the gradient, else the innermost one that was open at the target, else the last."""
    asked: int | None = None
    for sweep in recording.sweeps:
        if target.keys & {*sweep.targets, *sweep.untracked}:
            if source.keys & set(sweep.sources):
                return sweep.tape
            asked = sweep.tape
    if asked is not None:
        return asked
    made = max((recording.tensors[t].application or 0 for t in target.tensors), default=0)
    opened: list[int] = []
    last: int | None = None
    for note in recording.notes:
        if note.kind == "tape opened":
            last = note.subject
            if note.before <= made:
                opened.append(note.subject)
        elif note.kind == "tape closed" and note.before <= made and note.subject in opened:
            opened.remove(note.subject)
    return opened[-1] if opened else last
