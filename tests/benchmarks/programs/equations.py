"""Differential equations solved step by step: predators and prey, double pendulums, option prices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, normal
from tests.benchmarks.programs.program import Program


class LotkaVolterra(Program):
    """The Lotka-Volterra equations, integrated by a fourth-order Runge-Kutta method and fitted to observations."""

    program, about = "lotka_volterra", "{series} series, {steps} steps of RK4"
    sizes = {
        "test": {"series": 2, "steps": 3},
        "small": {"series": 4, "steps": 200},
        "middle": {"series": 256, "steps": 200},
        "large": {"series": 2_048, "steps": 200},
    }
    leaves = ("alpha", "beta", "gamma", "delta")

    def arrays(self, draw: np.random.Generator, *, series: int, steps: int) -> Data:
        leaves = np.array([1.1, 0.4, 0.4, 0.1], np.float32)
        begin = {name: draw.uniform(1, 5, series).astype(np.float32) for name in ("prey", "hunters")}
        counted = draw.uniform(1, 5, (2, steps, series)).astype(np.float32)
        return dict(zip(self.leaves, leaves, strict=True)) | begin | {"counted": counted}

    def as_tensorflow(self, tf: Any) -> Any:
        h = 0.05

        def loss(alpha: Any, beta: Any, gamma: Any, delta: Any, x: Any, y: Any, counted: Any) -> Any:
            def slope(x: Any, y: Any) -> Any:
                return alpha * x - beta * x * y, delta * x * y - gamma * y

            xs, ys = [], []
            for _ in range(self.at["steps"]):
                a1, b1 = slope(x, y)
                a2, b2 = slope(x + 0.5 * h * a1, y + 0.5 * h * b1)
                a3, b3 = slope(x + 0.5 * h * a2, y + 0.5 * h * b2)
                a4, b4 = slope(x + h * a3, y + h * b3)
                x = x + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
                y = y + h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
                xs.append(x)
                ys.append(y)
            return tf.reduce_mean(tf.square(tf.stack([tf.stack(xs), tf.stack(ys)]) - counted))

        return loss

    def as_torch(self, torch: Any) -> Any:
        h = 0.05

        def loss(alpha: Any, beta: Any, gamma: Any, delta: Any, x: Any, y: Any, counted: Any) -> Any:
            def slope(x: Any, y: Any) -> Any:
                return alpha * x - beta * x * y, delta * x * y - gamma * y

            xs, ys = [], []
            for _ in range(self.at["steps"]):
                a1, b1 = slope(x, y)
                a2, b2 = slope(x + 0.5 * h * a1, y + 0.5 * h * b1)
                a3, b3 = slope(x + 0.5 * h * a2, y + 0.5 * h * b2)
                a4, b4 = slope(x + h * a3, y + h * b3)
                x = x + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
                y = y + h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
                xs.append(x)
                ys.append(y)
            return ((torch.stack([torch.stack(xs), torch.stack(ys)]) - counted) ** 2).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        h = 0.05

        def loss(alpha: Any, beta: Any, gamma: Any, delta: Any, x: Any, y: Any, counted: Any) -> Any:
            def slope(x: Any, y: Any) -> Any:
                return alpha * x - beta * x * y, delta * x * y - gamma * y

            def step(state: Any, _: Any) -> Any:
                x, y = state
                a1, b1 = slope(x, y)
                a2, b2 = slope(x + 0.5 * h * a1, y + 0.5 * h * b1)
                a3, b3 = slope(x + 0.5 * h * a2, y + 0.5 * h * b2)
                a4, b4 = slope(x + h * a3, y + h * b3)
                x = x + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
                y = y + h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
                return (x, y), np.stack([x, y])

            _, found = jax.lax.scan(step, (x, y), None, length=self.at["steps"])
            return ((found - counted.swapaxes(0, 1)) ** 2).mean()

        return loss


class DoublePendulum(Program):
    """Double pendulums, integrated by a fourth-order Runge-Kutta method, and the error of their final states."""

    program, about = "double_pendulum", "{many} pendulums, {steps} steps of RK4"
    sizes = {
        "test": {"many": 2, "steps": 3},
        "small": {"many": 2, "steps": 100},
        "middle": {"many": 128, "steps": 100},
        "large": {"many": 2_048, "steps": 100},
    }
    leaves = ("state", "m1", "m2", "l1", "l2")

    def arrays(self, draw: np.random.Generator, *, many: int, steps: int) -> Data:
        numbers = dict(zip(self.leaves[1:], np.array([1.0, 0.8, 1.0, 0.7], np.float32), strict=True))
        return {"state": normal(draw, many, 4, scale=0.5), **numbers, "target": normal(draw, many, 4, scale=0.5)}

    @staticmethod
    def _slope(sin: Any, cos: Any, state: Any, m1: Any, m2: Any, l1: Any, l2: Any) -> Any:
        a, b, u, v = state
        g, total = 9.81, m1 + m2
        apart = a - b
        s, c = sin(apart), cos(apart)
        below = m1 + m2 * s * s
        du = (m2 * g * sin(b) * c - m2 * s * (l1 * u * u * c + l2 * v * v) - total * g * sin(a)) / (l1 * below)
        dv = (total * (l1 * u * u * s - g * sin(b) + g * sin(a) * c) + m2 * l2 * v * v * s * c) / (l2 * below)
        return u, v, du, dv

    def as_tensorflow(self, tf: Any) -> Any:
        h = 0.005

        def loss(state: Any, m1: Any, m2: Any, l1: Any, l2: Any, target: Any) -> Any:
            def slope(state: Any) -> Any:
                return tf.stack(self._slope(tf.sin, tf.cos, tf.unstack(state, axis=1), m1, m2, l1, l2), axis=1)

            for _ in range(self.at["steps"]):
                k1 = slope(state)
                k2 = slope(state + 0.5 * h * k1)
                k3 = slope(state + 0.5 * h * k2)
                k4 = slope(state + h * k3)
                state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            return tf.reduce_mean(tf.square(state - target))

        return loss

    def as_torch(self, torch: Any) -> Any:
        h = 0.005

        def loss(state: Any, m1: Any, m2: Any, l1: Any, l2: Any, target: Any) -> Any:
            def slope(state: Any) -> Any:
                return torch.stack(self._slope(torch.sin, torch.cos, state.unbind(1), m1, m2, l1, l2), 1)

            for _ in range(self.at["steps"]):
                k1 = slope(state)
                k2 = slope(state + 0.5 * h * k1)
                k3 = slope(state + 0.5 * h * k2)
                k4 = slope(state + h * k3)
                state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            return ((state - target) ** 2).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        h = 0.005

        def loss(state: Any, m1: Any, m2: Any, l1: Any, l2: Any, target: Any) -> Any:
            def slope(state: Any) -> Any:
                return np.stack(self._slope(np.sin, np.cos, state.T, m1, m2, l1, l2), axis=1)

            def step(state: Any, _: Any) -> Any:
                k1 = slope(state)
                k2 = slope(state + 0.5 * h * k1)
                k3 = slope(state + 0.5 * h * k2)
                k4 = slope(state + h * k3)
                return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

            state, _ = jax.lax.scan(step, state, None, length=self.at["steps"])
            return ((state - target) ** 2).mean()

        return loss


class Heston(Program):
    """The Monte Carlo price of a call option under the Heston model, by Euler steps, and its Greeks."""

    program, about = "heston", "{paths} paths, {steps} steps"
    sizes = {
        "test": {"paths": 4, "steps": 3},
        "small": {"paths": 16, "steps": 50},
        "middle": {"paths": 1_000, "steps": 50},
        "large": {"paths": 10_000, "steps": 50},
    }
    leaves = ("spot", "variance", "speed", "level", "volatility", "correlation")

    def arrays(self, draw: np.random.Generator, *, paths: int, steps: int) -> Data:
        leaves = np.array([100.0, 0.04, 1.5, 0.05, 0.3, -0.6], np.float32)
        noise = {name: normal(draw, steps, paths) for name in ("first", "second")}
        return dict(zip(self.leaves, leaves, strict=True)) | noise

    def as_tensorflow(self, tf: Any) -> Any:
        steps, dt, rate = self.at["steps"], 1 / self.at["steps"], 0.02

        def loss(spot: Any, variance: Any, speed: Any, level: Any, volatility: Any, correlation: Any, first: Any,
                 second: Any) -> Any:  # fmt: skip
            s, v = spot * tf.ones_like(first[0]), variance * tf.ones_like(first[0])
            other = tf.sqrt(1 - correlation**2)
            for t in range(steps):
                positive = tf.maximum(v, 1e-6)
                shock = tf.sqrt(positive * dt)
                s = s * tf.exp((rate - 0.5 * positive) * dt + shock * first[t])
                mixed = correlation * first[t] + other * second[t]
                v = v + speed * (level - positive) * dt + volatility * shock * mixed
            return np.exp(-rate) * tf.reduce_mean(tf.nn.relu(s - 100.0))

        return loss

    def as_torch(self, torch: Any) -> Any:
        steps, dt, rate = self.at["steps"], 1 / self.at["steps"], 0.02

        def loss(spot: Any, variance: Any, speed: Any, level: Any, volatility: Any, correlation: Any, first: Any,
                 second: Any) -> Any:  # fmt: skip
            s, v = spot * torch.ones_like(first[0]), variance * torch.ones_like(first[0])
            other = torch.sqrt(1 - correlation**2)
            for t in range(steps):
                positive = v.clamp(min=1e-6)
                shock = torch.sqrt(positive * dt)
                s = s * torch.exp((rate - 0.5 * positive) * dt + shock * first[t])
                mixed = correlation * first[t] + other * second[t]
                v = v + speed * (level - positive) * dt + volatility * shock * mixed
            return np.exp(-rate) * torch.relu(s - 100.0).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        dt, rate = 1 / self.at["steps"], 0.02

        def loss(spot: Any, variance: Any, speed: Any, level: Any, volatility: Any, correlation: Any, first: Any,
                 second: Any) -> Any:  # fmt: skip
            other = np.sqrt(1 - correlation**2)

            def step(state: Any, noise: Any) -> Any:
                (s, v), (first, second) = state, noise
                positive = np.maximum(v, 1e-6)
                shock = np.sqrt(positive * dt)
                s = s * np.exp((rate - 0.5 * positive) * dt + shock * first)
                mixed = correlation * first + other * second
                return (s, v + speed * (level - positive) * dt + volatility * shock * mixed), None

            ones = np.ones_like(first[0])
            (s, _), _ = jax.lax.scan(step, (spot * ones, variance * ones), (first, second))
            return np.exp(-rate) * jax.nn.relu(s - 100.0).mean()

        return loss
