"""Calls of the ops of networks and images: softmax, losses, convolution, pooling."""

from typing import Any

import numpy as np

from autodiff_lab.engine.op import Domain
from tests.ops.samples.core import Call, draw, normal, sampler


@sampler("softmax", "log_softmax")
def _softmax(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s), {"axis": axis}) for s, axis in (((3,), -1), ((2, 3), -2), ((2, 3, 2), -2), ((0, 3), -1))]


@sampler("softmax_grad", "log_softmax_grad")
def _softmax_grad(rng: np.random.Generator) -> list[Call]:
    calls = (((3,), -1), ((2, 3), -2), ((2, 3, 2), -2), ((0, 3), -1))
    return [((*normal(rng, s), rng.dirichlet(np.ones(s[-1]), s[:-1])), {"axis": axis}) for s, axis in calls]


@sampler("softmax_cross_entropy")
def _cross_entropy(rng: np.random.Generator) -> list[Call]:
    return [((*normal(rng, s), rng.dirichlet(np.ones(s[-1]), s[:-1])), {}) for s in ((3,), (2, 3), (2, 2, 4))]


@sampler("softmax_cross_entropy_grad")
def _cross_entropy_slope(rng: np.random.Generator) -> list[Call]:
    shapes = ((3,), (2, 3), (2, 2, 4))
    return [((*normal(rng, s[:-1], s), rng.dirichlet(np.ones(s[-1]), s[:-1])), {}) for s in shapes]


@sampler("sparse_softmax_cross_entropy_grad")
def _numbered_cross_entropy_slope(rng: np.random.Generator) -> list[Call]:
    return [((*normal(rng, s, (*s, 4)), rng.integers(0, 4, s)), {}) for s in ((), (3,), (2, 3), (0,))]


@sampler("sparse_softmax_cross_entropy", "softmax_minus_label")
def _numbered_cross_entropy(rng: np.random.Generator) -> list[Call]:
    return [((*normal(rng, (*s, 4)), rng.integers(0, 4, s)), {}) for s in ((), (3,), (2, 3), (0,))]


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


@sampler("max_pool")
def _max_pool(rng: np.random.Generator) -> list[Call]:
    """Shuffled whole numbers: no two are near each other, so no difference crosses a kink."""
    return [((rng.permutation(int(np.prod(x))).reshape(x) * 0.5,), how) for x, _, how in POOLS]


@sampler("max_pool_input")
def _max_pool_input(rng: np.random.Generator) -> list[Call]:
    return [((*normal(rng, out), rng.permutation(int(np.prod(x))).reshape(x) * 0.5), how) for x, out, how in POOLS]


@sampler("max_pool_pick")
def _max_pool_pick(rng: np.random.Generator) -> list[Call]:
    return [((*normal(rng, x), rng.permutation(int(np.prod(x))).reshape(x) * 0.5), how) for x, _, how in POOLS]


@sampler("average_pool")
def _average_pool(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, x), how) for x, _, how in POOLS]


@sampler("average_pool_input")
def _average_pool_input(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, out), {"shape": x, **how}) for x, out, how in POOLS]


def _sizes(method: str, antialias: bool, height: int, width: int) -> dict[str, Any]:
    return {"height": height, "width": width, "method": method, "antialias": antialias}


RESIZINGS = [
    ((1, 2, 3, 1), (1, 4, 2, 1), _sizes("bilinear", False, 4, 2)),
    ((3, 5, 2), (4, 2, 2), _sizes("bicubic", True, 4, 2)),
    ((2, 1, 4, 1), (2, 3, 3, 1), _sizes("area", False, 3, 3)),
    ((1, 3, 3, 1), (1, 3, 2, 1), _sizes("mitchellcubic", True, 3, 2)),
    ((2, 4, 1), (4, 2, 1), _sizes("nearest", False, 4, 2)),
]


@sampler("resize")
def _resize(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, x), how) for x, _, how in RESIZINGS]


@sampler("resize_input")
def _resize_input(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, out), {**how, "height": x[-3], "width": x[-2]}) for x, out, how in RESIZINGS]


@sampler("adjust_contrast")
def _contrast(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, (3, 2, 2), ()), {})]


@sampler("leaky_relu")
def _leaky_relu(rng: np.random.Generator) -> list[Call]:
    kinked = Domain(away_from=(0.0,))
    return [((draw(kinked, s, rng),), {"alpha": alpha}) for s, alpha in (((), 0.3), ((2, 3), 0.25), ((0, 2), 0.5))]


@sampler("huber")
def _huber(rng: np.random.Generator) -> list[Call]:
    bent = Domain(away_from=(-0.75, 0.75))
    return [((draw(bent, s, rng),), {"delta": 0.75}) for s in ((), (2, 3), (0, 2))]


@sampler("l2_loss")
def _half_square(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s), {}) for s in ((), (3,), (2, 3), (0, 2))]


# Input, filter, output and settings of small depthwise convolutions over one and two axes.
DEPTHWISE = [
    ((1, 5, 2), (3, 2, 2), (1, 3, 4), _window((1,), ((0, 0),), (1,))),
    ((2, 4, 4, 2), (2, 3, 2, 1), (2, 2, 2, 2), _window((2, 2), ((0, 0), (0, 1)), (1, 1))),
    ((1, 5, 5, 1), (2, 2, 1, 3), (1, 3, 3, 3), _window((1, 1), ((0, 0), (0, 0)), (2, 2))),
]


@sampler("depthwise")
def _depthwise(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, x, w), how) for x, w, _, how in DEPTHWISE]


@sampler("depthwise_input")
def _depthwise_input(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, out, w), {"shape": x, **how}) for x, w, out, how in DEPTHWISE]


@sampler("depthwise_filter")
def _depthwise_filter(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, x, out), {"window": w[:-2], **how}) for x, w, out, how in DEPTHWISE]


@sampler("isotonic_blocks")
def _isotonic_blocks(rng: np.random.Generator) -> list[Call]:
    """Whole numbers, which every dtype holds, so that no rounding moves an edge of a block."""
    return [((rng.permutation(6).astype(float).reshape(s),), {}) for s in ((6,), (2, 3), (3, 1, 2))]


@sampler("block_mean")
def _block_mean(rng: np.random.Generator) -> list[Call]:
    return [
        ((*normal(rng, s), np.sort(rng.integers(0, 3, s), -1).astype(np.int32)), {}) for s in ((5,), (2, 4), (2, 1, 3))
    ]
