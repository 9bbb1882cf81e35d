"""TensorArray: a list of tensors that a loop fills and that is then stacked into one tensor."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import convert, convert_to_tensor
from autodiff_lab.engine.dtypes import DType, as_dtype
from autodiff_lab.engine.shape import TensorShape, as_integer, as_integers, flag
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, OutOfRangeError, ShapeMismatch
from autodiff_lab.ops.array.casting import identity
from autodiff_lab.ops.array.creation import as_shape
from autodiff_lab.ops.array.joining import concat, split, stack, unstack

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, ShapeLike, TensorLike


class TensorArray:
    """A list of tensors of the same dtype; gradients flow through writes and reads.

    Parameters
    ----------
    dtype : DType
        The dtype of the elements.
    size : int
        The initial number of elements.
    dynamic_size : bool
        Whether writing beyond the end extends the array.
    clear_after_read : bool
        Whether an element can be read only once, which frees memory during a loop.
    element_shape : TensorShape, optional
        The shape that elements must have.

    Raises
    ------
    OutOfRangeError
        If a position is out of range.
    InvalidArgumentError
        If an element is read that was not written or has already been read.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> squares = lab.TensorArray(lab.float32, size=3)
    >>> for i in range(3):
    ...     squares = squares.write(i, float(i * i))
    >>> print(squares.stack())
    Tensor([0. 1. 4.], shape=(3,), dtype=float32)
    """

    __loop_value__ = True  # `while_loop` passes it on unchanged

    def __init__(
        self,
        dtype: DTypeLike,
        size: TensorLike | None = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: object = None,
        flow: object = None,
        infer_shape: bool = True,
        element_shape: ShapeLike | None = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        self._dtype = as_dtype(dtype)
        (length,) = (0,) if size is None else as_shape(size)
        self._tensors: list[Tensor | None] = [None] * length
        self._read: set[int] = set()
        self._dynamic = flag(dynamic_size, "TensorArray: dynamic_size")
        self._once = clear_after_read is None or clear_after_read
        self._shape = None if element_shape is None else TensorShape(element_shape)
        self._infer = infer_shape

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self._dtype

    @property
    def dynamic_size(self) -> bool:
        """Whether writing beyond the end extends the array."""
        return self._dynamic

    @property
    def element_shape(self) -> TensorShape:
        """The shape of the elements, as far as it is known."""
        return TensorShape(None) if self._shape is None else self._shape

    def _position(self, index: Any, write: bool = False) -> int:
        at = as_integer(index, "TensorArray: index")
        if write and self._dynamic and at >= len(self._tensors):
            self._tensors.extend([None] * (at + 1 - len(self._tensors)))
        if not 0 <= at < len(self._tensors):
            raise OutOfRangeError(
                f"TensorArray: position {at} is not in [0, {len(self._tensors)}). Try "
                "dynamic_size=True to write beyond the end."
            )
        return at

    def write(self, index: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        """Write a tensor at a position, and return the array."""
        at = self._position(index, write=True)
        plain = not hasattr(value, "_held")
        tensor = convert_to_tensor(value, self._dtype) if plain else convert(value)
        if tensor.dtype != self._dtype:
            raise DtypeMismatch(
                f"TensorArray: expected dtype {self._dtype.name}, got {tensor.dtype.name}. Try lab.cast."
            )
        if self._shape is not None and not self._shape.is_compatible_with(tensor._held.shape):
            raise ShapeMismatch(f"TensorArray: expected shape {self._shape}, got {tensor._held.shape}.")
        if self._shape is None and self._infer:
            self._shape = TensorShape(tensor._held.shape)
        self._tensors[at] = tensor if name is None else identity(tensor, name)
        self._read.discard(at)
        return self

    def read(self, index: TensorLike, name: str | None = None) -> Tensor:
        """Return the tensor at a position."""
        at = self._position(index)
        if at in self._read:
            raise InvalidArgumentError(f"TensorArray: position {at} has already been read. Try clear_after_read=False.")
        tensor = self._written(at)
        if self._once:
            self._read.add(at)
            self._tensors[at] = None
        return tensor if name is None else identity(tensor, name)

    def _written(self, at: int) -> Tensor:
        tensor = self._tensors[at]
        if tensor is not None:
            return tensor
        if self._shape is not None and self._shape.is_fully_defined() and at not in self._read:
            return wrap(np.zeros(tuple(n or 0 for n in self._shape), self._dtype.dtype)[()])
        raise InvalidArgumentError(f"TensorArray: position {at} was not written or has already been read.")

    def stack(self, name: str | None = None) -> Tensor:
        """Stack all elements along a new first axis."""
        if not self._tensors:
            known = self._shape is not None and self._shape.is_fully_defined()
            shape = tuple(n or 0 for n in self._shape) if known and self._shape is not None else ()
            return named(wrap(np.zeros((0, *shape), self._dtype.dtype)), name)
        return stack([self._written(i) for i in range(len(self._tensors))], name=name)

    def concat(self, name: str | None = None) -> Tensor:
        """Concatenate all elements along their first axis."""
        return concat([self._written(i) for i in range(len(self._tensors))], 0, name)

    def gather(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """Stack the elements at some positions."""
        positions = as_integers(indices, "TensorArray.gather: indices")
        return stack([self._written(self._position(i)) for i in positions], name=name)

    def unstack(self, value: TensorLike, name: str | None = None) -> TensorArray:
        """Fill the array with the rows of a tensor."""
        rows = unstack(value, name=name)
        self._tensors = [None] * len(rows)
        self._read.clear()
        for i, row in enumerate(rows):
            self.write(i, row)
        return self

    def scatter(self, indices: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        """Write the rows of a tensor at some positions."""
        positions, rows = as_integers(indices, "TensorArray.scatter: indices"), unstack(value, name=name)
        if len(positions) != len(rows):
            raise ShapeMismatch(
                f"TensorArray.scatter: expected one position for each of the {len(rows)} rows, got {len(positions)}."
            )
        for at, row in zip(positions, rows, strict=True):
            self.write(at, row)
        return self

    def split(self, value: TensorLike, lengths: TensorLike, name: str | None = None) -> TensorArray:
        """Fill the array with parts of a tensor along its first axis."""
        sizes = as_integers(lengths, "TensorArray.split: lengths")
        x = convert(value)
        edges = np.cumsum([0, *sizes])
        self._infer = False
        if len(sizes) != len(self._tensors) and not self._dynamic:
            raise ShapeMismatch(
                f"TensorArray.split: expected {len(self._tensors)} lengths, one for each element, got {len(sizes)}."
            )
        for i, part in enumerate(split(x, [int(b - a) for a, b in pairwise(edges)], name=name)):
            self.write(i, part)
        return self

    def __repr__(self) -> str:
        return f"<TensorArray of {len(self._tensors)} tensors, dtype={self._dtype.name}>"

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of elements, int32."""
        return named(wrap(np.int32(len(self._tensors))), name)

    def identity(self) -> TensorArray:
        """Return the array itself."""
        return self

    def grad(self, source: object, flow: object = None, name: str | None = None) -> Any:
        """Raise an error: use a tape for gradients."""
        raise InvalidArgumentError(
            "TensorArray.grad: not available, since gradients come from tapes. Try tape.gradient."
        )

    def close(self, name: str | None = None) -> None:
        """Release the elements."""
        self._tensors.clear()

    def __len__(self) -> int:
        return len(self._tensors)
