"""Noise: uniform and standard normal numbers, drawn where new tensors are made.

Few numbers are drawn on the CPU everywhere, so that a seed gives the same ones on every device.  To draw and copy many
would take far longer than what a GPU then does with them: there, from `MANY` on, they come from a counter
(`kernels.random.cuda`), at a key that the source of the CPU gives.  A seed then gives the same numbers at every
run, but others than on the CPU.
"""

from __future__ import annotations

from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from autodiff_lab.engine.devices import current_memory
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.ops.random_state import Source

MANY = 2**14
"""Numbers from which on the GPU draws them that keeps them: to copy fewer takes no longer than to ask it."""


def uniform_noise(source: Source, shape: tuple[int, ...], dtype: Any) -> Any:
    """Numbers from 0 up to, and without, 1: float64 on the CPU, on a GPU of the dtype wanted (half: float32)."""
    return _drawn(source, "uniform", shape, dtype) if _on_gpu(shape, dtype) else source.random(shape)


def normal_noise(source: Source, shape: tuple[int, ...], dtype: Any) -> Any:
    """Standard normal numbers; otherwise as `uniform_noise`."""
    return _drawn(source, "normal", shape, dtype) if _on_gpu(shape, dtype) else source.standard_normal(shape)


def _on_gpu(shape: tuple[int, ...], dtype: Any) -> bool:
    return current_memory() is not None and prod(shape) >= MANY and as_dtype(dtype).dtype.kind == "f"


def _drawn(source: Source, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
    draw = getattr(import_module("autodiff_lab.kernels.random.cuda"), name)
    key = int(source.integers(0, 2**64, dtype=np.uint64))
    return draw(current_memory(), shape, "float64" if as_dtype(dtype).dtype.itemsize == 8 else "float32", key)
