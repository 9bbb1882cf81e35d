"""Language: a decoder, word vectors, a recurrent decoder with additive attention, the topics of documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, Run, normal
from tests.benchmarks.programs.networks import EPSILON, layer_norm
from tests.benchmarks.programs.program import DENSE, Layered, Program, Training
from tests.benchmarks.programs.training import dense

BLOCKS = 2
BLOCK = ("g1", "b1", "Wqkv", "bqkv", "Wo", "bo", "g2", "b2", "W1", "c1", "W2", "c2")
STEPS = 15


class Decoder(Layered):
    """A decoder-only language model: token and position embeddings, two pre-norm causal blocks, next-token loss."""

    program, about = "decoder", "2 blocks, batch {batch}, {time} tokens of {words}, {width} wide, {heads} heads"
    sizes = {
        "test": {"batch": 1, "time": 3, "width": 4, "heads": 2, "words": 5},
        "small": {"batch": 1, "time": 8, "width": 16, "heads": 2, "words": 500},
        "middle": {"batch": 4, "time": 32, "width": 64, "heads": 4, "words": 500},
        "large": {"batch": 8, "time": 64, "width": 128, "heads": 8, "words": 500},
    }
    leaves = ("E", "P", *(f"{name}_{k}" for k in range(BLOCKS) for name in BLOCK), "gf", "bf", "V", "v")
    turned = dict.fromkeys((*(f"{n}_{k}" for k in range(BLOCKS) for n in ("Wqkv", "Wo", "W1", "W2")), "V"), DENSE)

    def arrays(self, draw: np.random.Generator, *, batch: int, time: int, width: int, heads: int, words: int) -> Data:
        def norm() -> list[np.ndarray]:
            return [1 + normal(draw, width, scale=0.1), normal(draw, width, scale=0.1)]

        weights = [normal(draw, words, width), normal(draw, time, width, scale=0.3)]
        for _ in range(BLOCKS):
            weights += [*norm(), *dense(draw, width, 3 * width), *dense(draw, width, width), *norm(),
                        *dense(draw, width, 4 * width), *dense(draw, 4 * width, width)]  # fmt: skip
        weights += [*norm(), *dense(draw, width, words)]
        given = {name: draw.integers(0, words, (batch, time)) for name in ("x", "y")}
        return dict(zip(self.leaves, weights, strict=True)) | given

    def as_tensorflow(self, tf: Any) -> Any:
        layers, width, heads, time = tf.keras.layers, self.at["width"], self.at["heads"], self.at["time"]
        tokens, places = layers.Embedding(self.at["words"], width), layers.Embedding(time, width)
        blocks = [[layers.LayerNormalization(epsilon=EPSILON), layers.Dense(3 * width), layers.Dense(width),
                   layers.LayerNormalization(epsilon=EPSILON), layers.Dense(4 * width, activation="gelu"),
                   layers.Dense(width)] for _ in range(BLOCKS)]  # fmt: skip
        norm, head = layers.LayerNormalization(epsilon=EPSILON), layers.Dense(self.at["words"])

        def attention(x: Any, qkv: Any, out: Any) -> Any:
            batch, time, _ = x.shape
            q, k, v = tf.split(qkv(x), 3, axis=2)
            q, k, v = (tf.transpose(tf.reshape(z, (batch, time, heads, width // heads)), (0, 2, 1, 3))
                       for z in (q, k, v))  # fmt: skip
            scores = tf.matmul(q, k, transpose_b=True) / (width // heads) ** 0.5
            mask = tf.linalg.band_part(tf.ones((time, time)), -1, 0)
            scores = tf.where(mask > 0, scores, -1e9)
            mixed = tf.matmul(tf.nn.softmax(scores), v)
            return out(tf.reshape(tf.transpose(mixed, (0, 2, 1, 3)), (batch, time, width)))

        def loss(x: Any, y: Any) -> Any:
            h = tokens(x) + places(tf.range(time))
            for norm1, qkv, out, norm2, up, down in blocks:
                h = h + attention(norm1(h), qkv, out)
                h = h + down(up(norm2(h)))
            logits = head(norm(h))
            return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))

        return [tokens, places, *(layer for block in blocks for layer in block), norm, head], loss

    def as_torch(self, torch: Any) -> Any:
        nn, width, heads, time = torch.nn, self.at["width"], self.at["heads"], self.at["time"]
        tokens, places = nn.Embedding(self.at["words"], width), nn.Embedding(time, width)
        blocks = [[nn.LayerNorm(width, eps=EPSILON), nn.Linear(width, 3 * width), nn.Linear(width, width),
                   nn.LayerNorm(width, eps=EPSILON), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)]
                  for _ in range(BLOCKS)]  # fmt: skip
        norm, head = nn.LayerNorm(width, eps=EPSILON), nn.Linear(width, self.at["words"])

        def attention(x: Any, qkv: Any, out: Any) -> Any:
            batch, time, _ = x.shape
            q, k, v = (z.view(batch, time, heads, width // heads).transpose(1, 2) for z in qkv(x).chunk(3, 2))
            mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return out(mixed.transpose(1, 2).reshape(batch, time, width))

        def loss(x: Any, y: Any) -> Any:
            h = tokens(x) + places(torch.arange(time))
            for norm1, qkv, out, norm2, up, down in blocks:
                h = h + attention(norm1(h), qkv, out)
                h = h + down(nn.functional.gelu(up(norm2(h))))
            return nn.functional.cross_entropy(head(norm(h)).flatten(0, 1), y.flatten())

        return [tokens, places, *(layer for block in blocks for layer in block), norm, head], loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        heads = self.at["heads"]

        def attention(x: Any, Wqkv: Any, bqkv: Any, Wo: Any, bo: Any) -> Any:
            batch, time, width = x.shape
            q, k, v = (z.reshape(batch, time, heads, width // heads).transpose(0, 2, 1, 3)
                       for z in np.split(x @ Wqkv + bqkv, 3, axis=2))  # fmt: skip
            scores = q @ k.swapaxes(-1, -2) / (width // heads) ** 0.5
            scores = np.where(np.tril(np.ones((time, time), bool)), scores, -1e9)
            mixed = jax.nn.softmax(scores) @ v
            return mixed.transpose(0, 2, 1, 3).reshape(batch, time, width) @ Wo + bo

        def loss(E: Any, P: Any, *rest: Any) -> Any:
            *weights, gf, bf, V, v, x, y = rest
            h = E[x] + P
            for k in range(BLOCKS):
                g1, b1, Wqkv, bqkv, Wo, bo, g2, b2, W1, c1, W2, c2 = weights[12 * k : 12 * k + 12]
                h = h + attention(layer_norm(np, h, g1, b1), Wqkv, bqkv, Wo, bo)
                hidden = jax.nn.gelu(layer_norm(np, h, g2, b2) @ W1 + c1, approximate=False)
                h = h + hidden @ W2 + c2
            logs = jax.nn.log_softmax(layer_norm(np, h, gf, bf) @ V + v)
            return -np.take_along_axis(logs, y[:, :, None], axis=2).mean()

        return loss


class SkipGram(Training):
    """Word vectors by negative sampling (Mikolov et al. 2013): ten steps of SGD with sparse updates."""

    program, about = "skip_gram", "10 steps, {pairs} pairs and 5 negatives each, {words} words × {width}"
    sizes = {
        "test": {"pairs": 3, "words": 5, "width": 2},
        "small": {"pairs": 16, "words": 100, "width": 8},
        "middle": {"pairs": 256, "words": 10_000, "width": 32},
        "large": {"pairs": 1_024, "words": 50_000, "width": 100},
    }
    leaves = ("centres", "contexts")
    steps, optimizer, rate = 10, "SGD", 0.5

    def arrays(self, draw: np.random.Generator, *, pairs: int, words: int, width: int) -> Data:
        return {
            "centres": normal(draw, words, width, scale=0.3),
            "contexts": normal(draw, words, width, scale=0.3),
            "word": draw.integers(0, words, pairs),
            "near": draw.integers(0, words, pairs),
            "far": draw.integers(0, words, (pairs, 5)),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        centres, contexts = (tf.keras.layers.Embedding(self.at["words"], self.at["width"]) for _ in range(2))

        def loss(word: Any, near: Any, far: Any) -> Any:
            u, v, w = centres(word), contexts(near), contexts(far)
            good = tf.math.log_sigmoid(tf.reduce_sum(u * v, axis=1))
            bad = tf.math.log_sigmoid(-tf.reduce_sum(w * u[:, None, :], axis=2))
            return -tf.reduce_mean(good + tf.reduce_sum(bad, axis=1))

        return [centres, contexts], loss

    def as_torch(self, torch: Any) -> Any:
        words, width, log_sigmoid = self.at["words"], self.at["width"], torch.nn.functional.logsigmoid
        centres, contexts = (torch.nn.Embedding(words, width, sparse=True) for _ in range(2))

        def loss(word: Any, near: Any, far: Any) -> Any:
            u, v, w = centres(word), contexts(near), contexts(far)
            good = log_sigmoid((u * v).sum(1))
            bad = log_sigmoid(-(w * u[:, None, :]).sum(2))
            return -(good + bad.sum(1)).mean()

        return [centres, contexts], loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(centres: Any, contexts: Any, word: Any, near: Any, far: Any) -> Any:
            return self._of_rows(jax, centres[word], contexts[near], contexts[far])

        return loss

    @staticmethod
    def _of_rows(jax: Any, u: Any, v: Any, w: Any) -> Any:
        good = jax.nn.log_sigmoid((u * v).sum(1))
        bad = jax.nn.log_sigmoid(-(w * u[:, None, :]).sum(2))
        return -(good + bad.sum(1)).mean()

    def jax(self, engine: Any, d: Data) -> Run:
        """The gradients of the rows alone, added to tables that are given away."""
        if not hasattr(engine.jax, "jit"):
            return super().jax(engine, d)
        jax, np, rate = engine.jax, engine.numpy, self.rate

        def step(centres: Any, contexts: Any, word: Any, near: Any, far: Any) -> Any:
            rows = (centres[word], contexts[near], contexts[far])
            value, (du, dv, dw) = jax.value_and_grad(lambda rows: self._of_rows(jax, *rows))(rows)
            contexts = contexts.at[near].add(-rate * dv).at[far].add(-rate * dw)
            return value, centres.at[word].add(-rate * du), contexts

        compiled = jax.jit(step, donate_argnums=(0, 1))
        state = [np.array(d[name]) for name in self.leaves]
        given = [np.asarray(d[name]) for name in ("word", "near", "far")]

        def run() -> Any:
            losses = []
            for _ in range(self.steps):
                value, *state[:] = compiled(*state, *given)
                losses.append(value)
            return jax.block_until_ready((losses, *state))

        def reset() -> None:
            state[:] = [np.array(d[name]) for name in self.leaves]

        run.reset = reset  # type: ignore[attr-defined]
        return run


class AdditiveAttention(Program):
    """A recurrent decoder with additive attention to encoder states (Bahdanau et al. 2015), for fifteen words."""

    program, about = "additive_attention", "15 steps, batch {batch}, {source} places, {width} wide, {words} words"
    sizes = {
        "test": {"batch": 2, "source": 2, "width": 2, "words": 3},
        "small": {"batch": 2, "source": 6, "width": 8, "words": 20},
        "middle": {"batch": 16, "source": 20, "width": 32, "words": 200},
        "large": {"batch": 32, "source": 40, "width": 128, "words": 500},
    }
    leaves = ("E", "Wa", "Ua", "va", "W", "U", "b", "V", "c")

    def arrays(self, draw: np.random.Generator, *, batch: int, source: int, width: int, words: int) -> Data:
        scale = width**-0.5
        return {
            "E": normal(draw, words, width),
            "Wa": normal(draw, width, width, scale=scale),
            "Ua": normal(draw, width, width, scale=scale),
            "va": normal(draw, width, scale=scale),
            "W": normal(draw, 2 * width, 3 * width, scale=(2 * width) ** -0.5),
            "U": normal(draw, width, 3 * width, scale=scale),
            "b": normal(draw, 3 * width, scale=0.1),
            "V": normal(draw, width, words, scale=scale),
            "c": normal(draw, words, scale=0.1),
            "said": normal(draw, batch, source, width),
            "begin": normal(draw, batch, width),
            "ids": draw.integers(0, words, (batch, STEPS + 1)),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(E: Any, Wa: Any, Ua: Any, va: Any, W: Any, U: Any, b: Any, V: Any, c: Any, said: Any, begin: Any,
                 ids: Any) -> Any:  # fmt: skip
            keys, s, total = tf.matmul(said, Ua), begin, 0.0
            for t in range(STEPS):
                scores = tf.reduce_sum(va * tf.tanh(keys + tf.matmul(s, Wa)[:, None, :]), axis=2)
                context = tf.reduce_sum(tf.nn.softmax(scores, axis=1)[:, :, None] * said, axis=1)
                given = tf.concat([tf.nn.embedding_lookup(E, ids[:, t]), context], axis=1)
                xz, xr, xh = tf.split(tf.matmul(given, W) + b, 3, axis=1)
                hz, hr, hh = tf.split(tf.matmul(s, U), 3, axis=1)
                z, r = tf.sigmoid(xz + hz), tf.sigmoid(xr + hr)
                s = z * s + (1.0 - z) * tf.tanh(xh + r * hh)
                logits = tf.matmul(s, V) + c
                each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ids[:, t + 1], logits=logits)
                total = total + tf.reduce_mean(each)
            return total / STEPS

        return loss

    def as_torch(self, torch: Any) -> Any:
        nn = torch.nn.functional

        def loss(E: Any, Wa: Any, Ua: Any, va: Any, W: Any, U: Any, b: Any, V: Any, c: Any, said: Any, begin: Any,
                 ids: Any) -> Any:  # fmt: skip
            keys, s, total = said @ Ua, begin, 0.0
            for t in range(STEPS):
                scores = (va * torch.tanh(keys + (s @ Wa)[:, None, :])).sum(2)
                context = (scores.softmax(1)[:, :, None] * said).sum(1)
                given = torch.cat([nn.embedding(ids[:, t], E), context], 1)
                xz, xr, xh = (given @ W + b).chunk(3, 1)
                hz, hr, hh = (s @ U).chunk(3, 1)
                z, r = torch.sigmoid(xz + hz), torch.sigmoid(xr + hr)
                s = z * s + (1.0 - z) * torch.tanh(xh + r * hh)
                total = total + nn.cross_entropy(s @ V + c, ids[:, t + 1])
            return total / STEPS

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(E: Any, Wa: Any, Ua: Any, va: Any, W: Any, U: Any, b: Any, V: Any, c: Any, said: Any, begin: Any,
                 ids: Any) -> Any:  # fmt: skip
            keys = said @ Ua

            def step(state: Any, row: Any) -> Any:
                (s, total), (word, following) = state, row
                scores = (va * np.tanh(keys + (s @ Wa)[:, None, :])).sum(2)
                context = (jax.nn.softmax(scores, axis=1)[:, :, None] * said).sum(1)
                given = np.concatenate([E[word], context], axis=1)
                xz, xr, xh = np.split(given @ W + b, 3, axis=1)
                hz, hr, hh = np.split(s @ U, 3, axis=1)
                z, r = jax.nn.sigmoid(xz + hz), jax.nn.sigmoid(xr + hr)
                s = z * s + (1.0 - z) * np.tanh(xh + r * hh)
                logs = jax.nn.log_softmax(s @ V + c)
                return (s, total - np.take_along_axis(logs, following[:, None], axis=1).mean()), None

            (_, total), _ = jax.lax.scan(step, (begin, np.zeros((), E.dtype)), (ids[:, :-1].T, ids[:, 1:].T))
            return total / STEPS

        return loss


class Topics(Program):
    """A mixture of Dirichlet-multinomial distributions (Holmes et al. 2012): the likelihood of documents' counts."""

    program, about = "topics", "{documents} documents, {words} words, {topics} topics"
    sizes = {
        "test": {"documents": 2, "topics": 2, "words": 3},
        "small": {"documents": 8, "topics": 2, "words": 20},
        "middle": {"documents": 64, "topics": 4, "words": 200},
        "large": {"documents": 128, "topics": 8, "words": 1_000},
    }
    leaves = ("weights", "raw")

    def arrays(self, draw: np.random.Generator, *, documents: int, topics: int, words: int) -> Data:
        raw = normal(draw, topics, words)
        shares = draw.dirichlet(np.ones(words), documents)
        counts = np.stack([draw.multinomial(2 * words, share) for share in shares])
        return {"weights": normal(draw, topics), "raw": raw, "counts": counts.astype(np.float32)}

    def as_tensorflow(self, tf: Any) -> Any:
        lgamma = tf.math.lgamma

        def loss(weights: Any, raw: Any, counts: Any) -> Any:
            alpha = tf.math.softplus(raw)
            total, size = tf.reduce_sum(alpha, axis=1), tf.reduce_sum(counts, axis=1)
            words = tf.reduce_sum(lgamma(alpha + counts[:, None, :]) - lgamma(alpha), axis=2)
            each = words + lgamma(total) - lgamma(total + size[:, None])
            return -tf.reduce_mean(tf.reduce_logsumexp(tf.nn.log_softmax(weights) + each, axis=1))

        return loss

    def as_torch(self, torch: Any) -> Any:
        lgamma = torch.lgamma

        def loss(weights: Any, raw: Any, counts: Any) -> Any:
            alpha = torch.nn.functional.softplus(raw)
            total, size = alpha.sum(1), counts.sum(1)
            words = (lgamma(alpha + counts[:, None, :]) - lgamma(alpha)).sum(2)
            each = words + lgamma(total) - lgamma(total + size[:, None])
            return -(weights.log_softmax(0) + each).logsumexp(1).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        lgamma = jax.scipy.special.gammaln

        def loss(weights: Any, raw: Any, counts: Any) -> Any:
            alpha = jax.nn.softplus(raw)
            total, size = alpha.sum(1), counts.sum(1)
            words = (lgamma(alpha + counts[:, None, :]) - lgamma(alpha)).sum(2)
            each = words + lgamma(total) - lgamma(total + size[:, None])
            return -jax.nn.logsumexp(jax.nn.log_softmax(weights) + each, axis=1).mean()

        return loss
