"""Jacobians in one sweep: a stack of unit cotangents goes back together.

A rule accepts cotangents with extra leading axes, so the sweep that gives one gradient gives all rows of a Jacobian.
While nothing listens, a large stack is kept as the few diagonals it starts from, or as the part of each example, see
`structured`.  Where the target has many more elements than the sources, tangents go the other way, see `directions`.
Where an op on the tape cannot take a stack, the rows are swept one by one, on a tape that is kept meanwhile; a large
stack is swept in blocks.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.engine import nest
from autodiff_lab.engine.backward import asks_for_zeros
from autodiff_lab.engine.contributions import halves_met
from autodiff_lab.engine.devices import memory_of, moved, zeros_beside
from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.sweep import Engine
from autodiff_lab.engine.tape import GradientTape
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import ConversionError, ShapeMismatch
from autodiff_lab.events.listener import sinks_now, tell_made, trace_now
from autodiff_lab.transforms.bands import CHEAP, unit_stack
from autodiff_lab.transforms.blocks import BY_EXAMPLE
from autodiff_lab.transforms.columns import Columns
from autodiff_lab.transforms.directions import forward_batch_jacobian, forward_jacobian, forward_pays
from autodiff_lab.transforms.structured import STRUCTURED, Structured, filled

BLOCK_BYTES = 1 << 17
"""Size of a stacked adjoint beyond which several sweeps are faster.

Larger arrays get fresh pages of memory each time, which cost more than the saved calls: in one piece,
twenty cotangents at batch 1,000 took 1.4 to 2.4 times as long as a loop (tests/benchmarks/bench_jacobian.py).
"""

BLOCK_BYTES_OF_A_GPU = 1 << 26
"""The same on a GPU, which small stacks would leave idle and which has no cache as small as a processor's."""
FEWEST_IN_BANDS = 64
"""Size of a target from which a part of the stack is faster than the whole."""
FEWEST_COLUMNS = 4
"""The same for `batch_jacobian`: the number of columns of the target."""
_MOVING = frozenset({"concat", "pad_axis", "slice_axis", "stack", "take"})
"""Ops that are cheap even on a full stack, as they only move elements."""
LARGEST_WHOLE, LARGEST_IN_BANDS = 1 << 20, 1 << 25
"""Bytes of a stack that may become whole in one piece: anywhere in the sweep, or mostly just at its end."""


def jacobian(tape: GradientTape, target: Any, sources: Any, unconnected_gradients: Any) -> Any:
    """Compute the derivative of every element of the target with respect to every element of each source.

    Shapes: target (*t), source (*s) -> (*t, *s).
    """
    targets = tape._targets(target)  # pyright: ignore[reportPrivateUsage]
    leaves, rebuild = nest.flatten(sources)
    if len(targets) != 1:
        raise ShapeMismatch("jacobian: expected a single target tensor. Try one call for each, on a persistent tape.")
    y = targets[0]._held
    if forward_pays(tape, targets[0], y.size, leaves, 0) and not _structured(tape, y, y.size):
        found = forward_jacobian(tape, targets[0], leaves)
    elif y.size >= FEWEST_IN_BANDS and _pays(tape, y, y.size):
        found = _in_part(tape, targets[0], leaves, unit_stack(y))
    else:
        found = _swept(tape, targets[0], leaves, np.eye(y.size, dtype=y.dtype).reshape((y.size, *y.shape)))
    return rebuild([_shaped(g, y.shape, s, unconnected_gradients) for g, s in zip(found, leaves, strict=True)])


def batch_jacobian(tape: GradientTape, target: Any, source: Any, unconnected_gradients: Any) -> Any:
    """Compute Jacobians row by row: one unit cotangent serves the same element of every row.

    Shapes: target (b, *t), source (b, *s) -> (b, *t, *s).
    """
    for what, value in (("target", target), ("source", source)):
        if not isinstance(value, (Tensor, Variable)):
            raise ConversionError(
                f"batch_jacobian: expected a single tensor or variable as {what}, got {type(value).__name__}. Try "
                "one call for each, on a persistent tape."
            )
    y = tape._targets(target)[0]  # pyright: ignore[reportPrivateUsage]
    a = y._held
    if a.ndim < 2 or source._held.ndim < 2:
        raise ShapeMismatch(
            f"batch_jacobian: target {a.shape} and source {source._held.shape} need at least 2 axes, the first of "
            "them the batch. Try lab.expand_dims(x, -1), or tape.jacobian."
        )
    if a.shape[:1] != source._held.shape[:1]:
        raise ShapeMismatch(
            f"batch_jacobian: target {a.shape} and source {source._held.shape} must have the same first axis, the "
            "batch."
        )
    rest = a.shape[1:]
    n, shape = math.prod(rest), (*a.shape, *source._held.shape[1:])
    if forward_pays(tape, y, n, [source], 1) and not _structured(tape, a, n, _MOVING):
        g = forward_batch_jacobian(tape, y, source)
        if g is not None:
            return g
    elif a.ndim == 2 and n >= FEWEST_COLUMNS and a.size >= FEWEST_IN_BANDS and _pays(tape, a, n, _MOVING):
        g = _in_part(tape, y, [source], Columns(np.ones(a.shape, a.dtype)))[0]
    else:
        seed = np.broadcast_to(np.eye(n, dtype=a.dtype).reshape((n, 1, *rest)), (n, *a.shape))
        g = _swept(tape, y, [source], seed)[0]
    if g is None:
        asks_for_zeros(unconnected_gradients)
        return tell_made(wrap(zeros_beside(source._held, shape)))
    rank = g._held.ndim
    swapped = RECORDING.transpose(g, perm=(1 - rank, -rank, *range(2 - rank, 0)))
    return RECORDING.reshape(swapped, shape=shape)


