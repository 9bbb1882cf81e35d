"""Measurements: which of two kernels is faster on this machine, for a class of calls, measured once and kept.

A class of calls is a kernel with dtypes, shapes up to a factor of two, layouts and parameters.  Both kernels run on
arrays of such a call in turns, and the override must win by a margin, so that a tie does not depend on chance.  What
was found is kept in a file for each machine: its name holds the processor, the versions and the settings that a
measurement depends on.  A process spends at most `BUDGET` seconds of processor time on measurements, never in a call of
the user's, and stops between two tries when the interpreter ends.
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
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from autodiff_lab.kernels.base import compiler, native, store, threads
from autodiff_lab.kernels.base.likes import Like

MARGIN = 1.05
"""How many times as long the reference must take for the override to be preferred."""
BUDGET = 0.5
"""Seconds of processor time that a process spends on measurements."""
TRIES = 15
_LONG_ENOUGH = 0.02
"""Seconds for one class, beyond which three tries of each kernel are enough."""
_MEASURABLE = 50e-6
"""Seconds of one try: quicker calls are repeated, as reading the clock takes most of a microsecond."""
_LARGEST = 1 << 27
"""Bytes of arrays that are not made for a measurement."""
_SETTINGS = (
    "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_OPT", "OPENBLAS_CORETYPE", "AUTODIFF_LAB_BLAS",
    "NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES", "GLIBC_TUNABLES",
)  # fmt: skip
_SIZES = (64, 512, 2048, 8192, 32_768)
"""Elements that elementwise kernels are compared at."""
_spent = {"seconds": 0.0}
TELL: list[Callable[[str, float], None]] = []
"""Who wants to know of a new measurement."""
_known: dict[str, dict[str, float]] = {}
"""What is kept on disk, by the path of the file, once it has been read."""


def layout(like: Like) -> str:
    """Name the order of an array's axes in memory: C for rows; 0 if it repeats a number; else by falling strides."""
    dense = [(n, step) for n, step in zip(like.shape, like.strides, strict=True) if n > 1]
    if dense and not any(step for _, step in dense):
        return "0"
    want = like.dtype.itemsize
    for n, step in reversed(dense):
        if step != want:
            return "".join(str(i) for i in sorted(range(len(dense)), key=lambda i: -abs(dense[i][1])))
        want *= n
    return "C"


@functools.cache
def _few() -> Any:
    """Return the numbers that fill arrays, repeated: too many for a branch predictor to memorize."""
    return np.random.default_rng(0).uniform(-1, 1, 65_521)


def made(like: Any) -> Any:
    """Return an array like another, filled with random numbers between -1 and 1, or with random truth values."""
    if not isinstance(like, Like) or like.values is not None:
        return like.values if isinstance(like, Like) else like
    if not like.shape:
        return like.dtype.type(0.5)
    order = sorted(range(len(like.shape)), key=lambda i: -abs(like.strides[i]))
    kept = [like.shape[i] if like.strides[i] or like.shape[i] == 1 else 1 for i in order]
    few = _few() > 0 if like.dtype.kind == "b" else _few().astype(like.dtype)
    gap = (
        2 if all(step != like.dtype.itemsize for n, step in zip(like.shape, like.strides, strict=True) if n > 1) else 1
    )
    filled = np.resize(few, [*kept[:-1], kept[-1] * gap])[..., ::gap].transpose(
        sorted(range(len(order)), key=order.__getitem__)
    )
    return filled if filled.shape == like.shape else np.broadcast_to(filled, like.shape)


def class_of(name: str, faster: Callable[..., Any], arrays: list[Any], params: dict[str, Any]) -> str:
    """Name the class of a call: what its measurement is kept under."""
    told = [name, stamp(faster), f"{threads.thread_count()} threads"]
    for one in arrays:
        if isinstance(one, Like):
            told.append(f"{one.dtype.char}{tuple(map(_about, one.shape))}{layout(one)}")
        else:
            told.append(repr(one))
    return " ".join(told + [f"{key}={value!r}" for key, value in params.items()])


def _about(size: int) -> int:
    """Round a size up to a power of two; small ones, such as channels and windows, stay as they are."""
    return size if size <= 8 else 1 << (size - 1).bit_length()


@functools.cache
def stamp(faster: Callable[..., Any]) -> str:
    """Return a few characters that change with the override's module and with what it imports.

    Another kernel takes another time, and so does one whose operands are copied in another way.
    """
    module = inspect.getmodule(faster)
    try:
        text = inspect.getsource(module) if module is not None else ""
    except (OSError, TypeError):  # written at a prompt
        text = ""
    return hashlib.sha256((store.made_with(text) + text).encode()).hexdigest()[:8]


def pays(
    name: str, reference: Callable[..., Any], faster: Callable[..., Any], arrays: list[Any], params: dict[str, Any]
) -> bool | None:
    """Return whether an override is faster than its reference for a class of calls; None if that cannot be found now.

    Parameters
    ----------
    name : str
        Of the kernel.
    reference, faster : callable
        The two kernels.
    arrays : list
        `Like` of each array of the call.
    params : dict
        Its parameters.

    Notes
    -----
    An override whose speed depends on values has an attribute `typical`, which turns random arrays into typical ones.
    """
    key = class_of(name, faster, arrays, params)
    known = kept().get(key)
    if known is None:
        size = sum(math.prod(one.shape) * one.dtype.itemsize for one in arrays if isinstance(one, Like))
        if size > _LARGEST or _spent["seconds"] >= BUDGET:
            return None
        given = getattr(faster, "typical", lambda *same: same)(*[made(one) for one in arrays])
        there = [loop.load(arrays[0].dtype) for loop in getattr(faster, "loops", ())]
        if not all(there):
            with np.errstate(all="ignore"):
                faster(*given, **params)  # compiles what such a call needs, which is not counted
        known = ratio(reference, faster, given, params)
        if known is None:
            return None
        keep(key, known)
    return known >= MARGIN


