"""Variants: programs of one signature that assume different values.

A program that assumes a value (see `expected`) or the shape of a result cannot serve calls in which it differs.  Such a
call runs eagerly under another trace, whose program is put beside the first.  A function whose assumptions keep failing
is not worth a program: it runs eagerly, and says what changes.
"""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from typing import Any

from autodiff_lab.compile.front.entry import Compiled, Plan, Refused, assumptions
from autodiff_lab.compile.front.reading import Readable
from autodiff_lab.compile.front.signature import Call
from autodiff_lab.compile.front.trace import Refusal
from autodiff_lab.compile.front.waiting import Trial, Waiting

_LOG = logging.getLogger("autodiff_lab")
MOST_OTHERS = 4
"""Programs beside the first."""
PATIENCE = 8
"""Calls that no program could serve until the function is given up, if they are also most of the calls."""
_CHANGES = (
    "a value that controls a branch, an index or a shape changes from call to call. Try lab.where, lab.gather or a "
    "mask of fixed shape"
)


class Varied(Readable):
    """The part of a compiled function that deals with calls for which its program assumes the wrong values."""

    __slots__ = ()
    python_function: Any
    _fast: dict[Any, Compiled]
    _known: dict[int, Any]
    _lock: Any
    _reported: bool
    _trials: dict[Any, Trial]
    _trace: Any

    def _beside(self, entry: Compiled, call: Call) -> Any:
        """Serve a call that an entry could not serve, and make a program for it if another one is worth it."""
        idle = bool(entry.assumed) and entry.making is None and sys.getprofile() is None
        if idle and self._lock.acquire(blocking=False):
            try:
                if entry.tried < MOST_OTHERS:
                    entry.tried += 1
                    return self._trace(call, None, beside=entry)
                if entry.missed > PATIENCE and entry.missed > entry.served + sum(
                    other.served for other in entry.others
                ):
                    self._give_up_assuming(entry, call)
            finally:
                self._lock.release()
        return call.plainly(self.python_function)

    def _make_beside(self, entry: Compiled, call: Call) -> None:
        """Make a program for the values of a call, unless an entry or one beside it assumes the same; wait for it."""
        with self._lock:
            if entry.assumed and entry.making is None and entry.tried < MOST_OTHERS:
                entry.tried += 1
                self._trace(call, None, for_real=False, beside=entry)
        waiting = entry.making
        if waiting is not None:
            waiting.wait(self._name)

    def _give_up_assuming(self, entry: Compiled, call: Call) -> None:
        places = dict.fromkeys(line.place for line in assumptions(entry.program))
        self._refusals = [Refusal(_CHANGES, place) for place in places]
        self._entries[call.key] = Refused(self._refusals, call.objects)
        if self._latest is entry:
            self._latest = None
        for kept in (self._fast, self._trials):
            for key in [key for key, of in kept.items() if of is entry or getattr(of, "entry", None) is entry]:
                del kept[key]
        self._report()

    def _refuse(self, call: Call, plain: Any) -> None:
        """Let calls like this one run eagerly from now on, and say why."""
        self._entries[call.key] = Refused(self._refusals, call.objects)
        self._report()
        if self._latest is None:  # and so it does for any tensors
            self._entries[plain] = self._entries[call.key]
            self._known.clear()

    def _report(self) -> None:
        """Log why calls run eagerly, once for each function: results are the same, so nothing else would show it."""
        if not self._reported:
            self._reported = True
            _LOG.warning("%s (reported once; %s.why() says it again)", self.why(), self._name)


def changing(entry: Any) -> str:
    """Say what has changed since an entry was made, and what to do about it."""
    made = entry if isinstance(entry, Compiled) else getattr(entry, "entry", None)
    changed = next(made.surroundings.changes(), None) if made is not None else None
    what = changed or "what it uses besides its arguments"
    return f"{what} changes from call to call. Pass what changes as an argument, or keep numbers in a lab.Variable"


def add_beside(entry: Compiled, plan: Plan, later: bool) -> None:
    """Make a program for the same arguments that assumes other values, and put it beside the first one."""
    if plan.assumed in (entry.assumed, *[other.assumed for other in entry.others]):
        return  # something else went wrong in the call
    if not later:
        with suppress(Exception):  # an error of ours is not the user's: such calls run eagerly
            entry.others.append(plan.entry())
        entry.missed = 0
        return

    def ready() -> None:
        entry.others.extend([waiting.entry] if waiting.entry is not None else [])
        entry.missed, entry.making = 0, None

    waiting = entry.making = Waiting(plan.entry)
    waiting.start(ready)
