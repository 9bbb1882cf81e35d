"""Nested structures: lists, tuples, dicts and registered classes, taken apart and put together again.

Everything that goes through structures does so here.  Python's own structures are exactly `list`, `tuple`, `dict`,
`OrderedDict`, `defaultdict`, `deque`, named tuples and struct sequences such as `time.struct_time`.  An instance of a
subclass of one (other than of a named tuple) is a leaf, because its constructor may take anything; so is None.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeGuard

from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError

if TYPE_CHECKING:
    from autodiff_lab.engine.indexed_slices import IndexedSlices

_LEAF_TYPES = (Tensor, Variable)


class Kind:
    """How values of a class are taken apart and put together; kinds are equal only if they are the same object.

    Parameters
    ----------
    parts : callable
        Returns the parts in order, and what else it takes to rebuild the value: hashable, and equal if the forms are.
    rebuilt : callable
        Takes the class, that, and a list of new parts.
    names : callable, optional
        Returns the names of the parts in a path, by default their positions.
    """

    __slots__ = ("names", "parts", "rebuilt")

    def __init__(
        self,
        parts: Callable[[Any], tuple[Any, Any]],
        rebuilt: Callable[[type, Any, list[Any]], Any],
        names: Callable[[Any], Any] | None = None,
    ) -> None:
        self.parts, self.rebuilt, self.names = parts, rebuilt, names


def _sorted_keys(value: Any) -> list[Any]:
    """Return the keys in order, those of different types by type; keys that have no order stay as they are."""
    try:
        return sorted(value)
    except TypeError:
        pass
    try:
        return sorted(value, key=lambda key: (f"{type(key).__module__}.{type(key).__qualname__}", key))
    except TypeError:
        return list(value)


def _sorted_parts(value: Any) -> tuple[list[Any], Any]:
    keys = _sorted_keys(value)
    return [value[key] for key in keys], (tuple(value), tuple(keys))


def _in_first_order(order: tuple[tuple[Any, ...], tuple[Any, ...]], parts: list[Any]) -> dict[Any, Any]:
    """Return the parts of sorted keys as a dict whose keys have the order that they had."""
    return dict.fromkeys(order[0]) | dict(zip(order[1], parts, strict=True))


_NAMED_TUPLE = Kind(lambda x: (x, None), lambda kind, _, parts: kind(*parts))
_STRUCT_SEQUENCE = Kind(lambda x: (x, None), lambda kind, _, parts: kind(parts))

_ORDERED: dict[type, Kind] = {
    list: Kind(lambda x: (x, None), lambda kind, _, parts: parts),
    tuple: Kind(lambda x: (x, None), lambda kind, _, parts: tuple(parts)),
    deque: Kind(lambda x: (x, x.maxlen), lambda kind, maxlen, parts: deque(parts, maxlen)),
    dict: Kind(lambda x: (x.values(), tuple(x)), lambda kind, keys, parts: dict(zip(keys, parts, strict=True)), iter),
    OrderedDict: Kind(
        lambda x: (x.values(), tuple(x)), lambda kind, keys, parts: OrderedDict(zip(keys, parts, strict=True)), iter
    ),
    defaultdict: Kind(
        lambda x: (x.values(), (x.default_factory, tuple(x))),
        lambda kind, data, parts: defaultdict(data[0], zip(data[1], parts, strict=True)),
        iter,
    ),
}
"""All structures; the keys of dicts keep their order."""
_SORTED: dict[type, Kind] = {
    **_ORDERED,
    dict: Kind(_sorted_parts, lambda kind, order, parts: _in_first_order(order, parts)),
    defaultdict: Kind(
        lambda x: (_sorted_parts(x)[0], (x.default_factory, _sorted_parts(x)[1])),
        lambda kind, data, parts: defaultdict(data[0], _in_first_order(data[1], parts)),
    ),
}
"""Python's own structures; the keys of dicts are sorted."""


def _of_fields(kind: type) -> Kind | None:
    """Return how a class of named tuples or struct sequences is taken apart; None for another class."""
    if not issubclass(kind, tuple):
        return None
    fields = getattr(kind, "_fields", None)
    if isinstance(fields, tuple) and all(isinstance(name, str) for name in fields):
        return _NAMED_TUPLE
    if kind.__base__ is tuple and isinstance(getattr(kind, "n_sequence_fields", None), int):
        return _STRUCT_SEQUENCE
    return None


def _take(
    value: Any, kinds: dict[type, Kind], leaf: Callable[[Any], bool] | None, leaves: list[Any]
) -> tuple[Any, ...] | None:
    """Append the leaves of a value to `leaves`, and return its form.

    The form of a leaf is None, that of a structure a tuple: its class, its `Kind`, what that needs, and the forms of
    the parts, or how many there are if all are leaves.  Recursion is in plain loops here and below: before Python 3.12
    a comprehension is a frame of its own.
    """
    kind = type(value)
    how = kinds.get(kind) or _of_fields(kind)
    if how is None or (leaf is not None and leaf(value)):
        leaves.append(value)
        return None
    parts, data = how.parts(value)
    forms: list[Any] = []
    flat = True
    for part in parts:
        if part.__class__ in _LEAF_TYPES:
            leaves.append(part)
            forms.append(None)
        else:
            form = _take(part, kinds, leaf, leaves)
            flat = flat and form is None
            forms.append(form)
    return kind, how, data, len(forms) if flat else tuple(forms)


