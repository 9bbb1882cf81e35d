"""Jacobians in one sweep: a stack of unit cotangents goes back together.

A rule accepts cotangents with extra leading axes, so the sweep that gives one gradient gives all rows of a Jacobian.
Where an op on the tape cannot take a stack, the rows are swept one by one, on a tape that must be kept meanwhile.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine import nest
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.tape import GradientTape, UnconnectedGradients
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.errors import ShapeMismatch


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
    """Gradients with a leading axis, one part for each seed."""
    entries: Any = tape._entries  # pyright: ignore[reportPrivateUsage]
    if entries is None or all(entry[0].stacked for entry in entries):
        run = tape._begin([target], sources, [wrap(np.array(seeds))], lead=1)  # pyright: ignore[reportPrivateUsage]
        run.finish()
        return run.results()
    persistent, tape._persistent = tape._persistent, True  # pyright: ignore[reportPrivateUsage]
    try:
        rows = [_one(tape, target, sources, seed) for seed in seeds]
    finally:
        tape._persistent = persistent  # pyright: ignore[reportPrivateUsage]
    if not persistent:
        tape._spend()  # pyright: ignore[reportPrivateUsage]
    columns = zip(*rows, strict=True)
    return [
        None if column[0] is None else RECORDING.stack(*column, axis=-column[0]._array.ndim - 1) for column in columns
    ]


def _one(tape: GradientTape, target: Tensor, sources: list[Any], seed: Any) -> list[Tensor | None]:
    run = tape._begin([target], sources, [wrap(np.array(seed)[()])])  # pyright: ignore[reportPrivateUsage]
    run.finish()
    return run.results()


def _shaped(g: Tensor | None, shape: tuple[int, ...], source: Any, unconnected: Any) -> Tensor | None:
    whole = (*shape, *source._array.shape)
    return _unconnected(whole, source, unconnected) if g is None else RECORDING.reshape(g, shape=whole)


def _unconnected(shape: tuple[int, ...], source: Any, unconnected: Any) -> Tensor | None:
    if UnconnectedGradients(unconnected) is UnconnectedGradients.NONE:
        return None
    return wrap(np.zeros(shape, source._array.dtype)[()])
