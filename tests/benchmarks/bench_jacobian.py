"""What `batch_jacobian` costs beside a loop: a 20 to 20 function at several batch sizes, CPU time side by side.

The loop is what one writes without it: on a persistent tape, one backward pass for each of the twenty outputs, stacked
at the end.  Two functions: one layer with tanh, and a small network.  Ratios below 1 are in favour of `batch_jacobian`.
BLAS has one thread: ways of computing are compared here, not schedulers.
"""

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

for library in ("OPENBLAS", "MKL", "OMP", "VECLIB_MAXIMUM"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import numpy as np  # noqa: E402 - it reads the number of threads when it is imported

import autodiff_lab as lab  # noqa: E402

WIDTH = 20
ROUNDS = 15
BATCHES = (1, 32, 256, 1000)


def layer() -> Callable[[Any], Any]:
    """Return one dense layer."""
    weights = lab.constant(np.random.default_rng(0).standard_normal((WIDTH, WIDTH)).astype(np.float32) * 0.2)
    return lambda x: lab.tanh(x @ weights)


def network() -> Callable[[Any], Any]:
    """Return three dense layers, 20 to 64 to 64 to 20."""
    draw = np.random.default_rng(1)
    sizes = [(WIDTH, 64), (64, 64), (64, WIDTH)]
    weights = [lab.constant(draw.standard_normal(size).astype(np.float32) * 0.1) for size in sizes]

    def apply(x: Any) -> Any:
        for matrix in weights:
            x = lab.tanh(x @ matrix)
        return x

    return apply


def stacked(function: Callable[[Any], Any], x: Any) -> Callable[[], Any]:
    """Return the backward part alone, by `batch_jacobian`."""
    with lab.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = function(x)
    return lambda: tape.batch_jacobian(y, x)


def looped(function: Callable[[Any], Any], x: Any) -> Callable[[], Any]:
    """Return the backward part alone, by twenty passes."""
    with lab.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = function(x)
    seeds = []
    for column in range(WIDTH):
        seed = np.zeros(y.shape, np.float32)
        seed[:, column] = 1.0
        seeds.append(lab.constant(seed))

    def run() -> Any:
        return lab.stack([tape.gradient(y, x, output_gradients=seed) for seed in seeds], axis=1)

    return run


def seconds(run: Callable[[], Any]) -> float:
    """Return the CPU time of one run, repeated until it can be measured."""
    times = 1
    while True:
        start = time.process_time()
        for _ in range(times):
            run()
        spent = time.process_time() - start
        if spent > 0.02:
            return spent / times
        times *= 2


def main() -> None:
    """Print the ratios."""
    print(f"{'function':<10} {'batch':>6} {'stacked':>12} {'loop':>12} {'ratio':>7}")
    for name, make in (("layer", layer), ("network", network)):
        for batch in BATCHES:
            x = lab.constant(np.random.default_rng(2).standard_normal((batch, WIDTH)).astype(np.float32))
            one, other = stacked(make(), x), looped(make(), x)
            np.testing.assert_allclose(one().numpy(), other().numpy(), rtol=1e-4, atol=1e-6)
            pairs = [(seconds(one), seconds(other)) for _ in range(ROUNDS)]
            a, b = (statistics.median(column) for column in zip(*pairs, strict=True))
            ratio = statistics.median(x / y for x, y in pairs)
            print(f"{name:<10} {batch:>6} {a * 1e3:>9.3f} ms {b * 1e3:>9.3f} ms {ratio:>7.2f}")


if __name__ == "__main__":
    main()
