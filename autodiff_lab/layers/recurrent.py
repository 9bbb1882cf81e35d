"""Recurrent layers: the same cell at each step of a sequence (b, time, c)."""

from __future__ import annotations

from typing import Any

from autodiff_lab.engine.devices import following
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import ShapeMismatch
from autodiff_lab.layers.layer import Layer, activation_of
from autodiff_lab.ops.array.creation import zeros
from autodiff_lab.ops.array.joining import split, stack, unstack


class _Recurrent(Layer):
    """What the recurrent layers share: weights for `gates` gates, and the loop over time."""

    floating = True
    gates = 1
    states = 1
    kernel: Variable
    recurrent_kernel: Variable
    bias: Variable

    def __init__(self, units: int, activation: Any = "tanh", return_sequences: bool = False,
                 return_state: bool = False, name: str | None = None, **more: Any) -> None:  # fmt: skip
        super().__init__(name, **more)
        self.units, self.return_sequences, self.return_state = int(units), return_sequences, return_state
        self.activation = activation_of(activation)
        self.gate = activation_of("sigmoid")

    def another(self) -> _Recurrent:
        """A layer of the same kind and settings, with weights of its own."""
        return type(self)(self.units, self.activation, self.return_sequences, self.return_state, dtype=self.dtype)

    def build(self, input_shape: Any) -> None:
        if len(input_shape) != 3 or not input_shape[1]:
            raise ShapeMismatch(f"{self.name}: an input (b, time, c) of one step or more is needed, got {input_shape}.")
        width = self.gates * self.units
        self.kernel = self.add_weight("kernel", (input_shape[-1], width))
        self.recurrent_kernel = self.add_weight("recurrent_kernel", (self.units, width), "orthogonal")
        self.bias = self.add_weight("bias", (width,), "zeros")

    def step(self, x: Tensor, state: list[Tensor]) -> list[Tensor]:
        """The next state; its first part is the output."""
        raise NotImplementedError

    def call(self, inputs: Any, initial_state: Any = None) -> Any:
        if inputs.ndim != 3 or not inputs.shape[1] or inputs.shape[2] != self.kernel.shape[0]:
            raise ShapeMismatch(
                f"{self.name}: an input (b, time, {self.kernel.shape[0]}) of one step or more is needed, got "
                f"{tuple(inputs.shape)}."
            )
        batch = inputs.shape[0]
        with following(inputs):
            state: list[Tensor] = (
                list(initial_state) if isinstance(initial_state, (list, tuple))
                else [initial_state] if initial_state is not None
                else [zeros((batch, self.units), inputs.dtype) for _ in range(self.states)]
            )  # fmt: skip
        outputs: list[Tensor] = []
        for x in unstack(inputs, axis=1):
            state = self.step(x, state)
            outputs.append(state[0])
        result = stack(outputs, axis=1) if self.return_sequences else outputs[-1]
        return (result, *state) if self.return_state else result


class SimpleRNN(_Recurrent):
    """``h' = tanh(x W + h U + b)``: (b, time, c) -> (b, units).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.SimpleRNN(4)(lab.zeros((2, 5, 3))).shape
    TensorShape([2, 4])
    """

    def step(self, x: Tensor, state: list[Tensor]) -> list[Tensor]:
        return [self.activation(x @ self.kernel + state[0] @ self.recurrent_kernel + self.bias)]


class LSTM(_Recurrent):
    """Long short-term memory: Hochreiter & Schmidhuber 1997.  (b, time, c) -> (b, units).

    Gates are in the order input, forget, candidate, output; the forget gate's bias starts at 1.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.LSTM(4, return_sequences=True)(lab.zeros((2, 5, 3))).shape
    TensorShape([2, 5, 4])
    """

    gates = 4
    states = 2

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        self.bias.assign_slice(slice(self.units, 2 * self.units), [1.0] * self.units)

    def step(self, x: Tensor, state: list[Tensor]) -> list[Tensor]:
        h, c = state
        i, f, g, o = split(x @ self.kernel + h @ self.recurrent_kernel + self.bias, 4, axis=-1)
        c = self.gate(f) * c + self.gate(i) * self.activation(g)
        return [self.gate(o) * self.activation(c), c]


class GRU(_Recurrent):
    """Gated recurrent unit: Cho et al. 2014.  (b, time, c) -> (b, units).

    Gates are in the order update, reset, candidate; the reset gate acts before the recurrent product.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.GRU(4)(lab.zeros((2, 5, 3))).shape
    TensorShape([2, 4])
    """

    gates = 3

    def step(self, x: Tensor, state: list[Tensor]) -> list[Tensor]:
        h = state[0]
        n = self.units
        xz, xr, xh = split(x @ self.kernel + self.bias, 3, axis=-1)
        recurrent = self.recurrent_kernel.read()
        z = self.gate(xz + h @ recurrent[:, :n])
        r = self.gate(xr + h @ recurrent[:, n : 2 * n])
        candidate = self.activation(xh + (r * h) @ recurrent[:, 2 * n :])
        return [z * h + (1 - z) * candidate]
