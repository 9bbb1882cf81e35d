"""Calls of the ops that sort, repeat, pad and scatter."""

import numpy as np

from tests.ops.samples.core import Call, normal, sampler

ALONG = [((4,), -1), ((2, 3), -2), ((2, 3, 2), -2), ((2, 0), -1)]


@sampler("take_along")
def _take_along(rng: np.random.Generator) -> list[Call]:
    calls = [((4,), [3, 1, 1], -1), ((2, 3), [[2, 0], [1, 1]], -1), ((3, 2), [[2, 0]], -2)]
    return [((*normal(rng, s), np.asarray(at)), {"axis": axis}) for s, at, axis in calls]


@sampler("put_along")
def _put_along(rng: np.random.Generator) -> list[Call]:
    calls = [((3,), [3, 1, 1], -1, 4), ((2, 2), [[2, 0], [1, 1]], -1, 3), ((1, 2), [[2, 0]], -2, 3)]
    return [((*normal(rng, s), np.asarray(at)), {"axis": axis, "length": n}) for s, at, axis, n in calls]


@sampler("argsort")
def _argsort(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s), {"axis": axis, "descending": falls}) for s, axis in ALONG for falls in (False, True)]


@sampler("top_positions")
def _top(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s), {"k": k}) for s, k in (((4,), 2), ((2, 3), 3), ((2, 3), 0))]


@sampler("unique", "unique_numbers", "unique_counts")
def _unique(rng: np.random.Generator) -> list[Call]:
    return [((rng.integers(0, 4, n),), {}) for n in (0, 1, 9)]


@sampler("searchsorted")
def _search(rng: np.random.Generator) -> list[Call]:
    return [
        ((np.sort(rng.integers(0, 5, s)), rng.integers(-1, 6, v)), {"side": side})
        for s, v in (((4,), (3,)), ((4,), ()), ((2, 4), (2, 3)))
        for side in ("left", "right")
    ]


@sampler("tile")
def _tile(rng: np.random.Generator) -> list[Call]:
    calls = [((), ()), ((3,), (2,)), ((2, 3), (3, 1)), ((2, 1), (1, 2)), ((2, 2), (0, 2)), ((0, 2), (2, 2))]
    return [(normal(rng, s), {"multiples": times}) for s, times in calls]


@sampler("repeat")
def _repeat(rng: np.random.Generator) -> list[Call]:
    calls = [((3,), 2, -1), ((2, 3), 3, -1), ((2, 3), 2, -2), ((3,), 9, -1), ((2, 3), 0, -1), ((2, 0), 2, -1)]
    return [(normal(rng, s), {"count": count, "axis": axis}) for s, count, axis in calls]


@sampler("roll")
def _roll(rng: np.random.Generator) -> list[Call]:
    calls = [
        ((4,), (1,), (-1,)),
        ((2, 3), (-1, 4), (-2, -1)),
        ((2, 0), (1,), (-1,)),
        ((2, 3, 2), (1, 0, -1), (-3, -2, -1)),
        ((2, 3), (0, 2), (-2, -1)),
        ((2, 3), (2, -3), (-2, -1)),
    ]
    return [(normal(rng, s), {"shifts": shifts, "axes": axes}) for s, shifts, axes in calls]


@sampler("reverse")
def _reverse(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s), {"axes": axes}) for s, axes in (((4,), (-1,)), ((2, 3), (-2, -1)), ((2, 3), ()))]


@sampler("pad")
def _pad(rng: np.random.Generator) -> list[Call]:
    calls = [((), ()), ((3,), ((1, 2),)), ((2, 3), ((0, 1), (2, 0))), ((0, 2), ((1, 0), (0, 0)))]
    return [(normal(rng, s), {"paddings": widths, "value": 0.5}) for s, widths in calls]


SCATTERED = [((4,), (3,), [[1], [3], [1]]), ((2, 3), (2,), [[0, 1], [1, 2]]), ((2, 3), (1, 3), [[1]])]


@sampler("tensor_scatter_nd_add", "tensor_scatter_nd_sub", "tensor_scatter_nd_max", "tensor_scatter_nd_min")
def _scattered(rng: np.random.Generator) -> list[Call]:
    return [((*normal(rng, s, u), np.asarray(at)), {}) for s, u, at in SCATTERED]
