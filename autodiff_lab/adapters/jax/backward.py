"""The backward pass over the equations that ran: each passes the cotangents that arrived through JAX's own rule."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
from jax.extend.core import jaxpr_as_fun

from autodiff_lab.adapters.held import HeldValue
from autodiff_lab.adapters.jax.rules import is_float

if TYPE_CHECKING:
    from autodiff_lab.adapters.jax.forward import Entry, Runner, Value


def sweep(runner: Runner, target: Value, sources: list[Value]) -> list[Value | None]:
    """Run one backward pass over all equations so far, the last first; return the gradients of the sources.

    With ``order=2`` the equations of the rules are recorded as well, and can be differentiated again.
    """
    from autodiff_lab.adapters.jax.forward import Value

    emitter = runner.emitter
    seed = Value(jnp.ones_like(target.array))
    keys = [runner.key(source) for source in sources]
    runner.key(target)
    if target.key is None:
        return [None for _ in sources]
    number = emitter.start_backward([target.key], [_met(runner, seed)], keys)
    adjoints: dict[int, Value] = {id(target): seed}
    for entry in reversed(list(runner.entries)):
        incoming = [adjoints.get(id(v)) for v in entry.outs]
        if all(g is None for g in incoming):
            continue
        cause = entry.outs[0].key
        assert cause is not None
        ids = tuple([None if g is None else _met(runner, g) for g in incoming])
        for position, share in _shares(runner, entry, incoming, cause):
            into = entry.ins[position]
            old = adjoints.get(id(into))
            total = share if old is None else _added(runner, old, share, cause)
            adjoints[id(into)] = total
            local = None
            if len(entry.outs) == 1 and emitter.table.is_elementwise(entry.op):
                ins, out = [v.array for v in entry.ins], entry.outs[0].array
                local = HeldValue(partial(_slope, runner, entry, ins, out, position))
            emitter.emit_contribution(
                number, cause, position, _met(runner, share), incoming=ids, total=_met(runner, total), local=local
            )
    results = [adjoints.get(id(source)) for source in sources]
    emitter.end_backward(number, [None if g is None else _met(runner, g) for g in results])
    return results


def _met(runner: Runner, g: Value) -> int:
    """Return the id of a gradient, which is emitted when it is first needed."""
    if g.key is None:
        from autodiff_lab.adapters.jax.forward import held

        g.key = runner.emitter.add_source(held(g.array), kind="gradient", scope="")
    return g.key


def _shares(runner: Runner, entry: Entry, incoming: list[Any], cause: int) -> list[tuple[int, Value]]:
    """Return what an equation passes to those of its inputs that want a gradient; nothing where its rule has none."""
    from autodiff_lab.adapters.jax.forward import Value

    need = tuple([i for i, v in enumerate(entry.ins) if v.tracked])
    if not need or entry.op == "stop_gradient":
        return []
    seeds = [
        Value(jnp.zeros_like(v.array)) if g is None else g
        for v, g in zip(entry.outs, incoming, strict=True)
        if is_float(v.array)
    ]
    rule = runner.rules.of(entry.run, entry.same, [v.array for v in entry.ins], [v.array for v in entry.outs], need)
    if runner.order > 1:
        found = runner.equations(rule.jaxpr.jaxpr, rule.jaxpr.consts, [*seeds, *entry.ins], "", None, cause)
    else:
        arrays = jaxpr_as_fun(rule.jaxpr)(*[v.array for v in (*seeds, *entry.ins)])
        found = [Value(array) for array in arrays]
    return [(i, value) for i, value, ok in zip(need, found, rule.live, strict=True) if ok]


def _added(runner: Runner, old: Value, share: Value, cause: int) -> Value:
    """Return the sum of two contributions, as an op of the pass where those are recorded."""
    from autodiff_lab.adapters.jax.forward import Value

    if runner.order > 1:
        return runner.call(jnp.add, "add_any", [old, share], None, "", cause)[0]
    return Value(jnp.add(old.array, share.array))


def _slope(runner: Runner, entry: Entry, ins: list[Any], out: Any, position: int) -> Any:
    try:
        return runner.rules.slope(entry.run, entry.same, ins, out, position)
    except Exception:  # noqa: BLE001 - a picture without this number is better than none
        return None
