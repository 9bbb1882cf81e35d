"""TensorShape: the lengths of a tensor's axes, a tuple that also knows lengths and ranks that are not known."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from autodiff_lab.errors import InvalidArgumentError


def whole_numbers(value: Any, what: str) -> tuple[int, ...]:
    """Read a whole number, a sequence of them or an integer tensor as a tuple of int; fractions are never cut.

    Raises
    ------
    InvalidArgumentError
        If something in it is no whole number.

    Examples
    --------
    >>> whole_numbers(3, "zeros"), whole_numbers([2, -1], "reshape")
    ((3,), (2, -1))
    """
    try:
        items = iter(value)
    except TypeError:
        items = iter((value,))
    try:
        return tuple([operator.index(item) for item in items])
    except TypeError:
        raise InvalidArgumentError(f"{what}: whole numbers are needed, got {value!r}.") from None


class TensorShape(tuple[int | None, ...]):
    """Lengths of axes; None stands for a length, or (alone) for a rank, that is not known.

    Parameters
    ----------
    dims : iterable of int or None, or int, or None
        The lengths; None makes a shape of unknown rank.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> shape = lab.TensorShape([2, None])
    >>> print(shape, shape.rank, shape.is_fully_defined())
    (2, None) 2 False
    >>> print(lab.TensorShape(None))
    <unknown>
    """

    __slots__ = ()

    def __new__(cls, dims: Iterable[int | None] | int | None) -> TensorShape:  # noqa: D102, PYI034 - None gives another class
        if dims is None or isinstance(dims, _UnknownShape):
            return super().__new__(_UnknownShape)  # pyright: ignore[reportArgumentType]
        if isinstance(dims, int):
            dims = (dims,)
        return super().__new__(cls, (None if d is None else int(d) for d in dims))

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
        """The lengths as a list."""
        return list(self)

    def __add__(self, other: Iterable[int | None]) -> TensorShape:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The axes of both, one after another; lists may be added too."""
        return TensorShape((*self, *other))

    def __radd__(self, other: Iterable[int | None]) -> TensorShape:
        return TensorShape((*other, *self))

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return TensorShape(found) if isinstance(index, slice) else found

    def num_elements(self) -> int | None:
        """The product of the lengths, None if one is not known."""
        size = 1
        for length in self:
            if length is None:
                return None
            size *= length
        return size

    def is_fully_defined(self) -> bool:
        """Whether every length is known."""
        return None not in self

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a value of shape `other` could have this shape."""
        if other is None or isinstance(other, _UnknownShape):
            return True
        other = tuple(other)
        return len(self) == len(other) and all(
            a == b for a, b in zip(self, other, strict=True) if a is not None and b is not None
        )

    def __str__(self) -> str:
        return tuple.__repr__(self)

    def __repr__(self) -> str:
        return f"TensorShape({list(self)})"


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
        raise ValueError("as_list() is not defined on a shape of unknown rank.")

    def num_elements(self) -> None:
        return None

    def is_fully_defined(self) -> bool:
        return False

    def is_compatible_with(self, other: Any) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _UnknownShape)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash("unknown shape")

    def __str__(self) -> str:
        return "<unknown>"

    def __repr__(self) -> str:
        return "TensorShape(None)"
