"""Recording: what a program did, frozen, for pictures, texts and explanations to read.

It is made by a `Recorder`, by `load_recording` from a file, or by hand. It holds no live tensors and does not need the
engine, so a recording made elsewhere can be drawn here. Methods that explain it import the layer to the right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autodiff_lab.errors import StillRecording
from autodiff_lab.recording.exporting import Exporting
from autodiff_lab.recording.model import Application, Moment, Note, OpInfo, Sweep, TensorRecord
from autodiff_lab.recording.names import short_name
from autodiff_lab.recording.numbers import counted

if TYPE_CHECKING:
    from autodiff_lab.explain import Explanation, Ledger, NonFinite
    from autodiff_lab.recording.recorder import Recorder


@dataclass(frozen=True, repr=False)
class Recording(Exporting):
    """A recorded computation.

    Attributes
    ----------
    ops : mapping of str to OpInfo
        The table of the ops that ran.
    tensors : mapping of int to TensorRecord
        Every value, leaves and results, by id.
    applications : tuple of Application
        Every application of an op, in order, including those of backward passes (they have a `cause`).
    sweeps : tuple of Sweep
        Every backward pass, kept apart.
    order : tuple of Moment
        What happened when: forward applications and steps of sweeps as a stepper visits them.
    notes : tuple of Note
        Watches, assignments, and values that left the engine.
    sources : mapping of str to mapping of int to str
        The user's source lines that were reached, by file name and line number.
    labels : mapping of str to str
        How to show a file name: ``"cell 3"`` for a notebook cell.
    error : str or None
        The exception that ended the program, if one did.
    replayable : bool
        Whether every leaf value was kept in full.
    title : str
        The heading of the picture.
    framework : str
        Whose program it is, ``"torch"`` for example; empty for autodiff_lab's own.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> with lab.record() as recording:
    ...     y = lab.exp(lab.constant(0.0))
    >>> recording.forward[0].op, recording.name_of(recording.forward[0].outputs[0])
    ('exp', 'y')
    """

    ops: Mapping[str, OpInfo]
    tensors: Mapping[int, TensorRecord]
    applications: tuple[Application, ...]
    # Factories even for what never changes: a plain default would stay on the class and hide a missing view.
    sweeps: tuple[Sweep, ...] = field(default_factory=tuple)
    order: tuple[Moment, ...] = field(default_factory=tuple)
    notes: tuple[Note, ...] = field(default_factory=tuple)
    sources: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    error: str | None = field(default_factory=lambda: None)
    replayable: bool = field(default_factory=lambda: True)
    title: str = field(default_factory=str)
    framework: str = field(default_factory=str)

    @classmethod
    def _of(cls, recorder: Recorder) -> Recording:
        """Return a recording of a running program: its views are built on first use."""
        live = object.__new__(cls)
        live.__dict__.update(_recorder=recorder, _find=recorder.find, _running=True)
        return live

    def so_far(self) -> Recording:
        """Return the recording itself once the program has ended, and before that a new one of the events so far."""
        return self.__dict__["_recorder"].recording() if self.__dict__.get("_running") else self

    def _finish(self) -> None:
        """Mark that the program has ended."""
        self.__dict__["_running"] = False

    def __getattr__(self, name: str) -> Any:
        """Build the views of a live recording when the first of them is missed."""
        recorder = self.__dict__.get("_recorder")
        if recorder is None or name not in _VIEWS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if self.__dict__["_running"]:
            raise StillRecording(
                f"The recording has no {name!r} yet: the program still runs. Look at it after the `with lab.record()` "
                "block has ended."
            )
        self.__dict__.update(vars(recorder.recording()))
        del self.__dict__["_recorder"], self.__dict__["_running"]
        return self.__dict__[name]

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the views, and for a running program the events so far."""
        whole = self.so_far()
        return Recording, tuple(getattr(whole, name) for name in _FIELDS)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_VIEWS})

    def __repr__(self) -> str:
        if self.__dict__.get("_running"):
            count = len(self.__dict__["_recorder"]._items)
            return f"<Recording: still recording, {counted(count, 'event')} so far>"
        parts = [counted(len(self), "op")]
        if self.sweeps:
            parts.append(counted(len(self.sweeps), "backward pass"))
        if self.error is not None:
            parts.append(f"ended by {self.error.partition(':')[0]}")
        from autodiff_lab.explain import remarks

        told = remarks(self)
        more = f"; {told[0]}" + (f"; and {len(told) - 1} more" if len(told) > 1 else "") if told else ""
        return f"<Recording{self.title and ' ' + repr(self.title)}: {', '.join(parts)}{more}>"

    def __len__(self) -> int:
        """Return the number of forward applications."""
        return len(self.forward)

    @cached_property
    def forward(self) -> tuple[Application, ...]:
        """The applications of the forward pass."""
        return tuple(a for a in self.applications if a.cause is None)

    @cached_property
    def numbers(self) -> Mapping[int, int]:
        """Numbers for printing by tensor id, the same in every run.

        Small numbers go to what a reader meets first: inputs and outputs in the order in which ops ran, then what
        only backward passes used.
        """
        return {key: number for number, key in enumerate(dict.fromkeys([*self._met(), *self.tensors]))}

    def _met(self) -> Iterator[int]:
        """Yield the tensors that a reader meets in the forward pass, including those that left the tape."""
        left = [note for note in self.notes if note.kind == "left" and note.subject in self.tensors]
        for moment in self.order:
            while left and left[0].before <= moment.application:
                yield left.pop(0).subject
            if moment.sweep is None:
                yield from self.applications[moment.application].inputs
                yield from self.applications[moment.application].outputs

    def name_of(self, tensor: int) -> str:
        """Return the user's name of a tensor on one line, or ``%number``."""
        return short_name(self.tensors[tensor].name or "") or f"%{self.numbers[tensor]}"

    def line(self, place: tuple[str, int] | None) -> str:
        """Return the user's source line at a place, stripped; empty if it is not known."""
        if place is None:
            return ""
        return self.sources.get(place[0], {}).get(place[1], "").strip()

    def where(self, place: tuple[str, int] | None) -> str:
        """Return a place in words: ``"cell 3, line 2"``."""
        if place is None:
            return ""
        name = self.labels.get(place[0], place[0])
        return f"{name}, line {place[1]}"

    def to_text(self, *, values: bool = True, lines: bool = True) -> str:
        """Return the printed form: ops, then what each backward pass did, one line each, numbered by appearance.

        It ends with a line for each gradient that is missing or not finite.

        Parameters
        ----------
        values : bool
            Whether to show values, the user's names and remarks.
        lines : bool
            Whether to show the user's source lines.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> x = lab.Variable(3.0, name="x")
        >>> with lab.record() as recording, lab.GradientTape() as tape:
        ...     y = x * x
        >>> print(recording.to_text(lines=False))
        %0: f32 = variable          # x = 3
        %1: f32 = multiply(%0, %0)  # y = 9
        """
        from autodiff_lab.recording.text import text

        printed = text(self, values=values, lines=lines)
        if not values:
            return printed
        from autodiff_lab.explain import remarks

        return "\n".join([printed, *remarks(self, lines=lines)])

    def explain(self, target: object, source: object) -> Explanation:
        """Explain why a gradient is None, zero or a number: one cause, its line, and what to try.

        Parameters
        ----------
        target, source : Tensor, Variable, int or str
            Objects of the program, ids, or names as the printed recording shows them.

        Raises
        ------
        NotInRecording
            A `LookupError`: a name or id is not in the recording.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> x = lab.Variable(3.0, name="x")
        >>> with lab.record() as recording, lab.GradientTape() as tape:
        ...     y = lab.floor(x) * x
        ...     z = lab.floor(x) * 2.0
        >>> recording.explain(z, x).cause, recording.explain(y, x).cause
        ('not_differentiable', 'connected')
        """
        from autodiff_lab.explain import explain

        return explain(self, target, source)

    def ledger(self, source: object, target: object = None, *, limit: int = 20) -> Ledger:
        """List the paths that add up to a gradient, each with the product of its local derivatives; for scalars.

        Parameters
        ----------
        source : Tensor, Variable, int or str
            What the gradient is taken with respect to.
        target : Tensor, Variable, int or str, optional
            What it is the gradient of; by default the target of the last backward pass that reached the source.
        limit : int
            How many paths to list, largest first; all are counted.

        Raises
        ------
        NotInRecording, ShapeMismatch, DtypeMismatch
            No recorded backward pass led to the source; a value on the way is not a scalar, or not real.
        """
        from autodiff_lab.explain import ledger

        return ledger(self, source, target, limit)

    def first_nonfinite(self) -> NonFinite | None:
        """Find where nan or infinity first appeared, forward and backward: op, line and element.

        Returns
        -------
        NonFinite or None
            None if every value that was recorded is finite.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> x = lab.Variable([4.0, 0.0], name="x")
        >>> with lab.record() as recording:
        ...     with lab.GradientTape() as tape:
        ...         y = lab.where(x > 0.0, lab.sqrt(x), 0.0)
        ...     grad = tape.gradient(y, x)
        >>> found = recording.first_nonfinite()
        >>> found.forward, found.backward.op, found.backward.index
        (None, 'sqrt', (1,))
        """
        from autodiff_lab.explain import first_nonfinite

        return first_nonfinite(self)

    def save(self, path: str | Path) -> None:
        """Write the recording as JSON, completely or not at all; `load_recording` reads it.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        from autodiff_lab.recording.wire import save

        save(self, path)


_FIELDS = tuple(f.name for f in fields(Recording))
_VIEWS = frozenset(_FIELDS)
