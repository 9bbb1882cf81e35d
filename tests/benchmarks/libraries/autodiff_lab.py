"""autodiff_lab itself, eager and compiled."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from typing import Any

from tests.benchmarks.cases.case import Run
from tests.benchmarks.libraries.layers import LayersAndTapes
from tests.benchmarks.libraries.library import Library


class Lab(LayersAndTapes, Library):
    """Tapes as a user writes them; compiled, the whole step under `function`."""

    package, family = "autodiff_lab", "lab"

    def __init__(self, *, compiled: bool = False) -> None:
        super().__init__(compiled=compiled)
        self.lab: Any = self.module
        self.tf: Any = self.module
        self._functions: list[Any] = []

    def version(self) -> str:
        return importlib.metadata.version("autodiff-lab")

    def fallbacks(self) -> int | None:
        return sum(function.fallbacks for function in self._functions) if self.compiled else None

    def gradients(self, forward: Callable[..., Any], leaves: list[Any], *constants: Any, dense: bool = True) -> Run:
        lab = self.lab
        leaves, given = [self._tensor(leaf) for leaf in leaves], [lab.constant(x) for x in constants]

        def step(leaves: Any, given: Any) -> Any:
            with lab.GradientTape() as tape:
                tape.watch(leaves)
                value = forward(*leaves, *given)
            found = tape.gradient(value, leaves)
            if dense:
                found = [g if isinstance(g, lab.Tensor) else lab.convert_to_tensor(g) for g in found]
            return (value, *found)

        step = self._made(step)
        return lambda: step(leaves, given)

    def compute(self, function: Callable[..., Any], *arguments: Any) -> Run:
        function, given = self._made(function), [self.lab.constant(x) for x in arguments]
        return lambda: (function(*given),)

    def cross_entropy(self, logits: Any, labels: Any) -> Any:
        """The mean cross entropy of class numbers."""
        each = self.lab.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return self.lab.reduce_mean(each)

    def array(self, result: Any) -> Any:
        return self.lab.convert_to_tensor(result).numpy()

    def is_sparse(self, result: Any) -> bool:
        return isinstance(result, self.lab.IndexedSlices)

    def _tensor(self, leaf: Any) -> Any:
        return [self.lab.constant(x) for x in leaf] if isinstance(leaf, list) else self.lab.constant(leaf)

    def _made(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if not self.compiled:
            return function
        self._functions.append(self.lab.function(function))
        return self._functions[-1]
