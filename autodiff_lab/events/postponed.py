"""Backward passes of a recorded program that run unreported, and are run again when the recording is first used.

To report a pass costs several times the pass: every operation of a rule becomes an op on tensors with an event.  The
rules of the package compute the same values from the same arrays whenever they are asked, so a listener that can wait
(`Listener.patient`) is given a function that runs the pass again, and the program gets its gradients from a plain one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_lab.events.listener import fresh_id, sinks_now
from autodiff_lab.events.values import SweepEnded

_OURS = ("autodiff_lab.ops.", "autodiff_lab.engine.primitives", "autodiff_lab.extras.families.")
"""Where rules are defined that do nothing but compute; one of a user's may do anything, so it is run once."""
_PURE: dict[Any, Any] = {}
"""Ops that may run again, with the rules for which that was found: those of an op may be replaced."""


def _is_pure(op: Any) -> bool:
    """Return whether the rules of an op compute the same whenever they are run, and nothing else."""
    rules = op.rules
    if rules.__class__ is not tuple or op.rows is not None or op.name == "copy_to_device":
        return False
    for rule in rules:
        if rule is not None and not str(getattr(rule, "__module__", None)).startswith(_OURS):
            return False
    _PURE[op] = rules
    return True


def may_wait(tape: Any, sinks: tuple[Any, ...]) -> bool:
    """Return whether a pass may be reported later: only patient listeners hear it, and its rules are ours.

    They must have heard every op on the tape, so that they know its tensors.
    """
    opened_to = tape._opened_to
    if not opened_to:
        return False
    for sink in sinks:
        if sink is tape:
            if tape._persistent:  # and open: it hears its own sweep
                return False
        elif not (sink in opened_to and sink.patient):
            return False
    for op in {entry[0] for entry in tape._entries}:  # noqa: SIM110 - a generator would take longer than the rest
        if _PURE.get(op) is not op.rules and not _is_pure(op):
            return False
    return True


def are_plain(targets: list[Any], sources: list[Any]) -> bool:
    """Return whether targets differ from each other, and neither they nor sources are complex."""
    if len(targets) > 1 and len({t._id for t in targets}) < len(targets):
        return False
    return "c" not in [t._held.dtype.kind for t in (*targets, *sources)]


class Postponed:
    """A pass that runs unreported, as its listeners will hear of it; for them it takes the place of the spent tape.

    `run` makes the sweep of a tape; `given` are the cotangents of the user's, None for ones, and `seeds` all of them.
    """

    __slots__ = (
        "_entries", "_given", "_id", "_known", "_results", "_run", "_sources", "_targets", "_watched", "ops", "seeds",
        "tracked",
    )  # fmt: skip
    _opened_to = ()
    _persistent = True  # the entries are kept

    def __init__(self, run: Callable[..., Any], tape: Any, targets: list[Any], sources: list[Any], given: list[Any],
                 seeds: list[Any], sinks: tuple[Any, ...]) -> None:  # fmt: skip
        self._run, self._id, self._entries, self.ops = run, tape._id, tape._entries[:], tape.ops
        self._watched = tape._watched if not tape._persistent else {v: [*keys] for v, keys in tape._watched.items()}
        self._targets, self._sources, self._given, self.seeds = targets, sources, given, seeds
        self._results: list[int | None] | None = None
        tracked = self.tracked = tape.tracked.intersection([t._id for t in targets])
        self._known = []
        for listener in sinks:
            if listener is not tape:
                known = listener.known
                self._known.append(known)
                for target, seed in zip(targets, given, strict=True):
                    tensor = seed if target._id in tracked else target
                    if tensor is not None and tensor._id not in known:
                        listener.meet(tensor, "constant")
                listener.postpone(self._report)

    def watched_reads(self) -> tuple[int, ...]:
        """Return what the tape returned at the time."""
        return tuple([key for keys in self._watched.values() for key in keys])

    def results(self, found: list[Any]) -> list[Any]:
        """Take the gradients of the sources; where several are one array, they become one tensor.

        Only their ids are kept: the pass computes them again, and the program may be done with them long before.
        """
        one = {id(seed._held): seed for seed in self.seeds}
        found = [None if g is None else one.setdefault(id(g._held), g) for g in found]
        self._results = [None if g is None else g._id for g in found]
        for known in self._known:
            known.update([g._id for g in found if g is not None])
        return found

    def _report(self) -> None:
        """Run again, heard by one listener; the results become the tensors that the program was given."""
        (listener,) = sinks_now()
        newest = fresh_id()
        for target, given, seed in zip(self._targets, self._given, self.seeds, strict=True):
            if given is None and target._id in self.tracked:
                listener.meet(seed, "constant")
        try:
            again = self._run(self, self._targets, self._sources, self.seeds, rows=True)
            again.finish()
        except Exception:
            if self._results is None:  # as it did the first time
                return
            raise
        if self._results is None:
            return
        told: list[int | None] = []
        taken = {seed._id for seed in self.seeds}
        for source, given in zip(self._sources, self._results, strict=True):
            result = again.adjoint(source)
            if result is not None and result._id != given and given not in taken:
                if result._id > newest:
                    result._id = given
                else:  # the tensor of a seed, or of another source
                    twin = result.__class__()
                    twin._id, twin._held, twin._hollow = given, result._held, None
                    listener.meet(twin, "gradient")
                taken.add(given)
            told.append(None if result is None else result._id)
        listener.tell(SweepEnded(again._sweep_id, tuple(told)))
