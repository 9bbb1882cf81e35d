"""Calls on a tape: a compiled loss is one entry, whose gradients its program has computed together with its value.

A loss is a function that returned one real number in its first call on a tape.  Its second call is traced together with
the gradients with respect to the arguments that the tape tracks and the variables that it reads.  Both go on the tape
op by op; from then on the program runs instead, and the backward pass only multiplies by the cotangent.  Whatever else
listens, a second tape or a recording, gets all ops.  Where the gradient is taken in the tape's own block, to be
differentiated again, the function runs once more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from autodiff_lab.compile.front.entry import Compiled, Refused
from autodiff_lab.compile.front.kinds import replaced
from autodiff_lab.compile.front.signature import quick_key, take_apart
from autodiff_lab.compile.front.variants import Varied
from autodiff_lab.compile.front.waiting import Waiting
from autodiff_lab.engine import configuration, nest
from autodiff_lab.engine.apply import record_application
from autodiff_lab.engine.devices import current_memory
from autodiff_lab.engine.indexed_slices import dense
from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.op import Op
from autodiff_lab.engine.tape import GradientTape
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.engine.variable import Variable
from autodiff_lab.events.listener import SINKS, sinks_now
from autodiff_lab.kernels.arrays import on_gpu
from autodiff_lab.ops.math.complex_numbers import handed_back

_MOST_KINDS = 64


class Loss:
    """A function together with its gradients, which becomes one entry of a tape.

    Attributes
    ----------
    function : Function
        From the arguments to the value, the gradients, and the variables that were read.
    """

    __slots__ = ("_chosen", "_of", "_op", "function")

    def __init__(self, of: Any, chosen: tuple[int, ...]) -> None:
        """Compile a function with its gradients with respect to the chosen leaves of its arguments."""
        function, name = of.python_function, of._name

        def differentiated(*args: Any) -> Any:
            leaves = nest.flatten(args)[0]
            sources = [leaves[n] for n in chosen]
            with GradientTape() as tape:
                tape.watch(sources)
                value = function(*args)
            variables = tape.watched_variables()
            return value, tape.gradient(value, [*sources, *variables]), variables

        differentiated.__name__ = name
        from autodiff_lab.compile.front.function import Function

        self.function: Any = Function(differentiated, of._backend)
        self.function._reported = True  # what it would say is about the user's function
        self._chosen, self._of = chosen, function
        self._op = Op(
            name, _unused, _rule, None, symbol="f", latex=r"f({0})", locals_latex=("?",),
            sentence=f"runs {name} as one program", keeps="inputs", stacked=False,
        )  # fmt: skip

    def run(self, arrays: list[Any], leaves: Any, args: tuple[Any, ...], persistent: bool) -> tuple[bool, Any] | None:
        """Run the program and put the call on the tape, if there is one that can serve it.

        A persistent tape may take the gradient in its own block, where the function runs again; not if it draws.
        """
        entry = self.function._latest
        if entry is None or not entry.serves(arrays):
            return None
        draws = any(late.source is not None for late in entry.late)
        if draws and persistent:
            return False, None
        before = [v._held for v in entry.reads]
        done, result = entry.call(arrays)
        if not done:
            return None
        value, gradients, variables = result
        ins = (*[leaves[n] for n in self._chosen], *[v.read() for v in variables])
        call = Call(self._of, args, leaves, self._chosen, variables, gradients, entry, before, draws)
        record_application(sinks_now(), self._op, value, ins, {"call": call})
        return True, value


class Call(NamedTuple):
    """What the backward pass needs of a call: the gradients, and all else if they are to be differentiated again."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    leaves: Any
    chosen: tuple[int, ...]
    variables: tuple[Variable, ...]
    gradients: list[Any]
    entry: Compiled
    before: list[Any]
    draws: bool

    def again(self, inputs: Any) -> tuple[GradientTape, list[Any], Any]:
        """Run the function op by op, with the variables as they were; return the tape, the sources and the value."""
        leaves = list(self.leaves)
        for n, x in zip(self.chosen, inputs, strict=False):
            leaves[n] = x
        chosen = [leaves[n] for n in self.chosen]
        now = [(v, v._held) for v in (*self.entry.reads, *self.entry.assigned)]
        try:
            for v, array in zip(self.entry.reads, self.before, strict=True):
                v._held = array
            with GradientTape(persistent=True) as tape:
                tape.watch(chosen)
                value = self.function(*nest.flatten(self.args)[1](leaves))
        finally:
            for v, array in now:
                v._held = array
        return tape, [*chosen, *self.variables], value

    def opened(self, ins: tuple[Tensor, ...], out: Tensor) -> list[Any]:
        """Return the entries of another run, from the inputs of the one to its output; none if it would differ."""
        if self.draws:
            return []
        sinks = sinks_now()
        SINKS.set(())
        try:
            tape, _, value = self.again(ins)
        finally:
            SINKS.set(sinks)
        reads = [(tape.reads[v], t) for v, t in zip(self.variables, ins[len(self.chosen) :], strict=True)]
        same = RECORDING.identity.op
        return [
            *[(same, now, (t,), {}, (0,)) for now, t in reads],
            *(tape._entries or ()),
            (same, out, (value,), {}, (0,)),
        ]


