"""TensorSpec: the expected shape and dtype of a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.dtypes import DType, as_dtype
from autodiff_lab.engine.shape import TensorShape

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, ShapeLike, TensorLike


class TensorSpec:
    """A shape, in which lengths may be None, and a dtype.

    Parameters
    ----------
    shape : TensorShape or sequence of int or None, or None
        Length of each axis, None for any; None alone stands for any rank.
    dtype : DType
        Element type.
    name : str, optional
        The name of the tensor.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> spec = lab.TensorSpec([None, 3], lab.float32)
    >>> spec.is_compatible_with(lab.ones((5, 3))), spec.is_compatible_with(lab.ones((5, 4)))
    (True, False)
    """

    __slots__ = ("_dtype", "_name", "_shape")

    def __init__(self, shape: ShapeLike | None, dtype: DTypeLike = "float32", name: str | None = None) -> None:
        self._shape, self._dtype, self._name = TensorShape(shape), as_dtype(dtype), name

    @classmethod
    def from_tensor(cls, tensor: TensorLike, name: str | None = None) -> TensorSpec:
        """Return the spec of a tensor.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.TensorSpec.from_tensor(lab.constant([1, 2]))
        TensorSpec(shape=(2,), dtype=autodiff_lab.int32, name=None)
        """
        x = convert(tensor)
        return cls(x.shape, x.dtype, name or getattr(tensor, "name", None))

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """Return the same spec, under another name if one is given."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @property
    def shape(self) -> TensorShape:
        """Length of each axis; None for any length."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """Name of the tensor."""
        return self._name

    def is_compatible_with(self, spec_or_tensor: TensorSpec | TensorLike) -> bool:
        """Return whether a tensor, or another spec, is compatible."""
        other: Any = spec_or_tensor if hasattr(spec_or_tensor, "dtype") else convert(spec_or_tensor)
        return as_dtype(other.dtype) == self._dtype and self._shape.is_compatible_with(other.shape)

    def most_specific_compatible_type(self, other: TensorSpec) -> TensorSpec:
        """Return the most specific spec that both are compatible with."""
        if other.dtype != self._dtype:
            raise ValueError(
                f"TensorSpec: dtypes {self._dtype.name} and {other.dtype.name} differ, so there is no common spec."
            )
        if self._shape.rank != other.shape.rank or self._shape.rank is None:
            return TensorSpec(None, self._dtype)
        lengths = [a if a == b else None for a, b in zip(self._shape, other.shape, strict=True)]
        return TensorSpec(lengths, self._dtype, self._name)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TensorSpec)
            and self._shape == other._shape
            and self._dtype == other._dtype
            and self._name == other._name
        )

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype, self._name))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"
