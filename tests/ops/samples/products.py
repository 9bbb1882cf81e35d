"""Calls of matrix products and of the gradient of a power."""

import numpy as np

from autodiff_lab.engine.op import Domain
from tests.ops.samples.core import Call, draw, normal, sampler


@sampler("power_grad")
def _power_grad(rng: np.random.Generator) -> list[Call]:
    return [
        ((draw(Domain(low=0.0), a, rng), *normal(rng, b)), {"order": order})
        for order in (1, 2, 3)
        for a, b in (((), ()), ((2, 3), (3,)), ((2, 1), (1, 3)))
    ]


@sampler("matmul")
def _matmul(rng: np.random.Generator) -> list[Call]:
    pairs = [
        ((2, 3), (3, 4)),
        ((3,), (3,)),
        ((3,), (3, 2)),
        ((2, 3), (3,)),
        ((5, 2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)),
        ((5, 1, 2, 3), (4, 3, 2)),
        ((3,), (2, 3, 4)),
        ((2, 2, 3), (3,)),
        ((2, 0), (0, 3)),
        ((0, 2), (2, 3)),
    ]
    return [(normal(rng, a, b), {}) for a, b in pairs]


@sampler("sparse_matmul")
def _sparse_matmul(rng: np.random.Generator) -> list[Call]:
    calls = [([[0, 1], [2, 0], [2, 1]], (2, 4), 3), ([[1, 1], [1, 1]], (2, 1), 2)]
    return [((*normal(rng, (len(at),), s), np.asarray(at)), {"rows": rows}) for at, s, rows in calls]
