"""Training loops: Adam on a small network and on a policy, a variational autoencoder, embeddings, SGD with momentum."""

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


class Ppo(Training):
    """Proximal policy optimization (Schulman et al. 2017): ten epochs of Adam on one batch of a small actor-critic."""

    program, about = "ppo", "10 epochs, {seen}-{hidden}-{hidden}-{moves} and a value head, batch {batch}"
    sizes = {
        "test": {"batch": 4, "seen": 2, "hidden": 2, "moves": 2},
        "small": {"batch": 32, "seen": 4, "hidden": 32, "moves": 2},
        "middle": {"batch": 256, "seen": 8, "hidden": 64, "moves": 4},
        "large": {"batch": 2_048, "seen": 24, "hidden": 256, "moves": 18},
    }
    leaves = ("W1", "b1", "W2", "b2", "Wp", "bp", "Wv", "bv")
    turned = dict.fromkeys(("W1", "W2", "Wp", "Wv"), DENSE)
    steps, rate = 10, 3e-4

    def arrays(self, draw: np.random.Generator, *, batch: int, seen: int, hidden: int, moves: int) -> Data:
        weights = [*dense(draw, seen, hidden, hidden), *dense(draw, hidden, moves), *dense(draw, hidden, 1)]
        return dict(zip(self.leaves, weights, strict=True)) | {
            "obs": normal(draw, batch, seen),
            "actions": draw.integers(0, moves, batch),
            "old": (-np.log(moves) + 0.3 * draw.standard_normal(batch)).astype(np.float32),
            "advantages": normal(draw, batch),
            "returns": normal(draw, batch),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        layers, hidden = tf.keras.layers, self.at["hidden"]
        trunk = tf.keras.Sequential([layers.Dense(hidden, activation="tanh"), layers.Dense(hidden, activation="tanh")])
        actor, critic = layers.Dense(self.at["moves"]), layers.Dense(1)

        def loss(obs: Any, actions: Any, old: Any, advantages: Any, returns: Any) -> Any:
            features = trunk(obs)
            logits = actor(features)
            values = tf.squeeze(critic(features), axis=-1)
            log_probs = tf.nn.log_softmax(logits)
            log_prob = tf.gather(log_probs, actions, batch_dims=1)
            advantages = (advantages - tf.reduce_mean(advantages)) / (tf.math.reduce_std(advantages) + 1e-8)
            ratio = tf.exp(log_prob - old)
            clipped = tf.clip_by_value(ratio, 1.0 - 0.2, 1.0 + 0.2)
            policy_loss = -tf.reduce_mean(tf.minimum(ratio * advantages, clipped * advantages))
            value_loss = 0.5 * tf.reduce_mean(tf.square(returns - values))
            entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_probs) * log_probs, axis=-1))
            return policy_loss + 0.5 * value_loss - 0.01 * entropy

        return [trunk, actor, critic], loss

    def as_torch(self, torch: Any) -> Any:
        nn, hidden = torch.nn, self.at["hidden"]
        trunk = nn.Sequential(nn.Linear(self.at["seen"], hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        actor, critic = nn.Linear(hidden, self.at["moves"]), nn.Linear(hidden, 1)

        def loss(obs: Any, actions: Any, old: Any, advantages: Any, returns: Any) -> Any:
            features = trunk(obs)
            values = critic(features).squeeze(-1)
            log_probs = nn.functional.log_softmax(actor(features), dim=-1)
            log_prob = log_probs.gather(1, actions[:, None]).squeeze(1)
            advantages = (advantages - advantages.mean()) / (advantages.std(unbiased=False) + 1e-8)
            ratio = (log_prob - old).exp()
            clipped = torch.clamp(ratio, 1 - 0.2, 1 + 0.2)
            policy_loss = -torch.min(ratio * advantages, clipped * advantages).mean()
            value_loss = 0.5 * nn.functional.mse_loss(values, returns)
            entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
            return policy_loss + 0.5 * value_loss - 0.01 * entropy

        return [trunk, actor, critic], loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(W1: Any, b1: Any, W2: Any, b2: Any, Wp: Any, bp: Any, Wv: Any, bv: Any, obs: Any, actions: Any,
                 old: Any, advantages: Any, returns: Any) -> Any:  # fmt: skip
            features = np.tanh(np.tanh(obs @ W1 + b1) @ W2 + b2)
            values = (features @ Wv + bv)[:, 0]
            log_probs = jax.nn.log_softmax(features @ Wp + bp)
            log_prob = np.take_along_axis(log_probs, actions[:, None], axis=1)[:, 0]
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
            ratio = np.exp(log_prob - old)
            clipped = np.clip(ratio, 1 - 0.2, 1 + 0.2)
            policy_loss = -np.minimum(ratio * advantages, clipped * advantages).mean()
            value_loss = 0.5 * ((values - returns) ** 2).mean()
            entropy = -(np.exp(log_probs) * log_probs).sum(-1).mean()
            return policy_loss + 0.5 * value_loss - 0.01 * entropy

        return loss
