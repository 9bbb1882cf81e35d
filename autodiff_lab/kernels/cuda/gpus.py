"""The GPUs of this machine, or in one sentence why there is none.

Nothing here runs before a GPU is asked for: importing CuPy takes a second.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from autodiff_lab.errors import DeviceError
from autodiff_lab.kernels.cuda.memory import Memory

INSTALL = "pip install 'autodiff-lab[cuda]'"
OLDEST_DRIVER = 13000
"""The CUDA version that a driver must support for our kernels: that of the compiler."""


@lru_cache(None)
def memories() -> tuple[Memory, ...]:
    """Return the memory of every GPU; `why_none` says why there is none."""
    if why_none():
        return ()
    if simulated():
        return (Memory(0, np, import_module("scipy.special")),)
    from autodiff_lab.kernels.cuda.gpu_memory import GpuMemory

    cupy, special = import_module("cupy"), import_module("cupyx.scipy.special")
    return tuple([GpuMemory(index, cupy, special) for index in range(cupy.cuda.runtime.getDeviceCount())])


def memory_of(index: int) -> Memory:
    """Return the memory of a GPU.

    Raises
    ------
    DeviceError
        If there is no such GPU.
    """
    found = memories()
    if not found:
        raise DeviceError(f"/GPU:{index}: {why_none()}")
    if index >= len(found):
        names = ", ".join(memory.name for memory in found)
        raise DeviceError(f"/GPU:{index}: this machine has {names}. Try one of them.")
    return found[index]


_state = {"simulated": os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"}


def memory_holding(value: Any) -> Memory:
    """Return the memory that an object with the CUDA array interface lies in.

    Raises
    ------
    DeviceError
        If our kernels cannot use that GPU.
    """
    pointer = value.__cuda_array_interface__["data"][0]
    if simulated() or not pointer:  # an empty array lies nowhere
        return memory_of(0)
    memory_of(0)  # raises if something is missing
    return memory_of(import_module("cupy").cuda.runtime.pointerGetAttributes(pointer).device)


def simulated() -> bool:
    """Return whether this process simulates a GPU."""
    return _state["simulated"]


def simulate() -> None:
    """Simulate a small GPU in this process; before the first use of one.

    Raises
    ------
    DeviceError
        If this process has already looked for a GPU.
    """
    if simulated():
        return
    if "autodiff_lab.kernels.cuda.launching" in sys.modules or (memories.cache_info().currsize and memories()):
        raise DeviceError(
            "simulate_gpu: this process has already looked for a GPU. Try calling it first in a new Python process."
        )
    _state["simulated"] = True
    memories.cache_clear()
    why_none.cache_clear()


def tried() -> str:
    """Describe the first GPU in words, after a kernel of ours has run on it.

    Raises
    ------
    Exception
        Whatever CuPy, Numba or the driver raise if it cannot.
    """
    memory = memory_of(0)
    halves = import_module("autodiff_lab.kernels.softmax.cuda").softmax(memory.zeros((1, 2), np.float32), axis=-1)
    if halves.tolist() != [[0.5, 0.5]]:
        raise DeviceError(f"{memory.name}: a kernel returned {halves.tolist()}, expected [[0.5, 0.5]].")
    details = memory.details()
    if simulated():
        return "simulated (NUMBA_ENABLE_CUDASIM=1 or lab.config.simulate_gpu()), slowly; a kernel ran"
    versions = f"CuPy {import_module('cupy').__version__}, numba-cuda {import_module('numba_cuda').__version__}"
    others = f" and {len(memories()) - 1} more" if len(memories()) > 1 else ""
    return (
        f"{details['device_name']}{others}, {details['memory'] / 2**30:.0f} GiB, driver of CUDA {driver_version()}, "
        f"{versions}; a kernel ran"
    )


def driver_version() -> str:
    """Return the CUDA version that the driver supports, such as ``"13.0"``."""
    version = ctypes.c_int()
    _driver().cuDriverGetVersion(ctypes.byref(version))
    return f"{version.value // 1000}.{version.value % 1000 // 10}"


@lru_cache(None)
def why_none() -> str:
    """Return why our kernels cannot run on a GPU, and what to do; an empty text if they can."""
    for package in ("greenlet", "scipy") if simulated() else ("numba", "numba_cuda", "cupy"):
        if find_spec(package) is None and (simulated() or _driver() is not None):
            use = "the simulator needs" if simulated() else "kernels on a GPU need"
            return f"{package} is not installed, and {use} it. Try {INSTALL}."
    return "" if simulated() else _why_no_driver()


def _driver() -> Any:
    """Return the library of the NVIDIA driver, or None."""
    try:
        return ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")
    except OSError:
        return None


def _why_no_driver() -> str:
    driver = _driver()
    if driver is None:
        return (
            "no NVIDIA GPU with a driver was found on this machine. Everything runs on the CPU without one; to try our "
            "kernels all the same, begin with lab.config.simulate_gpu(), which simulates a small one."
        )
    version, count = ctypes.c_int(), ctypes.c_int()
    failed = driver.cuInit(0)
    if failed:
        return f"the NVIDIA driver does not start (cuInit gives {failed}). Try nvidia-smi, which says what it misses."
    driver.cuDriverGetVersion(ctypes.byref(version))
    driver.cuDeviceGetCount(ctypes.byref(count))
    if not count.value:
        return "a driver is here, but no GPU that it may use. Try nvidia-smi, and look at CUDA_VISIBLE_DEVICES."
    if version.value < OLDEST_DRIVER:
        return (
            f"the NVIDIA driver knows CUDA {version.value // 1000}.{version.value % 1000 // 10}, and our kernels are "
            f"compiled for {OLDEST_DRIVER // 1000}.0. Try a newer driver (580 or later)."
        )
    return ""
