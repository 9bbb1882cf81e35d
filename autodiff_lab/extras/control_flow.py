"""Conditionals and loops as functions.

Operations run eagerly, so Python's ``if`` and ``while`` do the same and read better; these functions are for code that
is written with them.  Only the chosen branch runs, so only it has a gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.convert import convert, whole
from autodiff_lab.engine.shape import flag, listed
from autodiff_lab.engine.tensor import Tensor, looked_at
from autodiff_lab.errors import InvalidArgumentError, NotCallable
from autodiff_lab.events.listener import scoped
from autodiff_lab.extras import nesting

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike

Branch = Callable[[], Any]


def truth(value: Any, name: str) -> bool:
    """Return whether a scalar condition holds, without recording that its value was read."""
    tensor = convert(value)
    if tensor._held.size != 1 or tensor._held.dtype.kind != "b":
        raise InvalidArgumentError(
            f"{name}: expected a scalar bool as condition, got {tensor.dtype.name} of shape "
            f"{tensor._held.shape}. Try lab.reduce_all(x > 0)."
        )
    return bool(looked_at(tensor, how="condition"))


def called(function: Any, name: str, *args: Any) -> Any:
    """Call a function, or raise an error that names the caller if it is not callable."""
    if not callable(function):
        raise NotCallable(f"{name}: expected a function, got {type(function).__name__}. Try lambda: value.")
    return function(*args)


def cond(
    pred: TensorLike, true_fn: Branch | None = None, false_fn: Branch | None = None, name: str | None = None
) -> Any:
    """Call one of two functions, chosen by a condition, and return its result.

    Parameters
    ----------
    pred : bool or Tensor ()
        The condition.
    true_fn, false_fn : callable
        Called without arguments; only the chosen one is called.

    Raises
    ------
    InvalidArgumentError
        If the condition is not a scalar bool.
    NotCallable
        If a branch is not a function.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.constant(3.0)
    >>> print(lab.cond(x > 0.0, lambda: x, lambda: -x))
    Tensor(3.0, shape=(), dtype=float32)
    """
    for branch in (true_fn, false_fn):
        if not callable(branch):
            raise NotCallable(
                f"cond: true_fn and false_fn must be functions, got {type(branch).__name__}. Try lambda: value."
            )
    with scoped(name):
        return called(true_fn if truth(pred, "cond") else false_fn, "cond")


def case(
    pred_fn_pairs: Sequence[tuple[Any, Branch]] | Mapping[Any, Branch],
    default: Branch | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """Call the first function whose condition holds, and return its result.

    Parameters
    ----------
    pred_fn_pairs : sequence of (condition, callable)
        Tried in order.
    default : callable, optional
        Called if no condition holds.
    exclusive : bool
        Whether it is an error if more than one condition holds.

    Raises
    ------
    InvalidArgumentError
        If no condition holds and there is no default, or several hold and `exclusive` is True.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.constant(3.0)
    >>> print(lab.case([(x < 0.0, lambda: -x), (x > 2.0, lambda: x * x)], default=lambda: x))
    Tensor(9.0, shape=(), dtype=float32)
    """
    given = pred_fn_pairs.items() if isinstance(pred_fn_pairs, Mapping) else pred_fn_pairs
    pairs = listed(given, "case: pred_fn_pairs")
    if any(not isinstance(pair, (tuple, list)) or len(pair) != 2 for pair in pairs):
        raise InvalidArgumentError("case: pred_fn_pairs must be pairs of a condition and a function.")
    holding = [function for condition, function in pairs if truth(condition, "case")]
    if flag(exclusive, "case: exclusive") and len(holding) > 1:
        raise InvalidArgumentError(f"case: {len(holding)} conditions hold, but exclusive=True allows only one.")
    chosen = holding[0] if holding else default
    if chosen is None:
        raise InvalidArgumentError(
            f"case: no condition holds ({len(pairs)} given), and there is no default. Try default=lambda: value."
        )
    with scoped(None if name == "case" else name):
        return called(chosen, "case")


def switch_case(
    branch_index: TensorLike,
    branch_fns: Sequence[Any] | Mapping[int, Branch],
    default: Branch | None = None,
    name: str = "switch_case",
) -> Any:
    """Call the function with an index, and return its result.

    Parameters
    ----------
    branch_index : int or integer Tensor ()
        The index.
    branch_fns : sequence of callable, or of (int, callable), or dict
        The functions.
    default : callable, optional
        Called if no function has this index; by default, the function with the highest index.

    Raises
    ------
    InvalidArgumentError
        If the index is not a scalar integer, or there are no functions.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.switch_case(1, [lambda: lab.constant(10), lambda: lab.constant(20)]))
    Tensor(20, shape=(), dtype=int32)
    """
    number = convert(branch_index)
    if number._held.ndim or number._held.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"switch_case: branch_index must be a scalar integer, got {number.dtype.name} "
            f"of shape {number._held.shape}."
        )
    if isinstance(branch_fns, Mapping):
        branches: dict[int, Any] = dict(branch_fns)
    else:
        branches = {}
        for i, branch in enumerate(listed(branch_fns, "switch_case: branch_fns")):
            number_of, function = branch if isinstance(branch, (tuple, list)) and len(branch) == 2 else (i, branch)
            branches[whole(number_of, "switch_case: branch index")] = function
    if not branches:
        raise InvalidArgumentError("switch_case: expected at least one branch, got none.")
    if sorted(branches) != list(range(len(branches))):
        raise InvalidArgumentError(
            f"switch_case: expected branch indices from 0 to {len(branches) - 1}, got {sorted(branches)}."
        )
    otherwise = branches[max(branches)] if default is None else default
    with scoped(None if name == "switch_case" else name):
        return called(branches.get(int(looked_at(number, how="condition")), otherwise), "switch_case")


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: object = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: TensorLike | None = None,
    name: str | None = None,
) -> Any:
    """Call a function repeatedly on its results while a condition holds.

    Parameters
    ----------
    cond : callable
        Takes the loop variables and returns a scalar bool.
    body : callable
        Takes the loop variables and returns their next values in the same structure.
    loop_vars : list or tuple
        The initial values.
    maximum_iterations : int, optional
        The largest number of iterations.

    Returns
    -------
    The final values, in the structure of `loop_vars`.

    Raises
    ------
    InvalidArgumentError
        If the condition is not a scalar bool.
    ShapeMismatch
        If the body returns another structure.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> i, total = lab.while_loop(lambda i, total: i < 4, lambda i, total: (i + 1, total + i), [0, 0])
    >>> print(total)
    Tensor(6, shape=(), dtype=int32)
    """
    with scoped(name):
        return _repeated(cond, body, loop_vars, maximum_iterations)


def _repeated(cond: Any, body: Any, loop_vars: Any, maximum_iterations: Any) -> Any:
    values: Any = nesting.map_structure(_tensor_unless_composite, loop_vars)
    as_arguments = isinstance(loop_vars, (list, tuple))
    rounds = 0
    limit = None if maximum_iterations is None else whole(maximum_iterations, "while_loop: maximum_iterations")
    while (limit is None or rounds < limit) and truth(
        called(cond, "while_loop", *(values if as_arguments else (values,))), "while_loop"
    ):
        found: Any = called(body, "while_loop", *(values if as_arguments else (values,)))
        if as_arguments and len(values) == 1 and not isinstance(found, (list, tuple)):
            found = [found]
        if as_arguments and isinstance(found, (list, tuple)):
            found = type(values)(found) if type(values) in (list, tuple) else found
        if not _is_row_of_tensors(values, found):
            nesting.same_structure(values, found, "while_loop: result of body")
            found = nesting.map_structure(_tensor_unless_composite, found)
        values = found
        rounds += 1
    return values


def _is_row_of_tensors(values: Any, found: Any) -> bool:
    """Return whether both are lists, or both tuples, of as many tensors: then nothing need be checked or converted."""
    kind = type(values)
    if kind not in (list, tuple) or type(found) is not kind or len(found) != len(values):
        return False
    return {*map(type, values), *map(type, found)} == {Tensor}


def _tensor_unless_composite(value: Any) -> Any:
    """Convert a plain value to a tensor; values composed of several tensors are left unchanged."""
    if isinstance(value, Tensor) or hasattr(value, "__lab_apply__") or hasattr(value, "__loop_value__"):
        return value
    return convert(value)
