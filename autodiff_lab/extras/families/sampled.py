"""Losses over very many classes, estimated from a sample of classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.shape import as_integer
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.ops.array.gathering import gather, laid_beside
from autodiff_lab.ops.array.joining import concat
from autodiff_lab.ops.array.shaping import expand_dims, reshape
from autodiff_lab.ops.docs import doc
from autodiff_lab.ops.linalg.products import matmul
from autodiff_lab.ops.math.reductions import reduce_sum
from autodiff_lab.ops.nn.cross_entropies import sigmoid_cross_entropy_with_logits
from autodiff_lab.ops.nn.losses import softmax_cross_entropy_with_logits
from autodiff_lab.ops.nn.normalization import floats
from autodiff_lab.ops.random_state import DRAWING, source_for

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike


def _log_uniform(classes: Any, range_max: int) -> Any:
    """Return the probability of each class under the log-uniform (Zipfian) distribution: small ones are more likely."""
    classes = np.asarray(classes, np.float64)
    return np.log((classes + 2) / (classes + 1)) / np.log(range_max + 1)


def log_uniform_candidate_sampler(true_classes: TensorLike, num_true: int, num_sampled: int, unique: bool,
                                  range_max: int,
                                  seed: int | None = None, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    classes = convert(true_classes)
    if not classes.dtype.is_integer:
        raise DtypeMismatch("log_uniform_candidate_sampler: true_classes must be integers, got "
                            f"{classes.dtype.name}. Try lab.cast(x, lab.int64).")
    true = np.asarray(classes._array)
    num_sampled = as_integer(num_sampled, "log_uniform_candidate_sampler: num_sampled", 0)
    range_max = as_integer(range_max, "log_uniform_candidate_sampler: range_max", 1)
    if unique and num_sampled > range_max:
        raise InvalidArgumentError(f"log_uniform_candidate_sampler: cannot draw {num_sampled} different classes "
                                   f"from {range_max}. Try unique=False.")
    drawn: list[int] = []
    seen: set[int] = set()
    tries = 0
    with DRAWING:
        source = source_for(seed)
        while len(drawn) < num_sampled:
            tries += 1
            one = int(np.exp(source.random() * np.log(range_max + 1))) - 1
            if 0 <= one < range_max and not (unique and one in seen):
                drawn.append(one)
                seen.add(one)
    sampled = np.array(drawn, np.int64)

    def expected(classes: Any) -> Any:
        chance = _log_uniform(classes, range_max)
        counts = -np.expm1(tries * np.log1p(-chance)) if unique else chance * num_sampled
        return np.asarray(counts, np.float32)

    return named((wrap(sampled), wrap(expected(true)), wrap(expected(sampled))), name)


def _logits(name: str, weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int,
            num_true: int, sampled_values: Any, remove_accidental_hits: bool, seed: int | None,
            ) -> tuple[Tensor, Tensor]:
    """Return logits (b, num_true + num_sampled) and the corresponding labels."""
    table, x = floats(weights, name), floats(inputs, name)
    bias, classes = convert(biases, table), convert(labels)
    if not classes.dtype.is_integer:
        raise DtypeMismatch(f"{name}: labels must be integers, got {classes.dtype.name}. Try lab.cast(x, lab.int64).")
    true = np.asarray(classes._array).astype(np.int64)
    if x._held.ndim != 2 or true.shape != (x._held.shape[0], num_true):
        raise ShapeMismatch(f"{name}: expected inputs (b, d) and labels (b, {num_true}), got shapes "
                            f"{x._held.shape} and {true.shape}.")
    if table._held.shape != (num_classes, x._held.shape[1]) or bias._held.shape != (num_classes,):
        raise ShapeMismatch(f"{name}: expected weights {(num_classes, x._held.shape[1])} and biases {(num_classes,)}, "
                            f"got shapes {table._held.shape} and {bias._held.shape}.")
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(true, num_true, num_sampled, True, num_classes, seed)
    drawn, true_counts, drawn_counts = (convert(v) for v in sampled_values)
    drawn = laid_beside(table, drawn._array)
    rows = gather(table, true)
    of_true = reduce_sum(rows * expand_dims(x, 1), axis=-1) + gather(bias, true)
    of_drawn = matmul(x, gather(table, drawn), transpose_b=True) + gather(bias, drawn)
    kind = x._held.dtype
    of_true = of_true - np.log(np.asarray(true_counts._array)).astype(kind).reshape(true.shape)
    of_drawn = of_drawn - np.log(np.asarray(drawn_counts._array)).astype(kind)
    if remove_accidental_hits:
        hits = (true[:, :, None] == np.asarray(drawn._array)[None, None, :]).any(axis=1)
        of_drawn = of_drawn + np.where(hits, np.finfo(kind).min / 2, 0).astype(kind)
    targets = np.zeros((true.shape[0], num_true + drawn._held.shape[0]), kind)
    targets[:, :num_true] = 1 / num_true
    return concat([of_true, of_drawn], 1), laid_beside(x, targets)


def sampled_softmax_loss(weights: TensorLike, biases: TensorLike, labels: TensorLike, inputs: TensorLike,
                         num_sampled: int, num_classes: int,
                         num_true: int = 1, sampled_values: Sequence[TensorLike] | None = None,
                         remove_accidental_hits: bool = True,
                         seed: int | None = None, name: str = "sampled_softmax_loss") -> Tensor:
    logits, targets = _logits("sampled_softmax_loss", weights, biases, labels, inputs, num_sampled, num_classes,
                             num_true, sampled_values, remove_accidental_hits, seed)
    return named(softmax_cross_entropy_with_logits(labels=targets, logits=logits), name)


def nce_loss(weights: TensorLike, biases: TensorLike, labels: TensorLike, inputs: TensorLike, num_sampled: int,
             num_classes: int,
             num_true: int = 1, sampled_values: Sequence[TensorLike] | None = None,
             remove_accidental_hits: bool = False,
             name: str = "nce_loss", seed: int | None = None) -> Tensor:
    logits, targets = _logits("nce_loss", weights, biases, labels, inputs, num_sampled, num_classes, num_true,
                             sampled_values, remove_accidental_hits, seed)
    each = sigmoid_cross_entropy_with_logits(labels=targets, logits=logits)
    return named(reshape(reduce_sum(each, axis=1), (-1,)), name)


_SHAPES = "weights (n, d), biases (n), labels (b, num_true) int, inputs (b, d) -> (b)"
_CALL = "(lab.ones((50, 2)), lab.zeros(50), [[3]], lab.ones((1, 2)), num_sampled=5, num_classes=50).shape"
sampled_softmax_loss.__doc__ = doc(
    "Softmax cross entropy over the true classes and a sample of the others, for training with very many classes.",
    shapes=_SHAPES, derivative="that of the softmax cross entropy; none for the sampling",
    raises=("shape", "argument", "convert"), notes="Jean, Cho, Memisevic & Bengio 2015.",
    example=f">>> lab.nn.sampled_softmax_loss{_CALL}\nTensorShape([1])")
nce_loss.__doc__ = doc(
    "Noise-contrastive estimation loss: distinguishes the true classes from sampled ones.", shapes=_SHAPES,
    derivative="that of the sigmoid cross entropy; none for the sampling", raises=("shape", "argument", "convert"),
    notes="Gutmann & Hyvärinen 2010.", example=f">>> lab.nn.nce_loss{_CALL}\nTensorShape([1])")
log_uniform_candidate_sampler.__doc__ = doc(
    "Sample classes from a log-uniform distribution, and return the expected count of each.",
    shapes="true_classes (b, num_true) -> (num_sampled), (b, num_true), (num_sampled)", dtypes="integers",
    derivative="none: sampling", raises=("argument", "convert"), domain="range_max of at least num_sampled",
    example=">>> lab.random.log_uniform_candidate_sampler([[1]], 1, 3, True, 10)[0].shape\nTensorShape([3])")
