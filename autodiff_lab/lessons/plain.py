"""What stands in for a form where anywidget is not installed: it holds values and is displayed as text.

In a terminal, or in a tab of a browser without widgets, nothing is drawn: `commit` and `keep` in a cell do what the
buttons do, and every object prints its account.
"""

from __future__ import annotations

from typing import Any


class Form:
    """Holds what a form shows.

    Parameters
    ----------
    *parts : dict, str or object
        Its elements.
    button, tip : str
        The word on the button and what it does.

    Examples
    --------
    >>> form = Form({"kind": "field", "text": "x"}, button="Commit")
    >>> form.values, form.disabled
    ([''], False)
    """

    def __init__(self, *parts: Any, button: str = "", tip: str = "") -> None:
        self.button, self.tip = button, tip
        self.note, self.disabled = "", False
        self.fill(*parts)

    def fill(self, *parts: Any) -> None:
        """Replace the elements."""
        self.parts, self.children = list(parts), ()
        fields = [part for part in parts if isinstance(part, dict) and part["kind"] in ("field", "choices")]
        self.values = [""] * len(fields)

    def add_class(self, name: str) -> None:
        """Do nothing: there is no style."""

    def observe(self, function: Any, names: str) -> None:
        """Do nothing: nobody presses the button."""
