"""Norms of vectors and matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.shape import flag
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.shaping import reshape, squeeze, transpose
from autodiff_lab.ops.checks import axes_in_order
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.linalg.decompositions import svd
from autodiff_lab.ops.math.arithmetic import abs as absolute
from autodiff_lab.ops.math.arithmetic import pow as power
from autodiff_lab.ops.math.arithmetic import sqrt, square
from autodiff_lab.ops.math.complex_numbers import conj
from autodiff_lab.ops.math.reductions import reduce_max, reduce_min, reduce_sum

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import IntsLike, TensorLike


def _axes(axis: Any, rank: int) -> tuple[int, ...] | None:
    """Return the axes from the end, in the order that they were given in, which a matrix norm depends on."""
    if axis is None:
        return None
    return axes_in_order(axis, rank, "norm")


def norm(tensor: TensorLike, ord: str | float = "euclidean", axis: IntsLike | None = None, keepdims: bool | None = None,
         name: str | None = None) -> Tensor:
    if getattr(ord, "shape", None) is not None and not isinstance(ord, np.number):
        raise InvalidArgumentError(f"norm: ord must be a number or a name, got {ord!r:.80}.")
    x = convert(tensor)
    kind = x._held.dtype.kind
    if kind not in "fcV" and ord not in (1, np.inf, -np.inf):
        raise DtypeMismatch(f"norm: expected a floating-point tensor, got {x.dtype.name}. Try "
                            "lab.cast(x, lab.float32).")
    over, keep = _axes(axis, x._held.ndim), flag(keepdims, "norm: keepdims")
    of_matrix = over is not None and len(over) == 2
    if ord in ("euclidean", "fro") or (ord == 2 and not of_matrix):
        return sqrt(reduce_sum(x * conj(x) if kind == "c" else square(x), axis=over, keepdims=keep), name=name)
    if isinstance(ord, bool) or not isinstance(ord, (int, float, np.number)):
        raise InvalidArgumentError(f"norm: unknown ord {ord!r}. Try 'euclidean', 1, 2, numpy.inf or another p > 0.")
    if of_matrix:
        return named(_of_matrices(x, ord, over, keep), name)  # type: ignore[arg-type]
    size = absolute(x)
    if ord == 1:
        return named(reduce_sum(size, axis=over, keepdims=keep), name)
    if ord == np.inf:
        return named(reduce_max(size, axis=over, keepdims=keep), name)
    if ord == -np.inf:
        return named(reduce_min(size, axis=over, keepdims=keep), name)
    if float(ord) > 0:
        return power(reduce_sum(power(size, float(ord)), axis=over, keepdims=keep), 1.0 / float(ord), name=name)
    raise InvalidArgumentError(f"norm: ord must be positive, got {ord!r}. Try 'euclidean', 1, 2 or numpy.inf.")


def _of_matrices(x: Tensor, ord: Any, over: tuple[int, ...], keep: bool) -> Tensor:
    """Return the largest sum of a column (1) or a row (inf), or the largest singular value (2), of matrices."""
    rows, columns = over
    if ord == 2:
        rank = x._held.ndim
        others = [i for i in range(-rank, 0) if i not in over]
        matrices = transpose(x, [*others, rows, columns])
        largest = reduce_max(svd(matrices, compute_uv=False), axis=-1)
        if not keep:
            return largest
        return reshape(largest, tuple(1 if i - rank in over else n for i, n in enumerate(x._held.shape)))
    if ord not in (1, np.inf):
        raise InvalidArgumentError("norm: for matrices ord must be 'euclidean', 'fro', 1, 2 or numpy.inf, got "
                                   f"{ord!r}.")
    summed, chosen = (rows, columns) if ord == 1 else (columns, rows)
    largest = reduce_max(reduce_sum(absolute(x), axis=summed, keepdims=True), axis=chosen, keepdims=True)
    return largest if keep else squeeze(largest, over)


def normalize(tensor: TensorLike, ord: str | float = "euclidean", axis: IntsLike | None = None,
              name: str | None = None) -> tuple[Tensor, Tensor]:
    x = convert(tensor)
    length = norm(x, ord, axis, keepdims=True)
    if length.dtype != x.dtype:
        length = cast(length, x.dtype)
    return named((x / length, length), name)


_ZERO = "x / ‖x‖ for the Euclidean norm, nan at 0; that of the largest singular value for ord=2 of matrices"
document((
    (norm, "The length of vectors: Euclidean, or another p; two axes with ord 1, 2 or inf make a matrix norm. The "
     "Euclidean norm of complex numbers has their dtype, the others are real.", "(*s) -> s without axis", _ZERO,
     ">>> print(lab.norm([3.0, 4.0]))\nTensor(5.0, shape=(), dtype=float32)\n"
     ">>> print(lab.norm([[3.0, 0.0], [4.0, 0.0]], ord=2, axis=[0, 1]))\nTensor(5.0, shape=(), dtype=float32)"),
    (normalize, "A tensor divided by its norm, and the norm.", "(*s) -> (*s), s with axis at length 1",
     "that of the quotient", ">>> print(lab.linalg.normalize([3.0, 4.0])[0])\nTensor([0.6 0.8], shape=(2,), "
     "dtype=float32)"),
), dtypes="floating or complex", raises=("shape", "argument", "dtypes", "convert"))
