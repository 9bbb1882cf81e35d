"""Jacobians in forward mode, for a target with many more elements than the sources.

A sweep carries one cotangent for each element of the target back, forward mode one tangent for each element of the
sources ahead.  As in `forward`, a sweep is itself differentiated: it is linear in its cotangent, and its Jacobian with
respect to that is the transpose of the one that is asked for.  That is a sweep more, over the ops of the first one, so
it pays where stacks of cotangents would be large.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.engine.backward import UnconnectedGradients
from autodiff_lab.engine.contributions import halves_met
from autodiff_lab.engine.devices import memory_of
from autodiff_lab.engine.indexed_slices import dense
from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.engine.tape import GradientTape
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.events.listener import heard, sinks_now, trace_now
from autodiff_lab.ops.array.creation import zeros_like

ADVANTAGE = 4
"""How many times as many elements as the sources the target must have, per example for `batch_jacobian`."""
EACH_EAGERLY, EACH_COMPILED = 1 << 16, 1 << 11
"""Bytes of stacks that forward mode must save per op; eagerly an op takes as long by itself as some 64 KB of one."""
_DTYPES = (np.dtype("float32"), np.dtype("float64"))
_known: Any = dict.get  # without a search in families that are not loaded


def forward_pays(tape: GradientTape, target: Tensor, cotangents: int, sources: list[Any], lead: int) -> bool:
    """Return whether forward mode is possible, and cheaper than a sweep of so many cotangents.

    The first `lead` axes of the sources are the batch, all of whose examples a tangent serves.
    """
    entries: Any = tape._entries  # pyright: ignore[reportPrivateUsage]
    dtype = target._held.dtype
    if not entries or dtype not in _DTYPES or not all(isinstance(source, (Tensor, Variable)) for source in sources):
        return False
    tangents = sum(math.prod(source._held.shape[lead:]) for source in sources)
    if not tangents or cotangents < ADVANTAGE * tangents or heard() or tape in sinks_now() or halves_met([], entries):
        return False
    if any(t._held.dtype != dtype or memory_of(t._held) is not None for t in (target, *sources)):
        return False
    size = 0
    for op, out, *_ in entries:
        if _known(REGISTRY, op.name) is not op:  # what a user wrote may not be linear in the cotangent
            return False
        for t in out if out.__class__ is tuple else (out,):
            if t._held.dtype.kind == "c":
                return False
            size += math.prod(t._held.shape) * t._held.dtype.itemsize
    trace = trace_now()
    each, rows = (EACH_EAGERLY, 1) if trace is None else (EACH_COMPILED if trace.compiles else EACH_EAGERLY, trace.rows)
    return (cotangents - 3 * tangents) * size * rows > each * len(entries)


def forward_jacobian(tape: GradientTape, target: Tensor, sources: list[Any]) -> list[Tensor | None]:
    """Return the Jacobian for each source, with its axes after those of the target; None where it is unconnected.

    Shapes: target (*t), sources (*s) -> (*t, *s).
    """
    return _transposed(tape, target, sources, GradientTape.jacobian, 0)


def forward_batch_jacobian(tape: GradientTape, target: Tensor, source: Any) -> Tensor | None:
    """Return the Jacobians of a batch, row by row; None if the source is unconnected.

    Shapes: target (b, *t), source (b, *s) -> (b, *t, *s).
    """
    return _transposed(tape, target, [source], GradientTape.batch_jacobian, 1)[0]


def _transposed(
    tape: GradientTape, target: Tensor, sources: list[Any], jacobian: Callable[..., Any], lead: int
) -> list[Tensor | None]:
    """Differentiate the gradient with respect to its cotangent, and exchange the axes."""
    seed = zeros_like(target)
    with GradientTape(watch_accessed_variables=False) as around:
        around.watch(seed)
        found = tape.gradient(target, sources, output_gradients=seed)
        ends = [None if g is None else dense(g) for g in found]
        connected = [g for g in ends if g is not None]
        shapes = [g._held.shape[lead:] for g in connected]
        if not lead and len(connected) > 1:
            connected = [RECORDING.concat(*[RECORDING.reshape(g, shape=(g._held.size,)) for g in connected], axis=-1)]
    if not connected:
        return ends
    rows = jacobian(around, connected[0], seed, unconnected_gradients=UnconnectedGradients.ZERO)
    each, rank = target._held.shape, rows._held.ndim
    begin, end = lead, rank - len(each) + lead  # the axes of the sources lie between these
    order = (*range(begin), *range(end, rank), *range(begin, end))
    turned = RECORDING.transpose(rows, perm=tuple([axis - rank for axis in order]))
    if len(shapes) == 1:
        parts = [turned]
    else:
        parts, start = list[Tensor](), 0
        for shape in shapes:
            stop = start + math.prod(shape)
            part = RECORDING.slice_axis(turned, axis=-1, start=start, stop=stop)
            parts.append(RECORDING.reshape(part, shape=(*each, *shape)))
            start = stop
    rest = iter(parts)
    return [None if g is None else next(rest) for g in ends]
