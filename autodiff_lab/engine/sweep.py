"""The sweep: adjoints move from outputs to inputs, last entry first.

One generator serves every speed.  It walks the entries in strict reverse order of recording, without recursion, and
lets go of each as it passes.  Values are raw arrays when nobody records the backward pass, and tensors when an outer
tape, a trace or a listener does.  With `pause` it yields after each entry that moved something, and between two steps
adjoints may be read and edited; without, it runs to its end in one `next`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np

from autodiff_lab.engine.chains import FASTER, IN_ONE_OP
from autodiff_lab.engine.contributions import Parts, Wide, Zeros, added, zeros_like
from autodiff_lab.engine.indexed_slices import Rows
from autodiff_lab.engine.namespace import RAW, Ops
from autodiff_lab.engine.op import UNREGISTERED, Op
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.events.listener import CAUSE, sinks_now
from autodiff_lab.kernels.base.choose import IN_USE
from autodiff_lab.kernels.base.columns import add_to_part, write_part
from autodiff_lab.kernels.base.elementwise import FEW
from autodiff_lab.kernels.base.order import aligned

ndarray = np.ndarray
Shape = tuple[int, ...]
IN_PLACE_BYTES = 1 << 14
"""Arrays smaller than this are added into new ones: to ask whether they may be written to would cost more."""


class Engine:
    """What a sweep runs on; a lesson swaps the named operations, the accumulation or the rules of an op.

    Attributes
    ----------
    ops : Ops, optional
        The operations that are passed to rules; by default those on arrays, or, if the sweep is recorded, the ops.
    accumulate : callable
        Takes the adjoint so far and a new contribution; gives the new adjoint.
    rules : dict of str to rules
        Rules by the name of an op, instead of the op's own.

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


UNFUSED = Engine(RAW)
"""The engine of a pass that will be run again op by op: it computes what the ops of the rules do, bit for bit."""


@lru_cache(4096)
def _fitting(want: Shape, have: Shape, lead: int) -> tuple[Shape, Shape, Shape | None]:
    """Return the axes of a gradient to add up, those to add up and keep, and the shape to spread it to if need be."""
    rank, full = len(want), have[:lead] + want
    extra = len(have) - lead - rank
    gone = tuple(range(lead - len(have), lead - len(have) + extra))
    have = have[:lead] + have[lead + max(extra, 0) :]
    offset = len(have) - rank
    kept = tuple([i - rank for i, n in enumerate(want) if n == 1 and offset + i >= lead and have[offset + i] != 1])
    have = tuple([1 if i - len(have) in kept else n for i, n in enumerate(have)])
    return gone, kept, None if have == full else full


def fit(ops: Any, g: Any, x: Any, lead: int) -> Any:
    """Give a gradient the shape of its input: sum over broadcast axes, spread axes of size 1.

    The first `lead` axes are a stack of cotangents and stay.
    """
    gone, kept, full = _fitting(tuple(x.shape), tuple(g.shape), lead)
    if gone:
        g = ops.sum(g, axes=gone, keepdims=False)
    if kept:
        g = ops.sum(g, axes=kept, keepdims=True)
    return g if full is None else ops.broadcast_to(g, shape=full)


