"""A function along one line through a point: its slopes to the left and to the right, each with an error bound.

Values are computed in `numpy.longdouble` where that is wider than float64 and the program's ops run in it; otherwise in
float64. Either way the rounding noise is measured and not assumed, from a table of differences of neighbouring values
(J. J. Moré and S. M. Wild, "Estimating computational noise", SIAM J. Sci. Comput. 33, 2011). A slope is extrapolated
from two steps, and of all steps the one with the smallest bound, noise and truncation together, is taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from autodiff_lab.engine import nest
from autodiff_lab.engine.convert import constant, convert
from autodiff_lab.engine.silence import quietly
from autodiff_lab.engine.tape import GradientTape
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.events import OpApplied, observing
from autodiff_lab.testing.differences import Array, Function, gradient, weighted_sum, weights

WIDER = bool(np.finfo(np.longdouble).eps < np.finfo(np.float64).eps)
"""Whether this machine has a type wider than float64; on some, longdouble is float64 under another name."""
RATIO = 10**-0.5
LADDER = 26
"""Steps of a slope, each smaller than the last by `RATIO`, from 0.3 of the scale of the point on."""
SPACINGS = (1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2)
NEIGHBOURS = 7


@dataclass(frozen=True)
class Slope:
    """A slope, and by how much it may be off: infinite if the function is not finite on that side."""

    value: float
    error: float

    @property
    def known(self) -> bool:
        """Whether there is one."""
        return math.isfinite(self.error) and math.isfinite(self.value)


UNKNOWN = Slope(math.nan, math.inf)


class Program:
    """A function with its inputs, to be run again at other points, in the widest floats that it runs in.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> program = Program(lab.square, [np.asarray(3.0)])
    >>> float(program.value(program.arrays))
    9.0
    """

    def __init__(self, function: Function, arrays: list[Array]) -> None:
        self.function, self.arrays = function, arrays
        self.wide = WIDER and not math.isnan(float(self._wide_value(arrays)))
        self.coarse = self._coarsest()
        self.floor = self._floor()

    def _floor(self) -> float:
        """Return the rounding error of values, from those in two precisions: constant values may hide it.

        Where small steps change nothing, because they are lost beside a large number that cancels later, neighbouring
        values are equal and show no noise.
        """
        other = np.float64 if self.wide else np.float32
        own = np.longdouble if self.wide else np.float64
        apart: list[float] = []
        for factor in (1.0, 1.001, 0.999):
            arrays = [np.asarray(a * factor) if a.dtype.kind in "fc" else a for a in self.arrays]
            try:
                outputs = quietly(self.function, *[_as_kind(a, other) for a in arrays])
                apart.append(abs(float(quietly(weighted_sum, outputs)._array) - float(self.value(arrays))))
            except Exception:  # noqa: BLE001 - a program that demands its precision
                return 0.0
        found = 4 * max(apart) * float(np.finfo(own).eps / np.finfo(other).eps)
        return found if math.isfinite(found) else 0.0

    def _coarsest(self) -> float:
        """Return the relative rounding error of the narrowest floats that the program computes with."""
        met = [float(np.finfo(np.longdouble if self.wide else np.float64).eps)]

        def look(event: Any) -> None:
            if isinstance(event, OpApplied):
                met.extend(_rounding(value.dtype) for value in event.values)

        with observing(look):
            self.plain_value(self.arrays)
        return max(met)

    def value(self, arrays: list[Array]) -> Any:
        """Return the weighted sum of the outputs at a point; nan where the function raises."""
        if self.wide:
            found = self._wide_value(arrays)
            if math.isfinite(found):
                return found
        return self.plain_value(arrays)

    def plain_value(self, arrays: list[Array]) -> float:
        """Return the same in float64."""
        try:
            return float(quietly(lambda: weighted_sum(self.function(*map(_narrow, arrays)))._array))
        except Exception:  # noqa: BLE001 - a function may refuse a point near the one that is checked
            return math.nan

    def _wide_value(self, arrays: list[Array]) -> Any:
        try:
            outputs = quietly(self.function, *map(widened, arrays))
            return quietly(_wide_sum, [convert(t)._held for t in nest.flatten(outputs)[0]])
        except Exception:  # noqa: BLE001 - an op that does not know this dtype
            return np.longdouble(math.nan)

    def gradients(self, arrays: list[Array]) -> list[Array] | None:
        """Return the tape's gradients at a point, in float64; None where the function raises."""
        try:
            return filled(arrays, gradient(self.function, *map(_narrow, arrays)))
        except Exception:  # noqa: BLE001 - as above
            return None

    def wide_gradients(self) -> list[Array] | None:
        """Return the tape's gradients computed in longdouble, None if the rules do not run in it."""
        if not self.wide:
            return None
        try:
            tensors = [widened(a) for a in self.arrays]
            with GradientTape() as tape:
                tape.tracked.update(
                    t._id for t in tensors if t._held.dtype.kind in "fc"
                )  # `watch` knows our dtypes only
                targets = [convert(t) for t in nest.flatten(self.function(*tensors))[0]]
            if any(t._held.dtype != np.longdouble for t in targets):
                return None
            seeds = [wrap(weights(t._held.shape).astype(np.longdouble)[()]) for t in targets]
            return filled(self.arrays, tape.gradient(targets, tensors, output_gradients=seeds))
        except Exception:  # noqa: BLE001 - as above
            return None


