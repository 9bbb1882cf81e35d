"""Scans along an axis on a GPU: cumulative sums, products and log-sum-exps, and first-order recurrences.

Every element is combined with all before it, by an operation whose brackets may be set anywhere.  A group of 2^bits
threads goes along a line, a tile of 8 elements a thread at a time.  The tile is copied to shared memory, neighbouring
threads taking neighbouring elements; each thread combines 8 consecutive ones; the threads' totals are scanned by
shuffles, those of warps through shared memory; then each thread goes over its 8 again, from what came before them on.
A few long lines are cut into parts: one kernel finds the total of each part, a second scans each part, from the totals
of those before it on.  An axis that is not the last is first moved to the end, which costs a copy.

Brackets are set otherwise than in the reference, which goes from one element to the next: sums differ by rounding, and
the product of a stretch may overflow where the product of all from the start on does not.  Where such a product meets
an exact 0 the result is 0, as it is in the reference; there, 0 times an infinite element is nan.

Traffic for each float32: 4 bytes read and 4 written; where lines are cut into parts, 4 more read.  Memory limits,
except that log-sum-exp takes two exponentials and two logarithms an element.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.groups import ALL, MOST_STEP, WARP, as_rows, from_rows
from autodiff_lab.kernels.cuda.launching import MOST, SIMULATED, Kernel, check_size, cuda, empty, kernel, launch, math

ITEMS = 2 if SIMULATED else 8
"""Elements that a thread takes of a tile."""
BLOCK = 64 if SIMULATED else 256
"""Threads of a block."""
TILE = BLOCK * ITEMS
ROOM = TILE + TILE // 32
"""Shared memory for a tile: a gap after every 32 elements, so that threads 8 elements apart meet different banks."""


@cuda.jit(device=True)
def gapped(i: Any) -> Any:
    """Where element i of a tile lies in shared memory."""
    return i + (i >> 5)


@cuda.jit(device=True)
def quotient(n: Any, d: Any) -> Any:
    """Divide two numbers below 2^31, rounding down: a division of 64-bit numbers costs a hundred instructions."""
    return np.int64(np.uint32(n) // np.uint32(d))


@cuda.jit(device=True)
def load_tile(
    x: Any, line: Any, length: Any, held: Any, own: Any, base: Any, stop: Any, bits: Any, reverse: Any
) -> None:
    """Copy a tile of a line to a group's place in shared memory; positions count from the end that is scanned first."""
    lanes = (1 << bits) & MOST_STEP
    lane = cuda.threadIdx.x & (lanes - 1) & 1023
    for k in range(ITEMS):
        i = k * lanes + lane
        if base + i < stop:
            at = length - 1 - base - i if reverse else base + i
            held[gapped(own + i)] = x[(line * length + at) & MOST]


@cuda.jit(device=True)
def store_tile(
    made: Any, line: Any, length: Any, held: Any, own: Any, base: Any, stop: Any, bits: Any, exclusive: Any,
    none: Any, reverse: Any,
) -> None:  # fmt: skip
    """Copy a tile to its line, or where `exclusive` is 1 to one place further, with nothing at the first."""
    lanes = (1 << bits) & MOST_STEP
    lane = cuda.threadIdx.x & (lanes - 1) & 1023
    if exclusive and base + lane == 0 and stop > 0:
        made[(line * length + (length - 1 if reverse else 0)) & MOST] = none
    for k in range(ITEMS):
        i = k * lanes + lane
        to = base + i + exclusive
        if base + i < stop and to < length:
            at = length - 1 - to if reverse else to
            made[(line * length + at) & MOST] = held[gapped(own + i)]


PARTS = 8
"""Parts into which lines are cut for each multiprocessor, in all."""


class Operation(NamedTuple):
    """What a scan does; a state is a pair of numbers (value, factor), of which the second may serve nothing.

    Attributes
    ----------
    combine : device function
        The state of a stretch and the next one together, given four numbers.
    neutral : float
        The value of nothing; its factor is 1.
    two : bool
        Whether a second array gives factors.
    """

    combine: Any
    neutral: float
    two: bool


def _group_scan(operation: Operation) -> Any:
    """Return a device function: what comes before a thread's state in its group, and the group's total."""
    combine, neutral, two = operation

    @cuda.jit(device=True)
    def group_scan(value: Any, factor: Any, totals: Any, products: Any, bits: Any) -> Any:
        thread, width = cuda.threadIdx.x & 1023, min(1 << bits, WARP)
        lane, by = thread & (width - 1), 1
        none, one = totals.dtype.type(neutral), totals.dtype.type(1)
        while by < width:
            earlier = cuda.shfl_up_sync(ALL, value, by)
            more = cuda.shfl_up_sync(ALL, factor, by) if two else one
            if lane >= by:
                value, factor = combine(earlier, more, value, factor)
            by <<= 1
        last = (thread & (WARP - 1)) | (width - 1)
        before, ahead = cuda.shfl_up_sync(ALL, value, 1), cuda.shfl_up_sync(ALL, factor, 1) if two else one
        if lane == 0:
            before, ahead = none, one
        if bits <= 5:
            return before, ahead, cuda.shfl_sync(ALL, value, last), cuda.shfl_sync(ALL, factor, last) if two else one
        if lane == WARP - 1:
            totals[thread >> 5], products[thread >> 5] = value, factor
        cuda.syncthreads()
        value, factor = none, one
        for warp in range(1 << (bits - 5)):
            if warp == thread >> 5:
                before, ahead = combine(value, factor, before, ahead)
            value, factor = combine(value, factor, totals[warp], products[warp])
        cuda.syncthreads()
        return before, ahead, value, factor

    return group_scan


