"""The Jacobian of a dense layer with 100 inputs and 100 outputs, in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Case, Data, Run


class Jacobian(Case):
    """All derivatives of ``tanh(W x)`` with respect to ``x``; by hand they are one line."""

    name, size = "jacobian_100", "tanh(W x), 100 × 100, float64"
    outputs = ("J",)

    def inputs(self, draw: np.random.Generator, *, small: bool) -> Data:
        size = 7 if small else 100
        return {"W": draw.standard_normal((size, size)) / size**0.5, "x": draw.standard_normal(size)}

    def numpy(self, engine: Any, d: Data) -> Run:
        W, x = d["W"], d["x"]

        def run() -> Any:
            out = np.tanh(W @ x)
            return ((1 - out * out)[:, None] * W,)

        return run

    def lab(self, engine: Any, d: Data) -> Run:
        lab = engine.lab

        def jacobian(x: Any, W: Any) -> Any:
            with lab.GradientTape() as tape:
                tape.watch(x)
                y = lab.tanh(lab.linalg.matvec(W, x))
            return tape.jacobian(y, x)

        return engine.compute(jacobian, d["x"], d["W"])

    def torch(self, engine: Any, d: Data) -> Run:
        torch = engine.torch
        return engine.compute(torch.func.jacrev(lambda x, W: torch.tanh(W @ x)), d["x"], d["W"])

    def jax(self, engine: Any, d: Data) -> Run:
        return engine.compute(engine.jax.jacrev(lambda x, W: engine.numpy.tanh(W @ x)), d["x"], d["W"])

    def autograd(self, engine: Any, d: Data) -> Run:
        np = engine.numpy
        return engine.compute(engine.autograd.jacobian(lambda x, W: np.tanh(np.dot(W, x))), d["x"], d["W"])
