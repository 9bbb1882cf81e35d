"""TensorShape: the lengths of a tensor's axes, a tuple that also represents unknown lengths and unknown ranks."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator
from typing import Any, SupportsIndex, TypeAlias

from autodiff_lab.errors import ConversionError, InvalidArgumentError, ShapeMismatch

Dims: TypeAlias = Iterable[SupportsIndex | None] | SupportsIndex | None


def as_integers(value: Any, what: str, wanted: str = "integers") -> tuple[int, ...]:
    """Read an integer, a sequence of them or an integer tensor as a tuple of int; fractions are never cut.

    Raises
    ------
    InvalidArgumentError
        If something in it is not an integer.

    Examples
    --------
    >>> as_integers(3, "zeros: shape"), as_integers([2, -1], "reshape: shape")
    ((3,), (2, -1))
    """
    if value.__class__ is int or (value.__class__ in (tuple, list) and set(map(type, value)) == {int}):  # most calls
        return (value,) if value.__class__ is int else tuple(value)
    try:
        items: Iterator[Any] = iter((value,) if isinstance(value, (str, bytes, dict, set)) else value)
    except TypeError:
        items = iter((value,))
    try:
        return tuple([operator.index(item) for item in items])
    except TypeError:
        raise InvalidArgumentError(f"{what} must be {wanted}, got {value!r}.") from None


def as_integer(value: Any, what: str, least: float = -math.inf) -> int:
    """Read a single integer, or an integer tensor that holds one.

    Raises
    ------
    InvalidArgumentError
        If it is not exactly one integer, or below `least`.

    Examples
    --------
    >>> as_integer(3, "one_hot: depth")
    3
    """
    found = as_integers(value, what, "an integer")
    if len(found) != 1:
        raise InvalidArgumentError(f"{what} must be an integer, got {value!r}.")
    if found[0] < least:
        raise InvalidArgumentError(f"{what} must be at least {least}, got {found[0]}.")
    return found[0]


def listed(value: Any, what: str) -> list[Any]:
    """Return the items of what must be a list or the like.

    Raises
    ------
    InvalidArgumentError
        If it has no items.

    Examples
    --------
    >>> listed((1, 2), "add_n: inputs")
    [1, 2]
    """
    try:
        return list(value)
    except TypeError:
        raise InvalidArgumentError(f"{what} must be a list, got {value!r:.80}.") from None


def flag(value: Any, what: str) -> bool:
    """Read a truth value.

    Raises
    ------
    InvalidArgumentError
        If it is a word, an array, or anything else that is not either true or false.

    Examples
    --------
    >>> flag(1, "reduce_sum: keepdims")
    True
    """
    try:  # a word is not an integer, and must not count as true
        return bool(operator.index(value) if isinstance(value, str) else value)  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"{what} must be True or False, got {value!r:.80}.") from None


def _length(value: Any, dims: Any) -> int | None:
    """Return one length of a shape."""
    if value is None:
        return None
    try:
        length = operator.index(value)
    except TypeError:
        raise ConversionError(
            f"Cannot convert {dims!r} to a shape: {value!r} is not an integer. Try ints, or None for an unknown length."
        ) from None
    if length < 0:
        raise InvalidArgumentError(
            f"Cannot convert {dims!r} to a shape: lengths must not be negative. Try None instead of -1."
        )
    return length


class TensorShape(tuple[int | None, ...]):
    """Lengths of axes; None stands for a length, or (alone) for a rank, that is not known.

    It compares equal to a list or tuple of the same lengths.

    Parameters
    ----------
    dims : iterable of int or None, or int, or None
        The lengths; None makes a shape of unknown rank.

    Raises
    ------
    ConversionError
        A `TypeError`: something in it is not an integer.
    InvalidArgumentError
        A `ValueError`: a length is negative.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> shape = lab.TensorShape([2, None])
    >>> print(shape, shape.rank, shape.is_fully_defined())
    (2, None) 2 False
    >>> print(lab.TensorShape(None))
    <unknown>
    >>> lab.ones((2, 3)).shape == [2, 3]
    True
    """

    __slots__ = ()

    def __new__(cls, dims: Dims) -> TensorShape:  # noqa: D102, PYI034 - None gives another class
        if dims is None or isinstance(dims, _UnknownShape):
            return super().__new__(_UnknownShape)  # pyright: ignore[reportArgumentType]
        try:
            lengths: Any = tuple(dims)  # type: ignore[arg-type]
        except TypeError:
            lengths = (dims,)
        return super().__new__(cls, (_length(n, dims) for n in lengths))

    @property
    def rank(self) -> int | None:
        """Number of axes, None if it is not known."""
        return len(self)

    @property
    def ndims(self) -> int | None:
        """Number of axes, None if it is not known."""
        return self.rank

    @property
    def dims(self) -> list[int | None] | None:
        """The lengths as a list, None if the rank is not known."""
        return list(self)

    def as_list(self) -> list[int | None]:
        """Return the lengths as a list."""
        return list(self)

    def __eq__(self, other: object) -> bool:
        if other.__class__ is tuple or other.__class__ is TensorShape:
            return tuple.__eq__(self, other)  # type: ignore[arg-type]
        try:
            return not isinstance(other, (_UnknownShape, str)) and tuple.__eq__(self, tuple(TensorShape(other)))  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __add__(self, other: Any) -> TensorShape:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the axes of both, one after another; lists may be added too."""
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return TensorShape(found) if index.__class__ is slice else found

    def num_elements(self) -> int | None:
        """Return the product of the lengths, None if one is not known."""
        size = 1
        for length in self:
            if length is None:
                return None
            size *= length
        return size

    def is_fully_defined(self) -> bool:
        """Return whether every length is known."""
        return None not in self

    def is_compatible_with(self, other: Dims) -> bool:
        """Return whether a value of shape `other` could have this shape."""
        other = TensorShape(other)
        if isinstance(other, _UnknownShape):
            return True
        return len(self) == len(other) and all(
            a == b for a, b in zip(self, other, strict=True) if a is not None and b is not None
        )

    def is_subtype_of(self, other: Dims) -> bool:
        """Return whether every value of this shape is also one of shape `other`, which may leave lengths open."""
        if not isinstance(other, TensorShape) or isinstance(other, _UnknownShape):
            return isinstance(other, TensorShape)
        return self.rank == other.rank and all(b is None or a == b for a, b in zip(self, other, strict=True))

    def concatenate(self, other: Dims) -> TensorShape:
        """Return the axes of both, one after another; of unknown rank if one of them is.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.TensorShape([2, None]).concatenate([3])
        TensorShape([2, None, 3])
        """
        other = TensorShape(other)
        return other if isinstance(other, _UnknownShape) else TensorShape((*self, *other))

    def merge_with(self, other: Dims) -> TensorShape:
        """Return what both shapes say together: lengths that one of them leaves open come from the other.

        Raises
        ------
        ShapeMismatch
            If they contradict each other.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.TensorShape([2, None]).merge_with([None, 3])
        TensorShape([2, 3])
        """
        other = TensorShape(other)
        if isinstance(other, _UnknownShape):
            return self
        self.assert_is_compatible_with(other)
        return TensorShape(b if a is None else a for a, b in zip(self, other, strict=True))

    def most_specific_compatible_shape(self, other: Dims) -> TensorShape:
        """Return the narrowest shape that both are compatible with: lengths that differ are left open.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.TensorShape([2, 3]).most_specific_compatible_shape([2, 4])
        TensorShape([2, None])
        """
        other = TensorShape(other)
        same = self.rank is not None and self.rank == other.rank
        return TensorShape((a if a == b else None for a, b in zip(self, other, strict=True)) if same else None)

    def with_rank(self, rank: int) -> TensorShape:
        """Return the shape itself, if it has so many axes; a shape of unknown rank gets them.

        Raises
        ------
        ShapeMismatch
            If it has another number of axes.
        """
        if self.rank is None:
            return TensorShape([None] * rank)
        self.assert_has_rank(rank)
        return self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """Return the shape itself, if it has at least so many axes, or an unknown number.

        Raises
        ------
        ShapeMismatch
            If it has fewer.
        """
        if self.rank is not None and self.rank < rank:
            raise ShapeMismatch(f"Shape {self} must have rank at least {rank}.")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """Return the shape itself, if it has at most so many axes, or an unknown number.

        Raises
        ------
        ShapeMismatch
            If it has more.
        """
        if self.rank is not None and self.rank > rank:
            raise ShapeMismatch(f"Shape {self} must have rank at most {rank}.")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Raise ShapeMismatch, a `ValueError`, unless it has so many axes or an unknown number."""
        if self.rank not in (None, rank):
            raise ShapeMismatch(f"Shape {self} must have rank {rank}.")

    def assert_same_rank(self, other: Dims) -> None:
        """Raise ShapeMismatch, a `ValueError`, if both ranks are known and differ."""
        other = TensorShape(other)
        if None not in (self.rank, other.rank) and self.rank != other.rank:
            raise ShapeMismatch(f"Shapes {self} and {other} must have the same rank.")

    def assert_is_compatible_with(self, other: Dims) -> None:
        """Raise ShapeMismatch, a `ValueError`, if no value has both shapes."""
        if not self.is_compatible_with(other):
            raise ShapeMismatch(f"Shapes {self} and {TensorShape(other)} are incompatible.")

    def assert_is_fully_defined(self) -> None:
        """Raise ShapeMismatch, a `ValueError`, if a length is not known."""
        if not self.is_fully_defined():
            raise ShapeMismatch(f"Shape {self} is not fully defined.")

    def __str__(self) -> str:
        return tuple.__repr__(self)

    def __repr__(self) -> str:
        return f"TensorShape({list(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (self.dims,)


class _UnknownShape(TensorShape):
    """A shape of unknown rank."""

    __slots__ = ()

    @property
    def rank(self) -> None:
        return None

    @property
    def dims(self) -> None:
        return None

    def as_list(self) -> list[int | None]:
        raise ShapeMismatch("as_list() is not defined on a shape of unknown rank.")

    def __len__(self) -> int:
        raise ShapeMismatch("A shape of unknown rank has no length. Try shape.rank, which is None here.")

    def __iter__(self) -> Iterator[int | None]:
        raise ShapeMismatch("A shape of unknown rank has no axes to iterate over. Try shape.rank, which is None here.")

    def __bool__(self) -> bool:
        return False

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice):
            return None
        if index.stop is None or index.stop < 0 or (index.start or 0) < 0:
            return self
        return TensorShape([None] * len(range(index.stop)[index]))

    def num_elements(self) -> None:
        return None

    def is_fully_defined(self) -> bool:
        return False

    def is_compatible_with(self, other: Any) -> bool:
        return True

    def is_subtype_of(self, other: Any) -> bool:
        return isinstance(other, _UnknownShape)

    def concatenate(self, other: Any) -> TensorShape:
        return self

    def merge_with(self, other: Any) -> TensorShape:
        return TensorShape(other)

    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, _UnknownShape)

    def __hash__(self) -> int:
        return hash("unknown shape")

    def __str__(self) -> str:
        return "<unknown>"

    def __repr__(self) -> str:
        return "TensorShape(None)"
