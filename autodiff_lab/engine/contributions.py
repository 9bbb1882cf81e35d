"""Sums of the contributions to an adjoint; those of half floats are kept in float32 beside the rounded sums.

Rounded after each contribution, an adjoint of a thousand ones would stand still at 256 in bfloat16.  What a rule, a
listener or a reader of adjoints sees is always the rounded sum, in the dtype of the value; the float32 is found again
by the identity of that sum, so that an adjoint that was edited between two steps counts as it is.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.engine.devices import zeros_beside
from autodiff_lab.engine.indexed_slices import Rows
from autodiff_lab.engine.lean import Hollow
from autodiff_lab.engine.namespace import RAW, RECORDING
from autodiff_lab.engine.op import REGISTRY, UNREGISTERED
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.events.listener import tell_made
from autodiff_lab.kernels.base.halves import is_half

Wide = dict[int, tuple[Any, Any]]
"""By tensor id, a rounded sum and the same sum in float32."""


def added(wide: Wide, key: int, old: Any, new: Any) -> Any:
    """Add a contribution to an adjoint; both are raw, or tensors whose sum is recorded.

    Parameters
    ----------
    wide : dict
        What this function keeps between two calls: one for each sweep, from which keys may be taken at any time.
    key : int
        Whose adjoint it is.
    old, new : array or Tensor
        Of one shape and dtype.
    """
    if old.__class__ is Rows:
        if new.__class__ is Rows:
            return old + new
        old = old.whole()
    elif new.__class__ is Rows:
        new = new.whole()
    array = old._held if isinstance(old, Tensor) else old
    if array.itemsize != 2 or not is_half(array.dtype):
        return old + new
    cast = (RAW if array is old else RECORDING).cast
    seen = wide.get(key)
    so_far = seen[1] if seen is not None and seen[0] is old else cast(old, dtype="float32")
    total = so_far + cast(new, dtype="float32")
    rounded = cast(total, dtype=array.dtype.name)
    wide[key] = rounded, total
    return rounded


class Parts:
    """Contributions to parts of tensors, kept until an adjoint is needed: one op then adds all of them.

    If each were padded to the whole tensor and added, the gradient of a sequence that is read step by step would take a
    time that grows with the square of its length.
    """

    __slots__ = ("lead", "ops", "waiting")

    def __init__(self, ops: Any, lead: int) -> None:
        self.ops, self.lead = ops, lead
        self.waiting: dict[int, list[tuple[Any, Any, Any, Any]]] = {}

    def add(self, g: Any, op: Any, t: Any, params: dict[str, Any]) -> None:
        """Keep the cotangent of the part of `t` that an op took."""
        self.waiting.setdefault(t._id, []).append((g, op, t, params))

    def total(self, key: int, adjoint: Any) -> Any:
        """Return an adjoint, None if there is none yet, with the contributions that were kept for it."""
        kept = self.waiting.pop(key)
        g, op, t, params = kept[0]
        if adjoint.__class__ is Rows:
            adjoint = adjoint.whole()
        if adjoint is None and len(kept) == 1:
            return op.rules[0](self.ops, g, None, t, **params)
        values = [g for g, _, _, _ in kept]
        return self.ops.accumulate_parts(
            *(values if adjoint is None else [adjoint, *values]),
            places=tuple([(op.name, tuple(params.items())) for _, op, _, params in kept]),
            shape=tuple(g.shape[: self.lead]) + t._held.shape,
            onto=adjoint is not None,
        )


class Zeros(dict[int, tuple[Any, ...]]):
    """What zeros of step functions have reached, by tensor id.

    The second derivative of a rectifier is 0.  To take such zeros through the products and sums before it would cost as
    much as a gradient; they are noted instead, and made for the sources that nothing else has reached.

    Noted are the leading axes, the tensor if it is a source, and the cotangent of the step function, which the zeros
    depend on: None once they have passed a rule that reads values, whose result would depend on these.
    """

    __slots__ = ("keep", "ops")

    def __init__(self, ops: Any, keep: set[int]) -> None:
        super().__init__()
        self.ops, self.keep = ops, keep

    def reach(self, ins: Any, need: tuple[int, ...], stacked: tuple[int, ...], g: Any) -> None:
        """Note that zeros have reached the inputs of an op."""
        for t in [ins[i] for i in need]:
            self[t._id] = stacked, t if t._id in self.keep else None, g

    def passed(self, op: Any, out: Any, ins: Any, need: tuple[int, ...]) -> Any:
        """Pass zeros on to the inputs of an op; return them if the rule is a user's, which expects to be called."""
        (stacked, _, g), rules = self[out._id], op.rules
        if REGISTRY.get(op.name) is not op or rules == UNREGISTERED:
            return zeros_like(out, stacked, self.ops.raw)
        live = tuple(i for i in need if rules.__class__ is not tuple or rules[i] is not None)
        self.reach(ins, live, stacked, g if op.keeps == "nothing" else None)
        return None

    def completes(self, g: list[Any], op: Any, out: Any, ins: Any, need: tuple[int, ...]) -> bool:
        """Do the same for an op of several outputs, none of which has an adjoint; say whether one was put into `g`."""
        for k, t in enumerate(out):
            if t._id in self:
                g[k] = self.passed(op, t, ins, need)
                return g[k] is not None
        return False

    def settle(self, adjoints: dict[int, Any]) -> None:
        """Make the adjoints of sources that nothing else has reached; tensors depend on what they would depend on."""
        for key, (stacked, t, g) in self.items():
            if t is not None and key not in adjoints:
                on = t if g is None else g
                whole = not (self.ops.raw or stacked or on._held.__class__ is Hollow)
                like = whole and on.shape == t.shape and on.dtype == t.dtype
                adjoints[key] = self.ops.below(on, on) if like else zeros_like(t, stacked, self.ops.raw)


def zeros_like(t: Any, stacked: tuple[int, ...], raw: bool) -> Any:
    """Return a cotangent of zeros for a tensor, with further leading axes: an array if `raw`, else a tensor."""
    array = zeros_beside(t._held, stacked + t._held.shape)
    return array if raw else tell_made(wrap(array))


CASTS_OF_HALVES: list[bool] = []
"""Not empty once half floats were cast to another dtype in this process: until then no tape is searched for casts."""


def halves_met(targets: list[Tensor], entries: list[Any] | None) -> str:
    """Find half floats in the targets of a sweep or behind a cast on the tape; without any it runs at full speed.

    The result holds an "f" where there is float16, a "V" where there is bfloat16.
    """
    met = ""
    for target in targets:
        dtype = target._held.dtype
        if dtype.itemsize == 2:
            met += dtype.kind
    if CASTS_OF_HALVES and entries:
        for op, _, ins, _, _ in entries:
            if op.name == "cast" and ins[0]._held.dtype.itemsize == 2:
                met += ins[0]._held.dtype.kind
    return met
