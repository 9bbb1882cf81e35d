"""Calls of the ops on arrays: shapes, joins, slices, gathers, selections, reductions."""

import numpy as np

from tests.ops.samples.core import Call, normal, sampler


@sampler("identity", "stop_gradient")
def _same(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s), {}) for s in ((), (3,), (2, 1, 3), (0, 2))]


@sampler("copy_to_device")
def _copies(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s), {"device": "/CPU:0"}) for s in ((), (2, 3), (0,))]


@sampler("after")
def _after(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s, t), {}) for s, t in (((), ()), ((3,), (2, 2)), ((0, 2), (1,)))]


@sampler("cast", "cast_to_discrete")
def _casts(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s), {"dtype": "float64"}) for s in ((), (2, 3), (0,))]


@sampler("reshape")
def _reshape(rng: np.random.Generator) -> list[Call]:
    pairs = [((2, 3), (3, 2)), ((6,), (1, 2, 3)), ((), (1, 1)), ((1,), ()), ((0, 3), (3, 0, 2))]
    return [(normal(rng, old), {"shape": new}) for old, new in pairs]


@sampler("broadcast_to")
def _broadcast(rng: np.random.Generator) -> list[Call]:
    pairs = [((3,), (2, 3)), ((2, 1), (4, 2, 3)), ((), (2, 2)), ((1, 1), (1, 3)), ((1,), (0,)), ((), ())]
    return [(normal(rng, old), {"shape": new}) for old, new in pairs]


@sampler("linspace")
def _linspace(rng: np.random.Generator) -> list[Call]:
    cases = [((), 4, -1), ((), 1, -1), ((3,), 5, -2), ((2, 1), 3, -1), ((2, 3), 2, -3), ((0,), 2, -1)]
    return [(normal(rng, s, s), {"num": num, "axis": axis}) for s, num, axis in cases]


@sampler("transpose")
def _transpose(rng: np.random.Generator) -> list[Call]:
    pairs = [((2, 3), (-1, -2)), ((2, 3, 4), (-1, -3, -2)), ((2, 3, 1, 2), (-3, -1, -4, -2)), ((3,), (-1,)), ((), ())]
    return [(normal(rng, s), {"perm": perm}) for s, perm in [*pairs, ((0, 2), (-1, -2))]]


AXES: list[tuple[tuple[int, ...], tuple[int, ...], bool]] = [
    ((3,), (-1,), False),
    ((2, 3), (-2,), False),
    ((2, 3), (-2, -1), True),
    ((2, 3, 4), (-3, -1), False),
    ((2, 1, 3, 2), (-4, -2), True),
    ((), (), False),
    ((2, 2), (), False),
]


@sampler("sum", "mean")
def _sums(rng: np.random.Generator) -> list[Call]:
    empty = [((0, 3), (-1,), False), ((2, 0), (-2,), True)]
    return [(normal(rng, s), {"axes": axes, "keepdims": keep}) for s, axes, keep in AXES + empty]


@sampler("extreme_grad")
def _extreme_slope(rng: np.random.Generator) -> list[Call]:
    calls: list[Call] = []
    for shape, axes in (((4,), (-1,)), ((3, 4), (-1,)), ((3, 4), (-2,)), ((2, 3, 4), (-3, -1)), ((3, 4), ())):
        x = rng.integers(0, 3, shape)  # whole numbers: what they choose does not change smoothly
        best = x.max(axes, keepdims=True)
        calls.append(((rng.normal(size=best.shape), best, x), {"axes": axes}))
    return calls


@sampler("max", "min")
def _extremes(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s), {"axes": axes, "keepdims": keep}) for s, axes, keep in [*AXES, ((0, 3), (-1,), False)]]


@sampler("any", "all")
def _logic(rng: np.random.Generator) -> list[Call]:
    return [((rng.random(s) < 0.6,), {"axes": axes, "keepdims": keep}) for s, axes, keep in AXES]


@sampler("concat")
def _concat(rng: np.random.Generator) -> list[Call]:
    return [
        (normal(rng, (2,), (3,)), {"axis": -1}),
        (normal(rng, (2, 3), (1, 3), (2, 3)), {"axis": -2}),
        (normal(rng, (2, 1, 2), (2, 0, 2)), {"axis": -2}),
    ]


@sampler("stack")
def _stack(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s, s, s), {"axis": axis}) for s, axis in (((), -1), ((2,), -2), ((2, 3), -1), ((0, 2), -2))]


@sampler("slice_axis")
def _slice_axis(rng: np.random.Generator) -> list[Call]:
    calls = [((4,), -1, 1, 3), ((3, 4), -2, 0, 2), ((3, 4), -1, 2, 2)]
    return [(normal(rng, s), {"axis": axis, "start": start, "stop": stop}) for s, axis, start, stop in calls]


@sampler("pad_axis")
def _pad_axis(rng: np.random.Generator) -> list[Call]:
    calls = [((2,), -1, 1, 2), ((2, 3), -2, 0, 1), ((2, 0), -1, 2, 0)]
    return [(normal(rng, s), {"axis": axis, "before": before, "after": after}) for s, axis, before, after in calls]


@sampler("take")
def _take(rng: np.random.Generator) -> list[Call]:
    calls = [((3,), -1, 2), ((2, 3), -2, 0), ((2, 3, 4), -2, 1)]
    return [(normal(rng, s), {"axis": axis, "index": index}) for s, axis, index in calls]


_EVERY = ("s", None, None, None)


