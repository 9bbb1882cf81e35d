"""Policies: the update by proximal policy optimization, and one that balances a pole, through all its steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, normal
from tests.benchmarks.programs.program import DENSE, Program, Training
from tests.benchmarks.programs.training import dense

GRAVITY, CART, POLE, HALF, TIME = 9.8, 1.0, 0.1, 0.5, 0.02
"""Of the cart and its pole: masses, half the pole's length, and the seconds of a step."""


class Ppo(Training):
    """Proximal policy optimization (Schulman et al. 2017): ten epochs of Adam on one batch of an actor-critic."""

    program, about = "ppo", "10 epochs, {seen}-{hidden}-{hidden}-{moves} and a value, batch {batch}"
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


class CartPole(Program):
    """A cart that balances a pole (Barto et al. 1983): the cost of a small network's control, through Euler steps."""

    program, about = "cart_pole", "{batch} starts, {steps} Euler steps, 4-{hidden}-1 policy"
    sizes = {
        "test": {"batch": 2, "steps": 4, "hidden": 2},
        "small": {"batch": 4, "steps": 100, "hidden": 4},
        "middle": {"batch": 64, "steps": 100, "hidden": 16},
        "large": {"batch": 1_024, "steps": 100, "hidden": 32},
    }
    leaves = ("W", "b", "v")

    def arrays(self, draw: np.random.Generator, *, batch: int, steps: int, hidden: int) -> Data:
        W = normal(draw, 4, hidden, scale=0.3)
        v = np.linalg.pinv(W) @ np.array([0.1, 0.2, 3.0, 0.6])
        return {
            "W": W,
            "b": normal(draw, hidden, scale=0.01),
            "v": v.astype(np.float32)[:, None],
            "start": normal(draw, batch, 4, scale=0.05),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(W: Any, b: Any, v: Any, start: Any) -> Any:
            place, speed, angle, turn = tf.unstack(start, axis=1)
            cost = 0.0
            for _ in range(self.at["steps"]):
                state = tf.stack([place, speed, angle, turn], axis=1)
                force = 10.0 * tf.squeeze(tf.matmul(tf.tanh(tf.matmul(state, W) + b), v), axis=1)
                sin, cos = tf.sin(angle), tf.cos(angle)
                push = (force + POLE * HALF * tf.square(turn) * sin) / (CART + POLE)
                twist = (GRAVITY * sin - cos * push) / (HALF * (4 / 3 - POLE * tf.square(cos) / (CART + POLE)))
                drive = push - POLE * HALF * twist * cos / (CART + POLE)
                place, speed = place + TIME * speed, speed + TIME * drive
                angle, turn = angle + TIME * turn, turn + TIME * twist
                cost = cost + tf.square(angle) + 0.1 * tf.square(place) + 0.001 * tf.square(force)
            return tf.reduce_mean(cost)

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(W: Any, b: Any, v: Any, start: Any) -> Any:
            place, speed, angle, turn = start.unbind(1)
            cost = 0.0
            for _ in range(self.at["steps"]):
                state = torch.stack([place, speed, angle, turn], 1)
                force = 10.0 * (torch.tanh(state @ W + b) @ v).squeeze(1)
                sin, cos = torch.sin(angle), torch.cos(angle)
                push = (force + POLE * HALF * turn**2 * sin) / (CART + POLE)
                twist = (GRAVITY * sin - cos * push) / (HALF * (4 / 3 - POLE * cos**2 / (CART + POLE)))
                drive = push - POLE * HALF * twist * cos / (CART + POLE)
                place, speed = place + TIME * speed, speed + TIME * drive
                angle, turn = angle + TIME * turn, turn + TIME * twist
                cost = cost + angle**2 + 0.1 * place**2 + 0.001 * force**2
            return cost.mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(W: Any, b: Any, v: Any, start: Any) -> Any:
            def step(state: Any, _: Any) -> Any:
                place, speed, angle, turn = state
                force = 10.0 * (np.tanh(np.stack(state, axis=1) @ W + b) @ v)[:, 0]
                sin, cos = np.sin(angle), np.cos(angle)
                push = (force + POLE * HALF * turn**2 * sin) / (CART + POLE)
                twist = (GRAVITY * sin - cos * push) / (HALF * (4 / 3 - POLE * cos**2 / (CART + POLE)))
                drive = push - POLE * HALF * twist * cos / (CART + POLE)
                place, speed = place + TIME * speed, speed + TIME * drive
                angle, turn = angle + TIME * turn, turn + TIME * twist
                cost = angle**2 + 0.1 * place**2 + 0.001 * force**2
                return (place, speed, angle, turn), cost

            _, costs = jax.lax.scan(step, tuple(start.T), None, length=self.at["steps"])
            return costs.sum(0).mean()

        return loss