def is_there(name: str, faster: Any, dtype: np.dtype[Any], arrays: list[Any], params: dict[str, Any]) -> bool:
    """Return whether calls of a class were compared before, and the override can be loaded if it was faster."""
    native.get_ready()
    store.get_ready()
    known = kept().get(class_of(name, faster, arrays, params))
    if known is None or dtype.char not in faster.chars:
        return False
    there = [loop.load(dtype) for loop in faster.loops]
    return known < MARGIN or not there or any(there)


def _for_threads(name: str) -> str:
    return f"{name} {threads.thread_count()} threads"


def has_least(name: str) -> bool:
    """Return whether `least_size` was found before."""
    return _for_threads(name) in kept()


def least_size(
    name: str, reference: Callable[..., Any], faster: Callable[..., Any], samples: Callable[[int], Any]
) -> int:
    """Return the number of elements from which on a loop over elements is faster than its reference.

    Parameters
    ----------
    name : str
        What the result is kept under: the kernel, its dtype and the text of the loop.
    reference, faster : callable
        The two kernels.
    samples : callable
        Gives the arrays of a call on a number of elements.
    """
    key = _for_threads(name)
    known = kept().get(key)
    if known is None:
        known = math.inf
        for size in reversed(_SIZES):
            found = ratio(reference, faster, samples(size), {})
            if found is None:
                return _SIZES[1]
            if found < MARGIN:
                break
            known = float(size)
        keep(key, known)
    return 1 << 62 if known == math.inf else int(known) if known > _SIZES[0] else 0


def ratio(  # noqa: C901 - one measurement, step by step
    reference: Callable[..., Any], faster: Callable[..., Any], arrays: Any, params: dict[str, Any]
) -> float | None:
    """Return how many times as long the reference takes; 0 if the override declines, None if it cannot be measured."""
    if _spent["seconds"] >= BUDGET:
        return None
    clock = time.thread_time if threads.thread_count() == 1 else time.perf_counter
    begin, elapsed = time.thread_time(), clock()
    ours = theirs = math.inf
    try:
        with np.errstate(all="ignore"):
            if faster(*arrays, **params) is NotImplemented:
                return 0.0
            start = clock()
            faster(*arrays, **params)
            middle = clock()
            reference(*arrays, **params)
            end = clock()
            repeats = range(1 + int(_MEASURABLE / max(end - start, 1e-7)))
            if len(repeats) == 1:  # long enough to count
                ours, theirs = middle - start, end - middle
            for tries in range(TRIES):
                if compiler.ending():
                    return None
                if _spent["seconds"] + time.thread_time() - begin > BUDGET:
                    if theirs == math.inf:
                        return None
                    break
                start = clock()
                for _ in repeats:
                    reference(*arrays, **params)
                middle = clock()
                for _ in repeats:
                    faster(*arrays, **params)
                end = clock()
                theirs, ours = min(theirs, middle - start), min(ours, end - middle)
                if end - elapsed > _LONG_ENOUGH and (tries >= 2 or not 0.5 < ours / theirs < 2):
                    break
    finally:
        _spent["seconds"] += time.thread_time() - begin
    return theirs / max(ours, 1e-9)


@functools.cache
def machine() -> str:
    """Describe what a measurement holds for: processor, versions and settings."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        lines = [f"model name: {platform.processor()}"]
    told = [next((line for line in lines if line.startswith(word)), "") for word in ("model name", "flags", "Features")]
    told += [platform.machine(), *store.versions()]
    return "\n".join(told + [f"{name}={os.environ.get(name, '')}" for name in _SETTINGS])


def path() -> Path | None:
    """Return the file in which this machine's measurements are kept, None if none can be written."""
    folder = store.folder()
    short = hashlib.sha256(machine().encode()).hexdigest()[:16]
    return None if folder is None else folder / f"measured-{short}.json"


def kept(again: bool = False) -> dict[str, float]:
    """Return what was measured before, by class; nothing of a file that is damaged."""
    place = path()
    found = _known.get(str(place))
    if found is None or again:
        try:
            told = json.loads(place.read_text(encoding="utf-8")) if place is not None else {}
            read = {str(key): float(value) for key, value in told["measured"].items() if not math.isnan(value)}
        except (OSError, ValueError, KeyError, AttributeError, TypeError):  # absent, damaged or not ours
            read = {}
        found = _known[str(place)] = (found or {}) | read
    return found


def learn(key: str, value: float) -> None:
    """Take over what another process has measured, and kept on disk if it could."""
    kept().setdefault(key, value)


def keep(key: str, value: float) -> None:
    """Keep a measurement, together with those that other processes have kept meanwhile."""
    for tell in TELL:
        tell(key, value)
    with compiler.COMPILING:
        found = kept(again=True)
        found.setdefault(key, value)
        place = path()
        if place is None:
            return
        draft = place.with_suffix(f".{os.getpid()}.draft")
        try:
            draft.write_text(json.dumps({"machine": machine(), "measured": found}, indent=1), encoding="utf-8")
            draft.replace(place)
        except OSError:  # the folder went away or is full: measured again by the next process
            with suppress(OSError):
                draft.unlink(missing_ok=True)
