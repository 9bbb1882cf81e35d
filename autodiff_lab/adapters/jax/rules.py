"""The derivative of one equation: JAX's own rule, traced to find out which inputs get a gradient at all."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, Var, jaxpr_as_fun


class Rule(NamedTuple):
    """A derivative as a jaxpr of cotangents and inputs, and which of its results are more than a mere 0."""

    jaxpr: Any
    live: list[bool]


class Rules:
    """Derivatives of equations; equations that are alike and have inputs of the same shapes share one."""

    def __init__(self) -> None:
        self._known: dict[Any, Rule] = {}

    def of(self, run: Any, same: Any, ins: list[Any], outs: list[Any], need: tuple[int, ...]) -> Rule:
        """Return the derivative of a function with respect to some of its inputs.

        Parameters
        ----------
        run : callable
            Returns an array or a list of arrays.
        same : hashable or None
            Equal for functions that have one derivative; None if nothing is known.
        ins, outs : list of arrays
            What went in and came out.
        need : tuple of int
            The inputs.
        """
        shapes = tuple([(a.shape, a.dtype) for a in ins])
        key = None if same is None else (same, shapes, need)
        if key is not None and key in self._known:
            return self._known[key]
        floats = [is_float(a) for a in outs]
        count = sum(floats)

        def pull(*given: Any) -> Any:
            seeds, primals = given[:count], list(given[count:])

            def on(*needed: Any) -> Any:
                for i, value in zip(need, needed, strict=True):
                    primals[i] = value
                found = listed(run(*primals))
                return [out for out, ok in zip(found, floats, strict=True) if ok]

            return jax.vjp(on, *[primals[i] for i in need])[1](list(seeds))

        seeds = [a for a, ok in zip(outs, floats, strict=True) if ok]
        closed = jax.make_jaxpr(pull)(*seeds, *ins)
        rule = Rule(_without_dead(closed), _depend(closed.jaxpr, closed.jaxpr.invars[:count]))
        if key is not None:
            self._known[key] = rule
        return rule

    def slope(self, run: Any, same: Any, ins: list[Any], out: Any, position: int) -> Any:
        """Return the slope of an elementwise function: its rule at a cotangent of ones."""
        wide = [jnp.broadcast_to(a, out.shape) for a in ins]
        rule = self.of(run, same, wide, [out], (position,))
        return np.asarray(jaxpr_as_fun(rule.jaxpr)(jnp.ones_like(out), *wide)[0])


def alone(eqn: Any) -> Any:
    """Return one equation as a function of its inputs, each of them its own: in ``x * x`` there are two."""
    ins = [Var(v.aval) for v in eqn.invars]
    jaxpr = Jaxpr((), ins, eqn.outvars, [eqn.replace(invars=ins)], eqn.effects)
    return jaxpr_as_fun(ClosedJaxpr(jaxpr, ()))


def is_float(array: Any) -> bool:
    """Return whether gradients exist for an array."""
    return bool(jnp.issubdtype(array.dtype, jnp.inexact))


def listed(value: Any) -> list[Any]:
    """Return results as a list."""
    return list(value) if isinstance(value, (tuple, list)) else [value]


def hashable(params: dict[str, Any]) -> Any:
    """Return the parameters of an equation as a key."""
    try:
        key = tuple(sorted(params.items(), key=lambda item: item[0]))
        hash(key)
    except TypeError:
        return repr(params)
    return key


def _depend(jaxpr: Any, on: Any) -> list[bool]:
    """Return which results of a jaxpr depend on some of its inputs."""
    reached = set(on)
    for eqn in jaxpr.eqns:
        if any(not isinstance(v, Literal) and v in reached for v in eqn.invars):
            reached.update(eqn.outvars)
    return [not isinstance(v, Literal) and v in reached for v in jaxpr.outvars]


def _without_dead(closed: Any) -> Any:
    """Leave out equations that no result needs, such as the value that a rule computes again on its way."""
    jaxpr, kept = closed.jaxpr, []
    needed = {v for v in jaxpr.outvars if not isinstance(v, Literal)}
    for eqn in reversed(jaxpr.eqns):
        if any(v in needed for v in eqn.outvars):
            kept.append(eqn)
            needed.update(v for v in eqn.invars if not isinstance(v, Literal))
    return ClosedJaxpr(jaxpr.replace(eqns=kept[::-1]), closed.consts)
