"""The machine of the measurements: the type of the processor, and the versions."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path

PACKAGES = ("numpy", "numba")


def processor() -> str:
    """The type of the processor, as the system calls it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines) if value}
    name = facts.get("model name", platform.machine())
    family = (
        f" (family {facts['cpu family']}, model {facts['model']})" if {"cpu family", "model"} <= facts.keys() else ""
    )
    widest = "AVX-512" if "avx512f" in facts.get("flags", "") else "AVX2" if "avx2" in facts.get("flags", "") else ""
    return f"{name}{family}{', ' + widest if widest else ''}"


def about() -> dict[str, str]:
    """Processor, system, Python, and the packages that this project computes with."""
    found = {"processor": processor(), "system": platform.system(), "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def last_core() -> int | None:
    """The highest processor core that this process may use, None where the system does not let us choose."""
    return max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def other_core(core: int | None) -> int | None:
    """Another processor core than the given one; the same where there is no other."""
    return None if core is None else min(os.sched_getaffinity(0) - {core}, default=core)


def load() -> str:
    """How many processes wanted to run during the last minute."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
