"""Recording: what a program did, frozen, for pictures, texts and explanations to read.

It is made by a `Recorder` that listened, by `load_recording` from a file, or by hand.  It holds no live tensor and
needs no engine, so that a recording made elsewhere can be drawn here.  Methods that draw import the layers to their
right inside their bodies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from autodiff_lab.recording.model import Application, Moment, Note, OpInfo, Sweep, TensorRecord


@dataclass(frozen=True)
class Recording:
    """A recorded computation.

    Attributes
    ----------
    ops : mapping of str to OpInfo
        The table of the ops that ran.
    tensors : mapping of int to TensorRecord
        Every value, leaves and results, by id.
    applications : tuple of Application
        Every run of an op, in order, those of backward passes included (they have a `cause`).
    sweeps : tuple of Sweep
        Every backward pass, kept apart.
    order : tuple of Moment
        What happened when: forward applications and steps of sweeps as a stepper visits them.
    notes : tuple of Note
        Watches, assignments, and values that left the engine.
    sources : mapping of str to mapping of int to str
        The user's source lines that were met, by file name and line number.
    labels : mapping of str to str
        How to show a file name: ``"cell 3"`` for a notebook cell.
    error : str or None
        The exception that ended the program, if one did.
    replayable : bool
        Whether every leaf value was kept whole.
    title : str
        What the picture is headed with.
    """

    ops: Mapping[str, OpInfo]
    tensors: Mapping[int, TensorRecord]
    applications: tuple[Application, ...]
    sweeps: tuple[Sweep, ...] = ()
    order: tuple[Moment, ...] = ()
    notes: tuple[Note, ...] = ()
    sources: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    error: str | None = None
    replayable: bool = True
    title: str = ""

    def __len__(self) -> int:
        """Number of forward applications."""
        return len(self.forward)

    @cached_property
    def forward(self) -> tuple[Application, ...]:
        """The applications of the forward pass."""
        return tuple(a for a in self.applications if a.cause is None)

    @cached_property
    def numbers(self) -> Mapping[int, int]:
        """Print-time numbers: tensor id to position in order of appearance, the same in every run."""
        return {key: number for number, key in enumerate(self.tensors)}

    def name_of(self, tensor: int) -> str:
        """The user's name of a tensor, or ``%number``."""
        record = self.tensors[tensor]
        return record.name or f"%{self.numbers[tensor]}"

    def line(self, place: Any) -> str:
        """The user's source line at a place, stripped; empty if it is not known."""
        if place is None:
            return ""
        return self.sources.get(place[0], {}).get(place[1], "").strip()

    def where(self, place: Any) -> str:
        """A place in words: ``"cell 3, line 2"``."""
        if place is None:
            return ""
        name = self.labels.get(place[0], place[0])
        return f"{name}, line {place[1]}"
