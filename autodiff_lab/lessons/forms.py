"""What the questions of the lessons are made of: forms, or what stands in for them in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    import ipywidgets

    from autodiff_lab.widgets.form import Form, carrying
else:
    try:
        from autodiff_lab.widgets.form import Form, carrying
    except ImportError:
        from contextlib import nullcontext as carrying

        from autodiff_lab.lessons.plain import Form

DRAWS: bool = Form.__module__ == "autodiff_lab.widgets.form"
"""Whether widgets are drawn; otherwise everything is text."""


def is_widget(value: Any) -> TypeGuard[ipywidgets.Widget]:
    """Return whether something is a widget.

    >>> is_widget(3)
    False
    """
    if not DRAWS:
        return False
    import ipywidgets

    return isinstance(value, ipywidgets.Widget)


class Shown(Form):
    """A form whose text form is a sentence, the same in every run."""

    def account(self) -> str:
        """Return what is shown, as text."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.account()


__all__ = ["DRAWS", "Form", "Shown", "carrying", "is_widget"]
