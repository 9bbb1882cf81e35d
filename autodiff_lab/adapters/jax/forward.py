"""`record`: the jaxpr of a JAX function, run one equation at a time, and then its gradient.

`jax.make_jaxpr` traces the function; the equations know the user's lines and scopes. Functions of `jax.jit`, the branch
that a `cond` takes and the iterations of short loops are gone into. Arithmetic on integers that no gradient passes is
left out: it computes positions, which the ops that use them show.
"""

from __future__ import annotations

import inspect
import os
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal

from autodiff_lab.adapters.emitter import Emitter
from autodiff_lab.adapters.held import HeldValue
from autodiff_lab.adapters.jax.backward import sweep
from autodiff_lab.adapters.jax.rules import Rules, alone, hashable, is_float, listed
from autodiff_lab.adapters.jax.table import INLINE, JITTED, LIKE, ORDER, SHOWN, STEPS, TABLE
from autodiff_lab.events import Place
from autodiff_lab.events.listener import fresh_id
from autodiff_lab.recording import Recording
from autodiff_lab.recording.recorder import BUDGET
from autodiff_lab.recording.snapshot import WHOLE, Policy

FOLDERS = tuple(str(Path(file).parent) + os.sep for file in (jax.__file__, np.__file__, Path(__file__).parent.parent))
UNROLLED = 32
"""Turns up to which a `scan` is shown turn by turn; a longer one is one op."""


class Value:
    """An array of the program; it enters the recording where an op first reads it."""

    __slots__ = ("array", "key", "made", "name", "tracked", "variable")

    def __init__(self, array: Any, key: int | None = None, name: str | None = None, variable: bool = False) -> None:
        self.array, self.key, self.name, self.variable = array, key, name, variable
        self.tracked = variable and is_float(array)
        self.made = False  # by a recorded op


class Entry(NamedTuple):
    """An equation that ran: how to run it again, what went in, what came out."""

    op: str
    run: Any
    ins: list[Value]
    outs: list[Value]
    same: Any


class Recorded(NamedTuple):
    """What `record` returns: the recording, the function's value, and the gradient in the shape of the arguments."""

    recording: Recording
    value: Any
    gradients: Any


def record(
    function: Any,
    *args: Any,
    wrt: int | tuple[int, ...] = 0,
    order: int = 1,
    has_aux: bool = False,
    inside_jit: bool = True,
    title: str = "",
    whole: int = WHOLE,
    policy: Policy | None = None,
    budget: int = BUDGET,
) -> Recorded:
    """Run a function of JAX and its gradient, and record both.

    Parameters
    ----------
    function : callable
        Of arrays or trees of arrays; returns a scalar, with ``has_aux`` a scalar and something else.
    *args : arrays or trees of arrays
        What it is called with.
    wrt : int or tuple of int
        The arguments with respect to which the gradient is taken, as `argnums` of `jax.grad`.
    order : int
        2 also differentiates the sum of the gradient's elements, with respect to the same arguments.
    has_aux : bool
        As for `jax.grad`.
    inside_jit : bool
        Whether functions under `jax.jit` are recorded equation by equation, each as a scope. With False a call of one
        is a single op, ``jitted: name``; JAX's own functions are gone into either way.
    title : str
        The heading of pictures.
    whole, policy, budget : optional
        What is kept of values; see `autodiff_lab.record`.

    Returns
    -------
    Recorded
        A named tuple of `recording`, `value` and `gradients`.

    Raises
    ------
    TypeError
        If the function does not return a floating-point scalar.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> recording, value, gradients = record(lambda x: x * jnp.sin(x), 2.0)
    >>> [application.op for application in recording.forward], round(float(gradients), 4)
    (['sin', 'mul'], 0.077)
    """
    emitter = Emitter(
        "jax", title=title, table=TABLE, folders=FOLDERS, whole=whole, policy=policy, budget=budget,
    )  # fmt: skip
    chosen = (wrt,) if isinstance(wrt, int) else tuple(wrt)
    return Runner(emitter, order, inside_jit).record(function, args, chosen, isinstance(wrt, int), has_aux)


