"""Tensor: an immutable value with an id.

A tensor of rank 0 holds a NumPy scalar and any other an ndarray; that choice and the missing ``__init__`` are what
makes small work cheap.  Operators are installed by the ops that implement them, so this module imports no op.
A tensor has no methods such as ``mean``: NumPy's functions would call them, and a value that goes through NumPy must
visibly leave the tape.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.attributes import Elsewhere
from autodiff_lab.engine.devices import CPU, device_of, place_of
from autodiff_lab.engine.dtypes import DType, public
from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.reference import Reference
from autodiff_lab.engine.shape import TensorShape
from autodiff_lab.engine.sharing import packed, shared_on_gpu, where_packed
from autodiff_lab.engine.strings import string_scalar
from autodiff_lab.errors import ConversionError
from autodiff_lab.events import Identified, TensorLeft, fresh_id, sinks_now
from autodiff_lab.kernels.cuda.array import DeviceArray

ndarray = np.ndarray


class Operators:
    """Declares, for editors and type checkers, the operators that ops install on tensors and variables."""

    __slots__ = ()
    if TYPE_CHECKING:

        def __add__(self, other: Any, /) -> Tensor: ...
        def __radd__(self, other: Any, /) -> Tensor: ...
        def __sub__(self, other: Any, /) -> Tensor: ...
        def __rsub__(self, other: Any, /) -> Tensor: ...
        def __mul__(self, other: Any, /) -> Tensor: ...
        def __rmul__(self, other: Any, /) -> Tensor: ...
        def __truediv__(self, other: Any, /) -> Tensor: ...
        def __rtruediv__(self, other: Any, /) -> Tensor: ...
        def __floordiv__(self, other: Any, /) -> Tensor: ...
        def __rfloordiv__(self, other: Any, /) -> Tensor: ...
        def __mod__(self, other: Any, /) -> Tensor: ...
        def __rmod__(self, other: Any, /) -> Tensor: ...
        def __pow__(self, other: Any, /) -> Tensor: ...
        def __rpow__(self, other: Any, /) -> Tensor: ...
        def __matmul__(self, other: Any, /) -> Tensor: ...
        def __rmatmul__(self, other: Any, /) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __and__(self, other: Any, /) -> Tensor: ...
        def __rand__(self, other: Any, /) -> Tensor: ...
        def __or__(self, other: Any, /) -> Tensor: ...
        def __ror__(self, other: Any, /) -> Tensor: ...
        def __xor__(self, other: Any, /) -> Tensor: ...
        def __rxor__(self, other: Any, /) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __lt__(self, other: Any, /) -> Tensor: ...
        def __le__(self, other: Any, /) -> Tensor: ...
        def __gt__(self, other: Any, /) -> Tensor: ...
        def __ge__(self, other: Any, /) -> Tensor: ...


class Tensor(Identified, Operators):
    """An immutable array of numbers of one dtype; made by `constant`, by ops, never by calling the class.

    Attributes
    ----------
    shape : TensorShape
        Length of each axis.
    dtype : DType
        Element type.
    ndim : int
        Number of axes.
    name : str or None
        The name given to `constant`.
    device : str
        Where it lies: ``"/CPU:0"``, ``"/GPU:0"``.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.constant([1.0, 2.0])
    >>> print(x)
    Tensor([1. 2.], shape=(2,), dtype=float32)
    >>> f"{x + 1}"
    '[2. 3.]'
    """

    __slots__ = ("_array", "_id", "_name", "__weakref__")
    __array_priority__ = 100  # so that ndarray * Tensor comes to us
    __hash__ = object.__hash__  # by identity: `==` compares elements
    _array: Any
    _held: Any

    if TYPE_CHECKING:

        def __getitem__(self, index: Any) -> Tensor: ...

    @property
    def shape(self) -> TensorShape:
        """Length of each axis."""
        return tuple.__new__(TensorShape, self._held.shape)  # whole numbers already; rules ask often

    @property
    def dtype(self) -> DType:
        """Element type."""
        return public(self._held.dtype)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._held.ndim

    @property
    def name(self) -> str | None:
        """The name given to `constant`, or None."""
        try:
            return self._name
        except AttributeError:
            return None

    @property
    def device(self) -> str:
        """Where it lies: ``"/CPU:0"``, ``"/GPU:0"``."""
        return device_of(self._held)

    @property
    def id(self) -> int:
        """The id by which events name this tensor."""
        return self._id

    def ref(self) -> Reference:
        """What stands for this tensor in a dict or a set: `deref` gives it back."""
        return Reference(self)

    def get_shape(self) -> TensorShape:
        """Length of each axis, as a method."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Check the shape, which is known here; None leaves a length open.

        Raises
        ------
        ShapeMismatch
            A `ValueError`: the tensor has another shape.
        """
        self.shape.assert_is_compatible_with(shape)

    def _leave(self, how: str) -> Any:
        for sink in sinks_now():
            sink.note(TensorLeft, self, how)
        return self._held

    def numpy(self) -> Any:
        """A copy as a NumPy array, or a NumPy scalar for rank 0; it leaves the tape."""
        array = self._leave("numpy")
        return array.copy() if array.__class__ is not DeviceArray else array.to_host()[()]

    def to_numpy(self) -> Any:
        """A copy as a NumPy array, under the name that matplotlib looks for."""
        return self.numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("A tensor never shares its memory. Try np.asarray(x) without copy=False.")
        return np.array(self._leave("__array__"), dtype)

    def cpu(self) -> Tensor:
        """The same values on the CPU: a copy of what lies on a GPU, through which gradients pass.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.constant([1.0, 2.0]).cpu().device
        '/CPU:0'
        """
        return RECORDING.copy_to_device(self, device=CPU) if self._held.__class__ is DeviceArray else self

    def gpu(self, gpu_index: int = 0) -> Tensor:
        """The same values on a GPU: a copy, through which gradients pass; itself if it lies there.

        Raises
        ------
        DeviceError
            If there is no such GPU, or if it holds no such elements (strings, bfloat16).
        DeviceMemoryError
            If there is no room.
        """
        name = place_of(f"GPU:{gpu_index}").name
        return self if self.device == name else RECORDING.copy_to_device(self, device=name)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return shared_on_gpu(self._held, self._leave)

    def __dlpack__(self, **how: Any) -> Any:
        return packed(self._leave("__dlpack__"), how)

    def __dlpack_device__(self) -> tuple[int, int]:
        return where_packed(self._held)

    def _one(self, how: str) -> Any:
        """The only element, for conversions to a Python number."""
        array = self._leave(how)
        if array.ndim:
            cure = "x[0]" if array.size == 1 else f"x.numpy(), lab.reduce_sum(x) or {how} of one element"
            raise ConversionError(f"{how}: a tensor of shape {array.shape} is not one number. Try {cure}.")
        if array.dtype.kind == "c" and how != "complex":
            raise ConversionError(f"{how}: a complex number is not real. Try lab.math.real(x) or lab.abs(x).")
        return array

    def __float__(self) -> float:
        return float(self._one("float"))

    def __int__(self) -> int:
        return int(self._one("int"))

    def __complex__(self) -> complex:
        return complex(self._one("complex"))

    def __index__(self) -> int:
        return operator.index(self._leave("index"))

    def __bool__(self) -> bool:
        array = self._leave("bool")
        if array.size != 1:
            raise ValueError(
                f"The truth value of a tensor of shape {array.shape} is ambiguous. "
                "Try lab.reduce_any(x) or lab.reduce_all(x)."
            )
        return bool(array)

    def __len__(self) -> int:
        if self._held.ndim == 0:
            raise TypeError("A scalar tensor has no len().")
        return self._held.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if self._held.ndim == 0:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(self._held.shape[0]))

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(
            "'Tensor' object does not support item assignment. A tensor never changes: try "
            "lab.tensor_scatter_nd_update, lab.where, or a lab.Variable with v[i].assign(...)."
        )

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self._array, self.name)  # with an id of its own: ids count within one process

    def __repr__(self) -> str:
        array = self._array
        if array.__class__ is DeviceArray:
            host = array.to_host()
            value = repr(host) if host.ndim else str(host)
            return f"<Tensor: shape={array.shape}, dtype={self.dtype.name}, device={self.device}, numpy={value}>"
        value = repr(array) if array.__class__ is ndarray else str(array)
        return f"<Tensor: shape={array.shape}, dtype={self.dtype.name}, numpy={value}>"

    def __str__(self) -> str:
        array = self._array
        place = f", device={self.device}" if array.__class__ is DeviceArray else ""
        return f"Tensor({array!s}, shape={array.shape}, dtype={self.dtype.name}{place})"

    def __format__(self, spec: str) -> str:
        if spec and self._array.ndim == 0:
            return format(self._array, spec)
        try:
            return format(str(self._array), spec)
        except ValueError:
            raise ConversionError(
                f"format: {spec!r} is for one number, and the tensor has shape {self._array.shape}. Try "
                "np.array2string(x.numpy(), precision=2)."
            ) from None


def _unpickled(array: Any, name: str | None) -> Tensor:
    tensor = wrap(array)
    if name is not None:
        tensor._name = name
    return tensor


def wrap(array: Any) -> Tensor:
    """A tensor around a result that is ours already: no copy, no conversion, no note."""
    tensor = Tensor()
    tensor._array = string_scalar(array) if array.__class__ is bytes else array
    tensor._id = fresh_id()
    return tensor


# A second name of the slot, for code that asks for shape, dtype or place alone, or whose reads a trace hears of in
# other ways: while a function is traced, a read under the first name is a look at the values.
Tensor._held = Tensor.__dict__["_array"]

Elsewhere.install(Tensor)
