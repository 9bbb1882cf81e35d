"""Softmax and its logarithm along an axis, and what their rules multiply cotangents by.

The axis is negative.  Cotangents may have further axes before those of the result.  Half floats are computed in
float32.

Cross entropy of rows with label distributions or with class numbers, and what its rules make of a cotangent.

Logits are (*b, k); labels are distributions (*b, k) or class numbers (*b).  Cotangents may have further axes before b.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.arrays import ranked
from autodiff_lab.kernels.base.halves import as_float32
from autodiff_lab.kernels.checks import check_positions


def softmax(x: Any, axis: int) -> Any:
    """Return e^x over its sum."""
    if x.itemsize == 2:
        return as_float32(softmax, x, axis=axis)
    if not x.size:
        return x.copy()
    made = np.exp(x - np.maximum.reduce(x, axis=axis, keepdims=True))
    made /= np.add.reduce(made, axis=axis, keepdims=True)
    return made


def log_softmax(x: Any, axis: int) -> Any:
    """Return x - ln Σ e^x."""
    if x.itemsize == 2:
        return as_float32(log_softmax, x, axis=axis)
    if not x.size:
        return x.copy()
    shifted = x - np.maximum.reduce(x, axis=axis, keepdims=True)
    return shifted - np.log(np.add.reduce(np.exp(shifted), axis=axis, keepdims=True))


def softmax_grad(g: Any, y: Any, axis: int) -> Any:
    """Return (g - Σ g·y)·y for the result y of a softmax; the Jacobian is symmetric."""
    if g.itemsize == 2:
        return as_float32(softmax_grad, g, y, axis=axis)
    made = g - np.add.reduce(g * y, axis=axis, keepdims=True)
    made *= y
    return made


def log_softmax_grad(g: Any, y: Any, axis: int) -> Any:
    """Return g - e^y·Σ g for the result y of a log-softmax."""
    if g.itemsize == 2:
        return as_float32(log_softmax_grad, g, y, axis=axis)
    return g - np.add.reduce(g, axis=axis, keepdims=True) * np.exp(y)


def softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    """Return -Σ labels · ln softmax(logits) for each row."""
    if logits.itemsize == 2:
        return as_float32(softmax_cross_entropy, logits, labels)
    return -np.add.reduce(labels * log_softmax(logits, -1), axis=-1)


def softmax_cross_entropy_grad(g: Any, logits: Any, labels: Any) -> Any:
    """Return g · (softmax(logits) · Σ labels - labels)."""
    if logits.itemsize == 2:
        return as_float32(softmax_cross_entropy_grad, g, logits, labels)
    made = softmax(logits, -1)
    made *= np.add.reduce(labels, axis=-1, keepdims=True)
    made -= labels
    return ranked(g)[..., None] * made


def classes(labels: Any, count: int) -> Any:
    """Return the labels with a last axis of length 1, if each is a class number.

    Raises
    ------
    InvalidArgumentError
        If one is negative, or not below the number of classes.
    """
    labels = ranked(labels)
    check_positions(labels, count, "sparse_softmax_cross_entropy_with_logits: a label is not in")
    return labels[..., None].astype(np.intp, copy=False)


def _in_rows(x: Any, at: Any) -> bool:
    """Return whether x is a NumPy matrix with one class for each row, whose elements brackets find most quickly."""
    return x.__class__ is np.ndarray and x.ndim == 2 and at.shape[0] == x.shape[0]


def _at_classes(x: Any, at: Any) -> Any:
    if _in_rows(x, at):
        return x[np.arange(len(x)), at[:, 0]][:, None]
    return np.take_along_axis(x, at, axis=-1)


def sparse_softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    """Return minus the logarithm of the probability of each row's class.

    No array of probabilities is made: each row is summed once, and the element of its label is picked out.
    """
    if logits.itemsize == 2:
        return as_float32(sparse_softmax_cross_entropy, logits, labels)
    at = classes(labels, logits.shape[-1])
    shifted = logits - np.maximum.reduce(logits, axis=-1, keepdims=True)
    total = np.log(np.add.reduce(np.exp(shifted), axis=-1))
    return (total - _at_classes(shifted, at)[..., 0])[()]


def sparse_softmax_cross_entropy_and_grad(g: Any, logits: Any, labels: Any) -> tuple[Any, Any]:
    """Return the losses and their gradient; an override computes both from the same exponentials."""
    losses = sparse_softmax_cross_entropy(logits, labels)
    return losses, sparse_softmax_cross_entropy_grad(g, logits, labels)


def softmax_minus_label(logits: Any, labels: Any) -> Any:
    """Return softmax(logits), minus 1 at the class."""
    if logits.itemsize == 2:
        return as_float32(softmax_minus_label, logits, labels)
    at = classes(labels, logits.shape[-1])
    made = softmax(logits, -1)
    if _in_rows(made, at):
        made[np.arange(len(made)), at[:, 0]] -= 1
    else:
        np.put_along_axis(made, at, np.take_along_axis(made, at, axis=-1) - made.dtype.type(1), axis=-1)
    return made


def sparse_softmax_cross_entropy_grad(g: Any, logits: Any, labels: Any) -> Any:
    """Return g · softmax(logits), minus g at the class."""
    if logits.itemsize == 2:
        return as_float32(sparse_softmax_cross_entropy_grad, g, logits, labels)
    return ranked(g)[..., None] * softmax_minus_label(logits, labels)