class Runner:
    """Runs equations and tells of them."""

    def __init__(self, emitter: Emitter, order: int, inside_jit: bool) -> None:
        self.emitter, self.order, self.inside_jit = emitter, order, inside_jit
        self.entries: list[Entry] = []
        self.rules = Rules()
        self.scopes: dict[str, int] = {}

    def record(self, function: Any, args: Any, wrt: tuple[int, ...], single: bool, has_aux: bool) -> Recorded:
        """Record a function and its gradient."""
        leaves = jax.tree.leaves(args)
        closed, shape = jax.make_jaxpr(function, return_shape=True)(*args)
        targets = jax.tree.leaves(shape[0] if has_aux else shape)
        if len(targets) != 1 or targets[0].shape or not jnp.issubdtype(targets[0].dtype, jnp.inexact):
            found = ", ".join(f"{t.dtype}{list(t.shape)}" for t in targets)
            raise TypeError(
                f"record: the function must return a floating-point scalar, as for jax.grad, but it returned {found}. "
                "Try `lambda *args: jnp.sum(function(*args))`."
            )
        recording = self.emitter.start()
        ins = [
            Value(jnp.asarray(leaf), None, name, at in wrt)
            for leaf, (at, name) in zip(leaves, names_of(function, args), strict=True)
        ]
        try:
            outs = self.equations(closed.jaxpr, closed.consts, ins, "", None, None)
            sources = [value for value in ins if value.variable]
            results = sweep(self, outs[0], sources)
            for _ in range(self.order - 1):
                results = sweep(self, self._total(results), sources)
        except BaseException as error:
            self.emitter.finish(error)
            raise
        self.emitter.finish()
        grads = [jnp.zeros_like(s.array) if g is None else g.array for s, g in zip(sources, results, strict=True)]
        gradients = jax.tree.unflatten(jax.tree.structure([args[i] for i in wrt]), grads)
        value = jax.tree.unflatten(jax.tree.structure(shape), [v.array for v in outs])
        return Recorded(recording, value, gradients[0] if single else tuple(gradients))

    def _total(self, results: list[Value | None]) -> Value:
        """Return the sum of all elements of a gradient, which is what is differentiated again."""
        total: Value | None = None
        for g in results:
            if g is not None:
                part = g if not g.array.ndim else self.call(jnp.sum, "reduce_sum", [g], None, "", None)[0]
                total = part if total is None else self.call(jnp.add, "add", [total, part], None, "", None)[0]
        assert total is not None
        return total

    # ------------------------------------------------------------ equations

    def equations(
        self, jaxpr: Any, consts: Any, ins: list[Value], scope: str, place: Place | None, cause: int | None
    ) -> list[Value]:
        """Run the equations of a jaxpr in order."""
        env: dict[Any, Value] = dict(zip(jaxpr.invars, ins, strict=True))
        env.update({var: Value(jnp.asarray(const)) for var, const in zip(jaxpr.constvars, consts, strict=True)})

        def read(var: Any) -> Value:
            return Value(jnp.asarray(var.val, var.aval.dtype)) if isinstance(var, Literal) else env[var]

        for eqn in jaxpr.eqns:
            stack = str(eqn.source_info.name_stack)
            inner = "" if cause is not None else "/".join(filter(None, (scope, stack)))
            line = place if place is not None or cause is not None else line_of(eqn)
            outs = self.equation(eqn, [read(v) for v in eqn.invars], inner, line, cause)
            env.update(zip(eqn.outvars, outs, strict=True))
        return [read(var) for var in jaxpr.outvars]

    def equation(self, eqn: Any, ins: list[Value], scope: str, place: Place | None, cause: int | None) -> list[Value]:
        """Run one equation, or those that it stands for."""
        name, params = eqn.primitive.name, eqn.params
        if name in JITTED and not self.inside_jit and cause is None and not is_of_jax(params["jaxpr"].jaxpr):
            name = f"jitted: {str(params['name']).strip('_<>')}"
        if name in INLINE:
            return self._inlined(name, params, ins, scope, place, cause)
        if name == "cond":
            index, *rest = ins
            self.emitter.emit_exit(self.key(index, place, scope), "branch", place)
            branch = params["branches"][int(index.array)]
            return self.equations(branch.jaxpr, branch.consts, rest, scope, None, cause)
        if name == "scan" and params["length"] <= UNROLLED and cause is None:
            return self._turns(params, ins, scope, place)
        if name == "convert_element_type" and ins[0].array.dtype == params["new_dtype"]:
            return ins  # a Python number became an array, and nothing happens to its value
        run, same = alone(eqn), (eqn.primitive, hashable(params))
        if name.startswith(("custom_jvp_call", "custom_vjp_call")):
            name, same = called(params) or name, id(eqn)
        at = ORDER.get(name) if len(ins) == 3 else None
        if at is not None:
            run, ins = partial(_reordered, run, tuple(np.argsort(at))), [ins[i] for i in at]
        told = {k: str(v) for k, v in params.items() if k in SHOWN and v is not None}
        return self.call(run, name, ins, place, scope, cause, told or None, same)

    def _inlined(
        self, name: str, params: Any, ins: list[Value], scope: str, place: Place | None, cause: int | None
    ) -> list[Value]:
        """Run a function of `jax.jit` and the like; the user's own is a scope."""
        inner = params.get("jaxpr", params.get("call_jaxpr"))
        inner = inner if isinstance(inner, ClosedJaxpr) else ClosedJaxpr(inner, ())
        ours = is_of_jax(inner.jaxpr)
        if len(inner.jaxpr.eqns) > 1 and cause is None and not ours:
            scope = self.numbered(scope, str(params.get("name", name)).strip("_<>"))
        return self.equations(inner.jaxpr, inner.consts, ins, scope, place if ours else None, cause)

    def _turns(self, params: Any, ins: list[Value], scope: str, place: Place | None) -> list[Value]:
        """Run a short loop, turn by turn."""
        consts, carries, body = params["num_consts"], params["num_carry"], params["jaxpr"]
        fixed, carry, rows = ins[:consts], ins[consts : consts + carries], ins[consts + carries :]
        turns = range(params["length"])
        made: list[list[Value]] = [[] for _ in range(len(body.out_avals) - carries)]
        for at in reversed(turns) if params["reverse"] else turns:
            inner = self.numbered(scope, "turn")
            row = [self.call(partial(_row, at), "slice", [x], place, inner, None, {"at": at})[0] for x in rows]
            outs = self.equations(body.jaxpr, body.consts, [*fixed, *carry, *row], inner, None, None)
            carry = outs[:carries]
            for column, out in zip(made, outs[carries:], strict=True):
                column.append(out)
        stacked: list[Value] = []
        for column in made:
            column = column[::-1] if params["reverse"] else column
            stacked += self.call(_stacked, "stack", column, place, scope, None)
        return [*carry, *stacked]

    def call(
        self, run: Any, op: str, ins: list[Value], place: Place | None, scope: str, cause: int | None,
        params: dict[str, Any] | None = None, same: Any = None,
    ) -> list[Value]:  # fmt: skip
        """Run and emit one op."""
        arrays = listed(run(*[v.array for v in ins]))
        if not any(is_float(a) for a in arrays) and all(_is_position(v) for v in ins):
            return [Value(a) for a in arrays]
        ids = [self.key(v, place, scope) for v in ins]
        smooth = op not in STEPS and any(is_float(a) for a in arrays)
        keys = self.emitter.emit_op(
            op, ids, [held(a) for a in arrays], params=params, cause=cause, place=place, scope=scope,
            differentiable=smooth or op == "convert_element_type",
        )  # fmt: skip
        outs = [Value(array, key) for key, array in zip(keys, arrays, strict=True)]
        for out in outs:
            out.made = True
        if any(v.tracked for v in ins):
            self.entries.append(Entry(op, run, ins, outs, same))
            for out in outs:
                out.tracked = op != "stop_gradient" and is_float(out.array)
        return outs

    def key(self, value: Value, place: Place | None = None, scope: str = "") -> int:
        """Return the id of a value, which is emitted when it is first read."""
        if value.key is None:
            kind = "variable" if value.variable else "constant"
            value.key = self.emitter.add_source(
                held(value.array), name=value.name, kind=kind, place=None if value.name else place, scope=scope,
                key=fresh_id(),
            )  # fmt: skip
        return value.key

    def numbered(self, scope: str, name: str) -> str:
        """Return a scope of its own for every call."""
        path = f"{scope}/{name}" if scope else name
        self.scopes[path] = self.scopes.get(path, 0) + 1
        return path if self.scopes[path] == 1 else f"{path} ({self.scopes[path]})"


