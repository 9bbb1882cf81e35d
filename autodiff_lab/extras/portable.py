"""Functions of TensorFlow that matter when it builds graphs; here operations always run eagerly."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.convert import convert, convert_to_tensor
from autodiff_lab.engine.dtypes import int32
from autodiff_lab.engine.shape import listed
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError, NotCallable
from autodiff_lab.events.listener import SCOPE, scoped
from autodiff_lab.ops.array.casting import identity
from autodiff_lab.ops.array.creation import shape

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, TensorLike


def executing_eagerly() -> bool:
    """Return whether operations run eagerly: always True.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.executing_eagerly()
    True
    """
    return True


def get_static_value(tensor: TensorLike, partial: bool = False) -> Any:
    """Return the value of a tensor as a NumPy array, None for a variable, and other values unchanged.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.get_static_value(lab.constant([1, 2]))
    array([1, 2], dtype=int32)
    """
    if isinstance(tensor, Variable):
        return None
    return tensor.numpy() if isinstance(tensor, Tensor) else tensor


def get_current_name_scope() -> str:
    """Return the path of the enclosing name scopes, or an empty string.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> with lab.name_scope("encoder"), lab.name_scope("layer1"):
    ...     print(lab.get_current_name_scope())
    encoder/layer1
    """
    return SCOPE.get()


def group(*inputs: object, **kwargs: object) -> None:
    """Do nothing: the inputs have already been computed.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> v = lab.Variable(1.0)
    >>> lab.group(v.assign_add(1.0), v.assign_add(1.0))
    >>> float(v)
    3.0
    """


def control_dependencies(control_inputs: object) -> AbstractContextManager[None]:
    """Return a context manager without effect: operations already run in the order in which they are written.

    Callables among the inputs are called.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> v = lab.Variable(1.0)
    >>> with lab.control_dependencies([v.assign(2.0)]):
    ...     print(float(v))
    2.0
    """
    for value in () if control_inputs is None else listed(control_inputs, "control_dependencies"):
        if callable(value) and not isinstance(value, (Tensor, Variable)):
            value()
    return nullcontext()


def identity_n(input: TensorLike, name: str | None = None) -> list[Tensor]:
    """Return the identity of each tensor of a list; gradients flow through.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> [float(t) for t in lab.identity_n([1.0, 2.0])]
    [1.0, 2.0]
    """
    return named([identity(x) for x in listed(input, "identity_n: input")], name)


def shape_n(input: TensorLike, out_type: DTypeLike = int32, name: str | None = None) -> list[Tensor]:
    """Return the shape of each tensor of a list as a vector of integers.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> [s.numpy().tolist() for s in lab.shape_n([[1.0, 2.0], [[3.0]]])]
    [[2], [1, 1]]
    """
    return named([shape(x, out_type) for x in listed(input, "shape_n: input")], name)


def tuple(tensors: Sequence[object], control_inputs: object = None, name: str | None = None) -> list[Any]:
    """Return the tensors as a list; all of them have already been computed.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> [float(t) for t in lab.tuple([lab.constant(1.0), lab.constant(2.0)])]
    [1.0, 2.0]
    """
    found = listed(tensors, "tuple: tensors")
    return found if name is None else identity_n(found, name)


def py_function(
    func: Callable[..., Any] | None = None,
    inp: TensorLike | None = None,
    Tout: DTypeLike | None = None,
    name: str | None = None,
) -> Any:
    """Call a Python function with tensors; gradients flow through the operations in it.

    Parameters
    ----------
    func : callable
        Called with a tensor for each input; without it, a decorator is returned.
    inp : list
        The inputs.
    Tout : DType, or a list of them
        The dtype of each result; a list of results is returned for a list.

    Raises
    ------
    InvalidArgumentError
        If the number of results differs from that of the dtypes, or `Tout` is missing.
    NotCallable
        If `func` is not a function.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.py_function(lambda x: x * 2.0, [3.0], lab.float32))
    Tensor(6.0, shape=(), dtype=float32)
    """

    def called(function: Callable[..., Any], arguments: Any) -> Any:
        with scoped(name):
            return _results(function(*[convert(x) for x in arguments]), Tout, "py_function")

    return _as_decorator(called, func, inp, Tout, "py_function")


def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: TensorLike | None = None,
    Tout: DTypeLike | None = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Call a Python function with NumPy arrays; its results are constants, so gradients stop.

    Parameters and errors are those of `py_function`; `stateful` has no effect.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> import numpy as np
    >>> print(lab.numpy_function(np.cumsum, [[1.0, 2.0]], lab.float32))
    Tensor([1. 3.], shape=(2,), dtype=float32)
    """

    def called(function: Callable[..., Any], arguments: Any) -> Any:
        found = _results(function(*[convert(x).numpy() for x in arguments]), Tout, "numpy_function")
        return named(found, name)

    return _as_decorator(called, func, inp, Tout, "numpy_function")


def _as_decorator(called: Callable[..., Any], func: Any, inp: Any, dtypes: Any, what: str) -> Any:
    if dtypes is None:
        raise InvalidArgumentError(f"{what}: Tout must be the dtype of each result, got None.")
    if func is None:
        return lambda function: lambda *arguments: called(function, arguments)
    if not callable(func):
        raise NotCallable(f"{what}: expected a function, got {type(func).__name__}.")
    return called(func, () if inp is None else inp)


def _results(answer: Any, dtypes: Any, what: str) -> Any:
    """Convert results to tensors of the expected dtypes."""
    if not isinstance(dtypes, (list, builtins.tuple)):
        return convert_to_tensor(answer, dtypes)
    answers = [] if answer is None else list(answer) if isinstance(answer, (list, builtins.tuple)) else [answer]
    if len(answers) != len(dtypes):
        raise InvalidArgumentError(
            f"{what}: expected one result for each dtype in Tout, got {len(answers)} for {len(dtypes)}."
        )
    return [convert_to_tensor(value, dtype) for value, dtype in zip(answers, dtypes, strict=True)]