def _helpers(operation: Operation) -> tuple[Any, Any]:
    """Device functions: the elements of a tile that a thread takes, and the parts of a line before one, combined."""
    combine, neutral, two = operation
    group_scan = _group_scan(operation)

    @cuda.jit(device=True)
    def combined(held: Any, weights: Any, mine: Any, left: Any, value: Any, factor: Any, keeps: Any) -> Any:
        """Combine what came before with up to `left` elements; `keeps` puts each result in its element's place."""
        for k in range(ITEMS):
            if k < left:
                at = gapped(mine + k)
                value, factor = combine(value, factor, held[at], weights[at] if two else factor)
                if keeps:
                    held[at] = value
        return value, factor

    @cuda.jit(device=True)
    def earlier(ends: Any, factors: Any, first: Any, count: Any, totals: Any, products: Any, bits: Any) -> Any:
        """Combine `count` parts from the first of a line on: some consecutive ones in each thread, then the threads."""
        lane, each = cuda.threadIdx.x & 1023, (count + BLOCK - 1) // BLOCK
        value, factor = totals.dtype.type(neutral), totals.dtype.type(1)
        for i in range(lane * each, min(count, (lane + 1) * each)):
            value, factor = combine(value, factor, ends[(first + i) & MOST], factors[(first + i) & MOST])
        _, _, value, factor = group_scan(value, factor, totals, products, bits)
        return value, factor

    return combined, earlier


def _scan(operation: Operation, ends_only: bool) -> Any:
    """Return a kernel that scans lines, or finds the total of each part of them."""
    combine, neutral, two = operation
    group_scan, (combined, earlier) = _group_scan(operation), _helpers(operation)

    def run(
        x: Any, a: Any, ends: Any, factors: Any, made: Any, lines: Any, length: Any, part: Any, parts: Any,
        again: Any, bits: Any, exclusive: Any, reverse: Any,
    ) -> None:  # fmt: skip
        held, weights = cuda.shared.array(ROOM, x.dtype), cuda.shared.array(ROOM if two else 1, x.dtype)
        totals, products = cuda.shared.array(WARP, x.dtype), cuda.shared.array(WARP, x.dtype)
        none, one = x.dtype.type(neutral), x.dtype.type(1)
        thread, lanes = cuda.threadIdx.x & 1023, (1 << bits) & MOST_STEP
        lane = thread & (lanes - 1)
        own, mine = ((thread - lane) & 1023) * ITEMS, thread * ITEMS
        group = cuda.blockIdx.x * (cuda.blockDim.x >> bits) + (thread >> bits)
        line = quotient(group, parts)
        start = (group - line * parts) * part
        stop = min(length, start + part) if line < lines else 0
        value, factor = none, one
        if parts > 1 and not ends_only:
            value, factor = earlier(ends, factors, line * parts, group - line * parts, totals, products, bits)
        base = start
        while base < start + part:
            left = stop - base - lane * ITEMS
            load_tile(x, line, length, held, own, base, stop, bits, reverse)
            if two:
                load_tile(a, line - quotient(line, again) * again, length, weights, own, base, stop, bits, reverse)
            cuda.syncthreads()
            if two and base + lane == 0:
                weights[gapped(mine)] = one  # before the first element nothing stands that it could multiply
            total, product = combined(held, weights, mine, left, none, one, False)
            total, product, whole, scale = group_scan(total, product, totals, products, bits)
            if not ends_only:
                total, product = combine(value, factor, total, product)
                combined(held, weights, mine, left, total, product, True)
            value, factor = combine(value, factor, whole, scale)
            cuda.syncthreads()
            if not ends_only:
                store_tile(made, line, length, held, own, base, stop, bits, exclusive, none, reverse)
                cuda.syncthreads()
            base += lanes * ITEMS
        if ends_only and lane == 0 and line < lines:
            ends[group & MOST], factors[group & MOST] = value, factor

    return run


