"""`function`, the decorator that makes compiled functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, overload

from autodiff_lab.compile.front.function import Function
from autodiff_lab.compile.front.signed import Signed
from autodiff_lab.compile.front.typed import Decorator, P, R
from autodiff_lab.errors import InvalidArgumentError, NotCallable

BACKENDS = ("auto", "numpy")
_NO_FUNCTIONS = (inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction)


@overload
def function(python_function: Callable[P, R], input_signature: object = None, autograph: bool = True,
             jit_compile: bool | None = None, reduce_retracing: bool = False, *,
             backend: str = "auto") -> Function[P, R]: ...  # fmt: skip
@overload
def function(python_function: None = None, input_signature: object = None, autograph: bool = True,
             jit_compile: bool | None = None, reduce_retracing: bool = False, *,
             backend: str = "auto") -> Decorator: ...  # fmt: skip
def function(python_function: Callable[..., Any] | None = None, input_signature: object = None, autograph: bool = True,
             jit_compile: bool | None = None, reduce_retracing: bool = False, *,
             backend: str = "auto") -> Any:  # fmt: skip
    """Compile a function of tensors: traced once for each shape and dtype, then run as one program.

    Tapes inside are traced too, so a training step with its gradients and updates becomes one program.  Variables are
    read and assigned as in the eager function.  What cannot be compiled runs eagerly; a log message says so once, with
    the reason and the line, and `why` repeats it.

    Parameters
    ----------
    python_function : callable
        Takes tensors, structures of them, variables and plain Python values; the latter are compiled in.  NumPy arrays
        become tensors.
    input_signature : sequence of TensorSpec, optional
        One for each argument, or a structure of them; a length of None may be any. Arrays, lists and numbers are
        converted to the dtype, and a tensor that does not match is an error. Each shape still has its own program.
    autograph : bool
        Without effect, for programs written for TensorFlow: the code of a function is never rewritten. A
        branch on a tensor is compiled once for each path that calls take, up to five programs for a signature.
    jit_compile : bool, optional
        False is ``backend="numpy"``, which generates no machine code; True and None are the default.
    reduce_retracing : bool
        Without effect, for programs written for TensorFlow: programs are made for one shape each.
    backend : str
        ``"auto"`` or ``"numpy"``; the latter gives the bits of the eager function.

    Returns
    -------
    Function
        Call it like the function; `program` and `source` show what runs.

    Raises
    ------
    NotCallable
        If it is not a function.
    InvalidArgumentError
        If the back end is unknown, or the signature does not describe the function's parameters.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> @lab.function
    ... def gradient(x):
    ...     with lab.GradientTape() as tape:
    ...         tape.watch(x)
    ...         y = lab.reduce_sum(x * x)
    ...     return tape.gradient(y, x)
    >>> print(gradient(lab.constant([1.0, 2.0])))
    Tensor([2. 4.], shape=(2,), dtype=float32)
    >>> gradient.fallbacks
    0

    With a signature, calls that do not match it are errors:

    >>> @lab.function(input_signature=[lab.TensorSpec([None, 2], lab.float32)])
    ... def total(rows):
    ...     return lab.reduce_sum(rows)
    >>> print(total([[1.0, 2.0], [3.0, 4.0]]))
    Tensor(10.0, shape=(), dtype=float32)
    >>> total(lab.ones((2, 3)))
    Traceback (most recent call last):
        ...
    autodiff_lab.errors.ShapeMismatch: total: argument 'rows' must be float32 of shape (None, 2), got shape (2, 3).
    """
    if backend not in BACKENDS:
        raise InvalidArgumentError(f"function: unknown backend {backend!r}. Try one of {BACKENDS}.")
    if jit_compile is not None and not isinstance(jit_compile, bool):
        raise InvalidArgumentError(f"function: jit_compile must be True, False or None, got {jit_compile!r}.")
    if python_function is None:
        return functools.partial(function, input_signature=input_signature, jit_compile=jit_compile, backend=backend)
    if not callable(python_function):
        raise NotCallable(f"function: {python_function!r} cannot be called. Put @lab.function above a def.")
    if any(kind(python_function) for kind in _NO_FUNCTIONS):
        raise NotCallable("function: generators and coroutines have no single result. Compile what they call.")
    backend = "numpy" if jit_compile is False else backend
    if input_signature is not None:
        return Signed(python_function, backend, input_signature)
    return Function(python_function, backend)
