"""Calls of the ops of networks and images: softmax, losses, convolution, pooling."""

from typing import Any

import numpy as np

from tests.ops.samples.core import Call, normal, sampler


@sampler("softmax", "log_softmax")
def _softmax(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s), {"axis": axis}) for s, axis in (((3,), -1), ((2, 3), -2), ((2, 3, 2), -2), ((0, 3), -1))]


@sampler("softmax_cross_entropy")
def _cross_entropy(rng: np.random.Generator) -> list[Call]:
    return [((*normal(rng, s), rng.dirichlet(np.ones(s[-1]), s[:-1])), {}) for s in ((3,), (2, 3), (2, 2, 4))]


def _window(strides: tuple[int, ...], padding: Any, dilations: tuple[int, ...]) -> dict[str, Any]:
    return {"strides": strides, "padding": padding, "dilations": dilations}


# Input, filter, output and settings of small convolutions over one and two axes.
CONVOLUTIONS = [
    ((1, 5, 2), (3, 2, 2), (1, 3, 2), _window((1,), ((0, 0),), (1,))),
    ((2, 6, 1), (2, 1, 2), (2, 3, 2), _window((2,), ((0, 0),), (1,))),
    ((1, 4, 4, 1), (2, 3, 1, 2), (1, 4, 4, 2), _window((1, 1), ((0, 1), (1, 1)), (1, 1))),
    ((1, 5, 5, 2), (2, 2, 2, 1), (1, 3, 3, 1), _window((1, 1), ((0, 0), (0, 0)), (2, 2))),
]


@sampler("convolve")
def _convolve(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, x, w), how) for x, w, _, how in CONVOLUTIONS]


@sampler("convolve_input")
def _convolve_input(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, out, w), {"shape": x, **how}) for x, w, out, how in CONVOLUTIONS]


@sampler("convolve_filter")
def _convolve_filter(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, x, out), {"window": w[:-2], **how}) for x, w, out, how in CONVOLUTIONS]


# Input, output and settings of small poolings.
POOLS = [
    ((1, 6, 2), (1, 3, 2), {"window": (2,), "strides": (2,), "padding": ((0, 0),)}),
    ((2, 4, 5, 1), (2, 3, 3, 1), {"window": (2, 3), "strides": (1, 1), "padding": ((0, 0), (0, 0))}),
    ((1, 3, 3, 1), (1, 2, 2, 1), {"window": (2, 2), "strides": (2, 2), "padding": ((0, 1), (0, 1))}),
]


@sampler("max_pool", "max_positions")
def _max_pool(rng: np.random.Generator) -> list[Call]:
    """Shuffled whole numbers: no two are near each other, so no difference crosses a kink."""
    return [((rng.permutation(int(np.prod(x))).reshape(x) * 0.5,), how) for x, _, how in POOLS]


@sampler("average_pool")
def _average_pool(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, x), how) for x, _, how in POOLS]


@sampler("average_pool_input")
def _average_pool_input(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, out), {"shape": x, **how}) for x, out, how in POOLS]


@sampler("adjust_contrast")
def _contrast(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, (3, 2, 2), ()), {})]
