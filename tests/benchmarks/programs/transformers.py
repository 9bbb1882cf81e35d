"""Transformers of large models: a LLaMA block, attention within shifted windows of an image."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, normal
from tests.benchmarks.programs.networks import EPSILON, layer_norm
from tests.benchmarks.programs.program import DENSE, Layered
from tests.benchmarks.programs.training import dense


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


class Swin(Layered):
    """A Swin block (Liu et al. 2021): attention within shifted windows, with learned biases of relative positions."""

    program, about = "swin", "block, {batch} images {side} × {side} × {width}, windows of {window}, {heads} heads"
    sizes = {
        "test": {"batch": 1, "side": 4, "window": 2, "width": 4, "heads": 2},
        "small": {"batch": 1, "side": 4, "window": 2, "width": 16, "heads": 2},
        "middle": {"batch": 2, "side": 8, "window": 4, "width": 64, "heads": 4},
        "large": {"batch": 8, "side": 14, "window": 7, "width": 96, "heads": 3},
    }
    leaves = ("g1", "b1", "Wqkv", "bqkv", "table", "Wo", "bo", "g2", "b2", "W1", "c1", "W2", "c2")
    turned = dict.fromkeys(("Wqkv", "Wo", "W1", "W2"), DENSE)

    def arrays(self, draw: np.random.Generator, *, batch: int, side: int, window: int, width: int,
               heads: int) -> Data:  # fmt: skip
        norms = [1 + normal(draw, width, scale=0.1), normal(draw, width, scale=0.1)]
        table = normal(draw, (2 * window - 1) ** 2, heads, scale=0.5)
        weights = [*norms, *dense(draw, width, 3 * width), table, *dense(draw, width, width), *norms,
                   *dense(draw, width, 4 * width, width)]  # fmt: skip
        places = np.stack(np.meshgrid(np.arange(window), np.arange(window), indexing="ij"), axis=-1).reshape(-1, 2)
        apart = places[:, None] - places[None] + window - 1
        cut = np.digitize(np.arange(side), [side - window, side - window // 2])
        parts = (3 * cut[:, None] + cut).reshape(side // window, window, side // window, window)
        parts = parts.transpose(0, 2, 1, 3).reshape(-1, window * window)
        return dict(zip(self.leaves, weights, strict=True)) | {
            "index": apart[..., 0] * (2 * window - 1) + apart[..., 1],
            "mask": np.where(parts[:, :, None] == parts[:, None], 0, -100).astype(np.float32),
            "x": normal(draw, batch, side, side, width),
            "y": normal(draw, batch, side, side, width),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        layers, width, heads, window = tf.keras.layers, self.at["width"], self.at["heads"], self.at["window"]
        shift, square, each = window // 2, window**2, width // heads

        class Attention(layers.Layer):
            def __init__(self) -> None:
                super().__init__()
                self.qkv = layers.Dense(3 * width)

            def build(self, shape: Any) -> None:
                self.table = self.add_weight(shape=((2 * window - 1) ** 2, heads), name="table")

            def call(self, x: Any, index: Any, mask: Any) -> Any:
                parts = tf.reshape(self.qkv(x), (-1, square, 3, heads, each))
                q, k, v = tf.unstack(tf.transpose(parts, (2, 0, 3, 1, 4)))
                scores = tf.matmul(q * each**-0.5, k, transpose_b=True)
                bias = tf.reshape(tf.gather(self.table, tf.reshape(index, [-1])), (square, square, heads))
                scores = scores + tf.transpose(bias, (2, 0, 1))
                scores = tf.reshape(scores, (-1, mask.shape[0], heads, square, square)) + mask[None, :, None]
                shares = tf.nn.softmax(tf.reshape(scores, (-1, heads, square, square)))
                return tf.reshape(tf.transpose(tf.matmul(shares, v), (0, 2, 1, 3)), (-1, square, width))

        norm1, norm2 = (layers.LayerNormalization(epsilon=EPSILON) for _ in range(2))
        attention, out = Attention(), layers.Dense(width)
        up, down = layers.Dense(4 * width, activation="gelu"), layers.Dense(width)

        def loss(index: Any, mask: Any, x: Any, y: Any) -> Any:
            batch, side = x.shape[0], x.shape[1]
            count = side // window
            h = tf.roll(norm1(x), shift=(-shift, -shift), axis=(1, 2))
            h = tf.transpose(tf.reshape(h, (batch, count, window, count, window, width)), (0, 1, 3, 2, 4, 5))
            h = out(attention(tf.reshape(h, (-1, square, width)), index, mask))
            h = tf.transpose(tf.reshape(h, (batch, count, count, window, window, width)), (0, 1, 3, 2, 4, 5))
            x = x + tf.roll(tf.reshape(h, (batch, side, side, width)), shift=(shift, shift), axis=(1, 2))
            x = x + down(up(norm2(x)))
            return tf.reduce_mean(tf.square(x - y))

        return [norm1, attention, out, norm2, up, down], loss

    def as_torch(self, torch: Any) -> Any:
        nn, width, heads, window = torch.nn, self.at["width"], self.at["heads"], self.at["window"]
        shift, square, each = window // 2, window**2, width // heads

        class Attention(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.qkv = nn.Linear(width, 3 * width)
                self.tables = nn.ParameterList([torch.zeros((2 * window - 1) ** 2, heads)])

            def forward(self, x: Any, index: Any, mask: Any) -> Any:
                q, k, v = self.qkv(x).view(-1, square, 3, heads, each).permute(2, 0, 3, 1, 4)
                scores = q * each**-0.5 @ k.mT
                bias = self.tables[0][index.flatten()].view(square, square, heads)
                scores = scores + bias.permute(2, 0, 1)
                scores = scores.view(-1, len(mask), heads, square, square) + mask[None, :, None]
                shares = scores.view(-1, heads, square, square).softmax(3)
                return (shares @ v).transpose(1, 2).reshape(-1, square, width)

        norm1, norm2 = (nn.LayerNorm(width, eps=EPSILON) for _ in range(2))
        attention, out = Attention(), nn.Linear(width, width)
        up, down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def loss(index: Any, mask: Any, x: Any, y: Any) -> Any:
            batch, side = x.shape[0], x.shape[1]
            count = side // window
            h = torch.roll(norm1(x), (-shift, -shift), (1, 2))
            h = h.view(batch, count, window, count, window, width).transpose(2, 3)
            h = out(attention(h.reshape(-1, square, width), index, mask))
            h = h.view(batch, count, count, window, window, width).transpose(2, 3)
            x = x + torch.roll(h.reshape(batch, side, side, width), (shift, shift), (1, 2))
            x = x + down(nn.functional.gelu(up(norm2(x))))
            return nn.functional.mse_loss(x, y)

        return [norm1, attention, out, norm2, up, down], loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        width, heads, window = self.at["width"], self.at["heads"], self.at["window"]
        shift, square, each = window // 2, window**2, width // heads

        def attention(x: Any, Wqkv: Any, bqkv: Any, table: Any, index: Any, mask: Any) -> Any:
            q, k, v = (x @ Wqkv + bqkv).reshape(-1, square, 3, heads, each).transpose(2, 0, 3, 1, 4)
            scores = (q * each**-0.5) @ k.swapaxes(2, 3) + table[index].transpose(2, 0, 1)
            scores = scores.reshape(-1, len(mask), heads, square, square) + mask[None, :, None]
            shares = jax.nn.softmax(scores.reshape(-1, heads, square, square))
            return (shares @ v).transpose(0, 2, 1, 3).reshape(-1, square, width)

        def loss(g1: Any, b1: Any, Wqkv: Any, bqkv: Any, table: Any, Wo: Any, bo: Any, g2: Any, b2: Any, W1: Any,
                 c1: Any, W2: Any, c2: Any, index: Any, mask: Any, x: Any, y: Any) -> Any:  # fmt: skip
            batch, side = x.shape[0], x.shape[1]
            count = side // window
            h = np.roll(layer_norm(np, x, g1, b1), (-shift, -shift), (1, 2))
            h = h.reshape(batch, count, window, count, window, width).transpose(0, 1, 3, 2, 4, 5)
            h = attention(h.reshape(-1, square, width), Wqkv, bqkv, table, index, mask) @ Wo + bo
            h = h.reshape(batch, count, count, window, window, width).transpose(0, 1, 3, 2, 4, 5)
            x = x + np.roll(h.reshape(batch, side, side, width), (shift, shift), (1, 2))
            hidden = jax.nn.gelu(layer_norm(np, x, g2, b2) @ W1 + c1, approximate=False)
            return ((x + hidden @ W2 + c2 - y) ** 2).mean()

        return loss