def sweep(  # noqa: C901, PLR0912, PLR0915 - spelled out: a call for each entry would cost a fifth of the pass
    entries: list[Any],
    adjoints: dict[int, Any],
    keep: set[int],
    lead: int,
    engine: Engine,
    flow: Callable[..., None] | None = None,
    pause: bool = False,
    plain: bool = False,
    rows: dict[int, Rows | None] | None = None,
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
        Told of every contribution that moves.
    plain : bool
        Whether values are NumPy arrays without half floats, with no listener, no pauses and no swapped rules: such
        a sweep takes the quick way through elementwise ops, and adds in place where it may.
    rows : dict, optional
        Given where adjoints of sources may stay rows: filled with those, by tensor id, that nothing dense was added to.
        Listeners still receive dense contributions.
    """
    ops: Any = engine.ops
    swapped, raw = engine.rules, ops.raw
    wide: Wide = {}
    own: set[int] = set()
    parts = waiting = cause = flat = None  # `flat` will be the zeros of step functions, once there are any
    quiet = False  # whether tapes alone record what is done here
    if plain:
        combine, together = partial(_total, own), False
    else:
        combine = _combiner(engine, wide)
        together = not (raw or pause or swapped or flow) and engine.accumulate is operator.add
        cause = CAUSE.get()
        quiet = together and not any(sink.listens or sink.traces for sink in sinks_now())
    pop_entry, pop, get = entries.pop, adjoints.pop, adjoints.get
    faster: Any = (FASTER if engine is not UNFUSED else {}).get
    always = IN_USE["mode"] == "numba"
    in_one_op: Any = IN_ONE_OP.get
    g: Any
    while entries:
        op, out, ins, params, need = pop_entry()
        if waiting:
            for t in out if out.__class__ is tuple else (out,):
                if t._id in waiting:
                    adjoints[t._id] = parts.total(t._id, get(t._id))  # type: ignore[union-attr]
        if out.__class__ is tuple:
            g = [get(t._id) if t._id in keep else pop(t._id, None) for t in out]
            if all(h is None for h in g) and not (flat and flat.completes(g, op, out, ins, need)):
                continue
            g = completed([h.whole() if isinstance(h, Rows) else h for h in g], out, lead, raw)
        else:
            key = out._id
            g = pop(key, None)
            if g is None and (not flat or key not in flat or (g := flat.passed(op, out, ins, need)) is None):
                continue
            if key in keep:
                adjoints[key] = g
            if rows and key in rows and g.__class__ is Rows:
                g = g.whole()
            if op.steps is op.rules and flow is None and not (pause or swapped or ins[0]._held.dtype.kind == "c"):
                flat = flat or Zeros(ops, keep)  # nobody sees them, so no contribution is computed
                flat.reach(ins, need, tuple(g.shape[:lead]), g)
                continue
        rules = op.rules
        if (
            plain
            and rules.__class__ is tuple
            and (params is None or (len(ins) == 1 and op.part is None is op.rows and out.__class__ is not tuple))
        ):
            size = g.size if g.__class__ is ndarray else 0
            if params is None and len(ins) == 2:  # the common shapes of an entry, spelled out for speed
                x, y = ins
                a, b, z = x._held, y._held, out._held
                if len(need) == 2 or need[0] == 0:
                    rule = rules[0]
                    if size >= FEW and (quick := faster(rule)) is not None and (size >= quick.fewest or always):
                        rule = quick
                    h = rule(ops, g, z, a, b)
                    if h.shape[lead:] != a.shape if lead else h.__class__ is ndarray and h.shape != a.shape:
                        h = fit(ops, h, a, lead)
                    key = x._id
                    old = get(key)
                    if old is None:
                        if x is y and op.name == "multiply":  # the other contribution is the same
                            adjoints[key] = h + h if h.__class__ is not ndarray else np.add(h, h, h)
                            continue
                        adjoints[key] = h
                    elif old.__class__ is ndarray and old.nbytes >= IN_PLACE_BYTES:
                        adjoints[key] = combine(key, old, h, op.elementwise and h is not g)
                    else:
                        adjoints[key] = old + h
                    if len(need) == 1:
                        continue
                rule = rules[1]
                if size >= FEW and (quick := faster(rule)) is not None and (size >= quick.fewest or always):
                    rule = quick
                h = rule(ops, g, z, a, b)
                if h.shape[lead:] != b.shape if lead else h.__class__ is ndarray and h.shape != b.shape:
                    h = fit(ops, h, b, lead)
                key = y._id
            else:
                (x,) = ins
                rule = rules[0]
                if params is None:
                    if size >= FEW and (quick := faster(rule)) is not None and (size >= quick.fewest or always):
                        rule = quick
                    h = rule(ops, g, out._held, x._held)
                else:
                    a = x._held
                    h = rule(ops, g, out._held, a, **params)
                    if h is None:
                        continue
                    if h.shape[lead:] != a.shape if lead else h.shape != a.shape:
                        h = fit(ops, h, a, lead)
                key = x._id
            old = get(key)
            if old is None:
                adjoints[key] = h
            elif old.__class__ is ndarray and old.nbytes >= IN_PLACE_BYTES:
                adjoints[key] = combine(key, old, h, op.elementwise and h is not g)
            else:
                adjoints[key] = old + h
            continue
        if quiet and params is None and rules.__class__ is tuple and not wide:  # elementwise ops and products
            for i in need:
                rule = rules[i]
                h = None if rule is None else in_one_op(rule, rule)(ops, g, out, *ins)
                if h is None:
                    continue
                t = ins[i]
                key, array = t._id, t._held
                if h._held.shape[lead:] != array.shape:
                    h = fit(ops, h, array, lead)
                old = get(key)
                if waiting and key in waiting:
                    old = parts.total(key, old)  # type: ignore[union-attr]
                adjoints[key] = h if old is None else combine(key, old, h)
            continue
        if raw:
            z = tuple([t._held for t in out]) if out.__class__ is tuple else out._held
            values = [t._held for t in ins]
        else:
            z, values = out, ins
            CAUSE.set((out if out.__class__ is not tuple else out[0])._id)
        if swapped:
            rules = swapped.get(op.name, rules)
        if wide and out.__class__ is not tuple:
            wide.pop(out._id, None)
        named = params or {}
        if op.part is not None:
            if together and ins[0]._held.dtype.itemsize != 2:
                if parts is None:
                    parts = Parts(ops, lead)
                    waiting = parts.waiting
                parts.add(g, op, ins[0], named)
                continue
            if plain and _added_to_part(adjoints, own, op, g, ins[0], named, lead):
                continue
        if rows is not None and flow is None and op.rows is not None and need[0] == 0:
            found = op.rows(ops, g, *values, **named)
            if found is not None:
                t = ins[0]
                key, old = t._id, get(t._id)
                if isinstance(old, Rows):
                    old.parts.append(found)
                    continue
                h = rows[key] = Rows(ops, [found], tuple(t._held.shape))
                adjoints[key] = h if old is None else combine(key, old, h.whole())
                continue
        shared = None if rules.__class__ is tuple else iter(_shared(op, rules, ops, g, z, values, named, need))
        for i in need:
            if shared is not None:
                h = next(shared)
            else:
                rule = rules[i]
                if quiet:
                    rule = in_one_op(rule, rule)
                h = None if rule is None else rule(ops, g, z, *values, **named)
            if h is None:
                continue
            t = ins[i]
            key, array = t._id, t._held
            made = (h if raw else h._held).shape
            if made[lead:] != array.shape:
                h = fit(ops, h, array, lead)
            old = get(key)
            if waiting and key in waiting:
                old = parts.total(key, old)  # type: ignore[union-attr]
            total = adjoints[key] = h if old is None else combine(key, old, h)
            if flow is not None:
                if rows is not None:
                    rows[key] = _beside(rows.get(key), old, op, ops, g, values, named, i)
                flow(op, out, ins, params, i, g, h, total, made[lead:])
        values = z = shared = t = array = total = None  # entries that follow need not pass here to let go of them
        if not raw:
            CAUSE.set(cause)  # type: ignore[arg-type]
        if pause:
            yield len(entries)
    for key in list(waiting or ()):
        adjoints[key] = parts.total(key, get(key))  # type: ignore[union-attr]
    if flat:
        flat.settle(adjoints)


def _beside(
    so_far: Rows | None, old: Any, op: Op, ops: Any, g: Any, values: Any, named: dict[str, Any], position: int
) -> Rows | None:
    """Return the rows that a dense adjoint of a recorded sweep stands for, None if something dense was added to it."""
    if position != 0 or op.rows is None or (old is not None and so_far is None):
        return None
    found = op.rows(ops, g, *values, **named)
    if found is None:
        return None
    more = Rows(ops, [found], tuple(values[0].shape))
    return more if so_far is None else so_far + more


def _combiner(engine: Engine, wide: Wide) -> Callable[..., Any]:
    """Make what adds a contribution to the adjoint of a tensor, by its id: half floats in float32."""
    combine = engine.accumulate
    if combine is not operator.add:
        return lambda key, old, new: combine(old, new)
    return partial(added, wide)


def _total(own: set[int], key: int, old: Any, h: Any, fresh: bool = False) -> Any:
    """Add a contribution to an adjoint, in place where one of them belongs to this sweep alone and is not a view.

    The adjoint does if it is a sum that was made here, of a tensor in `own`: rules get it only when all contributions
    have come.  A contribution does if it is `fresh`: an elementwise rule made it and nothing else refers to it.
    """
    if old.nbytes < IN_PLACE_BYTES or h.__class__ is not ndarray or h.dtype != old.dtype or h.shape != old.shape:
        return old + h
    if h.strides != old.strides and key not in own:
        old, h = aligned(old, h)
    if key in own:
        old += h
        return old
    own.add(key)
    if fresh and h.base is None:
        h += old
        return h
    return old + h


def _added_to_part(
    adjoints: dict[int, Any], own: set[int], op: Op, g: Any, t: Tensor, params: dict[str, Any], lead: int
) -> bool:
    """Add a cotangent to the part of an adjoint that the op took, in place; say whether that could be done."""
    if g.__class__ is not ndarray and not isinstance(g, np.generic):
        return False
    key = t._id
    old = adjoints.get(key)
    if old is None:
        if not t._held.shape or g.dtype != t._held.dtype:
            return False
        whole = np.zeros(g.shape[:lead] + t._held.shape, g.dtype)
        write_part(op.part(whole, **params), g)  # type: ignore[misc] - it is there; -0 stays -0
        own.add(key)
        adjoints[key] = whole
        return True
    if old.__class__ is not ndarray or g.dtype != old.dtype:
        return False
    if key not in own:
        own.add(key)
        adjoints[key] = old = old.copy()
    add_to_part(op.part(old, **params), g)  # type: ignore[misc]
    return True


def completed(g: list[Any], out: tuple[Tensor, ...], lead: int, raw: bool) -> list[Any]:
    """Zeros in place of the adjoints of outputs that nobody used."""
    stacked = tuple(next(h for h in g if h is not None).shape[:lead])
    return [zeros_like(t, stacked, raw) if h is None else h for h, t in zip(g, out, strict=True)]


def _shared(
    op: Op, rules: Any, ops: Any, g: Any, z: Any, values: Any, params: dict[str, Any], need: tuple[int, ...]
) -> Any:
    """Ask the one rule of an op for the gradients of all inputs that are needed."""
    if rules == UNREGISTERED:
        name = op.registered or op.name
        error = LookupError(f"gradient registry has no entry for: {name}")
        error.add_note(
            f"The op {op.name!r} lies between target and source and has no derivative rule. Try "
            f"@lab.RegisterGradient({name!r}), or build the function from ops that have one."
        )
        raise error
    return rules(ops, g, z, *values, need=need, **params)
