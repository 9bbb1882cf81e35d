"""`vectorized_map`: a function of one row, applied to all rows together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import ShapeMismatch, UnimplementedError
from autodiff_lab.events.listener import heard
from autodiff_lab.extras import nesting
from autodiff_lab.extras.mapping import as_tensors, check_function, map_fn, row_count, stacked
from autodiff_lab.extras.row_trace import RowTrace

BLOCK_BYTES = 1 << 22
"""Size of a stack of values beyond which rows are taken in several blocks."""
_told: set[tuple[str, str]] = set()


def vectorized_map(
    fn: Callable[..., object], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True
) -> Any:
    """Apply a function to all rows together, and stack the results.

    The function is called once, with the first row; each of its ops is then applied to a stack of all rows, those in
    the sweeps of its tapes too, which gives the gradients of single examples.  Some functions are called for each row
    instead, as by `map_fn`: those that ask for a value that depends on the row, as a branch does, draw random numbers
    or assign variables.  While ops are recorded, every function is called for each row, so that a picture shows all
    rows.

    Shapes: elems (n, *s) or a structure of such -> (n, *t) if fn returns (*t).

    Parameters
    ----------
    fn : callable
        Takes a row, or a structure of rows, and returns a tensor or a structure.  Effects other than its result, such
        as appending to a list, happen once where all rows are taken together.
    elems : Tensor or structure
        The rows.
    fallback_to_while_loop : bool
        Whether a function may be called for each row.
    warn : bool
        Whether the log says, once, that a function is called for each row, and why.

    Raises
    ------
    ShapeMismatch
        If the first axes differ, or there are no rows.
    UnimplementedError
        If the rows cannot be taken together and `fallback_to_while_loop` is False.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> w = lab.Variable([1.0, 2.0])
    >>> def gradient(x):
    ...     with lab.GradientTape() as tape:
    ...         loss = lab.reduce_sum(w * x) ** 2.0
    ...     return tape.gradient(loss, w)
    >>> print(lab.vectorized_map(gradient, lab.constant([[1.0, 0.0], [0.0, 1.0]])).numpy().tolist())
    [[2.0, 0.0], [0.0, 4.0]]
    """
    check_function(fn, "vectorized_map")
    if hasattr(elems, "ragged_rank") or heard():
        return map_fn(fn, elems)
    stacks = [convert(leaf) for leaf in nesting.flatten(elems)]
    count = row_count(stacks, "vectorized_map")
    if not count:
        raise ShapeMismatch(
            "vectorized_map: elems has no rows, so the structure of the result is unknown. Try at least one row."
        )
    trace, first = _traced(fn, elems, stacks, count)
    if not trace.refusal:
        block = count if trace.compiles else min(count, BLOCK_BYTES // max(trace.largest(), 1))
        if block > 1:
            return _of_all(trace, first, stacks, count, block)
    elif not fallback_to_while_loop:
        raise UnimplementedError(
            f"vectorized_map: {_name(fn)} cannot be applied to all rows together: {trace.refusal}. Try lab.map_fn, or "
            "fallback_to_while_loop=True, which call it for each row."
        )
    elif warn:
        _tell(_name(fn), trace.refusal)
    if trace.compiles:
        trace.before.undo()
    done = [] if trace.compiles else [first]
    for k in range(len(done), count):
        done.append(as_tensors(fn(_row(elems, stacks, k))))
        nesting.same_structure(done[0], done[-1], "vectorized_map: result of fn")
    return stacked(done)


def _traced(fn: Callable[..., object], elems: Any, stacks: list[Tensor], count: int) -> tuple[RowTrace, Any]:
    """Call the function with the first row; return what happened, and the result as tensors."""
    row = _row(elems, stacks, 0)
    trace = RowTrace(nesting.flatten(row), count)
    with trace.noting():
        return trace, as_tensors(fn(row))


def _of_all(trace: RowTrace, first: Any, stacks: list[Tensor], count: int, block: int) -> Any:
    """Return the result for all rows, block by block."""
    run = trace.on_rows(nesting.flatten(first))
    if block == count:
        return nesting.pack_sequence_as(first, run(stacks, count))
    parts: list[list[Tensor]] = []
    for start in range(0, count, block):
        stop = min(start + block, count)
        rows = [RECORDING.slice_axis(t, axis=-t._held.ndim, start=start, stop=stop) for t in stacks]
        parts.append(run(rows, stop - start))
    joined = [RECORDING.concat(*column, axis=-column[0]._held.ndim) for column in zip(*parts, strict=True)]
    return nesting.pack_sequence_as(first, joined)


def _row(elems: Any, stacks: list[Tensor], index: int) -> Any:
    """Return one row, as a structure."""
    leaves = [RECORDING.take(t, axis=-t._held.ndim, index=index) for t in stacks]
    return nesting.pack_sequence_as(elems, leaves)


def _name(fn: Callable[..., object]) -> str:
    return getattr(fn, "__qualname__", None) or type(fn).__name__


def _tell(name: str, reason: str) -> None:
    """Tell the log, once for each function and reason."""
    if (name, reason) not in _told:
        import logging  # late: hardly any program needs it

        _told.add((name, reason))
        logging.getLogger("autodiff_lab").warning("vectorized_map calls %s for each row: %s.", name, reason)
