"""The ragged form of each public function that accepts ragged tensors and is not elementwise.

A public function that is given a ragged tensor passes itself and its arguments to `__lab_apply__`, which ends here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.strings import STRING
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, NotOneTensor, ShapeMismatch
from autodiff_lab.extras.families import strings
from autodiff_lab.extras.ragged import reductions, shaping
from autodiff_lab.extras.ragged.broadcasting import elementwise
from autodiff_lab.extras.ragged.parts import as_ragged, either, gathered, gathered_nd
from autodiff_lab.extras.ragged.rows import RaggedShape
from autodiff_lab.extras.ragged.tensor import RaggedTensor
from autodiff_lab.ops.array import creation, gathering
from autodiff_lab.ops.linalg import products


def shape_of(x: RaggedTensor, out_type: Any = "int32") -> RaggedShape:
    """Return the length of each axis, and the row lengths of ragged ones."""
    return RaggedShape.from_tensor(x, out_type)


def size(x: RaggedTensor, out_type: Any = "int32") -> Tensor:
    """Return the number of elements in all rows."""
    return wrap(as_dtype(out_type).dtype.type(x.flat_values._held.size))


def rank(x: RaggedTensor) -> Tensor:
    """Return the number of axes."""
    return wrap(np.int32(x.ndim))


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Return the coordinates of true elements, or x where the condition holds and y elsewhere."""
    if x is not None:
        return elementwise(gathering.where, (condition, x, y))
    places = np.argwhere(np.asarray(condition.flat_values._array))
    first, rest = places[:, 0], places[:, 1:]
    columns: list[Any] = []
    for partition in reversed(condition.partitions):
        columns.insert(0, partition.places[first])
        first = partition.row_numbers[first]
    return wrap(np.concatenate([np.stack([first, *columns], axis=1), rest], axis=1).astype(np.int64))


def one_hot(indices: RaggedTensor, depth: Any, on_value: Any, off_value: Any, axis: Any, dtype: Any) -> RaggedTensor:
    """Return rows of one-hot vectors."""
    at = -1 if axis is None else int(axis)
    if at >= 0:
        if at <= indices.ragged_rank:
            raise InvalidArgumentError(
                f"one_hot: axis {at} is ragged in shape {indices.shape}. Try axis={indices.ndim} or -1."
            )
        at -= indices.ragged_rank
    return indices.with_flat_values(creation.one_hot(indices.flat_values, depth, on_value, off_value, at, dtype))


def matmul(a: Any, b: Any, **settings: Any) -> Any:
    """Multiply the innermost matrices, whose inner sizes must match matrix by matrix."""
    a, b = either(a), either(b)
    if a.dtype != b.dtype:
        raise DtypeMismatch(f"matmul: dtypes {a.dtype.name} and {b.dtype.name} differ. Try lab.cast.")
    if a.ndim != b.ndim or a.ndim < 2:
        raise ShapeMismatch(
            f"matmul: expected operands of the same rank, at least 2, got shapes {a.shape} and {b.shape}."
        )
    if a.ndim == 2:
        return products.matmul(_rectangle(a), _rectangle(b), **settings)
    left, right = as_ragged(a), as_ragged(b)
    if a.ndim > 3:
        if not left.partitions[0].same(right.partitions[0]):
            raise ShapeMismatch(f"matmul: the batches of shapes {a.shape} and {b.shape} differ.")
        return left.with_values(matmul(left.values, right.values, **settings))
    if len(left) != len(right):
        raise ShapeMismatch(f"matmul: the batches hold {len(left)} and {len(right)} matrices.")
    found = [matmul(left[i], right[i], **settings) for i in range(len(left))]
    deep = isinstance(b, RaggedTensor) and (
        b.ragged_rank == 2 or settings.get("transpose_b") or settings.get("adjoint_b")
    )
    if not found:
        return left.with_values(left.values[:0])
    if deep:
        return shaping.stack([RaggedTensor.from_tensor(x) for x in found])
    rows = shaping.from_lengths_of(np.array([x._held.shape[0] for x in found]), left.partitions[0])
    return RaggedTensor(shaping.concat(found, 0), rows)


def _rectangle(x: Any) -> Tensor:
    if isinstance(x, Tensor):
        return x
    lengths = x.partitions[0].lengths
    if (lengths != lengths[:1]).any():
        raise ShapeMismatch(f"matmul: expected innermost rows of equal length, got lengths {lengths.tolist()[:10]}.")
    return x.to_tensor()


def map_fn(elems: RaggedTensor, fn: Callable[[Any], Any], signature: Any) -> Any:
    """Apply a function to each row and stack the results, as ragged rows unless the signature is dense."""
    found = [fn(row) for row in elems]
    if not found:
        raise ShapeMismatch(
            "map_fn: elems has no rows, so the structure of the result is unknown. Try at least one row."
        )
    ragged = signature is None or hasattr(signature, "ragged_rank")
    if all(not isinstance(x, RaggedTensor) for x in found):
        parts = [convert(x) for x in found]
        if not ragged or parts[0]._held.ndim == 0:
            from autodiff_lab.ops.array.joining import stack

            return stack(parts)
    return shaping.stack(found)


def embedding_lookup(params: Any, ids: Any, max_norm: Any = None) -> RaggedTensor:
    """Look up the rows of a table by ragged ids."""
    from autodiff_lab.ops.nn.embedding import embedding_lookup as of_tensor

    if not isinstance(ids, RaggedTensor):
        raise NotOneTensor(params)
    return ids.with_flat_values(of_tensor(params, ids.flat_values, max_norm))


