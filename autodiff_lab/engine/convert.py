"""How Python and NumPy values become tensors.

Python floats become float32 and ints int32; NumPy values keep their dtype, but adopt the dtype of the tensor that
they meet in an operator if it is of the same kind, as TensorFlow's eager ops do.  Nothing else is cast implicitly.
Sinks are notified of a NumPy value or a list that enters, because a value that once left the tape may come back so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.devices import device, device_now, memory_of, placed
from autodiff_lab.engine.dtypes import TABLE, as_dtype, public
from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.python_values import NO_GRADIENT, fault_of_objects, fits, python_array, refitted
from autodiff_lab.engine.shape import as_integers
from autodiff_lab.engine.sharing import copied_on_gpu
from autodiff_lab.engine.strings import string_array
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import (
    ConversionError,
    DtypeMismatch,
    InvalidArgumentError,
    LabError,
    NotOneTensor,
    ShapeMismatch,
)
from autodiff_lab.events import TensorMet
from autodiff_lab.events.listener import sinks_now, tell_peek
from autodiff_lab.kernels.arrays import ranked

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, ShapeLike, TensorLike

ndarray = np.ndarray
_SCALARS: dict[type, Any] = {float: np.float32, bool: np.bool_, complex: np.complex128}


def contains_tensor(value: Any) -> bool:
    """Return whether a list, at any depth, holds a tensor or variable."""
    if isinstance(value, (list, tuple)):
        return any(contains_tensor(item) for item in value)
    return isinstance(value, (Tensor, Variable))


def as_array(value: Any, dtype: np.dtype[Any] | None) -> Any:
    """Return the array (a NumPy scalar for rank 0) of a value that is not a tensor; always a copy."""
    if isinstance(value, (ndarray, np.generic)):
        if value.__class__ is not ndarray and np.any(getattr(value, "mask", False)):
            raise ConversionError(
                "Cannot convert a masked array to Tensor: a tensor has no mask. Try array.filled(0.0), and lab.where "
                "or weights for what must not count."
            )
        if value.dtype.kind in "USO":
            if value.dtype.kind == "O" and (fault := fault_of_objects(value)):
                raise ConversionError(f"Cannot convert a NumPy array of dtype object to Tensor: {fault}")
            return string_array(value, dtype)
        if value.dtype.kind not in "fiubcV" or value.dtype not in KNOWN:
            native = value.dtype.newbyteorder("=")
            cure = native.name if native in KNOWN else "float32"
            raise ConversionError(
                f"Cannot convert a NumPy array of dtype {value.dtype} to Tensor. Try array.astype('{cure}')."
            )
        return np.array(value)[()] if dtype is None or dtype == value.dtype else refitted(value, dtype)
    if value.__class__ is float and (dtype is None or dtype.char in "fd") and -1e38 < value < 1e38:  # the quick way
        return np.float32(value) if dtype is None else dtype.type(value)
    make = _SCALARS.get(value.__class__)
    if make is not None and dtype is None:
        with np.errstate(all="ignore"):
            return make(value)
    if hasattr(value, "__cuda_array_interface__"):
        return _of_gpu(value, dtype)
    if hasattr(value, "__array__"):
        return as_array(np.asarray(value), dtype)
    return python_array(value, dtype)[()]


def _of_gpu(value: Any, dtype: np.dtype[Any] | None) -> Any:
    """Return a copy, on its GPU, of an array of CuPy or the like."""
    array = copied_on_gpu(value)
    if dtype is None or dtype == array.dtype:
        return array
    if not fits(array, dtype):  # type: ignore[arg-type]
        raise ConversionError(
            f"Cannot convert an array of dtype {array.dtype} on {array.memory.name} to Tensor of dtype "
            f"{public(dtype).name}; that would drop fractional parts. Try lab.cast."
        )
    return array.astype(dtype)


NEWCOMERS: list[Callable[[Any, Tensor | None], Tensor]] = []
"""What makes a tensor of a Python or NumPy value in the call of an op, where that is not `wrap`: once a GPU is used."""
KNOWN = frozenset(known.dtype for known in TABLE.values() if known.dtype.kind != "O")


def convert(value: Any, like: Tensor | None = None) -> Tensor:
    """Return a tensor, the slow path of every op: variables are read, other values enter as constants and are noted."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, Variable):
        return value.read()
    if value.__class__ is float and like is not None and like._held.dtype.char in "fd" and not NEWCOMERS:
        return wrap(as_array(value, like._held.dtype))
    if hasattr(value, "__tensor__"):
        return value.__tensor__()
    if isinstance(value, (list, tuple)) and contains_tensor(value):
        return _pack(value)
    if value is None or hasattr(value, "__lab_apply__"):
        raise _no_tensor(value)
    dtype = None
    if like is not None:
        dtype = like._held.dtype
        if isinstance(value, (ndarray, np.generic)) and value.dtype.kind != dtype.kind:
            dtype = None
    array = as_array(value, dtype)
    tensor = NEWCOMERS[0](array, like) if NEWCOMERS else wrap(array)
    if value.__class__ is not int and value.__class__ is not float:  # a literal explains nothing, an array may
        tell_entry(value, tensor, "converted")
    return tensor


