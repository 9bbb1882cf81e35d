"""The report of a gradient check for notebooks: verdict, worst elements, heat map, slopes, and error against step.

Elements beyond their tolerance are crossed out as well as coloured, and the curve has a point for every step, so
nothing is said by colour alone. Numbers come in, markup goes out; `autodiff_lab.testing` computes them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from html import escape

import numpy as np

from autodiff_lab.draw.markup import picture, words, written
from autodiff_lab.draw.plots.axes import power_text
from autodiff_lab.draw.theme import css_variables
from autodiff_lab.recording.numbers import short

CELL = 22.0
MOST = 24
"""Rows and columns of a heat map; of a larger array the part around its worst element is drawn."""
PLOT = (300.0, 180.0)
LEFT, TOP = 56.0, 30.0
"""Of the panel around the plot; all of these are in pixels."""
SIDE = 190.0
"""Width of the panel of slopes."""
APART = 1e-3
"""Slopes that differ by less, relative to the largest, are not drawn: they would look like one line."""
LEVEL = 1.05
"""Errors that differ by less than this factor are the same at every step."""
HEADINGS = ("element", "tape", "differences", "error", "slope left", "slope right", "verdict")

_PAGE = """
.lab-gradcheck { font: 400 14px var(--lab-ui-font); color: var(--lab-ink); background: var(--lab-paper);
  padding: 12px; border-radius: 6px; }
.lab-gradcheck .lab-verdict { font-size: 18px; font-weight: 600; }
.lab-gradcheck .lab-verdict.lab-bad { color: var(--lab-cut); }
.lab-gradcheck p { margin: 4px 0; max-width: 70ch; }
.lab-gradcheck .lab-whole { white-space: nowrap; }
.lab-gradcheck table { border-collapse: collapse; margin: 8px 0; font-size: 14px; color: var(--lab-ink);
  display: block; overflow-x: auto; }
