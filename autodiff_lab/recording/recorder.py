"""Recorder: the observer that keeps events, and the listeners that bring them to it or to a file.

While the program runs, events are only put on a list, because formatting them then would cost many times the run; the
two frequent kinds, of ops and of contributions, are not even made, but only what they will be made of is kept.  What
cannot wait is done when the block ends: the user's names of tensors are read from the local variables.  Everything else
happens the first time the recording is used.
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any

from autodiff_lab.events import GradientFlowed, OpApplied, OpDescribed, TensorMet, VariableAssigned
from autodiff_lab.events.listener import (
    CAUSE,
    SCOPE,
    SINKS,
    Listener,
    Spot,
    applied,
    place_now,
    place_of,
    sinks_now,
    spot_now,
)
from autodiff_lab.recording.choosing import Choice
from autodiff_lab.recording.journal import Ids, Journal
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.snapshot import Policy, keep, kept

cause_now, scope_now = CAUSE.get, SCOPE.get
BUDGET = 256 * 1024 * 1024
"""Bytes of values that a recorder holds by reference before it summarizes at once."""


class Recorder:
    """An observer: call it with events, then ask for `recording()`.

    Parameters
    ----------
    policy : callable
        What is kept of each value; see `autodiff_lab.recording.snapshot.keep`.
    budget : int
        Bytes of values that may be held by reference until the recording is used.

    Attributes
    ----------
    events : list of Event
        The events, in order.
    names : dict of int to list of str
        The user's names by tensor or variable id.
    error : str or None
        What ended the program.
    framework : str
        Whose program it is, ``"torch"`` for example; empty for autodiff_lab's own.
    find : callable or None
        Returns the id of an object of that framework, or None; then `Recording.explain` takes such objects.
    choice : Choice or None
        Which ops are kept; None for all.
    journal : Journal or None
        The file that events go to instead of staying in memory.
    left_out : int
        How many ops the choice left out while the program ran.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> recorder = Recorder()
    >>> with lab.events.observing(recorder):
    ...     y = lab.exp(lab.constant(0.0))
    >>> recorder.recording()
    <Recording: 1 op>
    """

    __slots__ = (
        "__weakref__", "_items", "_live", "budget", "choice", "error", "find", "framework", "journal", "left",
        "left_out", "names", "policy", "title",
    )  # fmt: skip

    def __init__(self, policy: Policy = keep, budget: int = BUDGET, title: str = "", framework: str = "") -> None:
        self.policy = policy
        self.framework = framework
        self.find: Callable[[Any], int | None] | None = None
        self.choice: Choice | None = None
        self.journal: Journal | None = None
        self.left_out = 0
        self._live: Recording | None = None
        self.budget = self.left = budget
        self.title = title
        self._items: list[Any] = []
        self.names: dict[int, list[str]] = {}
        self.error: str | None = None

    def __call__(self, event: Any) -> None:
        """Keep an event."""
        self._items.append(self.bounded(event))

    def bounded(self, event: Any) -> Any:
        """Return an event as it may be kept: beyond the budget, with snapshots in place of values."""
        kind = event.__class__
        if kind is OpApplied:
            for value in event[4]:
                self.left -= value.nbytes
            if self.left < 0:
                event = event._replace(values=tuple([kept(self.policy, v, False) for v in event.values]))
        elif kind is TensorMet or kind is VariableAssigned:
            self.left -= event.value.nbytes
            if self.left < 0:
                event = event._replace(value=kept(self.policy, event.value, True))
        elif kind is GradientFlowed and event.local is not None:
            self.left -= getattr(event.local, "nbytes", 0)  # of a rule of the user's, which may give a plain number
            if self.left < 0:
                event = event._replace(local=self.policy(event.local, False))
        return event

    @property
    def events(self) -> list[Any]:
        """The events, in order."""
        return list(self.made())

    def made(self) -> Iterator[Any]:
        """Yield the events, in order; what was kept instead of one is made into it."""
        self._catch_up()
        described: dict[str, OpDescribed] = {}
        lines: dict[int, Any] = {}
        for item in self._items:
            event = item
            if item.__class__ is tuple:
                if item[0] is applied:
                    _, entry, cause, spot, scope = item
                    if entry[0].name not in described:
                        described[entry[0].name] = OpDescribed(*entry[0].describe())
                        yield described[entry[0].name]
                    event = applied(entry, cause, place_of(spot, lines), scope)
                elif item[0] is TensorMet:
                    event = TensorMet._make((*item[1:7], place_of(item[7], lines), item[8]))
                else:
                    event = item[0](*item[1:])
            elif item.__class__ is OpDescribed:
                if described.get(item.op) == item:
                    continue
                described[item.op] = item  # an adapter may describe an op again, when it knows more of it
            yield event

    def _catch_up(self) -> None:
        """Put events in the place of the functions that make them."""
        if not any(isinstance(item, FunctionType | _Again) for item in self._items):
            return
        items: list[Any] = []
        for item in self._items:
            if isinstance(item, FunctionType):
                items.extend(item())
            elif isinstance(item, _Again):
                items.extend(item.events(self))
            else:
                items.append(item)
        self._items[:] = items

    def defer(self, function: FunctionType | Callable[[], Iterable[Any]]) -> None:
        """Keep a place for events that `function` returns when the recording is first used."""
        self._items.append(function)

    def recording(self) -> Recording:
        """Return what was recorded so far, as a recording."""
        if self.journal is not None:
            from autodiff_lab.recording.wire import load_recording

            self.journal.flush()
            return load_recording(self.journal.path, limit=sys.maxsize, partial=self._live is not None)
        from autodiff_lab.recording.build import build

        return build(self)

    def start(self) -> Recording:
        """Return a recording of the program that now runs; it can be used after `finish`."""
        self._live = Recording._of(self)
        RECENT.append(weakref.ref(self._live))
        return self._live

    def finish(self, error: BaseException | None = None) -> None:
        """Mark that the program has ended, and what ended it."""
        if error is not None and not _is_exit(error):
            self.error = in_words(error)
        if self.journal is not None:
            self.journal.close(self.names, self.error, self.left_out)
        if self._live is not None:
            self._live._finish()
            self._live = None


_WITH_VALUES = frozenset({OpApplied, TensorMet, VariableAssigned, GradientFlowed})
"""Events that count against the budget."""


class Keeper(Listener):
    """The listener of a block that is recorded.

    While there is budget it keeps tensors instead of making events: they hold the arrays that the events would hold.
    Lines of the program are kept as code objects and positions, and a backward pass as what runs it again.
    """

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder)
        self._recorder, self._keep = recorder, recorder._items.append
        self._choice = recorder.choice if recorder.choice is not None and recorder.choice.skip else None

    @property
    def patient(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether values may be held: without budget, the tensors of a tape must not be."""
        return self._recorder.left >= 0 and self.error is None

    def append(self, entry: tuple[Any, ...], /) -> None:
        """Keep an op that was applied."""
        op, out, ins, _, _ = entry
        if self._choice is not None and cause_now() is None and self._choice.skips(op.name, scope_now()):
            self._recorder.left_out += 1
            return
        known = self.known
        for tensor in ins:
            if tensor._id not in known:
                self.meet(tensor, "constant")
        if out.__class__ is tuple:
            known.update([t._id for t in out])
            size = sum([t._held.nbytes for t in out])
        else:
            known.add(out._id)
            size = out._held.nbytes
        cause, recorder = cause_now(), self._recorder
        left = recorder.left = recorder.left - size
        if left < 0:
            self.expect(op, out, ins)
            self.tell(applied(entry, cause, place_now() if cause is None else None, scope_now()))
        else:
            self._keep((applied, entry, cause, spot_now() if cause is None else None, scope_now()))

    def meet(self, tensor: Any, kind: str, variable: Any = None) -> None:
        """Keep a tensor that no recorded op made."""
        recorder = self._recorder
        left = recorder.left
        if left < 0 or self.error is not None:
            super().meet(tensor, kind, variable)
            return
        key, value = tensor._id, tensor._held
        self.known.add(key)
        recorder.left = left - value.nbytes
        if variable is None:
            self._keep((TensorMet, key, kind, tensor.name, value, None, False, spot_now(), scope_now()))
        else:
            name, number, trains = variable.name, variable._id, variable.trainable
            self._keep((TensorMet, key, kind, name, value, number, trains, spot_now(), scope_now()))

    def tell(self, event: Any) -> None:
        """Keep an event, or what it holds of values."""
        if event.__class__ in _WITH_VALUES or self.error is not None:
            super().tell(event)
        else:
            self._keep(event)

    def later(self, call: tuple[Any, ...]) -> None:
        """Keep what makes an event, while there is budget."""
        if self._recorder.left < 0:
            super().later(call)
        else:
            self._keep(call)

    def postpone(self, again: Callable[[], None]) -> None:
        """Keep a place for the events of a backward pass that is run again when the recording is used."""
        self._keep(_Again(again, self.known, spot_now(), SCOPE.get()))


