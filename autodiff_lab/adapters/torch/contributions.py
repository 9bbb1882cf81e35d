"""The contributions of a backward pass: what arrived at each op and what it passed on, as events of a recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from autodiff_lab.adapters.torch.tracker import App, memory_of
from autodiff_lab.adapters.torch.values import LocalValue, SumValue, TensorValue, tensors_in, version_of

if TYPE_CHECKING:
    from autodiff_lab.adapters.torch.tracker import Tracker
    from autodiff_lab.events import Place


class Visit:
    """A node that the pass may visit: its op, and for each edge the position and id of the input that it leads to."""

    __slots__ = ("app", "edges", "outs")

    def __init__(self, app: App, edges: list[tuple[int, int, int]], outs: dict[int, int]) -> None:
        self.app, self.edges, self.outs = app, edges, outs


class Contributions:
    """What the hooks of one pass put down, and the adjoints that follow from it."""

    def __init__(self, tracker: Tracker, place: Place | None) -> None:
        self.tracker, self.emitter, self.place = tracker, tracker.emitter, place
        self.sweep = 0
        self.fired: list[tuple[Any, Any, Any]] = []
        """Visits with what was passed on and what arrived; or calls of kernels, and the op whose rule ran them."""
        self.adjoints: dict[int, int] = {}
        self.totals: dict[int, tuple[int, Any]] = {}
        self.arrivals: dict[int, Any] = {}
        self.expected: dict[int, int] = {}
        self.inner: set[int] = set()
        """Results that the same call goes on with, so that more arrives at their nodes than from outside."""
        self.ids: dict[int, int] = {}
        self.alive: list[Any] = []
        self.bytes = self.counted = 0

    def over_budget(self) -> bool:
        """Return whether what the hooks put down does not fit into the budget: then it is summarized now."""
        new = self.fired[self.counted :]
        self.counted = len(self.fired)
        self.bytes += sum([g.nbytes for _, shares, _ in new for g in shares or () if _dense(g)])
        return self.bytes > self.emitter.recorder.left

    def work_off(self) -> None:
        """Emit what was put down so far."""
        fired, self.fired[:] = self.fired[:], []
        self.counted = 0
        self.look_ahead(fired)
        at = 0
        while at < len(fired):
            visit, shares, arrived = fired[at]
            at += 1
            if visit.__class__ is tuple:
                self.kernel(visit, arrived)
                continue
            while at < len(fired) and fired[at][0].__class__ is tuple:  # these add up what the visit passes on
                self.kernel(fired[at][0], fired[at][2])
                at += 1
            self.visited(visit, shares, arrived)

    def look_ahead(self, fired: list[Any]) -> None:
        """Find out what arrives at each tensor, and how many contributions make it up."""
        arrivals, expected = self.arrivals, self.expected
        for visit, shares, arrived in fired:
            if visit.__class__ is tuple:
                continue
            for nr, g in enumerate(arrived):
                if g is not None and nr in visit.outs and visit.outs[nr] not in self.inner:
                    arrivals[visit.outs[nr]] = g
            for nr, _, key in visit.edges:
                if shares[nr] is not None:
                    expected[key] = expected.get(key, 0) + 1

    def kernel(self, row: Any, cause: int) -> None:
        """Emit an op of the pass itself; autograd makes new objects of views, which are found by their memory."""
        tracker = self.tracker
        tracker.calls.note(row, cause)
        for tensor in tensors_in(row[3]):
            found = tracker.objects.get(id(tensor))
            if found is not None and found[3] is not None:
                found[3].tracked = True
                tracker.views[memory_of(tensor)] = found[2], found[3]

    def visited(self, visit: Visit, shares: Any, arrived: Any) -> None:
        """Emit the contributions of one node."""
        app = visit.app
        for nr, g in enumerate(arrived):
            if g is not None and nr in visit.outs:
                key = visit.outs[nr]
                if key not in self.inner:
                    self.adjoints[key] = self.arrived(key, g)
        adjoints, values, totals = self.adjoints, self.tracker.values, self.totals
        if self.inner:
            adjoints |= {key: totals[key][0] for key in app.outputs if key in self.inner and key in totals}
        incoming = tuple([adjoints.get(key) for key in app.outputs])
        for nr, position, key in visit.edges:
            share = shares[nr]
            if share is None:
                continue
            value = values.get(key)
            if value.__class__ is TensorValue and share.shape != value.shape and share.layout is torch.strided:
                share = _summed(share, value.shape)
            outgoing = self.know(share)
            total = self._total(key, outgoing, share)
            local = None
            if app.again is not None and self.tracker.local_of(app):
                local = LocalValue(app.again, tuple([values.get(k) for k in app.inputs]), position)
            self.emitter.emit_contribution(
                self.sweep, app.outputs[0], position, outgoing, incoming=incoming, total=total, local=local
            )

    def _total(self, key: int, outgoing: int, share: Any) -> int:
        """Return the id of an adjoint once a contribution is added: of what arrives at last, or of the sum so far."""
        values, totals = self.tracker.values, self.totals
        left = self.expected[key] = self.expected.get(key, 1) - 1
        old, final = totals.get(key), self.arrivals.get(key)
        held = values.get(outgoing)
        if left == 0 and final is not None and key not in self.tracker.hooked:
            total = outgoing if old is None and final is share else self.know(final)
            held = values.get(total)
        elif old is None:
            total = outgoing
        else:
            held = SumValue(old[1], held)
            self.tracker.sums.append(held)
            total = self.emitter.add_source(held, kind="gradient", scope="")
            values[total] = held
        totals[key] = total, held
        return total

    def arrived(self, key: int, g: Any) -> int:
        """Return the id of an adjoint that arrived: that of the sum so far, unless somebody's hook changed it."""
        total = self.totals.get(key)
        if total is None:
            return self.know(g)
        known, value = total
        if key in self.tracker.hooked and not _same(value, g):
            known = self.know(g)
            self.totals[key] = known, self.tracker.values.get(known)
        elif value.__class__ is SumValue and value.open:
            value.become(self.tracker.hold(g))
            self.ids[id(g)] = known
        return known

    def know(self, g: Any) -> int:
        """Return the id of a gradient: that of the recorded op that made it, else its own."""
        key = self.ids.get(id(g))
        if key is not None:
            return key
        tracker = self.tracker
        if g.grad_fn is not None:
            key = tracker.key(g, self.place)
        else:
            found = tracker.objects.get(id(g))
            if found is not None and found[0]() is g and found[1] == version_of(g):
                key = found[2]
            else:
                value = tracker.hold(g)
                key = self.emitter.add_source(value, kind="gradient", scope="")
                tracker.values[key] = value
        self.ids[id(g)] = key
        self.alive.append(g)
        return key


def _dense(g: Any) -> bool:
    return g is not None and g.layout is torch.strided


def _same(value: Any, g: Any) -> bool:
    tensor = getattr(value, "tensor", None)
    try:
        return tensor is not None and (tensor is g or torch.equal(tensor, g))
    except RuntimeError:  # sparse and batched tensors cannot say
        return True


def _summed(share: Any, shape: Any) -> Any:
    """Return a contribution in the shape of its input: autograd sums over broadcast axes after the node has run."""
    try:
        return share.sum_to_size(shape)
    except RuntimeError:
        return share