def _rounding(dtype: Any) -> float:
    if dtype.kind == "V":
        return 2.0**-7  # bfloat16
    return float(np.finfo(dtype).eps) if dtype.kind in "fc" and dtype.itemsize < 8 * (1 + (dtype.kind == "c")) else 0.0


def filled(arrays: list[Array], found: list[Any]) -> list[Array]:
    """Return gradients as arrays, zeros where there is no path from the output to an input.

    Examples
    --------
    >>> filled([np.ones(2)], [None])[0].tolist()
    [0.0, 0.0]
    """
    return [
        np.zeros(a.shape, a.dtype) if g is None else np.asarray(g._held) for a, g in zip(arrays, found, strict=True)
    ]


def _narrow(array: Array) -> Tensor:
    return _as_kind(array, np.float64)


def _as_kind(array: Array, kind: Any) -> Tensor:
    if array.dtype.kind == "c":
        kind = np.complex64 if kind is np.float32 else np.complex128
    return constant(array.astype(kind) if array.dtype.kind in "fc" else array)


def widened(array: Array) -> Tensor:
    """Return a tensor of longdouble numbers; integers as they are.

    Examples
    --------
    >>> widened(np.asarray([1.0]))._held.dtype == np.longdouble
    True
    """
    kinds: dict[str, Any] = {"f": np.longdouble, "c": np.clongdouble}
    kind = kinds.get(array.dtype.kind)
    return constant(array) if kind is None else wrap(array.astype(kind)[()])


def _wide_sum(outputs: list[Any]) -> Any:
    total = np.longdouble(0)
    for array in outputs:
        if array.dtype.kind == "c":
            array = array.real + np.longdouble(0.6) * array.imag
        if array.dtype.kind in "fV":
            wide = np.asarray(array if array.dtype.kind == "f" else array.astype(np.float64), np.longdouble)
            total = total + (wide * weights(wide.shape)).sum()
    return total


