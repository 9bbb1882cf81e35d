"""JAX, whole steps under ``jax.jit``, blocking until they are done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.benchmarks.cases.case import Run
from tests.benchmarks.libraries.library import Library


class Jax(Library):
    """``value_and_grad`` under ``jit``."""

    package = family = "jax"

    def __init__(self, *, compiled: bool = False) -> None:
        super().__init__(compiled=compiled)
        self.jax: Any = self.module
        self.jax.config.update("jax_enable_x64", True)
        import jax.numpy

        self.numpy = jax.numpy

    def gradients(self, forward: Callable[..., Any], leaves: list[Any], *constants: Any) -> Run:
        step = self.jax.jit(self.jax.value_and_grad(forward, tuple(range(len(leaves)))))
        given = [self.jax.tree.map(self.numpy.asarray, x) for x in (*leaves, *constants)]
        wait = self.jax.block_until_ready

        def run() -> Any:
            value, found = wait(step(*given))
            return (value, *found)

        return run

    def trained(self, loss: Callable[..., Any], weights: list[Any], *constants: Any, steps: int, optimizer: str,
                rate: float, momentum: float) -> Run:  # fmt: skip
        """A call that trains from the beginning and returns the losses and all weights."""
        jax, np = self.jax, self.numpy

        def adam(slopes: Any, weights: Any, t: Any, ms: Any, vs: Any) -> Any:
            t = t + 1
            ms = [0.9 * m + 0.1 * g for m, g in zip(ms, slopes, strict=True)]
            vs = [0.999 * v + 0.001 * g * g for v, g in zip(vs, slopes, strict=True)]
            weights = [w - rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
                       for w, m, v in zip(weights, ms, vs, strict=True)]  # fmt: skip
            return weights, t, ms, vs

        def sgd(slopes: Any, weights: Any, ms: Any) -> Any:
            ms = [momentum * m - rate * g for m, g in zip(ms, slopes, strict=True)]
            return [w + m for w, m in zip(weights, ms, strict=True)], ms

        def step(state: Any, given: Any) -> Any:
            value, slopes = jax.value_and_grad(lambda weights: loss(*weights, *given))(state[0])
            return value, rule(slopes, *state)

        step = jax.jit(step)
        begin = [np.asarray(w) for w in weights]
        zeros, given = [np.zeros_like(w) for w in begin], [np.asarray(x) for x in constants]
        rules = {"Adam": (adam, np.zeros((), begin[0].dtype), zeros, zeros), "SGD": (sgd, zeros)}
        rule, *memory = rules[optimizer]

        def run() -> Any:
            losses, state = [], (begin, *memory)
            for _ in range(steps):
                value, state = step(state, given)
                losses.append(value)
            return jax.block_until_ready((losses, *state[0]))

        return run

    def compute(self, function: Callable[..., Any], *arguments: Any) -> Run:
        function, given = self.jax.jit(function), [self.numpy.asarray(x) for x in arguments]
        wait = self.jax.block_until_ready
        return lambda: (wait(function(*given)),)

    def cross_entropy(self, logits: Any, labels: Any) -> Any:
        """The mean cross entropy of class numbers."""
        logs = self.jax.nn.log_softmax(logits)
        return -self.numpy.take_along_axis(logs, labels[:, None], axis=1).mean()

    def convolution(self, images: Any, filters: Any, padding: str) -> Any:
        """A convolution of NHWC images with HWIO filters."""
        layout = ("NHWC", "HWIO", "NHWC")
        return self.jax.lax.conv_general_dilated(images, filters, (1, 1), padding, dimension_numbers=layout)
