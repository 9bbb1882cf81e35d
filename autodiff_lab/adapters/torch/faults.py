"""What goes wrong in PyTorch programs in ways that only PyTorch has: each is noted where it happens, with its line.

`explain` finds these notes and answers with the words of the framework's table.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autodiff_lab.adapters.torch.tracker import Tracker
    from autodiff_lab.events import Place


class Faults:
    """Watches optimizers, gradients that are cleared, and backward passes that fail."""

    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker
        self.assigned: set[int] = set()
        """Variables that were changed since a backward pass last delivered to them."""
        self.delivered: dict[int, Place | None] = {}
        """Variables with a gradient that no optimizer has used yet, by the line of the pass."""
        self.dropped: dict[int, Place | None] = {}
        """Variables whose gradient was cleared before an optimizer used it, by the line that did it."""
        self.reached: dict[int, Any] = {}
        self.stepped_with: set[int] = set()
        self.optimizer: Place | None = None
        self.freed: dict[Any, Place | None] = {}
        self.writes: list[tuple[str, Place | None, tuple[int, ...], tuple[int, ...]]] = []

    def wrote(self, op: str, place: Place | None, inputs: Any, outputs: Any) -> None:
        """An op wrote into its argument."""
        self.writes.append((op, place, tuple(inputs), tuple(outputs)))
        del self.writes[:-1000]

    def cleared(self, args: tuple[Any, ...]) -> None:
        """``w.grad = ...``: a gradient that no optimizer has seen may be lost."""
        tensor = args[0]
        known = self.tracker.variables.get(id(tensor))
        if known is not None and known[1] in self.delivered and tensor.grad is not None and args[-1] is None:
            self.dropped[known[1]] = self.tracker.emitter.place_now()
            del self.delivered[known[1]]

    def delivered_to(self, tensor: Any, place: Place | None, gathered: bool) -> None:
        """A backward pass put a gradient into `.grad`; `gathered` if it was added to one that was there."""
        variable = self.tracker.variable(tensor)
        if gathered and variable in self.assigned:
            self.tracker.emitter.emit_fault("grad_not_cleared", variable, place=place)
        self.assigned.discard(variable)
        self.dropped.pop(variable, None)
        self.delivered[variable] = place
        self.reached[variable] = place

    def stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """An optimizer made a step."""
        self.tracker.safely(self._stepped, optimizer)

    def _stepped(self, optimizer: Any) -> None:
        self.optimizer = self.tracker.emitter.place_now()
        for group in optimizer.param_groups:
            for tensor in group["params"]:
                variable = self.tracker.variable(tensor)
                self.stepped_with.add(variable)
                self.delivered.pop(variable, None)
                if tensor.grad is None and variable in self.dropped:
                    self.tracker.emitter.emit_fault("grad_cleared_too_soon", variable, place=self.dropped[variable])

    def close(self) -> None:
        """The block ends: find the variables whose gradient no optimizer uses."""
        if self.optimizer is None:
            return
        for variable in self.reached:
            if variable not in self.stepped_with and variable not in self.assigned:
                self.tracker.emitter.emit_fault("not_in_optimizer", variable, place=self.optimizer)

    def backward_ended(self, roots: list[Any], place: Place | None, retained: bool) -> None:
        """Autograd freed what its nodes had saved, unless it was asked to retain it."""
        if not retained:
            for node in roots:
                node.metadata["autodiff_lab freed"] = place

    def backward_failed(self, roots: list[Any], place: Place | None, error: Exception) -> None:
        """A backward pass raised: say why, where PyTorch's own message is known."""
        words = str(error)
        if "second time" in words:
            first = next((n.metadata.get("autodiff_lab freed") for n in roots if n.metadata), None) or self.last_pass()
            self.tracker.emitter.emit_fault("graph_freed", 0, place=first or place)
        elif "modified by an inplace operation" in words:
            found = self._write_behind(words)
            op, where, by = found if found is not None else ("", place, None)
            self.tracker.emitter.emit_fault("saved_value_changed", 0, detail=op, place=where, by=by)

    def last_pass(self) -> Place | None:
        """Return the line of the last backward pass that delivered anything."""
        return next(reversed(self.reached.values()), None)

    def _write_behind(self, words: str) -> tuple[str, Place | None, int | None] | None:
        """Return the op that wrote over a saved value: PyTorch names the node whose output it was."""
        named = re.search(r"output \d+ of (\w+?)(?:Backward)?\d*,", words)
        maker = named[1].removesuffix("Backward").lower() if named else ""
        makers = {key: app.op for _, _, key, app in self.tracker.objects.values() if app is not None}
        for op, place, inputs, outputs in reversed(self.writes):
            name = makers.get(inputs[0], "") if inputs else ""
            by = outputs[-1] if outputs else None
            if (
                not maker
                or maker in (name.replace("_", ""), op.replace("_", ""))
                or maker in ("asstrided", "copyslices")
            ):
                return op, place, by
        if self.writes:
            op, place, _, outputs = self.writes[-1]
            return op, place, outputs[-1] if outputs else None
        return None
