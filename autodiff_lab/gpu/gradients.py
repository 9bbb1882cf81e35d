"""Rules on a GPU: the operations that they are given, and gradients that go where their values lie."""

from __future__ import annotations

import copy
from typing import Any

from autodiff_lab.engine.devices import CPU, memory_of, moved
from autodiff_lab.engine.namespace import RAW, Ops
from autodiff_lab.engine.op import Op
from autodiff_lab.engine.sweep import fit
from autodiff_lab.gpu.hosted import STAYS, on_host
from autodiff_lab.kernels.cuda.traffic import tell


class _DeviceOps(Ops):
    """The raw operations for arrays of a GPU; those that the libraries of a GPU lack copy to the CPU and back."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(RAW, name)
        if name in STAYS:
            found = on_host(name, found)
        self.__dict__[name] = found
        return found


DEVICE_OPS = _DeviceOps(raw=True)
_at_home: dict[Op, Op] = {}


def at_home(op: Op) -> Op:
    """Make an op whose rules give a number of the CPU that went along its gradient on the CPU."""
    found = _at_home.get(op)
    if found is None:
        found = _at_home[op] = copy.copy(op)
        if isinstance(op.rules, tuple):
            found.rules = tuple([None if rule is None else _one(rule, i) for i, rule in enumerate(op.rules)])
        elif callable(op.rules):
            found.rules = _all(op.rules)
    return found


def _one(rule: Any, position: int) -> Any:
    def run(ops: Any, g: Any, out: Any, *values: Any, **params: Any) -> Any:
        return _brought(ops, rule(ops, g, out, *values, **params), g, out, values[position])

    return run


def _all(rule: Any) -> Any:
    def run(ops: Any, g: Any, out: Any, *values: Any, need: tuple[int, ...], **params: Any) -> Any:
        found = rule(ops, g, out, *values, need=need, **params)
        return [_brought(ops, h, g, out, values[i]) for h, i in zip(found, need, strict=True)]

    return run


def _brought(ops: Any, h: Any, g: Any, out: Any, x: Any) -> Any:
    """Bring a gradient to where its value lies; it has to have the shape of the value first."""
    held = x if ops.raw else x._held
    if h is None or memory_of(held) is not None:
        return h
    first, made = (g[0], out[0]) if isinstance(g, (list, tuple)) else (g, out)
    h = fit(ops, h, held, len(first.shape) - len(made.shape))
    tell("to host", (h if ops.raw else h._held).nbytes, "a gradient moves to the device of its value")
    return moved(h, None) if ops.raw else ops.copy_to_device(h, device=CPU)
