"""What the widgets share: how a widget finds its script and style, and what it shows where no script runs.

A widget is one folder: `__init__.py` (traits and their validation), `widget.js` (which may import small modules beside
it) and `widget.css`.  Besides the live widget, `LabWidget` provides a text and a static picture for GitHub, nbconvert
and other viewers without widgets; how they get into a notebook is the subject of `outputs`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import anywidget
import traitlets

from autodiff_lab.draw.assets import WIDGETS, module_text, sheets, style_text
from autodiff_lab.draw.page import document
from autodiff_lab.widgets.outputs import LOADER, SVG, library_of, notebook, publish


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

    In a notebook, script and style are kept in one `Library` for all widgets of a kind. A widget whose cell was run
    again is let go, and opens again when something asks for it.

    Attributes
    ----------
    wants_focus : bool
        Set it to True for the widget to take the keyboard's focus as soon as it is shown; it then is False again.
    library : str
        Model that holds its script and style, or ``""`` if it carries them itself.
    pictured : bool
        Whether its picture follows it as an output of its own.
    script, style : str
        Its own script and style sheet.
    carrier : Form or None
        The form that contains it, where the host knows no models.
    """

    wants_focus = traitlets.Bool(False).tag(sync=True)
    library = traitlets.Unicode("").tag(sync=True)
    pictured = traitlets.Bool(False).tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        script, style = getattr(self, "_esm", None), getattr(self, "_css", "")
        self.script, self.style = script, style
        self.carrier: Any = None
        if notebook() is not None and isinstance(script, str) and isinstance(style, str):  # a file may be edited still
            traits["library"] = library_of(script, style).model_id
            self._esm, self._css = LOADER, ""
        self._own_layout = "layout" not in traits
        super().__init__(**traits)

    def account(self) -> str:
        """Return what the widget shows, as text."""
        return f"<{type(self).__name__}>"

    def picture(self) -> str | None:
        """Return what the widget shows as an SVG, or None if it cannot be drawn here."""
        return None

    @property
    def model_id(self) -> str:
        """The id of the model; a widget that was let go opens again."""
        if self.comm is None and self._model_id is not None:
            if self._own_layout:
                self.layout.open()
            self.open()
        return super().model_id

    def let_go(self) -> None:
        """Take the model out of the notebook until it is asked for again."""
        self.close()
        if "_repr_mimebundle_" in vars(self):  # `close` hides the method
            del self._repr_mimebundle_
        if self._own_layout:
            self.layout.close()

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the live widget, with the text and the picture for places where no script runs."""
        picture = self.picture()
        bundle = super()._repr_mimebundle_(**options)
        if bundle is None:
            return None
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        data = {**data, "text/plain": self.account()}
        if picture is not None:
            data[SVG] = picture
        return data, metadata

    def send(self, content: Any, buffers: Any = None) -> None:
        """Send a message to the script, also where a form carries the widget."""
        if self.carrier is not None:
            self.carrier.pass_on(self, content, buffers)
        super().send(content, buffers)

    def _ipython_display_(self) -> None:
        """Show the live widget and its picture as two outputs of a cell; see `autodiff_lab.widgets.outputs`."""
        publish(self)


class PageWidget(LabWidget):
    """A widget that is also shown by itself, in a page without a kernel.

    Attributes
    ----------
    folder : str
        That of its script, in ``autodiff_lab/widgets``.
    kept : tuple of str
        The traits with which the page begins.
    """

    folder: ClassVar[str]
    kept: ClassVar[tuple[str, ...]]

    def page_title(self) -> str:
        """Return the title of its page."""
        return type(self).__name__

    def page_state(self) -> dict[str, Any]:
        """Return the traits with which its page begins."""
        return {name: getattr(self, name) for name in self.kept}

    def page_still(self) -> str:
        """Return what its page shows where no script runs: markup, which may be empty."""
        return self.picture() or ""

    def to_html(self, path: str | Path) -> Path:
        """Write it as one HTML file that needs no network and no kernel.

        Parameters
        ----------
        path : str or pathlib.Path
            Where the file goes.

        Returns
        -------
        pathlib.Path
            The file.
        """
        file = Path(path)
        text = document(self.page_title(), self.page_state(), WIDGETS / self.folder, self.page_still())
        file.write_text(text, encoding="utf-8")
        return file
