"""Gradients of gradients: Hessian-vector products, meta-learning, a differential equation as a loss, force matching."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, Run, normal
from tests.benchmarks.programs.program import Layered, Program
from tests.benchmarks.programs.training import dense

KINDS_OF_ATOMS = 4
WEIGHTS = ("W1", "b1", "W2", "b2", "W3", "b3")


def network(tanh: Any, weights: Any, x: Any) -> Any:
    """Three dense layers, whose operators are those of any library."""
    W1, b1, W2, b2, W3, b3 = weights
    return tanh(tanh(x @ W1 + b1) @ W2 + b2) @ W3 + b3


class Nested(Program):
    """For PyTorch in two ways: its compiler takes the gradients inside only from ``torch.func``."""

    def torch(self, engine: Any, d: Data) -> Run:
        return engine.gradients(self.as_torch(engine.torch, functional=engine.compiled), *self._given(d))

    def as_torch(self, torch: Any, *, functional: bool = False) -> Any:
        """The text for PyTorch, with gradients inside from ``torch.autograd`` or ``torch.func``."""
        raise NotImplementedError


class NestedLayered(Layered):
    """The same with layers."""

    def torch(self, engine: Any, d: Data) -> Run:
        text = self.as_torch(engine.torch, functional=engine.compiled)
        return engine.layered(text, *self._given(self._turn(d)))

    def as_torch(self, torch: Any, *, functional: bool = False) -> Any:
        """The text for PyTorch, with gradients inside from ``torch.autograd`` or ``torch.func``."""
        raise NotImplementedError


def slopes_of(torch: Any, function: Any, leaves: Any, *, functional: bool) -> Any:
    """The gradient of a function by some leaves, which can be differentiated again."""
    if functional:
        return torch.func.grad(function)(leaves)
    return torch.autograd.grad(function(leaves), leaves, create_graph=True)


class HessianVector(Nested):
    """The Hessian of a small network's loss times a vector: backward through a backward pass, or forward in JAX."""

    program, about = "hvp", "{features}-{hidden}-{hidden}-1, batch {batch}"
    sizes = {
        "test": {"batch": 3, "features": 2, "hidden": 2},
        "small": {"batch": 16, "features": 4, "hidden": 16},
        "middle": {"batch": 128, "features": 16, "hidden": 64},
        "large": {"batch": 512, "features": 64, "hidden": 256},
    }
    leaves = WEIGHTS

    def arrays(self, draw: np.random.Generator, *, batch: int, features: int, hidden: int) -> Data:
        weights = dense(draw, features, hidden, hidden, 1)
        ways = {f"v{k}": normal(draw, *weight.shape) for k, weight in enumerate(weights)}
        given = {"x": normal(draw, batch, features), "y": normal(draw, batch, 1)}
        return dict(zip(WEIGHTS, weights, strict=True)) | ways | given

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(*given: Any) -> Any:
            weights, way, (x, y) = given[:6], given[6:12], given[12:]
            with tf.GradientTape() as tape:
                tape.watch(weights)
                value = tf.reduce_mean(tf.square(network(tf.tanh, weights, x) - y))
            slopes = tape.gradient(value, weights)
            return tf.add_n([tf.reduce_sum(g * v) for g, v in zip(slopes, way, strict=True)])

        return loss

    def as_torch(self, torch: Any, *, functional: bool = False) -> Any:
        def loss(*given: Any) -> Any:
            weights, way, (x, y) = given[:6], given[6:12], given[12:]

            def error(weights: Any) -> Any:
                return ((network(torch.tanh, weights, x) - y) ** 2).mean()

            slopes = slopes_of(torch, error, weights, functional=functional)
            return sum((g * v).sum() for g, v in zip(slopes, way, strict=True))

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def product(*given: Any) -> Any:
            weights, way, (x, y) = given[:6], given[6:12], given[12:]
            slope = jax.grad(lambda weights: ((network(np.tanh, weights, x) - y) ** 2).mean())
            slopes, found = jax.jvp(slope, (weights,), (way,))
            return sum((g * v).sum() for g, v in zip(slopes, way, strict=True)), *found

        return product

    def jax(self, engine: Any, d: Data) -> Run:
        run = engine.compute(self.as_jax(engine.jax, engine.numpy), *d.values())
        return lambda: run()[0]


