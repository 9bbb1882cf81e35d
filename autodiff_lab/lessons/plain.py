"""What stands in for ipywidgets where they are not installed: objects that hold values and are displayed as text.

Predictions, explanations and what they open are made of a few widgets. Without ipywidgets, in a terminal or in a tab of
a browser, these take their place: nothing is drawn, `commit` and `keep` in a cell do what the buttons do, and every
object prints its account.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any


class Widget:
    """Keeps what it is given as attributes.

    Parameters
    ----------
    children : sequence of Widget
        What it contains.
    **traits
        Its attributes; `layout` becomes an object with attributes.

    Examples
    --------
    >>> field = Text(placeholder="a number", layout={"width": "180px"})
    >>> field.value = "2.5"
    >>> field.value, field.placeholder, field.layout.width
    ('2.5', 'a number', '180px')
    """

    value: Any = ""
    disabled = False

    def __init__(self, children: Sequence[Any] = (), **traits: Any) -> None:
        self.children: Sequence[Any] = children
        layout = traits.pop("layout", {})
        self.layout = SimpleNamespace(**layout)
        for name, value in traits.items():
            setattr(self, name, value)

    def add_class(self, name: str) -> None:
        """Do nothing: there is no style."""

    def on_msg(self, function: Callable[..., Any]) -> None:
        """Do nothing: no message comes."""

    def on_click(self, function: Callable[..., Any]) -> None:
        """Do nothing: nobody clicks."""

    def _repr_mimebundle_(self, **options: Any) -> None:
        """Return nothing, so that the text form is displayed."""


class HTML(Widget):
    """Holds markup as its value."""

    def __init__(self, value: str = "", **traits: Any) -> None:
        super().__init__(**traits)
        self.value = value


class VBox(Widget):
    """Holds other widgets."""


class HBox(VBox):
    """Holds other widgets."""


class Text(Widget):
    """Holds a line of text as its value."""


class Button(Widget):
    """Cannot be pressed."""


class RadioButtons(Widget):
    """Holds one of its options as its value."""
