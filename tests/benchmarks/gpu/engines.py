"""The libraries that are measured on a GPU; each is imported where it is created, in a separate process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from typing import Any

import numpy as np

from tests.benchmarks.gpu.programs import FUNCTION, LAB, Arrays, Run


class Engine:
    """A library: its ops, and how it computes a value and gradients.

    Attributes
    ----------
    why : str
        Why it cannot be measured here; empty where it can.
    """

    why = ""

    def arrays(self, data: Arrays) -> Arrays:
        """Inputs on the GPU, under their names without what stands after a colon, their layout."""
        return {name.partition(":")[0]: self.array(x, name.partition(":")[2]) for name, x in data.items()}

    def array(self, x: Any, kind: str = "") -> Any:
        """One input on the GPU."""
        raise NotImplementedError

    def host(self, x: Any, kind: str) -> np.ndarray:
        """One output as a NumPy array in the common layout."""
        raise NotImplementedError

    def version(self) -> dict[str, str]:
        """What is measured."""
        raise NotImplementedError


class Lab(Engine):
    """autodiff_lab, op by op or under `function`, on a GPU or, as the reference, on the CPU."""

    def __init__(self, *, compiled: bool = False, place: str = "/GPU:0", dtype: Any = None) -> None:
        lab = self.lab = import_module("autodiff_lab")
        self.compiled, self.place, self.dtype = compiled, place, dtype
        self.functions: list[Any] = []
        self.exp, self.tanh, self.sqrt, self.sin, self.log1p = lab.exp, lab.tanh, lab.sqrt, lab.sin, lab.math.log1p
        self.sum, self.mean, self.relu, self.square = lab.reduce_sum, lab.reduce_mean, lab.nn.relu, lab.square
        self.gather, self.normalized = lab.gather, import_module("autodiff_lab.ops.nn.normalization").normalized

    def version(self) -> dict[str, str]:
        names = ("numpy", "numba-cuda", "cupy-cuda13x", "cupy-cuda12x", "cupy")
        return {"autodiff-lab": "this tree", **versions_of(*names)}

    def array(self, x: Any, kind: str = "") -> Any:
        with self.lab.device(self.place) if self.place else nullcontext():
            return self.lab.constant(x.astype(self.dtype) if self.dtype is not None and x.dtype == np.float32 else x)

    def host(self, x: Any, kind: str) -> np.ndarray:
        return x.to_host() if hasattr(x, "to_host") else self.lab.convert_to_tensor(x).numpy()

    def value(self, function: Callable[..., Any], *arrays: Any) -> Run:
        made = self._made(function)
        return lambda: (made(*arrays),)

    def gradients(self, forward: Callable[..., Any], leaves: list[Any], *constants: Any) -> Run:
        def step(leaves: Any, constants: Any) -> Any:
            with self.lab.GradientTape() as tape:
                tape.watch(leaves)
                value = forward(*leaves, *constants)
            return (value, *tape.gradient(value, leaves))

        step = self._made(step)
        return lambda: step(leaves, list(constants))

    def pull(self, forward: Callable[..., Any], leaves: list[Any], which: int, g: Any) -> Run:
        with self.lab.GradientTape(persistent=True) as tape:
            tape.watch(leaves[which])
            value = forward(*leaves)
        return lambda: (tape.gradient(value, leaves[which], output_gradients=g),)

    def train(self, forward: Callable[..., Any], weights: list[Any], x: Any, y: Any, rate: float) -> Run:
        with self.lab.device(self.place) if self.place else nullcontext():
            variables = [self.lab.Variable(weight) for weight in weights]

        def step(x: Any, y: Any) -> Any:
            with self.lab.GradientTape() as tape:
                loss = forward(variables, x, y)
            for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
                variable.assign_sub(rate * gradient)
            return loss

        step = self._made(step)
        return lambda: (step(x, y), variables[0])

    def product_by_kernel(self, x: Any, y: Any) -> Run:
        """A matrix product by our kernel, where the working path is the library's."""
        if self.place == "/CPU:0":
            return lambda: (x @ y,)
        products = import_module("autodiff_lab.kernels.matmul.cuda")
        return lambda: (products.by_kernel(x._array, y._array),)

    def cross_entropy(self, logits: Any, labels: Any) -> Any:
        """The mean cross entropy of class numbers."""
        each = self.lab.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return self.lab.reduce_mean(each)

    def convolution(self, images: Any, filters: Any) -> Any:
        """Images as large as before."""
        return self.lab.nn.conv2d(images, filters, 1, "SAME")

    def max_pool(self, images: Any) -> Any:
        """The largest of every four pixels."""
        return self.lab.nn.max_pool2d(images, 2, 2, "VALID")

    def scatter(self, rows: Any, places: Any) -> Any:
        """Rows added to zeros."""
        return self.lab.scatter_nd(self.lab.expand_dims(places, 1), rows, list(rows.shape))

    def cumsum(self, x: Any) -> Any:
        """Along rows."""
        return self.lab.cumsum(x, axis=-1)

    def layer_norm(self, x: Any, gamma: Any, beta: Any) -> Any:
        """What the layer of this name calls."""
        return self.normalized(x, (-1,), 1e-5, gamma, beta)

    def batch_norm(self, x: Any, gamma: Any, beta: Any) -> Any:
        """What the layer of this name calls when it is trained."""
        return self.normalized(x, (-4, -3, -2), 1e-5, gamma, beta)

    def fallbacks(self) -> int:
        """How many calls under `function` ran op by op."""
        return sum(function.fallbacks for function in self.functions)

    def _made(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if not self.compiled:
            return function
        self.functions.append(self.lab.function(function))
        return self.functions[-1]


def versions_of(*names: str) -> dict[str, str]:
    """The versions of the distributions that are installed."""
    metadata = import_module("importlib.metadata")
    found: dict[str, str] = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def engine(name: str) -> Engine:
    """Import a library."""
    if name in {LAB, FUNCTION}:
        return Lab(compiled=name == FUNCTION)
    return getattr(import_module(f"tests.benchmarks.gpu.{name}_engine"), name.capitalize())()


PEERS = {LAB: "lab", FUNCTION: "lab.function", "torch": "PyTorch", "jax": "jax.jit"}
"""The columns of the table, and what people call them."""
