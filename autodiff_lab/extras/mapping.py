"""Map, fold and scan along the first axis, as loops over rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, NotCallable, ShapeMismatch
from autodiff_lab.events.listener import scoped
from autodiff_lab.extras import nesting
from autodiff_lab.ops.array.joining import stack, unstack
from autodiff_lab.ops.structured import called

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike


def row_count(tensors: list[Tensor], name: str) -> int:
    """Return the length of the first axes, which must be equal."""
    if not tensors:
        raise InvalidArgumentError(f"{name}: elems must hold at least one tensor, got none.")
    shapes = [t._held.shape for t in tensors]
    if any(not s for s in shapes) or len({s[0] for s in shapes}) > 1:
        raise ShapeMismatch(f"{name}: expected elems with first axes of equal length, got shapes {shapes}.")
    return shapes[0][0]


def _rows(elems: Any, name: str) -> list[Any]:
    """Return one structure for each row."""
    if type(elems) is Tensor:
        row_count([elems], name)
        return unstack(elems)
    tensors = [convert(leaf) for leaf in nesting.flatten(elems)]
    row_count(tensors, name)
    columns = [unstack(t) for t in tensors]
    return [nesting.pack_sequence_as(elems, list(row)) for row in zip(*columns, strict=True)]


def stacked(results: list[Any]) -> Any:
    """Stack a list of structures into one structure of tensors."""
    if set(map(type, results)) == {Tensor}:
        return stack(results)
    columns = zip(*(nesting.flatten(r) for r in results), strict=True)
    return nesting.pack_sequence_as(results[0], [stack(list(column)) for column in columns])


def check_function(fn: Any, name: str) -> None:
    """Raise an error if a value is not a function."""
    if not callable(fn):
        raise NotCallable(f"{name}: expected a function, got {type(fn).__name__}.")


def as_tensors(value: Any) -> Any:
    """Return a structure with its leaves as tensors."""
    return value if type(value) is Tensor else nesting.map_structure(convert, value)


def map_fn(
    fn: Callable[..., object],
    elems: Any,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: object = None,
) -> Any:
    """Apply a function to each row, and stack the results.

    Shapes: elems (n, *s) or a structure of such -> (n, *t) if fn returns (*t).

    Parameters
    ----------
    fn : callable
        Takes a row, or a structure of rows, and returns a tensor or a structure.
    elems : Tensor or structure
        The rows.
    fn_output_signature : DType or TensorSpec, or a structure of them, optional
        The dtypes that fn returns, which are checked.

    Raises
    ------
    ShapeMismatch
        If the first axes differ.
    DtypeMismatch
        If fn returns another dtype than the signature says.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.map_fn(lambda row: lab.reduce_sum(row), lab.constant([[1.0, 2.0], [3.0, 4.0]])))
    Tensor([3. 7.], shape=(2,), dtype=float32)
    """
    check_function(fn, "map_fn")
    if hasattr(elems, "ragged_rank"):
        signature = fn_output_signature if fn_output_signature is not None else dtype
        with scoped(name):
            return named(elems.__lab_apply__(map_fn, (elems,), {"fn": fn, "signature": signature}), name)
    rows = _rows(elems, "map_fn")
    if not rows:
        raise ShapeMismatch(
            "map_fn: elems has no rows, so the structure of the result is unknown. Try at least one row."
        )
    with scoped(name):
        results = [as_tensors(fn(row)) for row in rows]
    signature = fn_output_signature if fn_output_signature is not None else dtype
    if signature is not None:
        _check_signature(signature, results[0])
    for result in results[1:]:
        nesting.same_structure(results[0], result, "map_fn: result of fn")
    return named(stacked(results), name)


def _check_signature(signature: Any, result: Any) -> None:
    wanted, got = nesting.flatten(signature), nesting.flatten(result)
    if len(wanted) != len(got):
        raise ShapeMismatch(
            f"map_fn: expected fn to return {len(wanted)} tensors, as in fn_output_signature, got {len(got)}."
        )
    for want, have in zip(wanted, got, strict=True):
        expected = as_dtype(getattr(want, "dtype", want))
        if have.dtype != expected:
            raise DtypeMismatch(
                f"map_fn: expected fn to return {expected.name}, as in fn_output_signature, got {have.dtype.name}. "
                "Try lab.cast."
            )


def _fold(name: str, fn: Callable[[Any, Any], Any], elems: Any, initializer: Any, reverse: bool) -> list[Any]:
    """Return every state of a fold, including the initial one."""
    check_function(fn, name)
    rows = _rows(elems, name)
    if reverse:
        rows.reverse()
    if initializer is None:
        if not rows:
            raise ShapeMismatch(f"{name}: elems has no rows. Try an initializer.")
        states, rows = [rows[0]], rows[1:]
    else:
        states = [as_tensors(initializer)]
    for row in rows:
        state = as_tensors(fn(states[-1], row))
        nesting.same_structure(states[0], state, f"{name}: result of fn")
        states.append(state)
    return states


class _Folding(Protocol):
    def __call__(self, fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None,
                 parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
                 name: str | None = None) -> Any: ...  # fmt: skip


def _folding(name: str, reverse: bool, order: str, result: str) -> _Folding:
    what = name

    def fold(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
             back_prop: bool = True, swap_memory: bool = False, name: str | None = None) -> Any:  # fmt: skip
        with scoped(name):
            return _fold(what, fn, elems, initializer, reverse)[-1]

    fold.__doc__ = f"""Combine the rows with a function of the value so far and the next row, from the {order}.

    Shapes: elems (n, *s) -> that of the initializer, or of a row.

    Raises
    ------
    ShapeMismatch
        If the first axes differ, or there are neither rows nor an initializer.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.{name}(lambda so_far, x: so_far - x, lab.constant([1.0, 2.0, 3.0])))
    Tensor({result}, shape=(), dtype=float32)
    """
    return called(what, fold)


foldl = _folding("foldl", reverse=False, order="first row to the last", result="-4.0")
foldr = _folding("foldr", reverse=True, order="last row to the first", result="0.0")


def scan(
    fn: Callable[..., object],
    elems: object,
    initializer: object = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """Fold, and stack the value after each row; without an initializer, the first row is the first value.

    Shapes: elems (n, *s) -> (n, *t) if the value has shape (*t).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.scan(lambda so_far, x: so_far + x, lab.constant([1.0, 2.0, 3.0])))
    Tensor([1. 3. 6.], shape=(3,), dtype=float32)
    """
    with scoped(name):
        states = _fold("scan", fn, elems, initializer, reverse)
    values = states if initializer is None else states[1:]
    if not values:
        raise ShapeMismatch("scan: elems has no rows, so there is nothing to stack. Try at least one row.")
    return named(stacked(values[::-1] if reverse else values), name)
