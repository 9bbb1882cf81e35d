"""A small convolutional network: ten images of 16 x 16 x 3, one 5 x 5 convolution, pooling, one dense layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Case, Data, Run, cross_entropy, hwio, images_to_rows, nchw, normal, oihw

WEIGHTS = ("F", "c", "W", "b")


def rows_of_chw(W: np.ndarray) -> np.ndarray:
    """The rows of the dense layer as a library wants them that flattens images channels first."""
    return np.ascontiguousarray(W.reshape(6, 6, 6, 10).transpose(2, 0, 1, 3).reshape(216, 10))


def rows_of_hwc(W: np.ndarray) -> np.ndarray:
    """Back again."""
    return W.reshape(6, 6, 6, 10).transpose(1, 2, 0, 3).reshape(216, 10)


class ConvSeed(Case):
    """Convolution without padding, 2 x 2 max pooling, dense layer, mean cross entropy."""

    name, size = "conv_seed", "10×16×16×3, 5×5 3→6, pool, dense"
    outputs = ("value", "dF", "dc", "dW", "db")
    layouts = {"torch": {"dF": hwio, "dW": rows_of_hwc}}  # noqa: RUF012 - as the base class says

    def inputs(self, draw: np.random.Generator, *, small: bool) -> Data:
        batch = 2 if small else 10
        return {
            "x": normal(draw, batch, 16, 16, 3),
            "F": normal(draw, 5, 5, 3, 6, scale=75**-0.5),
            "c": normal(draw, 6, scale=0.1),
            "W": normal(draw, 216, 10, scale=216**-0.5),
            "b": normal(draw, 10, scale=0.1),
            "labels": draw.integers(0, 10, batch),
        }

    def numpy(self, engine: Any, d: Data) -> Run:
        x, F, c, W, b, labels = (d[name] for name in ("x", *WEIGHTS, "labels"))

        def run() -> Any:
            count = len(x)
            rows = images_to_rows(np, x, 5, 5)
            out = rows @ F.reshape(75, 6)
            out += c
            quads = out.reshape(count, 6, 2, 6, 2, 6).transpose(0, 1, 3, 5, 2, 4).reshape(count * 216, 4)
            largest, every = quads.argmax(1), np.arange(count * 216)
            flat = quads[every, largest].reshape(count, 216)
            value, back = cross_entropy(flat @ W + b, labels)
            d_quads = np.zeros_like(quads)
            d_quads[every, largest] = (back @ W.T).ravel()
            d_out = d_quads.reshape(count, 6, 6, 6, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(count * 144, 6)
            return value, (rows.T @ d_out).reshape(F.shape), d_out.sum(0), flat.T @ back, back.sum(0)

        return run

    def lab(self, engine: Any, d: Data) -> Run:
        lab = engine.lab

        def forward(F: Any, c: Any, W: Any, b: Any, x: Any, labels: Any) -> Any:
            hidden = lab.nn.max_pool2d(lab.nn.conv2d(x, F, 1, "VALID") + c, 2, 2, "VALID")
            return engine.cross_entropy(lab.reshape(hidden, (-1, 216)) @ W + b, labels)

        return engine.gradients(forward, [d[name] for name in WEIGHTS], d["x"], d["labels"])

    def torch(self, engine: Any, d: Data) -> Run:
        nn = engine.torch.nn.functional

        def forward(F: Any, c: Any, W: Any, b: Any, x: Any, labels: Any) -> Any:
            hidden = nn.max_pool2d(nn.conv2d(x, F, c), 2)
            return engine.cross_entropy(hidden.flatten(1) @ W + b, labels)

        leaves = [oihw(d["F"]), d["c"], rows_of_chw(d["W"]), d["b"]]
        return engine.gradients(forward, leaves, nchw(d["x"]), d["labels"])

    def jax(self, engine: Any, d: Data) -> Run:
        lax, np = engine.jax.lax, engine.numpy

        def forward(F: Any, c: Any, W: Any, b: Any, x: Any, labels: Any) -> Any:
            hidden = engine.convolution(x, F, "VALID") + c
            hidden = lax.reduce_window(hidden, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
            return engine.cross_entropy(hidden.reshape(len(x), -1) @ W + b, labels)

        return engine.gradients(forward, [d[name] for name in WEIGHTS], d["x"], d["labels"])

    def autograd(self, engine: Any, d: Data) -> Run:
        np = engine.numpy

        def forward(F: Any, c: Any, W: Any, b: Any, x: Any, labels: Any) -> Any:
            rows = images_to_rows(np, x, 5, 5)
            hidden = np.dot(rows, np.reshape(F, (75, 6))) + c
            hidden = np.max(np.reshape(hidden, (len(x), 6, 2, 6, 2, 6)), axis=(2, 4))
            return engine.cross_entropy(np.dot(np.reshape(hidden, (len(x), 216)), W) + b, labels)

        return engine.gradients(forward, [d[name] for name in WEIGHTS], d["x"], d["labels"])
