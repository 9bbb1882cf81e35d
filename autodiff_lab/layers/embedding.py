"""Embedding: integers to vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.shape import as_integer
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.layers.layer import Layer
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.gathering import gather

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import InputShape, NameOrCallable


class Embedding(Layer):
    """A table with one vector for each of `input_dim` numbers: (*b) int -> (*b, output_dim).

    Raises
    ------
    InvalidArgumentError
        If a number is not in [0, input_dim).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.Embedding(10, 4)([[1, 2, 3]]).shape
    TensorShape([1, 3, 4])
    """

    embeddings: Variable

    several = False

    def __init__(self, input_dim: int, output_dim: int, embeddings_initializer: NameOrCallable = "random_uniform",
                 name: str | None = None, **more: Any) -> None:  # fmt: skip
        super().__init__(name, **more)
        self.input_dim = as_integer(input_dim, "Embedding: input_dim", 1)
        self.output_dim = as_integer(output_dim, "Embedding: output_dim", 1)
        self.embeddings_initializer = embeddings_initializer

    def build(self, input_shape: InputShape) -> None:
        shape = (self.input_dim, self.output_dim)
        self.embeddings = self.add_weight("embeddings", shape, self.embeddings_initializer)

    def call(self, x: Tensor) -> Tensor:
        whole = x if convert(x)._held.dtype.kind in "iu" else cast(x, "int32")
        return gather(self.embeddings, whole)
