"""Trace: the sink that receives every op of a function, the sweeps of its tapes included, and builds one Program.

A trace begins before any tape, so every sweep inside the function runs on recording ops, and backward passes land in
the same list as forward ones: the tape of the tape.  Meanwhile the function runs eagerly, so its results are right
whatever happens.

What cannot be replayed is refused with a reason and the user's line: a value that depends on the arguments and leaves
the ops (``float(x)``, a branch on it), an element of a queue or dataset, random draws, a tensor that our own code made
from values without saying how.  The last is the general rule: a tensor whose origin is unknown is never a constant.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from threading import get_ident
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.compile.front.expected import EXPECT, MOST_ASSUMED, expected
from autodiff_lab.compile.front.frames import called_function
from autodiff_lab.compile.front.kinds import run_our_rules
from autodiff_lab.compile.program.names import statement_names
from autodiff_lab.compile.program.program import Line, Program, Value
from autodiff_lab.engine.devices import memory_of
from autodiff_lab.engine.op import REGISTRY, Op
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.undoing import StateBefore
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import cell_of
from autodiff_lab.events import Place, TensorLeft, TensorMet
from autodiff_lab.events.listener import CAUSE, EVERYTHING, Spot, fresh_id, place_now, place_of, spot_now
from autodiff_lab.kernels.cuda.array import DeviceArray


class Refusal(NamedTuple):
    """Why a function is not compiled, and the line of the user's program that made it so."""

    reason: str
    place: Place | None

    def __str__(self) -> str:
        return self.reason if self.place is None else f"{self.reason} ({where(self.place)})"


def where(place: Place) -> str:
    """Return a line in words; the file name of a notebook's cell means nothing to its author."""
    cell = cell_of(place[0])
    return f"{cell}, line {place[1]}" if cell else f"line {place[1]} of {place[0]}"


class Late(NamedTuple):
    """A value that every call creates before the program runs: how, and with which generator if it is random."""

    value: int
    make: Callable[[], Any]
    source: Callable[[], Any] | None


_CURE = {
    "bool": "Try lab.where or lab.maximum instead of the branch.",
    "float": "Try to keep it a tensor.",
    "int": "Try to keep it a tensor.",
    "index": "Try lab.gather for a computed position.",
    "numpy": "Try the function of lab instead of NumPy's.",
    "__array__": "Try the function of lab instead of NumPy's.",
}
_LARGE_BYTES = 1 << 14
_LONG = (np.ndarray, DeviceArray)
_NEW: Any = tuple.__new__  # a named tuple's own takes three times as long
_known: Any = dict.get  # without a search in families that are not loaded


def _forget(by_array: dict[int, int | None], key: int, gone: object) -> None:
    """Forget an array that was freed: its address no longer identifies it."""
    by_array.pop(key, None)


def _literal(value: Any) -> bool:
    """Return whether a Python value consists of plain numbers, NumPy's and arrays of them included."""
    if isinstance(value, (list, tuple)):
        return all(map(_literal, value))
    if value.__class__ is np.ndarray or isinstance(value, np.generic):
        return value.dtype.kind in "biufc"
    return value.__class__ in (int, float, bool, complex)


