"""Loops that Numba compiles on first use, for one dtype at a time, and overrides that are made of them.

A loop is an ordinary function with a signature that leaves the dtype open.  Its machine code is kept in the folder of
`store`, under the hash of its module's text and of all that it imports, so that no stale code is ever found; where no
folder can be written it is compiled again in each process.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numba import njit
from numba.core import caching, sigutils

from autodiff_lab.kernels.base import store
from autodiff_lab.kernels.base.compiler import COMPILING


class Loop:
    """A function in the subset of Python that Numba compiles, and its machine code for each dtype.

    Parameters
    ----------
    function : callable
        Works on its arguments; allocates nothing, raises nothing.
    signature : str
        Types of its arguments as Numba writes them, ``{t}`` in the place of the dtype.
    options : dict
        Further options of `numba.njit`.
    """

    def __init__(self, function: Callable[..., Any], signature: str, options: dict[str, Any]) -> None:
        self.python, self.signature, self.options = function, signature, options
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        self._compiled: dict[str, Any] = {}

    def __getitem__(self, dtype: np.dtype[Any]) -> Any:
        """Return the compiled function for a dtype, compiling it if necessary."""
        found = self._compiled.get(dtype.char)
        return self._compile(dtype) if found is None else found

    def _compile(self, dtype: np.dtype[Any]) -> Any:
        with COMPILING:
            found = self._compiled.get(dtype.char)
            if found is None:
                made = njit(nogil=True, error_model="numpy", **self.options)(self.python)
                if store.folder() is not None:
                    made._cache = _Cache(self.python)  # pyright: ignore[reportAttributeAccessIssue]
                made.compile(self.signature.format(t=np.dtype(dtype).name))
                made.disable_compile()
                found = self._compiled[dtype.char] = made
            return found


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
    """Return the array itself where Numba takes it as row-major and writable, else a copy."""
    flags = array.flags
    return array if flags.c_contiguous and flags.writeable else np.array(array, order="C", ndmin=array.ndim)


class _Locator(caching._CacheLocator):  # pyright: ignore[reportPrivateUsage]
    """Makes Numba's cache use our folder, and defines what makes machine code stale."""

    def __init__(self, function: Callable[..., Any]) -> None:
        module = inspect.getsourcefile(function) or ""
        try:
            text = inspect.getsource(inspect.getmodule(function) or function)
        except (OSError, TypeError):  # written at a prompt
            text = repr(function.__code__.co_code)
        self._stamp = hashlib.sha256((store.made_with(text) + text).encode()).hexdigest()
        self._place = hashlib.sha256(module.encode()).hexdigest()[:10]

    def get_cache_path(self) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        return str(store.folder())

    def get_source_stamp(self) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._stamp

    def get_disambiguator(self) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._place

    @classmethod
    def from_function(cls, py_func: Any, py_file: Any) -> _Locator:
        return cls(py_func)


class _CacheImpl(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012 - the name and the kind are Numba's


class _Cache(caching.FunctionCache):
    """Machine code on disk, which may be damaged or written by another process at the same time: never an error."""

    _impl_class = _CacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            found = super().load_overload(sig, target_context)
        except Exception:  # noqa: BLE001 - half a file raises whatever its bytes happen to mean
            return None
        # Two processes that save code for different dtypes at once may mix up its files.
        wanted, _ = sigutils.normalize_signature(sig)
        return found if found is not None and tuple(found.signature.args) == tuple(wanted) else None

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):  # the folder went away, or the disk is full
            try:
                super().save_overload(sig, data)
            except Exception:  # noqa: BLE001 - the list of what is kept is damaged: it begins again
                self.flush()
                super().save_overload(sig, data)
