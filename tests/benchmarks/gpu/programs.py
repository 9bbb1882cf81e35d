"""The measured programs, each written once for all libraries; an `Engine` translates the ops to its library.

Sizes come in three scales: ``full`` is timed, ``check`` is compared with this project's CPU engine in float64 before
that, ``tiny`` is what the CUDA simulator can run.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from tests.benchmarks.cases.case import SEED

Arrays = dict[str, Any]
Run = Callable[[], tuple[Any, ...]]
SCALES = ("full", "check", "tiny")
LAB, FUNCTION = "lab", "lab-function"


@dataclass(frozen=True)
class Program:
    """One row of the table.

    Attributes
    ----------
    name, title : str
        For the command line and for people; braces in the title stand for the sizes.
    sizes : dict of str to tuple of int
        By scale.
    inputs : callable
        Generator of random numbers and sizes in, arrays by name out.
    make : callable
        Engine and arrays of it in, the call to be timed out.
    least : callable
        Sizes in, bytes out: each input that varies read once and each output written once, which no implementation
        can do with less; 0 where arithmetic is the limit.
    kinds : tuple of str
        Of each output: ``"images"`` (NHWC), ``"filters"`` (HWIO) or ``""``, so that libraries with other layouts put
        them right.
    tolerance : float
        The largest error of an output, relative to its largest magnitude.
    apart : frozenset of str
        Libraries that take no part.
    times : int
        Calls in a row that make one sample at least; for calls that take as long as their launch.
    """

    name: str
    title: str
    sizes: dict[str, tuple[int, ...]]
    inputs: Callable[..., Arrays]
    make: Callable[[Any, Arrays], Run]
    least: Callable[..., int] = lambda *sizes: 0
    kinds: tuple[str, ...] = ("",)
    tolerance: float = 1e-4
    apart: frozenset[str] = field(default_factory=frozenset)
    times: int = 1

    def data(self, scale: str) -> Arrays:
        """The inputs, the same in every process."""
        return self.inputs(np.random.default_rng([SEED, zlib.crc32(self.name.encode())]), *self.sizes[scale])

    @property
    def heading(self) -> str:
        """The title with the sizes that are timed."""
        return self.title.format(*(f"{size:,}" for size in self.sizes["full"]))


PROGRAMS: dict[str, Program] = {}
DRAWN = (1 << 22) + 1
"""Random numbers of an array at most; larger ones repeat them, as times do not depend on values."""


def noise(draw: np.random.Generator, *shape: int, scale: float = 1.0) -> np.ndarray:
    """Normal float32 numbers."""
    drawn = draw.standard_normal(min(prod(shape), DRAWN), np.float32)
    drawn *= np.float32(scale)
    return np.resize(drawn, shape)


def program(name: str, title: str, full: Any, check: Any, tiny: Any, **more: Any) -> None:
    """Add a program to the list."""
    PROGRAMS[name] = Program(name, title, {"full": full, "check": check, "tiny": tiny}, **more)


def _uniform_pair(draw: np.random.Generator, count: int) -> Arrays:
    first = draw.random(count, np.float32) * 2 - 1
    return {"x": first, "y": draw.random(count, np.float32) + np.float32(0.5)}


def _chain(e: Any, x: Any, y: Any) -> Any:
    grown = e.exp(x)
    bent = e.tanh(grown * y + x)
    root = e.sqrt(bent * bent + y)
    wave = e.sin(e.log1p(root))
    return e.sum((wave * grown - bent) / root)


program(
    "elementwise", "12 ops on {} numbers and their sum, value and gradients", (1 << 24,), (100_003,), (301,),
    inputs=_uniform_pair, make=lambda e, d: e.gradients(lambda x, y: _chain(e, x, y), [d["x"], d["y"]]),
    least=lambda count: 16 * count, kinds=("", "", ""),
)  # fmt: skip


def _logits(draw: np.random.Generator, rows: int, classes: int) -> Arrays:
    return {"x": noise(draw, rows, classes), "labels": draw.integers(0, classes, rows)}


program(
    "softmax_xent", "softmax cross-entropy {} × {}, value and gradient", (8192, 32_000), (67, 3_001), (3, 35),
    inputs=_logits, make=lambda e, d: e.gradients(e.cross_entropy, [d["x"]], d["labels"]),
    least=lambda rows, classes: 8 * rows * classes, kinds=("", ""),
)  # fmt: skip


def _photographs(draw: np.random.Generator, count: int, side: int, channels: int, filters: int) -> Arrays:
    return {
        "x:images": noise(draw, count, side, side, channels),
        "w:filters": noise(draw, 3, 3, channels, filters, scale=(9 * channels) ** -0.5),
        "g:images": noise(draw, count, side, side, filters),
    }


_CONVOLUTION: Any = {"full": (256, 56, 64, 64), "check": (3, 13, 10, 20), "tiny": (1, 4, 2, 3), "inputs": _photographs}
program(
    "conv_forward", "convolution {0} × {1} × {1} × {2}, 3 × 3, {3} filters", **_CONVOLUTION,
    make=lambda e, d: e.value(e.convolution, d["x"], d["w"]), kinds=("images",),
)  # fmt: skip
program(
    "conv_input", "the same, gradient with respect to the images", **_CONVOLUTION,
    kinds=("images",), apart=frozenset({FUNCTION}),
    make=lambda e, d: e.pull(e.convolution, [d["x"], d["w"]], 0, d["g"]),
)  # fmt: skip
program(
    "conv_filters", "the same, gradient with respect to the filters", **_CONVOLUTION, kinds=("filters",),
    apart=frozenset({FUNCTION}), make=lambda e, d: e.pull(e.convolution, [d["x"], d["w"]], 1, d["g"]),
)  # fmt: skip


def _layers(draw: np.random.Generator, batch: int, width: int, depth: int) -> Arrays:
    weights = {f"w{i}": noise(draw, width, width, scale=width**-0.5) for i in range(depth)}
    biases = {f"b{i}": np.zeros(width, np.float32) for i in range(depth)}
    x, y = (noise(draw, batch, width) for _ in "xy")
    return {**weights, **biases, "x": x, "y": y}


def _network(e: Any, weights: list[Any], x: Any, y: Any) -> Any:
    depth = len(weights) // 2
    for at in range(depth):
        x = x @ weights[at] + weights[depth + at]
        x = e.relu(x) if at < depth - 1 else x
    return e.mean((x - y) * (x - y))


program(
    "mlp_step", "training step of a network, batch {}, {} wide, {} layers", (4096, 4096, 3), (33, 50, 3), (3, 4, 3),
    inputs=_layers, kinds=("", ""),
    make=lambda e, d: e.train(
        lambda weights, x, y: _network(e, weights, x, y), [v for k, v in d.items() if k[0] in "wb"], d["x"], d["y"], 0.5
    ),
)  # fmt: skip
program(
    "matmul", "matrix product {} × {} × {}", (4096, 4096, 4096), (130, 70, 131), (5, 6, 7),
    inputs=lambda draw, m, k, n: {"x": noise(draw, m, k), "y": noise(draw, k, n)},
    make=lambda e, d: e.value(lambda x, y: x @ y, d["x"], d["y"]), apart=frozenset({FUNCTION}),
)  # fmt: skip
program(
    "product_tiles", "the same by our kernel, a number a thread", (4096, 4096, 4096), (130, 70, 131), (5, 6, 7),
    inputs=lambda draw, m, k, n: {"x": noise(draw, m, k), "y": noise(draw, k, n)},
    make=lambda e, d: e.product_by_kernel(d["x"], d["y"]), apart=frozenset({FUNCTION, "torch", "jax"}),
)  # fmt: skip
