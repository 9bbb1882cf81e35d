"""Diagonals and bands of matrices, which are the last two axes.

Several diagonals at once are packed into the rows of a matrix.  Diagonals k of different lengths fill rows of one
length, and are aligned at their left or right end as TensorFlow's ``align`` says; superdiagonals and subdiagonals each
have a side, and the main diagonal is on the left if either is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import alone, convert, convert_pair
from autodiff_lab.engine.shape import as_integer, as_integers
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.events.listener import tell_made
from autodiff_lab.kernels.arrays import arange, bits_of, full, ranked, word_of, zeros
from autodiff_lab.ops.array.gathering import laid_beside, where
from autodiff_lab.ops.array.shaping import reshape
from autodiff_lab.ops.checks import one_of
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.math.reductions import reduce_sum

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike

ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


def bounds(k: Any, what: str) -> tuple[int, int]:
    """Return the lowest and the highest diagonal that an argument `k` names.

    Raises
    ------
    InvalidArgumentError
        If it is neither a number nor a pair of them in ascending order.
    """
    if k.__class__ is int:
        return k, k
    given = as_integers(getattr(k, "_array", k), f"{what}: k")
    if len(given) not in (1, 2) or given[0] > given[-1]:
        raise InvalidArgumentError(f"{what}: k must be a diagonal or a pair (lowest, highest), got {k!r}.")
    return given[0], given[-1]


def longest(low: int, high: int, rows: int, columns: int) -> int:
    """Return the length of the longest diagonal of a range."""
    return max(min(rows + min(high, 0), columns - max(low, 0)), 0)


def lines(low: int, high: int, rows: int, columns: int, align: str) -> Iterator[tuple[int, slice, slice]]:
    """Per diagonal that is not empty: its packed row, its place in that row, and its place in the flattened matrix."""
    above, below = align.split("_")
    width = longest(low, high, rows, columns)
    for row, k in enumerate(range(high, low - 1, -1)):
        length = min(rows + min(k, 0), columns - max(k, 0))
        if length > 0:
            left = (k >= 0 and above == "LEFT") or (k <= 0 and below == "LEFT")
            first = 0 if left else width - length
            start = max(-k, 0) * columns + max(k, 0)
            yield row, slice(first, first + length), slice(start, start + length * (columns + 1), columns + 1)


def _extract(x: Any, low: int, high: int, align: str) -> Any:
    rows, columns = x.shape[-2:]
    packed = zeros((*x.shape[:-2], high - low + 1, longest(low, high, rows, columns)), x)
    flat = x.reshape(*x.shape[:-2], rows * columns)
    for row, place, line in lines(low, high, rows, columns, align):
        packed[..., row, place] = flat[..., line]
    return packed


def _embed(x: Any, low: int, high: int, rows: int, columns: int, align: str) -> Any:
    flat = zeros((*x.shape[:-2], rows * columns), x)
    for row, place, line in lines(low, high, rows, columns, align):
        flat[..., line] = x[..., row, place]
    return flat.reshape(*x.shape[:-2], rows, columns)


extract_range = general(
    "diag_range_part", _extract,
    lambda ops, g, out, x, low, high, align: ops.diag_range(
        g, low=low, high=high, rows=x.shape[-2], columns=x.shape[-1], align=align),
    warns=False, symbol="diag⁻¹", latex=r"\operatorname{{diag}}^{{-1}}({0})", locals_latex=("1",),
    sentence="takes diagonals of {0}", keeps="nothing",
    doc="The kernel-level packed diagonals; `lab.linalg.diag_part(x, k=(low, high))`.")
embed_range = general(
    "diag_range", _embed,
    lambda ops, g, out, x, low, high, rows, columns, align: ops.diag_range_part(g, low=low, high=high, align=align),
    warns=False,
    symbol="diag", latex=r"\operatorname{{diag}}({0})", locals_latex=("1",), sentence="puts {0} on diagonals",
    keeps="nothing", doc="The kernel-level matrix of packed diagonals; `lab.linalg.diag(x, k=(low, high))`.")


def _diag(x: Any, k: int, rows: int, columns: int) -> Any:
    """Return a vector (..., n) on diagonal k of zeros (..., rows, columns)."""
    x = ranked(x)
    flat, n = zeros((*x.shape[:-1], rows * columns), x), x.shape[-1]
    if n:
        first = max(-k, 0) * columns + max(k, 0)
        flat[..., first:first + (n - 1) * (columns + 1) + 1:columns + 1] = x
    return flat.reshape(*x.shape[:-1], rows, columns)


def _diag_part(x: Any, k: int) -> Any:
    return np.diagonal(x, offset=k, axis1=-2, axis2=-1).copy()


diag_embed = general(
    "diag", _diag, lambda ops, g, out, x, k, rows, columns: ops.diag_part(g, k=k), warns=False,
    symbol="diag", latex=r"\operatorname{{diag}}({0})", locals_latex=("1",), sentence="puts {0} on a diagonal",
    keeps="nothing", registered="MatrixDiagV3", doc="The kernel-level diagonal matrix; `lab.linalg.diag`.")
diag_extract = general(
    "diag_part", _diag_part,
    lambda ops, g, out, x, k: ops.diag(g, k=k, rows=x.shape[-2], columns=x.shape[-1]), warns=False,
    symbol="diag⁻¹", latex=r"\operatorname{{diag}}^{{-1}}({0})", locals_latex=("1",),
    sentence="takes the diagonal of {0}", keeps="nothing", registered="MatrixDiagPartV3",
    doc="The kernel-level diagonal of a matrix; `lab.linalg.diag_part`.")


def _within(rows: int, columns: int, lower: int, upper: int, like: Any) -> Any:
    """Return where the elements of a band lie in a matrix of that shape."""
    row, column = arange(rows, like, np.int32)[:, None], arange(columns, like, np.int32)
    kept = full((rows, columns), True, like, np.bool_) if lower < 0 else column >= row - min(lower, rows)
    return kept & (column - min(upper, columns) <= row) if upper >= 0 else kept


def _bits(rows: int, columns: int, lower: int, upper: int, word: Any) -> Any:
    return bits_of(_within(rows, columns, lower, upper, np.empty(0)), word)


_SMALL = 16_384
"""Elements of matrices up to which masks are kept: making one takes longer than using it."""
_bits_small = lru_cache(maxsize=32)(_bits)


def _band(x: Any, lower: int, upper: int) -> Any:
    rows, columns = x.shape[-2:]
    word = word_of(x)
    if word is None:
        return np.where(_within(rows, columns, lower, upper, x), x, x.dtype.type(0))
    bits = (_bits_small if rows * columns <= _SMALL else _bits)(rows, columns, lower, upper, word)
    return np.bitwise_and(x.view(word), bits).view(x.dtype)


band = general(
    "band_part", _band, lambda ops, g, out, x, lower, upper: ops.band_part(g, lower=lower, upper=upper),
    warns=False,
    symbol="band", latex=r"\operatorname{{band}}({0})", locals_latex=("1",), sentence="keeps a band of {0}",
    keeps="nothing", registered="MatrixBandPart", doc="The kernel-level band of a matrix; `lab.linalg.band_part`.")


def matrix(value: Any, name: str) -> Tensor:
    """Return the value as a tensor of at least two axes."""
    return _of_two_axes(value, f"{name}: expected a matrix (*b, m, n)", "lab.expand_dims")


def right_hand_sides(value: Any, name: str) -> Tensor:
    """Return the right-hand sides of linear systems as a tensor of at least two axes."""
    wanted = f"{name}: expected right-hand sides as the columns of a matrix (*b, m, k)"
    return _of_two_axes(value, wanted, "b[:, lab.newaxis], and [:, 0] of the result")


def _of_two_axes(value: Any, wanted: str, cure: str) -> Tensor:
    x = alone(convert(value))
    if x._held.ndim < 2:
        raise ShapeMismatch(f"{wanted}, got shape {x._held.shape}. Try {cure}.")
    return x


def square(value: Any, name: str) -> Tensor:
    """Return the value as a tensor whose last two axes are equal."""
    x = matrix(value, name)
    if x._held.shape[-1] != x._held.shape[-2]:
        raise ShapeMismatch(f"{name}: expected a square matrix (*b, n, n), got shape {x._held.shape}.")
    return x


def as_index(value: Any, what: str) -> int:
    """Return one integer, of whatever kind."""
    return as_integer(getattr(value, "_array", value), what)


def _lengths(low: int, high: int, longest_one: int, num_rows: Any, num_cols: Any) -> tuple[int, int]:
    """Return the rows and columns of the matrix of some diagonals: by default as few as hold them."""
    rows, columns = as_index(num_rows, "diag: num_rows"), as_index(num_cols, "diag: num_cols")
    least = longest_one - min(high, 0), longest_one + max(low, 0)
    if rows == -1 == columns:
        return max(least), max(least)
    found = least[0] if rows == -1 else rows, least[1] if columns == -1 else columns
    if found[0] < least[0] or found[1] < least[1] or (found[0] != least[0] and found[1] != least[1]):
        raise InvalidArgumentError(f"diag: diagonals {low} to {high} of length {longest_one} do not fit a matrix of "
                                   f"shape {found}. They fit one of shape {least}, or with more rows or more columns.")
    return found


def _padded(part: Tensor, low: int, high: int, align: str, padding_value: Any, matrix_shape: Any) -> Tensor:
    """Fill packed diagonals where a short one ends."""
    there = np.zeros(part._held.shape[-2:], bool)
    rows, columns = matrix_shape
    for row, place, _ in lines(low, high, rows, columns, align):
        there[row, place] = True
    if there.all():
        return part
    return _filled("diag_part", part, lambda: there, padding_value)


def _filled(what: str, x: Tensor, there: Callable[[], Any], padding_value: Any) -> Tensor:
    """Put a padding value where a tensor has no element, which a function tells."""
    if padding_value.__class__ in (int, float, bool) and not padding_value:
        return x
    value = convert_pair(diag_embed.op, padding_value, x)[0]  # type: ignore[attr-defined]
    if value._held.ndim or value._held.dtype != x._held.dtype:
        raise InvalidArgumentError(f"{what}: padding_value must be a number of dtype {x.dtype.name}, got "
                                   f"{padding_value!r}.")
    return where(tell_made(laid_beside(x, there())), x, value)


def diag(diagonal: TensorLike, name: str | None = None, k: TensorLike = 0, num_rows: TensorLike = -1,
         num_cols: TensorLike = -1,
         padding_value: TensorLike = 0, align: str = "RIGHT_LEFT") -> Tensor:
    x = convert(diagonal)
    low, high = bounds(k, "diag")
    align = one_of(align, ALIGNMENTS, "diag: align")
    if x._held.ndim < (1 if low == high else 2):
        raise ShapeMismatch(f"diag: expected {'a vector (*b, n)' if low == high else 'packed diagonals (*b, d, n)'}, "
                            f"got shape {x._held.shape}. Try lab.expand_dims.")
    rows, columns = _lengths(low, high, x._held.shape[-1], num_rows, num_cols)
    if low == high:
        whole = diag_embed(x, k=low, rows=rows, columns=columns)
    else:
        _check_packed("diag", x, (*x._held.shape[:-2], rows, columns), low, high)
        whole = embed_range(x, low=low, high=high, rows=rows, columns=columns, align=align)
    return named(_filled("diag", whole, lambda: _between(rows, columns, low, high), padding_value), name)


def _between(rows: int, columns: int, low: int, high: int) -> Any:
    """Return which elements of a matrix lie on diagonals low to high."""
    return (_lying_small if rows * columns <= _SMALL else _lying)(rows, columns, low, high)


def _lying(rows: int, columns: int, low: int, high: int) -> Any:
    distance = np.arange(columns) - np.arange(rows)[:, None]
    there = (distance >= low) & (distance <= high)
    there.setflags(write=False)
    return there


_lying_small = lru_cache(maxsize=32)(_lying)


def _check_packed(what: str, x: Tensor, whole: tuple[int, ...], low: int, high: int) -> None:
    """Check that packed diagonals have the shape of those of a matrix."""
    width = longest(low, high, *whole[-2:])
    wanted = (*whole[:-2], width) if low == high else (*whole[:-2], high - low + 1, width)
    if x._held.shape != wanted:
        raise ShapeMismatch(f"{what}: diagonals {low} to {high} of a matrix of shape {whole} have shape {wanted}, got "
                            f"{x._held.shape}.")


def _check_inside(what: str, shape: tuple[int, ...], low: int, high: int) -> None:
    rows, columns = shape[-2:]
    if any(k and not -rows < k < columns for k in (low, high)):
        raise InvalidArgumentError(f"{what}: k={low if low == high else (low, high)} is out of bounds for a matrix of "
                                   f"shape {shape}, whose diagonals are {min(1 - rows, 0)} to {max(columns - 1, 0)}.")


def diag_part(input: TensorLike, name: str | None = None, k: TensorLike = 0, padding_value: TensorLike = 0,
              align: str = "RIGHT_LEFT") -> Tensor:
    x = matrix(input, "diag_part")
    low, high = bounds(k, "diag_part")
    _check_inside("diag_part", x._held.shape, low, high)
    align = one_of(align, ALIGNMENTS, "diag_part: align")
    if low == high:
        return diag_extract(x, k=low, name=name)
    part = extract_range(x, low=low, high=high, align=align)
    return named(_padded(part, low, high, align, padding_value, x._held.shape[-2:]), name)


def set_diag(input: TensorLike, diagonal: TensorLike, name: str | None = None, k: TensorLike = 0,
             align: str = "RIGHT_LEFT") -> Tensor:
    x = matrix(input, "set_diag")
    v = convert(diagonal, x)
    low, high = bounds(k, "set_diag")
    _check_inside("set_diag", x._held.shape, low, high)
    align = one_of(align, ALIGNMENTS, "set_diag: align")
    rows, columns = x._held.shape[-2:]
    _check_packed("set_diag", v, x._held.shape, low, high)
    if low == high:
        whole = diag_embed(v, k=low, rows=rows, columns=columns)
    else:
        whole = embed_range(v, low=low, high=high, rows=rows, columns=columns, align=align)
    return named(where(tell_made(laid_beside(x, _between(rows, columns, low, high))), whole, x), name)


def band_part(input: TensorLike, num_lower: int, num_upper: int, name: str | None = None) -> Tensor:
    return band(matrix(input, "band_part"), lower=as_index(num_lower, "band_part: num_lower"),
                upper=as_index(num_upper, "band_part: num_upper"), name=name)


def trace(x: TensorLike, name: str | None = None) -> Tensor:
    return named(reduce_sum(diag_part(x), axis=-1), name)


def tensor_diag(diagonal: TensorLike, name: str | None = None) -> Tensor:
    x = convert(diagonal)
    shape = x._held.shape
    if not shape:
        raise ShapeMismatch("tensor_diag: expected a tensor of rank 1 or more, got a scalar. Try lab.reshape.")
    n = x._held.size
    whole = diag_embed(x if len(shape) == 1 else reshape(x, (n,)), k=0, rows=n, columns=n)
    return named(whole if len(shape) == 1 else reshape(whole, shape + shape), name)


def tensor_diag_part(input: TensorLike, name: str | None = None) -> Tensor:
    x = convert(input)
    shape = x._held.shape
    half = len(shape) // 2
    if not shape or len(shape) % 2 or shape[:half] != shape[half:]:
        raise ShapeMismatch(f"tensor_diag_part: expected a tensor (*s, *s), got shape {shape}. Try "
                            "lab.linalg.diag_part for the diagonals of matrices.")
    if half == 1:
        return diag_extract(x, k=0, name=name)
    n = math.prod(shape[:half])
    return named(reshape(diag_extract(reshape(x, (n, n)), k=0), shape[:half]), name)


document((
    (diag, "A matrix with a vector on its diagonal, or on diagonal k; with k=(low, high) the rows of the argument are "
     "diagonals, the highest first.", "(*b, n) -> (*b, n, n), or (*b, d, n) -> (*b, m, n)", "1 for each element",
     ">>> print(lab.linalg.diag([1, 2]))\nTensor([[1 0]\n [0 2]], shape=(2, 2), dtype=int32)"),
    (diag_part, "The diagonal of a matrix, or diagonal k; with k=(low, high) several, the highest first, short ones "
     "filled up with padding_value on the side that align leaves.",
     "(*b, m, n) -> (*b, min(m, n)), or (*b, d, longest)", "1 on the diagonal",
     ">>> print(lab.linalg.diag_part([[1, 2], [3, 4]]))\nTensor([1 4], shape=(2,), dtype=int32)"),
    (set_diag, "A matrix with another diagonal, or other diagonals k=(low, high).",
     "(*b, m, n), (*b, min(m, n)) or (*b, d, longest) -> (*b, m, n)",
     "1 off the diagonal; 1 for the new diagonal",
     ">>> print(lab.linalg.set_diag([[1, 2], [3, 4]], [0, 0]))\nTensor([[0 2]\n [3 0]], shape=(2, 2), dtype=int32)"),
    (band_part, "The diagonals from -num_lower to num_upper; a negative number keeps all on that side.",
     "(*b, m, n) -> (*b, m, n)", "1 inside the band",
     ">>> print(lab.linalg.band_part([[1, 2], [3, 4]], 0, -1))\nTensor([[1 2]\n [0 4]], shape=(2, 2), dtype=int32)"),
    (trace, "Sum of the diagonal.", "(*b, m, n) -> (*b)", "1 on the diagonal",
     ">>> print(lab.linalg.trace([[1, 2], [3, 4]]))\nTensor(5, shape=(), dtype=int32)"),
    (tensor_diag, "A tensor with the elements of another at [i, i], where i stands for as many indices as that has.",
     "(*s) -> (*s, *s)", "1 for each element",
     ">>> print(lab.linalg.tensor_diag([1, 2]))\nTensor([[1 0]\n [0 2]], shape=(2, 2), dtype=int32)"),
    (tensor_diag_part, "The elements at [i, i], where i stands for half of the indices.", "(*s, *s) -> (*s)",
     "1 on the diagonal",
     ">>> print(lab.linalg.tensor_diag_part([[1, 2], [3, 4]]))\nTensor([1 4], shape=(2,), dtype=int32)"),
), dtypes="any", raises=("shape", "argument", "convert"))
