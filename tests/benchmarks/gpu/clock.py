"""Time on a GPU: by events in its stream, which show when it worked, and by wall clock, waiting at the end.

A sample is several calls in a row, so that the GPU waits for Python only if calls are shorter than their launch, as in
a program.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from statistics import median, quantiles
from typing import Any

from tests.benchmarks.gpu.engines import Engine, Lab

LEAST_SAMPLE = 4e-3
"""Seconds that a sample takes at least, beside which events and the last wait do not count."""
MOST_SAMPLES, FEWEST_SAMPLES = 25, 5


class Clock:
    """Wall time, for libraries without events and for the simulator."""

    def wait(self, results: Any = None) -> None:
        """Wait until the GPU has done everything."""

    def sample(self, run: Callable[[], Any], times: int) -> tuple[float | None, float]:
        """Seconds of a call by events, None without events, and on the wall."""
        begin = time.perf_counter()
        for _ in range(times):
            results = run()
        self.wait(results)
        return None, (time.perf_counter() - begin) / times

    def peak(self, run: Callable[[], Any]) -> int | None:
        """The most bytes that a call needs above what is held already; None where that cannot be told."""
        return None

    def forget(self) -> None:
        """Give memory back that nobody uses."""


class JaxClock(Clock):
    """Wall time until JAX's results are ready, as it has no events."""

    def __init__(self, jax: Any) -> None:
        self.jax = jax

    def wait(self, results: Any = None) -> None:
        self.jax.block_until_ready(results)


class CupyClock(Clock):
    """Events of CuPy, in whose stream this project's kernels run."""

    def __init__(self, cupy: Any) -> None:
        self.cupy = cupy
        self.begin, self.end = cupy.cuda.Event(), cupy.cuda.Event()

    def wait(self, results: Any = None) -> None:
        self.cupy.cuda.Device().synchronize()

    def sample(self, run: Callable[[], Any], times: int) -> tuple[float | None, float]:
        begin = time.perf_counter()
        self.begin.record()
        for _ in range(times):
            run()
        self.end.record()
        self.end.synchronize()
        wall = (time.perf_counter() - begin) / times
        return self.cupy.cuda.get_elapsed_time(self.begin, self.end) / 1e3 / times, wall

    def peak(self, run: Callable[[], Any]) -> int | None:
        pool = self.cupy.get_default_memory_pool()
        self.forget()
        before = pool.total_bytes()
        run()
        self.wait()
        return pool.total_bytes() - before

    def forget(self) -> None:
        self.cupy.get_default_memory_pool().free_all_blocks()


class TorchClock(Clock):
    """Events of PyTorch."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.begin, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def wait(self, results: Any = None) -> None:
        self.torch.cuda.synchronize()

    def sample(self, run: Callable[[], Any], times: int) -> tuple[float | None, float]:
        begin = time.perf_counter()
        self.begin.record()
        for _ in range(times):
            run()
        self.end.record()
        self.end.synchronize()
        return self.begin.elapsed_time(self.end) / 1e3 / times, (time.perf_counter() - begin) / times

    def peak(self, run: Callable[[], Any]) -> int | None:
        self.forget()
        self.torch.cuda.reset_peak_memory_stats()
        before = self.torch.cuda.memory_allocated()
        run()
        self.wait()
        return self.torch.cuda.max_memory_allocated() - before

    def forget(self) -> None:
        self.torch.cuda.empty_cache()


def clock_of(engine: Engine) -> Clock:
    """The clock for a library."""
    torch, jax = getattr(engine, "torch", None), getattr(engine, "jax", None)
    if torch is not None:
        return TorchClock(torch)
    if jax is not None:
        return JaxClock(jax)
    from autodiff_lab.kernels.cuda import gpus

    real = isinstance(engine, Lab) and not gpus.simulated()
    return CupyClock(gpus.memory_of(0).module) if real else Clock()


def measure(clock: Clock, run: Callable[[], Any], times: int, seconds: float) -> dict[str, Any]:
    """Call until warm, then sample; median and quartiles in seconds.

    Parameters
    ----------
    clock : Clock
        Of the library.
    run : callable
        The call.
    times : int
        Calls of a sample, at least.
    seconds : float
        After which no new sample is begun, once there are enough.
    """
    begin = time.perf_counter()
    clock.wait(run())
    first = time.perf_counter() - begin
    for _ in range(2):
        clock.wait(run())
    _, once = clock.sample(run, 1)
    calls = max(times, math.ceil(LEAST_SAMPLE / max(once, 1e-7)) if once < LEAST_SAMPLE else 1)
    clock.sample(run, calls)
    samples: list[tuple[float | None, float]] = []
    end = time.perf_counter() + seconds
    while len(samples) < FEWEST_SAMPLES or (len(samples) < MOST_SAMPLES and time.perf_counter() < end):
        samples.append(clock.sample(run, calls))
    found: dict[str, Any] = {"first": first, "calls": calls, "samples": len(samples)}
    found["wall"] = _spread([wall for _, wall in samples])
    by_events = [device for device, _ in samples if device is not None]
    return {**found, "device": _spread(by_events)} if by_events else found


def _spread(samples: list[float]) -> dict[str, float]:
    low, _, high = quantiles(samples, n=4)
    return {"median": median(samples), "low": low, "high": high}
