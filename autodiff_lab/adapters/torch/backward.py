"""One backward pass of autograd: hooks on its nodes, and which gradients the program got.

A hook only puts down what it sees; `Contributions` works it off when the recording is first used. With
``create_graph=True`` the kernels that the pass runs are ops as well, so that a second derivative can be followed.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from torch.utils._python_dispatch import TorchDispatchMode

from autodiff_lab.adapters.torch.asked import given, listed, results_of
from autodiff_lab.adapters.torch.contributions import Contributions, Visit
from autodiff_lab.adapters.torch.tracker import App, Claim, is_leaf_node
from autodiff_lab.adapters.torch.values import NumberValue, version_of
from autodiff_lab.events import SweepEnded

if TYPE_CHECKING:
    from autodiff_lab.adapters.torch.tracker import Tracker

MANY = 64
"""Visits after which the bytes that they keep alive are counted."""


class Backward(Contributions):
    """A backward pass under way."""

    def __init__(self, tracker: Tracker, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        super().__init__(tracker, tracker.emitter.place_now())
        seeds, self.sources, self.gathers, self.create_graph, retain, self.batched = given(func, args, kwargs)
        self.targets, self.seeds = listed(args[0] if args else kwargs.get("tensors", kwargs.get("outputs"))), seeds
        self.retained = bool(retain) if retain is not None else self.create_graph
        self.handles: list[Any] = []
        self.at_leaves: dict[int, tuple[Any, int]] = {}
        self.leaf_grads: dict[int, Any] = {}

    # ------------------------------------------------------------ the pass

    def run(self, function: Any) -> Any:
        """Run the pass."""
        tracker = self.tracker
        tracker.safely(self.start)
        try:
            if self.create_graph and not self.batched and tracker.error is None:
                with Kernels(self):
                    out = function()
            else:
                out = function()
        except Exception as error:
            self.end()
            tracker.safely(self.fail, error)
            raise
        self.end()
        tracker.safely(self.finish, out)
        return out

    def end(self) -> None:
        """Take the hooks off."""
        self.tracker.cause = None
        for handle in self.handles:
            handle.remove()

    def start(self) -> None:
        """Say what is asked for, and put a hook on every node."""
        tracker, place = self.tracker, self.place
        tracked = [t for t in self.targets if t.requires_grad]
        seeds = [s for t, s in zip(self.targets, self.seeds, strict=True) if t.requires_grad]
        targets = tracker.keys(tracked, place)
        self.roots = [t.grad_fn for t in tracked if t.grad_fn is not None]
        self.all_leaves = self.sources is None
        if self.sources is None:
            met = [ref() for ref in tracker.read_since.values()]
            self.sources = [t for t in met if t is not None and t.requires_grad]
            tracker.read_since.clear()
            kept = [ref() for ref in tracker.retained]
            self.sources += [t for t in kept if t is not None and not any(t is s for s in self.sources)]
            tracker.retained.clear()
        if not self.batched:
            self.walk(self.roots)
        self.keys = tracker.keys(self.sources, place)
        self.before: dict[int, int] = {}
        if self.gathers:
            for tensor in self.sources:
                if tensor.grad is not None:  # it will be added to, perhaps in place
                    self.before[id(tensor)] = tracker.key(tensor.grad, place)
                    tracker.settle(tensor.grad)
        untracked = tracker.keys([t for t in self.targets if not t.requires_grad], place)
        seed_keys = [self._one(t) if s is None else self.know(s) for t, s in zip(tracked, seeds, strict=True)]
        self.sweep = self.emitter.start_backward(targets, seed_keys, self.keys, place=place, untracked=untracked)
        for target, key in zip(targets, seed_keys, strict=True):
            self.totals[target] = key, self.tracker.values.get(key)
            self.adjoints[target] = key

    def _one(self, target: Any) -> int:
        """Return the id of the cotangent of a target for which the program gave none."""
        value = NumberValue(1, target.dtype, target.shape)
        key = self.emitter.add_source(value, kind="gradient", scope="")
        self.tracker.values[key] = value
        return key

    def walk(self, roots: list[Any]) -> None:
        """Put a hook on every node that the pass may visit."""
        tracker, fired = self.tracker, self.fired
        note, handles = fired.append, self.handles
        seen = set(roots)
        todo: list[tuple[Any, App | None]] = [(node, None) for node in roots]
        assert self.sources is not None
        known = {id(t) for t in self.sources}
        while todo:
            node, owner = todo.pop()
            if is_leaf_node(node):
                self._meet_leaf(node, known)
                continue
            claim = tracker.claimed(node)
            if claim is None:
                if owner is None:
                    continue
                claim = node.metadata["autodiff_lab"] = Claim(tracker, owner)  # inside one call
            app, edges = claim.app, self._edges(node, claim.app)
            for after, _ in node.next_functions:
                if after is not None and after not in seen:
                    seen.add(after)
                    todo.append((after, app))
            visit = Visit(app, edges, claim.outs)
            if self.create_graph:
                handles.append(node.register_prehook(_entering(tracker, visit)))
            handles.append(node.register_hook(_hook(note, visit, fired, self)))

    def _edges(self, node: Any, app: App) -> list[tuple[int, int, int]]:
        """Return the edges of a node that lead out of its call: number, position and id of the input."""
        edges: list[tuple[int, int, int]] = []
        last: dict[int, int] = {}
        for nr, (after, output) in enumerate(node.next_functions):
            key = None if after is None else self._edge(after, output, app)
            position = None if key is None else _position(app.inputs, key, last)
            if key is not None and position is not None:
                edges.append((nr, position, key))
        return edges

    def _meet_leaf(self, node: Any, known: set[int]) -> None:
        """Put a hook on the node that gathers the gradient of a leaf."""
        leaf, tracker = node.variable, self.tracker
        assert self.sources is not None
        if self.gathers and self.all_leaves and id(leaf) not in known:
            known.add(id(leaf))
            self.sources.append(leaf)
        found = tracker.objects.get(id(leaf))
        key = found[2] if found is not None and found[0]() is leaf else tracker.key(leaf, self.place)
        self.at_leaves[id(leaf)] = leaf, key
        self.handles.append(node.register_prehook(partial(self.at_leaf, id(leaf))))

    def at_leaf(self, leaf: int, grads: Any) -> None:
        """A gradient has arrived at a leaf."""
        self.leaf_grads[leaf] = grads[0]

    def _edge(self, node: Any, output: int, app: App) -> int | None:
        """Return the tensor that an edge leads to; None inside one call, which may have made many nodes."""
        tracker = self.tracker
        if is_leaf_node(node):
            variable, variable_of = tracker.variable(node.variable), tracker.variable_of
            for key in app.inputs:
                if variable_of.get(key) == variable:
                    return key
            return None
        claim = tracker.claimed(node)
        if claim is None:
            return None
        if claim.app is app:
            if output in claim.outs:  # a result that the same call goes on with: what comes from outside is its adjoint
                self.inner.add(claim.outs[output])
            return None
        key = claim.outs.get(output)
        if key is None and output < len(claim.app.outputs) and not claim.outs:
            key = claim.outs[output] = claim.app.outputs[output]
        return key

    # ------------------------------------------------------------ the end

    def finish(self, out: Any) -> None:
        """The pass is over: find out which gradients the program got."""
        tracker = self.tracker
        leaf_keys = self._leaves()
        assert self.sources is not None
        outs = [tensor.grad for tensor in self.sources] if self.gathers else results_of(out, len(self.sources))
        if not self.gathers and not self.create_graph:
            for key, g in zip(self.keys, outs, strict=True):
                if g is not None:
                    self.arrivals[key] = g
                    self.know(g)
        if self.create_graph or self.over_budget():
            self.work_off()
        else:
            tracker.emitter.recorder.left -= self.bytes
            tracker.emitter.recorder.defer(lambda: self.emitter.collected(self.work_off_later))
        results: list[int | None] = []
        for tensor, g in zip(self.sources, outs, strict=False):
            results.append(None if g is None else self._result(tensor, leaf_keys.get(id(tensor)), g))
        self.emitter.tell(SweepEnded(self.sweep, tuple(results)))
        tracker.faults.backward_ended(self.roots, self.place, self.retained)
        tracker.views.clear()
        tracker.new_turn = tracker.new_turn or self.gathers
        tracker.scopes.calls.clear()

    def work_off_later(self) -> None:
        """Emit what the hooks put down, once somebody looks at the recording."""
        self.work_off()
        for value in self.tracker.sums:
            value.resolve()
        self.ids.clear()
        self.alive.clear()

    def _leaves(self) -> dict[int, int]:
        """Return the ids of what arrived at leaves."""
        tracker = self.tracker
        found: dict[int, int] = {}
        for leaf, (_, key) in self.at_leaves.items():
            g = self.leaf_grads.get(leaf)
            if g is None:
                continue
            self.arrivals[key] = g
            if self.create_graph:
                found[leaf] = -1
                continue
            value = tracker.hold(g)
            known = self.emitter.add_source(value, kind="gradient", scope="")
            tracker.values[known] = value
            self.ids[id(g)] = known
            self.alive.append(g)
            found[leaf] = known
        return found

    def _result(self, tensor: Any, arrived: int | None, g: Any) -> int | None:
        """Return the id of a gradient that the program got."""
        tracker, before = self.tracker, self.before.get(id(tensor))
        if arrived is None:  # not a leaf, or from a pass inside the pass, as a checkpoint runs
            if not self.gathers:
                key = self.know(g)
                tracker.bind(g, key)
                return key
            known = tracker.objects.get(id(g))
            if known is not None and known[0]() is g and known[1] == version_of(g):
                return None  # it was there before
            if tensor.is_leaf:
                tracker.faults.delivered_to(tensor, self.place, False)
            key = self.know(g)
            tracker.bind(g, key)
            return key
        if arrived == -1:
            arrived = self.know(self.leaf_grads[id(tensor)])
        if not self.gathers:
            key = self.know(g)
            tracker.bind(g, key)
            return key
        if before is not None:
            gathered = not _is_zero(tracker.values.get(before))
            (added,) = self.emitter.emit_op("add", (before, arrived), [tracker.hold(g)], place=self.place)
            tracker.bind(g, added)
        else:
            gathered = False
            tracker.bind(g, arrived)
        if tensor.is_leaf:
            tracker.faults.delivered_to(tensor, self.place, gathered)
        return arrived

    def fail(self, error: Exception) -> None:
        """The pass raised."""
        tracker = self.tracker
        self.work_off()
        tracker.faults.backward_failed(self.roots, self.place, error)
        keys = tracker.keys(self.targets, self.place)
        self.emitter.emit_failure("backward", keys, error, place=self.place)
        tracker.new_turn = True


class Kernels(TorchDispatchMode):
    """Hears the kernels that a backward pass with ``create_graph=True`` runs."""

    def __init__(self, sweep: Backward) -> None:
        super().__init__()
        self.sweep = sweep

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        sweep, kwargs = self.sweep, kwargs or {}
        out = func(*args, **kwargs)
        cause = sweep.tracker.cause
        if cause is not None and func.overloadpacket.__name__ not in ("detach", "alias"):
            row = (func, args, kwargs, out, None, "", True)
            sweep.fired.append((row, None, cause))
        return out


def _hook(note: Any, visit: Visit, fired: list[Any], sweep: Backward) -> Any:
    def visited(shares: Any, arrived: Any) -> None:
        note((visit, shares, arrived))
        if not len(fired) % MANY and not sweep.create_graph and sweep.over_budget():
            sweep.tracker.safely(sweep.work_off)

    return visited


def _entering(tracker: Tracker, visit: Visit) -> Any:
    def entering(grads: Any) -> None:
        tracker.cause = visit.app.outputs[0]

    return entering


def _position(inputs: tuple[int, ...], key: int, last: dict[int, int]) -> int | None:
    """Return which input an edge belongs to: in ``x * x`` the second edge to x is that of the second x."""
    start = last.get(key, -1)
    for position in range(start + 1, len(inputs)):
        if inputs[position] == key:
            last[key] = position
            return position
    return start if start >= 0 else None


def _is_zero(value: Any) -> bool:
    tensor = getattr(value, "tensor", None)
    return tensor is not None and not bool(tensor.any())
