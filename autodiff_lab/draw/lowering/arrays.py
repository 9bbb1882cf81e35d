"""Steps of ops of arrays: products of matrices, linear systems, and what picks or counts elements."""

from __future__ import annotations

import math
from functools import partial
from string import ascii_lowercase
from typing import Any

import numpy as np

from autodiff_lab.draw.lowering.steps import Lower, Steps, Value
from autodiff_lab.draw.moves import Shape


def _numbered(shape: Shape) -> Any:
    """Return an array of the places of its own elements."""
    return np.arange(math.prod(shape)).reshape(shape)


def _matmul(steps: Steps, x: Value, y: Value) -> Value:
    ranks = [max(len(one.shape) - 2, 0) for one in (x, y)]
    lead = ascii_lowercase[: max(ranks)]
    a, b = (lead[len(lead) - rank :] for rank in ranks)
    rows, columns = "I" if len(x.shape) > 1 else "", "J" if len(y.shape) > 1 else ""
    return steps.einsum(f"{a}{rows}K,{b}K{columns}->{lead}{rows}{columns}", x, y)


def _cross(steps: Steps, x: Value, y: Value) -> Value:
    rolled = (steps.pick(one, np.roll(_numbered(one.shape), -by, -1)) for one in (x, y) for by in (1, 2))
    return steps.of("{0} * {3} - {1} * {2}", *rolled)


def _slogdet(steps: Steps, x: Value) -> list[Value]:
    [det] = steps.run("det", [x], x.shape[:-2])
    sign = steps.of("choose({0} > zero, one, choose({0} < zero, -one, {0}))", det)
    return [sign, steps.of("log(abs({0}))", det)]


def _triangular_solve(steps: Steps, a: Value, b: Value, *, lower: bool, turned: bool = False) -> Value:
    """Solve with one side of a matrix, or with that turned to the other."""
    side = np.tri(a.shape[-1], dtype=bool)
    kept = np.where(side if lower else side.T, _numbered(a.shape), -1)
    return steps.run("solve", [steps.pick(a, kept.swapaxes(-1, -2) if turned else kept), b], b.shape)[0]


def _cholesky_solve(steps: Steps, a: Value, b: Value) -> Value:
    return _triangular_solve(steps, a, _triangular_solve(steps, a, b, lower=True), lower=True, turned=True)


def _extreme_grad(steps: Steps, g: Value, best: Value, x: Value, *, axes: Any) -> Value:
    hits = steps.of("choose({0} == {1}, one, zero)", x, best)
    return steps.of("choose({0} == zero, zero, {1} * ({0} / sum({0})))", hits, g, axes=axes)


def _recurrence(steps: Steps, b: Value, a: Value, *, axis: int, reverse: bool) -> Value:
    """The first element takes nothing, whatever its factor is."""
    terms = np.moveaxis(_numbered(b.shape), axis, -1)
    factors = np.moveaxis(np.broadcast_to(_numbered(a.shape), b.shape), axis, -1).copy()
    factors[..., slice(-1, None) if reverse else slice(1)] = -1
    flat = (math.prod(terms.shape[:-1]), b.shape[axis])
    along = [steps.pick(x, places.reshape(flat)) for x, places in ((b, terms), (a, factors))]
    _, [made] = steps.walk(
        lambda inner, old, here, _: ([inner.of("{0} + {1} * {2}", *here, *old)], []),
        [steps.of("zero * zero", shape=flat[:1])], along, [], reverse=reverse,
    )  # fmt: skip
    return steps.pick(made, np.moveaxis(_numbered(terms.shape), -1, axis))


def _top_positions(steps: Steps, x: Value, *, k: int) -> Value:
    [order] = steps.run("argsort", [x], x.shape, axis=-1, descending=True)
    return steps.pick(order, _numbered(x.shape)[..., :k])


def _searchsorted(steps: Steps, rows: Value, values: Value, *, side: str) -> Value:
    """Count what stands before each value."""
    before = "{0} < {1}" if side == "left" else "not ({0} > {1})"
    line = steps.grown(rows, -2) if len(rows.shape) > 1 else rows
    return steps.of(f"sum(choose({before}, one, zero))", line, steps.grown(values, -1), axes=[-1])


def _scattered(steps: Steps, parts: Value, indices: Value, shape: Shape) -> Value:
    return steps.run("scatter_nd", [parts, indices], tuple(shape), shape=list(shape))[0]


def _invert_permutation(steps: Steps, x: Value) -> Value:
    return _scattered(steps, steps.ramp(*x.shape), steps.grown(x, -1), x.shape)


def _segment_sum(steps: Steps, x: Value, ids: Value, *, count: int) -> Value:
    return _scattered(steps, x, steps.grown(ids, -1), (count, *x.shape[1:]))


def _segment_best(op: str, start: str, steps: Steps, x: Value, ids: Value, *, count: int, empty: float = 0.0) -> Value:
    shape, rows = (count, *x.shape[1:]), steps.grown(ids, -1)
    [best] = steps.run(op, [steps.of(start, shape=shape), x, rows], shape)
    sizes = _scattered(steps, steps.of("one * one", shape=x.shape), rows, shape)
    return steps.of("choose({0} > zero, {1}, empty)", sizes, best, empty=empty)


def _kept_mask(steps: Steps, indices: Value, *, shape: Shape, dtype: str = "") -> Value:
    ones = steps.of("one * one", shape=(*indices.shape[:-1], *shape[indices.shape[-1] :]))
    return steps.of("choose({0} > zero, zero, one)", _scattered(steps, ones, indices, shape))


def _added(sign: str, steps: Steps, x: Value, updates: Value, indices: Value) -> Value:
    parts = steps.of("{0} + zero", updates, shape=(*indices.shape[:-1], *x.shape[indices.shape[-1] :]))
    return steps.of(f"{{0}} {sign} {{1}}", x, _scattered(steps, parts, indices, x.shape))


def _one_hot(steps: Steps, indices: Value, *, depth: int, axis: int, on: float, off: float, dtype: str = "") -> Value:
    at = axis if axis < 0 else axis - len(indices.shape) - 1
    classes = steps.reshape(steps.ramp(depth), depth, *[1] * (-1 - at))
    return steps.of("choose({0} == {1}, on, off)", steps.grown(indices, at), classes, on=on, off=off)


def _linspace(steps: Steps, first: Value, last: Value, *, num: int, axis: int) -> Value:
    index = steps.reshape(steps.ramp(num), num, *[1] * (-1 - axis))
    text = "choose({2} == end, {1}, {0} + (({1} - {0}) / end) * {2})"
    return steps.of(text, steps.grown(first, axis), steps.grown(last, axis), index, end=max(num - 1, 1))


OPS: dict[str, Lower] = {
    "matmul": _matmul, "cross": _cross, "slogdet": _slogdet, "triangular_solve": _triangular_solve,
    "cholesky_solve": _cholesky_solve, "extreme_grad": _extreme_grad, "recurrence": _recurrence,
    "top_positions": _top_positions, "searchsorted": _searchsorted, "invert_permutation": _invert_permutation,
    "segment_max": partial(_segment_best, "tensor_scatter_nd_max", "-infinity"),
    "segment_min": partial(_segment_best, "tensor_scatter_nd_min", "infinity"),
    "segment_sum": _segment_sum, "kept_mask": _kept_mask, "one_hot": _one_hot, "linspace": _linspace,
    "tensor_scatter_nd_add": partial(_added, "+"), "tensor_scatter_nd_sub": partial(_added, "-"),
}  # fmt: skip
