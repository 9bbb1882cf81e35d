"""PyTorch on a GPU, op by op, in float32 throughout, without the reduced precision of tensor cores."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from tests.benchmarks.gpu.engines import Engine
from tests.benchmarks.gpu.programs import Run


class Torch(Engine):
    """Leaves that require gradients, and ``torch.autograd.grad``."""

    def __init__(self) -> None:
        torch = self.torch = import_module("torch")
        if not torch.cuda.is_available():
            self.why = "it was built without CUDA, or finds no GPU"
            return
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True  # the fastest algorithm is looked for at the first call, before the clock
        self.exp, self.tanh, self.sqrt, self.sin, self.log1p = (
            torch.exp, torch.tanh, torch.sqrt, torch.sin, torch.log1p,
        )  # fmt: skip
        self.mean, self.relu, self.square = torch.mean, torch.relu, torch.square
        self.functional = torch.nn.functional
        self.cross_entropy = self.functional.cross_entropy

    def version(self) -> dict[str, str]:
        torch = self.torch
        return {"torch": torch.__version__, "torch CUDA": str(torch.version.cuda),
                "cuDNN": str(torch.backends.cudnn.version())}  # fmt: skip

    def array(self, x: Any, kind: str = "") -> Any:
        made = self.torch.from_numpy(x).cuda()
        if kind == "images":  # NHWC stays so in memory, under the name channels_last
            return made.permute(0, 3, 1, 2)
        if kind == "filters":
            return made.permute(3, 2, 0, 1).contiguous(memory_format=self.torch.channels_last)
        return made

    def host(self, x: Any, kind: str) -> np.ndarray:
        x = x.detach()
        x = x.permute(0, 2, 3, 1) if kind == "images" else x.permute(2, 3, 1, 0) if kind == "filters" else x
        return x.cpu().numpy()

    def value(self, function: Callable[..., Any], *arrays: Any) -> Run:
        return lambda: (function(*arrays),)

    def gradients(self, forward: Callable[..., Any], leaves: list[Any], *constants: Any) -> Run:
        leaves = [leaf.requires_grad_(requires_grad=True) for leaf in leaves]

        def run() -> Any:
            value = forward(*leaves, *constants)
            return (value, *self.torch.autograd.grad(value, leaves))

        return run

    def pull(self, forward: Callable[..., Any], leaves: list[Any], which: int, g: Any) -> Run:
        leaf = leaves[which].requires_grad_(requires_grad=True)
        value = forward(*leaves)
        return lambda: self.torch.autograd.grad(value, leaf, g, retain_graph=True)

    def train(self, forward: Callable[..., Any], weights: list[Any], x: Any, y: Any, rate: float) -> Run:
        weights = [weight.requires_grad_(requires_grad=True) for weight in weights]

        def run() -> Any:
            loss = forward(weights, x, y)
            found = self.torch.autograd.grad(loss, weights)
            with self.torch.no_grad():
                self.torch._foreach_add_(weights, found, alpha=-rate)
            return loss, weights[0]

        return run

    def sum(self, x: Any, axis: int | None = None) -> Any:
        """Of all or along an axis."""
        return self.torch.sum(x) if axis is None else self.torch.sum(x, axis)

    def convolution(self, images: Any, filters: Any) -> Any:
        """Images as large as before."""
        return self.functional.conv2d(images, filters, padding=1)

    def max_pool(self, images: Any) -> Any:
        """The largest of every four pixels."""
        return self.functional.max_pool2d(images, 2)

    def gather(self, x: Any, places: Any) -> Any:
        """Rows."""
        return self.torch.index_select(x, 0, places)

    def scatter(self, rows: Any, places: Any) -> Any:
        """Rows added to zeros."""
        return self.torch.zeros_like(rows).index_add_(0, places, rows)

    def cumsum(self, x: Any) -> Any:
        """Along rows."""
        return self.torch.cumsum(x, -1)

    def layer_norm(self, x: Any, gamma: Any, beta: Any) -> Any:
        """Over the last axis."""
        return self.functional.layer_norm(x, x.shape[-1:], gamma, beta, 1e-5)

    def batch_norm(self, x: Any, gamma: Any, beta: Any) -> Any:
        """Over all axes but channels."""
        return self.functional.batch_norm(x, None, None, gamma, beta, training=True, eps=1e-5)
