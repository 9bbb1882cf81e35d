"""One backward pass over a tape: its seeds, its listeners, its results.

`Sweep` stands between `GradientTape.gradient` and the bare walk over the entries (`sweep`): it plants the cotangents,
chooses raw or recorded operations, and collects the adjoints of the sources.  Stepping in Python is iterating over it.
"""

from __future__ import annotations

import enum
from collections import deque
from contextlib import nullcontext
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine import nest
from autodiff_lab.engine.collector import be_patient, be_usual
from autodiff_lab.engine.contributions import CASTS_OF_HALVES, Wide, added, halves_met
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.devices import zeros_beside
from autodiff_lab.engine.indexed_slices import Rows
from autodiff_lab.engine.namespace import RAW, RECORDING
from autodiff_lab.engine.reporting import flow_reporter
from autodiff_lab.engine.silence import quietly
from autodiff_lab.engine.sweep import UNFUSED, Engine, sweep
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import DtypeMismatch, ShapeMismatch
from autodiff_lab.events import SweepEnded, SweepStarted
from autodiff_lab.events.listener import CAUSE, fresh_id, place_now, sinks_now, tell_made, trace_now
from autodiff_lab.events.postponed import Postponed, are_plain, may_wait

if TYPE_CHECKING:
    from autodiff_lab.engine.tape import GradientTape

DEFAULT = Engine()
_RAW, _RECORDED = Engine(RAW), Engine(RECORDING)
FEW_ENTRIES = 100
"""Shorter tapes are swept before the garbage collector runs."""


class UnconnectedGradients(enum.Enum):
    """What `GradientTape.gradient` gives where no path leads from target to source: None, or zeros.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.UnconnectedGradients("zero") is lab.UnconnectedGradients.ZERO
    True
    """

    NONE = "none"
    ZERO = "zero"


def asks_for_zeros(unconnected: Any) -> bool:
    """Return whether unconnected gradients should be zeros."""
    try:
        return UnconnectedGradients(unconnected) is UnconnectedGradients.ZERO
    except ValueError:
        raise ValueError(
            f"Unknown value for unconnected_gradients: {unconnected!r}. Try "
            "UnconnectedGradients.NONE or UnconnectedGradients.ZERO."
        ) from None


