"""What recording costs: the same program plain and under `record`, forward and backward, CPU time side by side.

Three programs: a, ``x * x + sin(x)``; b, a training step of a 784-256-10 net on a batch of 64; c, a graph of 500 small
ops on 8 elements, in which values are used again.  Recording keeps values, gradients and source lines.  The views are
built when the recording is first looked at; that, and the sizes of what is saved, are printed beside it.
"""

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.recording import Recording

ROUNDS = 7


def small() -> Callable[[], Any]:
    """Program a."""
    x = lab.Variable(3.0, name="x")

    def run() -> Any:
        with lab.GradientTape() as tape:
            y = x * x + lab.sin(x)
        return tape.gradient(y, x)

    return run


def net() -> Callable[[], Any]:
    """Program b."""
    draw = np.random.default_rng(0)
    images = lab.constant(draw.standard_normal((64, 784)).astype(np.float32))
    labels = lab.one_hot(draw.integers(0, 10, 64), 10)
    shapes = [(784, 256), (256,), (256, 10), (10,)]
    weights = [lab.Variable(draw.standard_normal(shape).astype(np.float32) * 0.05) for shape in shapes]

    def run() -> Any:
        w1, b1, w2, b2 = weights
        with lab.GradientTape() as tape:
            hidden = lab.nn.relu(images @ w1 + b1)
            logits = hidden @ w2 + b2
            loss = lab.reduce_mean(lab.nn.softmax_cross_entropy_with_logits(labels, logits))
        return tape.gradient(loss, weights)

    return run


def graph() -> Callable[[], Any]:
    """Program c."""
    draw = random.Random(0)
    plan = [(draw.randrange(3), draw.random(), draw.random()) for _ in range(500)]
    x = lab.Variable(np.linspace(0.1, 1.0, 8, dtype=np.float32), name="x")

    def run() -> Any:
        with lab.GradientTape() as tape:
            values = [x * 0.5]
            for kind, near, far in plan:
                a = values[max(0, len(values) - 1 - int(near * 5))]
                b = values[max(0, len(values) - 1 - int(far * 20))]
                values.append(lab.tanh(a + b) if kind == 0 else a * b if kind == 1 else lab.sin(a))
            y = values[-1] + values[-2]
        return tape.gradient(y, x)

    return run


def seconds(run: Callable[[], Any], repeat: int) -> float:
    """CPU seconds of one run."""
    start = time.process_time()
    for _ in range(repeat):
        run()
    return (time.process_time() - start) / repeat


def main() -> None:
    """Print the table."""
    print(f"{'program':<8} {'plain':>10} {'recorded':>10} {'ratio':>6} {'views':>10} {'JSON':>10} {'page':>10}")
    for name, make, repeat in (("a", small, 400), ("b", net, 8), ("c", graph, 8)):
        run = make()

        def recorded(run: Callable[[], Any] = run) -> Recording:
            with lab.record() as recording:
                run()
            return recording

        plain_times, recorded_times = [], []
        for _ in range(ROUNDS):
            plain_times.append(seconds(run, repeat))
            recorded_times.append(seconds(recorded, repeat))
        plain, slow = statistics.median(plain_times), statistics.median(recorded_times)
        recording = recorded()
        start = time.process_time()
        len(recording)
        views = time.process_time() - start
        with tempfile.TemporaryDirectory() as folder:
            saved, page = Path(folder) / "a.json", Path(folder) / "a.html"
            recording.save(saved)
            recording.to_html(page)
            sizes = [f"{path.stat().st_size / 1000:.1f} kB" for path in (saved, page)]
        print(
            f"{name:<8} {plain * 1e6:>7.1f} µs {slow * 1e6:>7.1f} µs {slow / plain:>6.2f} {views * 1e3:>7.1f} ms "
            f"{sizes[0]:>10} {sizes[1]:>10}"
        )


if __name__ == "__main__":
    main()
