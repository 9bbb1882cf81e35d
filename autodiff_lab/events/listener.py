"""Delivery of events: sinks, the listener behind an observer, scopes.

The engine sends to *sinks*: tapes, traces and listeners look the same to an op. The sinks of the running thread or task
are one tuple in one context variable, and reading that variable is all that an op pays while nothing is recorded.
A `Listener` is the sink behind an *observer*, which is any callable that takes an event.  Observers watch and never
control: one that raises is dropped, reported when its block ends, and disturbs nothing.
"""

from __future__ import annotations

import itertools
import os
import sys
import warnings
from bisect import bisect_right
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ContextDecorator, contextmanager, nullcontext
from contextvars import ContextVar
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.events.values import OpApplied, OpDescribed, OpFailed, Place, TensorLeft, TensorMet, TensorRead

SINKS: ContextVar[tuple[Any, ...]] = ContextVar("autodiff_lab_sinks", default=())
SCOPE: ContextVar[str] = ContextVar("autodiff_lab_scope", default="")
CAUSE: ContextVar[int | None] = ContextVar("autodiff_lab_cause", default=None)
sinks_now = SINKS.get
fresh_id = itertools.count(1).__next__
"""Ids of tensors, variables, tapes and sweeps: unique in the process and never reused."""

_NOT_THE_USERS = tuple(
    os.path.dirname(file) + os.sep  # noqa: PTH120 - pathlib would make our import longer
    for file in (os.path.dirname(__file__), np.__file__)  # noqa: PTH120
)
"""Folders whose frames are skipped: ours, and NumPy's, whose functions call `__array__` from inside."""


Spot = tuple[CodeType, int] | None
"""A code object and the position of an instruction in it."""


class Identified:
    """Base of everything that has an id in events: tensors and variables."""

    __slots__ = ()
    _id: int


if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object  # a protocol in earnest would take a thirtieth of the time of our import


class Sink(Protocol):
    """The interface of listeners, tapes and traces to ops and sweeps."""

    tracked: Any
    reads: dict[Any, Any]
    listens: bool
    hears_all: bool
    lean: bool
    traces: bool

    def append(self, entry: tuple[Any, ...], /) -> None:
        """Receive an op that was applied."""

    def note(self, event: Callable[..., Any], tensor: Any, how: str) -> None:
        """Receive a value that entered or left the engine."""

    def note_read(self, variable: Any, tensor: Any) -> None:
        """Receive a variable that was read as this tensor."""


class _Ours(dict[str, bool]):
    """Whether file names lie in those folders: to look one up takes a third of the time of comparing its beginning."""

    def __missing__(self, name: str) -> bool:
        return self.setdefault(name, name.startswith(_NOT_THE_USERS))


_OURS = _Ours()


def place_now(folders: tuple[str, ...] = ()) -> Place | None:
    """Return the file and line of the innermost frame outside this package and NumPy: the user's line.

    `folders` are those of another framework, whose frames are skipped as well.
    """
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        name = frame.f_code.co_filename
        if not (_OURS[name] or (folders and name.startswith(folders))):
            return name, frame.f_lineno
        frame = frame.f_back
    return None


def spot_now(up: int = 2) -> Spot:
    """Return the user's line as a code object and a position in it, of which `place_of` makes the line later.

    The search begins `up` frames above.  Python counts lines from the beginning of a function, longer than an op takes.
    """
    frame = sys._getframe(up)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        code = frame.f_code
        if not _OURS[code.co_filename]:
            return code, frame.f_lasti
        frame = frame.f_back
    return None


def place_of(spot: Spot, lines: dict[int, tuple[list[int], list[int | None]]]) -> Place | None:
    """Return the file and line of a spot; `lines` keeps the tables of the code objects met so far, by their ids."""
    if spot is None:
        return None
    code, position = spot
    table = lines.get(id(code))
    if table is None:
        rows = list(code.co_lines())
        table = lines[id(code)] = [start for start, _, _ in rows], [line for _, _, line in rows]
    starts, numbers = table
    return code.co_filename, numbers[bisect_right(starts, position) - 1] or code.co_firstlineno


class _Everything:
    """The `tracked` of a sink that receives every op."""

    __slots__ = ()

    def __contains__(self, key: object) -> bool:
        return True

    def add(self, key: object) -> None:
        """Do nothing: everything is tracked already."""