def held(array: Any) -> HeldValue:
    """Return an array of JAX by reference: nobody can write into it."""
    if jax.dtypes.issubdtype(array.dtype, jax.dtypes.extended):  # random keys
        return HeldValue(None)
    return HeldValue(partial(np.asarray, array), array.nbytes)


def line_of(eqn: Any) -> Place | None:
    """Return the user's line of an equation: the innermost frame outside JAX and this package."""
    traceback = eqn.source_info.traceback
    for frame in traceback.frames if traceback else ():
        if not frame.file_name.startswith((*FOLDERS, "<frozen")):
            return frame.file_name, frame.line_num
    return None


def called(params: Any) -> str:
    """Return the name of a function with a derivative of its own."""
    inner = params.get("call_jaxpr") or params.get("fun_jaxpr")
    jaxpr = getattr(inner, "jaxpr", inner)
    name = str(getattr(getattr(jaxpr, "debug_info", None), "func_name", "") or "").strip("_<>")
    return name if name in LIKE or name not in ("lambda", "fun") else ""


def is_of_jax(jaxpr: Any) -> bool:
    """Return whether a jitted function is JAX's own: the lines in it are then those of whoever called it first."""
    source = str(getattr(getattr(jaxpr, "debug_info", None), "func_src_info", "") or "")
    return any(path in source for path in FOLDERS)


def names_of(function: Any, args: tuple[Any, ...]) -> list[tuple[int, str]]:
    """Return for every leaf of the arguments which argument it is in, and its name in the function's own words."""
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        names = []
    found: list[tuple[int, str]] = []
    for at, arg in enumerate(args):
        name = names[at] if at < len(names) else f"arg{at}"
        paths = jax.tree_util.tree_flatten_with_path(arg)[0]
        found += [(at, name + jax.tree_util.keystr(path)) for path, _ in paths]
    return found


def _is_position(value: Value) -> bool:
    """Return whether a value is of integers or truth values that come from no recorded op."""
    return not value.made and not value.variable and not is_float(value.array)


def _reordered(run: Any, back: Any, *values: Any) -> Any:
    return run(*[values[i] for i in back])


def _row(at: int, array: Any) -> Any:
    return array[at]


def _stacked(*arrays: Any) -> Any:
    return jnp.stack(arrays)
