"""Densities: normalizing flows, mixtures, variational inference, Bayesian networks, batches of normal distributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, normal
from tests.benchmarks.programs.program import DENSE, Layered, Program
from tests.benchmarks.programs.training import dense

LAYERS = 4
COUPLINGS = 4
LOG_CIRCLE = float(np.log(2 * np.pi))
NETWORKS = tuple(f"{name}{k}" for k in range(COUPLINGS) for name in ("Ws", "bs", "Vs", "cs", "Wt", "bt", "Vt", "ct"))


class Flow(Program):
    """Four affine coupling layers (Dinh et al. 2017) and the negative log likelihood."""

    program, about = "flow", "4 couplings, {rows} rows of {width}, {hidden} hidden"
    sizes = {
        "test": {"rows": 2, "width": 2, "hidden": 2},
        "small": {"rows": 16, "width": 4, "hidden": 16},
        "middle": {"rows": 256, "width": 16, "hidden": 64},
        "large": {"rows": 2_048, "width": 64, "hidden": 128},
    }
    leaves = ("W", "b", "V", "c")

    def arrays(self, draw: np.random.Generator, *, rows: int, width: int, hidden: int) -> Data:
        return {
            "W": normal(draw, LAYERS, width // 2, hidden, scale=(width // 2) ** -0.5),
            "b": normal(draw, LAYERS, hidden, scale=0.1),
            "V": normal(draw, LAYERS, hidden, width, scale=0.3 * hidden**-0.5),
            "c": normal(draw, LAYERS, width, scale=0.1),
            "x": normal(draw, rows, width),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(W: Any, b: Any, V: Any, c: Any, x: Any) -> Any:
            left, right = tf.split(x, 2, axis=1)
            total = 0.0
            for k in range(LAYERS):
                scale, shift = tf.split(tf.tanh(left @ W[k] + b[k]) @ V[k] + c[k], 2, axis=1)
                scale = tf.tanh(scale)
                left, right = right * tf.exp(scale) + shift, left
                total = total + tf.reduce_sum(scale, axis=1)
            squares = tf.reduce_sum(tf.square(left) + tf.square(right), axis=1)
            return tf.reduce_mean(0.5 * squares - total)

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(W: Any, b: Any, V: Any, c: Any, x: Any) -> Any:
            left, right = x.chunk(2, 1)
            total = 0.0
            for k in range(LAYERS):
                scale, shift = (torch.tanh(left @ W[k] + b[k]) @ V[k] + c[k]).chunk(2, 1)
                scale = torch.tanh(scale)
                left, right = right * scale.exp() + shift, left
                total = total + scale.sum(1)
            return (0.5 * (left**2 + right**2).sum(1) - total).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(W: Any, b: Any, V: Any, c: Any, x: Any) -> Any:
            left, right = np.split(x, 2, axis=1)
            total = 0.0
            for k in range(LAYERS):
                scale, shift = np.split(np.tanh(left @ W[k] + b[k]) @ V[k] + c[k], 2, axis=1)
                scale = np.tanh(scale)
                left, right = right * np.exp(scale) + shift, left
                total = total + scale.sum(1)
            return (0.5 * (left**2 + right**2).sum(1) - total).mean()

        return loss


class MixtureDensity(Program):
    """A network whose outputs are the weights, means and widths of normal distributions (Bishop 1994)."""

    program, about = "mixture_density", "{rows} rows, {parts} parts, {hidden} hidden"
    sizes = {
        "test": {"rows": 3, "hidden": 2, "parts": 2},
        "small": {"rows": 64, "hidden": 16, "parts": 3},
        "middle": {"rows": 1_000, "hidden": 64, "parts": 10},
        "large": {"rows": 20_000, "hidden": 128, "parts": 20},
    }
    leaves = ("W1", "b1", "W2", "b2")

    def arrays(self, draw: np.random.Generator, *, rows: int, hidden: int, parts: int) -> Data:
        weights = dict(zip(self.leaves, dense(draw, 1, hidden, 3 * parts), strict=True))
        return weights | {"x": normal(draw, rows, 1), "y": normal(draw, rows, 1)}

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(W1: Any, b1: Any, W2: Any, b2: Any, x: Any, y: Any) -> Any:
            weight, mean, log_width = tf.split(tf.tanh(x @ W1 + b1) @ W2 + b2, 3, axis=1)
            each = tf.nn.log_softmax(weight) - log_width - 0.5 * tf.square((y - mean) / tf.exp(log_width))
            return -tf.reduce_mean(tf.reduce_logsumexp(each, axis=1))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(W1: Any, b1: Any, W2: Any, b2: Any, x: Any, y: Any) -> Any:
            weight, mean, log_width = (torch.tanh(x @ W1 + b1) @ W2 + b2).chunk(3, 1)
            each = weight.log_softmax(1) - log_width - 0.5 * ((y - mean) / log_width.exp()) ** 2
            return -each.logsumexp(1).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(W1: Any, b1: Any, W2: Any, b2: Any, x: Any, y: Any) -> Any:
            weight, mean, log_width = np.split(np.tanh(x @ W1 + b1) @ W2 + b2, 3, axis=1)
            each = jax.nn.log_softmax(weight) - log_width - 0.5 * ((y - mean) / np.exp(log_width)) ** 2
            return -jax.nn.logsumexp(each, axis=1).mean()

        return loss


class Variational(Program):
    """Bayesian logistic regression: the evidence bound over samples that are the noise, scaled and moved."""

    program, about = "variational", "{samples} samples, {rows} rows of {features}"
    sizes = {
        "test": {"samples": 2, "rows": 4, "features": 2},
        "small": {"samples": 4, "rows": 50, "features": 8},
        "middle": {"samples": 16, "rows": 1_000, "features": 50},
        "large": {"samples": 64, "rows": 10_000, "features": 100},
    }
    leaves = ("mean", "log_width")

    def arrays(self, draw: np.random.Generator, *, samples: int, rows: int, features: int) -> Data:
        labels = (draw.random(rows) < 0.5).astype(np.float32)
        return {
            "mean": normal(draw, features, scale=0.1),
            "log_width": normal(draw, features, scale=0.1) - np.float32(2),
            "noise": normal(draw, samples, features),
            "x": normal(draw, rows, features),
            "y": labels,
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(mean: Any, log_width: Any, noise: Any, x: Any, y: Any) -> Any:
            weights = mean + tf.exp(log_width) * noise
            logits = tf.matmul(weights, x, transpose_b=True)
            fit = tf.reduce_sum(y * logits - tf.nn.softplus(logits), axis=1)
            prior = -0.5 * tf.reduce_sum(tf.square(weights), axis=1)
            return -tf.reduce_mean(fit + prior) - tf.reduce_sum(log_width)

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(mean: Any, log_width: Any, noise: Any, x: Any, y: Any) -> Any:
            weights = mean + log_width.exp() * noise
            logits = weights @ x.T
            fit = (y * logits - torch.nn.functional.softplus(logits)).sum(1)
            return -(fit - 0.5 * (weights**2).sum(1)).mean() - log_width.sum()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(mean: Any, log_width: Any, noise: Any, x: Any, y: Any) -> Any:
            weights = mean + np.exp(log_width) * noise
            logits = weights @ x.T
            fit = (y * logits - jax.nn.softplus(logits)).sum(1)
            return -(fit - 0.5 * (weights**2).sum(1)).mean() - log_width.sum()

        return loss


class SmallCovariances(Program):
    """The likelihood of many small multivariate normal distributions, each with its own mean and full covariance."""

    program, about = "small_covariances", "{tasks} tasks, {width} × {width}, {rows} rows each"
    sizes = {
        "test": {"tasks": 2, "width": 2, "rows": 3},
        "small": {"tasks": 4, "width": 3, "rows": 5},
        "middle": {"tasks": 64, "width": 6, "rows": 20},
        "large": {"tasks": 1_024, "width": 8, "rows": 50},
    }
    leaves = ("mean", "factor", "log_noise")

    def arrays(self, draw: np.random.Generator, *, tasks: int, width: int, rows: int) -> Data:
        return {
            "mean": normal(draw, tasks, width, scale=0.3),
            "factor": normal(draw, tasks, width, width, scale=0.5),
            "log_noise": normal(draw, tasks, width, scale=0.3),
            "y": normal(draw, tasks, rows, width),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(mean: Any, factor: Any, log_noise: Any, y: Any) -> Any:
            covariance = tf.matmul(factor, factor, transpose_b=True) + tf.linalg.diag(tf.exp(log_noise))
            L = tf.linalg.cholesky(covariance)
            miss = tf.transpose(y - mean[:, None, :], (0, 2, 1))
            white = tf.linalg.triangular_solve(L, miss, lower=True)
            logs = tf.reduce_sum(tf.math.log(tf.linalg.diag_part(L)), axis=1)
            far = 0.5 * tf.reduce_mean(tf.reduce_sum(tf.square(white), axis=1), axis=1)
            return tf.reduce_mean(far + logs)

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(mean: Any, factor: Any, log_noise: Any, y: Any) -> Any:
            covariance = factor @ factor.mT + torch.diag_embed(log_noise.exp())
            L = torch.linalg.cholesky(covariance)
            miss = (y - mean[:, None, :]).mT
            white = torch.linalg.solve_triangular(L, miss, upper=False)
            logs = L.diagonal(dim1=1, dim2=2).log().sum(1)
            return (0.5 * (white**2).sum(1).mean(1) + logs).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(mean: Any, factor: Any, log_noise: Any, y: Any) -> Any:
            def one(mean: Any, factor: Any, log_noise: Any, y: Any) -> Any:
                L = np.linalg.cholesky(factor @ factor.T + np.diag(np.exp(log_noise)))
                white = jax.scipy.linalg.solve_triangular(L, (y - mean).T, lower=True)
                return 0.5 * (white**2).sum(0).mean() + np.log(np.diagonal(L)).sum()

            return jax.vmap(one)(mean, factor, log_noise, y).mean()

        return loss


class BayesianNetwork(Program):
    """A Bayesian neural network: reparameterized weights, the likelihood, and a closed-form KL divergence."""

    program, about = "bayesian_net", "{features}-{hidden}-{hidden}-1, batch {batch}, one draw"
    sizes = {
        "test": {"batch": 3, "features": 2, "hidden": 2},
        "small": {"batch": 16, "features": 4, "hidden": 16},
        "middle": {"batch": 128, "features": 16, "hidden": 64},
        "large": {"batch": 512, "features": 64, "hidden": 512},
    }
    leaves = (*(f"mean{k}" for k in range(6)), *(f"rho{k}" for k in range(6)))

    def arrays(self, draw: np.random.Generator, *, batch: int, features: int, hidden: int) -> Data:
        means = dense(draw, features, hidden, hidden, 1)
        rhos = [normal(draw, *mean.shape, scale=0.1) - np.float32(3) for mean in means]
        noise = {f"noise{k}": normal(draw, *mean.shape) for k, mean in enumerate(means)}
        given = {"x": normal(draw, batch, features), "y": normal(draw, batch, 1)}
        return dict(zip(self.leaves, [*means, *rhos], strict=True)) | noise | given

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(*given: Any) -> Any:
            means, rhos, noise, (x, y) = given[:6], given[6:12], given[12:18], given[18:]
            weights, divergence = [], 0.0
            for mean, rho, e in zip(means, rhos, noise, strict=True):
                width = tf.math.softplus(rho)
                weights.append(mean + width * e)
                divergence += 0.5 * tf.reduce_sum(tf.square(width) + tf.square(mean) - 1.0 - 2.0 * tf.math.log(width))
            W1, b1, W2, b2, W3, b3 = weights
            h = tf.tanh(tf.matmul(tf.tanh(tf.matmul(x, W1) + b1), W2) + b2)
            fit = 0.5 * tf.reduce_mean(tf.square(tf.matmul(h, W3) + b3 - y)) / 0.1
            return fit + divergence / 10_000

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(*given: Any) -> Any:
            means, rhos, noise, (x, y) = given[:6], given[6:12], given[12:18], given[18:]
            weights, divergence = [], 0.0
            for mean, rho, e in zip(means, rhos, noise, strict=True):
                width = torch.nn.functional.softplus(rho)
                weights.append(mean + width * e)
                divergence = divergence + 0.5 * (width**2 + mean**2 - 1.0 - 2.0 * width.log()).sum()
            W1, b1, W2, b2, W3, b3 = weights
            h = torch.tanh(torch.tanh(x @ W1 + b1) @ W2 + b2)
            fit = 0.5 * ((h @ W3 + b3 - y) ** 2).mean() / 0.1
            return fit + divergence / 10_000

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(*given: Any) -> Any:
            means, rhos, noise, (x, y) = given[:6], given[6:12], given[12:18], given[18:]
            weights, divergence = [], 0.0
            for mean, rho, e in zip(means, rhos, noise, strict=True):
                width = jax.nn.softplus(rho)
                weights.append(mean + width * e)
                divergence = divergence + 0.5 * (width**2 + mean**2 - 1.0 - 2.0 * np.log(width)).sum()
            W1, b1, W2, b2, W3, b3 = weights
            h = np.tanh(np.tanh(x @ W1 + b1) @ W2 + b2)
            fit = 0.5 * ((h @ W3 + b3 - y) ** 2).mean() / 0.1
            return fit + divergence / 10_000

        return loss


class MaskedFlow(Layered):
    """RealNVP (Dinh et al. 2017) with binary masks: four couplings, each with two networks, and the likelihood."""

    program, about = "masked_flow", "4 couplings, {rows} rows of {width}, {hidden} hidden"
    sizes = {
        "test": {"rows": 2, "width": 2, "hidden": 2},
        "small": {"rows": 16, "width": 2, "hidden": 16},
        "middle": {"rows": 256, "width": 8, "hidden": 64},
        "large": {"rows": 4_096, "width": 32, "hidden": 128},
    }
    leaves = NETWORKS
    turned = dict.fromkeys((name for name in NETWORKS if name[0] in "WV"), DENSE)

    def arrays(self, draw: np.random.Generator, *, rows: int, width: int, hidden: int) -> Data:
        weights = [w for _ in range(2 * COUPLINGS) for w in dense(draw, width, hidden, width)]
        masks = np.add.outer(np.arange(COUPLINGS), np.arange(width)) % 2
        given = {"masks": masks.astype(np.float32), "x": normal(draw, rows, width)}
        return dict(zip(self.leaves, weights, strict=True)) | given

    def as_tensorflow(self, tf: Any) -> Any:
        layers, hidden, width = tf.keras.layers, self.at["hidden"], self.at["width"]

        def network(activation: str | None) -> Any:
            return tf.keras.Sequential([layers.Dense(hidden, activation="silu"),
                                        layers.Dense(width, activation=activation)])  # fmt: skip

        pairs = [(network("tanh"), network(None)) for _ in range(COUPLINGS)]

        def loss(masks: Any, x: Any) -> Any:
            logs = tf.zeros(x.shape[0])
            for k, (scale, shift) in enumerate(pairs):
                mask = masks[k]
                kept = mask * x
                s, t = scale(kept) * (1.0 - mask), shift(kept) * (1.0 - mask)
                x = kept + (1.0 - mask) * (x * tf.exp(s) + t)
                logs += tf.reduce_sum(s, axis=1)
            prior = -0.5 * tf.reduce_sum(tf.square(x) + LOG_CIRCLE, axis=1)
            return -tf.reduce_mean(prior + logs)

        return [one for pair in pairs for one in pair], loss

    def as_torch(self, torch: Any) -> Any:
        nn, hidden, width = torch.nn, self.at["hidden"], self.at["width"]

        def network(*last: Any) -> Any:
            return nn.Sequential(nn.Linear(width, hidden), nn.SiLU(), nn.Linear(hidden, width), *last)

        pairs = [(network(nn.Tanh()), network()) for _ in range(COUPLINGS)]

        def loss(masks: Any, x: Any) -> Any:
            logs = torch.zeros(len(x))
            for mask, (scale, shift) in zip(masks, pairs, strict=True):
                kept = mask * x
                s, t = scale(kept) * (1 - mask), shift(kept) * (1 - mask)
                x = kept + (1 - mask) * (x * s.exp() + t)
                logs = logs + s.sum(1)
            prior = -0.5 * (x**2 + LOG_CIRCLE).sum(1)
            return -(prior + logs).mean()

        return [one for pair in pairs for one in pair], loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(*given: Any) -> Any:
            *weights, masks, x = given
            logs = 0.0
            for k in range(COUPLINGS):
                Ws, bs, Vs, cs, Wt, bt, Vt, ct = weights[8 * k : 8 * k + 8]
                mask = masks[k]
                kept = mask * x
                s = np.tanh(jax.nn.silu(kept @ Ws + bs) @ Vs + cs) * (1 - mask)
                t = (jax.nn.silu(kept @ Wt + bt) @ Vt + ct) * (1 - mask)
                x = kept + (1 - mask) * (x * np.exp(s) + t)
                logs = logs + s.sum(1)
            prior = -0.5 * (x**2 + LOG_CIRCLE).sum(1)
            return -(prior + logs).mean()

        return loss
