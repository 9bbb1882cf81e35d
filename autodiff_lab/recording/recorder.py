"""Recorder: the observer that keeps events, and `record`, the block that listens.

While the program runs, events are only put on a list, because formatting them then would cost many times the run; the
two frequent kinds, of ops and of contributions, are not even made, but only what they will be made of is kept.  What
cannot wait is done when the block ends: the user's names of tensors are read from the local variables.  Everything else
happens the first time the recording is used.
"""

from __future__ import annotations

import sys
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import FrameType, FunctionType, TracebackType
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
from autodiff_lab.recording.names import names_in
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.snapshot import WHOLE, Policy, keep, kept

BUDGET = 256 * 1024 * 1024
"""Bytes of values that a recorder holds by reference before it summarises at once."""


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
        "__weakref__", "_items", "_live", "budget", "error", "find", "framework", "left", "names", "policy", "title",
    )  # fmt: skip

    def __init__(self, policy: Policy = keep, budget: int = BUDGET, title: str = "", framework: str = "") -> None:
        self.policy = policy
        self.framework = framework
        self.find: Callable[[Any], int | None] | None = None
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
        described: set[str] = set()
        lines: dict[int, Any] = {}
        for item in self._items:
            event = item
            if item.__class__ is tuple:
                if item[0] is applied:
                    _, entry, cause, spot, scope = item
                    if entry[0].name not in described:
                        described.add(entry[0].name)
                        yield OpDescribed(*entry[0].describe())
                    event = applied(entry, cause, place_of(spot, lines), scope)
                elif item[0] is TensorMet:
                    event = TensorMet._make((*item[1:7], place_of(item[7], lines), item[8]))
                else:
                    event = item[0](*item[1:])
            elif item.__class__ is OpDescribed:
                if item.op in described:
                    continue
                described.add(item.op)
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
            self.error = _in_words(error)
        if self._live is not None:
            self._live._finish()
            self._live = None


_WITH_VALUES = frozenset({OpApplied, TensorMet, VariableAssigned, GradientFlowed})
"""Events that count against the budget."""


