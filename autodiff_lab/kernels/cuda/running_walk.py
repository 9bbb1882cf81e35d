"""Scans along an axis that is not the last, where there are many lines: a thread goes along each, one by one.

Neighbouring threads take neighbouring lines, so that they read neighbouring addresses.  Elements are combined in the
order of the reference.  Traffic for each float32: 4 bytes read and 4 written, a recurrence 8 and 4.  Occupancy: 256
threads a block, 44 to 59 registers, no shared memory; each thread asks for 8 elements at a time (log-sum-exp: 4), and
memory limits.
"""

from __future__ import annotations

from math import prod
from typing import Any

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import MOST, SIMULATED, THREADS, blocks_for, cuda, empty, flat, kernel, launch
from autodiff_lab.kernels.cuda.row_sums import WARP
from autodiff_lab.kernels.cuda.running_scan import Operation
from autodiff_lab.kernels.cuda.running_tiles import quotient

LINES = 32 if SIMULATED else 512
"""Lines for each multiprocessor from which on a thread a line is enough; fewer are laid out in rows."""


@cuda.jit(device=True)
def _ask(x: Any, few: Any, at: Any, step: Any, left: Any) -> None:
    """Ask for elements from `at` on, `step` apart, as long as the line has some."""
    for k in range(few.size):
        if k < left:
            few[k] = x[(at + k * step) & MOST]


def _walk(operation: Operation, ahead: int) -> Any:
    combine, neutral, two = operation

    def run(
        x: Any, a: Any, made: Any, lines: Any, inner: Any, length: Any, again: Any, exclusive: Any, reverse: Any
    ) -> None:
        few, weights = cuda.local.array(ahead, x.dtype), cuda.local.array(ahead, x.dtype)
        value, factor = x.dtype.type(neutral), x.dtype.type(1)
        line = (cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x) & MOST
        outer = quotient(line, inner)
        place, step = line - outer * inner + (length - 1 if reverse else 0) * inner, -inner if reverse else inner
        at, second = outer * length * inner + place, (outer - quotient(outer, again) * again) * length * inner + place
        for base in range(0, length if line < lines else 0, ahead):
            _ask(x, few, at, step, length - base)
            if two:
                _ask(a, weights, second + base * step, step, length - base)
            for k in range(ahead):
                if base + k < length:
                    weight = weights[k] if two and base + k else factor
                    before = value
                    value, factor = combine(value, factor, few[k], weight)
                    made[at & MOST] = before if exclusive else value
                    at += step

    return run


class Walk:
    """The kernel of an operation that goes along lines one by one, asking for `ahead` elements at a time."""

    def __init__(self, name: str, serves: tuple[str, ...], operation: Operation, ahead: int) -> None:
        run = _walk(operation, 2 if SIMULATED else ahead)
        run.__name__ = f"{name}_walk"
        types = "T[::1], T[::1], T[::1], int32, int32, int32, int32, boolean, boolean"
        self.kernel = kernel(serves, types, launch_bounds=THREADS)(run)

    def serves(self, x: DeviceArray, axis: int) -> bool:
        """Whether there are enough lines, and neighbours among them."""
        beside = prod(x.shape[x.ndim + axis + 1 :])
        return beside >= WARP and x.size // x.shape[axis] >= LINES * x.memory.multiprocessors

    def __call__(self, x: DeviceArray, a: DeviceArray, axis: int, exclusive: bool, reverse: bool) -> DeviceArray:
        """Scan along an axis; leading axes that only x has are a stack."""
        length, inner = x.shape[axis], prod(x.shape[x.ndim + axis + 1 :])
        lines, made = x.size // length, empty(x, (x.size,))
        sizes = (lines, inner, length, a.size // (length * inner), exclusive, reverse)
        launch(self.kernel, blocks_for(lines), THREADS, flat(x), flat(a), made, *sizes)
        return made.reshape(x.shape)
