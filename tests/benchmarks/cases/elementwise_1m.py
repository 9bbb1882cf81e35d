"""Twelve elementwise ops on a million numbers and their sum: the cost of memory and elementary functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Case, Data, Run


class Elementwise(Case):
    """exp, product, sum, tanh, square, sum, sqrt, log1p, sin, product, difference, quotient."""

    name, size = "elementwise_1m", "12 ops on 1,000,000 numbers"
    outputs = ("value", "dx", "dy")

    def inputs(self, draw: np.random.Generator, *, small: bool) -> Data:
        count = 1_000 if small else 1_000_000
        return {"x": draw.uniform(-1, 1, count).astype(np.float32), "y": draw.uniform(0.5, 1.5, count).astype("f4")}

    def numpy(self, engine: Any, d: Data) -> Run:
        x, y = d["x"], d["y"]

        def run() -> Any:
            grown = np.exp(x)
            bent = np.tanh(grown * y + x)
            root = np.sqrt(bent * bent + y)
            logged = np.log1p(root)
            wave = np.sin(logged)
            out = wave * grown
            out -= bent
            out /= root
            value = out.sum()
            one_by_root = 1 / root
            d_root = -out * one_by_root
            d_logged = np.cos(logged)
            d_logged *= one_by_root * grown
            d_root += d_logged / (1 + root)
            dy = 0.5 * d_root * one_by_root
            d_bent = 2 * dy * bent - one_by_root
            d_bent *= 1 - bent * bent
            dx = d_bent + (d_bent * y + one_by_root * wave) * grown
            dy += d_bent * grown
            return value, dx, dy

        return run

    def _gradients(self, engine: Any, xp: Any, d: Data, log1p: Any = None, total: Any = None) -> Run:
        log1p, total = log1p or xp.log1p, total or xp.sum

        def forward(x: Any, y: Any) -> Any:
            grown = xp.exp(x)
            bent = xp.tanh(grown * y + x)
            root = xp.sqrt(bent * bent + y)
            wave = xp.sin(log1p(root))
            return total((wave * grown - bent) / root)

        return engine.gradients(forward, [d["x"], d["y"]])

    def lab(self, engine: Any, d: Data) -> Run:
        return self._gradients(engine, engine.lab, d, engine.lab.math.log1p, engine.lab.reduce_sum)

    def torch(self, engine: Any, d: Data) -> Run:
        return self._gradients(engine, engine.torch, d)

    def jax(self, engine: Any, d: Data) -> Run:
        return self._gradients(engine, engine.numpy, d)

    def autograd(self, engine: Any, d: Data) -> Run:
        return self._gradients(engine, engine.numpy, d)
