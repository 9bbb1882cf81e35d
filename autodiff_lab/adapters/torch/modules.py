"""Calls of modules: each is a scope, and one whose inside does not run in Python is a single op.

The hooks are the same functions under the same ids in every block. `torch.compile` guards on both, and would compile
again for each block otherwise, until it gives up.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.modules import module as torch_module
from torch.utils.hooks import RemovableHandle

from autodiff_lab.adapters.torch.calls import App
from autodiff_lab.adapters.torch.values import tensors_in

if TYPE_CHECKING:
    from autodiff_lab.adapters.torch.tracker import Tracker
    from autodiff_lab.events import Place

OPEN: list[Modules] = []
"""The blocks that are open, the outermost first."""
IDS: list[int] = []
"""The ids of the two hooks, taken when they are first registered."""
HANDLES: list[RemovableHandle] = []
_compiling = torch.compiler.is_dynamo_compiling


class Opaque:
    """A call whose inside is not recorded: its op, its inputs so far, its line and scope."""

    __slots__ = ("inputs", "module", "op", "place", "scope")

    def __init__(self, op: str, module: Any, inputs: list[int], place: Place | None, scope: str) -> None:
        self.op, self.module, self.inputs, self.place, self.scope = op, module, inputs, place, scope


class Modules:
    """Hears the modules that are called in one block."""

    def __init__(self, tracker: Tracker) -> None:
        self.tracker, self.scopes = tracker, tracker.scopes
        self.opaque: Opaque | None = None

    def open(self) -> None:
        """Begin to listen."""
        if not OPEN:
            HANDLES.append(_registered(0, lambda: torch_module.register_module_forward_pre_hook(entering)))
            HANDLES.append(_registered(1, lambda: torch_module.register_module_forward_hook(leaving, always_call=True)))
        OPEN.append(self)

    def close(self) -> None:
        """Stop listening."""
        OPEN.remove(self)
        while HANDLES and not OPEN:
            HANDLES.pop().remove()

    def enter(self, module: Any, args: Any) -> None:
        """A module is called."""
        if self.opaque is not None:
            return
        op = name_of(module)
        if op is None:
            self.scopes.enter_module(module, args)
        else:
            self.tracker.safely(self._enter_opaque, op, module, args)

    def leave(self, module: Any, args: Any, out: Any) -> None:
        """A module is left."""
        if self.opaque is None:
            self.scopes.leave_module(module, args, out)
        elif self.opaque.module is module:
            self.tracker.flush()  # drops what ran inside
            self.tracker.safely(self._leave_opaque, out, sys.exc_info()[1])
            self.opaque, self.tracker.muted = None, False

    def _enter_opaque(self, op: str, module: Any, args: Any) -> None:
        tracker = self.tracker
        tracker.flush()
        place = tracker.emitter.place_now()
        self.opaque = Opaque(op, module, tracker.keys(tensors_in(args), place), place, self.scopes.path)
        for buffer in module.buffers():  # written into unheard, as running means are
            tracker.settle(buffer)
        tracker.muted = True

    def _leave_opaque(self, out: Any, error: BaseException | None) -> None:
        """Emit the call: its inputs are its arguments, and the parameters that autograd found in it."""
        tracker, call = self.tracker, self.opaque
        assert call is not None
        if out is None and error is not None:
            tracker.emitter.emit_failure(call.op, call.inputs, error, place=call.place, scope=call.scope)
            return
        outs = [t for t in tensors_in(out) if tracker.find(t) is None]
        self.scopes.look_into(call.module)
        inputs = list(dict.fromkeys([*call.inputs, *self._leaves(outs, call)]))
        smooth = not torch.is_grad_enabled() or any(t.requires_grad for t in outs)
        tracker.grad_mode(torch.is_grad_enabled(), call.place)
        values = [tracker.hold(t) for t in outs]
        keys = tracker.emitter.emit_op(
            call.op, inputs, values, place=call.place, scope=call.scope, differentiable=smooth
        )
        app = App(call.op, tuple(inputs), keys, call.place)
        app.tracked = any(t.grad_fn is not None for t in outs)
        for tensor, value, key in zip(outs, values, keys, strict=True):
            tracker.values[key] = value
            tracker.bind(tensor, key, app)
            if tensor.grad_fn is not None:
                tracker.claim(tensor.grad_fn, app).outs[tensor.output_nr] = key

    def _leaves(self, outs: list[Any], call: Opaque) -> list[int]:
        """Return the ids of what the results depend on beside the arguments, parameters in the module's order."""
        tracker = self.tracker
        todo = [t.grad_fn for t in outs if t.grad_fn is not None]
        seen, leaves, others = set(todo), [], []
        while todo:
            for node, nr in todo.pop().next_functions:
                if node is None or node in seen:
                    continue
                seen.add(node)
                if hasattr(node, "variable"):
                    leaves.append(node.variable)
                elif tracker.claimed(node) is None:
                    todo.append(node)
                else:
                    others.append(tracker.behind(node, nr, call.place))
        order = {id(p): at for at, p in enumerate(call.module.parameters())}
        leaves.sort(key=lambda leaf: order.get(id(leaf), len(order)))
        return [*[key for key in others if key is not None], *tracker.keys(leaves, call.place)]


def entering(module: Any, args: Any) -> None:
    """A module is called, somewhere in the program; nothing is done where `torch.compile` traces."""
    if not _compiling():
        for block in OPEN:
            block.enter(module, args)


def leaving(module: Any, args: Any, out: Any) -> None:
    """A module is left, somewhere in the program."""
    if not _compiling():
        for block in OPEN:
            block.leave(module, args, out)


def name_of(module: Any) -> str | None:
    """Return what a compiled or scripted module is called as an op, None for any other module."""
    if type(module).__name__ == "OptimizedModule":
        return f"compiled: {type(module._orig_mod).__name__}"
    if isinstance(module, torch.jit.ScriptModule):
        return f"scripted: {module.original_name}"
    return None


def _registered(which: int, register: Callable[[], RemovableHandle]) -> RemovableHandle:
    """Return the handle of a hook that has the same id in every block."""
    if which < len(IDS):
        following, RemovableHandle.next_id = RemovableHandle.next_id, IDS[which]
        try:
            return register()
        finally:
            RemovableHandle.next_id = following
    handle = register()
    IDS.append(handle.id)
    return handle