class Taped(Varied):
    """The part of a compiled function that is called on a tape."""

    __slots__ = ()
    _backend: str
    _eagerly: Any
    _losses: dict[Any, Loss | None]  # None: calls of this kind go on the tape op by op

    def _while_heard(self, sinks: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Serve a call that tapes, a recording or a trace hear."""
        if len(sinks) == 1 and sinks[0].__class__ is GradientTape:
            done, value = self._on_tape(sinks[0], args, kwargs)
            if done:
                return value
        self._heard += not sinks[0].traces  # another function's trace takes the ops into its program
        return self._eagerly(args, kwargs)

    def _on_tape(self, tape: GradientTape, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[bool, Any]:
        """Serve a call on the only tape that hears it, if it may be one entry; else it goes on the tape op by op."""
        arrays: list[Any] = []
        key: list[Any] = [current_memory()]
        known = not kwargs and tape._automatic and key == [None] and quick_key(args, arrays, key)
        known = known and not any(on_gpu(array) for array in arrays)
        if not known or configuration.functions_run_eagerly() or any(not v.trainable for v in tape._watched):
            return False, None
        leaves = args if all(x.__class__ is Tensor for x in args) else nest.flatten(args)[0]
        chosen = tuple([n for n, x in enumerate(leaves) if isinstance(x, Tensor) and x._id in tape.tracked])
        kind = (*key, chosen)
        if kind not in self._losses:
            self._heard += 1
            return True, self._first(tape, kind, chosen, leaves, args)
        loss = self._losses[kind]
        if loss is None or any(t._id in tape.tracked for t in loss.function._known.values()):
            return False, None
        served = loss.run(arrays, leaves, args, tape._persistent)
        if served is not None:
            return served
        done, value = self._traced(loss, kind, args)
        self._heard += done
        return done, value

    def _first(self, tape: GradientTape, kind: Any, chosen: tuple[int, ...], leaves: Any, args: Any) -> Any:
        """Run a call op by op, and decide how others of its kind go on."""
        before, begin, roots = set(tape.tracked), len(tape._entries or ()), len(tape._roots)
        value = self.python_function(*args)
        entries = (tape._entries or [])[begin:]
        own = {leaves[n]._id for n in chosen}.union(*tape._watched.values())
        fits = value.__class__ is Tensor and not value._held.shape and value._held.dtype.char in "fd"
        fits = fits and value._id in tape.tracked and value._id not in before and len(tape._roots) == roots
        fits = fits and not any(t._id in before and t._id not in own for entry in entries for t in entry[2])
        if len(self._losses) < _MOST_KINDS:
            self._losses[kind] = Loss(self, chosen) if fits else None
        return value

    def _traced(self, loss: Loss, kind: Any, args: tuple[Any, ...]) -> tuple[bool, Any]:
        """Trace a call, which goes on the tape op by op, unless a program is being made or cannot be."""
        made = loss.function
        call = take_apart(made.python_function, args, {}, made._known)
        entry = made._entries.get(call.key)
        if isinstance(entry, Refused) or call.by_identity:
            self._losses[kind] = None
        if self._losses[kind] is None or isinstance(entry, Waiting) or sys.getprofile() is not None or replaced():
            return False, None
        if isinstance(entry, Compiled) and entry.unchanged() and not entry.moved():
            return True, made._beside(entry, call)[0]
        if not made._lock.acquire(blocking=False):
            return False, None
        try:
            return True, made._trace(call, None)[0]
        finally:
            made._lock.release()


def follow(tensors: list[Tensor], copies: list[Tensor]) -> None:
    """Let tapes that hear a trace track the copies of what they track: a trace gives the function copies."""
    for sink in sinks_now():
        for tensor, copy in zip(tensors, copies, strict=True):
            if tensor._id in sink.tracked:
                sink.tracked.add(copy._id)
                sink.append((RECORDING.identity.op, copy, (tensor,), {}, (0,)))


def _unused(*arrays: Any) -> Any:
    return arrays


def _rule(ops: Any, g: Any, out: Any, *inputs: Any, need: tuple[int, ...], call: Call) -> list[Any]:
    if ops.raw:
        found = [dense(call.gradients[i]) for i in need]
        scaled = [None if one is None else wrap((one._held * g).astype(one._held.dtype, copy=False)) for one in found]
        return [handed_back(ops, one) for one in scaled]
    tape, sources, value = call.again(inputs)
    found = tape.gradient(value, [sources[i] for i in need], output_gradients=g)
    return [handed_back(ops, dense(one)) for one in found]
