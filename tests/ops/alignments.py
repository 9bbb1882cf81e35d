"""All alignments of a labelling with the steps of a sequence, one by one: for references that compute nothing twice."""

import itertools
from typing import Any

import numpy as np
import scipy.special


def labelling(alignment: tuple[int, ...], blank: int) -> list[int]:
    """Merge runs of one class, and leave blanks out."""
    return [c for c, _ in itertools.groupby(alignment) if c != blank]


def losses_and_occupancies(
    logits: Any, labels: Any, label_length: Any, logit_length: Any, blank: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the losses (b), and the shares of alignments that have each class at each step (t, b, k)."""
    classes = scipy.special.log_softmax(logits, -1)
    steps, batch, count = logits.shape
    losses, shares = np.full(batch, np.inf), np.zeros((steps, batch, count))
    for b in range(batch):
        total, wanted, length = 0.0, list(labels[b, : label_length[b]]), int(logit_length[b])
        for alignment in itertools.product(range(count), repeat=length):
            if labelling(alignment, blank) == wanted:
                steps_of = np.arange(length)
                share = np.exp(classes[steps_of, b, list(alignment)].sum())
                total += share
                shares[steps_of, b, list(alignment)] += share
        if total:
            losses[b] = -np.log(total)
            shares[:, b] /= total
    return losses, shares


def softmax_minus_occupancy(
    logits: Any, labels: Any, label_length: Any, logit_length: Any, blank: int
) -> np.ndarray:  # fmt: skip
    """Return the derivatives of the losses by the logits."""
    losses, shares = losses_and_occupancies(logits, labels, label_length, logit_length, blank)
    made = scipy.special.softmax(logits, -1) - shares
    made[np.arange(len(logits))[:, None] >= np.asarray(logit_length)] = 0
    made[:, np.isinf(losses)] = 0
    return made
