"""Cross entropy of rows and its slopes; the references are in `kernels.reference.cross_entropy`.

Optimisations: those of `kernels.jit.softmax`; a loss makes no array of shares; a slope takes the exponentials anew
instead of reading those of the loss from memory, and multiplies them by the cotangent while they lie in the first
cache, so that logits are read once and the gradient is written once.  Where loss and slope are wanted at once, as in a
compiled program, both are made of the same exponentials, with the same bits.
"""
# pyright: reportIndexIssue=false, reportCallIssue=false

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.kernels.jit.compiling import loop, override, row_major
from autodiff_lab.kernels.jit.softmax import over_rows, room, rows_of
from autodiff_lab.kernels.jit.vector_maths_bits import add_up
from autodiff_lab.kernels.jit.vector_maths_rows import exps_of_rows, rows_together, sum_of, totals_of_rows


@loop("int64({t}[:,::1], int64[::1], {t}[::1], {t}[:,::1], {t}[::1], float64[::1], int64, int64)")
def _sparse(x: Any, labels: Any, losses: Any, aside: Any, tops: Any, totals: Any, low: int, high: int) -> int:
    """Give the number of labels that are no class."""
    wrong = 0
    for first in range(low, high, tops.size):
        count = min(tops.size, high - first)
        totals_of_rows(x, first, count, aside, tops, totals)
        for r in range(count):
            label = labels[first + r]
            if 0 <= label < x.shape[1]:
                losses[first + r] = math.log(totals[r]) - (x[first + r, label] - tops[r])
            else:
                wrong += 1
    return wrong


@loop("int64({t}[::1], {t}[:,::1], int64[::1], {t}[:,::1], {t}[::1], float64[::1], int64, int64)")
def _sparse_slope(g: Any, x: Any, labels: Any, made: Any, tops: Any, totals: Any, low: int, high: int) -> int:
    """Give the number of labels that are no class."""
    wrong = 0
    for first in range(low, high, tops.size):
        count = min(tops.size, high - first)
        exps_of_rows(x, first, count, made, first, tops, totals)
        for r in range(count):
            row, share, label = made[first + r], g[first + r], labels[first + r]
            scale = x.dtype.type(share / totals[r])
            label = labels[first + r]
            if not 0 <= label < row.size:
                wrong += 1
                continue
            own = x.dtype.type(row[label] / totals[r] - 1)
            for k in range(row.size):
                row[k] *= scale
            row[label] = own * share
    return wrong


@loop("int64({t}[::1], {t}[:,::1], int64[::1], {t}[::1], {t}[:,::1], {t}[::1], float64[::1], int64, int64)")
def _sparse_both(
    g: Any, x: Any, labels: Any, losses: Any, made: Any, tops: Any, totals: Any, low: int, high: int
) -> int:
    """Losses and slopes from the same exponentials; give the number of labels that are no class."""
    wrong = 0
    for first in range(low, high, tops.size):
        count = min(tops.size, high - first)
        exps_of_rows(x, first, count, made, first, tops, totals)
        for r in range(count):
            row, share, label = made[first + r], g[first + r], labels[first + r]
            if not 0 <= label < row.size:
                wrong += 1
                continue
            losses[first + r] = math.log(totals[r]) - (x[first + r, label] - tops[r])
            scale = x.dtype.type(share / totals[r])
            own = x.dtype.type(row[label] / totals[r] - 1)
            for k in range(row.size):
                row[k] *= scale
            row[label] = own * share
    return wrong


@loop("void({t}[:,::1], {t}[:,::1], {t}[::1], {t}[:,::1], {t}[::1], float64[::1], int64, int64)")
def _dense(x: Any, labels: Any, losses: Any, aside: Any, tops: Any, totals: Any, low: int, high: int) -> None:
    for first in range(low, high, tops.size):
        count = min(tops.size, high - first)
        totals_of_rows(x, first, count, aside, tops, totals)
        for r in range(count):
            row, label, top = x[first + r], labels[first + r], tops[r]
            total = x.dtype.type(math.log(totals[r]))
            loss = x.dtype.type(0)
            for k in range(row.size):
                loss = add_up(loss, label[k] * (total - (row[k] - top)))
            losses[first + r] = loss


@loop("void({t}[::1], {t}[:,::1], {t}[:,::1], {t}[:,::1], {t}[::1], float64[::1], int64, int64)")
def _dense_slope(g: Any, x: Any, labels: Any, made: Any, tops: Any, totals: Any, low: int, high: int) -> None:
    for first in range(low, high, tops.size):
        count = min(tops.size, high - first)
        exps_of_rows(x, first, count, made, first, tops, totals)
        for r in range(count):
            row, label, share = made[first + r], labels[first + r], g[first + r]
            scale = x.dtype.type(sum_of(label) / totals[r])
            for k in range(row.size):
                row[k] = (row[k] * scale - label[k]) * share


