"""Nested structures: lists, tuples, dicts and what else optree knows, taken apart and put together again.

Everything that goes through structures does so here, and nothing else imports optree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable

_LEAF_TYPES = (Tensor, Variable)
OURS = "autodiff_lab"
"""The namespace in which optree knows our own structures and keeps the order of keys."""


def flatten(
    structure: Any, rows: bool = False, leaf: Callable[[Any], bool] | None = None, by_key: bool = False
) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    """Return the leaves of a structure in order, and the function that puts results in their places.

    None is a leaf; the keys of dicts keep their order. `by_key` sorts them and takes Python's own containers alone for
    structures, as `lab.nest` does.  An `IndexedSlices` counts as its
    values, or, with `rows`, is a leaf: `whole` makes a tensor of it.  So is whatever `leaf` holds of.

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
    if leaf is None and structure.__class__ is list and all(item.__class__ in _LEAF_TYPES for item in structure):
        return structure, list
    if (
        leaf is None
        and not by_key
        and structure.__class__ is dict
        and all(item.__class__ in _LEAF_TYPES for item in structure.values())
    ):
        keys = list(structure)
        return list(structure.values()), lambda results: dict(zip(keys, results, strict=True))
    optree = _trees()

    def is_leaf(x: Any) -> bool:
        return isinstance(x, _LEAF_TYPES) or (rows and slices(x)) or (leaf is not None and leaf(x))

    if by_key:
        leaves, spec = optree.tree_flatten(structure, is_leaf=is_leaf, none_is_leaf=True)
    else:
        with optree.dict_insertion_ordered(True, namespace=OURS):
            leaves, spec = optree.tree_flatten(structure, is_leaf=is_leaf, none_is_leaf=True, namespace=OURS)
    return leaves, lambda results: optree.tree_unflatten(spec, results)


def with_paths(structure: Any) -> tuple[list[tuple[Any, ...]], list[Any], Any]:
    """Return the paths of the leaves, the leaves, and what two structures of the same form have in common."""
    optree = _trees()
    with optree.dict_insertion_ordered(True, namespace=OURS):
        return optree.tree_flatten_with_path(
            structure, is_leaf=lambda x: isinstance(x, _LEAF_TYPES), none_is_leaf=True, namespace=OURS
        )


def level(structure: Any) -> tuple[list[Any], Callable[[list[Any]], Any]] | None:
    """Return the parts of a structure and the function that rebuilds it from other parts; None for a leaf.

    Examples
    --------
    >>> parts, rebuild = level({"b": [1, 2], "a": 3})
    >>> parts, rebuild([4, 5]), level(3)
    ([[1, 2], 3], {'b': 4, 'a': 5}, None)
    """
    if structure is None or isinstance(structure, _LEAF_TYPES):
        return None
    optree = _trees()
    with optree.dict_insertion_ordered(True, namespace=OURS):
        parts, spec = optree.tree_flatten(
            structure, is_leaf=lambda x: x is not structure, none_is_leaf=True, namespace=OURS
        )
    if len(parts) == 1 and parts[0] is structure:
        return None
    return parts, lambda results: optree.tree_unflatten(spec, results)


def is_plain_leaf(value: Any) -> bool:
    """Return whether a value is not one of Python's containers, the only ones that `lab.nest` knows."""
    optree = _trees()
    return isinstance(value, _LEAF_TYPES) or optree.tree_is_leaf(value, none_is_leaf=True)


_waiting: list[tuple[type, Callable[[Any], Any], Callable[[Any, Any], Any]]] = []


def _trees() -> Any:
    """Import optree, with the classes that were registered before."""
    import optree  # late: most programs have flat lists, and it takes a while

    while _waiting:
        kind, parts, rebuilt = _waiting.pop()
        node: Any = optree.register_pytree_node
        node(kind, parts, rebuilt, namespace=OURS)
    return optree


def register_late(kind: type, parts: Callable[[Any], Any], rebuilt: Callable[[Any, Any], Any]) -> None:
    """Register a class as `register` does, once structures are taken apart by optree."""
    _waiting.append((kind, parts, rebuilt))


def register(kind: type, parts: Callable[[Any], Any], rebuilt: Callable[[Any, Any], Any]) -> None:
    """Register a class as a structure: `parts` returns (parts, auxiliary data, names or None)."""
    optree = _trees()
    node: Any = optree.register_pytree_node
    node(kind, parts, rebuilt, namespace=OURS)


def slices(value: Any) -> bool:
    """Return whether a value is some rows of a tensor, an `IndexedSlices`."""
    return hasattr(value, "__tensor__") and hasattr(value, "with_values")


def whole(cotangent: Any, shape: tuple[int, ...]) -> Any:
    """Return a cotangent for a tensor of this shape: rows as the tensor that they belong to, anything else as it is.

    Rows of a tensor of another shape are taken to be the cotangent of rows, whose values have the shape.
    """
    if not slices(cotangent):
        return cotangent
    if cotangent.dense_shape is None:
        cotangent = cotangent.with_shape(shape)
    return cotangent.__tensor__() if tuple(cotangent.shape) == shape else cotangent.values
