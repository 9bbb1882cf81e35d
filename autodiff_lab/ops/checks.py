"""Checks that many ops make of their arguments, each written once so that all errors read alike."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.devices import current_memory
from autodiff_lab.engine.dtypes import DIFFERENTIABLE
from autodiff_lab.engine.primitives import negative_axes
from autodiff_lab.engine.shape import as_integer, as_integers
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError


def spoken(choices: tuple[str, ...]) -> str:
    """List what may be chosen.

    >>> spoken(("xy", "ij"))
    "'xy' or 'ij'"
    """
    return " or ".join(", ".join(map(repr, part)) for part in (choices[:-1], choices[-1:]) if part)


def one_of(value: Any, choices: tuple[str, ...], what: str) -> Any:
    """Return the value, if it is one of some strings.

    Raises
    ------
    InvalidArgumentError
        If it is none of them.
    """
    if not isinstance(value, str) or value not in choices:
        raise InvalidArgumentError(f"{what} must be {spoken(choices)}, got {value!r:.80}.")
    return value


def number_of(value: Any, what: str) -> float:
    """Return a setting that is one real number; `what` names it.

    Raises
    ------
    InvalidArgumentError
        If it is not one real number.
    """
    given = np.asarray(convert(value)._array)
    if given.ndim or given.dtype.kind not in "fiuV":
        raise InvalidArgumentError(f"{what} must be a number, got {value!r:.80}.")
    return float(given)


def broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Return whether a shape can be broadcast to another.

    >>> broadcasts((3, 1), (2, 3, 4)), broadcasts((2,), (3,)), broadcasts((2, 3), (3,))
    (True, False, False)
    """
    rest = to[len(to) - len(shape) :] if len(shape) <= len(to) else ()
    return len(rest) == len(shape) and all(n in (1, m) for n, m in zip(shape, rest, strict=True))


def _memory() -> int:
    try:
        found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        found = 0
    return found if found > 0 else 1 << 60  # a system that does not say, as a browser tab


MEMORY = _memory()
"""Bytes of memory that this machine has."""


def room(count: int, what: str) -> int:
    """Return a number of elements that are about to be made, if this machine has as many bytes.

    A GPU knows its own memory, and says so itself.

    Raises
    ------
    InvalidArgumentError
        If it has not.

    Examples
    --------
    >>> room(1000, "zeros: shape")
    1000
    """
    if count > MEMORY and current_memory() is None:
        raise InvalidArgumentError(f"{what}: {count:,} elements do not fit into the memory of this machine.")
    return count


def axes_in_order(axis: Any, rank: int, what: str) -> tuple[int, ...]:
    """Return axes counted from the end, in the order given.

    Raises
    ------
    InvalidArgumentError
        If one is not an integer or out of bounds, or if they contain duplicates.
    """
    given = as_integers(axis, f"{what}: axis")
    try:
        negative_axes(given, rank)
    except ValueError as error:
        raise InvalidArgumentError(f"{what}: {error}.") from None
    return tuple([a - rank if a >= 0 else a for a in given])


def axes_from_end(axis: Any, rank: int, what: str) -> tuple[int, ...]:
    """Return axes counted from the end, in ascending order; all of them for None."""
    return tuple(range(-rank, 0)) if axis is None else tuple(sorted(axes_in_order(axis, rank, what)))


def axis_from_end(axis: Any, rank: int, what: str) -> int:
    """Return one axis, counted from the end.

    Raises
    ------
    InvalidArgumentError
        If it is not an integer, or out of bounds.
    """
    axis = axis if axis.__class__ is int else as_integer(axis, f"{what}: axis")
    if not -rank <= axis < rank:
        raise InvalidArgumentError(f"{what}: axis {axis} is out of bounds for a tensor of rank {rank}.")
    return axis - rank if axis >= 0 else axis


def floats(value: Any, what: str, allow_complex: bool = True) -> Tensor:
    """Return a floating-point tensor; complex numbers count where they are allowed.

    Raises
    ------
    DtypeMismatch
        If the value has another dtype.
    """
    x = convert(value)
    dtype = x._held.dtype
    if dtype.char not in "fd" and (dtype not in DIFFERENTIABLE or (dtype.kind == "c" and not allow_complex)):
        raise DtypeMismatch(f"{what}: expected a floating-point tensor, got {x.dtype.name} of shape {x._held.shape}. "
                            "Try lab.cast(x, lab.float32).")
    return x


def not_integers(dtype: Any, what: str) -> DtypeMismatch:
    """Return the error for values that must be integers; `what` names the function and the argument."""
    return DtypeMismatch(f"{what} must be integers, got {dtype.name}. Try lab.cast to int32.")


def dtypes_unequal(what: str, **tensors: Tensor) -> DtypeMismatch:
    """Return the error for tensors of different dtypes, given by the names of the arguments."""
    have = " and ".join(f"{tensor.dtype.name} ({name})" for name, tensor in tensors.items())
    return DtypeMismatch(f"{what}: expected one dtype, got {have}. Try lab.cast.")
