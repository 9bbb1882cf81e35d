"""Calls of the ops that normalize values, and of their gradients."""

from typing import Any

import numpy as np

from tests.ops.samples.core import Call, normal, sampler

# Shapes and axes: the last, the first, both, groups, one element, axes of length 1, none, nothing.
CASES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((4,), (-1,)), ((2, 3), (-1,)), ((3, 2), (-2,)), ((2, 2, 3), (-3, -2)), ((2, 3, 2, 2), (-3, -1)),
    ((3, 1), (-1,)), ((1, 3), (-2,)), ((2, 3), ()), ((0, 3), (-1,)),
]  # fmt: skip


def _how(axes: tuple[int, ...]) -> dict[str, Any]:
    return {"axes": axes, "epsilon": 0.1}


@sampler("moments")
def _moments(rng: np.random.Generator) -> list[Call]:
    given = [(normal(rng, s), {"axes": axes}) for s, axes in CASES]
    return given + [(arrays, {**how, "keepdims": False}) for arrays, how in given]


@sampler("batch_normalize")
def _batch_normalize(rng: np.random.Generator) -> list[Call]:
    alike = [(s, (c,) * 4) for s, axes in CASES[:6] for c in _scales(s, axes)]
    calls: list[Call] = []
    for s, shapes in [
        *alike,
        ((3, 2), ((2,), (1, 2), (3, 1), ())),
        ((2,), ((3, 1), (3, 1), (1,), (3, 2))),
        ((0, 2), ((2,),) * 4),
    ]:
        x, mean, variance, scale, offset = normal(rng, s, *shapes)
        calls.append(((x, mean, np.square(variance) + 0.5, scale, offset), {"epsilon": 0.1}))
    return calls


@sampler("standardize")
def _standardize(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s), _how(axes)) for s, axes in CASES]


@sampler("standardize_grad")
def _standardize_slope(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s, s), _how(axes)) for s, axes in CASES]


def _scales(shape: tuple[int, ...], axes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """One number for each element of a row, as for layers, and one for each row or column, as for batches."""
    rank = len(shape)
    last = shape[-1:]
    return [last, tuple(1 if k - rank in axes else n for k, n in enumerate(shape))]


@sampler("normalize")
def _normalize(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s, c, c), _how(axes)) for s, axes in CASES[:6] for c in _scales(s, axes)]


@sampler("normalize_grad")
def _normalize_slope(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s, s, c), _how(axes)) for s, axes in CASES[:6] for c in _scales(s, axes)]
