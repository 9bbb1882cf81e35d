"""Cards: what a notebook shows of a tensor, a variable, a tape, a layer, a model or an optimizer, as HTML.

A card has a heading, a line of facts, and a table. Everything in it that comes from a program is escaped. It carries
its style sheet, about 2 kB, because an output cell may be moved to a page of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from autodiff_lab.draw.markup import written
from autodiff_lab.draw.theme import css_variables
from autodiff_lab.recording.numbers import short

ROWS, COLUMNS = 10, 12
"""The most rows and columns of numbers that are shown; of longer axes the first and the last ones."""
_COUNTED = 20_000_000
"""Elements up to which the smallest, the mean and the largest are computed."""
_STYLE = """
.lab-card { color: var(--jp-ui-font-color1, var(--lab-ink)); font: 400 14px/20px var(--lab-ui-font); padding: 4px 0; }
.lab-card p, .jp-RenderedHTMLCommon .lab-card p { margin: 0; }
.lab-card b { font-weight: 600; }
.lab-card .lab-facts { color: var(--lab-muted); font-size: 12px; }
.lab-card .lab-cut { color: var(--lab-cut); font-weight: 600; }
.lab-card .lab-wide { overflow-x: auto; }
.lab-card table, .jp-RenderedHTMLCommon .lab-card table { border-collapse: collapse; border: 0; margin: 4px 0;
  font: 400 12px/20px var(--lab-ui-font); color: inherit; display: table; }
.lab-card tr, .jp-RenderedHTMLCommon .lab-card tr, .jp-RenderedHTMLCommon .lab-card tbody tr:nth-child(odd) {
  background: none; }
.lab-card th, .lab-card td, .jp-RenderedHTMLCommon .lab-card th, .jp-RenderedHTMLCommon .lab-card td {
  border: 0; padding: 0 16px 0 0; text-align: left; vertical-align: top; max-width: none; white-space: nowrap;
  color: inherit; }
.lab-card th, .jp-RenderedHTMLCommon .lab-card th { color: var(--lab-muted); font-weight: 400; }
.lab-card .lab-listed thead th, .jp-RenderedHTMLCommon .lab-card .lab-listed thead th {
  border-bottom: 1px solid var(--lab-hairline); }
.lab-card .lab-number, .jp-RenderedHTMLCommon .lab-card .lab-number { text-align: right;
  font-family: var(--lab-code-font); font-variant-numeric: tabular-nums; }
.lab-card .lab-listed thead .lab-number, .jp-RenderedHTMLCommon .lab-card .lab-listed thead .lab-number {
  font-family: var(--lab-ui-font); }
