"""Training loops: Adam on a small network, a variational autoencoder, sparse embeddings, SGD with momentum."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, Run, normal
from tests.benchmarks.programs.program import DENSE, Program, Training


def dense(draw: np.random.Generator, *widths: int) -> list[np.ndarray]:
    """Weights and biases of dense layers."""
    return [w for fan_in, fan_out in pairwise(widths)
            for w in (normal(draw, fan_in, fan_out, scale=fan_in**-0.5), normal(draw, fan_out, scale=0.1))]  # fmt: skip


class AdamMlp(Training):
    """Regression by three dense layers: a hundred steps of Adam on one batch."""

    program, about = "adam_mlp", "100 steps, {features}-{hidden}-{hidden}-{out}, batch {batch}"
    sizes = {
        "test": {"batch": 4, "features": 2, "hidden": 3, "out": 1},
        "small": {"batch": 16, "features": 4, "hidden": 16, "out": 1},
        "middle": {"batch": 64, "features": 32, "hidden": 64, "out": 10},
        "large": {"batch": 128, "features": 256, "hidden": 256, "out": 10},
    }
    leaves = ("W1", "b1", "W2", "b2", "W3", "b3")
    turned = {"W1": DENSE, "W2": DENSE, "W3": DENSE}
    steps = 100

    def arrays(self, draw: np.random.Generator, *, batch: int, features: int, hidden: int, out: int) -> Data:
        weights = dict(zip(self.leaves, dense(draw, features, hidden, hidden, out), strict=True))
        return weights | {"x": normal(draw, batch, features), "y": normal(draw, batch, out)}

    def as_tensorflow(self, tf: Any) -> Any:
        hidden = self.at["hidden"]
        layers = [tf.keras.layers.Dense(hidden, activation="tanh") for _ in range(2)]
        model = tf.keras.Sequential([*layers, tf.keras.layers.Dense(self.at["out"])])
        return [model], lambda x, y: tf.reduce_mean(tf.square(model(x) - y))

    def as_torch(self, torch: Any) -> Any:
        nn, hidden = torch.nn, self.at["hidden"]
        model = nn.Sequential(nn.Linear(self.at["features"], hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(),
                              nn.Linear(hidden, self.at["out"]))  # fmt: skip
        return [model], lambda x, y: nn.functional.mse_loss(model(x), y)

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(W1: Any, b1: Any, W2: Any, b2: Any, W3: Any, b3: Any, x: Any, y: Any) -> Any:
            hidden = np.tanh(np.tanh(x @ W1 + b1) @ W2 + b2)
            return ((hidden @ W3 + b3 - y) ** 2).mean()

        return loss


class Vae(Training):
    """A variational autoencoder of binary images: reconstruction and divergence, five steps of Adam."""

    program, about = "vae", "5 steps, {pixels}-{hidden}-{code}, batch {batch}"
    sizes = {
        "test": {"batch": 2, "pixels": 4, "hidden": 3, "code": 1},
        "small": {"batch": 8, "pixels": 64, "hidden": 32, "code": 4},
        "middle": {"batch": 128, "pixels": 196, "hidden": 128, "code": 10},
        "large": {"batch": 128, "pixels": 784, "hidden": 400, "code": 20},
    }
    leaves = ("W1", "b1", "W2", "b2", "W3", "b3", "W4", "b4")
    turned = {"W1": DENSE, "W2": DENSE, "W3": DENSE, "W4": DENSE}
    steps = 5

    def arrays(self, draw: np.random.Generator, *, batch: int, pixels: int, hidden: int, code: int) -> Data:
        weights = [*dense(draw, pixels, hidden, 2 * code), *dense(draw, code, hidden, pixels)]
        images = (draw.random((batch, pixels)) < 0.3).astype(np.float32)
        return dict(zip(self.leaves, weights, strict=True)) | {"x": images, "noise": normal(draw, batch, code)}

    def as_tensorflow(self, tf: Any) -> Any:
        layer, at = tf.keras.layers.Dense, self.at
        encoder = tf.keras.Sequential([layer(at["hidden"], activation="relu"), layer(2 * at["code"])])
        decoder = tf.keras.Sequential([layer(at["hidden"], activation="relu"), layer(at["pixels"])])

        def loss(x: Any, noise: Any) -> Any:
            mean, log_variance = tf.split(encoder(x), 2, axis=1)
            logits = decoder(mean + tf.exp(0.5 * log_variance) * noise)
            each = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
            divergence = -0.5 * tf.reduce_sum(1 + log_variance - tf.square(mean) - tf.exp(log_variance), axis=1)
            return tf.reduce_mean(tf.reduce_sum(each, axis=1) + divergence)

        return [encoder, decoder], loss

    def as_torch(self, torch: Any) -> Any:
        nn, at = torch.nn, self.at
        pixels, hidden, code = at["pixels"], at["hidden"], at["code"]
        encoder = nn.Sequential(nn.Linear(pixels, hidden), nn.ReLU(), nn.Linear(hidden, 2 * code))
        decoder = nn.Sequential(nn.Linear(code, hidden), nn.ReLU(), nn.Linear(hidden, pixels))

        def loss(x: Any, noise: Any) -> Any:
            mean, log_variance = encoder(x).chunk(2, 1)
            logits = decoder(mean + (0.5 * log_variance).exp() * noise)
            rebuilt = nn.functional.binary_cross_entropy_with_logits(logits, x, reduction="sum")
            divergence = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum()
            return (rebuilt + divergence) / len(x)

        return [encoder, decoder], loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(W1: Any, b1: Any, W2: Any, b2: Any, W3: Any, b3: Any, W4: Any, b4: Any, x: Any, noise: Any) -> Any:
            mean, log_variance = np.split(jax.nn.relu(x @ W1 + b1) @ W2 + b2, 2, axis=1)
            logits = jax.nn.relu((mean + np.exp(0.5 * log_variance) * noise) @ W3 + b3) @ W4 + b4
            each = np.maximum(logits, 0) - logits * x + np.log1p(np.exp(-np.abs(logits)))
            divergence = -0.5 * (1 + log_variance - mean**2 - np.exp(log_variance)).sum(1)
            return (each.sum(1) + divergence).mean()

        return loss


class Embedding(Training):
    """Rows of an embedding are moved towards targets by a step of SGD; the rest of the table stays."""

    program, about = "embedding", "sparse update of {taken} rows of {rows} × {width}"
    sizes = {
        "test": {"rows": 6, "width": 2, "taken": 4},
        "small": {"rows": 1_000, "width": 16, "taken": 64},
        "middle": {"rows": 100_000, "width": 64, "taken": 640},
        "large": {"rows": 500_000, "width": 64, "taken": 8_192},
    }
    leaves = ("table",)
    steps, optimizer, rate = 1, "SGD", 0.1

    def arrays(self, draw: np.random.Generator, *, rows: int, width: int, taken: int) -> Data:
        return {
            "table": normal(draw, rows, width),
            "ids": draw.integers(0, rows, taken),
            "target": normal(draw, taken, width),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        layer = tf.keras.layers.Embedding(self.at["rows"], self.at["width"])
        return [layer], lambda ids, target: tf.reduce_sum(tf.square(layer(ids) - target))

    def as_torch(self, torch: Any) -> Any:
        layer = torch.nn.Embedding(self.at["rows"], self.at["width"], sparse=True)
        return [layer], lambda ids, target: ((layer(ids) - target) ** 2).sum()

    def as_jax(self, jax: Any, np: Any) -> Any:
        return lambda table, ids, target: ((table[ids] - target) ** 2).sum()

    def jax(self, engine: Any, d: Data) -> Run:
        """The gradient of the rows alone, added to a table that is given away."""
        if not hasattr(engine.jax, "jit"):
            return super().jax(engine, d)
        jax, np, rate = engine.jax, engine.numpy, self.rate

        def step(table: Any, ids: Any, target: Any) -> Any:
            value, slopes = jax.value_and_grad(lambda rows: ((rows - target) ** 2).sum())(table[ids])
            return value, table.at[ids].add(-rate * slopes)

        compiled = jax.jit(step, donate_argnums=0)
        state, given = [np.array(d["table"])], [np.asarray(d[name]) for name in ("ids", "target")]

        def run() -> Any:
            value, state[0] = jax.block_until_ready(compiled(state[0], *given))
            return [value], state[0]

        run.reset = lambda: state.__setitem__(0, np.array(d["table"]))  # type: ignore[attr-defined]
        return run


class SoftmaxRegression(Program):
    """Cross entropy of a linear classifier."""

    program, about = "softmax_regression", "{rows} rows, {features} features, {classes} classes"
    sizes = {
        "test": {"rows": 5, "features": 3, "classes": 3},
        "small": {"rows": 64, "features": 8, "classes": 3},
        "middle": {"rows": 1_797, "features": 64, "classes": 10},
        "large": {"rows": 20_000, "features": 784, "classes": 10},
    }
    leaves = ("W", "b")

    def arrays(self, draw: np.random.Generator, *, rows: int, features: int, classes: int) -> Data:
        W, b = dense(draw, features, classes)
        return {"W": W, "b": b, "x": normal(draw, rows, features), "labels": draw.integers(0, classes, rows)}

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(W: Any, b: Any, x: Any, labels: Any) -> Any:
            return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x @ W + b))

        return loss

    def as_torch(self, torch: Any) -> Any:
        return lambda W, b, x, labels: torch.nn.functional.cross_entropy(torch.addmm(b, x, W), labels)

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(W: Any, b: Any, x: Any, labels: Any) -> Any:
            logs = jax.nn.log_softmax(x @ W + b)
            return -np.take_along_axis(logs, labels[:, None], axis=1).mean()

        return loss


class SgdMomentum(Training):
    """Binary classification by two dense layers with a fixed dropout mask: ten steps of SGD with momentum."""

    program, about = "sgd_momentum", "10 steps, {features}-{hidden}-1, batch {batch}, ridge, given dropout"
    sizes = {
        "test": {"batch": 4, "features": 2, "hidden": 3},
        "small": {"batch": 16, "features": 8, "hidden": 16},
        "middle": {"batch": 128, "features": 32, "hidden": 128},
        "large": {"batch": 256, "features": 256, "hidden": 256},
    }
    leaves = ("W1", "b1", "W2", "b2")
    turned = {"W1": DENSE, "W2": DENSE}
    steps, optimizer, rate, momentum = 10, "SGD", 0.05, 0.9

    def arrays(self, draw: np.random.Generator, *, batch: int, features: int, hidden: int) -> Data:
        weights = dict(zip(self.leaves, dense(draw, features, hidden, 1), strict=True))
        return weights | {
            "x": normal(draw, batch, features),
            "y": (draw.random((batch, 1)) < 0.5).astype(np.float32),
            "kept": (draw.random((batch, hidden)) < 0.8).astype(np.float32) / np.float32(0.8),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        first, last = tf.keras.layers.Dense(self.at["hidden"], activation="tanh"), tf.keras.layers.Dense(1)

        def loss(x: Any, y: Any, kept: Any) -> Any:
            logits = last(first(x) * kept)
            fit = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
            return fit + 1e-3 * (tf.nn.l2_loss(first.kernel) + tf.nn.l2_loss(last.kernel))

        return [first, last], loss

    def as_torch(self, torch: Any) -> Any:
        nn = torch.nn
        first, last = nn.Linear(self.at["features"], self.at["hidden"]), nn.Linear(self.at["hidden"], 1)

        def loss(x: Any, y: Any, kept: Any) -> Any:
            fit = nn.functional.binary_cross_entropy_with_logits(last(torch.tanh(first(x)) * kept), y)
            return fit + 1e-3 * 0.5 * ((first.weight**2).sum() + (last.weight**2).sum())

        return [first, last], loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(W1: Any, b1: Any, W2: Any, b2: Any, x: Any, y: Any, kept: Any) -> Any:
            logits = np.tanh(x @ W1 + b1) * kept @ W2 + b2
            fit = (np.maximum(logits, 0) - logits * y + np.log1p(np.exp(-np.abs(logits)))).mean()
            return fit + 1e-3 * 0.5 * ((W1**2).sum() + (W2**2).sum())

        return loss
