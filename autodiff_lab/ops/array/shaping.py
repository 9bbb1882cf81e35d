"""Shapes: reshape, transpose, broadcast, new and dropped axes."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert, handed
from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.primitives import broadcast, reshape_to
from autodiff_lab.engine.shape import as_integer, as_integers, flag
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import InvalidArgumentError, NotOneTensor, ShapeMismatch
from autodiff_lab.ops.checks import axes_from_end
from autodiff_lab.ops.docs import document

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import IntsLike, ShapeLike, TensorLike


@lru_cache
def swapped(rank: int) -> tuple[int, ...]:
    """Return the permutation that swaps the last two axes."""
    return (*range(-rank, -2), -1, -2)


@lru_cache(maxsize=1024)
def _inverse(perm: tuple[int, ...]) -> tuple[int, ...]:
    """Return the permutation that undoes one that is given in negative axes."""
    rank = len(perm)
    order = [p + rank for p in perm]
    return tuple(order.index(i) - rank for i in range(rank))


def _transpose(x: Any, perm: tuple[int, ...]) -> Any:
    extra = x.ndim - len(perm)  # leading axes of a stack stay where they are
    if not extra:
        return x.transpose(perm)
    return x.transpose((*range(extra), *(p + len(perm) + extra for p in perm)))


transpose_to = general(
    "transpose", _transpose, lambda ops, g, out, x, perm: ops.transpose(g, perm=_inverse(perm)),
    warns=False,
    symbol="ᵀ", latex="{0}^T", locals_latex=(r"(\cdot)^T",), sentence="permutes the axes of {0}", keeps="nothing",
    registered="Transpose", doc="The kernel-level transpose by negative axes; `lab.transpose` is the public function.")


@lru_cache(maxsize=1024)
def _from_end(order: tuple[int, ...], rank: int) -> tuple[int, ...] | None:
    """Return a permutation counted from the end; None if it is none."""
    if sorted([p + rank if p < 0 else p for p in order]) != list(range(rank)):
        return None
    return tuple([p % rank - rank for p in order])


def _open_length(shape: tuple[int, ...], wanted: tuple[int, ...]) -> int:
    """Return the length that -1 stands for; among lengths of 0 the one that would fit without them."""
    known = math.prod([n for n in wanted if n != -1])
    if known:
        return math.prod(shape) // known
    return math.prod([n for n in shape if n]) // math.prod([n for n in wanted if n > 0])


@lru_cache(4096)
def _filled_in(shape: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that is wanted, with a length in place of -1."""
    if wanted.count(-1) > 1:
        raise InvalidArgumentError(f"reshape: only one length may be -1, got {wanted}.")
    size, known = math.prod(shape), math.prod([n for n in wanted if n != -1])
    found = _open_length(shape, wanted) if -1 in wanted else 1
    if min(wanted, default=0) < -1:
        raise InvalidArgumentError(f"reshape: lengths must not be negative, except one of -1, got {wanted}.")
    if known * found != size:
        raise ShapeMismatch(
            f"reshape: cannot reshape {size} elements of shape {shape} to {wanted}. Try -1 for one of the lengths.")
    return tuple(found if n == -1 else n for n in wanted)