EVERYTHING = _Everything()
_new = tuple.__new__


def applied(entry: tuple[Any, ...], cause: int | None, place: Place | None, scope: str) -> OpApplied:
    """Return the event of an op that was applied."""
    op, out, ins, params, _ = entry
    inputs = tuple([t._id for t in ins])
    if out.__class__ is tuple:
        outputs, values = tuple([t._id for t in out]), tuple([t._held for t in out])
    else:
        outputs, values = (out._id,), (out._held,)
    return _new(OpApplied, (op.name, inputs, outputs, params, values, cause, place, scope))


class Listener:
    """The sink behind an observer: it turns what ops report into events."""

    listens = True
    hears_all = True
    lean = False
    traces = False
    tracked: Any = EVERYTHING
    error: Exception | None = None
    patient = False
    """Whether a backward pass may be reported later, by running it again: `postpone` then takes what does so."""

    def __init__(self, observer: Callable[[Any], object]) -> None:
        self.observer = observer
        self.reads: dict[Any, Any] = {}
        self.known: Any = set[int]()
        self.described: set[str] = set()

    def append(self, entry: tuple[Any, ...], /) -> None:
        """Send the event of an op that was applied."""
        op, out, ins, _, _ = entry
        self.expect(op, out, ins)
        cause = CAUSE.get()
        self.tell(applied(entry, cause, place_now() if cause is None else None, SCOPE.get()))

    def expect(self, op: Any, out: Any, ins: tuple[Any, ...]) -> None:
        """Send what has to be known before an op's event: the inputs that no event made, the op's description."""
        known = self.known
        for tensor in ins:
            if tensor._id not in known:
                self.meet(tensor, "constant")
        if op.name not in self.described:
            self.described.add(op.name)
            self.tell(OpDescribed(*op.describe()))
        if out.__class__ is tuple:
            known.update([t._id for t in out])
        else:
            known.add(out._id)

    def later(self, call: tuple[Any, ...]) -> None:
        """Send the event that a function makes of its arguments, which do not change: it may be made later."""
        make, *about = call
        self.tell(make(*about))

    def postpone(self, again: Callable[[], None]) -> None:
        """Receive a function that reports a backward pass which ran unreported; it may be called later."""
        again()

    def meet(self, tensor: Any, kind: str, variable: Any = None) -> None:
        """Send the event of a tensor that no recorded op made."""
        self.known.add(tensor._id)
        name = tensor.name if variable is None else variable.name
        read = (None, False) if variable is None else (variable._id, variable.trainable)
        self.tell(TensorMet(tensor._id, kind, name, tensor._held, *read, place_now(), SCOPE.get()))

    def fail(self, op: Any, ins: tuple[Any, ...], params: dict[str, Any] | None, error: Exception) -> None:
        """Send the event of an op that raised."""
        self.expect(op, (), ins)
        self.tell(
            OpFailed(
                op.name, tuple(t._id for t in ins), params, type(error).__name__, str(error), place_now(), SCOPE.get()
            )
        )

    def note(self, event: Callable[..., Any], tensor: Any, how: str) -> None:
        """Send the event of a value that entered or left the engine."""
        if event is TensorLeft:
            if tensor._id not in self.known and _watched(tensor):
                self.meet(tensor, "constant")
            if tensor._id in self.known:
                self.tell(TensorLeft(tensor._id, how, place_now()))
        else:
            self.meet(tensor, how)

    def note_read(self, variable: Any, tensor: Any) -> None:
        """Send the event of a variable that was read as this tensor."""
        self.reads[variable] = tensor
        self.meet(tensor, "variable", variable)

    def tell(self, event: Any) -> None:
        """Pass an event to the observer; one that raises receives no more."""
        if self.error is None:
            try:
                self.observer(event)
            except Exception as error:  # noqa: BLE001 - whatever it is, the user's computation must continue
                self.error = error


def _watched(tensor: Any) -> bool:
    """Return whether a tape of this thread or task tracks a tensor."""
    return any(not sink.hears_all and tensor._id in sink.tracked for sink in sinks_now())


def trace_now() -> Any:
    """Return the trace of this thread or task, None if there is none; traces do not nest."""
    for sink in sinks_now():
        if sink.traces:
            return sink
    return None


