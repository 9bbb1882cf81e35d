"""`record`: the block that observes a PyTorch program, at the level of the functions that the user calls.

While the program runs, a call is only put on a list: `Tracker` finds out what it was when somebody is about to write
into a tensor, when a backward pass begins, or when the block ends.
"""

from __future__ import annotations

import sys
import warnings
import weakref
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.overrides import TorchFunctionMode

from autodiff_lab.adapters.torch.backward import Backward
from autodiff_lab.adapters.torch.modules import Modules
from autodiff_lab.adapters.torch.table import ATTRIBUTES, EXITS, IN_PLACE_OPERATORS, LOOKS, WRITES
from autodiff_lab.adapters.torch.tracker import Tracker
from autodiff_lab.events.listener import SCOPE
from autodiff_lab.recording import Recording
from autodiff_lab.recording.names import names_in
from autodiff_lab.recording.recorder import BUDGET
from autodiff_lab.recording.snapshot import WHOLE, Policy

BACKWARD = {torch.Tensor.backward, torch.autograd.backward, torch.autograd.grad}
KINDS: dict[Any, tuple[str, str] | None] = {}
"""What is special about each function that was heard so far: its kind and name, None for an op that writes nowhere."""
MANY = 500
"""Calls after which the list is worked off, so that it does not keep tensors alive."""
_getframe = sys._getframe
_grad_on = torch.is_grad_enabled
_scope = SCOPE.get
_compiling = torch.compiler.is_dynamo_compiling


