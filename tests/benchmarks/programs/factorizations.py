"""Losses of matrix factorizations: a Gaussian process by Cholesky, singular values, eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, normal
from tests.benchmarks.programs.program import Program


class GaussianProcess(Program):
    """The negative log likelihood of a Gaussian process with a squared-exponential kernel, in float64."""

    program, about = "gaussian_process", "{points} points in 3 dimensions, Cholesky, float64"
    sizes = {"test": {"points": 5}, "small": {"points": 20}, "middle": {"points": 200}, "large": {"points": 600}}
    leaves = ("lengths", "amplitude", "noise")
    tolerance = 1e-7

    def arrays(self, draw: np.random.Generator, *, points: int) -> Data:
        x = draw.standard_normal((points, 3))
        y = np.sin(2 * x).sum(1) + 0.1 * draw.standard_normal(points)
        return {"lengths": np.zeros(3), "amplitude": np.array(0.2), "noise": np.array(-2.0), "x": x, "y": y}

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(lengths: Any, amplitude: Any, noise: Any, x: Any, y: Any) -> Any:
            scaled = x / tf.exp(lengths)
            distances = tf.reduce_sum(tf.square(scaled[:, None] - scaled[None]), axis=2)
            kernel = tf.exp(amplitude - 0.5 * distances) + tf.exp(noise) * tf.eye(len(x), dtype="float64")
            factor = tf.linalg.cholesky(kernel)
            weights = tf.linalg.cholesky_solve(factor, y[:, None])[:, 0]
            return 0.5 * tf.reduce_sum(y * weights) + tf.reduce_sum(tf.math.log(tf.linalg.diag_part(factor)))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(lengths: Any, amplitude: Any, noise: Any, x: Any, y: Any) -> Any:
            scaled = x / lengths.exp()
            distances = ((scaled[:, None] - scaled[None]) ** 2).sum(2)
            kernel = (amplitude - 0.5 * distances).exp() + noise.exp() * torch.eye(len(x), dtype=x.dtype)
            factor = torch.linalg.cholesky(kernel)
            weights = torch.cholesky_solve(y[:, None], factor)[:, 0]
            return 0.5 * (y @ weights) + factor.diagonal().log().sum()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(lengths: Any, amplitude: Any, noise: Any, x: Any, y: Any) -> Any:
            scaled = x / np.exp(lengths)
            distances = ((scaled[:, None] - scaled[None]) ** 2).sum(2)
            kernel = np.exp(amplitude - 0.5 * distances) + np.exp(noise) * np.eye(len(x))
            factor = np.linalg.cholesky(kernel)
            weights = jax.scipy.linalg.cho_solve((factor, True), y)
            return 0.5 * (y @ weights) + np.log(np.diagonal(factor)).sum()

        return loss


class Svd(Program):
    """A matrix with the square roots of its singular values, weighted, and their sum."""

    program, about = "svd", "{n} × {n}"
    sizes = {"test": {"n": 3}, "small": {"n": 8}, "middle": {"n": 64}, "large": {"n": 200}}
    leaves = ("A",)
    tolerance = 5e-3
    """The gradient divides by the gaps between singular values."""

    def arrays(self, draw: np.random.Generator, *, n: int) -> Data:
        return {"A": normal(draw, n, n), "G": normal(draw, n, n)}

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(A: Any, G: Any) -> Any:
            s, u, v = tf.linalg.svd(A)
            return tf.reduce_sum(s) + tf.reduce_sum(G * tf.matmul(u * tf.sqrt(s), v, transpose_b=True))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(A: Any, G: Any) -> Any:
            u, s, vt = torch.linalg.svd(A)
            return s.sum() + (G * ((u * s.sqrt()) @ vt)).sum()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(A: Any, G: Any) -> Any:
            u, s, vt = np.linalg.svd(A, full_matrices=False)
            return s.sum() + (G * ((u * np.sqrt(s)) @ vt)).sum()

        return loss


class Eigh(Program):
    """A smooth function of a symmetric matrix, by its eigenvalues and eigenvectors."""

    program, about = "eigh", "{n} × {n}"
    sizes = {"test": {"n": 3}, "small": {"n": 8}, "middle": {"n": 64}, "large": {"n": 200}}
    leaves = ("A",)
    tolerance = 5e-3

    def arrays(self, draw: np.random.Generator, *, n: int) -> Data:
        return {"A": normal(draw, n, n), "G": normal(draw, n, n)}

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(A: Any, G: Any) -> Any:
            w, v = tf.linalg.eigh(A + tf.transpose(A))
            root = tf.sqrt(1 + tf.square(w))
            return tf.reduce_mean(tf.math.log(root)) + tf.reduce_mean(G * tf.matmul(v * root, v, transpose_b=True))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(A: Any, G: Any) -> Any:
            w, v = torch.linalg.eigh(A + A.T)
            root = (1 + w**2).sqrt()
            return root.log().mean() + (G * ((v * root) @ v.T)).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(A: Any, G: Any) -> Any:
            w, v = np.linalg.eigh(A + A.T)
            root = np.sqrt(1 + w**2)
            return np.log(root).mean() + (G * ((v * root) @ v.T)).mean()

        return loss