class Sweep:
    """One backward pass over a tape: an iterator of entry indices if it pauses; `GradientTape.steps` makes one.

    Attributes
    ----------
    adjoints : dict of int to array or Tensor
        By tensor id; may be read and edited between two steps.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.constant(3.0)
    >>> with lab.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> steps = tape.steps(y, x)
    >>> list(steps)
    [0]
    >>> print(steps.adjoint(x))
    Tensor(6.0, shape=(), dtype=float32)
    """

    def __init__(
        self,
        tape: GradientTape,
        targets: list[Tensor],
        sources: list[Any],
        seeds: list[Any],
        lead: int = 0,
        engine: Engine = DEFAULT,
        pause: bool = False,
        rows: bool = False,
    ) -> None:
        sinks = sinks_now()
        halves = halves_met(targets, tape._entries)
        waits = sinks and engine is DEFAULT and rows and not (pause or halves) and tape.ops is RAW
        self._later = later = None
        if waits and may_wait(tape, sinks) and are_plain(targets, sources):
            made = [wrap(_ones(t._held)) if seed is None else seed for t, seed in zip(targets, seeds, strict=True)]
            self._later = later = Postponed(Sweep, tape, targets, sources, seeds, made, sinks)
            engine, seeds = UNFUSED, made
        if engine.ops is None:
            # A one-shot tape that is still open never hears its own sweep; every other sink does.
            heard = any(sink is not tape or tape._persistent for sink in sinks) if sinks else False
            # In raw arithmetic a bfloat16 scalar and a Python float make a float32; recording ops keep the dtype.
            careful = heard or "V" in halves
            if engine is DEFAULT:
                engine = _RECORDED if careful else _RAW if tape.ops is RAW else Engine(tape.ops)
            else:
                engine = Engine(RECORDING if careful else tape.ops, engine.accumulate, engine.rules)
        self._raw = engine.ops.raw  # type: ignore[union-attr]
        self._sources, self._reads = sources, tape._watched
        self.adjoints: dict[int, Any] = {}
        self._wide: Wide = {}
        for target, seed in zip(targets, seeds, strict=True):
            if target._id in tape.tracked:
                self._plant(target, seed)
        self._sweep_id, self._listeners = 0, [s for s in sinks if s.listens] if later is None else []
        flow = self._start_telling(tape, targets, engine) if self._listeners else None
        keep: set[int] = set()
        for source in sources:
            if isinstance(source, Tensor):
                keep.add(source._id)
            else:
                keep.update(self._reads.get(source, ()))
        entries = _taken_from(tape, keep, whole=bool(self._listeners or pause or later))
        self._length = len(entries)
        trace = trace_now() if sinks and (engine is _RECORDED or engine is _RAW) else None
        self._around = nullcontext() if trace is None else trace.unobserved(entries)
        plain = self._raw and not (halves or pause or engine.rules)
        plain = plain and engine.accumulate is add and tape.ops is RAW
        # A swapped accumulation or rule, as of a lesson, gets the adjoints that it is written for.
        self._rows: dict[int, Any] | None = {} if rows and engine.accumulate is add and not engine.rules else None
        self._steps = sweep(entries, self.adjoints, keep, lead, engine, flow, pause, plain, self._rows)

    def _plant(self, target: Tensor, seed: Tensor | None) -> None:
        """Give a target its cotangent, ones if none is given; a target named twice gets the sum."""
        if self._raw:
            value = _ones(target._held) if seed is None else seed._held
        else:
            value = tell_made(wrap(_ones(target._held))) if seed is None else seed
        if target._held.dtype.kind == "c":
            value = _conjugate(value)
        old = self.adjoints.get(target._id)
        self.adjoints[target._id] = value if old is None else quietly(added, self._wide, target._id, old, value)

    def _keys(self, source: Any) -> Any:
        """Return the ids under which the adjoint of a source accumulates: its own, or those of a variable's reads."""
        return (source._id,) if isinstance(source, Tensor) else self._reads.get(source, ())

    def _start_telling(self, tape: GradientTape, targets: list[Tensor], engine: Engine) -> Any:
        self._sweep_id = fresh_id()
        started = [(t._id, self.adjoints[t._id]) for t in targets if t._id in self.adjoints]
        untracked = [t for t in targets if t._id not in self.adjoints]
        for listener in self._listeners:
            for tensor in (*[seed for _, seed in started], *untracked):
                if tensor._id not in listener.known:
                    listener.meet(tensor, "constant")
        begun = SweepStarted(
            self._sweep_id,
            tape._id,
            tuple(key for key, _ in started),
            tuple(seed._id for _, seed in started),
            tuple([(self._keys(source) or (source._id,))[-1] for source in self._sources]),
            place_now(),
            tuple(t._id for t in untracked),
            tape.watched_reads(),
            tuple([source.name if isinstance(source, Variable) else "" for source in self._sources]),
        )
        for listener in self._listeners:
            listener.tell(begun)
        return flow_reporter(self._listeners, self._sweep_id, engine)

    def __iter__(self) -> Sweep:
        return self

    def __next__(self) -> int:
        cause = CAUSE.get()
        try:
            return quietly(next, self._steps)
        finally:
            if CAUSE.get() is not cause:  # a rule raised half way
                CAUSE.set(cause)

    def finish(self) -> None:
        """Run to the end."""
        with self._around:
            many = self._length >= FEW_ENTRIES
            if many:
                be_patient()
            try:
                deque(self, 0)
            finally:
                if many:
                    be_usual()

    def adjoint(self, source: Any) -> Any:
        """Return the adjoint of a tensor or variable so far, None if no contribution has arrived."""
        total: Any = None
        wide: Wide = {}
        for key in self._keys(source):
            g = self.adjoints.get(key)
            if g is not None:
                total = g if total is None else quietly(added, wide, 0, total, g)
        if total is not None and source._held.dtype.kind == "c":
            total = total.conjugated(_conjugate) if total.__class__ is Rows else _conjugate(total)
        if isinstance(total, Rows):
            return total.public(None)
        return total if total is None or isinstance(total, Tensor) else wrap(total)

    def results(self) -> list[Any]:
        """Return the adjoints of the sources, None where no path leads."""
        found: list[Any] = [self.adjoint(source) for source in self._sources]
        if not self._listeners:
            return found if self._later is None else self._later.results(found)
        told = tuple(None if g is None else g._id for g in found)
        if self._rows:
            found = [g if g is None else self._rows_beside(s, g) for s, g in zip(self._sources, found, strict=True)]
        for listener in self._listeners:
            listener.tell(SweepEnded(self._sweep_id, told))
        return found

    def _rows_beside(self, source: Any, adjoint: Tensor) -> Any:
        """Return the rows of an adjoint that listeners saw dense, if only rows were added to it."""
        keys = [key for key in self._keys(source) if key in self.adjoints]
        parts = [self._rows.get(key) for key in keys]  # type: ignore[union-attr]
        if not parts or None in parts:
            return adjoint
        total: Any = parts[0]
        for more in parts[1:]:
            total = total + more
        return (total.conjugated(_conjugate) if source._held.dtype.kind == "c" else total).public(adjoint)


