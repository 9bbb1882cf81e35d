"""Thresholds: from which size on an override is faster than NumPy, measured once for each machine and kept.

Both kernels run on samples of growing size, one thread, and the processor time of this thread alone is counted, so
that a machine busy with other things gives the same answer.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import math
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from autodiff_lab.kernels.base import store
from autodiff_lab.kernels.base.compiler import COMPILING

WORKS = tuple(4**n for n in range(5, 11))  # a thousand to a million
_LONG_ENOUGH = 0.005
"""Seconds beyond which larger samples are not tried: what wins there wins on."""


def threshold(kernel: Any, faster: Callable[..., Any], dtype: np.dtype[Any]) -> float:
    """Return the least work for which `faster` beats the kernel's reference; infinity if it never does."""
    sample = faster.sample  # type: ignore[attr-defined]
    if sample is None:
        return 0.0
    key = f"{kernel.name} {dtype.name} {_stamp(faster)}"
    known = _read().get(key)
    if known is None:
        known = measured(kernel.reference, faster, sample, dtype)
        _keep(key, known)
    return math.inf if known < 0 else float(known)


def _stamp(faster: Callable[..., Any]) -> str:
    """Return a few characters that change with the override's module, as another kernel has another threshold."""
    module = inspect.getmodule(faster)
    try:
        text = inspect.getsource(module) if module is not None else ""
    except (OSError, TypeError):  # written at a prompt
        text = ""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def measured(
    reference: Callable[..., Any], faster: Callable[..., Any], sample: Callable[..., Any], dtype: np.dtype[Any]
) -> float:
    """Return the measured threshold; -1 if the override does not win at the largest sample."""
    least = -1.0
    for work in WORKS:
        arrays, params = sample(work, dtype)
        ours = _least_time(faster, arrays, params)
        theirs = _least_time(reference, arrays, params)
        if ours >= theirs:
            least = -1.0
        elif least < 0:
            least = float(work)
        if theirs > _LONG_ENOUGH:
            break
    return 0.0 if least == WORKS[0] else least


def _least_time(function: Callable[..., Any], arrays: Any, params: Any) -> float:
    least = math.inf
    for _ in range(4):
        start = time.thread_time()
        with np.errstate(all="ignore"):
            function(*arrays, **params)
        least = min(least, time.thread_time() - start)
    return least


@functools.cache
def _machine() -> str:
    """Return what a measurement holds for."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        lines = []
    processor = next((line for line in lines if line.startswith("model name")), platform.processor())
    return " ".join([platform.machine(), processor.partition(":")[2].strip() or processor, *store.versions()])


def _path() -> Path | None:
    folder = store.folder()
    return None if folder is None else folder / "thresholds.json"


def _read() -> dict[str, float]:
    path = _path()
    try:
        told = json.loads(path.read_text(encoding="utf-8")) if path is not None else {}
        return {str(k): float(v) for k, v in told["thresholds"].items()} if told.get("machine") == _machine() else {}
    except (OSError, ValueError, KeyError, AttributeError, TypeError):  # absent, half written by hand, or not ours
        return {}


def _keep(key: str, value: float) -> None:
    path = _path()
    if path is None:
        return
    with COMPILING:
        draft = path.with_suffix(f".{os.getpid()}.draft")
        try:
            draft.write_text(
                json.dumps({"machine": _machine(), "thresholds": _read() | {key: value}}, indent=1), encoding="utf-8"
            )
            draft.replace(path)
        except OSError:  # the folder went away, or the disk is full: measured again next time
            return
