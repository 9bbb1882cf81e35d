"""Recurrent cells: one step of LSTM, GRU or the simple recurrent cell, for loops of a program's own and for `RNN`.

Outside of traces a step with the usual activations is the op that computes all steps of a sequence, on a sequence of
one step: a single large entry on a tape.  A trace gets the step in plain ops, as the compiler then finds the loop
around it and makes one loop of all steps; it would call the op once a step.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, SupportsIndex, Unpack

from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.events.listener import trace_now
from autodiff_lab.layers.layer import Layer
from autodiff_lab.layers.options import LayerOptions
from autodiff_lab.layers.recurrences import GRURecurrence, LSTMRecurrence, Recurrence, SimpleRecurrence, kept
from autodiff_lab.ops.array.creation import zeros
from autodiff_lab.ops.array.shaping import reshape

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import InputShape


class _Noise:
    """The dropout masks that a cell uses at every step until it is told to forget them; copies have none."""

    def __init__(self) -> None:
        self.masks: dict[str, tuple[Any, Tensor]] = {}

    def __reduce__(self) -> tuple[type[_Noise], tuple[()]]:
        return _Noise, ()

    def mask(self, which: str, like: Any, rate: float) -> Tensor:
        """Return the mask of the inputs or the state; a trace has its own, which says nothing outside of it."""
        trace, (held, mask) = trace_now(), self.masks.get(which, (None, None))
        known = trace is None if held is None else trace is not None and held() is trace
        if mask is None or not known or mask.shape != like.shape or mask.dtype != like.dtype:
            mask = kept(like, rate, like.shape[-1])
            self.masks[which] = (None if trace is None else weakref.ref(trace), mask)
        return mask


class Cell(Recurrence):
    """The common part of the cells: a call computes one step."""

    _noise: _Noise | None = None

    def build(self, input_shape: Any) -> None:
        if len(input_shape) != 2:
            raise ShapeMismatch(
                f"{self.name}: expected inputs (b, c), one step of a sequence, got {tuple(input_shape)}. Try "
                "lab.layers.RNN(cell) for a sequence (b, time, c)."
            )
        super().build(input_shape)

    def call(self, inputs: Any, states: Any = None, training: Any = False) -> Any:
        """Compute one step from inputs (b, c) and a list of states (b, units): the output and the list of new states.

        A single state that is not in a list is returned like that.
        """
        in_list = isinstance(states, (list, tuple))
        state: list[Any] = list(states) if in_list else [] if states is None else [states]
        if len(state) != self.states or inputs.ndim != 2 or inputs.shape[1] != self.kernel._held.shape[0]:
            raise self._misfit(inputs, state)
        if training and self.dropout:
            inputs = inputs * self.get_dropout_mask(inputs)
        if training and self.recurrent_dropout:
            state[0] = state[0] * self.get_recurrent_dropout_mask(state[0])
        if trace_now() is None and self.fits(inputs, state):
            rows, width = inputs._held.shape
            once = self.at_once(reshape(inputs, (rows, 1, width)), state)
            new = [reshape(part, (rows, self.units)) for part in once]
        elif any(tuple(s.shape) != (inputs.shape[0], self.units) for s in state):
            raise self._misfit(inputs, state)
        else:
            new = self.step(inputs, state, self.biases())
        return new[0], new if in_list else new[0]

    def _misfit(self, inputs: Any, state: list[Any]) -> ShapeMismatch:
        """Return the error for inputs or states of other shapes."""
        shape, width = tuple(inputs.shape), self.kernel.shape[0]
        if len(shape) != 2 or shape[1] != width:
            return ShapeMismatch(
                f"{self.name}: expected inputs (b, {width}), one step of a sequence, got {shape}. Try "
                f"lab.layers.RNN(cell) for a sequence (b, time, {width})."
            )
        wanted = ", ".join([str((shape[0], self.units))] * self.states)
        given = ", ".join(str(tuple(s.shape)) for s in state) or "none"
        return ShapeMismatch(
            f"{self.name}: expected states [{wanted}], got {given}. Try cell(x, cell.get_initial_state(batch_size="
            f"{shape[0]})) for the first step."
        )

    def get_dropout_mask(self, step_input: Any) -> Tensor:
        """Return the mask of the inputs, the same until `reset_dropout_mask` is called."""
        return self._masks().mask("inputs", step_input, self.dropout)

    def get_recurrent_dropout_mask(self, step_input: Any) -> Tensor:
        """Return the mask of the state, the same until `reset_recurrent_dropout_mask` is called."""
        return self._masks().mask("state", step_input, self.recurrent_dropout)

    def reset_dropout_mask(self) -> None:
        """Forget the mask of the inputs; call it before each sequence."""
        self._masks().masks.pop("inputs", None)

    def reset_recurrent_dropout_mask(self) -> None:
        """Forget the mask of the state; call it before each sequence."""
        self._masks().masks.pop("state", None)

    def _masks(self) -> _Noise:
        if self._noise is None:
            self._noise = _Noise()
        return self._noise


class SimpleRNNCell(SimpleRecurrence, Cell):
    """One step of `SimpleRNN`, ``h' = tanh(x W + h U + b)``: Elman 1990.

    Shapes: x (b, c) and [h (b, units)] -> output (b, units) and [h'].  Weights: kernel (c, units), recurrent_kernel
    (units, units), bias (units).

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
        Fraction of the inputs, and of the state, that is dropped in training. The same elements are dropped at each
        step until `reset_dropout_mask` and `reset_recurrent_dropout_mask` are called, which `RNN` does.

    Raises
    ------
    ShapeMismatch
        If the inputs or the states have other shapes.
    InvalidArgumentError
        If `units` is not positive, or a rate is not in [0, 1).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> cell = lab.layers.SimpleRNNCell(4)
    >>> output, states = cell(lab.zeros((2, 3)), cell.get_initial_state(batch_size=2))
    >>> output.shape, len(states)
    (TensorShape([2, 4]), 1)
    """


class LSTMCell(LSTMRecurrence, Cell):
    """One step of `LSTM`: Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000.

    Shapes: x (b, c) and [h (b, units), c (b, units)] -> output (b, units) and [h', c'], where the output is h'.
    Weights: kernel (c, 4 units), recurrent_kernel (units, 4 units), bias (4 units), with gates in the order input,
    forget, candidate, output.

    Parameters
    ----------
    units, activation, use_bias, dropout, ...
        Those of `SimpleRNNCell`.
    recurrent_activation : str or callable
        Applied to the gates.
    unit_forget_bias : bool
        Whether the forget gate's bias starts at 1.

    Raises
    ------
    ShapeMismatch, InvalidArgumentError
        As `SimpleRNNCell`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> cell = lab.layers.LSTMCell(4)
    >>> words, states = lab.zeros((2, 5, 3)), cell.get_initial_state(batch_size=2)
    >>> for t in range(5):
    ...     output, states = cell(words[:, t], states)
    >>> output.shape, cell.state_size
    (TensorShape([2, 4]), [4, 4])
    """


class GRUCell(GRURecurrence, Cell):
    """One step of `GRU`: Cho et al. 2014.

    Shapes: x (b, c) and [h (b, units)] -> output (b, units) and [h'].  Weights: kernel (c, 3 units), recurrent_kernel
    (units, 3 units), bias (2, 3 units), with gates in the order update, reset, candidate.

    Parameters
    ----------
    units, activation, use_bias, dropout, ...
        Those of `SimpleRNNCell`.
    recurrent_activation : str or callable
        Applied to the gates.
    reset_after : bool
        Whether the reset gate is applied after the recurrent product; if False the bias is (3 units), as in `GRU`.

    Raises
    ------
    ShapeMismatch, InvalidArgumentError
        As `SimpleRNNCell`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> cell = lab.layers.GRUCell(4)
    >>> output, states = cell(lab.zeros((2, 3)), cell.get_initial_state(batch_size=2))
    >>> output.shape, len(states)
    (TensorShape([2, 4]), 1)
    """


class StackedRNNCells(Layer):
    """A stack of cells as one cell: each reads the output of the one before, at the same step.

    The states are a list with those of each cell; `RNN` makes one of these from a list of cells.

    Parameters
    ----------
    cells : list of cells
        From the first, which reads the inputs, to the last, whose output is returned.

    Raises
    ------
    InvalidArgumentError
        If an element is not a cell, or the number of states is not that of the cells.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> both = lab.layers.StackedRNNCells([lab.layers.LSTMCell(4), lab.layers.GRUCell(3)])
    >>> output, states = both(lab.zeros((2, 5)), both.get_initial_state(batch_size=2))
    >>> output.shape, both.state_size
    (TensorShape([2, 3]), [[4, 4], 3])
    """

    several = False

    def __init__(self, cells: Sequence[object], name: str | None = None, **more: Unpack[LayerOptions]) -> None:
        super().__init__(name, **more)
        if not isinstance(cells, (list, tuple)) or not cells:
            raise InvalidArgumentError(f"{type(self).__name__}: expected a list of cells, got {cells!r:.80}.")
        self.cells = [checked(cell, type(self).__name__) for cell in cells]

    @property
    def state_size(self) -> list[object]:
        """Length of the state of each cell."""
        return [cell.state_size for cell in self.cells]

    @property
    def output_size(self) -> int:
        """Length of the output, that of the last cell."""
        return output_size(self.cells[-1])

    def get_initial_state(self, batch_size: SupportsIndex | None = None) -> list[object]:
        """Return a list of zeros for each cell."""
        return [initial_state(cell, batch_size) for cell in self.cells]

    def another(self) -> Self:
        """Return one with other cells of the same settings."""
        return type(self)([twin(cell) for cell in self.cells])

    def build(self, input_shape: InputShape) -> None:
        shape: Any = input_shape
        for cell in self.cells:
            build(cell, shape)
            shape = (shape[0], output_size(cell))

    def call(self, inputs: Tensor, states: Sequence[object] | None = None) -> tuple[Tensor, list[object]]:
        """Compute one step of every cell: the output of the last, and the list of new states of each."""
        given: list[Any] = list(states) if isinstance(states, (list, tuple)) else []
        if len(given) != len(self.cells):
            raise InvalidArgumentError(
                f"{self.name}: expected the states of {len(self.cells)} cells, got {len(given)}. Try "
                "get_initial_state(batch_size=...)."
            )
        for n, (cell, state) in enumerate(zip(self.cells, given, strict=True)):
            inputs, given[n] = one_step(cell, inputs, state)
        return inputs, given


def checked(cell: Any, owner: str) -> Any:
    """Return a cell.

    Raises
    ------
    InvalidArgumentError
        If it does not have a `call` and a `state_size`, or reads whole sequences.

    Examples
    --------
    >>> checked(LSTMCell(3), "RNN").state_size
    [3, 3]
    """
    whole = hasattr(cell, "return_sequences")
    if whole or isinstance(cell, type) or not (hasattr(cell, "call") or callable(cell)):
        reads = f", which reads whole sequences. Try lab.layers.{type(cell).__name__}Cell" if whole else ""
        raise InvalidArgumentError(
            f"{owner}: expected a cell, an object with call(inputs, states) and state_size, got {cell!r:.80}{reads}."
        )
    if not hasattr(cell, "state_size"):
        raise InvalidArgumentError(
            f"{owner}: the cell {cell!r:.80} does not have a state_size. Try self.state_size = units, the length of "
            "its state, or a list with that of each part."
        )
    return cell


def one_step(cell: Any, inputs: Any, state: Any) -> tuple[Any, Any]:
    """Return what a cell of any class computes in one step; training is that of the surrounding call."""
    run: Any = cell if callable(cell) else cell.call
    return run(inputs, state)


def build(cell: Any, shape: Any) -> None:
    """Make the weights of a cell for inputs of a shape (b, c), unless it has them."""
    if hasattr(cell, "build") and not getattr(cell, "built", False):
        cell.build(shape)


def output_size(cell: Any) -> Any:
    """Return the length of a cell's output: that of the first part of its state if it does not say."""
    size = getattr(cell, "output_size", None) or cell.state_size
    return size[0] if isinstance(size, (list, tuple)) else size


def initial_state(cell: Any, batch_size: Any, dtype: str = "float32") -> list[Any]:
    """Return the list of states that a sequence of that batch starts from: zeros if the cell does not say."""
    make = getattr(cell, "get_initial_state", None)
    if make is not None:
        found = make(batch_size=batch_size)
        return list(found) if isinstance(found, (list, tuple)) else [found]
    sizes = cell.state_size if isinstance(cell.state_size, (list, tuple)) else [cell.state_size]
    shapes = [(int(batch_size), *(size if isinstance(size, (list, tuple)) else [size])) for size in sizes]
    return [zeros(shape, getattr(cell, "dtype", dtype)) for shape in shapes]


def twin(cell: Any) -> Any:
    """Return a cell of the same class and settings, with its own weights.

    Raises
    ------
    InvalidArgumentError
        If the class is a program's own, and neither a layer nor has a `get_config`.
    """
    if hasattr(cell, "another"):
        return cell.another()
    if isinstance(cell, Layer):
        args, kwargs = cell._given  # pyright: ignore[reportPrivateUsage]
        return type(cell)(*args, **{name: value for name, value in kwargs.items() if name != "name"})
    if not hasattr(cell, "get_config"):
        raise InvalidArgumentError(
            f"{type(cell).__name__}: a second cell of the same settings cannot be made without a get_config. Try "
            "backward_layer=..., or a subclass of lab.layers.Layer."
        )
    return type(cell)(**cell.get_config())


def forget_dropout(cell: Any) -> None:
    """Let a cell, and those in it, draw other dropout masks."""
    for each in (cell, *getattr(cell, "cells", ())):
        for name in ("reset_dropout_mask", "reset_recurrent_dropout_mask"):
            getattr(each, name, int)()
