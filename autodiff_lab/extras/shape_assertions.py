"""Assertions on the shapes, ranks and dtypes of tensors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.dtypes import DType, as_dtype
from autodiff_lab.engine.shape import as_integer, as_integers, listed
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.extras.assertions import text
from autodiff_lab.ops.array.casting import identity

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, TensorLike


def _rank(x: Any) -> tuple[int, tuple[int, ...]]:
    shape = convert(x)._held.shape
    return len(shape), shape


def assert_rank(x: TensorLike, rank: TensorLike, message: str | None = None, name: str | None = None) -> None:
    """Raise unless x has this rank.

    Raises
    ------
    ShapeMismatch
        If it does not; a `ValueError`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.assert_rank([[1.0]], 2)
    """
    have, shape = _rank(x)
    wanted = as_integer(rank, "assert_rank: rank")
    if have != wanted:
        raise ShapeMismatch(f"assert_rank: expected rank {wanted}, got shape {shape}.{text(message)}")


def assert_rank_at_least(x: TensorLike, rank: TensorLike, message: str | None = None, name: str | None = None) -> None:
    """Raise unless x has at least this rank.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.assert_rank_at_least([[1.0]], 1)
    """
    have, shape = _rank(x)
    wanted = as_integer(rank, "assert_rank_at_least: rank")
    if have < wanted:
        raise ShapeMismatch(
            f"assert_rank_at_least: expected rank {wanted} or higher, got shape {shape}.{text(message)}"
        )


def assert_rank_in(x: TensorLike, ranks: Iterable[int], message: str | None = None, name: str | None = None) -> None:
    """Raise unless x has one of these ranks.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.assert_rank_in([[1.0]], (1, 2))
    """
    have, shape = _rank(x)
    wanted = as_integers(listed(ranks, "assert_rank_in: ranks"), "assert_rank_in: ranks")
    if have not in wanted:
        raise ShapeMismatch(f"assert_rank_in: expected a rank in {wanted}, got shape {shape}.{text(message)}")


def assert_scalar(tensor: TensorLike, message: str | None = None, name: str | None = None) -> Any:
    """Raise unless a tensor is a scalar, and return it.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.debugging.assert_scalar(1.0))
    Tensor(1.0, shape=(), dtype=float32)
    """
    x = convert(tensor)
    if x._held.shape:
        raise ShapeMismatch(f"assert_scalar: expected a scalar, got shape {x._held.shape}.{text(message)}")
    return x if name is None else identity(x, name)


def assert_shapes(
    shapes: object,
    data: TensorLike | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Raise unless tensors have given shapes; equal letters stand for equal lengths.

    Parameters
    ----------
    shapes : sequence of (tensor, shape) or dict
        Each shape is a sequence of lengths: a number, a letter, or None or "." for any length; a leading or trailing
        "*" or ... stands for any further axes.

    Raises
    ------
    ShapeMismatch
        If a shape differs, or a letter stands for two lengths; a `ValueError`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x, w = lab.ones((5, 3)), lab.ones((3, 2))
    >>> lab.debugging.assert_shapes([(x, ("n", "k")), (w, ("k", 2))])
    """
    pairs: list[Any] = list(shapes.items()) if isinstance(shapes, Mapping) else listed(shapes, "assert_shapes: shapes")
    lengths: dict[Any, int] = {}
    if any(not isinstance(pair, (tuple, list)) or len(pair) != 2 for pair in pairs):
        raise InvalidArgumentError("assert_shapes: expected pairs of a tensor and a shape.")
    for tensor, wanted in pairs:
        _, shape = _rank(tensor)
        for length, symbol in _aligned(shape, wanted, message):
            if symbol is None or symbol == ".":
                continue
            expected = symbol if isinstance(symbol, int) else lengths.setdefault(symbol, length)
            if expected != length:
                raise ShapeMismatch(
                    f"assert_shapes: expected {tuple(wanted)} with {symbol!r} = {expected}, got "
                    f"shape {shape}.{text(message)}"
                )


def _aligned(shape: tuple[int, ...], wanted: Any, message: str | None) -> list[tuple[int, Any]]:
    """Pair lengths with their symbols."""
    symbols = list(wanted) if isinstance(wanted, (list, tuple, str)) else [wanted]
    rest = [i for i, s in enumerate(symbols) if s is Ellipsis or s == "*"]
    if not rest:
        if len(symbols) != len(shape):
            raise ShapeMismatch(
                f"assert_shapes: expected {len(symbols)} axes, as in {tuple(symbols)}, got shape "
                f"{shape}.{text(message)}"
            )
        return list(zip(shape, symbols, strict=True))
    if len(rest) > 1 or rest[0] not in (0, len(symbols) - 1):
        raise ShapeMismatch(
            f"assert_shapes: expected a single '*', first or last, got {tuple(symbols)}.{text(message)}"
        )
    named = symbols[1:] if rest[0] == 0 else symbols[:-1]
    if len(named) > len(shape):
        raise ShapeMismatch(
            f"assert_shapes: expected at least {len(named)} axes, as in {tuple(symbols)}, got "
            f"shape {shape}.{text(message)}"
        )
    part = shape[len(shape) - len(named) :] if rest[0] == 0 else shape[: len(named)]
    return list(zip(part, named, strict=True))


def assert_type(tensor: TensorLike, tf_type: DTypeLike, message: str | None = None, name: str | None = None) -> None:
    """Raise unless a tensor has this dtype.

    Raises
    ------
    DtypeMismatch
        If it has another; a `TypeError`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.assert_type(lab.constant(1.0), lab.float32)
    """
    have, wanted = convert(tensor).dtype, as_dtype(tf_type)
    if have != wanted:
        raise DtypeMismatch(f"assert_type: expected {wanted.name}, got {have.name}.{text(message)}")


def assert_integer(x: TensorLike, message: str | None = None, name: str | None = None) -> None:
    """Raise unless a tensor holds integers.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.assert_integer([1, 2])
    """
    have = convert(x).dtype
    if not have.is_integer:
        raise DtypeMismatch(f"assert_integer: expected an integer dtype, got {have.name}.{text(message)}")


def assert_same_float_dtype(tensors: Sequence[TensorLike] | None = None, dtype: DTypeLike | None = None) -> DType:
    """Raise unless tensors have the same floating dtype, and return it; float32 if there are none.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.assert_same_float_dtype([lab.constant(1.0)])
    autodiff_lab.float32
    """
    given = [] if tensors is None else listed(tensors, "assert_same_float_dtype: tensors")
    found = {convert(t).dtype for t in given} | ({as_dtype(dtype)} if dtype is not None else set())
    if len(found) > 1:
        names = ", ".join(sorted(d.name for d in found))
        raise DtypeMismatch(f"assert_same_float_dtype: the dtypes differ: {names}. Try lab.cast.")
    one = found.pop() if found else as_dtype("float32")
    if not one.is_floating:
        raise DtypeMismatch(f"assert_same_float_dtype: expected a floating dtype, got {one.name}.")
    return one


def is_numeric_tensor(tensor: TensorLike) -> bool:
    """Return whether a value is a tensor of numbers.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.debugging.is_numeric_tensor(lab.constant(1.0)), lab.debugging.is_numeric_tensor(1.0)
    (True, False)
    """
    array = getattr(tensor, "_array", None)
    return array is not None and array.dtype.kind in "fiucV"
