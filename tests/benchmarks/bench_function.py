"""What compiling gives: the same programs eager and under `lab.function`, CPU time side by side, in one process.

Forward and backward each: twelve elementwise ops on a million numbers, chains of 1,000 and 10,000 scalar ops, and a
training step of a 784-256-10 net on a batch of 64.  The first call, which traces and compiles, is printed apart, and so
is what a compiled call costs before it computes anything.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_lab as lab

ROUNDS = 15
LINKS = {"scalar chain 1,000": 333, "scalar chain 10,000": 3333}


def elementwise() -> tuple[Callable[..., Any], list[Any]]:
    """Twelve elementwise ops on a million numbers, and the gradients of their sum."""
    draw = np.random.default_rng(0)
    x = lab.constant(draw.uniform(-1, 1, 1_000_000).astype(np.float32))
    y = lab.constant(draw.uniform(0.5, 1.5, 1_000_000).astype(np.float32))

    def run(x: Any, y: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([x, y])
            grown = lab.exp(x)
            bent = lab.tanh(grown * y + x)
            root = lab.sqrt(bent * bent + y)
            wave = lab.sin(lab.math.log1p(root))
            value = lab.reduce_sum((wave * grown - bent) / root)
        return value, tape.gradient(value, [x, y])

    return run, [x, y]


def chain(links: int) -> tuple[Callable[..., Any], list[Any]]:
    """A chain of scalar ops, three a link."""

    def run(x: Any, w: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([x, w])
            a = x
            for _ in range(links):
                a = lab.sin(a) * w + a
            value = a * a
        return value, tape.gradient(value, [x, w])

    return run, [lab.constant(0.3), lab.constant(0.01)]


def training() -> tuple[Callable[..., Any], list[Any]]:
    """A training step: forward, backward and the update of four variables."""
    draw = np.random.default_rng(0)
    images = lab.constant(draw.standard_normal((64, 784)).astype(np.float32))
    labels = lab.constant(draw.integers(0, 10, 64))
    shapes = [(784, 256), (256,), (256, 10), (10,)]
    weights = [lab.Variable(draw.standard_normal(shape).astype(np.float32) * 0.05) for shape in shapes]
    optimizer = lab.optimizers.SGD(0.01)
    optimizer.build(weights)

    def run(images: Any, labels: Any) -> Any:
        w1, b1, w2, b2 = weights
        with lab.GradientTape() as tape:
            hidden = lab.tanh(images @ w1 + b1)
            each = lab.nn.sparse_softmax_cross_entropy_with_logits(labels, hidden @ w2 + b2)
            loss = lab.reduce_mean(each)
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    return run, [images, labels]


def milliseconds(function: Callable[..., Any], arguments: list[Any], rounds: int = ROUNDS) -> tuple[float, float]:
    """The least and the median CPU time of a call."""
    times: list[float] = []
    for _ in range(rounds + 2):
        start = time.process_time_ns()
        function(*arguments)
        times.append((time.process_time_ns() - start) / 1e6)
    return min(times[2:]), statistics.median(times[2:])


def dispatch() -> float:
    """Microseconds of a compiled call with 8 tensors that adds two of them."""
    function = lab.function(lambda *xs: xs[0] + xs[1])
    xs = [lab.constant([1.0, 2.0])] * 8
    function(*xs)
    best = float("inf")
    for _ in range(7):
        start = time.perf_counter_ns()
        for _ in range(10_000):
            function(*xs)
        best = min(best, (time.perf_counter_ns() - start) / 1e7)
    return best


def main() -> None:
    """Print the table."""
    cases = {"elementwise_1m": elementwise(), "training step": training()}
    cases |= {name: chain(links) for name, links in LINKS.items()}
    print(f"{'case':22}{'first call s':>13}{'eager ms':>11}{'compiled ms':>13}{'ratio':>8}{'fallbacks':>11}{'ops':>8}")
    for name, (run, arguments) in cases.items():
        compiled = lab.function(run)
        start = time.perf_counter()
        compiled(*arguments)
        first = time.perf_counter() - start
        rounds = 200 if name == "training step" else ROUNDS
        eager, _ = milliseconds(run, arguments, rounds)
        fast, _ = milliseconds(compiled, arguments, rounds)
        lines = len(compiled.program.lines)
        print(f"{name:22}{first:13.2f}{eager:11.3f}{fast:13.4f}{fast / eager:8.2f}{compiled.fallbacks:11}{lines:8}")
    print(f"a compiled call with 8 tensors, one addition included: {dispatch():.2f} us")


if __name__ == "__main__":
    main()
