"""Connectionist temporal classification: all alignments of a labelling with the steps of a sequence, added up.

An alignment gives each step a class; its labelling is what is left once runs of one class have become one and blanks
are gone (Graves, Fernández, Gomez & Schmidhuber, *Connectionist temporal classification*, 2006).  Labels with a blank
before, between and after them are the states, 2n + 1 for n labels; a step stays, moves on by one state, or from a label
to the next one if they differ.  In log space, so that long sequences do not underflow.

The recursion from the end is that from the start on reversed states and steps, so both run together, as more rows.
The logarithm of 0 is a finite number here: of two of these the difference is 0 and not nan.

Shapes: logits (t, b, k), labels (b, n), lengths (b).  Computed in float64, and rounded once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.kernels.softmax.reference import log_softmax

NEVER = -1e30
"""The logarithm of the probability 0."""
IMPOSSIBLE = -1e29
"""Below it, a labelling has the probability 0."""


def checked(logits: Any, labels: Any, label_length: Any, logit_length: Any, blank: int) -> tuple[Any, Any, Any]:
    """Return the labels, with blanks beyond their lengths, and both lengths, as int64.

    Raises
    ------
    InvalidArgumentError
        If a length is negative or longer than there is room for, or if a label is the blank or not a class.
    """
    steps, _, classes = logits.shape
    labels, of_labels, of_steps = (np.asarray(x).astype(np.int64) for x in (labels, label_length, logit_length))
    for what, lengths, most in ("label_length", of_labels, labels.shape[1]), ("logit_length", of_steps, steps):
        wrong = np.flatnonzero((lengths < 0) | (lengths > most))
        if wrong.size:
            at = int(wrong[0])
            raise InvalidArgumentError(f"ctc_loss: {what}[{at}] is {lengths[at]}, expected a length from 0 to {most}.")
    inside = np.arange(labels.shape[1]) < of_labels[:, None]
    wrong = np.argwhere(inside & ((labels < 0) | (labels >= classes) | (labels == blank)))
    if len(wrong):
        row, column = map(int, wrong[0])
        label = int(labels[row, column])
        why = "is the blank" if label == blank else f"is not a class: there are {classes}"
        raise InvalidArgumentError(f"ctc_loss: labels[{row}, {column}] = {label} {why}. Try another blank_index, or a "
                                   "label_length without the padding.")  # fmt: skip
    return np.where(inside, labels, blank), of_labels, of_steps


def _walk(start: Any, skips: Any, emissions: Any, active: Any) -> tuple[Any, Any]:
    """Return the log probabilities of all states, after each step and after the last; inactive rows stay as they are.

    Shapes: start and skips (r, s), emissions (t, r, s), active (t, r) -> (t, r, s), (r, s).
    """
    made, terms = np.empty(emissions.shape), np.full((3, *start.shape), NEVER)
    shifted, now, whole = np.empty(terms.shape), start, active.all(axis=1)
    for t in range(len(emissions)):
        terms[0] = now
        terms[1, :, 1:] = now[:, :-1]
        np.add(now[:, :-2], skips[:, 2:], out=terms[2, :, 2:])
        top = terms.max(axis=0)
        np.subtract(terms, top, out=shifted)
        np.exp(shifted, out=shifted)
        to = made[t]
        np.add.reduce(shifted, axis=0, out=to)
        np.log(to, out=to)
        to += top
        to += emissions[t]
        if not whole[t]:
            np.copyto(to, now, where=~active[t][:, None])
        now = to
    return made, now


def _about(logits: Any, labels: Any, label_length: Any, logit_length: Any, blank: int) -> tuple[Any, ...]:
    """Return log probabilities of classes and of states at each step, and what a walk from the start is given."""
    steps, batch, _ = logits.shape
    states = 2 * labels.shape[1] + 1
    classes = log_softmax(logits.astype(np.float64), -1)
    path = np.full((batch, states), blank)
    path[:, 1::2] = labels
    emissions = np.maximum(np.take_along_axis(classes, np.broadcast_to(path, (steps, batch, states)), axis=-1), NEVER)
    skips = np.full((batch, states), NEVER)
    skips[:, 3::2][labels[:, 1:] != labels[:, :-1]] = 0
    start = np.full((batch, states), NEVER)
    start[:, 0] = 0
    return classes, emissions, start, skips, np.arange(steps)[:, None] < logit_length


def _total(last: Any, label_length: Any) -> Any:
    """Return the log probability of each labelling, which ends with its last label or the blank after it."""
    rows, at = np.arange(len(last)), 2 * label_length
    before = np.where(at > 0, last[rows, np.maximum(at - 1, 0)], NEVER)
    return np.logaddexp(last[rows, at], before)


def ctc_loss(logits: Any, labels: Any, label_length: Any, logit_length: Any, blank: int) -> Any:
    """Return minus the logarithm of the probability of each labelling; inf where no alignment has it.

    Raises
    ------
    InvalidArgumentError
        As for `checked`.
    """
    labels, of_labels, of_steps = checked(logits, labels, label_length, logit_length, blank)
    _, emissions, start, skips, active = _about(logits, labels, of_labels, of_steps, blank)
    total = _total(_walk(start, skips, emissions, active)[1], of_labels)
    return np.where(total < IMPOSSIBLE, np.inf, 0 - total).astype(logits.dtype)


def softmax_minus_occupancy(logits: Any, labels: Any, label_length: Any, logit_length: Any, blank: int) -> Any:
    """Return softmax minus the probability, given the labelling, that an alignment has each class at each step.

    It is 0 beyond the last step, and where no alignment has the labelling.

    Raises
    ------
    InvalidArgumentError
        As for `checked`.
    """
    labels, of_labels, of_steps = checked(logits, labels, label_length, logit_length, blank)
    classes, emissions, start, skips, active = _about(logits, labels, of_labels, of_steps, blank)
    (steps, batch, count), most = logits.shape, labels.shape[1]
    end = np.full(start.shape, NEVER)
    end[np.arange(batch), 2 * (most - of_labels)] = 0
    back = skips.copy()
    back[:, 2:] = skips[:, :1:-1]
    both, last = _walk(
        np.concatenate([start, end]),
        np.concatenate([skips, back]),
        np.concatenate([emissions, emissions[::-1, :, ::-1]], axis=1),
        np.concatenate([active, active[::-1]], axis=1),
    )
    posteriors = both[:, :batch] + both[::-1, batch:, ::-1] - emissions
    posteriors -= posteriors.max(axis=-1, keepdims=True)
    np.exp(posteriors, out=posteriors)
    posteriors /= posteriors.sum(axis=-1, keepdims=True)
    made = np.exp(classes)
    made[..., blank] -= posteriors[..., ::2].sum(axis=-1)
    rows = np.arange(steps * batch).reshape(steps, batch, 1) * count
    made -= np.bincount((rows + labels).ravel(), posteriors[..., 1::2].ravel(), made.size).reshape(made.shape)
    made[~active | (_total(last[:batch], of_labels) < IMPOSSIBLE)] = 0
    return made.astype(logits.dtype)
