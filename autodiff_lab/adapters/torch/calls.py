"""A call of a function of PyTorch as an op: its name, its inputs in the order of its formula, its parameters."""

# ruff: noqa: C419 - for a few elements a list is faster than a generator, and this runs for each call
from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import torch

from autodiff_lab.adapters.torch.table import CASTS, IN_PLACE, RENAMED, SWAPPED, TABLE, TAKES_NUMBERS
from autodiff_lab.adapters.torch.values import NumberValue, emptied, tensors_in, version_of

if TYPE_CHECKING:
    from autodiff_lab.adapters.torch.tracker import Row, Tracker
    from autodiff_lab.events import Place

DEFAULTS = {"reduction": "mean", "ignore_index": -100, "label_smoothing": 0.0, "_stacklevel": 3, "alpha": 1}
"""Keywords that PyTorch's own layers pass on, with values that say nothing."""
Tensor = torch.Tensor
PLAIN = (torch.Tensor, torch.nn.Parameter)


class App:
    """An op that ran, as a backward pass needs it."""

    __slots__ = ("again", "inputs", "op", "outputs", "place", "tracked")

    def __init__(self, op: str, inputs: tuple[int, ...], outputs: tuple[int, ...], place: Place | None) -> None:
        self.op, self.inputs, self.outputs, self.place = op, inputs, outputs, place
        self.again: Any = None
        self.tracked = False


class Call:
    """What is known of a function: the op's name, and how its arguments become inputs."""

    __slots__ = ("creates", "elementwise", "op", "special", "swapped", "takes_numbers")

    def __init__(self, func: Any) -> None:
        name = getattr(func, "__name__", None) or str(func)
        overload = getattr(func, "overloadpacket", None)
        if overload is not None:
            name = overload.__name__
        if name in ("__get__", "__set__"):
            name = getattr(getattr(func, "__self__", None), "__name__", name)
        self.creates = name.endswith("_like") or name.startswith("new_")
        bare = name.strip("_") if name.startswith("__") else name
        self.swapped = bare in SWAPPED and bare not in ("radd", "rmul")
        bare = IN_PLACE.get(bare) or SWAPPED.get(bare, bare)
        bare = RENAMED.get(bare, bare)
        self.op = bare
        self.special = bare in ("max", "min", "linear", "getitem", "clamp", "clip") or bare in CASTS
        self.takes_numbers = bare in TAKES_NUMBERS
        self.elementwise = TABLE.is_elementwise(bare)


KNOWN: dict[Any, Call] = {}
"""The functions that were heard so far."""


