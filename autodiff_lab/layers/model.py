"""Model: a layer made of layers, which can be compiled, fitted, evaluated and saved as in Keras."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from autodiff_lab.engine import nest
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.layers import penalties
from autodiff_lab.layers.calling import shapes
from autodiff_lab.layers.graphs import Graph, KerasTensor, shapes_of
from autodiff_lab.layers.layer import Layer
from autodiff_lab.layers.summaries import Summary
from autodiff_lab.layers.trainer import Trainer
from autodiff_lab.ops.array.creation import zeros

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import MaybeResult, TensorLike
    from autodiff_lab.engine.tensor import Tensor
    from autodiff_lab.layers.options import LayerOptions


class Model(Trainer):
    """A layer made of layers: of a graph between `inputs` and `outputs`, or of a subclass's ``call``.

    Parameters
    ----------
    inputs, outputs : KerasTensor or structure of them, optional
        Those of `lab.keras.Input`, and the results of layers called on them.
    name : str, optional

    Raises
    ------
    InvalidArgumentError
        If an output depends on an input that is not given.

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
    _graph: Graph | None = None

    def __init__(
        self, inputs: object = None, outputs: object = None, name: str | None = None, **more: Unpack[LayerOptions]
    ) -> None:
        inputs = None if inputs is self else inputs  # TensorFlow's guides write super().__init__(self)
        if (inputs is None) != (outputs is None):
            raise InvalidArgumentError("Model: expected inputs and outputs, or neither, in a subclass with `call`.")
        super().__init__(name, **more)
        if inputs is None:
            return
        self._graph, self.built = Graph(inputs, outputs), True
        made = [x.layer for x in self._graph.sources if x.layer is not None]
        made += [call.function for call in self._graph.calls if isinstance(call.function, Layer)]
        self._members = list(dict.fromkeys(made))
        self.symbols = (inputs, outputs)

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs of the graph; a subclass without one overrides this method."""
        if self._graph is None:
            raise NotImplementedError(f"{type(self).__name__} does not define call(self, inputs)")
        return self._graph.run(inputs)

    def __call__(
        self, inputs: TensorLike | Mapping[str, TensorLike], *args: object, **kwargs: object
    ) -> Tensor | MaybeResult:
        """Run `call` as `Layer.__call__` does; what layers add by `add_loss` counts for this call."""
        if penalties.CALL.get() is not None:
            return super().__call__(inputs, *args, **kwargs)
        token = penalties.CALL.set(next(penalties.NUMBERS))
        try:
            return super().__call__(inputs, *args, **kwargs)
        finally:
            penalties.CALL.reset(token)

    def build(self, input_shape: Sequence[int | None]) -> None:
        """Make all weights now, for inputs of this shape; an unknown length, such as the batch, is None."""
        self(zeros([1 if n is None else n for n in input_shape], self.dtype))

    def ensure_built(self, *inputs: object) -> None:
        """Call a custom `build` once with the shape of the input; its layers are built as they are reached."""
        if not self.built and inputs and type(self).build is not Model.build:
            self.build(shapes(inputs[0]))
        self.built, self._built_for = True, self._built_for or (shapes(inputs[0]) if inputs else None)

    @property
    def layers(self) -> list[Layer]:
        """The layers that are attributes of the model, or in lists and dicts of it, in order."""
        if self._graph is not None:
            return list(self._members)
        inner = {id(part) for child in self.submodules for part in child.submodules}
        return [m for m in self.submodules if isinstance(m, Layer) and id(m) not in inner]

    def get_layer(self, name: str | None = None, index: int | None = None) -> Layer:
        """Return the layer with a name, or at a position in `layers`.

        Raises
        ------
        InvalidArgumentError
            If there is none.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> model = lab.Sequential([lab.layers.Dense(4, name="hidden"), lab.layers.Dense(1)])
        >>> model.get_layer(name="hidden").units
        4
        """
        layers = self.layers
        if index is not None:
            if not -len(layers) <= index < len(layers):
                raise InvalidArgumentError(f"get_layer: there is no layer {index} of {len(layers)}.")
            return layers[index]
        for layer in layers:
            if layer.name == name:
                return layer
        known = ", ".join(layer.name for layer in layers)
        raise InvalidArgumentError(f"get_layer: there is no layer named {name!r}. Try one of: {known}.")

    @property
    def _output_names(self) -> list[str]:
        return [] if self._graph is None else [x.name for x in self._graph.results]

    @property
    def inputs(self) -> list[KerasTensor]:
        """The symbolic inputs, as a list."""
        return list(nest.flatten(self.input)[0])

    @property
    def outputs(self) -> list[KerasTensor]:
        """The symbolic outputs, as a list."""
        return list(nest.flatten(self.output)[0])

    @property
    def input_shape(self) -> tuple[int | None, ...] | list[tuple[int | None, ...]]:
        """Shape of the input, with None for lengths that may differ; a structure for several."""
        return shapes_of(self.input)

    @property
    def output_shape(self) -> tuple[int | None, ...] | list[tuple[int | None, ...]]:
        """Shape of the output, with None for lengths that may differ; a structure for several."""
        return shapes_of(self.output)

    def get_config(self) -> dict[str, object]:
        """Return the layers and the calls between them in terms of JSON; of a subclass, its arguments.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> model = lab.Sequential([lab.keras.Input(shape=(2,)), lab.layers.Dense(3)])
        >>> lab.Sequential.from_config(model.get_config()).layers[0] is model.layers[0]
        False
        """
        from autodiff_lab.training.saving import config_of

        return config_of(self) or super().get_config()

    @classmethod
    def from_config(cls, config: Mapping[str, object], custom_objects: Mapping[str, object] | None = None) -> Self:
        """Make a model with weights of its own from the configuration of another.

        Raises
        ------
        InvalidArgumentError
            If it holds a class that is not in `custom_objects`.
        """
        from autodiff_lab.training.configurations import made_from_config

        settings: dict[str, Any] = {**config}
        return made_from_config(cls, settings, custom_objects) or cls(**settings)

    def to_json(self, **options: object) -> str:
        """Return class and configuration as text, from which `lab.keras.models.model_from_json` makes a model."""
        given: Any = options
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **given)

    def save(self, filepath: str | Path, overwrite: bool = True) -> None:
        """Write the model, its weights and the state of its optimizer; `lab.keras.models.load_model` reads it.

        Raises
        ------
        ConversionError
            If something in the model cannot be written, such as a Python function.
        FileExistsError
            If the file exists and must not be replaced.
        """
        from autodiff_lab.training.saving import write_model

        write_model(self, filepath, overwrite)

    def summary(
        self,
        line_length: int | None = None,
        positions: Sequence[float] | None = None,
        print_fn: Callable[[str], object] = print,
        expand_nested: bool = False,
        show_trainable: bool = False,
        layer_range: Sequence[str] | None = None,
    ) -> None:
        """Print each layer with the shape of its output and the number of its parameters.

        Parameters
        ----------
        line_length, positions
            Accepted from programs written for Keras; columns are always as wide as what stands in them.
        print_fn : callable
            Takes the whole text, instead of `print`.
        expand_nested : bool
            Whether the layers of inner models have rows of their own.
        show_trainable : bool
            Whether a column says which layers are trained.
        layer_range : pair of str, optional
            Names of the first and the last layer to print.

        Raises
        ------
        InvalidArgumentError
            If a name of `layer_range` is not that of a layer.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.Sequential([lab.keras.Input(shape=(2,)), lab.layers.Dense(3, name="d")], name="small").summary()
        Model: small
        Layer      Output shape  Parameters
        ---------  ------------  ----------
        d (Dense)  (None, 3)              9
        Parameters: 9 (36 B); trainable: 9; not trainable: 0
        """
        print_fn(Summary(self, show_trainable, expand_nested, layer_range).to_text())
