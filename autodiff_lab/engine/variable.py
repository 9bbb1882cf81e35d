"""Variable: mutable state that tapes watch.

A variable holds an array that is never written to while anybody else may hold it (see `buffers`): assignments replace
it, so tensors read earlier keep their values. Reading it while something records gives one tensor for each tape and
assignment, so that every use of one state is the same source; the gradient of a variable is the sum over its reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.assigning import accumulated, combined
from autodiff_lab.engine.attributes import Elsewhere
from autodiff_lab.engine.buffers import held, hold
from autodiff_lab.engine.devices import device_of, placed_by_block
from autodiff_lab.engine.dtypes import DType, as_dtype, public
from autodiff_lab.engine.moving import move
from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.shape import TensorShape
from autodiff_lab.engine.tensor import MAKERS, Operators, Reference, Tensor, looked_at, wrap
from autodiff_lab.errors import ConversionError, ShapeMismatch, UnimplementedError
from autodiff_lab.events import VariableAssigned
from autodiff_lab.events.listener import (
    SCOPE,
    SINKS,
    Identified,
    fresh_id,
    place_now,
    sinks_now,
    tell_listeners,
    trace_now,
)

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import Array, DTypeLike, ShapeLike, TensorLike

_MISSING: Any = object()


class Variable(Identified, Operators):
    """A value that changes by assignment, with the operators of a tensor.

    Parameters
    ----------
    initial_value : Tensor, number, nested list or numpy.ndarray
        The first value; copied.
    trainable : bool
        Whether tapes watch it when it is read.
    validate_shape, caching_device, import_scope, synchronization, aggregation, experimental_enable_variable_lifting
        Taken in TensorFlow's places, and without effect here: values live in one process and on one device.
    name : str, optional
        ``name + ":0"`` becomes its name, with the scopes of `name_scope` before it; names need not differ.
    variable_def : None
        Not supported.
    dtype : DType, optional
        Of the value; it never changes.
    constraint : callable, optional
        A function of the variable that gives a value it may have. Optimizers assign that value after each step;
        assignments of your own are not changed.
    shape : TensorShape, optional
        The shape that values must have; ``TensorShape(None)`` takes any.

    Raises
    ------
    ConversionError
        If the initial value is not numeric or does not fit the dtype.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> v = lab.Variable([1.0, 2.0], name="v")
    >>> v.assign_add([1.0, 1.0])
    <Variable 'v:0' shape=(2,) dtype=float32, numpy=array([2., 3.], dtype=float32)>
    >>> print(v * 10)
    Tensor([20. 30.], shape=(2,), dtype=float32)
    """

    __array_priority__ = 100
    __hash__ = object.__hash__  # by identity: `==` compares elements
    _array = property(looked_at)
    __slots__ = ("_id", "_own", "_shape", "_view", "__weakref__", "constraint", "name", "trainable")
    _held = property(held, hold)
    initializer = None
    """Nothing is left to initialize: a variable has its value from the start."""

    if TYPE_CHECKING:

        def __getitem__(self, index: Any) -> Tensor: ...

    def __init__(
        self,
        initial_value: TensorLike | Callable[[], TensorLike] = _MISSING,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: object = None,
        name: str | None = None,
        variable_def: None = None,
        dtype: DTypeLike | None = None,
        import_scope: object = None,
        constraint: Callable[[Any], Any] | None = None,
        synchronization: object = None,
        aggregation: object = None,
        shape: ShapeLike | None = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        from autodiff_lab.engine.convert import convert_to_tensor

        if variable_def is not None:
            raise UnimplementedError("Variable: variable_def is not supported. Try an initial value.")
        if initial_value is _MISSING or initial_value is None:
            raise ConversionError("Variable: initial_value is required. Try lab.Variable(0.0).")
        if callable(initial_value) and not isinstance(initial_value, (Tensor, Variable)):
            initial_value = initial_value()
        if not isinstance(initial_value, (Tensor, Variable)):
            initial_value = convert_to_tensor(initial_value, dtype)
        elif dtype is not None and initial_value.dtype != as_dtype(dtype):
            raise ConversionError(
                f"Variable: expected an initial value of dtype {as_dtype(dtype).name}, got {initial_value.dtype.name}. "
                "Try lab.cast."
            )
        self._own: Any = placed_by_block(initial_value._held)
        self._view, self._id = None, fresh_id()
        self.name = f"{scope}/{name or 'Variable'}:0" if (scope := SCOPE.get()) else f"{name or 'Variable'}:0"
        if isinstance(initial_value, (Tensor, Variable)) and sinks_now():
            tell_listeners(VariableAssigned(self._id, self.name, self._held, initial_value._id, place_now()))
        self._shape = None if shape is None else TensorShape(shape)
        self.trainable, self.constraint = trainable is None or trainable, constraint
        if self._shape is not None and not self._shape.is_compatible_with(self._held.shape):
            raise ShapeMismatch(f"Variable: expected an initial value of shape {self._shape}, got {self._held.shape}.")
        trace = trace_now()
        if trace is not None:
            trace.note_new(self)

    @property
    def shape(self) -> TensorShape:
        """Length of each axis, or the shape it was declared with."""
        return TensorShape(self._held.shape) if self._shape is None else self._shape

    @property
    def dtype(self) -> DType:
        """Element type."""
        return public(self._held.dtype)

    @property
    def ndim(self) -> int:
        """Number of axes of the present value."""
        return self._held.ndim

    @property
    def device(self) -> str:
        """Where its value lies: ``"/CPU:0"``, ``"/GPU:0"``."""
        return device_of(self._held)

    @property
    def id(self) -> int:
        """The id by which events name this variable."""
        return self._id

    def ref(self) -> Reference:
        """Return what stands for this variable in a dict or a set: `deref` gives it back."""
        return Reference(self)

    def get_shape(self) -> TensorShape:
        """Length of each axis, as a method."""
        return self.shape

    def set_shape(self, shape: ShapeLike) -> None:
        """Narrow the shape that later values must have; None leaves a length open.

        Raises
        ------
        ShapeMismatch
            A `ValueError`: the declared shape and this one contradict each other.
        """
        merged = self.shape.merge_with(shape)
        if self._shape is not None:
            self._shape = merged

    def read(self) -> Tensor:
        """Return the present value as a tensor; tapes that record see the read."""
        sinks = sinks_now()
        array = self._held
        if not sinks:
            return wrap(array)
        # The outermost sink has seen every read that the others have. A trace begins before the tapes it hears, and
        # what was read before a tape is not that tape's read.
        outermost = 1 if sinks[0].traces and len(sinks) > 1 else 0
        tensor = sinks[outermost].reads.get(self)
        if tensor is None or tensor._held is not array:
            tensor = wrap(array)
        elif len(sinks) == 1:
            return tensor
        for sink in sinks:
            if sink.reads.get(self) is not tensor:
                sink.note_read(self, tensor)
        return tensor

    def value(self) -> Tensor:
        """Return the present value as a tensor."""
        return self.read()

    read_value = value

    def numpy(self) -> Array:
        """Return a copy of the value as a NumPy array, or a NumPy scalar for rank 0."""
        return self.read().numpy()

    def to_numpy(self) -> Array:
        """Return a copy as a NumPy array, under the name that matplotlib looks for."""
        return self.numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self.read().__array__(dtype, copy)

    def __float__(self) -> float:
        return float(self.read())

    def __int__(self) -> int:
        return int(self.read())

    def __index__(self) -> int:
        return self.read().__index__()

    def __bool__(self) -> bool:
        return bool(self.read())

    def __len__(self) -> int:
        return len(self.read())

    def __iter__(self) -> Any:
        return iter(self.read())

    def assign(
        self, value: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Variable:
        """Replace the value; dtype stays, shape too unless it was declared open.

        Returns the variable, or None if `read_value` is false.

        Raises
        ------
        ConversionError
            A `TypeError`: the value has another dtype.
        ShapeMismatch
            A `ValueError`: the value has another shape.
        """
        tensor = self._converted(value)
        self._check_shape(tensor._held.shape)
        self._replace(tensor._held, tensor)
        return self if read_value else None  # type: ignore[return-value]

    def assign_add(
        self, delta: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Variable:
        """Add to the value; gradients do not pass from `delta` to later reads."""
        return self._changed("add", np.add, delta, read_value)

    def assign_sub(
        self, delta: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Variable:
        """Subtract from the value; gradients do not pass from `delta` to later reads."""
        return self._changed("subtract", np.subtract, delta, read_value)

    def _converted(self, value: Any) -> Tensor:
        from autodiff_lab.engine.convert import convert, outside_blocks

        if isinstance(value, (Tensor, Variable)):
            tensor = self._beside(convert(value))
            if tensor._held.dtype != self._held.dtype:
                raise ConversionError(
                    f"Cannot convert {value} to Tensor of dtype {self.dtype.name}: variable {self.name} keeps its "
                    f"dtype. Try lab.cast(value, lab.{self.dtype.name})."
                )
            return tensor
        return self._beside(outside_blocks(value, self.dtype), by_value=True)

    def _beside(self, tensor: Tensor, by_value: bool = False) -> Tensor:
        """Ask a tensor that is not a plain one, the present value or the given one, what to assign."""
        if self._held.__class__ in MAKERS or tensor._held.__class__ in MAKERS:
            voice: Any = tensor if hasattr(tensor, "assignable") else wrap(self._held)
            return voice.assignable(self, tensor, by_value)
        return tensor

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        declared = self._held.shape if self._shape is None else self._shape
        fits = shape == declared if self._shape is None else self._shape.is_compatible_with(shape)
        if not fits:
            raise ShapeMismatch(
                f"Cannot assign to variable {self.name}: variable shape {declared} and value shape {shape} "
                "are incompatible. Try lab.reshape, or declare the variable with shape=lab.TensorShape(None)."
            )

    def _changed(self, op: str, kernel: Any, delta: Any, read_value: bool) -> Variable:
        if getattr(delta, "are_rows", False) and delta.shape == self._held.shape and delta.dtype == self.dtype:
            getattr(self, "scatter_add" if op == "add" else "scatter_sub")(delta)
        else:
            tensor = self._converted(delta)
            if tensor._held.shape != self._held.shape:
                self._check_shape(tensor._held.shape)
            self._accumulate(op, kernel, tensor)
        return self if read_value else None  # type: ignore[return-value]

    def _accumulate(self, op: str, kernel: Any, tensor: Tensor) -> None:
        """Replace the value by its sum or difference with `tensor`; a trace hears of it as an op, a tape does not."""
        trace = trace_now()
        if trace is None:
            total = accumulated(self, kernel, tensor._held)
            if sinks_now():
                tell_listeners(VariableAssigned(self._id, self.name, total, tensor._id, place_now()))
            return
        trace.before.note_variable(self)
        sinks = sinks_now()
        SINKS.set((trace,))
        try:
            total = combined(self, getattr(RECORDING, op), tensor)
        finally:
            SINKS.set(sinks)
        self._tell(total._held, tensor, total)

    def _replace(self, array: Any, source: Tensor) -> None:
        """Take a new value; `source` is the tensor that the user gave."""
        if (trace := trace_now()) is not None:
            trace.before.note_variable(self)
        self._held = array.copy() if getattr(array, "base", None) is not None else array
        self._tell(self._held, source, source)

    def _tell(self, array: Any, source: Tensor, value: Tensor) -> None:  # `value` holds the new value
        if sinks_now():
            tell_listeners(VariableAssigned(self._id, self.name, array, source._id, place_now()))
            if (trace := trace_now()) is not None:
                trace.note_assign(self, value)

    def assign_slice(self, index: Any, value: TensorLike) -> Variable:
        """Replace the elements that `index` selects; ``v[index].assign(value)`` is the same."""
        tensor = self._converted(value)
        changed = self._held.copy() if self._held.__class__ in MAKERS else np.array(self._held)
        try:
            changed[index] = tensor._held
        except ValueError:
            raise ShapeMismatch(
                f"Cannot assign a value of shape {tensor._held.shape} to a slice of shape {changed[index].shape} of "
                f"variable {self.name}. Try lab.reshape or lab.broadcast_to."
            ) from None
        if (trace := trace_now()) is not None:
            trace.refuse(f"a slice of the variable {self.name} is assigned")
        self._replace(changed if changed.ndim else changed[()], tensor)
        return self

    def move_to(self, device: str) -> Variable:
        """Put the value on another device, where it stays from now on.

        Parameters
        ----------
        device : str
            ``"/GPU:0"``, ``"/CPU:0"`` and the like; see `device`.

        Raises
        ------
        DeviceError
            If there is no such device.
        TapeMisused
            If a tape holds a read of the variable: its gradient would be on a device that the variable has left.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.Variable([1.0, 2.0]).move_to("/CPU:0").device
        '/CPU:0'
        """
        move(self, device)
        return self

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError("'Variable' object does not support item assignment. Try v[index].assign(value).")

    def __reduce__(self) -> tuple[Any, ...]:
        name = self.name.removesuffix(":0")  # a copy is another variable, with an id of its own
        return _unpickled, (type(self), self._array, self.trainable, name, self._shape, self.constraint)

    def __repr__(self) -> str:
        array, place = self._array, ""
        if array.__class__ in MAKERS:
            array, place = array.to_host()[()], f", device={self.device}"
        value = repr(array) if array.__class__ is np.ndarray else str(array)
        return f"<Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}{place}, numpy={value}>"

    def __format__(self, spec: str) -> str:
        return format(self._array, spec) if spec and self._array.ndim == 0 else format(repr(self), spec)


def _unpickled(kind: Any, array: Any, trainable: bool, name: str, shape: Any, constraint: Any = None) -> Variable:
    made = kind(wrap(array), trainable=trainable, name=name, shape=shape)
    made.name, made.constraint = f"{name}:0", constraint  # whatever the scopes around the copy
    return made


Elsewhere.install(Variable)