class _Keeper(Listener):
    """The listener of a block that is recorded.

    While there is budget it keeps tensors instead of making events: they hold the arrays that the events would hold.
    Lines of the program are kept as code objects and positions, and a backward pass as what runs it again.
    """

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder)
        self._recorder, self._keep = recorder, recorder._items.append

    @property
    def patient(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether values may be held: without budget, the tensors of a tape must not be."""
        return self._recorder.left >= 0 and self.error is None

    def append(self, entry: tuple[Any, ...], /) -> None:
        _, out, ins, _, _ = entry
        known, recorder = self.known, self._recorder
        for tensor in ins:
            if tensor._id not in known:
                self.meet(tensor, "constant")
        if out.__class__ is tuple:
            known.update([t._id for t in out])
            recorder.left -= sum([t._held.nbytes for t in out])
        else:
            known.add(out._id)
            recorder.left -= out._held.nbytes
        cause = CAUSE.get()
        if recorder.left < 0:
            self.expect(entry[0], out, ins)
            self.tell(applied(entry, cause, place_now() if cause is None else None, SCOPE.get()))
        else:
            self._keep((applied, entry, cause, spot_now() if cause is None else None, SCOPE.get()))

    def meet(self, tensor: Any, kind: str, variable: Any = None) -> None:
        recorder = self._recorder
        if recorder.left < 0 or self.error is not None:
            super().meet(tensor, kind, variable)
            return
        key, value = tensor._id, tensor._held
        self.known.add(key)
        recorder.left -= value.nbytes
        if variable is None:
            self._keep((TensorMet, key, kind, tensor.name, value, None, False, spot_now(), SCOPE.get()))
        else:
            about = variable.name, value, variable._id, variable.trainable
            self._keep((TensorMet, key, kind, *about, spot_now(), SCOPE.get()))

    def tell(self, event: Any) -> None:
        if event.__class__ in _WITH_VALUES or self.error is not None:
            super().tell(event)
        else:
            self._keep(event)

    def later(self, call: tuple[Any, ...]) -> None:
        if self._recorder.left < 0:
            super().later(call)
        else:
            self._keep(call)

    def postpone(self, again: Callable[[], None]) -> None:
        """Keep a place for the events of a backward pass that is run again when the recording is used."""
        self._keep(_Again(again, self.known, spot_now(), SCOPE.get()))


class _Again:
    """A backward pass to be run again. It must not refer to the recorder, which would then wait for the collector."""

    __slots__ = ("_known", "_run", "_scope", "_spot")

    def __init__(self, run: Callable[[], None], known: set[int], spot: Spot, scope: str) -> None:
        self._run, self._known, self._spot, self._scope = run, known, spot, scope

    def events(self, recorder: Recorder) -> list[Any]:
        """Run it again and return its events, at the line of the program that asked for it."""
        inner = Recorder(recorder.policy, sys.maxsize)
        keeper = _Keeper(inner)
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


class record:  # noqa: N801 - it is used as a statement: `with record() as recording:`
    """Record what ops, tapes and variables do in a ``with`` block.

    Parameters
    ----------
    title : str
        The heading of pictures.
    whole : int
        Elements up to which a value is kept in full; larger ones are summarised. Leaves are kept in full up to
        10,000 elements, beyond which the recording is not replayable.
    policy : callable, optional
        ``policy(array, leaf) -> Snapshot``, instead of `whole`.
    budget : int
        Bytes of values that may be held until the recording is first used; later ones are summarised at once.
    namespace : mapping of str to object, optional
        Where the names of tensors are looked up, instead of the local variables around the block.

    Returns
    -------
    Recording
        By ``as``.  It can be used once the block has ended, also when the block raised: it then ends with
        the op that failed, and the exception propagates.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.record() as recording:
    ...     with lab.GradientTape() as tape:
    ...         y = x * x
    ...     grad = tape.gradient(y, x)
    >>> recording
    <Recording: 1 op, 1 backward pass>
    """

    __slots__ = ("_listener", "_namespace", "_recorder")

    def __init__(
        self,
        title: str = "",
        *,
        whole: int = WHOLE,
        policy: Policy | None = None,
        budget: int = BUDGET,
        namespace: Mapping[str, Any] | None = None,
    ) -> None:
        if policy is None:
            policy = keep if whole == WHOLE else partial(keep, whole=whole)
        self._recorder = Recorder(policy, budget, title)
        self._namespace = namespace

    def __enter__(self) -> Recording:
        self._listener = _Keeper(self._recorder)
        SINKS.set((*sinks_now(), self._listener))
        return self._recorder.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        listener = self._listener
        SINKS.set(tuple([sink for sink in sinks_now() if sink is not listener]))
        recorder = self._recorder
        if self._namespace is not None:
            recorder.names = names_in(self._namespace)
        else:
            recorder.names = names_around(2)
        recorder.finish(error)
        if listener.error is not None:
            warnings.warn(
                f"The recording stopped early: {_in_words(listener.error)}. The program was not disturbed.",
                RuntimeWarning,
                stacklevel=2,
            )


def names_around(depth: int, find: Callable[[Any], int | None] | None = None) -> dict[int, list[str]]:
    """Return names by id of the variables around a block, `depth` calls further out; see `names_in`."""
    frame = _frame_of_block(depth + 1)
    variables = frame.f_locals
    names = names_in(variables, find)
    return names if variables is frame.f_globals else names_in(frame.f_globals, find) | names


def _frame_of_block(depth: int) -> FrameType:
    """Return the frame that holds the block: the caller's, or behind an ExitStack the one that runs it."""
    frame = sys._getframe(depth)
    while frame.f_back is not None and frame.f_globals.get("__name__") == "contextlib":
        frame = frame.f_back
    return frame


def _is_exit(error: BaseException) -> bool:
    return isinstance(error, SystemExit) and not error.code


def _in_words(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - an exception that cannot be printed must not hide itself
        text = "(its message could not be printed)"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
