"""Transformers of large language models: a LLaMA block."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, normal
from tests.benchmarks.programs.program import DENSE, Layered


class Llama(Layered):
    """A LLaMA block: RMS norm, rotary position embeddings, causal grouped-query attention, and SwiGLU."""

    program, about = "llama", "block, batch {batch}, {time} tokens, {width} wide, {heads} heads"
    sizes = {
        "test": {"batch": 1, "time": 3, "width": 8, "heads": 2},
        "small": {"batch": 1, "time": 16, "width": 32, "heads": 4},
        "middle": {"batch": 4, "time": 64, "width": 128, "heads": 4},
        "large": {"batch": 4, "time": 256, "width": 256, "heads": 8},
    }
    leaves = ("n1", "Wq", "Wk", "Wv", "Wo", "n2", "Wg", "Wu", "Wd")
    turned = dict.fromkeys(("Wq", "Wk", "Wv", "Wo", "Wg", "Wu", "Wd"), DENSE)

    def arrays(self, draw: np.random.Generator, *, batch: int, time: int, width: int, heads: int) -> Data:
        def matrix(fan_in: int, fan_out: int) -> np.ndarray:
            return normal(draw, fan_in, fan_out, scale=fan_in**-0.5)

        inner, each = 8 * width // 3, width // heads
        weights = [1 + normal(draw, width, scale=0.1), matrix(width, width), matrix(width, width // 2),
                   matrix(width, width // 2), matrix(width, width), 1 + normal(draw, width, scale=0.1),
                   matrix(width, inner), matrix(width, inner), matrix(inner, width)]  # fmt: skip
        angles = np.outer(np.arange(time), 10_000.0 ** (-np.arange(0, each, 2) / each))
        angles = np.concatenate([angles, angles], axis=1)
        given = {"cos": np.cos(angles).astype(np.float32), "sin": np.sin(angles).astype(np.float32)}
        given |= {"x": normal(draw, batch, time, width), "y": normal(draw, batch, time, width)}
        return dict(zip(self.leaves, weights, strict=True)) | given

    def as_tensorflow(self, tf: Any) -> Any:
        width, heads = self.at["width"], self.at["heads"]
        each, inner = width // heads, 8 * width // 3

        class RMSNorm(tf.keras.layers.Layer):
            def __init__(self, epsilon: float = 1e-6) -> None:
                super().__init__()
                self.epsilon = epsilon

            def build(self, shape: Any) -> None:
                self.scale = self.add_weight(shape=(shape[-1],), initializer="ones", name="scale")

            def call(self, x: Any) -> Any:
                variance = tf.reduce_mean(tf.square(x), axis=-1, keepdims=True)
                return x * tf.math.rsqrt(variance + self.epsilon) * self.scale

        norm1, norm2 = RMSNorm(), RMSNorm()
        wq, wk, wv, wo = (tf.keras.layers.Dense(n, use_bias=False) for n in (width, width // 2, width // 2, width))
        gate, up, down = (tf.keras.layers.Dense(n, use_bias=False) for n in (inner, inner, width))

        def rotate(x: Any, cos: Any, sin: Any) -> Any:
            left, right = tf.split(x, 2, axis=-1)
            return x * cos + tf.concat([-right, left], axis=-1) * sin

        def attention(x: Any, cos: Any, sin: Any) -> Any:
            batch, time = x.shape[0], x.shape[1]
            q = tf.transpose(tf.reshape(wq(x), (batch, time, heads, each)), (0, 2, 1, 3))
            k = tf.transpose(tf.reshape(wk(x), (batch, time, heads // 2, each)), (0, 2, 1, 3))
            v = tf.transpose(tf.reshape(wv(x), (batch, time, heads // 2, each)), (0, 2, 1, 3))
            q, k = rotate(q, cos, sin), rotate(k, cos, sin)
            k, v = tf.repeat(k, 2, axis=1), tf.repeat(v, 2, axis=1)
            scores = tf.matmul(q, k, transpose_b=True) / tf.sqrt(float(each))
            mask = tf.linalg.band_part(tf.ones((time, time)), -1, 0)
            scores += (1.0 - mask) * -1e9
            out = tf.matmul(tf.nn.softmax(scores, axis=-1), v)
            return wo(tf.reshape(tf.transpose(out, (0, 2, 1, 3)), (batch, time, width)))

        def loss(cos: Any, sin: Any, x: Any, y: Any) -> Any:
            h = x + attention(norm1(x), cos, sin)
            z = norm2(h)
            h = h + down(tf.nn.silu(gate(z)) * up(z))
            return tf.reduce_mean(tf.square(h - y))

        return [norm1, wq, wk, wv, wo, norm2, gate, up, down], loss

    def as_torch(self, torch: Any) -> Any:
        nn, width, heads = torch.nn, self.at["width"], self.at["heads"]
        each, inner = width // heads, 8 * width // 3

        class RMSNorm(nn.Module):
            def __init__(self, dim: int, eps: float = 1e-6) -> None:
                super().__init__()
                self.eps, self.weight = eps, nn.Parameter(torch.ones(dim))

            def forward(self, x: Any) -> Any:
                return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight

        norm1, norm2 = RMSNorm(width), RMSNorm(width)
        wq, wk, wv, wo = (nn.Linear(width, n, bias=False) for n in (width, width // 2, width // 2, width))
        gate, up, down = (nn.Linear(*n, bias=False) for n in ((width, inner), (width, inner), (inner, width)))

        def rotate(x: Any, cos: Any, sin: Any) -> Any:
            left, right = x.chunk(2, dim=-1)
            return x * cos + torch.cat([-right, left], dim=-1) * sin

        def attention(x: Any, cos: Any, sin: Any) -> Any:
            batch, time, _ = x.shape
            q = wq(x).view(batch, time, heads, each).transpose(1, 2)
            k = wk(x).view(batch, time, heads // 2, each).transpose(1, 2)
            v = wv(x).view(batch, time, heads // 2, each).transpose(1, 2)
            q, k = rotate(q, cos, sin), rotate(k, cos, sin)
            k, v = k.repeat_interleave(2, dim=1), v.repeat_interleave(2, dim=1)
            out = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return wo(out.transpose(1, 2).reshape(batch, time, width))

        def loss(cos: Any, sin: Any, x: Any, y: Any) -> Any:
            h = x + attention(norm1(x), cos, sin)
            z = norm2(h)
            h = h + down(nn.functional.silu(gate(z)) * up(z))
            return nn.functional.mse_loss(h, y)

        return [norm1, wq, wk, wv, wo, norm2, gate, up, down], loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        heads = self.at["heads"]

        def norm(x: Any, scale: Any) -> Any:
            return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * scale

        def rotate(x: Any, cos: Any, sin: Any) -> Any:
            left, right = np.split(x, 2, axis=-1)
            return x * cos + np.concatenate([-right, left], axis=-1) * sin

        def loss(n1: Any, Wq: Any, Wk: Any, Wv: Any, Wo: Any, n2: Any, Wg: Any, Wu: Any, Wd: Any, cos: Any, sin: Any,
                 x: Any, y: Any) -> Any:  # fmt: skip
            batch, time, width = x.shape
            z = norm(x, n1)
            q, k, v = ((z @ W).reshape(batch, time, -1, width // heads).swapaxes(1, 2) for W in (Wq, Wk, Wv))
            q, k = rotate(q, cos, sin), rotate(k, cos, sin)
            k, v = np.repeat(k, 2, axis=1), np.repeat(v, 2, axis=1)
            scores = np.einsum("bhid,bhjd->bhij", q, k) / (width // heads) ** 0.5
            scores = np.where(np.tril(np.ones((time, time), bool)), scores, -1e9)
            out = np.einsum("bhij,bhjd->bihd", jax.nn.softmax(scores, axis=-1), v)
            h = x + out.reshape(batch, time, width) @ Wo
            z = norm(h, n2)
            h = h + (jax.nn.silu(z @ Wg) * (z @ Wu)) @ Wd
            return ((h - y) ** 2).mean()

        return loss
