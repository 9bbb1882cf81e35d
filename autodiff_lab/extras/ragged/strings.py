"""Ragged tensors of strings: joined element by element or along an axis, and cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autodiff_lab.engine.shape import whole_numbers
from autodiff_lab.engine.strings import STRING
from autodiff_lab.engine.tensor import wrap
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError
from autodiff_lab.extras.families import strings
from autodiff_lab.extras.ragged.broadcasting import elementwise
from autodiff_lab.extras.ragged.shaping import expand_dims
from autodiff_lab.extras.ragged.tensor import RaggedTensor


def join(inputs: Sequence[Any], separator: str = "") -> RaggedTensor:
    """Strings joined element by element, with broadcasting."""
    return elementwise(lambda *parts: strings.join(parts, separator), tuple(inputs))


def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE") -> RaggedTensor:
    """Parts of strings."""
    return elementwise(lambda x, start, size: strings.substr(x, start, size, unit), (input, pos, len))


def reduce_join(inputs: RaggedTensor, axis: Any = None, keepdims: bool = False, separator: str = "") -> Any:
    """Strings joined along axes, the last of those given first.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.strings.reduce_join(lab.ragged.constant([["a", "b"], ["c"]]), axis=1))
    Tensor([b'ab' b'c'], shape=(2,), dtype=string)
    """
    if inputs.dtype.name != "string":
        raise DtypeMismatch(f"reduce_join: this op takes strings, got {inputs.dtype.name}.")
    axes = range(inputs.ndim) if axis is None else whole_numbers(axis, "reduce_join")
    if any(not -inputs.ndim <= a < inputs.ndim for a in axes):
        raise InvalidArgumentError(f"reduce_join: axis {axis} is out of bounds for the shape {inputs.shape}.")
    made: Any = inputs
    for at in sorted({a % inputs.ndim for a in axes}, reverse=True):
        made = _along(made, at, separator)
        made = expand_dims(made, at) if keepdims else made
    return made


def _along(x: Any, axis: int, separator: str) -> Any:
    from autodiff_lab.extras.ragged.reductions import Cells

    if not isinstance(x, RaggedTensor):
        return strings.reduce_join(x, axis, separator=separator)
    if axis > x.ragged_rank:
        return x.with_flat_values(strings.reduce_join(x.flat_values, axis - x.ragged_rank, separator=separator))
    cells, flat = Cells(x, (axis,)), np.asarray(x.flat_values._array)
    made = np.empty((cells.number, *flat.shape[1:]), STRING)
    for cell in range(cells.number):
        parts = flat[cells.target == cell]
        made[cell] = separator.encode().join(parts.tolist()) if flat.ndim == 1 else _rows(parts, separator)
    return cells.shaped(wrap(made))


def _rows(parts: Any, separator: str) -> Any:
    return np.asarray(strings.reduce_join(wrap(parts), 0, separator=separator)._array)
