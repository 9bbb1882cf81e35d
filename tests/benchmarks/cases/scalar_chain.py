"""A chain of 1,000 ops on single numbers: the overhead of an op."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Case, Data, Run

LINKS, FEW_LINKS = 333, 33
"""A link is a sine, a product and a sum; a square at the end makes 1,000."""


class ScalarChain(Case):
    """``x = sin(x) * w + x``, repeated, and the derivatives with respect to both numbers."""

    name, size = "scalar_chain", "1,000 ops on single numbers"
    outputs = ("value", "dx", "dw")

    def inputs(self, draw: np.random.Generator, *, small: bool) -> Data:
        return {"x": np.float32(0.3), "w": np.float32(0.01), "links": FEW_LINKS if small else LINKS}

    def numpy(self, engine: Any, d: Data) -> Run:
        """Python numbers: NumPy has nothing to give here."""
        x0, w, links = float(d["x"]), float(d["w"]), d["links"]

        def run() -> Any:
            sin, cos = math.sin, math.cos
            x, seen = x0, []
            for _ in range(links):
                seen.append(x)
                x = sin(x) * w + x
            dx, dw = 2 * x, 0.0
            for v in reversed(seen):
                dw += dx * sin(v)
                dx += dx * w * cos(v)
            return x * x, dx, dw

        return run

    def _gradients(self, engine: Any, sin: Any, d: Data) -> Run:
        links = d["links"]

        def forward(x: Any, w: Any) -> Any:
            for _ in range(links):
                x = sin(x) * w + x
            return x * x

        return engine.gradients(forward, [d["x"], d["w"]])

    def lab(self, engine: Any, d: Data) -> Run:
        return self._gradients(engine, engine.lab.sin, d)

    def torch(self, engine: Any, d: Data) -> Run:
        return self._gradients(engine, engine.torch.sin, d)

    def jax(self, engine: Any, d: Data) -> Run:
        return self._gradients(engine, engine.numpy.sin, d)

    def autograd(self, engine: Any, d: Data) -> Run:
        return self._gradients(engine, engine.numpy.sin, d)

    def micrograd(self, engine: Any, d: Data) -> Run:
        """It has no sine; this one is made as its own ops are."""
        number, links = engine.number, d["links"]
        sys.setrecursionlimit(20_000)

        def sin(v: Any) -> Any:
            out = number(math.sin(v.data), (v,), "sin")

            def backward() -> None:
                v.grad += math.cos(v.data) * out.grad

            out._backward = backward
            return out

        def run() -> Any:
            leaf, w = number(float(d["x"])), number(float(d["w"]))
            x = leaf
            for _ in range(links):
                x = sin(x) * w + x
            y = x * x
            y.backward()
            return y.data, leaf.grad, w.grad

        return run
