"""Layers one after another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError, LabError
from autodiff_lab.layers import penalties
from autodiff_lab.layers.calling import wanted
from autodiff_lab.layers.graphs import KerasTensor, called, is_symbolic
from autodiff_lab.layers.inputs import InputLayer
from autodiff_lab.layers.layer import Layer
from autodiff_lab.layers.model import Model
from autodiff_lab.ops.array.creation import zeros

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import MaybeResult, TensorLike

_PROBES = ((24, 32), (224, 256))
"""Two lengths to try for an unknown one until every window fits: lengths that then differ are unknown as well."""


class Sequential(Model):
    """Layers applied one after another; `training` is passed to those that take it.

    Each layer casts to its own dtype; the model itself casts nothing.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> model = lab.Sequential([lab.layers.Dense(4, activation="relu"), lab.layers.Dense(1)])
    >>> model(lab.ones((3, 2))).shape, len(model.trainable_variables)
    (TensorShape([3, 1]), 4)
    """

    layers: Any = ()
    _entry: InputLayer | None = None

    def __init__(self, layers: Iterable[Any] | Any = (), name: str | None = None, **more: Any) -> None:
        if isinstance(name, (Layer, KerasTensor)):  # as in PyTorch
            raise InvalidArgumentError(
                f"Sequential: expected a list of layers, got another layer, {name!r}, as second argument. Try "
                "Sequential([a, b])."
            )
        super().__init__(name=name, **more)
        self.layers = []
        for layer in [layers] if isinstance(layers, (Layer, KerasTensor)) else list(layers or ()):
            self._append(layer)
        self._build_if_told()

    def add(self, layer: Any) -> None:
        """Append a layer; `lab.keras.Input` as the first one says what the input is."""
        self._append(layer)
        self._build_if_told()

    def _append(self, layer: Any) -> None:
        given = getattr(layer, "layer", None) if isinstance(layer, KerasTensor) else layer
        if isinstance(given, InputLayer):
            if self.layers:
                raise InvalidArgumentError(f"{self.name}: Input must be the first of the layers.")
            self._entry = given
        elif isinstance(layer, KerasTensor):
            raise InvalidArgumentError(f"{self.name}: expected layers, got the symbolic tensor {layer!r}.")
        else:
            self.layers.append(layer)

    def pop(self) -> object:
        """Remove the last layer.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> model = lab.Sequential([lab.layers.Dense(4), lab.layers.Dense(1)])
        >>> model.pop().units, len(model.layers)
        (1, 1)
        """
        return self.layers.pop()

    def build(self, input_shape: Sequence[int | None]) -> None:
        """Make all weights now, for inputs of this shape; an unknown length, such as the batch, is None.

        Layers after one whose weights depend on an unknown length are built at the first input.
        """
        open_axes = [axis for axis, n in enumerate(input_shape) if n is None and axis]
        if not open_axes:
            self.ensure_built(zeros([1 if n is None else n for n in input_shape], self._entry_dtype()))
            return
        for lengths in _PROBES:
            shapes = [[1, *(length if n is None else n for n in input_shape[1:])] for length in lengths]
            try:
                self._build_along(*(zeros(shape, self._entry_dtype()) for shape in shapes))
            except (LabError, TypeError):
                continue
            return

    def _entry_dtype(self) -> str:
        return getattr(self.layers[0], "dtype", self.dtype) if self.layers else self.dtype

    def _build_along(self, one: Any, other: Any) -> None:
        """Build each layer for the shape of its input, with None where two inputs have different lengths."""
        for layer in self.layers:
            if not getattr(layer, "built", True) and tuple(one.shape) != tuple(other.shape):
                layer.build(tuple(a if a == b else None for a, b in zip(one.shape, other.shape, strict=True)))
            one, other = layer(one), layer(other)

    def _build_if_told(self) -> None:
        """Make all weights now if the first layer was given the shape of an example."""
        if self._entry is not None:
            self.build(self._entry.batch_shape)
            return
        shape = getattr(self.layers[0], "example_shape", None) if self.layers else None
        if shape is not None:
            self.build((None, *shape))

    def _symbol(self, place: int) -> Any:
        """Return the symbolic input or output; they are made when first asked for, if the input's shape is known."""
        if self.symbols is None and self.layers:
            entry, first = self._entry, self.layers[0]
            known = getattr(first, "_built_for", None)
            if entry is None and getattr(first, "example_shape", None) is not None:
                entry = InputLayer(first.example_shape)
            elif entry is None and known and isinstance(known, tuple):
                entry = InputLayer(known[1:])
            if entry is not None:
                x = entry.output
                for layer in self.layers:
                    x = layer(x) if isinstance(layer, Layer) else called(layer, (x,), {})
                self.symbols = (entry.output, x)
        return super()._symbol(place)

    def ensure_built(self, *inputs: object) -> None:
        """Build by running once, if a layer is not built yet and there is an input."""
        if inputs and any(not getattr(layer, "built", True) for layer in self.layers):
            x = inputs[0]
            for layer in self.layers:
                x = layer(x)
        self.built = True

    @property
    def result_shape(self) -> str | None:  # type: ignore[override]
        """The shape of the last layer's first result, as a summary shows it."""
        layers = self.layers
        return getattr(layers[-1], "result_shape", None) if layers else None

    def __call__(  # type: ignore[override]
        self, inputs: TensorLike | Mapping[str, TensorLike], training: bool | None = None
    ) -> Tensor | MaybeResult:
        """Return the last layer's value; layers are built as they are reached."""
        if inputs.__class__ is not Tensor and is_symbolic(inputs):
            return self._called_symbolically(inputs, (), {} if training is None else {"training": training})
        if penalties.CALL.get() is not None:
            return self.call(inputs, training)
        token = penalties.CALL.set(next(penalties.NUMBERS))
        try:
            return self.call(inputs, training)
        finally:
            penalties.CALL.reset(token)

    def call(self, inputs: Any, training: Any = None) -> Any:
        x = inputs
        for layer in self.layers:
            if training is None or not _hears_of_training(layer):
                x = layer(x)
            else:
                x = layer(x, training=training)
        return x


def _hears_of_training(layer: Any) -> bool:
    """Return whether to pass `training`: to layers always, to functions if they have such a parameter."""
    return isinstance(layer, Layer) or _has_training(layer)


def _has_training(function: Any) -> bool:
    try:
        return wanted(getattr(function, "call", function)).training
    except (TypeError, ValueError):  # NumPy functions have no signature, and unhashable objects are not looked up
        return False


def sequenced(x: TensorLike, *layers: Any) -> Any:
    """Pass a value through layers one after another.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.sequenced([-1.0, 2.0], lab.nn.relu, lab.square))
    Tensor([0. 4.], shape=(2,), dtype=float32)
    """
    for layer in layers:
        x = layer(x)
    return x