class Maml(Nested):
    """Meta-learning of sines: a step on each task's shots, and the loss of the queries after it."""

    program, about = "maml", "{tasks} tasks, {shots} shots, 1-{hidden}-{hidden}-1"
    sizes = {
        "test": {"tasks": 2, "shots": 2, "hidden": 2},
        "small": {"tasks": 1, "shots": 5, "hidden": 8},
        "middle": {"tasks": 4, "shots": 10, "hidden": 40},
        "large": {"tasks": 16, "shots": 20, "hidden": 100},
    }
    leaves = WEIGHTS

    def arrays(self, draw: np.random.Generator, *, tasks: int, shots: int, hidden: int) -> Data:
        x, high = draw.uniform(-3, 3, (2, tasks, shots, 1)), draw.uniform(0.5, 2, (tasks, 1, 1))
        y = high * np.sin(x + draw.uniform(0, 3, (tasks, 1, 1)))
        given = {"x": x[0], "y": y[0], "query_x": x[1], "query_y": y[1]}
        weights = dict(zip(WEIGHTS, dense(draw, 1, hidden, hidden, 1), strict=True))
        return weights | {name: value.astype(np.float32) for name, value in given.items()}

    def as_tensorflow(self, tf: Any) -> Any:
        def error(weights: Any, x: Any, y: Any) -> Any:
            return tf.reduce_mean(tf.square(network(tf.tanh, weights, x) - y))

        def loss(*given: Any) -> Any:
            weights, (x, y, query_x, query_y) = given[:6], given[6:]
            total = 0.0
            for task in range(self.at["tasks"]):
                with tf.GradientTape() as tape:
                    tape.watch(weights)
                    value = error(weights, x[task], y[task])
                slopes = tape.gradient(value, weights)
                adapted = [w - 0.1 * g for w, g in zip(weights, slopes, strict=True)]
                total = total + error(adapted, query_x[task], query_y[task])
            return total / self.at["tasks"]

        return loss

    def as_torch(self, torch: Any, *, functional: bool = False) -> Any:
        def error(weights: Any, x: Any, y: Any) -> Any:
            return ((network(torch.tanh, weights, x) - y) ** 2).mean()

        def loss(*given: Any) -> Any:
            weights, (x, y, query_x, query_y) = given[:6], given[6:]
            total = 0.0
            for task in range(self.at["tasks"]):
                slopes = slopes_of(torch, lambda w, k=task: error(w, x[k], y[k]), weights, functional=functional)
                adapted = [w - 0.1 * g for w, g in zip(weights, slopes, strict=True)]
                total = total + error(adapted, query_x[task], query_y[task])
            return total / self.at["tasks"]

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def error(weights: Any, x: Any, y: Any) -> Any:
            return ((network(np.tanh, weights, x) - y) ** 2).mean()

        def loss(*given: Any) -> Any:
            weights, tasks = given[:6], given[6:]

            def one(x: Any, y: Any, query_x: Any, query_y: Any) -> Any:
                slopes = jax.grad(error)(weights, x, y)
                adapted = [w - 0.1 * g for w, g in zip(weights, slopes, strict=True)]
                return error(adapted, query_x, query_y)

            return jax.vmap(one)(*tasks).mean()

        return loss


class Pinn(Nested):
    """A network fitted to data and to the heat equation ``u_t = u_xx``, with its derivatives by its inputs."""

    program, about = "pinn", "u_t = u_xx at {points} points, 2-{hidden}-{hidden}-1"
    sizes = {
        "test": {"points": 3, "hidden": 2},
        "small": {"points": 32, "hidden": 16},
        "middle": {"points": 1_000, "hidden": 32},
        "large": {"points": 10_000, "hidden": 64},
    }
    leaves = WEIGHTS

    def arrays(self, draw: np.random.Generator, *, points: int, hidden: int) -> Data:
        weights = dict(zip(WEIGHTS, dense(draw, 2, hidden, hidden, 1), strict=True))
        return weights | {name: normal(draw, points, 1) for name in ("x", "t", "y")}

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(*given: Any) -> Any:
            weights, (x, t, y) = given[:6], given[6:]
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch([x, t])
                    u = network(tf.tanh, weights, tf.concat([x, t], axis=1))
                u_x, u_t = inner.gradient(u, [x, t])
            u_xx = outer.gradient(u_x, x)
            return tf.reduce_mean(tf.square(u_t - u_xx)) + tf.reduce_mean(tf.square(u - y))

        return loss

    def as_torch(self, torch: Any, *, functional: bool = False) -> Any:
        def loss(*given: Any) -> Any:
            weights, (x, t, y) = given[:6], [z.detach().requires_grad_() for z in given[6:]]
            u = network(torch.tanh, weights, torch.cat([x, t], 1))
            u_x, u_t = torch.autograd.grad(u.sum(), (x, t), create_graph=True)
            (u_xx,) = torch.autograd.grad(u_x.sum(), x, create_graph=True)
            return ((u_t - u_xx) ** 2).mean() + ((u - y) ** 2).mean()

        def functional_loss(*given: Any) -> Any:
            weights, (x, t, y) = given[:6], given[6:]

            def total(x: Any, t: Any) -> Any:
                u = network(torch.tanh, weights, torch.cat([x, t], 1))
                return u.sum(), u

            def first(x: Any, t: Any) -> Any:
                (u_x, u_t), u = torch.func.grad(total, (0, 1), has_aux=True)(x, t)
                return u_x.sum(), (u_t, u)

            u_xx, (u_t, u) = torch.func.grad(first, has_aux=True)(x, t)
            return ((u_t - u_xx) ** 2).mean() + ((u - y) ** 2).mean()

        return functional_loss if functional else loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(*given: Any) -> Any:
            weights, (x, t, y) = given[:6], given[6:]

            def u(x: Any, t: Any) -> Any:
                return network(np.tanh, weights, np.stack([x, t]))[0]

            x, t, y = x[:, 0], t[:, 0], y[:, 0]
            u_t, u_xx = jax.vmap(jax.grad(u, 1))(x, t), jax.vmap(jax.grad(jax.grad(u)))(x, t)
            return ((u_t - u_xx) ** 2).mean() + ((jax.vmap(u)(x, t) - y) ** 2).mean()

        return loss


