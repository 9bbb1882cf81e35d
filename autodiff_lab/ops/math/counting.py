"""Counting and order: bins, histograms, confusion matrices, hits among the best, permutations undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import alone, convert, whole
from autodiff_lab.engine.dtypes import public
from autodiff_lab.engine.shape import as_integer, flag
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.events.listener import tell_made, tell_peek, trace_now, unheard, values_in_trace
from autodiff_lab.kernels.arrays import arange, beside, full, on_gpu, ranked
from autodiff_lab.kernels.checks import require, told
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.creation import as_shape
from autodiff_lab.ops.array.gathering import scatter_nd, where
from autodiff_lab.ops.array.joining import stack
from autodiff_lab.ops.array.shaping import reshape
from autodiff_lab.ops.checks import not_integers
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.math.arithmetic import maximum, minimum
from autodiff_lab.ops.math.comparison import floor, greater_equal, less, less_equal
from autodiff_lab.ops.math.reductions import reduce_all, reduce_max
from autodiff_lab.ops.math.segments import sum_segments
from autodiff_lab.ops.structured import structured

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, TensorLike


def _inverted(x: Any) -> Any:
    order = np.argsort(ranked(x))
    require(x.ndim == 1 and np.all(x[order] == arange(len(x), x)), lambda: InvalidArgumentError(
        f"invert_permutation: {told(ranked(x))} is not a permutation of 0 to n - 1."))
    return order.astype(x.dtype)


inverse_order = general(
    "invert_permutation", _inverted, None, warns=False, symbol="π⁻¹", latex="{0}^{{-1}}",
    sentence="finds the permutation that undoes {0}", registered="InvertPermutation",
    doc="The kernel-level inversion; `lab.math.invert_permutation` is the public function.")


def _among_best(targets: Any, predictions: Any, k: int) -> Any:
    if not predictions.shape[1]:
        return full(targets.shape, False, targets, np.bool_)
    rows = arange(len(targets), targets)
    inside = (targets >= 0) & (targets < predictions.shape[1])
    score = predictions[rows, np.where(inside, targets, 0)]
    better = np.sum(predictions > score[:, None], axis=1)
    return inside & np.all(np.isfinite(predictions), axis=1) & (better < k)


hits = general(
    "in_top_k", _among_best, None, warns=False, symbol="∈ top k", latex=r"{0} \in \operatorname{{top}}_k {1}",
    sentence="asks whether {0} is among the best of {1}", registered="InTopKV2",
    doc="The kernel-level test; `lab.math.in_top_k` is the public function.")


def _integers(value: Any, what: str) -> Any:
    array = ranked(alone(convert(value))._array)
    if array.size and array.dtype.kind not in "iu":
        raise not_integers(public(array.dtype), f"{what}: numbers")
    return array.astype(np.int64)


def _in_trace(*values: Any) -> bool:
    """Return whether integers may change from call to call of a program, so that ops must count them."""
    return trace_now() is not None and all(
        value._held.dtype.kind in "iu" and value._held.size and not on_gpu(value._held) for value in values)


def invert_permutation(x: TensorLike, name: str | None = None) -> Tensor:
    order = alone(convert(x))
    if order._held.size and order._held.dtype.kind not in "iu":
        raise not_integers(order.dtype, "invert_permutation: numbers")
    return inverse_order(order, name=name)


def in_top_k(targets: TensorLike, predictions: TensorLike, k: TensorLike, name: str | None = None) -> Tensor:
    found, x = convert(targets), convert(predictions)
    if found._held.size and found._held.dtype.kind not in "iu":
        raise not_integers(found.dtype, "in_top_k: targets")
    if x._held.ndim != 2 or found._held.shape != x._held.shape[:1]:
        raise ShapeMismatch(f"in_top_k: expected targets (n) and predictions (n, classes), got {found._held.shape} "
                            f"and {x._held.shape}.")
    return hits(found, x, k=whole(k, "in_top_k: k"), name=name)


@structured(2)
def bincount(arr: TensorLike, weights: TensorLike | None = None, minlength: TensorLike | None = None,
             maxlength: TensorLike | None = None, dtype: DTypeLike = "int32",
             name: str | None = None, axis: int | None = None, binary_output: bool = False) -> Tensor:
    given, binary_output = convert(arr), flag(binary_output, "bincount: binary_output")
    traced = _in_trace(given)
    numbers = ranked(values_in_trace(given)) if traced else _integers(arr, "bincount")
    if numbers.size and numbers.min() < 0:
        raise InvalidArgumentError(f"bincount: numbers must not be negative, got {int(numbers.min())}.")
    if not (axis is None or (isinstance(axis, int) and axis in (0, -1))) or (axis == -1 and numbers.ndim > 2):
        raise InvalidArgumentError(f"bincount: axis must be None, 0 or -1 (of a vector or a matrix), got {axis}.")
    if traced:
        return named(_counted_in_trace(given, weights, minlength, maxlength, dtype, axis, binary_output), name)
    length = (int(numbers.max()) if numbers.size else -1) + 1
    length = max(length, as_integer(minlength, "bincount: minlength", 0)) if minlength is not None else length
    length = min(length, as_integer(maxlength, "bincount: maxlength", 0)) if maxlength is not None else length
    rows = numbers.shape[0] if axis == -1 and numbers.ndim == 2 else 1
    as_shape((rows, length), "bincount: shape")
    kept = numbers < length
    bins = np.where(kept, numbers + arange(rows, numbers).reshape((rows,) + (1,) * (numbers.ndim - 1)) * length
                    if rows > 1 else numbers, rows * length).ravel()
    shape = (rows, length) if axis == -1 and numbers.ndim == 2 else (length,)
    if weights is None or binary_output:
        counts = np.bincount(bins, minlength=rows * length + 1)[:-1].reshape(shape)
        return named(cast(tell_made(wrap(np.minimum(counts, 1) if binary_output else counts)), dtype), name)
    heavy = convert(weights)
    if heavy._held.shape != numbers.shape:
        raise ShapeMismatch(f"bincount: expected weights of shape {numbers.shape}, got {heavy._held.shape}.")
    places = tell_made(wrap(beside(heavy._held, bins)))
    total = sum_segments(reshape(heavy, (numbers.size,)), places, count=rows * length + 1)
    return named(reshape(total[:-1], shape), name)


def _counted_in_trace(given: Tensor, weights: Any, minlength: Any, maxlength: Any, dtype: Any, axis: int | None,
                      binary: bool) -> Tensor:
    """Count by ops: a program assumes that no number is negative, and how many bins there are."""
    with unheard():
        numbers = cast(alone(given), "int64")
        tell_peek(reduce_all(greater_equal(numbers, 0)), "bool")
        least = 0 if minlength is None else as_integer(minlength, "bincount: minlength", 0)
        most = None if maxlength is None else as_integer(maxlength, "bincount: maxlength", 0)
        length = least if most is None or least < most else most
        if length != most:  # else there are as many bins whatever is counted
            bins = maximum(reduce_max(numbers) + 1, least)
            length = whole(bins if most is None else minimum(bins, most), "bincount: maxlength")
        in_rows = axis == -1 and given._held.ndim == 2
        rows = given._held.shape[0] if in_rows else 1
        as_shape((rows, length), "bincount: shape")
        first = tell_made(wrap(length * np.arange(rows)[:, None] if in_rows else np.int64(0)))
        places = reshape(where(less(numbers, length), numbers + first, rows * length), (-1,))
        ones = tell_made(wrap(np.ones(given._held.shape, np.int64)))
    heavy = ones if weights is None or binary else convert(weights)
    if heavy._held.shape != given._held.shape:
        raise ShapeMismatch(f"bincount: expected weights of shape {given._held.shape}, got {heavy._held.shape}.")
    total = sum_segments(reshape(heavy, (-1,)), places, count=rows * length + 1)
    total = reshape(total[:-1], (rows, length) if in_rows else (length,))
    return cast(minimum(total, 1) if binary else total, dtype) if heavy is ones else total


def confusion_matrix(labels: TensorLike, predictions: TensorLike, num_classes: TensorLike | None = None,
                     weights: TensorLike | None = None,
                     dtype: DTypeLike = "int32", name: str | None = None) -> Tensor:
    classes = convert(labels), convert(predictions)
    traced = _in_trace(*classes)
    true, guessed = [ranked(values_in_trace(one)) if traced else _integers(one, "confusion_matrix") for one in classes]
    if true.ndim != 1 or true.shape != guessed.shape:
        raise ShapeMismatch(f"confusion_matrix: expected two vectors of one length, got shapes {true.shape} and "
                            f"{guessed.shape}.")
    both, pairs = np.stack([true, guessed], -1), None
    if traced:
        with unheard():
            pairs = stack([cast(alone(one), "int64") for one in classes], -1)
            num_classes = reduce_max(pairs) + 1 if num_classes is None else num_classes
    count = (int(both.max()) if both.size else -1) + 1 if num_classes is None else whole(
        num_classes, "confusion_matrix: num_classes")
    if both.size and (both.min() < 0 or both.max() >= count):
        raise InvalidArgumentError(f"confusion_matrix: classes must be in [0, {count}), got {int(both.min())} to "
                                   f"{int(both.max())}.")
    heavy = tell_made(wrap(full((len(true),), 1, true))) if weights is None else convert(weights)
    at = tell_made(wrap(both)) if pairs is None else pairs
    return named(scatter_nd(at, cast(heavy, dtype), (count, count)), name)


def histogram_fixed_width_bins(values: TensorLike, value_range: TensorLike, nbins: TensorLike = 100,
                               dtype: DTypeLike = "int32",
                               name: str | None = None) -> Tensor:
    x = convert(values)
    ends, count = convert(value_range, x), whole(nbins, "histogram_fixed_width: nbins")
    tell_peek(ends, "histogram_fixed_width_bins")
    if ends._held.dtype.kind not in "fiuV" or x._held.dtype.kind not in "fiuV":
        raise DtypeMismatch(f"histogram_fixed_width: values and value_range must be numbers, got {x.dtype.name} and "
                            f"{ends.dtype.name}.")
    if ends._held.shape != (2,) or not ends._array[0] < ends._array[1] or count < 1:
        raise InvalidArgumentError("histogram_fixed_width_bins: expected a range [low, high] and at least one bin, "
                                   f"got {ends._array} and {count}.")
    low, high = (tell_made(wrap(x._held.dtype.type(end))) for end in ends._array)
    place = cast(floor(cast((x - low) / (high - low) * count, "float64")), "int64")
    return named(cast(minimum(maximum(place, 0), count - 1), dtype), name)


def histogram_fixed_width(values: TensorLike, value_range: TensorLike, nbins: TensorLike = 100,
                          dtype: DTypeLike = "int32",
                          name: str | None = None) -> Tensor:
    bins = histogram_fixed_width_bins(values, value_range, nbins)
    return named(bincount(bins, minlength=nbins, dtype=dtype), name)


def _neighbours(x: Any) -> tuple[Tensor, Tensor]:
    flat = reshape(x, (-1,))
    return flat[:-1], flat[1:]


def is_non_decreasing(x: TensorLike, name: str | None = None) -> Tensor:
    before, after = _neighbours(x)
    return named(reduce_all(less_equal(before, after)), name)


def is_strictly_increasing(x: TensorLike, name: str | None = None) -> Tensor:
    before, after = _neighbours(x)
    return named(reduce_all(less(before, after)), name)


_NONE = "none: gradients stop at integers"
document((
    (invert_permutation, "The permutation that undoes a permutation.", "x (n) -> (n)", "any integer", _NONE,
     ">>> print(lab.math.invert_permutation([2, 0, 1]))\nTensor([1 2 0], shape=(3,), dtype=int32)"),
    (in_top_k, "Whether the score of the target is among the k best of its row; a tie at the edge counts.",
     "targets (n), predictions (n, classes) -> (n)", "integers and floats to bool", _NONE,
     ">>> print(lab.math.in_top_k([1, 0], [[0.1, 0.9], [0.2, 0.8]], 1))\n"
     "Tensor([ True False], shape=(2,), dtype=bool)"),
    (bincount, "How often each number from 0 up occurs, or the sum of weights where it does.",
     "arr (*s) -> (largest number + 1)", "integers to `dtype`, or to that of the weights",
     "none for arr; gathers back for weights",
     ">>> print(lab.math.bincount([1, 1, 3]))\nTensor([0 2 0 1], shape=(4,), dtype=int32)"),
    (confusion_matrix, "How often each true class (row) was taken for each class (column).",
     "labels (n), predictions (n) -> (num_classes, num_classes)", "integers to `dtype`",
     "none for the classes; gathers back for weights",
     ">>> print(lab.math.confusion_matrix([0, 1, 1], [0, 1, 0]))\n"
     "Tensor([[1 0]\n [1 1]], shape=(2, 2), dtype=int32)"),
    (histogram_fixed_width_bins, "The number of the bin of each value; values beyond the range count to the end bins.",
     "values (*s), value_range (2) -> (*s)", "real numbers to `dtype`", _NONE,
     ">>> print(lab.histogram_fixed_width_bins([-1.0, 0.5, 9.0], [0.0, 5.0], nbins=5))\n"
     "Tensor([0 0 4], shape=(3,), dtype=int32)"),
    (histogram_fixed_width, "How many values each bin of a range has.", "values (*s), value_range (2) -> (nbins)",
     "real numbers to `dtype`", _NONE,
     ">>> print(lab.histogram_fixed_width([-1.0, 0.5, 9.0], [0.0, 5.0], nbins=5))\n"
     "Tensor([2 0 0 0 1], shape=(5,), dtype=int32)"),
    (is_non_decreasing, "Whether no element is less than the one before it.", "x (*s) -> ()", "any number to bool",
     _NONE, ">>> print(lab.math.is_non_decreasing([1.0, 1.0, 2.0]))\nTensor(True, shape=(), dtype=bool)"),
    (is_strictly_increasing, "Whether every element is greater than the one before it.", "x (*s) -> ()",
     "any number to bool", _NONE,
     ">>> print(lab.math.is_strictly_increasing([1.0, 1.0, 2.0]))\nTensor(False, shape=(), dtype=bool)"),
), columns="summary shapes dtypes derivative example", raises=("shape", "argument", "dtypes"))