def _pays(tape: GradientTape, y: Any, rows: int, more: frozenset[str] = frozenset()) -> bool:
    """Return whether a part of a stack of so many rows is kept: nothing listens, and the whole is not too large."""
    entries: Any = tape._entries  # pyright: ignore[reportPrivateUsage]
    if y.dtype.kind != "f" or not entries or sinks_now() or memory_of(y) is not None:
        return False
    if y.dtype.itemsize == 2 or halves_met([], entries):
        return False
    if not all(op.stacked for op, *_ in entries):
        return False
    return rows * _largest(entries) <= (LARGEST_IN_BANDS if _stays_structured(entries, more) else LARGEST_WHOLE)


def _stays_structured(entries: Any, more: frozenset[str]) -> bool:
    """Return whether rules keep a part of a stack, whatever op of these it meets."""
    return all(op.elementwise or op.name in CHEAP or op.name in BY_EXAMPLE or op.name in more for op, *_ in entries)


def _structured(tape: GradientTape, y: Any, rows: int, more: frozenset[str] = frozenset()) -> bool:
    """Return whether a part of a stack of so many rows is all that the sweep, or its program, has to compute."""
    entries: Any = tape._entries or ()  # pyright: ignore[reportPrivateUsage]
    if not _stays_structured(entries, more):
        return False
    trace = trace_now()
    return _pays(tape, y, rows, more) if trace is None else trace.compiles and trace.rows == 1


def _in_part(tape: GradientTape, target: Tensor, sources: list[Any], stack: Structured) -> list[Tensor | None]:
    """Sweep a stack of unit cotangents of which a part is kept, which is made whole where necessary."""
    engine = Engine(STRUCTURED)
    run = tape._begin([target], sources, [wrap(stack)], lead=1, engine=engine)  # pyright: ignore[reportPrivateUsage]
    run.finish()
    for key, g in run.adjoints.items():
        run.adjoints[key] = filled(g)
    return run.results()


def _swept(tape: GradientTape, target: Tensor, sources: list[Any], seeds: Any) -> list[Tensor | None]:
    """Return gradients with a leading axis, one part for each seed."""
    entries: Any = tape._entries  # pyright: ignore[reportPrivateUsage]
    stacked = entries is None or all(entry[0].stacked for entry in entries)
    rows = _rows_of_a_block(entries, len(seeds), memory_of(target._held) is not None) if stacked else 1
    if stacked and rows >= len(seeds):
        return _block(tape, target, sources, seeds)
    if not len(seeds):  # a target without elements, and an op that takes no stack: there is nothing to sweep
        return [wrap(zeros_beside(source._held, (0, *source._held.shape))) for source in sources]
    one = _block if stacked else _row
    persistent, tape._persistent = tape._persistent, True  # pyright: ignore[reportPrivateUsage]
    try:
        parts = [one(tape, target, sources, seeds[at : at + rows]) for at in range(0, len(seeds), rows)]
    finally:
        tape._persistent = persistent  # pyright: ignore[reportPrivateUsage]
    if not persistent:
        tape._spend()  # pyright: ignore[reportPrivateUsage]
    return [None if column[0] is None else _joined(column) for column in zip(*parts, strict=True)]


def _rows_of_a_block(entries: Any, count: int, on_gpu: bool) -> int:
    """Return how many cotangents go back together; all of them where a listener should see one sweep."""
    if not entries or sinks_now():
        return count
    room = BLOCK_BYTES_OF_A_GPU if on_gpu else BLOCK_BYTES
    blocks = math.ceil(count / max(2, room // max(_largest(entries), 1)))
    return math.ceil(count / max(blocks, 1))


def _largest(entries: Any) -> int:
    """Return the bytes of the largest output on a tape."""
    largest = 0
    for _, out, *_ in entries:
        for t in out if out.__class__ is tuple else (out,):
            array = t._held
            largest = max(largest, math.prod(array.shape) * array.dtype.itemsize)
    return largest


def _joined(parts: Any) -> Tensor:
    """Join the blocks of one source into one stack."""
    if sinks_now():
        return RECORDING.concat(*parts, axis=-parts[0]._held.ndim)
    return wrap(np.concatenate([part._held for part in parts]))


def _block(tape: GradientTape, target: Tensor, sources: list[Any], seeds: Any) -> list[Tensor | None]:
    """Sweep a stack of cotangents."""
    stack = tell_made(wrap(moved(np.array(seeds), memory_of(target._held))))
    run = tape._begin([target], sources, [stack], lead=1)  # pyright: ignore[reportPrivateUsage]
    run.finish()
    return run.results()


def _row(tape: GradientTape, target: Tensor, sources: list[Any], seeds: Any) -> list[Tensor | None]:
    """Sweep a single cotangent without a leading axis, and add the axis to the results."""
    unit = tell_made(wrap(moved(np.array(seeds[0])[()], memory_of(target._held))))
    run = tape._begin([target], sources, [unit])  # pyright: ignore[reportPrivateUsage]
    run.finish()
    return [None if g is None else RECORDING.reshape(g, shape=(1, *g._held.shape)) for g in run.results()]


def _shaped(g: Tensor | None, shape: tuple[int, ...], source: Any, unconnected: Any) -> Tensor | None:
    whole = (*shape, *source._held.shape)
    if g is None:
        return _unconnected(whole, source, unconnected)
    return g if g._held.shape == whole and not sinks_now() else RECORDING.reshape(g, shape=whole)


def _unconnected(shape: tuple[int, ...], source: Any, unconnected: Any) -> Tensor | None:
    if not asks_for_zeros(unconnected):
        return None
    return tell_made(wrap(zeros_beside(source._held, shape)))
