"""PyTorch, eager and under ``torch.compile``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Run
from tests.benchmarks.libraries.library import Library


class Torch(Library):
    """Leaves that require gradients, and ``torch.autograd.grad``."""

    package = family = "torch"

    def __init__(self, *, compiled: bool = False) -> None:
        super().__init__(compiled=compiled)
        self.torch: Any = self.module
        self.torch.set_num_threads(1)

    def version(self) -> str:
        return self.torch.__version__

    def leaf(self, x: Any) -> Any:
        """An array that gradients are wanted for; a list of them for a list."""
        if isinstance(x, list):
            return [self.leaf(one) for one in x]
        return self.torch.from_numpy(np.array(x)).requires_grad_(requires_grad=True)

    def gradients(self, forward: Callable[..., Any], leaves: list[Any], *constants: Any) -> Run:
        forward = self._made(forward)
        leaves, given = [self.leaf(x) for x in leaves], [self._constant(x) for x in constants]
        several = isinstance(leaves[0], list)
        grad, sources = self.torch.autograd.grad, leaves[0] if several else leaves

        def run() -> Any:
            value = forward(*leaves, *given)
            found = grad(value, sources)
            return (value, found) if several else (value, *found)

        return run

    def compute(self, function: Callable[..., Any], *arguments: Any) -> Run:
        function, given = self._made(function), [self._constant(x) for x in arguments]
        return lambda: (function(*given),)

    def cross_entropy(self, logits: Any, labels: Any) -> Any:
        """The mean cross entropy of class numbers."""
        return self.torch.nn.functional.cross_entropy(logits, labels)

    def array(self, result: Any) -> Any:
        result = result.detach()
        return (result.to_dense() if result.is_sparse else result).numpy()

    def is_sparse(self, result: Any) -> bool:
        return result.is_sparse

    def _constant(self, x: Any) -> Any:
        return self.torch.from_numpy(np.array(x))

    def _made(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self.torch.compile(function) if self.compiled else function
