"""Recurrent networks: an LSTM written by hand, a GRU layer, a state-space layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, Run, normal
from tests.benchmarks.programs.program import DENSE, Layered, Program


class Lstm(Program):
    """The last state of an LSTM, projected; its loop over time is the user's."""

    program, about = "lstm", "by hand, {time} steps, batch {batch}, {width} wide"
    sizes = {
        "test": {"batch": 2, "time": 3, "width": 3},
        "small": {"batch": 4, "time": 10, "width": 16},
        "middle": {"batch": 16, "time": 50, "width": 64},
        "large": {"batch": 64, "time": 100, "width": 128},
    }
    leaves = ("W", "U", "b", "V")

    def arrays(self, draw: np.random.Generator, *, batch: int, time: int, width: int) -> Data:
        return {
            "W": normal(draw, width, 4 * width, scale=width**-0.5),
            "U": normal(draw, width, 4 * width, scale=width**-0.5),
            "b": normal(draw, 4 * width, scale=0.1),
            "V": normal(draw, width, 10, scale=width**-0.5),
            "x": normal(draw, batch, time, width),
            "y": normal(draw, batch, 10),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(W: Any, U: Any, b: Any, V: Any, x: Any, y: Any) -> Any:
            h = c = tf.zeros((x.shape[0], U.shape[0]))
            for t in range(x.shape[1]):
                i, f, g, o = tf.split(x[:, t] @ W + h @ U + b, 4, axis=1)
                c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
                h = tf.sigmoid(o) * tf.tanh(c)
            return tf.reduce_mean(tf.square(h @ V - y))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(W: Any, U: Any, b: Any, V: Any, x: Any, y: Any) -> Any:
            h = c = torch.zeros(x.shape[0], U.shape[0])
            for t in range(x.shape[1]):
                i, f, g, o = (x[:, t] @ W + h @ U + b).chunk(4, 1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
                h = torch.sigmoid(o) * torch.tanh(c)
            return ((h @ V - y) ** 2).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(W: Any, U: Any, b: Any, V: Any, x: Any, y: Any) -> Any:
            def step(state: Any, row: Any) -> Any:
                h, c = state
                i, f, g, o = np.split(row @ W + h @ U + b, 4, axis=1)
                c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * np.tanh(g)
                return (jax.nn.sigmoid(o) * np.tanh(c), c), None

            zeros = np.zeros((x.shape[0], U.shape[0]), x.dtype)
            (h, _), _ = jax.lax.scan(step, (zeros, zeros), x.swapaxes(0, 1))
            return ((h @ V - y) ** 2).mean()

        return loss


def _gates(kernel: np.ndarray) -> np.ndarray:
    """Keras orders the gates update, reset, candidate; PyTorch reset, update, candidate."""
    z, r, h = np.split(kernel, 3, axis=-1)
    return np.concatenate([r, z, h], axis=-1)


class Gru(Layered):
    """A classifier of sequences: a GRU layer and a dense layer on its last state."""

    program, about = "gru", "layers, {time} steps, batch {batch}, {width} units"
    sizes = {
        "test": {"batch": 2, "time": 3, "width": 3},
        "small": {"batch": 4, "time": 10, "width": 16},
        "middle": {"batch": 16, "time": 50, "width": 64},
        "large": {"batch": 64, "time": 100, "width": 128},
    }
    leaves = ("W", "U", "b", "V", "d")
    turned = {
        "W": (lambda x: np.ascontiguousarray(_gates(x).T), lambda x: _gates(x.T)),
        "U": (lambda x: np.ascontiguousarray(_gates(x).T), lambda x: _gates(x.T)),
        "b": (_gates, _gates),
        "V": DENSE,
    }

    def arrays(self, draw: np.random.Generator, *, batch: int, time: int, width: int) -> Data:
        return {
            "W": normal(draw, width, 3 * width, scale=width**-0.5),
            "U": normal(draw, width, 3 * width, scale=width**-0.5),
            "b": normal(draw, 2, 3 * width, scale=0.1),
            "V": normal(draw, width, 10, scale=width**-0.5),
            "d": normal(draw, 10, scale=0.1),
            "x": normal(draw, batch, time, width),
            "y": normal(draw, batch, 10),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        gru, dense = tf.keras.layers.GRU(self.at["width"]), tf.keras.layers.Dense(10)
        return [gru, dense], lambda x, y: tf.reduce_mean(tf.square(dense(gru(x)) - y))

    def as_torch(self, torch: Any) -> Any:
        width = self.at["width"]
        gru, dense = torch.nn.GRU(width, width, batch_first=True), torch.nn.Linear(width, 10)
        return [gru, dense], lambda x, y: ((dense(gru(x)[1][0]) - y) ** 2).mean()

    def torch(self, engine: Any, d: Data) -> Run:
        """Keras has one bias of two rows, PyTorch two."""
        W, U, b, V, c = (self._turn(d)[name] for name in self.leaves)
        run = engine.layered(self.as_torch(engine.torch), [W, U, *b, V, c], d["x"], d["y"])

        def joined() -> Any:
            value, W, U, b, c, *rest = run()
            return value, W, U, [b, c], *rest

        return joined

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(W: Any, U: Any, b: Any, V: Any, d: Any, x: Any, y: Any) -> Any:
            def step(h: Any, row: Any) -> Any:
                xz, xr, xh = np.split(row @ W + b[0], 3, axis=1)
                hz, hr, hh = np.split(h @ U + b[1], 3, axis=1)
                z = jax.nn.sigmoid(xz + hz)
                return z * h + (1 - z) * np.tanh(xh + jax.nn.sigmoid(xr + hr) * hh), None

            h, _ = jax.lax.scan(step, np.zeros((x.shape[0], U.shape[0]), x.dtype), x.swapaxes(0, 1))
            return ((h @ V + d - y) ** 2).mean()

        return loss


class StateSpace(Program):
    """A diagonal state-space layer: a linear recurrence for each channel, evaluated step by step."""

    program, about = "state_space", "{time} steps, batch {batch}, {channels} channels of {state} states"
    sizes = {
        "test": {"time": 3, "batch": 1, "channels": 2, "state": 2},
        "small": {"time": 16, "batch": 2, "channels": 4, "state": 4},
        "middle": {"time": 64, "batch": 4, "channels": 16, "state": 8},
        "large": {"time": 200, "batch": 8, "channels": 32, "state": 16},
    }
    leaves = ("log_decay", "log_step", "B", "C", "D")

    def arrays(self, draw: np.random.Generator, *, time: int, batch: int, channels: int, state: int) -> Data:
        return {
            "log_decay": draw.uniform(-1, 1, (channels, state)).astype(np.float32),
            "log_step": draw.uniform(-3, -1, channels).astype(np.float32),
            "B": normal(draw, channels, state),
            "C": normal(draw, channels, state, scale=state**-0.5),
            "D": normal(draw, channels),
            "x": normal(draw, batch, time, channels),
            "y": normal(draw, batch, time, channels),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(log_decay: Any, log_step: Any, B: Any, C: Any, D: Any, x: Any, y: Any) -> Any:
            step = tf.exp(log_step)[:, None]
            a = tf.exp(-step * tf.exp(log_decay))
            b = step * B
            h = tf.zeros((x.shape[0], *B.shape))
            outs = []
            for t in range(x.shape[1]):
                h = a * h + b * x[:, t, :, None]
                outs.append(tf.reduce_sum(C * h, axis=-1) + D * x[:, t])
            return tf.reduce_mean(tf.square(tf.nn.silu(tf.stack(outs, axis=1)) - y))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(log_decay: Any, log_step: Any, B: Any, C: Any, D: Any, x: Any, y: Any) -> Any:
            step = log_step.exp()[:, None]
            a = torch.exp(-step * log_decay.exp())
            b = step * B
            h = torch.zeros(x.shape[0], *B.shape)
            outs = []
            for t in range(x.shape[1]):
                h = a * h + b * x[:, t, :, None]
                outs.append((C * h).sum(-1) + D * x[:, t])
            return torch.nn.functional.mse_loss(torch.nn.functional.silu(torch.stack(outs, 1)), y)

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(log_decay: Any, log_step: Any, B: Any, C: Any, D: Any, x: Any, y: Any) -> Any:
            dt = np.exp(log_step)[:, None]
            a, b = np.exp(-dt * np.exp(log_decay)), dt * B

            def step(h: Any, row: Any) -> Any:
                h = a * h + b * row[:, :, None]
                return h, (C * h).sum(-1) + D * row

            _, outs = jax.lax.scan(step, np.zeros((x.shape[0], *B.shape), x.dtype), x.swapaxes(0, 1))
            return ((jax.nn.silu(outs) - y.swapaxes(0, 1)) ** 2).mean()

        return loss
