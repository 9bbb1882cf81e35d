"""Golf on a valley: strokes along minus the gradient of a quadratic, counted until they are in the hole.

Plain numbers; ``widgets/golf/rules.js`` plays by the same rules in the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autodiff_lab.draw.plots import Axis, Label, Layer, Plot, line, points
from autodiff_lab.recording.numbers import short

HOLE = 1e-6
"""The ball is in the hole where f is less than this above its lowest value."""
MOST = 200
"""Strokes after which a player gives up."""


@dataclass(frozen=True, slots=True, eq=False)
class Green:
    """A quadratic with one lowest point, ½ (p − hole)ᵀ H (p − hole), and where the ball lies.

    Attributes
    ----------
    hessian : numpy.ndarray
        H, of shape (2, 2), symmetric and positive definite.
    hole, tee : numpy.ndarray
        The lowest point and the start, both of shape (2,).
    name : str
        What is shown of f.
    hidden : bool
        Whether the curvatures are for the player to find.
    """

    hessian: np.ndarray
    hole: np.ndarray
    tee: np.ndarray
    name: str = "f"
    hidden: bool = False

    @property
    def curvatures(self) -> tuple[float, float]:
        """Both curvatures, the smaller first.

        Examples
        --------
        >>> Green(np.diag([10.0, 1.0]), np.zeros(2), np.ones(2)).curvatures
        (1.0, 10.0)
        """
        low, high = np.linalg.eigvalsh(self.hessian).tolist()
        return low, high

    def height(self, point: Any) -> float:
        """Return f above its lowest value."""
        away = np.asarray(point) - self.hole
        with np.errstate(all="ignore"):
            return float(0.5 * away @ self.hessian @ away)

    def path(self, strokes: Sequence[float]) -> np.ndarray:
        """Return where the ball lies at first and after each stroke, shape (n + 1, 2).

        Examples
        --------
        >>> Green(np.diag([1.0, 10.0]), np.zeros(2), np.array([10.0, 1.0])).path([1.0, 0.1]).tolist()
        [[10.0, 1.0], [0.0, -9.0], [0.0, 0.0]]
        """
        places = [self.tee]
        with np.errstate(all="ignore"):
            for step in strokes:
                places.append(places[-1] - step * (self.hessian @ (places[-1] - self.hole)))
        return np.array(places)

    def count(self, step: float) -> int | None:
        """Return how many strokes of one length it takes, None if the ball never arrives.

        Examples
        --------
        >>> green = Green(np.diag([1.0, 10.0]), np.zeros(2), np.array([10.0, 1.0]))
        >>> green.count(2 / 11), green.count(0.2)
        (45, None)
        """
        heights = [self.height(place) for place in self.path([step] * MOST)]
        return next((number for number, height in enumerate(heights) if height < HOLE), None)

    def facts(self) -> dict[str, Any]:
        """Return the green as JSON."""
        (a, b), (_, c) = self.hessian.tolist()
        return {
            "name": self.name, "hessian": [a, b, c], "hole": self.hole.tolist(), "hidden": self.hidden,
            "curvatures": list(self.curvatures),
        }  # fmt: skip


def scorecard(green: Green, strokes: Sequence[float], par: int) -> str:
    """Return a game as text: a line for each stroke.

    Examples
    --------
    >>> print(scorecard(Green(np.diag([1.0, 10.0]), np.zeros(2), np.array([10.0, 1.0])), [0.1, 1.0], 3))
    Golf on f from (10, 1), par 3
      stroke 1: 0.1 to (9, 0), f = 40.5
      stroke 2: 1 to (0, 0), f = 0
    In the hole after 2 strokes, 1 under par.
    """
    places = green.path(strokes)
    told = [f"({short(float(x))}, {short(float(y))})" for x, y in np.where(np.abs(places) < 1e-12, 0.0, places)]
    lines = [f"Golf on {green.name} from {told[0]}, par {par}"]
    for number, (step, place) in enumerate(zip(strokes, told[1:], strict=True), start=1):
        height = green.height(places[number])
        lines.append(f"  stroke {number}: {short(step)} to {place}, f = {short(0.0 if height < 1e-12 else height)}")
    if strokes and green.height(places[-1]) < HOLE:
        apart = par - len(strokes)
        against = "on par" if not apart else f"{abs(apart)} {'under' if apart > 0 else 'over'} par"
        lines.append(f"In the hole after {len(strokes)} stroke{'' if len(strokes) == 1 else 's'}, {against}.")
    return "\n".join(lines)


def plot(green: Green, strokes: Sequence[float], par: int) -> Plot:
    """Return contours, the path of the ball and the hole.

    Examples
    --------
    >>> plot(Green(np.diag([1.0, 10.0]), np.zeros(2), np.array([10.0, 1.0])), [0.1], 3).layers[-2].x.tolist()
    [10.0, 9.0]
    """
    places = green.path(strokes)
    shown = np.concatenate([places[np.isfinite(places).all(axis=1)], [green.hole]])
    middle, reach = (shown.max(axis=0) + shown.min(axis=0)) / 2, np.ptp(shown, axis=0)
    half = max(float(reach[0]) * 0.62 / 592, float(reach[1]) * 0.62 / 340, 1e-9) * np.array([592, 340])
    low, high = middle - half, middle + half
    bends, along = np.linalg.eigh(green.hessian)
    turns = np.linspace(0, 2 * np.pi, 65)
    circle = along @ (np.stack([np.cos(turns), np.sin(turns)]) / np.sqrt(bends)[:, None])
    farthest = max(green.height(corner) for corner in (low, high, (low[0], high[1]), (high[0], low[1])))
    rings = [np.sqrt(2 * farthest) * k / 10 for k in range(1, 10)]
    layers: list[Layer] = [
        line(green.hole[0] + r * circle[0], green.hole[1] + r * circle[1], "muted", faint=True) for r in rings
    ]
    layers += [
        points(green.hole[:1], green.hole[1:], "ink", 5, hollow=True),
        line(places[:, 0], places[:, 1], "forward"),
        points(places[:, 0], places[:, 1], "forward", 3),
    ]
    numbers = tuple(
        Label(str(k), float(place[0]), float(place[1]), "forward") for k, place in enumerate(places[1:10], start=1)
    )
    x, y = (Axis(float(low[k]), float(high[k]), "xy"[k]) for k in range(2))
    return Plot(x, y, tuple(layers), numbers, f"Golf on {green.name}", scorecard(green, strokes, par))
