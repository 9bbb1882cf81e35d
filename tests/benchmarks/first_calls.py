"""What the first calls of compiled functions cost: ``python -m tests.benchmarks.first_calls [NAME ...]``.

Each program runs in a process of its own, once with an empty cache folder and once with the folder that this filled.
Printed are the CPU time of everything until the program is ready, children included; how much longer the slowest call
took than an eager one; the largest ratio of the wall time of 100 consecutive calls to that of 100 eager ones; and how
long it took, while calls went on, until the compiled program served them.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.tree import ROOT

CALLS = 100
LONGEST = 120.0
"""Seconds after which a process stops waiting for its program."""
Step = tuple[Callable[..., Any], list[Any]]


def mlp(lab: Any) -> Step:
    """A training step of a 784-256-10 net on a batch of 64."""
    from tests.benchmarks.probes.programs import net

    return net()


def lstm(lab: Any) -> Step:
    """An LSTM of 50 unrolled steps, with the gradients of its matrices."""
    from tests.benchmarks.bench_growth import WIDTH, of_an_lstm, sequence

    return of_an_lstm, [sequence(50), *(lab.constant(np.full((WIDTH, 4 * WIDTH), 0.01, np.float32)) for _ in "wu")]


def attention(lab: Any) -> Step:
    """A block of attention with its scales, and the gradients of its matrices."""
    draw = np.random.default_rng(1)
    x = lab.constant(draw.standard_normal((8, 32, 64)).astype(np.float32))
    q, k, v, up = (lab.Variable(draw.standard_normal((64, 64)).astype(np.float32) / 8) for _ in range(4))
    scales = [lab.Variable(np.ones(64, np.float32)) for _ in range(2)]

    def step(x: Any) -> Any:
        with lab.GradientTape() as tape:
            h = (x - lab.reduce_mean(x, axis=-1, keepdims=True)) * scales[0]
            weights = lab.nn.softmax((h @ q) @ lab.transpose(h @ k, [0, 2, 1]) / 8.0)
            y = x + weights @ (h @ v)
            z = y + lab.nn.gelu((y * scales[1]) @ up)
            loss = lab.reduce_mean(z * z)
        return loss, tape.gradient(loss, [q, k, v, up, *scales])

    return step, [x]


def springs(lab: Any) -> Step:
    """30 turns of masses on springs, with the gradient of the last energy: long, and without products."""
    x, v = (lab.constant(np.sin(np.arange(200, dtype=np.float32) * k)) for k in (1, 3))

    def step(x: Any, v: Any) -> Any:
        start = x
        with lab.GradientTape() as tape:
            tape.watch(start)
            for _ in range(30):
                near = lab.roll(x, 1, axis=0) + lab.roll(x, -1, axis=0) - 2.0 * x
                v = v + 0.1 * (near - lab.sin(x))
                x = x + 0.1 * v
            energy = lab.reduce_sum(v * v) - lab.reduce_sum(lab.cos(x))
        return energy, tape.gradient(energy, start)

    return step, [x, v]


def likelihood(lab: Any) -> Step:
    """The likelihood of a Gaussian process in float64, with the gradients of its three numbers."""
    draw = np.random.default_rng(2)
    points, seen = (lab.constant(draw.standard_normal(shape)) for shape in ((60, 1), (60, 1)))

    def step(numbers: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(numbers)
            width, height, noise = lab.exp(numbers[0]), lab.exp(numbers[1]), lab.exp(numbers[2])
            far = lab.square((points - lab.transpose(points)) / width)
            lower = lab.linalg.cholesky(height * lab.exp(-0.5 * far) + noise * lab.eye(60, dtype=lab.float64))
            half = lab.linalg.triangular_solve(lower, seen)
            value = 0.5 * lab.reduce_sum(half * half) + lab.reduce_sum(lab.math.log(lab.linalg.diag_part(lower)))
        return value, tape.gradient(value, numbers)

    return step, [lab.constant(np.array([0.1, 0.2, -1.0]))]


def images(lab: Any) -> Step:
    """A small convolutional net with pooling, and the gradients of its filters."""
    draw = np.random.default_rng(3)
    x = lab.constant(draw.standard_normal((8, 20, 20, 3)).astype(np.float32))
    shapes = [(3, 3, 3, 8), (3, 3, 8, 16), (400, 10)]
    weights = [lab.Variable(draw.standard_normal(shape).astype(np.float32) * 0.1) for shape in shapes]
    labels = lab.constant(draw.integers(0, 10, 8))

    def step(x: Any) -> Any:
        with lab.GradientTape() as tape:
            for filters in weights[:2]:
                x = lab.nn.max_pool2d(lab.nn.relu(lab.nn.conv2d(x, filters, strides=1, padding="SAME")), 2, 2, "VALID")
            each = lab.nn.sparse_softmax_cross_entropy_with_logits(labels, lab.reshape(x, [8, 400]) @ weights[2])
            loss = lab.reduce_mean(each)
        return loss, tape.gradient(loss, weights)

    return step, [x]


PROGRAMS: dict[str, Callable[[Any], Step]] = {
    one.__name__: one for one in (mlp, lstm, attention, springs, likelihood, images)
}


def measure(name: str, way: str) -> dict[str, float]:
    """Return the figures of a program in this process: CPU time until it is ready, or what calls take until then."""
    import autodiff_lab as lab
    from autodiff_lab.kernels.base import compiler, elsewhere

    step, given = PROGRAMS[name](lab)
    compiled = lab.function(step)
    if way == "cpu":
        before, began, wall = _of_children(), time.process_time(), time.perf_counter()
        compiled(*given)
        first, own = time.process_time() - began, time.perf_counter() - wall
        ready = compiled.compile(*given)
        wall = time.perf_counter() - wall
        compiler.wait()
        elsewhere.close()
        spent = time.process_time() - began
        return {"cpu": spent + _of_children() - before, "own": spent, "first": first, "first wall": own, "wait": wall,
                "ready": ready}  # fmt: skip
    eager: list[float] = []
    begin = time.perf_counter()
    while len(eager) < 2 * CALLS and (time.perf_counter() - begin < 5.0 or len(eager) < 10):
        eager.append(_seconds(step, given))
    usual = sorted(eager)[len(eager) // 2]
    gc.collect()
    calls: list[float] = []
    begin = time.perf_counter()
    while not compiled.compiled and time.perf_counter() - begin < LONGEST:
        calls.append(_seconds(compiled, given))
    ready = time.perf_counter() - begin
    calls += [_seconds(compiled, given) for _ in range(CALLS)]
    windows = [sum(calls[i : i + CALLS]) for i in range(max(1, len(calls) - CALLS))]
    return {"eager": usual, "slowest eager": max(eager) - usual, "first": calls[0] - usual,
            "second": max(calls[1:]) - usual, "ratio": max(windows) / CALLS / usual, "ready": ready}  # fmt: skip


def _seconds(run: Callable[..., Any], given: list[Any]) -> float:
    begin = time.perf_counter()
    run(*given)
    return time.perf_counter() - begin


def _of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _elsewhere(name: str, way: str, folder: str) -> dict[str, float]:
    environment = {**os.environ, "AUTODIFF_LAB_COMPILE": "background", "AUTODIFF_LAB_CACHE": folder}
    command = [sys.executable, "-m", "tests.benchmarks.first_calls", "--one", name, way]
    done = subprocess.run(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main(names: list[str]) -> None:
    """Print the figures of programs."""
    for name in names or PROGRAMS:
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            for what in ("empty", "filled"):
                cpu, calls = _elsewhere(name, "cpu", one), _elsewhere(name, "calls", other)
                print(
                    f"{name:10} {what:6}  CPU {cpu['cpu']:5.2f} s ({cpu['own']:.2f} own)  ready if waited for "
                    f"{cpu['wait']:5.2f} s, while calls go on {calls['ready']:5.2f} s  eager call "
                    f"{1e3 * calls['eager']:6.2f} ms  extra of the first {1e3 * calls['first']:5.1f} ms, of the "
                    f"slowest other {1e3 * calls['second']:5.1f} ms (eagerly {1e3 * calls['slowest eager']:.1f})  "
                    f"100 calls {calls['ratio']:.2f} x",
                    flush=True,
                )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(*sys.argv[2:4])))
    else:
        main(sys.argv[1:])
