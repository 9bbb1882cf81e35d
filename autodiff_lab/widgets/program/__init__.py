"""The program explorer: a compiled function as a graph, as the text of its program, and as the Python that runs.

Select a line or a node in one of the three, and what belongs to it is highlighted in the others.  The drawing comes
from `draw.program`; ``widget.js`` moves the marks.  The state is one integer, `at`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import traitlets

from autodiff_lab.draw.program import ProgramView, payload, picture
from autodiff_lab.draw.program.payload import MOST_DRAWN
from autodiff_lab.errors import LayoutFailed
from autodiff_lab.widgets.base import LabWidget, assets

_SCRIPT, _STYLE = assets(Path(__file__).parent)
NOTHING = -1
"""Stands for an item where none is selected."""


class ProgramExplorer(LabWidget):
    """A compiled function in three linked views.  Displaying a `lab.function` in a notebook makes one.

    Parameters
    ----------
    view : ProgramView
        What is shown.
    at : int
        The item that is selected at first.

    Attributes
    ----------
    at : int
        What is selected: an item by its position in the program (``%4`` is 4), a loop by its position after the last
        item, -1 for nothing; values outside are clamped to this range.

    Examples
    --------
    >>> from autodiff_lab.draw.program import Item
    >>> x = Item("argument", "x", "x", "%0", "f32[3]")
    >>> shown = ProgramExplorer(ProgramView("f", (x,)))
    >>> shown.at = 99
    >>> shown.at
    0
    """

    _esm = _SCRIPT
    _css = _STYLE
    facts = traitlets.Dict(read_only=True).tag(sync=True)
    at = traitlets.Int(NOTHING).tag(sync=True)

    def __init__(self, view: ProgramView, at: int = NOTHING) -> None:
        self.view = view
        self.set_trait("facts", payload(view))
        super().__init__(at=at)

    @traitlets.validate("at")
    def _of_an_item_or_loop(self, proposal: Any) -> int:
        return max(NOTHING, min(int(proposal["value"]), len(self.facts.get("sentences", ())) - 1))

    def account(self) -> str:
        """Return the program as text."""
        return self.view.account()

    def picture(self) -> str | None:
        """Return the graph as an SVG, or None if there is none."""
        if not 0 < len(self.view.items) <= MOST_DRAWN:
            return None
        try:
            return picture(self.view)[0]
        except LayoutFailed:
            return None
