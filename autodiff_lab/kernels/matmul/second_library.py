"""A second OpenBLAS for large products, where the user asks for it: found, loaded, and called without copies.

An OpenBLAS picks its kernels when it is loaded, by the CPU it finds or by the variable ``OPENBLAS_CORETYPE``.  Kernels
for AVX2 (``Haswell``) on a CPU with AVX-512 do half the work per clock.  NumPy's library is loaded long before us, so
the choice cannot be changed there.  The wheel ``scipy-openblas32`` is the same library once more; while it is loaded
the environment names the kernels that it shall take.

Only arrays that BLAS can read where they lie are taken: rows or columns next to each other, forwards, aligned.  For
everything else a call returns None, and NumPy multiplies.  `kernels.matmul.blas` asks here only where
``AUTODIFF_LAB_BLAS=second`` is set, and when `blas.describe` is called.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
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
LEAST = 1 << 18
"""Multiplications from which on a call from Python pays."""
NARROW = 16
"""Matrices with fewer rows or columns than this are bound by memory, and gain nothing or lose."""
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

    @property
    def suits(self) -> bool:
        """Whether its kernels are those for AVX-512."""
        return self.core.lower() in WIDE_CORES


@dataclass(frozen=True)
class Choice:
    """The libraries of this process: the second one if it serves, NumPy's own if it is known, and why."""

    second: Library | None
    own: Library | None
    why: str


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


def _inside(folders: Iterable[Path], pattern: str, mode: int = 0) -> Iterator[Library]:
    for path in (path for folder in folders for path in sorted(folder.glob(pattern))):
        library = opened(path, mode)
        if library is not None:
            yield library


def loaded_with(module: Any) -> Iterator[Library]:
    """Return the OpenBLAS inside the wheel of NumPy or SciPy; none where it was built with another library."""
    package = Path(module.__file__).parent
    loaded_already = getattr(os, "RTLD_NOLOAD", 0)  # never a second copy of a file that the package does not use
    return _inside((package.parent / f"{package.name}.libs", package / ".dylibs"), "*openblas*", loaded_already)


def of_numpy() -> Library | None:
    """Return the OpenBLAS inside NumPy's wheel; None where NumPy was built with another library or elsewhere."""
    return next(loaded_with(np), None)


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
        folders = [Path(folder, "lib") for folder in spec.submodule_search_locations]
        return next(_inside(folders, "libscipy_openblas*.so"), None)
    finally:
        if kept is None:
            del os.environ["OPENBLAS_CORETYPE"]
        else:
            os.environ["OPENBLAS_CORETYPE"] = kept


def has_wide_registers() -> bool:
    """Return whether this CPU has AVX-512, as far as Linux tells; elsewhere no second library is used."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        with Path("/proc/cpuinfo").open(encoding="ascii", errors="replace") as lines:
            flags = next((line for line in lines if line.startswith("flags")), "")
    except OSError:
        return False
    return WIDE_FLAGS.issubset(flags.split())


_LARGEST = 2**31 - 1  # integers of the second library have 32 bits
_ROW_MAJOR, _AS_IT_IS, _TRANSPOSED = 101, 111, 112  # the numbers that CBLAS gives them

Product = Callable[..., Any]


def products_of(second: Library, own: Library) -> dict[Any, Product]:
    """By dtype, a function that multiplies two matrices with the second library, or gives None."""
    follow = _follower(second, own)
    return {
        np.dtype(np.float32): _product(second.function("cblas_sgemm"), ctypes.c_float, 4, follow),
        np.dtype(np.float64): _product(second.function("cblas_dgemm"), ctypes.c_double, 8, follow),
    }


def _follower(second: Library, own: Library) -> Callable[[], None]:
    """Return a function that gives the second library as many threads as NumPy's has now."""
    # Neither takes time, so the interpreter's lock is kept: `PyDLL`.
    ours, numpys = ctypes.PyDLL(second.path), ctypes.PyDLL(own.path)
    asked = numpys[f"{own.prefix}openblas_get_num_threads{own.suffix}"]
    told = ours[f"{second.prefix}openblas_set_num_threads{second.suffix}"]
    now: list[int] = [0]

    def follow() -> None:
        count = asked()
        if count != now[0]:
            told(count)
            now[0] = count

    return follow


