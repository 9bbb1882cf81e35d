"""A function of two numbers as it is explored: contours, arrows downhill, and the steps that optimizers take.

Plain numbers in, a plot, facts for the page and words out; `autodiff_lab.exploring` runs the function.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from autodiff_lab.draw.plots import Axis, Label, Layer, Plot, line, points
from autodiff_lab.recording.numbers import short

ROLES = ("forward", "backward", "ink", "cut")
MEASURED = ("x", "y", "value", "slope x", "slope y", "bend xx", "bend xy", "bend yy")
"""What is known of each point of a path: the columns of `Path.rows`."""


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """The points that an optimizer visits, the start included.

    Attributes
    ----------
    name, role : str
        What the path is called, and its colour.
    rows : numpy.ndarray
        Shape (n, 8): the point, f, its gradient and its second derivatives there; see `MEASURED`.
    """

    name: str
    role: str
    rows: np.ndarray

    def facts(self) -> dict[str, Any]:
        """Return the path as JSON; what is not finite becomes null."""
        rows = [[value if math.isfinite(value) else None for value in row] for row in self.rows.tolist()]
        return {"name": self.name, "role": self.role, "rows": rows}


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """A function of two numbers: what is drawn below its paths, and the paths.

    Attributes
    ----------
    name : str
        Of the function.
    x, y : Axis
        The part of the plane that is shown.
    layers : tuple of Layer
        Contours, and the arrows of the gradient field.
    paths : tuple of Path
        One for each optimizer, or a single point where there is none.
    """

    name: str
    x: Axis
    y: Axis
    layers: tuple[Layer, ...]
    paths: tuple[Path, ...]

    def facts(self) -> dict[str, Any]:
        """Return all but the paths as JSON, rounded to what a screen can show."""
        digits = [_digits(axis) for axis in (self.x, self.y)]
        layers = [layer.facts() for layer in self.layers]
        for layer in layers:
            for key, places in zip(("x", "y"), digits, strict=True):
                layer[key] = [value if value is None else round(value, places) for value in layer[key]]
        return {"name": self.name, "x": self.x.facts(), "y": self.y.facts(), "layers": layers}

    def plot(self) -> Plot:
        """Return contours, arrows and whole paths, each path with its name beside it."""
        layers = list(self.layers)
        named = [path for path in self.paths if path.name]
        for path in self.paths:
            x, y = path.rows[:, 0], path.rows[:, 1]
            layers += [line(x, y, path.role), points(x, y, path.role, 1.5 if path.name else 4.0)]
        labels = tuple(_label(path, named, self.x, self.y) for path in named)
        return Plot(self.x, self.y, tuple(layers), labels, f"Contours of {self.name}", self.account())

    def account(self) -> str:
        """Describe each path: where it begins, where it ends, and how f changes on the way."""
        if not self.paths:
            return f"{self.name}, without a path"
        start = self.paths[0].rows[0]
        lines = [f"{self.name} from {pair(start)}: {known(start)}"]
        for path in self.paths:
            if path.name:
                end, many = path.rows[-1], len(path.rows) - 1
                steps = f"{many} step{'' if many == 1 else 's'}"
                lines.append(f"  {path.name}: {steps} to {pair(end)}, f = {short(end[2])}")
        return "\n".join(lines)


def pair(row: Any, minus: str = "-") -> str:
    """Return the point that a row begins with.

    Examples
    --------
    >>> pair([1.0, -2.5])
    '(1, -2.5)'
    """
    return f"({short(float(row[0]), minus=minus)}, {short(float(row[1]), minus=minus)})"


def known(row: Any) -> str:
    """Return what is known at a point, in words.

    Examples
    --------
    >>> known([10.0, 1.0, 55.0, 10.0, 10.0, 1.0, 0.0, 10.0])
    'f = 55, gradient (10, 10), curvatures 1 and 10'
    """
    told = [f"f = {short(float(row[2]))}"]
    if math.isfinite(row[3]) and math.isfinite(row[4]):
        told.append(f"gradient {pair(row[3:5])}")
    if np.isfinite(row[5:8]).all():
        bends = np.linalg.eigvalsh(np.array([[row[5], row[6]], [row[6], row[7]]]))
        told.append("curvatures {} and {}".format(*(short(float(bend)) for bend in bends)))
    return ", ".join(told)


def _digits(axis: Axis) -> int:
    """Return how many decimals tell two neighbouring pixels apart."""
    return max(0, 4 - math.floor(math.log10(axis.hi - axis.lo)))


def _label(path: Path, paths: list[Path], x: Axis, y: Axis) -> Label:
    """Return the label of a path, at the point in the picture that is farthest from all other paths."""
    spots = path.rows[:, :2]
    left, right = np.array([x.lo, y.lo]), np.array([x.hi, y.hi])
    others = [other.rows[:, :2] for other in paths if other is not path]
    inside = spots[np.all((spots >= left) & (spots <= right), axis=1)]
    places = inside if len(inside) else spots
    chosen = len(places) - 1
    if others:
        gaps = (places[:, None] - np.concatenate(others)[None]) / (right - left)
        chosen = int(np.argmax(np.hypot(gaps[..., 0], gaps[..., 1]).min(axis=1)))
    return Label(path.name, float(places[chosen, 0]), float(places[chosen, 1]), path.role)
