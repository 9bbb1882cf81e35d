"""Layer: a module that makes its weights at its first call, from the shape of its input."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from autodiff_lab.engine.attributes import Elsewhere
from autodiff_lab.engine.devices import beside, device
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.shape import TensorShape
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.events.listener import name_scope, trace_now
from autodiff_lab.layers import initializer_names, penalties, summaries
from autodiff_lab.layers.calling import TRAINING, argument, entered, fitted, settle_training, shapes, wanted
from autodiff_lab.layers.configured import Remembering
from autodiff_lab.layers.graphs import called, is_symbolic, shapes_of
from autodiff_lab.layers.module import Module, arrived

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from autodiff_lab.engine.annotations import (
        DTypeLike,
        InputShape,
        MaybeResult,
        NameOrCallable,
        ShapeLike,
        TensorLike,
    )
    from autodiff_lab.layers.core import ActivationDiscarding
    from autodiff_lab.layers.options import OfWeights

_used: Counter[str] = Counter()


def unique_name(cls: type) -> str:
    """Return ``dense``, ``dense_1``, ...: the class in snake case, numbered within the process."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", cls.__name__).lower()
    count = _used[name]
    _used[name] += 1
    return f"{name}_{count}" if count else name


def reset_names() -> None:
    """Begin the numbering again."""
    _used.clear()