def at_once(tape: GradientTape, target: Tensor, sources: list[Any]) -> list[Any] | None:
    """Return what a `Sweep` of a plain pass gives: one real target, no cotangents, nobody who must hear of it now.

    Most passes are such, and in a small program preparing a `Sweep` takes as long as the pass.  None, with nothing
    done, if it is not one.
    """
    sinks = sinks_now()
    if tape._entries is None or tape.ops is not RAW or CASTS_OF_HALVES or (sinks and not may_wait(tape, sinks)):
        return None
    if target._held.dtype.char not in "fd":
        return None
    keys: list[Any] = []
    keep: set[int] = set()
    for source in sources:
        if source.__class__ is Tensor:
            key = source._id
            keep.add(key)
        elif isinstance(source, Variable):
            key = tape._watched.get(source, ())
            keep.update(key)
        else:
            return None
        if source._held.dtype.char not in "fd":
            return None
        keys.append(key)
    ones = _ones(target._held)
    adjoints: dict[int, Any] = {target._id: ones} if target._id in tape.tracked else {}
    later = Postponed(Sweep, tape, [target], sources, [None], [wrap(ones)], sinks) if sinks else None
    entries = _taken_from(tape, keep, whole=later is not None)
    many = len(entries) >= FEW_ENTRIES
    if many:
        be_patient()
    try:
        quietly(next, sweep(entries, adjoints, keep, 0, UNFUSED if sinks else _RAW, None, False, True, {}), None)
    finally:
        if many:
            be_usual()
    found = [_gathered(adjoints, of_one) for of_one in keys]
    return found if later is None else later.results(found)


def _taken_from(tape: GradientTape, sources: set[int], *, whole: bool = False) -> list[Any]:
    """Return the entries that a sweep goes through: those that depend on the sources, if the tape watches more.

    All of them are taken if somebody listens (`whole`).  A tape that is not persistent is spent.
    """
    entries: Any = tape._entries
    if not (whole or all(map(sources.issuperset, (tape._roots, *tape._watched.values())))):
        entries = _leading_from(sources, entries)
    elif tape._persistent:
        entries = entries[:]
    if not tape._persistent:
        tape._spend()
    return entries


