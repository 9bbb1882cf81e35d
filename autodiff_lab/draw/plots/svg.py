"""A plot as a static SVG, for light, dark and print: the twin of ``widgets/plotting/layers.js``."""

from __future__ import annotations

import math

import numpy as np

from autodiff_lab.draw.markup import picture, words
from autodiff_lab.draw.plots.labels import Box, place_label
from autodiff_lab.draw.plots.model import Layer, Plot

WIDTH, HEIGHT = 680.0, 420.0
LEFT, TOP, RIGHT, BOTTOM = 64.0, 32.0, 24.0, 48.0
BEYOND = 5000.0

STYLE = """
.lab-plot { font: 400 12px var(--lab-ui-font); max-width: 100%; height: auto; }
.lab-plot text { fill: var(--lab-ink); }
.lab-plot .lab-paper { fill: var(--lab-paper); }
.lab-plot .lab-muted { fill: var(--lab-muted); }
.lab-plot .lab-grid { stroke: var(--lab-ink); stroke-opacity: .15; }
.lab-plot .lab-axis { fill: none; stroke: var(--lab-muted); }
.lab-plot .lab-label { font-size: 14px; paint-order: stroke; stroke: var(--lab-paper); stroke-width: 4px;
  stroke-linejoin: round; }
.lab-plot path { fill: none; stroke-linecap: round; stroke-linejoin: round; stroke-width: 2; }
.lab-plot .lab-faint { stroke-opacity: .45; stroke-width: 1; }
.lab-plot .lab-dashed { stroke-dasharray: 6 4; stroke-width: 1.5; }
.lab-plot .lab-band { stroke: none; fill-opacity: .18; }
.lab-plot .lab-arrows { stroke-width: 1; }
.lab-plot .lab-hollow { fill: var(--lab-paper); stroke-width: 2; }
""" + "".join(
    f".lab-plot path.lab-{role} {{ stroke: var(--lab-{role}); }} "
    f".lab-plot path.lab-band.lab-{role}, .lab-plot circle.lab-{role} {{ fill: var(--lab-{role}); stroke: none; }} "
    f".lab-plot circle.lab-hollow.lab-{role} {{ fill: var(--lab-paper); stroke: var(--lab-{role}); }} "
    f".lab-plot text.lab-{role} {{ fill: var(--lab-{role}); }}\n"
    for role in ("forward", "backward", "ink", "muted", "now", "cut")
)


def svg(plot: Plot, width: float = WIDTH, height: float = HEIGHT, theme: str = "auto") -> str:
    """Draw a plot.

    Parameters
    ----------
    plot : Plot
        What is drawn.
    width, height : float
        In pixels.
    theme : str
        ``"light"``, ``"dark"``, or ``"auto"``: what the host or the system prefers.

    Returns
    -------
    str
        One ``<svg>`` element with title and description, all text escaped.

    Examples
    --------
    >>> from autodiff_lab.draw.plots import Axis, line
    >>> svg(Plot(Axis(0.0, 1.0), Axis(0.0, 1.0), (line([0, 1], [0, 1]),)))[:4]
    '<svg'
    """
    across, up = width - LEFT - RIGHT, height - TOP - BOTTOM
    inside = "".join(_drawn(plot, layer, across, up) for layer in plot.layers)
    parts = [
        f'<g transform="translate({LEFT:g},{TOP:g})">',
        *_axes(plot, across, up),
        f'<svg width="{across:g}" height="{up:g}" overflow="hidden">{inside}</svg>',
        *_labels(plot, across, up),
        "</g>",
    ]
    return picture("lab-plot", STYLE, plot.title, plot.account, width, height, parts, theme)


