"""Recurrent layers: a cell at each step of a sequence (b, time, c).

With their usual activations the steps of a sequence are one op, which is one entry on a tape and one node in a
recording; with other activations, and with dropout of the state, each step runs op by op.  So does a cell of a
program's own in an `RNN`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, SupportsIndex, Unpack

from autodiff_lab.engine import nest
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.devices import following
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.layers import cells
from autodiff_lab.layers.calling import argument, fitted
from autodiff_lab.layers.layer import Layer
from autodiff_lab.layers.options import LayerOptions, RecurrenceOptions, WithDropout
from autodiff_lab.layers.recurrences import GRURecurrence, LSTMRecurrence, Recurrence, SimpleRecurrence, kept
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.creation import zeros_like
from autodiff_lab.ops.array.gathering import where
from autodiff_lab.ops.array.indexing import getitem
from autodiff_lab.ops.array.joining import stack, take, unstack
from autodiff_lab.ops.array.shaping import expand_dims, reshape
from autodiff_lab.ops.math.cumulative import cumsum

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import InputShape, NameOrCallable

BACKWARDS = (slice(None), slice(None, None, -1))


class _OverTime(Layer):
    """The common part of the recurrent layers: the loop over time of one cell, or of several one above the other."""

    several = False
    return_sequences: bool
    return_state: bool
    go_backwards: bool
    zero_output_for_mask = False

    def _returning(self, return_sequences: bool, return_state: bool, go_backwards: bool) -> None:
        self.return_sequences, self.return_state, self.go_backwards = return_sequences, return_state, go_backwards

    def another(self) -> Self:
        """Return a layer of the same kind and settings that reads the other way, with its own weights."""
        other: Self = super().another()  # pyright: ignore[reportAttributeAccessIssue]
        other.go_backwards = not self.go_backwards
        return other

    def build(self, input_shape: Any) -> None:
        if len(input_shape) != 3 or input_shape[1] == 0:
            raise ShapeMismatch(f"{self.name}: expected (b, time, c) with at least one step, got {input_shape}.")
        super().build(input_shape)

    def _parts(self, state: Any) -> list[tuple[Any, Any]]:
        """Return the cells that read the sequence one after the other, with their initial states."""
        return [(self, state)]

    def call(self, inputs: Any, initial_state: Any = None, mask: Any = None, training: Any = False) -> Any:
        if inputs.ndim < 3 or not inputs.shape[1]:
            raise ShapeMismatch(
                f"{self.name}: expected an input (b, time, c) with at least one step, got {tuple(inputs.shape)}."
            )
        state = initial_state
        if state is None:
            with following(inputs):
                state = self.get_initial_state(inputs.shape[0])
        masks = () if mask is None else (self._mask(mask, inputs),)
        if self.go_backwards:
            inputs = getitem(inputs, BACKWARDS)
            masks = tuple([getitem(each, BACKWARDS) for each in masks])
        result, states, parts = inputs, [], self._parts(state)
        alone = parts[0][1] is state  # not in a list of cells, which has a list of states for each
        for n, (cell, given) in enumerate(parts, start=1):
            read = self._read_by_formula if cell is self or _is_a_formula(cell) else self._read_by_calls
            in_list = isinstance(given, (list, tuple))
            result, new = read(cell, result, list(given) if in_list else [given], masks, training, n < len(parts))
            states.append(new if in_list or alone else new[0])
        if masks and (initial_state is not None or self.zero_output_for_mask):
            # The output starts at the first step that the mask leaves in.
            seen = masks[0] if self.zero_output_for_mask else cumsum(cast(masks[0], "int32"), axis=1) > 0
            seen = seen if self.return_sequences else take(seen, axis=-1, index=seen.shape[1] - 1)
            result = where(_broad(seen, result), result, 0.0)
        return (result, *(states[0] if alone else states)) if self.return_state else result

    def get_initial_state(self, batch_size: SupportsIndex | None = None) -> list[Any]:
        """Return zeros for each part of the state: what a call without `initial_state` starts from."""
        return super().get_initial_state(batch_size)  # pyright: ignore[reportAttributeAccessIssue]

    def _mask(self, mask: Any, inputs: Any) -> Tensor:
        """Return the mask as bools (b, time)."""
        mask = convert(mask)
        if tuple(mask.shape) != tuple(inputs.shape[:2]):
            raise ShapeMismatch(
                f"{self.name}: expected a mask (b, time) = {tuple(inputs.shape[:2])}, got {tuple(mask.shape)}."
            )
        return cast(mask, "bool")

    def _read_by_formula(self, cell: Recurrence, inputs: Any, state: list[Any], masks: tuple[Tensor, ...],
                         training: Any, below: bool) -> tuple[Tensor, list[Any]]:  # fmt: skip
        """Run one of our cells over a sequence, as one op if it can; all outputs are needed `below` another cell."""
        if cell is not self:
            inputs = fitted(inputs, cell._dtype.dtype, whole=True)
            state = argument(state, cell._dtype.dtype, floats=True)
        if inputs.ndim != 3 or inputs.shape[2] != cell.kernel.shape[0]:
            raise ShapeMismatch(
                f"{self.name}: expected an input (b, time, {cell.kernel.shape[0]}) with at least one step, got "
                f"{tuple(inputs.shape)}."
            )
        if len(state) != cell.states:
            raise InvalidArgumentError(f"{self.name}: initial_state must have length {cell.states}, got {len(state)}.")
        if training and cell.dropout:
            inputs = inputs * expand_dims(kept(inputs, cell.dropout, inputs.shape[2]), 1)
        still = kept(inputs, cell.recurrent_dropout, cell.units) if training and cell.recurrent_dropout else None
        if still is None and cell.fits(inputs, state):
            return self._at_once(cell.at_once(inputs, state, masks), state, below)
        bias = cell.biases()

        def advance(x: Tensor, state: list[Any]) -> tuple[Any, list[Any]]:
            new = cell.step(x, state if still is None else [state[0] * still, *state[1:]], bias)
            return new[0], new

        return self._step_by_step(advance, inputs, state, masks, below)

    def _read_by_calls(self, cell: Any, inputs: Any, state: list[Any], masks: tuple[Tensor, ...],
                       training: Any, below: bool) -> tuple[Tensor, list[Any]]:  # fmt: skip
        """Run a cell of any class over a sequence, which calls it at every step."""
        leaves, rebuild = nest.flatten(state)

        def advance(x: Tensor, leaves: list[Any]) -> tuple[Any, list[Any]]:
            output, new = cells.one_step(cell, x, rebuild(leaves))
            return output, nest.flatten(new)[0]

        cells.forget_dropout(cell)
        result, leaves = self._step_by_step(advance, inputs, leaves, masks, below)
        cells.forget_dropout(cell)
        return result, rebuild(leaves)

    def _at_once(self, sequences: tuple[Tensor, ...], state: list[Any], below: bool) -> tuple[Tensor, list[Any]]:
        every = below or self.return_sequences
        if every and not self.return_state:
            return sequences[0], state
        last = sequences[0]._held.shape[1] - 1
        state = [take(each, axis=-2, index=last) for each in sequences[: None if self.return_state else 1]]
        return sequences[0] if every else state[0], state

    def _step_by_step(self, advance: Callable[..., tuple[Any, list[Any]]], inputs: Any, state: list[Any],
                      masks: tuple[Tensor, ...], below: bool) -> tuple[Tensor, list[Any]]:  # fmt: skip
        outputs: list[Tensor] = []
        on = [m for mask in masks for m in unstack(mask, axis=1)]
        for s, x in enumerate(unstack(inputs, axis=1)):
            output, new = advance(x, state)
            if on:
                state = [where(_broad(on[s], a), a, b) for a, b in zip(new, state, strict=True)]
                if output is new[0]:
                    output = state[0]
                else:
                    output = where(_broad(on[s], output), output, outputs[-1] if outputs else zeros_like(output))
            else:
                state = new
            outputs.append(output)
        return stack(outputs, axis=1) if below or self.return_sequences else outputs[-1], state


def _broad(mask: Tensor, like: Any) -> Tensor:
    """Return a mask with an axis of length 1 for each further one of a tensor."""
    return reshape(mask, (*mask.shape, *[1] * (convert(like).ndim - mask.ndim)))


def _is_a_formula(cell: Any) -> bool:
    """Return whether a cell is one of ours whose formula says all that its call does."""
    return isinstance(cell, cells.Cell) and type(cell).call is cells.Cell.call


class RNN(_OverTime):
    """A cell at each step of a sequence: (b, time, c) -> (b, units).

    A cell is any object with a `state_size` and a ``call(inputs, states)`` that returns the output of one step and the
    list of new states. With the package's cells it computes what `SimpleRNN`, `LSTM` and `GRU` do, in one op.

    Parameters
    ----------
    cell : cell or list of cells
        A list is stacked, as by `StackedRNNCells`; the states are then a list for each cell.
    return_sequences : bool
        Whether to return the outputs of all steps, (b, time, units), instead of the last one.
    return_state : bool
        Whether to return the states after the last step as well.
    go_backwards : bool
        Whether to read the sequence from its end; returned sequences are then in that order.
    zero_output_for_mask : bool
        Whether the output of a masked step is zero instead of the output before it.

    Called with ``initial_state``, a list as the cell returns it, it starts from there instead of zeros; with a ``mask``
    (b, time) of bools it repeats the state wherever that is False.

    Raises
    ------
    InvalidArgumentError
        If `cell` is not a cell, or `initial_state` has the wrong length.
    ShapeMismatch
        If the input does not have a time axis with at least one step, or the mask is not (b, time).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> layer = lab.layers.RNN([lab.layers.LSTMCell(4), lab.layers.GRUCell(3)], return_sequences=True)
    >>> layer(lab.zeros((2, 5, 6))).shape
    TensorShape([2, 5, 3])
    >>> class Sum(lab.layers.Layer):
    ...     state_size = 6
    ...     def call(self, inputs, states):
    ...         total = states[0] + inputs
    ...         return total, [total]
    >>> print(lab.layers.RNN(Sum())(lab.ones((1, 5, 6))))
    Tensor([[5. 5. 5. 5. 5. 5.]], shape=(1, 6), dtype=float32)
    """

    def __init__(self, cell: object, return_sequences: bool = False, return_state: bool = False,
                 go_backwards: bool = False, *, zero_output_for_mask: bool = False, name: str | None = None,
                 **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(name, **more)
        in_list = isinstance(cell, (list, tuple))
        self.cell: Any = cells.StackedRNNCells(cell) if in_list else cells.checked(cell, type(self).__name__)
        self.zero_output_for_mask = zero_output_for_mask
        self._returning(return_sequences, return_state, go_backwards)

    @property
    def state_size(self) -> list[object]:
        """Length of each part of the state."""
        size = self.cell.state_size
        return list(size) if isinstance(size, (list, tuple)) else [size]

    def get_initial_state(self, batch_size: SupportsIndex | None = None) -> list[object]:
        """Return zeros for each part of the state: what a call without `initial_state` starts from."""
        return cells.initial_state(self.cell, batch_size, self.dtype)

    def another(self) -> Self:
        """Return a layer of the same kind and settings that reads the other way, with its own cell."""
        settings: dict[str, Any] = {**self.get_config(), "cell": cells.twin(self.cell), "name": None}
        return type(self).from_config({**settings, "go_backwards": not self.go_backwards})

    def build(self, input_shape: InputShape) -> None:
        shape: Any = input_shape
        if len(shape) < 3 or shape[1] == 0:
            raise ShapeMismatch(f"{self.name}: expected (b, time, c) with at least one step, got {shape}.")
        cells.build(self.cell, (shape[0], *shape[2:]))

    def _parts(self, state: Any) -> list[tuple[Any, Any]]:
        cell = self.cell
        if type(cell) is not cells.StackedRNNCells:
            return [(cell, state)]
        if not isinstance(state, (list, tuple)) or len(state) != len(cell.cells):
            raise InvalidArgumentError(
                f"{self.name}: initial_state must be a list with the states of each of {len(cell.cells)} cells. Try "
                "get_initial_state(batch_size=...)."
            )
        return list(zip(cell.cells, state, strict=True))


class SimpleRNN(_OverTime, SimpleRecurrence):
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

    def __init__(self, units: int, activation: NameOrCallable = "tanh", use_bias: bool = True,
                 kernel_initializer: NameOrCallable = "glorot_uniform",
                 recurrent_initializer: NameOrCallable = "orthogonal", bias_initializer: NameOrCallable = "zeros", *,
                 return_sequences: bool = False, return_state: bool = False, go_backwards: bool = False,
                 **more: Unpack[WithDropout]) -> None:  # fmt: skip
        super().__init__(
            units, activation, use_bias, kernel_initializer, recurrent_initializer, bias_initializer, **more
        )
        self._returning(return_sequences, return_state, go_backwards)


class LSTM(_OverTime, LSTMRecurrence):
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

    def __init__(self, units: int, activation: NameOrCallable = "tanh",
                 recurrent_activation: NameOrCallable = "sigmoid", use_bias: bool = True, *,
                 unit_forget_bias: bool = True, return_sequences: bool = False, return_state: bool = False,
                 go_backwards: bool = False, **more: Unpack[RecurrenceOptions]) -> None:  # fmt: skip
        super().__init__(units, activation, recurrent_activation, use_bias, unit_forget_bias=unit_forget_bias, **more)
        self._returning(return_sequences, return_state, go_backwards)


class GRU(_OverTime, GRURecurrence):
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

    def __init__(self, units: int, activation: NameOrCallable = "tanh",
                 recurrent_activation: NameOrCallable = "sigmoid", use_bias: bool = True, *,
                 reset_after: bool = True, return_sequences: bool = False, return_state: bool = False,
                 go_backwards: bool = False, **more: Unpack[RecurrenceOptions]) -> None:  # fmt: skip
        super().__init__(units, activation, recurrent_activation, use_bias, reset_after=reset_after, **more)
        self._returning(return_sequences, return_state, go_backwards)
