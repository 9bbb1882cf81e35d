"""What the widgets share: how a widget finds its script and style, and what it shows where no script runs.

A widget is one folder: `__init__.py` (traits and their validation), `widget.js` (which may import small modules beside
it) and `widget.css`.  Besides the live widget, `LabWidget` provides a text and a static picture for GitHub, nbconvert
and other viewers without widgets. JupyterLab never shows these: a notebook saved without the state of its widgets
(Settings, Save Widget State Automatically) says "model not found" there. `autodiff-lab` switches that setting on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from autodiff_lab.draw.assets import module_text, sheets, style_text


def assets(folder: Path) -> tuple[str, str]:
    """Return the script and the style sheet of the widget in `folder`, as `_esm` and `_css` take them.

    Parameters
    ----------
    folder : pathlib.Path
        Holds ``widget.js`` and style sheets; those of the folders that the script imports from come first.

    Examples
    --------
    >>> from autodiff_lab.draw.assets import WIDGETS
    >>> script, style = assets(WIDGETS / "explorer")
    >>> "export default" in script, "--lab-forward" in style
    (True, True)
    """
    return module_text(folder / "widget.js"), style_text(*sheets(folder))


class LabWidget(anywidget.AnyWidget):
    """Base of the widgets; a subclass describes itself in words and, if possible, as a picture.

    Attributes
    ----------
    wants_focus : bool
        Set it to True for the widget to take the keyboard's focus as soon as it is shown; it then is False again.
    """

    wants_focus = traitlets.Bool(False).tag(sync=True)

    def account(self) -> str:
        """Return what the widget shows, as text."""
        return f"<{type(self).__name__}>"

    def picture(self) -> str | None:
        """Return what the widget shows as an SVG, or None if it cannot be drawn here."""
        return None

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the live widget, with the text and the picture for places where no script runs."""
        bundle = super()._repr_mimebundle_(**options)
        if bundle is None:
            return None
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        data = {**data, "text/plain": self.account()}
        picture = self.picture()
        if picture is not None:
            data["image/svg+xml"] = picture
        return data, metadata