class Line:
    """A program along one coordinate of one input, or of its imaginary part, as a function of the step.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> line = Line(Program(lab.abs, [np.asarray(0.0)]), [np.asarray(0.0)], 0, ())
    >>> round(line.left.value, 6), round(line.right.value, 6), line.jumps
    (-1.0, 1.0, False)
    """

    def __init__(
        self, program: Program, arrays: list[Array], k: int, index: tuple[int, ...], unit: complex = 1.0
    ) -> None:
        self.program, self.arrays, self.k, self.index, self.unit = program, arrays, k, index, unit
        self.scale = max(1.0, abs(complex(arrays[k][index])))
        near = abs(complex(arrays[k][index])) or 1.0
        self.steps = [0.3 * self.scale * RATIO**i for i in range(LADDER)]
        coarse = program.coarse if program.coarse > 1e-15 else 0.0  # steps that narrow floats do not see are of no use
        self.steps = [h for h in self.steps if h >= 8 * coarse * self.scale]
        self.spacings = [
            relative * self.scale for relative in SPACINGS if relative >= 4 * coarse or relative == SPACINGS[-1]
        ]
        while not coarse and self.steps[-1] > 1e-4 * near and self.steps[-1] > 1e-60:
            self.steps.append(self.steps[-1] * RATIO)
        self.here = self.at(0.0)
        self._values = {t: self.at(t) for h in self.steps for t in (h, -h)}
        self._noise = {side: self._measured(side) for side in (1, -1)}
        self.left, self.right = self._side(-1), self._side(1)
        self.central = self._central()

    def at(self, t: float) -> Any:
        """Return the value after a step."""
        changed = self.arrays[self.k]
        if self.program.wide:
            changed = changed.astype(np.clongdouble if changed.dtype.kind == "c" else np.longdouble)
        changed = changed.copy()
        changed[self.index] += t * self.unit
        return self.program.value([changed if i == self.k else a for i, a in enumerate(self.arrays)])

    @property
    def jumps(self) -> bool:
        """Whether the function jumps here: its value stays away from the one here, however small the step."""
        return any(self._jumps(side) for side in (1, -1))

    def _jumps(self, side: int) -> bool:
        small = [h for h in self.steps if 1e-10 * self.scale <= h <= 1e-6 * self.scale]
        apart = [abs(float(self._values[side * h] - self.here)) for h in small]
        if not apart or not np.isfinite(apart).all():
            return False
        noise = max(
            noise for spacing, noise in self._noise[side] if spacing <= 1e-6 * self.scale or len(self._noise[side]) == 1
        )
        return min(apart) > 0.5 * max(apart) and min(apart) > max(100 * noise, 1e-9 * abs(float(self.here)))

    def noise(self, side: int, step: float) -> float:
        """Return the rounding noise of values within a step on one side."""
        inside = [noise for spacing, noise in self._noise[side] if NEIGHBOURS * spacing <= step]
        own = float(np.finfo(np.longdouble if self.program.wide else np.float64).eps) * abs(float(self.here))
        return max([own, self.program.floor, *(inside or [noise for _, noise in self._noise[side][:1]])])

    def _measured(self, side: int) -> list[tuple[float, float]]:
        """Return the noise on one side for each spacing of neighbouring values."""
        found: list[tuple[float, float]] = []
        for spacing in self.spacings if self.program.wide else self.spacings[1 if len(self.spacings) > 1 else 0 :]:
            values = np.array([self.at(side * spacing * (j + 1)) for j in range(NEIGHBOURS)])
            if np.isfinite(values).all():
                found.append((spacing, _noise_of(values)))
        return found or [(0.0, math.inf)]

    def _side(self, side: int) -> Slope:
        slopes = [float((self._values[side * h] - self.here) / (side * h)) for h in self.steps]
        noises = [10 * self.noise(side, h) / h for h in self.steps]
        return _extrapolated(slopes, noises, RATIO)

    def _central(self) -> Slope:
        slopes = [float((self._values[h] - self._values[-h]) / (2 * h)) for h in self.steps]
        noises = [4 * max(self.noise(1, h), self.noise(-1, h)) / h for h in self.steps]
        return _extrapolated(slopes, noises, RATIO**2)

    def errors(self, exact: float) -> list[tuple[float, float]]:
        """Return how far the central difference in float64 is from a number, for each step."""
        found: list[tuple[float, float]] = []
        for t in self.steps:
            up, down = (self._plain(side * t) for side in (1, -1))
            found.append((t, abs((up - down) / (2 * t) - exact)))
        return found

    def _plain(self, t: float) -> float:
        changed = self.arrays[self.k].copy()
        changed[self.index] += t * self.unit
        return self.program.plain_value([changed if i == self.k else a for i, a in enumerate(self.arrays)])


def _noise_of(values: Any) -> float:
    """Return the standard deviation of the noise in equally spaced values of a smooth function."""
    table, found = values, []
    for order in range(1, NEIGHBOURS - 1):
        table = np.diff(table)
        if order >= 3:
            scale = math.factorial(order) ** 2 / math.factorial(2 * order)
            found.append(math.sqrt(scale * float(np.mean(np.square(table)))))
    return 2 * min(found)


def _extrapolated(slopes: list[float], noises: list[float], ratio: float) -> Slope:
    """Return the limit of slopes whose error shrinks by `ratio` from one to the next, from where it is safest."""
    better = [(near - ratio * far) / (1 - ratio) for far, near in pairwise(slopes)]
    best = UNKNOWN
    for i in range(len(better) - 2):
        trio = better[i : i + 3]
        if not np.isfinite(trio).all():
            continue
        error = 3 * max(abs(trio[0] - trio[1]), abs(trio[1] - trio[2])) + noises[i + 2]
        error = max(error, 1e-15 * abs(trio[1]))
        if error < best.error:
            best = Slope(trio[1], error)
    return best