def _noting_that_it_is_built(build: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a class's `build` so that it sets `built`, and a program may call it before the first input."""

    @functools.wraps(build)
    def noting(self: Layer, input_shape: Any) -> None:
        if isinstance(input_shape, int):
            raise InvalidArgumentError(
                f"{self.name}.build: expected the shape of the input, got {input_shape}. Try (None, {input_shape})."
            )
        build(self, input_shape)
        self.built = True
        if type(self).build is noting:  # the outermost, where a class calls that of its base
            arrived(self)

    return noting


_BASE_FIRST = "super().__init__() at the beginning of its __init__"


class Layer(Remembering, Module):
    """Base of layers; override ``build(input_shape)`` to make weights and ``call(x)`` to compute.

    Parameters
    ----------
    name : str, optional
        Prefix of the weights' names and the scope of the layer's ops in recordings.
    trainable : bool
        Whether weights are trained; it can be set at any time.
    dtype : DType
        Of the weights, float32 by default; floating inputs are cast to it.
    input_shape, input_dim : tuple of int, int, optional
        Shape of one example, for the first layer of a `Sequential`, so that weights exist from the start.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> class Scale(lab.layers.Layer):
    ...     def build(self, input_shape):
    ...         self.factor = self.add_weight("factor", (input_shape[-1],), "ones")
    ...     def call(self, x):
    ...         return x * self.factor
    >>> print(Scale()([1.0, 2.0]))
    Tensor([1. 2.], shape=(2,), dtype=float32)
    """

    several: bool | None = None
    """Whether `call` takes a list of inputs (True), one tensor (False), or any structure of tensors (None).

    A list of arrays is a list of inputs if True, and one input if False; if None, it is one input if
    the arrays have the same shape."""
    floating = False
    """Whether integers and bools are cast to the layer's dtype too, because `call` computes with floats."""

    _dtype: Any = Elsewhere("_dtype", _BASE_FIRST)
    _of_weights: Any = Elsewhere("_of_weights", _BASE_FIRST)
    _added: tuple[int, list[Any]] | None = None
    """Number of the last call that added losses, and those losses."""
    _penalties: tuple[tuple[Variable, Callable[[Any], Any]], ...] = ()
    """Weights with regularizers."""
    _built_for: Any = None
    """The shape of the first input, if there was one."""
    result_shape: str | None = None
    """The shape of the result of the first call, as a summary shows it."""
    symbols: tuple[Any, Any] | None = None
    """The input and the output of the first call on symbolic tensors."""
    _hidden = frozenset({"ensure_built", "example_shape", "floating", "several", "symbols"})

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in self._hidden]

    def __init__(self, name: str | None = None, trainable: bool = True, dtype: DTypeLike | None = None, *,
                 input_shape: ShapeLike | None = None, input_dim: int | None = None,
                 activity_regularizer: NameOrCallable = None, **of_weights: Unpack[OfWeights]) -> None:  # fmt: skip
        super().__init__(name or unique_name(type(self)))
        self._of_weights = penalties.checked(type(self), dict(of_weights))
        self.activity_regularizer = penalties.regularizer(activity_regularizer)
        self.built = False
        self._trainable = bool(trainable)
        self._dtype, self._casts = as_dtype(dtype or "float32"), dtype is not None
        self.example_shape = (input_dim,) if input_shape is None and input_dim is not None else input_shape

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "build" in vars(cls):
            cls.build = _noting_that_it_is_built(cls.build)

    @property
    def dtype(self) -> str:
        """Name of the dtype of the weights, in which the layer computes."""
        return self._dtype.name

    compute_dtype = variable_dtype = dtype

    def build(self, input_shape: InputShape) -> None:
        """Make the weights; called once, before the first `call`."""

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the layer's value."""
        raise NotImplementedError(f"{type(self).__name__} does not define call(self, inputs)")

    def add_weight(self, name: str | None = None, shape: ShapeLike = (), initializer: NameOrCallable = "glorot_uniform",
                   trainable: bool = True, dtype: DTypeLike | None = None, regularizer: NameOrCallable = None,
                   constraint: NameOrCallable | None = None) -> Variable:  # fmt: skip
        """Create a variable named after the layer, with values from an initializer.

        A `regularizer` adds its penalty to `losses`; a `constraint` is applied by optimizers after each step. Layers
        take both by the name of the weight, as in ``kernel_regularizer="l2"``.
        """
        penalty, allowed = penalties.of(self._of_weights, name, regularizer, constraint)
        lengths = TensorShape(shape)
        if not lengths.is_fully_defined():
            raise ShapeMismatch(
                f"{self.name}: the weight {name or 'weight'!r} needs a length for every axis, got {lengths}. Try "
                "x.to_tensor() if the input is ragged."
            )
        value = initializer_names.get(initializer)(tuple(lengths), dtype or self.dtype)
        with name_scope(""):  # named after the layer alone, wherever it is built
            made = Variable(value, trainable=trainable, name=f"{self.name}/{name or 'weight'}", constraint=allowed)
        if penalty is not None:
            self._penalties = (*self._penalties, (made, penalty))
        self._casts = True
        if trainable and not self.trainable:
            self._freeze((made,))
        return made

    def add_loss(self, loss: TensorLike | Callable[[], TensorLike]) -> None:
        """Add a scalar to the `losses` of this call, from inside `call`.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> class Sparse(lab.layers.Layer):
        ...     def call(self, x):
        ...         self.add_loss(lab.reduce_sum(abs(x)))
        ...         return x
        >>> layer = Sparse()
        >>> _ = layer([1.0, -2.0])
        >>> [float(loss) for loss in layer.losses]
        [3.0]
        """
        number = penalties.CALL.get()
        kept = self._added
        if kept is None or number is None or kept[0] != number:
            kept = self._added = (next(penalties.NUMBERS) if number is None else number, [])
        kept[1].append(loss)

    @property
    def losses(self) -> list[Tensor]:
        """Penalties of the weights, and the losses added in the last call, of this layer and those inside."""
        return penalties.losses_of((self, *self.submodules))

    @property
    def input(self) -> Any:
        """The symbolic input of the first call on a symbolic tensor."""
        return self._symbol(0)

    @property
    def output(self) -> Any:
        """The symbolic output of the first call on a symbolic tensor."""
        return self._symbol(1)

    def _symbol(self, place: int) -> Any:
        if self.symbols is None:
            raise AttributeError(
                f"{self.name} has not been called on a symbolic tensor. Try lab.keras.Input(shape=...) first."
            )
        return self.symbols[place]

    def ensure_built(self, *inputs: object) -> None:
        """Make the weights if they do not exist yet."""
        if not self.built:
            shape = shapes(inputs[0]) if inputs else ()
            with beside(*inputs) if self.moved_to is None else device(self.moved_to):
                self.build(shape)
            self.built, self._built_for = True, shape
            if (trace := trace_now()) is not None:
                trace.before.keep(self.variables)
                trace.before.keep_draws()

    def __call__(
        self, inputs: TensorLike | Mapping[str, TensorLike], *args: object, **kwargs: object
    ) -> Tensor | MaybeResult:
        """Build if necessary, then run `call`, in a scope of the layer's name.

        NumPy arrays, lists and pandas tables become tensors of the layer's dtype if they are floating. Tensors are cast
        too if the layer has weights or was made with a dtype; integers where they meet floats. `training`
        is passed to `call` if it has a parameter of that name; a layer called inside another one's
        `call` inherits it.
        """
        dtype, casts = self._dtype.dtype, self._casts
        if inputs.__class__ is not Tensor:
            if is_symbolic(inputs):
                return self._called_symbolically(inputs, args, kwargs)
            inputs = entered(inputs, dtype, self.several)
        if not self.built:
            return self._called_first(inputs, args, kwargs)
        if (casts or self.floating) and (inputs.__class__ is not Tensor or inputs._held.dtype is not dtype):  # pyright: ignore[reportAttributeAccessIssue]
            inputs = fitted(inputs, dtype, casts, self.floating)
        if args:
            args = tuple([argument(value, dtype, casts) for value in args])
        if kwargs:
            kwargs = {name: argument(value, dtype, casts) for name, value in kwargs.items()}
        wants = wanted(type(self).call)
        if not wants.training and "training" not in kwargs:
            with name_scope(self.name):
                result = self.call(inputs, *args, **kwargs)
                return result if self.activity_regularizer is None else self._penalized(result)
        token = TRAINING.set(settle_training(wants, args, kwargs))
        try:
            with name_scope(self.name):
                result = self.call(inputs, *args, **kwargs)
                return result if self.activity_regularizer is None else self._penalized(result)
        finally:
            TRAINING.reset(token)

    def _called_first(self, inputs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Build, call, and keep the shape of the result for the summary of the model around."""
        self.ensure_built(inputs)
        result = self(inputs, *args, **kwargs)
        self.result_shape = summaries.shape_of(result, inputs)
        return result

    def _penalized(self, result: Any) -> Any:
        """Add the penalty of the layer's outputs, per example, to its losses."""
        penalty: Any = self.activity_regularizer
        for output in result if isinstance(result, (list, tuple)) else [result]:
            self.add_loss(penalty(output) / (output.shape[0] if output.ndim else 1))
        return result

    def _called_symbolically(self, inputs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Keep the call for a functional model, and return its symbolic results."""
        if not self.built:
            with nullcontext() if self.moved_to is None else device(self.moved_to):
                self.build(shapes_of(inputs))
        outputs = called(self, (inputs, *args), kwargs)
        self.symbols = self.symbols or (inputs, outputs)
        return outputs

    def get_config(self) -> dict[str, object]:
        """Return the arguments from which an equal layer, with weights of its own, can be made.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.layers.Dense(4, activation="relu", name="hidden").get_config()
        {'units': 4, 'activation': 'relu', 'name': 'hidden'}
        """
        return {**super().get_config(), "name": self.name}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"

    @property
    def trainable_variables(self) -> list[Variable]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Every trainable variable, each once: a list, as in Keras, while that of a `Module` is a tuple."""
        return list(super().trainable_variables)

    @property
    def non_trainable_variables(self) -> list[Variable]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Every variable that is not trained, such as a moving mean, each once."""
        return list(super().non_trainable_variables)

    @property
    def variables(self) -> list[Variable]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Every variable, each once."""
        return list(super().variables)

    trainable_weights, non_trainable_weights, weights = trainable_variables, non_trainable_variables, variables

    def count_params(self) -> int:
        """Return how many numbers the variables hold."""
        return sum(int(v._held.size) for v in self.variables)

    def get_weights(self) -> list[NDArray[Any]]:
        """Return the weights as NumPy arrays."""
        return [v.numpy() for v in self.variables]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Assign the weights, in the order of `get_weights`; all of them or, if one does not fit, none.

        Raises
        ------
        ShapeMismatch
            If the number of arrays differs from that of the variables, or a shape does not match.
        """
        variables, values = self.variables, list(weights)
        if len(values) != len(variables):
            raise ShapeMismatch(
                f"{self.name}: set_weights got {len(values)} arrays for {len(variables)} variables. Has the layer been "
                "built? Try layer.build(input_shape) first."
            )
        for variable, value in zip(variables, values, strict=True):
            if np.shape(value) != variable._held.shape:
                raise ShapeMismatch(
                    f"{self.name}: set_weights got an array of shape {np.shape(value)} for {variable.name} of shape "
                    f"{variable._held.shape}. Nothing was changed."
                )
        for variable, value in zip(variables, values, strict=True):
            variable.assign(value)

    def discarding_activations(self) -> ActivationDiscarding:
        """Wrap the layer: its activations are recomputed in the backward pass instead of kept."""
        from autodiff_lab.layers.core import ActivationDiscarding

        return ActivationDiscarding(self)


def activation_of(name: Any) -> Callable[[Any], Any]:
    """Return the function for an activation's name; None is the identity."""
    from autodiff_lab.layers import activations

    return activations.get(name)
