"""Reinforcement learning: the update of a policy and a value function by proximal policy optimization."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, normal
from tests.benchmarks.programs.program import DENSE, Training
from tests.benchmarks.programs.training import dense


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