class CallTable:
    """Turns the calls that a block heard into ops."""

    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker

    def note(self, row: Row, cause: int | None = None) -> tuple[int, ...]:
        """Emit a call as an op; return the ids of its outputs."""
        func, args, kwargs, out, place, _, on = row
        call = KNOWN.get(func)
        if call is None:
            call = KNOWN[func] = Call(func)
        tracker = self.tracker
        tensors, outs = _tensors_of(args, kwargs, out)
        if not outs:
            return ()
        if not tensors or call.creates:
            for tensor in outs:
                tracker.meet(tensor, place)
            return ()
        if on != tracker.listening and cause is None:
            tracker.grad_mode(on, place)
        keys = [tracker.key(t, place) for t in tensors]
        op, inputs, order = call.op, keys, None
        if call.special:
            op, args = _name_of(call, op, args, kwargs, tensors)
        if tensors is not args and (call.takes_numbers or op in ("maximum", "minimum", "clip")):
            inputs, order = self._with_numbers(args, keys, tensors, place)
        if call.swapped:
            inputs = inputs[::-1]
            order = (order or list(range(len(keys))))[::-1]
        return self.emit(call, op, inputs, outs, row, order, cause, plain=tensors is args and not kwargs)

    def emit(
        self, call: Call, op: str, inputs: list[int], outs: list[Any], row: Row, order: Any, cause: int | None,
        changed: int = 0, plain: bool = False,
    ) -> tuple[int, ...]:  # fmt: skip
        """Emit an op whose inputs are known, and write it into the nodes that it made; `plain`: it had only tensors."""
        tracker, (func, args, kwargs, _, place, scope, on) = self.tracker, row
        if tracker.new_turn and on and cause is None:
            tracker.new_turn = False
            tracker.emitter.start_turn(place)
        values = [tracker.hold(t) for t in outs]
        params = None
        if not plain:
            params = _params(() if order else args, kwargs or {})
        # What has a derivative is PyTorch's to say: that of `floor` is 0 there, and none here.
        smooth = not on or (outs[0].requires_grad if len(outs) == 1 else any([t.requires_grad for t in outs]))
        if not smooth and not any([t.requires_grad for t in tensors_in((row[1], row[2]))]):
            smooth = None  # no gradient was asked for, so this call does not say
        outputs = tracker.emitter.emit_op(
            op, inputs, values, params=params, cause=cause, place=place, scope=scope, differentiable=smooth
        )
        app = App(op, tuple(inputs), outputs, place)
        if call.elementwise and not changed and smooth:
            if not plain:
                slots = count()
                template: Any = emptied(args, slots.__next__)
                kwargs = {key: emptied(value, slots.__next__) for key, value in (kwargs or {}).items()}
            else:
                template = ALL_SLOTS[len(args)] if len(args) < len(ALL_SLOTS) else None
            if template is not None:
                app.again = func, template, kwargs, order or range(len(inputs)), outs[0].shape
        for nr, (tensor, key) in enumerate(zip(outs, outputs, strict=True)):
            tracker.values[key] = values[nr]
            node = tensor.grad_fn
            app.tracked = app.tracked or (node is not None and (on or cause is not None))
            if nr >= len(outs) - changed and tensor.requires_grad and node is None:
                self._assigned(tensor, values[nr], key, place)
                continue
            tracker.bind(tensor, key, app)
            if node is not None and app.tracked:
                tracker.claim(node, app).outs[tensor.output_nr] = key
        return outputs

    def _assigned(self, tensor: Any, value: Any, key: int, place: Any) -> None:
        """A leaf was written into: the next read of it is a new one."""
        tracker = self.tracker
        variable = tracker.variable(tensor)
        tracker.emitter.emit_assignment(variable, tracker.name_of(tensor) or "", value, key, place)
        tracker.objects.pop(id(tensor), None)
        tracker.faults.assigned.add(variable)

    def note_writing(self, before: Any, func: Any, name: str, args: Any, kwargs: Any, out: Any) -> None:
        """Emit a call that wrote into its arguments, or might have."""
        tensors, keys, versions, bases, place = before
        tracker = self.tracker
        changed: dict[int, Any] = {}
        for tensor, version in zip(tensors, versions, strict=True):
            if version_of(tensor) != version or name in ("detach_", "copy_", "requires_grad_"):
                base = bases.get(id(tensor))  # writing into a view is writing into its base
                changed[id(tensor if base is None else base)] = tensor if base is None else base
            if name in ("detach_", "copy_", "requires_grad_"):
                break
        outs = [t for t in tensors_in(out) if not any(t is s for s in tensors)]
        scope, on = tracker.scopes.path, torch.is_grad_enabled()
        row: Row = (func, args, kwargs, out, place, scope, on)
        call = KNOWN.setdefault(func, Call(func))
        if not changed:
            if outs:
                self.note(row)
            return
        if not tensors:
            return
        tracker.grad_mode(on, place)
        inputs: list[int] = []
        for tensor, key in zip(tensors, keys, strict=True):
            base = bases.get(id(tensor))
            known = None if base is None else tracker.objects.get(id(base))
            inputs.append(key if known is None else known[2])
        op, order = call.op, None
        if call.op.removesuffix("_") in TAKES_NUMBERS and len(args) == 2 and not isinstance(args[1], torch.Tensor):
            inputs, order = self._with_numbers(args, inputs, tensors, place)
        made = [*outs, *changed.values()]
        outputs = self.emit(call, op, inputs, made, row, order, tracker.cause, len(changed))
        tracker.faults.wrote(op, place, inputs, outputs)

    def _with_numbers(self, args: Any, keys: list[int], tensors: Any, place: Any) -> tuple[list[int], Any]:
        """Return the inputs with plain numbers among them, and which tensor each is; None for a number."""
        for item in args:
            if not isinstance(item, torch.Tensor) and item.__class__ not in (int, float, complex, bool):
                return keys, None
        inputs: list[int] = []
        order: list[int | None] = []
        at = 0
        like = next((t.dtype for t in tensors if t.is_floating_point() or t.is_complex()), tensors[0].dtype)
        for item in args:
            if isinstance(item, torch.Tensor):
                inputs.append(keys[at])
                order.append(at)
                at += 1
            else:
                dtype = like if not (item.__class__ is float and not like.is_floating_point) else torch.float32
                value = NumberValue(item, torch.bool if item.__class__ is bool else dtype)
                key = self.tracker.emitter.add_source(value, place=place, scope=self.tracker.scope)
                self.tracker.values[key] = value
                inputs.append(key)
                order.append(None)
        return (inputs, order) if at == len(keys) else (keys, None)


def _tensors_of(args: Any, kwargs: Any, out: Any) -> tuple[Any, Any]:
    """Return the tensors that went into a call and the new ones that came out of it."""
    single = out.__class__ is Tensor
    if single and not kwargs and len(args) <= 2 and all([a.__class__ in PLAIN for a in args]):
        tensors = args
    else:
        tensors = list(tensors_in((args, kwargs))) if kwargs else list(tensors_in(args))
    if single:  # with nothing done, as in ``x.contiguous()`` and ``x.to(x.dtype)``, an argument comes back
        return tensors, () if any([t is out for t in tensors]) else (out,)
    return tensors, [t for t in tensors_in(out) if not any(t is s for s in tensors)]


def _name_of(call: Call, op: str, args: Any, kwargs: Any, tensors: Any) -> tuple[str, Any]:
    """Return the name of an op that depends on its arguments, and the arguments that its formula names."""
    count_ = len(tensors)
    if op in ("max", "min"):
        op += "imum" if count_ == 2 else ""
    elif op == "linear":
        op = "linear without bias" if count_ == 2 else op
    elif op == "getitem":
        op = "index" if count_ == 2 else op
    elif op in ("clamp", "clip"):
        limits = [(kwargs or {}).get("min"), (kwargs or {}).get("max")]
        given = [*args, *limits[len(args) - 1 :]]
        if len(given) == 3 and None not in given:
            return "clip", given
        kept = [value for value in given if value is not None]
        if len(kept) == 2:
            return ("maximum" if given[1] is not None else "minimum"), kept
    return op, args


def _params(args: Any, kwargs: Any) -> dict[str, Any] | None:
    """Return what an op was called with beside tensors."""
    found = {f"arg{i}": a for i, a in enumerate(args) if a is not None and not any(True for _ in tensors_in(a))}
    found |= {
        k: v
        for k, v in kwargs.items()
        if v is not None and v is not False and DEFAULTS.get(k) != v and not any(True for _ in tensors_in(v))
    }
    return {key: value if isinstance(value, (bool, int, float)) else str(value) for key, value in found.items()} or None


def _slots() -> list[Any]:
    from autodiff_lab.adapters.torch.values import Slot

    return [tuple(Slot(i) for i in range(length)) for length in range(4)]


ALL_SLOTS = _slots()
