"""The swell: a formula as a tree whose equal parts can be merged, and its length against the number of rounds.

Everything is counted before (`draw.swell`), so the page needs no kernel; in it any step can be typed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import traitlets

from autodiff_lab.draw.plots import svg
from autodiff_lab.draw.swell import Swell
from autodiff_lab.widgets.base import PageWidget, assets

_SCRIPT, _STYLE = assets(Path(__file__).parent)


class SwellCounter(PageWidget):
    """The formula of a repeated step.  Usually made by ``lessons.swell``.

    Parameters
    ----------
    swell : Swell
        What was counted.
    n : int
        Rounds that are shown first.
    derivative : bool
        Whether the signs of the derivative are shown.

    Attributes
    ----------
    n : int
        Rounds that are shown now.
    merged : list of int
        Indices of the parts whose copies are one node now.

    Examples
    --------
    >>> from autodiff_lab.draw.swell import Part
    >>> counter = SwellCounter(Swell((Part("x", "x"), Part("+", "sum", (0, 0))), (0, 1), (0, 1)), 1)
    >>> counter.n, counter.merged
    (1, [])
    """

    _esm = _SCRIPT
    _css = _STYLE
    folder = "swell"
    kept = ("facts", "n", "merged")

    facts = traitlets.Dict().tag(sync=True)
    n = traitlets.Int(3).tag(sync=True)
    merged = traitlets.List(traitlets.Int()).tag(sync=True)
    typed = traitlets.Bool(False).tag(sync=True)

    def __init__(self, swell: Swell, n: int, derivative: bool = True) -> None:
        self.swell, self._derivative = swell, derivative
        super().__init__(facts=swell.facts(derivative), n=n)

    @traitlets.validate("n")
    def _a_round(self, proposal: Any) -> int:
        if not 1 <= proposal["value"] <= self.swell.rounds:
            raise traitlets.TraitError(f"n is {proposal['value']}; expected 1 to {self.swell.rounds}.")
        return proposal["value"]

    @traitlets.validate("merged")
    def _known_parts(self, proposal: Any) -> list[int]:
        known = len(self.swell.parts)
        if not all(0 <= part < known for part in proposal["value"]):
            raise traitlets.TraitError(f"merged is {proposal['value']}; parts are numbered 0 to {known - 1}.")
        return sorted(set(proposal["value"]))

    def account(self) -> str:
        """Return all counts after n rounds, as text."""
        return self.swell.account(self.n, self._derivative)

    def picture(self) -> str:
        """Return the counts against the number of rounds as a static SVG."""
        return svg(self.swell.plot(self.n, self._derivative))

    def page_title(self) -> str:
        """Return the title of its page."""
        return "How far does your formula reach?"

    def page_state(self) -> dict[str, Any]:
        """Return the traits with which its page begins; in it any step can be typed."""
        return super().page_state() | {"typed": True}
