"""Random numbers by counter: Philox4x32-10 turns a key and a counter into four words of 32 bits, and keeps nothing.

The generator is that of Salmon, Moraes, Dror and Shaw, *Parallel random numbers: as easy as 1, 2, 3* (2011).  Any
thread can make any of its numbers.  What is drawn at a key from a counter on takes one counter for four float32 or two
float64.  Elements lie in tiles of 32 counters: first the first number of each, then the second of each, and so on, so
that 32 neighbouring threads write side by side.  `kernels.random.cuda` makes the same numbers on a GPU.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

ROUNDS = 10
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
STEPS = (0x9E3779B9, 0xBB67AE85)
"""By which the two words of a key grow from round to round."""
LANES = 32
"""Counters of a tile."""
WORD, LONG = 2**32 - 1, 2**64 - 1
EACH = {"float32": 4, "float64": 2}
"""Numbers that a counter gives."""


def philox(counters: Any, key: int) -> Any:
    """Four words for each counter.

    Parameters
    ----------
    counters : ndarray of uint32, (n, 4)
        The least significant word first.
    key : int
        Of 64 bits.

    Returns
    -------
    ndarray of uint32, (n, 4)

    Examples
    --------
    >>> from autodiff_lab.kernels.random.reference import philox
    >>> import numpy as np
    >>> [hex(word) for word in philox(np.zeros((1, 4), np.uint32), 0)[0]]
    ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """
    c0, c1, c2, c3 = (counters[:, i].astype(np.uint64) for i in range(4))
    low, high = key & WORD, key >> 32 & WORD
    for _ in range(ROUNDS):
        one, two = c0 * np.uint64(MULTIPLIERS[0]), c2 * np.uint64(MULTIPLIERS[1])
        c0, c2 = two >> 32 ^ c1 ^ np.uint64(low), one >> 32 ^ c3 ^ np.uint64(high)
        c1, c3 = two & WORD, one & WORD
        low, high = low + STEPS[0] & WORD, high + STEPS[1] & WORD
    return np.stack([c0, c1, c2, c3], axis=-1).astype(np.uint32)


def counters_used(count: int, dtype: str) -> int:
    """Return how many counters so many numbers take: what is drawn next at the same key begins so much further on."""
    return -(-count // (LANES * EACH[dtype])) * LANES


def _words(count: int, dtype: str, key: int, counter: int) -> Any:
    """Return the words of as many counters as the numbers take."""
    steps = np.arange(counters_used(count, dtype), dtype=np.uint64)
    low = steps + np.uint64(counter & LONG)
    high = np.uint64(counter >> 64 & LONG) + (low < steps)
    return philox(np.stack([low & WORD, low >> 32, high & WORD, high >> 32], axis=-1).astype(np.uint32), key)


def _integers(words: Any, dtype: str) -> Any:
    """Integers of 24 or 53 bits: one from each word, or from each two."""
    if dtype == "float32":
        return words >> 8
    return (words[:, ::2].astype(np.uint64) << 32 | words[:, 1::2]) >> 11


def _laid_out(numbers: Any, shape: tuple[int, ...], dtype: str) -> Any:
    tiles = numbers.reshape(-1, LANES, EACH[dtype]).transpose(0, 2, 1)
    return tiles.astype(dtype).reshape(-1)[: prod(shape)].reshape(shape)


def uniform(shape: tuple[int, ...], dtype: str, key: int, counter: int = 0) -> Any:
    """Numbers from 0 up to, and without, 1: multiples of 2^-24 in float32, of 2^-53 in float64.

    Examples
    --------
    >>> from autodiff_lab.kernels.random.reference import uniform
    >>> bool((uniform((5,), "float32", key=1) == uniform((9,), "float32", key=1)[:5]).all())
    True
    """
    integers = _integers(_words(prod(shape), dtype, key, counter), dtype)
    return _laid_out(integers * 2.0 ** (-24 if dtype == "float32" else -53), shape, dtype)


def normal(shape: tuple[int, ...], dtype: str, key: int, counter: int = 0) -> Any:
    """Standard normal numbers, two from two uniform ones (Box and Muller 1958).

    Examples
    --------
    >>> from autodiff_lab.kernels.random.reference import normal
    >>> abs(float(normal((10_000,), "float64", key=1).mean())) < 0.05
    True
    """
    integers = _integers(_words(prod(shape), dtype, key, counter), dtype) * 1.0
    scale = 2.0 ** (-24 if dtype == "float32" else -53)
    radius = np.sqrt(-2 * np.log((integers[:, ::2] + 1) * scale))  # of 1 at most, never of 0
    angle = 2 * np.pi * scale * integers[:, 1::2]
    pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    return _laid_out(pairs.reshape(integers.shape), shape, dtype)
