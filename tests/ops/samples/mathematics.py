"""Calls of the ops of mathematics that are not elementwise, or take parameters: complex parts, orders, segments."""

import numpy as np

from autodiff_lab.engine.op import Domain
from tests.ops.samples.arrays import AXES
from tests.ops.samples.core import Call, draw, normal, sampler


@sampler("widen", "real_part", "imaginary_part", "conj", "angle")
def _parts(rng: np.random.Generator) -> list[Call]:
    return [((draw(Domain(away_from=(0.0,)), s, rng),), {}) for s in ((), (2, 3))]


@sampler("complex", "nextafter")
def _complex(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, a, b), {}) for a, b in (((), ()), ((2, 3), (3,)))]


@sampler("clip")
def _clip(rng: np.random.Generator) -> list[Call]:
    x = rng.choice([-2.0, -0.3, 0.4, 2.0], (2, 3))
    low, high = rng.uniform(-1.5, -1.0, (3,)), rng.uniform(1.0, 1.5, (2, 1))
    return [((x, low, high), {}), ((np.array([-2.0, 0.5, 2.0]), np.array(-1.0), np.array(1.0)), {})]


POSITIVE = Domain(low=0.0)
PAIRS = [((), ()), ((2, 3), (3,)), ((2, 1), (1, 3))]


@sampler("bessel_iv", "bessel_ive", "bessel_jv")
def _bessel(rng: np.random.Generator) -> list[Call]:
    x = Domain(away_from=(0.0,))
    return [((draw(x, s, rng),), {"order": order}) for order in (1, 2, 3) for s in ((), (2, 3))]


@sampler("polygamma")
def _polygamma(rng: np.random.Generator) -> list[Call]:
    # The order has no derivative, so it comes as integers; so do the fixed arguments of the next two.
    return [((rng.integers(1, 4, a), draw(POSITIVE, b, rng) + 0.3), {}) for a, b in PAIRS]


@sampler("zeta")
def _zeta(rng: np.random.Generator) -> list[Call]:
    return [((rng.integers(2, 5, a), draw(POSITIVE, b, rng)), {}) for a, b in PAIRS]


@sampler("igamma", "igammac")
def _igamma(rng: np.random.Generator) -> list[Call]:
    return [((draw(POSITIVE, a, rng), draw(POSITIVE, b, rng)), {}) for a, b in PAIRS]


@sampler("igamma_grad")
def _igamma_grad(rng: np.random.Generator) -> list[Call]:
    return [((draw(POSITIVE, a, rng), draw(POSITIVE, b, rng)), {"order": 1}) for a, b in PAIRS]


@sampler("gamma_quantile")
def _gamma_quantile(rng: np.random.Generator) -> list[Call]:
    sides = [np.array(side) for side in (1.0, [1.0, -1.0, -1.0], [-1.0, 1.0, 1.0])]  # below the number, and above it
    return [
        ((draw(POSITIVE, a, rng) + 0.2, side * rng.uniform(0.1, 0.9, b)), {})
        for (a, b), side in zip(PAIRS, sides, strict=True)
    ]


@sampler("betainc")
def _betainc(rng: np.random.Generator) -> list[Call]:
    unit = Domain(low=0.0, high=1.0)
    return [((rng.integers(1, 4, a), rng.integers(1, 4, b), draw(unit, b, rng)), {}) for a, b in PAIRS]


ALONG = [((4,), -1), ((2, 3), -2), ((2, 3, 2), -2), ((2, 1), -1), ((2, 0), -1)]


@sampler("cumsum", "cumprod")
def _running(rng: np.random.Generator) -> list[Call]:
    ways = [(exclusive, reverse) for exclusive in (False, True) for reverse in (False, True)]
    return [
        (normal(rng, s), {"axis": axis, "exclusive": ways[k % 4][0], "reverse": ways[k % 4][1]})
        for k, (s, axis) in enumerate([*ALONG[:4], *ALONG[::-1]])
    ]


@sampler("running_top")
def _running_top(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s), {"axis": axis, "reverse": reverse}) for reverse in (False, True) for s, axis in ALONG]


@sampler("cumulative_logsumexp")
def _running_logsumexp(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s), {"axis": axis, "reverse": reverse}) for reverse in (False, True) for s, axis in ALONG[:4]]


@sampler("recurrence")
def _recurrence(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s, s), {"axis": axis, "reverse": reverse}) for reverse in (False, True) for s, axis in ALONG]


@sampler("logsumexp_shares")
def _shares(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s), {"axes": axes}) for s, axes, _ in [*AXES, ((0, 3), (-1,), False), ((2, 0), (-1,), False)]]


@sampler("prod", "euclidean_norm", "logsumexp")
def _reductions(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s), {"axes": axes, "keepdims": keep}) for s, axes, keep in AXES]


SEGMENTS = [((4,), [0, 0, 2, 2], 3), ((3, 2), [1, 0, 1], 2), ((2, 1, 2), [0, 1], 4), ((0, 2), [], 1)]


@sampler("segment_sum")
def _segment_sum(rng: np.random.Generator) -> list[Call]:
    return [((*normal(rng, s), np.asarray(ids, int)), {"count": count}) for s, ids, count in SEGMENTS]


@sampler("segment_max", "segment_min")
def _segment_extreme(rng: np.random.Generator) -> list[Call]:
    return [((*normal(rng, s), np.asarray(ids, int)), {"count": n, "empty": 0.0}) for s, ids, n in SEGMENTS]


@sampler("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift")
def _bits(rng: np.random.Generator) -> list[Call]:
    return [((rng.integers(-8, 8, a), rng.integers(0, 5, b)), {}) for a, b in PAIRS]


@sampler("invert", "population_count")
def _one_by_one(rng: np.random.Generator) -> list[Call]:
    return [((rng.integers(-8, 8, 5).astype(np.int8),), {})]


@sampler("bitcast")
def _bitcast(rng: np.random.Generator) -> list[Call]:
    return [((rng.integers(-8, 8, s),), {"dtype": "float64"}) for s in ((3,), (2, 2))]


@sampler("invert_permutation")
def _permutation(rng: np.random.Generator) -> list[Call]:
    return [((rng.permutation(5),), {})]


@sampler("in_top_k")
def _in_top_k(rng: np.random.Generator) -> list[Call]:
    return [((rng.integers(0, 4, 5), *normal(rng, (5, 4))), {"k": 2})]
