"""The sweep: adjoints move from outputs to inputs, last entry first.

One generator serves every speed.  It walks the entries in strict reverse order of recording, without recursion, and
lets go of each as it passes.  Values are raw arrays when nobody records the backward pass, and tensors when an outer
tape, a trace or a listener does.  With `pause` it yields after each entry that moved something, and between two steps
adjoints may be read and edited; without, it runs to its end in one `next`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from autodiff_lab.engine.contributions import Wide, added
from autodiff_lab.engine.devices import CPU, memory_of, moved, zeros_beside
from autodiff_lab.engine.namespace import RAW, Ops
from autodiff_lab.engine.op import UNREGISTERED, Op
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.events import CAUSE, GradientFlowed, Late, tell_made
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.traffic import MEMORIES, inside, tell

ARRAYS, TENSORS = (np.ndarray, DeviceArray), (Tensor,)


class Engine:
    """What a sweep runs on; a lesson swaps the named operations, the accumulation or the rules of an op.

    Attributes
    ----------
    ops : Ops, optional
        The operations that rules are given: raw ones or, if somebody listens, recording ones where it is None.
    accumulate : callable
        Takes the adjoint so far and a new share; gives the new adjoint.
    rules : dict of str to rules
        In place of the rules of the ops of these names.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.constant(2.0)
    >>> with lab.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> overwriting = lab.Engine(accumulate=lambda old, new: new)
    >>> print(tape.gradient(y, x, engine=overwriting))
    Tensor(2.0, shape=(), dtype=float32)
    """

    __slots__ = ("accumulate", "ops", "rules")

    def __init__(
        self,
        ops: Ops | None = None,
        accumulate: Callable[[Any, Any], Any] = operator.add,
        rules: dict[str, Any] | None = None,
    ) -> None:
        self.ops, self.accumulate, self.rules = ops, accumulate, {} if rules is None else rules


def fit(ops: Any, g: Any, x: Any, lead: int) -> Any:
    """Give a gradient the shape of its input: sum over broadcast axes, spread axes of size 1.

    The first `lead` axes are a stack of cotangents and stay.
    """
    want, have = tuple(x.shape), tuple(g.shape)
    extra = len(have) - lead - len(want)
    if extra > 0:
        g = ops.sum(g, axes=tuple(range(lead - len(have), lead - len(have) + extra)), keepdims=False)
        have = tuple(g.shape)
    offset = len(have) - len(want)
    grown = tuple(i - len(want) for i, n in enumerate(want) if offset + i >= lead and n == 1 != have[offset + i])
    if grown:
        g = ops.sum(g, axes=grown, keepdims=True)
    full = have[:lead] + want
    return g if tuple(g.shape) == full else ops.broadcast_to(g, shape=full)


def sweep(  # noqa: C901, PLR0912, PLR0915 - spelled out: a call for each entry would cost a fifth of the pass
    entries: list[Any],
    adjoints: dict[int, Any],
    keep: set[int],
    lead: int,
    engine: Engine,
    flow: Callable[..., None] | None = None,
    pause: bool = False,
) -> Iterator[int]:
    """Move adjoints from outputs to inputs; yield the index of each entry that moved something if `pause`.

    Parameters
    ----------
    entries : list
        Consumed from its end.
    adjoints : dict of int to array or Tensor
        By tensor id; holds the seeds at first and the results at last.
    keep : set of int
        Ids of tensors whose adjoints are wanted though an entry consumes them.
    lead : int
        Number of leading axes of every adjoint that are a stack of cotangents.
    flow : callable, optional
        Told of every share that moves.
    """
    ops, swapped = engine.ops, engine.rules
    assert ops is not None
    wide: Wide = {}
    combine = _combiner(engine, wide)
    raw = ops.raw
    ranked = ARRAYS if raw else TENSORS  # the classes whose values may need fitting
    abroad = bool(MEMORIES)
    pop_entry, pop, get = entries.pop, adjoints.pop, adjoints.get
    cause = CAUSE.get()
    while entries:
        op, out, ins, params, need = pop_entry()
        if out.__class__ is tuple:
            g = [get(t._id) if t._id in keep else pop(t._id, None) for t in out]
            if all(h is None for h in g):
                continue
            g = completed(g, out, lead, raw)
            z = tuple([t._held for t in out]) if raw else out
        else:
            g = pop(out._id, None)
            if g is None:
                continue
            if wide:
                wide.pop(out._id, None)
            if out._id in keep:
                adjoints[out._id] = g
            z = out._held if raw else out
        rules = swapped.get(op.name, op.rules) if swapped else op.rules
        if not raw:
            CAUSE.set((out if out.__class__ is not tuple else out[0])._id)
        if params is None and rules.__class__ is tuple:
            if len(ins) == 2:  # the two common shapes of an entry, spelled out for speed
                x, y = ins
                a, b = (x._held, y._held) if raw else ins
                for i in need:
                    h = rules[i](ops, g, z, a, b)
                    t = ins[i]
                    if h.__class__ in ranked and (h if raw else h._held).shape != t._held.shape:
                        h = fit(ops, h, t._held, lead)
                    if abroad:
                        h = homed(ops, h, t._held)
                    old = get(t._id)
                    total = adjoints[t._id] = h if old is None else combine(t._id, old, h)
                    if flow is not None:
                        flow(op, out, ins, params, i, g, h, total)
            else:
                (x,) = ins
                h = rules[0](ops, g, z, x._held if raw else x)
                old = get(x._id)
                total = adjoints[x._id] = h if old is None else combine(x._id, old, h)
                if flow is not None:
                    flow(op, out, ins, params, 0, g, h, total)
        else:
            values = [t._held for t in ins] if raw else ins
            for i, h in shares(op, rules, ops, g, z, values, params or {}, need):
                if h is None:
                    continue
                t = ins[i]
                if (h if raw else h._held).shape[lead:] != t._held.shape:
                    h = fit(ops, h, t._held, lead)
                if abroad:
                    h = homed(ops, h, t._held)
                old = get(t._id)
                total = adjoints[t._id] = h if old is None else combine(t._id, old, h)
                if flow is not None:
                    flow(op, out, ins, params, i, g, h, total)
        if not raw:
            CAUSE.set(cause)
        if pause:
            yield len(entries)


def _combiner(engine: Engine, wide: Wide) -> Callable[[int, Any, Any], Any]:
    """What adds a share to the adjoint of a tensor, by its id: half floats in float32, unless a lesson adds."""
    combine = engine.accumulate
    if combine is not operator.add:
        return lambda key, old, new: combine(old, new)
    return partial(added, wide)


def homed(ops: Any, g: Any, x: Any) -> Any:
    """Give a gradient the device of its input: what went to a GPU as a number gets its gradient on the CPU."""
    memory = memory_of(x)
    if memory_of(g if ops.raw else g._held) is memory:
        return g
    size = (g if ops.raw else g._held).nbytes
    tell("to host" if memory is None else "to device", size, "a gradient goes where its value lies")
    return moved(g, memory) if ops.raw else ops.copy_to_device(g, device=CPU if memory is None else memory.name)


def completed(g: list[Any], out: tuple[Tensor, ...], lead: int, raw: bool) -> list[Any]:
    """Zeros in place of the adjoints of outputs that nobody used."""
    like = next(h for h in g if h is not None)
    stacked = tuple(like.shape[:lead])

    def zeros(t: Tensor) -> Any:
        array = zeros_beside(t._held, stacked + t._held.shape)
        return array if raw else tell_made(wrap(array))

    return [zeros(t) if h is None else h for h, t in zip(g, out, strict=True)]


def shares(
    op: Op, rules: Any, ops: Any, g: Any, z: Any, values: Any, params: dict[str, Any], need: tuple[int, ...]
) -> Iterator[tuple[int, Any]]:
    """The gradients of the needed inputs of an op with parameters, several outputs or a shared rule."""
    if rules == UNREGISTERED:
        name = op.registered or op.name
        error = LookupError(f"gradient registry has no entry for: {name}")
        error.add_note(
            f"The op {op.name!r} lies between target and source and has no derivative rule. Try "
            f"@lab.RegisterGradient({name!r}), or build the function from ops that have one."
        )
        raise error
    if not isinstance(rules, tuple):
        yield from zip(need, rules(ops, g, z, *values, need=need, **params), strict=True)
        return
    for i in need:
        rule = rules[i]
        if rule is not None:
            yield i, rule(ops, g, z, *values, **params)


def derivative_at_unit(op: Op, rules: Any, position: int, out: Any, ins: tuple[Any, ...]) -> Any:
    """The local derivative of an elementwise op: its rule at a cotangent of ones, on raw arrays."""
    array = out._held
    g = zeros_beside(array, array.shape, 1)
    with np.errstate(all="ignore"), inside():
        return rules[position](RAW, g, array, *(t._held for t in ins))


def teller(tell: Callable[[Any], None], sweep_id: int, engine: Engine) -> Callable[..., None]:
    """What a sweep calls for every share, when somebody listens."""

    def flow(op: Op, out: Any, ins: Any, params: Any, position: int, g: Any, share: Any, total: Any) -> None:
        rules = engine.rules.get(op.name, op.rules)
        local = None
        if op.elementwise and params is None and rules.__class__ is tuple:
            local = Late(derivative_at_unit, (op, rules, position, out, ins))
        if out.__class__ is tuple:
            key, incoming = out[0]._id, tuple(h._id for h in g)
        else:
            key, incoming = out._id, (g._id,)
        tell(GradientFlowed(sweep_id, key, position, ins[position]._id, incoming, share._id, total._id, local))

    return flow
