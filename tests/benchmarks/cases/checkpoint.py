"""Sixty-four dense layers, plain and with recomputation of eight at a time: time against memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Case, Data, Run, normal

SEGMENT = 8


class CheckpointOff(Case):
    """Dense layers of 512 with tanh on a batch of 1,024; the mean square, and the gradients of all matrices."""

    name, size = "checkpoint_off", "64 dense layers of 512, batch 1,024"
    outputs = ("value", "dW")
    memory = True
    recompute = False

    def inputs(self, draw: np.random.Generator, *, small: bool) -> Data:
        layers, width, batch = (16, 8, 4) if small else (64, 512, 1024)
        matrices = [normal(draw, width, width, scale=1.3 * width**-0.5) for _ in range(layers)]
        return {"x": normal(draw, batch, width), "W": matrices}

    def numpy(self, engine: Any, d: Data) -> Run:
        x, W = d["x"], d["W"]
        step = SEGMENT if self.recompute else 1

        def run() -> Any:
            kept, hidden = [x], x
            for k, matrix in enumerate(W, start=1):
                hidden = np.tanh(hidden @ matrix)
                if k % step == 0:
                    kept.append(hidden)
            value = (hidden * hidden).mean()
            back = hidden * hidden.dtype.type(2 / hidden.size)
            gradients: list[Any] = [None] * len(W)
            for end in range(len(W), 0, -step):
                values = [kept[end // step - 1]]
                for k in range(end - step, end - 1):
                    values.append(np.tanh(values[-1] @ W[k]))
                values.append(kept.pop())
                for k in range(end - 1, end - step - 1, -1):
                    out = values.pop()
                    back = back * (1 - out * out)
                    gradients[k] = values[-1].T @ back
                    back = back @ W[k].T
            return value, gradients

        return run

    def lab(self, engine: Any, d: Data) -> Run:
        lab = engine.lab
        part = self._segments(lambda h, w: lab.tanh(h @ w), lab.recompute_grad)

        def forward(W: Any, h: Any) -> Any:
            h = part(W, h)
            return lab.reduce_mean(h * h)

        return engine.gradients(forward, [d["W"]], d["x"])

    def torch(self, engine: Any, d: Data) -> Run:
        from torch.utils.checkpoint import checkpoint

        torch = engine.torch

        def recomputed(body: Any) -> Any:
            return lambda *args: checkpoint(body, *args, use_reentrant=False)

        part = self._segments(lambda h, w: torch.tanh(h @ w), recomputed)

        def forward(W: Any, h: Any) -> Any:
            h = part(W, h)
            return (h * h).mean()

        return engine.gradients(forward, [d["W"]], d["x"])

    def jax(self, engine: Any, d: Data) -> Run:
        np = engine.numpy
        part = self._segments(lambda h, w: np.tanh(h @ w), engine.jax.checkpoint)

        def forward(W: Any, h: Any) -> Any:
            h = part(W, h)
            return (h * h).mean()

        return engine.gradients(forward, [d["W"]], d["x"])

    def autograd(self, engine: Any, d: Data) -> Run:
        """One argument for each segment: it would recompute once for every argument with a gradient."""
        np, box, recompute = engine.numpy, engine.tuple, engine.autograd.checkpoint

        def boxed(body: Any) -> Any:
            inside = recompute(lambda together: body(*together))
            return lambda *args: inside(box(args))

        part = self._segments(lambda h, w: np.tanh(np.dot(h, w)), boxed)

        def forward(W: Any, h: Any) -> Any:
            h = part(W, h)
            return np.mean(h * h)

        return engine.gradients(forward, [d["W"]], d["x"])

    def _segments(self, layer: Any, recomputed: Any) -> Any:
        """All layers, in segments that are recomputed if this case wants it."""

        def body(h: Any, *matrices: Any) -> Any:
            for matrix in matrices:
                h = layer(h, matrix)
            return h

        one = recomputed(body) if self.recompute else body

        def part(W: Any, h: Any) -> Any:
            for k in range(0, len(W), SEGMENT):
                h = one(h, *(W[i] for i in range(k, k + SEGMENT)))
            return h

        return part


class CheckpointOn(CheckpointOff):
    """The same with recomputation."""

    name, size = "checkpoint_on", "64 dense layers of 512, 8 recomputed at a time"
    recompute = True
