"""Updates at coordinates: added, subtracted, or kept where they are larger or smaller; and gathering row by row."""

from __future__ import annotations

import math
from copy import copy
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.primitives import stack
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.events.listener import heard, tell_made, trace_now, unheard
from autodiff_lab.kernels.arrays import arange, beside, on_gpu, ranked
from autodiff_lab.kernels.base.choose import IN_USE, chosen
from autodiff_lab.kernels.base.halves import in_float32
from autodiff_lab.kernels.checks import are_positions, check_positions
from autodiff_lab.kernels.indexing import reference
from autodiff_lab.kernels.indexing.reference import as_rows, check_columns, pointed, starts_of
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.gathering import (
    _check_updates,
    _indices,
    check_policy,
    gather_axis,
    gather_nd_at,
    scatter_nd_sum,
)
from autodiff_lab.ops.array.joining import concat
from autodiff_lab.ops.array.shaping import reshape, transpose_to
from autodiff_lab.ops.checks import dtypes_unequal
from autodiff_lab.ops.docs import doc
from autodiff_lab.ops.structured import called

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike

change_rows = chosen("change_rows", reference.change_rows, work=lambda total, rows, *rest, **how: 8 * rows.size)
"""Changes rows in place; the updates of variables use it too.  Sorting makes NumPy's way some eight passes long."""


class RowsToChange:
    """A change of rows that a compiled program leaves to the variable they belong to: what, where and how.

    Examples
    --------
    >>> import numpy as np
    >>> later = RowsToChange((3, 1), np.ones((1, 1)), np.array([[2]]), "add")
    >>> later.write(array := np.zeros((3, 1)))
    >>> array.ravel().tolist()
    [0.0, 0.0, 1.0]
    """

    base = None  # it holds no view

    def __init__(self, shape: tuple[int, ...], updates: Any, indices: Any, how: str, change: Any = None) -> None:
        self.shape, self.how, self._change = shape, how, change
        check_columns(indices, shape, f"tensor_scatter_nd_{how}")
        self.positions, self.count, self.width = as_rows(indices, shape)
        self.rows = ranked(updates).reshape(self.positions.size, self.width)

    def write(self, array: Any) -> None:
        """Change an array of the shape."""
        given = array.reshape(self.count, self.width), self.rows, self.positions, self.how
        if self._change is None or self._change(*given) is NotImplemented:
            change_rows(*given[:3], how=self.how)


def left_to_variable(op: Any, dtype: Any) -> Any:
    """Return an op as it runs where its result is the new value of its first operand; None for most.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> left_to_variable(add_at.op, np.dtype("f4")).name, left_to_variable(lab.sin.op, np.dtype("f4"))
    ('tensor_scatter_nd_add', None)
    """
    if op.name not in _CHANGING:
        return None
    how, made = op.name.rpartition("_")[2], copy(op)
    there = change_rows.prepare(dtype) and IN_USE["mode"] != "numpy"  # now, so that no call waits for it
    change = change_rows.override() if there else None
    made.kernel = lambda x, updates, indices: RowsToChange(x.shape, updates, indices, how, change)
    return made


_CHANGING = frozenset(f"tensor_scatter_nd_{how}" for how in ("add", "sub", "max", "min", "update"))


def _at(ufunc: Any, how: str) -> Any:
    name = f"tensor_scatter_nd_{how}"

    def kernel(x: Any, updates: Any, indices: Any) -> Any:
        made = ranked(x).copy()
        if on_gpu(made):
            if how in ("add", "sub"):  # the kernel of sums has a fixed order
                return ufunc(made, scatter_nd_sum.op.kernel(updates, indices, shape=made.shape))  # type: ignore[attr-defined]
            check_columns(indices, made.shape, name)
            ufunc.at(*pointed(made, indices), updates)
            return made
        RowsToChange(made.shape, updates, indices, how).write(made)
        return made
    return in_float32(kernel)


def _picked(ops: Any, g: Any, out: Any, indices: Any) -> Any:
    """Return what a cotangent, stacked or not, has at the coordinates."""
    return ops.gather_nd(g, indices, lead=len(stack(g, out)))


add_at = general(
    "tensor_scatter_nd_add", _at(np.add, "add"),
    lambda ops, g, out, x, updates, indices: g,
    lambda ops, g, out, x, updates, indices: _picked(ops, g, out, indices), None,
    warns=False, symbol="+ at", latex=r"{0} + \operatorname{{scatter}}({1})", locals_latex=("1", "1", ""),
    sentence="adds {1} to elements of {0}", keeps="inputs", registered="TensorScatterAdd",
    doc="The kernel-level addition; `lab.tensor_scatter_nd_add` is the public function.")
