"""Cross entropy of rows with shares or with class numbers, and what its rules make of a cotangent.

Logits are (*b, k); labels are shares (*b, k) or class numbers (*b).  Cotangents may have further axes before b.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.arrays import ranked
from autodiff_lab.kernels.checks import check_positions
from autodiff_lab.kernels.halves import as_float32
from autodiff_lab.kernels.reference.softmax import log_softmax, softmax


def softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    """-Σ labels · ln softmax(logits) of each row."""
    if logits.itemsize == 2:
        return as_float32(softmax_cross_entropy, logits, labels)
    return -np.add.reduce(labels * log_softmax(logits, -1), axis=-1)


def softmax_cross_entropy_slope(g: Any, logits: Any, labels: Any) -> Any:
    """G · (softmax(logits) · Σ labels - labels)."""
    if logits.itemsize == 2:
        return as_float32(softmax_cross_entropy_slope, g, logits, labels)
    shares = softmax(logits, -1)
    shares *= np.add.reduce(labels, axis=-1, keepdims=True)
    shares -= labels
    return ranked(g)[..., None] * shares


def classes(labels: Any, count: int) -> Any:
    """The labels with a last axis of length 1, if each is a class number.

    Raises
    ------
    InvalidArgumentError
        If one is negative, or not below the number of classes.
    """
    labels = ranked(labels)
    check_positions(labels, count, "sparse_softmax_cross_entropy_with_logits: a label is not in")
    return labels[..., None].astype(np.intp, copy=False)


def sparse_softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    """-ln of the share of each row's class.

    No array of shares is made: each row is summed once, and the label's element picked out of it.
    """
    if logits.itemsize == 2:
        return as_float32(sparse_softmax_cross_entropy, logits, labels)
    at = classes(labels, logits.shape[-1])
    shifted = logits - np.maximum.reduce(logits, axis=-1, keepdims=True)
    total = np.log(np.add.reduce(np.exp(shifted), axis=-1))
    return (total - np.take_along_axis(shifted, at, axis=-1)[..., 0])[()]


def softmax_minus_label(logits: Any, labels: Any) -> Any:
    """Softmax(logits), less 1 at the class."""
    if logits.itemsize == 2:
        return as_float32(softmax_minus_label, logits, labels)
    at = classes(labels, logits.shape[-1])
    shares = softmax(logits, -1)
    np.put_along_axis(shares, at, np.take_along_axis(shares, at, axis=-1) - shares.dtype.type(1), axis=-1)
    return shares


def sparse_softmax_cross_entropy_slope(g: Any, logits: Any, labels: Any) -> Any:
    """G · (softmax(logits), less 1 at the class)."""
    if logits.itemsize == 2:
        return as_float32(sparse_softmax_cross_entropy_slope, g, logits, labels)
    return ranked(g)[..., None] * softmax_minus_label(logits, labels)
