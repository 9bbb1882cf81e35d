"""Densities: a normalizing flow, a network that says a mixture, variational inference with given noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, normal
from tests.benchmarks.programs.program import Program
from tests.benchmarks.programs.training import dense

LAYERS = 4


class Flow(Program):
    """Four affine coupling layers (Dinh et al. 2017) and the negative log likelihood."""

    program, about = "flow", "4 couplings, {rows} rows of {width}, {hidden} hidden"
    sizes = {
        "test": {"rows": 2, "width": 2, "hidden": 2},
        "small": {"rows": 16, "width": 4, "hidden": 16},
        "middle": {"rows": 256, "width": 16, "hidden": 64},
        "large": {"rows": 2_048, "width": 64, "hidden": 128},
    }
    leaves = ("W", "b", "V", "c")

    def arrays(self, draw: np.random.Generator, *, rows: int, width: int, hidden: int) -> Data:
        return {
            "W": normal(draw, LAYERS, width // 2, hidden, scale=(width // 2) ** -0.5),
            "b": normal(draw, LAYERS, hidden, scale=0.1),
            "V": normal(draw, LAYERS, hidden, width, scale=0.3 * hidden**-0.5),
            "c": normal(draw, LAYERS, width, scale=0.1),
            "x": normal(draw, rows, width),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(W: Any, b: Any, V: Any, c: Any, x: Any) -> Any:
            left, right = tf.split(x, 2, axis=1)
            total = 0.0
            for k in range(LAYERS):
                scale, shift = tf.split(tf.tanh(left @ W[k] + b[k]) @ V[k] + c[k], 2, axis=1)
                scale = tf.tanh(scale)
                left, right = right * tf.exp(scale) + shift, left
                total = total + tf.reduce_sum(scale, axis=1)
            squares = tf.reduce_sum(tf.square(left) + tf.square(right), axis=1)
            return tf.reduce_mean(0.5 * squares - total)

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(W: Any, b: Any, V: Any, c: Any, x: Any) -> Any:
            left, right = x.chunk(2, 1)
            total = 0.0
            for k in range(LAYERS):
                scale, shift = (torch.tanh(left @ W[k] + b[k]) @ V[k] + c[k]).chunk(2, 1)
                scale = torch.tanh(scale)
                left, right = right * scale.exp() + shift, left
                total = total + scale.sum(1)
            return (0.5 * (left**2 + right**2).sum(1) - total).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(W: Any, b: Any, V: Any, c: Any, x: Any) -> Any:
            left, right = np.split(x, 2, axis=1)
            total = 0.0
            for k in range(LAYERS):
                scale, shift = np.split(np.tanh(left @ W[k] + b[k]) @ V[k] + c[k], 2, axis=1)
                scale = np.tanh(scale)
                left, right = right * np.exp(scale) + shift, left
                total = total + scale.sum(1)
            return (0.5 * (left**2 + right**2).sum(1) - total).mean()

        return loss


class MixtureDensity(Program):
    """A network whose outputs are the weights, means and widths of normal distributions (Bishop 1994)."""

    program, about = "mixture_density", "{rows} rows, {parts} parts, {hidden} hidden"
    sizes = {
        "test": {"rows": 3, "hidden": 2, "parts": 2},
        "small": {"rows": 64, "hidden": 16, "parts": 3},
        "middle": {"rows": 1_000, "hidden": 64, "parts": 10},
        "large": {"rows": 20_000, "hidden": 128, "parts": 20},
    }
    leaves = ("W1", "b1", "W2", "b2")

    def arrays(self, draw: np.random.Generator, *, rows: int, hidden: int, parts: int) -> Data:
        weights = dict(zip(self.leaves, dense(draw, 1, hidden, 3 * parts), strict=True))
        return weights | {"x": normal(draw, rows, 1), "y": normal(draw, rows, 1)}

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(W1: Any, b1: Any, W2: Any, b2: Any, x: Any, y: Any) -> Any:
            weight, mean, log_width = tf.split(tf.tanh(x @ W1 + b1) @ W2 + b2, 3, axis=1)
            each = tf.nn.log_softmax(weight) - log_width - 0.5 * tf.square((y - mean) / tf.exp(log_width))
            return -tf.reduce_mean(tf.reduce_logsumexp(each, axis=1))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(W1: Any, b1: Any, W2: Any, b2: Any, x: Any, y: Any) -> Any:
            weight, mean, log_width = (torch.tanh(x @ W1 + b1) @ W2 + b2).chunk(3, 1)
            each = weight.log_softmax(1) - log_width - 0.5 * ((y - mean) / log_width.exp()) ** 2
            return -each.logsumexp(1).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(W1: Any, b1: Any, W2: Any, b2: Any, x: Any, y: Any) -> Any:
            weight, mean, log_width = np.split(np.tanh(x @ W1 + b1) @ W2 + b2, 3, axis=1)
            each = jax.nn.log_softmax(weight) - log_width - 0.5 * ((y - mean) / np.exp(log_width)) ** 2
            return -jax.nn.logsumexp(each, axis=1).mean()

        return loss


class Variational(Program):
    """Bayesian logistic regression: the evidence bound over samples that are the noise, scaled and moved."""

    program, about = "variational", "{samples} samples, {rows} rows of {features}"
    sizes = {
        "test": {"samples": 2, "rows": 4, "features": 2},
        "small": {"samples": 4, "rows": 50, "features": 8},
        "middle": {"samples": 16, "rows": 1_000, "features": 50},
        "large": {"samples": 64, "rows": 10_000, "features": 100},
    }
    leaves = ("mean", "log_width")

    def arrays(self, draw: np.random.Generator, *, samples: int, rows: int, features: int) -> Data:
        labels = (draw.random(rows) < 0.5).astype(np.float32)
        return {
            "mean": normal(draw, features, scale=0.1),
            "log_width": normal(draw, features, scale=0.1) - np.float32(2),
            "noise": normal(draw, samples, features),
            "x": normal(draw, rows, features),
            "y": labels,
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(mean: Any, log_width: Any, noise: Any, x: Any, y: Any) -> Any:
            weights = mean + tf.exp(log_width) * noise
            logits = tf.matmul(weights, x, transpose_b=True)
            fit = tf.reduce_sum(y * logits - tf.nn.softplus(logits), axis=1)
            prior = -0.5 * tf.reduce_sum(tf.square(weights), axis=1)
            return -tf.reduce_mean(fit + prior) - tf.reduce_sum(log_width)

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(mean: Any, log_width: Any, noise: Any, x: Any, y: Any) -> Any:
            weights = mean + log_width.exp() * noise
            logits = weights @ x.T
            fit = (y * logits - torch.nn.functional.softplus(logits)).sum(1)
            return -(fit - 0.5 * (weights**2).sum(1)).mean() - log_width.sum()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(mean: Any, log_width: Any, noise: Any, x: Any, y: Any) -> Any:
            weights = mean + np.exp(log_width) * noise
            logits = weights @ x.T
            fit = (y * logits - jax.nn.softplus(logits)).sum(1)
            return -(fit - 0.5 * (weights**2).sum(1)).mean() - log_width.sum()

        return loss