class record(TorchFunctionMode):  # noqa: N801 - it is used as a statement: `with record() as recording:`
    """Record what a PyTorch program does in a ``with`` block, forward and backward.

    Parameters
    ----------
    title : str
        The heading of pictures.
    whole : int
        Elements up to which a value is kept in full; larger ones are summarized.
    policy : callable, optional
        ``policy(array, leaf) -> Snapshot``, instead of `whole`.
    budget : int
        Bytes of values that may be held until the recording is first used; later ones are summarized at once.
    namespace : mapping of str to object, optional
        Where the names of tensors are looked up, instead of the local variables around the block.

    Returns
    -------
    Recording
        By ``as``.  It can be used once the block has ended, also when the block raised: it then ends with the op that
        failed, and the exception propagates.

    Notes
    -----
    The numbers of the program are the same with and without the block. A large value that is written to between the end
    of the block and the first use of the recording is shown as unknown. Other threads are not recorded.

    What `torch.compile` or TorchScript made runs as it does without the block, and is one op: a module has its name,
    its arguments and its parameters; a function is recorded as ``compiled`` or ``scripted`` with the inputs that need a
    gradient, and without a gradient its result has no op. `torch.compile` compiles once more for the first block.
    """

    def __init__(
        self,
        title: str = "",
        *,
        whole: int = WHOLE,
        policy: Policy | None = None,
        budget: int = BUDGET,
        namespace: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.namespace = namespace
        self.tracker = Tracker(title=title, whole=whole, policy=policy, budget=budget)
        self.rows = self.tracker.rows

    # ------------------------------------------------------------ the block

    def __enter__(self) -> Recording:
        tracker = self.tracker
        self.modules = Modules(tracker)
        self.modules.open()
        self.handles: list[Any] = []
        recording = tracker.emitter.start()
        super().__enter__()
        return recording

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, traceback)
        self.modules.close()
        for handle in self.handles:
            handle.remove()
        tracker = self.tracker
        tracker.safely(tracker.flush)
        tracker.safely(tracker.close)
        if self.namespace is None:
            names = tracker.emitter.names_around(1)
        else:
            names = names_in(self.namespace, tracker.find)
        tracker.emitter.finish(error, names)
        if tracker.error is not None:
            warnings.warn(
                f"The recording stopped early: {type(tracker.error).__name__}: {tracker.error}. "
                "The program was not disturbed.",
                RuntimeWarning,
                stacklevel=2,
            )

    # ------------------------------------------------------------ what is heard

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        if _compiling():  # a constant where torch.compile traces: its graph is the same as without the block
            return func(*args, **kwargs) if kwargs else func(*args)
        try:
            kind = KINDS[func]
        except KeyError:
            kind = self._learn(func)
        if kind is not None and kind[0] == "inplace" and not _asks(kind[1], args, kwargs):
            kind = None
        if kind is not None or (kwargs and "out" in kwargs):
            return self._special(kind, func, args, kwargs or {})
        try:
            out = func(*args, **kwargs) if kwargs else func(*args)
        except Exception as error:
            self.tracker.failed(func, args, kwargs, error)
            raise
        frame, ours = _getframe(1), self.tracker.ours
        while frame is not None:
            file = frame.f_code.co_filename
            if not (ours[file] if file in ours else self.tracker.is_ours(file)):
                break
            frame = frame.f_back
        path, scope = self.tracker.scopes.path, _scope()
        if scope:
            path = f"{scope}/{path}" if path else scope
        place = None if frame is None else (file, frame.f_lineno)
        self.rows.append((func, args, kwargs, out, place, path, _grad_on()))
        if len(self.rows) > MANY:
            self.tracker.safely(self.tracker.flush)
        return out

    def _learn(self, func: Any) -> tuple[str, str] | None:
        """Return what is special about a function: its kind and its name; None for an op that writes nowhere."""
        name = getattr(func, "__name__", None) or str(func)
        position = _place_of_inplace(func)
        found: tuple[str, str] | None = None
        if func in BACKWARD:
            found = "backward", name
        elif name in ("__get__", "__set__", "__delete__"):
            found = _attribute(name, getattr(getattr(func, "__self__", None), "__name__", ""))
        elif name in EXITS:
            found = "exit", EXITS[name]
        elif "_record_function_" in name:
            found = "scope", name
        elif name in ("register_hook", "retain_grad", "requires_grad_"):
            found = name, name
        elif name in LOOKS or name.startswith("_set_grad"):
            found = "look", name
        elif (name.endswith("_") and not name.endswith("__")) or name in WRITES or name in IN_PLACE_OPERATORS:
            found = "write", name
        elif position is not None:
            found = "inplace", str(position)
        KINDS[func] = found
        return found

    def _special(self, kind: tuple[str, str] | None, func: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        what, name = kind or ("write", getattr(func, "__name__", ""))
        tracker = self.tracker
        if what in ("write", "inplace"):
            name = getattr(func, "__name__", name)
            return tracker.run_writing(func, name, args, kwargs)
        if what == "backward":
            return self._backward(func, args, kwargs)
        if what == "exit":
            tracker.safely(tracker.left, args, name)
        elif what == "scope":
            if not self.handles and args and str(args[0]).startswith("Optimizer.step"):
                self.handles.append(register_optimizer_step_post_hook(tracker.faults.stepped))
            tracker.safely(tracker.scopes.profiled, name, args)
        elif what == "retain_grad":
            tracker.retained.append(weakref.ref(args[0]))
        elif what in ("register_hook", "cleared", "replaced"):
            heard = {"register_hook": tracker.hooked_by_user, "replaced": tracker.data_replaced}
            tracker.safely(heard.get(what, tracker.faults.cleared), args)
        elif what == "requires_grad_":
            tracker.safely(tracker.flush)
            out = func(*args, **kwargs)
            tracker.safely(tracker.became_leaf, args[0])
            return out
        return func(*args, **kwargs)

    def _backward(self, func: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        tracker = self.tracker
        tracker.safely(tracker.flush)
        sweep = tracker.safely(Backward, tracker, func, args, kwargs)
        if sweep is None:
            return func(*args, **kwargs)
        return sweep.run(lambda: func(*args, **kwargs))


def _attribute(access: str, name: str) -> tuple[str, str] | None:
    """Return what is special about reading or setting an attribute of a tensor."""
    if access == "__get__":
        return None if name in ATTRIBUTES else ("look", name)
    return {"grad": "cleared", "data": "replaced", "requires_grad": "requires_grad_"}.get(name, "look"), name


def _place_of_inplace(func: Any) -> int | None:
    """Return which argument of a function is called ``inplace``."""
    code = getattr(func, "__code__", None)
    names = () if code is None else code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return names.index("inplace") if "inplace" in names else None


def _asks(position: str, args: tuple[Any, ...], kwargs: Any) -> bool:
    """Return whether a call asks its function to write into its argument."""
    at = int(position)
    return bool(kwargs and kwargs.get("inplace")) or (at < len(args) and bool(args[at]))
