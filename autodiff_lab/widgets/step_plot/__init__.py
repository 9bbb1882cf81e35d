"""The step plot: how wrong a measured slope is for every step, with the digits that cancel, as a widget and as a page.

It gets values that were computed before (`draw.steps`) and needs no kernel; ``steps.js`` forms the quotients.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import traitlets

from autodiff_lab.draw.plots import svg
from autodiff_lab.draw.steps import LOWEST, Steps
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.widgets.base import PageWidget, assets

_SCRIPT, _STYLE = assets(Path(__file__).parent)


class StepPlot(PageWidget):
    """Errors of measured slopes against the step.  Usually made by ``autodiff_lab.explore_steps``.

    Parameters
    ----------
    *dealt : Steps
        What was measured; one, or in a game several, of which one is shown at a time.
    game : bool
        Whether errors stay hidden until they are tried, five at most.
    h : float
        The step that is marked at first.
    central : bool
        Whether the quotient is central.
    dtype : str
        ``"float64"`` or ``"float32"``.
    start : int
        Which of several is shown first.

    Attributes
    ----------
    h : float
        The step that is marked now; the nearest one that was measured is shown.
    central, dtype : bool, str
        The formula that is shown now.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.draw.steps import Values
    >>> h = np.array([0.5, 0.25])
    >>> steps = Steps("f", 1.0, (2.0, 2.0, 0.0), {"float64": Values(np.float64(1), h, (1 + h) ** 2, (1 - h) ** 2)})
    >>> StepPlot(steps, h=0.25).h
    0.25
    """

    _esm = _SCRIPT
    _css = _STYLE
    folder = "step_plot"
    kept = ("dealt", "game", "start", "h", "central", "dtype")

    dealt = traitlets.List().tag(sync=True)
    game = traitlets.Bool(False).tag(sync=True)
    start = traitlets.Int(0).tag(sync=True)
    h = traitlets.Float(1e-2).tag(sync=True)
    central = traitlets.Bool(False).tag(sync=True)
    dtype = traitlets.Enum(tuple(LOWEST), "float64").tag(sync=True)

    def __init__(
        self, *dealt: Steps, game: bool = False, h: float = 1e-2, central: bool = False, dtype: str = "float64",
        start: int = 0,
    ) -> None:  # fmt: skip
        if not dealt:
            raise InvalidArgumentError("StepPlot: expected at least one measured function.")
        self.steps: Sequence[Steps] = dealt
        facts = [steps.facts() for steps in dealt]
        super().__init__(
            dealt=facts, game=game, h=h, central=central, dtype=dtype, start=start % len(dealt)
        )

    @traitlets.validate("h")
    def _a_step(self, proposal: Any) -> float:
        value = float(proposal["value"])
        if not (value > 0 and math.isfinite(value)):
            raise traitlets.TraitError(f"h is {value}; a step is positive and finite. Try 1e-8.")
        return value

    def account(self) -> str:
        """Return the best steps as text; in a game the rules, which give nothing away."""
        shown = self.steps[self.start]
        if self.game:
            return f"Find the best step for {shown.name} at {shown.x:g} in five tries."
        return shown.account()

    def picture(self) -> str | None:
        """Return the plot as a static SVG; None in a game."""
        return None if self.game else svg(self.steps[self.start].plot(self.dtype, self.central))

    def page_title(self) -> str:
        """Return the title of its page."""
        return "Find the best step" if self.game else "The smaller, the worse"
