"""Layers one after another."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from autodiff_lab.layers.layer import Layer
from autodiff_lab.ops.array.creation import zeros


class Sequential(Layer):
    """Layers applied one after another; `training` goes to those that take it.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> model = lab.Sequential([lab.layers.Dense(4, activation="relu"), lab.layers.Dense(1)])
    >>> model(lab.ones((3, 2))).shape, len(model.trainable_variables)
    (TensorShape([3, 1]), 4)
    """

    def __init__(self, layers: Iterable[Any] = (), name: str | None = None, **more: Any) -> None:
        super().__init__(name, **more)
        self.layers = list(layers)
        self._build_if_told()

    def add(self, layer: Any) -> None:
        """Put a layer at the end."""
        self.layers.append(layer)
        self._build_if_told()

    def _build_if_told(self) -> None:
        """Make all weights now if the first layer was told the shape of an example."""
        shape = getattr(self.layers[0], "example_shape", None) if self.layers else None
        if shape is not None:
            self.ensure_built(zeros((1, *shape)))

    def ensure_built(self, *inputs: Any) -> None:
        """Build by running once, if a layer is not built yet and there is an input."""
        if inputs and any(not getattr(layer, "built", True) for layer in self.layers):
            x = inputs[0]
            for layer in self.layers:
                x = layer(x)
        self.built = True

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The last layer's value; layers are built as they are met."""
        return self.call(inputs, *args, **kwargs)

    def call(self, x: Any, training: bool = False) -> Any:
        for layer in self.layers:
            x = layer(x, training=training) if training and _takes_training(layer) else layer(x)
        return x


def _takes_training(layer: Any) -> bool:
    return "training" in inspect.signature(getattr(layer, "call", layer)).parameters


def sequenced(x: Any, *layers: Any) -> Any:
    """A value passed through layers one after another.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.sequenced([-1.0, 2.0], lab.nn.relu, lab.square))
    Tensor([0. 4.], shape=(2,), dtype=float32)
    """
    for layer in layers:
        x = layer(x)
    return x
