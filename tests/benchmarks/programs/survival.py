"""Survival analysis: Cox's partial likelihood of a network."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, normal
from tests.benchmarks.programs.program import DENSE, Layered
from tests.benchmarks.programs.training import dense


class Cox(Layered):
    """DeepSurv (Katzman et al. 2018): Cox's partial likelihood, with the risks predicted by a network."""

    program, about = "cox", "{rows} patients, {features}-{hidden}-{hidden}-1"
    sizes = {
        "test": {"rows": 5, "features": 2, "hidden": 2},
        "small": {"rows": 64, "features": 8, "hidden": 16},
        "middle": {"rows": 1_000, "features": 20, "hidden": 32},
        "large": {"rows": 20_000, "features": 50, "hidden": 64},
    }
    leaves = ("W1", "b1", "W2", "b2", "W3")
    turned = dict.fromkeys(("W1", "W2", "W3"), DENSE)

    def arrays(self, draw: np.random.Generator, *, rows: int, features: int, hidden: int) -> Data:
        weights = dict(zip(self.leaves, dense(draw, features, hidden, hidden, 1)[:5], strict=True))
        return weights | {
            "x": normal(draw, rows, features),
            "time": draw.permutation(rows).astype(np.float32),
            "event": (np.arange(rows) % 3 > 0).astype(np.float32),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        layers, hidden = tf.keras.layers, self.at["hidden"]
        model = tf.keras.Sequential([layers.Dense(hidden, "selu"), layers.Dense(hidden, "selu"),
                                     layers.Dense(1, use_bias=False)])  # fmt: skip

        def loss(x: Any, time: Any, event: Any) -> Any:
            risk = tf.squeeze(model(x), axis=1)
            order = tf.argsort(time, direction="DESCENDING")
            risk, event = tf.gather(risk, order), tf.gather(event, order)
            log_cumulative = tf.math.cumulative_logsumexp(risk)
            penalty = tf.add_n([tf.nn.l2_loss(w) for w in model.trainable_variables if len(w.shape) > 1])
            return -tf.reduce_sum((risk - log_cumulative) * event) / tf.reduce_sum(event) + 1e-3 * penalty

        return [model], loss

    def as_torch(self, torch: Any) -> Any:
        nn, hidden = torch.nn, self.at["hidden"]
        model = nn.Sequential(nn.Linear(self.at["features"], hidden), nn.SELU(), nn.Linear(hidden, hidden), nn.SELU(),
                              nn.Linear(hidden, 1, bias=False))  # fmt: skip

        def loss(x: Any, time: Any, event: Any) -> Any:
            risk = model(x).squeeze(1)
            order = torch.argsort(time, descending=True)
            risk, event = risk[order], event[order]
            log_cumulative = torch.logcumsumexp(risk, 0)
            penalty = sum(0.5 * w.pow(2).sum() for w in model.parameters() if w.dim() > 1)
            return -((risk - log_cumulative) * event).sum() / event.sum() + 1e-3 * penalty

        return [model], loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(W1: Any, b1: Any, W2: Any, b2: Any, W3: Any, x: Any, time: Any, event: Any) -> Any:
            h = jax.nn.selu(jax.nn.selu(x @ W1 + b1) @ W2 + b2)
            risk = (h @ W3)[:, 0]
            order = np.argsort(-time)
            risk, event = risk[order], event[order]
            log_cumulative = jax.lax.cumlogsumexp(risk)
            penalty = 0.5 * sum((W**2).sum() for W in (W1, W2, W3))
            return -((risk - log_cumulative) * event).sum() / event.sum() + 1e-3 * penalty

        return loss
