"""The sweep at full speed: raw arrays, nobody listening, nobody stepping, no rule swapped.

It does what `sweep.sweep` does, to the last bit, with everything left out that only lessons and recordings need.
Sums of shares go into an array of the sweep's own where there is one, see `_total`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autodiff_lab.engine.namespace import Ops
from autodiff_lab.engine.sweep import completed, fit, shares

ndarray = np.ndarray
IN_PLACE_BYTES = 1 << 14
"""Arrays smaller than this are added into new ones: to ask whether they may be written to would cost more."""


def run_raw(  # noqa: C901, PLR0912, PLR0915 - spelled out: a call for each entry would cost a fifth of the pass
    ops: Ops, entries: list[Any], adjoints: dict[int, Any], keep: set[int], lead: int
) -> Iterator[int]:
    """Move adjoints from outputs to inputs, all in one `next`; yield nothing.

    Parameters are those of `sweep.sweep`.
    """
    pop_entry, pop, get = entries.pop, adjoints.pop, adjoints.get
    own: set[int] = set()  # tensors whose adjoint is an array that this sweep has made and that nobody else holds
    while entries:
        op, out, ins, params, need = pop_entry()
        if out.__class__ is tuple:
            g = [get(t._id) if t._id in keep else pop(t._id, None) for t in out]
            if all(h is None for h in g):
                continue
            g = completed(g, out, lead, True)
            z = tuple([t._held for t in out])
        else:
            key = out._id
            g = pop(key, None)
            if g is None:
                continue
            if key in keep:
                adjoints[key] = g
            z = out._held
        rules = op.rules
        if params is None and rules.__class__ is tuple:
            if len(ins) == 2:  # the two common shapes of an entry, spelled out for speed
                x, y = ins
                a, b = x._held, y._held
                if len(need) == 2 or need[0] == 0:
                    h = rules[0](ops, g, z, a, b)
                    if h.shape[lead:] != a.shape if lead else h.__class__ is ndarray and h.shape != a.shape:
                        h = fit(ops, h, a, lead)
                    key = x._id
                    old = get(key)
                    if old is None:
                        adjoints[key] = h
                    elif old.__class__ is ndarray and old.nbytes >= IN_PLACE_BYTES:
                        adjoints[key] = _total(own, key, old, h, op.elementwise and h is not g)
                    else:
                        adjoints[key] = old + h
                    if len(need) == 1:
                        continue
                h = rules[1](ops, g, z, a, b)
                if h.shape[lead:] != b.shape if lead else h.__class__ is ndarray and h.shape != b.shape:
                    h = fit(ops, h, b, lead)
                key = y._id
            else:
                (x,) = ins
                h = rules[0](ops, g, z, x._held)
                key = x._id
            old = get(key)
            if old is None:
                adjoints[key] = h
            elif old.__class__ is ndarray and old.nbytes >= IN_PLACE_BYTES:
                adjoints[key] = _total(own, key, old, h, op.elementwise and h is not g)
            else:
                adjoints[key] = old + h
        else:
            for i, h in shares(op, rules, ops, g, z, [t._held for t in ins], params or {}, need):
                if h is None:
                    continue
                t = ins[i]
                if h.shape[lead:] != t._held.shape:
                    h = fit(ops, h, t._held, lead)
                key = t._id
                old = get(key)
                if old is None:
                    adjoints[key] = h
                elif old.nbytes < IN_PLACE_BYTES:
                    adjoints[key] = old + h
                else:
                    adjoints[key] = _total(own, key, old, h, False)
    return
    yield  # a generator like `sweep.sweep`


def _total(own: set[int], key: int, old: Any, h: Any, fresh: bool) -> Any:
    """The sum of an adjoint so far and a share, in place where one of them belongs to this sweep alone.

    An adjoint so far does if it is a sum that was made here: rules get it only when all shares have come.  A share does
    if it is `fresh`: an elementwise rule made it and gave it to nobody else.  A view never does.
    """
    if h.__class__ is not ndarray or h.dtype != old.dtype or h.shape != old.shape:
        return old + h
    if key in own:
        old += h
        return old
    own.add(key)
    if fresh and h.base is None:
        h += old
        return h
    return old + h
