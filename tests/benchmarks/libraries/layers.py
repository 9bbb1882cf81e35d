"""Layers and optimizers in TensorFlow's way, which is this project's as well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Run


class LayersAndTapes:
    """What `Lab` and `TensorFlow` share: weights in variables, a tape around the loss, an optimizer."""

    tf: Any

    def _made(self, function: Callable[..., Any]) -> Callable[..., Any]:
        raise NotImplementedError

    def layered(self, text: Any, weights: list[Any], *constants: Any) -> Run:
        """A call that returns the loss and its gradient with respect to each weight."""
        layers, loss = text
        tf, given = self.tf, [self.tf.constant(x) for x in constants]
        variables = self._built(layers, loss, given)
        _load(variables, weights)

        def step(*given: Any) -> Any:
            with tf.GradientTape() as tape:
                value = loss(*given)
            return (value, *tape.gradient(value, variables))

        step = self._made(step)
        return lambda: step(*given)

    def trained(self, text: Any, weights: list[Any], *constants: Any, steps: int, optimizer: str, rate: float,
                momentum: float) -> Run:  # fmt: skip
        """A call that goes on training and returns the losses and all weights."""
        layers, loss = text
        tf, given = self.tf, [self.tf.constant(x) for x in constants]
        variables = self._built(layers, loss, given)
        _load(variables, weights)
        more = {"epsilon": 1e-8} if optimizer == "Adam" else {"momentum": momentum}
        rule = getattr(tf.keras.optimizers, optimizer)(rate, **more)
        rule.build(variables)

        def step(*given: Any) -> Any:
            with tf.GradientTape() as tape:
                value = loss(*given)
            rule.apply_gradients(zip(tape.gradient(value, variables), variables, strict=True))
            return value

        step = self._made(step)

        def run() -> Any:
            return ([step(*given) for _ in range(steps)], *variables)

        def reset() -> None:
            _load(variables, weights)
            _load(state, zeros)

        state = [v for v in rule.variables if "learning_rate" not in v.name]
        zeros = [np.zeros_like(v.numpy()) for v in state]
        run.reset = reset  # type: ignore[attr-defined]
        return run

    @staticmethod
    def _built(layers: list[Any], loss: Callable[..., Any], given: list[Any]) -> list[Any]:
        loss(*given)  # which makes the variables
        return [variable for layer in layers for variable in layer.trainable_variables]


def _load(variables: list[Any], weights: list[Any]) -> None:
    for variable, weight in zip(variables, weights, strict=True):
        variable.assign(weight)
