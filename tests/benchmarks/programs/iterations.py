"""Iterative algorithms: Newton, Gauss and Newton, Sinkhorn, the Kalman filter, a deep equilibrium model."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, Run, normal
from tests.benchmarks.programs.program import Program

ITERATIONS = 20


class Fit(Program):
    """A fit that takes its derivatives itself; it returns the value and the numbers that it found."""

    def __init__(self, scale: str) -> None:
        super().__init__(scale)
        self.outputs = ("value", *self.leaves)

    def lab(self, engine: Any, d: Data) -> Run:
        return self._computed(engine, self.as_tensorflow(engine.tf), d)

    tensorflow = lab

    def torch(self, engine: Any, d: Data) -> Run:
        return self._computed(engine, self.as_torch(engine.torch), d)

    def jax(self, engine: Any, d: Data) -> Run:
        return self._computed(engine, self.as_jax(engine.jax, engine.numpy), d)

    def _computed(self, engine: Any, text: Any, d: Data) -> Run:
        run = engine.compute(text, *d.values())
        return lambda: run()[0]


class Newton(Fit):
    """Logistic regression: three steps of Newton's method, with gradient and Hessian as the library makes them."""

    program, about = "newton", "3 steps, {rows} rows of {features}, float64"
    sizes = {
        "test": {"rows": 8, "features": 2},
        "small": {"rows": 50, "features": 4},
        "middle": {"rows": 1_000, "features": 20},
        "large": {"rows": 5_000, "features": 60},
    }
    leaves = ("w",)
    tolerance = 1e-6

    def arrays(self, draw: np.random.Generator, *, rows: int, features: int) -> Data:
        x, w = draw.standard_normal((rows, features)), draw.standard_normal(features)
        y = (draw.random(rows) < 1 / (1 + np.exp(-x @ w))).astype(np.float64)
        return {"w": np.zeros(features), "x": x, "y": y}

    def as_tensorflow(self, tf: Any) -> Any:
        def fit(w: Any, x: Any, y: Any) -> Any:
            value = None
            for _ in range(3):
                with tf.GradientTape() as outer:
                    outer.watch(w)
                    with tf.GradientTape() as inner:
                        inner.watch(w)
                        logits = tf.linalg.matvec(x, w)
                        value = tf.reduce_mean(tf.nn.softplus(logits) - y * logits) + 0.01 * tf.reduce_sum(w * w)
                    slope = inner.gradient(value, w)
                w = w - tf.linalg.solve(outer.jacobian(slope, w), slope[:, None])[:, 0]
            return value, w

        return fit

    def as_torch(self, torch: Any) -> Any:
        def error(w: Any, x: Any, y: Any) -> Any:
            logits = x @ w
            return (torch.nn.functional.softplus(logits) - y * logits).mean() + 0.01 * (w * w).sum()

        def fit(w: Any, x: Any, y: Any) -> Any:
            value = None
            for _ in range(3):
                slope, value = torch.func.grad_and_value(error)(w, x, y)
                w = w - torch.linalg.solve(torch.func.hessian(error)(w, x, y), slope)
            return value, w

        return fit

    def as_jax(self, jax: Any, np: Any) -> Any:
        def error(w: Any, x: Any, y: Any) -> Any:
            logits = x @ w
            return (jax.nn.softplus(logits) - y * logits).mean() + 0.01 * (w * w).sum()

        def fit(w: Any, x: Any, y: Any) -> Any:
            value = None
            for _ in range(3):
                value, slope = jax.value_and_grad(error)(w, x, y)
                w = w - np.linalg.solve(jax.hessian(error)(w, x, y), slope)
            return value, w

        return fit


