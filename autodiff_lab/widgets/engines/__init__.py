"""Engines side by side: backward passes over one program, one of them right, stepped together booking by booking.

The drawing and every state of it come from `draw.accounts`; ``widget.js`` writes the states into the drawing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import traitlets

from autodiff_lab.draw.accounts import Accounts
from autodiff_lab.widgets.base import PageWidget, assets

_SCRIPT, _STYLE = assets(Path(__file__).parent)


class EngineComparison(PageWidget):
    """Backward passes side by side.  Usually made by ``lessons.engines``.

    Parameters
    ----------
    accounts : Accounts
        What is shown.
    step : int
        The number of bookings that have been made at first.

    Attributes
    ----------
    step : int
        The number of bookings that are shown now; values outside are clamped to those there are.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.record() as recording, lab.GradientTape() as tape:
    ...     y = x * x
    ...     _ = tape.gradient(y, x)
    >>> shown = EngineComparison(Accounts([("right", "", recording)]))
    >>> shown.step = 99
    >>> shown.step
    2
    """

    _esm = _SCRIPT
    _css = _STYLE
    folder = "engines"
    kept = ("facts", "step")

    facts = traitlets.Dict().tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)

    def __init__(self, accounts: Accounts, step: int = 0) -> None:
        self.accounts = accounts
        super().__init__(facts=accounts.facts(), step=step)

    @traitlets.validate("step")
    def _inside(self, proposal: Any) -> int:
        return max(0, min(int(proposal["value"]), self.accounts.last))

    def account(self) -> str:
        """Return the audit of each pass, and who paid out early, as text."""
        return self.accounts.account()

    def __repr__(self) -> str:
        return self.account()

    def picture(self) -> str:
        """Return the passes at their ends as a static SVG."""
        return self.accounts.svg()

    def page_title(self) -> str:
        """Return the title of its page."""
        return "Engines side by side"
