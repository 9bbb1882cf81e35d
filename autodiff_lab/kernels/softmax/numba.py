"""Softmax, its logarithm, cross entropy and their gradients, as `softmax.reference`.

All work along the last axis; softmax and its gradient along any other, too.

Optimizations: a row stays in the first-level cache while its largest element is found and the exponentials are taken
and scaled; the largest is found among integers that are ordered as the floats are, by vector instructions; exponentials
are our own polynomials; short rows are taken several at a time; sums are added in whatever order is fastest within
pieces, and pieces in float64.  A loss makes no array of probabilities; a gradient takes the exponentials again instead
of reading those of the loss from memory, and multiplies them by the cotangent while they are in the cache, so that
logits are read once and the gradient is written once.  Where loss and gradient are wanted at once, as in a compiled
program, both are made of the same exponentials, with the same bits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.kernels.base.loops import Loop, loop, override, positions_of, row_major
from autodiff_lab.kernels.base.threads import spread
from autodiff_lab.kernels.maths.bits import add_up, flattened
from autodiff_lab.kernels.maths.rows import (
    exponential,
    exps_of_columns,
    exps_of_rows,
    rows_together,
    sum_of,
    sum_of_products,
    take_logs,
    top_of_columns,
    totals_of_rows,
)

# pyright: reportIndexIssue=false, reportCallIssue=false


WORTH_A_THREAD = 65_536
"""The number of elements from which a separate thread pays."""
PIECE = 4096
"""Elements of columns that are taken at a time, as they fit into the first-level cache."""


def rows_of(x: Any) -> Any:
    """Return the array as rows along its last axis."""
    return x if x.ndim == 2 and x.flags.carray else row_major(x).reshape(-1, x.shape[-1])


def room(x: Any) -> tuple[Any, Any, Any]:
    """Room for the rows that are taken together: their exponentials, tops and totals."""
    count = rows_together(x.shape[1])
    return np.empty((count, x.shape[1]), x.dtype), np.empty(count, x.dtype), np.empty(count)


def sums(x: Any) -> tuple[Any, Any]:
    """Room for the tops and totals of the rows that are taken together."""
    count = rows_together(x.shape[1])
    return np.empty(count, x.dtype), np.empty(count)


def over_rows(run: Any, x: Any, given: tuple[Any, ...], aside: Any = lambda x: ()) -> list[Any]:
    """Run a loop over the rows of a matrix, in several threads if there are many; each has room of its own aside."""
    if x.size < WORTH_A_THREAD:
        return [run(*given, *aside(x), 0, len(x))]
    return spread(lambda low, high: run(*given, *aside(x), low, high), len(x), WORTH_A_THREAD // x.shape[1] or 1)


@loop("void({t}[:,::1], {t}[:,::1], {t}[::1], float64[::1], int64, int64)", wraparound=False)
def _softmax(x: Any, made: Any, tops: Any, totals: Any, low: int, high: int) -> None:
    for first in range(low, high, tops.size):
        count = min(tops.size, high - first)
        exps_of_rows(x, first, count, made, first, tops, totals)
        for r in range(count):
            row = made[first + r]
            scale = x.dtype.type(1 / totals[r])
            for k in range(row.size):
                row[k] *= scale


@loop("void({t}[:,::1], {t}[:,::1], {t}[:,::1], {t}[::1], float64[::1], int64, int64)", wraparound=False)
def _log_softmax(x: Any, made: Any, aside: Any, tops: Any, totals: Any, low: int, high: int) -> None:
    for first in range(low, high, tops.size):
        count = min(tops.size, high - first)
        totals_of_rows(x, first, count, aside, tops, totals)
        take_logs(totals, count)
        for r in range(count):
            row, to = x[first + r], made[first + r]
            total = x.dtype.type(totals[r])
            for k in range(row.size):
                to[k] = (row[k] - tops[r]) - total


@loop("void({t}[:,::1], {t}[:,::1], {t}[:,::1], int64, int64)", wraparound=False)
def _softmax_grad(g: Any, y: Any, made: Any, low: int, high: int) -> None:
    for i in range(low, high):
        g_row, row, to = g[i], y[i], made[i]
        mean = y.dtype.type(sum_of_products(g_row, row))
        for k in range(row.size):
            to[k] = (g_row[k] - mean) * row[k]


@loop("void({t}[:,::1], {t}[:,::1], {t}[:,::1], int64, int64, int64)", wraparound=False)
def _log_softmax_grad(g: Any, y: Any, made: Any, together: int, low: int, high: int) -> None:
    for first in range(low, high, together):
        last = min(first + together, high)
        source, target = flattened(y[first:last]), flattened(made[first:last])
        for k in range(source.size):
            target[k] = exponential(source[k])
        for i in range(first, last):
            g_row, to = g[i], made[i]
            total = y.dtype.type(sum_of(g_row))
            for k in range(g_row.size):
                to[k] = g_row[k] - total * to[k]


@loop("int64({t}[:,::1], {t}[:,::1], {t}[::1], float64[::1], int64, int64)", wraparound=False)
def column_softmax(x: Any, made: Any, tops: Any, totals: Any, low: int, high: int) -> int:
    """Take softmaxes of the columns of planes; return how many have an infinite top."""
    infinite = 0
    width = tops.size
    for a in range(low, high):
        plane, to = x[a], made[a]
        top_of_columns(plane, tops)
        totals[:] = 0
        step = max(1, PIECE // width) * width
        for first in range(0, plane.size, step):
            last = min(first + step, plane.size)
            exps_of_columns(plane[first:last], tops, to[first:last], totals)
        for k in range(width):
            infinite += abs(tops[k]) == np.inf
            tops[k] = x.dtype.type(1 / totals[k])
        for first in range(0, plane.size, width):
            for k in range(width):
                to[first + k] *= tops[k]
    return infinite


@loop("void({t}[:,::1], {t}[:,::1], {t}[:,::1], float64[::1], {t}[::1], int64, int64)", wraparound=False)
def _column_softmax_grad(g: Any, y: Any, made: Any, totals: Any, means: Any, low: int, high: int) -> None:
    width = totals.size
    for a in range(low, high):
        totals[:] = 0
        for first in range(0, y.shape[1], width):
            g_row, row = g[a, first : first + width], y[a, first : first + width]
            for k in range(width):
                totals[k] += g_row[k] * row[k]
        for k in range(width):
            means[k] = totals[k]
        for first in range(0, y.shape[1], width):
            g_row, row, to = g[a, first : first + width], y[a, first : first + width], made[a, first : first + width]
            for k in range(width):
                to[k] = (g_row[k] - means[k]) * row[k]


def _planes(x: Any, axis: int) -> tuple[int, int]:
    """Return the number of planes whose columns lie along an axis, and the width of their rows."""
    return math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1 :]) if axis < -1 else 1


@override(_softmax, column_softmax)
def softmax(x: Any, axis: int) -> Any:
    """Softmax along one axis."""
    if not x.size or not x.ndim:
        return NotImplemented
    count, width = _planes(x, axis)
    if width > 1:
        planes, columns = row_major(x).reshape(count, -1), column_softmax[x.dtype]
        made = np.empty(planes.shape, x.dtype)
        over_rows(columns, planes, (planes, made), lambda planes: (np.empty(width, x.dtype), np.empty(width)))
        return made.reshape(x.shape)
    rows = rows_of(x if axis == -1 else row_major(x).reshape(count, -1))
    made = np.empty(rows.shape, x.dtype)
    run = _softmax[x.dtype]
    over_rows(run, rows, (rows, made), sums)
    return made.reshape(x.shape)


@override(_log_softmax)
def log_softmax(x: Any, axis: int) -> Any:
    """Log-softmax along the last axis."""
    if axis != -1 or not x.size or not x.ndim:
        return NotImplemented
    rows = rows_of(x)
    made = np.empty(rows.shape, x.dtype)
    run = _log_softmax[x.dtype]
    over_rows(run, rows, (rows, made), room)
    return made.reshape(x.shape)


def _grad(loop_of: Any, g: Any, y: Any, axis: int, *how: int) -> Any:
    if axis != -1 or not y.size or not y.ndim or g.dtype != y.dtype:
        return NotImplemented
    if g.shape != y.shape:  # stacks of cotangents for one result
        if not g.ndim or g.shape[-1] != y.shape[-1]:
            return NotImplemented
        shape = np.broadcast_shapes(g.shape, y.shape)
        g, y = np.broadcast_to(g, shape), np.broadcast_to(y, shape)
    cotangents, rows = rows_of(g), rows_of(y)
    made = np.empty(rows.shape, y.dtype)
    run = loop_of[y.dtype]
    over_rows(run, rows, (cotangents, rows, made, *how))
    return made.reshape(y.shape)


@override(_softmax_grad, _column_softmax_grad)
def softmax_grad(g: Any, y: Any, axis: int) -> Any:
    """Gradient of softmax along one axis."""
    if axis == -1 or not y.size or g.shape != y.shape or g.dtype != y.dtype:
        return _grad(_softmax_grad, g, y, axis)
    count, width = _planes(y, axis)
    cotangents, planes = row_major(g).reshape(count, -1), row_major(y).reshape(count, -1)
    if width == 1:
        return _grad(_softmax_grad, cotangents, planes, -1).reshape(y.shape)
    made, columns = np.empty(planes.shape, y.dtype), _column_softmax_grad[y.dtype]
    over_rows(columns, planes, (cotangents, planes, made), lambda planes: (np.empty(width), np.empty(width, y.dtype)))
    return made.reshape(y.shape)


@override(_log_softmax_grad)
def log_softmax_grad(g: Any, y: Any, axis: int) -> Any:
    """Gradient of log-softmax along the last axis."""
    return _grad(_log_softmax_grad, g, y, axis, rows_together(y.shape[-1] or 1) if y.ndim else 1)


@loop("int64({t}[:,::1], int64[::1], {t}[::1], {t}[:,::1], {t}[::1], float64[::1], int64, int64)", wraparound=False)
def _sparse(x: Any, labels: Any, losses: Any, aside: Any, tops: Any, totals: Any, low: int, high: int) -> int:
    """Count the labels that are not a class."""
    wrong = 0
    for first in range(low, high, tops.size):
        count = min(tops.size, high - first)
        totals_of_rows(x, first, count, aside, tops, totals)
        take_logs(totals, count)
        for r in range(count):
            label = labels[first + r]
            if 0 <= label < x.shape[1]:
                losses[first + r] = totals[r] - (x[first + r, label] - tops[r])
            else:
                wrong += 1
    return wrong


def _sparse_grads(name: str, with_losses: bool) -> Loop:
    """Make the loop of gradients, with or without losses from the same exponentials."""

    def run(
        g: Any, x: Any, labels: Any, losses: Any, made: Any, tops: Any, totals: Any, low: int, high: int
    ) -> int:  # fmt: skip
        wrong = 0
        for first in range(low, high, tops.size):
            count = min(tops.size, high - first)
            exps_of_rows(x, first, count, made, first, tops, totals)
            for r in range(count):
                row, factor, label = made[first + r], g[first + r], labels[first + r]
                if not 0 <= label < row.size:
                    wrong += 1
                    continue
                scale = x.dtype.type(factor / totals[r])
                own = x.dtype.type(row[label] / totals[r] - 1)
                for k in range(row.size):
                    row[k] *= scale
                row[label] = own * factor
            if with_losses:
                take_logs(totals, count)
                for r in range(count):
                    label = labels[first + r]
                    if 0 <= label < x.shape[1]:
                        losses[first + r] = totals[r] - (x[first + r, label] - tops[r])
        return wrong

    run.__name__ = name
    return loop(
        "int64({t}[::1], {t}[:,::1], int64[::1], {t}[::1], {t}[:,::1], {t}[::1], float64[::1], int64, int64)",
        wraparound=False,
    )(run)


_sparse_grad, _sparse_both = _sparse_grads("_sparse_grad", False), _sparse_grads("_sparse_both", True)


@loop("void({t}[:,::1], {t}[:,::1], {t}[::1], {t}[:,::1], {t}[::1], float64[::1], int64, int64)", wraparound=False)
def _dense(x: Any, labels: Any, losses: Any, aside: Any, tops: Any, totals: Any, low: int, high: int) -> None:
    for first in range(low, high, tops.size):
        count = min(tops.size, high - first)
        totals_of_rows(x, first, count, aside, tops, totals)
        take_logs(totals, count)
        for r in range(count):
            row, label, top = x[first + r], labels[first + r], tops[r]
            total = x.dtype.type(totals[r])
            loss = x.dtype.type(0)
            for k in range(row.size):
                loss = add_up(loss, label[k] * (total - (row[k] - top)))
            losses[first + r] = loss


@loop("void({t}[::1], {t}[:,::1], {t}[:,::1], {t}[:,::1], {t}[::1], float64[::1], int64, int64)", wraparound=False)
def _dense_grad(g: Any, x: Any, labels: Any, made: Any, tops: Any, totals: Any, low: int, high: int) -> None:
    for first in range(low, high, tops.size):
        count = min(tops.size, high - first)
        exps_of_rows(x, first, count, made, first, tops, totals)
        for r in range(count):
            row, label, factor = made[first + r], labels[first + r], g[first + r]
            scale = x.dtype.type(sum_of(label) / totals[r])
            for k in range(row.size):
                row[k] = (row[k] * scale - label[k]) * factor


def _logits(work: int, dtype: Any) -> Any:
    return np.ones((work // 64, 64), dtype)


def _fit(logits: Any, labels: Any, g: Any = None) -> bool:
    """Return whether the shapes and dtypes are those of plain rows."""
    if not logits.ndim or not logits.size or (labels.dtype != logits.dtype and labels.dtype.kind not in "iu"):
        return False
    if labels.shape != (logits.shape if labels.dtype == logits.dtype else logits.shape[:-1]):
        return False
    return g is None or (g.dtype == logits.dtype and g.shape == logits.shape[:-1])


@override(_sparse)
def sparse_softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    """Cross entropy of each row with its class number."""
    if not _fit(logits, labels) or labels.dtype.kind not in "iu":
        return NotImplemented
    rows, numbers = rows_of(logits), positions_of(labels)
    losses = np.empty(len(rows), logits.dtype)
    run = _sparse[logits.dtype]
    wrong = over_rows(run, rows, (rows, numbers, losses), room)
    return NotImplemented if any(wrong) else losses.reshape(logits.shape[:-1])[()]


def _sparse_gradients(loop_of: Loop, g: Any, logits: Any, labels: Any, losses: Any) -> Any:
    """Return the gradient, and write the losses if the loop makes them."""
    if not _fit(logits, labels, g) or labels.dtype.kind not in "iu":
        return NotImplemented
    cotangents, rows, numbers = row_major(g.reshape(-1)), rows_of(logits), positions_of(labels)
    made, run = np.empty(rows.shape, logits.dtype), loop_of[logits.dtype]
    wrong = over_rows(run, rows, (cotangents, rows, numbers, losses, made), sums)
    return NotImplemented if any(wrong) else made.reshape(logits.shape)


@override(_sparse_grad)
def sparse_softmax_cross_entropy_grad(g: Any, logits: Any, labels: Any) -> Any:
    """Gradient of the cross entropy with class numbers."""
    return _sparse_gradients(_sparse_grad, g, logits, labels, np.empty(0, logits.dtype))


@override(_sparse_both)
def sparse_softmax_cross_entropy_and_grad(g: Any, logits: Any, labels: Any) -> Any:
    """Cross entropy of each row with its class number, and its gradient."""
    losses = np.empty(logits.shape[:-1], logits.dtype)
    grad = _sparse_gradients(_sparse_both, g, logits, labels, losses.reshape(-1))
    return NotImplemented if grad is NotImplemented else (losses[()], grad)


@override(_dense)
def softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    """Cross entropy of each row with its label distributions."""
    if not _fit(logits, labels) or labels.dtype != logits.dtype:
        return NotImplemented
    rows, targets = rows_of(logits), rows_of(labels)
    losses = np.empty(len(rows), logits.dtype)
    run = _dense[logits.dtype]
    over_rows(run, rows, (rows, targets, losses), room)
    return losses.reshape(logits.shape[:-1])[()]


@override(_dense_grad)
def softmax_cross_entropy_grad(g: Any, logits: Any, labels: Any) -> Any:
    """Gradient of the cross entropy with label distributions."""
    if not _fit(logits, labels, g) or labels.dtype != logits.dtype:
        return NotImplemented
    cotangents, rows, targets = row_major(g.reshape(-1)), rows_of(logits), rows_of(labels)
    made = np.empty(rows.shape, logits.dtype)
    run = _dense_grad[logits.dtype]
    over_rows(run, rows, (cotangents, rows, targets, made), sums)
    return made.reshape(logits.shape)
