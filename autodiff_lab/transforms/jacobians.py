"""Jacobians in one sweep: a stack of unit cotangents goes back together.

A rule accepts cotangents with extra leading axes, so the sweep that gives one gradient gives all rows of a Jacobian.
Where an op on the tape cannot take a stack, the rows are swept one by one, on a tape that must be kept meanwhile; where
a stack would be large, it is swept in blocks.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.engine import nest
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.tape import GradientTape, UnconnectedGradients
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.errors import ShapeMismatch
from autodiff_lab.events import sinks_now, tell_made

BLOCK_BYTES = 1 << 17
"""Size of a stacked adjoint beyond which it pays to sweep again.

Larger arrays are given fresh pages of memory each time, which cost more than the calls that are saved: in one piece,
twenty cotangents at batch 1,000 took 1.4 to 2.4 times as long as a loop (tests/benchmarks/bench_jacobian.py).
"""


def jacobian(tape: GradientTape, target: Any, sources: Any, unconnected_gradients: Any) -> Any:
    """Derivative of every element of the target by every element of each source.

    Shapes: target (*t), source (*s) -> (*t, *s).
    """
    targets = tape._targets(target)  # pyright: ignore[reportPrivateUsage]
    leaves, rebuild = nest.flatten(sources)
    if len(targets) != 1:
        raise ShapeMismatch("jacobian: one target tensor is needed. Try one call for each, on a persistent tape.")
    y = targets[0]._array
    size = y.size
    seed = np.eye(size, dtype=y.dtype).reshape((size, *y.shape))
    found = _swept(tape, targets[0], leaves, seed)
    return rebuild([_shaped(g, y.shape, s, unconnected_gradients) for g, s in zip(found, leaves, strict=True)])


def batch_jacobian(tape: GradientTape, target: Any, source: Any, unconnected_gradients: Any) -> Any:
    """Jacobians row by row: one unit cotangent serves the same element of every row.

    Shapes: target (b, *t), source (b, *s) -> (b, *t, *s).
    """
    y = convert(target)
    a = y._array
    rows = source._array.shape[:1]
    if a.ndim < 1 or a.shape[:1] != rows:
        raise ShapeMismatch(
            f"batch_jacobian: target {a.shape} and source {source._array.shape} need the same first axis, the batch."
        )
    rest = a.shape[1:]
    n = int(np.prod(rest))
    seed = np.broadcast_to(np.eye(n, dtype=a.dtype).reshape((n, 1, *rest)), (n, *a.shape))
    g = _swept(tape, y, [source], seed)[0]
    shape = (*a.shape, *source._array.shape[1:])
    if g is None:
        return _unconnected(shape, source, unconnected_gradients)
    rank = g._array.ndim
    swapped = RECORDING.transpose(g, perm=(1 - rank, -rank, *range(2 - rank, 0)))
    return RECORDING.reshape(swapped, shape=shape)


def _swept(tape: GradientTape, target: Tensor, sources: list[Any], seeds: Any) -> list[Tensor | None]:
    """Return gradients with a leading axis, one part for each seed."""
    entries: Any = tape._entries  # pyright: ignore[reportPrivateUsage]
    stacked = entries is None or all(entry[0].stacked for entry in entries)
    rows = _rows_of_a_block(entries, len(seeds)) if stacked else 1
    if stacked and rows >= len(seeds):
        return _block(tape, target, sources, seeds)
    if not len(seeds):  # a target without elements, and an op that takes no stack: there is nothing to sweep
        return [wrap(np.zeros((0, *source._array.shape), source._array.dtype)) for source in sources]
    one = _block if stacked else _row
    persistent, tape._persistent = tape._persistent, True  # pyright: ignore[reportPrivateUsage]
    try:
        parts = [one(tape, target, sources, seeds[at : at + rows]) for at in range(0, len(seeds), rows)]
    finally:
        tape._persistent = persistent  # pyright: ignore[reportPrivateUsage]
    if not persistent:
        tape._spend()  # pyright: ignore[reportPrivateUsage]
    return [None if column[0] is None else _joined(column) for column in zip(*parts, strict=True)]


def _rows_of_a_block(entries: Any, count: int) -> int:
    """How many cotangents go back together; all of them where somebody listens and should hear of one sweep."""
    if not entries or sinks_now():
        return count
    outs = [entry[1] for entry in entries]
    arrays = [t._array for out in outs for t in (out if out.__class__ is tuple else (out,))]
    largest = max(math.prod(a.shape) * a.dtype.itemsize for a in arrays)
    blocks = math.ceil(count / max(2, BLOCK_BYTES // max(largest, 1)))
    return math.ceil(count / max(blocks, 1))


def _joined(parts: Any) -> Tensor:
    """The blocks of one source as one stack."""
    if sinks_now():
        return RECORDING.concat(*parts, axis=-parts[0]._array.ndim)
    return wrap(np.concatenate([part._array for part in parts]))


def _block(tape: GradientTape, target: Tensor, sources: list[Any], seeds: Any) -> list[Tensor | None]:
    """Sweep a stack of cotangents."""
    stack = tell_made(wrap(np.array(seeds)))
    run = tape._begin([target], sources, [stack], lead=1)  # pyright: ignore[reportPrivateUsage]
    run.finish()
    return run.results()


def _row(tape: GradientTape, target: Tensor, sources: list[Any], seeds: Any) -> list[Tensor | None]:
    """Sweep a single cotangent whose rules see no leading axis, and give the results one."""
    unit = tell_made(wrap(np.array(seeds[0])[()]))
    run = tape._begin([target], sources, [unit])  # pyright: ignore[reportPrivateUsage]
    run.finish()
    return [None if g is None else RECORDING.reshape(g, shape=(1, *g._array.shape)) for g in run.results()]


def _shaped(g: Tensor | None, shape: tuple[int, ...], source: Any, unconnected: Any) -> Tensor | None:
    whole = (*shape, *source._array.shape)
    return _unconnected(whole, source, unconnected) if g is None else RECORDING.reshape(g, shape=whole)


def _unconnected(shape: tuple[int, ...], source: Any, unconnected: Any) -> Tensor | None:
    if UnconnectedGradients(unconnected) is UnconnectedGradients.NONE:
        return None
    return tell_made(wrap(np.zeros(shape, source._array.dtype)[()]))
