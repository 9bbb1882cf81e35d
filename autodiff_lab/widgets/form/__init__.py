"""A form: text, fields, a button, and other widgets below them.

The questions of the lessons, the sentences with gaps and what a question opens are forms.  A notebook with an IPython
kernel knows every widget by its model, so that a form names the models it contains.  Elsewhere (marimo, Colab) it
carries script, style and state of each, and passes on what both sides say.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ipywidgets
import traitlets
from comm import DummyComm

from autodiff_lab.widgets.base import LabWidget, assets
from autodiff_lab.widgets.outputs import notebook

_HERE = Path(__file__).parent
_SCRIPT, _STYLE = assets(_HERE)

Part = dict[str, Any]
"""One element: ``kind`` is question, text, field, choices, markup or widget."""


@contextmanager
def carrying() -> Generator[None]:
    """Make widgets that a form will carry: where the host knows no models, they get none of their own.

    marimo makes models while a cell runs, and not while it answers a button.
    """
    made = ipywidgets.Widget._widget_construction_callback
    if notebook() is None:
        ipywidgets.Widget.on_widget_constructed(lambda widget: setattr(widget, "comm", DummyComm()))
    try:
        yield
    finally:
        ipywidgets.Widget.on_widget_constructed(made)


class Form(LabWidget):
    """A column of text, fields and widgets, with at most one button.

    Parameters
    ----------
    *parts : dict, str or ipywidgets.Widget
        Elements from top to bottom.  A string is markup, which must come from this package; learners' words go into
        elements of text, whose ``text`` is never parsed.
    button, tip : str
        The word on the button and what it does; without a word there is none.

    Attributes
    ----------
    values : list of str
        What each field holds, and which of the choices is taken.
    note : str
        A sentence below the fields; a screen reader says it when it changes.
    disabled : bool
        Whether fields and button are closed.
    submitted : dict
        ``values`` as they were when the button or Enter was pressed, and ``press``, how many times that was.

    Examples
    --------
    >>> form = Form({"kind": "field", "text": "x"}, button="Commit")
    >>> form.observe(lambda change: print(change.new["values"]), "submitted")
    >>> form.submitted = {"values": ["2.5"], "press": 1}
    ['2.5']
    """

    _esm = _SCRIPT
    _css = _STYLE

    parts = traitlets.List().tag(sync=True)
    values = traitlets.List(traitlets.Unicode()).tag(sync=True)
    button = traitlets.Unicode("").tag(sync=True)
    tip = traitlets.Unicode("").tag(sync=True)
    note = traitlets.Unicode("").tag(sync=True)
    disabled = traitlets.Bool(False).tag(sync=True)
    submitted = traitlets.Dict().tag(sync=True)

    def __init__(self, *parts: Part | str | ipywidgets.Widget, button: str = "", tip: str = "") -> None:
        self._places: dict[int, ipywidgets.Widget] = {}
        super().__init__(button=button, tip=tip)
        self.fill(*parts)
        self.on_msg(self._hear)

    @property
    def children(self) -> tuple[ipywidgets.Widget, ...]:
        """The widgets that it contains."""
        return tuple(self._places.values())

    def fill(self, *parts: Part | str | ipywidgets.Widget) -> None:
        """Replace the elements."""
        for child in self.children:
            child.unobserve(self._tell)
        self._places = {at: part for at, part in enumerate(parts) if isinstance(part, ipywidgets.Widget)}
        told = [self._described(part) for part in parts]
        self.values = [""] * sum(part["kind"] in ("field", "choices") for part in told)
        self.parts = told

    def _described(self, part: Part | str | ipywidgets.Widget) -> Part:
        if isinstance(part, str):
            return {"kind": "markup", "text": part}
        if isinstance(part, dict):
            return part
        if notebook() is not None:
            return {"kind": "widget", "model": part.model_id}
        if not isinstance(part, LabWidget):
            return {"kind": "text", "text": repr(part)}
        part.carrier = self
        part.observe(self._tell)
        state = {name: value for name, value in part.get_state().items() if name[0] != "_" and name != "layout"}
        return {"kind": "widget", "script": part.script, "style": part.style, "state": state}

    def _place_of(self, child: object) -> int | None:
        return next((at for at, one in self._places.items() if one is child), None)

    def _tell(self, change: Any) -> None:
        """Pass on a trait of a carried widget that changed in the kernel."""
        place, child, name = self._place_of(change.owner), change.owner, change.name
        if place is None or "state" not in self.parts[place] or name not in self.parts[place]["state"]:
            return
        changes = child.get_state(name)
        self.parts[place]["state"].update(changes)
        self.send({"place": place, "changes": changes})

    def pass_on(self, child: object, content: Any, buffers: Any = None) -> None:
        """Pass on a message of a carried widget to its script."""
        place = self._place_of(child)
        if place is not None:
            self.send({"place": place, "content": content}, buffers)

    def _hear(self, _: object, content: Any, buffers: Any) -> None:
        """Pass on what the script of a carried widget says to the widget."""
        child = self._places.get(content.get("place", -1)) if isinstance(content, dict) else None
        if not isinstance(child, LabWidget):
            return
        if "changes" in content:
            child.set_state({name: value for name, value in content["changes"].items() if name in child.keys})
        else:
            child._handle_custom_msg(content.get("content"), buffers)

    def open(self) -> None:
        """Open the model, and those of what it contains."""
        for child in self._places.values() if "_places" in vars(self) else ():
            _ = child.model_id  # one that was let go opens again
        super().open()
