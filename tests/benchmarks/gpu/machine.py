"""The GPU of the measurements, and its driver."""

from __future__ import annotations

import platform
import subprocess
from importlib.util import find_spec
from typing import Any

from tests.benchmarks.gpu.engines import Lab
from tests.benchmarks.machine import processor

NO_GPU = 3
"""The status of a command that found no GPU."""


def why_none() -> str:
    """Say in one sentence why nothing can be measured here; nothing if it can."""
    from autodiff_lab.kernels.cuda import gpus

    return gpus.why_none()


def lacking() -> str:
    """Say what this project needs and is not installed here, so that failures that come of it are understood."""
    names = [name for name in ("scipy",) if find_spec(name) is None]
    return f"Not installed, and what needs it fails: {' and '.join(names)}." if names else ""


def about() -> dict[str, Any]:
    """Card, driver, CUDA and versions."""
    from autodiff_lab.kernels.cuda import gpus

    found: dict[str, Any] = {
        "processor": processor(), "system": platform.system(), "python": platform.python_version(),
        "versions": Lab(place="").version(),
    }  # fmt: skip
    if gpus.simulated():
        return {"card": "simulated", **found}
    runtime = gpus.memory_of(0).module.cuda.runtime
    card = runtime.getDeviceProperties(0)
    cuda = runtime.driverGetVersion()
    return {
        "card": card["name"].decode() if isinstance(card["name"], bytes) else card["name"],
        "multiprocessors": card["multiProcessorCount"], "bytes": card["totalGlobalMem"],
        "capability": f"{card['major']}.{card['minor']}", "driver": driver(),
        "CUDA of the driver": f"{cuda // 1000}.{cuda % 1000 // 10}", **found,
    }  # fmt: skip


def driver() -> str:
    """The version of the driver, as its own tool says."""
    try:
        said = subprocess.run(
            ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
            capture_output=True, text=True, timeout=20, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return said.stdout.split("\n")[0].strip()