def embedding_lookup_sparse(params: Any, ids: Any, weights: Any, combiner: str | None, max_norm: Any) -> Any:
    """Look up the rows of a table by ragged ids, and combine them over each row of ids."""
    from autodiff_lab.ops.nn.embedding import embedding_lookup_sparse as of_sparse

    if not isinstance(ids, RaggedTensor) or ids.ragged_rank != 1 or ids.ndim != 2:
        raise InvalidArgumentError(f"embedding_lookup_sparse: expected ragged ids of shape (n, None), got {ids!r}.")
    if weights is not None and not isinstance(weights, RaggedTensor):
        raise InvalidArgumentError(
            "embedding_lookup_sparse: the ids are ragged but the weights are not. Try ragged weights."
        )
    other = None if weights is None else weights.to_sparse()
    return of_sparse(params, ids.to_sparse(), other, combiner, max_norm)


def dropout(x: Any, rate: Any, noise_shape: Any = None, seed: Any = None) -> RaggedTensor:
    """Drop elements at random."""
    from autodiff_lab.ops.nn.spatial import dropout as of_tensor

    if not isinstance(x, RaggedTensor):
        raise InvalidArgumentError(f"dropout: rate must be a number, got {rate!r:.80}.")
    if noise_shape is not None:
        raise InvalidArgumentError("dropout: noise_shape is not supported for ragged tensors. Try noise_shape=None.")
    return x.with_flat_values(of_tensor(x.flat_values, rate, seed=seed))


def dynamic_partition(data: Any, partitions: Any, num_partitions: int) -> list[Any]:
    """Return one tensor for each partition."""
    from autodiff_lab.extras.ragged.functions import stack_dynamic_partitions

    rows = stack_dynamic_partitions(data, partitions, num_partitions)
    return [rows[i] for i in range(len(rows))]


def join(inputs: Sequence[Any], separator: str = "") -> RaggedTensor:
    """Join strings element by element, with broadcasting."""
    return elementwise(lambda *parts: strings.join(parts, separator), tuple(inputs))


def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE") -> RaggedTensor:
    """Return parts of strings."""
    return elementwise(lambda x, start, size: strings.substr(x, start, size, unit), (input, pos, len))


def reduce_join(inputs: RaggedTensor, axis: Any = None, keepdims: bool = False, separator: str = "") -> Any:
    """Join strings along axes, starting with the last.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.strings.reduce_join(lab.ragged.constant([["a", "b"], ["c"]]), axis=1))
    Tensor([b'ab' b'c'], shape=(2,), dtype=string)
    """
    if inputs.dtype.name != "string":
        raise DtypeMismatch(f"reduce_join: expected strings, got {inputs.dtype.name}.")
    made: Any = inputs
    for at in reversed(reductions.axes_of(inputs, axis, "reduce_join")):
        made = _along(made, at, separator)
        made = shaping.expand_dims(made, at) if keepdims else made
    return made


def _along(x: Any, axis: int, separator: str) -> Any:
    if not isinstance(x, RaggedTensor):
        return strings.reduce_join(x, axis, separator=separator)
    if axis > x.ragged_rank:
        return x.with_flat_values(strings.reduce_join(x.flat_values, axis - x.ragged_rank, separator=separator))
    cells, flat = reductions.Cells(x, (axis,)), np.asarray(x.flat_values._array)
    made = np.empty((cells.number, *flat.shape[1:]), STRING)
    for cell in range(cells.number):
        parts = flat[cells.target == cell]
        made[cell] = separator.encode().join(parts.tolist()) if flat.ndim == 1 else _rows(parts, separator)
    return cells.shaped(wrap(made))


def _rows(parts: Any, separator: str) -> Any:
    return np.asarray(strings.reduce_join(wrap(parts), 0, separator=separator)._array)


_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift")
"""Ops that broadcast, but whose gradient is not a local factor."""


def called(x: RaggedTensor, op: Any, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Run the ragged form of an op or a public function on inputs of which `x` is one."""
    run = CALLS.get(op.__name__)
    if run is not None:
        return run(*inputs, **params)
    if getattr(op, "elementwise", False) or op.__name__ in _BITS:
        return elementwise(partial(op, **params) if params else op, inputs)
    raise NotOneTensor(x)


CALLS: dict[str, Callable[..., Any]] = {
    "boolean_mask": shaping.boolean_mask,
    "bincount": reductions.counted,
    "concat": shaping.concat,
    "cumsum": reductions.cumsum,
    "dropout": dropout,
    "dynamic_partition": dynamic_partition,
    "embedding_lookup": embedding_lookup,
    "embedding_lookup_sparse": embedding_lookup_sparse,
    "expand_dims": shaping.expand_dims,
    "gather": gathered,
    "gather_nd": gathered_nd,
    "map_fn": map_fn,
    "matmul": matmul,
    "one_hot": one_hot,
    "rank": rank,
    "shape": shape_of,
    "join": join,
    "reduce_join": reduce_join,
    "substr": substr,
    "reshape": shaping.reshape,
    "reverse": shaping.reverse,
    "size": size,
    "softmax": reductions.softmax,
    "split": shaping.split,
    "squeeze": shaping.squeeze,
    "stack": shaping.stack,
    "tile": shaping.tile,
    "where": where,
}
for _name in (
    *("segment_sum", "segment_mean", "segment_max", "segment_min", "segment_prod"),
    *("unsorted_segment_sum", "unsorted_segment_mean", "unsorted_segment_max", "unsorted_segment_min"),
    *("unsorted_segment_prod", "unsorted_segment_sqrt_n"),
):
    CALLS[_name] = partial(reductions.segments_reduced, _name)
for _name in (
    *("reduce_sum", "reduce_mean", "reduce_prod", "reduce_max", "reduce_min", "reduce_any", "reduce_all"),
    *("reduce_variance", "reduce_std"),
):
    CALLS[_name] = partial(reductions.reduced, _name)
