"""Training without labels: a contrastive loss, a generative adversarial network, an embedding by t-SNE."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, Run, normal
from tests.benchmarks.programs.networks import EPSILON
from tests.benchmarks.programs.program import DENSE, Layered, Program
from tests.benchmarks.programs.training import dense


class InfoNce(Program):
    """A contrastive loss (InfoNCE): two noisy views of each row are encoded and matched within the batch."""

    program, about = "infonce", "{rows} pairs, {features}-{hidden}-{code}"
    sizes = {
        "test": {"rows": 3, "features": 2, "hidden": 2, "code": 2},
        "small": {"rows": 16, "features": 8, "hidden": 16, "code": 8},
        "middle": {"rows": 128, "features": 64, "hidden": 64, "code": 32},
        "large": {"rows": 1_024, "features": 128, "hidden": 256, "code": 64},
    }
    leaves = ("W1", "b1", "W2", "b2", "heat")

    def arrays(self, draw: np.random.Generator, *, rows: int, features: int, hidden: int, code: int) -> Data:
        x = normal(draw, rows, features)
        views = {name: x + normal(draw, rows, features, scale=0.3) for name in ("left", "right")}
        weights = dict(zip(self.leaves, [*dense(draw, features, hidden, code), np.float32(1.5)], strict=True))
        return weights | views

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(W1: Any, b1: Any, W2: Any, b2: Any, heat: Any, left: Any, right: Any) -> Any:
            def encode(x: Any) -> Any:
                return tf.math.l2_normalize(tf.nn.relu(x @ W1 + b1) @ W2 + b2, axis=1)

            logits = tf.exp(heat) * tf.matmul(encode(left), encode(right), transpose_b=True)
            labels = tf.range(left.shape[0])
            there = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            back = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=tf.transpose(logits))
            return 0.5 * (tf.reduce_mean(there) + tf.reduce_mean(back))

        return loss

    def as_torch(self, torch: Any) -> Any:
        nn = torch.nn.functional

        def loss(W1: Any, b1: Any, W2: Any, b2: Any, heat: Any, left: Any, right: Any) -> Any:
            def encode(x: Any) -> Any:
                return nn.normalize(torch.relu(x @ W1 + b1) @ W2 + b2, dim=1)

            logits = heat.exp() * encode(left) @ encode(right).T
            labels = torch.arange(len(left))
            return 0.5 * (nn.cross_entropy(logits, labels) + nn.cross_entropy(logits.T, labels))

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(W1: Any, b1: Any, W2: Any, b2: Any, heat: Any, left: Any, right: Any) -> Any:
            def encode(x: Any) -> Any:
                z = jax.nn.relu(x @ W1 + b1) @ W2 + b2
                return z / np.linalg.norm(z, axis=1, keepdims=True)

            logits = np.exp(heat) * encode(left) @ encode(right).T
            there, back = jax.nn.log_softmax(logits, axis=1), jax.nn.log_softmax(logits, axis=0)
            return -0.5 * (np.diagonal(there).mean() + np.diagonal(back).mean())

        return loss


class Gan(Layered):
    """One step of a generative adversarial network: both losses, each with the gradients of its own network."""

    program, about = "gan", "batch {batch}, {noise}-{hidden}-{pixels}, {pixels}-{hidden}-1, batch norm"
    sizes = {
        "test": {"batch": 4, "noise": 2, "hidden": 3, "pixels": 3},
        "small": {"batch": 8, "noise": 8, "hidden": 16, "pixels": 32},
        "middle": {"batch": 64, "noise": 32, "hidden": 128, "pixels": 196},
        "large": {"batch": 128, "noise": 100, "hidden": 400, "pixels": 784},
    }
    generator = ("W1", "gamma", "beta", "W2", "b2")
    critic = ("V1", "c1", "V2", "c2")
    leaves = generator + critic
    turned = dict.fromkeys(("W1", "W2", "V1", "V2"), DENSE)

    def __init__(self, scale: str) -> None:
        super().__init__(scale)
        self.outputs = ("made", "told", *(f"d{name}" for name in self.leaves))

    def arrays(self, draw: np.random.Generator, *, batch: int, noise: int, hidden: int, pixels: int) -> Data:
        W1, _, W2, b2 = dense(draw, noise, hidden, pixels)
        norm = [1 + normal(draw, hidden, scale=0.1), normal(draw, hidden, scale=0.1)]
        weights = [W1, *norm, W2, b2, *dense(draw, pixels, hidden, 1)]
        given = {"x": draw.uniform(-1, 1, (batch, pixels)).astype(np.float32), "noise": normal(draw, batch, noise)}
        return dict(zip(self.leaves, weights, strict=True)) | given

    def lab(self, engine: Any, d: Data) -> Run:
        tf, layers, at = engine.tf, engine.tf.keras.layers, self.at
        generator = tf.keras.Sequential([
            layers.Dense(at["hidden"], use_bias=False), layers.BatchNormalization(epsilon=EPSILON),
            layers.LeakyReLU(0.2), layers.Dense(at["pixels"], activation="tanh"),
        ])  # fmt: skip
        critic = tf.keras.Sequential([layers.Dense(at["hidden"]), layers.LeakyReLU(0.2), layers.Dense(1)])
        entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)
        x, noise = tf.constant(d["x"]), tf.constant(d["noise"])
        critic(generator(noise, training=True))
        for variable, name in zip(generator.trainable_variables + critic.trainable_variables, self.leaves, strict=True):
            variable.assign(d[name])

        def step(x: Any, noise: Any) -> Any:
            with tf.GradientTape() as tape, tf.GradientTape() as critic_tape:
                fake = generator(noise, training=True)
                real_logits, fake_logits = critic(x), critic(fake)
                made = entropy(tf.ones_like(fake_logits), fake_logits)
                told = (entropy(tf.ones_like(real_logits), real_logits)
                        + entropy(tf.zeros_like(fake_logits), fake_logits))  # fmt: skip
            slopes = tape.gradient(made, generator.trainable_variables)
            return (made, told, *slopes, *critic_tape.gradient(told, critic.trainable_variables))

        step = engine._made(step)
        return lambda: step(x, noise)

    tensorflow = lab

    def torch(self, engine: Any, d: Data) -> Run:
        d = self._turn(d)
        torch, nn, at = engine.torch, engine.torch.nn, self.at
        generator = nn.Sequential(
            nn.Linear(at["noise"], at["hidden"], bias=False), nn.BatchNorm1d(at["hidden"], eps=EPSILON),
            nn.LeakyReLU(0.2), nn.Linear(at["hidden"], at["pixels"]), nn.Tanh(),
        )  # fmt: skip
        critic = nn.Sequential(nn.Linear(at["pixels"], at["hidden"]), nn.LeakyReLU(0.2), nn.Linear(at["hidden"], 1))
        entropy = nn.BCEWithLogitsLoss()
        engine._loaded([generator, critic], [d[name] for name in self.leaves])
        makers, critics = list(generator.parameters()), list(critic.parameters())
        x, noise = torch.from_numpy(d["x"]), torch.from_numpy(d["noise"])

        def losses(x: Any, noise: Any) -> Any:
            fake = generator(noise)
            real_logits, fake_logits = critic(x), critic(fake)
            made = entropy(fake_logits, torch.ones_like(fake_logits))
            told = (entropy(real_logits, torch.ones_like(real_logits))
                    + entropy(fake_logits, torch.zeros_like(fake_logits)))  # fmt: skip
            return made, told

        losses = engine._made(losses)

        def run() -> Any:
            made, told = losses(x, noise)
            slopes = torch.autograd.grad(made, makers, retain_graph=True)
            return (made, told, *slopes, *torch.autograd.grad(told, critics))

        return run

    def jax(self, engine: Any, d: Data) -> Run:
        run = engine.compute(self.as_jax(engine.jax, engine.numpy), *d.values())
        return lambda: run()[0]

    def as_jax(self, jax: Any, np: Any) -> Any:
        def generate(weights: Any, noise: Any) -> Any:
            W1, gamma, beta, W2, b2 = weights
            h = noise @ W1
            centred = h - h.mean(0)
            h = gamma * centred / np.sqrt((centred**2).mean(0) + EPSILON) + beta
            return np.tanh(jax.nn.leaky_relu(h, 0.2) @ W2 + b2)

        def judge(weights: Any, x: Any) -> Any:
            V1, c1, V2, c2 = weights
            return jax.nn.leaky_relu(x @ V1 + c1, 0.2) @ V2 + c2

        def made(makers: Any, critics: Any, noise: Any) -> Any:
            return jax.nn.softplus(-judge(critics, generate(makers, noise))).mean()

        def told(critics: Any, makers: Any, x: Any, noise: Any) -> Any:
            real, fake = judge(critics, x), judge(critics, generate(makers, noise))
            return jax.nn.softplus(-real).mean() + jax.nn.softplus(fake).mean()

        def step(*given: Any) -> Any:
            makers, critics, (x, noise) = given[:5], given[5:9], given[9:]
            value, slopes = jax.value_and_grad(made)(makers, critics, noise)
            other, critical = jax.value_and_grad(told)(critics, makers, x, noise)
            return (value, other, *slopes, *critical)

        return step


class Tsne(Program):
    """The loss of t-SNE (van der Maaten & Hinton 2008) over all pairs of points of a planar embedding."""

    program, about = "tsne", "{points} points"
    sizes = {"test": {"points": 4}, "small": {"points": 32}, "middle": {"points": 256}, "large": {"points": 1_500}}
    leaves = ("Y",)

    def arrays(self, draw: np.random.Generator, *, points: int) -> Data:
        x = draw.standard_normal((points, 5))
        near = np.exp(-0.5 * ((x[:, None] - x) ** 2).sum(2))
        np.fill_diagonal(near, 0)
        near = near / near.sum(1, keepdims=True)
        return {"Y": normal(draw, points, 2), "P": ((near + near.T) / (2 * points)).astype(np.float32)}

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(Y: Any, P: Any) -> Any:
            squares = tf.reduce_sum(tf.square(Y), axis=1)
            D = squares[:, None] - 2 * tf.matmul(Y, Y, transpose_b=True) + squares[None, :]
            num = 1.0 / (1.0 + D)
            num = tf.linalg.set_diag(num, tf.zeros(Y.shape[0]))
            Q = tf.maximum(num / tf.reduce_sum(num), 1e-12)
            P = tf.maximum(P, 1e-12)
            return tf.reduce_sum(P * tf.math.log(P / Q))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(Y: Any, P: Any) -> Any:
            squares = (Y**2).sum(1)
            D = squares[:, None] - 2 * Y @ Y.T + squares[None, :]
            num = 1 / (1 + D)
            num = num * (1 - torch.eye(len(Y)))
            Q = (num / num.sum()).clamp(min=1e-12)
            P = P.clamp(min=1e-12)
            return (P * torch.log(P / Q)).sum()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(Y: Any, P: Any) -> Any:
            squares = (Y**2).sum(1)
            D = squares[:, None] - 2 * Y @ Y.T + squares[None, :]
            num = 1 / (1 + D)
            num = np.where(np.eye(len(Y), dtype=bool), 0, num)
            Q = np.maximum(num / num.sum(), 1e-12)
            P = np.maximum(P, 1e-12)
            return (P * np.log(P / Q)).sum()

        return loss
