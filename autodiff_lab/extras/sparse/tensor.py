"""SparseTensor: stored values and their coordinates, for data that is mostly zero.

Coordinates are integers without gradients; gradients flow only to the stored values.  A tape accepts a sparse tensor as
a source and returns a sparse gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import alone, convert
from autodiff_lab.engine.dtypes import DType
from autodiff_lab.engine.op import Op
from autodiff_lab.engine.shape import TensorShape, as_integers
from autodiff_lab.engine.tensor import Operators, Tensor, wrap
from autodiff_lab.errors import ConversionError, DtypeMismatch, InvalidArgumentError, NotOneTensor, ShapeMismatch
from autodiff_lab.extras.composite import source_by_values
from autodiff_lab.extras.segments import reduce_segments
from autodiff_lab.ops.array.casting import identity
from autodiff_lab.ops.array.gathering import gather_nd, laid_beside, scatter_nd
from autodiff_lab.ops.array.shaping import broadcast_to, reshape

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import ShapeLike, TensorLike

Places = np.ndarray[Any, np.dtype[np.int64]]


class SparseTensor(Operators):
    """A tensor of which only some elements are stored; all others are 0.

    Parameters
    ----------
    indices : integer matrix (n, rank)
        The coordinates of the values, one row each.
    values : vector (n)
        The values, of any dtype.
    dense_shape : integer vector (rank)
        The shape of the tensor.

    Raises
    ------
    ShapeMismatch
        If there is not one row of coordinates for each value, or one coordinate for each axis.
    InvalidArgumentError
        If a coordinate is outside the shape.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.SparseTensor(indices=[[0, 0], [1, 2]], values=[1.0, 5.0], dense_shape=[2, 3])
    >>> print(lab.sparse.to_dense(x))
    Tensor([[1. 0. 0.]
     [0. 0. 5.]], shape=(2, 3), dtype=float32)
    >>> print(lab.sparse.to_dense(x * 2)[1])
    Tensor([ 0.  0. 10.], shape=(3,), dtype=float32)
    """

    __slots__ = ("__weakref__", "_indices", "_shape", "_values")
    __array_priority__ = 100
    __hash__ = object.__hash__
    CURE = "Try lab.sparse.to_dense(x), x.values, or lab.sparse.map_values(function, x)."

    def __init__(self, indices: TensorLike, values: TensorLike, dense_shape: ShapeLike) -> None:
        self._values = alone(convert(values))
        self._shape = tuple(int(n) for n in _integers(dense_shape, 1, "dense_shape"))
        if any(n < 0 for n in self._shape):
            raise InvalidArgumentError(
                f"SparseTensor: lengths in dense_shape must not be negative, got {list(self._shape)}."
            )
        self._indices = _integers(indices, 2, "indices")
        if self._indices.size == 0 and (self._shape or self._indices.ndim != 2):
            self._indices = self._indices.reshape(0, len(self._shape))
        have, places = self._values._held.shape, self._indices.shape
        if len(have) != 1 or places != (have[0], len(self._shape)):
            raise ShapeMismatch(
                f"SparseTensor: expected values (n), indices (n, rank) and dense_shape (rank), got values {have}, "
                f"indices {places} and dense_shape ({len(self._shape)},)."
            )
        outside = (self._indices < 0) | (self._indices >= np.array(self._shape, np.int64))
        if outside.any():
            row = int(np.argwhere(outside)[0][0])
            raise InvalidArgumentError(
                f"SparseTensor: indices[{row}] = {self._indices[row].tolist()} is outside the shape "
                f"{list(self._shape)}."
            )

    @property
    def indices(self) -> Tensor:
        """The coordinates of the values, int64."""
        return wrap(self._indices)

    @property
    def values(self) -> Tensor:
        """The values."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """The shape as a tensor, int64."""
        return wrap(np.array(self._shape, np.int64))

    @property
    def shape(self) -> TensorShape:
        """Length of each axis."""
        return TensorShape(self._shape)

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self._values.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._shape)

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self._shape)

    def get_shape(self) -> TensorShape:
        """Return the length of each axis."""
        return self.shape

    def consumers(self) -> list[Any]:
        """Return the operations that use this tensor: always an empty list, since operations run eagerly."""
        return []

    def set_shape(self, shape: ShapeLike) -> None:
        """Check that the tensor has a shape, in which lengths may be None.

        Raises
        ------
        ShapeMismatch
            If it does not.
        """
        if not self.shape.is_compatible_with(shape):
            raise ShapeMismatch(f"set_shape: {shape} is not compatible with {self.shape}, the shape of the tensor.")

    def with_values(self, new_values: TensorLike) -> SparseTensor:
        """Return a sparse tensor with other values at the same coordinates."""
        return SparseTensor(self._indices, new_values, self._shape)

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """Create a sparse tensor from any object with `indices`, `values` and `dense_shape`."""
        x = sparse_tensor_value
        return x if isinstance(x, cls) else cls(x.indices, x.values, x.dense_shape)

    def __named__(self, name: str) -> SparseTensor:
        return self.with_values(identity(self.values, name))

    def __lab_apply__(self, op: Any, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Run the sparse form of an op or a public function, or run it on the values if it maps 0 to 0."""
        name, first = op.__name__, inputs[0]
        if name in ("reduce_sum", "reduce_max"):
            return reduced(name, *inputs, **params)
        if name in ("shape", "size", "rank"):
            return op(laid_beside(self._values, np.broadcast_to(np.int8(0), self._shape)), **params)
        if not getattr(op, "elementwise", False):
            raise NotOneTensor(self)
        if first is self and self._stays_zero(op, inputs):
            return self.with_values(op(self._values, *inputs[1:], **params))
        if name == "multiply" or (name == "divide" and first is self):
            other = inputs[1] if first is self else first
            if not isinstance(other, SparseTensor):
                here = self._elements_of(other)
                return self.with_values(op(self._values, here) if first is self else op(here, self._values))
            if name == "multiply":
                return _product(self, other, op)
        raise ConversionError(
            f"{name}: the result would not be sparse, because zeros do not stay zero. {self.CURE} "
            "lab.sparse.add adds two sparse tensors."
        )

    def _stays_zero(self, op: Any, inputs: tuple[Any, ...]) -> bool:
        if op.__class__ is Op:
            return len(inputs) == 1 and not np.any(op.kernel(np.zeros(1, self._values._held.dtype)))
        return (len(inputs) == 1 and op.__name__ != "invert") or op.__name__ == "clip_by_value"

    def _elements_of(self, dense: Any) -> Tensor:
        """Return the elements of a dense operand at the coordinates of the values."""
        tensor = convert(dense, self._values)
        if tensor._held.ndim == 0:
            return tensor
        return gather_nd(broadcast_to(tensor, self._shape), laid_beside(tensor, self._indices))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise NotOneTensor(self)

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self.indices!s}, values={self.values!s}, dense_shape={self.dense_shape!s})"


