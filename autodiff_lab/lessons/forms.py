"""The library of the fields and buttons of the lessons: ipywidgets, or what stands in for them in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ipywidgets
else:
    try:
        import anywidget  # noqa: F401 - the pictures need it
        import ipywidgets
    except ImportError:
        from autodiff_lab.lessons import plain as ipywidgets

DRAWS: bool = ipywidgets.__name__ == "ipywidgets"
"""Whether widgets are drawn; otherwise everything is text."""
__all__ = ["DRAWS", "ipywidgets"]