.lab-gradcheck tr { background: transparent; }
.lab-gradcheck td, .lab-gradcheck th { padding: 2px 12px 2px 0; text-align: right; font-weight: 400; }
.lab-gradcheck th { color: var(--lab-muted); font-size: 12px; }
.lab-gradcheck td:first-child, .lab-gradcheck th:first-child, .lab-gradcheck td:last-child,
.lab-gradcheck th:last-child { text-align: left; }
.lab-gradcheck td { white-space: nowrap; font-family: var(--lab-code-font); font-variant-numeric: tabular-nums; }
"""
_PICTURE = """
.lab-errors { font: 400 12px var(--lab-ui-font); max-width: 100%; height: auto; vertical-align: top; }
.lab-errors text { fill: var(--lab-ink); }
.lab-errors .lab-muted { fill: var(--lab-muted); }
.lab-errors .lab-title { font-size: 14px; font-weight: 600; }
.lab-errors .lab-paper { fill: var(--lab-paper); }
.lab-errors .lab-cell { stroke: var(--lab-hairline); fill: var(--lab-forward); fill-opacity: .12; }
.lab-errors .lab-cell.lab-off { fill: var(--lab-cut); }
.lab-errors .lab-cross { stroke: var(--lab-ink); stroke-width: 1.5; fill: none; }
.lab-errors .lab-axis { stroke: var(--lab-hairline); fill: none; }
.lab-errors .lab-limit { stroke: var(--lab-muted); stroke-dasharray: 6 3; fill: none; }
.lab-errors .lab-line { stroke: var(--lab-forward); stroke-width: 1.5; fill: none; }
.lab-errors .lab-dot { fill: var(--lab-forward); }
.lab-errors .lab-tape { stroke: var(--lab-backward); stroke-width: 1.5; stroke-dasharray: 6 4; fill: none; }
"""


def report(
    told: tuple[str, str, str],
    table: Sequence[Sequence[str]],
    errors: Sequence[np.ndarray],
    curve: Sequence[tuple[float, float]],
    theme: str = "auto",
    slopes: Slopes | None = None,
) -> str:
    """Return the report as HTML that needs no script.

    Parameters
    ----------
    told : tuple of str
        The verdict, the sentence and the reason.
    table : sequence of rows
        The worst elements, a text for each of the headings.
    errors : sequence of numpy.ndarray
        For each input, the error of each element over its tolerance.
    curve : sequence of (float, float)
        Steps and the errors of the differences with them.
    theme : str
        ``"light"``, ``"dark"`` or ``"auto"``.
    slopes : tuple of float, optional
        At the worst element: on the left, on the right, and what the tape gives.

    Examples
    --------
    >>> "kink" in report(("kink", "At input 0 …", ""), [], [np.ones(2)], [(1e-3, 1e-6)])
    True
    """
    verdict, sentence, why = told
    good = verdict in ("agrees", "nothing to check")
    parts = [f'<div class="lab-verdict{"" if good else " lab-bad"}">{"✓" if good else "✗"} {written(verdict)}</div>']
    parts += [f"<p>{_unbroken(written(text))}</p>" for text in (sentence, why) if text]
    if table:
        head = "".join(f"<th>{heading}</th>" for heading in HEADINGS)
        rows = "".join("<tr>" + "".join(f"<td>{written(cell)}</td>" for cell in row) + "</tr>" for row in table)
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>")
    # two pictures, which stand side by side where there is room and keep their size where there is none
    parts.append(svg(errors, (), theme, slopes) + svg((), curve, theme))
    style = re.sub(r"\s+", " ", css_variables(f".lab-theme-{theme}", theme) + _PAGE.strip())
    quoted = escape(style, quote=False).replace("&gt;", ">")
    return f'<div class="lab-gradcheck lab-theme-{theme}"><style>{quoted}</style>{"".join(parts)}</div>'


def _unbroken(markup: str) -> str:
    """Return text in which no number with an exponent breaks at its minus sign."""
    return re.sub(r"\b[\d.]+e-\d+", r'<span class="lab-whole">\g<0></span>', markup)


def svg(
    errors: Sequence[np.ndarray],
    curve: Sequence[tuple[float, float]],
    theme: str = "auto",
    slopes: Slopes | None = None,
) -> str:
    """Draw a heat map for each input of more than one element, the slopes, and the error against the step.

    Examples
    --------
    >>> svg([np.ones((2, 2))], [(1e-3, 1e-6), (1e-4, 1e-8)])[:4]
    '<svg'
    """
    drawn = [_map(k, array) for k, array in enumerate(errors) if array.size > 1]
    if slopes is not None and all(map(math.isfinite, slopes)):
        largest = max(map(abs, slopes))
        if max(slopes) - min(slopes) > APART * largest:
            drawn.append(_sides(slopes, largest))
    if any(math.isfinite(error) and error > 0 for _, error in curve):
        drawn.append(_curve(curve))
    if not drawn:
        return ""
    x, parts, said = 12.0, [], []
    for markup, width, _, account in drawn:
        parts.append(f'<g transform="translate({x:g},12)">{markup}</g>')
        said.append(account)
        x += width + 32
    height = max(tall for _, _, tall, _ in drawn) + 24
    return picture("lab-errors", _PICTURE, "Errors of a gradient check", " ".join(said), x, height, parts, theme, False)


Panel = tuple[str, float, float, str]
Slopes = tuple[float, float, float]


def _map(k: int, array: np.ndarray) -> Panel:
    """Return the errors of one input as cells, those beyond their tolerance crossed out."""
    rows = array.reshape(1, -1) if array.ndim < 2 else array.reshape(-1, array.shape[-1])
    top, left = (
        _start(int(i), n) for i, n in zip(np.unravel_index(rows.argmax(), rows.shape), rows.shape, strict=True)
    )
    shown = rows[top : top + MOST, left : left + MOST]
    off = int((array > 1).sum())
    title = f"Input {k}: {off} of {array.size} off"
    parts = [words("lab-title", 0, 14, title)]
    for r, c in np.ndindex(*shown.shape):
        ratio = float(shown[r, c])
        x, y = c * CELL, TOP + r * CELL
        css, strength = "lab-cell", ""
        if ratio > 1:
            share = min(1.0, math.log10(min(ratio, 1e12)) / 6)
            css, strength = "lab-cell lab-off", f' style="fill-opacity:{0.15 + 0.5 * share:.2f}"'
        box = f'x="{x:g}" y="{y:g}" width="{CELL:g}" height="{CELL:g}"'
        parts.append(f'<rect class="{css}" {box}{strength}><title>{ratio:.2g} times the tolerance</title></rect>')
        if ratio > 1:
            parts.append(f'<path class="lab-cross" d="M{x + 6:g},{y + 6:g}l10,10m0,-10l-10,10"/>')
    height = TOP + shown.shape[0] * CELL
    if shown.size < rows.size:
        part = f"rows {top} to {top + shown.shape[0] - 1}, columns {left} to {left + shown.shape[1] - 1}"
        parts.append(words("lab-muted", 0, height + 16, part))
        height += 18
    return "".join(parts), max(shown.shape[1] * CELL, 190.0), height, f"{title} by more than the tolerance."


def _start(worst: int, length: int) -> int:
    """Return where the part of an axis begins that is drawn."""
    return max(0, min(worst - MOST // 2, length - MOST))


def _sides(slopes: Slopes, largest: float) -> Panel:
    """Return the slopes on both sides as lines that meet at the point, and that of the tape dashed."""
    left, right, tape = slopes
    reach, x0, y0 = SIDE / 2 - 15, SIDE / 2, TOP + PLOT[1] / 2
    rise = (PLOT[1] / 2 - 24) / largest
    ends = [(x0 - reach, y0 + left * rise), (x0, y0), (x0 + reach, y0 - right * rise)]
    path = "L".join(f"{x:.1f},{y:.1f}" for x, y in ends)
    parts = [
        words("lab-title", 0, 14, "Slopes on both sides"),
        f'<path class="lab-axis" d="M{x0:g},{TOP:g}v{PLOT[1]:g}"/>',
        f'<path class="lab-line" d="M{path}"/>',
        f'<path class="lab-tape" d="M{x0 - reach:.1f},{y0 + tape * rise:.1f}l{2 * reach:.1f},{-2 * tape * rise:.1f}"/>',
        f'<circle class="lab-dot" cx="{x0:g}" cy="{y0:g}" r="3"/>',
        words("lab-muted", 0, TOP + PLOT[1] + 18, f"left {short(left)}"),
        words("lab-muted", SIDE, TOP + PLOT[1] + 18, f"right {short(right)}", "end"),
        words("lab-muted", x0, TOP + PLOT[1] + 38, f"the tape, dashed: {short(tape)}", "middle"),
    ]
    account = f"Slopes: {short(left)} on the left, {short(right)} on the right, {short(tape)} by the tape."
    return "".join(parts), SIDE, TOP + PLOT[1] + 44, account


def _curve(curve: Sequence[tuple[float, float]]) -> Panel:
    """Return the error of the differences against their step, both on logarithmic axes."""
    points = [(math.log10(h), math.log10(e)) for h, e in curve if h > 0 and e > 0 and math.isfinite(e)]
    least, most = min(p[1] for p in points), max(p[1] for p in points)
    lo, hi = math.floor(least), math.ceil(most)
    if hi - lo < 2:  # a level line belongs into the middle, with a decade on each side
        lo, hi = round((least + most) / 2) - 1, round((least + most) / 2) + 1
    first, last = math.floor(min(p[0] for p in points)), math.ceil(max(p[0] for p in points))
    across, up = PLOT[0] / max(last - first, 1), PLOT[1] / max(hi - lo, 1)
    bottom = TOP + PLOT[1]
    parts = [words("lab-title", 0, 14, "Error of the differences against the step")]
    parts += [
        words("lab-muted", LEFT + (exponent - first) * across, bottom + 18, power_text(exponent), "middle")
        for exponent in range(first, last + 1, max(1, round((last - first) / 5)))
    ]
    for exponent in range(lo, hi + 1, max(1, round((hi - lo) / 5))):
        y = bottom - (exponent - lo) * up
        parts.append(f'<path class="lab-axis" d="M{LEFT:g},{y:.1f}h{PLOT[0]:g}"/>')
        parts.append(words("lab-muted", LEFT - 8, y + 4, power_text(exponent), "end"))
    at = [(LEFT + (h - first) * across, bottom - (e - lo) * up) for h, e in points]
    parts.append('<path class="lab-line" d="M' + "L".join(f"{x:.1f},{y:.1f}" for x, y in at) + '"/>')
    parts += [f'<circle class="lab-dot" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>' for x, y in at]
    best = min(((h, e) for h, e in curve if math.isfinite(e)), key=lambda point: point[1])
    level = most - least < math.log10(LEVEL)
    account = f"The same at every step: {best[1]:.1e}" if level else f"Best step {best[0]:.0e}: error {best[1]:.0e}"
    parts.append(words("lab-muted", LEFT, bottom + 38, account))
    return "".join(parts), LEFT + PLOT[0] + 16, bottom + 44, f"{account}."
