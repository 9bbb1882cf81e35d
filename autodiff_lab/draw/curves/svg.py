"""Curves to a static SVG: f above its derivatives on one x axis, with the tangent at one point.

The picture that accompanies the live widget and is shown where no script runs.  Colours are custom properties of the
root element, so that one file suits light, dark and print; there are no ids, and a nested ``svg`` clips what leaves
a panel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from autodiff_lab.draw.curves.account import account
from autodiff_lab.draw.curves.axes import heights, holding, tick_text, ticks
from autodiff_lab.draw.curves.model import Curves, Mark
from autodiff_lab.draw.markup import picture, written
from autodiff_lab.recording.numbers import short

LEFT, TOP, BOTTOM, GAP = 60.0, 16.0, 40.0, 28.0
HEIGHTS = (260.0, 170.0, 140.0)
MANY = (130.0,)
"""Heights of the panels if there are more of them than fit at their usual heights."""

_STYLE = """
.lab-static { font: 400 12px var(--lab-ui-font); max-width: 100%; height: auto; }
.lab-static text { fill: var(--lab-ink); }
.lab-static .lab-tick.lab-tick { fill: var(--lab-muted); }
.lab-static .lab-name { font-size: 14px; font-style: italic; }
.lab-row0 .lab-name { fill: var(--lab-forward); }
.lab-row1 .lab-name { fill: var(--lab-backward); }
.lab-paper { fill: var(--lab-paper); }
.lab-grid { stroke: var(--lab-ink); stroke-opacity: .15; }
.lab-axis { stroke: var(--lab-muted); }
.lab-curve { fill: none; stroke: var(--lab-ink); stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.lab-row0 .lab-curve, .lab-row0 .lab-mark { stroke: var(--lab-forward); }
.lab-row1 .lab-curve, .lab-row1 .lab-mark, .lab-tangent { stroke: var(--lab-backward); }
.lab-tangent { stroke-width: 1.5; }
.lab-tie { stroke: var(--lab-muted); stroke-dasharray: 2 3; }
.lab-mark { fill: var(--lab-paper); stroke: var(--lab-ink); stroke-width: 2; }
.lab-point { fill: var(--lab-ink); stroke: var(--lab-now); stroke-width: 3; }
.lab-static .lab-number { font: 600 14px var(--lab-code-font); paint-order: stroke; stroke: var(--lab-paper);
  stroke-width: 4px; stroke-linejoin: round; }
"""


@dataclass(frozen=True, slots=True)
class _Panel:
    """One plot: which row it shows, its position, and its ranges."""

    row: int
    top: float
    width: float
    height: float
    across: tuple[float, float]
    up: tuple[float, float]

    def x(self, value: float) -> float:
        return (value - self.across[0]) / (self.across[1] - self.across[0]) * self.width

    def y(self, value: float) -> float:
        place = (self.up[1] - value) / (self.up[1] - self.up[0]) * self.height
        return min(max(place, -20000.0), 20000.0)


def svg(curves: Curves, at: float | None = None, order: int = 1, width: float = 760.0, theme: str = "auto") -> str:
    """Draw curves as a static picture.

    Parameters
    ----------
    curves : Curves
        What is drawn.
    at : float, optional
        Where the tangent is drawn: at the sample nearest to it.
    order : int
        How many derivatives to show below f, if there are that many.
    width : float
        In pixels.
    theme : str
        ``"light"``, ``"dark"``, or ``"auto"``: what the host or the system prefers.

    Returns
    -------
    str
        One ``<svg>`` element with title and description, all text escaped.

    Examples
    --------
    >>> x = np.linspace(-1.0, 1.0, 5)
    >>> svg(Curves(x, (x**2, 2 * x)), at=0.5)[:4]
    '<svg'
    """
    index = None if at is None else curves.nearest(at)
    panels = list(_panels(curves, order, width, index))
    height = panels[-1].top + panels[-1].height + BOTTOM
    parts = [_panel(panel, curves, index, last=panel is panels[-1]) for panel in panels]
    title = curves.title or f"{curves.names[0]} and its derivative"
    inside = parts if index is None else [_tie(panels, curves, index), *parts]
    return picture("lab-static", _STYLE, title, account(curves, at), width, height, inside, theme)


def _panels(curves: Curves, order: int, width: float, index: int | None) -> Iterator[_Panel]:
    top = TOP
    right = max(84.0, 22.0 + 8.0 * max(map(len, curves.names)))
    across = (float(curves.x[0]), float(curves.x[-1]))
    count = min(order + 1, len(curves.rows))
    tall = HEIGHTS if count <= len(HEIGHTS) and not curves.labels else MANY
    for row in range(count):
        height = tall[min(row, len(tall) - 1)]
        up = heights(curves.rows[row], zero=row > 0 or bool(curves.labels), clip=curves.clip)
        if index is not None:
            up = holding(up, float(curves.rows[row][index]))
        yield _Panel(row, top, width - LEFT - right, height, across, up)
        top += height + GAP


def _panel(panel: _Panel, curves: Curves, index: int | None, last: bool) -> str:
    inside = [f'<path class="lab-curve" d="{_path(panel, curves)}"/>']
    if index is not None:
        inside += _at(panel, curves, index)
    inside += [_circle(panel, mark, value) for mark in curves.marks for value in _heights_of(mark, panel.row)]
    row = "s" if curves.labels else panel.row
    return (
        f'<g class="lab-row{row}" transform="translate({LEFT:g},{panel.top:g})">{_axes(panel, curves, last)}'
        f'<svg width="{panel.width:g}" height="{panel.height:g}" overflow="hidden">{"".join(inside)}</svg>'
        f"{_name(panel, curves)}</g>"
    )


def _axes(panel: _Panel, curves: Curves, last: bool) -> str:
    parts: list[str] = []
    step, values = ticks(*panel.across, max(3.0, panel.width / 110))
    for value in values:
        x = panel.x(value)
        parts.append(_line("lab-grid", x, 0, x, panel.height))
        if last:
            parts.append(_text("lab-tick", x, panel.height + 18, tick_text(value, step), "middle"))
    step, values = ticks(*panel.up, max(3.0, panel.height / 45))
    for value in values:
        y = panel.y(value)
        parts.append(_line("lab-axis" if value == 0 else "lab-grid", 0, y, panel.width, y))
        parts.append(_text("lab-tick", -8, y + 4, tick_text(value, step), "end"))
    parts.append(_line("lab-axis", 0, 0, 0, panel.height))
    if last:
        parts.append(_line("lab-axis", 0, panel.height, panel.width, panel.height))
        parts.append(_text("lab-name lab-tick", panel.width / 2, panel.height + 36, curves.variable, "middle"))
    return "".join(parts)


def _runs(curves: Curves, row: int) -> list[list[tuple[float, float]]]:
    """Return points that are joined by a line: broken at gaps and at marks, where each side ends on its limit."""
    runs: list[list[tuple[float, float]]] = [[]]
    marks = list(curves.marks)
    for x, value in zip(curves.x.tolist(), curves.rows[row].tolist(), strict=True):
        on_break = False
        while marks and marks[0].x <= x:
            mark = marks.pop(0)
            left, right = mark.limits[row] if row < len(mark.limits) else (None, None)
            if left is not None:
                runs[-1].append((mark.x, left))
            if mark.breaks(row):
                runs.append([] if right is None else [(mark.x, right)])
                on_break = mark.x == x
        if on_break:
            continue
        if math.isfinite(value):
            runs[-1].append((x, value))
        elif runs[-1]:
            runs.append([])
    return [run if len(run) > 1 else run * 2 for run in runs if run]


def _path(panel: _Panel, curves: Curves) -> str:
    runs = _runs(curves, panel.row)
    return "".join("M" + "L".join(f"{panel.x(x):.1f},{panel.y(y):.1f}" for x, y in run) for run in runs)


def _heights_of(mark: Mark, row: int) -> list[float]:
    left, right = mark.limits[row] if row < len(mark.limits) else (None, None)
    chosen = (left, right) if mark.breaks(row) else (right if left is None else left,)
    return [value for value in dict.fromkeys(chosen) if value is not None]


def _circle(panel: _Panel, mark: Mark, value: float) -> str:
    return f'<circle class="lab-mark" cx="{panel.x(mark.x):.1f}" cy="{panel.y(value):.1f}" r="4"/>'


def _at(panel: _Panel, curves: Curves, index: int) -> list[str]:
    """Return the point with its number, and on f the tangent."""
    value = float(curves.rows[panel.row][index])
    slope = float(curves.rows[1][index]) if len(curves.rows) > 1 else math.nan
    if not math.isfinite(value):
        return []
    x = float(curves.x[index])
    parts = [f'<circle class="lab-point" cx="{panel.x(x):.1f}" cy="{panel.y(value):.1f}" r="5"/>']
    if panel.row == 0 and math.isfinite(slope):
        lo, hi = panel.across
        ends = (lo, value + slope * (lo - x), hi, value + slope * (hi - x))
        parts.insert(0, _line("lab-tangent", *(place for pair in _screen(panel, ends) for place in pair)))
    text = f"slope {short(slope, minus='−')}" if panel.row == 0 and math.isfinite(slope) else short(value, minus="−")
    left = panel.x(x) > panel.width - 120
    rising = (slope if panel.row == 0 else 1.0) > 0
    drop = 24 if rising != left else -14
    y = panel.y(value) + drop
    if not 12 < y < panel.height - 4:  # a low panel may have no room on that side
        y = panel.y(value) + (24 if drop < 0 else -14)
    parts.append(_text("lab-number", panel.x(x) + (-14 if left else 14), y, text, "end" if left else "start"))
    return parts


def _screen(panel: _Panel, ends: tuple[float, float, float, float]) -> tuple[tuple[float, float], tuple[float, float]]:
    # Unlike `_Panel.y` this keeps far points far, because bending a straight line would change its slope.
    scale = panel.height / (panel.up[1] - panel.up[0])
    x1, y1, x2, y2 = ends
    return (panel.x(x1), (panel.up[1] - y1) * scale), (panel.x(x2), (panel.up[1] - y2) * scale)


def _tie(panels: list[_Panel], curves: Curves, index: int) -> str:
    x = LEFT + panels[0].x(float(curves.x[index]))
    value = float(curves.rows[0][index])
    start = panels[0].y(value) if math.isfinite(value) else 0.0
    top = panels[0].top + min(max(start, 0.0), panels[0].height)
    return _line("lab-tie", x, top, x, panels[-1].top + panels[-1].height)


def _name(panel: _Panel, curves: Curves) -> str:
    row = curves.rows[panel.row]
    known = np.flatnonzero(np.isfinite(row))
    index = int(known[-1]) if len(known) else len(row) - 1
    y = panel.y(float(row[index])) if len(known) else panel.height / 2
    y = min(max(y, 8.0), panel.height - 8) + 4
    return _text("lab-name", max(panel.x(float(curves.x[index])), 40.0) + 14, y, curves.names[panel.row], "start")


def _line(css: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{css}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(css: str, x: float, y: float, text: str, anchor: str) -> str:
    return f'<text class="{css}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{written(text)}</text>'
