"""Golf on a valley: the player chooses the length of each stroke, its direction is that of minus the gradient.

The quadratic is three numbers, so that the page plays alone; ``draw.golf`` has the same rules for the kernel.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import traitlets

from autodiff_lab.draw.golf import HOLE, MOST, Green, plot, scorecard
from autodiff_lab.draw.plots import svg
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.widgets.base import PageWidget, assets

_SCRIPT, _STYLE = assets(Path(__file__).parent)
PAR = 3


class Golf(PageWidget):
    """A game of golf.  Usually made by ``lessons.golf`` or ``lessons.deal_valley``.

    Parameters
    ----------
    green : Green
        Where it is played.

    Attributes
    ----------
    strokes : list of float
        The lengths that were played.
    h : float
        The length that is chosen for the next stroke.
    tee : list of float
        Where the ball lies at first.
    rival : bool
        Whether a second player is shown, who always takes `h`.
    best : int
        The fewest strokes that ended in the hole so far, 0 before the first.

    Examples
    --------
    >>> import numpy as np
    >>> game = Golf(Green(np.diag([1.0, 10.0]), np.zeros(2), np.array([10.0, 1.0])))
    >>> game.play(1.0)
    >>> game.play(0.1)
    >>> game.is_over, game.best
    (True, 2)
    """

    _esm = _SCRIPT
    _css = _STYLE
    folder = "golf"
    kept = ("facts", "tee", "strokes", "h", "rival", "best", "par")

    facts = traitlets.Dict().tag(sync=True)
    tee = traitlets.List(traitlets.Float()).tag(sync=True)
    strokes = traitlets.List(traitlets.Float()).tag(sync=True)
    h = traitlets.Float(0.05).tag(sync=True)
    rival = traitlets.Bool(False).tag(sync=True)
    best = traitlets.Int(0).tag(sync=True)
    par = traitlets.Int(PAR).tag(sync=True)

    def __init__(self, green: Green) -> None:
        self._green = green
        super().__init__(facts=green.facts(), tee=green.tee.tolist())
        self.observe(self._count, "strokes")

    @traitlets.validate("tee", "strokes")
    def _numbers(self, proposal: Any) -> list[float]:
        name, given = proposal["trait"].name, [float(value) for value in proposal["value"]]
        if not all(map(math.isfinite, given)) or (name == "tee" and len(given) != 2):
            raise traitlets.TraitError(f"{name} is {given}; expected {'two ' * (name == 'tee')}finite numbers.")
        return given[:MOST]

    def _count(self, _: Any) -> None:
        if self.is_over and (not self.best or len(self.strokes) < self.best):
            self.best = len(self.strokes)

    @property
    def green(self) -> Green:
        """The valley, with the ball where the player put it."""
        return Green(self._green.hessian, self._green.hole, np.array(self.tee), self._green.name, self._green.hidden)

    @property
    def is_over(self) -> bool:
        """Whether the ball is in the hole."""
        return bool(self.strokes) and self.green.height(self.green.path(self.strokes)[-1]) < HOLE

    def play(self, h: float) -> None:
        """Take one stroke.

        Parameters
        ----------
        h : float
            How many times the gradient the ball moves, downhill.

        Raises
        ------
        InvalidArgumentError
            If it is not a finite number.
        """
        if isinstance(h, bool) or not isinstance(h, (int, float)) or not math.isfinite(h):
            raise InvalidArgumentError(f"golf: a stroke is a finite number, got {h!r}. Try 0.1.")
        if not self.is_over:
            self.strokes = [*self.strokes, float(h)]

    def account(self) -> str:
        """Return the scorecard: each stroke with its length, and where the ball lies."""
        return scorecard(self.green, self.strokes, self.par)

    def picture(self) -> str:
        """Return the valley and the path of the ball as a static SVG."""
        return svg(plot(self.green, self.strokes, self.par))

    def page_title(self) -> str:
        """Return the title of its page."""
        return "Hole in two"
