"""Assignments to parts of variables by position: `v.scatter_nd_update` and its family.

They are methods of `Variable`, installed here because the engine knows no op; each is an assignment of what the
function of tensors with the same name gives.  Like every assignment they pass no gradient.  What they cost grows with
the number of rows that change, not with the variable, unless somebody still holds its value: see `engine.buffers`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.engine.buffers import rows_changed
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import DtypeMismatch
from autodiff_lab.events.listener import sinks_now
from autodiff_lab.kernels.indexing.reference import as_rows
from autodiff_lab.ops.array.gathering import gather, gather_nd, tensor_scatter_nd_update
from autodiff_lab.ops.array.joining import unstack
from autodiff_lab.ops.array.scattering import (
    change_rows,
    tensor_scatter_nd_add,
    tensor_scatter_nd_max,
    tensor_scatter_nd_min,
    tensor_scatter_nd_sub,
)
from autodiff_lab.ops.array.shaping import expand_dims
from autodiff_lab.ops.math.arithmetic import divide, multiply

_CHANGES = {
    "update": (tensor_scatter_nd_update, "replaced"),
    "add": (tensor_scatter_nd_add, "added to"),
    "sub": (tensor_scatter_nd_sub, "subtracted from"),
    "max": (tensor_scatter_nd_max, "raised to the update where it is greater"),
    "min": (tensor_scatter_nd_min, "lowered to the update where it is less"),
}


_KINDS = {"update": "biufcV", "add": "iufcV", "sub": "iufcV", "max": "iufV", "min": "iufV", "mul": "fcV", "div": "fc"}
"""The kinds of dtypes that may change in place."""


def _in_place(v: Variable, at: Tensor, new: Tensor, how: str) -> bool:
    """Change rows of a variable where they are; return False if that is not possible, in which case nothing changed.

    Somebody who records sees an assignment; arguments that do not fit are refused there too.
    """
    own, places, rows = v._own, at._held, new._held
    if sinks_now() or not (isinstance(own, np.ndarray) and isinstance(places, np.ndarray)):
        return False
    if rows.dtype != own.dtype or own.dtype.kind not in _KINDS[how] or places.dtype.kind not in "iu":
        return False
    shape, depth = own.shape, places.shape[-1] if places.ndim else 0
    if not 0 < depth <= len(shape) or rows.shape != (*places.shape[:-1], *shape[depth:]):
        return False
    for k in range(depth):
        column = places[..., k]
        if column.size and not 0 <= column.min() <= column.max() < shape[k]:
            return False
    positions, count, width = as_rows(places, shape)
    update = np.asarray(rows).reshape(positions.size, width)
    rows_changed(v, lambda array: change_rows(array.reshape(count, width), update, positions, how=how))
    return True


def _by_coordinates(how: str, change: Callable[..., Any], words: str) -> Callable[..., Variable]:
    def method(self: Variable, indices: Any, updates: Any, name: str | None = None) -> Variable:
        at, new = convert(indices), convert(updates, self.read())
        if _in_place(self, at, new, how):
            return self
        return self.assign(change(self.read(), indices, new))

    method.__doc__ = f"Elements at coordinates, one row each, are {words}; gives the variable."
    return method


def _by_rows(how: str, change: Callable[..., Any], words: str) -> Callable[..., Variable]:
    def method(self: Variable, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Variable:
        if not hasattr(sparse_delta, "indices") or not hasattr(sparse_delta, "values"):
            raise DtypeMismatch(
                f"{method.__name__}: expected lab.IndexedSlices(values, indices), got {type(sparse_delta).__name__}. "
                f"Try scatter_nd_{method.__name__.rpartition('_')[2]}(indices, updates)."
            )
        at, new = expand_dims(sparse_delta.indices, -1), sparse_delta.values
        if isinstance(new, Tensor) and _in_place(self, at, new, how):
            return self
        return self.assign(change(self.read(), at, new))

    method.__name__ = f"scatter_{how}"
    method.__doc__ = f"Rows named by `IndexedSlices` are {words}; gives the variable."
    return method


def _times(x: Any, indices: Any, updates: Any) -> Any:
    return _rows_by(x, indices, updates, multiply)


def _divided(x: Any, indices: Any, updates: Any) -> Any:
    return _rows_by(x, indices, updates, divide)


def _rows_by(x: Any, indices: Any, updates: Any, change: Callable[..., Any]) -> Any:
    """Rows changed one update after the other, as some may be named twice."""
    for at, update in zip(unstack(indices), unstack(convert(updates, x)), strict=True):
        x = tensor_scatter_nd_update(x, expand_dims(at, 0), expand_dims(change(gather_nd(x, at), update), 0))
    return x


def _sparse_read(self: Variable, indices: Any, name: str | None = None) -> Any:
    """Rows by their positions; tapes see the read."""
    return gather(self.read(), indices, name=name)


def _gather_nd(self: Variable, indices: Any, name: str | None = None) -> Any:
    """Parts by their coordinates; tapes see the read."""
    return gather_nd(self.read(), indices, name=name)


def _install() -> None:
    for kind, change, words in (("mul", _times, "multiplied"), ("div", _divided, "divided")):
        setattr(Variable, f"scatter_{kind}", _by_rows(kind, change, words))
    setattr(Variable, "sparse_read", _sparse_read)  # noqa: B010 - as the others are
    setattr(Variable, "gather_nd", _gather_nd)  # noqa: B010
    for kind, (change, words) in _CHANGES.items():
        setattr(Variable, f"scatter_nd_{kind}", _by_coordinates(kind, change, words))
        setattr(Variable, f"scatter_{kind}", _by_rows(kind, change, words))


_install()
