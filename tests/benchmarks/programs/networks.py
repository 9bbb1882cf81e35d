"""Networks of layers: a transformer block, residual and causal convolutions, a mixture of experts, splines."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, normal
from tests.benchmarks.programs.program import DENSE, FILTERS_1D, FILTERS_2D, IMAGES, SEQUENCES, Layered, Program
from tests.benchmarks.programs.training import dense

EPSILON = 1e-5
EXPERTS = 4
DEGREE = 3


def layer_norm(np: Any, x: Any, gamma: Any, beta: Any) -> Any:
    """Layer normalization over the last axis, for NumPy or ``jax.numpy``."""
    centred = x - x.mean(-1, keepdims=True)
    return gamma * centred / np.sqrt((centred**2).mean(-1, keepdims=True) + EPSILON) + beta


class Transformer(Layered):
    """A pre-norm block: attention of several heads and a GELU network, each with a residual."""

    program, about = "transformer", "block, batch {batch}, {time} tokens, {width} wide, {heads} heads"
    sizes = {
        "test": {"batch": 1, "time": 3, "width": 4, "heads": 2},
        "small": {"batch": 2, "time": 16, "width": 32, "heads": 2},
        "middle": {"batch": 8, "time": 64, "width": 128, "heads": 4},
        "large": {"batch": 8, "time": 128, "width": 256, "heads": 8},
    }
    leaves = ("g1", "b1", "Wqkv", "bqkv", "Wo", "bo", "g2", "b2", "W1", "c1", "W2", "c2")
    turned = dict.fromkeys(("Wqkv", "Wo", "W1", "W2"), DENSE)

    def arrays(self, draw: np.random.Generator, *, batch: int, time: int, width: int, heads: int) -> Data:
        def dense(fan_in: int, fan_out: int) -> list[np.ndarray]:
            return [normal(draw, fan_in, fan_out, scale=fan_in**-0.5), normal(draw, fan_out, scale=0.1)]

        norms = [1 + normal(draw, width, scale=0.1), normal(draw, width, scale=0.1)]
        weights = [*norms, *dense(width, 3 * width), *dense(width, width), *norms, *dense(width, 4 * width),
                   *dense(4 * width, width)]  # fmt: skip
        given = {"x": normal(draw, batch, time, width), "y": normal(draw, batch, time, width)}
        return dict(zip(self.leaves, weights, strict=True)) | given

    def as_tensorflow(self, tf: Any) -> Any:
        width, heads = self.at["width"], self.at["heads"]
        norm1, norm2 = (tf.keras.layers.LayerNormalization(epsilon=EPSILON) for _ in range(2))
        qkv, out, up, down = (tf.keras.layers.Dense(units) for units in (3 * width, width, 4 * width, width))

        def attention(x: Any) -> Any:
            batch, time, _ = x.shape
            parts = tf.reshape(qkv(x), (batch, time, 3, heads, width // heads))
            q, k, v = tf.unstack(tf.transpose(parts, (2, 0, 3, 1, 4)))
            weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / (width // heads) ** 0.5)
            return out(tf.reshape(tf.transpose(weights @ v, (0, 2, 1, 3)), (batch, time, width)))

        def loss(x: Any, y: Any) -> Any:
            x = x + attention(norm1(x))
            x = x + down(tf.nn.gelu(up(norm2(x))))
            return tf.reduce_mean(tf.square(x - y))

        return [norm1, qkv, out, norm2, up, down], loss

    def as_torch(self, torch: Any) -> Any:
        width, heads, nn = self.at["width"], self.at["heads"], torch.nn
        norm1, norm2 = (nn.LayerNorm(width, eps=EPSILON) for _ in range(2))
        qkv, out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        up, down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def attention(x: Any) -> Any:
            batch, time, _ = x.shape
            q, k, v = qkv(x).view(batch, time, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
            mixed = nn.functional.scaled_dot_product_attention(q, k, v)
            return out(mixed.transpose(1, 2).reshape(batch, time, width))

        def loss(x: Any, y: Any) -> Any:
            x = x + attention(norm1(x))
            x = x + down(nn.functional.gelu(up(norm2(x))))
            return nn.functional.mse_loss(x, y)

        return [norm1, qkv, out, norm2, up, down], loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        heads = self.at["heads"]

        def attention(x: Any, Wqkv: Any, bqkv: Any, Wo: Any, bo: Any) -> Any:
            batch, time, width = x.shape
            parts = (x @ Wqkv + bqkv).reshape(batch, time, 3, heads, width // heads)
            q, k, v = parts.transpose(2, 0, 3, 1, 4)
            weights = jax.nn.softmax(q @ k.swapaxes(-1, -2) / (width // heads) ** 0.5)
            return (weights @ v).transpose(0, 2, 1, 3).reshape(batch, time, width) @ Wo + bo

        def loss(g1: Any, b1: Any, Wqkv: Any, bqkv: Any, Wo: Any, bo: Any, g2: Any, b2: Any, W1: Any, c1: Any, W2: Any,
                 c2: Any, x: Any, y: Any) -> Any:  # fmt: skip
            x = x + attention(layer_norm(np, x, g1, b1), Wqkv, bqkv, Wo, bo)
            hidden = jax.nn.gelu(layer_norm(np, x, g2, b2) @ W1 + c1, approximate=False)
            return ((x + hidden @ W2 + c2 - y) ** 2).mean()

        return loss


class Residual(Layered):
    """Two 3 x 3 convolutions with batch norm, a shortcut, and the mean over each channel."""

    program, about = "residual", "block with batch norm, {batch} images {side} × {side} × {channels}"
    sizes = {
        "test": {"batch": 2, "side": 3, "channels": 2},
        "small": {"batch": 2, "side": 8, "channels": 8},
        "middle": {"batch": 16, "side": 16, "channels": 32},
        "large": {"batch": 16, "side": 32, "channels": 64},
    }
    leaves = ("F1", "g1", "b1", "F2", "g2", "b2")
    turned = {"F1": FILTERS_2D, "F2": FILTERS_2D, "x": IMAGES}

    def arrays(self, draw: np.random.Generator, *, batch: int, side: int, channels: int) -> Data:
        def half() -> list[np.ndarray]:
            filters = normal(draw, 3, 3, channels, channels, scale=(9 * channels) ** -0.5)
            return [filters, 1 + normal(draw, channels, scale=0.1), normal(draw, channels, scale=0.1)]

        given = {"x": normal(draw, batch, side, side, channels), "y": normal(draw, batch, channels)}
        return dict(zip(self.leaves, [*half(), *half()], strict=True)) | given

    def as_tensorflow(self, tf: Any) -> Any:
        layers, channels = tf.keras.layers, self.at["channels"]
        conv1, conv2 = (layers.Conv2D(channels, 3, padding="same", use_bias=False) for _ in range(2))
        norm1, norm2 = (layers.BatchNormalization(epsilon=EPSILON) for _ in range(2))

        def loss(x: Any, y: Any) -> Any:
            hidden = tf.nn.relu(norm1(conv1(x), training=True))
            hidden = tf.nn.relu(x + norm2(conv2(hidden), training=True))
            return tf.reduce_mean(tf.square(tf.reduce_mean(hidden, (1, 2)) - y))

        return [conv1, norm1, conv2, norm2], loss

    def as_torch(self, torch: Any) -> Any:
        nn, channels = torch.nn, self.at["channels"]
        conv1, conv2 = (nn.Conv2d(channels, channels, 3, padding=1, bias=False) for _ in range(2))
        norm1, norm2 = (nn.BatchNorm2d(channels, eps=EPSILON) for _ in range(2))

        def loss(x: Any, y: Any) -> Any:
            hidden = nn.functional.relu(norm1(conv1(x)))
            hidden = nn.functional.relu(x + norm2(conv2(hidden)))
            return nn.functional.mse_loss(hidden.mean((2, 3)), y)

        return [conv1, norm1, conv2, norm2], loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def conv(x: Any, F: Any) -> Any:
            return jax.lax.conv_general_dilated(x, F, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

        def norm(x: Any, gamma: Any, beta: Any) -> Any:
            centred = x - x.mean((0, 1, 2))
            return gamma * centred / np.sqrt((centred**2).mean((0, 1, 2)) + EPSILON) + beta

        def loss(F1: Any, g1: Any, b1: Any, F2: Any, g2: Any, b2: Any, x: Any, y: Any) -> Any:
            hidden = jax.nn.relu(norm(conv(x, F1), g1, b1))
            hidden = jax.nn.relu(x + norm(conv(hidden, F2), g2, b2))
            return ((hidden.mean((1, 2)) - y) ** 2).mean()

        return loss


class Causal(Layered):
    """Four causal convolutions of 2, dilated by 1, 2, 4 and 8, with residuals: each step predicts the next one."""

    program, about = "causal_conv", "4 dilated layers, batch {batch}, {time} steps, {width} channels"
    sizes = {
        "test": {"batch": 1, "time": 10, "width": 2},
        "small": {"batch": 2, "time": 32, "width": 8},
        "middle": {"batch": 8, "time": 256, "width": 32},
        "large": {"batch": 16, "time": 1024, "width": 64},
    }
    leaves = ("F1", "b1", "F2", "b2", "F3", "b3", "F4", "b4")
    turned = {**{f"F{k}": FILTERS_1D for k in range(1, 5)}, "x": SEQUENCES, "y": SEQUENCES}

    def arrays(self, draw: np.random.Generator, *, batch: int, time: int, width: int) -> Data:
        weights = [w for _ in range(4) for w in (normal(draw, 2, width, width, scale=(2 * width) ** -0.5),
                                                 normal(draw, width, scale=0.1))]  # fmt: skip
        given = {"x": normal(draw, batch, time, width), "y": normal(draw, batch, time, width)}
        return dict(zip(self.leaves, weights, strict=True)) | given

    def as_tensorflow(self, tf: Any) -> Any:
        width = self.at["width"]
        layers = [tf.keras.layers.Conv1D(width, 2, padding="causal", dilation_rate=2**k) for k in range(4)]

        def loss(x: Any, y: Any) -> Any:
            for layer in layers:
                x = x + tf.nn.relu(layer(x))
            return tf.reduce_mean(tf.square(x - y))

        return layers, loss

    def as_torch(self, torch: Any) -> Any:
        nn, width = torch.nn, self.at["width"]
        layers = [nn.Conv1d(width, width, 2, dilation=2**k) for k in range(4)]

        def loss(x: Any, y: Any) -> Any:
            for k, layer in enumerate(layers):
                x = x + nn.functional.relu(layer(nn.functional.pad(x, (2**k, 0))))
            return nn.functional.mse_loss(x, y)

        return layers, loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(*given: Any) -> Any:
            *weights, x, y = given
            for k in range(4):
                out = jax.lax.conv_general_dilated(x, weights[2 * k], (1,), [(2**k, 0)], rhs_dilation=(2**k,),
                                                   dimension_numbers=("NWC", "WIO", "NWC"))  # fmt: skip
                x = x + jax.nn.relu(out + weights[2 * k + 1])
            return ((x - y) ** 2).mean()

        return loss


class Experts(Layered):
    """A dense mixture of four experts with a softmax gate and a load-balancing penalty."""

    program, about = "experts", "4 experts, {rows} rows, {width}-{hidden}-{width}"
    sizes = {
        "test": {"rows": 3, "width": 2, "hidden": 2},
        "small": {"rows": 16, "width": 8, "hidden": 16},
        "middle": {"rows": 128, "width": 32, "hidden": 64},
        "large": {"rows": 1_024, "width": 128, "hidden": 256},
    }
    leaves = ("G", "g", *(f"{name}_{k}" for k in range(EXPERTS) for name in ("W", "b", "V", "c")))
    turned = dict.fromkeys(("G", *(f"{name}_{k}" for k in range(EXPERTS) for name in ("W", "V"))), DENSE)

    def arrays(self, draw: np.random.Generator, *, rows: int, width: int, hidden: int) -> Data:
        weights = dense(draw, width, EXPERTS)
        for _ in range(EXPERTS):
            weights += dense(draw, width, hidden, width)
        given = {"x": normal(draw, rows, width), "y": normal(draw, rows, width)}
        return dict(zip(self.leaves, weights, strict=True)) | given

    def as_tensorflow(self, tf: Any) -> Any:
        layers, width, hidden = tf.keras.layers, self.at["width"], self.at["hidden"]
        gate = layers.Dense(EXPERTS, activation="softmax")
        experts = [tf.keras.Sequential([layers.Dense(hidden, activation="gelu"), layers.Dense(width)])
                   for _ in range(EXPERTS)]  # fmt: skip

        def loss(x: Any, y: Any) -> Any:
            shares = gate(x)
            outs = tf.stack([expert(x) for expert in experts], axis=1)
            out = tf.reduce_sum(shares[:, :, None] * outs, axis=1)
            balance = EXPERTS * tf.reduce_sum(tf.square(tf.reduce_mean(shares, axis=0)))
            return tf.reduce_mean(tf.square(out - y)) + 0.01 * balance

        return [gate, *experts], loss

    def as_torch(self, torch: Any) -> Any:
        nn, width, hidden = torch.nn, self.at["width"], self.at["hidden"]
        gate = nn.Linear(width, EXPERTS)
        experts = [nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))
                   for _ in range(EXPERTS)]  # fmt: skip

        def loss(x: Any, y: Any) -> Any:
            shares = gate(x).softmax(1)
            outs = torch.stack([expert(x) for expert in experts], 1)
            out = (shares[:, :, None] * outs).sum(1)
            balance = EXPERTS * (shares.mean(0) ** 2).sum()
            return nn.functional.mse_loss(out, y) + 0.01 * balance

        return [gate, *experts], loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(G: Any, g: Any, *rest: Any) -> Any:
            *weights, x, y = rest
            shares = jax.nn.softmax(x @ G + g)
            outs = []
            for k in range(EXPERTS):
                W, b, V, c = weights[4 * k : 4 * k + 4]
                outs.append(jax.nn.gelu(x @ W + b, approximate=False) @ V + c)
            out = (shares[:, :, None] * np.stack(outs, axis=1)).sum(1)
            return ((out - y) ** 2).mean() + 0.01 * EXPERTS * (shares.mean(0) ** 2).sum()

        return loss


class Kan(Program):
    """A Kolmogorov-Arnold network (Liu et al. 2024): cubic B-splines on every edge of two layers, by recursion."""

    program, about = "kan", "{rows} rows, {features}-{hidden}-1, {cells} cells of cubic splines"
    sizes = {
        "test": {"rows": 3, "features": 2, "hidden": 2, "cells": 2},
        "small": {"rows": 16, "features": 2, "hidden": 4, "cells": 3},
        "middle": {"rows": 256, "features": 8, "hidden": 16, "cells": 5},
        "large": {"rows": 2_000, "features": 16, "hidden": 32, "cells": 8},
    }
    leaves = ("W1", "C1", "W2", "C2")

    def arrays(self, draw: np.random.Generator, *, rows: int, features: int, hidden: int, cells: int) -> Data:
        def layer(fan_in: int, fan_out: int) -> list[np.ndarray]:
            return [normal(draw, fan_in, fan_out, scale=fan_in**-0.5),
                    normal(draw, fan_in, fan_out, cells + DEGREE, scale=0.3)]  # fmt: skip

        knots = (np.arange(-DEGREE, cells + DEGREE + 1) * (2 / cells) - 1).astype(np.float32)
        x = draw.uniform(-1, 1, (rows, features)).astype(np.float32)
        y = np.sin(3 * x.sum(1, keepdims=True))
        given = {"knots": knots, "x": x, "y": y.astype(np.float32)}
        return dict(zip(self.leaves, [*layer(features, hidden), *layer(hidden, 1)], strict=True)) | given

    def as_tensorflow(self, tf: Any) -> Any:
        def splines(x: Any, knots: Any) -> Any:
            x = x[:, :, None]
            bases = tf.cast(tf.logical_and(x >= knots[:-1], x < knots[1:]), x.dtype)
            for k in range(1, DEGREE + 1):
                rising = (x - knots[: -(k + 1)]) / (knots[k:-1] - knots[: -(k + 1)])
                falling = (knots[k + 1 :] - x) / (knots[k + 1 :] - knots[1:-k])
                bases = rising * bases[:, :, :-1] + falling * bases[:, :, 1:]
            return bases

        def layer(x: Any, W: Any, C: Any, knots: Any) -> Any:
            return tf.matmul(tf.nn.silu(x), W) + tf.einsum("rib,iob->ro", splines(x, knots), C)

        def loss(W1: Any, C1: Any, W2: Any, C2: Any, knots: Any, x: Any, y: Any) -> Any:
            return tf.reduce_mean(tf.square(layer(layer(x, W1, C1, knots), W2, C2, knots) - y))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def splines(x: Any, knots: Any) -> Any:
            x = x[:, :, None]
            bases = ((x >= knots[:-1]) & (x < knots[1:])).to(x.dtype)
            for k in range(1, DEGREE + 1):
                rising = (x - knots[: -(k + 1)]) / (knots[k:-1] - knots[: -(k + 1)])
                falling = (knots[k + 1 :] - x) / (knots[k + 1 :] - knots[1:-k])
                bases = rising * bases[:, :, :-1] + falling * bases[:, :, 1:]
            return bases

        def layer(x: Any, W: Any, C: Any, knots: Any) -> Any:
            return torch.nn.functional.silu(x) @ W + torch.einsum("rib,iob->ro", splines(x, knots), C)

        def loss(W1: Any, C1: Any, W2: Any, C2: Any, knots: Any, x: Any, y: Any) -> Any:
            return ((layer(layer(x, W1, C1, knots), W2, C2, knots) - y) ** 2).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def splines(x: Any, knots: Any) -> Any:
            x = x[:, :, None]
            bases = ((x >= knots[:-1]) & (x < knots[1:])).astype(x.dtype)
            for k in range(1, DEGREE + 1):
                rising = (x - knots[: -(k + 1)]) / (knots[k:-1] - knots[: -(k + 1)])
                falling = (knots[k + 1 :] - x) / (knots[k + 1 :] - knots[1:-k])
                bases = rising * bases[:, :, :-1] + falling * bases[:, :, 1:]
            return bases

        def layer(x: Any, W: Any, C: Any, knots: Any) -> Any:
            return jax.nn.silu(x) @ W + np.einsum("rib,iob->ro", splines(x, knots), C)

        def loss(W1: Any, C1: Any, W2: Any, C2: Any, knots: Any, x: Any, y: Any) -> Any:
            return ((layer(layer(x, W1, C1, knots), W2, C2, knots) - y) ** 2).mean()

        return loss
