"""Random numbers by counter on a GPU: each thread turns one counter into four float32, or two float64.

The numbers are those of `reference.counter_random`, the uniform ones to the bit, and depend on key and counter alone:
not on the GPU, nor on how threads are laid out.  Traffic: 4 bytes written for each float32, nothing read.  Occupancy:
256 threads, no shared memory, at most 40 registers.  Ten rounds of two multiplications cost some 25 instructions for
each float32, about as long as writing it takes; normal numbers a third more.
"""

from __future__ import annotations

from math import factorial, pi, prod
from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import MOST, THREADS, Kernel, check_size, cuda, kernel, launch, math
from autodiff_lab.kernels.cuda.memory import Memory
from autodiff_lab.kernels.random.reference import EACH, LANES, LONG, MULTIPLIERS, ROUNDS, STEPS, WORD, counters_used

_M0, _M1, _S0, _S1, _WORD, _HALF = (np.uint64(n) for n in (*MULTIPLIERS, *STEPS, WORD, 32))
_TERMS = {"float32": 5, "float64": 9}
"""Of the series for a sine and a cosine within an eighth of a turn, whose next term rounding hides."""


@cuda.jit(device=True)
def _philox(low: Any, high: Any, key: Any) -> Any:
    """Four words, each in 64 bits, from a counter and a key; `reference.philox`."""
    c0, c1, c2, c3 = low & _WORD, low >> _HALF, high & _WORD, high >> _HALF
    k0, k1 = key & _WORD, key >> _HALF
    for _ in range(ROUNDS):
        one, two = c0 * _M0, c2 * _M1
        c0, c2 = (two >> _HALF) ^ c1 ^ k0, (one >> _HALF) ^ c3 ^ k1
        c1, c3 = two & _WORD, one & _WORD
        k0, k1 = (k0 + _S0) & _WORD, (k1 + _S1) & _WORD
    return c0, c1, c2, c3


def _turn(dtype: str) -> Any:
    """Return a device function: cosine and sine of a fraction of a turn.

    Those of `math` keep in memory what they need for angles of any size; a fraction is brought within an eighth of a
    turn without rounding.
    """
    real: Any = np.dtype(dtype).type
    four, half, quarter, zero = real(4), real(0.5), real(pi / 2), real(0)
    terms = range(_TERMS[dtype] - 1, -1, -1)
    cosines = tuple([real((-1) ** n / factorial(2 * n)) for n in terms])
    sines = tuple([real((-1) ** n / factorial(2 * n + 1)) for n in terms])

    @cuda.jit(device=True)
    def turn(fraction: Any) -> Any:
        quarters = np.int32(fraction * four + half)
        angle = (fraction * four - real(quarters)) * quarter
        square, cosine, sine = angle * angle, zero, zero
        for n in range(len(cosines)):
            cosine = cosine * square + cosines[n]
            sine = sine * square + sines[n]
        sine *= angle
        if quarters & 1:
            cosine, sine = -sine, cosine
        return (-cosine, -sine) if quarters & 2 else (cosine, sine)

    return turn


def _numbers(dtype: str, is_normal: bool) -> Kernel:
    """Return the kernel for one dtype and one distribution."""
    real: Any = np.dtype(dtype).type
    single, each = dtype == "float32", EACH[dtype]
    unit, eight, eleven, one, two = real(2.0 ** (-24 if single else -53)), np.uint64(8), np.uint64(11), real(1), real(2)
    turn = _turn(dtype)

    @cuda.jit(device=True)
    def integer(word: Any, next_word: Any) -> Any:
        """An integer of 24 bits, or of 53 from two words."""
        return real(np.uint32(word >> eight)) if single else real(((word << _HALF) | next_word) >> eleven)

    @cuda.jit(device=True)
    def pair(first: Any, second: Any) -> Any:
        """Two uniform or normal numbers from two integers."""
        if not is_normal:
            return first * unit, second * unit
        radius = math.sqrt(-two * math.log((first + one) * unit))
        cosine, sine = turn(second * unit)
        return radius * cosine, radius * sine

    def run(made: Any, count: Any, key: Any, low: Any, high: Any) -> None:
        thread = (cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x) & MOST
        here = low + np.uint64(thread)
        w0, w1, w2, w3 = _philox(here, high + np.uint64(here < low), key)
        at = (thread // LANES) * (LANES * each) + thread % LANES
        if single:
            made0, made1 = pair(integer(w0, w1), integer(w1, w2))
            made2, made3 = pair(integer(w2, w3), integer(w3, w0))
        else:
            made0, made1 = pair(integer(w0, w1), integer(w2, w3))
            made2, made3 = made0, made1
        if at < count:
            made[at] = made0
        if at + LANES < count:
            made[at + LANES] = made1
        if single and at + 2 * LANES < count:
            made[at + 2 * LANES] = made2
        if single and at + 3 * LANES < count:
            made[at + 3 * LANES] = made3

    run.__name__ = f"{'normal' if is_normal else 'uniform'}_{dtype}"
    return kernel((), f"{dtype}[::1], int32, uint64, uint64, uint64")(run)


_KERNELS = {(dtype, is_normal): _numbers(dtype, is_normal) for dtype in EACH for is_normal in (False, True)}


def _drawn(memory: Memory, shape: tuple[int, ...], dtype: str, key: int, counter: int, is_normal: bool) -> DeviceArray:
    check_size("random numbers", shape)
    made, count = memory.empty((prod(shape),), dtype), prod(shape)
    threads, words = counters_used(count, dtype), (key & LONG, counter & LONG, counter >> 64 & LONG)
    launch(_KERNELS[dtype, is_normal], -(-threads // THREADS), THREADS, made, count, *map(np.uint64, words))
    return made.reshape(shape)


def uniform(memory: Memory, shape: tuple[int, ...], dtype: str, key: int, counter: int = 0) -> DeviceArray:
    """Numbers from 0 up to, and without, 1.

    Parameters
    ----------
    memory : Memory
        Of the GPU where they are drawn.
    shape : tuple of int
        How many.
    dtype : str
        ``"float32"`` or ``"float64"``.
    key : int
        Of 64 bits: other keys give other numbers.
    counter : int
        Of 128 bits, where in the numbers of the key to begin; `counters_used` says how many a draw takes.

    Returns
    -------
    DeviceArray
        The bits that `reference.uniform` gives.
    """
    return _drawn(memory, shape, dtype, key, counter, is_normal=False)


def normal(memory: Memory, shape: tuple[int, ...], dtype: str, key: int, counter: int = 0) -> DeviceArray:
    """Standard normal numbers; otherwise as `uniform`, rounded in the dtype where the reference is in float64."""
    return _drawn(memory, shape, dtype, key, counter, is_normal=True)