def _give(form: tuple[Any, ...] | None, values: Iterator[Any]) -> Any:
    """Return a structure of this form with the next values as leaves."""
    if form is None:
        return next(values)
    kind, how, data, forms = form
    if forms.__class__ is int:
        return how.rebuilt(kind, data, list(islice(values, forms)))
    parts = list(forms)
    for place, part in enumerate(forms):
        parts[place] = next(values) if part is None else _give(part, values)
    return how.rebuilt(kind, data, parts)


def _whole_form(
    structure: Any, kinds: dict[type, Kind], leaf: Callable[[Any], bool] | None
) -> tuple[list[Any], tuple[Any, ...] | None]:
    """Return the leaves of a structure and its form."""
    leaves: list[Any] = []
    try:
        return leaves, _take(structure, kinds, leaf, leaves)
    except RecursionError:
        raise RecursionError(
            f"A {type(structure).__name__} contains itself, or is nested too deeply to be taken apart. Pass its parts "
            "on their own."
        ) from None


def _rebuilder(form: tuple[Any, ...] | None, count: int) -> Callable[[list[Any]], Any]:
    """Return the function that puts values in the places of the leaves."""

    def rebuild(results: list[Any]) -> Any:
        if len(results) != count:
            raise InvalidArgumentError(f"A structure with {count} leaves cannot be rebuilt from {len(results)} values.")
        return _give(form, iter(results))

    return rebuild


def _all_leaves(items: Any) -> bool:
    for item in items:  # noqa: SIM110 - a generator would take longer than the rest
        if item.__class__ not in _LEAF_TYPES:
            return False
    return True


def flatten(
    structure: Any, rows: bool = False, leaf: Callable[[Any], bool] | None = None, by_key: bool = False
) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    """Return the leaves of a structure in order, and the function that puts results in their places.

    None is a leaf; the keys of dicts keep their order.  `by_key` sorts them and takes only Python's own containers for
    structures, as `lab.nest` does.  An `IndexedSlices` counts as its values, or, with `rows`, is a leaf: `whole` makes
    a tensor of it.  So is any structure of which `leaf` holds.

    Raises
    ------
    RecursionError
        If a structure contains itself.
    InvalidArgumentError
        By the function, if the number of results is not that of the leaves.

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
    kind = structure.__class__
    if (kind is list or kind is tuple or (kind is dict and not by_key)) and (leaf is None or not leaf(structure)):
        # Most structures are flat.
        items = structure.values() if kind is dict else structure
        if _all_leaves(items):
            keys = list(structure) if kind is dict else ()
            return list(items), (lambda results: dict(zip(keys, results, strict=True))) if kind is dict else kind
    if rows:
        leaf = slices if leaf is None else lambda x, also=leaf: slices(x) or also(x)
    leaves, form = _whole_form(structure, _SORTED if by_key else _ORDERED, leaf)
    return leaves, _rebuilder(form, len(leaves))


def with_paths(structure: Any) -> tuple[list[tuple[Any, ...]], list[Any], Any]:
    """Return the paths of the leaves, the leaves, and what two structures of the same form have in common.

    Examples
    --------
    >>> paths, leaves, form = with_paths({"b": [1, 2], "a": 3})
    >>> paths, leaves, form == with_paths({"b": [5, 6], "a": 7})[2], form == with_paths([1, 2, 3])[2]
    ([('b', 0), ('b', 1), ('a',)], [1, 2, 3], True, False)
    """
    leaves, form = _whole_form(structure, _ORDERED, None)
    paths: list[tuple[Any, ...]] = []
    _name(structure, form, (), paths)
    return paths, leaves, form


def _name(value: Any, form: tuple[Any, ...] | None, path: tuple[Any, ...], paths: list[tuple[Any, ...]]) -> None:
    """Append the paths of the leaves of a value, which is reached by `path`."""
    if form is None:
        paths.append(path)
        return
    _, how, _, forms = form
    parts = how.parts(value)[0]
    names = range(len(parts)) if how.names is None else how.names(value)
    if forms.__class__ is int:
        paths.extend([(*path, name) for name in names])
        return
    for name, part, inner in zip(names, parts, forms, strict=True):
        _name(part, inner, (*path, name), paths)


def level(structure: Any) -> tuple[list[Any], Callable[[list[Any]], Any]] | None:
    """Return the parts of a structure and the function that rebuilds it from other parts; None for a leaf.

    Examples
    --------
    >>> parts, rebuild = level({"b": [1, 2], "a": 3})
    >>> parts, rebuild([4, 5]), level(3)
    ([[1, 2], 3], {'b': 4, 'a': 5}, None)
    """
    kind = type(structure)
    how = _ORDERED.get(kind) or _of_fields(kind)
    if how is None:
        return None
    parts, data = how.parts(structure)
    return list(parts), lambda results: how.rebuilt(kind, data, list(results))


def is_plain_leaf(value: Any) -> bool:
    """Return whether a value is not one of Python's containers, the only ones that `lab.nest` knows."""
    return type(value) not in _SORTED and _of_fields(type(value)) is None


def register(kind: type, parts: Callable[[Any], Any], rebuilt: Callable[[Any, Any], Any]) -> None:
    """Register a class as a structure: `parts` returns (parts, auxiliary data, names or None)."""

    def names(value: Any) -> Any:
        found = parts(value)
        return range(len(found[0])) if found[2] is None else found[2]

    _ORDERED[kind] = Kind(lambda x: parts(x)[:2], lambda _, data, children: rebuilt(data, children), names)


def slices(value: Any) -> TypeGuard[IndexedSlices]:
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
