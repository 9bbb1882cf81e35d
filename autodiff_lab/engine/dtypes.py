"""Dtypes: named element types, thin handles on NumPy's.

Each dtype is one object, so that ``x.dtype == lab.float32`` is a comparison of identities in the common case.  The
engine itself works with NumPy dtypes; these objects are what users see.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.errors import ConversionError

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike

_BFLOAT16_LIBRARY: Any = import_module("ml_dtypes") if find_spec("ml_dtypes") else None
"""Every install brings it; on a machine where only NumPy is to be had, all but bfloat16 works without."""


class DType:
    """An element type.

    Attributes
    ----------
    name : str
        For example ``"float32"``.
    as_numpy_dtype : type
        The NumPy scalar type.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.int8)
    <dtype: 'int8'>
    >>> lab.int8.is_integer, lab.int8.max
    (True, 127)
    """

    __slots__ = ("name", "dtype")

    def __init__(self, name: str, dtype: Any) -> None:
        self.name = name
        self.dtype = np.dtype(dtype)

    @property
    def as_numpy_dtype(self) -> type:
        """The NumPy scalar type."""
        return self.dtype.type

    @property
    def is_floating(self) -> bool:
        """Whether it is a real floating-point dtype, bfloat16 included."""
        return self.dtype.kind == "f" or self.name == "bfloat16"

    @property
    def is_complex(self) -> bool:
        """Whether it is complex."""
        return self.dtype.kind == "c"

    @property
    def is_integer(self) -> bool:
        """Whether it is a signed or unsigned integer dtype; bool is not."""
        return self.dtype.kind in "iu"

    @property
    def is_bool(self) -> bool:
        """Whether it is bool."""
        return self.dtype.kind == "b"

    @property
    def is_unsigned(self) -> bool:
        """Whether it is an unsigned integer dtype."""
        return self.dtype.kind == "u"

    @property
    def base_dtype(self) -> DType:
        """Itself; there are no reference dtypes here."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The dtype of the real part of a complex dtype, itself otherwise."""
        return {"complex64": TABLE["float32"], "complex128": TABLE["float64"]}.get(self.name, self)

    @property
    def size(self) -> int:
        """Bytes an element takes."""
        return self.dtype.itemsize

    @property
    def min(self) -> Any:
        """The smallest finite value."""
        return self._limits().min

    @property
    def max(self) -> Any:
        """The largest finite value."""
        return self._limits().max

    @property
    def limits(self) -> tuple[Any, Any]:
        """The range of an integer or bool; 0 and 1 for floats, whose intensities lie there."""
        return (0, self.max) if self.is_integer else (0, 1)

    def is_compatible_with(self, other: object) -> bool:
        """Return whether a value of another dtype can take this one's place: only one of the same dtype can.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.float32.is_compatible_with("float32"), lab.float32.is_compatible_with(lab.float64)
        (True, False)
        """
        return as_dtype(other) is self  # pyright: ignore[reportArgumentType] - what is none raises

    def _limits(self) -> Any:
        if self.is_integer:
            return np.iinfo(self.dtype)
        return np.finfo(self.dtype) if _BFLOAT16_LIBRARY is None else _BFLOAT16_LIBRARY.finfo(self.dtype)

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        try:
            return as_dtype(other) is self  # pyright: ignore[reportArgumentType] - what is none raises
        except (ConversionError, TypeError):
            return False

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"

    def __repr__(self) -> str:
        return f"autodiff_lab.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


_NAMES = (
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "complex64",
    "complex128",
    "bool",
)
TABLE: dict[str, DType] = {name: DType(name, name) for name in _NAMES}
TABLE["bfloat16"] = DType("bfloat16", [("bfloat16", "V2")] if _BFLOAT16_LIBRARY is None else _BFLOAT16_LIBRARY.bfloat16)
TABLE["string"] = DType("string", object)  # bytes, see engine/strings.py
_BY_NUMPY: dict[Any, DType] = {dtype.dtype: dtype for dtype in TABLE.values()}
_ALIASES = {"double": "float64", "half": "float16", "float": "float32", "int": "int32"}

float16, float32, float64 = TABLE["float16"], TABLE["float32"], TABLE["float64"]
bfloat16 = TABLE["bfloat16"]
int8, int16, int32, int64 = TABLE["int8"], TABLE["int16"], TABLE["int32"], TABLE["int64"]
uint8, uint16, uint32, uint64 = TABLE["uint8"], TABLE["uint16"], TABLE["uint32"], TABLE["uint64"]
complex64, complex128 = TABLE["complex64"], TABLE["complex128"]
bool_ = TABLE["bool"]
string = TABLE["string"]
DIFFERENTIABLE = frozenset(d.dtype for d in TABLE.values() if d.is_floating or d.is_complex)
"""NumPy dtypes that gradients can pass through."""


def as_dtype(type_value: DTypeLike) -> DType:
    """Return the dtype that a DType, a name, a NumPy dtype or a Python type stands for.

    Raises
    ------
    ConversionError
        If there is no such dtype here.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.as_dtype("float64") is lab.float64
    True
    """
    if type_value.__class__ is DType:
        return type_value  # pyright: ignore[reportReturnType]
    if isinstance(type_value, str):
        found = TABLE.get(_ALIASES.get(type_value, type_value))
        if found is not None:
            return found
    elif type_value is float:
        return float32
    elif type_value is int:
        return int32
    elif type_value is str or type_value is bytes:
        return string
    try:
        return _BY_NUMPY[np.dtype(type_value)]
    except (KeyError, TypeError, ValueError):
        cure = f"one of: {', '.join(TABLE)}"
        if type_value.__class__ is int:
            cure = "lengths in a list, such as lab.zeros([3, 4]): a shape is one argument"
        raise ConversionError(f"{type_value!r:.80} is not a dtype of this package. Try {cure}.") from None


def public(dtype: np.dtype[Any]) -> DType:
    """Return the DType of a NumPy dtype."""
    return _BY_NUMPY[dtype]


def warn_if_integer(dtype: np.dtype[Any]) -> None:
    """Log a warning if a tape watches values that no gradient passes through."""
    if dtype not in DIFFERENTIABLE:
        import logging  # late: hardly any program needs it

        logging.getLogger("autodiff_lab").warning(
            "The dtype of the watched tensor must be floating (e.g. float32), got %s", public(dtype).name
        )
