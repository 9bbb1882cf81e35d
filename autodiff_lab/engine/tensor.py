"""Tensor: an immutable value with an id.

A tensor of rank 0 holds a NumPy scalar and any other an ndarray; that choice and the missing ``__init__`` are what
makes small work cheap.  Operators are installed by the ops that implement them, so this module imports no op.
A tensor has no methods such as ``mean``: NumPy's functions would call them, and a value that goes through NumPy must
visibly leave the tape.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from autodiff_lab.engine.attributes import Elsewhere, check_name
from autodiff_lab.engine.devices import CPU, place_of
from autodiff_lab.engine.dtypes import DType, public
from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.shape import TensorShape
from autodiff_lab.engine.sharing import DLPACK_CPU, packed
from autodiff_lab.engine.strings import string_scalar
from autodiff_lab.errors import ConversionError
from autodiff_lab.events import TensorLeft, TensorNamed
from autodiff_lab.events.listener import Identified, fresh_id, sinks_now, tell_look

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from autodiff_lab.engine.annotations import ShapeLike


class Reference:
    """A key for dicts and sets: two references are equal if they are to the same tensor or variable.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> v = lab.Variable(1.0)
    >>> v.ref() in {v.ref()}, v.ref().deref() is v
    (True, True)
    """

    __slots__ = ("_to",)

    def __init__(self, to: Any) -> None:
        self._to = to

    def deref(self) -> Any:
        """Return the tensor or variable itself."""
        return self._to

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._to is other._to

    def __hash__(self) -> int:
        return id(self._to)

    def __repr__(self) -> str:
        return f"<Reference to {self._to!r}>"


ndarray = np.ndarray
_Value = TypeVar("_Value")


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
        def __divmod__(self, other: Any, /) -> tuple[Tensor, Tensor]: ...
        def __rdivmod__(self, other: Any, /) -> tuple[Tensor, Tensor]: ...
        def __round__(self, digits: int | None = None, /) -> Tensor: ...
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


def looked_at(holder: Any, deciding: bool = True, how: str = "") -> Any:
    """Return the array of a tensor or variable to code that looks at its values outside of ops; a trace hears of it.

    An op reads arrays as `_held`, and so does code that asks for a shape or a dtype alone.  Any other code that looks
    at values takes a decision that a program would not take again, so it reads `_array`; printing reads `_printed`.
    `how` says what a recording should know of it, see `TensorRead`.
    """
    if sinks_now():
        tell_look(holder, deciding, how)
    return holder._held


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
        The name that was given with ``name=``; recordings show it.
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

    __slots__ = ("_held", "_hollow", "_id", "_name", "__weakref__")  # `_hollow` is what tapes keep of a large one
    __array_priority__ = 100  # so that ndarray * Tensor comes to us
    __hash__ = object.__hash__  # by identity: `==` compares elements
    _held: Any
    _hollow: Tensor | None
    _array = property(looked_at)
    _printed = property(lambda self: looked_at(self, deciding=False))

    if TYPE_CHECKING:

        def __getitem__(self, index: Any) -> Tensor: ...

    @property
    def shape(self) -> TensorShape:
        """Length of each axis."""
        return tuple.__new__(TensorShape, self._held.shape)  # integers already; rules ask often

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
        """The name that was given with ``name=``, or None."""
        try:
            return self._name
        except AttributeError:
            return None

    @property
    def device(self) -> str:
        """Where it lies: ``"/CPU:0"``, ``"/GPU:0"``."""
        return CPU

    @property
    def id(self) -> int:
        """The id by which events name this tensor."""
        return self._id

    def ref(self) -> Reference:
        """Return what stands for this tensor in a dict or a set: `deref` gives it back."""
        return Reference(self)

    def get_shape(self) -> TensorShape:
        """Length of each axis, as a method."""
        return self.shape

    def set_shape(self, shape: ShapeLike) -> None:
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

    def numpy(self) -> NDArray[Any]:
        """Return a copy as a NumPy array, or a NumPy scalar for rank 0; it leaves the tape."""
        return self._leave("numpy").copy()

    def to_numpy(self) -> NDArray[Any]:
        """Return a copy as a NumPy array, under the name that matplotlib looks for."""
        return self.numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("A tensor never shares its memory. Try np.asarray(x) without copy=False.")
        return np.array(self._leave("__array__"), dtype)

    def cpu(self) -> Tensor:
        """Return the same values on the CPU: a copy of what is on a GPU, through which gradients pass.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.constant([1.0, 2.0]).cpu().device
        '/CPU:0'
        """
        return self

    def gpu(self, gpu_index: int = 0) -> Tensor:
        """Return the same values on a GPU: a copy, through which gradients pass; itself if it lies there.

        Raises
        ------
        DeviceError
            If there is no such GPU, or if it holds no such elements (strings, bfloat16).
        DeviceMemoryError
            If there is no room.
        """
        name = place_of(f"GPU:{gpu_index}").name
        return self if self.device == name else RECORDING.copy_to_device(self, device=name)

    def __dlpack__(self, **how: Any) -> Any:
        return packed(self._leave("__dlpack__"), how)

    def __dlpack_device__(self) -> tuple[int, int]:
        return DLPACK_CPU, 0

    def _one(self, how: str) -> Any:
        """Return the only element, for conversions to a Python number."""
        array = self._leave(how)
        if array.ndim:
            cure = "x[0]" if array.size == 1 else f"x.numpy(), lab.reduce_sum(x) or {how} of one element"
            raise ConversionError(f"{how}: expected a tensor of rank 0, got shape {array.shape}. Try {cure}.")
        if array.dtype.kind == "c" and how != "complex":
            raise ConversionError(f"{how}: cannot convert a complex number. Try lab.math.real(x) or lab.abs(x).")
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
        return _unpickled, (self._printed, self.name)  # with an id of its own: ids count within one process

    def __repr__(self) -> str:
        array = self._printed
        value = repr(array) if array.__class__ is ndarray else str(array)
        return f"<Tensor: shape={array.shape}, dtype={self.dtype.name}, numpy={value}>"

    def __str__(self) -> str:
        array = self._printed
        return f"Tensor({array!s}, shape={array.shape}, dtype={self.dtype.name})"

    def __format__(self, spec: str) -> str:
        if spec and self._printed.ndim == 0:
            return format(self._printed, spec)
        try:
            return format(str(self._printed), spec)
        except ValueError:
            raise ConversionError(
                f"format: the format {spec!r} needs a tensor of rank 0, got shape {self._printed.shape}. Try "
                "np.array2string(x.numpy(), precision=2)."
            ) from None


def _unpickled(array: Any, name: str | None) -> Tensor:
    tensor = wrap(array)
    if name is not None:
        tensor._name = name
    return tensor


def wrap(array: Any) -> Tensor:
    """Return a tensor around a result that is ours already: no copy, no conversion, no note."""
    if array.__class__ in MAKERS:
        return MAKERS[array.__class__](array)
    tensor = Tensor()
    tensor._held = array
    tensor._id = fresh_id()
    tensor._hollow = None
    return tensor


MAKERS: dict[type, Callable[[Any], Tensor]] = {bytes: lambda value: wrap(string_scalar(value))}
"""By the class of a value, what makes its tensor, where that is more than a plain `Tensor` around it."""


def named(value: _Value, name: str | None) -> _Value:
    """Give what an op made a name, unless that is None, and return it; what has a name keeps it.

    The parts of a list or tuple are named ``name[0]``, ``name[1]``, those of a named tuple ``name.field``.  A value
    that is made of tensors, such as a ragged one, gives what has the name, by its method `__named__`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.exp(0.0, name="one").name
    'one'
    >>> [part.name for part in lab.unstack([1.0, 2.0], name="parts")]
    ['parts[0]', 'parts[1]']
    """
    if name is None:
        return value
    check_name(name)
    if isinstance(value, Tensor):
        if value.name is None:
            value._name = name
            for sink in sinks_now():
                if sink.listens:
                    sink.tell(TensorNamed(value._id, name))
                elif sink.traces:
                    sink.note_name(value, name)
    elif hasattr(value, "_fields"):
        parts = zip(value, value._fields, strict=True)  # pyright: ignore[reportAttributeAccessIssue, reportArgumentType]
        return type(value)(*[named(part, f"{name}.{field}") for part, field in parts])
    elif isinstance(value, (list, tuple)):
        return type(value)(named(part, f"{name}[{i}]") for i, part in enumerate(value))  # pyright: ignore[reportCallIssue]
    elif hasattr(value, "__named__"):
        return value.__named__(name)  # pyright: ignore[reportAttributeAccessIssue]
    return value


Elsewhere.install(Tensor)
