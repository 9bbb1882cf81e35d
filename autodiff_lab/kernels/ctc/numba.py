"""Connectionist temporal classification, one labelling after the other, as `ctc.reference`.

Optimizations: states of blanks and of labels lie apart, as a blank has two states before it and a label three, so that
a step is two loops of vector instructions with our own exponentials and logarithms; states beyond a labelling and steps
beyond a sequence are never visited; exponentials of the logits are taken once, many rows together, in the place of the
gradient.  Each step is taken relative to the likeliest state of the one before, and what this takes away is added up
in float64: in float32 a total of thousands would leave few digits for the difference between two states.  Labellings
share the threads.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.kernels.base.deferred import register_jitable
from autodiff_lab.kernels.base.loops import loop, override, row_major
from autodiff_lab.kernels.base.threads import spread
from autodiff_lab.kernels.ctc.reference import IMPOSSIBLE, NEVER
from autodiff_lab.kernels.maths.bits import add_up
from autodiff_lab.kernels.maths.rows import (
    exponential_below_0,
    exps_of_rows,
    largest,
    log1p_up_to_1,
    logarithm,
    rows_together,
)
from autodiff_lab.kernels.maths.single import choose

# pyright: reportIndexIssue=false, reportCallIssue=false
_WORTH_A_THREAD = 20_000
"""States of all steps together, from which on another thread pays."""


@register_jitable(forceinline=True)
def _either(x: Any, y: Any) -> Any:
    """Return the logarithm of e^x + e^y."""
    return choose(x > y, x, y) + log1p_up_to_1(exponential_below_0(-abs(x - y)))


@register_jitable(forceinline=True)
def _any_of(x: Any, y: Any, z: Any, one: Any) -> Any:
    """Return the logarithm of e^x + e^y + e^z, whose largest term is 1 once they are divided by it."""
    more, less = choose(x > y, x, y), choose(x > y, y, x)
    top, middle = choose(more > z, more, z), choose(more > z, z, more)
    return top + logarithm(exponential_below_0(middle - top) + exponential_below_0(less - top) + one)


@register_jitable
def _prepare(labels: Any, count: int, blank: int, classes: int, skips: Any) -> bool:
    """Write whether each label may follow the one before without a blank, and say whether all are labels."""
    wrong = False
    never = skips.dtype.type(NEVER)
    for j in range(count):
        wrong |= not 0 <= labels[j] < classes or labels[j] == blank
        skips[j] = choose(j > 0 and labels[j] != labels[j - 1], skips.dtype.type(0), never)
    return not wrong


@register_jitable
def _emit(row: Any, top: Any, log: Any, labels: Any, blank: int, to: Any) -> Any:
    """Write the log probabilities of the labels, and return that of the blank."""
    never = row.dtype.type(NEVER)
    for j in range(to.size):
        value = (row[labels[j]] - top) - log
        to[j] = choose(value < never, never, value)
    value = (row[blank] - top) - log
    return choose(value < never, never, value)


@register_jitable
def _forward(x: Any, tops: Any, logs: Any, labels: Any, blank: int, b: int, batch: int, steps: int, skips: Any,
             emitted: Any, states: Any) -> float:  # fmt: skip
    """Write the states of each step, in turn if there is room for fewer, and return the log probability of all."""
    n, never, one = emitted.size, x.dtype.type(NEVER), x.dtype.type(1)
    first = states[0, : 2 * n + 2]
    for j in range(first.size):
        first[j] = never
    first[0] = 0
    whole = 0.0
    for t in range(steps):
        r = t * batch + b
        of_blank = _emit(x[r], tops[r], logs[r], labels, blank, emitted)
        before, after = states[t % states.shape[0], : 2 * n + 2], states[(t + 1) % states.shape[0], : 2 * n + 2]
        less = largest(before)
        whole += less
        of_blank -= less
        blanks, behind, own = before[: n + 1], before[n + 1 :], before[n + 2 :]
        to = after[: n + 1]
        for j in range(n + 1):
            to[j] = _either(blanks[j], behind[j]) + of_blank
        after[n + 1] = never
        to = after[n + 2 :]
        for j in range(n):
            to[j] = _any_of(own[j], blanks[j], behind[j] + skips[j], one) + (emitted[j] - less)
    last = states[steps % states.shape[0]]
    return whole + _either(last[n], last[2 * n + 1])


@loop("void({t}[:,::1], {t}[:,::1], boolean, {t}[::1], {t}[::1], float64[::1], int64, int64)", wraparound=False)
def _exponentials(x: Any, made: Any, kept: bool, tops: Any, logs: Any, totals: Any, low: int, high: int) -> None:
    """Write the largest element of each row, the logarithm of the sum of e^(x - largest), and the softmax if kept."""
    for first in range(low, high, totals.size):
        count = min(totals.size, high - first)
        exps_of_rows(x, first, count, made, first if kept else 0, tops[first : first + count], totals)
        for r in range(count):
            logs[first + r] = logarithm(totals[r])
        for r in range(count if kept else 0):
            row, scale = made[first + r], x.dtype.type(1 / totals[r])
            for k in range(row.size):
                row[k] *= scale


@loop("boolean({t}[:,::1], {t}[::1], {t}[::1], int64[:,::1], int64[::1], int64[::1], int64, {t}[::1], {t}[:,::1],"
      " {t}[:,::1], int64, int64)", wraparound=False)  # fmt: skip
def _losses(x: Any, tops: Any, logs: Any, labels: Any, counts: Any, lengths: Any, blank: int, losses: Any, aside: Any,
            states: Any, low: int, high: int) -> bool:  # fmt: skip
    right = True
    for b in range(low, high):
        n = counts[b]
        skips, emitted = aside[0, :n], aside[1, :n]
        if not _prepare(labels[b], n, blank, x.shape[1], skips):
            right = False
            continue
        total = _forward(x, tops, logs, labels[b], blank, b, losses.size, lengths[b], skips, emitted, states)
        losses[b] = math.inf if total < IMPOSSIBLE else 0 - total
    return right


@register_jitable
def _end(now: Any, n: int) -> None:
    """Write what is left of each state after the last step: nothing after the last label, and after the last blank."""
    never = now.dtype.type(NEVER)
    for j in range(now.size):
        now[j] = never
    now[n] = 0
    if n:
        now[2 * n] = 0


@register_jitable
def _back(after: Any, now: Any, n: int, skips: Any) -> None:
    """Write what is left of each state after a step, from the same after the next step with its emissions."""
    less, one = largest(after), after.dtype.type(1)
    blanks, own = now[: n + 1], now[n + 1 : 2 * n + 1]
    next_blanks, later, beyond = after[: n + 1], after[n + 1 :], after[n + 2 :]
    for j in range(n + 1):
        blanks[j] = _either(next_blanks[j], later[j]) - less
    if n:
        behind, following = next_blanks[1:], skips[1:]
        for j in range(n - 1):
            own[j] = _any_of(later[j], behind[j], beyond[j] + following[j], one) - less
        own[n - 1] = _either(later[n - 1], next_blanks[n]) - less
    now[2 * n + 1] = now.dtype.type(NEVER)


@register_jitable
def _posteriors(before: Any, now: Any, n: int, posteriors: Any) -> Any:
    """Write the posteriors of the states, blanks first, times their sum, and return 1 over that sum."""
    had, left = before[: n + 1], now[: n + 1]
    for j in range(n + 1):
        posteriors[j] = had[j] + left[j]
    had, left, to = before[n + 2 :], now[n + 1 : 2 * n + 1], posteriors[n + 1 :]
    for j in range(n):
        to[j] = had[j] + left[j]
    top, total = largest(posteriors), posteriors.dtype.type(0)
    for j in range(posteriors.size):
        posteriors[j] = exponential_below_0(posteriors[j] - top)
    for j in range(posteriors.size):
        total = add_up(total, posteriors[j])
    return posteriors.dtype.type(1) / total


@loop("boolean({t}[:,::1], {t}[::1], {t}[::1], int64[:,::1], int64[::1], int64[::1], int64, {t}[:,::1], {t}[:,::1],"
      " {t}[:,::1], int64, int64)", wraparound=False)  # fmt: skip
def _occupancies(x: Any, tops: Any, logs: Any, labels: Any, counts: Any, lengths: Any, blank: int, made: Any,  # noqa: C901
                 aside: Any, states: Any, low: int, high: int) -> bool:  # fmt: skip
    """Subtract the occupancies from the softmax."""
    right, batch = True, counts.size
    for b in range(low, high):
        n, steps = counts[b], lengths[b]
        skips, emitted = aside[0, :n], aside[1, :n]
        if not _prepare(labels[b], n, blank, x.shape[1], skips):
            right = False
            continue
        total = _forward(x, tops, logs, labels[b], blank, b, batch, steps, skips, emitted, states)
        if total < IMPOSSIBLE:
            steps = 0
        for r in range(steps * batch + b, x.shape[0], batch):
            row = made[r]
            for k in range(row.size):
                row[k] = 0
        posteriors = aside[2, : 2 * n + 1]
        for t in range(steps - 1, -1, -1):
            r = t * batch + b
            after, now = aside[3 + t % 2, : 2 * n + 2], aside[4 - t % 2, : 2 * n + 2]
            if t == steps - 1:
                _end(now, n)
            else:
                _back(after, now, n, skips)
            scale = _posteriors(states[t + 1, : 2 * n + 2], now, n, posteriors)
            of_blanks, row = x.dtype.type(0), made[r]
            for j in range(n + 1):
                of_blanks = add_up(of_blanks, posteriors[j])
            row[blank] -= of_blanks * scale
            of_blank = _emit(x[r], tops[r], logs[r], labels[b], blank, emitted)
            blanks, own, of_labels = now[: n + 1], now[n + 1 :], posteriors[n + 1 :]
            for j in range(n):
                row[labels[b, j]] -= of_labels[j] * scale
                own[j] += emitted[j]
            for j in range(n + 1):
                blanks[j] += of_blank
    return right


def _run(
    loop_of: Any, logits: Any, labels: Any, label_length: Any, logit_length: Any, blank: int, gradient: bool
) -> Any:
    steps, batch, count = logits.shape
    most = labels.shape[1]
    lengths = (label_length, most), (logit_length, steps)
    if not logits.size or not all(given.min() >= 0 and given.max() <= n for given, n in lengths):
        return NotImplemented
    x = row_major(logits).reshape(steps * batch, count)
    whole = [row_major(np.asarray(v).astype(np.int64, copy=False)) for v in (labels, label_length, logit_length)]
    tops, logs, together = np.empty(len(x), x.dtype), np.empty(len(x), x.dtype), rows_together(count)
    made = np.empty(x.shape if gradient else batch, x.dtype)
    exponentials, run = _exponentials[x.dtype], loop_of[x.dtype]

    def rows(low: int, high: int) -> None:
        to = made if gradient else np.empty((together, count), x.dtype)
        exponentials(x, to, gradient, tops, logs, np.empty(together), low, high)

    def examples(low: int, high: int) -> bool:
        aside, states = (np.empty((n, 2 * most + 2), x.dtype) for n in (5, steps + 1 if gradient else 2))
        return run(x, tops, logs, *whole, blank, made, aside, states, low, high)

    spread(rows, len(x), max(1, _WORTH_A_THREAD * 4 // count))
    right = spread(examples, batch, max(1, _WORTH_A_THREAD // ((2 * most + 1) * steps)))
    return made.reshape(logits.shape if gradient else (batch,)) if all(right) else NotImplemented


@override(_exponentials, _losses)
def ctc_loss(logits: Any, labels: Any, label_length: Any, logit_length: Any, blank: int) -> Any:
    """Return the losses of all labellings."""
    return _run(_losses, logits, labels, label_length, logit_length, blank, False)


@override(_exponentials, _occupancies)
def softmax_minus_occupancy(logits: Any, labels: Any, label_length: Any, logit_length: Any, blank: int) -> Any:
    """Return softmax minus the occupancies."""
    return _run(_occupancies, logits, labels, label_length, logit_length, blank, True)
