"""Calls of Fourier transforms, on real numbers; complex ones are tested in a separate file."""

import numpy as np

from tests.ops.samples.core import Call, normal, sampler


@sampler("fft", "ifft", "rfft")
def _transforms(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s), {"rank": rank}) for s, rank in (((4,), 1), ((2, 5), 1), ((3, 4), 2), ((2, 2, 3), 2))]


@sampler("irfft")
def _from_half(rng: np.random.Generator) -> list[Call]:
    calls = [((3,), 1, 4), ((3,), 1, 5), ((2, 3), 1, 4), ((3, 2), 2, 3), ((2, 2, 3), 2, 4)]
    return [(normal(rng, s), {"rank": rank, "length": n}) for s, rank, n in calls]


@sampler("mirror_weights")
def _weights(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, (2, 3)), {"length": n, "count": n}) for n in (4, 5)]
