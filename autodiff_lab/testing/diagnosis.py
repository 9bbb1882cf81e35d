"""Why a gradient and its differences disagree.

A wrong rule disagrees at every step and at other points too. Everything else disagrees only here: a kink, a jump, a
step that is too large or too small, a rule whose rounding errors matter at this point.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.testing.differences import Array
from autodiff_lab.testing.line import Line, Program, Slope
from autodiff_lab.testing.report import JUMP, KINK, NOT_FINITE, PRECISION, WRONG_RULE

RUNS = 8
"""Runs with the same inputs that must agree."""
NOISE_POINTS = 5


class Found(NamedTuple):
    """A verdict on one element, its reason, and the slopes on both sides."""

    verdict: str
    why: str
    left: float | None = None
    right: float | None = None


def differing_runs(program: Program) -> tuple[Any, Any] | None:
    """Return two different results of the same computation, the value or a gradient; None if all runs agree.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> differing_runs(Program(lab.sin, [np.asarray(1.0)])) is None
    True
    """
    first = program.plain_value(program.arrays)
    for _ in range(RUNS - 1):
        again = program.plain_value(program.arrays)
        if again != first and not (math.isnan(again) and math.isnan(first)):
            return first, again
    gradients = program.gradients(program.arrays)
    for _ in range(2):
        more = program.gradients(program.arrays)
        if gradients is None or more is None:
            return None
        for a, b in zip(gradients, more, strict=True):
            differs = np.flatnonzero(~((a == b) | (np.isnan(a) & np.isnan(b))))
            if len(differs):
                return a.ravel()[differs[0]].item(), b.ravel()[differs[0]].item()
    return None


def nearby(arrays: list[Array], distance: float, rng: np.random.Generator) -> list[Array]:
    """Return a point where every element has moved up or down.

    Examples
    --------
    >>> nearby([np.asarray(1.0)], 0.5, np.random.default_rng(0))[0].item() in (0.5, 1.5)
    True
    """
    return [
        np.asarray(a + distance * np.maximum(1.0, abs(a)) * rng.choice([-1.0, 1.0], a.shape))
        if a.dtype.kind in "fc"
        else a
        for a in arrays
    ]


class Diagnosis:
    """Examines one element of one input: its line, and if that is not enough, the tape at nearby points.

    Parameters
    ----------
    program : Program
        What is checked.
    k, index : int, tuple of int
        Which input, and which of its elements.
    unit : complex
        1 for the derivative with respect to the real part, 1j for that with respect to the imaginary part.
    gradient : float
        The tape's number for it.
    rtol, atol : float
        Tolerances.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> program = Program(lab.nn.relu, [np.asarray(0.0)])
    >>> Diagnosis(program, 0, (), 1.0, 0.0, 1e-5, 1e-6).found().verdict
    'kink'
    """

    def __init__(
        self, program: Program, k: int, index: tuple[int, ...], unit: complex, gradient: float, rtol: float, atol: float
    ) -> None:
        self.program, self.k, self.index, self.unit = program, k, index, unit
        self.gradient, self.rtol, self.atol = gradient, rtol, atol

    def found(self) -> Found:
        """Return the verdict on this element."""
        here = self.program.plain_value(self.program.arrays)
        if not math.isfinite(here):
            return Found(NOT_FINITE, f"The function itself is {here} here, so it has no gradient.")
        line = Line(self.program, self.program.arrays, self.k, self.index, self.unit)
        verdict, why = self._of(line)
        sides = [side.value if side.known else None for side in (line.left, line.right)]
        return Found(verdict, why, *sides)

    def _of(self, line: Line) -> tuple[str, str]:
        if not math.isfinite(self.gradient):
            return NOT_FINITE, (
                f"The function is finite here, its gradient is {self.gradient}. Record the program: "
                "recording.first_nonfinite() says in which op that begins."
            )
        if line.jumps:
            if self._agrees_nearby() is False:
                return WRONG_RULE, "The function jumps here, and the gradient is wrong at nearby points too."
            return JUMP, (
                "The function jumps here: its value stays away from the one at this point, however small the step, so "
                "no difference approaches a derivative. Try a point away from the jump."
            )
        slope = line.central
        if not slope.known:
            slope = line.left if line.left.known else line.right
        if not slope.known:
            return PRECISION, (
                "The function is not finite on either side of this point, so there is no difference to compare with."
            )
        if self._within(self.gradient, slope):
            return PRECISION, self._imprecise(line, slope)
        wide = self.program.wide_gradients()
        if wide is not None:
            number = self._part(wide[self.k][self.index])
            off = max(abs(number - slope.value) - slope.error, 0.0)
            if off <= max(0.05 * abs(self.gradient - slope.value), self._tolerance(abs(slope.value))):
                return PRECISION, (
                    f"In longdouble the rule gives {number:.6g} and the slope is {slope.value:.6g}: the rule is right, "
                    "but loses its digits in float64 at this point."
                )
        return self._not_only_rounding(line, slope)

    def _not_only_rounding(self, line: Line, slope: Slope) -> tuple[str, str]:
        """Tell a wrong rule, which is wrong elsewhere too, from a kink, where the tape is right elsewhere."""
        elsewhere = self._agrees_nearby()
        left, right = line.left, line.right
        apart = (
            left.known
            and right.known
            and abs(right.value - left.value)
            > left.error + right.error + self._tolerance(max(abs(left.value), abs(right.value)))
        )
        low, high = sorted((left.value, right.value)) if apart else (slope.value, slope.value)
        between = low - left.error - self.atol <= self.gradient <= high + right.error + self.atol
        if elsewhere is False or (elsewhere is None and not (apart and between)):
            said = (
                "It is wrong at nearby points too."
                if elsewhere is False
                else "No step of the differences agrees with it."
            )
            return WRONG_RULE, f"The slope is {slope.value:.8g} (± {slope.error:.0e}). {said}"
        if apart:
            place = "lies between them" if between else "is neither of them nor between them"
            if between and min(abs(self.gradient - low), abs(self.gradient - high)) <= 1e-3 * abs(high - low):
                place = "is one of them"
            return KINK, (
                f"The slopes on the left and on the right differ, {left.value:.6g} and {right.value:.6g}, and the "
                f"tape's number {place}. At nearby points tape and differences agree. Try a point away from the kink."
            )
        if self._noisy(slope):
            return PRECISION, "The rule loses its digits here: at neighbouring points its result changes at random."
        return KINK, (
            f"The slope is {slope.value:.6g} on both sides and tape and differences agree at nearby points, so ops of "
            "this program have kinks here that cancel in the function but not in its gradient."
        )

    def _imprecise(self, line: Line, slope: Slope) -> str:
        in_type = "longdouble" if self.program.wide else "float64, with its rounding noise measured,"
        if not line.central.known:
            return "The function is finite on one side of this point only, and the slope there agrees with the tape."
        if slope.error > 0.1 * max(abs(self.gradient), self.atol):
            return (
                f"In {in_type} the slope is {slope.value:.6g} ± {slope.error:.0e}: rounding hides whether the gradient "
                "is right. Try other inputs, or rewrite the function without the cancellation."
            )
        return (
            f"In {in_type} the slope is {slope.value:.8g} ± {slope.error:.0e}, which agrees with the tape: the step of "
            "the check is too large or too small here. Try another step, or a point farther from kinks and sharp turns."
        )

    def _tolerance(self, size: float) -> float:
        return self.atol + 3 * self.rtol * size

    def _within(self, number: float, slope: Slope) -> bool:
        return abs(number - slope.value) <= slope.error + self._tolerance(abs(slope.value))

    def _part(self, value: Any) -> float:
        return float(np.imag(value) if self.unit == 1j else np.real(value))

    def _agrees_nearby(self) -> bool | None:
        """Return whether tape and differences agree around this point; None if they can be compared nowhere."""
        agreed = None
        for arrays in self._around():
            found = self.program.gradients(arrays)
            if found is None:
                continue
            number = self._part(found[self.k][self.index])
            line = Line(self.program, arrays, self.k, self.index, self.unit)
            sides_agree = abs(line.left.value - line.right.value) <= (
                line.left.error + line.right.error + self._tolerance(abs(line.central.value))
            )
            if not (math.isfinite(number) and line.central.known and sides_agree) or line.jumps:
                continue
            if not self._within(number, line.central):
                return False
            agreed = True
        return agreed

    def _around(self) -> list[list[Array]]:
        """Return points on both sides along the coordinate, and some where every element has moved."""
        size = abs(complex(self.program.arrays[self.k][self.index]))
        scale, found = max(1.0, size), []
        for distance in (1e-3 * scale, 0.05 * scale, *((size / 4,) if 0 < size < 1 else ())):
            for side in (1, -1):
                moved = [a.copy() for a in self.program.arrays]
                moved[self.k][self.index] += side * distance * self.unit
                found.append(moved)
        rng = np.random.default_rng(0)
        return [*found, *(nearby(self.program.arrays, distance, rng) for distance in (1e-3, 1e-2))]

    def _noisy(self, slope: Slope) -> bool:
        """Return whether the tape's number at neighbouring points scatters by as much as it is off here."""
        size = abs(complex(self.program.arrays[self.k][self.index])) or 1.0
        numbers: list[float] = []
        for j in range(1, NOISE_POINTS + 1):
            moved = [a.copy() for a in self.program.arrays]
            moved[self.k][self.index] += j * 1e-9 * size * self.unit
            found = self.program.gradients(moved)
            if found is not None:
                numbers.append(self._part(found[self.k][self.index]))
        return len(numbers) > 2 and float(np.std(np.diff(numbers))) > 0.1 * abs(self.gradient - slope.value)
