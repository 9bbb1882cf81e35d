"""The definition of a case: inputs made from a seed, and one method per library that returns the call to be timed.

The methods are named after the families of libraries (``numpy``, ``lab``, ``torch``, ``jax``, ``autograd``,
``micrograd``); a missing method means that the library does not offer this.  ``numpy`` is written by hand, forward
and backward: in float64 it is the oracle for all others, in float32 the floor that no library needs to reach.

Images are NHWC and filters HWIO everywhere; for libraries with another layout they are converted before timing starts.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

SEED = 20_240_607
Data = dict[str, Any]
Run = Callable[[], Any]
"""What is timed: no arguments, and the outputs in the order of `Case.outputs`."""


@dataclass(frozen=True)
class Rows:
    """A sparse gradient: rows and their positions. Rows with the same position add up."""

    places: np.ndarray
    rows: np.ndarray
    shape: tuple[int, ...]

    def dense(self) -> np.ndarray:
        """The whole array."""
        whole = np.zeros(self.shape, self.rows.dtype)
        np.add.at(whole, self.places, self.rows)
        return whole


class Case:
    """One row of the table."""

    name: str
    size: str
    outputs: tuple[str, ...]
    tolerance: ClassVar[float] = 1e-4
    """The largest error of an output, relative to its largest magnitude."""
    memory: ClassVar[bool] = False
    """Whether peak memory is a figure of this case."""
    sparse: ClassVar[bool] = False
    """Whether a gradient with only some of the rows is what is asked for."""
    layouts: dict[str, dict[str, Callable[[np.ndarray], np.ndarray]]] = {}  # noqa: RUF012
    """Per family, how an output gets back into the common layout."""

    def inputs(self, draw: np.random.Generator, *, small: bool) -> Data:
        """The arrays to begin with; small ones where values are checked and nothing is timed."""
        raise NotImplementedError

    def data(self, *, small: bool = False) -> Data:
        """The inputs, the same in every process."""
        return self.inputs(np.random.default_rng([SEED, zlib.crc32(self.name.encode())]), small=small)

    def allowed(self, output: str) -> float:
        """The largest error of one output."""
        return self.tolerance

    def offered_by(self, family: str) -> bool:
        """Whether a family of libraries has this case."""
        return hasattr(self, family)


def normal(draw: np.random.Generator, *shape: int, scale: float = 1.0) -> np.ndarray:
    """Normal float32 numbers."""
    return (draw.standard_normal(shape) * scale).astype(np.float32)


def cross_entropy(logits: np.ndarray, labels: np.ndarray) -> tuple[Any, np.ndarray]:
    """By hand: the mean cross entropy of class numbers, and its gradient with respect to the logits."""
    shares = logits - logits.max(axis=1, keepdims=True)
    rows = np.arange(len(labels))
    chosen = shares[rows, labels]
    np.exp(shares, out=shares)
    totals = shares.sum(axis=1, keepdims=True)
    value = (np.log(totals[:, 0]) - chosen).mean()
    shares /= totals
    shares[rows, labels] -= 1
    shares /= logits.dtype.type(len(labels))
    return value, shares


def nchw(images: np.ndarray) -> np.ndarray:
    """NHWC images as NCHW."""
    return np.ascontiguousarray(images.transpose(0, 3, 1, 2))


def nhwc(images: np.ndarray) -> np.ndarray:
    """NCHW images as NHWC."""
    return images.transpose(0, 2, 3, 1)


def oihw(filters: np.ndarray) -> np.ndarray:
    """HWIO filters as OIHW."""
    return np.ascontiguousarray(filters.transpose(3, 2, 0, 1))


def hwio(filters: np.ndarray) -> np.ndarray:
    """OIHW filters as HWIO."""
    return filters.transpose(2, 3, 1, 0)


def images_to_rows(xp: Any, x: Any, height: int, width: int) -> Any:
    """Every window of NHWC images as one row, for libraries without a convolution (``xp``: a module like NumPy)."""
    count, rows, columns, channels = x.shape
    rows, columns = rows - height + 1, columns - width + 1
    windows = [x[:, i : i + rows, j : j + columns] for i in range(height) for j in range(width)]
    return xp.reshape(xp.concatenate(windows, axis=3), (count * rows * columns, height * width * channels))
