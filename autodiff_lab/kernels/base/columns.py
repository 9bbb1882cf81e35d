"""Arithmetic on operands that broadcast, by rows or by columns, and sums of few elements as products.

NumPy's loop for operands that broadcast, or that do not lie in rows, is as long as the last axis: for points in three
dimensions the loop's start costs more than its three steps.  A loop down each column is as long as there are points.
A reduction pays such a start for every row.  BLAS does not: a matrix times a vector of ones is its sums.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.base.choose import IN_USE
from autodiff_lab.kernels.base.order import FEW, aligned
from autodiff_lab.kernels.base.rows import FEWEST, ROWS, SHORT, spread_of

MANY = 8192
"""Elements below which NumPy is as quick."""
MANY_OF_BOTH = 2048
"""The same where both operands are repeated, as in differences of all pairs."""
FEW_COLUMNS, MANY_ROWS = 6, 1000
"""Columns of a part of a matrix up to which, and rows from which on, passes over its columns are quicker."""
ndarray = np.ndarray
UFUNCS: dict[Callable[..., Any], np.ufunc] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.true_divide,
    operator.lt: np.less,
    operator.le: np.less_equal,
    operator.gt: np.greater,
    operator.ge: np.greater_equal,
    operator.eq: np.equal,
    operator.ne: np.not_equal,
}
"""By Python's operator, the function of NumPy's that it calls."""
LONG_ENOUGH, MUCH_LARGER = 16, 8
"""Elements of a row that are worth spreading an operand, and how many times as large the other one is at least."""
FEW_TO_ADD = 4096
"""Below this number of elements no compiled kernel is asked for a sum: choosing it would cost more."""
FEW_TO_ONE = 1 << 15
"""The same where all elements become one number, which NumPy does as quickly."""
FEW_FOR_A_PRODUCT = 8192
"""Elements that one call into BLAS adds up; it would share larger matrices among threads."""
MOST_UNASKED = 1 << 16
"""Elements up to which several such calls are taken without asking whether a compiled kernel is quicker."""
MOST_FOR_PRODUCTS = 1 << 20
"""Elements that several such calls add up at all; threads of a compiled kernel share more."""
FEWEST_IN_LONG_ROWS = 1 << 15
"""Elements from which on it is worth cutting long rows into pieces."""
LONGEST_ROW = 512
"""Elements of a row that BLAS adds up as precisely as NumPy, which adds pairs in longer ones."""
FEWEST_PIECES = 4
"""Pieces of long rows in a matrix, below which calling BLAS takes longer than adding up."""
FEWEST_ROWS = 6
"""Rows of each part of a matrix that is cut for BLAS, below which NumPy adds row to row as quickly, or in a tenth."""
LONG_COLUMN = 32
"""Elements of a column that is added up by itself where rows are short."""
_ONES = {char: np.ones(FEW_FOR_A_PRODUCT, char) for char in "fd"}


def by_columns(function: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """Return ``function(x, y)`` of two arrays of one dtype, to the last bit, in the quicker of the two ways.

    Parameters
    ----------
    function : callable
        A key of `UFUNCS`, or a ufunc; others are called as they are.
    x, y : ndarray
        Of shapes that broadcast; if they do not, `function` says so.

    Examples
    --------
    >>> import operator
    >>> import numpy as np
    >>> from autodiff_lab.kernels.base.columns import by_columns
    >>> points = np.ones((100, 100, 3), np.float32)
    >>> by_columns(operator.mul, points, points[:, :1]).shape
    (100, 100, 3)
    """
    n, m = x.size, y.size
    if n == 1 or m == 1:
        return function(x, y)
    own, other = x.shape[-1], y.shape[-1]
    if x.shape == y.shape and own >= SHORT:
        return function(*aligned(x, y))
    if x.shape == y.shape and (are_narrow(x) or are_narrow(y)):
        return _over_columns(function, x, y, x.shape)
    if own >= SHORT or other >= SHORT:
        if n + m < FEWEST and not (n * m >= FEWEST and ((own == 1 and other == m) or (other == 1 and own == n))):
            return function(x, y)  # what most calls come to
        loops, how = ROWS.get(function), spread_of(x.shape, y.shape)
        found = None if loops is None or how is None else loops.apply(x, y, how)
        return function(x, y) if found is None else found
    ufunc: Any = UFUNCS.get(function, function)
    if x.dtype.kind != "f" or x.dtype != y.dtype or ufunc.__class__ is not np.ufunc:
        return function(x, y)
    spread_out = _spread_out(x.shape, y.shape)
    if spread_out is not None:
        goals = zip((x, y), spread_out, strict=True)
        return function(*(z if z.shape == goal else np.array(np.broadcast_to(z, goal)) for z, goal in goals))
    shape = _shape_by_columns(x.shape, y.shape)
    return function(x, y) if shape is None else _over_columns(function, x, y, shape)


def are_narrow(x: Any) -> bool:
    """Return whether an array is many rows of a few elements that lie apart, such as the last two of each three."""
    if x.size < MANY_ROWS or x.ndim < 2:  # most arrays
        return False
    count = x.shape[-1]
    apart = 1 < count <= FEW_COLUMNS and x.size >= MANY_ROWS * count and not x.flags.c_contiguous
    return apart and 0 < x.strides[-1] < x.strides[-2]  # else NumPy goes down the columns by itself


def _over_columns(function: Callable[[Any, Any], Any], x: Any, y: Any, shape: tuple[int, ...]) -> Any:
    """Return the result of a function of `by_columns` by a pass over each column."""
    ufunc: Any = UFUNCS.get(function, function)
    if x.dtype.kind != "f" or x.dtype != y.dtype or ufunc.__class__ is not np.ufunc:
        return function(x, y)
    made = np.empty(shape, ufunc.resolve_dtypes((x.dtype, x.dtype, None))[2])
    for k in range(shape[-1]):
        ufunc(x[..., k if x.shape[-1] > 1 else 0], y[..., k if y.shape[-1] > 1 else 0], out=made[..., k])
    return made


def _in_columns(part: Any, g: Any) -> list[tuple[Any, Any]]:
    """Return a part of an array and what belongs there, or the columns of both where those are quicker."""
    if not are_narrow(part) or g.__class__ is not ndarray or g.shape != part.shape:
        return [(part, g)]
    return [(part[..., k], g[..., k]) for k in range(part.shape[-1])]


def write_part(part: Any, g: Any) -> None:
    """Write an array into a part of another one."""
    for there, here in _in_columns(part, g):
        there[...] = here


def add_to_part(part: Any, g: Any) -> None:
    """Add an array to a part of another one, in place."""
    for there, here in _in_columns(part, g):
        np.add(there, here, out=there)


@lru_cache(4096)
def _spread_out(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return the shapes of two operands, the smaller one spread along its last axes, so that NumPy's loop is longer.

    Numbers of 8 groups of 4 columns, (1, 8, 1), become numbers of 32 columns.  None where that does not help.
    """
    whole, part = (x, y) if prod(x) >= prod(y) else (y, x)
    if len(whole) != len(part) or any(m not in (1, n) for n, m in zip(whole, part, strict=True)):
        return None
    for k in range(2, len(whole)):
        goal = (*part[:-k], *whole[-k:])
        if prod(goal) * MUCH_LARGER > prod(whole) or prod(whole) < MANY:
            return None
        if prod(whole[-k:]) >= LONG_ENOUGH:
            return (whole, goal) if whole is x else (goal, whole)
    return None


