"""Slopes measured with a step: how wrong a difference quotient is for every step, in float64 and in float32.

Plain numbers in, a plot and words out; `autodiff_lab.exploring` calls the function.  The arithmetic of the quotients is
done here in the dtype that is shown, and once more in ``widgets/step_plot``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from autodiff_lab.draw.plots import Axis, Label, Layer, Plot, band, line, points
from autodiff_lab.recording.numbers import short

ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24}
LOWEST = {"float64": -16, "float32": -8}
"""The decade at which steps begin: below it they are lost in rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """What a function gives around one point in one dtype.

    Attributes
    ----------
    here : numpy floating
        f(x).
    h, plus, minus : numpy.ndarray
        The steps, f(x + h) and f(x − h), all of this dtype and of shape (n,).
    """

    here: Any
    h: np.ndarray
    plus: np.ndarray
    minus: np.ndarray

    def slopes(self, central: bool) -> np.ndarray:
        """Return the difference quotients, computed in this dtype.

        Examples
        --------
        >>> h = np.array([0.5, 0.25])
        >>> Values(np.float64(1.0), h, (1 + h) ** 2, (1 - h) ** 2).slopes(central=False).tolist()
        [2.5, 2.25]
        """
        with np.errstate(all="ignore"):
            if central:
                return (self.plus - self.minus) / (self.h + self.h)
            return (self.plus - self.here) / self.h


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Measured slopes of a function at one point, and the true one.

    Attributes
    ----------
    name : str
        Of the function.
    x : float
        The point.
    derivatives : tuple of float
        The first, second and third derivative there, from the tape; nan where there is none.
    values : dict of str to Values
        By dtype, ``"float64"`` and ``"float32"``.
    """

    name: str
    x: float
    derivatives: tuple[float, float, float]
    values: dict[str, Values]

    @property
    def truth(self) -> float:
        """The slope that the tape gives."""
        return self.derivatives[0]

    def errors(self, dtype: str = "float64", central: bool = False) -> np.ndarray:
        """Return how far each measured slope is from the true one; nan where it has no value."""
        return np.abs(self.values[dtype].slopes(central).astype(np.float64) - self.truth)

    def best(self, dtype: str = "float64", central: bool = False) -> tuple[float, float]:
        """Return the step whose neighbourhood has the smallest median error, and that error.

        A single step may hit the slope by luck, and does not count.
        """
        h = self.values[dtype].h
        around = [np.median(each) if len(each) else np.nan for each in _around(h, self.errors(dtype, central))]
        if not np.isfinite(around).any():
            return math.nan, math.nan
        best = int(np.nanargmin(around))
        return float(h[best]), float(around[best])

    def guides(self, dtype: str = "float64", central: bool = False) -> list[tuple[str, float, int]]:
        """Return the two errors that meet, as name, factor and power of h: too coarse, and lost digits."""
        power = 2 if central else 1
        bent = abs(self.derivatives[power]) / (6 if central else 2)
        lost = (1 if central else 2) * ROUNDOFF[dtype] * abs(float(self.values[dtype].here))
        both = [(f"slope {power}", bent, power), ("slope −1", lost, -1)]
        return [guide for guide in both if guide[1] > 0 and math.isfinite(guide[1])]

    def facts(self) -> dict[str, Any]:
        """Return all of this as JSON, for the page."""
        return {
            "name": self.name,
            "x": self.x,
            "derivatives": [_finite(value) for value in self.derivatives],
            "values": {
                dtype: {
                    "here": _finite(values.here),
                    **{key: [_finite(v) for v in getattr(values, key)] for key in ("h", "plus", "minus")},
                }
                for dtype, values in self.values.items()
            },
        }

    def account(self) -> str:
        """Describe both formulas in both dtypes, rounded so that every machine says the same.

        Returns
        -------
        str
            A line for each, with the power of ten of the best step.
        """
        lines = [f"Slope of {self.name} at {short(self.x)} measured with steps; the tape says {short(self.truth)}"]
        for dtype in self.values:
            for central in (False, True):
                step, error = self.best(dtype, central)
                how = "central" if central else "one-sided"
                found = f"best step near {_power(step)}, error near {_power(error)}" if step > 0 else "no value"
                lines.append(f"  {dtype}, {how}: {found}")
        return "\n".join(lines)

    def plot(self, dtype: str = "float64", central: bool = False) -> Plot:
        """Return the plot of the errors against the step, both axes logarithmic."""
        h, errors = self.values[dtype].h.astype(np.float64), self.errors(dtype, central)
        x, y = axes(h, errors)
        low, high = envelope(h, errors, y.lo)
        layers: list[Layer] = []
        labels: list[Label] = []
        for name, factor, power in self.guides(dtype, central):
            shown = np.array([x.lo, x.hi])
            layers.append(line(shown, factor * shown**power, "muted", dashed=True))
            labels.append(_guide_label(name, factor, power, x, y))
        layers += [band(h, low, high, "forward"), points(h, np.maximum(errors, y.lo), "forward", 1.5)]
        how = "central" if central else "one-sided"
        title = f"Error of the measured slope of {self.name} at {short(self.x, minus='−')}, {how}, {dtype}"
        return Plot(x, y, tuple(layers), tuple(labels), title, self.account())


def axes(h: np.ndarray, errors: np.ndarray) -> tuple[Axis, Axis]:
    """Return logarithmic axes that show these errors, in whole decades."""
    known = errors[np.isfinite(errors) & (errors > 0)]
    low = math.floor(math.log10(known.min())) if len(known) else -16
    high = math.ceil(math.log10(known.max())) if len(known) else 0
    low = max(low, high - 24)
    y = Axis(10.0**low, 10.0 ** max(high, low + 1), "error of the slope", log=True)
    return Axis(float(h.min()), float(h.max()), "step h", log=True), y


def envelope(h: np.ndarray, errors: np.ndarray, floor: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest error within a quarter of a decade of each step, not below `floor`.

    Examples
    --------
    >>> low, high = envelope(np.array([0.1, 0.2, 0.4]), np.array([1.0, 0.0, 3.0]), 1e-16)
    >>> low.tolist(), high.tolist()
    ([1e-16, 1e-16, 1e-16], [1.0, 3.0, 3.0])
    """
    filled = np.maximum(errors, floor)
    known = _around(h, filled)
    low = [each.min() if len(each) else np.nan for each in known]
    return np.array(low), np.array([each.max() if len(each) else np.nan for each in known])


def _around(h: np.ndarray, errors: np.ndarray) -> list[np.ndarray]:
    """Return the errors within a quarter of a decade of each step that have a value."""
    half = max(1, round((len(h) - 1) / math.log10(float(h[-1]) / float(h[0]))) // 4)
    windows = [errors[max(0, i - half) : i + half + 1] for i in range(len(errors))]
    return [window[np.isfinite(window)] for window in windows]


def _guide_label(name: str, factor: float, power: int, x: Axis, y: Axis) -> Label:
    """Put the name of a guide two thirds of the way along its part in view."""
    along = np.geomspace(x.lo, x.hi, 97)
    heights = factor * along**power
    inside = np.flatnonzero((heights > y.lo) & (heights < y.hi))
    at = int(inside[len(inside) * (2 if power > 0 else 1) // 3]) if len(inside) else 48
    return Label(name, float(along[at]), float(heights[at]), "muted")


def _power(value: float) -> str:
    return f"1e{round(math.log10(value))}" if value > 0 else "0"


def _finite(value: Any) -> float | None:
    """Return a number as JSON: a float32 keeps the digits that it has."""
    return float(value) if np.isfinite(value) else None