class LennardJones(Nested):
    """The parameters of a Lennard-Jones potential, fitted to an energy and to forces, which are its gradients."""

    program, about = "lennard_jones", "{atoms} atoms of 4 kinds, all pairs, forces matched"
    sizes = {"test": {"atoms": 4}, "small": {"atoms": 8}, "middle": {"atoms": 64}, "large": {"atoms": 343}}
    leaves = ("depth", "width")

    def arrays(self, draw: np.random.Generator, *, atoms: int) -> Data:
        side = next(n for n in range(1, 100) if n**3 >= atoms)
        grid = np.stack(np.meshgrid(*[np.arange(side)] * 3), axis=-1).reshape(-1, 3)[:atoms]
        left, right = np.triu_indices(atoms, 1)
        return {
            "depth": draw.uniform(0.5, 1.5, KINDS_OF_ATOMS).astype(np.float32),
            "width": draw.uniform(0.8, 1.0, KINDS_OF_ATOMS).astype(np.float32),
            "places": (1.2 * grid + draw.uniform(-0.1, 0.1, (atoms, 3))).astype(np.float32),
            "left": left,
            "right": right,
            "kind": draw.integers(0, KINDS_OF_ATOMS, atoms),
            "forces": normal(draw, atoms, 3),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def energy(places: Any, depth: Any, width: Any, left: Any, right: Any, kind: Any) -> Any:
            apart = tf.gather(places, left) - tf.gather(places, right)
            depths, widths = tf.gather(depth, kind), tf.gather(width, kind)
            epsilon = tf.sqrt(tf.gather(depths, left) * tf.gather(depths, right))
            sigma = 0.5 * (tf.gather(widths, left) + tf.gather(widths, right))
            sixth = (sigma**2 / tf.reduce_sum(apart**2, axis=1)) ** 3
            return tf.reduce_sum(4.0 * epsilon * (sixth**2 - sixth))

        def loss(depth: Any, width: Any, places: Any, left: Any, right: Any, kind: Any, forces: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(places)
                value = energy(places, depth, width, left, right, kind)
            found = -tape.gradient(value, places)
            return tf.reduce_mean(tf.square(found - forces)) + tf.square(value / places.shape[0] + 2.0)

        return loss

    def as_torch(self, torch: Any, *, functional: bool = False) -> Any:
        def loss(depth: Any, width: Any, places: Any, left: Any, right: Any, kind: Any, forces: Any) -> Any:
            def energy(places: Any) -> Any:
                apart = places[left] - places[right]
                depths, widths = depth[kind], width[kind]
                epsilon = torch.sqrt(depths[left] * depths[right])
                sigma = 0.5 * (widths[left] + widths[right])
                sixth = (sigma**2 / (apart**2).sum(1)) ** 3
                return (4.0 * epsilon * (sixth**2 - sixth)).sum()

            if functional:
                (slopes,), value = slopes_of(torch, lambda p: energy(*p), (places,), functional=True), energy(places)
            else:
                places = places.detach().requires_grad_()
                value = energy(places)
                (slopes,) = torch.autograd.grad(value, places, create_graph=True)
            return ((-slopes - forces) ** 2).mean() + (value / len(places) + 2.0) ** 2

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def energy(places: Any, depth: Any, width: Any, left: Any, right: Any, kind: Any) -> Any:
            apart = places[left] - places[right]
            depths, widths = depth[kind], width[kind]
            epsilon = np.sqrt(depths[left] * depths[right])
            sigma = 0.5 * (widths[left] + widths[right])
            sixth = (sigma**2 / (apart**2).sum(1)) ** 3
            return (4.0 * epsilon * (sixth**2 - sixth)).sum()

        def loss(depth: Any, width: Any, places: Any, left: Any, right: Any, kind: Any, forces: Any) -> Any:
            value, slopes = jax.value_and_grad(energy)(places, depth, width, left, right, kind)
            return ((-slopes - forces) ** 2).mean() + (value / len(places) + 2.0) ** 2

        return loss
