"""A Jacobian to SVG, in two panels: the table, and the product that avoids it with the cost of each way.

Every number carries its sign, and the strength of one colour shows its size.  A row is one backward pass and is framed
dashed; a column is one forward pass and is framed solid.  Cells carry their positions as data, so that the live widget
moves frames and marks over the same drawing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autodiff_lab.draw.jacobian.model import JacobianTable, Product
from autodiff_lab.draw.markup import picture, words, written
from autodiff_lab.recording.numbers import short

CELL = 26.0
LABEL = 62.0
HEAD = 28.0
GAP = 40.0
BAR = 200.0
MARGIN = 12.0
"""Between the edge of a picture and its panels; all of these are in pixels."""

STYLE = """
.lab-jacobian { font: 400 12px var(--lab-ui-font); max-width: 100%; height: auto; }
.lab-jacobian text { fill: var(--lab-ink); }
.lab-jacobian .lab-title { font-size: 14px; font-weight: 600; }
.lab-jacobian .lab-label { font-family: var(--lab-code-font); fill: var(--lab-muted); }
.lab-jacobian .lab-value { font-family: var(--lab-code-font); font-variant-numeric: tabular-nums; }
.lab-jacobian .lab-zero { fill: var(--lab-muted); }
.lab-jacobian .lab-box { stroke: var(--lab-hairline); fill: var(--lab-forward); }
.lab-jacobian .lab-outline { stroke: var(--lab-muted); fill: none; }
.lab-jacobian .lab-on { stroke-width: 3; fill: none; }
.lab-jacobian .lab-row { stroke: var(--lab-backward); stroke-dasharray: 6 3; }
.lab-jacobian .lab-column { stroke: var(--lab-forward); }
.lab-jacobian .lab-entry { stroke: var(--lab-now); }
.lab-jacobian .lab-bar { stroke-width: 2; fill-opacity: .3; }
.lab-jacobian .lab-bar.lab-row { fill: var(--lab-paper); }
.lab-jacobian .lab-bar.lab-column { fill: var(--lab-forward); }
.lab-paper { fill: var(--lab-paper); }
.lab-jacobian .lab-muted { fill: var(--lab-muted); }
"""


@dataclass(frozen=True, slots=True)
class Panel:
    """A part of the picture: markup in a box of this size, in pixels."""

    markup: str
    width: float
    height: float


def panels(table: JacobianTable, row: int = 0, column: int = 0) -> tuple[Panel, ...]:
    """Return the table, and the costs with the product if there is one, with one number marked.

    Parameters
    ----------
    table : JacobianTable
        What is drawn.
    row, column : int
        The number that is marked, from 0.

    Examples
    --------
    >>> [panel.width > 0 for panel in panels(JacobianTable(np.eye(2), (2,), (2,)))]
    [True, True]
    """
    return _table(table, row, column), _side(table, row, column)


def svg(table: JacobianTable, row: int = 0, column: int = 0, theme: str = "auto") -> str:
    """Draw both panels beside each other as one static picture.

    Parameters
    ----------
    table : JacobianTable
        What is drawn.
    row, column : int
        The number that is marked, from 0.
    theme : str
        ``"light"``, ``"dark"``, or ``"auto"``: what the host or the system prefers.

    Returns
    -------
    str
        One ``<svg>`` element with title and description, all text escaped.

    Examples
    --------
    >>> svg(JacobianTable(np.eye(2), (2,), (2,)))[:4]
    '<svg'
    """
    both = panels(table, row, column)
    width = sum(panel.width for panel in both) + GAP + 2 * MARGIN
    height = max(panel.height for panel in both) + 2 * MARGIN
    second = MARGIN + both[0].width + GAP
    inside = (
        f'<g transform="translate({MARGIN:g},{MARGIN:g})">{both[0].markup}</g>',
        f'<g transform="translate({second:g},{MARGIN:g})">{both[1].markup}</g>',
    )
    return picture("lab-jacobian", STYLE, _title(table), table.account(), width, height, inside, theme)


def _title(table: JacobianTable) -> str:
    height, width = table.matrix.shape
    return f"The Jacobian: {height} × {width} = {height * width} {'number' if height * width == 1 else 'numbers'}"


def _table(table: JacobianTable, row: int, column: int) -> Panel:
    height, width = table.matrix.shape
    top = HEAD + LABEL
    parts = [words("lab-title", 0, 14, _title(table))]
    parts += [words("lab-label", LABEL - 8, top + r * CELL + 17, table.row_name(r), "end") for r in range(height)]
    for c in range(width):
        x = LABEL + c * CELL + 17
        turned = f'transform="rotate(-90 {x:g} {top - 8:g})"'
        name = written(table.column_name(c))
        parts.append(f'<text class="lab-label" x="{x:g}" y="{top - 8:g}" {turned}>{name}</text>')
    cells = "".join(_cells(table.matrix, "jacobian"))
    frames = [
        _frame("lab-on lab-column", column * CELL, 0, CELL, height * CELL),
        _frame("lab-on lab-row", 0, row * CELL, width * CELL, CELL),
        _frame("lab-on lab-entry", column * CELL, row * CELL, CELL, CELL),
    ]
    parts.append(f'<g transform="translate({LABEL:g},{top:g})">{cells}{"".join(frames)}</g>')
    foot = top + height * CELL + 22
    parts.append(words("lab-muted", LABEL, foot, f"{table.zeros} of them are 0 (·)"))
    return Panel("".join(parts), max(LABEL + width * CELL, 270.0), foot + 6)


def _side(table: JacobianTable, row: int, column: int) -> Panel:
    parts: list[str] = []
    top, width = 0.0, 280.0
    if table.product is not None:
        parts.append(words("lab-title", 0, 14, "The product that avoids it"))
        drawn, wide, tall = _product(table, table.product, row, column)
        parts.append(f'<g transform="translate(0,{HEAD:g})">{drawn}</g>')
        top, width = HEAD + tall + 24, max(width, wide)
    parts.append(f'<g transform="translate(0,{top:g})">{_bars(table)}</g>')
    return Panel("".join(parts), width, top + HEAD + 3 * 40)


def _product(table: JacobianTable, product: Product, row: int, column: int) -> tuple[str, float, float]:
    """Return left · right = result as markup, its width and its height."""
    place = table.fixed_at(row, column)
    cotangent, fixed = ("row", table.rows[row]), ("entry", place)
    roles = [cotangent, fixed] if product.cotangent_first else [fixed, cotangent]
    roles.append(("column", table.columns[column]))
    matrices = (product.left, product.right, product.result)
    tall = max(matrix.shape[0] for matrix in matrices) * CELL
    parts: list[str] = []
    x = 0.0
    signs = ("·", "=", "")
    for matrix, (role, marked), name, sign in zip(matrices, roles, product.names, signs, strict=True):
        high, wide = matrix.shape[0] * CELL, matrix.shape[1] * CELL
        y = (tall - high) / 2
        hidden = "" if marked is not None else ' visibility="hidden"'
        r, c = marked if marked is not None else (0, 0)
        frame = _frame(f"lab-on lab-{role}", c * CELL, r * CELL, CELL, CELL, hidden)
        cells = "".join(_cells(matrix, role))
        parts.append(f'<g transform="translate({x:g},{y:g})">{cells}{frame}</g>')
        parts.append(words("lab-value", x + wide / 2, tall + 20, name, "middle"))
        x += wide + 24
        if sign:
            parts.append(words("lab-title", x - 12, tall / 2 + 5, sign, "middle"))
    return "".join(parts), x - 24, tall + 24


def _cells(matrix: np.ndarray, role: str) -> list[str]:
    """Return the cells of a matrix, each with its place as data."""
    largest = float(np.abs(matrix).max(initial=0.0)) or 1.0
    high, wide = matrix.shape
    parts: list[str] = []
    for r, c in np.ndindex(high, wide):
        value = float(matrix[r, c])
        x, y = c * CELL, r * CELL
        strength = 0.35 * abs(value) / largest
        data = f'data-role="{role}" data-row="{r}" data-column="{c}"'
        parts.append(
            f'<rect class="lab-box" {data} x="{x:g}" y="{y:g}" width="{CELL:g}" height="{CELL:g}" '
            f'fill-opacity="{strength:.2f}"/>'
        )
        css = "lab-value" if value else "lab-value lab-zero"
        parts.append(words(css, x + CELL / 2, y + 17, _signed(value), "middle"))
    parts.append(f'<rect class="lab-outline" width="{wide * CELL:g}" height="{high * CELL:g}"/>')
    return parts


def _signed(value: float) -> str:
    """Return a number with its sign, or the sign alone if the number is too long for a cell."""
    if value == 0:
        return "·"
    sign = "+" if value > 0 else "−"
    text = short(abs(value), 2)
    return f"{sign}{text}" if len(text) < 3 else sign


def _bars(table: JacobianTable) -> str:
    height, width = table.matrix.shape
    parts = [words("lab-title", 0, 14, "What it costs, in passes")]
    costs = (
        ("column", "whole table, forward: a column each", width),
        ("row", "whole table, backward: a row each", height),
        ("row", "one gradient, backward", 1),
    )
    for number, (role, label, count) in enumerate(costs):
        y = HEAD + number * 40
        long = max(BAR * count / max(height, width), 3.0)
        parts.append(words("", 0, y + 10, label))
        parts.append(f'<rect class="lab-bar lab-{role}" x="1" y="{y + 16:g}" width="{long:g}" height="12"/>')
        parts.append(words("lab-value", long + 10, y + 26, str(count)))
    return "".join(parts)


def _frame(css: str, x: float, y: float, width: float, height: float, more: str = "") -> str:
    return f'<rect class="{css}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="2"{more}/>'
