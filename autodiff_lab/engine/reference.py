"""Reference: what stands for a tensor or a variable as a key of a dict, where `==` must not compare elements."""

from __future__ import annotations

from typing import Any


class Reference:
    """A key for dicts and sets: two references are equal if they are to the same tensor or variable.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> v = lab.Variable(1.0)
    >>> v.ref() in {v.ref()}, v.ref().deref() is v
    (True, True)
    """

    __slots__ = ("_to",)

    def __init__(self, to: Any) -> None:
        self._to = to

    def deref(self) -> Any:
        """Return the tensor or variable itself."""
        return self._to

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._to is other._to

    def __hash__(self) -> int:
        return id(self._to)

    def __repr__(self) -> str:
        return f"<Reference to {self._to!r}>"
