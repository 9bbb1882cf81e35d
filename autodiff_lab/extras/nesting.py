"""Nested structures: ``lab.nest``.

Lists, tuples, named tuples and dicts (in the order of sorted keys, as in TensorFlow) are structures; everything else,
including a tensor, is a leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autodiff_lab.engine import nest
from autodiff_lab.engine.shape import listed
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch


def is_nested(seq: object) -> bool:
    """Return whether a value is a list, a tuple or a dict.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.nest.is_nested([1]), lab.nest.is_nested(lab.constant([1]))
    (True, False)
    """
    return not nest.is_plain_leaf(seq)


def flatten(structure: object, expand_composites: bool = False) -> list[Any]:
    """Return the leaves of a structure as a list; a single value is a leaf.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.nest.flatten({"b": [2, (3,)], "a": 1})
    [1, 2, 3]
    """
    return nest.flatten(structure, rows=True, by_key=True)[0]


def same_structure(first: Any, other: Any, what: str = "nest", check_types: bool = True) -> None:
    """Raise an error that starts with `what` if two structures differ."""
    if type(first) is Tensor is type(other):  # what most loops carry
        return
    nested = is_nested(first)
    if nested != is_nested(other):
        raise ShapeMismatch(f"{what}: the structures differ: {_types(first, other)}")
    if not nested:
        return
    if check_types and type(first) is not type(other):
        raise DtypeMismatch(f"{what}: the structures differ: {_types(first, other)} Try check_types=False.")
    if isinstance(first, Mapping) and isinstance(other, Mapping):
        if set(first) != set(other):
            raise ShapeMismatch(f"{what}: the structures differ: expected keys {_keys(first)}, got {_keys(other)}.")
        first, other = ([each[key] for key in first] for each in (first, other))
    if len(first) != len(other):
        raise ShapeMismatch(f"{what}: the structures differ: expected {len(first)} parts, got {len(other)}.")
    for a, b in zip(first, other, strict=True):
        same_structure(a, b, what, check_types)


def _types(first: Any, other: Any) -> str:
    return f"expected {type(first).__name__}, got {type(other).__name__}."


def _keys(structure: Mapping[Any, Any]) -> list[Any]:
    return sorted(structure, key=str)


def assert_same_structure(
    nest1: object, nest2: object, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raise an error if two structures differ.

    Raises
    ------
    ShapeMismatch
        If the number of parts or the keys differ, or one has a leaf where the other has a structure; a `ValueError`.
    DtypeMismatch
        If the types of parts differ; a `TypeError`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.nest.assert_same_structure([1, (2,)], [3, (4,)])
    """
    same_structure(nest1, nest2, "nest", check_types)


def pack_sequence_as(structure: object, flat_sequence: Sequence[object], expand_composites: bool = False) -> Any:
    """Return a structure with its leaves replaced by values.

    Raises
    ------
    ShapeMismatch
        If the numbers of values and leaves differ.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.nest.pack_sequence_as({"a": 0, "b": [0, 0]}, [1, 2, 3])
    {'a': 1, 'b': [2, 3]}
    """
    leaves, rebuild = nest.flatten(structure, rows=True, by_key=True)
    values = listed(flat_sequence, "pack_sequence_as: flat_sequence")
    if len(values) != len(leaves):
        raise ShapeMismatch(f"pack_sequence_as: expected {len(leaves)} values, one for each leaf, got {len(values)}.")
    return rebuild(values)


def map_structure(func: Callable[..., object], *structure: object, **kwargs: object) -> Any:
    """Apply a function to the corresponding leaves of structures, and return the results in the same structure.

    Raises
    ------
    ShapeMismatch
        If the structures differ.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.nest.map_structure(lambda x, y: x + y, {"a": 1}, {"a": 10})
    {'a': 11}
    """
    if not structure:
        raise InvalidArgumentError("map_structure: expected at least one structure, got none.")
    check = bool(kwargs.get("check_types", True))
    for other in structure[1:]:
        same_structure(structure[0], other, "map_structure", check)
    results = [func(*leaves) for leaves in zip(*(flatten(s) for s in structure), strict=True)]
    return pack_sequence_as(structure[0], results)
