"""Plots of `autodiff_lab.draw.plots` as matplotlib figures, with names beside the lines instead of a legend.

Imported only inside the functions that draw: matplotlib takes a while to load.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D

from autodiff_lab.draw.plots import Axis, Layer, Plot
from autodiff_lab.draw.plots.labels import Box, place_label
from autodiff_lab.draw.theme import colours

if TYPE_CHECKING:
    from matplotlib.text import Annotation

POINT = 72.0
"""Points in an inch; matplotlib gives sizes in points."""


class QuietAxes(Axes):
    """Axes that a notebook does not print as ``<Axes: >`` below their figure."""

    def _ipython_display_(self) -> None:
        """Show nothing: the figure itself is shown."""


def new_axes() -> Axes:
    """Return axes in a figure of their own."""
    return plt.subplots(subplot_kw={"axes_class": QuietAxes})[1]


def draw_plot(axes: Axes, plot: Plot, theme: str) -> None:
    """Draw all layers of a plot into axes, set their ranges and names, and place the labels.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    plot : Plot
        What is drawn.
    theme : str
        ``"light"`` or ``"dark"``.
    """
    palette = colours(theme)
    for axis, which in ((plot.x, "x"), (plot.y, "y")):
        _range(axes, axis, which)
    for layer in plot.layers:
        _draw(axes, layer, palette)
    lines = [np.stack([layer.x, layer.y], axis=1) for layer in plot.layers if layer.kind in ("line", "points")]
    names = [(label.text, label.x, label.y, palette[label.role]) for label in plot.labels]
    write_names(axes, names, lines)


def _range(axes: Axes, axis: Axis, which: str) -> None:
    getattr(axes, f"set_{which}label")(axis.name)
    if axis.log:
        getattr(axes, f"set_{which}scale")("log")
    getattr(axes, f"set_{which}lim")(axis.lo, axis.hi)


def _draw(axes: Axes, layer: Layer, palette: Any) -> None:
    colour = palette[layer.role]
    faint = 0.45 if layer.faint else 1.0
    if layer.kind == "band":
        axes.fill_between(
            layer.x, layer.y, layer.y if layer.top is None else layer.top, color=colour, alpha=0.18, linewidth=0
        )
    elif layer.kind == "points":
        face = palette["paper"] if layer.hollow else colour
        axes.plot(layer.x, layer.y, "o", color=colour, markerfacecolor=face, markersize=1.5 * layer.size, alpha=faint)
    elif layer.kind == "arrows":
        ends = np.stack([layer.x, layer.y], axis=1)
        by = ends[1::2] - ends[::2]
        start = ends[::2]
        axes.quiver(*start.T, *by.T, color=colour, angles="xy", scale_units="xy", scale=1, width=0.002, headwidth=4)
    else:
        x, y = (np.append(v, v[:1]) for v in (layer.x, layer.y)) if layer.closed else (layer.x, layer.y)
        style, width = ("--", 1.2) if layer.dashed else ("-", 0.8 if layer.faint else 1.6)
        axes.plot(x, y, linestyle=style, color=colour, linewidth=width, alpha=faint)


def name_lines(axes: Axes, lines: Sequence[Line2D]) -> None:
    """Write the label of each line beside it, near its end.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        What they were drawn into.
    lines : sequence of matplotlib.lines.Line2D
        Lines with labels.
    """
    paths = [np.stack([np.asarray(line.get_xdata()), np.asarray(line.get_ydata())], axis=1) for line in lines]
    names: list[tuple[str, float, float, str]] = []
    for line, path in zip(lines, paths, strict=True):
        known = path[np.isfinite(path).all(axis=1)]
        if len(known):
            x, y = known[-1 - len(known) // 8].tolist()
            names.append((str(line.get_label()), x, y, to_hex(line.get_color())))
    write_names(axes, names, paths)


def write_names(
    axes: Axes, names: Sequence[tuple[str, float, float, str]], lines: Sequence[np.ndarray]
) -> list[Annotation]:
    """Write names beside their points, where they cross no line and no other name.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Drawn already, so that its ranges are known.
    names : sequence of (str, float, float, str)
        Text, the point in data coordinates, and the colour.
    lines : sequence of numpy.ndarray
        Lines to avoid, each of shape (n, 2), in data coordinates.
    """
    scale = POINT / axes.figure.dpi
    box = axes.get_window_extent()

    def on_paper(places: np.ndarray) -> np.ndarray:
        """Return data coordinates in points from the upper left corner, downwards."""
        pixels = axes.transData.transform(places)
        return np.stack([pixels[:, 0] - box.x0, box.y1 - pixels[:, 1]], axis=1) * scale

    with np.errstate(all="ignore"):
        obstacles = [spots[np.isfinite(spots).all(axis=1)] for spots in map(on_paper, lines)]
    taken: list[Box] = []
    written: list[Annotation] = []
    for text, x, y, colour in names:
        ((px, py),) = on_paper(np.array([[x, y]])).tolist()
        left, top, anchor, found = place_label(
            (px, py), text, obstacles, taken, box.width * scale, box.height * scale, size=10.0
        )
        taken.append(found)
        aligned = {"start": "left", "middle": "center", "end": "right"}[anchor]
        offset = (left - px, py - top)
        written.append(
            axes.annotate(text, (x, y), offset, textcoords="offset points", ha=aligned, va="baseline", color=colour)
        )
    return written