class FittedDiffusion(Fit):
    """Three numbers of a reaction and diffusion equation, fitted to a profile by Gauss and Newton's method.

    Each step takes the Jacobian of the profile, which is tall: in forward mode where the library leaves the choice.
    """

    program, about = "fitted_diffusion", "3 Gauss-Newton steps, {points} points, {steps} time steps, float64"
    sizes = {
        "test": {"points": 6, "steps": 2},
        "small": {"points": 32, "steps": 5},
        "middle": {"points": 200, "steps": 10},
        "large": {"points": 1_000, "steps": 20},
    }
    leaves = ("p",)
    tolerance = 1e-5

    def arrays(self, draw: np.random.Generator, *, points: int, steps: int) -> Data:
        start = np.sin(np.linspace(0, 3, points)) + 0.1 * draw.standard_normal(points)
        return {"p": np.array([0.1, 0.2, 0.1]), "start": start, "seen": 0.8 * start + 0.1}

    def as_tensorflow(self, tf: Any) -> Any:
        def fit(p: Any, start: Any, seen: Any) -> Any:
            for _ in range(3):
                with tf.GradientTape() as tape:
                    tape.watch(p)
                    u = start
                    for _ in range(self.at["steps"]):
                        bend = tf.roll(u, 1, 0) + tf.roll(u, -1, 0) - 2.0 * u
                        u = u + 0.1 * (p[0] * bend - p[1] * tf.sin(u) + p[2])
                J, error = tape.jacobian(u, p), u - seen
                normal = tf.matmul(J, J, transpose_a=True) + 1e-3 * tf.eye(3, dtype=tf.float64)
                p = p - tf.linalg.solve(normal, tf.matmul(J, error[:, None], transpose_a=True))[:, 0]
            return tf.reduce_mean(error * error), p

        return fit

    def as_torch(self, torch: Any) -> Any:
        def profile(p: Any, start: Any) -> Any:
            u = start
            for _ in range(self.at["steps"]):
                bend = u.roll(1) + u.roll(-1) - 2 * u
                u = u + 0.1 * (p[0] * bend - p[1] * u.sin() + p[2])
            return u, u

        def fit(p: Any, start: Any, seen: Any) -> Any:
            for _ in range(3):
                J, u = torch.func.jacfwd(profile, has_aux=True)(p, start)
                error = u - seen
                p = p - torch.linalg.solve(J.T @ J + 1e-3 * torch.eye(3, dtype=torch.float64), J.T @ error)
            return (error * error).mean(), p

        return fit

    def as_jax(self, jax: Any, np: Any) -> Any:
        def profile(p: Any, start: Any) -> Any:
            def step(u: Any, _: Any) -> Any:
                bend = np.roll(u, 1) + np.roll(u, -1) - 2 * u
                return u + 0.1 * (p[0] * bend - p[1] * np.sin(u) + p[2]), None

            u, _ = jax.lax.scan(step, start, None, length=self.at["steps"])
            return u, u

        def fit(p: Any, start: Any, seen: Any) -> Any:
            for _ in range(3):
                J, u = jax.jacfwd(profile, has_aux=True)(p, start)
                error = u - seen
                p = p - np.linalg.solve(J.T @ J + 1e-3 * np.eye(3), J.T @ error)
            return (error * error).mean(), p

        return fit


class Sinkhorn(Program):
    """The cost of moving one cloud of points onto another: twenty rounds of Sinkhorn's algorithm with logarithms."""

    program, about = "sinkhorn", "20 rounds, {points} and {points} points in 2 dimensions"
    sizes = {"test": {"points": 3}, "small": {"points": 10}, "middle": {"points": 100}, "large": {"points": 500}}
    leaves = ("x",)

    def arrays(self, draw: np.random.Generator, *, points: int) -> Data:
        return {"x": normal(draw, points, 2), "y": normal(draw, points, 2)}

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(x: Any, y: Any) -> Any:
            cost = tf.reduce_sum(tf.square(x[:, None] - y[None]), axis=2)
            kernel = -cost / 0.5
            f, g = tf.zeros(len(x)), tf.zeros(len(y))
            for _ in range(20):
                f = -tf.reduce_logsumexp(kernel + g, axis=1)
                g = -tf.reduce_logsumexp(kernel + f[:, None], axis=0)
            return tf.reduce_sum(tf.exp(f[:, None] + g + kernel) * cost)

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(x: Any, y: Any) -> Any:
            cost = ((x[:, None] - y[None]) ** 2).sum(2)
            kernel = -cost / 0.5
            f, g = torch.zeros(len(x)), torch.zeros(len(y))
            for _ in range(20):
                f = -(kernel + g).logsumexp(1)
                g = -(kernel + f[:, None]).logsumexp(0)
            return ((f[:, None] + g + kernel).exp() * cost).sum()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(x: Any, y: Any) -> Any:
            cost = ((x[:, None] - y[None]) ** 2).sum(2)
            kernel = -cost / 0.5

            def round_of(state: Any, _: Any) -> Any:
                f = -jax.nn.logsumexp(kernel + state[1], axis=1)
                return (f, -jax.nn.logsumexp(kernel + f[:, None], axis=0)), None

            begin = (np.zeros(len(x), x.dtype), np.zeros(len(y), x.dtype))
            (f, g), _ = jax.lax.scan(round_of, begin, None, length=20)
            return (np.exp(f[:, None] + g + kernel) * cost).sum()

        return loss


