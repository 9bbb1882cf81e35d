"""What a plot consists of: two axes, layers of numbers, and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autodiff_lab.draw.plots.axes import Axis

ROLES = ("forward", "backward", "ink", "muted", "now", "cut")


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """One layer of a plot: made by `line`, `points`, `band` or `arrows`.

    Attributes
    ----------
    kind : str
        ``"line"``, ``"points"``, ``"band"`` (between y and top) or ``"arrows"`` (from each even point to the next).
    role : str
        A colour of the house: forward, backward, ink, muted, now or cut.
    x, y, top : numpy.ndarray
        Shape (n,); a line is interrupted where a value is not finite.
    dashed, faint, hollow, closed : bool
        How it is drawn.
    size : float
        Radius of a point, in pixels.
    """

    kind: str
    role: str
    x: np.ndarray
    y: np.ndarray
    top: np.ndarray | None = None
    dashed: bool = False
    faint: bool = False
    hollow: bool = False
    closed: bool = False
    size: float = 2.0

    def facts(self) -> dict[str, Any]:
        """Return the layer as JSON; what is not finite becomes null."""
        told: dict[str, Any] = {"kind": self.kind, "role": self.role, "x": _listed(self.x), "y": _listed(self.y)}
        if self.top is not None:
            told["top"] = _listed(self.top)
        flags = {name: True for name in ("dashed", "faint", "hollow", "closed") if getattr(self, name)}
        return {**told, **flags, "size": self.size}


@dataclass(frozen=True, slots=True)
class Label:
    """Words beside a point of the plot, placed where they cross no line."""

    text: str
    x: float
    y: float
    role: str = "ink"


@dataclass(frozen=True, slots=True, eq=False)
class Plot:
    """Layers over two axes.

    Attributes
    ----------
    x, y : Axis
        The axes.
    layers : tuple of Layer
        From back to front.
    labels : tuple of Label
        Placed one after the other.
    title, account : str
        What it shows, and the same in words.

    Examples
    --------
    >>> plot = Plot(Axis(0.0, 1.0), Axis(0.0, 1.0), (line([0, 1], [0, 1]),), title="A diagonal")
    >>> plot.layers[0].kind
    'line'
    """

    x: Axis
    y: Axis
    layers: tuple[Layer, ...] = ()
    labels: tuple[Label, ...] = ()
    title: str = ""
    account: str = field(default="")


Values = Sequence[float] | np.ndarray


def line(x: Values, y: Values, role: str = "forward", *, dashed: bool = False, faint: bool = False,
         closed: bool = False) -> Layer:  # fmt: skip
    """Return a line through points, in order.

    Examples
    --------
    >>> line([0, 1], [2, 3], dashed=True).dashed
    True
    """
    return Layer("line", role, _array(x), _array(y), dashed=dashed, faint=faint, closed=closed)


def points(x: Values, y: Values, role: str = "forward", size: float = 2.0, *, hollow: bool = False,
           faint: bool = False) -> Layer:  # fmt: skip
    """Return separate points.

    Examples
    --------
    >>> points([0, 1], [2, 3], size=4).size
    4
    """
    return Layer("points", role, _array(x), _array(y), size=size, hollow=hollow, faint=faint)


def band(x: Values, low: Values, high: Values, role: str = "forward") -> Layer:
    """Return what lies between two heights.

    Examples
    --------
    >>> band([0, 1], np.zeros(2), np.ones(2)).kind
    'band'
    """
    return Layer("band", role, _array(x), _array(low), _array(high))


def arrows(starts: np.ndarray, ends: np.ndarray, role: str = "muted") -> Layer:
    """Return arrows between pairs of points, both of shape (n, 2).

    Examples
    --------
    >>> arrows(np.zeros((1, 2)), np.ones((1, 2))).x.tolist()
    [0.0, 1.0]
    """
    both = np.stack([np.asarray(starts, dtype=float), np.asarray(ends, dtype=float)], axis=1).reshape(-1, 2)
    return Layer("arrows", role, both[:, 0], both[:, 1])


def _array(values: Any) -> np.ndarray:
    return np.asarray(values, dtype=float).ravel()


def _listed(values: np.ndarray) -> list[float | None]:
    return [value if np.isfinite(value) else None for value in values.tolist()]