def _no_tensor(value: Any) -> ConversionError:
    if value is not None:
        return NotOneTensor(value)
    return ConversionError(f"Cannot convert None to Tensor: {NO_GRADIENT}")


def tell_entry(value: Any, tensor: Tensor, how: str) -> None:
    """Report that a Python or NumPy value became a tensor; a trace asks which value it was."""
    for sink in sinks_now():
        sink.note(TensorMet, tensor, how)
        if sink.traces:
            sink.note_entry(value, tensor)


def handed(met: NotOneTensor, function: Callable[..., Any], inputs: tuple[Any, ...], **params: Any) -> Any:
    """Hand a public function, its operands and other arguments over to a value that answers for itself.

    Refusals come without a history.
    """
    if not hasattr(met.value, "__lab_apply__"):  # beside one that has it stands a value that nothing can be made of
        raise met
    try:
        return met.value.__lab_apply__(function, inputs, params)
    except LabError as error:
        raise error from None


def alone(tensor: Tensor) -> Tensor:
    """Place a value that entered with a call and meets no other tensor where new tensors are made."""
    return tensor if tensor.__class__ is Tensor or not hasattr(tensor, "alone") else getattr(tensor, "alone")()  # noqa: B009


def is_composite(value: Any) -> bool:
    """Return whether a value has ``__lab_apply__`` and is not one tensor: a ragged, sparse or symbolic tensor."""
    return hasattr(value, "__lab_apply__") and not isinstance(value, Tensor)


def operand(value: Any) -> Any:
    """Make a tensor of an op's only operand, as `convert` does; a value that answers for itself stays as it is."""
    if isinstance(value, Variable):
        return value.read()
    return value if hasattr(value, "__lab_apply__") else convert(value)


def _pack(value: Any) -> Tensor:
    """Stack a nested list that holds tensors to one tensor, differentiably; numbers in it adopt its dtype."""
    items = [_pack(v) if isinstance(v, (list, tuple)) and contains_tensor(v) else v for v in value]
    first = next(v for v in items if isinstance(v, (Tensor, Variable)))
    first = convert(first)
    tensors = [convert(v, first) for v in items]
    return RECORDING.stack(*tensors, axis=-first._held.ndim - 1)