def _integers(value: Any, rank: int, what: str) -> Places:
    array = np.asarray(value if isinstance(value, np.ndarray) else convert(value)._array)
    if array.size and (array.dtype.kind not in "iu" or array.ndim != rank):
        raise InvalidArgumentError(f"SparseTensor: {what} must be integers of rank {rank}, got {value!r}.")
    return array.astype(np.int64)


def _product(a: SparseTensor, b: SparseTensor, multiply: Callable[..., Any]) -> SparseTensor:
    """Multiply the values where both are stored; everywhere else one factor is 0."""
    if a._shape != b._shape:
        raise ShapeMismatch(f"multiply: the shapes {a.shape} and {b.shape} of the sparse tensors differ.")
    if np.array_equal(a._indices, b._indices):
        return a.with_values(multiply(a._values, b._values))
    _, in_a, in_b = np.intersect1d(flat_places(a), flat_places(b), return_indices=True)
    values = multiply(gather_nd(a._values, in_a[:, None]), gather_nd(b._values, in_b[:, None]))
    return SparseTensor(a._indices[in_a], values, a._shape)


def flat_places(x: SparseTensor) -> Places:
    """Return the position of each value in the flattened dense tensor."""
    if not x.ndim:
        return np.zeros(len(x._indices), np.int64)
    return np.asarray(np.ravel_multi_index(tuple(x._indices.T), x._shape), np.int64)


def reduced(
    name: str, x: SparseTensor, axis: Any = None, keepdims: bool = False, output_is_sparse: bool = False
) -> Any:
    """Reduce the stored values; where there are none, the result is 0 or, if sparse, has no value."""
    if x.dtype.is_complex and name == "reduce_max":
        raise DtypeMismatch(f"{name}: expected a real dtype, since complex numbers have no order. Try lab.abs.")
    rank = x.ndim
    wanted = range(rank) if axis is None else as_integers(axis, f"{name}: axis")
    if any(not -rank <= a < rank for a in wanted):
        raise InvalidArgumentError(f"{name}: axis {axis} is out of bounds for shape {x.shape}.")
    axes = {a % rank for a in wanted}
    kept = [k for k in range(rank) if k not in axes]
    shape = [x._shape[k] for k in kept]
    size = int(np.prod(shape))
    if kept:
        segments = np.asarray(np.ravel_multi_index(tuple(x._indices[:, k] for k in kept), shape), np.int64)
    else:
        segments = np.zeros(len(x._indices), np.int64)
    present = np.unique(segments)
    found = reduce_segments(name, x._values, np.searchsorted(present, segments), len(present))
    lengths = [1 if k in axes else x._shape[k] for k in range(rank)] if keepdims else shape
    if output_is_sparse:
        places = np.stack(np.unravel_index(present, lengths), axis=1) if lengths else np.zeros((len(present), 0))
        return SparseTensor(places.astype(np.int64), found, lengths)
    return reshape(scatter_nd(laid_beside(found, present[:, None]), found, [size]), lengths)


def _install_operators() -> None:
    for name in ["mul", "rmul", "truediv", "rtruediv", "neg", "abs", "add", "radd", "sub", "rsub"]:
        setattr(SparseTensor, f"__{name}__", getattr(Tensor, f"__{name}__"))


_install_operators()
source_by_values(SparseTensor, lambda x: x.values, SparseTensor.with_values)
