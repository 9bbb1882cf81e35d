"""Energies whose gradients are steps of the program: a Hamiltonian network, total-variation denoising."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, normal
from tests.benchmarks.programs.nested import Nested, NestedLayered, slopes_of
from tests.benchmarks.programs.program import DENSE
from tests.benchmarks.programs.training import dense


class Hamiltonian(NestedLayered):
    """A Hamiltonian network (Greydanus et al. 2019), fitted to paths through its gradients and Heun's method."""

    program, about = "hamiltonian", "{paths} paths of {time} steps, {bodies} coordinates, {hidden} hidden"
    sizes = {
        "test": {"paths": 2, "time": 2, "bodies": 1, "hidden": 2},
        "small": {"paths": 8, "time": 3, "bodies": 1, "hidden": 16},
        "middle": {"paths": 64, "time": 5, "bodies": 2, "hidden": 64},
        "large": {"paths": 512, "time": 10, "bodies": 4, "hidden": 200},
    }
    leaves = ("W1", "b1", "W2", "b2", "W3")
    turned = dict.fromkeys(("W1", "W2", "W3"), DENSE)

    def arrays(self, draw: np.random.Generator, *, paths: int, time: int, bodies: int, hidden: int) -> Data:
        weights = dict(zip(self.leaves, dense(draw, 2 * bodies, hidden, hidden, 1)[:5], strict=True))
        return weights | {"z": normal(draw, paths, 2 * bodies), "path": normal(draw, time, paths, 2 * bodies)}

    def as_tensorflow(self, tf: Any) -> Any:
        layers, hidden = tf.keras.layers, self.at["hidden"]
        model = tf.keras.Sequential([layers.Dense(hidden, activation="tanh"), layers.Dense(hidden, activation="tanh"),
                                     layers.Dense(1, use_bias=False)])  # fmt: skip

        def field(z: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(z)
                energy = model(z)
            dq, dp = tf.split(tape.gradient(energy, z), 2, axis=1)
            return tf.concat([dp, -dq], axis=1)

        def loss(z: Any, path: Any) -> Any:
            h, total = 0.1, 0.0
            for t in range(path.shape[0]):
                k1 = field(z)
                k2 = field(z + h * k1)
                z = z + 0.5 * h * (k1 + k2)
                total += tf.reduce_mean(tf.square(z - path[t]))
            return total / path.shape[0]

        return [model], loss

    def as_torch(self, torch: Any, *, functional: bool = False) -> Any:
        nn, hidden = torch.nn, self.at["hidden"]
        model = nn.Sequential(nn.Linear(2 * self.at["bodies"], hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(),
                              nn.Linear(hidden, 1, bias=False))  # fmt: skip

        def field(z: Any) -> Any:
            (grads,) = slopes_of(torch, lambda z: model(z[0]).sum(), (z,), functional=functional)
            dq, dp = grads.chunk(2, 1)
            return torch.cat([dp, -dq], 1)

        def loss(z: Any, path: Any) -> Any:
            z, h, total = z if functional else z.detach().requires_grad_(), 0.1, 0.0
            for t in range(len(path)):
                k1 = field(z)
                k2 = field(z + h * k1)
                z = z + 0.5 * h * (k1 + k2)
                total = total + ((z - path[t]) ** 2).mean()
            return total / len(path)

        return [model], loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(W1: Any, b1: Any, W2: Any, b2: Any, W3: Any, z: Any, path: Any) -> Any:
            def energy(z: Any) -> Any:
                return (np.tanh(np.tanh(z @ W1 + b1) @ W2 + b2) @ W3)[0]

            def field(z: Any) -> Any:
                dq, dp = np.split(jax.vmap(jax.grad(energy))(z), 2, axis=1)
                return np.concatenate([dp, -dq], axis=1)

            def step(z: Any, seen: Any) -> Any:
                k1 = field(z)
                k2 = field(z + 0.1 * k1)
                z = z + 0.05 * (k1 + k2)
                return z, ((z - seen) ** 2).mean()

            _, errors = jax.lax.scan(step, z, path)
            return errors.mean()

        return loss


class TotalVariation(Nested):
    """Total-variation denoising by gradient descent; its weights are learned through all the steps."""

    program, about = "total_variation", "{steps} steps, image {side} × {side}"
    sizes = {
        "test": {"steps": 2, "side": 3},
        "small": {"steps": 5, "side": 16},
        "middle": {"steps": 20, "side": 48},
        "large": {"steps": 20, "side": 256},
    }
    leaves = ("log_weight", "log_rate", "log_edge")

    def arrays(self, draw: np.random.Generator, *, steps: int, side: int) -> Data:
        clean = (np.add.outer(np.arange(side), np.arange(side)) % 7 > 3).astype(np.float32)
        return {
            "log_weight": normal(draw, side, side, scale=0.2) - np.float32(1.5),
            "log_rate": np.float32(-2),
            "log_edge": np.float32(-2.3),
            "noisy": clean + normal(draw, side, side, scale=0.3),
            "clean": clean,
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def energy(u: Any, noisy: Any, weight: Any, edge: Any) -> Any:
            dx = u[1:, :-1] - u[:-1, :-1]
            dy = u[:-1, 1:] - u[:-1, :-1]
            variation = tf.sqrt(dx**2 + dy**2 + edge)
            return 0.5 * tf.reduce_sum((u - noisy) ** 2) + tf.reduce_sum(weight[:-1, :-1] * variation)

        def loss(log_weight: Any, log_rate: Any, log_edge: Any, noisy: Any, clean: Any) -> Any:
            weight, rate, edge = tf.exp(log_weight), tf.exp(log_rate), tf.exp(log_edge)
            u = tf.identity(noisy)
            for _ in range(self.at["steps"]):
                with tf.GradientTape() as tape:
                    tape.watch(u)
                    value = energy(u, noisy, weight, edge)
                u = u - rate * tape.gradient(value, u)
            return tf.reduce_mean((u - clean) ** 2)

        return loss

    def as_torch(self, torch: Any, *, functional: bool = False) -> Any:
        def energy(u: Any, noisy: Any, weight: Any, edge: Any) -> Any:
            dx = u[1:, :-1] - u[:-1, :-1]
            dy = u[:-1, 1:] - u[:-1, :-1]
            variation = torch.sqrt(dx**2 + dy**2 + edge)
            return 0.5 * ((u - noisy) ** 2).sum() + (weight[:-1, :-1] * variation).sum()

        def loss(log_weight: Any, log_rate: Any, log_edge: Any, noisy: Any, clean: Any) -> Any:
            weight, rate, edge = log_weight.exp(), log_rate.exp(), log_edge.exp()
            u = noisy if functional else noisy.clone().requires_grad_()
            for _ in range(self.at["steps"]):
                (grad,) = slopes_of(torch, lambda u: energy(*u, noisy, weight, edge), (u,), functional=functional)
                u = u - rate * grad
            return ((u - clean) ** 2).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def energy(u: Any, noisy: Any, weight: Any, edge: Any) -> Any:
            dx = u[1:, :-1] - u[:-1, :-1]
            dy = u[:-1, 1:] - u[:-1, :-1]
            variation = np.sqrt(dx**2 + dy**2 + edge)
            return 0.5 * ((u - noisy) ** 2).sum() + (weight[:-1, :-1] * variation).sum()

        def loss(log_weight: Any, log_rate: Any, log_edge: Any, noisy: Any, clean: Any) -> Any:
            weight, rate, edge = np.exp(log_weight), np.exp(log_rate), np.exp(log_edge)

            def step(u: Any, _: Any) -> Any:
                return u - rate * jax.grad(energy)(u, noisy, weight, edge), None

            u, _ = jax.lax.scan(step, noisy, None, length=self.at["steps"])
            return ((u - clean) ** 2).mean()

        return loss
