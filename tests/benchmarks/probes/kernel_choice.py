"""Is `auto` ever slower than the better of the two kernels?  Ops, shapes and layouts; ``slow`` lists where it is.

Every call of an op's kernel runs in turns as in mode ``numpy``, ``numba`` and ``auto``, once `auto` has decided about
it.  Ops with few elements do not ask for a decision.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.kernels.base import compiler, measuring
from autodiff_lab.kernels.base.choose import CHOSEN, IN_USE, Chosen, signature
from tests.benchmarks import clock

LIMIT = 1.05
LOOKING_UP = 7e-7
"""Seconds that it takes to look up the class of a call; more than 5 % of a call of a few microseconds."""
TURNS = 25
AGAIN = 3
"""How often a row above the limit is timed again: what another program takes away slows one of the modes only."""
Call = tuple[str, str, list[Any], dict[str, Any]]
"""A kernel, what the row is called, arrays and parameters."""


def drawn(*shape: int) -> np.ndarray[Any, Any]:
    """Return normal numbers in float32."""
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def convolutions() -> Iterator[Call]:
    """Yield convolutions and their filter gradients: few and many channels, small and large images."""
    for n, size, c_in, window, c_out in (
        (4, 7, 512, 3, 512), (16, 7, 512, 3, 512), (8, 14, 128, 3, 128), (32, 28, 1, 3, 32), (8, 32, 16, 3, 16),
        (8, 14, 512, 1, 128), (2, 56, 64, 3, 64),
    ):  # fmt: skip
        how: dict[str, Any] = {"strides": (1, 1), "padding": ((window // 2,) * 2,) * 2, "dilations": (1, 1)}
        x, w, g = drawn(n, size, size, c_in), drawn(window, window, c_in, c_out), drawn(n, size, size, c_out)
        what = f"{n}x{size}x{size}x{c_in}, {window}x{window} to {c_out}"
        yield "convolve", what, [x, w], how
        yield "convolve_filter", what, [x, g], how | {"window": (window, window)}


def poolings() -> Iterator[Call]:
    """Yield poolings of one channel, of a few, and of many."""
    for n, size, c in ((64, 28, 1), (4, 112, 3), (16, 32, 32), (64, 14, 1)):
        how: dict[str, Any] = {"window": (2, 2), "strides": (2, 2), "padding": ((0, 0), (0, 0))}
        x = drawn(n, size, size, c)
        for name in ("max_pool", "average_pool"):
            yield name, f"{n}x{size}x{size}x{c}", [x], how


def reductions() -> Iterator[Call]:
    """Yield sums, means and maxima over last, leading and all axes, of arrays in rows and in columns."""
    for shape in ((1797, 10), (16, 32, 32, 32), (8, 64, 128), (64, 100), (1000, 1000), (100_000, 3), (64, 256)):
        x = drawn(*shape)
        rank = len(shape)
        for axes in ((-1,), tuple(range(-rank, -1)), tuple(range(-rank, 0)), (-2,)):
            for name in ("sum", "mean", "max", "logsumexp"):
                yield name, f"{shape} over {axes}", [x], {"axes": axes, "keepdims": False}
    for name in ("sum", "max"):
        for axes in ((-1,), (-2,)):
            yield name, f"columns (1000, 500) over {axes}", [drawn(500, 1000).T], {"axes": axes, "keepdims": False}


def others() -> Iterator[Call]:
    """Yield softmax, normalization, scans and segments."""
    for rows, columns in ((32, 64), (64, 10), (4096, 1000), (512, 33), (8, 50_000)):
        x, y = drawn(rows, columns), np.ones(columns, np.float32)
        yield "softmax", f"{rows}x{columns}", [x], {"axis": -1}
        yield "softmax_grad", f"{rows}x{columns}", [x, abs(x) / columns], {"axis": -1}
        yield "normalize", f"{rows}x{columns}", [x, y, y], {"axes": (-1,), "epsilon": 1e-3}
        yield "moments", f"{rows}x{columns}", [x], {"axes": (-1,)}
        yield "moments", f"{rows}x{columns} over rows", [x], {"axes": (-2,)}
        for name in ("cumsum", "cumprod"):
            yield name, f"{rows}x{columns}", [x], {"axis": -1, "exclusive": False, "reverse": False}
        labels = np.arange(rows) % columns
        yield "sparse_softmax_cross_entropy", f"{rows}x{columns}", [x, labels], {}
    yield "cumsum", "100", [drawn(100)], {"axis": -1, "exclusive": False, "reverse": False}
    for width in (1, 16):
        ids = np.random.default_rng(1).integers(0, 1000, 100_000)
        yield "segment_max", f"100000x{width} to 1000", [drawn(100_000, width), ids], {"count": 1000, "empty": 0.0}
        yield "segment_sum", f"100000x{width} to 1000", [drawn(100_000, width), ids], {"count": 1000}
        yield "scatter_axis", f"100000x{width} to 1000", [drawn(100_000, width), ids], {"axis": -2, "length": 1000}


def settled(kernel: Chosen, arrays: list[Any], params: dict[str, Any]) -> None:
    """Call until the background has decided about this class of calls."""
    IN_USE["mode"] = "auto"
    measuring._spent["seconds"] = 0.0  # a table of calls may take longer than a process of a user's
    kernel.compile(arrays[0].dtype)
    for calls in range(2000):
        kernel(*arrays, **params)
        if calls % 10 == 0:
            compiler.wait()
            if signature(arrays, params) in kernel.pays:
                return


def is_slow(least: dict[str, float]) -> bool:
    """Return whether `auto` takes longer than the better kernel, by more than looking up the class does."""
    best = min(least["numpy"], least["numba"])
    return least["auto"] > LIMIT * best and least["auto"] - best > LOOKING_UP


def in_turns(run: Callable[[], Any]) -> dict[str, float]:
    """Give the least CPU seconds of a call in each mode, the modes one after the other."""
    IN_USE["mode"] = "auto"
    each = max(clock.once(run)[0], 1e-6)
    times = max(1, round(2e-4 / each))
    turns = max(5, min(TURNS, round(0.2 / each)))
    least = dict.fromkeys(("numpy", "numba", "auto"), float("inf"))
    for again in range(1 + AGAIN):
        for _ in range(turns if not again or is_slow(least) else 0):
            for mode in least:
                IN_USE["mode"] = mode
                least[mode] = min(least[mode], clock.once(run, times)[0])
    return least


def figures() -> dict[str, Any]:
    """Times of each call in microseconds, and the rows in which `auto` is slower than it should be."""
    rows: dict[str, list[float]] = {}
    slow: dict[str, float] = {}
    for family in (convolutions, poolings, reductions, others):
        for name, what, arrays, params in family():
            op, kernel = REGISTRY[name], CHOSEN[name]
            settled(kernel, arrays, params)
            if kernel.override()(*arrays, **params) is NotImplemented:
                continue
            least = in_turns(lambda k=op.kernel, a=arrays, p=params: k(*a, **p))
            row = f"{name} {what}"
            rows[row] = [round(1e6 * least[mode], 2) for mode in ("numpy", "numba", "auto")]
            if is_slow(least):
                slow[row] = round(least["auto"] / min(least["numpy"], least["numba"]), 2)
                print(f"{slow[row]:5.2f}  {row}: {rows[row]}", file=sys.stderr)
    return {"calls": len(rows), "slow": slow, "rows": rows}
