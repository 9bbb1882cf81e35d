"""Nested structures of sources and targets: lists, tuples, dicts and what else optree knows, mirrored in results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable

_LEAF_TYPES = (Tensor, Variable)


def flatten(structure: Any, rows: bool = False) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    """The leaves of a structure in order, and the function that puts results in their places.

    None is a leaf; the keys of dicts keep their order.  An `IndexedSlices` counts as its values, or, with `rows`, is a
    leaf: `whole` makes a tensor of it.

    Examples
    --------
    >>> leaves, rebuild = flatten({"b": [1, (2, 3)], "a": None})
    >>> leaves
    [1, 2, 3, None]
    >>> rebuild([10, 20, 30, 40])
    {'b': [10, (20, 30)], 'a': 40}
    """
    if isinstance(structure, _LEAF_TYPES):
        return [structure], lambda results: results[0]
    if structure.__class__ is list and all(item.__class__ in _LEAF_TYPES for item in structure):
        return structure, list
    if structure.__class__ is dict and all(item.__class__ in _LEAF_TYPES for item in structure.values()):
        keys = list(structure)
        return list(structure.values()), lambda results: dict(zip(keys, results, strict=True))
    import optree  # late: most programs have flat lists, and it takes a while

    with optree.dict_insertion_ordered(True, namespace="autodiff_lab"):
        leaves, spec = optree.tree_flatten(
            structure,
            is_leaf=lambda x: isinstance(x, _LEAF_TYPES) or (rows and slices(x)),
            none_is_leaf=True,
            namespace="autodiff_lab",
        )
    return leaves, lambda results: optree.tree_unflatten(spec, results)


def slices(value: Any) -> bool:
    """Whether a value is some rows of a tensor, an `IndexedSlices`."""
    return hasattr(value, "__tensor__") and hasattr(value, "with_values")


def whole(cotangent: Any, shape: tuple[int, ...]) -> Any:
    """A cotangent for a tensor of this shape: rows as the tensor that they belong to, anything else as it is.

    Rows of a tensor of another shape are taken to be the cotangent of rows, whose values have the shape.
    """
    if not slices(cotangent):
        return cotangent
    if cotangent.dense_shape is None:
        cotangent = cotangent.with_shape(shape)
    return cotangent.__tensor__() if tuple(cotangent.shape) == shape else cotangent.values
