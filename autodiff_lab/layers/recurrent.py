"""Recurrent layers: the same cell at each step of a sequence (b, time, c)."""

from __future__ import annotations

import copy
from typing import Any, Self

from autodiff_lab.engine.devices import following
from autodiff_lab.engine.shape import as_integer
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.layers.layer import Layer, activation_of, unique_name
from autodiff_lab.ops.array.creation import ones, zeros
from autodiff_lab.ops.array.joining import split, stack, unstack
from autodiff_lab.ops.nn.spatial import dropout as dropped


class _Recurrent(Layer):
    """The common part of the recurrent layers: weights for `gates` gates, and the loop over time."""

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
                 return_sequences: bool = False, return_state: bool = False, go_backwards: bool = False,
                 name: str | None = None, **more: Any) -> None:  # fmt: skip
        super().__init__(name, **more)
        self.units, self.use_bias = as_integer(units, f"{type(self).__name__}: units", 1), use_bias
        if not (0 <= dropout < 1 and 0 <= recurrent_dropout < 1):
            raise InvalidArgumentError(f"{type(self).__name__}: dropout rates must be in [0, 1).")
        self.activation = activation_of(activation)
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        self.recurrent_initializer = recurrent_initializer
        self.dropout, self.recurrent_dropout = dropout, recurrent_dropout
        self.return_sequences, self.return_state, self.go_backwards = return_sequences, return_state, go_backwards

    def another(self) -> Self:
        """Return a layer of the same kind and settings that reads the other way, with its own weights."""
        other = copy.copy(self)
        for weight in ("kernel", "recurrent_kernel", "bias"):
            vars(other).pop(weight, None)
        other.built, other._frozen = False, ()
        other._given_name = unique_name(type(self))
        other.go_backwards = not self.go_backwards
        return other

    def build(self, input_shape: Any) -> None:
        if len(input_shape) != 3 or input_shape[1] == 0:
            raise ShapeMismatch(f"{self.name}: expected (b, time, c) with at least one step, got {input_shape}.")
        width = self.gates * self.units
        self.kernel = self.add_weight("kernel", (input_shape[-1], width), self.kernel_initializer)
        self.recurrent_kernel = self.add_weight("recurrent_kernel", (self.units, width), self.recurrent_initializer)
        if self.use_bias:
            self.bias = self.add_weight("bias", self.bias_shape(width), self.bias_initializer)

    def bias_shape(self, width: int) -> tuple[int, ...]:
        """Return the bias's shape for a kernel with this many columns."""
        return (width,)

    def biases(self) -> Any:
        """Return the parts of the bias that `step` uses; computed once for all steps."""
        return self.bias

    def step(self, x: Tensor, state: list[Tensor], bias: Any) -> list[Tensor]:
        """Compute the next state; its first part is the output."""
        raise NotImplementedError

    def call(self, inputs: Any, initial_state: Any = None, training: Any = False) -> Any:
        if inputs.ndim != 3 or not inputs.shape[1] or inputs.shape[2] != self.kernel.shape[0]:
            raise ShapeMismatch(
                f"{self.name}: expected an input (b, time, {self.kernel.shape[0]}) with at least one step, got "
                f"{tuple(inputs.shape)}."
            )
        batch = inputs.shape[0]
        with following(inputs):
            state: list[Tensor] = (
                list(initial_state) if isinstance(initial_state, (list, tuple))
                else [initial_state] if initial_state is not None
                else [zeros((batch, self.units), inputs.dtype) for _ in range(self.states)]
            )  # fmt: skip
            kept = self._kept(inputs, self.dropout, inputs.shape[2], training)
            kept_state = self._kept(inputs, self.recurrent_dropout, self.units, training)
        if len(state) != self.states:
            raise InvalidArgumentError(f"{self.name}: initial_state must have length {self.states}, got {len(state)}.")
        outputs: list[Tensor] = []
        bias, steps = self.biases(), unstack(inputs, axis=1)
        for x in reversed(steps) if self.go_backwards else steps:
            known = state if kept_state is None else [state[0] * kept_state, *state[1:]]
            state = self.step(x if kept is None else x * kept, known, bias)
            outputs.append(state[0])
        result = stack(outputs, axis=1) if self.return_sequences else outputs[-1]
        return (result, *state) if self.return_state else result

    @staticmethod
    def _kept(inputs: Any, rate: float, width: int, training: Any) -> Tensor | None:
        """Return the dropout mask of inputs or states at each step; None if all of them are kept."""
        return dropped(ones((inputs.shape[0], width), inputs.dtype), rate) if training and rate else None


