"""GradientTape: notes the ops that depend on what it watches, and sweeps back over them for gradients.

A tape is a sink.  Which inputs it tracked is decided when an op runs, so that watching acts from then on.  Keys are
tensor ids, so that a tape keeps alive only what a rule may read.
"""

from __future__ import annotations

import weakref
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from types import FunctionType
from typing import Any, Self

from autodiff_lab.absent.tensors import TAPES
from autodiff_lab.engine import nest
from autodiff_lab.engine.attributes import Elsewhere, users_names
from autodiff_lab.engine.collector import be_patient, be_usual
from autodiff_lab.engine.differentiating import Differentiating
from autodiff_lab.engine.dtypes import DIFFERENTIABLE, warn_if_integer
from autodiff_lab.engine.moving import remember
from autodiff_lab.engine.namespace import RAW
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import ConversionError, TapeMisused
from autodiff_lab.events import TapeClosed, TapeOpened, TapeSwitched, TensorWatched
from autodiff_lab.events.listener import SINKS, fresh_id, heard, place_now, sinks_now, tell_listeners

_NOTHING = frozenset[int]()


class GradientTape(Differentiating):
    """Records ops for automatic differentiation, inside its ``with`` block.

    Parameters
    ----------
    persistent : bool
        Whether `gradient` may be called more than once; the tape then keeps all values until it is deleted.
    watch_accessed_variables : bool
        Whether trainable variables are watched when they are read.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.constant(3.0)
    >>> with lab.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> print(tape.gradient(y, x))
    Tensor(6.0, shape=(), dtype=float32)
    """

    listens = hears_all = traces = False
    _hidden = frozenset({  # what ops and other sinks use
        "append", "hears_all", "lean", "listens", "note", "note_read", "ops", "reads", "traces", "tracked",
    })  # fmt: skip
    ops = RAW  # which rules are given; a tensor that answers for itself may bring others

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._id = fresh_id()
        self._persistent, self._automatic, self.lean = persistent, watch_accessed_variables, not persistent
        self.tracked: Any = set[int]()
        self.reads: dict[Any, Tensor] = {}  # the present read of every variable
        self._entries: list[Any] | None = []
        self.append: Any = self._entries.append
        self._watched: dict[Variable, list[int]] = {}  # ids of every read that is watched
        self._roots: list[int] = []  # ids of tensors that are
        self._was_watched: list[weakref.ref[Variable]] = []
        self._used_at: Any = None
        self._open, self._opened_to = False, ()  # and the listeners that heard all that is on it

    # --- recording -------------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        sinks = sinks_now()
        self._opened_to = ()
        if sinks:
            if self in sinks:
                raise TapeMisused("This tape is already recording. Use a second GradientTape for a nested block.")
            if listeners := [sink for sink in sinks if sink.listens]:
                tell_listeners(TapeOpened(self._id, self._persistent, place_now(), self._automatic))
                if not self._entries:
                    self._opened_to = tuple(listeners)
        SINKS.set((*sinks, self))
        if not self._open:
            self._open = True
            be_patient()
        return self

    def __exit__(self, *error: object) -> None:
        sinks = sinks_now()
        SINKS.set(sinks[:-1] if sinks and sinks[-1] is self else tuple([sink for sink in sinks if sink is not self]))
        if self._open:
            self._open = False
            be_usual()
        if len(sinks) > 1 and heard():
            tell_listeners(TapeClosed(self._id, self.watched_reads()))

    def stop_recording(self) -> AbstractContextManager[None]:
        """Do not record the ops of a block.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> x = lab.Variable(3.0)
        >>> with lab.GradientTape() as tape:
        ...     with tape.stop_recording():
        ...         y = x * x
        >>> print(tape.gradient(y, x))
        None
        """
        return self._paused(place_now())

    @contextmanager
    def _paused(self, place: Any) -> Generator[None]:
        sinks = sinks_now()
        if not any(sink is self for sink in sinks):
            raise TapeMisused("stop_recording: this tape is not recording. Call it inside the tape's block.")
        SINKS.set(tuple([_ReadsOnly(self) if sink is self else sink for sink in sinks]))
        tell_listeners(TapeSwitched(self._id, "paused", place))
        try:
            yield
        finally:
            tell_listeners(TapeSwitched(self._id, "resumed", None))
            SINKS.set(
                tuple([self if sink.__class__ is _ReadsOnly and sink.tape is self else sink for sink in sinks_now()])
            )

    def __dir__(self) -> list[str]:
        return users_names(self)

    def reset(self) -> None:
        """Forget everything recorded so far, and go on recording."""
        self._entries = []
        self.append = self._entries.append
        self.tracked, self.reads, self._watched, self._roots = set(), {}, {}, []
        tell_listeners(TapeSwitched(self._id, "reset", place_now()))

    def watch(self, tensor: object) -> None:
        """Track a tensor, a variable, or a nested structure of them, from now on.

        Raises
        ------
        ConversionError
            If something else is given: only a tensor has an identity to watch.
        """
        told = heard()
        for source in nest.flatten(tensor)[0]:
            if source.__class__ is Tensor and source._held.dtype.char in "fd":  # most sources
                if self.tracked is not _NOTHING:
                    self.tracked.add(source._id)
                    self._roots.append(source._id)
            elif isinstance(source, Variable):
                self._watched.setdefault(source, [])
                self.reads.pop(source, None)  # the next read inside the tape is watched
                warn_if_integer(source._held.dtype)
            elif isinstance(source, Tensor):
                warn_if_integer(source._held.dtype)
                if source._held.dtype in DIFFERENTIABLE and self.tracked is not _NOTHING:
                    self.tracked.add(source._id)
                    self._roots.append(source._id)
            else:
                raise ConversionError(
                    f"watch: expected a tensor or a variable, got {source!r}, which is converted to a new tensor at "
                    "each use. Try x = lab.constant(...), tape.watch(x), and use x."
                )
            if told:
                tell_listeners(TensorWatched(self._id, source._id, place_now()))

    def note(self, event: Any, tensor: Tensor, how: str) -> None:
        """Ignore a value that left or entered; only recordings use it."""

    def note_read(self, variable: Variable, tensor: Tensor) -> None:
        """Note a variable that was read inside the block."""
        if not self.reads:
            remember(self)
        self.reads[variable] = tensor
        if (self._automatic and variable.trainable) or variable in self._watched:
            self._watched.setdefault(variable, []).append(tensor._id)
            dtype = tensor._held.dtype
            if (dtype.char in "fd" or dtype in DIFFERENTIABLE) and self.tracked is not _NOTHING:
                self.tracked.add(tensor._id)

    def watched_variables(self) -> tuple[Variable, ...]:
        """Return the variables watched so far, in the order of their first use."""
        if self._watched:
            return tuple(self._watched)
        return tuple(v for ref in self._was_watched if (v := ref()) is not None)

    def watched_reads(self) -> tuple[int, ...]:
        """Return the ids of the tensors as which watched variables were read inside the block, for events."""
        return tuple([key for keys in self._watched.values() for key in keys])

    @property
    def operations(self) -> tuple[str, ...]:
        """Names of the ops on the tape, in order; empty once a one-shot tape is spent."""
        return tuple(entry[0].name for entry in self._entries or ())

    @property
    def saved_bytes(self) -> int:
        """Bytes of the values that the tape keeps for its sweep, each counted once."""
        held: dict[int, int] = {}
        for _, out, ins, _, _ in self._entries or ():
            for tensor in (*(out if out.__class__ is tuple else (out,)), *ins):
                if tensor._held.nbytes:
                    held[tensor._id] = tensor._held.nbytes
        return sum(held.values())

    def _spend(self) -> None:
        self._used_at = place_now()
        self._was_watched = [weakref.ref(v) for v in self._watched]
        self._entries, self.tracked = None, _NOTHING
        self.append = _forget
        self.reads, self._watched, self._roots = {}, {}, []


Elsewhere.install(GradientTape, TAPES)
for _method in vars(Differentiating).values():  # what Python says of a wrong argument then names the tape
    if isinstance(_method, FunctionType):
        _method.__qualname__ = f"GradientTape.{_method.__name__}"


def _forget(entry: Any) -> None:
    """Ignore ops: a spent tape that is still open keeps none."""


class _ReadsOnly:
    """A tape that does not record: variables that are read stay listed, ops are not heard."""

    listens = hears_all = lean = traces = False
    tracked = _NOTHING

    def __init__(self, tape: GradientTape) -> None:
        self.tape, self.reads, self.note_read, self.note = tape, tape.reads, tape.note_read, tape.note
