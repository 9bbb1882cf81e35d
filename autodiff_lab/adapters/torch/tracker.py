"""Who is who in a PyTorch program: calls become ops, tensors get ids, and autograd nodes know which op made them.

An object and its version identify a tensor; if its history was not recorded, its autograd node shows that. An op writes
itself into the metadata of the nodes that it made, which a backward pass reads.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from autodiff_lab.adapters.emitter import Emitter
from autodiff_lab.adapters.torch.calls import App, Call, CallTable
from autodiff_lab.adapters.torch.faults import Faults
from autodiff_lab.adapters.torch.scopes import Scopes
from autodiff_lab.adapters.torch.table import NODES, TABLE, WRITES
from autodiff_lab.adapters.torch.values import (
    LARGEST_LOCAL,
    SMALL,
    SumValue,
    TensorValue,
    Unknown,
    settle_small,
    tensors_in,
    version_of,
)
from autodiff_lab.events import Place
from autodiff_lab.events.listener import fresh_id

KEY = "autodiff_lab"
FOLDERS = tuple(str(Path(file).parent) + os.sep for file in (torch.__file__, np.__file__, Path(__file__).parent.parent))
FOLDERS += ("<eval_with_key>",)  # the graphs of torch.fx
OURS: dict[str, bool] = {}
"""Which files are not the user's, as far as they were asked for."""
Row = tuple[Any, tuple[Any, ...], Any, Any, "Place | None", str, bool]
"""A call: function, arguments, keywords, result, line, scope, whether gradients were on."""


class Claim:
    """What stands in the metadata of an autograd node: the tracker, the op, and the tensor of each output."""

    __slots__ = ("app", "outs", "owner")

    def __init__(self, owner: Tracker, app: App) -> None:
        self.owner, self.app = owner, app
        self.outs: dict[int, int] = {}


def is_leaf_node(node: Any) -> bool:
    """Return whether a node gathers the gradient of a leaf."""
    return type(node).__name__ == "AccumulateGrad"


