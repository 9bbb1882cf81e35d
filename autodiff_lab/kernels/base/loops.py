"""Loops that are compiled on first use, for one dtype at a time, and overrides that are made of them.

A loop is an ordinary function with a signature that leaves the dtype open.  Its machine code is kept in the folder of
`store`, under the hash of its module's text and of all that it imports, so that no stale code is ever found, and runs
without a compiler; where no folder can be written it is compiled again in each process.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import numpy as np

from autodiff_lab.kernels.base import store
from autodiff_lab.kernels.base.compiler import COMPILING, NotYet
from autodiff_lab.kernels.base.order import in_order


class Loop:
    """A function in the subset of Python that is compiled, and its machine code for each dtype.

    Parameters
    ----------
    function : callable
        Works on its arguments; allocates nothing, raises nothing.
    signature : str
        Types of its arguments as Numba writes them, ``{t}`` in the place of the dtype.
    options : dict
        Further options of `numba.njit`, and ``wraparound``: False promises that no index counts from the end and that
        slices lie inside their arrays, so that nothing is asked about either.  Promises that are not kept read other
        memory.
    """

    def __init__(self, function: Callable[..., Any], signature: str, options: dict[str, Any]) -> None:
        self.python, self.signature, self.options = function, signature, options
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        self._compiled: dict[str, Any] = {}

    def __getitem__(self, dtype: np.dtype[Any]) -> Any:
        """Return the compiled function for a dtype, compiling it if necessary."""
        found = self._compiled.get(dtype.char)
        return self._compile(dtype) if found is None else found

    def load(self, dtype: np.dtype[Any]) -> bool:
        """Load the compiled function for a dtype if it is kept; return whether it is there."""
        with suppress(NotYet):
            self._compile(dtype, may_compile=False)
        return dtype.char in self._compiled

    def _compile(self, dtype: np.dtype[Any], *, may_compile: bool = True) -> Any:
        with COMPILING:
            found = self._compiled.get(dtype.char)
            if found is None:
                signature = self.signature.format(t=np.dtype(dtype).name)
                source = store.Source(self.python, "loop", signature, self.options)
                told = _told(self.python)
                stamp = hashlib.sha256(f"{_text(self.python)} {told} {signature}".encode()).hexdigest()
                made = store.machine_code(stamp, lambda: [source], kept=" at 0x" not in told, may_compile=may_compile)
                found = self._compiled[dtype.char] = made["loop"]
            return found


def _text(function: Callable[..., Any]) -> str:
    """Hash the text that a function is compiled from."""
    try:
        text = inspect.getsource(sys.modules.get(function.__module__, function))
    except (OSError, TypeError):  # written at a prompt
        text = repr(function.__code__.co_code)
    return hashlib.sha256((store.made_with(text) + text).encode()).hexdigest()


def _told(value: Any) -> str:
    """Tell a function from others of the same text: where it stands there, and what its free variables are."""
    if isinstance(value, Loop):
        return _told(value.python)
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(_told, value))})"
    if not inspect.isfunction(value):
        return repr(value)
    cells = [_told(cell.cell_contents) for cell in value.__closure__ or ()]
    return f"{value.__module__}.{value.__qualname__}:{value.__code__.co_firstlineno}({', '.join(cells)})"


def loop(signature: str, **options: Any) -> Callable[[Callable[..., Any]], Loop]:
    """Make a `Loop` of a function.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.base.loops import loop
    >>> @loop("void({t}[::1], {t})")
    ... def grow(x, by):
    ...     for i in range(x.size):
    ...         x[i] += by
    >>> x = np.zeros(2, np.float32)
    >>> grow[x.dtype](x, np.float32(3))
    >>> print(x)
    [3. 3.]
    """

    def make(function: Callable[..., Any]) -> Loop:
        return Loop(function, signature, options)

    return make


def override(
    *loops: Loop, dtypes: Iterable[str] = ("float32", "float64")
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark a function as the faster version of a reference kernel; see `autodiff_lab.kernels.base.choose`.

    Parameters
    ----------
    loops : Loop
        What must be compiled before it can be called.
    dtypes : iterable of str
        Dtypes of its first array that it takes.
    """

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        function.loops = loops  # type: ignore[attr-defined]
        function.chars = {np.dtype(name).char for name in dtypes}  # type: ignore[attr-defined]
        return function

    return mark


def row_major(array: Any) -> Any:
    """Return the array itself where loops take it, row-major, writable and aligned, else a copy."""
    return array if array.flags.carray else in_order(array)


_NUMBER = np.dtype(np.int64)


def positions_of(numbers: Any) -> Any:
    """Return integers of any shape and width as loops take positions: a row of int64, without a copy if it is one."""
    if numbers.__class__ is np.ndarray and numbers.ndim == 1 and numbers.dtype is _NUMBER and numbers.flags.carray:
        return numbers
    return row_major(np.asarray(numbers).astype(np.int64, copy=False)).reshape(-1)
