"""JAX on a GPU, whole steps under ``jax.jit``, in float32 throughout."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from tests.benchmarks.gpu.engines import Engine, versions_of
from tests.benchmarks.gpu.programs import Run


class Jax(Engine):
    """``value_and_grad`` and ``vjp`` under ``jit``."""

    def __init__(self) -> None:
        jax = self.jax = import_module("jax")
        if jax.default_backend() != "gpu":
            self.why = "it was built without CUDA, or finds no GPU"
            return
        jax.config.update("jax_default_matmul_precision", "highest")
        xp = self.numpy = import_module("jax.numpy")
        self.exp, self.tanh, self.sqrt, self.sin, self.log1p = xp.exp, xp.tanh, xp.sqrt, xp.sin, xp.log1p
        self.sum, self.mean, self.relu, self.square = xp.sum, xp.mean, jax.nn.relu, xp.square

    def version(self) -> dict[str, str]:
        return versions_of("jax", "jaxlib")

    def array(self, x: Any, kind: str = "") -> Any:
        return self.jax.device_put(x.astype(np.int32) if x.dtype == np.int64 else x)

    def host(self, x: Any, kind: str) -> np.ndarray:
        return np.asarray(x)

    def value(self, function: Callable[..., Any], *arrays: Any) -> Run:
        made = self.jax.jit(function)
        return lambda: (made(*arrays),)

    def gradients(self, forward: Callable[..., Any], leaves: list[Any], *constants: Any) -> Run:
        step = self.jax.jit(self.jax.value_and_grad(forward, tuple(range(len(leaves)))))

        def run() -> Any:
            value, found = step(*leaves, *constants)
            return (value, *found)

        return run

    def pull(self, forward: Callable[..., Any], leaves: list[Any], which: int, g: Any) -> Run:
        def gradient(leaves: Any, g: Any) -> Any:
            return self.jax.vjp(lambda x: forward(*leaves[:which], x, *leaves[which + 1 :]), leaves[which])[1](g)

        made = self.jax.jit(gradient)
        return lambda: made(leaves, g)

    def train(self, forward: Callable[..., Any], weights: list[Any], x: Any, y: Any, rate: float) -> Run:
        def step(weights: Any, x: Any, y: Any) -> Any:
            loss, found = self.jax.value_and_grad(forward)(weights, x, y)
            return loss, [w - rate * g for w, g in zip(weights, found, strict=True)]

        made, kept = self.jax.jit(step, donate_argnums=0), [weights]

        def run() -> Any:
            loss, kept[0] = made(kept[0], x, y)
            return loss, kept[0][0]

        return run

    def cross_entropy(self, logits: Any, labels: Any) -> Any:
        """The mean cross entropy of class numbers."""
        logs = self.jax.nn.log_softmax(logits)
        return -self.numpy.take_along_axis(logs, labels[:, None], axis=1).mean()

    def convolution(self, images: Any, filters: Any) -> Any:
        """Images as large as before."""
        layout = ("NHWC", "HWIO", "NHWC")
        return self.jax.lax.conv_general_dilated(images, filters, (1, 1), "SAME", dimension_numbers=layout)

    def max_pool(self, images: Any) -> Any:
        """The largest of every four pixels."""
        lax, window = self.jax.lax, (1, 2, 2, 1)
        return lax.reduce_window(images, -np.inf, lax.max, window, window, "VALID")

    def gather(self, x: Any, places: Any) -> Any:
        """Rows."""
        return x[places]

    def scatter(self, rows: Any, places: Any) -> Any:
        """Rows added to zeros."""
        return self.numpy.zeros_like(rows).at[places].add(rows)

    def cumsum(self, x: Any) -> Any:
        """Along rows."""
        return self.numpy.cumsum(x, axis=-1)

    def layer_norm(self, x: Any, gamma: Any, beta: Any) -> Any:
        """Over the last axis."""
        return self._standardized(x, (-1,), gamma, beta)

    def batch_norm(self, x: Any, gamma: Any, beta: Any) -> Any:
        """Over all axes but channels."""
        return self._standardized(x, (0, 1, 2), gamma, beta)

    def _standardized(self, x: Any, axes: tuple[int, ...], gamma: Any, beta: Any) -> Any:
        mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
        return (x - mean) * self.jax.lax.rsqrt(variance + 1e-5) * gamma + beta
