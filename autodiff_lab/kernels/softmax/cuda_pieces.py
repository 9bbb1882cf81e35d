"""What kernels of softmax and cross entropy do with a row: keep it, find its largest element, sum its exponentials.

Nothing here waits for one element before it has asked for the next ones: loops over local arrays are unrolled, and
what they hold lies in registers.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.kernels.cuda.groups import group_largest, group_sum, larger, lowest
from autodiff_lab.kernels.cuda.launching import MOST, cuda, math

inf = math.inf


@cuda.jit(device=True)
def take(x: Any, held: Any, i: Any, count: Any, step: Any, top: Any) -> Any:
    """Keep elements from i on, -inf beyond the row; give the largest of these and `top`."""
    for k in range(held.size):
        held[k] = x[i] if k < count else -x.dtype.type(inf)
        i += step
    for k in range(held.size):
        top = larger(top, held[k])
    return top


@cuda.jit(device=True)
def online(x: Any, few: Any, i: Any, count: Any, step: Any, top: Any) -> Any:
    """The largest of `top` and of the elements from i on, and the sum of e^(x - largest) over these.

    As many elements as `few` has are asked for at a time.
    """
    total = x.dtype.type(0)
    while count > 0:
        best, i = top, i & MOST
        for k in range(few.size):
            few[k] = x[i] if k < count else -x.dtype.type(inf)
            i += step
        for k in range(few.size):
            best = larger(best, few[k])
        if best > top:
            total *= math.exp(top - best)
            top = best
        for k in range(few.size):
            total += math.exp(few[k] - top)
        count -= few.size
    return top, total


@cuda.jit(device=True)
def exponentials(held: Any, best: Any, total: Any) -> Any:
    """Put e^(x - best) in the place of each element kept; give their sum and `total`."""
    for k in range(held.size):
        held[k] = math.exp(held[k] - best)
        total += held[k]
    return total


@cuda.jit(device=True)
def normalizer(x: Any, held: Any, few: Any, first: Any, count: Any, step: Any, parts: Any, bits: Any) -> Any:
    """Keep e^(x - largest) of a row; give the largest element and the sum of the exponentials.

    What cannot be kept comes first: nothing is held yet, and there are registers for many elements on the way.
    """
    top, total = online(x, few, first + held.size * step, count - held.size, step, lowest(x))
    best = group_largest(take(x, held, first, count, step, top), parts, bits)
    return best, group_sum(exponentials(held, best, total * math.exp(top - best)), parts, bits)


@cuda.jit(device=True)
def log_normalizer(x: Any, held: Any, few: Any, first: Any, count: Any, step: Any, parts: Any, bits: Any) -> Any:
    """Keep elements of a row; give the largest element and the logarithm of the sum of e^(x - largest)."""
    top, total = online(x, few, first + held.size * step, count - held.size, step, lowest(x))
    best = group_largest(take(x, held, first, count, step, top), parts, bits)
    total *= math.exp(top - best)
    for k in range(held.size):
        total += math.exp(held[k] - best)
    return best, math.log(group_sum(total, parts, bits))


@cuda.jit(device=True)
def write_scaled(x: Any, held: Any, few: Any, y: Any, i: Any, count: Any, step: Any, best: Any, scale: Any) -> None:
    """Write scale·e^(x - best), from the exponentials kept, and beyond them from x read again."""
    for k in range(held.size):
        if k < count:
            y[i] = held[k] * scale
        i += step
    count -= held.size
    while count > 0:
        i &= MOST
        for k in range(few.size):
            few[k] = x[i + k * step] if k < count else best
        for k in range(few.size):
            if k < count:
                y[i] = math.exp(few[k] - best) * scale
            i += step
        count -= few.size
