"""Statistical models of tables: counts, quantiles, ratings."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, normal
from tests.benchmarks.programs.program import Program

QUANTILES = (0.1, 0.5, 0.9)


class CountRegression(Program):
    """Negative binomial regression of counts, with an exposure offset and a ridge penalty."""

    program, about = "count_regression", "{rows} rows, {features} features"
    sizes = {
        "test": {"rows": 4, "features": 2},
        "small": {"rows": 100, "features": 5},
        "middle": {"rows": 2_000, "features": 20},
        "large": {"rows": 50_000, "features": 50},
    }
    leaves = ("w", "b", "log_size")

    def arrays(self, draw: np.random.Generator, *, rows: int, features: int) -> Data:
        return {
            "w": normal(draw, features, scale=0.3 * features**-0.5),
            "b": np.float32(0.5),
            "log_size": np.float32(0.3),
            "x": normal(draw, rows, features),
            "exposure": draw.uniform(0.5, 2, rows).astype(np.float32),
            "y": draw.poisson(2.0, rows).astype(np.float32),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(w: Any, b: Any, log_size: Any, x: Any, exposure: Any, y: Any) -> Any:
            eta = tf.linalg.matvec(x, w) + b + tf.math.log(exposure)
            size = tf.exp(log_size)
            ratio = tf.math.log1p(tf.exp(eta - log_size))
            ways = tf.math.lgamma(y + size) - tf.math.lgamma(size) - tf.math.lgamma(y + 1.0)
            each = ways - size * ratio + y * (eta - log_size - ratio)
            return -tf.reduce_mean(each) + 0.01 * tf.reduce_sum(tf.square(w))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(w: Any, b: Any, log_size: Any, x: Any, exposure: Any, y: Any) -> Any:
            eta = x @ w + b + exposure.log()
            size = log_size.exp()
            ratio = torch.log1p(torch.exp(eta - log_size))
            ways = torch.lgamma(y + size) - torch.lgamma(size) - torch.lgamma(y + 1.0)
            each = ways - size * ratio + y * (eta - log_size - ratio)
            return -each.mean() + 0.01 * (w**2).sum()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(w: Any, b: Any, log_size: Any, x: Any, exposure: Any, y: Any) -> Any:
            gammaln = jax.scipy.special.gammaln
            eta = x @ w + b + np.log(exposure)
            size = np.exp(log_size)
            ratio = np.log1p(np.exp(eta - log_size))
            each = gammaln(y + size) - gammaln(size) - gammaln(y + 1.0) - size * ratio + y * (eta - log_size - ratio)
            return -each.mean() + 0.01 * (w**2).sum()

        return loss


class QuantileSpline(Program):
    """Quantile regression: piecewise linear curves for three quantiles, by a smoothed pinball loss."""

    program, about = "quantile_spline", "{rows} rows, {knots} knots, 3 quantiles"
    sizes = {
        "test": {"rows": 4, "knots": 4},
        "small": {"rows": 100, "knots": 8},
        "middle": {"rows": 5_000, "knots": 30},
        "large": {"rows": 200_000, "knots": 100},
    }
    leaves = ("values", "slopes")

    def arrays(self, draw: np.random.Generator, *, rows: int, knots: int) -> Data:
        return {
            "values": normal(draw, 3, knots),
            "slopes": normal(draw, 3, scale=0.3),
            "knots": np.sort(draw.uniform(-2, 2, knots)).astype(np.float32),
            "x": draw.uniform(-2, 2, rows).astype(np.float32),
            "more": normal(draw, rows),
            "y": normal(draw, rows),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(values: Any, slopes: Any, knots: Any, x: Any, more: Any, y: Any) -> Any:
            q = tf.constant(QUANTILES, dtype=values.dtype)[:, None]
            place = tf.clip_by_value(tf.searchsorted(knots, x, side="right") - 1, 0, knots.shape[0] - 2)
            left, right = tf.gather(knots, place), tf.gather(knots, place + 1)
            share = (x - left) / (right - left)
            curve = tf.gather(values, place, axis=1) * (1.0 - share) + tf.gather(values, place + 1, axis=1) * share
            miss = y - curve - slopes[:, None] * more
            size = tf.abs(miss)
            huber = tf.where(size < 0.1, 5.0 * tf.square(miss), size - 0.05)
            pinball = tf.where(miss >= 0.0, q, 1.0 - q) * huber
            bend = values[:, 2:] - 2.0 * values[:, 1:-1] + values[:, :-2]
            return tf.reduce_mean(pinball) + 1e-3 * tf.reduce_sum(tf.square(bend))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(values: Any, slopes: Any, knots: Any, x: Any, more: Any, y: Any) -> Any:
            q = torch.tensor(QUANTILES, dtype=values.dtype)[:, None]
            place = (torch.searchsorted(knots, x, right=True) - 1).clamp(0, len(knots) - 2)
            left, right = knots[place], knots[place + 1]
            share = (x - left) / (right - left)
            curve = values[:, place] * (1.0 - share) + values[:, place + 1] * share
            miss = y - curve - slopes[:, None] * more
            size = miss.abs()
            huber = torch.where(size < 0.1, 5.0 * miss**2, size - 0.05)
            pinball = torch.where(miss >= 0.0, q, 1.0 - q) * huber
            bend = values[:, 2:] - 2.0 * values[:, 1:-1] + values[:, :-2]
            return pinball.mean() + 1e-3 * (bend**2).sum()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(values: Any, slopes: Any, knots: Any, x: Any, more: Any, y: Any) -> Any:
            q = np.array(QUANTILES, dtype=values.dtype)[:, None]
            place = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, len(knots) - 2)
            left, right = knots[place], knots[place + 1]
            share = (x - left) / (right - left)
            curve = values[:, place] * (1.0 - share) + values[:, place + 1] * share
            miss = y - curve - slopes[:, None] * more
            size = np.abs(miss)
            huber = np.where(size < 0.1, 5.0 * miss**2, size - 0.05)
            pinball = np.where(miss >= 0.0, q, 1.0 - q) * huber
            bend = values[:, 2:] - 2.0 * values[:, 1:-1] + values[:, :-2]
            return pinball.mean() + 1e-3 * (bend**2).sum()

        return loss


class Ratings(Program):
    """Matrix factorization of ratings, with user and item biases and an L2 penalty."""

    program, about = "ratings", "{ratings} ratings, {users} users, {items} items, {width} factors"
    sizes = {
        "test": {"ratings": 5, "users": 3, "items": 3, "width": 2},
        "small": {"ratings": 100, "users": 20, "items": 15, "width": 4},
        "middle": {"ratings": 5_000, "users": 500, "items": 800, "width": 16},
        "large": {"ratings": 100_000, "users": 6_000, "items": 4_000, "width": 32},
    }
    leaves = ("P", "Q", "user_bias", "item_bias", "mean")

    def arrays(self, draw: np.random.Generator, *, ratings: int, users: int, items: int, width: int) -> Data:
        return {
            "P": normal(draw, users, width, scale=0.3),
            "Q": normal(draw, items, width, scale=0.3),
            "user_bias": normal(draw, users, scale=0.3),
            "item_bias": normal(draw, items, scale=0.3),
            "mean": np.float32(3.0),
            "user": draw.integers(0, users, ratings),
            "item": draw.integers(0, items, ratings),
            "rating": draw.integers(1, 6, ratings).astype(np.float32),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(P: Any, Q: Any, user_bias: Any, item_bias: Any, mean: Any, user: Any, item: Any, rating: Any) -> Any:
            p, q = tf.gather(P, user), tf.gather(Q, item)
            guess = tf.reduce_sum(p * q, axis=1) + tf.gather(user_bias, user) + tf.gather(item_bias, item) + mean
            penalty = sum(tf.reduce_sum(tf.square(w)) for w in (P, Q, user_bias, item_bias))
            return tf.reduce_mean(tf.square(guess - rating)) + 1e-4 * penalty

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(P: Any, Q: Any, user_bias: Any, item_bias: Any, mean: Any, user: Any, item: Any, rating: Any) -> Any:
            guess = (P[user] * Q[item]).sum(1) + user_bias[user] + item_bias[item] + mean
            penalty = sum((w**2).sum() for w in (P, Q, user_bias, item_bias))
            return ((guess - rating) ** 2).mean() + 1e-4 * penalty

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(P: Any, Q: Any, user_bias: Any, item_bias: Any, mean: Any, user: Any, item: Any, rating: Any) -> Any:
            guess = (P[user] * Q[item]).sum(1) + user_bias[user] + item_bias[item] + mean
            penalty = sum((w**2).sum() for w in (P, Q, user_bias, item_bias))
            return ((guess - rating) ** 2).mean() + 1e-4 * penalty

        return loss