def _leading_from(sources: set[int], entries: list[Any]) -> list[Any]:
    """Return the entries that depend on sources, each with the inputs through which it does.

    Nobody asks for the adjoints of what else the tape watches: the weights of one of two networks, or those of a
    network that is differentiated with respect to its input.
    """
    reached, kept = set(sources), []
    for entry in entries:
        op, out, ins, params, need = entry
        one = len(need) == 1 and ins[need[0]]._id in reached
        now = need if one else [i for i in need if ins[i]._id in reached]
        if not now:
            continue
        if out.__class__ is tuple:
            reached.update([t._id for t in out])
        else:
            reached.add(out._id)
        kept.append(entry if len(now) == len(need) else (op, out, ins, params, tuple(now)))
    return kept


def _gathered(adjoints: dict[int, Any], keys: Any) -> Any:
    """Return what `GradientTape.gradient` gives for a tensor, by its id, or a variable, by those of its reads."""
    if keys.__class__ is int:
        total = adjoints.get(keys)
    else:
        total = None
        for key in keys:
            g = adjoints.get(key)
            if g is not None:
                total = g if total is None else total + g
    return total if total is None else total.public(None) if total.__class__ is Rows else wrap(total)


def _conjugate(g: Any) -> Any:
    """Conjugate an adjoint of a complex tensor.

    In a sweep it is ∂L/∂x - i·∂L/∂y, for which rules of holomorphic functions are those of real ones; outside it is the
    conjugate of that, as TensorFlow has it.
    """
    return RECORDING.conj(g) if isinstance(g, Tensor) else np.conj(g)


_ONE = {kind: kind(1) for kind in (np.float32, np.float64)}
"""Cotangents of most targets."""


def _ones(array: Any) -> Any:
    one = _ONE.get(array.__class__)
    if one is not None:
        return one
    if array.__class__ is not np.ndarray:
        return array.dtype.type(1) if isinstance(array, np.generic) else zeros_beside(array, array.shape, 1)
    ones = np.empty(array.shape, array.dtype)
    ones.fill(1)
    return ones


def zeros_of(source: Any) -> Tensor:
    """Make the gradient of a source that no path reaches, if zeros are wanted."""
    return tell_made(wrap(zeros_beside(source._held, source._held.shape)))


def cotangents(targets: list[Tensor], given: Any) -> list[Tensor | None]:
    """Return one cotangent for each target, None where ones will do.

    Raises
    ------
    ShapeMismatch
        If their number or a shape is not the targets'.
    """
    if given is None:
        return [None] * len(targets)
    leaves = nest.flatten(given, rows=True)[0]
    if len(targets) == 1 and targets[0]._held.ndim and not any(isinstance(c, Tensor | Variable) for c in leaves):
        leaves = [given]  # one target and plain numbers: a list of them is one value
    if len(leaves) != len(targets):
        raise ShapeMismatch(
            f"gradient: got {len(leaves)} cotangent{'' if len(leaves) == 1 else 's'} for {len(targets)} "
            f"target{'' if len(targets) == 1 else 's'}. Give output_gradients the structure of the target, with None "
            "for ones."
        )
    found = [
        None if c is None else convert(nest.whole(c, t._held.shape), t) for c, t in zip(leaves, targets, strict=True)
    ]
    for seed, t in zip(found, targets, strict=True):
        if seed is not None and seed._held.shape != t._held.shape:
            raise ShapeMismatch(
                f"gradient: a cotangent has shape {seed._held.shape} and its target {t._held.shape}; they must match."
            )
        if seed is not None and seed._held.dtype != t._held.dtype:
            raise DtypeMismatch(
                f"gradient: a cotangent has dtype {seed.dtype.name} and its target {t.dtype.name}. Try lab.cast."
            )
    return [_beside(seed, t) for seed, t in zip(found, targets, strict=True)]


def _beside(seed: Any, target: Any) -> Tensor | None:
    """Ask the one that is not a plain tensor, the cotangent or the target, for the cotangent where its target lies."""
    for tensor in (target, seed):
        if tensor is not None and seed is not None and tensor.__class__ is not Tensor and hasattr(tensor, "cotangent"):
            return tensor.cotangent(seed, target)
    return seed
