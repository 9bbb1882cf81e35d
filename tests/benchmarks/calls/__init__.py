"""Single calls beside PyTorch's: what an op costs on about a hundred numbers, where Python counts more than arithmetic.

``python -m tests.benchmarks.calls`` measures the lines of ``calls.txt``, each ``this project's | PyTorch's``, as users
of either write them, compares results and gradients, and prints the lines, those furthest behind first.  The second run
has its loops on disk; in the first some calls are still answered by NumPy alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

CALLS = [
    tuple(line.split(" | ")) for line in (Path(__file__).parent / "calls.txt").read_text(encoding="utf-8").splitlines()
]
"""A call of this project and one of PyTorch, as Python text."""
UNLIKE = ("svd", "cholesky_solve")
"""Parts of calls whose results may differ: by signs, and in the triangle that is not read."""


class Inputs(NamedTuple):
    """Arrays by the names that calls have for them; those of `floats` are differentiated."""

    floats: dict[str, np.ndarray]
    others: dict[str, np.ndarray]


def inputs() -> Inputs:
    """Make the inputs, the same each time; a trailing t says that an image or filter has its channels first."""
    draw = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray:
        return draw.standard_normal(shape).astype(np.float32)

    found = {
        "x": normal(8, 16), "y": normal(8, 16), "v": normal(16), "v64": normal(64), "w": normal(16, 12),
        "p": np.abs(normal(8, 16)) + np.float32(0.5), "b3": normal(4, 8, 16), "c3": normal(4, 16, 8),
        "k1": normal(3, 16, 5), "im": normal(2, 8, 8, 3), "k": normal(3, 3, 3, 4),
        "kd": normal(3, 3, 3, 1), "im12": normal(2, 4, 4, 12), "q4": normal(2, 3, 6, 8), "v8": normal(8),
        "t3": normal(10, 3), "t3b": normal(10, 3), "st": normal(16, 4),
    }  # fmt: skip
    shares = np.exp(normal(8, 16))
    found["q"] = shares / shares.sum(-1, keepdims=True)
    half = normal(16, 16)
    found["s"] = half @ half.T / 16 + np.eye(16, dtype=np.float32)
    found["low"] = np.linalg.cholesky(found["s"])
    for name, order in {
        "b3": (0, 2, 1), "k1": (2, 1, 0), "im": (0, 3, 1, 2), "im12": (0, 3, 1, 2), "k": (3, 2, 0, 1),
        "kd": (2, 3, 0, 1),
    }.items():  # fmt: skip
        found[f"{name}t"] = np.ascontiguousarray(found[name].transpose(order))
    numbers = draw.integers(0, 16, 8)
    others = {
        "mu": np.zeros(16, np.float32), "va": np.ones(16, np.float32), "m": normal(8, 16) > 0,
        "idx": draw.integers(0, 8, 8), "ids": numbers, "ids3": draw.integers(0, 16, (4, 8)),
        "seg": draw.integers(0, 4, 8), "sseg": np.arange(8) // 2,
        "pairs": np.stack([np.arange(8), numbers], 1),
    }  # fmt: skip
    return Inputs(found, others)


def named_in(code: Any) -> set[str]:
    """Return the names that compiled text has, those of its inner functions too."""
    return set(code.co_names).union(*(named_in(inner) for inner in code.co_consts if hasattr(inner, "co_names")))
