"""The cost of `batch_jacobian` relative to a loop, over time: a function from 20 to 20 numbers, several batch sizes.

The loop is what users write without it: on a persistent tape, one backward pass for each of the twenty outputs,
stacked at the end.  Two functions: one layer with tanh, and a small network.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

WIDTH = 20
SIZES = {"layer": [(WIDTH, WIDTH)], "network": [(WIDTH, 64), (64, 64), (64, WIDTH)]}


def taped(sizes: list[tuple[int, int]], batch: int) -> tuple[Any, Any, Any]:
    """A persistent tape, the input and the output of dense layers with tanh."""
    draw = np.random.default_rng(1)
    x = lab.constant(draw.standard_normal((batch, WIDTH)).astype(np.float32))
    matrices = [lab.constant(draw.standard_normal(size).astype(np.float32) * 0.2) for size in sizes]
    with lab.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x
        for matrix in matrices:
            y = lab.tanh(y @ matrix)
    return tape, x, y


def at_once(tape: Any, x: Any, y: Any) -> Callable[[], Any]:
    """The backward part by `batch_jacobian`."""
    return lambda: tape.batch_jacobian(y, x)


def looped(tape: Any, x: Any, y: Any) -> Callable[[], Any]:
    """The backward part by twenty passes."""
    seeds = [lab.constant(np.tile(row, (y.shape[0], 1)).astype(np.float32)) for row in np.eye(WIDTH)]
    return lambda: lab.stack([tape.gradient(y, x, output_gradients=seed) for seed in seeds], axis=1)


@pytest.mark.parametrize("way", [at_once, looped], ids=["at once", "looped"])
@pytest.mark.parametrize("batch", [1, 32, 256, 1000])
@pytest.mark.parametrize("function", SIZES)
def test_batch_jacobian(function: str, batch: int, way: Callable[..., Callable[[], Any]], benchmark: Any) -> None:
    benchmark.group = f"batch_jacobian of a {function}, batch {batch}"
    tape, x, y = taped(SIZES[function], batch)
    result = benchmark(way(tape, x, y))
    np.testing.assert_allclose(result.numpy(), at_once(tape, x, y)().numpy(), rtol=1e-4, atol=1e-6)
