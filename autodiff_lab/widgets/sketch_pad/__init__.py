"""The sketch pad: a curve above an empty panel, into which its derivative is drawn before it is shown.

The page has the samples of every derivative, so that it judges a sketch by itself; ``draw.sketches`` does so for the
kernel, by the same rules.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import traitlets

from autodiff_lab.draw.curves import Curves
from autodiff_lab.draw.plots import svg
from autodiff_lab.draw.sketches import COLUMNS, ENOUGH, Judged, drawn, in_words, judge, plot, reach, shown
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.widgets.base import PageWidget, assets

_SCRIPT, _STYLE = assets(Path(__file__).parent)
DIGITS = 4


class SketchPad(PageWidget):
    """A pad to sketch derivatives on.  Usually made by ``lessons.sketch_pad``.

    Parameters
    ----------
    *dealt : Curves
        Functions of `COLUMNS` samples, with a row for each derivative that is sketched and one more.
    order : int
        How many derivatives are sketched, one after the other.
    trace : bool
        Whether the point on the curve leaves its slope in the panel before the derivative is shown.
    reveals : bool
        Whether the derivative can be asked for; otherwise `reveal` shows it.
    daily : bool
        Whether a page opens the function of the day.
    ideas : mapping of str to str, optional
        What each code says.

    Attributes
    ----------
    at, row : int
        Which function is shown, and which of its derivatives is sketched.
    x : float
        Where the point is.
    sketches : dict of str to list
        Heights by function and row, like ``"0.1"``; None where nothing is drawn.
    revealed : list of str
        What has been shown.
    best : int
        A score to beat, 0 without one.

    Examples
    --------
    >>> x = np.linspace(-1.0, 1.0, COLUMNS)
    >>> pad = SketchPad(Curves(x, (x**2, 2 * x, 0 * x + 2)))
    >>> pad.draw(lambda x: 2 * x)
    >>> pad.judged().passed
    True
    """

    _esm = _SCRIPT
    _css = _STYLE
    folder = "sketch_pad"
    kept = (
        "dealt", "at", "row", "order", "x", "sketches", "revealed", "trace", "reveals", "daily", "best", "ideas",
    )  # fmt: skip

    dealt = traitlets.List().tag(sync=True)
    at = traitlets.Int(0).tag(sync=True)
    row = traitlets.Int(1).tag(sync=True)
    order = traitlets.Int(1).tag(sync=True)
    x = traitlets.Float(0.0).tag(sync=True)
    sketches = traitlets.Dict().tag(sync=True)
    revealed = traitlets.List(traitlets.Unicode()).tag(sync=True)
    trace = traitlets.Bool(True).tag(sync=True)
    reveals = traitlets.Bool(True).tag(sync=True)
    daily = traitlets.Bool(False).tag(sync=True)
    best = traitlets.Int(0).tag(sync=True)
    ideas = traitlets.Dict().tag(sync=True)

    def __init__(
        self, *dealt: Curves, order: int = 1, trace: bool = True, reveals: bool = True, daily: bool = False,
        ideas: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        if not dealt:
            raise InvalidArgumentError("SketchPad: expected at least one function.")
        self.curves: Sequence[Curves] = [_rounded(curves, order) for curves in dealt]
        first = dealt[0].x
        super().__init__(
            dealt=[_facts(curves, order) for curves in self.curves], order=order, trace=trace, reveals=reveals,
            daily=daily, ideas=dict(ideas or {}), x=float(first[len(first) // 4]),
        )  # fmt: skip

    @traitlets.validate("sketches")
    def _heights(self, proposal: Any) -> dict[str, list[float | None]]:
        """Refuse what the page would not send."""
        for key, given in proposal["value"].items():
            plain = json.loads(json.dumps(given))
            if not isinstance(plain, list) or len(plain) != COLUMNS:
                raise traitlets.TraitError(f"A sketch has {COLUMNS} heights; that of {key} does not.")
        return proposal["value"]

    def draw(self, sketch: Any, at: int | None = None, row: int | None = None) -> None:
        """Draw a sketch, as the pen does.

        Parameters
        ----------
        sketch : callable, sequence of float or float
            A function of x; heights that are evenly far apart, the first at the left end; or one height for all.
        at, row : int, optional
            Of which function, counted from 0, and of which derivative; by default what is shown.

        Raises
        ------
        InvalidArgumentError
            If it is none of these, or the derivative is shown already.
        """
        at, row = self._which(at, row)
        if f"{at}.{row}" in self.revealed:
            raise InvalidArgumentError("This derivative is shown already; what was drawn stays as it was.")
        try:
            heights = drawn(self.curves[at], sketch, row)
        except (TypeError, ValueError) as wrong:
            raise InvalidArgumentError(
                f"A sketch is a function of x, a list of heights or a number: {wrong}. Try pad.draw([9, -3, 9])."
            ) from wrong
        told = [round(height, 6) if np.isfinite(height) else None for height in heights.tolist()]
        self.sketches = {**self.sketches, f"{at}.{row}": told}

    def _which(self, at: int | None, row: int | None) -> tuple[int, int]:
        at, row = self.at if at is None else at, self.row if row is None else row
        if not (0 <= at < len(self.curves) and 1 <= row <= self.order):
            raise InvalidArgumentError(f"There is no function {at} with a derivative {row} on this pad.")
        return at, row

    def sketch(self, at: int | None = None, row: int | None = None) -> np.ndarray:
        """Return the heights that are drawn, shape (COLUMNS,), nan where there are none."""
        at, row = self._which(at, row)
        kept = self.sketches.get(f"{at}.{row}") or [None] * COLUMNS
        return np.array([np.nan if height is None else float(height) for height in kept])

    def is_drawn(self, at: int | None = None, row: int | None = None) -> bool:
        """Return whether a sketch covers the panel."""
        return bool(np.isfinite(self.sketch(at, row)).mean() >= ENOUGH)

    def judged(self, at: int | None = None, row: int | None = None) -> Judged:
        """Compare a sketch with the derivative and with what the usual mistakes draw."""
        at, row = self._which(at, row)
        return judge(self.curves[at], self.sketch(at, row), row)

    def reveal(self, at: int | None = None, row: int | None = None) -> None:
        """Show the derivative over the sketch.

        Raises
        ------
        InvalidArgumentError
            If the sketch does not cover the panel.
        """
        at, row = self._which(at, row)
        if not self.is_drawn(at, row):
            raise InvalidArgumentError("Draw over the whole width first; pad.draw([...]) takes heights.")
        if f"{at}.{row}" not in self.revealed:
            self.revealed = [*self.revealed, f"{at}.{row}"]

    def account(self) -> str:
        """Return what is drawn in words; once it is shown, the derivative and the score as well."""
        lines = ["Slope of the day: draw f′ of a function that you see." if self.daily else ""]
        for at, curves in [] if self.daily and not self.revealed else enumerate(self.curves):
            for row in range(1, self.order + 1):
                lines += self._told(at, row, curves)
        return "\n".join(line for line in lines if line)

    def _told(self, at: int, row: int, curves: Curves) -> list[str]:
        name, sketch, key = curves.names[row], self.sketch(at, row), f"{at}.{row}"
        if not np.isfinite(sketch).any():
            return [] if self.daily else [f"{name}: nothing drawn yet"]
        lines = [f"{name}, your sketch: {in_words(curves.x, sketch)}"]
        if key in self.revealed:
            judged = self.judged(at, row)
            lines += [f"{name}: {in_words(curves.x, shown(curves, row))}", f"  {self.said(judged, name)}"]
        return lines

    def said(self, judged: Judged, name: str) -> str:
        """Return a score as a sentence."""
        if judged.passed:
            return f"{judged.score} of 100: this is {name}."
        if not judged.code:
            return f"{judged.score} of 100: nearest to {name}, and still too far from it in places."
        idea = self.ideas.get(judged.code)
        told = f"this is what one gets if {idea}" if idea else f"neither {name} nor one of the usual mistakes"
        return f"{judged.score} of 100: {told}."

    def picture(self) -> str:
        """Return the sketch as a static SVG; once it is shown, over the derivative, with its score."""
        key = f"{self.at}.{self.row}"
        judged = self.judged() if key in self.revealed else None
        return svg(plot(self.curves[self.at], self.sketch(), self.row, judged))

    def page_title(self) -> str:
        """Return the title of its page."""
        return "Slope of the day" if self.daily else "Draw it before you see it"

    def page_state(self) -> dict[str, Any]:
        """Return the traits with which its page begins.

        The slope of the day goes without the sketch: with its score, if it was shown, as the one to beat.
        """
        state = super().page_state()
        if self.daily:
            scores = [self.judged(*map(int, key.split("."))).score for key in self.revealed]
            state |= {"sketches": {}, "revealed": [], "best": max([self.best, *scores])}
        return state

    def page_still(self) -> str:
        """Return the picture, which the slope of the day does not give away."""
        return "" if self.daily else super().page_still()


def _rounded(curves: Curves, order: int) -> Curves:
    """Return curves in the few digits that the page gets, so that both judge the same."""
    rows = tuple(np.array([float(f"{value:.{DIGITS}g}") for value in row.tolist()]) for row in curves.rows[: order + 2])
    return replace(curves, rows=rows)


def _facts(curves: Curves, order: int) -> dict[str, Any]:
    """Return a function as JSON: its samples, and how far each panel reaches."""
    rows = [[value if np.isfinite(value) else None for value in row.tolist()] for row in curves.rows]
    return {
        "lo": float(curves.x[0]), "hi": float(curves.x[-1]), "variable": curves.variable, "title": curves.title,
        "names": list(curves.names), "rows": rows,
        "reach": [0.0, *(reach(curves, row) for row in range(1, order + 1))],
    }  # fmt: skip

