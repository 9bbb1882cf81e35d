"""What a function does to one row, noted so that it can be done to all rows together; `vectorized_map` is made of it.

The function is called once, on the first row, under a sink that notes every op, the sweeps of its own tapes included.
The ops that depend on the row are then applied to stacks of rows by the rules of `batching_rules`, in the context of
the call, so that its tapes record them.

A function whose result for another row could be something else than these ops is refused with a reason: one that asks
for the value of a tensor that depends on the row, draws random numbers, or assigns a variable.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.op import REGISTRY, Op
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.undoing import StateBefore
from autodiff_lab.engine.variable import Variable
from autodiff_lab.events import TensorLeft
from autodiff_lab.events.listener import EVERYTHING, SINKS, fresh_id, sinks_now, tell_made, trace_now
from autodiff_lab.extras.batching_rules import Stack, apply_to_stacks

_known: Any = dict.get  # without a search in families that are not loaded


class Step(NamedTuple):
    """An op that was applied: to which tensors and with which parameters, and what it gave."""

    op: Op
    ins: tuple[Tensor, ...]
    params: dict[str, Any]
    outs: tuple[Tensor, ...]


class RowTrace:
    """A sink that notes what happens to a row; see the module.

    Attributes
    ----------
    rows : int
        How many rows there are.
    compiles : bool
        Whether a function is traced around it, so that the ops become part of a program.
    refusal : str
        Why other rows may be treated otherwise; empty if they are not.
    """

    listens = False
    hears_all = True
    lean = False
    traces = True
    observe = rest = None

    def __init__(self, row: list[Tensor], rows: int) -> None:
        self.rows = rows
        self.tracked: Any = EVERYTHING
        self.reads: dict[Variable, Tensor] = {}
        self.before = StateBefore()
        self.refusal = ""
        sinks, outer = sinks_now(), trace_now()
        self.compiles = outer is not None
        self._around = tuple([sink for sink in sinks if sink is not outer])
        self._row = [t._id for t in row]
        self._start = fresh_id()
        self._steps: list[Step] = []
        self._depends = set(self._row)
        self._values: dict[int, Tensor] = {t._id: t for t in row}
        self._made: set[int] = set()
        self._twins: dict[int, int] = {id(t._held): t._id for t in row}
        self._same: dict[int, int] = {}

    @contextmanager
    def noting(self) -> Generator[None]:
        """Note what a block does; tapes record it as well, and another trace does not hear of it."""
        sinks = sinks_now()
        SINKS.set((self, *self._around))
        try:
            yield
        finally:
            SINKS.set(sinks)

    def refuse(self, reason: str) -> None:
        """Keep the first reason why this cannot be done to all rows together."""
        self.refusal = self.refusal or reason

    # --- what the engine reports -----------------------------------------------------------------------------------

    def append(self, entry: tuple[Any, ...], /) -> None:
        """Note an op that was applied."""
        if self.refusal:
            return
        op, out, ins, params, _ = entry
        outs: tuple[Tensor, ...] = out if out.__class__ is tuple else (out,)
        if outs[0]._held.dtype.kind in "fc" and sinks_now()[1 : len(self._around) + 1] != self._around:
            self.refuse("a tape is stopped in it")
        elif _known(REGISTRY, op.name) is not op:
            self._append_alias(op, outs)
        else:
            self._append_step(op, ins, params or {}, outs)

    def _append_step(self, op: Op, ins: tuple[Tensor, ...], params: dict[str, Any], outs: tuple[Tensor, ...]) -> None:
        depends = False
        for tensor in ins:
            if self._resolved(tensor) in self._depends:
                depends = op.name != "shape"
        if depends or self.compiles:
            self._steps.append(Step(op, ins, params, outs))
        for tensor in outs:
            key, array = tensor._id, tensor._held
            self._values[key] = tensor
            if not any(t._held is array for t in ins):
                self._twins[id(array)] = key
            if depends:
                self._depends.add(key)

    def _append_alias(self, op: Op, outs: tuple[Tensor, ...]) -> None:
        """Note an op made on the fly, by `custom_gradient` and the like, whose values earlier ops computed."""
        if self._around or self.compiles:
            self.refuse(f"{op.name} has a derivative of its own, which a tape around the call needs")
        for tensor in outs:
            known = self._twins.get(id(tensor._held))
            if known is None:
                self.refuse(f"{op.name} returns a value that no op computed")
                return
            self._same[tensor._id] = known

    def note(self, event: Any, tensor: Tensor, how: str) -> None:
        """Note a value that left the ops, or entered from outside."""
        if event is TensorLeft:
            self.note_peek(tensor, how)
        elif self.compiles and how == "converted":
            return  # a program has to know what the value is made of
        else:
            self.note_made(tensor)

    def note_entry(self, value: Any, tensor: Tensor) -> None:
        """Note that `value` was converted; nothing that depends on the row can have made it."""
        if not self.compiles or isinstance(value, (list, tuple, bool, int, float, complex)):
            self.note_made(tensor)

    def note_made(self, tensor: Tensor) -> None:
        """Note a tensor that depends on shapes and dtypes alone."""
        self._made.add(tensor._id)
        self._values[tensor._id] = tensor

    def note_name(self, tensor: Tensor, name: str) -> None:
        """Do nothing: names do not matter."""

    def note_late(self, tensor: Tensor, name: str, make: Any, source: Any) -> None:
        """Note a random draw, or a number that changes from step to step."""
        self.refuse("it draws random numbers" if source is not None else f"{name} may change from row to row")

    def note_peek(self, tensor: Tensor, how: str) -> None:
        """Note a value that was read; it matters if it depends on the row."""
        if not self.refusal and self._resolved(tensor) in self._depends:
            words = {"bool": "a branch or bool() asks for a value", "index": "a tensor is used as an index"}
            self.refuse(f"{words.get(how, f'a value leaves the ops through {how}')} that depends on the row")

    def note_look(self, holder: Any) -> None:
        """Note that our own code looked at the values of a tensor or variable outside of the ops."""
        if not isinstance(holder, Variable):
            self.note_peek(holder, "one of lab's functions")

    def note_read(self, variable: Variable, tensor: Tensor) -> None:
        """Note a variable that was read."""
        self.reads[variable] = tensor
        self._values[tensor._id] = tensor

    def note_assign(self, variable: Variable, tensor: Tensor) -> None:
        """Note a variable that was assigned."""
        self.refuse(f"it assigns the variable {variable.name}")

    def note_new(self, variable: Variable) -> None:
        """Note a variable that was created."""
        self.refuse(f"it creates the variable {variable.name}")

    def unobserved(self, entries: list[Any]) -> Any:
        """Return a context for a sweep: calls are not observed anyway."""
        return nullcontext()

    def _resolved(self, tensor: Tensor) -> int:
        """Return the value of a tensor; an unknown one is refused unless it is a number or older than the trace."""
        key = tensor._id
        key = self._same.get(key, key)
        if key in self._values or key < self._start:
            return key
        array = tensor._held
        known = self._twins.get(id(array))
        if known is not None:
            self._same[key] = known
            return known
        if array.shape or array.dtype.kind == "b":
            self.refuse("a value enters that no op computed")
        self.note_made(tensor)
        return key

    # --- all rows --------------------------------------------------------------------------------------------------

    def largest(self) -> int:
        """Return the bytes of the largest value that depends on the row."""
        return max([step.outs[0]._held.nbytes for step in self._steps], default=0)

    def on_rows(self, results: list[Tensor]) -> Callable[[list[Tensor], int], list[Tensor]]:
        """Return a function that computes these results for stacks of rows.

        It takes tensors with a leading axis, and the length of that axis.  The results have it as well, those that do
        not depend on the row too.
        """
        wanted = [self._resolved(t) for t in results]
        steps = self._needed(wanted)
        plan = [(step, [self._resolved(t) for t in step.ins]) for step in steps]
        last = {key: at for at, (_, keys) in enumerate(plan) for key in keys}
        free: list[list[int]] = [[] for _ in plan]
        for key, at in last.items():
            if key not in wanted:
                free[at].append(key)
        depends, values = self._depends, self._values
        variables = {t._id: v for v, t in self.reads.items()}
        outside = {key: t for step, keys in plan for key, t in zip(keys, step.ins, strict=True)}
        outside.update(zip(wanted, results, strict=True))

        def found(key: int) -> Stack:
            """Return a value that no step makes."""
            tensor = convert(variables[key]) if key in variables else values.get(key, outside[key])
            return Stack(tell_made(tensor) if key in self._made else tensor, tensor._held.shape, False)

        def run(rows: list[Tensor], count: int) -> list[Tensor]:
            known = {key: Stack(t, values[key]._held.shape, True) for key, t in zip(self._row, rows, strict=True)}
            for (step, keys), done in zip(plan, free, strict=True):
                ins = [known[key] if key in known else known.setdefault(key, found(key)) for key in keys]
                stacked = step.outs[0]._id in depends
                if stacked:
                    made = apply_to_stacks(step.op, ins, step.params, count)
                else:
                    made = step.op.apply(*[x.tensor for x in ins], **step.params)
                for tensor, out in zip(made if made.__class__ is tuple else (made,), step.outs, strict=True):
                    known[out._id] = Stack(tensor, out._held.shape, stacked)
                for key in done:
                    known.pop(key, None)
            return [(known[key] if key in known else found(key)).of_all(count) for key in wanted]

        return run

    def _needed(self, wanted: list[int]) -> list[Step]:
        """Return the steps that results are made of."""
        used, steps = set(wanted), list[Step]()
        for step in reversed(self._steps):
            if not used.isdisjoint([t._id for t in step.outs]):
                steps.append(step)
                used.update([self._resolved(t) for t in step.ins])
        return steps[::-1]