def _read(x: Any, size: int) -> tuple[int, int]:
    """How BLAS is to read a matrix, and how many elements lie from one stored row to the next; (0, 0) if it cannot."""
    far, near = x.strides
    turned, length = _AS_IT_IS, x.shape[1]
    if near != size:
        far, near, turned, length = near, far, _TRANSPOSED, x.shape[0]
    if near != size or far < length * size or far % size or far > _LARGEST * size or not x.flags.aligned:
        return 0, 0
    return turned, far // size


def _product(gemm: Any, scalar: Any, size: int, follow: Callable[[], None]) -> Product:
    one, zero = scalar(1), scalar(0)

    def product(x: Any, y: Any, out: Any = None) -> Any:
        m, k = x.shape
        inner, n = y.shape
        if inner != k or m * n * k < LEAST or m < NARROW or n < NARROW or max(m, n, k) > _LARGEST:
            return None
        turned_x, step_x = _read(x, size)
        turned_y, step_y = _read(y, size)
        if not (turned_x and turned_y):
            return None
        px, py = x.ctypes.data, y.ctypes.data
        if turned_x != turned_y and px == py and m == n:
            return None  # x times its own transpose: NumPy does half of the work, and the result is symmetric
        if out is None:
            out = np.empty((m, n), x.dtype)
        follow()
        px, py, to = (ctypes.c_void_p(address) for address in (px, py, out.ctypes.data))
        gemm(
            _ROW_MAJOR, turned_x, turned_y, m, n, k, one, px, step_x, py, step_y, zero, to, n,
        )  # fmt: skip
        return out

    return product


def _stacked(product: Any, x: Any, y: Any) -> Any:
    """Products of stacks, one matrix after the other; a stack times one matrix is a single product of all its rows."""
    if y.ndim == 2:
        if not x.flags.c_contiguous:
            return None
        out = product(x.reshape(-1, x.shape[-1]), y)
        return None if out is None else out.reshape(*x.shape[:-1], y.shape[-1])
    if x.shape[-2] * x.shape[-1] * y.shape[-1] < LEAST or x.shape[-1] != y.shape[-2]:
        return None
    try:
        stack = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    except ValueError:
        return None
    out = np.empty((*stack, x.shape[-2], y.shape[-1]), x.dtype)
    x, y = np.broadcast_to(x, (*stack, *x.shape[-2:])), np.broadcast_to(y, (*stack, *y.shape[-2:]))
    for place in np.ndindex(stack):
        if product(x[place], y[place], out[place]) is None:
            return None
    return out


def _choose(is_wanted: bool) -> Choice:
    own = of_numpy()
    if own is None:
        return Choice(None, None, "it was not built with OpenBLAS, or not as its wheels are")
    if own.suits or not has_wide_registers():
        return Choice(None, own, "its kernels are those for this CPU")
    if not is_wanted and "OPENBLAS_CORETYPE" in os.environ:
        return Choice(None, own, f"OPENBLAS_CORETYPE={os.environ['OPENBLAS_CORETYPE']} chooses its kernels")
    if not is_wanted:
        return Choice(None, own, "AUTODIFF_LAB_BLAS=second in the environment would try one that uses AVX-512")
    found = second()
    if found is None:
        return Choice(None, own, "scipy-openblas32, which has faster kernels for this CPU, is not installed")
    if not found.suits:
        return Choice(None, own, f"scipy-openblas32 has no faster kernels for this CPU, only {found.core}")
    return Choice(found, own, "they use AVX-512, NumPy's do not")


_lock = threading.Lock()
_kept: dict[str, Any] = {}


def choice(is_wanted: bool) -> Choice:
    """Return the libraries of this process, found at the first call."""
    with _lock:
        if "choice" not in _kept:
            _kept["choice"] = _choose(is_wanted)
        return _kept["choice"]


def multiply(x: Any, y: Any) -> Any:
    """Return ``x @ y`` by the second library, or None for what it does not take."""
    products = _kept.get("products")
    if products is None:
        found = choice(True)
        products = _kept["products"] = products_of(found.second, found.own) if found.second and found.own else {}
    product = products.get(x.dtype) if x.dtype is y.dtype else None
    if product is None or x.ndim < 2 or y.ndim < 2:
        return None
    return product(x, y) if x.ndim == 2 == y.ndim else _stacked(product, x, y)


def _after_fork() -> None:
    global _lock  # noqa: PLW0603 - a lock that another thread held is held for ever in the child
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