def _numbers(labels: Any) -> Any:
    return row_major(np.asarray(labels).astype(np.int64, copy=False)).reshape(-1)


def _logits(work: int, dtype: Any) -> Any:
    return np.ones((work // 64, 64), dtype)


def _sample_of_sparse(work: int, dtype: Any) -> Any:
    return [_logits(work, dtype), np.zeros(work // 64, np.int64)], {}


def _sample_of_sparse_slope(work: int, dtype: Any) -> Any:
    return [np.ones(work // 64, dtype), _logits(work, dtype), np.zeros(work // 64, np.int64)], {}


def _sample_of_dense(work: int, dtype: Any) -> Any:
    return [_logits(work, dtype)] * 2, {}


def _sample_of_dense_slope(work: int, dtype: Any) -> Any:
    return [np.ones(work // 64, dtype), _logits(work, dtype), _logits(work, dtype)], {}


def _fit(logits: Any, labels: Any, g: Any = None) -> bool:
    """Whether the shapes and dtypes are those of plain rows."""
    if not logits.ndim or not logits.size or (labels.dtype != logits.dtype and labels.dtype.kind not in "iu"):
        return False
    if labels.shape != (logits.shape if labels.dtype == logits.dtype else logits.shape[:-1]):
        return False
    return g is None or (g.dtype == logits.dtype and g.shape == logits.shape[:-1])


@override(_sparse, sample=_sample_of_sparse)
def sparse_softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    """Cross entropy of each row with its class number."""
    if not _fit(logits, labels) or labels.dtype.kind not in "iu":
        return NotImplemented
    rows, numbers = rows_of(logits), _numbers(labels)
    losses = np.empty(len(rows), logits.dtype)
    run = _sparse[logits.dtype]
    wrong = over_rows(lambda low, high: run(rows, numbers, losses, *room(rows), low, high), rows)
    return NotImplemented if any(wrong) else losses.reshape(logits.shape[:-1])[()]


@override(_sparse_slope, sample=_sample_of_sparse_slope)
def sparse_softmax_cross_entropy_slope(g: Any, logits: Any, labels: Any) -> Any:
    """Slope of the cross entropy with class numbers."""
    if not _fit(logits, labels, g) or labels.dtype.kind not in "iu":
        return NotImplemented
    shares, rows, numbers = row_major(np.reshape(g, -1)), rows_of(logits), _numbers(labels)
    made = np.empty(rows.shape, logits.dtype)
    run = _sparse_slope[logits.dtype]
    wrong = over_rows(lambda low, high: run(shares, rows, numbers, made, *room(rows)[1:], low, high), rows)
    return NotImplemented if any(wrong) else made.reshape(logits.shape)


@override(_sparse_both, sample=_sample_of_sparse_slope)
def sparse_softmax_cross_entropy_and_slope(g: Any, logits: Any, labels: Any) -> Any:
    """Cross entropy of each row with its class number, and its slope."""
    if not _fit(logits, labels, g) or labels.dtype.kind not in "iu":
        return NotImplemented
    shares, rows, numbers = row_major(g).reshape(-1), rows_of(logits), _numbers(labels)
    losses, made = np.empty(len(rows), logits.dtype), np.empty(rows.shape, logits.dtype)
    count = rows_together(rows.shape[1])
    run = _sparse_both[logits.dtype]

    def range_of_rows(low: int, high: int) -> int:
        tops, totals = np.empty(count, logits.dtype), np.empty(count)
        return run(shares, rows, numbers, losses, made, tops, totals, low, high)

    if any(over_rows(range_of_rows, rows)):
        return NotImplemented
    return losses.reshape(logits.shape[:-1])[()], made.reshape(logits.shape)


@override(_dense, sample=_sample_of_dense)
def softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    """Cross entropy of each row with its shares."""
    if not _fit(logits, labels) or labels.dtype != logits.dtype:
        return NotImplemented
    rows, shares = rows_of(logits), rows_of(labels)
    losses = np.empty(len(rows), logits.dtype)
    run = _dense[logits.dtype]
    over_rows(lambda low, high: run(rows, shares, losses, *room(rows), low, high), rows)
    return losses.reshape(logits.shape[:-1])[()]


@override(_dense_slope, sample=_sample_of_dense_slope)
def softmax_cross_entropy_slope(g: Any, logits: Any, labels: Any) -> Any:
    """Slope of the cross entropy with shares."""
    if not _fit(logits, labels, g) or labels.dtype != logits.dtype:
        return NotImplemented
    cotangents, rows, shares = row_major(np.reshape(g, -1)), rows_of(logits), rows_of(labels)
    made = np.empty(rows.shape, logits.dtype)
    run = _dense_slope[logits.dtype]
    over_rows(lambda low, high: run(cotangents, rows, shares, made, *room(rows)[1:], low, high), rows)
    return made.reshape(logits.shape)
