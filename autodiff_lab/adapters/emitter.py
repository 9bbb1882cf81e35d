"""Emitter: the public way to record what a framework other than autodiff_lab did.

A framework says in order what happened (a value came in, an op ran, a backward pass delivered a contribution) and
gets a `Recording`, which the explorer, the printed form, `explain`, `ledger` and `first_nonfinite` read like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from autodiff_lab.adapters.held import HeldSum, HeldValue
from autodiff_lab.adapters.ops import OpTable
from autodiff_lab.events import (
    FaultFound,
    GradientFlowed,
    OpApplied,
    OpFailed,
    Place,
    SweepEnded,
    SweepStarted,
    TapeClosed,
    TapeOpened,
    TapeSwitched,
    TensorLeft,
    TensorMet,
    VariableAssigned,
)
from autodiff_lab.events.listener import SCOPE, fresh_id, place_now
from autodiff_lab.recording import Recorder, Recording
from autodiff_lab.recording.block import names_around
from autodiff_lab.recording.recorder import BUDGET
from autodiff_lab.recording.snapshot import WHOLE, Policy, keep

_new = tuple.__new__


class Emitter:
    """Records a program of any framework.

    Values are NumPy arrays, Python floats or held values: objects with `nbytes` and ``to_snapshot(policy, leaf)``,
    such as `HeldValue`. What is emitted gets an id, by which later calls refer to it.

    Parameters
    ----------
    framework : str
        Its name; explanations use its dialect if they know it (``"torch"``, ``"jax"``).
    title : str
        The heading of pictures.
    table : OpTable, optional
        How its ops are written.
    folders : sequence of str
        Its own folders: the user's line is the innermost one outside them.
    whole : int
        Elements up to which a value is kept in full; larger ones are summarized.
    policy : callable, optional
        ``policy(array, leaf) -> Snapshot``, instead of `whole`.
    budget : int
        Bytes of values that may be held until the recording is first used; later ones are summarized at once.
    find : callable, optional
        Returns the id of one of the framework's objects, or None: `Recording.explain` then takes such objects.

    Examples
    --------
    >>> import numpy as np
    >>> emitter = Emitter("mine", table=OpTable({"mul": "multiply"}))
    >>> recording = emitter.start()
    >>> x = emitter.add_source(np.float32(3.0), name="x", kind="variable")
    >>> (y,) = emitter.emit_op("mul", [x, x], [np.float32(9.0)])
    >>> backward = emitter.start_backward([y], [np.float32(1.0)], [x])
    >>> g = [emitter.emit_contribution(backward, y, position, np.float32(3.0)) for position in (0, 1)]
    >>> emitter.end_backward(backward)
    >>> emitter.finish()
    >>> print(recording.to_text())
    %0: f32 = variable           # x = 3
    %1: f32 = mul(%0, %0)        # 9
    backward pass from %1
    %1 += f32                    # 1
    %1 mul: %0 += f32, %0 += f32 # 3 (1 of 2), 3 (2 of 2, total 6)
    %0: gradient f32             # 6
    >>> recording.explain("%1", "x").cause
    'connected'
    """

    def __init__(
        self,
        framework: str,
        *,
        title: str = "",
        table: OpTable | None = None,
        folders: Sequence[str] = (),
        whole: int = WHOLE,
        policy: Policy | None = None,
        budget: int = BUDGET,
        find: Callable[[Any], int | None] | None = None,
    ) -> None:
        if policy is None:
            policy = keep if whole == WHOLE else partial(keep, whole=whole)
        self.recorder = Recorder(policy, budget, title, framework)
        self.recorder.find = find
        self.table = table or OpTable({})
        self.folders = tuple(folders)
        self.tell: Callable[[Any], None] = self.recorder
        self.tape = fresh_id()
        self._described: dict[str, int] = {}
        self._made: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self._passes: dict[int, _Pass] = {}
        self._variables: dict[int, int] = {}

    # ------------------------------------------------------------ the recording

    def start(self) -> Recording:
        """Open the recording; it can be looked at after `finish`."""
        live = self.recorder.start()
        self.tell(TapeOpened(self.tape, True, None))
        return live

    def finish(self, error: BaseException | None = None, names: Mapping[int, Sequence[str]] | None = None) -> None:
        """Close the recording.

        Parameters
        ----------
        error : BaseException, optional
            What ended the program.
        names : mapping of int to sequence of str, optional
            The user's names of tensors and variables, by id; see `names_around`.
        """
        if names is not None:
            self.recorder.names = {key: list(found) for key, found in names.items()}
        self.tell(TapeClosed(self.tape))
        self.recorder.finish(error)
        # `find` often knows the emitter. Without this, only the garbage collector frees a recording that is dropped.
        del self.recorder
        self.tell = _too_late

    def names_around(self, depth: int = 1) -> dict[int, list[str]]:
        """Return the names that the variables around the caller's caller give to what `find` knows."""
        return names_around(depth + 2, self.recorder.find)

    def place_now(self) -> Place | None:
        """Return the user's line: that of the innermost frame outside autodiff_lab, NumPy and the framework."""
        return place_now(self.folders)

    # ------------------------------------------------------------ forward

    def add_source(
        self,
        value: Any,
        *,
        name: str | None = None,
        kind: str = "constant",
        variable: int | None = None,
        trainable: bool = True,
        place: Place | None = None,
        scope: str | None = None,
        key: int | None = None,
    ) -> int:
        """Emit a value that no recorded op made; return its id.

        Parameters
        ----------
        value : array or held value
            Its numbers.
        name : str, optional
            The user's name for it.
        kind : str
            ``"constant"``, ``"converted"``, ``"gradient"``, or ``"variable"`` for what gradients are taken with
            respect to.
        variable : int, optional
            The id of the variable that was read; a variable that changes is read again under a new id.
        trainable : bool
            Whether the framework computes gradients of this variable.
        place, scope : optional
            Where it came in; by default the scope of `name_scope`.
        key : int, optional
            An id from `fresh_id` to use.
        """
        if value.__class__ is float:
            value = np.float64(value)
        key = fresh_id() if key is None else key
        if kind == "variable" and variable is None:
            variable = fresh_id()
        trainable = trainable and variable is not None
        scope = SCOPE.get() if scope is None else scope
        self.tell(_new(TensorMet, (key, kind, name, value, variable, trainable, place, scope)))
        return key

    def emit_op(
        self,
        op: str,
        inputs: Iterable[int],
        values: Iterable[Any],
        *,
        params: dict[str, object] | None = None,
        cause: int | None = None,
        place: Place | None = None,
        scope: str | None = None,
        differentiable: bool | None = True,
    ) -> tuple[int, ...]:
        """Emit an op that ran; return the ids of its outputs.

        Parameters
        ----------
        op : str
            Its name in the framework.
        inputs : iterable of int
            Ids of its inputs.
        values : iterable of arrays or held values
            Its outputs.
        params : dict, optional
            What else it was called with.
        cause : int, optional
            In a backward pass, the first output of the op whose derivative rule ran this one.
        place, scope : optional
            The user's line, and the scope it belongs to.
        differentiable : bool or None
            Whether the framework has a derivative for it; None if this call does not show it.
        """
        if self._described.get(op, -1) < (0 if differentiable is None else differentiable + 1):
            self.describe(op, differentiable)
        inputs, values = tuple(inputs), tuple(values)
        if values and values[0].__class__ is float:
            values = tuple([np.float64(value) if value.__class__ is float else value for value in values])
        outputs = (fresh_id(),) if len(values) == 1 else tuple([fresh_id() for _ in values])
        scope = SCOPE.get() if scope is None else scope
        self._made[outputs[0] if outputs else 0] = inputs, outputs
        self.tell(_new(OpApplied, (op, inputs, outputs, params, values, cause, place, scope)))
        return outputs

    def describe(self, op: str, differentiable: bool | None = True) -> None:
        """Emit how an op is written, once, and again when more is known of whether it has a derivative."""
        known = 0 if differentiable is None else differentiable + 1
        if self._described.get(op, -1) < known:
            self._described[op] = known
            self.tell(self.table.describe(op, differentiable is not False))

    def emit_failure(
        self, op: str, inputs: Iterable[int], error: BaseException, *, place: Place | None = None, scope: str = ""
    ) -> None:
        """Emit an op that raised."""
        self.describe(op)
        self.tell(OpFailed(op, tuple(inputs), None, type(error).__name__, str(error), place, scope))

    def emit_exit(self, tensor: int, how: str, place: Place | None = None) -> None:
        """Emit that a value left the framework: `how` is ``"numpy"``, ``"float"``, ``"item"``, ``"bool"`` ..."""
        self.tell(TensorLeft(tensor, how, place))

    def emit_assignment(
        self, variable: int, name: str, value: object, source: int | None, place: Place | None = None
    ) -> None:
        """Emit that a variable got a new value, made by the op whose output is `source`."""
        self.tell(VariableAssigned(variable, name, value, source, place))

    def emit_fault(
        self, cause: str, subject: int = 0, *, detail: str = "", place: Place | None = None, by: int | None = None
    ) -> None:
        """Emit why the gradient of a tensor or variable is not what its user expects; see `FaultFound`."""
        self.tell(FaultFound(cause, subject, detail, place, by))

    def collected(self, function: Callable[[], object]) -> Sequence[object]:
        """Return the events that a function emits, in place of passing them to the recorder."""
        events: list[Any] = []
        tell, self.tell = self.tell, events.append
        try:
            function()
        finally:
            self.tell = tell
        return events

    # ------------------------------------------------------------ tapes

    def start_turn(self, place: Place | None) -> None:
        """Emit that another turn of a loop begins: what was recorded so far belongs to earlier ones."""
        self.tell(TapeClosed(self.tape))
        self.tell(TapeOpened(self.tape, True, place))

    def switch(self, on: bool, place: Place | None = None) -> None:
        """Emit that the framework stopped computing gradients of what runs, or goes on with it."""
        self.tell(TapeSwitched(self.tape, "resumed" if on else "paused", place))

    # ------------------------------------------------------------ backward

    def start_backward(
        self,
        targets: Iterable[int],
        seeds: Iterable[Any],
        sources: Iterable[int],
        *,
        place: Place | None = None,
        untracked: Iterable[int] = (),
    ) -> int:
        """Emit that a backward pass begins; return its id.

        Parameters
        ----------
        targets, sources : iterable of int
            What is differentiated, and with respect to what.
        seeds : iterable of int, arrays or held values
            The cotangents of the targets.
        place : Place, optional
            The line that asked for it.
        untracked : iterable of int
            Targets for which the framework has no history.
        """
        targets, sources = tuple(targets), tuple(sources)
        keys = tuple([s if s.__class__ is int else self.add_source(s, kind="gradient") for s in seeds])
        sweep = fresh_id()
        self._passes[sweep] = _Pass(sources, dict(zip(targets, keys, strict=True)))
        self.tell(SweepStarted(sweep, self.tape, targets, keys, sources, place, tuple(untracked)))
        return sweep

    def emit_contribution(
        self,
        sweep: int,
        application: int,
        position: int,
        value: Any,
        *,
        incoming: tuple[int | None, ...] | None = None,
        total: Any = None,
        local: Any = None,
    ) -> int:
        """Emit what one op passed to the adjoint of one of its inputs; return the id of that adjoint so far.

        Parameters
        ----------
        sweep : int
            From `start_backward`.
        application : int
            The first output of the op.
        position : int
            Which of its inputs.
        value : int, array or held value
            The contribution.
        incoming : tuple of int or None, optional
            The adjoints of the op's outputs; by default what was emitted for them.
        total : int, array or held value, optional
            The adjoint so far, this contribution included; by default it is added up.
        local : array or held value, optional
            The derivative at a unit cotangent, for an elementwise op.
        """
        if local.__class__ is float:
            local = np.float64(local)
        kept = self._passes[sweep]
        inputs, outputs = self._made[application]
        key = inputs[position]
        if incoming is None:
            incoming = tuple([kept.totals.get(output) for output in outputs])
        old = kept.totals.get(key)
        outgoing = value if value.__class__ is int else self.add_source(value, kind="gradient")
        if total is None:
            total = outgoing
            if old is not None:
                kept.values[outgoing] = value
                total = HeldSum(_held(kept.values[old]), _held(value))
        if total.__class__ is not int:
            value, total = total, self.add_source(total, kind="gradient")
        if value.__class__ is not int:
            kept.values[total] = value
        kept.totals[key] = total
        self.tell(_new(GradientFlowed, (sweep, application, position, key, incoming, outgoing, total, local, ())))
        return total

    def end_backward(self, sweep: int, results: Sequence[int | None] | None = None) -> None:
        """Emit that a backward pass is over; `results` are the ids of the gradients, by default what arrived."""
        kept = self._passes.pop(sweep)
        if results is None:
            results = [kept.totals.get(source) for source in kept.sources]
        self.tell(SweepEnded(sweep, tuple(results)))


class _Pass:
    """A backward pass under way: its sources, and the adjoint of each tensor so far with its value."""

    def __init__(self, sources: tuple[int, ...], totals: dict[int, int]) -> None:
        self.sources, self.totals = sources, totals
        self.values: dict[int, Any] = {}


def _too_late(event: Any) -> None:
    raise RuntimeError(
        f"{type(event).__name__} was emitted after finish(). Try another Emitter for what runs afterwards."
    )


def _held(value: Any) -> Any:
    """Return a value that can be asked for its array."""
    return value if hasattr(value, "array") else HeldValue(lambda: value)
