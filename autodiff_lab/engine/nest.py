"""Nested structures of sources and targets: lists, tuples, dicts and what else optree knows, mirrored in results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable

_LEAF_TYPES = (Tensor, Variable)


def flatten(structure: Any) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    """The leaves of a structure in order, and the function that puts results in their places.

    None is a leaf; the keys of dicts keep their order.

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
            structure, is_leaf=lambda x: isinstance(x, _LEAF_TYPES), none_is_leaf=True, namespace="autodiff_lab"
        )
    return leaves, lambda results: optree.tree_unflatten(spec, results)
