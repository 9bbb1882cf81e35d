"""Nested structures as users see them: ``lab.nest``.

Lists, tuples, named tuples and dicts (by sorted keys, as TensorFlow flattens them) are structures; everything else, a
tensor above all, is a leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from autodiff_lab.engine.shape import listed
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch


def is_nested(seq: Any) -> bool:
    """Whether a value is a list, a tuple or a dict.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.nest.is_nested([1]), lab.nest.is_nested(lab.constant([1]))
    (True, False)
    """
    return isinstance(seq, (list, tuple, Mapping)) and not hasattr(seq, "as_list")


def _items(structure: Any) -> list[Any]:
    """The parts of a structure, in order; a dict's by its sorted keys."""
    if isinstance(structure, Mapping):
        return [structure[key] for key in _keys(structure)]
    return list(structure)


def _keys(structure: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(structure)
    except TypeError:
        raise InvalidArgumentError("nest: the keys of a dict must have an order; these do not.") from None


def _like(structure: Any, parts: list[Any]) -> Any:
    """A structure of the same kind with other parts."""
    if isinstance(structure, Mapping):
        by_key = dict(zip(_keys(structure), parts, strict=True))
        ordered = {key: by_key[key] for key in structure}
        return ordered if type(structure) is dict else type(structure)(ordered)  # pyright: ignore[reportCallIssue]
    if hasattr(structure, "_fields"):
        return type(structure)(*parts)
    return type(structure)(parts)


def _leaves(structure: Any) -> Iterator[Any]:
    if not is_nested(structure):
        yield structure
        return
    for part in _items(structure):
        yield from _leaves(part)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of a structure as a list; a single value is a structure of one.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.nest.flatten({"b": [2, (3,)], "a": 1})
    [1, 2, 3]
    """
    return list(_leaves(structure))


def same_structure(first: Any, other: Any, what: str = "nest", check_types: bool = True) -> None:
    """Refuse two structures that differ; the error begins with `what`."""
    if is_nested(first) != is_nested(other):
        raise ShapeMismatch(f"{what}: the structures differ: a {type(first).__name__} stands where the other has a "
                            f"{type(other).__name__}.")
    if not is_nested(first):
        return
    if check_types and type(first) is not type(other):
        raise DtypeMismatch(f"{what}: the structures differ: a {type(first).__name__} stands where the other has a "
                            f"{type(other).__name__}. Try check_types=False.")
    if isinstance(first, Mapping) and isinstance(other, Mapping) and set(first) != set(other):
        raise ShapeMismatch(f"{what}: the structures differ: keys {_keys(first)} and {_keys(other)}.")
    if len(first) != len(other):
        raise ShapeMismatch(f"{what}: the structures differ: {len(first)} parts stand where the other has "
                            f"{len(other)}.")
    for a, b in zip(_items(first), _items(other), strict=True):
        same_structure(a, b, what, check_types)


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Refuse two structures that differ.

    Raises
    ------
    ShapeMismatch
        A `ValueError`: another number of parts, other keys, or a leaf where the other has a structure.
    DtypeMismatch
        A `TypeError`: parts of other types.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.nest.assert_same_structure([1, (2,)], [3, (4,)])
    """
    same_structure(nest1, nest2, "nest", check_types)


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any], expand_composites: bool = False) -> Any:
    """Values in the places of a structure's leaves.

    Raises
    ------
    ShapeMismatch
        If there are not as many values as leaves.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.nest.pack_sequence_as({"a": 0, "b": [0, 0]}, [1, 2, 3])
    {'a': 1, 'b': [2, 3]}
    """
    values, count = listed(flat_sequence, "pack_sequence_as: flat_sequence"), len(flatten(structure))
    if len(values) != count:
        raise ShapeMismatch(f"pack_sequence_as: the structure has {count} leaves, but there are {len(values)} values.")
    supply = iter(values)

    def fill(part: Any) -> Any:
        return _like(part, [fill(item) for item in _items(part)]) if is_nested(part) else next(supply)

    return fill(structure)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """A function applied to the leaves of structures that are alike; the results stand in their places.

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
        raise InvalidArgumentError("map_structure: at least one structure is needed.")
    check = bool(kwargs.get("check_types", True))
    for other in structure[1:]:
        same_structure(structure[0], other, "map_structure", check)
    results = [func(*leaves) for leaves in zip(*(flatten(s) for s in structure), strict=True)]
    return pack_sequence_as(structure[0], results)
