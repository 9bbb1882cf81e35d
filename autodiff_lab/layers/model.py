"""Model: a layer made of layers, under the name from which Keras code derives."""

from __future__ import annotations

from typing import Any

from autodiff_lab.layers.calling import shapes
from autodiff_lab.layers.layer import Layer
from autodiff_lab.ops.array.creation import zeros


class Model(Layer):
    """Base of models: make layers in ``__init__``, use them in ``call``.

    Training is an explicit loop with a tape and an optimizer; there is no `compile` and no `fit`. Inner layers
    take `training` from the model's call.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> class Small(lab.keras.Model):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.hidden = lab.layers.Dense(4, activation="relu")
    ...         self.last = lab.layers.Dense(1)
    ...     def call(self, x):
    ...         return self.last(self.hidden(x))
    >>> model = Small()
    >>> model(lab.ones((3, 2))).shape, model.count_params()
    (TensorShape([3, 1]), 17)
    """

    several = True

    def build(self, input_shape: Any) -> None:
        """Make all weights now, for inputs of this shape; an unknown length, such as the batch, is None."""
        self(zeros([1 if n is None else n for n in input_shape], self.dtype))

    def ensure_built(self, *inputs: Any) -> None:
        """Call a custom `build` once with the shape of the input; its layers are built as they are reached."""
        if not self.built and inputs and type(self).build is not Model.build:
            self.build(shapes(inputs[0]))
        self.built = True

    @property
    def layers(self) -> list[Layer]:
        """The layers that are attributes of the model, or in lists and dicts of it, in order."""
        inner = {id(part) for child in self.submodules for part in child.submodules}
        return [m for m in self.submodules if isinstance(m, Layer) and id(m) not in inner]

    def count_params(self) -> int:
        """Return how many numbers the variables hold."""
        return sum(int(v._held.size) for v in self.variables)

    def summary(self, print_fn: Any = print) -> None:
        """Print each layer with the number of its parameters.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> model = lab.keras.Model(name="empty")
        >>> model.summary()
        Model: empty
        Total parameters: 0
        """
        print_fn(f"Model: {self.name}")
        for layer in self.layers:
            count = sum(int(v._held.size) for v in layer.variables) if hasattr(layer, "variables") else 0
            print_fn(f"  {getattr(layer, 'name', 'function')} ({type(layer).__name__}): {count} parameters")
        print_fn(f"Total parameters: {self.count_params()}")
