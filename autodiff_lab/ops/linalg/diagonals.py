"""Diagonals and bands of matrices, which are the last two axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.placement import alone
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.events import tell_made
from autodiff_lab.kernels.arrays import arange, full, ranked, zeros
from autodiff_lab.ops.array.gathering import where
from autodiff_lab.ops.docs import doc
from autodiff_lab.ops.math.reductions import reduce_sum


def _diag(x: Any, k: int, rows: int, columns: int) -> Any:
    """A vector (..., n) on diagonal k of zeros (..., rows, columns)."""
    x = ranked(x)
    whole = zeros((*x.shape[:-1], rows, columns), x)
    at = arange(x.shape[-1], x)
    whole[..., at + max(-k, 0), at + max(k, 0)] = x
    return whole


def _diag_part(x: Any, k: int) -> Any:
    return np.diagonal(x, offset=k, axis1=-2, axis2=-1).copy()


diag_embed = general(
    "diag", _diag, lambda ops, g, out, x, k, rows, columns: ops.diag_part(g, k=k),
    symbol="diag", latex=r"\operatorname{{diag}}({0})", locals_latex=("1",), sentence="puts {0} on a diagonal",
    keeps="nothing", registered="MatrixDiagV3", doc="The kernel-level diagonal matrix; `lab.linalg.diag`.")
diag_extract = general(
    "diag_part", _diag_part,
    lambda ops, g, out, x, k: ops.diag(g, k=k, rows=x.shape[-2], columns=x.shape[-1]),
    symbol="diag⁻¹", latex=r"\operatorname{{diag}}^{{-1}}({0})", locals_latex=("1",),
    sentence="takes the diagonal of {0}", keeps="nothing", registered="MatrixDiagPartV3",
    doc="The kernel-level diagonal of a matrix; `lab.linalg.diag_part`.")


def _band(x: Any, lower: int, upper: int) -> Any:
    rows, columns = x.shape[-2:]
    distance = arange(columns, x) - arange(rows, x)[:, None]
    kept = full((rows, columns), True, x, np.bool_)
    if lower >= 0:
        kept &= distance >= -lower
    if upper >= 0:
        kept &= distance <= upper
    return np.where(kept, x, x.dtype.type(0))


band = general(
    "band_part", _band, lambda ops, g, out, x, lower, upper: ops.band_part(g, lower=lower, upper=upper),
    symbol="band", latex=r"\operatorname{{band}}({0})", locals_latex=("1",), sentence="keeps a band of {0}",
    keeps="nothing", registered="MatrixBandPart", doc="The kernel-level band of a matrix; `lab.linalg.band_part`.")


def matrix(value: Any, name: str) -> Tensor:
    """The value as a tensor of at least two axes."""
    x = alone(convert(value))
    if x._array.ndim < 2:
        raise ShapeMismatch(f"{name}: a matrix (*b, m, n) is needed, got shape {x._array.shape}. Try lab.expand_dims.")
    return x


def square(value: Any, name: str) -> Tensor:
    """The value as a tensor whose last two axes are equal."""
    x = matrix(value, name)
    if x._array.shape[-1] != x._array.shape[-2]:
        raise ShapeMismatch(f"{name}: a square matrix (*b, n, n) is needed, got shape {x._array.shape}.")
    return x


def diag(diagonal: Any, name: str | None = None, k: int = 0) -> Tensor:
    x = convert(diagonal)
    if x._array.ndim < 1:
        raise ShapeMismatch("diag: a vector (*b, n) is needed, got a scalar. Try lab.expand_dims.")
    n = x._array.shape[-1] + abs(int(k))
    return diag_embed(x, k=int(k), rows=n, columns=n)


def diag_part(input: Any, name: str | None = None, k: int = 0) -> Tensor:
    x = matrix(input, "diag_part")
    if not -x._array.shape[-2] < k < x._array.shape[-1]:
        raise InvalidArgumentError(f"diag_part: there is no diagonal {k} in a matrix of shape {x._array.shape}")
    return diag_extract(x, k=int(k))


def set_diag(input: Any, diagonal: Any, name: str | None = None) -> Tensor:
    x = matrix(input, "set_diag")
    v = convert(diagonal, x)
    rows, columns = x._array.shape[-2:]
    if v._array.shape != (*x._array.shape[:-2], min(rows, columns)):
        raise ShapeMismatch(f"set_diag: the diagonal of {x._array.shape} has shape "
                            f"{(*x._array.shape[:-2], min(rows, columns))}, got {v._array.shape}.")
    on_it = arange(rows, x._array)[:, None] == arange(columns, x._array)
    return where(tell_made(wrap(on_it)), diag_embed(v, k=0, rows=rows, columns=columns), x)


def band_part(input: Any, num_lower: int, num_upper: int, name: str | None = None) -> Tensor:
    return band(matrix(input, "band_part"), lower=int(num_lower), upper=int(num_upper))


def trace(x: Any, name: str | None = None) -> Tensor:
    return reduce_sum(diag_part(x), axis=-1)


def tensor_diag(diagonal: Any, name: str | None = None) -> Tensor:
    return diag(diagonal)


def tensor_diag_part(input: Any, name: str | None = None) -> Tensor:
    return diag_part(input)


for _function, _words, _shapes, _derivative, _example in (
    (diag, "A matrix with a vector on its diagonal, or on diagonal k.", "(*b, n) -> (*b, n, n)", "1 for each element",
     ">>> print(lab.linalg.diag([1, 2]))\nTensor([[1 0]\n [0 2]], shape=(2, 2), dtype=int32)"),
    (diag_part, "The diagonal of a matrix, or diagonal k.", "(*b, m, n) -> (*b, min(m, n))", "1 on the diagonal",
     ">>> print(lab.linalg.diag_part([[1, 2], [3, 4]]))\nTensor([1 4], shape=(2,), dtype=int32)"),
    (set_diag, "A matrix with another diagonal.", "(*b, m, n), (*b, min(m, n)) -> (*b, m, n)",
     "1 off the diagonal; 1 for the new diagonal",
     ">>> print(lab.linalg.set_diag([[1, 2], [3, 4]], [0, 0]))\nTensor([[0 2]\n [3 0]], shape=(2, 2), dtype=int32)"),
    (band_part, "The diagonals from -num_lower to num_upper; a negative number keeps all on that side.",
     "(*b, m, n) -> (*b, m, n)", "1 inside the band",
     ">>> print(lab.linalg.band_part([[1, 2], [3, 4]], 0, -1))\nTensor([[1 2]\n [0 4]], shape=(2, 2), dtype=int32)"),
    (trace, "Sum of the diagonal.", "(*b, m, n) -> (*b)", "1 on the diagonal",
     ">>> print(lab.linalg.trace([[1, 2], [3, 4]]))\nTensor(5, shape=(), dtype=int32)"),
    (tensor_diag, "A matrix with a vector on its diagonal.", "(n) -> (n, n)", "1 for each element",
     ">>> print(lab.linalg.tensor_diag([1, 2]))\nTensor([[1 0]\n [0 2]], shape=(2, 2), dtype=int32)"),
    (tensor_diag_part, "The diagonal of a matrix.", "(n, n) -> (n)", "1 on the diagonal",
     ">>> print(lab.linalg.tensor_diag_part([[1, 2], [3, 4]]))\nTensor([1 4], shape=(2,), dtype=int32)"),
):
    _function.__doc__ = doc(_words, shapes=_shapes, dtypes="any", derivative=_derivative, example=_example,
                            raises=("shape", "argument", "convert"))
