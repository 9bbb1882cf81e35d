"""Numbers that checks deal: of both signs, so that no answer passes which is right for positive numbers alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


def one_of(rng: np.random.Generator, choices: Sequence[T]) -> T:
    """Return one of several choices: what `Generator.choice` draws, without an array being made of them.

    Examples
    --------
    >>> one_of(np.random.default_rng(0), ["add", "multiply"])
    'multiply'
    """
    return choices[int(rng.integers(len(choices)))]


def signed(rng: np.random.Generator, low: float, high: float, shape: Any = None) -> Any:
    """Return numbers whose sizes lie between two positive bounds; of several, at least one has each sign.

    Examples
    --------
    >>> found = signed(np.random.default_rng(0), 1.0, 2.0, 5)
    >>> bool((abs(found) >= 1.0).all()), bool(found.min() < 0.0 < found.max())
    (True, True)
    """
    sizes = rng.uniform(low, high, shape)
    signs = 2.0 * rng.integers(2, size=shape) - 1.0
    if np.size(signs) > 1:
        signs.flat[:2] = rng.permutation([-1.0, 1.0])
    return sizes * signs


def signed_each(rng: np.random.Generator, low: float, high: float, shapes: Sequence[tuple[int, ...]]) -> list[Any]:
    """Return what `signed` deals for each of many shapes, drawn together: one by one, that would take a second.

    Examples
    --------
    >>> scalar, row = signed_each(np.random.default_rng(0), 1.0, 2.0, [(), (2,)])
    >>> scalar.shape, row.shape, bool(row.min() < 0.0 < row.max())
    ((), (2,), True)
    """
    ends = np.cumsum([prod(shape) for shape in shapes])
    sizes, signs = rng.uniform(low, high, ends[-1]), 2.0 * rng.integers(2, size=ends[-1]) - 1.0
    for start, end in pairwise([0, *ends]):
        signs[start + 1 : min(start + 2, end)] = -signs[start]
    parts = np.split(sizes * signs, ends[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
