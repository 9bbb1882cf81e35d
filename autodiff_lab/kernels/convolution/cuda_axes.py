"""What kernels of convolutions know of each spatial axis: which element of a source a tap of the window meets.

A convolution and its gradient with respect to the input are one thing.  Element o of the result gathers, over the taps
t of the window, a weight times an element of a source; where that is not an integer, or lies outside, there is nothing
to add:

    o·multiple + (begin + t·dilation) / phases

The convolution reads x, with its stride as `multiple`.  The gradient reads g, and the stride is `phases`: elements o
that leave the same rest by it meet the same taps, every `repeat`-th from the first one on, so a block of threads takes
elements of one phase and never meets a tap that adds nothing.

Shapes have one to three axes between images and channels; kernels always see three, and lengths of 1 before the others.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.convolution.reference import Padding, Sizes, out_sizes
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import cuda

AXES = 3
NUMBERS = f"UniTuple(int32, {AXES}), " + ", ".join(["UniTuple(int32, 8)"] * AXES)
"""The types of what `Geometry.arguments` gives: sizes, and the three axes."""
MOST_PHASES = 65_535
"""Phases of all axes together: the z axis of a grid has no more blocks."""
MET = 6
"""Numbers that `met` leaves for each axis, in this order:"""
COUNT, TAPS, FIRST, BEGIN, STEP, OWN = range(MET)
ALL_MET = AXES * MET
int32: Any = np.int32
"""Sums of 32-bit numbers have 64 in Numba; a GPU adds those, and a multiplication is several."""
uint32: Any = np.uint32
inlined: Any = cuda.jit(device=True, forceinline=True)
"""A function that becomes part of the kernels that call it, for which numbers that never change are constants."""
FAR = -(1 << 30)
"""A place that is outside any source, wherever a tap leads from it."""


class Axis(NamedTuple):
    """One spatial axis.

    Attributes
    ----------
    source, window, result : int
        Lengths: of the array that is read, of the window, of the array that is written.
    multiple, phases, begin, dilation : int
        As the module says.
    repeat : int
        Taps from one that a phase meets to the next.
    """

    source: int = 1
    window: int = 1
    result: int = 1
    multiple: int = 1
    phases: int = 1
    begin: int = 0
    dilation: int = 1
    repeat: int = 1


class Geometry(NamedTuple):
    """What kernels are given beside the arrays.

    Attributes
    ----------
    images, read, written : int
        The number of images, and the channels of the source and of the result.
    axes : tuple of Axis
        Always three.
    """

    images: int
    read: int
    written: int
    axes: tuple[Axis, ...]

    @property
    def phases(self) -> int:
        """Phases of all axes together."""
        return self.axes[0].phases * self.axes[1].phases * self.axes[2].phases

    @property
    def taps(self) -> int:
        """Taps of the window."""
        return self.axes[0].window * self.axes[1].window * self.axes[2].window

    @property
    def pixels(self) -> int:
        """Pixels of the result in all images and the fullest phase, whatever their channels."""
        each = [-(-axis.result // axis.phases) for axis in self.axes]
        return self.images * each[0] * each[1] * each[2]

    def takes(self, a: DeviceArray, b: DeviceArray, counted: int, most: int) -> bool:
        """Return whether kernels take these arrays: what they count in 32 bits has to end at `most`."""
        same = a.dtype == b.dtype and a.dtype.char in "fd"
        return same and a.ndim <= AXES + 2 and self.phases <= MOST_PHASES and counted < most

    def arguments(self) -> tuple[Any, ...]:
        """Sizes and axes as a kernel takes them, in numbers of 32 bits."""
        return _arguments(self)


@lru_cache(256)
def _arguments(geometry: Geometry) -> tuple[Any, ...]:
    return tuple([tuple([np.int32(n) for n in numbers]) for numbers in (geometry[:3], *geometry.axes)])


def forward(
    sizes: Sizes, spatial: Sizes, window: Sizes, strides: Sizes, padding: Padding, dilations: Sizes
) -> Geometry:
    """Return how a convolution reads x; sizes are images, and channels of x and of the result."""
    out = out_sizes(spatial, window, strides, padding, dilations)
    return _geometry(
        False, sizes, tuple(spatial), tuple(window), out, tuple(strides), tuple(map(tuple, padding)), tuple(dilations)
    )


def backward(
    sizes: Sizes, spatial: Sizes, out: Sizes, window: Sizes, strides: Sizes, padding: Padding, dilations: Sizes
) -> Geometry:
    """Return how the gradient with respect to the input, with these axes and channels, reads g of lengths `out`."""
    return _geometry(
        True, sizes, tuple(spatial), tuple(window), out, tuple(strides), tuple(map(tuple, padding)), tuple(dilations)
    )


@lru_cache(256)
def _geometry(
    back: bool, sizes: Sizes, spatial: Sizes, window: Sizes, out: Sizes, strides: Sizes, padding: Any, dilations: Sizes
) -> Geometry:
    axes = [
        Axis(o, k, n, 1, s, low, -d, s // gcd(s, d)) if back else Axis(n, k, o, s, 1, -low, d)
        for n, k, o, s, (low, _), d in zip(spatial, window, out, strides, padding, dilations, strict=True)
    ]
    images, read, written = sizes
    return Geometry(images, read, written, (*[Axis()] * (AXES - len(axes)), *axes))


@inlined
def divided(a: Any, b: Any) -> Any:
    """Quotient and rest of two numbers that are not negative, in 32 bits: a tenth of the instructions that 64 take."""
    quotient = int32(uint32(a) // uint32(b))
    return quotient, int32(a - quotient * b)


@inlined
def met(plan: Any, phase: Any, depth: Any, height: Any, width: Any) -> None:
    """Put into shared memory what a phase meets: on each axis its elements and taps, and where those are.

    The phase of an axis is one of its `phases`; its a-th element is element phase + a·phases of the result.  The i-th
    tap that it meets is tap first + i·repeat of the window, and leads to a·multiple + begin + i·step in the source.
    The first three threads of a block work it out, one axis each; others wait for them with them.
    """
    me = cuda.threadIdx.x
    if me < AXES:
        axis = depth if me == 0 else height if me == 1 else width
        _, window, result, _, phases, begin, dilation, repeat = axis
        first, own = int32(0), int32(0)
        if phases > 1:
            above, own = divided(phase, width[4])
            if me < 2:
                above, own = divided(above, height[4])
            own = above if me == 0 else own
            away = int32(-dilation)  # not negative where there are phases, and many times it keeps others so
            ahead, rest = divided(int32(own + begin + phases * away), phases)
            while rest != 0 and first < repeat:
                first = int32(first + 1)
                ahead, rest = divided(int32(own + begin + int32(phases - first) * away), phases)
            begin = int32(ahead - away)
            dilation = int32(-divided(int32(repeat * away), phases)[0])
            result, _ = divided(int32(result - own + phases - 1), phases)
        taps, _ = divided(int32(window + repeat - 1 - min(first, window)), repeat)
        at = me * MET
        plan[at + COUNT] = result
        plan[at + TAPS] = taps if first < repeat else 0
        plan[at + FIRST] = first
        plan[at + BEGIN] = begin
        plan[at + STEP] = dilation
        plan[at + OWN] = own
    cuda.syncthreads()
