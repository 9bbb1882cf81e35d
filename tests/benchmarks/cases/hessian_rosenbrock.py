"""The Hessian of Rosenbrock's function of 200 numbers: second derivatives, each of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Case, Data, Run


def terms(x: Any) -> Any:
    """The terms of Rosenbrock's function, in any library."""
    a, b = x[:-1], x[1:]
    return 100 * (b - a**2) ** 2 + (1 - a) ** 2


class HessianRosenbrock(Case):
    """All second derivatives as one dense matrix."""

    name, size = "hessian_rosenbrock", "N = 200, float64"
    outputs = ("H",)

    def inputs(self, draw: np.random.Generator, *, small: bool) -> Data:
        return {"x": draw.uniform(-1.5, 1.5, 9 if small else 200)}

    def numpy(self, engine: Any, d: Data) -> Run:
        x = d["x"]

        def run() -> Any:
            H = np.zeros((x.size, x.size))
            i = np.arange(x.size - 1)
            H[i, i] = 1200 * x[:-1] ** 2 - 400 * x[1:] + 2
            H[i + 1, i + 1] += 200
            H[i, i + 1] = H[i + 1, i] = -400 * x[:-1]
            return (H,)

        return run

    def lab(self, engine: Any, d: Data) -> Run:
        lab = engine.lab

        def hessian(x: Any) -> Any:
            with lab.GradientTape() as outer:
                outer.watch(x)
                with lab.GradientTape() as inner:
                    inner.watch(x)
                    y = lab.reduce_sum(terms(x))
                slope = inner.gradient(y, x)
            return outer.jacobian(slope, x)

        return engine.compute(hessian, d["x"])

    def torch(self, engine: Any, d: Data) -> Run:
        return engine.compute(engine.torch.func.hessian(lambda x: terms(x).sum()), d["x"])

    def jax(self, engine: Any, d: Data) -> Run:
        return engine.compute(engine.jax.hessian(lambda x: terms(x).sum()), d["x"])

    def autograd(self, engine: Any, d: Data) -> Run:
        return engine.compute(engine.autograd.hessian(lambda x: engine.numpy.sum(terms(x))), d["x"])
