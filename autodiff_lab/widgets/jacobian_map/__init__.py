"""The Jacobian map: a table of derivatives beside the product that avoids it, walked with the arrow keys.

The drawing is that of `draw.jacobian`; ``widget.js`` moves its frames and reads a sentence for the number they meet on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import traitlets

from autodiff_lab.draw.jacobian import JacobianTable, panels, svg
from autodiff_lab.draw.jacobian.svg import CELL, STYLE
from autodiff_lab.widgets.base import LabWidget, assets

_SCRIPT, _STYLE = assets(Path(__file__).parent)


class JacobianMap(LabWidget):
    """A Jacobian beside the product that avoids it.  Usually made by ``lessons.jacobian_map``.

    Parameters
    ----------
    table : JacobianTable
        What is shown.
    row, column : int
        The number that is highlighted at first, from 0.

    Attributes
    ----------
    row, column : int
        The number that is highlighted now; values outside are clamped to the table.

    Examples
    --------
    >>> import numpy as np
    >>> shown = JacobianMap(JacobianTable(np.eye(2), (2,), (2,)))
    >>> shown.row = 9
    >>> shown.row
    1
    """

    _esm = _SCRIPT
    _css = STYLE + _STYLE

    facts = traitlets.Dict().tag(sync=True)
    row = traitlets.Int(0).tag(sync=True)
    column = traitlets.Int(0).tag(sync=True)

    def __init__(self, table: JacobianTable, row: int = 0, column: int = 0) -> None:
        self.table = table
        super().__init__(facts=facts(table), row=row, column=column)

    @traitlets.validate("row", "column")
    def _inside(self, proposal: Any) -> int:
        size = self.table.matrix.shape[0 if proposal["trait"].name == "row" else 1]
        return max(0, min(int(proposal["value"]), size - 1))

    def account(self) -> str:
        """Return the sizes, the costs and the highlighted number as text."""
        return f"{self.table.account()}\n  {self.table.sentence(self.row, self.column)}"

    def picture(self) -> str:
        """Return the map as a static SVG."""
        return svg(self.table, self.row, self.column)


def facts(table: JacobianTable) -> dict[str, Any]:
    """Return what the page needs, as JSON: drawings, sentences, and where each number appears in the product.

    Examples
    --------
    >>> import numpy as np
    >>> facts(JacobianTable(np.eye(2), (2,), (2,)))["size"]
    [2, 2]
    """
    height, width = table.matrix.shape
    places = [(row, column) for row in range(height) for column in range(width)]
    return {
        "size": [height, width],
        "cell": CELL,
        "title": f"Jacobian of {table.output} with respect to {table.input}",
        "panels": [
            {"markup": panel.markup, "width": panel.width, "height": panel.height} for panel in panels(table)
        ],
        "rows": [list(index) for index in table.rows],
        "columns": [list(index) for index in table.columns],
        "fixed": [list(table.fixed_at(*place) or ()) for place in places],
        "sentences": [table.sentence(*place) for place in places],
    }
