"""IndexedSlices: a gradient with few nonzero rows, stored as their positions and values."""

from __future__ import annotations

from typing import Any

from autodiff_lab.engine.convert import alone, convert
from autodiff_lab.engine.dtypes import DType
from autodiff_lab.engine.shape import TensorShape
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import ConversionError, ShapeMismatch
from autodiff_lab.extras.composite import source_by_values
from autodiff_lab.ops.array.gathering import scatter_nd
from autodiff_lab.ops.array.shaping import expand_dims


class IndexedSlices:
    """Rows of a tensor by position; rows with the same position are added, all other rows are 0.

    Ops accept it in place of the dense tensor, if its shape is known.

    Parameters
    ----------
    values : Tensor (n, *inner)
        The rows.
    indices : integer vector (n)
        Their positions.
    dense_shape : integer vector, optional
        The shape of the dense tensor.

    Raises
    ------
    ShapeMismatch
        If there is not one position for each row.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> rows = lab.IndexedSlices(values=[[1.0, 2.0], [3.0, 4.0]], indices=[2, 0], dense_shape=[3, 2])
    >>> print(lab.convert_to_tensor(rows))
    Tensor([[3. 4.]
     [0. 0.]
     [1. 2.]], shape=(3, 2), dtype=float32)
    """

    __slots__ = ("__weakref__", "_dense_shape", "_indices", "_values")

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values, self._indices = alone(convert(values)), alone(convert(indices))
        self._dense_shape = None if dense_shape is None else convert(dense_shape)
        rows, places = self._values._held.shape, self._indices._array
        if places.ndim != 1 or places.dtype.kind not in "iu" or rows[:1] != places.shape:
            raise ShapeMismatch(
                f"IndexedSlices: expected values (n, ...) and n integer indices, got values {rows} and "
                f"{self._indices.dtype.name} indices {places.shape}."
            )

    @property
    def values(self) -> Tensor:
        """The rows."""
        return self._values

    @property
    def indices(self) -> Tensor:
        """The position of each row."""
        return self._indices

    @property
    def dense_shape(self) -> Tensor | None:
        """The shape of the dense tensor, if it is known."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The shape of the dense tensor; None for an unknown number of rows."""
        if self._dense_shape is None:
            return TensorShape((None, *self._values._held.shape[1:]))
        return TensorShape(self._dense_shape._array.tolist())

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self._values.dtype

    def __tensor__(self) -> Tensor:
        if self._dense_shape is None:
            raise ConversionError(
                "IndexedSlices without a dense_shape cannot be converted to a tensor, because the number of rows "
                "is unknown. Try IndexedSlices(values, indices, dense_shape)."
            )
        return scatter_nd(expand_dims(self._indices, -1), self._values, self._dense_shape._array)

    def consumers(self) -> list[Any]:
        """Return the operations that use these rows: always an empty list, since operations run eagerly."""
        return []

    def with_values(self, new_values: Any) -> IndexedSlices:
        """Return other rows at the same positions."""
        return IndexedSlices(new_values, self._indices, self._dense_shape)

    def with_shape(self, dense_shape: Any) -> IndexedSlices:
        """Return the same rows of a dense tensor of this shape."""
        return IndexedSlices(self._values, self._indices, [int(n) for n in dense_shape])

    def numpy(self) -> Any:
        """Return the dense tensor as a NumPy array."""
        return self.__tensor__().numpy()

    def __neg__(self) -> IndexedSlices:
        return self.with_values(-self._values)

    def __repr__(self) -> str:
        known = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{known})"


source_by_values(IndexedSlices, lambda x: x.values, IndexedSlices.with_values)
