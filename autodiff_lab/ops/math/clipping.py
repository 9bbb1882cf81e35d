"""Gradient clipping: norms of lists of tensors, and scaling by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.indexed_slices import IndexedSlices
from autodiff_lab.engine.nest import slices
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.events.listener import sinks_now, trace_now
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.creation import ones_like
from autodiff_lab.ops.array.gathering import where
from autodiff_lab.ops.array.selection import unique_numbers
from autodiff_lab.ops.checks import floats
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.math.arithmetic import add_n, divide, maximum, minimum, multiply, sqrt, square
from autodiff_lab.ops.math.reductions import reduce_sum

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import IntsLike, TensorLike


def _length(squares: Tensor) -> Tensor:
    """Return the square root with a gradient of 0, not nan, at 0."""
    if not sinks_now():
        return sqrt(squares)
    positive = squares > 0
    safe = where(positive, squares, ones_like(squares))
    return where(positive, sqrt(safe), squares)


def without_repeats(t: Any) -> Any:
    """Return slices in which rows of one position are added up; rows of 0 at position 0 fill the places left over.

    A norm or a bound is that of the tensor that slices stand for.
    """
    at = t.indices
    if trace_now() is None and np.unique(at._array).size == at._held.size:
        return t
    from autodiff_lab.ops.math.segments import unsorted_segment_max, unsorted_segment_sum

    count, number = at._held.size, unique_numbers(at)
    rows = unsorted_segment_sum(t.values, number, count)
    return IndexedSlices(rows, maximum(unsorted_segment_max(at, number, count), 0), t._shape)


def clip_by_norm(t: TensorLike, clip_norm: TensorLike, axes: IntsLike | None = None, name: str | None = None) -> Any:
    if slices(t):
        rows = without_repeats(t)
        return named(rows.with_values(clip_by_norm(rows.values, clip_norm, axes)), name)
    x = floats(t, "clip_by_norm", False)
    length = _length(reduce_sum(square(x), axes, True))
    return divide(multiply(x, clip_norm), maximum(length, clip_norm), name=name)


def clip_by_average_norm(t: TensorLike, clip_norm: TensorLike, name: str | None = None) -> Tensor:
    x = floats(t, "clip_by_average_norm", False)
    average = _length(reduce_sum(square(x))) / max(x._held.size, 1)
    return multiply(x, minimum(divide(clip_norm, maximum(average, clip_norm)), 1.0), name=name)


def _given(t_list: Any, what: str) -> list[Any]:
    if isinstance(t_list, Tensor) or not isinstance(t_list, Sequence):
        raise InvalidArgumentError(f"{what}: expected a list of tensors, got {type(t_list).__name__}. Try [x].")
    return [without_repeats(t) if slices(t) else t for t in t_list]


def _tensors(given: list[Any], what: str) -> list[Tensor | None]:
    return [None if t is None else floats(t.values if slices(t) else t, what, False) for t in given]


def global_norm(t_list: Sequence[TensorLike | None], name: str | None = None) -> Tensor:
    there = [t for t in _tensors(_given(t_list, "global_norm"), "global_norm") if t is not None]
    if not there:
        return named(convert(0.0), name)
    return sqrt(add_n([reduce_sum(square(t)) for t in there]), name=name)


def clip_by_global_norm(t_list: Sequence[TensorLike | None], clip_norm: TensorLike, use_norm: TensorLike | None = None,
                        name: str | None = None) -> tuple[list[Any], Tensor]:
    given = _given(t_list, "clip_by_global_norm")
    tensors = _tensors(given, "clip_by_global_norm")
    norm = global_norm(tensors) if use_norm is None else convert(use_norm)
    limit = convert(clip_norm, norm)
    # 1/norm is 0 where the norm is inf or nan; taking the norm minus itself makes the result nan then, so that an
    # overflow does not pass for an ordinary step.
    scale = multiply(limit, minimum(divide(1.0, norm), divide(1.0, limit))) + (norm - norm)
    found: list[Any] = [None if t is None else multiply(t, cast(scale, t.dtype)) for t in tensors]
    return named(([t.with_values(x) if slices(t) else x for t, x in zip(given, found, strict=True)], norm), name)


_SAME = "t (*s) -> (*s)"
document((
    (clip_by_norm, "t, scaled down to a norm of clip_norm over axes if its norm is larger.", _SAME,
     "1 where the norm is small enough, else clip_norm/‖t‖ across t; 1 at 0",
     ">>> print(lab.clip_by_norm([3.0, 4.0], 1.0))\nTensor([0.6 0.8], shape=(2,), dtype=float32)"),
    (clip_by_average_norm, "t, scaled down so that its norm over its number of elements is at most clip_norm.", _SAME,
     "1 where the norm is small enough", ">>> print(lab.clip_by_average_norm([3.0, 4.0], 1.25))\n"
     "Tensor([1.5 2. ], shape=(2,), dtype=float32)"),
    (global_norm, "The norm of all elements of a list of tensors; None among them is left out.", "list of (*s) -> ()",
     "x over the norm; infinite times 0 at 0", ">>> print(lab.linalg.global_norm([[3.0], [4.0]]))\n"
     "Tensor(5.0, shape=(), dtype=float32)"),
    (clip_by_global_norm, "Tensors scaled down together to a joint norm of at most clip_norm, and the norm before; "
     "all nan if the norm is not finite.", "list of (*s) -> list of (*s), ()",
     "1 where the norm is small enough", ">>> tensors, norm = lab.clip_by_global_norm([[3.0], [4.0], None], 1.0)\n"
     ">>> print(tensors[0], norm)\nTensor([0.6], shape=(1,), dtype=float32) Tensor(5.0, shape=(), dtype=float32)"),
), raises=("argument", "dtypes", "convert"))
