"""Programs that several probes and the history use."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_lab as lab

Run = Callable[[], Any]


def neuron() -> Run:
    """``x * x + sin(x)`` and its slope: four ops."""
    x = lab.Variable(3.0, name="x")

    def run() -> Any:
        with lab.GradientTape() as tape:
            y = x * x + lab.sin(x)
        return tape.gradient(y, x)

    return run


def net() -> tuple[Callable[..., Any], list[Any]]:
    """A training step of a 784-256-10 net on a batch of 64: forward, backward and the update of four variables."""
    draw = np.random.default_rng(0)
    images = lab.constant(draw.standard_normal((64, 784)).astype(np.float32))
    labels = lab.constant(draw.integers(0, 10, 64))
    shapes = [(784, 256), (256,), (256, 10), (10,)]
    weights = [lab.Variable(draw.standard_normal(shape).astype(np.float32) * 0.05) for shape in shapes]
    optimizer = lab.optimizers.SGD(0.01)
    optimizer.build(weights)

    def step(images: Any, labels: Any) -> Any:
        w1, b1, w2, b2 = weights
        with lab.GradientTape() as tape:
            hidden = lab.tanh(images @ w1 + b1)
            each = lab.nn.sparse_softmax_cross_entropy_with_logits(labels, hidden @ w2 + b2)
            loss = lab.reduce_mean(each)
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    return step, [images, labels]


def graph() -> Run:
    """500 small ops on 8 numbers, in which values are used again, and the gradient."""
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


def chain(links: int) -> Callable[[Any, Any], Any]:
    """``x = sin(x) * w + x`` as often as ``links`` says, its square, and both slopes: three ops a link."""

    def run(x: Any, w: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([x, w])
            a = x
            for _ in range(links):
                a = lab.sin(a) * w + a
            value = a * a
        return value, tape.gradient(value, [x, w])

    return run