def _axes(plot: Plot, across: float, up: float) -> list[str]:
    parts: list[str] = []
    for value, text in plot.x.ticks(max(3.0, across / 70)):
        x = float(plot.x.share(value)) * across
        parts.append(f'<line class="lab-grid" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{up:g}"/>')
        parts.append(words("lab-muted", round(x, 1), up + 18, text, "middle"))
    for value, text in plot.y.ticks(max(3.0, up / 48)):
        y = (1 - float(plot.y.share(value))) * up
        parts.append(f'<line class="lab-grid" x1="0" x2="{across:g}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(words("lab-muted", -8, round(y + 4, 1), text, "end"))
    parts.append(f'<path class="lab-axis" d="M0,0V{up:g}H{across:g}"/>')
    parts.append(words("", across / 2, up + 38, plot.x.name, "middle"))
    parts.append(words("", 4 - LEFT, -12, plot.y.name))
    return parts


def _spots(plot: Plot, layer: Layer, across: float, up: float, heights: np.ndarray | None = None) -> np.ndarray:
    """Return the points of a layer in pixels, shape (n, 2)."""
    x = plot.x.share(layer.x) * across
    y = (1 - plot.y.share(layer.y if heights is None else heights)) * up
    return np.clip(np.stack([x, y], axis=1), -BEYOND, BEYOND)


def _drawn(plot: Plot, layer: Layer, across: float, up: float) -> str:
    flags = "".join(f" lab-{name}" for name in ("dashed", "faint", "hollow") if getattr(layer, name))
    css = f"lab-{layer.kind} lab-{layer.role}{flags}"
    spots = _spots(plot, layer, across, up)
    if layer.kind == "points":
        kept = spots[np.isfinite(spots).all(axis=1)].tolist()
        return "".join(f'<circle class="{css}" cx="{x:.1f}" cy="{y:.1f}" r="{layer.size:g}"/>' for x, y in kept)
    if layer.kind == "band":
        spots = np.concatenate([spots, _spots(plot, layer, across, up, layer.top)[::-1]])
        spots = spots[np.isfinite(spots).all(axis=1)]
        return f'<path class="{css}" d="{_path(spots)}Z"/>' if len(spots) else ""
    if layer.kind == "arrows":
        return f'<path class="{css}" d="{"".join(map(_arrow, spots[::2].tolist(), spots[1::2].tolist()))}"/>'
    runs = np.split(spots, np.flatnonzero(~np.isfinite(spots).all(axis=1)))
    kept = [run[np.isfinite(run).all(axis=1)] for run in runs]
    end = "Z" if layer.closed else ""
    return f'<path class="{css}" d="{"".join(_path(run) + end for run in kept if len(run))}"/>'


def _path(spots: np.ndarray) -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in spots.tolist())


def _arrow(start: list[float], end: list[float]) -> str:
    (x1, y1), (x2, y2) = start, end
    length = math.hypot(x2 - x1, y2 - y1)
    if not length >= 1:
        return ""
    size = min(6.0, 0.5 * length) / length
    dx, dy = (x2 - x1) * size, (y2 - y1) * size
    head = "".join(f"M{x2:.1f},{y2:.1f}L{x2 - dx - by * dy:.1f},{y2 - dy + by * dx:.1f}" for by in (0.6, -0.6))
    return f"M{x1:.1f},{y1:.1f}L{x2:.1f},{y2:.1f}{head}"


def _labels(plot: Plot, across: float, up: float) -> list[str]:
    kept = [layer for layer in plot.layers if layer.kind in ("line", "points") and not layer.faint]
    lines = [_spots(plot, layer, across, up) for layer in kept]
    lines = [spots[np.isfinite(spots).all(axis=1)] for spots in lines]
    boxes: list[Box] = []
    parts: list[str] = []
    for label in plot.labels:
        point = float(plot.x.share(label.x)) * across, (1 - float(plot.y.share(label.y))) * up
        x, y, anchor, box = place_label(point, label.text, lines, boxes, across, up)
        boxes.append(box)
        parts.append(words(f"lab-label lab-{label.role}", round(x, 1), round(y, 1), label.text, anchor))
    return parts
