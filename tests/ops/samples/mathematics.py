"""Calls of the ops of mathematics that are not elementwise, or take parameters: complex parts, orders, segments."""

import numpy as np

from autodiff_lab.engine.op import Domain
from tests.ops.samples.core import Call, draw, normal, sampler


@sampler("widen", "real_part", "imaginary_part", "conj", "angle")
def _parts(rng: np.random.Generator) -> list[Call]:
    return [((draw(Domain(away_from=(0.0,)), s, rng),), {}) for s in ((), (2, 3))]


@sampler("complex")
def _complex(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, a, b), {}) for a, b in (((), ()), ((2, 3), (3,)))]


@sampler("clip")
def _clip(rng: np.random.Generator) -> list[Call]:
    x = rng.choice([-2.0, -0.3, 0.4, 2.0], (2, 3))
    low, high = rng.uniform(-1.5, -1.0, (3,)), rng.uniform(1.0, 1.5, (2, 1))
    return [((x, low, high), {}), ((np.array([-2.0, 0.5, 2.0]), np.array(-1.0), np.array(1.0)), {})]