def convert_pair(op: Any, x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Make tensors of two operands, as `operands` does; what is not one tensor raises."""
    x, y = operands(op, x, y)
    for value in (x, y):
        if not isinstance(value, Tensor):
            raise NotOneTensor(value)
    return x, y


def operands(op: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Make tensors of two operands; where one of them answers for itself, both stay as they are.

    A Python number or list adopts the dtype of its partner, a NumPy value if the kind agrees; a Python int beside a
    Python float counts as a float.
    """
    if x.__class__ is Tensor and (y.__class__ is float or y.__class__ is int):  # the commonest of all
        return x, _adopt(op, y, x)
    if x.__class__ is not Tensor and isinstance(x, Variable):
        x = x.read()
    if y.__class__ is not Tensor and isinstance(y, Variable):
        y = y.read()
    if isinstance(x, Tensor):
        return x, y if isinstance(y, Tensor) else _adopt(op, y, x)
    if isinstance(y, Tensor):
        return _adopt(op, x, y), y
    if hasattr(x, "__lab_apply__") or hasattr(y, "__lab_apply__"):
        return x, y
    x = convert(float(x) if x.__class__ is int and y.__class__ is float else x)
    y = _adopt(op, y, x)
    return x, y


def _adopt(op: Any, value: Any, partner: Tensor) -> Tensor:
    kind = value.__class__
    if kind is float or kind is int:
        dtype = partner._held.dtype
        if kind is int and dtype.kind in "iu":
            if abs(value) > 127:
                limits = np.iinfo(dtype)
                if not limits.min <= value <= limits.max:
                    raise ConversionError(
                        f"{op.name}: {value} is out of range for {dtype.name}. Try lab.cast(x, lab.int64)."
                    )
        elif dtype.kind in "iubO":
            cure = "strings.to_number(x)" if dtype.kind == "O" else "cast(x, lab.float32)"
            raise DtypeMismatch(
                f"{op.name}: cannot convert the Python number {value!r} to {partner.dtype.name}, the dtype of the "
                f"other operand. Try lab.{cure} first."
            )
        try:
            return wrap(dtype.type(float(value) if dtype.kind == "V" else value))  # bfloat16 refuses long integers
        except (RuntimeWarning, FloatingPointError):
            return wrap(dtype.type(np.inf if value > 0 else -np.inf))
        except OverflowError:
            raise ConversionError(
                f"{op.name}: an integer of {len(str(abs(value)))} digits is out of range for {partner.dtype.name}. "
                "Try float('inf'), or a smaller number."
            ) from None
    if issubclass(kind, complex) and partner._held.dtype.kind != "c":
        wide = "complex128" if partner._held.dtype.itemsize == 8 else "complex64"
        raise DtypeMismatch(
            f"{op.name}: {value!r} is complex, and the other operand has dtype {partner.dtype.name}. Try "
            f"lab.cast(x, lab.{wide}) for the other operand."
        )
    return value if hasattr(value, "__lab_apply__") else convert(value, partner)


def constant(
    value: TensorLike, dtype: DTypeLike | None = None, shape: ShapeLike | None = None, name: str | None = None
) -> Tensor:
    """Return a tensor from a Python or NumPy value.

    Parameters
    ----------
    value : number, nested list, numpy.ndarray or Tensor
        What it holds; it is copied.
    dtype : DType, str or NumPy dtype, optional
        Python floats become float32, ints int32 (int64 where they are larger) and bools bool if it is not given; NumPy
        values keep theirs.
    shape : int or sequence of int, optional
        The result's shape: a single number fills it, other values are rearranged.
    name : str, optional
        Shown in pictures and texts.

    Returns
    -------
    Tensor

    Raises
    ------
    NotRectangular
        If rows differ in length.
    ConversionError
        If the value is not numeric, or does not fit the dtype.
    ShapeMismatch
        If the value does not fill the shape.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.constant([1, 3.0]))
    Tensor([1. 3.], shape=(2,), dtype=float32)
    """
    if is_composite(value):
        raise NotOneTensor(value)
    if shape is None:
        return convert_to_tensor(value, dtype, name=name)
    with device(None):
        array = ranked(convert_to_tensor(value, dtype)._held)
    shape = as_integers(shape, "constant: shape")
    if array.size == 1 and min(shape, default=0) >= 0 and math.prod(shape) < 1 << 60:
        array = np.broadcast_to(array.reshape(()), shape)
    elif array.size != math.prod(shape) or min(shape, default=0) < 0:
        raise ShapeMismatch(
            f"constant: cannot fill shape {shape} with {array.size} values; it takes {math.prod(shape)}."
        )
    if memory_of(array) is None:
        return convert_to_tensor(array.reshape(shape), name=name)
    made = wrap(array.reshape(shape))
    if name is not None:
        made._name = name
    return made


def convert_to_tensor(
    value: TensorLike, dtype: DTypeLike | None = None, dtype_hint: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """Return a tensor from any value that ops accept; a tensor is returned as it is, a variable is read.

    Parameters
    ----------
    value : Tensor, Variable, number, nested list or numpy.ndarray
        Lists may hold tensors: they are stacked, and gradients pass through.
    dtype : DType, optional
        The dtype of the result.
    dtype_hint : DType, optional
        The dtype to take if the value allows it.
    name : str, optional
        Shown in pictures and texts.

    Raises
    ------
    ConversionError
        If the value is not numeric, ragged, or does not fit the dtype.
    DtypeMismatch
        If a tensor has another dtype.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.convert_to_tensor([1, 2, 3]))
    Tensor([1 2 3], shape=(3,), dtype=int32)
    """
    wanted = None if dtype is None else as_dtype(dtype).dtype
    if isinstance(value, (Tensor, Variable)) or (isinstance(value, (list, tuple)) and contains_tensor(value)):
        tensor = convert(value)
        if wanted is not None and tensor._held.dtype != wanted:
            raise DtypeMismatch(
                f"convert_to_tensor: expected a tensor of dtype {public(wanted).name}, got {tensor.dtype.name}. Try "
                "lab.cast."
            )
        return tensor
    if wanted is None and dtype_hint is not None:
        try:
            return convert_to_tensor(value, dtype_hint, name=name)
        except ConversionError:
            pass
    other: Any = value
    if hasattr(other, "__lab_apply__"):
        return other.__lab_apply__(convert_to_tensor, (other,), {"dtype": dtype})
    if hasattr(other, "__tensor__"):
        return convert_to_tensor(other.__tensor__(), dtype)
    tensor = wrap(placed(as_array(value, wanted)))
    if name is not None:
        tensor._name = name
    tell_entry(value, tensor, "constant" if isinstance(value, (int, float)) else "converted")
    return tensor


def outside_blocks(value: Any, dtype: Any) -> Tensor:
    """Make a tensor as `convert_to_tensor` does, ignoring blocks of `device`: the caller places it."""
    if device_now() is None:
        return convert_to_tensor(value, dtype)
    with device(None):
        return convert_to_tensor(value, dtype)


def whole(value: Any, what: str) -> int:
    """Return an integer, which may come as a tensor with one element.

    Raises
    ------
    InvalidArgumentError
        If it is not one integer.
    """
    tensor = convert(value)
    array = tensor._held
    if array.size != 1 or array.dtype.kind not in "iu":
        raise InvalidArgumentError(f"{what} must be an integer, got {value!r:.80}.")
    if isinstance(value, (Tensor, Variable)):
        tell_peek(tensor, "index")
    return int(array.reshape(()) if array.ndim else array)


def is_tensor(x: TensorLike) -> bool:
    """Return whether a value is a tensor or a variable.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.is_tensor(lab.constant(1.0)), lab.is_tensor(1.0)
    (True, False)
    """
    return isinstance(x, (Tensor, Variable))
