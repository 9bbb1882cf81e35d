"""Forward and backward through a 784-256-10 network on a batch of 64: the first network that most people train."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Case, Data, Run, cross_entropy, normal

WEIGHTS = ("W1", "b1", "W2", "b2")


class SmallMlpStep(Case):
    """Two dense layers, tanh between them, mean cross entropy at the end."""

    name, size = "small_mlp_step", "784-256-10, batch 64"
    outputs = ("value", "dW1", "db1", "dW2", "db2")

    def inputs(self, draw: np.random.Generator, *, small: bool) -> Data:
        batch, width, hidden = (8, 20, 12) if small else (64, 784, 256)
        return {
            "x": normal(draw, batch, width),
            "W1": normal(draw, width, hidden, scale=width**-0.5),
            "b1": normal(draw, hidden, scale=0.1),
            "W2": normal(draw, hidden, 10, scale=hidden**-0.5),
            "b2": normal(draw, 10, scale=0.1),
            "labels": draw.integers(0, 10, batch),
        }

    def numpy(self, engine: Any, d: Data) -> Run:
        x, W1, b1, W2, b2, labels = (d[name] for name in ("x", *WEIGHTS, "labels"))

        def run() -> Any:
            hidden = x @ W1
            hidden += b1
            np.tanh(hidden, out=hidden)
            value, back = cross_entropy(hidden @ W2 + b2, labels)
            inner = back @ W2.T
            inner *= 1 - hidden * hidden
            return value, x.T @ inner, inner.sum(0), hidden.T @ back, back.sum(0)

        return run

    def lab(self, engine: Any, d: Data) -> Run:
        tanh = engine.lab.tanh

        def forward(W1: Any, b1: Any, W2: Any, b2: Any, x: Any, labels: Any) -> Any:
            return engine.cross_entropy(tanh(x @ W1 + b1) @ W2 + b2, labels)

        return engine.gradients(forward, [d[name] for name in WEIGHTS], d["x"], d["labels"])

    def torch(self, engine: Any, d: Data) -> Run:
        torch = engine.torch

        def forward(W1: Any, b1: Any, W2: Any, b2: Any, x: Any, labels: Any) -> Any:
            hidden = torch.tanh(torch.addmm(b1, x, W1))
            return engine.cross_entropy(torch.addmm(b2, hidden, W2), labels)

        return engine.gradients(forward, [d[name] for name in WEIGHTS], d["x"], d["labels"])

    def jax(self, engine: Any, d: Data) -> Run:
        tanh = engine.numpy.tanh

        def forward(W1: Any, b1: Any, W2: Any, b2: Any, x: Any, labels: Any) -> Any:
            return engine.cross_entropy(tanh(x @ W1 + b1) @ W2 + b2, labels)

        return engine.gradients(forward, [d[name] for name in WEIGHTS], d["x"], d["labels"])

    def autograd(self, engine: Any, d: Data) -> Run:
        dot, tanh = engine.numpy.dot, engine.numpy.tanh

        def forward(W1: Any, b1: Any, W2: Any, b2: Any, x: Any, labels: Any) -> Any:
            return engine.cross_entropy(dot(tanh(dot(x, W1) + b1), W2) + b2, labels)

        return engine.gradients(forward, [d[name] for name in WEIGHTS], d["x"], d["labels"])
