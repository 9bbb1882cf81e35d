"""What travels to the page: the drawing, both texts with their links, and a sentence for each item, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autodiff_lab.draw.program.picture import picture
from autodiff_lab.draw.values import clipped
from autodiff_lab.errors import LayoutFailed

if TYPE_CHECKING:
    from autodiff_lab.draw.program.model import ProgramView, Row

MOST_DRAWN = 400
"""The number of items beyond which the graph is left out, because it would be unreadable."""


def payload(view: ProgramView) -> dict[str, Any]:
    """Return all that the widget shows.

    Parameters
    ----------
    view : ProgramView
        Of a function that is compiled, or that says why it is not.

    Examples
    --------
    >>> from autodiff_lab.draw.program.model import ProgramView
    >>> payload(ProgramView("f", why="f runs eagerly"))["why"]
    'f runs eagerly'
    """
    drawing, absent = "", ""
    if len(view.items) > MOST_DRAWN:
        absent = f"{len(view.items)} values are too many for a graph; the program and its source are below."
    elif view.items:
        try:
            drawing = picture(view, themed=False)[0]
        except LayoutFailed as failure:
            absent = str(failure)
    items = range(len(view.items))
    return {
        "title": clipped(view.title),
        "summary": view.summary(),
        "why": clipped(view.why),
        "reasons": [[clipped(reason.words), clipped(reason.where), clipped(reason.line)] for reason in view.reasons],
        "cut": view.cut,
        "drawing": drawing,
        "absent": absent,
        "sentences": [
            *(clipped(view.sentence(at)) for at in items),
            *(clipped(view.loop_sentence(at)) for at in range(len(view.loops))),
        ],
        "ops": [at for at in items if view.items[at].kind == "op"],
        "ins": [list(dict.fromkeys(item.ins)) for item in view.items],
        "loops": [[clipped(loop.title), list(loop.items)] for loop in view.loops],
        "program": [_row(row) for row in view.program],
        "source": [_row(row) for row in view.source],
    }


def _row(row: Row) -> list[Any]:
    return [row.text, list(row.items), row.part]
