"""The second derivative of a curve at 10,000 points, as for a plot."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Case, Data, Run


class SecondDerivative(Case):
    """The second derivative of the cube of the sine, point by point."""

    name, size = "second_derivative", "sin³ at 10,000 points"
    outputs = ("second",)

    def inputs(self, draw: np.random.Generator, *, small: bool) -> Data:
        return {"x": np.linspace(-3, 3, 100 if small else 10_000).astype(np.float32)}

    def numpy(self, engine: Any, d: Data) -> Run:
        x = d["x"]

        def run() -> Any:
            s, c = np.sin(x), np.cos(x)
            return (6 * s * c * c - 3 * s * s * s,)

        return run

    def lab(self, engine: Any, d: Data) -> Run:
        lab = engine.lab

        def second(x: Any) -> Any:
            with lab.GradientTape() as outer:
                outer.watch(x)
                with lab.GradientTape() as inner:
                    inner.watch(x)
                    y = lab.sin(x) ** 3
                slope = inner.gradient(y, x)
            return outer.gradient(slope, x)

        return engine.compute(second, d["x"])

    def torch(self, engine: Any, d: Data) -> Run:
        """Two passes through the graph; compiled, by the functional interface, which it can compile."""
        torch = engine.torch
        if engine.compiled:
            grad = torch.func.grad
            return engine.compute(grad(lambda v: grad(lambda u: (torch.sin(u) ** 3).sum())(v).sum()), d["x"])
        x = engine.leaf(d["x"])

        def run() -> Any:
            (slope,) = torch.autograd.grad((torch.sin(x) ** 3).sum(), x, create_graph=True)
            return torch.autograd.grad(slope.sum(), x)

        return run

    def jax(self, engine: Any, d: Data) -> Run:
        sin, grad = engine.numpy.sin, engine.jax.grad
        return engine.compute(grad(lambda v: grad(lambda u: (sin(u) ** 3).sum())(v).sum()), d["x"])

    def autograd(self, engine: Any, d: Data) -> Run:
        slope = engine.autograd.elementwise_grad
        return engine.compute(slope(slope(lambda u: engine.numpy.sin(u) ** 3)), d["x"])