.lab-card summary { cursor: pointer; }
"""


@cache
def _style() -> str:
    return css_variables(".lab-card") + _STYLE


def card(heading: str, name: str = "", facts: Iterable[str] = (), inside: str = "") -> str:
    """Return a card.

    Parameters
    ----------
    heading, name : str
        The kind of object and its name.
    facts : iterable of str
        Short statements, shown in one line.
    inside : str
        Markup below, such as that of `listed` and `numbers`.

    Examples
    --------
    >>> markup = card("Dense", "<hidden>", ["17 parameters"])
    >>> "<b>Dense</b> &lt;hidden&gt;" in markup, "<hidden>" in markup
    (True, False)
    """
    line = " · ".join(written(fact) for fact in facts)
    below = f'<p class="lab-facts">{line}</p>' if line else ""
    title = f"<p><b>{written(heading)}</b>{f' {written(name)}' if name else ''}</p>"
    return f'<div class="lab-card"><style>{_style()}</style>{title}{below}{inside}</div>'


def listed(headings: Sequence[str], rows: Iterable[Sequence[Any]], numeric: Sequence[str] = ()) -> str:
    """Return a table with headings.

    Parameters
    ----------
    headings : sequence of str
        Of the columns.
    rows : iterable of sequence
        Cells are texts; a cell that is a pair of a text and markup can be unfolded.
    numeric : sequence of str
        The headings whose columns hold numbers.

    Examples
    --------
    >>> listed(["name", "n"], [["<w>", "3"]], ["n"]).count("lab-number")
    2
    """
    classes = [' class="lab-number"' if heading in numeric else "" for heading in headings]
    head = "".join(f'<th scope="col"{css}>{written(h)}</th>' for css, h in zip(classes, headings, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{css}>{_cell(cell)}</td>" for css, cell in zip(classes, row, strict=True)) + "</tr>"
        for row in rows
    )
    table = f'<table class="lab-listed"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'<div class="lab-wide">{table}</div>'


def _cell(value: Any) -> str:
    if isinstance(value, tuple):
        return f"<details><summary>{written(value[0])}</summary>{value[1]}</details>"
    return written(str(value))


def numbers(array: Any) -> str:
    """Return the elements of an array as a table, with four significant digits; of a large one the corners.

    Of more than two axes the first entry is shown. Below stand the smallest, the mean and the largest of all finite
    elements, and how many are not finite.

    Examples
    --------
    >>> numbers(np.float32(2.5)).count("2.5")
    1
    >>> "9 more rows" in numbers(np.zeros((19, 2))), numbers(np.zeros((0, 3)))
    (True, '<p class="lab-facts">no elements</p>')
    """
    array = np.asarray(array)
    if not array.size:
        return '<p class="lab-facts">no elements</p>'
    if not array.ndim:
        return f'<p class="lab-number" style="text-align: left">{_number(array[()])}</p>'
    part = array[(0,) * (array.ndim - 2)] if array.ndim > 2 else array
    notes = [f"shown: [{'0, ' * (array.ndim - 2)}:, :]"] if array.ndim > 2 else []
    table = part if part.ndim == 2 else part[None]
    rows, columns = _some(table.shape[0], ROWS), _some(table.shape[1], COLUMNS)
    notes += _hidden(table.shape[0], rows, "row") + _hidden(table.shape[1], columns, "column")
    head = "".join(f'<th scope="col" class="lab-number">{_index(column)}</th>' for column in columns)
    corner = "<td></td>" if part.ndim == 2 else ""
    body = "".join(
        f"<tr>{_row_head(row) if corner else ''}"
        + "".join(f'<td class="lab-number">{_element(table, row, column)}</td>' for column in columns)
        + "</tr>"
        for row in rows
    )
    lines = f"<table><thead><tr>{corner}{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="lab-wide">{lines}</div>' + _account(array, notes)


def _some(count: int, most: int) -> list[int | None]:
    """Return the positions shown of an axis, None for a gap."""
    if count <= most:
        return list(range(count))
    half = most // 2
    return [*range(half), None, *range(count - half, count)]


def _hidden(count: int, shown: list[int | None], what: str) -> list[str]:
    left = count - sum(n is not None for n in shown)
    return [f"{left:,} more {what}{'s' if left > 1 else ''}"] if left else []


def _index(position: int | None) -> str:
    return "⋯" if position is None else str(position)


def _row_head(position: int | None) -> str:
    return f'<th scope="row" class="lab-number">{_index(position)}</th>'


def _element(table: Any, row: int | None, column: int | None) -> str:
    return "⋯" if row is None or column is None else _number(table[row, column])


def _number(value: Any) -> str:
    """Return one element; nan and infinities are marked by colour as well."""
    text = written(short(value, minus="\N{MINUS SIGN}"))
    unusual = isinstance(value, (np.floating, np.complexfloating)) and not np.isfinite(value)
    return f'<span class="lab-cut">{text}</span>' if unusual else text


def _account(array: Any, notes: list[str]) -> str:
    """Return the line below the numbers."""
    cut = ""
    if array.dtype.kind in "iufb" and 1 < array.size <= _COUNTED:
        finite = array[np.isfinite(array)] if array.dtype.kind == "f" else array
        if finite.size:
            kinds = ("smallest", finite.min()), ("mean", finite.mean(dtype=np.float64)), ("largest", finite.max())
            notes = [*(f"{kind} {short(value, minus=chr(0x2212))}" for kind, value in kinds), *notes]
        if finite.size < array.size:
            cut = f'<span class="lab-cut">{array.size - finite.size:,} not finite</span>' + (" · " if notes else "")
    line = " · ".join(map(written, notes))
    return f'<p class="lab-facts">{cut}{line}</p>' if cut or line else ""
