"""How costs grow: with a sequence that is read step by step, the gradient and the first call of a compiled function,
which should double with the number of steps; with the size of a table, the update of some of its rows, which should
stay as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

WIDTH = 64


def sequence(steps: int) -> Any:
    """Return a batch of 16 sequences."""
    return lab.constant(np.random.default_rng(0).standard_normal((16, steps, WIDTH)).astype(np.float32))


def of_parts(x: Any) -> Any:
    """Return the gradient of a sum over the parts of x."""
    with lab.GradientTape() as tape:
        tape.watch(x)
        loss = lab.add_n([lab.reduce_sum(part * part) for part in lab.unstack(x, axis=1)])
    return tape.gradient(loss, x)


def of_an_lstm(x: Any, w: Any, u: Any) -> Any:
    """Return the gradients of an LSTM's matrices."""
    with lab.GradientTape() as tape:
        tape.watch([w, u])
        h = c = lab.zeros([16, WIDTH])
        for t in range(x.shape[1]):
            i, f, g, o = lab.split(x[:, t] @ w + h @ u, 4, axis=1)
            c = lab.sigmoid(f) * c + lab.sigmoid(i) * lab.tanh(g)
            h = lab.sigmoid(o) * lab.tanh(c)
        loss = lab.reduce_sum(h * h)
    return tape.gradient(loss, [w, u])


@pytest.mark.parametrize("steps", [100, 200, 400, 800])
def test_gradient_of_parts(benchmark: Any, steps: int) -> None:
    """The gradient of every step of a sequence."""
    benchmark(of_parts, sequence(steps))


@pytest.mark.parametrize("steps", [25, 50, 100, 200])
def test_first_call(benchmark: Any, steps: int) -> None:
    """Trace and compile an unrolled LSTM; the machine code is cached after the first round."""
    w, u = (lab.constant(np.full((WIDTH, 4 * WIDTH), 0.01, np.float32)) for _ in range(2))

    def first_call() -> None:
        lab.function(of_an_lstm)(sequence(steps), w, u)

    benchmark.pedantic(first_call, rounds=2, warmup_rounds=1)


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("rows", [1_000, 10_000, 100_000, 1_000_000])
def test_step_of_an_embedding(benchmark: Any, rows: int, compiled: bool) -> None:
    """Gather 640 rows of a table, and update them along the gradient."""
    rng = np.random.default_rng(0)
    table = lab.Variable(rng.standard_normal((rows, WIDTH), np.float32))
    ids = lab.constant(rng.integers(0, rows, (80, 8)))
    optimizer = lab.optimizers.SGD(0.01)

    def step(ids: Any) -> Any:
        with lab.GradientTape() as tape:
            loss = lab.reduce_sum(lab.square(lab.gather(table, ids)))
        optimizer.apply_gradients([(tape.gradient(loss, table), table)])
        return loss

    benchmark(lab.function(step) if compiled else step, ids)