class Writer(Listener):
    """The listener of a block whose events go to a file at once."""

    def __init__(self, recorder: Recorder, journal: Journal) -> None:
        super().__init__(journal)
        self._recorder, self.known = recorder, Ids()
        self._choice = recorder.choice if recorder.choice is not None and recorder.choice.skip else None

    def append(self, entry: tuple[Any, ...], /) -> None:
        """Write an op that was applied, unless it is to be skipped."""
        if self._choice is None or CAUSE.get() is not None or not self._choice.skips(entry[0].name, SCOPE.get()):
            super().append(entry)
        else:
            self._recorder.left_out += 1


class _Again:
    """A backward pass to be run again. It must not refer to the recorder, which would then wait for the collector."""

    __slots__ = ("_known", "_run", "_scope", "_spot")

    def __init__(self, run: Callable[[], None], known: set[int], spot: Spot, scope: str) -> None:
        self._run, self._known, self._spot, self._scope = run, known, spot, scope

    def events(self, recorder: Recorder) -> list[Any]:
        """Run it again and return its events, at the line of the program that asked for it."""
        inner = Recorder(recorder.policy, sys.maxsize)
        keeper = Keeper(inner)
        keeper.known = self._known
        before = sinks_now(), SCOPE.get(), CAUSE.get()
        SINKS.set((keeper,))
        SCOPE.set(self._scope)
        CAUSE.set(None)
        try:
            self._run()
        finally:
            SINKS.set(before[0])
            SCOPE.set(before[1])
            CAUSE.set(before[2])
        place, bounded = place_of(self._spot, {}), recorder.bounded
        return [
            bounded(event if getattr(event, "place", None) is None else event._replace(place=place))
            for event in inner.made()
        ]


RECENT: deque[weakref.ref[Recording]] = deque(maxlen=16)
"""The latest recordings that may still be in use: `tape.explain` looks for its own here."""


def _is_exit(error: BaseException) -> bool:
    return isinstance(error, SystemExit) and not error.code


def in_words(error: BaseException) -> str:
    """Return an exception as its type and message."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - an exception that cannot be printed must not hide itself
        text = "(its message could not be printed)"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
