"""The drill of shapes: ten pairs against the clock, by keys alone, as a widget and as a page that needs no kernel."""

from __future__ import annotations

from pathlib import Path

import traitlets

from autodiff_lab.widgets.base import PageWidget, assets

_SCRIPT, _STYLE = assets(Path(__file__).parent)

Shape = tuple[int, ...]
Pair = tuple[Shape, Shape, str]


class ShapeDrill(PageWidget):
    """Pairs of shapes: what is the shape of the sum, and which axes are summed on the way back?  Made by `shape_drill`.

    Parameters
    ----------
    *rounds : list of (tuple of int, tuple of int, str)
        The pairs of each round; the text is ``"a"`` or ``"b"``, the input for which the axes are asked.

    Examples
    --------
    >>> print(ShapeDrill([((3, 1), (4,), "a")]).account())
    What is the shape of each sum, and which of its axes are summed on the way back?
      (3, 1) + (4,)
    """

    _esm = _SCRIPT
    _css = _STYLE
    folder = "shape_drill"
    kept = ("rounds",)

    rounds = traitlets.List().tag(sync=True)

    def __init__(self, *rounds: list[Pair]) -> None:
        super().__init__(rounds=[[{"a": list(a), "b": list(b), "to": to} for a, b, to in pairs] for pairs in rounds])

    def account(self) -> str:
        """Return the pairs of the first round, without the answers."""
        pairs = [f"  {tuple(pair['a'])} + {tuple(pair['b'])}" for pair in self.rounds[0]]
        return "\n".join(["What is the shape of each sum, and which of its axes are summed on the way back?", *pairs])

    def page_title(self) -> str:
        """Return the title of its page."""
        return "Ten pairs of shapes"

    def page_still(self) -> str:
        """Return the pairs as text."""
        return f"<pre>{self.account()}</pre>"
