"""autograd: NumPy with gradients."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Run
from tests.benchmarks.libraries.library import Library


class Autograd(Library):
    """``value_and_grad`` of functions of its ``autograd.numpy``."""

    package = family = "autograd"

    def __init__(self, *, compiled: bool = False) -> None:
        super().__init__(compiled=compiled)
        self.autograd: Any = self.module
        self.numpy: Any = importlib.import_module("autograd.numpy")
        self.tuple: Any = importlib.import_module("autograd.builtins").tuple

    def gradients(self, forward: Callable[..., Any], leaves: list[Any], *constants: Any) -> Run:
        step = self.autograd.value_and_grad(forward, tuple(range(len(leaves))))

        def run() -> Any:
            value, found = step(*leaves, *constants)
            return (value, *found)

        return run

    def compute(self, function: Callable[..., Any], *arguments: Any) -> Run:
        return lambda: (function(*arguments),)

    def cross_entropy(self, logits: Any, labels: Any) -> Any:
        """The mean cross entropy of class numbers."""
        xp = self.numpy
        shifted = logits - xp.max(logits, axis=1, keepdims=True)
        logs = shifted - xp.log(xp.sum(xp.exp(shifted), axis=1, keepdims=True))
        return -xp.mean(logs[np.arange(len(labels)), labels])