class Trace:
    """A sink that turns what it receives into a Program; see the module."""

    listens = False
    hears_all = True
    lean = False
    traces = compiles = True
    rows = 1

    def __init__(self, arguments: list[Tensor], names: list[str]) -> None:
        self.tracked: Any = EVERYTHING
        self.observe: Any = None  # where calls are observed meanwhile: what goes on with that, and what rests from it
        self.rest: Any = None
        self._thread = get_ident()
        self.reads: dict[Variable, Tensor] = {}
        self.refusals: list[Refusal] = []
        self._noted: list[tuple[Any, ...]] = []  # the fields of lines, with spots in code instead of places
        self._assumed = 0  # how many values the program assumes
        self._spot: Spot = None  # in a sweep, the line that began it
        self.values: dict[int, Value] = {}
        self.arguments = [t._id for t in arguments]
        self.hidden: dict[Variable, int] = {}  # variables and the values of their first reads
        self.assigned: dict[Variable, int] = {}
        self.before = StateBefore()
        self.late: list[Late] = []
        self._start = fresh_id()
        self._depends = set(self.arguments)
        self._arrays: dict[int, Any] = {}  # constants, and small values as long as the trace lives
        self._leaving: list[weakref.ref[Any]] = []  # large values, freed as soon as the function is done with them
        self._by_array: dict[int, int | None] = {}  # id of an array object -> the one value that holds it
        self._same: dict[int, int] = {}  # another tensor of the same value -> that value
        self._made: set[int] = set()
        self.builds = False  # whether a variable was created: the next call may find it
        self._foreign: dict[int, Refusal] = {}
        self._given: dict[int, str] = {}  # names from `name=`
        for tensor, name in zip(arguments, names, strict=True):
            self._know(tensor, name)

    # --- what the engine reports -----------------------------------------------------------------------------------

    def append(self, entry: tuple[Any, ...], /) -> None:
        """Note an op that was applied."""
        op, out, ins, params, _ = entry
        observe = self.observe
        if observe is not None and get_ident() != self._thread:
            observe = None  # another thread has the same context
        if self.refusals:
            if observe is not None:
                observe()
            return
        if observe is not None:  # the profiler would take most of the time here
            self.rest()
        try:
            outs = out if out.__class__ is tuple else (out,)
            if _known(REGISTRY, op.name) is not op:
                self._append_alias(op, outs)
            else:
                self._line(op, ins, params or {}, outs)
        finally:
            if observe is not None:
                observe()

    @contextmanager
    def unobserved(self, entries: list[Any]) -> Generator[None]:
        """Let nobody observe calls in a block that sweeps through entries, if nothing but our own rules runs there."""
        if get_ident() != self._thread or not run_our_rules(entries):
            yield
            return
        observe, self.observe = self.observe, None
        if observe is not None:
            self.rest()
        spot, self._spot = self._spot, self._spot or spot_now(3)
        try:
            yield
        finally:
            self.observe, self._spot = observe, spot
            if observe is not None:
                observe()

    def _append_alias(self, op: Op, outs: tuple[Tensor, ...]) -> None:
        """Note an op made on the fly, by `custom_gradient` and the like, whose values earlier ops computed."""
        for tensor in outs:
            known = self._twin(tensor._held)
            if known is None:
                self.refuse(f"{op.name} returns a value that no op computed")
                return
            self._same[tensor._id] = known

    def _line(self, op: Op, ins: tuple[Tensor, ...], params: dict[str, Any], outs: tuple[Tensor, ...]) -> None:
        values, same, dependent, depends = self.values, self._same, self._depends, False
        found: list[int] = []
        for t in ins:
            key = same.get(t._id, t._id)
            if key not in values:
                key = self._resolved(t)
            found.append(key)
            if key in dependent:
                depends = True
        for tensor in outs:
            held, fresh = tensor._held, True
            for t in ins:
                if t._held is held:
                    fresh = False
            self._know(tensor, "", fresh, not depends)
            if depends:
                dependent.add(tensor._id)
        if depends:
            ids = (outs[0]._id,) if len(outs) == 1 else tuple([t._id for t in outs])
            self._noted.append((op, tuple(found), params, ids, self._spot or spot_now(2), CAUSE.get()))

    def note(self, event: Any, tensor: Tensor, how: str) -> None:
        """Note a value that left the ops, or entered from outside."""
        if event is TensorLeft:
            self.note_peek(tensor, how)
        elif event is TensorMet and how == "converted":
            self._foreign[tensor._id] = Refusal(
                "a value enters the function that may change from call to call. Pass it as an argument, or make it a "
                "tensor outside",
                place_now(),
            )
        else:
            self._made.add(tensor._id)

    def note_entry(self, value: Any, tensor: Tensor) -> None:
        """Note that `value` was converted: plain numbers are constants, since what they come from is guarded.

        That holds for arrays as well: one that can be reached is compared before each call, or too large and refused
        for that; and nothing that a call cannot repeat, such as a draw or a file, can make one unseen.
        """
        if _literal(value):
            self._foreign.pop(tensor._id, None)
            self._made.add(tensor._id)

    def note_late(self, tensor: Tensor, name: str, make: Callable[[], Any], source: Callable[[], Any] | None) -> None:
        """Note a tensor that Python creates in every call, before the program runs: a random draw, a learning rate."""
        self.late.append(Late(tensor._id, make, source))
        self._depends.add(tensor._id)
        self._know(tensor, name)

    def note_made(self, tensor: Tensor) -> None:
        """Note a tensor that depends on shapes and dtypes alone."""
        self._made.add(tensor._id)

    def note_name(self, tensor: Tensor, name: str) -> None:
        """Note a tensor that was given a name."""
        self._given[tensor._id] = name

    def note_peek(self, tensor: Tensor, how: str) -> None:
        """Note a value that was read; it matters if it depends on the inputs."""
        if self.refusals or (key := self._resolved(tensor)) not in self._depends:
            return
        if how in ("bool", "index", "int") and self._expects(key, tensor):
            return
        words = {"bool": "a branch or bool() asks for the value of a tensor", "index": "a tensor is used as an index"}
        what = words.get(how, f"the value of a tensor leaves the ops through {how}")
        self.refuse(f"{what}. {_CURE.get(how, '')}".rstrip())

    def note_look(self, holder: Any) -> None:
        """Note that our own code looked at the values of a tensor or variable outside of the ops."""
        if self.refusals:
            return
        if holder.__class__ is Variable:
            if holder._id < self._start or holder in self.assigned:
                self.refuse(f"{called_function()} reads the value of the variable {holder.name} outside of the ops")
        elif (key := self._resolved(holder)) in self._depends and not self._expects(key, holder):
            self.refuse(f"{called_function()} looks at the values of a tensor")

    def _expects(self, key: int, tensor: Tensor) -> bool:
        """Let the program serve only calls with the present value, if it is one that decides; return whether it is."""
        params = expected(tensor._held)
        self._assumed += 1
        if params is None or self._assumed > MOST_ASSUMED:
            return False
        there = fresh_id()
        self.values[there] = self.values[key]._replace(name="")
        self._noted.append((EXPECT, (key,), params, (there,), self._spot or spot_now(2), None))
        return True

    def note_read(self, variable: Variable, tensor: Tensor) -> None:
        """Note a variable that was read: its value is an input, or what the function assigned before."""
        self.reads[variable] = tensor
        if variable._id > self._start and variable not in self.assigned:
            known = self._twin(tensor._held)
            if known is None:
                self.note_new(variable)
            else:
                self._same[tensor._id] = known
        elif variable in self.assigned:
            self._same[tensor._id] = self.assigned[variable]
        elif variable in self.hidden:
            self._same[tensor._id] = self.hidden[variable]
        else:
            self.hidden[variable] = tensor._id
            self._depends.add(tensor._id)
            self._know(tensor, variable.name[:-2])

    def note_assign(self, variable: Variable, tensor: Tensor) -> None:
        """Note a variable that was assigned: its new value is an output."""
        if variable._id > self._start:
            self.note_new(variable)
        elif variable._shape is not None:
            self.refuse(f"the variable {variable.name}, which was declared with an open shape, is assigned")
        else:
            self.assigned[variable] = self._resolved(tensor)

    def note_new(self, variable: Variable) -> None:
        """Note a variable that was created."""
        self.builds = True
        self.refuse(f"the variable {variable.name} is created in the function")

    def refuse(self, reason: str) -> None:
        """Note why the function cannot be compiled; it continues eagerly."""
        self.refusals.append(Refusal(reason, place_now()))
        if self.observe is not None and get_ident() == self._thread:
            self.observe()  # an op that fails is not noted

    # --- what is known of values -----------------------------------------------------------------------------------

    def _know(self, tensor: Tensor, name: str, fresh: bool = True, kept: bool = True) -> None:
        """Register a tensor as a new value; `fresh` if its array is not that of an input of its op.

        Values that depend on the arguments are not `kept`: tracing a deep network must not need more memory than
        running it.
        """
        array = tensor._held
        if array.dtype.kind == "O":
            self.refuse("strings are not compiled")
        memory = None if array.__class__ is np.ndarray else memory_of(array)
        key, address = tensor._id, id(array)
        self.values[key] = _NEW(Value, (array.shape, array.dtype, name, memory))
        if kept or array.__class__ not in _LONG or array.nbytes < _LARGE_BYTES:
            self._arrays[key] = array
        else:  # another array may get its address once it is gone
            self._leaving.append(weakref.ref(array, partial(_forget, self._by_array, address)))
        if fresh:
            self._by_array[address] = None if address in self._by_array else key

    def _twin(self, array: Any) -> int | None:
        """Return the value that holds this very array; None if there is none, or if two of another origin do."""
        return None if array.dtype.kind == "b" else self._by_array.get(id(array))

    def _resolved(self, tensor: Tensor) -> int:
        """Return the value of a tensor; an unknown one is refused unless it is a number or older than the trace."""
        key = tensor._id
        key = self._same.get(key, key)
        if key in self.values:
            return key
        array = tensor._held
        if key in self._foreign:
            self.refusals.append(self._foreign[key])
        elif key > self._start and key not in self._made:
            known = self._twin(array)
            if known is not None:
                self._same[key] = known
                return known
            if array.shape or array.dtype.kind == "b" or id(array) in self._by_array:
                self.refuse("a value enters that no op computed")
        self._know(tensor, "")
        return key

    # --- the result ------------------------------------------------------------------------------------------------

    def program(self, results: list[Tensor]) -> Program:
        """Return the program with these results; it is valid only if there are no `refusals` afterwards."""
        found = tuple([self._resolved(t) for t in results])
        places: dict[tuple[int, int] | None, Place | None] = {}
        tables: dict[int, tuple[list[int], list[int | None]]] = {}
        lines: list[Line] = []
        for op, ins, params, ids, spot, cause in self._noted:
            key = spot and (id(spot[0]), spot[1])
            if key not in places:
                places[key] = place_of(spot, tables)
            lines.append(_NEW(Line, (op, ins, params, ids, places[key], cause)))
        names = statement_names(lines) | self._given  # before passes drop the lines that end a statement
        for value, name in names.items():
            if value in self.values:
                self.values[value] = self.values[value]._replace(name=name)
        outs = (*found, *self.assigned.values())
        used = {i for line in lines for i in line.ins} | set(outs)
        constants = {i: self._arrays[i] for i in sorted(used) if i not in self._depends}
        return Program(
            (*self.arguments, *[late.value for late in self.late]),
            tuple(self.hidden.values()),
            {i: a if isinstance(a, (np.generic, DeviceArray)) else np.asarray(a) for i, a in constants.items()},
            tuple(lines),
            found,
            tuple(self.assigned.values()),
            self.values,
            tuple(v.name[:-2] for v in self.assigned),
        )