subtract_at = general(
    "tensor_scatter_nd_sub", _at(np.subtract, "sub"),
    lambda ops, g, out, x, updates, indices: g,
    lambda ops, g, out, x, updates, indices: -_picked(ops, g, out, indices), None,
    warns=False, symbol="− at", latex=r"{0} - \operatorname{{scatter}}({1})", locals_latex=("1", "-1", ""),
    sentence="takes {1} from elements of {0}", keeps="inputs", registered="TensorScatterSub",
    doc="The kernel-level subtraction; `lab.tensor_scatter_nd_sub` is the public function.")


def _equal(ops: Any, x: Any, y: Any) -> Any:
    return ops.not_below(x, y) * ops.not_below(y, x)


def _candidates(ops: Any, out: Any, x: Any, updates: Any, indices: Any) -> tuple[Any, Any, Any]:
    """Return whether the element won, whether each update did, and how many winners each place has."""
    element = _equal(ops, x, out)
    update = _equal(ops, updates, ops.gather_nd(out, indices))
    return element, update, element + ops.scatter_nd(update, indices, shape=tuple(x.shape))


def _extreme_rule_x(ops: Any, g: Any, out: Any, x: Any, updates: Any, indices: Any) -> Any:
    element, _, winners = _candidates(ops, out, x, updates, indices)
    return ops.gate(g, element / winners)


def _extreme_rule_updates(ops: Any, g: Any, out: Any, x: Any, updates: Any, indices: Any) -> Any:
    _, update, winners = _candidates(ops, out, x, updates, indices)
    return ops.gate(_picked(ops, g, out, indices), update / ops.gather_nd(winners, indices))


max_at = general(
    "tensor_scatter_nd_max", _at(np.maximum, "max"), _extreme_rule_x, _extreme_rule_updates, None,
    warns=False,
    symbol="max at", latex=r"\max({0}, \operatorname{{scatter}}({1}))", locals_latex=("[{0} = y]", "[{1} = y]", ""),
    sentence="keeps the larger of elements of {0} and {1}", registered="TensorScatterMax",
    doc="The kernel-level maximum; `lab.tensor_scatter_nd_max` is the public function.")
min_at = general(
    "tensor_scatter_nd_min", _at(np.minimum, "min"), _extreme_rule_x, _extreme_rule_updates, None,
    warns=False,
    symbol="min at", latex=r"\min({0}, \operatorname{{scatter}}({1}))", locals_latex=("[{0} = y]", "[{1} = y]", ""),
    sentence="keeps the smaller of elements of {0} and {1}", registered="TensorScatterMin",
    doc="The kernel-level minimum; `lab.tensor_scatter_nd_min` is the public function.")


class _Updating(Protocol):
    def __call__(self, tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "",
                 name: str | None = None) -> Tensor: ...


def _updating(op: Any, words: str, derivative: str, result: str) -> _Updating:
    """Make the public function of an op that changes elements at coordinates."""
    what = op.op.name

    def function(tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "",
                 name: str | None = None) -> Tensor:
        check_policy(bad_indices_policy, what)
        x = convert(tensor)
        new, at = convert(updates, x), _indices(indices, what, x)
        if new._held.dtype != x._held.dtype:
            raise dtypes_unequal(what, tensor=x, updates=new)
        _check_updates(new, at, x._held.shape, what)
        return op(x, new, at, name=name)

    function.__doc__ = doc(
        f"A new tensor with {words}.", shapes="tensor (*s), indices (*i, k), updates (*i, *s[k:]) -> (*s)",
        dtypes="any number", derivative=derivative, raises=("shape", "argument", "dtypes", "convert"),
        example=f">>> print(lab.{what}([1.0, 2.0, 3.0], [[1]], [5.0]))\nTensor({result}, shape=(3,), dtype=float32)")
    return called(what, function)


_TIES = "1 for what is kept, the element or the update; shared equally between ties"
tensor_scatter_nd_add = _updating(add_at, "updates added at coordinates; repeated ones add up",
                                  "1 for the tensor and for the updates", "[1. 7. 3.]")
tensor_scatter_nd_sub = _updating(subtract_at, "updates taken away at coordinates; repeated ones add up",
                                  "1 for the tensor, -1 for the updates", "[ 1. -3.  3.]")
tensor_scatter_nd_max = _updating(max_at, "the larger of element and updates at coordinates", _TIES, "[1. 5. 3.]")
tensor_scatter_nd_min = _updating(min_at, "the smaller of element and updates at coordinates", _TIES, "[1. 2. 3.]")


