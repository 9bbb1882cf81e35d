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

    def layered(self, text: Any, weights: list[Any], *constants: Any) -> Run:
        """A call that returns the loss of modules and its gradient with respect to each of their parameters."""
        modules, loss = text
        parameters, given = self._loaded(modules, weights), [self._constant(x) for x in constants]
        loss, grad = self._made(loss), self.torch.autograd.grad

        def run() -> Any:
            value = loss(*given)
            return (value, *grad(value, parameters))

        return run

    def trained(self, text: Any, weights: list[Any], *constants: Any, steps: int, optimizer: str, rate: float,
                momentum: float) -> Run:  # fmt: skip
        """A call that goes on training and returns the losses and all parameters."""
        modules, loss = text
        parameters, given = self._loaded(modules, weights), [self._constant(x) for x in constants]
        more = {} if optimizer == "Adam" else {"momentum": momentum}
        rule, loss = getattr(self.torch.optim, optimizer)(parameters, lr=rate, **more), self._made(loss)

        def run() -> Any:
            losses = []
            for _ in range(steps):
                rule.zero_grad()
                value = loss(*given)
                value.backward()
                rule.step()
                losses.append(value.detach())
            return (losses, *parameters)

        def reset() -> None:
            self._load(parameters, weights)
            rule.state.clear()

        run.reset = reset  # type: ignore[attr-defined]
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

    def _loaded(self, modules: list[Any], weights: list[Any]) -> list[Any]:
        parameters = [parameter for module in modules for parameter in module.parameters()]
        self._load(parameters, weights)
        return parameters

    def _load(self, parameters: list[Any], weights: list[Any]) -> None:
        with self.torch.no_grad():
            for parameter, weight in zip(parameters, weights, strict=True):
                parameter.copy_(self._constant(weight))

    def _made(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self.torch.compile(function) if self.compiled else function
