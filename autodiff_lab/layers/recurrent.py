"""Recurrent layers: the same cell at each step of a sequence (b, time, c).

With their usual activations the steps of a sequence are one op, which is one entry on a tape and one node in a
recording; with other activations, and with dropout of the state, each step runs op by op.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Self, Unpack

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.devices import following
from autodiff_lab.engine.shape import as_integer
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.layers import activations
from autodiff_lab.layers.layer import Layer, activation_of, unique_name
from autodiff_lab.layers.options import LayerOptions
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.creation import ones, zeros
from autodiff_lab.ops.array.gathering import where
from autodiff_lab.ops.array.indexing import getitem
from autodiff_lab.ops.array.joining import split, stack, take, unstack
from autodiff_lab.ops.array.shaping import expand_dims
from autodiff_lab.ops.math.cumulative import cumsum
from autodiff_lab.ops.nn import recurrent as cells
from autodiff_lab.ops.nn.spatial import dropout as dropped

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import InputShape, NameOrCallable

BACKWARDS = (slice(None), slice(None, None, -1))


def _is(function: Any, name: str) -> bool:
    """Return whether an activation is the one of a name, as a name, a function of Keras's, or an op."""
    return function is activations.get(name) or getattr(getattr(function, "op", None), "name", "") == name


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
                 name: str | None = None, **more: Unpack[LayerOptions]) -> None:  # fmt: skip
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

    def usual(self) -> bool:
        """Return whether `whole` computes what `step` does, which depends on the activations."""
        return _is(self.activation, "tanh")

    def whole(self, x: Tensor, state: list[Tensor], bias: Any, masks: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Compute all steps as one op; sequences of the parts of the state come first in what it returns."""
        raise NotImplementedError

    def call(self, inputs: Any, initial_state: Any = None, mask: Any = None, training: Any = False) -> Any:
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
        masks = () if mask is None else (self._mask(mask, inputs),)
        if self.go_backwards:
            inputs = getitem(inputs, BACKWARDS)
            masks = tuple([getitem(each, BACKWARDS) for each in masks])
        if kept is not None:
            inputs = inputs * expand_dims(kept, 1)
        if kept_state is None and self._fits(inputs, state):
            result, state = self._at_once(inputs, state, masks)
        else:
            result, state = self._step_by_step(inputs, state, kept_state, masks)
        if masks and initial_state is not None:  # before the first step that is not masked there is no output
            seen = cumsum(cast(masks[0], "int32"), axis=1) > 0
            seen = expand_dims(seen if self.return_sequences else take(seen, axis=-1, index=seen.shape[1] - 1), -1)
            result = where(seen, result, 0.0)
        return (result, *state) if self.return_state else result

    def get_initial_state(self, batch_size: Any) -> list[Tensor]:
        """Return zeros (b, units), one for each part of the state: what a call without `initial_state` starts from."""
        return [zeros((int(batch_size), self.units), self.dtype) for _ in range(self.states)]

    def _mask(self, mask: Any, inputs: Any) -> Tensor:
        """Return the mask as bools (b, time)."""
        mask = convert(mask)
        if tuple(mask.shape) != tuple(inputs.shape[:2]):
            raise ShapeMismatch(
                f"{self.name}: expected a mask (b, time) = {tuple(inputs.shape[:2])}, got {tuple(mask.shape)}."
            )
        return cast(mask, "bool")

    def _fits(self, inputs: Any, state: list[Any]) -> bool:
        """Return whether one op can do all steps."""
        if not self.usual() or inputs.__class__ is not Tensor or inputs._held.dtype.kind not in "fV":
            return False
        if inputs._held.dtype != self.kernel._held.dtype:
            return False
        want, dtype = (inputs._held.shape[0], self.units), inputs._held.dtype
        return all(s.__class__ is Tensor and s._held.shape == want and s._held.dtype == dtype for s in state)

    def _at_once(self, inputs: Tensor, state: list[Tensor], masks: tuple[Tensor, ...]) -> tuple[Tensor, list[Tensor]]:
        bias: Any = self.bias
        if bias is None:
            with following(inputs):
                bias = zeros(self.bias_shape(self.gates * self.units), inputs.dtype)
        sequences = self.whole(inputs, state, bias, masks)[: self.states]
        last = inputs._held.shape[1] - 1
        if not (self.return_state or not self.return_sequences):
            return sequences[0], state
        state = [take(each, axis=-2, index=last) for each in sequences[: self.states if self.return_state else 1]]
        return sequences[0] if self.return_sequences else state[0], state

    def _step_by_step(self, inputs: Any, state: list[Tensor], kept_state: Any,
                      masks: tuple[Tensor, ...]) -> tuple[Tensor, list[Tensor]]:  # fmt: skip
        outputs: list[Tensor] = []
        bias, on = self.biases(), [expand_dims(m, -1) for mask in masks for m in unstack(mask, axis=1)]
        for s, x in enumerate(unstack(inputs, axis=1)):
            known = state if kept_state is None else [state[0] * kept_state, *state[1:]]
            new = self.step(x, known, bias)
            state = [where(on[s], a, b) for a, b in zip(new, state, strict=True)] if on else new
            outputs.append(state[0])
        return stack(outputs, axis=1) if self.return_sequences else outputs[-1], state

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

    Called with ``initial_state`` it starts from that state instead of zeros; with a ``mask`` (b, time) of bools it
    repeats the state wherever that is False, and returns zeros before the first step that counts.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.SimpleRNN(4)(lab.zeros((2, 5, 3))).shape
    TensorShape([2, 4])
    """

    def step(self, x: Tensor, state: list[Tensor], bias: Any) -> list[Tensor]:
        return [self.activation(_plus(x @ self.kernel + state[0] @ self.recurrent_kernel, bias))]

    def whole(self, x: Tensor, state: list[Tensor], bias: Any, masks: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (cells.simple_rnn(x, *state, self.kernel, self.recurrent_kernel, bias, *masks),)


class _Gated(_Recurrent):
    """The common part of the gated layers."""

    def __init__(self, units: int, activation: Any = "tanh", recurrent_activation: Any = "sigmoid",
                 use_bias: bool = True, **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(units, activation, use_bias, **more)
        self.recurrent_activation = activation_of(recurrent_activation)

    def usual(self) -> bool:
        return super().usual() and _is(self.recurrent_activation, "sigmoid")


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

    def __init__(self, units: int, activation: NameOrCallable = "tanh",
                 recurrent_activation: NameOrCallable = "sigmoid",
                 use_bias: bool = True, *, unit_forget_bias: bool = True,
                 **more: Unpack[LayerOptions]) -> None:  # fmt: skip
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
        return cells.lstm(x, *state, self.kernel, self.recurrent_kernel, bias, *masks)


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

    def __init__(self, units: int, activation: NameOrCallable = "tanh",
                 recurrent_activation: NameOrCallable = "sigmoid",
                 use_bias: bool = True, *, reset_after: bool = True, **more: Unpack[LayerOptions]) -> None:  # fmt: skip
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
        return cells.gru(x, *state, self.kernel, self.recurrent_kernel, bias, *masks)