class Scan:
    """The two kernels of an operation, of which `beside` blocks are to find room on a multiprocessor."""

    def __init__(self, name: str, serves: tuple[str, ...], operation: Operation, beside: int = 3) -> None:
        self.kernels: list[Kernel] = []
        for ends_only in (True, False):
            run = _scan(operation, ends_only)
            run.__name__ = f"{name}_{'ends' if ends_only else 'scan'}"
            types = ", ".join(["T[::1]"] * 5 + ["int32"] * 7 + ["boolean"])
            self.kernels.append(kernel(serves, types, launch_bounds=(BLOCK, beside))(run))

    def __call__(self, x: DeviceArray, a: DeviceArray, length: int, exclusive: bool, reverse: bool) -> DeviceArray:
        """Scan lines that lie one after the other in x; those of a serve again and again."""
        lines, made = x.size // length, empty(x, (x.size,))
        lanes = 1
        while lanes < BLOCK and lanes * ITEMS < length:
            lanes *= 2
        part, parts = length, 1
        wanted = x.memory.multiprocessors * PARTS // lines
        if wanted > 1 and length > 2 * TILE:
            part = -(-length // (wanted * TILE)) * TILE
            parts = -(-length // part)
        threads = lanes if lanes > WARP else BLOCK
        blocks, bits = -(-lines * parts * lanes // threads), lanes.bit_length() - 1
        ends, factors = (empty(x, (lines * parts if parts > 1 else 1,)) for _ in range(2))
        arguments = (x, a, ends, factors, made, lines, length, part, parts, a.size // length, bits, int(exclusive))
        if parts > 1:
            launch(self.kernels[0], blocks, threads, *arguments, reverse)
        launch(self.kernels[1], blocks, threads, *arguments, reverse)
        return made


@cuda.jit(device=True)
def _product(x: Any, y: Any) -> Any:
    """x·y, and 0 for 0·inf: a factor that is infinite is mostly one that overflowed."""
    made = x * y
    if math.isnan(made) and not math.isnan(x) and not math.isnan(y):
        return x if x == 0 else y
    return made


@cuda.jit(device=True)
def _sums(x: Any, _: Any, y: Any, factor: Any) -> Any:
    return x + y, factor


@cuda.jit(device=True)
def _products(x: Any, _: Any, y: Any, factor: Any) -> Any:
    return _product(x, y), factor


@cuda.jit(device=True)
def _logsumexps(x: Any, one: Any, y: Any, factor: Any) -> Any:
    """ln(e^x + e^y), as `numpy.logaddexp`."""
    if x == y:
        return x + math.log(one + one), factor
    return max(x, y) + math.log1p(math.exp(-abs(x - y))), factor


@cuda.jit(device=True)
def _recurrences(x: Any, scale: Any, y: Any, factor: Any) -> Any:
    """What a stretch makes of h is scale·h + x; the next one multiplies that by its factor and adds y."""
    return y + _product(factor, x), _product(scale, factor)


_SUM = Scan("scan_sum", ("cumsum",), Operation(_sums, 0.0, two=False))
_PRODUCT = Scan("scan_product", ("cumprod",), Operation(_products, 1.0, two=False))
_LOGSUMEXP = Scan("scan_logsumexp", ("cumulative_logsumexp",), Operation(_logsumexps, -math.inf, two=False), 2)
_RECURRENCE = Scan("recurrence", ("recurrence",), Operation(_recurrences, 0.0, two=True), 2)


def _along(op: str, scan: Scan, x: DeviceArray, a: DeviceArray, axis: int, exclusive: bool, reverse: bool) -> Any:
    """Scan x along an axis, with factors of a or with nothing but x."""
    if x.dtype.char not in "fd" or not x.size:
        return NotImplemented
    check_size(op, x.shape)
    rows, _, length = as_rows(x, axis)
    factors = rows if a is x else as_rows(a, axis)[0]
    return from_rows(scan(rows, factors, length, exclusive, reverse), x.shape, axis)


def cumsum(x: DeviceArray, axis: int, exclusive: bool, reverse: bool) -> Any:
    """Return the sums of all elements up to each, as `reference.cumsum`."""
    return _along("cumsum", _SUM, x, x, axis, exclusive, reverse)


def cumprod(x: DeviceArray, axis: int, exclusive: bool, reverse: bool) -> Any:
    """Return the products of all elements up to each, as `reference.cumprod`."""
    return _along("cumprod", _PRODUCT, x, x, axis, exclusive, reverse)


def cumulative_logsumexp(x: DeviceArray, axis: int, reverse: bool) -> Any:
    """Return ln Σ e^x of all elements up to each, as `reference.cumulative_logsumexp`."""
    return _along("cumulative_logsumexp", _LOGSUMEXP, x, x, axis, exclusive=False, reverse=reverse)


def recurrence(b: DeviceArray, a: DeviceArray, axis: int, reverse: bool) -> Any:
    """Make each h b plus a times the h before, as `scans.reference.recurrence`."""
    if b.dtype != a.dtype or b.shape[b.ndim - a.ndim :] != a.shape:
        return NotImplemented
    return _along("recurrence", _RECURRENCE, b, a, axis, exclusive=False, reverse=reverse)