def reshape(tensor: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    try:
        x = convert(tensor)
    except NotOneTensor as met:
        return named(handed(met, reshape, (tensor,), shape=shape), name)
    wanted = as_integers(shape, "reshape: shape")
    size = x._held.size
    if wanted and min(wanted) > 0 and math.prod(wanted) == size:  # most calls, by the shortest way
        return reshape_to(x, shape=wanted, name=name)
    return reshape_to(x, shape=_filled_in(x._held.shape, wanted), name=name)


def transpose(a: TensorLike, perm: IntsLike | None = None, conjugate: bool = False, name: str | None = None) -> Tensor:
    x = convert(a)
    rank = x._held.ndim
    if rank == 2 and perm is None and not conjugate:  # most calls, by the shortest way
        return transpose_to(x, perm=(-1, -2), name=name)
    order = tuple(range(-1, -rank - 1, -1)) if perm is None else as_integers(perm, "transpose: perm")
    found = _from_end(order, rank)
    if found is None:
        raise InvalidArgumentError(f"transpose: perm must be a permutation of the axes 0 to {rank - 1}, got {order}.")
    if conjugate is not False and flag(conjugate, "transpose: conjugate") and x._held.dtype.kind == "c":
        x = RECORDING.conj(x)
    return transpose_to(x, perm=found, name=name)


def matrix_transpose(a: TensorLike, name: str | None = None, conjugate: bool = False) -> Tensor:
    x = convert(a)
    rank = x._held.ndim
    if rank < 2:
        raise InvalidArgumentError(f"matrix_transpose: expected a tensor of rank 2 or more, got shape {x._held.shape}.")
    x = RECORDING.conj(x) if flag(conjugate, "matrix_transpose: conjugate") and x._held.dtype.kind == "c" else x
    return transpose_to(x, perm=swapped(rank), name=name)


def broadcast_to(input: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    return broadcast(convert(input), shape=as_integers(shape, "broadcast_to: shape"), name=name)


def expand_dims(input: TensorLike, axis: int, name: str | None = None) -> Tensor:
    try:
        x = convert(input)
    except NotOneTensor as met:
        return named(handed(met, expand_dims, (input,), axis=axis), name)
    rank = x._held.ndim
    axis = axis if axis.__class__ is int else as_integer(axis, "expand_dims: axis")
    if not -rank - 1 <= axis <= rank:
        raise InvalidArgumentError(f"expand_dims: axis {axis} is out of bounds for a tensor of rank {rank}.")
    at = axis if axis >= 0 else axis + rank + 1
    old = x._held.shape
    return reshape_to(x, shape=(*old[:at], 1, *old[at:]), name=name)


def squeeze(input: TensorLike, axis: IntsLike | None = None, name: str | None = None) -> Tensor:
    try:
        x = convert(input)
    except NotOneTensor as met:
        return named(handed(met, squeeze, (input,), axis=axis), name)
    old = x._held.shape
    if axis is None:
        drop = {i for i, n in enumerate(old) if n == 1}
    else:
        drop = {a + len(old) for a in axes_from_end(axis, len(old), "squeeze")}
    if any(old[i] != 1 for i in drop):
        raise InvalidArgumentError(f"squeeze: can only remove axes of length 1 from shape {old}.")
    return reshape_to(x, shape=tuple(n for i, n in enumerate(old) if i not in drop), name=name)


document((
    (reshape, "The same elements in another shape; one length may be -1.", "x (*s), shape t of as many elements -> t",
     ">>> print(lab.reshape([1, 2, 3, 4], (2, -1)))\nTensor([[1 2]\n [3 4]], shape=(2, 2), dtype=int32)"),
    (transpose, "Axes in another order, reversed by default; conjugated if asked.", "x (*s) -> s permuted",
     ">>> print(lab.transpose([[1, 2]]))\nTensor([[1]\n [2]], shape=(2, 1), dtype=int32)"),
    (matrix_transpose, "The last two axes swapped; conjugated if asked.", "x (*b, m, n) -> (*b, n, m)",
     ">>> print(lab.linalg.matrix_transpose([[1, 2]]))\nTensor([[1]\n [2]], shape=(2, 1), dtype=int32)"),
    (broadcast_to, "A tensor repeated along new axes and axes of length 1.", "x (*s), shape t -> t",
     ">>> print(lab.broadcast_to(1.0, (2,)))\nTensor([1. 1.], shape=(2,), dtype=float32)"),
    (expand_dims, "A new axis of length 1.", "x (*s) -> s with a 1 at axis",
     ">>> print(lab.expand_dims([1, 2], 0))\nTensor([[1 2]], shape=(1, 2), dtype=int32)"),
    (squeeze, "Axes of length 1 dropped.", "x (*s) -> s without them",
     ">>> print(lab.squeeze([[1, 2]]))\nTensor([1 2], shape=(2,), dtype=int32)"),
), columns="summary shapes example", dtypes="any", derivative="1 for every element, rearranged back",
   raises=("shape", "argument", "convert"))
