"""Recurrences: the weights of LSTM, GRU and the simple recurrent cell, one step of each, and all steps as one op.

A cell of `cells` takes one step with them, a layer of `recurrent` all steps of a sequence.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Self, SupportsIndex, Unpack

from autodiff_lab.engine.devices import following
from autodiff_lab.engine.shape import as_integer
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.layers import activations
from autodiff_lab.layers.layer import Layer, activation_of, unique_name
from autodiff_lab.layers.options import LayerOptions, RecurrenceOptions
from autodiff_lab.ops.array.creation import ones, zeros
from autodiff_lab.ops.array.joining import split, unstack
from autodiff_lab.ops.nn import recurrent as sequences
from autodiff_lab.ops.nn.spatial import dropout as dropped

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import InputShape, NameOrCallable


def _is(function: Any, name: str) -> bool:
    """Return whether an activation is the one of a name, as a name, a function of Keras's, or an op."""
    return function is activations.get(name) or getattr(getattr(function, "op", None), "name", "") == name


class Recurrence(Layer):
    """The common part: weights for `gates` gates, and a state of `states` parts, of which the first is the output."""

    several = False
    floating = True
    gates = 1
    states = 1
    kernel: Variable
    recurrent_kernel: Variable
    bias: Variable | None = None

    def __init__(self, units: int, activation: Any = "tanh", use_bias: bool = True,
                 kernel_initializer: Any = "glorot_uniform", recurrent_initializer: Any = "orthogonal",
                 bias_initializer: Any = "zeros", *, dropout: float = 0.0, recurrent_dropout: float = 0.0,
                 name: str | None = None, **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(name, **more)
        self.units, self.use_bias = as_integer(units, f"{type(self).__name__}: units", 1), use_bias
        if not (0 <= dropout < 1 and 0 <= recurrent_dropout < 1):
            raise InvalidArgumentError(f"{type(self).__name__}: dropout rates must be in [0, 1).")
        self.activation = activation_of(activation)
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        self.recurrent_initializer = recurrent_initializer
        self.dropout, self.recurrent_dropout = dropout, recurrent_dropout

    def another(self) -> Self:
        """Return one of the same kind and settings, with its own weights."""
        other = copy.copy(self)
        for own in ("kernel", "recurrent_kernel", "bias", "_noise"):
            vars(other).pop(own, None)
        other.built, other._frozen = False, ()
        other._given_name = unique_name(type(self))
        return other

    def build(self, input_shape: Any) -> None:
        width = self.gates * self.units
        self.kernel = self.add_weight("kernel", (input_shape[-1], width), self.kernel_initializer)
        self.recurrent_kernel = self.add_weight("recurrent_kernel", (self.units, width), self.recurrent_initializer)
        if self.use_bias:
            self.bias = self.add_weight("bias", self.bias_shape(width), self.bias_initializer)

    @property
    def state_size(self) -> int | list[int]:
        """Length of the state; for each part if it has several."""
        return self.units if self.states == 1 else [self.units] * self.states

    @property
    def output_size(self) -> int:
        """Length of the output."""
        return self.units

    def get_initial_state(self, batch_size: SupportsIndex | None = None) -> list[Tensor]:
        """Return zeros (b, units), one for each part of the state: what a sequence starts from if nothing is given."""
        batch = as_integer(batch_size, f"{self.name}: get_initial_state: batch_size", 0)
        return [zeros((batch, self.units), self.dtype) for _ in range(self.states)]

    def bias_shape(self, width: int) -> tuple[int, ...]:
        """Return the bias's shape for a kernel with this many columns."""
        return (width,)

    def biases(self) -> Any:
        """Return the parts of the bias that `step` uses; computed once for all steps."""
        return self.bias

    def step(self, x: Tensor, state: list[Tensor], bias: Any) -> list[Tensor]:
        """Compute the next state; its first part is the output."""
        raise NotImplementedError

    def usual(self) -> bool:
        """Return whether `whole` computes what `step` does, which depends on the activations."""
        return _is(self.activation, "tanh")

    def whole(self, x: Tensor, state: list[Tensor], bias: Any, masks: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Compute all steps as one op; sequences of the parts of the state come first in what it returns."""
        raise NotImplementedError

    def fits(self, inputs: Any, state: list[Any]) -> bool:
        """Return whether one op can do all steps."""
        if not self.usual() or inputs.__class__ is not Tensor or inputs._held.dtype.kind not in "fV":
            return False
        if inputs._held.dtype != self.kernel._held.dtype:
            return False
        want, dtype = (inputs._held.shape[0], self.units), inputs._held.dtype
        return all(s.__class__ is Tensor and s._held.shape == want and s._held.dtype == dtype for s in state)

    def at_once(self, inputs: Tensor, state: list[Tensor], masks: tuple[Tensor, ...] = ()) -> tuple[Tensor, ...]:
        """Return the parts of the state after each step, (b, time, units)."""
        bias: Any = self.bias
        if bias is None:
            with following(inputs):
                bias = zeros(self.bias_shape(self.gates * self.units), inputs.dtype)
        return self.whole(inputs, state, bias, masks)[: self.states]


def kept(inputs: Any, rate: float, width: int) -> Tensor:
    """Return a dropout mask (b, width) for the inputs or the states of each step.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> kept(lab.ones((2, 3)), 0.5, 4).shape
    TensorShape([2, 4])
    """
    with following(inputs):
        return dropped(ones((inputs.shape[0], width), inputs.dtype), rate)


def _plus(total: Tensor, bias: Any) -> Tensor:
    return total if bias is None else total + bias


class SimpleRecurrence(Recurrence):
    """``h' = tanh(x W + h U + b)``: Elman 1990."""

    def step(self, x: Tensor, state: list[Tensor], bias: Any) -> list[Tensor]:
        return [self.activation(_plus(x @ self.kernel + state[0] @ self.recurrent_kernel, bias))]

    def whole(self, x: Tensor, state: list[Tensor], bias: Any, masks: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (sequences.simple_rnn(x, *state, self.kernel, self.recurrent_kernel, bias, *masks),)


class GatedRecurrence(Recurrence):
    """The common part of the gated recurrences."""

    def __init__(self, units: int, activation: Any = "tanh", recurrent_activation: Any = "sigmoid",
                 use_bias: bool = True, **more: Unpack[RecurrenceOptions]) -> None:  # fmt: skip
        super().__init__(units, activation, use_bias, **more)
        self.recurrent_activation = activation_of(recurrent_activation)

    def usual(self) -> bool:
        return super().usual() and _is(self.recurrent_activation, "sigmoid")


class LSTMRecurrence(GatedRecurrence):
    """Gates in the order input, forget, candidate, output; the state is the hidden and the cell state."""

    gates = 4
    states = 2

    def __init__(self, units: int, activation: NameOrCallable = "tanh",
                 recurrent_activation: NameOrCallable = "sigmoid",
                 use_bias: bool = True, *, unit_forget_bias: bool = True,
                 **more: Unpack[RecurrenceOptions]) -> None:  # fmt: skip
        super().__init__(units, activation, recurrent_activation, use_bias, **more)
        self.unit_forget_bias = unit_forget_bias

    def build(self, input_shape: InputShape) -> None:
        super().build(input_shape)
        if self.bias is not None and self.unit_forget_bias:
            self.bias.assign_slice(slice(self.units, 2 * self.units), [1.0] * self.units)

    def step(self, x: Tensor, state: list[Tensor], bias: Any) -> list[Tensor]:
        h, c = state
        i, f, g, o = split(_plus(x @ self.kernel + h @ self.recurrent_kernel, bias), 4, axis=-1)
        gate = self.recurrent_activation
        c = gate(f) * c + gate(i) * self.activation(g)
        return [gate(o) * self.activation(c), c]

    def whole(self, x: Tensor, state: list[Tensor], bias: Any, masks: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return sequences.lstm(x, *state, self.kernel, self.recurrent_kernel, bias, *masks)


class GRURecurrence(GatedRecurrence):
    """Gates in the order update, reset, candidate."""

    gates = 3

    def __init__(self, units: int, activation: NameOrCallable = "tanh",
                 recurrent_activation: NameOrCallable = "sigmoid",
                 use_bias: bool = True, *, reset_after: bool = True,
                 **more: Unpack[RecurrenceOptions]) -> None:  # fmt: skip
        super().__init__(units, activation, recurrent_activation, use_bias, **more)
        self.reset_after = reset_after

    def bias_shape(self, width: int) -> tuple[int, ...]:
        return (2, width) if self.reset_after else (width,)

    def biases(self) -> Any:
        """Return the bias of the input and that of the state."""
        return unstack(self.bias, axis=0) if self.reset_after and self.bias is not None else (self.bias, None)

    def step(self, x: Tensor, state: list[Tensor], bias: Any) -> list[Tensor]:
        h, n, gate = state[0], self.units, self.recurrent_activation
        xz, xr, xh = split(_plus(x @ self.kernel, bias[0]), 3, axis=-1)
        if self.reset_after:
            hz, hr, hh = split(_plus(h @ self.recurrent_kernel, bias[1]), 3, axis=-1)
            z, r = gate(xz + hz), gate(xr + hr)
            candidate = self.activation(xh + r * hh)
        else:
            recurrent = self.recurrent_kernel.read()
            z, r = gate(xz + h @ recurrent[:, :n]), gate(xr + h @ recurrent[:, n : 2 * n])
            candidate = self.activation(xh + (r * h) @ recurrent[:, 2 * n :])
        return [z * h + (1 - z) * candidate]

    def usual(self) -> bool:
        return self.reset_after and super().usual()

    def whole(self, x: Tensor, state: list[Tensor], bias: Any, masks: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return sequences.gru(x, *state, self.kernel, self.recurrent_kernel, bias, *masks)