@lru_cache(4096)
def _shape_by_columns(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the shape that two shapes broadcast to, None where NumPy's loop is as quick or they do not broadcast."""
    try:
        shape = np.broadcast_shapes(x, y)
    except ValueError:
        return None
    size, together = prod(shape), 1
    for n, m in zip(reversed(x), reversed(y), strict=False):  # axes that NumPy takes as one
        if n != m:
            break
        together *= n
    if together > shape[-1]:
        return None
    many = MANY_OF_BOTH if prod(x) < size > prod(y) else MANY
    return shape if len(shape) > 1 and 1 < shape[-1] < SHORT and size >= many else None


def difference(x: Any, y: Any) -> Any:
    """Return x minus y, of whatever kind; by rows or columns where that is quicker."""
    if x.__class__ is ndarray is y.__class__ and x.ndim and y.ndim and x.shape != y.shape:
        return by_columns(operator.sub, x, y)
    return x - y


def product(x: Any, y: Any) -> Any:
    """Return x times y, arrays or numbers; by rows or columns where that is quicker."""
    if x.__class__ is ndarray is y.__class__ and x.ndim and y.ndim:
        short = x.ndim > 1 < y.ndim and x.shape[-1] < SHORT
        apart = x.size >= FEW and x.strides != y.strides
        if apart or (short and not (x.flags.c_contiguous and y.flags.c_contiguous)) or x.shape != y.shape:
            return by_columns(operator.mul, x, y)
    return x * y


class _Product(NamedTuple):
    """The product that a sum is: the shape of the array as a factor, a vector of ones, and the shape of the result.

    Attributes
    ----------
    first : bool
        Whether the ones come first.
    pieces : int
        Into how many pieces, each with sums of its own, a long row or a matrix is cut; 1 if it is whole.
    """

    factor: tuple[int, ...]
    ones: Any
    first: bool
    shape: tuple[int, ...]
    pieces: int = 1


@lru_cache(4096)
def _as_product(shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool, char: str) -> _Product | None:
    """Return the product that adds up neighbouring axes; None if a sum is not one, or NumPy's is better."""
    rank, count = len(shape), len(axes)
    if char not in "fd" or not count or axes != tuple(range(axes[0], axes[0] + count)) or not prod(shape):
        return None
    before, after = shape[: axes[0]], shape[rank + axes[0] + count :]
    stack, length, columns = prod(before), prod(shape[axes[0] : axes[-1] + 1 or None]), prod(after)
    left = (*before, *(1,) * (count * keepdims), *after)
    ones = _ONES[char]
    if length > LONGEST_ROW and columns == 1:
        cut = _in_pieces(stack * length, length)
        return cut and _Product(cut, ones[: cut[2]], False, left, length // cut[2])
    if length < 3 and stack > 1 < columns:
        return None  # two rows of each matrix of a stack are added up as quickly
    if stack == columns == 1:
        return _Product((length,), ones[:length], True, left)
    if stack > 1 < columns:
        if prod(shape) > FEW_FOR_A_PRODUCT > 16 * length * columns:
            return None  # or there are many small matrices
        pieces = _blocks(length, columns) or length
        if length < (FEWEST_PIECES if pieces == 1 else FEWEST_ROWS) * pieces:
            return None
        return _Product((stack * pieces, length // pieces, columns), ones[: length // pieces], True, left, pieces)
    rows, across = (length, columns) if stack == 1 else (stack, length)
    blocks = _blocks(rows, across)
    if blocks is None or (stack == 1 < blocks and rows < FEWEST_ROWS * blocks):
        return None
    cut = (rows, across) if blocks == 1 else (blocks, rows // blocks, across)
    if stack > 1:
        return _Product(cut, ones[:across], False, left)
    return _Product(cut, ones[: rows // blocks], True, left, blocks)


def _in_pieces(count: int, length: int) -> tuple[int, int, int] | None:
    """Return the shape of a stack of matrices, none too large for one call, whose rows are pieces of long rows."""
    if not FEWEST_IN_LONG_ROWS <= count <= MOST_FOR_PRODUCTS:
        return None
    for width in range(LONGEST_ROW, LONGEST_ROW // 4, -1):
        if length % width == 0:
            for rows in range(FEW_FOR_A_PRODUCT // width, FEWEST_PIECES - 1, -1):
                if count % (rows * width) == 0:
                    return count // (rows * width), rows, width
    return None


def _blocks(rows: int, across: int) -> int | None:
    """Return into how many equal parts rows are cut for BLAS, None if they cannot be."""
    if rows * across > MOST_FOR_PRODUCTS:  # very short rows, of which there may be any number
        return 1
    fewest = -(-rows * across // FEW_FOR_A_PRODUCT)
    return next((parts for parts in range(fewest, 2 * fewest + 1) if rows % parts == 0), None)


def sum_by_product(x: Any, axes: tuple[int, ...], keepdims: bool, most: int = MOST_FOR_PRODUCTS) -> Any:
    """Sum up to so many elements over neighbouring axes, or any number in rows of less than `SHORT`.

    It takes a thirtieth to two thirds of NumPy's time.  None where a product does not serve: more elements, other axes,
    arrays with gaps, other dtypes than float32 and float64, and unless kernels may be chosen, as BLAS adds in an order
    that depends on the machine.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.base.choose import use_kernels
    >>> with use_kernels("auto"):
    ...     sum_by_product(np.ones((500, 3), np.float32), (-2,), False)
    array([500., 500., 500.], dtype=float32)
    """
    few = x.size <= most and x.flags.c_contiguous
    few = IN_USE["mode"] == "auto" and (few or (axes == (-1,) and x.ndim > 1 and x.shape[-1] < SHORT))
    plan = _as_product(x.shape, axes, keepdims, x.dtype.char) if few else None
    if plan is None:
        return None
    factor, ones, first, shape, pieces = plan
    x = x if x.shape == factor else x.reshape(factor)
    if len(factor) < 3:
        made = ones.dot(x) if first else x.dot(ones)
    else:
        made = ones @ x if first else x @ ones
    if first and pieces == x.shape[0] > 1:  # one matrix
        made = _ONES[x.dtype.char][:pieces].dot(made)
    elif pieces > 1:
        made = np.add.reduce(made.reshape(-1, pieces, x.shape[2] if first else 1), axis=1 if shape else None)
    return made if made.shape == shape else made.reshape(shape)


@lru_cache(4096)
def _long_columns(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, int, int] | None:
    """Return a shape (a, n, b) in which neighbouring axes are n, where columns are long and rows are short."""
    if not axes or axes[-1] >= -1 or axes != tuple(range(axes[0], axes[-1] + 1)):
        return None
    a, b = prod(shape[: axes[0]]), prod(shape[axes[-1] + 1 :])
    n = prod(shape[axes[0] : axes[-1] + 1])
    return (a, n, b) if a > 1 < b < SHORT and n >= LONG_COLUMN else None


@lru_cache(1024)
def _apart(shape: tuple[int, ...], axes: tuple[int, ...], char: str) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return axes as those before a gap and those after it, if a sum over the latter alone is a product."""
    start = next((k for k in range(len(axes) - 1, 0, -1) if axes[k] - axes[k - 1] > 1), 0)
    apart = axes[:start], axes[start:]
    return apart if start and _as_product(shape, apart[1], True, char) is not None else None


def sum_over_axes(x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Sum over some axes; few elements, axes apart, or all but a short last one in a faster way than NumPy's.

    NumPy adds row to row, or up a row, with a loop as short as a row; rows laid beside each other make it long.
    """
    total = sum_by_product(x, axes, keepdims) if x.__class__ is ndarray else None
    if total is not None:
        return total
    if x.__class__ is ndarray and x.flags.c_contiguous and IN_USE["mode"] == "auto":
        parts = _apart(x.shape, axes, x.dtype.char)
        if parts is not None and (last := sum_by_product(x, parts[1], True)) is not None:
            total = sum_over_axes(last, parts[0], True)
            return total if keepdims else np.squeeze(total, axes)
    if x.__class__ is ndarray and x.size > MOST_FOR_PRODUCTS and (sizes := _long_columns(x.shape, axes)) is not None:
        a, _, b = sizes
        made, view = np.empty((a, b), x.dtype), x.reshape(sizes)
        for k in range(b):
            np.add.reduce(view[..., k], axis=1, dtype=x.dtype, out=made[:, k])
        return made.reshape(*x.shape[: axes[0]], *(1,) * (len(axes) * keepdims), *x.shape[axes[-1] + 1 :])
    short = len(axes) == x.ndim - 1 and -1 not in axes and x.size >= FEW_TO_ADD and 1 < x.shape[-1] <= 64
    if not short or not x.flags.c_contiguous:
        return np.add.reduce(x, axis=axes, keepdims=keepdims, dtype=x.dtype)
    c = x.shape[-1]
    rows, beside = x.reshape(-1, c), 256 // c
    whole = rows.shape[0] // beside * beside
    total = np.add.reduce(rows[:whole].reshape(-1, beside * c), axis=0, dtype=x.dtype)
    total = np.add.reduce(total.reshape(beside, c), axis=0, dtype=x.dtype)
    if whole < rows.shape[0]:
        total = total + np.add.reduce(rows[whole:], axis=0, dtype=x.dtype)
    return total.reshape((1,) * (len(axes) * keepdims) + (c,))


_SHORT, _MANY_ROWS = 16, 512
"""Elements of a row up to which, and rows from which on, passes over columns are quicker than a loop over each row."""


def fold(ufunc: Any, x: Any, axes: tuple[int, ...], keepdims: bool, dtype: Any = None) -> Any:
    """Reduce by a ufunc; many short rows column by column, in the same order: NumPy begins its loop again for each."""
    count = x.shape[-1] if axes == (-1,) and x.__class__ is np.ndarray else 0
    if not 1 < count <= _SHORT or x.size < _MANY_ROWS * count:
        return ufunc.reduce(x, axis=axes, keepdims=keepdims, dtype=dtype)
    made = ufunc(x[..., 0], x[..., 1])
    for k in range(2, count):
        ufunc(made, x[..., k], out=made)
    return made[..., None] if keepdims else made
