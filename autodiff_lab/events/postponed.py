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
_PURE: set[Any] = set()
"""Rules that were found to be from there."""


def _is_pure(rules: Any) -> bool:
    for rule in rules if isinstance(rules, tuple) else (rules,):
        if rule is not None and not str(getattr(rule, "__module__", None)).startswith(_OURS):
            return False
    _PURE.add(rules)
    return True


def _may_wait(tape: Any, targets: list[Any], sources: list[Any], sinks: tuple[Any, ...]) -> bool:
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
    for op in {entry[0] for entry in tape._entries or ()}:
        if (
            op.rules.__class__ is not tuple
            or op.rows is not None
            or op.name == "copy_to_device"
            or not (op.rules in _PURE or _is_pure(op.rules))
        ):
            return False
    if len(targets) > 1 and len({t._id for t in targets}) < len(targets):
        return False
    return "c" not in [t._held.dtype.kind for t in (*targets, *sources)]


def postponed(
    run: Callable[..., Any],
    wrap: Callable[[Any], Any],
    ones: Callable[[Any], Any],
    tape: Any,
    targets: list[Any],
    sources: list[Any],
    seeds: list[Any],
    sinks: tuple[Any, ...],
) -> Postponed | None:
    """Return a pass that may be reported later, None if it has to be reported at once.

    `run` makes the sweep of a tape, `wrap` a tensor of an array, and `ones` the cotangent that None stands for.
    """
    if not _may_wait(tape, targets, sources, sinks):
        return None
    made = [wrap(ones(t._held)) if seed is None else seed for t, seed in zip(targets, seeds, strict=True)]
    return Postponed(run, tape, targets, sources, seeds, made, sinks)


class Postponed:
    """A pass that runs unreported, as its listeners will hear of it; for them it takes the place of the spent tape."""

    _opened_to = ()
    _persistent = True  # the entries are kept

    def __init__(
        self,
        run: Callable[..., Any],
        tape: Any,
        targets: list[Any],
        sources: list[Any],
        given: list[Any],
        seeds: list[Any],
        sinks: tuple[Any, ...],
    ) -> None:
        tracked = tape.tracked
        self._run, self._id, self._entries, self.ops = run, tape._id, list(tape._entries or ()), tape.ops
        self._watched = tape._watched if not tape._persistent else {v: [*keys] for v, keys in tape._watched.items()}
        self._targets, self._sources, self.seeds = targets, sources, seeds
        self.tracked = {t._id for t in targets if t._id in tracked}
        self._made = [
            s for t, s, had in zip(targets, seeds, given, strict=True) if had is None and t._id in self.tracked
        ]
        self._results: list[Any] | None = None
        listeners = [sink for sink in sinks if sink is not tape]
        self._known = [listener.known for listener in listeners]
        for listener in listeners:
            for seed, target in zip(given, targets, strict=True):
                tensor = seed if target._id in tracked else target
                if tensor is not None and tensor._id not in listener.known:
                    listener.meet(tensor, "constant")
            listener.postpone(self._report)

    def watched_reads(self) -> tuple[int, ...]:
        """Return what the tape returned at the time."""
        return tuple([key for keys in self._watched.values() for key in keys])

    def results(self, found: list[Any]) -> list[Any]:
        """Take the gradients of the sources; where several are one array, they become one tensor."""
        one = {id(seed._held): seed for seed in self.seeds}
        self._results = found = [None if g is None else one.setdefault(id(g._held), g) for g in found]
        ids = [g._id for g in found if g is not None]
        for known in self._known:
            known.update(ids)
        return found

    def _report(self) -> None:
        """Run again, heard by one listener; the results become the tensors that the program was given."""
        (listener,) = sinks_now()
        newest = fresh_id()
        for seed in self._made:
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
            if result is not None and result._id != given._id and given._id not in taken:
                if result._id > newest:
                    result._id = given._id
                else:
                    listener.meet(given, "gradient")
                taken.add(given._id)
            told.append(None if result is None else result._id)
        listener.tell(SweepEnded(again._sweep_id, tuple(told)))
