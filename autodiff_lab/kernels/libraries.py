"""BLAS libraries of this process: the one that NumPy brought, and a second one whose kernels suit the CPU better.

An OpenBLAS picks its kernels when it is loaded, by the CPU it finds or by the variable ``OPENBLAS_CORETYPE``.  Kernels
for AVX2 (``Haswell``) on a CPU with AVX-512 do half the work per clock.  NumPy's library is loaded long before us, so
the choice cannot be mended there.  The wheel ``scipy-openblas32`` is the same library once more; while it is loaded the
environment names the kernels that it shall take.

`kernels.blas` asks here once, at the first large product, and keeps what it is told.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

SECOND = "scipy_openblas32"
WIDE_CORES = frozenset({"skylakex", "cooperlake", "sapphirerapids"})
"""OpenBLAS's names of its kernels for AVX-512."""
WIDE_FLAGS = frozenset({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})
"""What a CPU must have for the kernels called ``SkylakeX``, in the words of Linux."""
_SPELLINGS = (("scipy_", "64_", 8), ("scipy_", "", 4), ("", "64_", 8))
"""How builds of OpenBLAS spell their functions, and the bytes of an integer that goes with each spelling."""


@dataclass(frozen=True)
class Library:
    """An OpenBLAS that is loaded: where it lies, the kernels it runs, how its functions are spelled.

    ``width`` is the number of bytes of its integers, 4 or 8.
    """

    path: str
    version: str
    core: str
    width: int
    handle: ctypes.CDLL
    prefix: str
    suffix: str

    def function(self, name: str, result: Any = None) -> Any:
        """Return a function of the library; threads of Python go on while it runs."""
        found = self.handle[f"{self.prefix}{name}{self.suffix}"]  # indexing makes a new object each time
        found.restype = result
        return found

    def address(self, name: str) -> int:
        """Where a function begins in memory."""
        return ctypes.cast(self.function(name), ctypes.c_void_p).value or 0

    @property
    def suits(self) -> bool:
        """Whether its kernels are those for AVX-512."""
        return self.core.lower() in WIDE_CORES


def opened(path: Path, mode: int = 0) -> Library | None:
    """Return the library of a path, None if it cannot be loaded or is no OpenBLAS."""
    try:
        handle = ctypes.CDLL(str(path), mode)
    except OSError:
        return None
    for prefix, suffix, width in _SPELLINGS:
        if all(hasattr(handle, f"{prefix}{name}{suffix}") for name in ("openblas_get_config", "cblas_sgemm")):
            config = _text(handle[f"{prefix}openblas_get_config{suffix}"]).split()
            core = _text(handle[f"{prefix}openblas_get_corename{suffix}"])
            return Library(str(path), config[1], core, width, handle, prefix, suffix)
    return None


def _text(function: Any) -> str:
    function.restype = ctypes.c_char_p
    return function().decode()


def of_numpy() -> Library | None:
    """Return the OpenBLAS inside NumPy's wheel; None where NumPy was built with another library or elsewhere."""
    package = Path(np.__file__).parent
    loaded_already = getattr(os, "RTLD_NOLOAD", 0)  # never a second copy of a file that NumPy does not use
    for folder in (package.parent / "numpy.libs", package / ".dylibs"):
        for path in sorted(folder.glob("*openblas*")):
            library = opened(path, loaded_already)
            if library is not None:
                return library
    return None


def second() -> Library | None:
    """Return the OpenBLAS of the wheel ``scipy-openblas32`` with kernels for AVX-512, None if it is not installed.

    Only for a CPU that has AVX-512.  The package is not imported, as that would offer its functions to every library
    that is loaded later, SciPy's among them.
    """
    spec = find_spec(SECOND)
    if spec is None or not spec.submodule_search_locations:
        return None
    kept = os.environ.get("OPENBLAS_CORETYPE")
    os.environ["OPENBLAS_CORETYPE"] = "SkylakeX"
    try:
        return next(_inside(spec.submodule_search_locations), None)
    finally:
        if kept is None:
            del os.environ["OPENBLAS_CORETYPE"]
        else:
            os.environ["OPENBLAS_CORETYPE"] = kept


def _inside(folders: Any) -> Iterator[Library]:
    for folder in folders:
        for path in sorted(Path(folder, "lib").glob("libscipy_openblas*.so")):
            library = opened(path)
            if library is not None:
                yield library


def has_wide_registers() -> bool:
    """Whether this CPU has AVX-512, as far as Linux tells; elsewhere no second library is used."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        with Path("/proc/cpuinfo").open(encoding="ascii", errors="replace") as lines:
            flags = next((line for line in lines if line.startswith("flags")), "")
    except OSError:
        return False
    return WIDE_FLAGS.issubset(flags.split())
