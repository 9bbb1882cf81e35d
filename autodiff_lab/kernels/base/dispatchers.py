"""Loops as functions of Numba's, with its cache, where machine code cannot run without it.

That is so on interpreters and systems that `native` does not know, and for functions that call what Numba brings along.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from numba import cfunc, njit
from numba.core import caching, sigutils

from autodiff_lab.kernels.base import store
from autodiff_lab.kernels.base.deferred import register
from autodiff_lab.kernels.lowering.objects import OWN_OPTIONS


def dispatcher(
    function: Callable[..., Any], name: str, signature: str, options: dict[str, Any], python: bool, stamp: str
) -> Any:
    """Compile a function for one signature, or load its machine code, which is kept under a stamp if there is one.

    What other machine code calls by its address is compiled in each process.
    """
    register()
    options = {key: value for key, value in options.items() if key not in OWN_OPTIONS}
    if not python:
        return cfunc(signature, error_model="numpy", **options)(function)
    made: Any = njit(nogil=True, error_model="numpy", **options)(function)
    if stamp and store.folder() is not None:
        _Locator.stamps[function] = stamp
        made._cache = _Cache(function)
    made.compile(signature)
    made.disable_compile()
    return made


class _Locator(caching._CacheLocator):  # pyright: ignore[reportPrivateUsage]
    """Makes Numba's cache use our folder, and defines what makes machine code stale."""

    stamps: dict[Callable[..., Any], str] = {}  # noqa: RUF012 - filled by `dispatcher`

    def __init__(self, function: Callable[..., Any]) -> None:
        self._stamp = self.stamps[function]

    def get_cache_path(self) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        return str(store.folder())

    def get_source_stamp(self) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._stamp

    def get_disambiguator(self) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._stamp[:10]

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
