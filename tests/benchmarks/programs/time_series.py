"""Time series: the volatility of returns, warped time, readings of sensors, speech and its letters."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, Run, normal
from tests.benchmarks.programs.program import DENSE, FILTERS_1D, SEQUENCES, Layered, Program
from tests.benchmarks.programs.training import dense

NEVER = -1e5
"""In place of the logarithm of zero, whose differences are not numbers."""


class Garch(Program):
    """GARCH(1, 1) (Bollerslev 1986): the likelihood of daily returns; each day's variance depends on the day before."""

    program, about = "garch", "{days} days, {assets} assets"
    sizes = {
        "test": {"days": 4, "assets": 2},
        "small": {"days": 30, "assets": 1},
        "middle": {"days": 250, "assets": 10},
        "large": {"days": 1_000, "assets": 500},
    }
    leaves = ("mu", "omega", "alpha", "beta")

    def arrays(self, draw: np.random.Generator, *, days: int, assets: int) -> Data:
        return {
            "mu": normal(draw, assets, scale=0.05),
            "omega": normal(draw, assets, scale=0.3) - np.float32(2),
            "alpha": normal(draw, assets, scale=0.3) - np.float32(2),
            "beta": normal(draw, assets, scale=0.3) + np.float32(1.5),
            "returns": normal(draw, days, assets),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(mu: Any, omega: Any, alpha: Any, beta: Any, returns: Any) -> Any:
            omega, alpha, beta = tf.nn.softplus(omega), tf.sigmoid(alpha), tf.sigmoid(beta)
            errors = returns - mu
            variance = tf.math.reduce_variance(returns, axis=0)
            variances = [variance]
            for t in range(1, returns.shape[0]):
                variance = omega + alpha * errors[t - 1] ** 2 + beta * variance
                variances.append(variance)
            variances = tf.stack(variances)
            each = tf.math.log(variances) + errors**2 / variances
            return 0.5 * tf.reduce_mean(tf.reduce_sum(each, axis=0))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(mu: Any, omega: Any, alpha: Any, beta: Any, returns: Any) -> Any:
            omega, alpha, beta = torch.nn.functional.softplus(omega), torch.sigmoid(alpha), torch.sigmoid(beta)
            errors = returns - mu
            variance = returns.var(0, unbiased=False)
            variances = [variance]
            for t in range(1, len(returns)):
                variance = omega + alpha * errors[t - 1] ** 2 + beta * variance
                variances.append(variance)
            variances = torch.stack(variances)
            return 0.5 * (variances.log() + errors**2 / variances).sum(0).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(mu: Any, omega: Any, alpha: Any, beta: Any, returns: Any) -> Any:
            omega, alpha, beta = jax.nn.softplus(omega), jax.nn.sigmoid(alpha), jax.nn.sigmoid(beta)
            errors = returns - mu

            def step(variance: Any, error: Any) -> Any:
                return omega + alpha * error**2 + beta * variance, variance

            _, variances = jax.lax.scan(step, returns.var(0), errors)
            return 0.5 * (np.log(variances) + errors**2 / variances).sum(0).mean()

        return loss


class SoftDtw(Program):
    """Soft dynamic time warping (Cuturi & Blondel 2017) of pairs of series, one cell of the table at a time."""

    program, about = "soft_dtw", "{pairs} pairs of {time} steps, {width} features"
    sizes = {
        "test": {"pairs": 2, "time": 3, "width": 2},
        "small": {"pairs": 4, "time": 5, "width": 2},
        "middle": {"pairs": 16, "time": 12, "width": 4},
        "large": {"pairs": 64, "time": 24, "width": 8},
    }
    leaves = ("x",)

    def arrays(self, draw: np.random.Generator, *, pairs: int, time: int, width: int) -> Data:
        return {"x": normal(draw, pairs, time, width), "y": normal(draw, pairs, time, width)}

    def as_tensorflow(self, tf: Any) -> Any:
        def softmin(a: Any, b: Any, c: Any, gamma: float) -> Any:
            return -gamma * tf.reduce_logsumexp(tf.stack([-a / gamma, -b / gamma, -c / gamma]), axis=0)

        def loss(x: Any, y: Any) -> Any:
            D = tf.reduce_sum((x[:, :, None, :] - y[:, None, :, :]) ** 2, axis=-1)
            pairs, n, m = D.shape
            far = tf.fill((pairs,), 1e8)
            R = [[far for _ in range(m + 1)] for _ in range(n + 1)]
            R[0][0] = tf.zeros((pairs,))
            for i in range(1, n + 1):
                for j in range(1, m + 1):
                    R[i][j] = D[:, i - 1, j - 1] + softmin(R[i - 1][j - 1], R[i - 1][j], R[i][j - 1], 1.0)
            return tf.reduce_mean(R[n][m])

        return loss

    def as_torch(self, torch: Any) -> Any:
        def softmin(a: Any, b: Any, c: Any, gamma: float) -> Any:
            return -gamma * torch.logsumexp(torch.stack([-a / gamma, -b / gamma, -c / gamma]), 0)

        def loss(x: Any, y: Any) -> Any:
            D = ((x[:, :, None, :] - y[:, None, :, :]) ** 2).sum(-1)
            pairs, n, m = D.shape
            far = torch.full((pairs,), 1e8)
            R = [[far for _ in range(m + 1)] for _ in range(n + 1)]
            R[0][0] = torch.zeros(pairs)
            for i in range(1, n + 1):
                for j in range(1, m + 1):
                    R[i][j] = D[:, i - 1, j - 1] + softmin(R[i - 1][j - 1], R[i - 1][j], R[i][j - 1], 1.0)
            return R[n][m].mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def softmin(a: Any, b: Any, c: Any) -> Any:
            return -jax.nn.logsumexp(np.stack([-a, -b, -c]), axis=0)

        def loss(x: Any, y: Any) -> Any:
            D = ((x[:, :, None, :] - y[:, None, :, :]) ** 2).sum(-1)
            pairs, _, m = D.shape

            def row(above: Any, costs: Any) -> Any:
                corner, uppers = above

                def cell(state: Any, seen: Any) -> Any:
                    left, diagonal = state
                    upper, cost = seen
                    here = cost + softmin(diagonal, upper, left)
                    return (here, upper), here

                far = np.full((pairs,), 1e8, D.dtype)
                _, here = jax.lax.scan(cell, (far, corner), (uppers, costs))
                return (far, here), None

            begin = (np.zeros((pairs,), D.dtype), np.full((m, pairs), 1e8, D.dtype))
            (_, last), _ = jax.lax.scan(row, begin, D.transpose(1, 2, 0))
            return last[-1].mean()

        return loss


class Activity(Layered):
    """Activity recognition from sensors: a convolution, pooling, a bidirectional LSTM, dense layers and dropout."""

    program, about = "activity", "batch {batch}, {time} steps, 6 sensors, {width} wide"
    sizes = {
        "test": {"batch": 2, "time": 6, "width": 2},
        "small": {"batch": 4, "time": 16, "width": 8},
        "middle": {"batch": 16, "time": 64, "width": 32},
        "large": {"batch": 64, "time": 128, "width": 64},
    }
    leaves = ("F1", "b1", "Wf", "Uf", "bf", "Wb", "Ub", "bb", "V1", "c1", "V2", "c2")
    turned = {"F1": FILTERS_1D, **dict.fromkeys(("Wf", "Uf", "Wb", "Ub", "V1", "V2"), DENSE), "x": SEQUENCES}

    def arrays(self, draw: np.random.Generator, *, batch: int, time: int, width: int) -> Data:
        def recurrent() -> list[np.ndarray]:
            return [normal(draw, width, 4 * width, scale=width**-0.5),
                    normal(draw, width, 4 * width, scale=width**-0.5), normal(draw, 4 * width, scale=0.1)]  # fmt: skip

        weights = [normal(draw, 5, 6, width, scale=30**-0.5), normal(draw, width, scale=0.1), *recurrent(),
                   *recurrent(), *dense(draw, 2 * width, width, 6)]  # fmt: skip
        return dict(zip(self.leaves, weights, strict=True)) | {
            "x": normal(draw, batch, time, 6),
            "labels": draw.integers(0, 6, batch),
            "kept": (draw.random((batch, width)) < 0.7).astype(np.float32) / np.float32(0.7),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        layers, width = tf.keras.layers, self.at["width"]
        conv, pool = layers.Conv1D(width, 5, padding="same", activation="relu"), layers.MaxPooling1D(2)
        both = layers.Bidirectional(layers.LSTM(width, return_sequences=True))
        most = layers.GlobalMaxPooling1D()
        hidden, out = layers.Dense(width, activation="relu"), layers.Dense(6)
        entropy = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

        def loss(x: Any, labels: Any, kept: Any) -> Any:
            h = most(both(pool(conv(x))))
            return entropy(labels, out(hidden(h) * kept))

        return [conv, both, hidden, out], loss

    def as_torch(self, torch: Any) -> Any:
        nn, width = torch.nn, self.at["width"]
        conv = nn.Conv1d(6, width, 5, padding=2)
        both = nn.LSTM(width, width, batch_first=True, bidirectional=True)
        hidden, out = nn.Linear(2 * width, width), nn.Linear(width, 6)

        def loss(x: Any, labels: Any, kept: Any) -> Any:
            h = nn.functional.max_pool1d(torch.relu(conv(x)), 2)
            h, _ = both(h.transpose(1, 2))
            h = torch.relu(hidden(h.max(1)[0]))
            return nn.functional.cross_entropy(out(h * kept), labels)

        return [conv, both, hidden, out], loss

    def torch(self, engine: Any, d: Data) -> Run:
        """PyTorch has two biases in each direction; the second is zero here."""
        d = self._turn(d)
        F1, b1, Wf, Uf, bf, Wb, Ub, bb, *rest = (d[name] for name in self.leaves)
        weights = [F1, b1, Wf, Uf, bf, 0 * bf, Wb, Ub, bb, 0 * bb, *rest]
        run = engine.layered(self.as_torch(engine.torch), weights, d["x"], d["labels"], d["kept"])

        def joined() -> Any:
            value, F1, b1, Wf, Uf, bf, _, Wb, Ub, bb, _, *rest = run()
            return value, F1, b1, Wf, Uf, bf, Wb, Ub, bb, *rest

        return joined

    def as_jax(self, jax: Any, np: Any) -> Any:
        def lstm(x: Any, W: Any, U: Any, b: Any) -> Any:
            def step(state: Any, row: Any) -> Any:
                h, c = state
                i, f, g, o = np.split(row @ W + h @ U + b, 4, axis=1)
                c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * np.tanh(g)
                h = jax.nn.sigmoid(o) * np.tanh(c)
                return (h, c), h

            zeros = np.zeros((x.shape[1], U.shape[0]), x.dtype)
            return jax.lax.scan(step, (zeros, zeros), x)[1]

        def loss(F1: Any, b1: Any, Wf: Any, Uf: Any, bf: Any, Wb: Any, Ub: Any, bb: Any, V1: Any, c1: Any, V2: Any,
                 c2: Any, x: Any, labels: Any, kept: Any) -> Any:  # fmt: skip
            h = jax.lax.conv_general_dilated(x, F1, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")) + b1
            batch, time, width = h.shape
            h = jax.nn.relu(h).reshape(batch, time // 2, 2, width).max(2).swapaxes(0, 1)
            h = np.concatenate([lstm(h, Wf, Uf, bf), lstm(h[::-1], Wb, Ub, bb)[::-1]], axis=2).max(0)
            logs = jax.nn.log_softmax(jax.nn.relu(h @ V1 + c1) * kept @ V2 + c2)
            return -np.take_along_axis(logs, labels[:, None], axis=1).mean()

        return loss


class Ctc(Program):
    """Connectionist temporal classification (Graves et al. 2006): letters without times, from frames of features."""

    program, about = "ctc", "batch {batch}, {time} frames of {features}, up to {letters} letters of {classes}"
    sizes = {
        "test": {"batch": 2, "time": 5, "letters": 2, "classes": 3, "features": 2},
        "small": {"batch": 2, "time": 12, "letters": 3, "classes": 6, "features": 8},
        "middle": {"batch": 16, "time": 50, "letters": 10, "classes": 30, "features": 32},
        "large": {"batch": 64, "time": 150, "letters": 30, "classes": 30, "features": 128},
    }
    leaves = ("W", "b")

    def arrays(self, draw: np.random.Generator, *, batch: int, time: int, letters: int, classes: int,
               features: int) -> Data:  # fmt: skip
        return dict(zip(self.leaves, dense(draw, features, classes), strict=True)) | {
            "x": normal(draw, batch, time, features),
            "labels": draw.integers(1, classes, (batch, letters)),
            "frames": draw.integers(3 * time // 4, time + 1, batch),
            "lengths": draw.integers(1, letters + 1, batch),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(W: Any, b: Any, x: Any, labels: Any, frames: Any, lengths: Any) -> Any:
            each = tf.nn.ctc_loss(labels, tf.matmul(x, W) + b, lengths, frames, logits_time_major=False, blank_index=0)
            return tf.reduce_mean(each)

        return loss

    def as_torch(self, torch: Any) -> Any:
        nn = torch.nn.functional

        def loss(W: Any, b: Any, x: Any, labels: Any, frames: Any, lengths: Any) -> Any:
            logs = (x @ W + b).log_softmax(2)
            return nn.ctc_loss(logs.transpose(0, 1), labels, frames, lengths, reduction="sum") / len(x)

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(W: Any, b: Any, x: Any, labels: Any, frames: Any, lengths: Any) -> Any:
            batch, time = x.shape[0], x.shape[1]
            logs = jax.nn.log_softmax(x @ W + b)
            blanks = np.zeros_like(labels)
            states = np.stack([blanks, labels], axis=2).reshape(batch, -1)
            states = np.concatenate([states, blanks[:, :1]], axis=1)
            before = np.pad(states[:, :-2], [(0, 0), (2, 0)])
            skips = (states != 0) & (states != before)
            heard = np.take_along_axis(logs, states[:, None, :], axis=2).transpose(1, 0, 2)

            def step(alpha: Any, row: Any) -> Any:
                t, now = row
                one = np.pad(alpha[:, :-1], [(0, 0), (1, 0)], constant_values=NEVER)
                two = np.where(skips, np.pad(alpha[:, :-2], [(0, 0), (2, 0)], constant_values=NEVER), NEVER)
                after = jax.nn.logsumexp(np.stack([alpha, one, two]), axis=0) + now
                return np.where((t < frames)[:, None], after, alpha), None

            alpha = np.where(np.arange(states.shape[1]) < 2, heard[0], NEVER)
            alpha, _ = jax.lax.scan(step, alpha, (np.arange(1, time), heard[1:]))
            ends = np.take_along_axis(alpha, np.stack([2 * lengths - 1, 2 * lengths], axis=1), axis=1)
            return -jax.nn.logsumexp(ends, axis=1).mean()

        return loss
