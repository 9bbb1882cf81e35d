"""The definition of a program: what a user would write in each library, at three sizes; each size is a row.

A program says its loss three times: with TensorFlow's names (which are this project's as well), for PyTorch, and for
JAX.  How the text is run, as it stands or compiled, is the library's part.  The text for JAX is the reference, too: JAX
runs it in float64 before anything is timed, and the tests run it on NumPy with numeric derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tests.benchmarks.cases.case import Case, Data, Run

SCALES = ("small", "middle", "large")
TEST = "test"
"""The size at which the tests differentiate numerically."""
Turn = tuple[Callable[[np.ndarray], np.ndarray], Callable[[np.ndarray], np.ndarray]]
"""Into PyTorch's layout of an array, and back."""


def _axes(*there: int) -> Turn:
    back = tuple(int(axis) for axis in np.argsort(there))
    return lambda x: np.ascontiguousarray(x.transpose(there)), lambda x: x.transpose(back)


DENSE = _axes(1, 0)
FILTERS_1D, FILTERS_2D = _axes(2, 1, 0), _axes(3, 2, 0, 1)
DEPTHWISE = _axes(2, 3, 0, 1)
SEQUENCES, IMAGES = _axes(0, 2, 1), _axes(0, 3, 1, 2)


class Program(Case):
    """A value and its gradients with respect to the leaves; the texts return ``loss(*leaves, *constants)``."""

    program: ClassVar[str]
    about: ClassVar[str]
    """The size in words, with the names of `sizes` in braces."""
    sizes: ClassVar[dict[str, dict[str, int]]]
    """What `arrays` takes, for each of `SCALES` and for the tests."""
    leaves: ClassVar[tuple[str, ...]]
    turned: ClassVar[dict[str, Turn]] = {}
    """Arrays that PyTorch keeps in another layout."""
    tolerance = 1e-3

    def __init__(self, scale: str) -> None:
        self.scale, self.name, self.at = scale, f"{self.program}_{scale}", self.sizes[scale]
        self.size = self.about.format(**{key: f"{n:,}" for key, n in self.at.items()})
        self.outputs = ("value", *(f"d{name}" for name in self.leaves))
        self.layouts = {"torch": {f"d{name}": self.turned[name][1] for name in self.leaves if name in self.turned}}

    def arrays(self, draw: np.random.Generator, **sizes: int) -> Data:
        """The leaves, then the constants, in the order of the arguments."""
        raise NotImplementedError

    def inputs(self, draw: np.random.Generator, *, small: bool) -> Data:
        if small and self.scale != TEST:
            raise ValueError(f"{self.program} is checked at its own size: {type(self).__name__}({TEST!r})")
        return self.arrays(draw, **self.at)

    def as_tensorflow(self, tf: Any) -> Any:
        """The text with TensorFlow's names."""
        raise NotImplementedError

    def as_torch(self, torch: Any) -> Any:
        """The text for PyTorch."""
        raise NotImplementedError

    def as_jax(self, jax: Any, np: Any) -> Any:
        """The text for JAX and ``jax.numpy``."""
        raise NotImplementedError

    def lab(self, engine: Any, d: Data) -> Run:
        return engine.gradients(self.as_tensorflow(engine.tf), *self._given(d))

    tensorflow = lab

    def torch(self, engine: Any, d: Data) -> Run:
        return engine.gradients(self.as_torch(engine.torch), *self._given(self._turn(d)))

    def jax(self, engine: Any, d: Data) -> Run:
        return engine.gradients(self.as_jax(engine.jax, engine.numpy), *self._given(d))

    def _turn(self, d: Data) -> Data:
        return {name: self.turned[name][0](x) if name in self.turned else x for name, x in d.items()}

    def _given(self, d: Data) -> tuple[Any, ...]:
        return [d[name] for name in self.leaves], *(x for name, x in d.items() if name not in self.leaves)


class Layered(Program):
    """The same with layers: the texts return the layers and ``loss(*constants)``; the weights become the leaves.

    The text for JAX has no layers and takes the weights as arguments.
    """

    def lab(self, engine: Any, d: Data) -> Run:
        return engine.layered(self.as_tensorflow(engine.tf), *self._given(d))

    tensorflow = lab

    def torch(self, engine: Any, d: Data) -> Run:
        return engine.layered(self.as_torch(engine.torch), *self._given(self._turn(d)))


class Training(Layered):
    """Steps of an optimizer: the loss of each, and the weights after all of them."""

    steps: ClassVar[int]
    optimizer: ClassVar[str] = "Adam"
    rate: ClassVar[float] = 1e-3
    momentum: ClassVar[float] = 0.0
    """Used by SGD; Adam keeps its usual constants."""

    def __init__(self, scale: str) -> None:
        super().__init__(scale)
        self.outputs = ("losses", *self.leaves)
        self.layouts = {"torch": {name: turn[1] for name, turn in self.turned.items() if name in self.leaves}}

    def lab(self, engine: Any, d: Data) -> Run:
        return engine.trained(self.as_tensorflow(engine.tf), *self._given(d), **self._how())

    tensorflow = lab

    def torch(self, engine: Any, d: Data) -> Run:
        return engine.trained(self.as_torch(engine.torch), *self._given(self._turn(d)), **self._how())

    def jax(self, engine: Any, d: Data) -> Run:
        return engine.trained(self.as_jax(engine.jax, engine.numpy), *self._given(d), **self._how())

    def allowed(self, output: str) -> float:
        """Adam moves a weight whose gradient is rounding error as far as any other, which no loss feels."""
        return 0.02 if self.optimizer == "Adam" and output != "losses" else self.tolerance

    def _how(self) -> dict[str, Any]:
        return {"steps": self.steps, "optimizer": self.optimizer, "rate": self.rate, "momentum": self.momentum}
