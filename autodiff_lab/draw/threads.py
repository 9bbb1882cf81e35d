"""The map from threads to elements: a row of threads in their blocks, a row for each array, and lines between them.

It is drawn from what a kernel did, see `lessons.threads`. Blocks alternate in tone and are separated by gaps, so that
colour is never the only cue; threads without work have a dashed outline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autodiff_lab.draw.charts import MARGIN, WIDTH, chart
from autodiff_lab.draw.lines import text_width
from autodiff_lab.draw.markup import words

CELL = 22.0
"""Width and height of a thread or an element, where there is room."""
GAP = 10.0
"""Between two blocks, and two sectors."""
APART = 96.0
"""Between the row of threads and the elements of an array."""

STYLE = """
.lab-chart .lab-thread { stroke: var(--lab-forward); stroke-width: 1.5; fill: var(--lab-forward); fill-opacity: .12; }
.lab-chart .lab-thread.lab-odd { fill-opacity: .34; }
.lab-chart .lab-thread.lab-idle { fill: none; stroke-dasharray: 3 3; }
.lab-chart .lab-element { stroke: var(--lab-hairline); stroke-width: 1.5; fill: none; }
.lab-chart .lab-touch { stroke: var(--lab-forward); stroke-width: 1.25; stroke-opacity: .75; }
.lab-chart .lab-touch.lab-writes { stroke: var(--lab-backward); stroke-dasharray: 5 2; }
.lab-chart .lab-small { font-size: 11px; text-anchor: middle; font-variant-numeric: tabular-nums; }
"""


@dataclass(frozen=True)
class Touched:
    """An array, and which threads touched which of its elements.

    Attributes
    ----------
    name : str
        Of the array.
    length : int
        Number of elements.
    reads, writes : frozenset of (int, int)
        Pairs of a thread's number in the grid and an element.
    """

    name: str
    length: int
    reads: frozenset[tuple[int, int]]
    writes: frozenset[tuple[int, int]]


def threads(title: str, account: str, blocks: int, size: int, arrays: Sequence[Touched], group: int = 8) -> str:
    """Draw the map.

    Parameters
    ----------
    title, account : str
        What it shows, and the same in words.
    blocks, size : int
        The grid: how many blocks, and how many threads each has.
    arrays : sequence of Touched
        A row of elements for each.
    group : int
        Elements of a sector: what memory delivers at once.

    Examples
    --------
    >>> reads = frozenset({(0, 0), (1, 1)})
    >>> threads("two threads", "", 1, 2, [Touched("x", 2, reads, frozenset())])[:4]
    '<svg'
    """
    spans = [_span(blocks * size, size, CELL), *(_span(a.length, group, CELL) for a in arrays)]
    cell = CELL * min(1.0, (WIDTH - 2 * MARGIN) / max(spans))
    busy = {thread for a in arrays for thread, _ in a.reads | a.writes}
    above = next((a for a in arrays if not a.writes), None)
    below = [a for a in arrays if a is not above]
    parts, lines, cells, y = [words("lab-title", MARGIN, 26, title)], [], [], 58.0
    if above is not None:
        cells += _elements(above, group, cell, y, y - 8)
        lines += _lines(above, size, group, cell, y + cell + APART, y + cell)
        y += cell + APART
    cells += _threads(blocks, size, busy, cell, y)
    for number, array in enumerate(below, start=1):
        lines += _lines(array, size, group, cell, y + cell, y + number * (cell + APART))
        cells += _elements(array, group, cell, y + number * (cell + APART), y + number * (cell + APART) + cell + 16)
    bottom = y + len(below) * (cell + APART) + cell + 24
    legend = "solid lines read, dashed lines write; a dashed outline means idle"
    parts.append(words("lab-muted", MARGIN, bottom + 14, legend))
    return chart(title, account, bottom + 28, [*parts, *lines, *cells], STYLE)


def _span(count: int, group: int, cell: float) -> float:
    return count * cell + (-(-count // group) - 1) * GAP


def _left(index: int, group: int, cell: float) -> float:
    """Return where the cell of an index begins; groups are separated by gaps."""
    return MARGIN + index * cell + index // group * GAP


def _threads(blocks: int, size: int, busy: set[int], cell: float, y: float) -> list[str]:
    made: list[str] = []
    for block in range(blocks):
        middle, label = _left(block * size, size, cell) + size * cell / 2, f"block {block}"
        wide = text_width(label, 12.0) + 6  # paper behind the words, so that no line runs through them
        made.append(
            f'<rect class="lab-paper" x="{middle - wide / 2:.1f}" y="{y - 20:.1f}" width="{wide:.1f}" height="16"/>'
        )
        made.append(words("lab-muted", middle, y - 8, label, "middle"))
        for thread in range(size):
            number = block * size + thread
            tone = "lab-odd" if block % 2 else ""
            kind = f"lab-thread {tone if number in busy else 'lab-idle'}".strip()
            made += _cell(kind, _left(number, size, cell), y, cell, str(thread), f"thread {thread} of block {block}")
    return made


def _elements(array: Touched, group: int, cell: float, y: float, name_at: float) -> list[str]:
    made: list[str] = []
    for index in range(array.length):
        made += _cell("lab-element", _left(index, group, cell), y, cell, str(index), f"{array.name}[{index}]")
    made.append(words("lab-number", MARGIN, name_at, array.name))
    return made


def _cell(kind: str, x: float, y: float, cell: float, label: str, title: str) -> list[str]:
    inside = 2.0
    rect = (
        f'<rect class="{kind}" x="{x + inside / 2:.1f}" y="{y:.1f}" width="{cell - inside:.1f}" '
        f'height="{cell - inside:.1f}" rx="3"><title>{title}</title></rect>'
    )
    small = words("lab-small", x + cell / 2, y + cell / 2 + 3, label, "middle") if cell >= 15 else ""
    return [rect, small]


def _lines(array: Touched, size: int, group: int, cell: float, above: float, y: float) -> list[str]:
    made: list[str] = []
    for kind, pairs in (("lab-touch", array.reads), ("lab-touch lab-writes", array.writes)):
        for thread, index in sorted(pairs):
            x1, x2 = _left(thread, size, cell) + cell / 2, _left(index, group, cell) + cell / 2
            made.append(f'<path class="{kind}" d="M{x1:.1f},{above:.1f}L{x2:.1f},{y:.1f}"/>')
    return made
