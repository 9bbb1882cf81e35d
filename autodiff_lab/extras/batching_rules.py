"""Ops on stacks of rows: for each op, how one call does to all rows what it does to one.

Ops count axes from the end, so that most of them take a stack as it is: those of one input, and those of several once
all are stacks. Elementwise ops broadcast, and need axes of length 1 after the first where ranks differ; so do ops that
take stacks of cotangents, of which a row may have one, in a Jacobian. The others have a rule of their own in `RULES`;
an op without one is applied row by row, and gives the same.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from string import ascii_letters
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.op import Op
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.events.listener import tell_made

Shape = tuple[int, ...]


class Stack(NamedTuple):
    """A value of one row, or of all: a tensor, the shape of the value of one row, and whether it is stacked."""

    tensor: Tensor
    shape: Shape
    stacked: bool

    def of_all(self, count: int) -> Tensor:
        """Return the tensor with a leading axis for the rows."""
        if self.stacked:
            return self.tensor
        return RECORDING.broadcast_to(self.tensor, shape=(count, *self.shape))

    def of_rank(self, rank: int, count: int) -> Tensor:
        """Return the tensor with axes of length 1 after the first, so that `rank` axes follow it."""
        if not self.stacked or len(self.shape) >= rank:
            return self.tensor
        return _reshaped(self.tensor, (count, *(1,) * (rank - len(self.shape)), *self.shape))


Rule = Callable[[Op, list[Stack], dict[str, Any], int], Any]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


BROADCASTING = _names(
    """batch_normalize betainc bitwise_and bitwise_or bitwise_xor clip complex gamma_quantile igamma igamma_grad igammac
    left_shift nextafter normalize polygamma power_grad right_shift select select_not where zeta"""
)
"""Ops beside the elementwise ones whose inputs broadcast."""

ALIKE = _names(
    """cholesky_grad cholesky_solve cross extreme_grad log_softmax_grad put_along recurrence softmax_grad solve
    standardize_grad take_along triangular_solve"""
)
"""Ops of several inputs of one rank, of which one may be a stack of cotangents."""

STACKABLE = _names(
    """after all angle any argsort band_part bessel_iv bessel_ive bessel_jv bitcast block_mean cast cast_to_discrete
    cholesky concat conj copy_to_device cumprod cumsum cumulative_logsumexp det diag diag_part diag_range
    diag_range_part eig eigh euclidean_norm expm expm_frechet fft huber identity ifft imaginary_part inv inverse_gaps
    invert irfft isotonic_blocks leaky_relu linspace log_softmax logm logsumexp logsumexp_shares lu lu_factors max
    mean min mirror_weights moments pad_axis permute pinv population_count prod qr real_part repeat resize
    resize_input reverse rfft roll running_top slice_axis slogdet softmax softmax_cross_entropy softmax_minus_label
    sparse_softmax_cross_entropy sqrtm stack standardize stop_gradient sum svd sylvester take top_positions transpose
    tridiagonal_solve unique_numbers unpermute widen"""
)
"""Ops that take a leading axis, if all of their inputs have it."""


def apply_to_stacks(op: Op, ins: list[Stack], params: dict[str, Any], count: int) -> Any:
    """Apply an op to all rows at once.

    Parameters
    ----------
    op : Op
        The op.
    ins : list of Stack
        Its inputs, at least one of them stacked.
    params : dict
        Its parameters for one row.
    count : int
        The number of rows, at least 1.

    Returns
    -------
    Tensor or tuple of Tensor
        What the op gives for each row, along a new first axis.
    """
    if op.elementwise or op.name in BROADCASTING:
        rank = max([len(x.shape) for x in ins])
        return op.apply(*[x.of_rank(rank, count) for x in ins], **params)
    if op.name in ALIKE:
        rank = max([len(x.shape) for x in ins])
        return op.apply(*[Stack(x.of_all(count), x.shape, True).of_rank(rank, count) for x in ins], **params)
    if op.name in STACKABLE:
        return op.apply(*[x.of_all(count) for x in ins], **params)
    rule = RULES.get(op.name)
    made = None if rule is None else rule(op, ins, params, count)
    return _row_by_row(op, ins, params, count) if made is None else made


def _row_by_row(op: Op, ins: list[Stack], params: dict[str, Any], count: int) -> Any:
    """Apply an op to one row after the other."""
    rows = [op.apply(*[_taken(x.tensor, k) if x.stacked else x.tensor for x in ins], **params) for k in range(count)]
    if rows[0].__class__ is tuple:
        return tuple([_stacked(column) for column in zip(*rows, strict=True)])
    return _stacked(rows)


def _stacked(rows: Any) -> Tensor:
    return RECORDING.stack(*rows, axis=-len(rows[0]._held.shape) - 1)


def _taken(x: Tensor, index: int) -> Tensor:
    return RECORDING.take(x, axis=-len(x._held.shape), index=index)


def _reshaped(x: Tensor, shape: Shape) -> Tensor:
    return x if x._held.shape == shape else RECORDING.reshape(x, shape=shape)


def _reshape(op: Op, ins: list[Stack], params: dict[str, Any], count: int) -> Any:
    return _reshaped(ins[0].tensor, (count, *params["shape"]))


def _broadcast(op: Op, ins: list[Stack], params: dict[str, Any], count: int) -> Any:
    shape = params["shape"]
    return RECORDING.broadcast_to(ins[0].of_rank(len(shape), count), shape=(count, *shape))


def _matmul(op: Op, ins: list[Stack], params: dict[str, Any], count: int) -> Any:
    x, y = ins
    n, m = len(x.shape), len(y.shape)
    if not y.stacked:
        if m < 3:  # rows of all examples are rows of one matrix
            return op.apply(x.tensor, y.tensor)
        return op.apply(x.of_rank(m, count), y.tensor) if n > 1 else None
    if n == 1 and m == 1:
        return RECORDING.sum(RECORDING.multiply(x.tensor, y.tensor), axes=(-1,), keepdims=False)
    if m == 1:
        if not x.stacked and n == 2:
            return op.apply(y.tensor, RECORDING.transpose(x.tensor, perm=(-1, -2)))
        column = _reshaped(y.tensor, (count, *(1,) * (n - 2), y.shape[0], 1))
        return _reshaped(op.apply(x.tensor, column), (count, *x.shape[:-1]))
    if n == 1:
        if not x.stacked:
            return op.apply(x.tensor, y.tensor)
        line = _reshaped(x.tensor, (count, *(1,) * (m - 1), x.shape[0]))
        return _reshaped(op.apply(line, y.tensor), (count, *y.shape[:-2], y.shape[-1]))
    rank = max(n, m)
    a, b = x.of_rank(rank, count), y.of_rank(rank, count)
    if x.shape[-1] == 1 and x.tensor.dtype.is_floating:
        return RECORDING.multiply(a, b)  # the outer product of a column and a line
    return op.apply(a, b)


def _einsum(op: Op, ins: list[Stack], params: dict[str, Any], count: int) -> Any:
    inputs, output = params["inputs"], params["output"]
    more = [len(x.shape) - len(s) for x, s in zip(ins, inputs, strict=True)]  # axes of a stack of cotangents
    free = [c for c in ascii_letters if c not in "".join(inputs)]
    if len(free) <= max(more):
        return None
    first, extra = free[0], "".join(free[1:])
    subscripts = tuple([first * x.stacked + extra[:k] + s for x, k, s in zip(ins, more, inputs, strict=True)])
    return op.apply(*[x.tensor for x in ins], inputs=subscripts, output=first + extra[: max(more)] + output)


def _gather(op: Op, ins: list[Stack], params: dict[str, Any], count: int) -> Any:
    x, indices = ins
    axis = params["axis"]
    if not indices.stacked:
        return op.apply(x.tensor, indices.tensor, **params)
    before = len(x.shape) + axis
    if not x.stacked:
        found = op.apply(x.tensor, indices.tensor, **params)
        rank = len(found._held.shape)
        order = (before, *range(before), *range(before + 1, rank))
        return found if not before else RECORDING.transpose(found, perm=tuple([k - rank for k in order]))
    if before:
        return None
    picked, rest = prod(indices.shape), x.shape[1:]
    places = _reshaped(indices.tensor, (count, picked, *(1,) * len(rest)))
    places = RECORDING.broadcast_to(places, shape=(count, picked, *rest))
    found = RECORDING.take_along(x.tensor, places, axis=axis)
    return _reshaped(found, (count, *indices.shape, *rest))


def _scatter_axis(op: Op, ins: list[Stack], params: dict[str, Any], count: int) -> Any:
    """Sum at the positions of all rows in one table, the tables of the rows one below the other."""
    g, indices = ins
    axis, length = params["axis"], params["length"]
    if not indices.stacked:
        return op.apply(g.tensor, indices.tensor, **params)
    rest = g.shape[len(indices.shape) :]
    if -axis != len(rest) + 1:
        return None
    first = np.arange(count, dtype=indices.tensor._held.dtype) * length
    starts = tell_made(wrap(first.reshape(count, *(1,) * len(indices.shape))))
    places = RECORDING.add(indices.tensor, starts)
    picked = prod(indices.shape)
    flat = _reshaped(g.of_all(count), (count * picked, *rest))
    found = op.apply(flat, _reshaped(places, (count * picked,)), axis=axis, length=count * length)
    return _reshaped(found, (count, length, *rest))


def _gather_nd(op: Op, ins: list[Stack], params: dict[str, Any], count: int) -> Any:
    x, indices = ins
    lead = params.get("lead", 0)
    if not x.stacked and not lead:
        return op.apply(x.tensor, indices.tensor, **params)
    return None if indices.stacked else op.apply(x.tensor, indices.tensor, lead=lead + x.stacked)


def _scatter_nd(op: Op, ins: list[Stack], params: dict[str, Any], count: int) -> Any:
    g, indices = ins
    return None if indices.stacked else op.apply(g.tensor, indices.tensor, **params)


def _one_hot(op: Op, ins: list[Stack], params: dict[str, Any], count: int) -> Any:
    axis = params["axis"]
    return op.apply(ins[0].tensor, **{**params, "axis": axis if axis < 0 else axis + 1})


def _extreme_position(op: Op, ins: list[Stack], params: dict[str, Any], count: int) -> Any:
    return op.apply(ins[0].tensor, axis=params["axis"] % len(ins[0].shape) + 1)


_WHOLE = ("s", None, None, None)
"""The index of an axis that is taken whole."""


def _slice(op: Op, ins: list[Stack], params: dict[str, Any], count: int) -> Any:
    return op.apply(ins[0].tensor, items=(_WHOLE, *params["items"]))


def _unslice(op: Op, ins: list[Stack], params: dict[str, Any], count: int) -> Any:
    items, shape = params["items"], params["shape"]
    lead = len(ins[0].shape) - sum(item[0] != "i" for item in items)  # of a stack of cotangents
    whole = (_WHOLE,) * (lead + 1)
    return op.apply(ins[0].tensor, items=(*whole, *items), shape=(count, *ins[0].shape[:lead], *shape))


def _tile(op: Op, ins: list[Stack], params: dict[str, Any], count: int) -> Any:
    return op.apply(ins[0].tensor, multiples=(1, *params["multiples"]))


def _cross_entropy_grad(op: Op, ins: list[Stack], params: dict[str, Any], count: int) -> Any:
    if len(ins[0].shape) != len(ins[1].shape) - 1:  # a stack of cotangents
        return None
    return op.apply(*[x.of_all(count) for x in ins])


def _pad(op: Op, ins: list[Stack], params: dict[str, Any], count: int) -> Any:
    return op.apply(ins[0].tensor, paddings=((0, 0), *params["paddings"]), value=params["value"])


def _l2_loss(op: Op, ins: list[Stack], params: dict[str, Any], count: int) -> Any:
    x = ins[0]
    if not x.shape or not x.tensor.dtype.is_floating:
        return None
    squares = RECORDING.square(x.tensor)
    total = RECORDING.sum(squares, axes=tuple(range(-len(x.shape), 0)), keepdims=False)
    return RECORDING.multiply(total, tell_made(wrap(x.tensor._held.dtype.type(0.5))))


def _accumulate_parts(op: Op, ins: list[Stack], params: dict[str, Any], count: int) -> Any:
    return op.apply(*[x.of_all(count) for x in ins], **{**params, "shape": (count, *params["shape"])})


def _images(op: Op, ins: list[Stack], params: dict[str, Any], count: int) -> Any:
    """Take the images of all rows as one batch, with the filters of all."""
    x = ins[0]
    if any(other.stacked for other in ins[1:]) and op.name not in _IMAGES_TWICE:
        return None
    if op.name in _IMAGES_TWICE:
        given = [_reshaped(y.of_all(count), (count * y.shape[0], *y.shape[1:])) for y in ins]
    elif x.stacked:
        given = [_reshaped(x.tensor, (count * x.shape[0], *x.shape[1:])), *[y.tensor for y in ins[1:]]]
    else:
        return None
    if "shape" in params:
        params = {**params, "shape": (count * params["shape"][0], *params["shape"][1:])}
    made = op.apply(*given, **params)
    shape = made._held.shape
    return _reshaped(made, (count, shape[0] // count, *shape[1:]))


def _normalize_grad(op: Op, ins: list[Stack], params: dict[str, Any], count: int) -> Any:
    """Return the contributions of x, scale and offset, the last two summed over each row alone."""
    scale, rank = ins[2], len(ins[1].shape)
    if len(ins[0].shape) != rank:  # a stack of cotangents
        return None
    g, x = ins[0].of_all(count), ins[1].of_all(count)
    shape = scale.shape
    over = tuple([k for k in range(-rank, 0) if -k > len(shape) or shape[k] == 1])
    contribution = RECORDING.standardize_grad(RECORDING.multiply(g, scale.of_rank(rank, count)), x, **params)
    turned = RECORDING.multiply(g, RECORDING.standardize(x, **params))
    sums = [_reshaped(RECORDING.sum(t, axes=over, keepdims=True), (count, *shape)) for t in (turned, g)]
    return (contribution, *sums)


_IMAGES_TWICE = frozenset({"max_pool_input", "max_pool_pick"})
RULES: dict[str, Rule] = {
    "reshape": _reshape,
    "broadcast_to": _broadcast,
    "matmul": _matmul,
    "einsum": _einsum,
    "gather": _gather,
    "scatter_axis": _scatter_axis,
    "gather_nd": _gather_nd,
    "scatter_nd": _scatter_nd,
    "one_hot": _one_hot,
    "argmax": _extreme_position,
    "argmin": _extreme_position,
    "pad": _pad,
    "tile": _tile,
    "slice": _slice,
    "unslice": _unslice,
    "softmax_cross_entropy_grad": _cross_entropy_grad,
    "sparse_softmax_cross_entropy_grad": _cross_entropy_grad,
    "l2_loss": _l2_loss,
    "accumulate_parts": _accumulate_parts,
    "normalize_grad": _normalize_grad,
}
RULES.update(
    dict.fromkeys(
        (
            "convolve", "convolve_input", "depthwise", "depthwise_input", "average_pool", "average_pool_input",
            "max_pool", "max_pool_input", "max_pool_pick",
        ),
        _images,
    )
)  # fmt: skip
