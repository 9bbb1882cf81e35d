"""Memory-bound programs: reductions, rows gathered and scattered, normalization, pooling, cumulative sums."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tests.benchmarks.gpu.programs import FUNCTION, Arrays, noise, program

ONE_WAY = frozenset({FUNCTION})
"""Single ops, which a compiled program would not change."""


def _matrix(draw: np.random.Generator, *shape: int) -> Arrays:
    return {"x": noise(draw, *shape)}


for name, title, axis in (("sum_all", "all", None), ("sum_rows", "each row", 1), ("sum_columns", "each column", 0)):
    program(
        name, f"sum of {title}, {{}} × {{}}", (16_384, 16_384), (301, 517), (5, 37), inputs=_matrix, apart=ONE_WAY,
        make=lambda e, d, axis=axis: e.value(lambda x: e.sum(x, axis), d["x"]),
        least=lambda rows, columns: 4 * rows * columns, tolerance=1e-3,
    )  # fmt: skip


def _rows(draw: np.random.Generator, count: int, width: int) -> Arrays:
    return {"x": noise(draw, count, width), "places": draw.permutation(count)}


def _moved(count: int, width: int) -> int:
    return 8 * count * width + 8 * count


program(
    "gather", "{} rows of {} numbers gathered in another order", (1 << 20, 128), (1000, 128), (6, 5), inputs=_rows,
    apart=ONE_WAY, make=lambda e, d: e.value(e.gather, d["x"], d["places"]), least=_moved,
)  # fmt: skip
program(
    "scatter", "{} rows of {} numbers added up at places that differ", (1 << 20, 128), (1000, 128), (6, 5),
    inputs=_rows, apart=ONE_WAY, make=lambda e, d: e.value(e.scatter, d["x"], d["places"]), least=_moved,
)  # fmt: skip
program(
    "cumsum", "running sums along rows, {} × {}", (8192, 32_000), (33, 2_001), (3, 35), inputs=_matrix, apart=ONE_WAY,
    make=lambda e, d: e.value(e.cumsum, d["x"]), least=lambda rows, columns: 8 * rows * columns, tolerance=1e-3,
)  # fmt: skip


def _layer(draw: np.random.Generator, *shape: int) -> Arrays:
    width = shape[-1]
    mark = ":images" if len(shape) == 4 else ""
    return {
        f"x{mark}": noise(draw, *shape),
        "gamma": noise(draw, width) + 1,
        "beta": noise(draw, width),
        f"g{mark}": noise(draw, *shape),
    }


def _weighted(e: Any, normalised: Any) -> Any:
    return lambda x, gamma, beta, g: e.sum(normalised(x, gamma, beta) * g)


_NORMALISED: Any = {"least": lambda *shape: 12 * prod(shape), "inputs": _layer, "tolerance": 1e-3}
program(
    "layer_norm", "layer normalisation {} × {}, value and gradients", (16_384, 4096), (65, 301), (3, 34),
    make=lambda e, d: e.gradients(_weighted(e, e.layer_norm), [d["x"], d["gamma"], d["beta"]], d["g"]),
    kinds=("", "", "", ""), **_NORMALISED,
)  # fmt: skip
program(
    "batch_norm", "batch normalisation {} × {} × {} × {}, value and gradients", (256, 56, 56, 64), (3, 7, 9, 5),
    (2, 3, 3, 2), **_NORMALISED, kinds=("", "images", "", ""),
    make=lambda e, d: e.gradients(_weighted(e, e.batch_norm), [d["x"], d["gamma"], d["beta"]], d["g"]),
)  # fmt: skip
program(
    "max_pool", "max pooling 2 × 2 of {} × {} × {} × {}, value and gradient", (256, 56, 56, 64), (3, 8, 10, 5),
    (1, 4, 4, 2), kinds=("", "images"),
    inputs=lambda draw, *shape: {"x:images": noise(draw, *shape)},
    make=lambda e, d: e.gradients(lambda x: e.sum(e.square(e.max_pool(x))), [d["x"]]),
    least=lambda *shape: 8 * prod(shape), tolerance=1e-3,
)  # fmt: skip
program(
    "small_op", "a sum of two arrays of {} numbers: what a launch costs", (1024,), (1024,), (33,),
    inputs=lambda draw, count: {"x": noise(draw, count), "y": noise(draw, count)},
    make=lambda e, d: e.value(lambda x, y: x + y, d["x"], d["y"]), times=500,
)  # fmt: skip
