"""Two small charts: bars with their numbers, and steps of what is kept in memory while a program runs.

Lines differ in dashes as well as in colour, and each item has its own label instead of a legend.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from autodiff_lab.draw.lines import text_width
from autodiff_lab.draw.markup import picture, words
from autodiff_lab.draw.plots.labels import Box, crossings

WIDTH = 640.0
MARGIN = 16.0
ROW, BAR = 40.0, 16.0
HEIGHT = 220.0
"""Of the part of a step chart that holds the lines; all of these are in pixels."""

_STYLE = """
.lab-chart { font: 400 14px var(--lab-ui-font); max-width: 100%; height: auto; }
.lab-chart text { fill: var(--lab-ink); }
.lab-chart .lab-paper { fill: var(--lab-paper); }
.lab-chart .lab-title { font-weight: 600; }
.lab-chart .lab-muted { fill: var(--lab-muted); font-size: 12px; }
.lab-chart .lab-number { font-family: var(--lab-code-font); font-variant-numeric: tabular-nums; }
.lab-chart .lab-bar { fill: var(--lab-forward); fill-opacity: .3; stroke: var(--lab-forward); stroke-width: 1.5; }
.lab-chart .lab-axis { stroke: var(--lab-hairline); fill: none; }
.lab-chart .lab-steps { fill: none; stroke-width: 2.5; stroke-linejoin: round; }
.lab-chart .lab-line-0 { stroke: var(--lab-forward); }
.lab-chart .lab-line-1 { stroke: var(--lab-backward); stroke-dasharray: 6 3; }
.lab-chart .lab-line-2 { stroke: var(--lab-ink); stroke-dasharray: 2 3; }
.lab-chart text.lab-of-0 { fill: var(--lab-forward); stroke: none; }
.lab-chart text.lab-of-1 { fill: var(--lab-backward); stroke: none; }
.lab-chart .lab-turn { stroke: var(--lab-muted); stroke-dasharray: 2 3; }
"""


@dataclass(frozen=True)
class Steps:
    """What is kept, step by step.

    Attributes
    ----------
    name : str
        Of the line.
    kept : tuple of int
        After each step.
    turn : int
        The step at which the backward pass begins.
    """

    name: str
    kept: tuple[int, ...]
    turn: int


def bars(title: str, values: Mapping[str, float], told: Mapping[str, str]) -> str:
    """Draw a bar for each value, all from the same zero, with its number at the end.

    Parameters
    ----------
    title : str
        What is compared.
    values : mapping of str to float
        Not negative.
    told : mapping of str to str
        The same values as people write them, with units.

    Examples
    --------
    >>> bars("Bytes", {"one": 1.0}, {"one": "1 B"})[:4]
    '<svg'
    """
    longest = max(values.values(), default=0.0) or 1.0
    room = WIDTH - 2 * MARGIN - max((text_width(text, 14.0) for text in told.values()), default=0.0) - 24
    parts = [words("lab-title", MARGIN, 26, title)]
    for number, (name, value) in enumerate(values.items()):
        y = 44 + number * ROW
        width = max(room * value / longest, 2.0)
        parts.append(words("", MARGIN, y + 12, name))
        parts.append(f'<rect class="lab-bar" x="{MARGIN:g}" y="{y + 18:g}" width="{width:.1f}" height="{BAR:g}"/>')
        parts.append(words("lab-number", MARGIN + width + 8, y + 18 + 13, told[name]))
    account = "; ".join(f"{name}: {told[name]}" for name in values)
    return chart(title, account, 44 + len(values) * ROW + 12, parts)


def steps(title: str, lines: Sequence[Steps], unit: str = "values kept") -> str:
    """Draw what is kept against the steps of a program, one line for each way to run it.

    Parameters
    ----------
    title : str
        What is shown.
    lines : sequence of Steps
        At most three.
    unit : str
        What the height counts.

    Examples
    --------
    >>> steps("Kept", [Steps("all", (1, 2, 1, 0), 2)])[:4]
    '<svg'
    """
    most = max((max(line.kept) for line in lines), default=1)
    long = max((len(line.kept) for line in lines), default=1)
    left, top = MARGIN + 28, 64.0
    wide = WIDTH - left - MARGIN
    across, up = wide / long, HEIGHT / most
    bottom = top + HEIGHT
    parts = [words("lab-title", MARGIN, 26, title), words("lab-muted", MARGIN, 48, unit)]
    for height in dict.fromkeys((0, round(most / 2), most)):
        y = bottom - height * up
        parts.append(f'<path class="lab-axis" d="M{left:g},{y:.1f}H{WIDTH - MARGIN:g}"/>')
        parts.append(words("lab-muted", left - 8, y + 4, str(height), "end"))
    turns = [left + turn * across for turn in dict.fromkeys(line.turn for line in lines)]
    parts += [f'<path class="lab-turn" d="M{turn:.1f},{top:g}V{bottom + 24:g}"/>' for turn in turns]
    first = min(turns, default=left)
    parts.append(words("lab-muted", round(first) - 8, bottom + 20, "forward", "end"))
    parts.append(words("lab-muted", round(first) + 8, bottom + 20, "backward →"))
    corners = [_corners(line, left, bottom, across, up) for line in lines]
    for number, line in enumerate(lines):
        others = corners[:number] + corners[number + 1 :]
        parts += _line(line, number, corners[number], others, left + across * _last_peak(line))
    account = "; ".join(f"{line.name}: at most {max(line.kept)} {unit}" for line in lines)
    return chart(title, account, bottom + 32, parts)


def _corners(line: Steps, left: float, bottom: float, across: float, up: float) -> np.ndarray:
    """Return the corners of a line of steps, of shape (n, 2)."""
    found = [(left, bottom)]
    for place, kept in enumerate(line.kept):
        found += [(left + (place + end) * across, bottom - kept * up) for end in (0, 1)]
    return np.array(found)


def _last_peak(line: Steps) -> int:
    """Return where the peak was reached last: there is room above it."""
    return len(line.kept) - 1 - line.kept[::-1].index(max(line.kept))


def _line(line: Steps, number: int, corners: np.ndarray, others: list[np.ndarray], x: float) -> list[str]:
    y = float(corners[:, 1].min()) - 8
    label = f"{line.name}: {max(line.kept)}"
    room = text_width(label, 14.0, strong=True)
    # Above the peak, from it or up to it, whichever crosses less of the other lines.
    wished = [
        (x, "start", x),
        (x, "end", x - room),
        (x, "middle", x - room / 2),
        (WIDTH - MARGIN, "end", WIDTH - MARGIN - room),
    ]
    fits = [each for each in wished if each[2] >= MARGIN and each[2] + room <= WIDTH - MARGIN + 0.5] or wished[-1:]
    boxes = [Box(start, y - 14, start + room, y + 4) for _, _, start in fits]
    crossed = [sum(crossings(box, other) for other in others) for box in boxes]
    at, anchor, _ = fits[crossed.index(min(crossed))]
    path = "".join(f"V{y2:.1f}H{x2:.1f}" for x2, y2 in corners[2::2])
    return [
        f'<path class="lab-steps lab-line-{number}" d="M{corners[0, 0]:g},{corners[0, 1]:g}{path}"/>',
        words(f"lab-title lab-of-{number}", round(at), round(y), label, anchor),
    ]


def chart(title: str, account: str, height: float, parts: list[str], more_style: str = "") -> str:
    """Return a picture in the house style: a title, a text account for accessibility, and its parts on paper.

    >>> chart("Bytes", "one: 1 B", 100.0, [])[:4]
    '<svg'
    """
    style = _STYLE + more_style
    return picture("lab-chart", style, title, account, WIDTH, height, parts)
