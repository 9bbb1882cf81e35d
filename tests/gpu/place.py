"""Which GPU the tests run on, and what was copied while something ran."""

import importlib.util
import os
from collections.abc import Generator
from contextlib import contextmanager

if os.environ.get("AUTODIFF_LAB_GPU") == "simulated":  # before numba is imported, which reads the switch
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
os.environ.setdefault("AUTODIFF_LAB_KERNELS", "numpy")

SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"
WANTED = SIMULATED or os.environ.get("AUTODIFF_LAB_GPU") == "real"
GPU, CPU = "/GPU:0", "/CPU:0"
SCIPY = importlib.util.find_spec("scipy") is not None
MODES = ("numpy", "auto")
"""Of `lab.use_kernels`: the references by CuPy, and our CUDA kernels."""


def why_none() -> str:
    """Say what is missing for a GPU; nothing if there is one."""
    if not WANTED:
        return "no GPU was asked for: set AUTODIFF_LAB_GPU to 'real' or 'simulated'"
    from autodiff_lab.kernels.cuda.gpus import why_none as why

    return why()


@contextmanager
def copies() -> Generator[list[tuple[str, int, str]]]:
    """Collect the copies between the memories that nobody asked for by name: direction, bytes, why."""
    from autodiff_lab.kernels.cuda.traffic import HEARERS

    heard: list[tuple[str, int, str]] = []

    def hear(direction: str, size: int, why: str) -> None:
        heard.append((direction, size, why))

    HEARERS.append(hear)
    try:
        yield heard
    finally:
        HEARERS.remove(hear)
