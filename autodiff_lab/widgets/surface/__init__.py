"""The explorer of a function of two numbers: contours, a start that can be dragged, and paths to step through.

It gets what was sampled before (`draw.surfaces`) and never sees the function.  When the start moves it calls what its
creator passed; without a kernel the paths stay where they are, and the page says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import traitlets

from autodiff_lab.draw.plots import svg
from autodiff_lab.draw.surfaces import Path as Steps
from autodiff_lab.draw.surfaces import Surface
from autodiff_lab.widgets.base import PageWidget, assets

_SCRIPT, _STYLE = assets(Path(__file__).parent)


class SurfaceExplorer(PageWidget):
    """Contours of a function of two numbers and the paths of optimizers.  Usually made by ``lab.explore_2d``.

    Parameters
    ----------
    surface : Surface
        What is shown at first.
    again : callable, optional
        Takes a start and returns the paths from there; without it the start stays where it is.
    field, ellipse : bool
        Whether arrows downhill, and the ellipse of curvatures, are shown at first.

    Attributes
    ----------
    start : list of float
        Where paths begin; setting it lets the optimizers run again.
    step : int
        The step that is shown, 0 at the start.
    chosen : int
        Which path it belongs to.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.draw.plots import Axis
    >>> here = Steps("", "forward", np.array([[1.0, 2.0, 5.0, 2.0, 4.0, 2.0, 0.0, 2.0]]))
    >>> SurfaceExplorer(Surface("f", Axis(-3.0, 3.0), Axis(-3.0, 3.0), (), (here,))).start
    [1.0, 2.0]
    """

    _esm = _SCRIPT
    _css = _STYLE
    folder = "surface"
    kept = ("facts", "paths", "start", "step", "chosen", "field", "ellipse")

    facts = traitlets.Dict().tag(sync=True)
    paths = traitlets.List().tag(sync=True)
    start = traitlets.List(traitlets.Float()).tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    chosen = traitlets.Int(0).tag(sync=True)
    field = traitlets.Bool(True).tag(sync=True)
    ellipse = traitlets.Bool(True).tag(sync=True)

    def __init__(
        self, surface: Surface, again: Callable[[Sequence[float]], tuple[Steps, ...]] | None = None, *,
        field: bool = True, ellipse: bool = True,
    ) -> None:  # fmt: skip
        self.surface = surface
        self._again = again
        super().__init__(
            facts=surface.facts(), paths=[path.facts() for path in surface.paths],
            start=surface.paths[0].rows[0, :2].tolist(), field=bool(field), ellipse=bool(ellipse),
        )  # fmt: skip
        self.observe(self._run_again, "start")

    @traitlets.validate("start")
    def _a_pair(self, proposal: Any) -> list[float]:
        given = [float(value) for value in proposal["value"]]
        if len(given) != 2 or not all(map(math.isfinite, given)):
            raise traitlets.TraitError(f"start is {given}; expected two finite numbers. Try [1.0, 2.0].")
        return given

    def _run_again(self, _: Any) -> None:
        if self._again is not None:
            paths = self._again(self.start)
            self.surface = Surface(self.surface.name, self.surface.x, self.surface.y, self.surface.layers, paths)
            self.paths = [path.facts() for path in paths]

    def account(self) -> str:
        """Return where each path begins and ends, as text."""
        return self.surface.account()

    def picture(self) -> str:
        """Return contours and paths as a static SVG."""
        return svg(self.surface.plot())

    def page_title(self) -> str:
        """Return the title of its page."""
        return self.surface.name
