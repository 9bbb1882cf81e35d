"""The swell: a formula as a tree whose equal parts can be merged, and its length against the number of rounds.

Everything is counted before (`draw.swell`), so the page needs no kernel; in it any step can be typed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import traitlets

from autodiff_lab.draw.page import document
from autodiff_lab.draw.plots import svg
from autodiff_lab.draw.swell import Swell
from autodiff_lab.widgets.base import LabWidget, assets

_HERE = Path(__file__).parent
_SCRIPT, _STYLE = assets(_HERE)


class SwellCounter(LabWidget):
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

    def to_html(self, path: str | Path) -> Path:
        """Write this as one HTML file that needs no network and no kernel; in it any step can be typed.

        Parameters
        ----------
        path : str or pathlib.Path
            Where the file goes.

        Returns
        -------
        pathlib.Path
            The file.
        """
        state = {"facts": self.facts, "n": self.n, "merged": self.merged, "typed": True}
        file = Path(path)
        file.write_text(document("How far does your formula reach?", state, _HERE, self.picture()), encoding="utf-8")
        return file