class Tracker:
    """Works off what a block heard, and knows every tensor of the program by its id."""

    def __init__(self, **options: Any) -> None:
        self.emitter = Emitter("torch", table=TABLE, folders=FOLDERS, find=self.find, **options)
        self.rows: list[Row] = []
        self.scopes = Scopes()
        self.faults = Faults(self)
        self.calls = CallTable(self)
        self.ours = OURS
        self.objects: dict[int, tuple[Any, int, int, App | None]] = {}
        self.variables: dict[int, tuple[Any, int]] = {}
        self.variable_of: dict[int, int] = {}
        self.values: dict[int, Any] = {}
        self.views: dict[Any, tuple[int, App]] = {}
        self.read_since: dict[int, Any] = {}
        self.hooked: set[int] = set()
        self.retained: list[Any] = []
        self.held: list[TensorValue] = []
        self.leaves: list[TensorValue] = []
        self.sums: list[SumValue] = []
        self.scope = ""
        self.by_memory: dict[int, list[TensorValue]] = {}
        self.indexed = 0
        self.listening, self.new_turn, self.muted = True, True, False
        self.error: Exception | None = None
        self.cause: int | None = None

    # ------------------------------------------------------------ the block

    def safely(self, function: Any, *args: Any) -> Any:
        """Call a function of ours, unheard by other blocks; its first error ends the recording, not the program."""
        if self.error is None:
            try:
                with torch._C.DisableTorchFunction():
                    return function(*args)
            except Exception as error:  # noqa: BLE001 - whatever it is, the user's program must go on
                self.error = error
        return None

    def is_ours(self, file: str) -> bool:
        """Return whether a file belongs to PyTorch, NumPy or autodiff_lab."""
        found = self.ours[file] = file.startswith((*FOLDERS, "<frozen")) or file == "<string>"
        return found

    def close(self) -> None:
        """The block ends: copy what the program may write over later."""
        for value in self.leaves:
            if value.nbytes > SMALL * 8 and value.known:
                value.settle()
        settle_small(self.held)
        for value in self.sums:
            value.resolve()
        self.faults.close()
        del self.calls, self.faults  # they know this tracker: a recording that is dropped is freed at once

    def find(self, value: Any) -> int | None:
        """Return the id of a tensor of the program: of the variable for a leaf, None for anything unknown."""
        identity = id(value)
        known = self.variables.get(identity)
        if known is not None and known[0]() is value:
            return known[1]
        found = self.objects.get(identity)
        return found[2] if found is not None and found[0]() is value else None

    # ------------------------------------------------------------ what was heard

    def flush(self) -> None:
        """Work off the calls that were heard."""
        rows = [] if self.muted else self.rows[:]
        self.rows.clear()
        for row in rows:
            self.scope = row[5]
            self.calls.note(row)
        self.scope = self.scopes.path

    def run_writing(self, func: Any, name: str, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Call a function that may write into its arguments, after copying what is held of them."""
        before = self.safely(self._before, name, args, kwargs)
        try:
            out = func(*args, **kwargs)
        except Exception as error:
            self.failed(func, args, kwargs, error)
            raise
        if before is not None:
            self.safely(self.calls.note_writing, before, func, name, args, kwargs, out)
        return out

    def _before(self, name: str, args: tuple[Any, ...], kwargs: Any) -> Any:
        if self.muted:
            for tensor in tensors_in((args, kwargs)):
                self.settle(tensor)
            return None
        self.flush()
        place = self.emitter.place_now()
        tensors = list(tensors_in((args, kwargs)))
        keys = [self.key(t, place) for t in tensors]
        if name in WRITES:
            written = list(tensors_in([args[i] for i in WRITES[name] if i < len(args)]))
        else:
            written = list(tensors_in(args[:1])) + list(tensors_in(kwargs.get("out")))
        bases: dict[int, Any] = {}
        for view in written:
            base = view._base if view._is_view() else None
            if base is not None and (base.grad_fn is None or id(base) in self.objects):  # else it is inside a call
                bases[id(view)] = base
                self.key(base, place)
        for tensor in written:
            self.settle(tensor)
        return tensors, keys, [version_of(t) for t in tensors], bases, place

    def failed(self, func: Any, args: Any, kwargs: Any, error: Exception) -> None:
        """A function raised."""
        if not self.muted:
            self.safely(self._failed, func, args, kwargs or {}, error)

    def _failed(self, func: Any, args: Any, kwargs: Any, error: Exception) -> None:
        self.flush()
        place = self.emitter.place_now()
        keys = [self.key(t, place) for t in tensors_in((args, kwargs))]
        self.emitter.emit_failure(Call(func).op, keys, error, place=place, scope=self.scopes.path)

    def left(self, args: tuple[Any, ...], how: str) -> None:
        """A value left PyTorch."""
        if args and isinstance(args[0], torch.Tensor) and not self.muted:
            self.flush()
            self.emitter.emit_exit(self.key(args[0], self.emitter.place_now()), how, self.emitter.place_now())

    def hooked_by_user(self, args: tuple[Any, ...]) -> None:
        """The user put a hook on a tensor: what arrives there may be changed."""
        self.flush()
        self.hooked.add(self.key(args[0], self.emitter.place_now()))

    def data_replaced(self, args: tuple[Any, ...]) -> None:
        """``w.data = x``: the tensor is another one from here on."""
        self.flush()
        place, tensor = self.emitter.place_now(), args[0]
        source = self.key(args[1], place)
        self.objects.pop(id(tensor), None)
        if tensor.is_leaf and tensor.requires_grad:
            variable = self.variable(tensor)
            self.emitter.emit_assignment(variable, self.name_of(tensor) or "", self.hold(args[1]), source, place)
            self.faults.assigned.add(variable)

    def became_leaf(self, tensor: Any) -> None:
        """``h.requires_grad_()`` on a result that has no history: from here on it is a leaf with its value."""
        known = self.objects.get(id(tensor))
        if known is not None and known[0]() is tensor and known[3] is not None and tensor.is_leaf:
            value, name = self.hold(tensor, alone=True), self.name_of(tensor) or ""
            if tensor.requires_grad:
                self.emitter.emit_assignment(self.variable(tensor), name, value, known[2], self.emitter.place_now())

    def grad_mode(self, on: bool, place: Place | None) -> None:
        """`torch.no_grad` is what a paused tape is."""
        if on != self.listening:
            self.listening = on
            self.emitter.switch(on, place)

    # ------------------------------------------------------------ who is who

    def key(self, tensor: Any, place: Place | None = None) -> int:
        """Return the id of a tensor that is read."""
        known = self.objects.get(id(tensor))
        if known is not None and known[0]() is tensor and known[1] == version_of(tensor):
            app = known[3]
            if app is None:
                if not tensor.requires_grad or known[2] in self.variable_of:
                    return known[2]
            elif app.tracked or not tensor.requires_grad:
                return known[2]
        node = tensor.grad_fn
        if node is None:
            return self.meet(tensor, place)
        claim = self.claimed(node)
        key = None if claim is None else claim.outs.get(tensor.output_nr)
        if key is not None and claim is not None:
            self.bind(tensor, key, claim.app)
            return key
        made = self.views.get(memory_of(tensor)) if self.views else None
        if made is not None and (claim is None or claim.app is made[1]):
            self.claim(node, made[1]).outs[tensor.output_nr] = made[0]
            self.bind(tensor, *made)
            return made[0]
        return self.adopt(tensor, node, place)

    def keys(self, tensors: Iterable[Any], place: Place | None) -> list[int]:
        """Return the ids of tensors that are read."""
        return [self.key(t, place) for t in tensors]

    def bind(self, tensor: Any, key: int, app: App | None = None) -> None:
        """Remember the id of an object, good as long as it lives and nobody writes into it."""
        self.objects[id(tensor)] = weakref.ref(tensor), version_of(tensor), key, app

    def meet(self, tensor: Any, place: Place | None, kind: str = "constant") -> int:
        """Emit a tensor that no op made, or what somebody wrote into one; return its id."""
        name, variable = self.name_of(tensor), None
        changing = tensor.requires_grad or name is not None  # a parameter or a buffer
        value = self.hold(tensor, alone=True, leaf=changing)
        if tensor.requires_grad or isinstance(tensor, torch.nn.Parameter):
            kind, variable = "variable", self.variable(tensor)
            self.read_since[variable] = weakref.ref(tensor)
        key = fresh_id()
        if variable is not None:
            self.variable_of[key] = variable
            if tensor._backward_hooks:
                self.hooked.add(key)
        self.emitter.add_source(
            value, kind=kind, name=name, variable=variable, trainable=tensor.requires_grad, place=place,
            scope=self.scope, key=key,
        )  # fmt: skip
        self.values[key] = value
        self.bind(tensor, key)
        return key

    def name_of(self, tensor: Any) -> str | None:
        """Return the path of a parameter or buffer below its module."""
        return self.scopes.names.get(id(tensor)) if self.scopes.names else None

    def variable(self, tensor: Any) -> int:
        """Return the id of a leaf: it stays the same while its value changes."""
        found = self.variables.get(id(tensor))
        if found is None or found[0]() is not tensor:
            found = self.variables[id(tensor)] = weakref.ref(tensor), fresh_id()
        return found[1]

    def claimed(self, node: Any) -> Claim | None:
        """Return what this tracker wrote into a node."""
        found = node.metadata.get(KEY)
        return found if found is not None and found.owner is self else None

    def claim(self, node: Any, app: App) -> Claim:
        """Write an op into a node that it made."""
        found = self.claimed(node)
        if found is None:
            found = node.metadata[KEY] = Claim(self, app)
        return found

    def adopt(self, tensor: Any, node: Any, place: Place | None) -> int:
        """Add history that was not recorded as ops named after their nodes: older graphs, compiled functions, views."""
        for at in self._unclaimed_behind(node):
            name = at.name().split("::")[-1].rstrip("0123456789").removesuffix("Backward")
            op = NODES.get(name) or (name[:1].lower() + name[1:] if _is_plain(at) else name)
            inputs = [self.behind(n, nr, place) for n, nr in at.next_functions if n is not None]
            mine = at is node
            values: list[Any] = [Unknown() for _ in range(tensor.output_nr + 1 if mine else 1)]
            if mine:
                values[-1] = self.hold(tensor)
            ids = [key for key in inputs if key is not None]
            outputs = self.emitter.emit_op(
                op, ids, values, cause=self.cause, place=place if mine else None, scope=self.scopes.path
            )
            app = App(op, tuple(ids), outputs, place)
            app.tracked = True
            self.claim(at, app).outs.update(enumerate(outputs))
            self.values.update(zip(outputs, values, strict=True))
        claim = self.claimed(node)
        assert claim is not None
        key = claim.outs.get(tensor.output_nr)
        if key is None:
            key = claim.outs[tensor.output_nr] = self.emitter.add_source(self.hold(tensor), place=place)
        if tensor._backward_hooks:
            self.hooked.add(key)
        self.bind(tensor, key, claim.app)
        return key

    def _unclaimed_behind(self, node: Any) -> list[Any]:
        """Return the nodes without an op behind a node, each after those that it leads to."""
        fresh: list[Any] = []
        seen: set[Any] = set()
        todo = [(node, False)]
        while todo:
            at, expanded = todo.pop()
            if expanded:
                fresh.append(at)
            elif at not in seen and not is_leaf_node(at) and self.claimed(at) is None:
                seen.add(at)
                todo.append((at, True))
                todo += [(n, False) for n, _ in at.next_functions if n is not None]
        return fresh

    def behind(self, node: Any, nr: int, place: Place | None) -> int | None:
        """Return the tensor that an edge of the autograd graph leads to."""
        if is_leaf_node(node):
            return self.key(node.variable, place)
        claim = self.claimed(node)
        if claim is None:
            return None
        if nr not in claim.outs and nr < len(claim.app.outputs):
            claim.outs[nr] = claim.app.outputs[nr]
        return claim.outs.get(nr)

    # ------------------------------------------------------------ values

    def hold(self, tensor: Any, alone: bool = False, leaf: bool = False) -> Any:
        """Return a value by reference; `settle` copies it before anybody writes into its memory."""
        try:
            value = TensorValue(tensor.detach() if alone or tensor.requires_grad else tensor)
            if tensor.is_meta or tensor.layout is not torch.strided:
                return Unknown(tensor)
        except Exception:  # noqa: BLE001 - sparse, nested and functorch tensors have no memory to look at
            return Unknown(tensor)
        self.held.append(value)
        if leaf:
            self.leaves.append(value)
        return value

    def settle(self, tensor: Any) -> None:
        """Copy what is held of a tensor's memory."""
        for value in self.held[self.indexed :]:
            if value.known:
                self.by_memory.setdefault(storage_of(value._tensor), []).append(value)
        self.indexed = len(self.held)
        for value in self.by_memory.pop(storage_of(tensor), ()):
            value.settle()

    def local_of(self, app: App) -> bool:
        """Return whether the local derivative of an op can be worked out."""
        return app.again is not None and app.again[4].numel() <= LARGEST_LOCAL


def _is_plain(node: Any) -> bool:
    """Return whether a node is one of PyTorch's own; functions of the user are classes of Python."""
    return not isinstance(node, torch.autograd.function.BackwardCFunction)


def storage_of(tensor: Any) -> int:
    """Return where a tensor's memory begins, 0 for one without any."""
    try:
        return tensor.untyped_storage().data_ptr()
    except Exception:  # noqa: BLE001 - a tensor without memory of its own
        return 0


def memory_of(tensor: Any) -> Any:
    """Return what two objects for one view have in common; tensors of torch.func have no memory of their own."""
    try:
        return tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor.dtype
    except RuntimeError:
        return id(tensor)
