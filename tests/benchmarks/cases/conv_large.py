"""One convolution as in an image network: 32 images of 32 x 32 x 16, 3 x 3 filters, 32 channels out."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Case, Data, Run, hwio, images_to_rows, nchw, nhwc, normal, oihw

BORDER = ((0, 0), (1, 1), (1, 1), (0, 0))


class ConvLarge(Case):
    """Padded convolution, relu, weighted sum; the gradients with respect to the images and the filters."""

    name, size = "conv_large", "32×32×32×16, 3×3 16→32, relu"
    outputs = ("value", "dx", "dF")
    layouts = {"torch": {"dx": nhwc, "dF": hwio}}  # noqa: RUF012 - as the base class says

    def inputs(self, draw: np.random.Generator, *, small: bool) -> Data:
        batch, side = (2, 8) if small else (32, 32)
        return {
            "x": normal(draw, batch, side, side, 16),
            "F": normal(draw, 3, 3, 16, 32, scale=1 / 12),
            "G": normal(draw, batch, side, side, 32),
        }

    def numpy(self, engine: Any, d: Data) -> Run:
        x, F, G = d["x"], d["F"], d["G"]
        count, height, width, channels = x.shape
        matrix = F.reshape(9 * channels, -1)

        def run() -> Any:
            rows = images_to_rows(np, np.pad(x, BORDER), 3, 3)
            out = rows @ matrix
            back = G.reshape(out.shape) * (out > 0)
            d_rows = (back @ matrix.T).reshape(count, height, width, 3, 3, channels)
            dx = np.zeros((count, height + 2, width + 2, channels), x.dtype)
            for i in range(3):
                for j in range(3):
                    dx[:, i : i + height, j : j + width] += d_rows[:, :, :, i, j]
            return np.vdot(out, back), dx[:, 1:-1, 1:-1], (rows.T @ back).reshape(F.shape)

        return run

    def lab(self, engine: Any, d: Data) -> Run:
        lab = engine.lab

        def forward(x: Any, F: Any, G: Any) -> Any:
            return lab.reduce_sum(lab.nn.relu(lab.nn.conv2d(x, F, 1, "SAME")) * G)

        return engine.gradients(forward, [d["x"], d["F"]], d["G"])

    def torch(self, engine: Any, d: Data) -> Run:
        nn = engine.torch.nn.functional

        def forward(x: Any, F: Any, G: Any) -> Any:
            return (nn.relu(nn.conv2d(x, F, padding=1)) * G).sum()

        return engine.gradients(forward, [nchw(d["x"]), oihw(d["F"])], nchw(d["G"]))

    def jax(self, engine: Any, d: Data) -> Run:
        def forward(x: Any, F: Any, G: Any) -> Any:
            return (engine.jax.nn.relu(engine.convolution(x, F, "SAME")) * G).sum()

        return engine.gradients(forward, [d["x"], d["F"]], d["G"])

    def autograd(self, engine: Any, d: Data) -> Run:
        np = engine.numpy

        def forward(x: Any, F: Any, G: Any) -> Any:
            rows = images_to_rows(np, np.pad(x, BORDER, mode="constant"), 3, 3)
            out = np.dot(rows, np.reshape(F, (144, 32)))
            return np.sum(np.maximum(out, np.float32(0)) * np.reshape(G, (-1, 32)))

        return engine.gradients(forward, [d["x"], d["F"]], d["G"])
