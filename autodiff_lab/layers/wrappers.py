"""Wrappers around a layer: the same at each time step, or forwards and backwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.layers.layer import Layer
from autodiff_lab.layers.options import LayerOptions
from autodiff_lab.ops.array.indexing import getitem
from autodiff_lab.ops.array.joining import concat
from autodiff_lab.ops.array.shaping import reshape

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import InputShape


class TimeDistributed(Layer):
    """A layer applied to each step separately: (b, time, *s) -> (b, time, *t).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.TimeDistributed(lab.layers.Dense(2))(lab.zeros((5, 7, 3))).shape
    TensorShape([5, 7, 2])
    """

    several = False

    def __init__(self, layer: Layer, name: str | None = None, **more: Unpack[LayerOptions]) -> None:
        super().__init__(name, **more)
        self.layer = layer

    def call(self, x: Tensor) -> Tensor:
        if x.ndim < 3:
            raise ShapeMismatch(f"{self.name}: expected an input (b, time, ...), got shape {tuple(x.shape)}.")
        shape: Any = x.shape
        batch, time, *rest = shape
        out = self.layer(reshape(x, (batch * time, *rest)))
        return reshape(out, (batch, time, *out.shape[1:]))


class Bidirectional(Layer):
    """A recurrent layer run forwards, and a second one run backwards: Schuster & Paliwal 1997.

    Parameters
    ----------
    layer : recurrent layer
        Reads forwards; one with the same settings reads backwards. An `RNN` makes a second cell for it.
    merge_mode : {'concat', 'sum', 'mul', 'ave', None}
        How the two values are merged; None returns both.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.Bidirectional(lab.layers.GRU(4))(lab.zeros((2, 5, 3))).shape
    TensorShape([2, 8])
    """

    several = False

    def __init__(self, layer: Layer, merge_mode: str | None = "concat", backward_layer: Layer | None = None,
                 name: str | None = None, **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(name, **more)
        if merge_mode not in ("concat", "sum", "mul", "ave", None):
            raise InvalidArgumentError(f"Bidirectional: unknown merge_mode {merge_mode!r}. Try 'concat'.")
        if not hasattr(layer, "return_sequences"):
            raise InvalidArgumentError("Bidirectional: expected a recurrent layer.")
        self.merge_mode = merge_mode
        self.forward_layer: Any = layer  # a recurrent layer, as is checked above
        self.backward_layer: Any = self.forward_layer.another() if backward_layer is None else backward_layer

    def build(self, input_shape: InputShape) -> None:
        for layer in (self.forward_layer, self.backward_layer):
            if not layer.built:
                layer.build(input_shape)

    def call(self, x: Tensor, initial_state: Any = None, mask: Tensor | None = None) -> Any:
        backwards = (slice(None), slice(None, None, -1))
        states = [None, None] if initial_state is None else _halves(initial_state)
        turned = self.backward_layer.go_backwards != self.forward_layer.go_backwards
        there = self.forward_layer(x, initial_state=states[0], mask=mask)
        if not turned:
            x, mask = getitem(x, backwards), None if mask is None else getitem(convert(mask), backwards)
        back = self.backward_layer(x, initial_state=states[1], mask=mask)
        left: tuple[Any, ...] = ()
        if self.forward_layer.return_state:
            (there, *one), (back, *other) = there, back
            left = (*one, *other)
        if self.forward_layer.return_sequences:
            back = getitem(back, backwards)
        merged = self._merged(there, back)
        if not left:
            return merged
        return (*merged, *left) if self.merge_mode is None else (merged, *left)

    def _merged(self, there: Tensor, back: Tensor) -> Any:
        if self.merge_mode is None:
            return there, back
        if self.merge_mode == "concat":
            return concat([there, back], -1)
        if self.merge_mode == "mul":
            return there * back
        return (there + back) / 2 if self.merge_mode == "ave" else there + back


def _halves(states: Any) -> list[Any]:
    """Return the initial states of the two layers, half of them each."""
    middle = len(states) // 2
    return [list(states[:middle]), list(states[middle:])]
