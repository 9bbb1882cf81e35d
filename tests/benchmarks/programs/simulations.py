"""Simulations with gradients through all their steps: gravity, a pendulum of single numbers, a lattice of prices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, normal
from tests.benchmarks.programs.program import Program


class Gravity(Program):
    """Bodies that attract one another, leapfrog steps, and how far they end from where they should."""

    program, about = "nbody", "{bodies} bodies, {steps} leapfrog steps"
    sizes = {
        "test": {"bodies": 3, "steps": 3},
        "small": {"bodies": 5, "steps": 50},
        "middle": {"bodies": 32, "steps": 50},
        "large": {"bodies": 128, "steps": 50},
    }
    leaves = ("position", "velocity")

    def arrays(self, draw: np.random.Generator, *, bodies: int, steps: int) -> Data:
        return {
            "position": normal(draw, bodies, 3),
            "velocity": normal(draw, bodies, 3, scale=0.1),
            "mass": draw.uniform(0.5, 1.5, bodies).astype(np.float32) / np.float32(bodies),
            "target": normal(draw, bodies, 3),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def pull(position: Any, mass: Any) -> Any:
            apart = position[None] - position[:, None]
            cubed = (tf.reduce_sum(tf.square(apart), axis=2) + 0.01) ** -1.5
            return tf.reduce_sum(apart * (mass * cubed)[:, :, None], axis=1)

        def loss(position: Any, velocity: Any, mass: Any, target: Any) -> Any:
            force = pull(position, mass)
            for _ in range(self.at["steps"]):
                velocity = velocity + 0.005 * force
                position = position + 0.01 * velocity
                force = pull(position, mass)
                velocity = velocity + 0.005 * force
            return tf.reduce_sum(tf.square(position - target))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def pull(position: Any, mass: Any) -> Any:
            apart = position[None] - position[:, None]
            cubed = ((apart**2).sum(2) + 0.01) ** -1.5
            return (apart * (mass * cubed)[:, :, None]).sum(1)

        def loss(position: Any, velocity: Any, mass: Any, target: Any) -> Any:
            force = pull(position, mass)
            for _ in range(self.at["steps"]):
                velocity = velocity + 0.005 * force
                position = position + 0.01 * velocity
                force = pull(position, mass)
                velocity = velocity + 0.005 * force
            return ((position - target) ** 2).sum()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def pull(position: Any, mass: Any) -> Any:
            apart = position[None] - position[:, None]
            cubed = ((apart**2).sum(2) + 0.01) ** -1.5
            return (apart * (mass * cubed)[:, :, None]).sum(1)

        def loss(position: Any, velocity: Any, mass: Any, target: Any) -> Any:
            def step(state: Any, _: Any) -> Any:
                position, velocity, force = state
                velocity = velocity + 0.005 * force
                position = position + 0.01 * velocity
                force = pull(position, mass)
                return (position, velocity + 0.005 * force, force), None

            begin = (position, velocity, pull(position, mass))
            (position, *_), _ = jax.lax.scan(step, begin, None, length=self.at["steps"])
            return ((position - target) ** 2).sum()

        return loss


class Pendulum(Program):
    """A damped pendulum, step after step in single numbers; where it ends, by where it began and by its constants."""

    program, about = "pendulum", "{steps} steps of single numbers"
    sizes = {"test": {"steps": 5}, "small": {"steps": 50}, "middle": {"steps": 500}, "large": {"steps": 2_000}}
    leaves = ("angle", "speed", "gravity", "damping")

    def arrays(self, draw: np.random.Generator, *, steps: int) -> Data:
        return dict(zip(self.leaves, np.array([1.0, 0.2, 9.8, 0.3], np.float32), strict=True))

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(angle: Any, speed: Any, gravity: Any, damping: Any) -> Any:
            for _ in range(self.at["steps"]):
                speed = speed - 0.002 * (gravity * tf.sin(angle) + damping * speed)
                angle = angle + 0.002 * speed
            return angle * angle + speed * speed

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(angle: Any, speed: Any, gravity: Any, damping: Any) -> Any:
            for _ in range(self.at["steps"]):
                speed = speed - 0.002 * (gravity * torch.sin(angle) + damping * speed)
                angle = angle + 0.002 * speed
            return angle * angle + speed * speed

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(angle: Any, speed: Any, gravity: Any, damping: Any) -> Any:
            def step(state: Any, _: Any) -> Any:
                angle, speed = state
                speed = speed - 0.002 * (gravity * np.sin(angle) + damping * speed)
                return (angle + 0.002 * speed, speed), None

            (angle, speed), _ = jax.lax.scan(step, (angle, speed), None, length=self.at["steps"])
            return angle * angle + speed * speed

        return loss


class Lattice(Program):
    """American put options on binomial lattices (Cox, Ross & Rubinstein 1979), fitted to the market's prices."""

    program, about = "lattice", "{options} American options, {steps} steps of a binomial lattice"
    sizes = {
        "test": {"options": 2, "steps": 4},
        "small": {"options": 2, "steps": 20},
        "middle": {"options": 32, "steps": 64},
        "large": {"options": 128, "steps": 128},
    }
    leaves = ("spot", "volatility", "rate")

    def arrays(self, draw: np.random.Generator, *, options: int, steps: int) -> Data:
        def between(low: float, high: float) -> np.ndarray:
            return draw.uniform(low, high, options).astype(np.float32)

        return {
            "spot": between(0.9, 1.1),
            "volatility": between(0.15, 0.4),
            "rate": between(0.02, 0.06),
            "strike": between(0.8, 1.2),
            "years": between(0.5, 2),
            "market": between(0.02, 0.3),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        steps = self.at["steps"]

        def loss(spot: Any, volatility: Any, rate: Any, strike: Any, years: Any, market: Any) -> Any:
            short = years / steps
            up = tf.exp(volatility * tf.sqrt(short))[:, None]
            discount = tf.exp(-rate * short)[:, None]
            chance = (1.0 / discount - 1.0 / up) / (up - 1.0 / up)
            powers = tf.range(-steps, steps + 1, 2, dtype=tf.float32)
            spots = spot[:, None] * up**powers
            values = tf.maximum(strike[:, None] - spots, 0.0)
            for _ in range(steps):
                spots = spots[:, :-1] * up
                held = discount * (chance * values[:, 1:] + (1.0 - chance) * values[:, :-1])
                values = tf.maximum(held, strike[:, None] - spots)
            return tf.reduce_mean(tf.square(values[:, 0] - market))

        return loss

    def as_torch(self, torch: Any) -> Any:
        steps = self.at["steps"]

        def loss(spot: Any, volatility: Any, rate: Any, strike: Any, years: Any, market: Any) -> Any:
            short = years / steps
            up = torch.exp(volatility * short.sqrt())[:, None]
            discount = torch.exp(-rate * short)[:, None]
            chance = (1 / discount - 1 / up) / (up - 1 / up)
            spots = spot[:, None] * up ** torch.arange(-steps, steps + 1, 2)
            values = (strike[:, None] - spots).clamp(min=0)
            for _ in range(steps):
                spots = spots[:, :-1] * up
                held = discount * (chance * values[:, 1:] + (1 - chance) * values[:, :-1])
                values = torch.maximum(held, strike[:, None] - spots)
            return ((values[:, 0] - market) ** 2).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        steps = self.at["steps"]

        def loss(spot: Any, volatility: Any, rate: Any, strike: Any, years: Any, market: Any) -> Any:
            short = years / steps
            up = np.exp(volatility * np.sqrt(short))[:, None]
            discount = np.exp(-rate * short)[:, None]
            chance = (1 / discount - 1 / up) / (up - 1 / up)

            def step(state: Any, _: Any) -> Any:
                spots, values = state
                spots = spots * up
                held = discount * (chance * np.roll(values, -1, 1) + (1 - chance) * values)
                return (spots, np.maximum(held, strike[:, None] - spots)), None

            spots = spot[:, None] * up ** np.arange(-steps, steps + 1, 2).astype(spot.dtype)
            values = np.maximum(strike[:, None] - spots, 0)
            (_, values), _ = jax.lax.scan(step, (spots, values), None, length=steps)
            return ((values[:, 0] - market) ** 2).mean()

        return loss