def _plus(total: Tensor, bias: Any) -> Tensor:
    return total if bias is None else total + bias


class SimpleRNN(_Recurrent):
    """``h' = tanh(x W + h U + b)``: (b, time, c) -> (b, units).

    Parameters
    ----------
    units : int
        Length of the state.
    activation : str or callable, optional
        Applied to the candidate for the next state.
    use_bias : bool
        Whether there is a bias.
    kernel_initializer, recurrent_initializer, bias_initializer : str or Initializer
        How the weights are initialized.
    dropout, recurrent_dropout : float
        Fraction of the inputs, and of the state, that is dropped in training; the same elements at each step.
    return_sequences : bool
        Whether to return the states of all steps, (b, time, units), instead of the last one.
    return_state : bool
        Whether to return the last state as well.
    go_backwards : bool
        Whether to read the sequence from its end; returned sequences are then in that order.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.SimpleRNN(4)(lab.zeros((2, 5, 3))).shape
    TensorShape([2, 4])
    """

    def step(self, x: Tensor, state: list[Tensor], bias: Any) -> list[Tensor]:
        return [self.activation(_plus(x @ self.kernel + state[0] @ self.recurrent_kernel, bias))]


class _Gated(_Recurrent):
    """The common part of the gated layers."""

    def __init__(self, units: int, activation: Any = "tanh", recurrent_activation: Any = "sigmoid",
                 use_bias: bool = True, **more: Any) -> None:  # fmt: skip
        super().__init__(units, activation, use_bias, **more)
        self.recurrent_activation = activation_of(recurrent_activation)


class LSTM(_Gated):
    """Long short-term memory: Hochreiter & Schmidhuber 1997.  (b, time, c) -> (b, units).

    Gates are in the order input, forget, candidate, output.

    Parameters
    ----------
    units, activation, use_bias, ...
        Those of `SimpleRNN`.
    recurrent_activation : str or callable
        Applied to the gates.
    unit_forget_bias : bool
        Whether the forget gate's bias starts at 1.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.LSTM(4, return_sequences=True)(lab.zeros((2, 5, 3))).shape
    TensorShape([2, 5, 4])
    """

    gates = 4
    states = 2

    def __init__(self, units: int, activation: Any = "tanh", recurrent_activation: Any = "sigmoid",
                 use_bias: bool = True, *, unit_forget_bias: bool = True, **more: Any) -> None:  # fmt: skip
        super().__init__(units, activation, recurrent_activation, use_bias, **more)
        self.unit_forget_bias = unit_forget_bias

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        if self.bias is not None and self.unit_forget_bias:
            self.bias.assign_slice(slice(self.units, 2 * self.units), [1.0] * self.units)

    def step(self, x: Tensor, state: list[Tensor], bias: Any) -> list[Tensor]:
        h, c = state
        i, f, g, o = split(_plus(x @ self.kernel + h @ self.recurrent_kernel, bias), 4, axis=-1)
        gate = self.recurrent_activation
        c = gate(f) * c + gate(i) * self.activation(g)
        return [gate(o) * self.activation(c), c]


class GRU(_Gated):
    """Gated recurrent unit: Cho et al. 2014.  (b, time, c) -> (b, units).

    Gates are in the order update, reset, candidate.

    Parameters
    ----------
    units, activation, use_bias, ...
        Those of `SimpleRNN`.
    recurrent_activation : str or callable
        Applied to the gates.
    reset_after : bool
        Whether the reset gate is applied after the recurrent product, which then has its own bias: the bias is (2, 3
        units). If False it is applied before the product, as in the paper: the bias is (3 units).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.GRU(4)(lab.zeros((2, 5, 3))).shape
    TensorShape([2, 4])
    """

    gates = 3

    def __init__(self, units: int, activation: Any = "tanh", recurrent_activation: Any = "sigmoid",
                 use_bias: bool = True, *, reset_after: bool = True, **more: Any) -> None:  # fmt: skip
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