def tell_made(tensor: Any) -> Any:
    """Tell a trace that a tensor which no op made depends on shapes and dtypes alone, so it is a constant."""
    trace = trace_now()
    if trace is not None:
        trace.note_made(tensor)
    return tensor


def tell_peek(tensor: Any, how: str) -> None:
    """Tell a trace that our own code reads a tensor's value outside the ops."""
    trace = trace_now()
    if trace is not None:
        trace.note_peek(tensor, how)


def tell_look(holder: Any, deciding: bool = True, how: str = "") -> None:
    """Tell a trace that our own code looks at values outside of the ops, and listeners if it decides by them."""
    for sink in sinks_now():
        if sink.traces:
            sink.note_look(holder)
        elif deciding and sink.listens and holder._id in sink.known:
            sink.tell(TensorRead(holder._id, place_now(), how))


def values_in_trace(holder: Any) -> Any:
    """Return the array of a tensor that a trace need not hear of, since the ops that follow check what is read."""
    return holder._held


@contextmanager
def active(sink: Any) -> Generator[Any]:
    """Add a sink to the tuple of this thread or task for the duration of a block."""
    SINKS.set((*sinks_now(), sink))
    try:
        yield sink
    finally:
        SINKS.set(tuple(s for s in sinks_now() if s is not sink))


@contextmanager
def unheard() -> Generator[Any]:
    """Hide what a block does from tapes and listeners; a trace still sees it, and is yielded to the block, or None."""
    sinks, trace = sinks_now(), trace_now()
    SINKS.set(() if trace is None else (trace,))
    try:
        yield trace
    finally:
        SINKS.set(sinks)


def heard() -> bool:
    """Return whether any listener of this thread or task would receive an event; tapes are not listeners."""
    for sink in sinks_now():  # noqa: SIM110 - a generator would take longer than the rest
        if sink.listens:
            return True
    return False


def tell_listeners(event: Any) -> None:
    """Pass an event to every listener of this thread or task."""
    for sink in sinks_now():
        if sink.listens:
            sink.tell(event)


@contextmanager
def observing(observer: Callable[[Any], object]) -> Generator[Listener]:
    """Send every event of this thread or task to `observer` for the duration of a block.

    Parameters
    ----------
    observer : callable
        Takes one event.  One that raises is dropped, and a `RuntimeWarning` says so when the block ends.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> seen = []
    >>> with lab.events.observing(seen.append):
    ...     y = lab.sin(lab.constant(0.0))
    >>> [type(event).__name__ for event in seen]
    ['TensorMet', 'OpDescribed', 'OpApplied']
    """
    listener = Listener(observer)
    try:
        with active(listener):
            yield listener
    finally:
        if listener.error is not None:
            warnings.warn(
                f"An observer of autodiff_lab events raised {type(listener.error).__name__}: {listener.error}. "
                "It was dropped; the computation went on without it.",
                RuntimeWarning,
                stacklevel=3,
            )


class name_scope(ContextDecorator):  # noqa: N801 - TensorFlow's name
    """Group the ops of a block under a name; scopes nest, pictures fold by them, and variable names include them.

    Parameters
    ----------
    name : str
        One word or a path such as ``"encoder/layer1"``.  With a trailing slash it is absolute, whatever the surrounding
        scopes; the empty string is the top itself.

    Raises
    ------
    ValueError
        If the name is not a string.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> with lab.name_scope("encoder"):
    ...     with lab.name_scope("layer1") as path:
    ...         print(path, lab.Variable(1.0, name="w").name)
    encoder/layer1/ encoder/layer1/w:0
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError(f"name_scope: name must be a string, got {name!r}.")
        self.name = name
        self._around: list[str] = []

    def __enter__(self) -> str:
        outer, name = SCOPE.get(), self.name
        path = name.rstrip("/") if not name or name.endswith("/") or not outer else f"{outer}/{name}"
        self._around.append(outer)
        SCOPE.set(path)
        return f"{path}/" if path else ""

    def __exit__(self, *error: object) -> None:
        SCOPE.set(self._around.pop())


def scoped(name: str | None) -> AbstractContextManager[Any]:
    """Return the scope of a function that was given this name, or none, and that runs functions of the user's."""
    return nullcontext() if name is None else name_scope(name)
