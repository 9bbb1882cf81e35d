"""IndexedSlices: a gradient with few nonzero rows, stored as their positions and values.

`Rows` is the same inside a sweep: an adjoint that only gathers have contributed to.  What has to be a tensor, for the
rule of another op or beside another contribution, is made dense then; a source that gets rows alone is returned as
`IndexedSlices`, as in TensorFlow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from autodiff_lab.engine import nest
from autodiff_lab.engine.convert import alone, convert
from autodiff_lab.engine.dtypes import DType
from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.shape import TensorShape
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.errors import ConversionError, ShapeMismatch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from autodiff_lab.engine.annotations import ShapeLike, TensorLike


class Rows:
    """An adjoint as contributions to rows: pairs of cotangents and the positions that they were gathered from.

    The first axes of a cotangent are those of its positions.  They are put together only when somebody asks, so that
    many gathers from one tensor take a time that grows with their number.
    """

    __slots__ = ("ops", "parts", "shape")
    nbytes = itemsize = 0  # a sweep asks before it adds in place: never to rows

    def __init__(self, ops: Any, parts: list[tuple[Any, Any]], shape: tuple[int, ...]) -> None:
        self.ops, self.parts, self.shape = ops, parts, shape

    def joined(self) -> tuple[Any, Any]:
        """Return the values, (n, *inner), and their positions, (n)."""
        ops, inner = self.ops, self.shape[1:]
        values, indices = [], []
        for g, at in reversed(self.parts):  # in the order in which they were gathered
            flat = len(at.shape) == 1
            values.append(g if flat else ops.reshape(g, shape=(_count(at), *inner)))
            indices.append(at if flat else ops.reshape(at, shape=(_count(at),)))
        if len(values) == 1:
            return values[0], indices[0]
        if len({at.dtype for at in indices}) > 1:
            indices = [ops.cast(at, dtype="int64") for at in indices]
        return ops.concat(*values, axis=-len(self.shape)), ops.concat(*indices, axis=-1)

    def whole(self) -> Any:
        """Return the dense adjoint; rows with the same position are added."""
        values, indices = self.parts[0] if len(self.parts) == 1 else self.joined()
        return self.ops.scatter_axis(values, indices, axis=-len(self.shape), length=self.shape[0])

    def __add__(self, other: Any) -> Any:
        if other.__class__ is Rows:
            return Rows(self.ops, self.parts + other.parts, self.shape)
        return self.whole() + other

    def conjugated(self, conjugate: Callable[[Any], Any]) -> Rows:
        """Return the rows with each cotangent conjugated."""
        return Rows(self.ops, [(conjugate(g), at) for g, at in self.parts], self.shape)

    def public(self, dense: Tensor | None) -> IndexedSlices:
        """Return what `GradientTape.gradient` gives for a source with this adjoint."""
        values, indices = [x if isinstance(x, Tensor) else wrap(x) for x in self.joined()]
        made = IndexedSlices.__new__(IndexedSlices)
        made._values, made._indices, made._shape, made._dense, made._inside = values, indices, self.shape, dense, True
        return made


def _count(at: Any) -> int:
    return math.prod(at.shape)


class IndexedSlices:
    """Rows of a tensor by position; rows with the same position are added, all other rows are 0.

    The gradient of a source that is only gathered from, such as the table of an embedding.  Ops accept it in place of
    the dense tensor, if its shape is known; optimizers, `Variable.assign_sub` and the scatter methods change the named
    rows alone.  A product with or quotient by a number, a sum of slices, `cast`, `identity`, `clip_by_norm`,
    `clip_by_global_norm`, `clip_by_value` and `scalar_mul` are slices again; everything else is dense.

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

    >>> table = lab.Variable([[1.0], [2.0], [3.0]])
    >>> with lab.GradientTape() as tape:
    ...     loss = lab.reduce_sum(lab.gather(table, [2, 2]) ** 2)
    >>> gradient = tape.gradient(loss, table)
    >>> gradient.values.numpy().tolist(), gradient.indices.numpy().tolist()
    ([[6.0], [6.0]], [2, 2])
    """

    __slots__ = ("__weakref__", "_dense", "_indices", "_inside", "_shape", "_values")
    __array_priority__ = 100
    are_rows = True  # a variable asks, which knows nothing of this class
    __hash__ = object.__hash__  # by identity, as of a tensor

    def __init__(self, values: TensorLike, indices: TensorLike, dense_shape: ShapeLike | None = None) -> None:
        self._values, self._indices = alone(convert(values)), alone(convert(indices))
        self._shape = None if dense_shape is None else tuple(convert(dense_shape)._array.tolist())
        self._dense: Tensor | None = None  # what the explorer shows of a gradient that was recorded
        self._inside = False  # whether a gather has checked the positions
        rows, places = self._values._held.shape, self._indices._held
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
        return None if self._shape is None else convert(list(self._shape))

    @property
    def shape(self) -> TensorShape:
        """The shape of the dense tensor; None for an unknown number of rows."""
        if self._shape is None:
            return TensorShape((None, *self._values._held.shape[1:]))
        return TensorShape(self._shape)

    @property
    def ndim(self) -> int:
        """Number of axes of the dense tensor."""
        return self._values._held.ndim

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self._values.dtype

    @property
    def device(self) -> str:
        """Where the rows lie."""
        return self._values.device

    def get_shape(self) -> TensorShape:
        """Shape of the dense tensor, as a method."""
        return self.shape

    def __tensor__(self) -> Tensor:
        if self._dense is not None:
            return self._dense
        if self._shape is None:
            raise ConversionError(
                "IndexedSlices without a dense_shape cannot be converted to a tensor, because the number of rows "
                "is unknown. Try IndexedSlices(values, indices, dense_shape)."
            )
        rows = self._values._held.shape
        if self._inside:
            return RECORDING.scatter_axis(self._values, self._indices, axis=-len(self._shape), length=self._shape[0])
        if rows[1:] != self._shape[1:] or not self._shape:
            raise ShapeMismatch(f"IndexedSlices: rows of shape {rows[1:]} do not fit a dense_shape of {self._shape}.")
        at = RECORDING.reshape(self._indices, shape=(rows[0], 1))
        return RECORDING.scatter_nd(self._values, at, shape=self._shape)

    def consumers(self) -> list[Any]:
        """Return the operations that use these rows: always an empty list, since operations run eagerly."""
        return []

    def with_values(self, new_values: TensorLike) -> IndexedSlices:
        """Return other rows at the same positions."""
        made = IndexedSlices(new_values, self._indices, self._shape)
        made._inside = self._inside and made._values._held.shape == self._values._held.shape
        return made

    def with_shape(self, dense_shape: Sequence[int]) -> IndexedSlices:
        """Return the same rows of a dense tensor of this shape."""
        return IndexedSlices(self._values, self._indices, [int(n) for n in dense_shape])

    def numpy(self) -> NDArray[Any]:
        """Return the dense tensor as a NumPy array."""
        return self.__tensor__().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.__tensor__().__array__(dtype, copy)

    def __neg__(self) -> IndexedSlices:
        return self.with_values(-self._values)

    def __mul__(self, other: Any) -> Any:
        return self.with_values(self._values * other) if _single(other) else self.__tensor__() * other

    def __rmul__(self, other: Any) -> Any:
        return self.with_values(other * self._values) if _single(other) else other * self.__tensor__()

    def __truediv__(self, other: Any) -> Any:
        return self.with_values(self._values / other) if _single(other) else self.__tensor__() / other

    def __add__(self, other: Any) -> Any:
        if other.__class__ is IndexedSlices and other._shape == self._shape and other.dtype == self.dtype:
            parts = [(self._values, self._indices), (other._values, other._indices)]
            shape = (0, *self._values._held.shape[1:]) if self._shape is None else self._shape
            values, indices = Rows(RECORDING, parts, shape).joined()
            return IndexedSlices(values, indices, self._shape)
        return self.__tensor__() + other

    def __sub__(self, other: Any) -> Any:
        return self + -other if other.__class__ is IndexedSlices else self.__tensor__() - other

    def __repr__(self) -> str:
        known = "" if self._shape is None else f", dense_shape={self.dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{known})"


def _single(value: Any) -> bool:
    """Return whether a value is a number, or a tensor or variable with one."""
    shape = getattr(value, "shape", ())
    return isinstance(value, int | float | complex) or (hasattr(value, "dtype") and tuple(shape) == ())


def with_parts(leaves: list[Any], rebuild: Callable[[list[Any]], Any]) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    """Return leaves in which values and positions stand in for slices, and what rebuilds the structure."""
    if not any(leaf.__class__ is IndexedSlices for leaf in leaves):
        return leaves, rebuild

    def whole(found: list[Any]) -> Any:
        given = iter(found)
        made = [
            IndexedSlices(next(given), next(given), leaf._shape) if leaf.__class__ is IndexedSlices else next(given)
            for leaf in leaves
        ]
        return rebuild(made)

    parts = [[leaf.values, leaf.indices] if leaf.__class__ is IndexedSlices else [leaf] for leaf in leaves]
    return [part for leaf in parts for part in leaf], whole


def dense(gradient: Any) -> Any:
    """Return a gradient as a tensor; None stays None."""
    return gradient.__tensor__() if gradient.__class__ is IndexedSlices else gradient


def _through_tensor(name: str) -> Callable[..., Any]:
    def method(self: IndexedSlices, *others: Any) -> Any:
        return getattr(self.__tensor__(), name)(*others)

    method.__name__ = name
    method.__doc__ = "As of the dense tensor."
    return method


for _name in ("abs", "eq", "floordiv", "ge", "getitem", "gt", "iter", "le", "len", "lt", "matmul", "mod", "ne", "pow",
              "radd", "rmatmul", "rpow", "rsub", "rtruediv"):  # fmt: skip
    setattr(IndexedSlices, f"__{_name}__", _through_tensor(f"__{_name}__"))


class _Frame:
    """The slices whose structure a gradient takes; two frames are equal only if they are the same object."""

    __slots__ = ("like",)

    def __init__(self, like: IndexedSlices) -> None:
        self.like = like


def _rebuilt(frame: Any, children: Any) -> Any:
    (gradient,) = children
    return None if gradient is None else frame.like.with_values(dense(gradient))


nest.register(IndexedSlices, lambda x: ((x.values,), _Frame(x), None), _rebuilt)
