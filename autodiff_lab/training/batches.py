"""Batches of training data: arrays cut into rows, datasets, generators and sequences of batches.

All of them become an iterable of tuples (x, y, sample_weight), from which the loops in `fitting` draw.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autodiff_lab.engine import nest
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.ops.random_state import generator_for

Batch = tuple[Any, Any, Any]


def is_array(value: Any) -> bool:
    """Return whether a value is one array: a tensor, NumPy array or table, or a list of numbers."""
    if isinstance(value, (list, tuple)):
        return not any(item is None or isinstance(item, Mapping) for item in value) and not any(
            isinstance(leaf, (Tensor, Variable)) or hasattr(leaf, "__array__") for leaf in nest.flatten(value)[0]
        )
    return isinstance(value, (Tensor, Variable)) or hasattr(value, "__array__")


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """Apply a function to each array of a structure of lists, tuples and dicts; None stays.

    Examples
    --------
    >>> mapped(len, {"a": np.ones(3), "b": (np.ones(2), None)})
    {'a': 3, 'b': (2, None)}
    """
    leaves, rebuild = nest.flatten(value, leaf=is_array)
    return rebuild([None if leaf is None else function(leaf) for leaf in leaves])


def arrays_of(value: Any) -> list[Any]:
    """Return the arrays of a structure, in order."""
    return [leaf for leaf in nest.flatten(value, leaf=is_array)[0] if leaf is not None]


def as_rows(value: Any, what: str) -> Any:
    """Return an array whose first axis is that of the examples.

    Raises
    ------
    ShapeMismatch
        If it has no axis.
    """
    array = value._array if isinstance(value, (Tensor, Variable)) else np.asarray(value)
    if not array.ndim:
        raise ShapeMismatch(f"fit: {what} must have an axis of examples, got a scalar.")
    return array


class Rows:
    """Batches cut from arrays that have one row per example.

    Raises
    ------
    ShapeMismatch
        If the arrays differ in their number of rows.
    InvalidArgumentError
        If the batch size is less than 1.
    """

    def __init__(self, x: Any, y: Any = None, weights: Any = None, batch_size: int | None = None,
                 shuffle: bool = False) -> None:  # fmt: skip
        self.data: Batch = tuple(  # type: ignore[assignment]
            mapped(lambda array, what=what: as_rows(array, what), part)
            for part, what in ((x, "x"), (y, "y"), (weights, "sample_weight"))
        )
        counts = {len(array) for array in arrays_of(self.data)}
        if len(counts) != 1:
            raise ShapeMismatch(
                f"fit: x, y and sample_weight must have the same number of examples, got {sorted(counts)}."
            )
        (self.count,) = counts
        self.batch_size = 32 if batch_size is None else batch_size
        if self.batch_size < 1:
            raise InvalidArgumentError(f"fit: batch_size must be at least 1, got {batch_size}.")
        self.shuffle = shuffle

    def __len__(self) -> int:
        return math.ceil(self.count / self.batch_size)

    def __iter__(self) -> Iterator[Batch]:
        order = generator_for(None).permutation(self.count) if self.shuffle else None
        for start in range(0, self.count, self.batch_size):
            rows: Any = slice(start, start + self.batch_size)
            taken = rows if order is None else order[rows]
            yield mapped(lambda array, taken=taken: array[taken], self.data)

    def split(self, share: float) -> tuple[Rows, Rows]:
        """Return the first examples, and the given share of the last ones.

        Raises
        ------
        InvalidArgumentError
            If one of the two parts would be empty.
        """
        first = math.floor(self.count * (1 - share))
        if not 0 < first < self.count:
            raise InvalidArgumentError(
                f"fit: validation_split={share} of {self.count} examples leaves one part empty. Try a number between "
                "0 and 1."
            )
        (x, y, w), (x_last, y_last, w_last) = (
            mapped(lambda array, rows=rows: array[rows], self.data) for rows in (slice(first), slice(first, None))
        )
        return Rows(x, y, w, self.batch_size, self.shuffle), Rows(x_last, y_last, w_last, self.batch_size)


class Stream:
    """Batches that a dataset, a generator or a sequence of batches yields: x, (x, y) or (x, y, sample_weight).

    A generator is drawn from once; everything else starts again in each epoch.
    """

    def __init__(self, source: Iterable[Any]) -> None:
        self.source = source
        self.once = isinstance(source, Iterator)

    def __len__(self) -> int:
        """Return the number of batches; 0 if it is unknown."""
        if hasattr(self.source, "cardinality"):
            return max(0, int(self.source.cardinality()))  # type: ignore[attr-defined]
        return len(self.source) if hasattr(self.source, "__len__") else 0  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Batch]:
        if isinstance(self.source, Iterable):
            yield from map(unpacked, self.source)
        else:  # a sequence of batches in the manner of Keras, which only has __len__ and __getitem__
            for i in range(len(self)):
                yield unpacked(self.source[i])
        if hasattr(self.source, "on_epoch_end"):
            self.source.on_epoch_end()  # type: ignore[attr-defined]


def unpacked(batch: Any) -> Batch:
    """Return x, y and sample weights of what a dataset yields; missing ones are None.

    Examples
    --------
    >>> unpacked(([1.0], [2.0]))
    ([1.0], [2.0], None)
    """
    if not isinstance(batch, tuple):
        return (batch, None, None)
    if not 1 <= len(batch) <= 3:
        raise InvalidArgumentError(
            f"fit: a batch must be x, (x, y) or (x, y, sample_weight), got a tuple of {len(batch)} items."
        )
    return (*batch, None, None)[:3]  # type: ignore[return-value]


def batches_of(x: Any, y: Any = None, weights: Any = None, batch_size: int | None = None,
               shuffle: bool = False) -> Rows | Stream:  # fmt: skip
    """Return the batches of what was given to `fit`, `evaluate` or `predict`.

    Raises
    ------
    InvalidArgumentError
        If `x` yields batches by itself and `y`, `sample_weight` or `batch_size` are given too.
    """
    if x is None:
        raise InvalidArgumentError("fit: x is None. Try model.fit(x, y) with arrays, or a dataset of batches (x, y).")
    is_keras_sequence = hasattr(x, "__len__") and hasattr(x, "__getitem__") and not isinstance(x, (Sequence, Mapping))
    if is_array(x) or isinstance(x, (list, tuple, Mapping)):
        return Rows(x, y, weights, batch_size, shuffle)
    if not isinstance(x, Iterable) and not is_keras_sequence:
        raise InvalidArgumentError(f"fit: x must be arrays or an iterable of batches, got {type(x).__name__}.")
    for given, name in ((y, "y"), (weights, "sample_weight"), (batch_size, "batch_size")):
        if given is not None:
            raise InvalidArgumentError(
                f"fit: {name} cannot be given with a {type(x).__name__}, which yields whole batches. Try "
                "dataset.batch(32) with elements (x, y)."
            )
    return Stream(x)


def rows_in(x: Any) -> int:
    """Return the number of examples in a batch: the length of the first axis of its first array."""
    for array in arrays_of(x):
        shape = getattr(array, "shape", None)
        return int(shape[0]) if shape is not None and len(shape) else 1
    return 0


def class_weights(y: Any, weights: Any, table: Mapping[int, float]) -> Any:
    """Return sample weights by class: `table` maps class numbers to weights, others weigh 1.

    Examples
    --------
    >>> class_weights(np.array([0, 1, 1]), None, {1: 3.0}).tolist()
    [1.0, 3.0, 3.0]
    """
    classes = y._array if isinstance(y, (Tensor, Variable)) else np.asarray(y)
    if classes.ndim > 1:
        classes = classes.argmax(-1) if classes.shape[-1] > 1 else classes[..., 0]
    each = np.ones(classes.shape, np.float32)
    for number, weight in table.items():
        each[classes == number] = weight
    return each if weights is None else each * np.asarray(weights)