class Kalman(Program):
    """The log likelihood of observations under a linear state with noise, filtered step after step."""

    program, about = "kalman", "{steps} steps, {state} states, {seen} observed, float64"
    sizes = {
        "test": {"steps": 3, "state": 2, "seen": 1},
        "small": {"steps": 10, "state": 2, "seen": 1},
        "middle": {"steps": 100, "state": 4, "seen": 2},
        "large": {"steps": 200, "state": 16, "seen": 8},
    }
    leaves = ("A", "noise", "error")
    tolerance = 1e-6

    def arrays(self, draw: np.random.Generator, *, steps: int, state: int, seen: int) -> Data:
        return {
            "A": 0.9 * np.eye(state) + 0.3 / state * draw.standard_normal((state, state)),
            "noise": np.full(state, -1.0),
            "error": np.full(seen, -1.0),
            "H": draw.standard_normal((seen, state)),
            "y": draw.standard_normal((steps, seen)),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(A: Any, noise: Any, error: Any, H: Any, y: Any) -> Any:
            Q, R = tf.linalg.diag(tf.exp(noise)), tf.linalg.diag(tf.exp(error))
            m, P, total = tf.zeros(A.shape[0], "float64"), tf.eye(A.shape[0], dtype="float64"), 0.0
            for t in range(y.shape[0]):
                m, P = tf.linalg.matvec(A, m), A @ P @ tf.transpose(A) + Q
                miss = y[t] - tf.linalg.matvec(H, m)
                factor = tf.linalg.cholesky(H @ P @ tf.transpose(H) + R)
                gain = tf.transpose(tf.linalg.cholesky_solve(factor, H @ P))
                scaled = tf.linalg.cholesky_solve(factor, miss[:, None])[:, 0]
                total = total + 0.5 * tf.reduce_sum(miss * scaled)
                total = total + tf.reduce_sum(tf.math.log(tf.linalg.diag_part(factor)))
                m, P = m + tf.linalg.matvec(gain, miss), P - gain @ H @ P
            return total

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(A: Any, noise: Any, error: Any, H: Any, y: Any) -> Any:
            Q, R = torch.diag(noise.exp()), torch.diag(error.exp())
            m, P, total = torch.zeros(len(A), dtype=A.dtype), torch.eye(len(A), dtype=A.dtype), 0.0
            for t in range(len(y)):
                m, P = A @ m, A @ P @ A.T + Q
                miss = y[t] - H @ m
                factor = torch.linalg.cholesky(H @ P @ H.T + R)
                gain = torch.cholesky_solve(H @ P, factor).T
                scaled = torch.cholesky_solve(miss[:, None], factor)[:, 0]
                total = total + 0.5 * (miss @ scaled) + factor.diagonal().log().sum()
                m, P = m + gain @ miss, P - gain @ H @ P
            return total

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(A: Any, noise: Any, error: Any, H: Any, y: Any) -> Any:
            Q, R = np.diag(np.exp(noise)), np.diag(np.exp(error))

            def step(state: Any, row: Any) -> Any:
                m, P, total = state
                m, P = A @ m, A @ P @ A.T + Q
                miss = row - H @ m
                factor = np.linalg.cholesky(H @ P @ H.T + R)
                gain = jax.scipy.linalg.cho_solve((factor, True), H @ P).T
                scaled = jax.scipy.linalg.cho_solve((factor, True), miss)
                total = total + 0.5 * (miss @ scaled) + np.log(np.diagonal(factor)).sum()
                return (m + gain @ miss, P - gain @ H @ P, total), None

            begin = (np.zeros(len(A), A.dtype), np.eye(len(A), dtype=A.dtype), np.zeros((), A.dtype))
            return jax.lax.scan(step, begin, y)[0][2]

        return loss


class Equilibrium(Program):
    """A deep equilibrium model: twenty unrolled fixed-point iterations of one layer, then a linear readout."""

    program, about = "equilibrium", "20 iterations, {rows} rows, {features} features, {width} wide"
    sizes = {
        "test": {"rows": 2, "features": 2, "width": 2},
        "small": {"rows": 8, "features": 4, "width": 16},
        "middle": {"rows": 64, "features": 16, "width": 64},
        "large": {"rows": 256, "features": 64, "width": 256},
    }
    leaves = ("W", "U", "b", "V")

    def arrays(self, draw: np.random.Generator, *, rows: int, features: int, width: int) -> Data:
        return {
            "W": normal(draw, width, width, scale=0.5 * width**-0.5),
            "U": normal(draw, features, width, scale=features**-0.5),
            "b": normal(draw, width, scale=0.1),
            "V": normal(draw, width, 3, scale=width**-0.5),
            "x": normal(draw, rows, features),
            "y": normal(draw, rows, 3),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(W: Any, U: Any, b: Any, V: Any, x: Any, y: Any) -> Any:
            z = tf.zeros((x.shape[0], W.shape[0]))
            for _ in range(ITERATIONS):
                z = tf.tanh(tf.matmul(z, W) + tf.matmul(x, U) + b)
            return tf.reduce_mean(tf.square(tf.matmul(z, V) - y))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(W: Any, U: Any, b: Any, V: Any, x: Any, y: Any) -> Any:
            z = torch.zeros(x.shape[0], W.shape[0])
            for _ in range(ITERATIONS):
                z = torch.tanh(z @ W + x @ U + b)
            return ((z @ V - y) ** 2).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(W: Any, U: Any, b: Any, V: Any, x: Any, y: Any) -> Any:
            def step(z: Any, _: Any) -> Any:
                return np.tanh(z @ W + x @ U + b), None

            z, _ = jax.lax.scan(step, np.zeros((x.shape[0], W.shape[0]), x.dtype), None, length=ITERATIONS)
            return ((z @ V - y) ** 2).mean()

        return loss
