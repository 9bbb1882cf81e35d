"""Time and memory of one call: CPU and wall seconds, minimum of many; peak memory while it runs."""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LEAST_SAMPLE = 2e-4
"""Short calls are timed several at once, so that reading the clocks does not count."""
WARM = 2.0
"""Seconds of calls before a library is expected to have chosen how it runs a program for good."""
QUIET_SHARE = 0.02
"""What the process may compute while nobody asks it to, before it counts as busy in the background."""
SETTLED = 0.05
"""Seconds after a call until its own memory is freed: JAX does that in the background, for 13 ms after a large one."""

Pair = tuple[float, float]
"""CPU seconds of all threads, and wall seconds."""


def once(run: Callable[[], Any], times: int = 1) -> Pair:
    """CPU and wall seconds of one call, the mean of ``times`` calls."""
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(times):
        run()
    return (time.process_time() - cpu) / times, (time.perf_counter() - wall) / times


def least(run: Callable[[], Any], seconds: float) -> Pair:
    """The least CPU and the least wall time of a call, from as many samples as fit in ``seconds``.

    Of many samples the shortest hundredth is left out: the CPU clock of a process on a virtual machine is late at
    times, by up to a fifth of a short sample, and the least of thousands would find that.
    """
    gc.collect()
    end = time.perf_counter() + seconds
    samples = [once(run)]
    times = max(1, round(LEAST_SAMPLE / max(samples[0][1], 1e-7)))
    if times > 1:
        samples = [once(run, times)]
    while time.perf_counter() < end:
        samples.append(once(run, times))
    moved = [cpu for cpu, _ in samples if cpu > 0]  # it stands still at times, too
    return _low(moved) if moved else 0.0, _low([wall for _, wall in samples])


def _low(samples: list[float]) -> float:
    return sorted(samples)[len(samples) // 100]


def settle(run: Callable[[], Any], longest: float = 90.0) -> float:
    """Call until nothing works in the background any more (compilers do); return how many seconds that took.

    What is quick is called for `WARM` seconds at first: libraries leave what is called a few times as it is.
    """
    begin = time.perf_counter()
    quiet = 0
    while time.perf_counter() - begin < min(WARM, longest):
        run()
    while quiet < 2 and time.perf_counter() - begin < longest:
        run()
        time.sleep(SETTLED)
        cpu, wall = once(lambda: time.sleep(0.1))
        quiet = quiet + 1 if cpu < QUIET_SHARE * wall else 0
    return time.perf_counter() - begin


def memory(field: str) -> int | None:
    """Bytes of resident memory, now (``VmRSS``) or at most (``VmHWM``); None where the system does not say."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:")), None)


def forget_peak() -> bool:
    """Give free memory back and let the peak start again; False where the system cannot."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except (OSError, AttributeError, TypeError):
        return False
    return True


def peak(prepare: Callable[[], Callable[[], Any]], calls: int = 2) -> int | None:
    """The most memory that one call needs above its inputs.

    What is loaded or compiled once does not count: the first preparation brings it in and is dropped.  What a second
    one keeps between calls does.  Memory that is free goes back to the system before each call, as how much of it an
    allocator keeps is chance.
    """
    run = prepare()
    settle(run)
    del run
    run = prepare()
    if not forget_peak():
        return None
    before = memory("VmRSS")
    run()
    most = 0
    for _ in range(calls):
        forget_peak()
        run()
        most = max(most, memory("VmHWM") or 0)
    return most - before if before and most else None
