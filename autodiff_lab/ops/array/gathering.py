"""Gathering by position, scattering back, and choosing by condition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert, convert_pair, handed, is_composite
from autodiff_lab.engine.primitives import reshape_to, stack
from autodiff_lab.engine.shape import as_integer
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, NotOneTensor, ShapeMismatch, UnimplementedError
from autodiff_lab.kernels.arrays import beside, full, on_gpu, ranked
from autodiff_lab.kernels.base.choose import chosen, on_gpu_alone
from autodiff_lab.kernels.checks import real_only
from autodiff_lab.kernels.indexing import reference
from autodiff_lab.kernels.indexing import reference as pick
from autodiff_lab.kernels.indexing.reference import check_columns, pointed
from autodiff_lab.ops.checks import axis_from_end, dtypes_unequal, not_integers
from autodiff_lab.ops.docs import document

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, IntsLike, ShapeLike, TensorLike

ndarray = np.ndarray
_gather_on_gpu = on_gpu_alone("gather", pick.gather)
_gather_nd_on_gpu = on_gpu_alone("gather_nd", pick.gather_nd)


def _gather(x: Any, indices: Any, axis: int, dense: bool = False) -> Any:
    if x.__class__ is not ndarray and on_gpu(x):
        return _gather_on_gpu(x, indices, axis=axis)
    return pick.gather(x, indices, axis)


def _gather_rule(ops: Any, g: Any, out: Any, x: Any, indices: Any, axis: int, dense: bool = False) -> Any:
    return ops.scatter_axis(g, indices, axis=axis, length=x.shape[axis])


def _gathered_rows(ops: Any, g: Any, x: Any, indices: Any, axis: int, dense: bool = False) -> Any:
    return None if dense or axis != -len(x.shape) else (g, indices)


gather_axis = general(
    "gather", _gather, _gather_rule, None, warns=False, symbol="gather", latex=r"{0}_{{{1}}}", locals_latex=("1", ""),
    sentence="picks elements of {0} by position", keeps="inputs", registered="GatherV2", rows=_gathered_rows,
    doc="The kernel-level gather along a negative axis; `lab.gather` is the public function. Where it serves another "
    "function, `dense` keeps its gradient a tensor.")


scatter_axis = general(
    "scatter_axis", chosen("scatter_axis", reference.scatter_axis),
    lambda ops, g, out, x, indices, axis, length: ops.gather(g, indices, axis=axis), None,
    warns=False, symbol="scatter", latex=r"\operatorname{{scatter}}({0})", locals_latex=("1", ""),
    sentence="adds {0} up at positions", keeps="inputs",
    doc="Sums into zeros by position along a negative axis; the rule of `gather` uses it.")


def _gather_nd(x: Any, indices: Any, lead: int = 0) -> Any:
    if on_gpu(x):
        return _gather_nd_on_gpu(x, indices, lead=lead)
    return pick.gather_nd(x, indices, lead)


def _gathered_nd_rows(ops: Any, g: Any, x: Any, indices: Any, lead: int = 0) -> Any:
    """Positions in a column are those of rows, as in TensorFlow."""
    if lead or len(indices.shape) != 2 or indices.shape[1] != 1 or len(x.shape) < 1:
        return None
    return g, ops.reshape(indices, shape=(indices.shape[0],))


gather_nd_at = general(
    "gather_nd", _gather_nd,
    lambda ops, g, out, x, indices, lead=0: ops.scatter_nd(g, indices, shape=tuple(x.shape)[lead:]), None,
    warns=False,
    symbol="gather", latex=r"{0}_{{{1}}}", locals_latex=("1", ""), sentence="picks elements of {0} by coordinates",
    keeps="inputs", registered="GatherNd", rows=_gathered_nd_rows,
    doc="The kernel-level gather_nd; `lab.gather_nd` is the public function.")


def _scatter_nd_rule(ops: Any, g: Any, out: Any, x: Any, indices: Any, shape: tuple[int, ...]) -> Any:
    return ops.gather_nd(g, indices, lead=len(g.shape) - len(shape))


scatter_nd_sum = general(
    "scatter_nd", chosen("scatter_nd", reference.scatter_nd), _scatter_nd_rule, None,
    warns=False, symbol="scatter", latex=r"\operatorname{{scatter}}({0})", locals_latex=("1", ""),
    sentence="adds {0} up at coordinates", keeps="inputs", registered="ScatterNd",
    doc="Sums into zeros by coordinates; `lab.scatter_nd` is the public function.")


def _update(x: Any, updates: Any, indices: Any) -> Any:
    x = ranked(x).copy()
    check_columns(indices, x.shape, "tensor_scatter_nd_update")
    whole, at = pointed(x, indices)
    whole[at] = updates
    return x


def _update_rule_tensor(ops: Any, g: Any, out: Any, x: Any, updates: Any, indices: Any) -> Any:
    return ops.gate(g, ops.kept_mask(indices, shape=tuple(x.shape), dtype=out.dtype))


def _update_rule_updates(ops: Any, g: Any, out: Any, x: Any, updates: Any, indices: Any) -> Any:
    return ops.gather_nd(g, indices, lead=len(stack(g, out)))


tensor_update = general(
    "tensor_scatter_nd_update", _update, _update_rule_tensor, _update_rule_updates, None, warns=False, symbol="update",
    latex=r"\operatorname{{update}}({0}, {1})", locals_latex=("1", "1", ""), sentence="replaces elements of {0} by {1}",
    keeps="inputs", registered="TensorScatterUpdate",
    doc="The kernel-level update; `lab.tensor_scatter_nd_update` is the public function.")


def _kept_mask(indices: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    mask = full(shape, 1, indices, getattr(dtype, "dtype", dtype))
    whole, at = pointed(mask, indices)
    whole[at] = 0
    return mask


kept_mask = general(
    "kept_mask", _kept_mask, None, warns=False, symbol="mask", latex=r"\operatorname{{mask}}({0})",
    sentence="is 0 at the coordinates {0} and 1 elsewhere",
    doc="Zero at coordinates, one elsewhere; the rule of `tensor_scatter_nd_update` uses it.")


MANY = 1024
"""Elements from which on a loop is worth a look."""
choose_elements = chosen("choose_elements", reference.choose_elements, work=lambda x, y, c: max(x.size, y.size))


def _where(c: Any, x: Any, y: Any) -> Any:
    if c.__class__ is np.ndarray and max(x.size, y.size) >= MANY:
        return choose_elements(x, y, c)
    return np.where(c, x, y)[()]


select = general(
    "select", lambda g, c: _where(c, g, g.dtype.type(0)), lambda ops, g, out, x, c: ops.select(g, c), None,
    warns=False,
    symbol="where", latex=r"[{1}] {0}", locals_latex=("[{1}]", ""), sentence="keeps {0} where {1} is true, else 0",
    keeps="inputs", expression="choose({1}, {0}, zero)",
    doc="x where the condition holds, 0 elsewhere; the rules of `where` use it.")
select_not = general(
    "select_not", lambda g, c: _where(c, g.dtype.type(0), g), lambda ops, g, out, x, c: ops.select_not(g, c),
    None, warns=False, symbol="where not", latex=r"[\lnot {1}] {0}", locals_latex=(r"[\lnot {1}]", ""),
    sentence="keeps {0} where {1} is false, else 0", keeps="inputs",
    expression="choose({1}, zero, {0})",
    doc="x where the condition fails, 0 elsewhere; the rules of `where` use it.")
where_three = general(
    "where", _where,
    None, lambda ops, g, out, c, x, y: ops.select(g, c), lambda ops, g, out, c, x, y: ops.select_not(g, c),
    warns=False,
    symbol="where", latex=r"\operatorname{{where}}({0}, {1}, {2})", locals_latex=("", "[{0}]", r"[\lnot {0}]"),
    sentence="takes {1} where {0} is true, {2} elsewhere", keeps="inputs", registered="SelectV2",
    expression="choose({0}, {1}, {2})",
    doc="The kernel-level choice; `lab.where` is the public function.")
where_true = general(
    "where_true", np.argwhere, None, warns=False, symbol="where", latex=r"\operatorname{{where}}({0})",
    sentence="lists where {0} is true", registered="Where",
    doc="Coordinates of the true elements; `lab.where` with one argument.")
argmax_at = general(
    "argmax", lambda x, axis: np.argmax(real_only("argmax", x), axis=axis), None, warns=False, symbol="argmax",
    latex=r"\operatorname{{argmax}} {0}", sentence="finds the position of the largest element of {0}",
    registered="ArgMax", doc="The kernel-level argmax; `lab.argmax` is the public function.")
argmin_at = general(
    "argmin", lambda x, axis: np.argmin(real_only("argmin", x), axis=axis), None, warns=False, symbol="argmin",
    latex=r"\operatorname{{argmin}} {0}", sentence="finds the position of the smallest element of {0}",
    registered="ArgMin", doc="The kernel-level argmin; `lab.argmin` is the public function.")


def positions_of(mask: Tensor, count: int) -> Tensor:
    """Return where a vector of truth values is true, in a trace: the program serves calls with as many of them."""
    return reshape_to(where_true(mask), shape=(count,))


def _indices(value: Any, what: str, x: Tensor) -> Tensor:
    """Indices beside x: those that Python gave go where x lies."""
    tensor = convert(value)
    if tensor._held.dtype.kind not in "iu":
        raise not_integers(tensor.dtype, f"{what}: indices")
    return wrap(beside(x._held, tensor._array)) if on_gpu(x._held) and tensor is not value else tensor


def laid_beside(x: Tensor, host: Any) -> Tensor:
    """Return a tensor of an array that our own code worked out on the CPU, where x lives.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> import numpy as np
    >>> laid_beside(lab.constant([1.0]), np.array([0])).device
    '/CPU:0'
    """
    return wrap(beside(x._held, host))


def _check_updates(updates: Tensor, indices: Tensor, shape: tuple[int, ...], what: str) -> None:
    at, have = indices._held.shape, updates._held.shape
    if not at:
        raise ShapeMismatch(f"{what}: indices must be rows of coordinates, got a scalar. Try [[i]].")
    if at[-1] > len(shape):
        raise InvalidArgumentError(f"{what}: got {at[-1]} coordinates a row for a tensor of rank {len(shape)}.")
    if have != (*at[:-1], *shape[at[-1]:]):
        raise ShapeMismatch(f"{what}: updates must have shape {(*at[:-1], *shape[at[-1]:])} for indices of shape "
                            f"{at} into a tensor of shape {shape}, got {have}.")


def gather(params: TensorLike, indices: TensorLike, validate_indices: object = None, axis: int | None = None,
           batch_dims: int = 0,
           name: str | None = None) -> Tensor:
    batch_dims = as_integer(batch_dims, "gather: batch_dims")
    at = batch_dims if axis is None else axis
    try:
        x = convert(params)
        entered = _indices(indices, "gather", x)
    except NotOneTensor as met:
        return named(handed(met, gather, (params, indices), axis=axis, batch_dims=batch_dims), name)
    at = axis_from_end(at, x._held.ndim, "gather")
    if batch_dims:
        from autodiff_lab.ops.array.scattering import gather_in_batches
        return named(gather_in_batches(x, entered, at % x._held.ndim, batch_dims), name)
    return gather_axis(x, entered, axis=at, name=name)


def check_policy(policy: str, what: str) -> None:
    """Refuse to pass over bad indices: here they are always errors, which is what the other policies ask for."""
    if not isinstance(policy, str) or policy not in ("", "DEFAULT", "ERROR"):
        known = isinstance(policy, str) and policy == "IGNORE"
        kind = UnimplementedError if known else InvalidArgumentError
        raise kind(f"{what}: bad_indices_policy must be '', 'DEFAULT' or 'ERROR', got {policy!r}."
                   + (" Try lab.boolean_mask on the indices." if known else ""))


def gather_nd(params: TensorLike, indices: TensorLike, batch_dims: int = 0, name: str | None = None,
              bad_indices_policy: str = "") -> Tensor:
    check_policy(bad_indices_policy, "gather_nd")
    try:
        x = convert(params)
        at = _indices(indices, "gather_nd", x)
    except NotOneTensor as met:
        return named(handed(met, gather_nd, (params, indices), batch_dims=batch_dims), name)
    batches = as_integer(batch_dims, "gather_nd: batch_dims")
    if batches:
        from autodiff_lab.ops.array.scattering import gather_nd_in_batches
        return named(gather_nd_in_batches(x, at, batches), name)
    return gather_nd_at(x, at, name=name)


def scatter_nd(indices: TensorLike, updates: TensorLike, shape: ShapeLike, bad_indices_policy: str = "",
               name: str | None = None) -> Tensor:
    check_policy(bad_indices_policy, "scatter_nd")
    from autodiff_lab.ops.array.creation import as_shape
    x, whole = convert(updates), as_shape(shape)
    at = _indices(indices, "scatter_nd", x)
    _check_updates(x, at, whole, "scatter_nd")
    return scatter_nd_sum(x, at, shape=whole, name=name)


def tensor_scatter_nd_update(tensor: TensorLike, indices: TensorLike, updates: TensorLike,
                             name: str | None = None) -> Tensor:
    x = convert(tensor)
    new, at = convert(updates, x), _indices(indices, "tensor_scatter_nd_update", x)
    if new._held.dtype != x._held.dtype:
        raise dtypes_unequal("tensor_scatter_nd_update", tensor=x, updates=new)
    _check_updates(new, at, x._held.shape, "tensor_scatter_nd_update")
    return tensor_update(x, new, at, name=name)


def where(condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None,
          name: str | None = None) -> Tensor:
    try:
        c, *_ = [convert(v) for v in (condition, x, y) if v is condition or is_composite(v)]
    except NotOneTensor as met:
        return named(handed(met, where, (condition, x, y)), name)
    if x is None and y is None:
        return where_true(c, name=name)
    if x is None or y is None:
        raise InvalidArgumentError("where: expected both x and y, or neither.")
    if c._held.dtype.kind != "b":
        raise DtypeMismatch(f"where: the condition must be bool, got {c.dtype.name}. Try a comparison, or lab.cast.")
    x, y = convert_pair(where_three.op, x, y)  # type: ignore[attr-defined]
    if x._held.dtype != y._held.dtype:
        raise dtypes_unequal("where", x=x, y=y)
    return where_three(c, x, y, name=name)


def argmax(input: TensorLike, axis: IntsLike = 0, output_type: DTypeLike | None = None,
           name: str | None = None) -> Tensor:
    return named(_argument(argmax_at, input, axis, output_type), name)


def argmin(input: TensorLike, axis: IntsLike = 0, output_type: DTypeLike | None = None,
           name: str | None = None) -> Tensor:
    return named(_argument(argmin_at, input, axis, output_type), name)


def _argument(op: Any, value: Any, axis: Any, output_type: Any) -> Tensor:
    from autodiff_lab.ops.array.casting import cast
    found = op(convert(value), axis=0 if axis is None else as_integer(axis, f"{op.op.name}: axis"))
    return found if output_type is None else cast(found, output_type)


_SCATTERED = "1 for the elements taken, 0 for the others; contributions at repeated positions add up"
document((
    (gather, "Parts of a tensor by position along an axis; the first batch_dims axes are gone through together.",
     "params (*s), indices (*i) -> s with i in place of axis",
     _SCATTERED, ">>> print(lab.gather([10, 20, 30], [2, 0]))\nTensor([30 10], shape=(2,), dtype=int32)"),
    (gather_nd, "Parts of a tensor by coordinates; the first batch_dims axes are gone through together.",
     "params (*s), indices (*i, k) -> (*i, *s[k:])",
     _SCATTERED, ">>> print(lab.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]))\n"
     "Tensor([2 3], shape=(2,), dtype=int32)"),
    (scatter_nd, "Updates added into zeros by coordinates.", "indices (*i, k), updates (*i, *s[k:]) -> (*s)",
     "gathers back", ">>> print(lab.scatter_nd([[1], [1]], [2.0, 3.0], [3]))\n"
     "Tensor([0. 5. 0.], shape=(3,), dtype=float32)"),
    (tensor_scatter_nd_update, "A new tensor in which elements at coordinates are replaced.",
     "tensor (*s), indices (*i, k), updates (*i, *s[k:]) -> (*s)", "1 for what is kept and for the updates",
     ">>> print(lab.tensor_scatter_nd_update([1, 2, 3], [[1]], [20]))\nTensor([ 1 20  3], shape=(3,), dtype=int32)"),
    (where, "x where the condition holds and y elsewhere; with one argument, the coordinates of what is true.",
     "condition, x, y broadcast", "1 where chosen; 0 elsewhere, so a nan of the other branch's rule still spoils it",
     ">>> print(lab.where([True, False], [1.0, 2.0], 0.0))\nTensor([1. 0.], shape=(2,), dtype=float32)"),
    (argmax, "Position of the largest element along an axis; int64.", "x (*s) -> s without axis", "none",
     ">>> print(lab.argmax([1, 5, 2]))\nTensor(1, shape=(), dtype=int64)"),
    (argmin, "Position of the smallest element along an axis; int64.", "x (*s) -> s without axis", "none",
     ">>> print(lab.argmin([3, 1, 2]))\nTensor(1, shape=(), dtype=int64)"),
), dtypes="any", raises=("argument", "dtypes", "convert"))