def _batch(x: Tensor, at: Tensor, batch_dims: int, what: str) -> int:
    """Read a number of leading axes that tensor and indices share."""
    limit = min(x._held.ndim, at._held.ndim)
    count = batch_dims + at._held.ndim if batch_dims < 0 else batch_dims
    if not 0 <= count <= limit or x._held.shape[:count] != at._held.shape[:count]:
        raise InvalidArgumentError(f"{what}: a tensor of shape {x._held.shape} and indices of shape {at._held.shape} "
                                   f"do not have {batch_dims} batch axes in common.")
    return count


def gather_in_batches(x: Tensor, indices: Tensor, axis: int, batch_dims: int) -> Tensor:
    """Gather along an axis, row by row: the leading axes that tensor and indices share name the row."""
    count = _batch(x, indices, batch_dims, "gather")
    shape = x._held.shape
    rank = len(shape)
    if not count <= axis < rank:
        raise InvalidArgumentError(f"gather: axis {axis} must not be one of the {count} batch axes of shape {shape}.")
    if axis == count:  # most calls: no axis lies between
        return _gathered(x, indices, count)
    between = range(count, axis)
    perm = (*range(count), axis, *between, *range(axis + 1, rank))
    taken = _gathered(transpose_to(x, perm=tuple(p - rank for p in perm)), indices, count)
    inner = indices._held.ndim - count  # axes of the indices, which stand before those between batch and axis
    whole = taken._held.ndim
    back = (*range(count), *range(count + inner, count + inner + len(between)), *range(count, count + inner),
            *range(count + inner + len(between), whole))
    return transpose_to(taken, perm=tuple(p - whole for p in back))


def _gathered(lines: Tensor, indices: Tensor, count: int) -> Tensor:
    """Gather along axis `count`."""
    if trace_now() is not None:  # whose indices are not known yet: the kernel checks them
        with unheard():
            column = reshape(indices, (*indices._held.shape, 1))
        return gather_nd_at(lines, _after_rows(column, count))
    check_positions(indices._array, lines._held.shape[count], "gather: an index is not in")
    return _in_lines(lines, indices._array, count)


def _in_lines(lines: Tensor, at: Any, count: int, depth: int = 1) -> Tensor:
    """Gather along axis `count` of lines, which are laid end to end: position i of row b is position b·n + i.

    The positions count the elements of `depth` axes, and lie within them.
    """
    shape = lines._held.shape
    rows, n = math.prod(shape[:count]), math.prod(shape[count:count + depth])
    lines = reshape(lines, (rows * n, *shape[count + depth:]))
    lead = shape[:count] + (1,) * (at.ndim - count)
    first = arange(rows, at).reshape(lead) * n if on_gpu(at) else starts_of(lead, n)
    return gather_axis(lines, wrap(at.astype(np.int64, copy=False) + first), axis=-lines._held.ndim)


def _after_rows(at: Tensor, count: int) -> Tensor:
    """Put the coordinates of the row, along the first `count` axes, before those given."""
    rows = beside(at._held, np.moveaxis(np.indices(at._held.shape[:-1])[:count], 0, -1).astype(np.int64))
    if trace_now() is None:
        return wrap(np.concatenate([rows, at._array.astype(np.int64)], axis=-1))
    with unheard():
        return concat([tell_made(wrap(rows)), cast(at, "int64")], -1)


def gather_nd_in_batches(x: Tensor, indices: Tensor, batch_dims: int) -> Tensor:
    """Gather by coordinates, row by row; where nobody sees the op, by positions in rows that are laid end to end."""
    count = _batch(x, indices, batch_dims, "gather_nd")
    unseen = trace_now() is None and not heard() and not on_gpu(indices._held) and not on_gpu(x._held)
    positions = _in_a_row(indices._array, x._held.shape[count:]) if unseen else None
    if positions is None:
        return gather_nd_at(x, _after_rows(indices, count))
    return _in_lines(x, positions, count, indices._held.shape[-1])


def _in_a_row(at: Any, shape: tuple[int, ...]) -> Any:
    """Return the positions of coordinates in an array of this shape; None if there are none, or one lies outside."""
    depth = at.shape[-1]
    if not 0 < depth <= len(shape):
        return None
    positions = np.zeros(at.shape[:-1], np.int64)
    for k in range(depth):
        if not are_positions(at[..., k], shape[k]):
            return None
        positions *= shape[k]
        positions += at[..., k]
    return positions
