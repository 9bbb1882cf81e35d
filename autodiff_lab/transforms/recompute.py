"""Checkpointing: keep the inputs of a function, discard intermediate results, run it again in the backward pass."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

from autodiff_lab.engine import nest
from autodiff_lab.engine.apply import record_application
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.indexed_slices import dense
from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.op import Op
from autodiff_lab.engine.tape import GradientTape
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.engine.variable import Variable
from autodiff_lab.events.listener import SINKS, sinks_now, trace_now
from autodiff_lab.ops.array.casting import after
from autodiff_lab.ops.math.complex_numbers import handed_back, handed_over
from autodiff_lab.ops.random_state import Draw, drawing_again, noting_draws
from autodiff_lab.transforms.custom import Reads, check_function

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
_LARGE_BYTES = 1 << 16
"""Contributions smaller than this fit into gaps that nothing else needs."""


def recompute_grad(f: Callable[P, R]) -> Callable[P, R]:
    """Return a function with the same value and gradient whose intermediate results are recomputed, not kept.

    Parameters
    ----------
    f : callable
        Takes tensors, by position or by name, and returns one tensor or a structure of them; it runs once
        forward and once more for each backward pass, so it must be deterministic, except that dropout and the
        functions of `lab.random` draw the same numbers in each run.  Trainable variables that it reads get their
        gradients too.

    Returns
    -------
    callable

    Raises
    ------
    ConversionError
        If an argument is not numeric.

    Notes
    -----
    Griewank and Walther, "Algorithm 799: revolve" (2000), on checkpointing.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> calls = []
    >>> def body(x):
    ...     calls.append("run")
    ...     return lab.sin(x) * lab.cos(x)
    >>> x = lab.Variable(0.0)
    >>> with lab.GradientTape() as tape:
    ...     y = lab.recompute_grad(body)(x)
    >>> print(tape.gradient(y, x), len(calls))
    Tensor(1.0, shape=(), dtype=float32) 2
    """
    check_function(f, "recompute_grad")

    @functools.wraps(f)
    def apply(*arguments: Any, **options: Any) -> Any:
        sinks = sinks_now()
        if not sinks:
            return f(*arguments, **options)
        function, arguments = _by_position(f, arguments, options)
        leaves, rebuild = nest.flatten(arguments)
        given = tuple(convert(leaf) for leaf in leaves)
        found = Reads()
        SINKS.set((*[sink for sink in sinks if sink.traces], found))  # a program needs to know its computation
        try:
            with noting_draws() as draws:
                value = function(*rebuild(list(given)))
        finally:
            SINKS.set(sinks)
        variables = found.trained()
        ins = (*given, *[v.read() for v in variables])
        out_leaves, rebuild_value = nest.flatten(value)
        outs = tuple(wrap(convert(leaf)._held) for leaf in out_leaves)
        name = getattr(f, "__name__", "function")
        op = Op(
            "recompute", _unused, _rule(function, rebuild, len(given), variables, draws), None, symbol="recompute",
            latex=r"\operatorname{{recompute}}({0})", locals_latex=("?",) * len(ins),
            sentence=f"runs {name} and discards its intermediate results", keeps="inputs", stacked=False,
        )  # fmt: skip
        record_application(sinks, op, outs[0] if len(outs) == 1 else outs, ins, {})
        return rebuild_value(list(outs))

    return apply


def _by_position(f: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, Any]:
    """Return a function and its arguments, those that are tensors given by name among them."""
    names = [name for name, value in options.items() if isinstance(value, (Tensor, Variable))]
    if not options:
        return f, arguments
    rest = {name: value for name, value in options.items() if name not in names}

    def function(*given: Any) -> Any:
        return f(*given[: len(arguments)], **dict(zip(names, given[len(arguments) :], strict=True)), **rest)

    return function, (*arguments, *[options[name] for name in names])


def _unused(*arrays: Any) -> Any:
    return arrays


def _rule(function: Callable[..., Any], rebuild: Callable[[list[Any]], Any], count: int,
          variables: list[Variable], draws: list[Draw]) -> Callable[..., Any]:  # fmt: skip
    def rule(ops: Any, g: Any, out: Any, *inputs: Any, need: tuple[int, ...]) -> list[Any]:
        # Tensors of their own: one may be given twice, or be the value of a variable that the function reads too.
        given = [wrap(a) if ops.raw else RECORDING.identity(a) for a in inputs[:count]]
        cotangents = [handed_over(ops, h) for h in (g if isinstance(g, list) else [g])]
        if trace_now() is not None:  # a program must not merge this run with the first, nor move it forward
            given = [after(x, cotangents[0]) for x in given]
        with GradientTape(watch_accessed_variables=False) as tape, drawing_again(draws):
            tape.watch(given)
            tape.watch(variables)
            value = function(*rebuild(given))
        leaves = [convert(leaf) for leaf in nest.flatten(value)[0]]
        sources = [*given, *variables]
        shares = tape.gradient(leaves, [sources[i] for i in need], output_gradients=cotangents)
        del tape, value, leaves, sources  # the intermediate results are freed before the contributions find their place
        shares = [handed_back(ops, dense(share)) for share in shares]
        return _together(shares, out.shape[:1]) if ops.raw and out.__class__ is not tuple else shares

    return rule


def _together(shares: list[Any], rows: tuple[int, ...]) -> list[Any]:
    """Move the contributions to weights into one block of memory.

    They outlive the intermediate results among which they were made. Left in their gaps, they keep the next run
    of the function from reusing the gaps, and the process grows by as much as discarding has saved. A
    contribution with as many rows as the result belongs to the examples: the sweep soon releases it, so it stays
    separate.
    """
    large = [a for a in shares if isinstance(a, np.ndarray) and a.nbytes >= _LARGE_BYTES and a.shape[:1] != rows]
    if len(large) < 2 or len({a.dtype for a in large}) > 1:
        return shares
    block = np.empty(sum(a.size for a in large), large[0].dtype)
    moved: dict[int, Any] = {}
    end = 0
    for a in large:
        begin, end = end, end + a.size
        moved[id(a)] = block[begin:end].reshape(a.shape)
        moved[id(a)][...] = a
    return [moved.get(id(a), a) for a in shares]


def with_recomputation_in_pullbacks(x: T, function: Callable[[T], R]) -> R:
    """Compute ``function(x)``, recomputed in the backward pass instead of kept; see `recompute_grad`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.gradient(lambda x: lab.with_recomputation_in_pullbacks(x, lab.sin))(0.0))
    Tensor(1.0, shape=(), dtype=float32)
    """
    return recompute_grad(function)(x)