@sampler("slice")
def _slice(rng: np.random.Generator) -> list[Call]:
    calls = [
        ((4,), (("i", 2),)),
        ((4,), (("s", 1, None, 2),)),
        ((3, 4), (_EVERY, ("s", None, None, -1))),
        ((3, 4), (("n",), ("i", -1), ("s", 3, 0, -2))),
        ((2, 3, 2), (_EVERY, ("s", 1, 1, None), ("n",), _EVERY)),
        ((), (("n",),)),
        ((), ()),
    ]
    return [(normal(rng, s), {"items": items}) for s, items in calls]


@sampler("unslice")
def _unslice(rng: np.random.Generator) -> list[Call]:
    calls = [
        ((2,), (("s", 1, None, 2),), (4,)),
        ((3,), (("i", 1), _EVERY), (2, 3)),
        ((1, 2), (("n",), ("s", 3, 0, -2)), (4,)),
        ((), (), ()),
    ]
    return [(normal(rng, s), {"items": items, "shape": shape}) for s, items, shape in calls]


@sampler("accumulate_parts")
def _accumulate_parts(rng: np.random.Generator) -> list[Call]:
    first, last = (("take", (("axis", -1), ("index", i))) for i in (0, 2))
    rows = ("slice_axis", (("axis", -2), ("start", 0), ("stop", 1)))
    every_second = ("slice", (("items", (("i", 1), ("s", None, None, -2))),))
    one = ("slice", (("items", (("i", 1), ("i", 2))),))
    calls = [
        (((), ()), (first, last), (3,), False),
        (((2, 3), (1, 3), (2,), ()), (rows, every_second, one), (2, 3), True),
        (((1, 3), (2,), (2,)), (rows, last, last), (2, 3), False),
    ]
    return [
        (normal(rng, *shapes), {"places": places, "shape": whole, "onto": onto})
        for shapes, places, whole, onto in calls
    ]


@sampler("gather")
def _gather(rng: np.random.Generator) -> list[Call]:
    calls = [((4,), [1, 1, 3], -1), ((3, 2), [[0, 2], [1, 1]], -2), ((2, 3), 1, -1), ((2, 3), np.zeros((0,), int), -1)]
    return [((*normal(rng, s), np.asarray(at)), {"axis": axis}) for s, at, axis in calls]


@sampler("scatter_axis")
def _scatter_axis(rng: np.random.Generator) -> list[Call]:
    calls = [((3,), [1, 1, 3], -1, 4), ((2, 2, 2), [[0, 2], [1, 1]], -2, 3), ((2,), 1, -1, 3)]
    return [((*normal(rng, s), np.asarray(at)), {"axis": axis, "length": n}) for s, at, axis, n in calls]


@sampler("gather_nd")
def _gather_nd(rng: np.random.Generator) -> list[Call]:
    calls = [((4,), [[1], [1]]), ((2, 3), [[0, 1], [1, 2]]), ((2, 3), [[1]]), ((2, 3), [[[0, 0]], [[1, 1]]])]
    return [((*normal(rng, s), np.asarray(at)), {}) for s, at in calls]


@sampler("scatter_nd")
def _scatter_nd(rng: np.random.Generator) -> list[Call]:
    calls = [((2,), [[1], [1]], (4,)), ((2,), [[0, 1], [1, 2]], (2, 3)), ((1, 3), [[1]], (2, 3))]
    return [((*normal(rng, s), np.asarray(at)), {"shape": shape}) for s, at, shape in calls]


@sampler("tensor_scatter_nd_update")
def _update(rng: np.random.Generator) -> list[Call]:
    calls = [((4,), (2,), [[1], [3]]), ((2, 3), (2,), [[0, 1], [1, 2]]), ((2, 3), (1, 3), [[1]])]
    return [((*normal(rng, s, u), np.asarray(at)), {}) for s, u, at in calls]


@sampler("kept_mask")
def _kept(rng: np.random.Generator) -> list[Call]:
    return [((np.asarray([[1], [3]]),), {"shape": (4,), "dtype": "float64"})]


@sampler("select", "select_not")
def _select(rng: np.random.Generator) -> list[Call]:
    pairs = [((), ()), ((2, 3), (2, 3)), ((3,), (2, 3)), ((2, 1), (3,)), ((0, 2), (2,))]
    return [((*normal(rng, s), np.asarray(rng.random(c) < 0.5)), {}) for s, c in pairs]


@sampler("where")
def _where(rng: np.random.Generator) -> list[Call]:
    shapes = [((), (), ()), ((2, 3), (2, 3), (2, 3)), ((3,), (2, 1), ()), ((2, 1), (3,), (1, 1)), ((2,), (0, 2), (2,))]
    return [((np.asarray(rng.random(c) < 0.5), *normal(rng, x, y)), {}) for c, x, y in shapes]


@sampler("where_true")
def _where_true(rng: np.random.Generator) -> list[Call]:
    return [((np.asarray(rng.random(s) < 0.5),), {}) for s in ((4,), (2, 3), (0,))]


@sampler("shape")
def _shape(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s), {"dtype": dtype}) for s, dtype in (((4,), "int32"), ((2, 0, 3), "int64"), ((), "int32"))]


@sampler("one_hot")
def _one_hot(rng: np.random.Generator) -> list[Call]:
    calls = [((), -1, "float32", 1, 0), ((3,), 0, "float64", 2.5, -1.0), ((2, 3), 1, "int32", 7, 3)]
    return [
        ((rng.integers(-1, 5, s),), {"depth": 4, "on": on, "off": off, "axis": axis, "dtype": dtype})
        for s, axis, dtype, on, off in calls
    ]


@sampler("argmax", "argmin")
def _arguments(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s), {"axis": axis}) for s, axis in (((4,), 0), ((2, 3), 1), ((2, 3, 2), -2))]
