"""`Input` and `InputLayer`: where the graph of a functional model begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.shape import TensorShape
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.layers.graphs import KerasTensor
from autodiff_lab.layers.layer import Layer

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, ShapeLike


class InputLayer(Layer):
    """The layer of an input: it returns what it is given.

    Parameters
    ----------
    shape, batch_size, dtype, name, batch_shape
        As for `lab.keras.Input`.

    Raises
    ------
    InvalidArgumentError
        If neither or both of `shape` and `batch_shape` are given.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.InputLayer(shape=(3,)).output.shape
    (None, 3)
    """

    def __init__(self, shape: ShapeLike | None = None, batch_size: int | None = None, dtype: DTypeLike | None = None,
                 name: str | None = None,
                 batch_shape: ShapeLike | None = None, **more: Any) -> None:  # fmt: skip
        super().__init__(name, **more)
        if (shape is None) == (batch_shape is None):
            raise InvalidArgumentError("Input: expected the shape of an example, such as lab.keras.Input(shape=(3,)).")
        lengths = TensorShape([batch_size, *TensorShape(shape)] if batch_shape is None else batch_shape)
        self.batch_shape, self.built = tuple(lengths), True
        tensor = KerasTensor(self.batch_shape, as_dtype(dtype or "float32"), self.name)
        tensor.layer, self.symbols = self, (tensor, tensor)

    def call(self, inputs: Any) -> Any:
        return inputs


def Input(shape: ShapeLike | None = None, batch_size: int | None = None, dtype: DTypeLike | None = None,
          name: str | None = None,
          batch_shape: ShapeLike | None = None) -> KerasTensor:  # fmt: skip
    """Return the symbolic input of a functional model.

    Parameters
    ----------
    shape : sequence of int or None
        Of one example; None for a length that may differ between calls.
    batch_size : int, optional
        Fixed number of examples.
    dtype : DType, optional
        float32 by default.
    name : str, optional
        Under which a dict of inputs holds the array.
    batch_shape : sequence of int or None, optional
        `batch_size` and `shape` in one.

    Raises
    ------
    InvalidArgumentError
        If neither or both of `shape` and `batch_shape` are given.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> inputs = lab.keras.Input(shape=(3,))
    >>> hidden = lab.layers.Dense(4, activation="relu")(inputs)
    >>> model = lab.keras.Model(inputs, lab.layers.Dense(1)(hidden))
    >>> model(lab.ones((2, 3))).shape
    TensorShape([2, 1])
    """
    tensor: KerasTensor = InputLayer(shape, batch_size, dtype, name, batch_shape).output
    return tensor
