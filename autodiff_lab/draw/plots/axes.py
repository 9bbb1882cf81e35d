"""Axes, linear and logarithmic: where a value is on the paper, and round ticks.

The twin of ``widgets/plotting/axes.js``; ``tests/data/plot_axes.json`` holds both to the same table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from autodiff_lab.draw.curves.axes import tick_text, ticks

FAR_BELOW = -1e3
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a plot.

    Attributes
    ----------
    lo, hi : float
        Its ends; both positive where it is logarithmic.
    name : str
        What it shows, with units.
    log : bool
        Whether it is logarithmic.

    Examples
    --------
    >>> axis = Axis(1e-4, 1.0, "h", log=True)
    >>> float(axis.share(1e-2)), axis.ticks(3.0)
    (0.5, [(0.0001, '10⁻⁴'), (0.01, '0.01'), (1.0, '1')])
    """

    lo: float
    hi: float
    name: str = ""
    log: bool = False

    def share(self, values: np.ndarray | float) -> np.ndarray:
        """Return how far along the axis values are: 0 at `lo`, 1 at `hi`, far below where a logarithm has no value."""
        given = np.asarray(values, dtype=float)
        if not self.log:
            return (given - self.lo) / (self.hi - self.lo)
        lo, hi = math.log10(self.lo), math.log10(self.hi)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(given <= 0, FAR_BELOW, (np.log10(given) - lo) / (hi - lo))

    def ticks(self, count: float) -> list[tuple[float, str]]:
        """Return about `count` round ticks at most, with their labels."""
        if self.log:
            first = math.ceil(math.log10(self.lo) - 1e-9)
            last = math.floor(math.log10(self.hi) + 1e-9)
            if last > first:
                stride = next((by for by in (1, 2, 4, 5, 10, 20, 50, 100) if (last - first) / by <= count), 100)
                powers = range(math.ceil(first / stride) * stride, last + 1, stride)
                return [(float(f"1e{power}"), power_text(power)) for power in powers]
        step, values = ticks(self.lo, self.hi, count)
        return [(value, tick_text(value, step)) for value in values if not self.log or value > 0]

    def facts(self) -> dict[str, float | str | bool]:
        """Return the axis as JSON."""
        return {"lo": self.lo, "hi": self.hi, "name": self.name, "log": self.log}


def power_text(exponent: int) -> str:
    """Return a power of ten as people write it.

    Examples
    --------
    >>> power_text(-8), power_text(-2), power_text(3), power_text(12)
    ('10⁻⁸', '0.01', '1000', '10¹²')
    """
    if -3 <= exponent <= 3:
        return f"{float(f'1e{exponent}'):g}"
    return f"10{str(exponent).translate(_RAISED)}"
