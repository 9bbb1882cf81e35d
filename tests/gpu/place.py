"""Which GPU the tests run on, and what was copied while something ran."""

import importlib.util
import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

if os.environ.get("AUTODIFF_LAB_GPU") == "simulated":  # before numba is imported, which reads the switch
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
os.environ.setdefault("AUTODIFF_LAB_KERNELS", "numpy")

SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"
WANTED = SIMULATED or os.environ.get("AUTODIFF_LAB_GPU") == "real"
GPU, CPU = "/GPU:0", "/CPU:0"
SCIPY = importlib.util.find_spec("scipy") is not None
MODES = ("numpy", "auto")
"""Of `lab.use_kernels`: the references by CuPy, and our CUDA kernels."""


def require() -> None:
    """Skip a file where no GPU was asked for; fail where one was and there is none."""
    if not WANTED:
        pytest.skip("no GPU was asked for: set AUTODIFF_LAB_GPU to 'real' or 'simulated'", allow_module_level=True)
    from autodiff_lab.kernels.cuda.gpus import why_none

    missing = why_none()
    assert not missing, missing


def leave(key: str, value: Any) -> None:
    """Write something to the JSON file that GPU_JSON names, beside what others left there."""
    path = os.environ.get("GPU_JSON")
    if path:
        file = Path(path)
        kept = json.loads(file.read_text()) if file.exists() else {}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({**kept, key: value}, indent=1) + "\n")


@contextmanager
def copies() -> Generator[list[tuple[str, int, str]]]:
    """Collect the copies between the memories that nobody asked for by name: direction, bytes, why."""
    from autodiff_lab.kernels.cuda.traffic import OBSERVERS

    heard: list[tuple[str, int, str]] = []

    def hear(direction: str, size: int, why: str) -> None:
        heard.append((direction, size, why))

    OBSERVERS.append(hear)
    try:
        yield heard
    finally:
        OBSERVERS.remove(hear)
