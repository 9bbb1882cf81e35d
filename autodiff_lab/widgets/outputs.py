"""Outputs: what a displayed widget leaves in a notebook, and in the file of that notebook.

- The live widget and its picture are two outputs, so that whatever shows ``image/svg+xml`` shows the picture. Below the
  live widget ``base.css`` hides it.
- Script and style of a kind of widget are kept in one model, a `Library`, however many widgets there are; ``loader.js``
  fetches them from there.
- A cell that is run again lets go of the widgets that it showed before. One that is still in use opens again.

All this holds in a notebook with an IPython kernel. Elsewhere, a widget carries its own script, and the picture is
part of its only output.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import ipywidgets
import traitlets

SVG = "image/svg+xml"
VIEW = "application/vnd.jupyter.widget-view+json"
LOADER = (Path(__file__).parent / "loader.js").read_text(encoding="utf-8")


class Library(ipywidgets.Widget):
    """Holds the script and the style that all widgets of a kind share.

    Attributes
    ----------
    script, style : str
        Texts of an ES module and of a style sheet.
    """

    script = traitlets.Unicode().tag(sync=True)
    style = traitlets.Unicode().tag(sync=True)


@cache
def library_of(script: str, style: str) -> Library:
    """Return the library with a script and a style; it is made once."""
    return Library(script=script, style=style)


def notebook() -> Any:
    """Return the IPython shell whose outputs go to a notebook, or None.

    Colab is not one: it shows each output in a frame of its own, from which no other can be hidden or asked.

    Examples
    --------
    >>> notebook() is None
    True
    """
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None or "google.colab" in sys.modules else ipython.get_ipython()
    return shell if getattr(shell, "kernel", None) is not None else None


def publish(shown: Any) -> None:
    """Show the widget of an object, and then its picture as an output of its own: what ``_ipython_display_`` does.

    Parameters
    ----------
    shown : object
        A widget, or something with a ``_repr_mimebundle_`` that may contain one.

    Raises
    ------
    NotImplementedError
        Outside notebooks, whereupon IPython asks for ``_repr_mimebundle_``.
    """
    shell = notebook()
    if shell is None:
        raise NotImplementedError
    bundle = shown._repr_mimebundle_()
    data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
    widget = _widget(data)
    picture = data.pop(SVG, None) if VIEW in data else None
    if picture is not None and hasattr(widget, "pictured"):
        widget.pictured = True
    shell.display_pub.publish(data, metadata)
    if picture is not None:
        shell.display_pub.publish({SVG: picture})
    if hasattr(widget, "let_go"):
        _shown(shell).add(widget)


class _Shown:
    """The widgets that each cell shows, by the ids that front ends give to cells, and by the run that showed them."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.cells: dict[str, dict[str, list[Any]]] = {}
        shell.events.register("post_run_cell", self.end)

    def add(self, widget: Any) -> None:
        """Note that the cell that runs shows a widget; one that is shown by a callback belongs to no cell."""
        cell, run = self.running()
        if cell:
            self.cells.setdefault(cell, {}).setdefault(run, []).append(widget)

    def running(self) -> tuple[str, str]:
        """Return the cell that runs, and the run."""
        parent = self.shell.get_parent()
        return parent.get("metadata", {}).get("cellId") or "", parent.get("header", {}).get("msg_id", "")

    def end(self, result: object) -> None:
        """Let go of what earlier runs of a cell have shown, unless it is shown again, or by another cell."""
        cell, run = self.running()
        runs = self.cells.pop(cell, {})
        if run in runs:
            self.cells[cell] = {run: runs.pop(run)}
        kept = [shown for others in self.cells.values() for each in others.values() for shown in each]
        for widget in (old for each in runs.values() for old in each):
            if not any(widget is one for one in kept):
                widget.let_go()


def _widget(data: dict[str, Any]) -> Any:
    """Return the widget that an output shows, or None."""
    return (
        ipywidgets.widget_serialization["from_json"](f"IPY_MODEL_{data[VIEW]['model_id']}", None)
        if VIEW in data
        else None
    )


@cache
def _shown(shell: Any) -> _Shown:
    return _Shown(shell)
